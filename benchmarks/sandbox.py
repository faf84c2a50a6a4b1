"""What a sandboxed candidate run costs, beside a plain Python process in the same minute.

    python benchmarks/sandbox.py [--n 200] [--slots 2] [--rounds 3] [--kind KIND | --engine ENGINE]

Each run loads one small module and asks it two checks. The ways take turns, so that a busy machine slows all of them;
the ratio to plain Python and the processor time of a run say more there than the runs a second. Processor time is of
the children (user and system; bubblewrap does not wait for what it started, so a sandboxed Python's own time is missing
and is that of plain Python) and, apart, of this process. `start` is one sandbox after the other, from nothing to the
runner's first frame and its end. Run by hand; nothing here is part of the test suite.
"""

import argparse
import resource
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

from evenhand.sandbox import CheckCall, Limits, Sandbox, SandboxKind, SuiteJob

CODE = "def square(x):\n    return x * x\n"
CHECKS = [CheckCall(id="7", args=[7]), CheckCall(id="-3", args=[-3])]
PROGRAM = CODE + "print(square(7), square(-3))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kind", choices=get_args(SandboxKind), help="the kind of sandbox; the first that works")
    parser.add_argument("--engine", help="the container engine")
    options = parser.parse_args()
    n, slots = options.n, options.slots
    job = SuiteJob(key=None, code=CODE, entry_point="square", checks=CHECKS)
    with Sandbox(kind=options.kind, engine=options.engine) as box, box.trusted_pool(Limits(), workers=slots) as pool:
        print(f"{box.kind}, Python {box.interpreter.version}, {slots} slots, {n} runs a round")
        plain = [box.interpreter.path, "-I", "-S", "-c", PROGRAM]
        ways: dict[str, Callable[[int], None]] = {
            "plain python": lambda count: plain_runs(plain, count, slots),
            "sandboxed": lambda count: drain(box.run_suites([job] * count, slots=slots)),
            "pool": lambda count: drain(pool.run_suites([job] * count)),
            "plain, serial": lambda count: plain_runs(plain, count // 4, 1),
            "start": lambda count: drain(box.run_job(job) for _ in range(count // 4)),
        }
        figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
        for way in ways.values():
            way(2 * slots)
        for _ in range(options.rounds):
            for name, way in ways.items():
                figures[name].append(spent(way, n))
    per_plain = statistics.median(wall for wall, _, _ in figures["plain python"])
    for name, rounds in figures.items():
        wall, children, own = (statistics.median(column) for column in zip(*rounds, strict=True))
        runs = n // 4 if name in ("start", "plain, serial") else n
        print(
            f"{name:13} {runs / wall:7.0f} /s  {1000 * wall / runs:6.1f} ms each"
            f"  {runs / n * per_plain / wall:5.2f} of plain"
            f"  processor {1000 * children / runs:5.1f} ms in children, {1000 * own / runs:4.1f} ms here"
        )


def plain_runs(command: list[str], count: int, slots: int) -> None:
    """The same work in a Python that nothing holds."""
    with ThreadPoolExecutor(slots) as threads:
        for ran in threads.map(lambda _: subprocess.run(command, capture_output=True, check=True), range(count)):
            assert ran.stdout == b"49 9\n"


def drain(runs: object) -> None:
    """Take every run and hold it to its values."""
    for run in runs:  # type: ignore[attr-defined]
        found = run[1] if isinstance(run, tuple) else run
        assert [result.value for result in found.results] == [49, 9]


def spent(way: Callable[[int], None], n: int) -> tuple[float, float, float]:
    """Seconds on the wall, of the processor in children, and here."""
    began, children, own = time.perf_counter(), cpu(resource.RUSAGE_CHILDREN), cpu(resource.RUSAGE_SELF)
    way(n)
    return (
        time.perf_counter() - began,
        cpu(resource.RUSAGE_CHILDREN) - children,
        cpu(resource.RUSAGE_SELF) - own,
    )


def cpu(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
