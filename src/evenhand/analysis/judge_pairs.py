"""Two judges on the items that both judged: the difference, what moved, flips, and what the first costs more."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.side_by_side import SideBySide
from evenhand.errors import InvalidInput
from evenhand.stats.differences import Difference, mcnemar_exact, wilcoxon_p
from evenhand.wording import count, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Moved", "Pair", "pair_of"]

_MOVED = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An item that two judges see differently."""

    item: str
    a: float
    b: float
    human: float | None
    nearer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two judges.

    Attributes:
        figure: what `difference` is of: `spearman`, or `mean` where there are no grades.
        difference: first less second, with the interval that holds together with all other pairs'.
        mean_difference: of their mean scores, likewise; None where they are on different scales.
        n_identical: shared items with equal scores; None where the two are not known to be on one scale.
        n_moved: items whose scores are a level or more apart; None likewise.
        moved: the furthest of them first; empty where they are not known.
        flips: of pass and fail, (first alone passes, second alone passes); None without a mark.
        mcnemar: exact p of agreeing with the humans' pass and fail equally often; None without mark or grades, and
            where items have sources, since the test takes items to be independent.
        wilcoxon: p of equal absolute errors on a common scale; None where it is not defined, or items have sources.
        extra_cost_per_1000: dollars that the first costs more for 1,000 judgements; None where not known.
    """

    a: str
    b: str
    figure: str
    difference: Difference
    mean_difference: Difference | None
    n_identical: int | None
    n_moved: int | None
    moved: tuple[Moved, ...]
    flips: tuple[int, int] | None
    mcnemar: float | None
    wilcoxon: float | None
    extra_cost_per_1000: float | None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What has to be said beside the difference, the same on a page and on a terminal."""
        one = self.difference.difference
        said = [one.undefined or one.no_interval or ""]
        if self.n_moved:
            said.append(f"{plural(self.n_moved, 'item')} moved by a level or more")
        if self.flips is not None:
            said.append(f"pass alone {count(self.flips[0])} and {count(self.flips[1])}")
        if self.mcnemar is not None:
            said.append(f"McNemar {_p_in_words(self.mcnemar)}")
        if self.wilcoxon is not None:
            said.append(f"Wilcoxon on errors {_p_in_words(self.wilcoxon)}")
        if self.extra_cost_per_1000 is not None:
            said.append(f"{self.extra_cost_per_1000:+.4f} dollars for 1,000")
        return tuple(filter(None, said))

    @property
    def apart(self) -> bool:
        """Whether the interval that holds together with the other pairs' excludes 0."""
        found = self.difference
        return found.low is not None and found.high is not None and not found.low <= 0.0 <= found.high


def _p_in_words(value: float) -> str:
    """A p value with three decimals, and never a false 0.

    >>> _p_in_words(0.0004), _p_in_words(0.0417), _p_in_words(1.0)
    ('p < 0.001', 'p = 0.042', 'p = 1.000')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def pair_of(
    table: SideBySide,
    *,
    a: int,
    b: int,
    rho: Difference | None,
    mean: Difference | None,
    mark: float | None,
    most: int,
    independent: bool,
) -> Pair:
    """Two judges of the table.

    Args:
        a: column of the first.
        b: column of the second.
        rho: their difference of rho; None without grades.
        mean: of means; None where they are on different scales.
        mark: score from which an item passes.
        most: how many of the items that moved to name.
        independent: whether items have no sources, so that tests of independent items hold.
    Raises:
        InvalidInput: neither difference can be given.
    """
    import numpy as np

    first, second = table.alike[:, a], table.alike[:, b]
    both = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    gaps = np.abs(first[both] - second[both])
    nearest = mean if rho is None else rho
    if nearest is None:
        raise InvalidInput(
            f"compare: {table.judges[a].name!r} and {table.judges[b].name!r} are on different or unknown scales, and "
            "there are no grades to hold them against; name grades with --grades, or the scale with --scale"
        )
    known = table.comparable
    far = [int(both[k]) for k in np.lexsort((both, -gaps)) if known and gaps[k] >= _MOVED - 1e-9]
    costs = table.judges[a].cost_per_1000, table.judges[b].cost_per_1000
    return Pair(
        a=table.judges[a].name,
        b=table.judges[b].name,
        figure="mean" if rho is None else "spearman",
        difference=nearest,
        mean_difference=mean,
        n_identical=int((gaps < 1e-9).sum()) if known else None,
        n_moved=len(far) if known else None,
        moved=tuple(_moved_item(table, row, a, b) for row in far[:most]),
        flips=_flips(first[both], second[both], mark, table),
        mcnemar=_mcnemar(table, both, a, b, mark) if independent else None,
        wilcoxon=_wilcoxon(table, both, a, b) if independent else None,
        extra_cost_per_1000=None if costs[0] is None or costs[1] is None else costs[0] - costs[1],
    )


def _moved_item(table: SideBySide, row: int, a: int, b: int) -> Moved:
    """One item, with who is nearer to the humans where all are on one scale."""
    first, second = float(table.alike[row, a]), float(table.alike[row, b])
    human = None if table.human is None else float(table.human[row])
    nearer = None
    if human is not None and table.moved is not None:
        gap = abs(first - human) - abs(second - human)
        nearer = "neither" if abs(gap) < 1e-9 else table.judges[a].name if gap < 0 else table.judges[b].name
    return Moved(item=table.items[row], a=first, b=second, human=human, nearer=nearer)


def _flips(first: "Floats", second: "Floats", mark: float | None, table: SideBySide) -> tuple[int, int] | None:
    """How often one alone passes."""
    if mark is None or table.moved is None:
        return None
    return int(((first >= mark) & (second < mark)).sum()), int(((first < mark) & (second >= mark)).sum())


def _mcnemar(table: SideBySide, both: "NDArray[np.intp]", a: int, b: int, mark: float | None) -> float | None:
    """Do both agree with the humans' pass and fail equally often?"""
    if mark is None or table.moved is None or table.human is None:
        return None
    truth = table.human[both] >= mark
    right_a, right_b = ((table.moved[both, k] >= mark) == truth for k in (a, b))
    return mcnemar_exact(int((right_a & ~right_b).sum()), int((~right_a & right_b).sum()))


def _wilcoxon(table: SideBySide, both: "NDArray[np.intp]", a: int, b: int) -> float | None:
    """Are both equally far from the humans?"""
    if table.moved is None or table.human is None or not len(both):
        return None
    errors = [table.moved[both, k] - table.human[both] for k in (a, b)]
    return wilcoxon_p(errors[0], errors[1])[0]
