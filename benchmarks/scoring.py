"""How fast the evidence formula is over many pools, against a plain Python loop, and how fast single verdicts are.

Run: python benchmarks/scoring.py [--items 1000000] [--pools 10000]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from math import floor, sqrt

import numpy as np

from evenhand.scoring.impact import score_impacts
from evenhand.scoring.pools import score_pools
from evenhand.scoring.variants import VARIANTS, settings
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import IMPACTS, Check, CheckResult, Criterion, CriterionVerdict, Evidence, JudgeSpec, Verdict

OFTEN = 2000


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--pools", type=int, default=10_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(20261129)
    impacts = rng.choice(np.array(IMPACTS), arguments.items)
    pools = rng.integers(0, arguments.pools, arguments.items)
    print(f"{arguments.items:,} items in {arguments.pools:,} pools, processor seconds, median of 5")
    bulk = {name: seconds(partial(score_pools, impacts, pools, chosen)) for name, chosen in VARIANTS.items()}
    for name, taken in bulk.items():
        print(f"  score_pools {name:<18} {taken:7.3f}")
    listed = list(zip(impacts.tolist(), pools.tolist(), strict=True))
    loop = seconds(lambda: plain_loop(listed, arguments.pools), repeats=3)
    print(f"  plain Python loop, production  {loop:5.3f}   {loop / bulk['production']:.1f} times score_pools")
    if not np.array_equal(plain_loop(listed, arguments.pools), score_pools(impacts, pools, settings()).score):
        print("  NOTE: the loop's binary floats round some pools otherwise")
    print("one verdict, microseconds of processor time, median of 5")
    for name, call in verdicts().items():
        print(f"  {name:<30} {seconds(partial(often, call)) / OFTEN * 1e6:7.1f}")


def often(call: Callable[[], object]) -> None:
    """The call many times, since one is too short to time."""
    for _ in range(OFTEN):
        call()


def plain_loop(listed: list[tuple[int, int]], n_pools: int) -> list[float]:
    """The production formula, written as one would without numpy."""
    net, n = [0] * n_pools, [0] * n_pools
    for impact, pool in listed:
        net[pool] += impact
        n[pool] += 1
    made = []
    for total, count in zip(net, n, strict=True):
        raw = min(max(50 + 8 * (total / sqrt(count) if count else 0), 0), 100)
        made.append(floor(50 + (raw - 50) * (0.75 + 0.25 * min(count / 20, 1)) + 0.5) if count else float("nan"))
    return made


def verdicts() -> dict[str, Callable[[], object]]:
    """Judges of the hot path with a reply each."""
    checks = tuple(Check(id=f"c{place}", ask="?") for place in range(5))
    checklist = JudgeSpec(
        name="checks",
        protocol="checklist",
        models=(),
        criteria=(Criterion(id="c", levels=(Decimal(1), Decimal(5)), checks=checks),),
    )
    results = tuple(CheckResult(id=f"c{place}", passed=place % 2 == 0) for place in range(5))
    passed = Verdict(criteria=(CriterionVerdict(id="c", checks=results),))
    evidence = JudgeSpec(name="evidence", protocol="evidence", models=())
    found = tuple(Evidence(claim="", impact=IMPACTS[place % 8]) for place in range(12))
    pooled = Verdict(criteria=(CriterionVerdict(id="overall", items=found),))
    by_checks, by_evidence, chosen = VerdictScorer(checklist), VerdictScorer(evidence), settings()
    impacts = [item.impact for item in found]
    return {
        "checklist of 5, VerdictScorer": lambda: by_checks.score(passed),
        "evidence of 12, VerdictScorer": lambda: by_evidence.score(pooled),
        "evidence of 12, score_impacts": lambda: score_impacts(impacts, chosen),
    }


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Median processor time of one call: other work on the machine does not count."""
    taken = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
