"""Who else scored the same items, and how much more they spread: humans on the same rows, other judges judge by judge.

Another judge is compared on the items that both scored, and the median over the others is taken. Pooling them would not
do: ten judges that each give one score throughout, though not the same one, are wide together and tell nothing.
"""

import math
from typing import TYPE_CHECKING, Any

from evenhand.analysis.judge_overlaps import judge_overlaps
from evenhand.analysis.score_cells import Cells
from evenhand.stats.collapse import entropy_nats, level_counts, level_sd, merged_levels
from evenhand.stats.collapse_verdict import MIN_SCORES, Comparator
from evenhand.stats.score_levels import ScoreScale, score_scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["OtherJudges", "human_comparator", "human_scale", "item_numbers"]


def human_scale(cells: Cells, declared: tuple[float, float] | None) -> ScoreScale | None:
    """The scale of the human grades: the declared one, the scores' own where they all fit, else a usual one."""
    if cells.table.human is None:
        return None
    levels, counts = level_counts(cells.table.human)
    scale = cells.scale
    fits = len(levels) == 0 or (levels[0] >= scale.low and levels[-1] <= scale.high)
    return score_scale(levels, counts, declared or ((scale.low, scale.high) if fits else None))


def human_comparator(
    cells: Cells, chosen: "NDArray[np.int64]", scale: ScoreScale | None, items: "NDArray[np.int64]"
) -> Comparator | None:
    """The humans against some cells: each item counts once among the humans' grades.

    Args:
        items: as `item_numbers` gives them.
    """
    import numpy as np

    table = cells.table
    if table.human is None or scale is None:
        return None
    both = chosen[cells.used[chosen] & ~np.isnan(table.human[chosen])]
    first = both if table.item is None else _first_of_each(items[both], both)
    if len(first) < MIN_SCORES:
        return None
    scores = (cells.levels, np.bincount(cells.codes[both], minlength=len(cells.levels)))
    if cells.scale.decimals:
        scores = merged_levels(cells.scale.rounded(cells.levels), scores[1])
    grades = level_counts(table.human[first])
    if scale.decimals:
        grades = merged_levels(scale.rounded(grades[0]), grades[1])
    width = (cells.scale.high - cells.scale.low) / (scale.high - scale.low)
    return _comparator("the humans", [(scores, grades, len(first))], width)


def _first_of_each(items: "NDArray[np.int64]", cells: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """The first cell of each item."""
    import numpy as np

    first = np.full(int(items.max(initial=-1)) + 2, -1, np.int64)
    first[items[::-1]] = cells[::-1]
    return first[first >= 0]


def item_numbers(cells: Cells) -> "NDArray[np.int64]":
    """(n,) number of each cell's item and criterion together; -1 without an item."""
    import numpy as np

    table = cells.table
    if table.item is None:
        return np.full(table.n, -1, np.int64)
    items = table.item.codes.astype(np.int64)
    if table.criterion is None:
        return items
    found: NDArray[np.int64] = np.where(
        items < 0, -1, items * (len(table.criterion.names) + 1) + table.criterion.codes + 1
    )
    return found


class OtherJudges:
    """The other judges on the same items, for every judge in turn."""

    def __init__(self, cells: Cells, items: "NDArray[np.int64]") -> None:
        import numpy as np

        table = cells.table
        assert table.judge is not None
        known = cells.used & (table.judge.codes >= 0) & (items >= 0)
        levels = cells.scale.rounded(cells.levels) if cells.scale.decimals else cells.levels
        self._levels, place = np.unique(levels, return_inverse=True)
        shape = len(table.judge.names), len(self._levels)
        items = items[known]
        alone = table.item.codes[known].astype(np.int64) if table.item is not None else items
        self._pairs = judge_overlaps(
            items, alone, table.judge.codes[known].astype(np.int64), place[cells.codes[known]], shape
        )

    def of(self, judge: int) -> Comparator | None:
        """The others beside one judge; None where none has ten items in common with it."""
        import numpy as np

        shared, own, theirs = self._pairs.of(judge)
        others = np.flatnonzero(shared >= MIN_SCORES)
        others = others[others != judge]
        if len(others) == 0:
            return None
        pairs = [((self._levels, own[j]), (self._levels, theirs[j]), int(shared[j])) for j in others.tolist()]
        return _comparator("the other judges", pairs, 1.0)


def _comparator(who: str, pairs: list[tuple[Any, Any, int]], width: float) -> Comparator:
    """Ratios of spread, the median over the others.

    Args:
        pairs: for each other, the scores and the other's (levels and counts each), and how many items they share.
        width: of the scores' scale over that of the other's.
    """
    from statistics import median

    return Comparator(
        who=who, n_raters=len(pairs), n_items=int(median(n for _, _, n in pairs)),
        sd_ratio=median(_ratio(level_sd(*other) * width, level_sd(*own)) for own, other, _ in pairs),
        level_ratio=median(
            _ratio(math.exp(entropy_nats(other[1])), math.exp(entropy_nats(own[1]))) for own, other, _ in pairs
        ),
    )  # fmt: skip


def _ratio(other: float, own: float) -> float:
    """How many times; 1 where neither spreads, infinite beside a constant."""
    if own > 1e-12:
        return other / own
    return math.inf if other > 1e-12 else 1.0
