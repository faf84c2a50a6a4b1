"""Functions that couple the rows of a table: ranks, percentiles, z-scores, min-max, win rates.

Each one twice: on numbers, and on intervals, where it gives an interval that holds every value the function can take
when the numbers lie anywhere in theirs. The intervals are supersets: rows are treated as free of each other.
All arrays are (n_rows,); nan is missing, takes no part, and stays nan.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["coupled", "coupled_bounds", "win_shares", "win_shares_bounds"]

_SHARES = {"half": 0.5, "lose": 0.0, "win": 1.0, "min": 0.0, "max": 1.0, "mean": 0.5}
_CLOSE = 1e-12  # relative: two ends of boxes that touch in decimals may differ by an ulp


def coupled(name: str, values: "Floats", *, lower: bool = False, ties: str = "") -> "Floats":
    """A row-coupled function of one argument, on numbers.

    Args:
        name: `rank`, `percentile`, `zscore`, `minmax`, `colmin`, `colmax`, `colmean` or `colsd`.
        values: (n_rows,).
        lower: whether lower is better (`rank`, `percentile`, `zscore`, `minmax`).
        ties: of `rank`: `min` (ties share the best place, the default), `max` or `mean`.
    Returns:
        (n_rows,). Rank 1 is the best. Percentile is 100 (below + ties / 2) / (n - 1). The z-score divides by the
        population's standard deviation. nan where a spread is 0, or fewer than two rows can be compared.

    >>> import numpy as np
    >>> coupled("rank", np.array([22.0, 17, 17, 8]), lower=True).tolist()
    [4.0, 2.0, 2.0, 1.0]
    """
    return coupled_bounds(name, values, values, lower=lower, ties=ties)[0]


def coupled_bounds(
    name: str, low: "Floats", high: "Floats", *, lower: bool = False, ties: str = ""
) -> tuple["Floats", "Floats"]:
    """The same on intervals: (low, high) of every value that the function can take."""
    import numpy as np

    if name in ("rank", "percentile"):
        return _places(name, low, high, lower=lower, ties=ties or "min")
    known = ~np.isnan(low)
    if not known.any():
        return low.copy(), high.copy()
    if lower and name in ("zscore", "minmax"):
        low, high = -high, -low
    with np.errstate(all="ignore"):
        if name.startswith("col"):
            ends = _moment(name, low, high, known)
            return np.full(len(low), ends[0]), np.full(len(low), ends[1])
        found = (_zscore if name == "zscore" else _minmax)(low, high, known)
    return np.where(known, found[0], np.nan), np.where(known, found[1], np.nan)


def win_shares(values: "Floats", *, lower: bool = False, ties: str = "half") -> "Floats":
    """(n_rows,) share of the other rows that each row beats; a tie counts half, nothing or whole."""
    return win_shares_bounds(values, values, lower=lower, ties=ties)[0]


def win_shares_bounds(
    low: "Floats", high: "Floats", *, lower: bool = False, ties: str = "half"
) -> tuple["Floats", "Floats"]:
    """The same on intervals."""
    import numpy as np

    if lower:
        low, high = -high, -low
    least, most, n = _beaten(low, high, _SHARES[ties])
    others = np.nan if n < 2 else n - 1
    return least / others, most / others


def _places(name: str, low: "Floats", high: "Floats", *, lower: bool, ties: str) -> tuple["Floats", "Floats"]:
    """Ranks (1 + how many are ahead) or percentiles, from how many rows each can have below it."""
    import numpy as np

    if lower != (name == "rank"):  # those ahead are those below, once the column is turned round
        low, high = -high, -low
    least, most, n = _beaten(low, high, _SHARES[ties] if name == "rank" else 0.5)
    if name == "rank":
        return 1 + least, 1 + most
    others = np.nan if n < 2 else n - 1
    return 100 * least / others, 100 * most / others


def _beaten(low: "Floats", high: "Floats", tie: float) -> tuple["Floats", "Floats", int]:
    """(least, most) count of other rows below each row, each equal one counting `tie`; and how many rows there are."""
    import numpy as np

    known = ~np.isnan(low)
    lows, highs = np.sort(low[known]), np.sort(high[known])
    is_point = high - low <= _slack(low)

    def below(ends: "Floats", at: "Floats") -> "Floats":
        slack = _slack(at)
        less = np.searchsorted(ends, at - slack, side="left")
        return np.asarray(less + tie * (np.searchsorted(ends, at + slack, side="right") - less))

    least = below(highs, low) - np.where(is_point, tie, 0.0)  # without the row itself
    most = below(lows, high) - np.where(is_point, tie, 1.0)
    return np.where(known, least, np.nan), np.where(known, most, np.nan), int(known.sum())


def _slack(at: "Floats") -> "Floats":
    import numpy as np

    return np.asarray(_CLOSE * np.abs(at))


def _zscore(low: "Floats", high: "Floats", known: "Booleans") -> tuple["Floats", "Floats"]:
    """(x - mean) / sd with each of the three in its interval."""
    import numpy as np

    means, spreads = _moment("colmean", low, high, known), _moment("colsd", low, high, known)
    below, above = low - means[1], high - means[0]
    least, most = (np.nan if spreads[1] == 0 else spreads[0]), spreads[1]
    return np.where(below < 0, below / least, below / most), np.where(above > 0, above / least, above / most)


def _minmax(low: "Floats", high: "Floats", known: "Booleans") -> tuple["Floats", "Floats"]:
    """(x - min) / (max - min), which falls as either end of the table rises."""
    import numpy as np

    bottom = low[known].min(), high[known].min()
    top = low[known].max(), high[known].max()
    if top[1] - bottom[0] <= _CLOSE * max(abs(top[1]), abs(bottom[0])):
        return np.full(len(low), np.nan), np.full(len(low), np.nan)
    least = (low - bottom[1]) / (top[1] - bottom[1]) if top[1] > bottom[1] else np.zeros(len(low))
    most = (high - bottom[0]) / (top[0] - bottom[0]) if top[0] > bottom[0] else np.ones(len(low))
    return np.clip(least, 0, 1), np.clip(most, 0, 1)


def _moment(name: str, low: "Floats", high: "Floats", known: "Booleans") -> tuple[float, float]:
    """A statistic of the whole column, as an interval; a standard deviation moves by at most the boxes' r.m.s."""
    import numpy as np

    low, high = low[known], high[known]
    if name != "colsd":
        of = {"colmin": "min", "colmax": "max", "colmean": "mean"}[name]
        return float(getattr(low, of)()), float(getattr(high, of)())
    middle = 0.5 * (low + high)
    centre, reach = (middle - middle[0]).std(), np.sqrt((0.25 * (high - low) ** 2).mean())
    if centre <= _CLOSE * np.abs(middle).max():  # equal but for floating point
        centre = np.float64(0.0)
    return max(0.0, float(centre - reach)), float(centre + reach)
