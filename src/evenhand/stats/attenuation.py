"""What the correlation would be if neither humans nor judge were noisy: shown only where the noise is known enough."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.icc import icc_kernel, intraclass_correlations
from evenhand.stats.rank import pearson
from evenhand.stats.ratings import rating_matrix
from evenhand.stats.resampling import Bootstrap, Draws, Kernel, Units, draw
from evenhand.stats.weights import weighted_sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["LEAST_RELIABILITY", "Attenuation", "attenuation"]

LEAST_RELIABILITY = 0.3
"""The lower end of each reliability's interval must lie above this for a corrected value to be shown."""

_ONE_WAY_MEAN, _CONSISTENCY_MEAN = 3, 5
_TINY = 1e-12  # a variance below this, where the data's is 1, is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Attenuation:
    """A correlation beside the reliabilities that limit it.

    Attributes:
        observed: Pearson's correlation of the judge's mean over reruns with the humans' mean.
        human_reliability: of the humans' mean, ICC(C,k).
        judge_reliability: of the judge's mean, ICC(1,k); None with one rerun, when it is taken to be without noise.
        corrected: observed / sqrt(human_reliability judge_reliability). Above 1 where chance carries it there: it is
            not cut off, and says that it is too rough to be used.
    """

    observed: Estimate
    human_reliability: Estimate
    judge_reliability: Estimate | None
    corrected: Estimate


def attenuation(judge: "ArrayLike", humans: "ArrayLike", *, bootstrap: Bootstrap) -> Attenuation:
    """Pearson's correlation of judge and humans, corrected for the noise of both.

    Args:
        judge: (n_items, n_reruns) ratings; None or nan where missing.
        humans: (n_items, n_raters) grades; None or nan where missing.
        bootstrap: how intervals are made, all figures from one draw.
    Returns:
        The corrected value is undefined where a reliability is, or where its interval does not lie above 0.3: dividing
        by a reliability that may be near 0 gives any number. On one real set the raters' reliability is below 0, yet
        a judge has rho 0.447 with their mean.
    Raises:
        InvalidInput: other lengths, or no numbers.
    Source: Spearman (1904), Am. J. Psychol. 15, 72-101. It is a result on Pearson's correlation, approximate for rho.
    """
    import numpy as np

    ratings, grades = rating_matrix(judge, name="judge"), rating_matrix(humans, name="humans")
    if len(ratings) != len(grades):
        raise InvalidInput(f"attenuation: {len(ratings)} items judged, {len(grades)} graded; expected the same items")
    rated = ((~np.isnan(ratings)).sum(axis=1) > 0) & ((~np.isnan(grades)).sum(axis=1) > 0)
    ratings, grades, chosen = ratings[rated], grades[rated], bootstrap.of(rated)
    n_reruns = ratings.shape[1]
    of_humans = intraclass_correlations(grades, bootstrap=chosen).consistency_mean
    of_judge = intraclass_correlations(ratings, bootstrap=chosen).one_way_mean if n_reruns > 1 else None
    observed = pearson(np.nanmean(ratings, axis=1), np.nanmean(grades, axis=1))
    draws = _drawn(ratings, grades, chosen) if observed.value is not None else None
    if draws is not None and observed.value is not None:
        observed = draws.estimate(observed.value, 0)
    return Attenuation(
        observed=observed,
        human_reliability=of_humans,
        judge_reliability=of_judge,
        corrected=_corrected(observed, of_humans, of_judge, draws),
    )


def _corrected(observed: Estimate, of_humans: Estimate, of_judge: Estimate | None, draws: Draws | None) -> Estimate:
    """The quotient, or the first reason against it."""
    product = 1.0
    for name, found in (("the humans' mean", of_humans), ("the judge's mean", of_judge)):
        if found is None:
            continue
        if why := _unreliable(name, found):
            return Estimate.of_nothing(why, n=observed.n)
        product *= found.value or 0.0
    if observed.value is None or draws is None:
        return Estimate.of_nothing(observed.undefined or "the correlation is undefined", n=observed.n)
    return draws.estimate(observed.value / product**0.5, 1)


def _unreliable(name: str, found: Estimate) -> str | None:
    """Why a reliability cannot be divided by, or None."""
    if found.value is None:
        return f"the reliability of {name} is undefined: {found.undefined}"
    if found.low is None:
        return f"the reliability of {name} has no interval: {found.no_interval}"
    if found.low <= LEAST_RELIABILITY:
        return (
            f"the reliability of {name} is {found.value:.2f} and may be as low as {found.low:.2f}; a correction is "
            f"shown above {LEAST_RELIABILITY:g}"
        )
    return None


def _drawn(ratings: "Floats", grades: "Floats", bootstrap: Bootstrap) -> Draws:
    """(n_resamples, 2) the correlation of the means, and the corrected one; nan where a reliability is not positive."""
    import numpy as np

    units = Units.of(np.column_stack([ratings, grades]), bootstrap)
    parts = [(ratings[units.rows], _ONE_WAY_MEAN), (grades[units.rows], _CONSISTENCY_MEAN)]
    correlation = _pearson_kernel(*(np.nanmean(part, axis=1) for part, _ in parts))
    forms = [(icc_kernel(part), form) for part, form in parts if part.shape[1] > 1 and not np.isnan(part).any()]

    def kernel(weights: "Floats") -> "Floats":
        observed = correlation(weights)
        product = np.ones(len(weights))
        for form_kernel, form in forms:
            reliability = form_kernel(weights)[:, form]
            product *= np.where(reliability > 0, reliability, np.nan)
        return np.stack([observed, observed / np.sqrt(product)], axis=1)

    return draw(kernel, units, bootstrap)


def _pearson_kernel(a: "Floats", b: "Floats") -> Kernel:
    """Pearson's correlation of two columns that differ somewhere, under weights; nan where one has one value."""
    import numpy as np

    a, b = ((column - column.mean()) / column.std() for column in (a, b))
    product, square_a, square_b = a * b, a**2, b**2

    def correlation(weights: "Floats") -> "Floats":
        n = weights.sum(axis=1)
        mean_a, mean_b = weighted_sum(weights, a) / n, weighted_sum(weights, b) / n
        spread_a = weighted_sum(weights, square_a) / n - mean_a**2
        spread_b = weighted_sum(weights, square_b) / n - mean_b**2
        defined = (spread_a > _TINY) & (spread_b > _TINY)
        with np.errstate(invalid="ignore", divide="ignore"):
            together = weighted_sum(weights, product) / n - mean_a * mean_b
            return np.where(defined, together / np.sqrt(spread_a * spread_b), np.nan)

    return correlation
