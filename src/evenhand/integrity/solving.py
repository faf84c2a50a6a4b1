"""How often a judge solves the tasks itself, and how far its false positives exceed what that would explain.

A judge that answers independently and accepts on an exact match accepts a wrong candidate only where its own answer is
wrong as well: its false-positive rate is at most 1 - its solve accuracy on those items. What lies above is anchoring.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.integrity.shares import exact_interval
from evenhand.stats.estimates import Estimate
from evenhand.stats.resampling import Bootstrap, Units, draw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Judged", "SolveFigures", "solve_figures"]

FEWEST_WRONG = 10
"""Below so many items a percentile interval is too narrow to prove anything."""

_NO_SOLVES = "the judge's blind solves are not given"
_NO_WRONG = "no item has a candidate that is known to be wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is known of one item.

    Args:
        item: its id.
        solves: one truth value for each blind solve by the same model and settings: was it right. Empty: not known.
        wrong: whether the candidate is wrong; None where the truth is not known.
        accepted: whether the judge accepted the candidate; None where it gave no verdict.
    """

    item: str
    solves: tuple[bool, ...] = ()
    wrong: bool | None = None
    accepted: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveFigures:
    """The judge's own accuracy and what it bounds.

    Attributes:
        solve_accuracy: share of right solves, over all items with a solve.
        solve_accuracy_on_wrong: the same over items whose candidate is wrong.
        bound: 1 - `solve_accuracy_on_wrong`, on the same items.
        false_positive_rate: share accepted of wrong candidates.
        excess: false-positive rate minus bound, over wrong items that have both, paired.
        proves_anchoring: the excess lies above 0 with its whole interval, on `FEWEST_WRONG` items or more.
        n_solves: solves in all.
        no_verdict: items without a verdict of the judge.
        unknown_truth: items whose candidate is neither known to be right nor to be wrong.
    """

    solve_accuracy: Estimate
    solve_accuracy_on_wrong: Estimate
    bound: Estimate
    false_positive_rate: Estimate
    excess: Estimate
    proves_anchoring: bool
    n_solves: int
    no_verdict: int
    unknown_truth: int

    def document(self) -> dict[str, Any]:
        """As the evidence of C1 holds it."""
        names = ("solve_accuracy", "solve_accuracy_on_wrong", "bound", "false_positive_rate", "excess")
        found: dict[str, Any] = {name: dict(getattr(self, name).document()) for name in names}
        counts: Mapping[str, Any] = {
            "proves_anchoring": self.proves_anchoring,
            "n_solves": self.n_solves,
            "no_verdict": self.no_verdict,
            "unknown_truth": self.unknown_truth,
        }
        return {**found, **counts}


def solve_figures(judged: Sequence[Judged], bootstrap: Bootstrap | None = None) -> SolveFigures:
    """Solve accuracy, the bound it sets, and the excess of the false-positive rate over it.

    Args:
        judged: one entry an item.
        bootstrap: how intervals are drawn; items are drawn with all that belongs to them.
    Returns:
        Shares in [0, 1]; the excess in [-1, 1]. Undefined, with the reason, where no item has what a figure needs.
    Raises:
        InvalidInput: an item twice.
    Source: Zhou (2026), arXiv:2607.05904, proposition 1 and corollary 1.

    >>> rows = [Judged(item=str(n), solves=(n % 2 == 0,), wrong=True, accepted=True) for n in range(20)]
    >>> found = solve_figures(rows)
    >>> found.bound.value, found.excess.value, found.proves_anchoring
    (0.5, 0.5, True)
    """
    settings = bootstrap or Bootstrap()
    _once(judged)
    solved = [row for row in judged if row.solves]
    wrong = [row for row in judged if row.wrong]
    wrong_solved = [row for row in wrong if row.solves]
    decided = [row for row in wrong if row.accepted is not None]
    both = [row for row in wrong_solved if row.accepted is not None]
    on_wrong = _mean([_right(row) for row in wrong_solved], settings, _NO_WRONG if not wrong else _NO_SOLVES)
    excess = _excess([float(bool(row.accepted)) - (1.0 - _right(row)) for row in both], settings,
                     _why_no_excess(wrong, wrong_solved, decided))  # fmt: skip
    return SolveFigures(
        solve_accuracy=_mean([_right(row) for row in solved], settings, _NO_SOLVES),
        solve_accuracy_on_wrong=on_wrong,
        bound=_complement(on_wrong),
        false_positive_rate=_share(decided, "no wrong candidate has a verdict" if wrong else _NO_WRONG),
        excess=excess,
        proves_anchoring=len(both) >= FEWEST_WRONG and excess.low is not None and excess.low > 0.0,
        n_solves=sum(len(row.solves) for row in judged),
        no_verdict=sum(row.accepted is None for row in judged),
        unknown_truth=sum(row.wrong is None for row in judged),
    )  # fmt: skip


def _once(judged: Sequence[Judged]) -> None:
    seen: set[str] = set()
    for row in judged:
        if row.item in seen:
            raise InvalidInput(f"solve_figures: item {row.item!r} comes twice; give one entry an item")
        seen.add(row.item)


def _right(row: Judged) -> float:
    """Share of an item's solves that are right."""
    return sum(row.solves) / len(row.solves)


def _why_no_excess(wrong: Sequence[Judged], solved: Sequence[Judged], decided: Sequence[Judged]) -> str:
    if not wrong:
        return _NO_WRONG
    if not solved:
        return _NO_SOLVES
    return "no wrong candidate has a verdict" if not decided else "no wrong item has both a solve and a verdict"


def _excess(values: Sequence[float], bootstrap: Bootstrap, undefined: str) -> Estimate:
    """The mean of paired differences in [-1, 1]; where all items give the same, no resample says how far it holds.

    Then at least the share p of all items gives that difference, by Clopper and Pearson's lower end for n of n, and the
    others give at worst -1 or 1: the interval is p times the difference, minus and plus 1 - p.
    """
    if not values:
        return Estimate.of_nothing(undefined, n=0)
    if len(set(values)) > 1:
        return _drawn(values, bootstrap)
    share = exact_interval(len(values), len(values))[0]
    low, high = (max(-1.0, share * values[0] - (1.0 - share)), min(1.0, share * values[0] + (1.0 - share)))
    method = "exact bounds on the share of items that give what all of these give"
    return Estimate(value=values[0], low=low, high=high, n=len(values), method=method)


def _mean(values: Sequence[float], bootstrap: Bootstrap, undefined: str) -> Estimate:
    """The mean over items: a share of yes or no with its exact interval, else with a percentile interval over items."""
    if not values:
        return Estimate.of_nothing(undefined, n=0)
    if all(value in (0.0, 1.0) for value in values):
        return _exact(int(sum(values)), len(values))
    return _drawn(values, bootstrap)


def _drawn(values: Sequence[float], bootstrap: Bootstrap) -> Estimate:
    """The mean with a percentile interval over items."""
    import numpy as np

    data = np.array(values)[:, None]
    units = Units.of(data, bootstrap)
    column = data[units.rows, 0]

    def mean(weights: "NDArray[np.float64]") -> "NDArray[np.float64]":
        found: NDArray[np.float64] = weights @ column / weights.sum(axis=1)
        return found

    return draw(mean, units, bootstrap).estimate(float(data.mean()))


def _share(decided: Sequence[Judged], undefined: str) -> Estimate:
    """Share accepted, with its exact interval: it is one yes or no an item, often the same for all."""
    if not decided:
        return Estimate.of_nothing(undefined, n=0)
    return _exact(sum(bool(row.accepted) for row in decided), len(decided))


def _exact(successes: int, n: int) -> Estimate:
    low, high = exact_interval(successes, n)
    return Estimate(value=successes / n, low=low, high=high, n=n, method="Clopper and Pearson's exact interval")


def _complement(of: Estimate) -> Estimate:
    """1 minus an estimate, its interval turned round."""
    if of.value is None:
        return of
    ends = (None, None) if of.low is None or of.high is None else (1.0 - of.high, 1.0 - of.low)
    return replace(of, value=1.0 - of.value, low=ends[0], high=ends[1])
