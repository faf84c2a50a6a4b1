"""How much data a question needs: the smallest difference that n items could show, and the n that a wanted one needs.

"No difference" means nothing without it. Detectable is what comes out significant four times in five (power .8) at
alpha .05, two-sided.
"""

import math
from collections.abc import Callable

from evenhand.errors import InvalidInput
from evenhand.stats.rank import bonett_wright_interval

__all__ = [
    "ALPHA",
    "POWER",
    "detectable_difference",
    "detectable_rho",
    "detectable_shift",
    "items_for_difference",
    "items_for_rho",
    "items_for_rho_width",
    "items_for_shift",
    "rho_with_more",
]

ALPHA = 0.05
POWER = 0.8
_MOST_ITEMS = 10_000_000


def detectable_difference(standard_error: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The difference that an estimate with this standard error would show: (z of alpha + z of power) times it.

    >>> round(detectable_difference(0.05), 4)
    0.1401
    """
    _check(alpha, power)
    if not standard_error >= 0:
        raise InvalidInput(f"detectable_difference: standard error {standard_error}; expected 0 or more")
    return _reach(alpha, power) * standard_error


def items_for_difference(
    wanted: float, standard_error: float, n_items: int, *, alpha: float = ALPHA, power: float = POWER
) -> int:
    """Items that would show a wanted difference, from the standard error that a pilot of n items had.

    The error falls with the root of n. A pilot's error is itself an estimate: on 60 items the answer is good to about
    a factor of 1.4 either way.

    Raises:
        InvalidInput: a wanted difference of 0, or no pilot.

    >>> items_for_difference(0.1, 0.05, 60)
    118
    """
    _check(alpha, power)
    if not abs(wanted) > 0 or n_items < 2:
        raise InvalidInput(
            f"items_for_difference: a difference of {wanted} from {n_items} items; expected one above 0, from 2 or more"
        )
    return math.ceil(n_items * (_reach(alpha, power) * standard_error / wanted) ** 2)


def detectable_shift(n_items: float, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Smallest mean difference, in SDs of the paired differences, that a t test on n items would show.

    Args:
        n_items: independent items; clustered ones count for what they are worth (`design_effect`).
    Returns:
        None below three items.
    Source: noncentral t, as `statsmodels.stats.power.TTestPower`.

    >>> round(detectable_shift(60), 4)
    0.3677
    """
    _check(alpha, power)
    if n_items < 3:
        return None
    return _root(lambda d: _t_power(d, n_items, alpha) - power, 1e-6, 1e3)


def items_for_shift(wanted: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """Items (not rounded) whose t test would show a mean difference of so many SDs.

    >>> round(items_for_shift(0.3), 3)
    89.149
    """
    _check(alpha, power)
    if not abs(wanted) > 0:
        raise InvalidInput("items_for_shift: a difference of 0 SDs; expected one above 0")
    return _root(lambda n: _t_power(abs(wanted), n, alpha) - power, 2.0 + 1e-9, _MOST_ITEMS)


def detectable_rho(n_items: float, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Smallest correlation that n items would tell from 0.

    Args:
        n_items: as for `detectable_shift`.
    Returns:
        None below five items.
    Source: Fisher's z with its bias term, as R `pwr.r.test` and `pingouin.power_corr`.

    >>> round(detectable_rho(60), 4)
    0.3526
    """
    _check(alpha, power)
    if n_items < 5:
        return None
    return _root(lambda rho: _rho_power(rho, n_items, alpha) - power, 1e-9, 1.0 - 1e-9)


def items_for_rho(wanted: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """Items (not rounded) that would tell a correlation from 0.

    >>> [round(items_for_rho(rho), 2) for rho in (0.3, 0.5, 0.7)]
    [84.07, 28.25, 12.82]
    """
    _check(alpha, power)
    if not 0.0 < abs(wanted) < 1.0:
        raise InvalidInput(f"items_for_rho: rho {wanted}; expected a number between 0 and 1")
    return _root(lambda n: _rho_power(abs(wanted), n, alpha) - power, 4.0 + 1e-9, _MOST_ITEMS)


def items_for_rho_width(rho: float, width: float, *, confidence: float = 0.95) -> int:
    """Items at which Bonett and Wright's interval about this rho is no wider than so much: more useful than power.

    >>> items_for_rho_width(0.7, 0.2)
    129
    """
    if not -1.0 < rho < 1.0 or not 0.0 < width < 2.0:
        raise InvalidInput(f"items_for_rho_width: rho {rho}, width {width}; expected -1 < rho < 1 and 0 < width < 2")

    def too_wide(n: int) -> bool:
        low, high = bonett_wright_interval(rho, n, confidence=confidence)
        return high - low > width

    low, high = 4, 8
    while too_wide(high):
        low, high = high, high * 2
        if high > _MOST_ITEMS:
            raise InvalidInput(f"items_for_rho_width: a width of {width} needs more than {_MOST_ITEMS:,} items")
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if too_wide(middle) else (low, middle)
    return low


def rho_with_more(reliability: float, *, times: float) -> float | None:
    """By what factor a correlation grows where one side averages so many times as many raters, or reruns.

    The root of the gain in reliability (Spearman and Brown; attenuation); approximate for rank correlations.

    Args:
        reliability: of that side's mean as it is now, such as ICC(1,k), in (0, 1].
        times: how many times as many.
    Returns:
        None where the reliability is not above 0: nothing can be said then.

    >>> round(rho_with_more(0.5, times=2), 4)
    1.1547
    """
    if not 0.0 < reliability <= 1.0 or not times > 0:
        return None
    return math.sqrt(times / (1.0 + (times - 1.0) * reliability))


def _reach(alpha: float, power: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(1.0 - alpha / 2.0) + NormalDist().inv_cdf(power)


def _t_power(shift: float, n: float, alpha: float) -> float:
    """Power of a paired t test, both tails."""
    from scipy.special import nctdtr, stdtrit

    freedom, centre = n - 1.0, shift * math.sqrt(n)
    critical = float(stdtrit(freedom, 1.0 - alpha / 2.0))
    below, far = (float(nctdtr(freedom, centre, bound)) for bound in (critical, -critical))
    below, far = (tail if tail == tail else 0.0 for tail in (below, far))  # nan where too small to be computed
    return 1.0 - below + far


def _rho_power(rho: float, n: float, alpha: float) -> float:
    """Power of the test of a correlation, both tails."""
    from statistics import NormalDist

    from scipy.special import stdtrit

    critical = float(stdtrit(n - 2.0, 1.0 - alpha / 2.0))
    critical_z = math.atanh(math.sqrt(critical * critical / (critical * critical + n - 2.0)))
    z, error = math.atanh(rho) + rho / (2.0 * (n - 1.0)), math.sqrt(n - 3.0)
    normal = NormalDist()
    return normal.cdf((z - critical_z) * error) + normal.cdf((-z - critical_z) * error)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function is 0."""
    from scipy.optimize import brentq

    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    return float(brentq(function, low, high, xtol=1e-10, rtol=1e-12))


def _check(alpha: float, power: float) -> None:
    if not 0.0 < alpha < 1.0 or not 0.0 < power < 1.0:
        raise InvalidInput(f"planning: alpha {alpha}, power {power}; expected numbers between 0 and 1")
