"""Absolute agreement of a judge with the humans, and how far either has collapsed: kappa beside mode shares, always."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.analysis.graded import Graded
from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate, left_out
from evenhand.stats.intervals import wilson_interval
from evenhand.stats.kappa import kappa_paradox, scale_levels, weighted_kappa
from evenhand.stats.resampling import Bootstrap, Units, draw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["AbsoluteAgreement", "absolute_agreement"]

_STEPS = (1.0, 0.5, 0.25, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteAgreement:
    """One run of the judge against one rater, in the mean over raters.

    Attributes:
        weighted: quadratic weighted kappa on the whole scale.
        unweighted: kappa without weights.
        agreement: share of equal ratings.
        majority_grade: the humans' commonest grade.
        majority: agreement of whoever always gives it.
        paradox: a sentence where kappa and agreement contradict each other.
        mode: the judge's commonest score, over all its runs.
        mode_share: its share.
        human_mode_share: the share of the humans' commonest grade.
        n_scores: of the judge.
        levels_used: distinct scores.
        effective_levels: exp of the entropy of the judge's scores.
    """

    weighted: Estimate
    unweighted: Estimate
    agreement: Estimate
    majority_grade: float | None
    majority: Estimate
    paradox: str | None
    mode: float
    mode_share: Estimate
    human_mode_share: Estimate
    n_scores: int
    levels_used: int
    effective_levels: float

    def document(self) -> Mapping[str, Any]:
        """Keys of the whole document."""
        return {
            "weighted_kappa": self.weighted.document(),
            "kappa": self.unweighted.document(),
            "agreement": self.agreement.document(),
            "kappa_paradox": self.paradox,
            "mode_share": {
                **self.mode_share.document(),
                "mode": self.mode,
                "n_scores": self.n_scores,
                "levels_used": self.levels_used,
                "effective_levels": self.effective_levels,
                "human": self.human_mode_share.document(),
            },
        }

    def majority_document(self) -> Mapping[str, Any]:
        """The majority baseline: the grade and how often it would agree."""
        return {"grade": self.majority_grade, "agreement": self.majority.document(), "judge": self.agreement.document()}


def absolute_agreement(graded: Graded, *, bootstrap: Bootstrap) -> AbsoluteAgreement:
    """Kappa of the judge's first run with each rater, agreement, mode shares and the majority baseline."""
    import numpy as np

    levels, why = _levels(graded)
    weighted = _over_raters(graded, levels, why, "quadratic", bootstrap)
    unweighted = _over_raters(graded, levels, why, "none", bootstrap)
    alike, majority_grade, majority = _agreement(graded, why, bootstrap)
    scores = _shown(graded)
    mode, mode_share = _mode_share(scores, bootstrap)
    _, human_mode_share = _mode_share(graded.grades, bootstrap)
    _, counts = np.unique(scores[~np.isnan(scores)], return_counts=True)
    shares = counts / counts.sum()
    return AbsoluteAgreement(
        weighted=weighted,
        unweighted=unweighted,
        agreement=alike,
        majority_grade=majority_grade,
        majority=majority,
        paradox=kappa_paradox(unweighted.value, alike.value, majority.value),
        mode=mode,
        mode_share=mode_share,
        human_mode_share=human_mode_share,
        n_scores=int(counts.sum()),
        levels_used=len(counts),
        effective_levels=float(np.exp(-(shares * np.log(shares)).sum())),
    )


def _shown(graded: Graded) -> "Floats":
    """(n, k) scores as they are shown."""
    import numpy as np

    found = np.full(graded.scores.shape, np.nan)
    for row, item in enumerate(graded.items):
        shown = graded.judge.shown[item]
        found[row, : len(shown)] = shown
    return found


def _levels(graded: Graded) -> tuple[Sequence[float], str | None]:
    """All levels of the common scale, or why there are none."""
    import numpy as np

    scales = graded.scales
    if scales.same is None or scales.human is None:
        return (), scales.sentence
    if not scales.same:
        return (), "judge and humans are on different scales"
    used = np.concatenate([graded.shown, graded.grades[~np.isnan(graded.grades)]])
    for step in _STEPS:
        places = (used - scales.human[0]) / step
        if np.abs(places - np.round(places)).max() < 1e-9:
            try:
                return scale_levels(*scales.human, step), None
            except InvalidInput:
                break
    return (), "scores or grades are no levels of a scale (means, or a continuous score)"


def _over_raters(
    graded: Graded, levels: Sequence[float], why: str | None, weights: Any, bootstrap: Bootstrap
) -> Estimate:
    """Mean kappa over the raters who have one; a single rater's own."""
    if why is not None:
        return Estimate.of_nothing(why, n=graded.n)
    columns = range(graded.grades.shape[1])
    if len(columns) == 1:
        return weighted_kappa(graded.shown, graded.grades[:, 0], levels=levels, weights=weights, bootstrap=bootstrap)
    each = [
        weighted_kappa(
            graded.shown, graded.grades[:, k], levels=levels, weights=weights, names=("the judge", graded.raters[k])
        )
        for k in columns
    ]
    defined = [(k, found) for k, found in zip(columns, each, strict=True) if found.value is not None]
    if not defined:
        return Estimate.of_nothing(each[0].undefined or "no rater has a kappa", n=graded.n)
    value = sum(found.value or 0.0 for _, found in defined) / len(defined)
    mean = _mean_kappa(graded, levels, weights, [k for k, _ in defined], value, bootstrap)
    return replace(mean, left_out=left_out([found.undefined for found in each], "pairs of judge and rater"))


def _mean_kappa(
    graded: Graded, levels: Sequence[float], weights: str, raters: Sequence[int], value: float, bootstrap: Bootstrap
) -> Estimate:
    """Its interval, all raters from one draw."""
    import numpy as np

    from evenhand.stats.kappa import kappa_kernel

    units = Units.of(np.column_stack([graded.shown, graded.grades]), bootstrap)
    place = np.arange(len(levels), dtype=np.float64)
    apart = np.abs(place[:, None] - place[None, :])
    distances = apart**2 if weights == "quadratic" else (apart > 0).astype(np.float64)
    shown = np.searchsorted(levels, graded.shown[units.rows] - 1e-9)
    kernels = []
    for rater in raters:
        grades = graded.grades[units.rows, rater]
        there = np.flatnonzero(~np.isnan(grades))
        codes = np.searchsorted(levels, grades[there] - 1e-9)
        kernels.append((there, kappa_kernel(shown[there], codes, distances)))

    def mean(drawn: "Floats") -> "Floats":
        found: Floats = np.mean([kernel(drawn[:, there]) for there, kernel in kernels], axis=0)
        return found

    return draw(mean, units, bootstrap).estimate(value)


def _agreement(graded: Graded, why: str | None, bootstrap: Bootstrap) -> tuple[Estimate, float | None, Estimate]:
    """Share of equal ratings over pairs of one run and one rater; the commonest grade, and what it alone reaches."""
    import numpy as np

    if why is not None and graded.scales.same is not True:
        return Estimate.of_nothing(why, n=graded.n), None, Estimate.of_nothing(why, n=graded.n)
    held = ~np.isnan(graded.grades)
    found, counts = np.unique(graded.grades[held], return_counts=True)
    common = float(found[counts.argmax()])
    equal = np.where(held, np.abs(graded.grades - graded.shown[:, None]) < 1e-9, False)
    majority = np.where(held, graded.grades == common, False)
    return _ratio(equal, held, bootstrap), common, _ratio(majority, held, bootstrap)


def _mode_share(ratings: "Floats", bootstrap: Bootstrap) -> tuple[float, Estimate]:
    """The commonest rating, and its share among all."""
    import numpy as np

    held = ~np.isnan(ratings)
    found, counts = np.unique(ratings[held], return_counts=True)
    mode = float(found[counts.argmax()])
    return mode, _ratio(held & (ratings == mode), held, bootstrap)


def _ratio(hits: "NDArray[np.bool_]", held: "NDArray[np.bool_]", bootstrap: Bootstrap) -> Estimate:
    """Hits over all, with Wilson's interval where each item counts once, else resampled over items."""
    import numpy as np

    n_each, n_hits = held.sum(axis=1).astype(float), hits.sum(axis=1).astype(float)
    value, n = float(n_hits.sum() / n_each.sum()), len(n_each)
    if bootstrap.clusters is None and (n_each <= 1).all():
        low, high = wilson_interval(int(n_hits.sum()), int(n_each.sum()), confidence=bootstrap.confidence)
        return Estimate(
            value=value, low=low, high=high, n=int(n_each.sum()), method="Wilson interval",
            confidence=bootstrap.confidence,
        )  # fmt: skip
    units = Units.of(np.column_stack([n_hits, n_each]), bootstrap)
    rows = units.rows
    draws = draw(lambda weights: weights @ n_hits[rows] / (weights @ n_each[rows]), units, bootstrap)
    return draws.estimate(value, n=n)
