"""Spread within items against spread between them, for any number of ratings an item: reruns, or nameless raters."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.ratings import rating_matrix
from evenhand.stats.resampling import Bootstrap, Kernel, Units, draw, no_resampling
from evenhand.stats.weights import weighted_sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["OneWay", "one_way", "one_way_kernel", "spearman_brown", "whole_steps"]

_ULPS = 1e-15  # how far a decimal's product with 10 or 100 is from the whole number that is meant
_TINY = 1e-12  # a sum of squares below this share of the whole is rounding
_ICC, _SD, _BETWEEN, _WITHIN, _N0 = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWay:
    """One-way random analysis of variance.

    Attributes:
        n_items: items with a rating.
        n_ratings: ratings in all.
        mean_square_between: between items; None where undefined.
        mean_square_within: within items; None without an item that has two ratings.
        n0: ratings an item, averaged so that unequal numbers are allowed for; None where undefined.
        within_sd: SD of one item's ratings about their mean, pooled: the rerun SD, where they are reruns.
        item_variance: of the items' true values; below 0 where they differ less than ratings of one item do.
        icc: ICC(1): reliability of one rating.
    """

    n_items: int
    n_ratings: int
    mean_square_between: float | None
    mean_square_within: float | None
    n0: float | None
    within_sd: Estimate
    item_variance: float | None
    icc: Estimate


def one_way(ratings: "ArrayLike", *, bootstrap: Bootstrap | None = None) -> OneWay:
    """Spread within items against spread between them.

    Args:
        ratings: (n_items, n_ratings) an item's ratings in any order; None or nan fills up shorter rows.
        bootstrap: how intervals are made, over items; None gives none.
    Returns:
        `within_sd` is undefined without an item that has two ratings, `icc` also below two items or where all ratings
        are equal. An SD alone says little: a judge that always says 7 has 0.
    Raises:
        InvalidInput: not a matrix of numbers.
    Source: Searle, Casella and McCulloch (1992), Variance Components, section 3.6; n0 = (N - sum n_i^2 / N) / (m - 1).

    >>> found = one_way([[7, 7, 8], [6, 6, 5], [8, 8, None], [7, 7, 7]])
    >>> round(found.within_sd.value, 4), round(found.n0, 4), round(found.icc.value, 4)
    (0.4364, 2.7273, 0.818)
    """
    import numpy as np

    matrix = rating_matrix(ratings, name="ratings")
    n_each = (~np.isnan(matrix)).sum(axis=1)
    rated = n_each > 0
    kept, n, n_ratings = matrix[rated], int(rated.sum()), int(n_each.sum())
    if n_ratings == n:
        nothing = Estimate.of_nothing("no item has two ratings", n=n)
        return _of(nothing, nothing, n_ratings, [math.nan] * 5)
    values = one_way_kernel(kept)(np.ones((1, n)))[0]
    if bootstrap is None:
        icc, within_sd = (no_resampling(values[column], n=n) for column in (_ICC, _SD))
    else:
        chosen = bootstrap.of(rated)
        units = Units.of(kept, chosen)
        draws = draw(one_way_kernel(kept[units.rows]), units, chosen)
        icc, within_sd = (draws.estimate(values[column], column) for column in (_ICC, _SD))
    if math.isnan(values[_ICC]):
        icc = Estimate.of_nothing("1 item" if n == 1 else "all ratings are equal", n=n)
    return _of(icc, within_sd, n_ratings, values)


def one_way_kernel(ratings: "Floats") -> Kernel:
    """(n_batch, 5) ICC(1), pooled SD, mean squares between and within, and n0, under weights; nan where undefined."""
    import numpy as np

    there = ~np.isnan(ratings)
    size = there.sum(axis=1).astype(np.float64)
    centred = np.where(there, ratings - ratings[there].mean(), 0.0)
    totals = centred.sum(axis=1)
    between_each = totals**2 / size
    within_each = (np.where(there, centred - (totals / size)[:, None], 0.0) ** 2).sum(axis=1)
    squares = (centred**2).sum(axis=1)

    def analysis(weights: "Floats") -> "Floats":
        n, n_all = weights.sum(axis=1), weighted_sum(weights, size)
        ss_between, ss_within = (
            weighted_sum(weights, between_each) - (weighted_sum(weights, totals)) ** 2 / n_all,
            weighted_sum(weights, within_each),
        )
        least = _TINY * (weighted_sum(weights, squares))
        ss_between, ss_within = (np.where(ss > least, ss, 0.0) for ss in (ss_between, ss_within))
        with np.errstate(invalid="ignore", divide="ignore"):
            between, within = ss_between / (n - 1), ss_within / (n_all - n)
            n0 = (n_all - weighted_sum(weights, size**2) / n_all) / (n - 1)
            whole = between + (n0 - 1.0) * within
            above = np.where(np.abs(between - within) > _TINY * whole, between - within, 0.0)
            icc = np.where(whole > 0, above / whole, np.nan)
            return np.stack([icc, np.sqrt(within), between, within, n0], axis=1)

    return analysis


def whole_steps(ratings: "Floats") -> "Floats":
    """Ratings about 0 in a unit of which they are whole numbers, so that sums of their squares have no rounding.

    For figures that no change of unit moves. Grades are mostly whole, halves or quarters, or have one or two decimals;
    others are centred on their mean alone.

    Args:
        ratings: any shape; nan stays.

    >>> import numpy as np
    >>> whole_steps(np.array([3.7, 4.0, 4.4])).tolist()
    [-3.0, 0.0, 4.0]
    """
    import numpy as np

    centre = float(np.nanmean(ratings))
    for steps in (1, 2, 4, 10, 100):
        scaled = ratings * steps
        near = np.round(scaled)
        if np.nanmax(np.abs(scaled - near)) <= _ULPS * np.nanmax(np.abs(scaled)):
            whole: Floats = near - round(centre * steps)
            return whole
    return ratings - centre


def spearman_brown(reliability: float, k: float) -> float:
    """Reliability of the mean of k ratings, from that of one.

    Args:
        reliability: of one rating, at most 1.
        k: how many are averaged, above 0; a fraction shortens.
    Returns:
        At most 1; nan where 1 + (k - 1) reliability is not positive: no k such ratings can have that reliability.
    Raises:
        InvalidInput: a number outside its range.
    Source: Spearman (1910) and Brown (1910), Br. J. Psychol. 3.

    >>> round(spearman_brown(0.655447, 3), 6)
    0.850901
    """
    if not reliability <= 1.0 or not k > 0.0:
        raise InvalidInput(f"spearman_brown: reliability {reliability} and k {k}; expected at most 1, and above 0")
    below = 1.0 + (k - 1.0) * reliability
    return k * reliability / below if below > 0 else math.nan


def _of(icc: Estimate, within_sd: Estimate, n_ratings: int, values: "Floats | list[float]") -> OneWay:
    """The analysis, nan said as None."""
    between, within, n0 = (None if math.isnan(values[at]) else float(values[at]) for at in (_BETWEEN, _WITHIN, _N0))
    variance = (between - within) / n0 if between is not None and within is not None and n0 else None
    return OneWay(
        n_items=icc.n,
        n_ratings=n_ratings,
        mean_square_between=between,
        mean_square_within=within,
        n0=n0,
        within_sd=within_sd,
        item_variance=variance,
        icc=icc,
    )
