"""Matching 10,000 pairs of numbers, beside math-verify on a sample of the same pairs.

Wall and processor seconds of this process; math-verify runs without its own time limit, both sides parsed.
Run: python benchmarks/matching.py [--pairs 10000]        (pip install 'evenhand[math]' for the ratio)
"""

import argparse
import random
import time
from collections.abc import Callable
from importlib.util import find_spec

from evenhand.matching.matches import match
from evenhand.matching.rules import MatchRule

SAMPLE = 200
TARGET_S = 1.0
FORMS: tuple[Callable[[int], str], ...] = (
    str,
    lambda n: f"{n:,}",
    lambda n: f"${n:,}.00",
    lambda n: f"\\boxed{{{n}}}",
    lambda n: f"{n}.0",
    lambda n: f"\\frac{{{2 * n}}}{{2}}",
    lambda n: f"Answer: {n}",
    lambda n: f"{n} cm",
    lambda n: f"So the total is {n}.",
)


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    n = parser.parse_args().pairs
    pairs = drawn(n)
    rule = MatchRule(kind="number")
    wall, own = seconds(lambda: [match(candidate, gold, rule) for candidate, gold in pairs])
    print(f"evenhand     {n:6,} pairs  wall {wall:6.2f} s  processor {own:6.2f} s  (target {TARGET_S:g} s for 10,000)")
    if find_spec("math_verify") is None:
        print("math-verify  not installed: no ratio")
        return
    compare(pairs[:SAMPLE], own / n)


def drawn(n: int) -> list[tuple[str, str]]:
    """Candidates in nine forms, half of them right."""
    rng = random.Random(0)
    pairs = []
    for _ in range(n):
        gold = rng.randrange(1, 10**6)
        given = gold if rng.random() < 0.5 else rng.randrange(1, 10**6)
        pairs.append((rng.choice(FORMS)(given), str(gold)))
    return pairs


def compare(pairs: list[tuple[str, str]], ours: float) -> None:
    """The same pairs with math-verify, warm."""
    import logging

    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)

    def verified(candidate: str, gold: str) -> bool:
        left, right = parse(gold, parsing_timeout=None), parse(candidate, parsing_timeout=None)
        return bool(verify(left, right, timeout_seconds=None))

    verified("1", "2")
    wall, own = seconds(lambda: [verified(*pair) for pair in pairs])
    each = own / len(pairs)
    print(f"math-verify  {len(pairs):6,} pairs  wall {wall:6.2f} s  processor {own:6.2f} s")
    print(f"a pair: {ours * 1e6:.0f} and {each * 1e6:.0f} microseconds, a ratio of {each / ours:.0f}")
    rule = MatchRule(kind="number")
    differing = [pair for pair in pairs if (match(*pair, rule).verdict == "equal") != verified(*pair)]
    print(f"they differ on {len(differing)} of {len(pairs)} pairs" + (f", such as {differing[0]}" if differing else ""))


def seconds(run: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds, best of three."""
    best = []
    for _ in range(3):
        wall, own = time.perf_counter(), time.process_time()
        run()
        best.append((time.perf_counter() - wall, time.process_time() - own))
    return min(one[0] for one in best), min(one[1] for one in best)


if __name__ == "__main__":
    main()
