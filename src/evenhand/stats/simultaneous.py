"""Several figures from one joint draw: intervals that hold together, and differences of judges on the same items."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.rank import spearman
from evenhand.stats.rank_kernels import spearman_kernel
from evenhand.stats.ratings import rating_matrix, rating_vector
from evenhand.stats.resampling import Bootstrap, Draws, Units, draw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["Comparison", "Difference", "differences", "simultaneous_estimates", "spearman_differences"]

_SAME = 1e-12  # a standard error below this is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One judge's figure less another's, on the same items.

    Attributes:
        a: number of the first judge.
        b: number of the second, whose figure is subtracted.
        together: with an interval that holds for all differences at once (max-|t|).
        alone: with the percentile interval of this difference alone.
        standard_error: SD of the difference over the resamples; None where the interval is refused.
    """

    a: int
    b: int
    together: Estimate
    alone: Estimate
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Judges side by side on the items that all of them and the humans rated.

    Attributes:
        n: these items.
        n_left_out: items that someone did not rate.
        judges: each judge's rho with the humans, on these items.
        differences: of the pairs asked for, where both have a rho.
    """

    n: int
    n_left_out: int
    judges: tuple[Estimate, ...]
    differences: tuple[Difference, ...]


def spearman_differences(
    judges: "ArrayLike",
    humans: "ArrayLike",
    *,
    bootstrap: Bootstrap,
    pairs: Sequence[tuple[int, int]] | None = None,
    names: Sequence[str] | None = None,
) -> Comparison:
    """Differences of the rank correlations of several judges with the same humans, paired by one joint draw.

    Intervals of the single rhos waste the pairing: judges that err on the same items differ less than their intervals
    suggest, or more surely.

    Args:
        judges: (n_items, n_judges) ratings; None or nan where missing.
        humans: (n_items,) grades, in the same item order.
        bootstrap: settings of the draw.
        pairs: (a, b) by number, rho of a less rho of b; by default all, the earlier judge first.
        names: of the judges, for reasons; by default `judge 1` and on.
    Returns:
        A judge without rho (one value given) stands with its reason and takes part in no difference.
    Raises:
        InvalidInput: other lengths, no numbers, or a pair that is none.
    """
    import numpy as np

    matrix, grades = rating_matrix(judges, name="judges"), rating_vector(humans, name="humans")
    if len(matrix) != len(grades):
        raise InvalidInput(f"spearman_differences: {len(matrix)} items judged, {len(grades)} graded; expected the same")
    chosen_pairs = _pairs(pairs, matrix.shape[1])
    called = names or [f"judge {k + 1}" for k in range(matrix.shape[1])]
    kept = ~np.isnan(matrix).any(axis=1) & ~np.isnan(grades)
    matrix, grades, chosen = matrix[kept], grades[kept], bootstrap.of(kept)
    single = [spearman(matrix[:, k], grades, names=(called[k], "the humans")) for k in range(matrix.shape[1])]
    n_left_out = int((~kept).sum())
    defined = [k for k, found in enumerate(single) if found.value is not None]
    if not defined:
        return Comparison(n=int(kept.sum()), n_left_out=n_left_out, judges=tuple(single), differences=())
    columns = np.column_stack([grades, matrix[:, defined]])
    units = Units.of(columns, chosen)
    kernel = spearman_kernel(columns[units.rows], [(0, k + 1) for k in range(len(defined))])
    draws = draw(kernel, units, chosen)
    place = {k: column for column, k in enumerate(defined)}
    values = [single[k].value or 0.0 for k in defined]
    judged = [draws.estimate(values[place[k]], place[k]) if k in place else single[k] for k in range(len(single))]
    known = [(a, b) for a, b in chosen_pairs if a in place and b in place]
    found = differences(values, draws, [(place[a], place[b]) for a, b in known])
    numbered = tuple(
        Difference(a=a, b=b, together=one.together, alone=one.alone, standard_error=one.standard_error)
        for (a, b), one in zip(known, found, strict=True)
    )
    return Comparison(n=int(kept.sum()), n_left_out=n_left_out, judges=tuple(judged), differences=numbered)


def differences(values: Sequence[float], draws: Draws, pairs: Sequence[tuple[int, int]]) -> tuple[Difference, ...]:
    """Differences of statistics that were drawn together.

    Args:
        values: (n_statistics,) on the data as they are.
        draws: of the same statistics.
        pairs: (a, b) by number: value of a less value of b.
    """
    if not pairs:
        return ()
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    gaps = Draws(
        values=draws.values[:, first] - draws.values[:, second],
        bootstrap=draws.bootstrap,
        n_items=draws.n_items,
        n_units=draws.n_units,
    )
    found = [float(values[a]) - float(values[b]) for a, b in pairs]
    together = simultaneous_estimates(found, gaps)
    return tuple(
        Difference(
            a=a, b=b, together=together[k], alone=gaps.estimate(found[k], k), standard_error=gaps.standard_error(k)
        )
        for k, (a, b) in enumerate(pairs)
    )


def simultaneous_estimates(
    values: Sequence[float], draws: Draws, *, bounds: tuple[float, float] | None = None
) -> tuple[Estimate, ...]:
    """Intervals that hold for all statistics at once, by max-|t| over the joint draw.

    Each is value +- q SE, with SE the SD over resamples and q the quantile, over resamples, of the largest
    |resampled - value| / SE among the statistics. Statistics that move together cost less than Bonferroni would ask.

    Args:
        values: (n_statistics,) on the data as they are.
        draws: of the same statistics.
        bounds: of the statistic itself, at which intervals are cut: (-1, 1) for correlations.
    Returns:
        One estimate a statistic; a single one has its percentile interval. Those without an interval of their own
        (refused, or no spread) have none here either, and the others are not widened for them.
    Source: Westfall and Young (1993), Resampling-Based Multiple Testing; Mandel and Betensky (2008), Comput. Stat.
        Data Anal. 52, 2158-2165.
    """
    import numpy as np

    alone = [draws.estimate(value, k) for k, value in enumerate(values)]
    moving = [k for k, found in enumerate(alone) if found.no_interval is None]
    if len(moving) < 2:
        return tuple(alone)
    drawn = draws.values[:, moving]
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    if len(drawn) < (1.0 - draws.bootstrap.most_undefined) * len(draws.values):
        why = "too many resamples leave one of the figures undefined for an interval that holds for all at once"
        return tuple(_without(found, why) if k in moving else found for k, found in enumerate(alone))
    errors = drawn.std(axis=0, ddof=1)
    centre = np.array([values[k] for k in moving])
    largest = (np.abs(drawn - centre) / np.maximum(errors, _SAME)).max(axis=1)
    reach = float(np.quantile(largest, draws.bootstrap.confidence))
    made = list(alone)
    method = f"max-|t| bootstrap over {draws.unit}, {len(moving)} at once"
    for k, error in zip(moving, errors, strict=True):
        made[k] = _around(alone[k], reach * float(error), bounds, method)
    return tuple(made)


def _around(found: Estimate, half: float, bounds: tuple[float, float] | None, method: str) -> Estimate:
    """The estimate with a symmetric interval."""
    value = found.value or 0.0
    lowest, highest = bounds or (-math.inf, math.inf)
    return replace(found, low=max(lowest, value - half), high=min(highest, value + half), method=method)


def _without(found: Estimate, why: str) -> Estimate:
    """The estimate without its interval."""
    return replace(found, low=None, high=None, no_interval=why, method="")


def _pairs(pairs: Sequence[tuple[int, int]] | None, n_judges: int) -> list[tuple[int, int]]:
    """The pairs asked for, or all."""
    if pairs is None:
        return list(combinations(range(n_judges), 2))
    for a, b in pairs:
        if a == b or not (0 <= a < n_judges and 0 <= b < n_judges):
            raise InvalidInput(f"spearman_differences: ({a}, {b}) is no pair of judges 0 to {n_judges - 1}")
    return list(pairs)
