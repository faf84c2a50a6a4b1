"""Do bare numbers and evidence agree on the same items, or is one of them wrong.

Published reading: scores that differ by more than 12 points of 100 on average say that one of the two ways is wrong,
fewer than 5 that they agree. In between nothing is said. The reading rests on the interval's side only where the whole
interval lies beyond a bound; otherwise it is that of the mean, and the interval says how sure that is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.terms import Record

__all__ = [
    "AGREE_BELOW",
    "READINGS",
    "WRONG_ABOVE",
    "Comparison",
    "Divergence",
    "NaiveAgainstEvidence",
    "Reading",
    "divergence",
]

WRONG_ABOVE = 12.0
AGREE_BELOW = 5.0

Reading = Literal["one_is_wrong", "between", "agree", "undefined"]

READINGS: dict[Reading, str] = {
    "one_is_wrong": "more than 12 apart: one of the two ways is wrong, and only grades by people tell which",
    "between": "between 5 and 12 apart: neither agreement nor a contradiction",
    "agree": "less than 5 apart: they agree, which does not prove either right",
    "undefined": "no item has a score of both",
}
"""What each reading means, in words."""


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
    reading: Reading
    sure: bool

    def document(self) -> dict[str, Any]:
        """As `--json` prints it: null where nothing defines a figure."""
        return {
            "n_items": self.n_items,
            "left_out": self.left_out,
            "mean": None if math.isnan(self.mean) else self.mean,
            "interval": None if math.isnan(self.interval[0]) else self.interval,
            "reading": self.reading,
            "sure": self.sure,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One `number` judge beside one `evidence` judge, each by its name and models."""

    naive: str
    naive_models: tuple[str, ...]
    evidence: str
    evidence_models: tuple[str, ...]
    found: Divergence

    @property
    def same_models(self) -> bool:
        """Whether the same models gave both; if not, the distance holds that too."""
        return set(self.naive_models) == set(self.evidence_models)

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "naive": self.naive,
            "naive_models": list(self.naive_models),
            "evidence": self.evidence,
            "evidence_models": list(self.evidence_models),
            "same_models": self.same_models,
            **self.found.document(),
        }


class NaiveAgainstEvidence:
    """Every `number` judge beside every `evidence` judge on the same items, built record by record.

    A judge is told apart by its name, its hash and its models. Records of other protocols are passed over.
    """

    def __init__(self) -> None:
        self._naive: dict[_Judge, _Scores] = {}
        self._evidence: dict[_Judge, _Scores] = {}

    def add(self, record: Record) -> None:
        """Keep one record's score."""
        kept = {"number": self._naive, "evidence": self._evidence}.get(str(record.judge.get("protocol")))
        if kept is not None:
            models = (*record.judge.get("models", ()), *record.judge.get("escalate_to", ()))
            judge = str(record.judge.get("name")), str(record.judge.get("hash")), tuple(map(str, models))
            kept.setdefault(judge, _Scores()).add(record)

    @property
    def n_naive(self) -> int:
        """Records of `number` judges that were kept."""
        return sum(scores.n for scores in self._naive.values())

    def comparisons(self, *, apart: bool = False) -> tuple[Comparison, ...]:
        """Each pair of judges, in order of appearance.

        Args:
            apart: also pairs that judged no item in common; without it they are left out.
        """
        made = []
        for naive, numbers in self._naive.items():
            for judge, evidence in self._evidence.items():
                one, other = numbers.by_item(), evidence.by_item()
                if apart or not one.keys().isdisjoint(other):
                    made.append(
                        Comparison(
                            naive=naive[0],
                            naive_models=naive[2],
                            evidence=judge[0],
                            evidence_models=judge[2],
                            found=_compared(one, other),
                        )
                    )
        return tuple(made)


_Judge = tuple[str, str, tuple[str, ...]]


class _Scores:
    """Scores in points of 100 by what was judged; the panel's record stands for its members where there is one."""

    def __init__(self) -> None:
        self._members: dict[str, list[float]] = {}
        self._panel: dict[str, list[float]] = {}
        self.n = 0

    def add(self, record: Record) -> None:
        self.n += 1
        found = (self._panel if record.member is None else self._members).setdefault(record.item_hash, [])
        if record.exact is not None and record.scale is not None and record.scale[1] > record.scale[0]:
            lowest, highest = record.scale
            found.append(100 * (record.exact - lowest) / (highest - lowest))

    def by_item(self) -> dict[str, list[float]]:
        return {**self._members, **self._panel}


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
    one, other = _Scores(), _Scores()
    for record in numbers:
        one.add(record)
    for record in evidence:
        other.add(record)
    return _compared(one.by_item(), other.by_item())


def _compared(one: dict[str, list[float]], other: dict[str, list[float]]) -> Divergence:
    """The distance over the items with a score of both."""
    common = [(one[key], other[key]) for key in one if one[key] and other.get(key)]
    differences = [abs(_mean(first) - _mean(second)) for first, second in common]
    n = len(differences)
    mean = _mean(differences) if n else math.nan
    low, high = _interval(differences)
    reading: Reading = "undefined"
    if n:
        reading = "one_is_wrong" if mean > WRONG_ABOVE else "agree" if mean < AGREE_BELOW else "between"
    sure = {
        "one_is_wrong": low > WRONG_ABOVE,
        "agree": high < AGREE_BELOW,
        "between": low >= AGREE_BELOW and high <= WRONG_ABOVE,
        "undefined": False,
    }[reading]
    left_out = len(one.keys() | other.keys()) - n
    return Divergence(n_items=n, left_out=left_out, mean=mean, interval=(low, high), reading=reading, sure=sure)


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
