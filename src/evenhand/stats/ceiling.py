"""How well people agree with one another: the most that can be asked of a judge who is measured by their grades."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate, left_out
from evenhand.stats.one_way import spearman_brown
from evenhand.stats.rank import spearman
from evenhand.stats.rank_kernels import spearman_kernel
from evenhand.stats.ratings import rating_matrix, rating_vector
from evenhand.stats.resampling import Bootstrap, Draws, Kernel, Units, draw, no_resampling
from evenhand.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

__all__ = [
    "FEWEST",
    "ONE_RATER",
    "HumanCeiling",
    "PairwiseAgreement",
    "RaterCeiling",
    "human_ceiling",
    "pairwise_agreement",
]

FEWEST = 3
"""Items in common below which a rater's correlation says nothing: with two it is -1 or 1."""

ONE_RATER = "1 rater: there is nobody to agree with"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCeiling:
    """One rater left out: rho with the mean of the others, and the judge's rho with that same mean, on the same items.

    Attributes:
        rater: number of the rater, from 0.
        human: the rater's rho with the others' mean.
        judge: the judge's; None where no judge was given.
    """

    rater: int
    human: Estimate
    judge: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """Leave-one-out agreement of the raters, and of the judge with the same targets.

    Attributes:
        raters: each rater in turn.
        n_raters: raters whose figures are defined, over whom the means are taken.
        mean: over these raters: what one more human reaches.
        judge_on_same_targets: the judge's mean over the same targets; None where no judge was given.
        judge_less_human: judge less mean, paired over the resamples; None where no judge was given.
    """

    raters: tuple[RaterCeiling, ...]
    n_raters: int
    mean: Estimate
    judge_on_same_targets: Estimate | None
    judge_less_human: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseAgreement:
    """Rank correlation of every two raters, and what follows from their mean.

    Attributes:
        pairs: (rater, rater, rho), raters numbered from 0.
        mean: mean rho of the pairs that have one.
        n_raters: raters in all: k below.
        reliability: of the mean of all k raters, by Spearman-Brown from the mean rho.
        bound: sqrt(reliability), the largest rho with the mean of all k raters that a faultless judge is expected to
            reach. It lies above the leave-one-out ceiling, which is one human's: say which one is meant.
    """

    pairs: tuple[tuple[int, int, Estimate], ...]
    mean: Estimate
    n_raters: int
    reliability: Estimate
    bound: Estimate


def human_ceiling(
    humans: "ArrayLike",
    judge: "ArrayLike | None" = None,
    *,
    bootstrap: Bootstrap | None = None,
    names: Sequence[str] | None = None,
) -> HumanCeiling:
    """Leave-one-out ceiling: each rater's rho with the mean of the others, and the judge's with the same means.

    Like is compared with like: rater and judge have the same targets and the same items. The judge's rho with the mean
    of all raters does not belong beside it, since that mean is less noisy.

    Args:
        humans: (n_items, n_raters) grades; None or nan where missing: the mean is then over the others who graded.
        judge: (n_items,) ratings, or None.
        bootstrap: how intervals are made, all figures from one draw; None gives none.
        names: (n_raters,) of the raters, for the reasons; None numbers them from 1.
    Returns:
        A rater's figures are undefined below three items in common with others (and the judge), or where someone gave
        one value; the means are over the other raters, say who was left out, and are undefined where there is none.
    Raises:
        InvalidInput: other lengths, or no numbers.
    """
    import numpy as np

    grades = rating_matrix(humans, name="humans")
    ratings = None if judge is None else rating_vector(judge, name="judge")
    if ratings is not None and len(ratings) != len(grades):
        raise InvalidInput(f"human_ceiling: {len(ratings)} items judged, {len(grades)} graded; expected the same items")
    if grades.shape[1] < 2:
        alone = Estimate.of_nothing(ONE_RATER, n=int((~np.isnan(grades)).sum()))
        judged_alone = None if ratings is None else alone
        return HumanCeiling(
            raters=(RaterCeiling(rater=0, human=alone, judge=judged_alone),) if grades.shape[1] else (),
            n_raters=0, mean=alone, judge_on_same_targets=judged_alone, judge_less_human=judged_alone,
        )  # fmt: skip
    groups = [_left_out(grades, ratings, rater) for rater in range(grades.shape[1])]
    called = names or [f"rater {rater + 1}" for rater in range(grades.shape[1])]
    own = [_rho(group, 0, called[rater]) for rater, group in enumerate(groups)]
    judged = [] if ratings is None else [_rho(group, 1, "the judge") for group in groups]
    used = _used(own, judged)
    without = left_out(_reasons(own, judged, used), "raters")
    draws, n = _drawn([groups[rater] for rater in used], bootstrap), _n_items([groups[rater] for rater in used])
    width = 1 if ratings is None else 2
    of_own, of_judge = range(0, width * len(used), width), range(1, width * len(used), width)
    mean, means = _mean(_with_intervals(own, used, draws, of_own), draws, of_own, n)
    on_same, judge_means = _mean(_with_intervals(judged, used, draws, of_judge), draws, of_judge, n)
    return HumanCeiling(
        raters=tuple(
            RaterCeiling(rater=rater, human=found, judge=judged[rater] if judged else None)
            for rater, found in enumerate(own)
        ),
        n_raters=len(used),
        mean=_saying(mean, without),
        judge_on_same_targets=_saying(on_same, without) if judged else None,
        judge_less_human=_saying(_less(on_same, mean, judge_means, means), without) if judged else None,
    )


def pairwise_agreement(
    humans: "ArrayLike", *, bootstrap: Bootstrap | None = None, names: Sequence[str] | None = None
) -> PairwiseAgreement:
    """Rank correlation of every two raters, their mean, and the bound that follows for a judge.

    Args:
        humans: (n_items, n_raters) grades; None or nan where missing.
        bootstrap: how intervals are made, all figures from one draw; None gives none.
        names: (n_raters,) of the raters, for the reasons; None numbers them from 1.
    Returns:
        A pair is undefined below three items in common; the mean says which pairs it does without. The reliability is
        undefined where the mean is, or is so far below 0 that no raters could have it; the bound also where the
        reliability is 0 or less: raters who agree no better than by chance bound nothing.
    Raises:
        InvalidInput: not a matrix of numbers.
    Source: Spearman (1910) and Brown (1910), by the mean rank correlation.
    """
    import numpy as np

    grades = rating_matrix(humans, name="humans")
    k = grades.shape[1]
    chosen = list(combinations(range(k), 2))
    groups = [_Group.of(grades[:, [a, b]], ((0, 1),)) for a, b in chosen]
    called = names or [f"rater {rater + 1}" for rater in range(k)]
    found = [_rho(group, 0, called[a], called[b]) for group, (a, b) in zip(groups, chosen, strict=True)]
    used = _used(found, [])
    without = left_out(_reasons(found, [], used), "pairs of raters")
    whole = [_Group.of(grades, tuple(chosen[at] for at in used))]
    complete = not np.isnan(grades).any()
    draws = _drawn(whole if complete and used else [groups[at] for at in used], bootstrap)
    n = _n_items([groups[at] for at in used])
    mean, means = _mean(_with_intervals(found, used, draws, range(len(used))), draws, range(len(used)), n)
    return PairwiseAgreement(
        pairs=tuple((a, b, one) for (a, b), one in zip(chosen, found, strict=True)),
        mean=_saying(mean, without),
        n_raters=k,
        reliability=_saying(_transformed(mean, means, k, spearman_brown, "no raters could agree that little"), without),
        bound=_saying(
            _transformed(mean, means, k, _bound, "the raters agree no better than by chance, which bounds nothing"),
            without,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """Columns (n_items, n_columns) that are correlated in `pairs` on the items that have all of them."""

    columns: "Floats"
    kept: "Booleans"
    pairs: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, columns: "Floats", pairs: tuple[tuple[int, int], ...]) -> "_Group":
        """The group on its complete items."""
        import numpy as np

        return cls(columns=columns, kept=(~np.isnan(columns)).sum(axis=1) == columns.shape[1], pairs=pairs)


def _left_out(grades: "Floats", judge: "Floats | None", rater: int) -> _Group:
    """One rater, the mean of the others who graded the item, and the judge."""
    import numpy as np

    others = np.delete(grades, rater, axis=1)
    n = (~np.isnan(others)).sum(axis=1)
    target = np.where(n > 0, np.nansum(others, axis=1) / np.maximum(n, 1), np.nan)
    if judge is None:
        return _Group.of(np.column_stack([grades[:, rater], target]), ((0, 1),))
    return _Group.of(np.column_stack([grades[:, rater], target, judge]), ((0, 1), (2, 1)))


def _rho(group: _Group, which: int, name: str, other: str = "the other raters") -> Estimate:
    """One rho of a group, without interval."""
    a, b = group.pairs[which]
    n = int(group.kept.sum())
    if n < FEWEST:
        return Estimate.of_nothing(f"{name} and {other} have {plural(n, 'item')} in common; {FEWEST} are needed", n=n)
    return spearman(group.columns[group.kept, a], group.columns[group.kept, b], names=(name, other))


def _used(own: Sequence[Estimate], judged: Sequence[Estimate]) -> list[int]:
    """Whose figures enter the means: those with both figures, or with their own where the judge has none at all."""
    defined = [at for at, found in enumerate(own) if found.value is not None]
    both = [at for at in defined if judged and judged[at].value is not None]
    return both or defined


def _reasons(own: Sequence[Estimate], judged: Sequence[Estimate], used: Sequence[int]) -> list[str | None]:
    """For each rater or pair, why its figure does not enter the mean; None where it does."""
    found: list[str | None] = []
    for at, one in enumerate(own):
        why = one.undefined or (judged[at].undefined if judged else None)
        found.append(None if at in used else why or "no figure")
    return found


def _saying(found: Estimate, without: str | None) -> Estimate:
    """A mean with who was left out of it."""
    return found if found.value is None else replace(found, left_out=without)


def _drawn(groups: Sequence[_Group], bootstrap: Bootstrap | None) -> Draws | None:
    """All correlations of all groups on each resample of the items that any of them has."""
    import numpy as np

    if bootstrap is None or not groups:
        return None
    kept = np.logical_or.reduce([group.kept for group in groups])
    columns = [group.columns[kept] for group in groups]
    chosen = bootstrap.of(kept)
    units = Units.of(np.column_stack(columns), chosen)
    kernels = [
        _on(found[units.rows], group.kept[kept][units.rows], group.pairs)
        for found, group in zip(columns, groups, strict=True)
    ]
    return draw(lambda weights: np.concatenate([kernel(weights) for kernel in kernels], axis=1), units, chosen)


def _on(columns: "Floats", kept: "Booleans", pairs: tuple[tuple[int, int], ...]) -> Kernel:
    """Spearman's kernel on some of the rows."""
    kernel = spearman_kernel(columns[kept], pairs)
    return kernel if kept.all() else lambda weights: kernel(weights[:, kept])


def _n_items(groups: Sequence[_Group]) -> int:
    """Items that any of the groups rests on."""
    import numpy as np

    return int(np.logical_or.reduce([group.kept for group in groups]).sum()) if groups else 0


def _with_intervals(
    found: list[Estimate], used: Sequence[int], draws: Draws | None, columns: Sequence[int]
) -> list[Estimate]:
    """The used estimates, each given its interval in the list itself."""
    for at, column in zip(used if found else (), columns, strict=False):
        value = found[at].value
        if draws is not None and value is not None:
            found[at] = draws.estimate(value, column, n=found[at].n)
    return [found[at] for at in used] if used and found else found[:1]


def _mean(
    found: Sequence[Estimate], draws: Draws | None, columns: Sequence[int], n: int
) -> tuple[Estimate, Draws | None]:
    """Mean of estimates, and on each resample; undefined with the reason of the first that is."""
    import numpy as np

    values = [one.value for one in found if one.value is not None]
    if len(values) < max(1, len(found)):
        why = next((one.undefined for one in found if one.undefined), None)
        return Estimate.of_nothing(why or "1 rater", n=n), None
    value = float(np.mean(values))
    if draws is None:
        return no_resampling(value, n=n), None
    means = replace(draws, values=draws.values[:, list(columns)].mean(axis=1, keepdims=True))
    return means.estimate(value), means


def _less(judge: Estimate, human: Estimate, of_judge: Draws | None, of_human: Draws | None) -> Estimate:
    """The judge's mean less the humans', paired over the resamples."""
    if judge.value is None or human.value is None:
        return Estimate.of_nothing(judge.undefined or human.undefined or "", n=human.n)
    value = judge.value - human.value
    if of_judge is None or of_human is None:
        return no_resampling(value, n=human.n)
    return replace(of_judge, values=of_judge.values - of_human.values).estimate(value)


def _transformed(
    mean: Estimate, means: Draws | None, k: int, transform: Callable[[float, int], float], why: str
) -> Estimate:
    """A function of the mean rho and of each resample's; undefined where it gives nan."""
    import numpy as np

    if mean.value is None:
        return mean
    value = transform(mean.value, k)
    if math.isnan(value):
        return Estimate.of_nothing(why, n=mean.n)
    if means is None:
        return no_resampling(value, n=mean.n)
    drawn = [math.nan if math.isnan(rho) else transform(rho, k) for rho in means.values[:, 0].tolist()]
    return replace(means, values=np.array(drawn)[:, None]).estimate(value)


def _bound(rho: float, k: int) -> float:
    """sqrt of the reliability of the mean of k raters; nan where that is 0 or less."""
    reliability = spearman_brown(rho, k)
    return math.sqrt(reliability) if reliability > 0 else math.nan
