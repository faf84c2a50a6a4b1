"""Agreement of any number of raters, grades missing or not: Krippendorff's alpha; and Fleiss' kappa where none is."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.ratings import rating_matrix
from evenhand.stats.resampling import Bootstrap, Kernel, Units, draw, no_resampling
from evenhand.stats.weights import level_weights, weighted_sum, weighted_sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = ["MEASUREMENTS", "Measurement", "alpha_kernel", "fleiss_kappa", "krippendorff_alpha"]

_BLOCK = 512  # levels at once, so that their table stays small

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]

MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval", "ratio")
"""Levels of measurement, the least assuming first."""


def krippendorff_alpha(
    ratings: "ArrayLike", *, measurement: Measurement = "ordinal", bootstrap: Bootstrap | None = None
) -> Estimate:
    """Krippendorff's alpha: one less observed over expected disagreement, for any number of raters.

    Args:
        ratings: (n_items, n_raters) grades; None or nan where missing, and never one more category: on one set of
            raters who agree wherever both graded, that mistake gives .32 for 1.
        measurement: what a difference means: `nominal` (other), `ordinal` (ranks between), `interval` (difference) or
            `ratio` (relative difference; grades must not be negative).
        bootstrap: how the interval is made, over the items with two grades or more; None gives none.
    Returns:
        Alpha, at most 1; 0 is chance, below 0 the raters disagree more than by chance. n counts the items with two
        grades or more, on which alone it rests. Undefined without such an item, or where all their grades are equal
        (the package krippendorff raises an error there); full agreement over several grades is 1, with an interval
        that is said to be degenerate.
    Raises:
        InvalidInput: not a matrix of numbers, an unknown measurement, or a negative grade at `ratio`.
    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. irrCAC's "ordinal" is another weighting
        (0.716 where this has 0.798), its "quadratic" is `interval`.

    >>> krippendorff_alpha([[1, 1, None], [1, 1, 1], [2, None, 2], [3, 3, None], [None, 2, 2]]).value
    1.0
    """
    import numpy as np

    if measurement not in MEASUREMENTS:
        raise InvalidInput(f"krippendorff_alpha: measurement {measurement!r}; use one of {', '.join(MEASUREMENTS)}")
    matrix = rating_matrix(ratings, name="ratings")
    if measurement == "ratio" and (matrix < 0).any():
        raise InvalidInput("krippendorff_alpha: a negative grade at 'ratio', which has a true zero; use 'interval'")
    pairable = (~np.isnan(matrix)).sum(axis=1) >= 2
    kept, n = matrix[pairable], int(pairable.sum())
    if not n:
        return Estimate.of_nothing("no item has two grades", n=0)
    if np.nanmin(kept) == np.nanmax(kept):
        return Estimate.of_nothing("all grades are equal", n=n)
    if n == 1:  # what is expected by chance is then what was observed, so alpha would be 0 whatever the grades
        return Estimate.of_nothing("1 item with two grades", n=n)
    value = float(alpha_kernel(kept, measurement)(np.ones((1, n)))[0])
    if bootstrap is None:
        return no_resampling(value, n=n)
    chosen = bootstrap.of(pairable)
    units = Units.of(kept, chosen)
    return draw(alpha_kernel(kept[units.rows], measurement), units, chosen).estimate(value)


def fleiss_kappa(ratings: "ArrayLike", *, bootstrap: Bootstrap | None = None) -> Estimate:
    """Fleiss' kappa of several raters on categories without order, where every item has as many grades.

    Args:
        ratings: (n_items, n_raters) grades; None or nan where missing. Who graded does not matter, how many did does.
        bootstrap: how the interval is made, over items; None gives none.
    Returns:
        Kappa, at most 1. Undefined where items have different numbers of grades: leaving the incomplete ones out
        gives another figure (0.6 for an alpha of 0.85 on one set), and alpha needs no such choice. Undefined also
        with one grade an item, where all grades are equal, or without statsmodels.
    Raises:
        InvalidInput: not a matrix of numbers.
    Source: Fleiss (1971), Psychol. Bull. 76, 378-382; value by `statsmodels.stats.inter_rater.fleiss_kappa`.
    """
    import numpy as np

    matrix = rating_matrix(ratings, name="ratings")
    n_grades = (~np.isnan(matrix)).sum(axis=1)
    kept = matrix[n_grades > 0]
    if why := _no_fleiss(kept, n_grades[n_grades > 0]):
        return Estimate.of_nothing(why, n=len(kept))
    from statsmodels.stats.inter_rater import fleiss_kappa as library

    levels = np.unique(kept[~np.isnan(kept)])
    counts = (kept[:, :, None] == levels).sum(axis=1).astype(np.float64)
    value = float(library(counts))
    if bootstrap is None:
        return no_resampling(value, n=len(kept))
    chosen = bootstrap.of(n_grades > 0)
    units = Units.of(counts, chosen)
    return draw(_fleiss_kernel(counts[units.rows]), units, chosen).estimate(value)


def alpha_kernel(ratings: "Floats", measurement: Measurement) -> Kernel:
    """Alpha under weights, for rows (n_rows, n_raters) with two grades or more; nan where all grades are equal.

    1 - (n - 1) sum_u d_u / d with n the grades, d_u the summed squared distances of unit u's ordered pairs of grades
    over its grades less one, and d those of all pairs of grades, whatever their units.
    """
    import numpy as np

    there = ~np.isnan(ratings)
    levels, found = np.unique(ratings[there], return_inverse=True)
    row_of_grade = np.nonzero(there)[0]
    if measurement == "ordinal":
        codes = np.full(ratings.shape, len(levels))
        codes[there] = found
        spread = _ordinal(codes, there.sum(axis=1))
    else:
        spread = _fixed(ratings, levels, measurement)

    def alpha(weights: "Floats") -> "Floats":
        held = level_weights(weights[:, row_of_grade], found, len(levels))
        within, between = spread(weights, held)
        defined = (held > 0).sum(axis=1) > 1
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(defined, 1.0 - (held.sum(axis=1) - 1.0) * within / between, np.nan)

    return alpha


_Spread = Callable[["Floats", "Floats"], "tuple[Floats, Floats]"]


def _ordinal(codes: "Integers", n_grades: "NDArray[np.int_]") -> _Spread:
    """Distances of mid-ranks, which move with the resample: between two grades lie the ranks that separate them.

    A missing grade has one code above the levels, whose rank is put to 0 and adds nothing.
    """
    import numpy as np

    def spread(weights: "Floats", held: "Floats") -> "tuple[Floats, Floats]":
        ranks = np.cumsum(held, axis=1) - 0.5 * held - 0.5 * held.sum(axis=1, keepdims=True)
        padded = np.pad(ranks, ((0, 0), (0, 1)))
        sums, squares = np.zeros_like(weights), np.zeros_like(weights)
        for column in codes.T:
            of_rater = padded[:, column]
            sums += of_rater
            squares += of_rater * of_rater
        within = np.einsum("ij,ij->i", weights, 2.0 * (n_grades * squares - sums * sums) / (n_grades - 1))
        return within, 2.0 * held.sum(axis=1) * np.einsum("ij,ij,ij->i", held, ranks, ranks)

    return spread


def _fixed(ratings: "Floats", levels: "Floats", measurement: Measurement) -> _Spread:
    """Distances that are the same on every resample."""
    import numpy as np

    within = np.zeros(len(ratings))
    for first in ratings.T:
        for second in ratings.T:
            within += np.nan_to_num(_squared_distance(first, second, measurement), nan=0.0)
    within /= (~np.isnan(ratings)).sum(axis=1) - 1
    return lambda weights, held: (weighted_sum(weights, within), _between(held, levels, measurement))


def _between(held: "Floats", levels: "Floats", measurement: Measurement) -> "Floats":
    """Summed squared distances of all ordered pairs of grades; by moments where that needs no table of levels."""
    import numpy as np

    total = held.sum(axis=1)
    summed = np.zeros(len(held))
    match measurement:
        case "nominal":
            summed += total**2 - np.einsum("ij,ij->i", held, held)
        case "interval":
            centred = levels - levels.mean()
            summed += 2.0 * (total * weighted_sum(held, centred**2) - weighted_sum(held, centred) ** 2)
        case _:
            for start in range(0, len(levels), _BLOCK):
                some = slice(start, start + _BLOCK)
                apart = _squared_distance(levels[:, None], levels[None, some], measurement)
                summed += np.einsum("ij,ij->i", weighted_sums(held, apart), held[:, some])
    return summed


def _squared_distance(first: "Floats", second: "Floats", measurement: Measurement) -> "Floats":
    """Krippendorff's squared distance; nan where one is missing."""
    import numpy as np

    gap = first - second
    match measurement:
        case "nominal":
            return np.where(np.isnan(gap), np.nan, (gap != 0).astype(np.float64))
        case "ratio":
            total = first + second
            return np.divide(gap, total, out=gap * 0.0, where=total != 0) ** 2
        case _:
            return gap**2


def _no_fleiss(kept: "Floats", n_grades: "NDArray[np.int_]") -> str | None:
    """Why Fleiss' kappa is not defined, or None."""
    import numpy as np

    if not len(kept):
        return "no item has a grade"
    if (n_grades != n_grades[0]).any():
        return (
            f"items have {n_grades.min()} to {n_grades.max()} grades, and Fleiss' kappa needs equally many; see alpha"
        )
    if n_grades[0] < 2:
        return "no item has two grades"
    if np.nanmin(kept) == np.nanmax(kept):
        return "all grades are equal"
    if find_spec("statsmodels") is None:
        return "needs the library statsmodels; pip install 'evenhand[stats]'"
    return None


def _fleiss_kernel(counts: "Floats") -> Kernel:
    """Fleiss' kappa under weights, for counts (n_rows, n_levels); nan where all grades are equal."""
    import numpy as np

    n_raters = counts[0].sum()
    alike = (np.einsum("ij,ij->i", counts, counts) - n_raters) / (n_raters * (n_raters - 1))

    def kappa(weights: "Floats") -> "Floats":
        n = weights.sum(axis=1)
        shares = weighted_sums(weights, counts) / (n * n_raters)[:, None]
        chance = np.einsum("ij,ij->i", shares, shares)
        defined = (shares > 0).sum(axis=1) > 1
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(defined, (weighted_sum(weights, alike) / n - chance) / (1.0 - chance), np.nan)

    return kappa
