"""One candidate, one suite, in the real sandbox: how each check ends is said, and no check pays for another."""

import itertools

import pytest

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox import CheckCall, CheckResult, Limits, Sandbox, SuiteJob, SuiteRun

SQUARE = "def f(x):\n    return x * x\n"


def calls(*arguments: object) -> list[CheckCall]:
    return [CheckCall(id=f"c{n}", args=[argument]) for n, argument in enumerate(arguments)]


def statuses(run: SuiteRun) -> list[str]:
    return [result.status for result in run.results]


def test_values_come_back_in_order_from_one_process(box: Sandbox) -> None:
    run = box.run_suite(SQUARE, "f", calls(7, -3, 0.5, 10**30, True))
    assert [result.value for result in run.results] == [49, 9, 0.25, 10**60, 1]
    assert [result.id for result in run.results] == ["c0", "c1", "c2", "c3", "c4"]
    assert (run.load, run.starts, run.stopped) == ("loaded", 1, "")


@pytest.mark.parametrize(
    "value",
    [
        None,
        (),
        {},
        {1, 2},
        frozenset({(1, 2)}),
        b"\0\xff",
        float("inf"),
        2 + 3j,
        "é\ud800",
        {"a": [1, (2.5,)]},
        16**9000,
    ],
    ids=type,
)
def test_every_builtin_value_goes_in_and_comes_out(box: Sandbox, value: object) -> None:
    (result,) = box.run_suite("def f(x):\n    return x", "f", calls(value)).results
    assert (result.status, type(result.value)) == ("value", type(value))
    assert result.value == value


@pytest.mark.parametrize(
    ("body", "status", "type_name"),
    [
        ("raise ValueError('no')", "exception", "ValueError"),
        ("raise SystemExit(0)", "exited", "SystemExit"),
        ("exit(0)", "exited", "SystemExit"),
        ("import sys; sys.exit('passed')", "exited", "SystemExit"),
        ("raise KeyboardInterrupt", "exited", "KeyboardInterrupt"),
        ("raise type('Mine', (BaseException,), {})", "exception", "Mine"),
        ("return bytearray(1 << 40)", "memory", "MemoryError"),
        ("return f(x)", "exception", "RecursionError"),
        ("yield 1", "unreadable", "generator"),
        ("return type('Yes', (), {'__eq__': lambda *_: True})()", "unreadable", "Yes"),
        ("return 'x' * 2_000_000", "unreadable", ""),
        ("a = []; a.append(a); return a", "unreadable", ""),
    ],
)
def test_how_a_check_ends_is_named(box: Sandbox, body: str, status: str, type_name: str) -> None:
    run = box.run_suite(f"def f(x):\n    {body}\n", "f", calls(1))
    (result,) = run.results
    assert (result.status, result.type_name, result.value) == (status, type_name, None)


@pytest.mark.parametrize(
    ("code", "load"),
    [
        ("def f(x:", "exception"),
        ("print(", "exception"),
        ("this is not Python", "exception"),
        ("def f(x): return x\0", "exception"),
        ("\ud800", "exception"),
        ("import no_such_module", "exception"),
        ("raise SystemExit(0)", "exception"),
        ("def g(x): return x", "no_entry_point"),
        ("f = 3", "no_entry_point"),
        ("", "no_entry_point"),
        ("import os; os._exit(0)", "crashed"),
        ("import os; os.kill(os.getpid(), 11)", "crashed"),
        ("x = bytearray(1 << 40)", "memory"),
        ("x = 1\n" * 10_000_000, "too_large"),
        ("while True: pass", "timeout"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_module_that_does_not_load_says_why_and_runs_no_check(box: Sandbox, code: str, load: str) -> None:
    run = box.run_suite(code, "f", calls(1, 2), Limits(load_s=1))
    assert (run.load, statuses(run)) == (load, ["not_run", "not_run"])
    assert run.load_detail
    assert run.stopped


@pytest.mark.parametrize(
    "body",
    ["while True: pass", "import time; time.sleep(60)", "return 10 ** 10 ** 9", "import signal; signal.pause()"],
)
def test_a_check_without_end_costs_only_itself(box: Sandbox, body: str) -> None:
    run = box.run_suite(
        f"def f(x):\n    if x == 7:\n        {body}\n    return x * x", "f", calls(7, 3), Limits(check_s=1)
    )
    assert statuses(run) == ["timeout", "value"]
    assert (run.results[1].value, run.starts) == (9, 2)


def test_a_lost_process_is_replaced_for_the_next_check(box: Sandbox) -> None:
    code = "import os\ndef f(x):\n    if x < 0:\n        os._exit(-x)\n    return x"
    run = box.run_suite(code, "f", calls(-3, 1, -4, 2))
    assert statuses(run) == ["crashed", "value", "crashed", "value"]
    assert "exit code 3" in run.results[0].detail
    assert run.starts == 3


def test_after_some_time_outs_the_rest_is_not_run(box: Sandbox) -> None:
    run = box.run_suite("def f(x):\n    while True: pass", "f", calls(1, 2, 3, 4), Limits(check_s=0.5, max_timeouts=2))
    assert statuses(run) == ["timeout", "timeout", "not_run", "not_run"]
    assert "timed out" in run.stopped
    assert run.results[3].detail == run.stopped


def test_the_backstop_ends_a_suite_of_slow_checks(box: Sandbox) -> None:
    code = "import time\ndef f(x):\n    time.sleep(0.6)\n    return x"
    run = box.run_suite(code, "f", calls(*range(40)), Limits(check_s=20, suite_s=2))
    assert statuses(run)[-1] == "not_run"
    assert "2 s" in run.stopped
    assert len(run.results) == 40


def test_a_process_is_not_replaced_for_ever(box: Sandbox) -> None:
    run = box.run_suite("import os\ndef f(x): os._exit(1)", "f", calls(*range(5)), Limits(max_starts=2))
    assert statuses(run) == ["crashed", "crashed", "not_run", "not_run", "not_run"]


def test_a_module_that_loads_only_once_is_said_to_have_lost_the_rest(box: Sandbox) -> None:
    """It cannot remember the first time: each process has a new /tmp."""
    code = "import os\nopen('/tmp/x', 'x')\ndef f(x):\n    os._exit(0)"
    run = box.run_suite(code, "f", calls(1, 2))
    assert (run.load, statuses(run)) == ("loaded", ["crashed", "crashed"])


def test_the_caller_can_end_a_suite_after_a_result(box: Sandbox) -> None:
    def wrong(result: CheckResult) -> bool:
        return result.value != 1

    job = SuiteJob(key="k", code="def f(x): return x", entry_point="f", checks=calls(1, 2, 3), stop_after=wrong)
    assert statuses(box.run_job(job)) == ["value", "value", "not_run"]


def test_many_jobs_run_side_by_side_and_come_back_in_order(box: Sandbox) -> None:
    codes = [f"def f(x):\n    return x + {n}" for n in range(7)] + ["def f(x): raise KeyError"]
    jobs = (SuiteJob(key=n, code=code, entry_point="f", checks=calls(1)) for n, code in enumerate(codes))
    done = list(box.run_suites(jobs, slots=2))
    assert [job.key for job, _ in done] == list(range(8))
    assert [run.results[0].value for _, run in done] == [1, 2, 3, 4, 5, 6, 7, None]


def test_jobs_are_taken_as_they_are_needed(box: Sandbox) -> None:
    taken = itertools.count()
    jobs = (SuiteJob(key=next(taken), code=SQUARE, entry_point="f", checks=calls(1)) for _ in range(1000))
    runs = box.run_suites(jobs, slots=1)
    next(runs)
    runs.close()  # type: ignore[attr-defined]
    assert next(taken) < 10


def test_a_suite_without_checks_still_loads_the_module(box: Sandbox) -> None:
    assert box.run_suite(SQUARE, "f", []).load == "loaded"
    assert box.run_suite("1 +", "f", []).load == "exception"


def test_ids_that_repeat_are_refused(box: Sandbox) -> None:
    with pytest.raises(InvalidInput, match="two checks have the id 'a'"):
        box.run_suite(SQUARE, "f", [CheckCall(id="a", args=[1]), CheckCall(id="a", args=[2])])


def test_arguments_that_are_no_plain_data_are_refused_by_the_id_of_their_check(box: Sandbox) -> None:
    with pytest.raises(InvalidInput, match=r"check 'a' cannot be sent: .*object"):
        box.run_suite(SQUARE, "f", [CheckCall(id="a", args=[object()])])


@pytest.mark.parametrize("field", ["check_s", "processes", "memory_bytes"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=field):
        Limits(**{field: value})  # type: ignore[arg-type]


def test_a_closed_sandbox_runs_nothing(box: Sandbox) -> None:
    with Sandbox() as other:
        pass
    with pytest.raises(SandboxError, match="closed"):
        other.run_suite(SQUARE, "f", calls(1))


@pytest.mark.parametrize("pooled", [False, True])
def test_recursion_is_as_deep_as_from_the_top_of_a_module(box: Sandbox, pooled: bool) -> None:
    code = "def down(n):\n    return 0 if n == 0 else 1 + down(n - 1)\n"
    job = SuiteJob(key=0, code=code, entry_point="down", checks=[CheckCall(id=str(n), args=[n]) for n in (998, 999)])
    with box.trusted_pool() as pool:
        run = pool.run_job(job) if pooled else box.run_job(job)
    assert [result.status for result in run.results] == ["value", "exception"]
    assert run.results[1].type_name == "RecursionError"


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def test_what_no_frame_holds_is_refused_by_the_id_of_its_check(box: Sandbox) -> None:
    for value in (nested(99), [0] * 399_998, "x" * 3_999_990):
        job = SuiteJob(key=0, code=SQUARE, entry_point="f", checks=[CheckCall(id="c", args=[value])])
        with pytest.raises(InvalidInput, match="check 'c' cannot be sent"):
            box.run_job(job)
        with box.trusted_pool(workers=1) as pool, pytest.raises(InvalidInput, match="check 'c' cannot be sent"):
            pool.run_job(job)
    checks = [CheckCall(id="c", args=[nested(98)])]
    assert box.run_suite("def f(x): return 1", "f", checks).results[0].status == "value"


def test_a_limit_is_a_whole_number_that_the_kernel_and_the_frames_can_hold() -> None:
    for wrong in ({"processes": 1.5}, {"processes": True}, {"memory_bytes": 10**30}, {"code_bytes": 10_000_000}):
        with pytest.raises(InvalidInput, match="Limits: "):
            Limits(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="open_files is 1; Python itself needs 16"):
        Limits(open_files=1)


def test_an_entry_point_that_is_no_name_is_refused(box: Sandbox) -> None:
    with pytest.raises(InvalidInput, match="the entry point is a name of 5000000 characters"):
        box.run_suite(SQUARE, "f" * 5_000_000, [])
