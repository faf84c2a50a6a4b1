"""How far a judge agrees with itself: the spread of one item's scores over its reruns."""

import math
from collections.abc import Sequence
from typing import Any

from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Record

__all__ = ["Reruns"]


class Reruns:
    """Rerun noise of one judge, built record by record, in any order.

    The rerun SD is pooled: the root of the summed squared deviations from each item's own mean, over the sum of
    (reruns - 1). An item counts with two scored reruns or more; one that reached a verdict in some reruns and not in
    others is counted apart as well, since its spread cannot be seen in scores.

    Args:
        n_reruns: how many records an item has; its scores are let go once all have come. None where that is not known.

    >>> reruns = Reruns(2)
    >>> for item, score in (("a", 3.0), ("a", 5.0), ("b", 4.0), ("b", 4.0)):
    ...     reruns.add_score(item, score)
    >>> reruns.document()["rerun_sd"], reruns.document()["rerun_items"], reruns.document()["rerun_agree"]
    (1.0, 2, 1)
    """

    def __init__(self, n_reruns: int | None = None) -> None:
        self._n_reruns = n_reruns
        self._open: dict[str, list[float | None]] = {}
        self._sums = _Sums()

    def add(self, record: Record) -> None:
        """Count one record."""
        self.add_score(record.item, record.exact if record.exact is not None else record.score)

    def add_score(self, item: str, score: float | None) -> None:
        """Count one rerun of an item; None where it reached no verdict."""
        scores = self._open.setdefault(item, [])
        scores.append(score)
        if len(scores) == self._n_reruns:
            self._sums.fold(self._open.pop(item))

    def __add__(self, other: "Reruns") -> "Reruns":
        """Both together: noise within the items of each, never between the two."""
        total = Reruns()
        total._sums = self._closed().plus(other._closed())
        return total

    def document(self) -> dict[str, Any]:
        """The figures as `--json` prints them; null where no item has two scored reruns."""
        sums = self._closed()
        n = sums.n_items
        return {
            "rerun_sd": round(math.sqrt(sums.squares / sums.degrees), 12) if sums.degrees else None,
            "rerun_items": n,
            "rerun_agree": sums.n_agree,
            "rerun_agree_share": sums.n_agree / n if n else None,
            "rerun_agree_interval": wilson_interval(sums.n_agree, n) if n else None,
            "rerun_mixed": sums.n_mixed,
        }

    def _closed(self) -> "_Sums":
        """The sums with what is still open."""
        sums = _Sums().plus(self._sums)
        for scores in self._open.values():
            sums.fold(scores)
        return sums


class _Sums:
    """Squared deviations from the items' means, their degrees of freedom, and counts of items."""

    __slots__ = ("degrees", "n_agree", "n_items", "n_mixed", "squares")

    def __init__(self) -> None:
        self.squares = 0.0
        self.degrees = self.n_items = self.n_agree = self.n_mixed = 0

    def fold(self, scores: Sequence[float | None]) -> None:
        """Add one item's reruns."""
        known = [score for score in scores if score is not None]
        self.n_mixed += 0 < len(known) < len(scores)
        if len(known) < 2:
            return
        mean = math.fsum(known) / len(known)
        self.squares += math.fsum((score - mean) ** 2 for score in known)
        self.degrees += len(known) - 1
        self.n_items += 1
        self.n_agree += len(set(known)) == 1

    def plus(self, other: "_Sums") -> "_Sums":
        """Both together."""
        total = _Sums()
        for name in self.__slots__:
            setattr(total, name, getattr(self, name) + getattr(other, name))
        return total
