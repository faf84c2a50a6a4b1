"""A judge's scores beside the humans' grades of the same items: the table that validation and comparison work on.

Nothing is joined in silence: graded items without a score and judged items without a grade are named, and what scale
both are on is found here, stated or said to be unknown; nothing is rescaled by guess.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.judge_ratings import JudgeRatings
from evenhand.errors import InvalidInput
from evenhand.store.grades import Grades
from evenhand.wording import count, none_of, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Graded", "Scales", "clusters_of", "common_scale", "grade_matrix", "join"]

Scale = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Which scales judge and humans are on.

    Args:
        judge: (lowest, highest); None where unknown.
        human: likewise.
        same: whether they are one scale; None where that is not known, and no figure that needs it is given.
        sentence: what was taken, and why.
    """

    judge: Scale | None
    human: Scale | None
    same: bool | None
    sentence: str

    @property
    def movable(self) -> bool:
        """Whether a score can be moved onto the humans' scale."""
        return self.same is True or (self.judge is not None and self.human is not None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graded:
    """Items with a score and a grade.

    Attributes:
        items: their ids, in the order of the grades.
        scores: (n, k) scores before rounding over reruns; nan where a rerun gave none.
        shown: (n,) the first score as it is shown.
        grades: (n, r) usable grades; nan where missing.
        lengths: (n,) characters; nan where unknown.
        clusters: (n,) source of each item; None where no column was named.
        not_judged: graded items that have no score, by id.
        not_graded: judged items that have no usable grade, by id.
        scales: of both.
    """

    judge: JudgeRatings
    raters: tuple[str, ...]
    items: tuple[str, ...]
    scores: "Floats"
    shown: "Floats"
    grades: "Floats"
    lengths: "Floats"
    clusters: tuple[str, ...] | None
    not_judged: tuple[str, ...]
    not_graded: tuple[str, ...]
    scales: Scales

    @property
    def n(self) -> int:
        """Items with both."""
        return len(self.items)

    @property
    def judge_mean(self) -> "Floats":
        """(n,) mean score over reruns."""
        return _row_means(self.scores)

    @property
    def human_mean(self) -> "Floats":
        """(n,) mean grade over raters."""
        return _row_means(self.grades)

    def on_human_scale(self, scores: "Floats") -> "Floats | None":
        """Scores in points of the humans' scale; None where they cannot be moved there."""
        from evenhand.stats.leniency import on_scale

        if self.scales.same:
            return scores
        if self.scales.judge is None or self.scales.human is None:
            return None
        return on_scale(scores, came=self.scales.judge, wanted=self.scales.human)


def join(
    judge: JudgeRatings, grades: Grades, *, lengths: Mapping[str, int] | None = None, cluster: str | None = None
) -> Graded:
    """A judge's scores and the humans' grades of the same items.

    Args:
        lengths: item to characters, where the records do not say.
        cluster: the column that was asked for; an item without a value in it is refused.
    Raises:
        InvalidInput: no item has both, or an item has no cluster.
    """
    import numpy as np

    graded = [item for item in grades.items if grades.values.get(item)]
    items = tuple(item for item in graded if judge.scores.get(item))
    if not items:
        raise InvalidInput(_nothing_in_common(judge, grades, graded))
    known = {**judge.lengths, **(lengths or {})}
    width = max(len(judge.scores[item]) for item in items)
    scores = np.full((len(items), width), np.nan)
    for row, item in enumerate(items):
        found = judge.scores[item]
        scores[row, : len(found)] = found
    return Graded(
        judge=judge,
        raters=grades.raters,
        items=items,
        scores=scores,
        shown=np.array([judge.shown[item][0] for item in items]),
        grades=grade_matrix(grades, items),
        lengths=np.array([float(known[item]) if item in known else np.nan for item in items]),
        clusters=clusters_of(items, cluster, grades.clusters, judge.clusters),
        not_judged=tuple(item for item in graded if not judge.scores.get(item)),
        not_graded=tuple(item for item in judge.scores if not grades.values.get(item)),
        scales=common_scale(judge, grades),
    )


def grade_matrix(grades: Grades, items: Sequence[str]) -> "Floats":
    """(n_items, n_raters) grades, nan where missing."""
    import numpy as np

    rows = [[grades.values.get(item, {}).get(rater, np.nan) for rater in grades.raters] for item in items]
    return np.array(rows, dtype=np.float64).reshape(len(items), len(grades.raters))


def clusters_of(items: Sequence[str], cluster: str | None, *sources: Mapping[str, str]) -> tuple[str, ...] | None:
    """The source of each item, from the first mapping that names it.

    Raises:
        InvalidInput: the column is nowhere, or an item has no value in it.
    """
    if cluster is None:
        return None
    found = [next((source[item] for source in sources if item in source), None) for item in items]
    missing = [item for item, source in zip(items, found, strict=True) if source is None]
    if len(missing) == len(items):
        raise InvalidInput(
            f"--cluster {cluster!r}: neither the grades nor the scores have such a column; name one that says which "
            "source an item comes from"
        )
    if missing:
        raise InvalidInput(
            f"--cluster {cluster!r}: {count(len(missing))} of {plural(len(items), 'item')} "
            f"{'has' if len(missing) == 1 else 'have'} no value in "
            f"it, such as {missing[0]!r}; "
            "fill it in, or leave --cluster out"
        )
    return tuple(str(source) for source in found)


def common_scale(judge: JudgeRatings, grades: Grades) -> Scales:
    """Which scales both are on: as stated, or as the numbers plainly show; never by guess."""
    came, wanted = judge.scale, grades.scale
    if came is not None and wanted is not None:
        if came == wanted:
            return Scales(judge=came, human=wanted, same=True, sentence=f"both on the scale {_words(came)}")
        moved = (
            f"scores on {_words(came)}, grades on {_words(wanted)}: scores are moved linearly where a figure needs it"
        )
        return Scales(judge=came, human=wanted, same=False, sentence=moved)
    if came is None and wanted is not None:
        sentence = f"scores taken to be on the grades' scale {_words(wanted)}; --score-scale says otherwise"
        return Scales(judge=wanted, human=wanted, same=True, sentence=sentence)
    seen = [grade for by_rater in grades.values.values() for grade in by_rater.values()]
    given = [score for scores in judge.shown.values() for score in scores]
    bounds = came or ((min(given), max(given)) if given else (0.0, 0.0))
    if came is None and set(seen) | set(given) == {0.0, 1.0}:
        return Scales(judge=(0.0, 1.0), human=(0.0, 1.0), same=True, sentence="both are 0 or 1")
    if seen and _alike(bounds, (min(seen), max(seen)), known=came is not None):
        if came is not None:
            sentence = f"grades taken to be on the judge's scale {_words(came)}; --scale says otherwise"
            return Scales(judge=came, human=came, same=True, sentence=sentence)
        union = (min(bounds[0], min(seen)), max(bounds[1], max(seen)))
        sentence = f"no scale is stated; both run over about {_words(union)} and are taken as one (--scale LO:HI)"
        return Scales(judge=union, human=union, same=True, sentence=sentence)
    spread = f"scores run {_words(bounds)}" + (f", grades {_words((min(seen), max(seen)))}" if seen else "")
    way_out = "state the grades' scale with --scale LO:HI" + ("" if came else " and the scores' with --score-scale")
    return Scales(judge=came, human=None, same=None, sentence=f"the scales may differ ({spread}): {way_out}")


def _alike(judge: Scale, human: Scale, *, known: bool) -> bool:
    """Whether two ranges plainly belong to one scale: each covers most of what both cover."""
    low, high = min(judge[0], human[0]), max(judge[1], human[1])
    if known:  # the judge's whole scale: the grades lie in it, and use at least half
        return judge == (low, high) and 2.0 * (human[1] - human[0]) >= high - low
    return all(3.0 * (bounds[1] - bounds[0]) >= 2.0 * (high - low) for bounds in (judge, human))


def _nothing_in_common(judge: JudgeRatings, grades: Grades, graded: Sequence[str]) -> str:
    """Why no item has both a score and a grade."""
    if not graded:
        return f"{grades.name}: no usable grade ({len(grades.out_of_scale)} out of scale, {grades.n_missing} missing)"
    scored = [item for item, scores in judge.scores.items() if scores]
    if not scored:
        return f"{judge.name}: no judgement reached a usable score, so that there is nothing to validate"
    turned = [rater for rater in grades.raters if rater in judge.scores]
    if turned:
        return (
            f"{grades.name}: its columns (such as {turned[0]!r}) are the items that {judge.name!r} scored, so that "
            "raters stand in rows; call its first column 'rater'"
        )
    return (
        f"{grades.name}: {none_of(len(graded), 'item', of='its')} (such as {graded[0]!r}) has a score by "
        f"{judge.name!r} (such "
        f"as {scored[0]!r}); ids must be the same in both: name the id's column with --item"
    )


def _row_means(values: "Floats") -> "Floats":
    """(n,) means of what is there; each row has something."""
    import numpy as np

    held = ~np.isnan(values)
    low, high = np.where(held, values, np.inf).min(axis=1), np.where(held, values, -np.inf).max(axis=1)
    means: Floats = np.where(held, values, 0.0).sum(axis=1) / held.sum(axis=1)
    return np.where(low == high, low, means)  # equal values give themselves, without rounding


def _words(scale: Scale) -> str:
    return f"{scale[0]:g} to {scale[1]:g}"
