"""How long near-duplicate evidence takes to find: 10,000 items in one pool, the worst layout, should take under 2 s.

    python benchmarks/duplicates.py [--n 10000] [--likeness 0.9]

Three pools: all claims different, each claim about four times in other words, and one claim 10,000 times. Run by hand.
"""

import argparse
import random
import resource
import time

from evenhand.judges.duplicates import merge_near_duplicates
from evenhand.terms import Evidence

_SUBJECTS = "the parser|the cache|the reader|a retry|the report|the schema|the login|a timeout|the import|the index"
_VERBS = "drops|repeats|ignores|hides|delays|loses|duplicates|misreads|truncates|reorders|accepts|rejects"
_OBJECTS = "empty rows|long names|late replies|broken lines|nested fields|dates|signed numbers|quoted commas|blank keys"
_ENDS = "when the disk is full|under load|on the second run|for large inputs|without a warning|after a restart"


def claims(n: int, rng: random.Random) -> list[str]:
    """Sentences of a small vocabulary, which is the hard case: much is shared between claims that differ."""
    parts = [part.split("|") for part in (_SUBJECTS, _VERBS, _OBJECTS, _ENDS)]
    return [" ".join(rng.choice(part) for part in parts) + f" {_word(rng)} {_word(rng)}" for _ in range(n)]


def _word(rng: random.Random) -> str:
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(4, 9)))


def main() -> None:
    """Time the three pools."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--likeness", type=float, default=0.9)
    arguments = parser.parse_args()
    rng, n = random.Random(0), arguments.n
    merge_near_duplicates([Evidence(claim=text, impact=1) for text in claims(100, rng)], 0.9)
    few = claims(n // 4 + 1, rng)
    pools = {
        "all different": claims(n, rng),
        "about four of each": [f"{few[k % len(few)]}{' indeed' if k % 3 else '!'}" for k in range(n)],
        "one claim": [few[0]] * n,
    }
    for name, texts in pools.items():
        items = [Evidence(claim=text, impact=rng.choice((1, 2, 3, 5))) for text in texts]
        began = time.process_time()
        made = merge_near_duplicates(items, arguments.likeness)
        spent = time.process_time() - began
        print(f"{name:20} {len(made)} items, {sum(item.counted for item in made)} counted: {spent:.2f} s processor")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
