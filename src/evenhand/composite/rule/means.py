"""Aggregates over the arguments of one row, vectorised over rows: weighted means of every kind, extremes, sums.

Arguments stand along axis 0: (n_args, n_rows). A missing one is nan; whether it is left out is the caller's to say by
`present`, (n_args, n_rows) of booleans. What an aggregate does not define (a geometric mean of a negative number)
is nan.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

__all__ = ["aggregate", "power_mean"]

_NEARLY_GEOMETRIC = 0.01  # exponents below it cost as many digits as 1/p has, were (mean of x^p)^(1/p) computed as such


def aggregate(
    name: str, values: "Floats", weights: "Floats", present: "Booleans", *, exponent: float = 1.0
) -> "Floats":
    """One aggregate of the rule language.

    Args:
        name: `mean`, `geomean`, `hmean`, `power`, `median`, `min`, `max`, `sum`, `prod` or `sd`.
        values: (n_args, ...).
        weights: (n_args,), ones where the rule has none; used by the means and the sum.
        present: (n_args, ...) which arguments count; where none does, the result is nan.
        exponent: of `power`.
    Returns:
        (...,); nan where undefined: nothing present, weights that sum to 0, negative arguments of a mean that has
        none. A mean with an exponent of 0 or less is 0 if an argument is 0 (its limit), as scipy.stats.hmean has it.

    >>> import numpy as np
    >>> x = np.array([[1.0], [4.0]])
    >>> aggregate("geomean", x, np.ones(2), np.isfinite(x)).tolist()
    [2.0]
    """
    import numpy as np

    some = present.any(axis=0)
    with np.errstate(all="ignore"):
        found = _of_present(name, values, weights, present, exponent)
    return np.where(some, found, np.nan)


def power_mean(values: "Floats", weights: "Floats", exponent: float) -> "Floats":
    """Weighted power mean over axis 0; `weights` are broadcast against `values`, and need not sum to 1.

    nan where a value is missing, whatever its weight, or where one of weight is negative and the exponent is not 1.
    """
    import numpy as np

    weights = np.broadcast_to(weights, values.shape)
    total = weights.sum(axis=0)
    usable = np.where(total != 0, total, np.nan)
    if exponent == 1:
        return np.asarray((weights * values).sum(axis=0) / usable)
    counts = weights != 0
    positive = counts & (values > 0)
    zero = (counts & (values == 0)).any(axis=0)
    inner = np.where(positive, values, 1.0)
    if exponent == 0:
        found = np.exp((weights * np.log(inner)).sum(axis=0) / usable)
    elif abs(exponent) < _NEARLY_GEOMETRIC:
        found = _near_geometric(inner, weights, usable, counts & (values == 0), exponent)
    else:
        edge = np.where(positive, values, -np.inf).max(axis=0) if exponent > 0 else _least(values, positive)
        scale = np.where(np.isfinite(edge), edge, 1.0)  # so that no power overflows
        powers = np.where(positive, (inner / scale) ** exponent, 0.0)
        found = scale * ((weights * powers).sum(axis=0) / usable) ** (1 / exponent)
    if exponent <= 0:
        found = np.where(zero, 0.0, found)
    undefined = np.isnan(values) | (counts & (values < 0))
    return np.where(undefined.any(axis=0) | np.isnan(usable), np.nan, found)


def _near_geometric(
    inner: "Floats", weights: "Floats", total: "Floats", zeros: "Booleans", exponent: float
) -> "Floats":
    """Power mean for an exponent near 0: g (mean of (x / g)^p)^(1/p), g the geometric mean, by expm1 and log1p."""
    import numpy as np

    logs = np.log(inner)
    middle = (weights * logs).sum(axis=0) / total
    moved = np.where(zeros, -1.0 if exponent > 0 else 0.0, np.expm1(exponent * (logs - middle)))
    return np.asarray(np.exp(middle + np.log1p((weights * moved).sum(axis=0) / total) / exponent))


def _least(values: "Floats", counted: "Booleans") -> "Floats":
    import numpy as np

    return np.asarray(np.where(counted, values, np.inf).min(axis=0))


def _of_present(name: str, values: "Floats", weights: "Floats", present: "Booleans", exponent: float) -> "Floats":
    import numpy as np

    spread = weights.reshape(-1, *[1] * (values.ndim - 1)) * present
    filled = np.where(present, values, 1.0)
    if name in ("mean", "geomean", "hmean", "power"):
        return power_mean(filled, spread, {"mean": 1.0, "geomean": 0.0, "hmean": -1.0}.get(name, exponent))
    if name == "sum":
        return np.asarray((spread * filled).sum(axis=0))
    if name == "prod":
        return np.asarray(filled.prod(axis=0))
    if name == "min":
        return np.asarray(np.where(present, values, np.inf).min(axis=0))
    if name == "max":
        return np.asarray(np.where(present, values, -np.inf).max(axis=0))
    if name == "median":
        return _median(values, present)
    n = present.sum(axis=0)
    apart = np.where(present, values - _least(values, present), 0.0)  # exactly 0 where all are equal
    gaps = (present & np.isnan(values)).any(axis=0)
    squares = (np.where(present, apart - apart.sum(axis=0) / n, 0.0) ** 2).sum(axis=0)
    return np.where(gaps, np.nan, np.sqrt(squares / n))


def _median(values: "Floats", present: "Booleans") -> "Floats":
    """The middle one of the present, or the mean of the two in the middle."""
    import numpy as np

    ordered = np.sort(np.where(present, values, np.inf), axis=0)
    n = present.sum(axis=0)
    low = np.take_along_axis(ordered, np.maximum((n - 1) // 2, 0)[None], axis=0)[0]
    high = np.take_along_axis(ordered, (n // 2)[None].clip(max=len(values) - 1), axis=0)[0]
    gaps = (present & np.isnan(values)).any(axis=0)
    return np.where(gaps, np.nan, 0.5 * (low + high))
