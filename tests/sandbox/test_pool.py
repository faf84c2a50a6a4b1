import pytest

from evenhand.errors import InvalidInput
from evenhand.sandbox import CheckCall, Limits, Sandbox, SuiteJob, SuiteRun


def job(code: str, *arguments: object, key: object = None) -> SuiteJob:
    checks = [CheckCall(id=str(n), args=[argument]) for n, argument in enumerate(arguments)]
    return SuiteJob(key=key, code=code, entry_point="f", checks=checks)


def told(run: SuiteRun) -> tuple[object, ...]:
    """A run without its times and counts."""
    return (
        run.load,
        run.load_detail,
        run.stopped,
        [(r.id, r.status, r.value, r.type_name, r.detail) for r in run.results],
    )


@pytest.mark.parametrize(
    "code",
    [
        "def f(x): return x * x",
        "def f(x): return y",
        "def f(x): raise SystemExit(3)",
        "def f(x):\n    while x == 7: pass\n    return x",
        "def f(x): return 10 ** 10 ** 9 if x == 7 else x",
        "def f(x):\n    import os\n    if x == 7: os._exit(4)\n    return x",
        "def f(x):\n    import os\n    if x == 7: os.kill(os.getpid(), 11)\n    return x",
        "def f(x): return {x: (1.5, None)}",
        "def f(x): return iter([])",
        "def f(x): return 'x' * 2_000_000",
        "x = 1",
        "not python",
        "while True: pass",
    ],
)
def test_a_pool_says_what_a_sandbox_of_its_own_says(box: Sandbox, code: str) -> None:
    limits = Limits(check_s=1, load_s=1)
    with box.trusted_pool(limits, workers=1) as pool:
        pooled = told(pool.run_job(job(code, 7, 3)))
    alone = told(box.run_job(job(code, 7, 3), limits))
    if alone[0] == "timeout":
        assert pooled[0] == "timeout"
        return
    assert pooled == alone


def test_many_modules_come_back_in_order_and_know_nothing_of_each_other(each: Sandbox) -> None:
    codes = [
        f"import builtins\nn = getattr(builtins, 'n', 0)\nbuiltins.n = 1\ndef f(x): return n, x, {k}" for k in range(60)
    ]
    with each.trusted_pool(workers=2) as pool:
        jobs = (job(code, 5, key=key) for key, code in enumerate(codes))
        first = [(j.key, run.results[0].value) for j, run in pool.run_suites(jobs)]
        again = [run.results[0].value for _, run in pool.run_suites([job("def f(x): return x", 1)] * 20)]
    assert first == [(k, (0, 5, k)) for k in range(60)]
    assert again == [1] * 20


def test_a_pool_needs_a_worker(box: Sandbox) -> None:
    with pytest.raises(InvalidInput, match="workers"), box.trusted_pool(workers=0):
        pass
