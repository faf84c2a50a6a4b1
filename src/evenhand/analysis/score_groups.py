"""Figures of a group of scores (all, one judge, one criterion, one period) with its counts and its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analysis.score_cells import Cells
from evenhand.stats.collapse import Spread
from evenhand.stats.collapse_verdict import CollapseVerdict, Comparator, collapse_verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ScoreGroup", "score_group", "splits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGroup:
    """One group of scores.

    Attributes:
        name: the judge, criterion or period; "" for all.
        counts: rows, and what became of them.
        spread: of the scores as they stand.
        rounded: of the scores on the scale's levels, where they have decimals; the verdict rests on it.
        verdict: with its reasons.
        comparators: who else scored the same items.
    """

    name: str
    counts: Mapping[str, int]
    spread: Spread
    rounded: Spread | None
    verdict: CollapseVerdict
    comparators: tuple[Comparator, ...] = ()

    @property
    def on_levels(self) -> Spread:
        """The spread over the scale's levels."""
        return self.rounded or self.spread

    def document(self) -> dict[str, Any]:
        """The group as `--json` prints it."""
        return {
            **self.spread.document(),
            "failed": self.counts["failed"],
            "counts": dict(self.counts),
            "rounded": None if self.rounded is None else self.rounded.document(),
            "verdict": self.verdict.verdict,
            "reasons": list(self.verdict.reasons),
            "comparators": [other.document() for other in self.comparators],
            "histogram": [list(pair) for pair in zip(self.on_levels.levels, self.on_levels.counts, strict=True)],
        }


def score_group(
    cells: Cells, chosen: "NDArray[np.int64]", name: str = "", comparators: tuple[Comparator, ...] = ()
) -> ScoreGroup:
    """The figures of some cells.

    Args:
        chosen: numbers of the cells, used or not.
    """
    used = chosen[cells.used[chosen]]
    spread = cells.spread(used)
    rounded = cells.rounded(used) if cells.scale.decimals else None
    verdict = collapse_verdict(
        rounded or spread, cells.scale.n_levels, comparators,
        scale_known=_is_known(cells, rounded or spread), alone=_alone(cells, name),
    )  # fmt: skip
    return ScoreGroup(
        name=name, counts=cells.counts(chosen), spread=spread, rounded=rounded, verdict=verdict, comparators=comparators
    )


def _alone(cells: Cells, name: str) -> str:
    """Why there is nobody to compare with."""
    judges, item = cells.table.judge, cells.table.item
    if judges is not None and len(judges.names) > 1 and not name:
        return "the scores of several judges together can only be compared with human grades, and there are none"
    if item is None and cells.table.human is None:
        return "there is no column of items or human grades, so nothing to compare with: the items may simply be alike"
    return "nobody else scored ten of the same items, which may simply be alike"


def _is_known(cells: Cells, spread: Spread) -> bool:
    """Whether the scale was declared, has both ends in use, or is wide enough to be unkind to a narrow log."""
    scale = cells.scale
    if scale.declared or scale.n_levels >= 10:
        return True
    return bool(spread.levels) and spread.levels[0] == scale.low and spread.levels[-1] == scale.high


def splits(codes: "NDArray[Any]", n_groups: int) -> "Sequence[NDArray[np.int64]]":
    """The cells of each group, in order; code -1 is in none."""
    import numpy as np

    if n_groups < 2**15:
        codes = codes.astype(np.int16)  # sorted digit by digit, in a fifth of the time
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(n_groups + 1))
    return [order[edges[group] : edges[group + 1]] for group in range(n_groups)]
