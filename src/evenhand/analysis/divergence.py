"""Do bare numbers and evidence agree on the same items, or is one of them wrong.

Published reading: scores that differ by more than 12 points of 100 on average say that one of the two ways is wrong,
fewer than 5 that they agree. In between nothing is said. The reading rests on the interval's side only where the whole
interval lies beyond a bound; otherwise it is that of the mean, and the interval says how sure that is.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evenhand.terms import Record

__all__ = ["AGREE_BELOW", "WRONG_ABOVE", "Divergence", "divergence"]

WRONG_ABOVE = 12.0
AGREE_BELOW = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """How far two ways of scoring lie apart on the items that both scored.

    Args:
        n_items: items with a score of both.
        left_out: items that only one of them scored, or none.
        mean: mean absolute difference in points of 100; nan without common items.
        interval: 95 % interval of the mean, by Student's t; nan below two items.
        reading: `one_is_wrong` above 12, `agree` below 5, else `between`; `undefined` without common items.
        sure: whether the whole interval lies on the side that the reading names.
    """

    n_items: int
    left_out: int
    mean: float
    interval: tuple[float, float]
    reading: Literal["one_is_wrong", "between", "agree", "undefined"]
    sure: bool


def divergence(numbers: Iterable[Record], evidence: Iterable[Record]) -> Divergence:
    """Compare the scores of two runs on the same items, each on its own scale taken to 0 to 100.

    Args:
        numbers: records of a `number` judge; those of several members and reruns of an item are averaged. Records
            without a score are left out and counted with their item.
        evidence: records of an `evidence` judge on the same items, matched by what was judged (`item_hash`).

    >>> def scored(item, score, scale):
    ...     return Record(item=item, item_hash=item, metadata={}, judge={}, member="m", rerun=0, status="verdict",
    ...                   score=score, exact=float(score), scale=scale)
    >>> found = divergence([scored("a", 7, (1, 10)), scored("b", 10, (1, 10))],
    ...                    [scored("a", 60, (0, 100)), scored("b", 80, (0, 100))])
    >>> found.n_items, round(found.mean, 2), found.reading
    (2, 13.33, 'one_is_wrong')
    """
    one, other = _by_item(numbers), _by_item(evidence)
    common = [(one[key], other[key]) for key in one if one[key] and other.get(key)]
    differences = [abs(_mean(first) - _mean(second)) for first, second in common]
    n = len(differences)
    mean = _mean(differences) if n else math.nan
    low, high = _interval(differences)
    if not n:
        reading: Literal["one_is_wrong", "between", "agree", "undefined"] = "undefined"
    else:
        reading = "one_is_wrong" if mean > WRONG_ABOVE else "agree" if mean < AGREE_BELOW else "between"
    sure = {
        "one_is_wrong": low > WRONG_ABOVE,
        "agree": high < AGREE_BELOW,
        "between": low >= AGREE_BELOW and high <= WRONG_ABOVE,
        "undefined": False,
    }[reading]
    left_out = len(one.keys() | other.keys()) - n
    return Divergence(n_items=n, left_out=left_out, mean=mean, interval=(low, high), reading=reading, sure=sure)


def _by_item(records: Iterable[Record]) -> dict[str, list[float]]:
    """Scores in points of 100 by what was judged; the panel's record stands for its members where there is one."""
    scores: dict[str, list[float]] = defaultdict(list)
    combined: dict[str, list[float]] = defaultdict(list)
    for record in records:
        mine = combined if record.member is None else scores
        found = mine[record.item_hash]
        if record.exact is not None and record.scale is not None:
            lowest, highest = record.scale
            found.append(100 * (record.exact - lowest) / (highest - lowest))
    return {**scores, **combined}


def _interval(differences: list[float]) -> tuple[float, float]:
    """Mean plus and minus t times the standard error; a mean of absolute differences is not below 0."""
    n = len(differences)
    if n < 2:
        return math.nan, math.nan
    mean = _mean(differences)
    half = _t(n - 1) * math.sqrt(math.fsum((value - mean) ** 2 for value in differences) / (n - 1) / n)
    return max(0.0, mean - half), mean + half


def _t(freedom: int) -> float:
    """The 0.975 quantile of Student's t; exact for 1 and 2 degrees, else by expansion to within 0.2 %.

    Source: Abramowitz and Stegun (1964), Handbook of Mathematical Functions, 26.7.5.

    >>> [round(_t(n), 2) for n in (1, 2, 3, 10, 60)]
    [12.71, 4.3, 3.18, 2.23, 2.0]
    """
    if freedom == 1:
        return math.tan(math.pi * 0.475)
    if freedom == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z = 1.959963984540054
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
