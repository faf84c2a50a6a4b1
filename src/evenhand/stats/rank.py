"""Rank correlation of two raters: Spearman's rho and Kendall's tau-b, with ties, intervals and reasons."""

import math
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.rank_kernels import kendall_kernel, spearman_kernel
from evenhand.stats.ratings import Pairs, complete_pairs, one_value
from evenhand.stats.resampling import Bootstrap, Units, draw, no_resampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["NAMES", "bonett_wright_interval", "kendall_tau_b", "pearson", "spearman", "undefined_correlation"]

NAMES = ("the judge", "the humans")
"""Who stands behind the first and the second argument, in the reasons that are given."""


def spearman(
    ratings_a: "ArrayLike",
    ratings_b: "ArrayLike",
    *,
    bootstrap: Bootstrap | None = None,
    names: tuple[str, str] = NAMES,
) -> Estimate:
    """Spearman's rank correlation of two raters: Pearson's correlation of their mid-ranks.

    Args:
        ratings_a: (n_items,) the first rater's ratings; None or nan where missing.
        ratings_b: (n_items,) the second's, in the same item order.
        bootstrap: how the interval is made; None gives none.
        names: of both, for the reasons.
    Returns:
        rho in [-1, 1] over the items that both rated, with a percentile interval over items or clusters. Undefined
        below two items, or where one rater gave one value: scipy has nan there, and 0 or a maximum would be wrong.
    Raises:
        InvalidInput: the lengths differ, or something is no finite number.
    Source: value by `scipy.stats.spearmanr`. The short cut 1 - 6 sum(d^2) / (n^3 - n) is wrong with ties: on judge
        6, 9, 9, 9, 9, 9, 9 and human 5, 2, 2, 2, 2, 2, 2 it gives 0.25, and rho is -1.

    >>> spearman([6, 9, 9, 9, 9, 9, 9], [5, 2, 2, 2, 2, 2, 2]).value
    -1.0
    >>> spearman([7, 7, 7], [1, 2, 3]).undefined
    'the judge gave one value'
    """
    pairs = complete_pairs(ratings_a, ratings_b)
    if why := undefined_correlation(pairs, names):
        return Estimate.of_nothing(why, n=pairs.n)
    value = _scipy_spearman(pairs.a, pairs.b)
    if bootstrap is None:
        return no_resampling(value, n=pairs.n)
    both = _both(pairs)
    chosen = bootstrap.of(pairs.kept)
    units = Units.of(both, chosen)
    return draw(spearman_kernel(both[units.rows]), units, chosen).estimate(value)


def kendall_tau_b(
    ratings_a: "ArrayLike",
    ratings_b: "ArrayLike",
    *,
    bootstrap: Bootstrap | None = None,
    names: tuple[str, str] = NAMES,
) -> Estimate:
    """Kendall's tau-b of two raters: concordant less discordant pairs, over the pairs that each does not tie.

    Args and undefined cases as `spearman`.

    Source: value by `scipy.stats.kendalltau`.

    >>> round(kendall_tau_b([1, 2, 2, 3], [1, 2, 3, 3]).value, 6)
    0.8
    """
    pairs = complete_pairs(ratings_a, ratings_b)
    if why := undefined_correlation(pairs, names):
        return Estimate.of_nothing(why, n=pairs.n)
    from scipy.stats import kendalltau

    value = _snapped(float(kendalltau(pairs.a, pairs.b).statistic))
    if bootstrap is None:
        return no_resampling(value, n=pairs.n)
    both = _both(pairs)
    chosen = bootstrap.of(pairs.kept)
    units = Units.of(both, chosen)
    kernel = kendall_kernel(*both[units.rows].T)
    if kernel is None:
        why = f"{len(units.rows):,} distinct pairs of ratings are too many to resample tau-b; see the interval of rho"
        return Estimate(value=value, n=pairs.n, no_interval=why)
    return draw(kernel, units, chosen).estimate(value)


def pearson(ratings_a: "ArrayLike", ratings_b: "ArrayLike", *, names: tuple[str, str] = NAMES) -> Estimate:
    """Pearson's correlation of two raters, without interval; undefined as `spearman`.

    Source: value by `scipy.stats.pearsonr`.

    >>> pearson([1, 2, 3], [2, 4, 6]).value
    1.0
    """
    pairs = complete_pairs(ratings_a, ratings_b)
    if why := undefined_correlation(pairs, names):
        return Estimate.of_nothing(why, n=pairs.n)
    from scipy.stats import pearsonr

    return no_resampling(_snapped(float(pearsonr(pairs.a, pairs.b).statistic)), n=pairs.n)


def bonett_wright_interval(rho: float, n_items: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of Spearman's rho by Fisher's z with the standard error sqrt((1 + rho^2 / 2) / (n - 3)).

    A cross-check and a means of planning: it was not made for ordered categories with many ties, and came out up to
    13 % wider than the bootstrap in simulations. The plain 1 / sqrt(n - 3), as pingouin prints it, is too narrow at
    high rho: [0.65, 0.96] on the example below.

    Args:
        rho: in [-1, 1].
        n_items: pairs it rests on.
        confidence: in (0, 1).
    Returns:
        (lower, upper); (nan, nan) below four items or at rho = -1 or 1, where z is infinite.
    Raises:
        InvalidInput: a number outside its range.
    Source: Bonett and Wright (2000), Psychometrika 65, 23-28. Example: R statpsych, `ci.spear`.

    >>> tuple(round(bound, 7) for bound in bonett_wright_interval(0.8699639, 15))
    (0.5840951, 0.9638297)
    """
    if not -1.0 <= rho <= 1.0:
        raise InvalidInput(f"bonett_wright_interval: rho {rho} is no correlation; expected a number from -1 to 1")
    if not 0.0 < confidence < 1.0:
        raise InvalidInput(f"bonett_wright_interval: confidence {confidence}; expected a number between 0 and 1")
    if n_items < 4 or abs(rho) == 1.0:
        return math.nan, math.nan
    from statistics import NormalDist

    half = NormalDist().inv_cdf(0.5 + confidence / 2.0) * math.sqrt((1.0 + rho * rho / 2.0) / (n_items - 3))
    return math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)


def undefined_correlation(pairs: Pairs, names: tuple[str, str] = NAMES) -> str | None:
    """Why no correlation is defined on these pairs, or None."""
    if pairs.n < 2:
        return "1 item" if pairs.n else "no items that both rated"
    constant = [name for name, found in zip(names, (pairs.a, pairs.b), strict=True) if one_value(found)]
    if not constant:
        return None
    return f"{' and '.join(constant)} gave one value" + (" each" if len(constant) == 2 else "")


def _scipy_spearman(a: "Floats", b: "Floats") -> float:
    """scipy's value."""
    from scipy.stats import spearmanr

    return _snapped(float(spearmanr(a, b).statistic))


def _snapped(correlation: float) -> float:
    """-1 or 1 itself, where rounding alone (the library gives -0.9999999999999998) keeps the value from it."""
    return math.copysign(1.0, correlation) if abs(correlation) > 1.0 - 1e-12 else correlation


def _both(pairs: Pairs) -> "Floats":
    """(n, 2) both columns."""
    import numpy as np

    return np.column_stack([pairs.a, pairs.b])
