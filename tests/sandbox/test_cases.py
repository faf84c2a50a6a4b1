"""The shared cases of the area, each with the rest of its kind; run in the sandbox alone."""

import json
from pathlib import Path

import pytest

from evenhand.sandbox import CheckCall, Limits, Sandbox, equal_values

HELD_OUT = {"seven": (7, 49), "minus": (-3, 9)}


def judged(box: Sandbox, code: str, limits: Limits | None = None) -> tuple[bool, list[str]]:
    """Whether `square` gives every expected value, and how each check ended."""
    checks = [CheckCall(id=name, args=[given]) for name, (given, _) in HELD_OUT.items()]
    run = box.run_suite(code, "square", checks, limits or Limits(check_s=20))
    right = [r.status == "value" and equal_values(r.value, HELD_OUT[r.id][1]) for r in run.results]
    return all(right), [run.load, *(f"{r.status} {r.detail}".strip() for r in run.results)]


def test_each_shared_case_is_judged_as_expected(box: Sandbox, shared: Path) -> None:
    file = shared / "data/cases/cases.jsonl"
    cases = [case for case in map(json.loads, file.read_text("utf-8").splitlines()) if case["area"] == "sandbox"]
    assert cases
    for case in cases:
        code = (file.parent / case["input"]["file"]).read_text("utf-8")
        expected = case["expected"]
        limit = expected.get("per_check_limit_s", 20)
        accepted, ends = judged(box, code, Limits(check_s=limit))
        if "accepted" in expected:
            assert accepted is expected["accepted"], case["id"]
        if "kind" in expected:
            assert all(expected["kind"] in end for end in ends[1:]), case["id"]
        if "results" in expected:
            assert [end.split()[0] for end in ends[1:]] == expected["results"], case["id"]


@pytest.mark.parametrize(
    "body",
    [
        "raise SystemExit(0)",
        "raise SystemExit('49')",
        "import os; os._exit(0)",
        "import sys; sys.exit()",
        "import atexit, os; atexit.register(os._exit, 0); raise SystemExit",
        "import os, sys; os.execv(sys.executable, ['python', '-c', 'print(49)'])",
        "import os; os.kill(os.getppid(), 9); os._exit(0)",
        "import threading, os; threading.Timer(0, os._exit, [0]).start(); import time; time.sleep(5)",
        "import faulthandler, ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import resource; print('49 9 OK'); resource.setrlimit(resource.RLIMIT_CPU, (0, 0))\n    while True: pass",
    ],
)
def test_an_end_without_a_value_is_no_answer_whatever_was_printed(box: Sandbox, body: str) -> None:
    accepted, ends = judged(box, f"print('49 9 OK passed', flush=True)\ndef square(x):\n    {body}")
    assert not accepted
    assert ends[0] == "loaded"
    assert all(end.startswith(("exited exited before returning", "crashed ended before")) for end in ends[1:]), ends


@pytest.mark.parametrize("number", [4, 6, 7, 8, 9, 11, 15])
def test_the_signal_that_ended_a_call_is_named(box: Sandbox, number: int) -> None:
    _, ends = judged(box, f"import os, time\ndef square(x):\n    os.kill(os.getpid(), {number}); time.sleep(5)")
    assert all(f"signal {number}" in end for end in ends[1:])


@pytest.mark.parametrize("code", ["import os, sys\nprint('49 9 OK passed')\nos._exit(0)", "raise SystemExit(0)"])
def test_a_module_that_leaves_while_it_loads_has_answered_nothing(box: Sandbox, code: str) -> None:
    accepted, ends = judged(box, code + "\ndef square(x): return x * x")
    assert not accepted
    assert ends[0] in ("crashed", "exception")


def test_a_module_that_needs_its_time_at_each_start_does_not_lose_the_later_checks(box: Sandbox) -> None:
    code = "import time\ntime.sleep(0.7)\ndef square(x):\n    if x == 7:\n        time.sleep(60)\n    return x * x"
    _, ends = judged(box, code, Limits(check_s=0.5))
    assert ends == ["loaded", "timeout no value within the time limit", "value"]
