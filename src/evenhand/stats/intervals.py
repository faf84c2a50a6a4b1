"""Intervals for shares."""

import math

from evenhand.errors import InvalidInput

__all__ = ["wilson_interval"]


def wilson_interval(successes: float, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a binomial share.

    Args:
        successes: how many of `n`, 0 to n. Half points (ties) may be among them: their variance is smaller than a
            binomial's, so that the interval is at least as wide as it need be.
        n: number of trials.
        confidence: in (0, 1).
    Returns:
        (lower, upper), both in [0, 1]; (nan, nan) without trials, since no share is defined then.
    Raises:
        InvalidInput: counts that no sample can have, or a confidence outside (0, 1).
    Source: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212. Example: Newcombe (1998), Stat. Med. 17, 857-872, Table I.

    >>> tuple(round(bound, 4) for bound in wilson_interval(81, 263))
    (0.2553, 0.3662)
    """
    if not 0 <= successes <= n:
        raise InvalidInput(f"wilson_interval: {successes} of {n} is no share; expected 0 <= successes <= n")
    if not 0.0 < confidence < 1.0:
        raise InvalidInput(f"wilson_interval: confidence {confidence} is no level; expected a number between 0 and 1")
    if n == 0:
        return math.nan, math.nan
    z = _normal_quantile(0.5 + confidence / 2.0)
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1.0 - share) / n + z * z / (4 * n * n))
    scale = 1.0 + z * z / n
    lower = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    upper = 1.0 if successes == n else min(1.0, (centre + half) / scale)
    return lower, upper


def _normal_quantile(probability: float) -> float:
    """The standard normal quantile, from the standard library."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)
