"""Cost of looking a quotation up, by size of candidate and by kind, as a multiple of a plain `str.find`.

    python benchmarks/quotes.py

Each line: the kind, the size, the status found, milliseconds for a fresh candidate and for one already folded, and how
many times a plain find of the same quotation the first one costs. Times are the best of three, in processor time. A
kind is linear if its time grows by about ten from one size to the next.
"""

import random
import time
from collections.abc import Callable

from evenhand.judges.quotes import QuotedText

SIZES = (10_000, 100_000, 1_000_000)
TEXT = "the report says that a new pump was fitted in May so energy use fell by 12 % but noise rose"


def prose(size: int, rng: random.Random) -> str:
    """Words with line ends and typographic marks, about `size` characters."""
    vocabulary = TEXT.split()
    words = [rng.choice(vocabulary) for _ in range(size // 4)]
    words[::9] = [f"“{word}”,\r\n" for word in words[::9]]
    return " ".join(words)[:size] + " "


def kinds(size: int, rng: random.Random) -> dict[str, tuple[str, str, float | None]]:
    """Name to (candidate, quotation, fuzzy threshold); the wanted place is at the end."""
    text = prose(size, rng)
    near = "energy use of the heating system fell by a third within a year"
    return {
        "exact": (text + near, near, None),
        "normalized": (text + near, near.upper().replace(" ", "\u00a0"), None),
        "absent": (text, near + " and a half", None),
        "fuzzy": (text + near, near.replace("heating", "heatnig"), 0.9),
        "fuzzy absent": (text, near, 0.9),
        "elided": (text + near, "energy use of ... fell by a third", None),
        "all of it, other case": (text, text.upper(), None),
        "repeats, cut everywhere": ("a" * size, "aa", None),
        "repeats, long number": ("1" * size, "1" * (size // 2), None),
        "repeats, other script": ("\u0436" * size, "\u0436\u0436", None),
        "repeats, elided": ("the " * (size // 4), "the the the ... " * 7 + "the the cat", None),
        "repeats, fuzzy": ("the " * (size // 4), "the the the the cat the the", 0.8),
        "ellipses": (text, "... " * (size // 4), None),
        "pieces": (text, "so it goes ... " * (size // 15), None),
        "combining marks": ("a" + "\u0301\u0323" * (size // 2), "b" + "\u0323\u0301" * (size // 2), None),
        "zero width": ("no" + "\u200b" * size + "pe", "nope it is", None),
        "white space": ("a" + " \n" * (size // 2) + "b", "a c b", None),
        "quotation marks": ("'\" " * (size // 3), "\"x'" * (size // 3), None),
        "hyphens": ("-\n" * (size // 2), "- " * (size // 2) + "x", None),
        "backslashes": ("\\" * size, "\\n" * (size // 2), None),
        "hangul": ("\uac01\ub09c " * (size // 3), "\uac00\ub098", None),
    }


def best(act: Callable[[], object]) -> float:
    """Seconds of processor time, the best of three."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        act()
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    print(f"{'kind':24} {'size':>9} {'status':>11} {'fresh ms':>9} {'again ms':>9} {'x find':>9}")
    for name in kinds(100, random.Random(1)):
        for size in SIZES:
            candidate, quote, fuzzy = kinds(size, random.Random(1))[name]
            kept = QuotedText(candidate)
            status = kept.find(quote, fuzzy=fuzzy).status
            fresh = best(lambda c=candidate, q=quote, f=fuzzy: QuotedText(c).find(q, fuzzy=f))  # type: ignore[misc]
            again = best(lambda k=kept, q=quote, f=fuzzy: k.find(q, fuzzy=f))  # type: ignore[misc]
            plain = best(lambda c=candidate, q=quote: c.find(q))  # type: ignore[misc]
            ratio = fresh / max(plain, 1e-6)
            print(f"{name:24} {size:>9} {status:>11} {1000 * fresh:>9.2f} {1000 * again:>9.2f} {ratio:>9.0f}")


if __name__ == "__main__":
    main()
