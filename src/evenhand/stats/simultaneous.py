"""Several figures from one joint draw: intervals that hold together."""

import math
from collections.abc import Sequence
from dataclasses import replace

from evenhand.stats.estimates import Estimate
from evenhand.stats.resampling import Draws

__all__ = ["simultaneous_estimates"]

_SAME = 1e-12  # a standard error below this is rounding


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
