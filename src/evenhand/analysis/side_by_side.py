"""Scores of several judges side by side, on the items that any of them saw, and on one scale where there is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.graded import Scales, common_scale, grade_matrix
from evenhand.analysis.judge_ratings import JudgeRatings
from evenhand.errors import InvalidInput
from evenhand.stats.leniency import on_scale
from evenhand.stats.score_levels import usual_scale
from evenhand.store.grades import Grades

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

__all__ = ["SideBySide", "side_by_side"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideBySide:
    """Scores side by side.

    Attributes:
        scores: (n_items, n_judges) means over reruns; nan where a judge has none.
        moved: the same on one scale; None where they are not known to be on one.
        human: (n_items,) mean grades; None without grades.
        scales: of each judge and the humans; none without grades.
        bounds: of `moved`; None where not known.
    """

    judges: Sequence[JudgeRatings]
    items: tuple[str, ...]
    scores: "Floats"
    moved: "Floats | None"
    human: "Floats | None"
    scales: tuple[Scales, ...]
    bounds: tuple[float, float] | None

    @property
    def shared(self) -> "Booleans":
        """(n_items,) whether every judge has a score."""
        import numpy as np

        found: Booleans = np.isfinite(self.scores).min(axis=1)
        return found

    @property
    def alike(self) -> "Floats":
        """Scores on one scale where there is one, else as they are."""
        return self.scores if self.moved is None else self.moved

    @property
    def comparable(self) -> bool:
        """Whether a point is the same for every judge: all on one scale with the humans, or on one of their own."""
        known = {judge.scale for judge in self.judges}
        return self.moved is not None or (len(known) == 1 and None not in known)

    @property
    def binary_mark(self) -> float | None:
        """One half, where everything is 0 or 1."""
        import numpy as np

        every = self.scores[~np.isnan(self.scores)]
        if self.human is not None:
            every = np.concatenate([every, self.human])
        return 0.5 if self.moved is not None and ((every == 0) | (every == 1)).all() else None


def side_by_side(
    judges: Sequence[JudgeRatings], grades: Grades | None, scale: tuple[float, float] | None
) -> SideBySide:
    """Mean scores of all judges on all items that any of them saw (and the humans graded).

    Args:
        scale: of all scores, where there are no grades and records do not say it.
    Raises:
        InvalidInput: no item was both judged and graded, or a judge has no score of any.
    """
    import numpy as np

    every = dict.fromkeys(item for judge in judges for item in judge.scores)
    items = tuple(
        every if grades is None else (item for item in grades.items if grades.values.get(item) and item in every)
    )
    if not items:
        raise InvalidInput("compare: no item was both judged and graded; ids must be the same in all files (--item)")
    scores = np.full((len(items), len(judges)), np.nan)
    for column, judge in enumerate(judges):
        for row, item in enumerate(items):
            if found := judge.scores.get(item):
                scores[row, column] = found[0] if min(found) == max(found) else sum(found) / len(found)
    if not (~np.isnan(scores)).any(axis=0).all():
        lost = [judge.name for judge, held in zip(judges, (~np.isnan(scores)).any(axis=0), strict=True) if not held]
        raise InvalidInput(f"compare: {lost[0]!r} has no score of any of the {len(items)} items; leave it out")
    human = None
    if grades is not None:
        matrix = grade_matrix(grades, items)
        human = np.nansum(matrix, axis=1) / (~np.isnan(matrix)).sum(axis=1)
    scales = tuple(common_scale(judge, grades) for judge in judges) if grades is not None else ()
    moved, bounds = _moved(judges, scores, scales, scale)
    return SideBySide(judges=judges, items=items, scores=scores, moved=moved, human=human, scales=scales, bounds=bounds)


def _moved(
    judges: Sequence[JudgeRatings], scores: "Floats", scales: Sequence[Scales], scale: tuple[float, float] | None
) -> "tuple[Floats | None, tuple[float, float] | None]":
    """Scores on one scale, and that scale; None where they are not known to be on one."""
    import numpy as np

    if scales:
        if not all(one.movable for one in scales):
            return None, None
        columns = [
            column
            if one.same or one.judge is None or one.human is None
            else on_scale(column, came=one.judge, wanted=one.human)
            for column, one in zip(scores.T, scales, strict=True)
        ]
        return np.column_stack(columns), scales[0].human
    known = {judge.scale for judge in judges}
    stated = next(iter(known)) or scale
    if len(known) > 1 or (stated is None and not _plainly_one(scores)):
        return None, None
    return scores, stated


def _plainly_one(scores: "Floats") -> bool:
    """Whether the same usual scale is the smallest around each judge's scores: nothing is compared by guess."""
    import numpy as np

    return len({usual_scale(float(np.nanmin(column)), float(np.nanmax(column))) for column in scores.T}) == 1
