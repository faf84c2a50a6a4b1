"""What a page shows of many records: for each judge and member the counts, the distribution, criteria and checks.

Built record by record, so that a run of any length is summed up without being held.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from evenhand.analysis.reruns import Reruns
from evenhand.analysis.summary import MemberSummary, PanelSummary
from evenhand.scoring.labels import ACCEPTANCE_LABELS, REFERENCE_LABELS
from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Record

__all__ = ["Bar", "CheckTally", "CriterionTally", "GroupTally", "bars", "label_bars"]

_MOST_BARS = 12
_WORDS = (("b", "tie", "a"), REFERENCE_LABELS[::-1], ACCEPTANCE_LABELS[::-1])


@dataclass(slots=True)
class CheckTally:
    """One check's answers."""

    yes: int = 0
    no: int = 0
    na: int = 0
    uncounted: int = 0

    def add(self, check: Mapping[str, Any]) -> None:
        """Count one answer; a yes whose quotation is not in the text is no yes that counts."""
        passed = check.get("passed")
        if passed is None:
            self.na += 1
        elif not passed:
            self.no += 1
        elif check.get("counted", True):
            self.yes += 1
        else:
            self.uncounted += 1

    @property
    def n(self) -> int:
        """Answers that apply."""
        return self.yes + self.no + self.uncounted


@dataclass(slots=True)
class CriterionTally:
    """One criterion's scores, and its checks or items."""

    weights: Counter[float] = field(default_factory=Counter)
    scores: Counter[float] = field(default_factory=Counter)
    without: int = 0
    out: int = 0
    scale: Any = None
    checks: dict[str, CheckTally] = field(default_factory=dict)
    items: int = 0
    counted: int = 0
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Count one record's entry."""
        score = entry.get("exact") if entry.get("exact") is not None else entry.get("score")
        if (entry.get("arithmetic") or {}).get("taken_out"):
            self.out += 1
        elif score is None:
            self.without += 1
        else:
            self.scores[score] += 1
        if entry.get("weight"):
            self.weights[entry["weight"]] += 1
        self.scale = self.scale or entry.get("scale")
        for check in entry.get("checks") or ():
            self.checks.setdefault(str(check.get("id")), CheckTally()).add(check)
        if entry.get("label") is not None:
            self.labels[str(entry["label"])] += 1
        found = entry.get("items") or ()
        self.items += len(found)
        self.counted += sum(bool(item.get("counted", True)) for item in found)

    @property
    def n(self) -> int:
        """Scores."""
        return self.scores.total()

    def quartiles(self) -> tuple[float, float, float] | None:
        """Lower quartile, median and upper quartile (inclusive, linear between neighbours); None without scores.

        >>> tally = CriterionTally()
        >>> tally.scores.update([1, 2, 3, 4])
        >>> tally.quartiles()
        (1.75, 2.5, 3.25)
        """
        ordered = sorted(self.scores.elements())
        if not ordered:
            return None
        return _quantile(ordered, 0.25), _quantile(ordered, 0.5), _quantile(ordered, 0.75)


class GroupTally:
    """One judge and member, or the panel of a judge."""

    def __init__(self, record: Record) -> None:
        self.judge: Mapping[str, Any] = record.judge
        self.member = record.member
        self.sums = MemberSummary(reruns=Reruns())
        self.panel = PanelSummary(self.sums) if record.member is None else None
        self.criteria: dict[str, CriterionTally] = {}
        self.dissent = 0
        self.scale: tuple[float, float] | None = None
        self.reruns = 0

    def add(self, record: Record) -> None:
        """Count one record."""
        (self.panel or self.sums).add(record)
        self.reruns = max(self.reruns, record.rerun)
        self.dissent += bool((record.panel or {}).get("dissent"))
        self.scale = self.scale or record.scale
        for entry in record.criteria:
            self.criteria.setdefault(str(entry.get("id")), CriterionTally()).add(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a distribution: how many of all, with the 95 % interval of the share."""

    label: str
    n: int
    share: float
    low: float
    high: float


def bars(scores: Mapping[float, int], scale: Sequence[float] | None) -> tuple[Bar, ...]:
    """A bar for each level of a short whole scale, or for each of ten equal bins.

    Args:
        scores: how often each occurs.
        scale: (lowest, highest); widened to what occurs.

    >>> [(bar.label, bar.n) for bar in bars({1: 2, 3: 1}, (1, 3))]
    [('1', 2), ('2', 0), ('3', 1)]
    >>> [bar.label for bar in bars({62: 1, 100: 1}, (0, 100))][-2:]
    ['80 to <90', '90 to 100']
    """
    total = sum(scores.values())
    if not total:
        return ()
    low, high = min(scores), max(scores)
    if scale is not None:
        low, high = min(low, scale[0]), max(high, scale[1])
    whole = all(float(value).is_integer() for value in (low, high, *scores))
    if whole and high - low < _MOST_BARS:
        counts = {f"{level:g}": scores.get(level, 0) for level in range(int(low), int(high) + 1)}
    elif len(scores) <= _MOST_BARS and not whole and high - low < _MOST_BARS:
        counts = {f"{level:g}": n for level, n in sorted(scores.items())}
    else:
        counts = _binned(scores, low, high)
    made = []
    for label, n in counts.items():
        bounds = wilson_interval(n, total)
        made.append(Bar(label=label, n=n, share=n / total, low=bounds[0], high=bounds[1]))
    return tuple(made)


def label_bars(labels: Mapping[str, int]) -> tuple[Bar, ...]:
    """A bar for each word that a verdict can be, best first at the end; words of no known protocol are one bar.

    >>> [(bar.label, bar.n) for bar in label_bars({"tie": 1, "a": 2})]
    [('b', 0), ('tie', 1), ('a', 2)]
    """
    total = sum(labels.values())
    if not total:
        return ()
    known = next((words for words in _WORDS if labels.keys() & set(words)), ())
    counts = {word: labels.get(word, 0) for word in known}
    if other := total - sum(counts.values()):
        counts["other"] = other
    made = []
    for word, n in counts.items():
        low, high = wilson_interval(n, total)
        made.append(Bar(label=word, n=n, share=n / total, low=low, high=high))
    return tuple(made)


def _binned(scores: Mapping[float, int], low: float, high: float, n_bins: int = 10) -> dict[str, int]:
    """Ten equal bins; the last one holds the highest score."""
    width = (high - low) / n_bins
    counts = [0] * n_bins
    for value, n in scores.items():
        counts[min(int((value - low) / width), n_bins - 1)] += n
    edges = [low + place * width for place in range(n_bins + 1)]
    names = [f"{a:g} to <{b:g}" for a, b in pairwise(edges[:-1])] + [f"{edges[-2]:g} to {edges[-1]:g}"]
    return dict(zip(names, counts, strict=True))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
