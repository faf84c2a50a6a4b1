"""Which cells of a score table count, and why the others do not: decided once, before any figure is made."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.stats.collapse import Spread, level_codes, merged_levels, spread_of
from evenhand.stats.score_levels import ScoreScale, score_scale
from evenhand.store.scores.table import STATUSES, ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Cells", "sorted_out"]

_LONELY_SPAN = 4.0
_LONELY_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A table with every cell's fate.

    Attributes:
        table: the scores.
        scale: the scale they are judged on.
        levels: (k,) the distinct numbers in the table, rising.
        codes: (n,) place of each cell's number among them; -1 without one.
        number: (n,) whether a cell holds a score that may be counted, on the scale or off it.
        used: (n,) whether it is in the figures: a number, on the scale.
        suspicious: (n,) cells of rows whose scores are all zero, which are failures more often than judgements.
        off_scale: (n,) numbers that are not on the scale.
        lonely_zeros: how many zeros stand apart from all other scores, where one cannot see more of the row.
        zeros_kept: whether suspicious cells are counted all the same.
    """

    table: ScoreTable
    scale: ScoreScale
    levels: "NDArray[np.float64]"
    codes: "NDArray[np.int64]"
    number: "NDArray[np.bool_]"
    used: "NDArray[np.bool_]"
    suspicious: "NDArray[np.bool_]"
    off_scale: "NDArray[np.bool_]"
    lonely_zeros: int
    zeros_kept: bool

    def spread(self, chosen: "NDArray[np.int64]") -> Spread:
        """How the numbers of some cells are spread."""
        import numpy as np

        return spread_of(self.levels, np.bincount(self.codes[chosen], minlength=len(self.levels)))

    def rounded(self, chosen: "NDArray[np.int64]") -> Spread:
        """The same on the scale's levels."""
        import numpy as np

        counts = np.bincount(self.codes[chosen], minlength=len(self.levels))
        return spread_of(*merged_levels(self.scale.rounded(self.levels), counts))

    def counts(self, chosen: "NDArray[np.int64]") -> dict[str, int]:
        """How many rows and scores some cells have, and what became of them.

        `failed`, `abstained` and `suspicious` count rows (all scores of a row share that fate), the others scores.
        """
        status = self.table.status[chosen]
        found = {"rows": self._rows(chosen)}
        for code, name in enumerate(STATUSES):
            if name in ("failed", "abstained"):
                found[name] = self._rows(chosen[status == code])
            elif name != "scored":
                found[name] = int((status == code).sum())
        found["suspicious"] = self._rows(chosen[self.suspicious[chosen]])
        found["out_of_scale"] = int(self.off_scale[chosen].sum())
        return found

    def _rows(self, chosen: "NDArray[np.int64]") -> int:
        """Different rows of the chosen cells."""
        import numpy as np

        if self.table.overall is None and len(self.table.columns.score) == 1:
            return len(chosen)
        return len(np.unique(self.table.row[chosen]))

    def n_failed_zeros(self) -> int:
        """How many scores of failed rows are written as 0."""
        table = self.table
        return int(((table.status == STATUSES.index("failed")) & (table.value == 0)).sum())


def sorted_out(table: ScoreTable, scale: tuple[float, float] | None, *, keep_zeros: bool = False) -> Cells:
    """Decide on every cell.

    Args:
        scale: its ends; else what the file declares, else the smallest usual scale around the scores.
        keep_zeros: count rows whose scores are all zero.
    """
    import numpy as np

    scored = table.status == STATUSES.index("scored")
    zeros = _all_zero(table, scored)
    number = scored & (~zeros | keep_zeros)
    known = ~np.isnan(table.value)
    codes = np.full(table.n, -1, np.int64)
    levels, codes[known] = level_codes(table.value[known])
    counts = np.bincount(codes[number], minlength=len(levels))
    given = counts > 0
    found = score_scale(levels[given], counts[given], scale or table.scale)
    inside = (table.value >= found.low) & (table.value <= found.high)
    return Cells(
        table=table, scale=found, levels=levels, codes=codes, number=number, used=number & inside,
        suspicious=zeros, off_scale=number & ~inside, zeros_kept=keep_zeros,
        lonely_zeros=0 if zeros.any() else _lonely_zeros(levels, counts, found),
    )  # fmt: skip


def _all_zero(table: ScoreTable, scored: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """(n,) cells of rows with two scores or more, all of them zero."""
    import numpy as np

    if table.is_records or table.n == 0:
        return np.zeros(table.n, bool)  # evenhand never writes a failure as 0
    n_cells = np.bincount(table.row)
    n_other = np.bincount(table.row[~(scored & (table.value == 0))], minlength=len(n_cells))
    found: NDArray[np.bool_] = ((n_cells >= 2) & (n_other == 0))[table.row]
    return found


def _lonely_zeros(levels: "NDArray[np.float64]", counts: "NDArray[np.int64]", scale: ScoreScale) -> int:
    """Zeros with hardly a neighbour: three at least, a quarter of all at most, thrice as many as stand next to them."""
    zeros = int(counts[levels == 0].sum())
    near = int(counts[(levels > 0) & (levels <= scale.low + 0.2 * (scale.high - scale.low))].sum())
    lonely = scale.high - scale.low >= _LONELY_SPAN and 3 <= zeros <= _LONELY_SHARE * counts.sum() and zeros >= 3 * near
    return zeros if lonely else 0
