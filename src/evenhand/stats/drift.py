"""Do scores change over time: where they change, by how much between periods, and what a test could have seen.

    change_points(scores)             rows after which the distribution differs
    drift_between(scores, periods)    chi-square and KS tests between periods
    rows_needed(share, change)        rows a period for a given change of a share
    detectable_change(share, n, m)    the smallest change of a share that so many rows show

Rows are taken as independent. Rows of the same item or source are not, and make every p-value here too small; what
changes may be the items and not the judge, which only items scored again can tell.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.stats.collapse import level_codes
from evenhand.stats.tails import chi_square_tail, kolmogorov_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ChangePoint", "Drift", "change_points", "detectable_change", "drift_between", "rows_needed"]

_MOST_LEVELS = 12
_MOST_POINTS = 8
_MIN_ROWS = 20
_MOST_BLOCKS = 2048
_MIN_DISTANCE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A row after which scores are distributed otherwise.

    Attributes:
        after_row: the last row before the change, counted from 0.
        distance: total variation between both sides (up to the next change): the share of scores that moved, 0 to 1.
        p_value: of the likelihood ratio, times the number of rows at which it could have been.
        mean_before, mean_after: of the two sides.
        n_before, n_after: rows of the two sides.
    """

    after_row: int
    distance: float
    p_value: float
    mean_before: float
    mean_after: float
    n_before: int
    n_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Tests between periods; a p-value is None where its test is not defined, and `undefined` says why.

    Attributes:
        n_periods: periods with scores.
        n: scores in them.
        chi2, chi2_df, chi2_p: of levels by periods; neighbouring levels are pooled until each is expected five times.
        cramers_v: size of that association, 0 to 1.
        ks, ks_p: the largest gap between the distributions of the first and the last period, and its p-value by
            Kolmogorov's limit: too large where there are many ties, and for small n.
        mode_change: share of the commonest score in the last period less that in the first.
        detectable: the smallest change of that share which these two periods show with power .8; None where they
            cannot show any.
        needed: change of that share to the rows a period that show it with power .8 at .05.
    """

    n_periods: int
    n: int
    chi2: float | None = None
    chi2_df: int | None = None
    chi2_p: float | None = None
    cramers_v: float | None = None
    ks: float | None = None
    ks_p: float | None = None
    mode_change: float | None = None
    detectable: float | None = None
    needed: Mapping[str, int | None]
    undefined: str | None = None

    def document(self) -> Mapping[str, Any]:
        """The tests as `--json` prints them."""
        return asdict(self)


def change_points(scores: "NDArray[np.float64]", *, alpha: float = 0.01) -> tuple[ChangePoint, ...]:
    """Rows after which the distribution of scores differs, by binary segmentation.

    Args:
        scores: (n,) in the order of time, without nan.
        alpha: largest p-value of a change, after Bonferroni over the rows.
    Returns:
        At most eight, in order. Each has at least 20 rows on both sides, moves at least a tenth of the scores, and has
        a p-value below `alpha`. Where there are more than twelve levels, they are pooled
        into twelve of about equal counts. None for fewer than 40 rows.
    Source: the likelihood ratio of two multinomials against one (G), maximised over the row: Horvath and Serbinowska
        (1995), Scand. J. Stat. 22, 371-384; segmentation: Scott and Knott (1974), Biometrics 30, 507-512.

    >>> import numpy as np
    >>> point, = change_points(np.array([4.0, 5.0] * 60 + [80.0, 100.0] * 40))
    >>> point.after_row, point.distance
    (119, 1.0)
    """
    codes, k = _codes(scores)
    found: list[int] = []
    open_ = [(0, len(scores))]
    while open_ and len(found) < _MOST_POINTS:
        start, end = open_.pop(0)
        split = _best_split(codes[start:end], k, alpha)
        if split is not None:
            found.append(start + split)
            open_ += [(start, start + split), (start + split, end)]
    found = _settled(codes, k, sorted(found), alpha)
    edges = [0, *found, len(scores)]
    return tuple(_point(scores, codes, k, *edges[place : place + 3]) for place in range(len(edges) - 2))


def _codes(scores: "NDArray[np.float64]") -> "tuple[NDArray[np.int64], int]":
    """Each score as the number of its level, levels pooled where there are many."""
    import numpy as np

    levels, codes = level_codes(scores)
    if len(levels) <= _MOST_LEVELS:
        return codes, len(levels)
    counts = np.bincount(codes)
    before = np.cumsum(counts) - counts
    pooled = np.unique(before * _MOST_LEVELS // max(len(scores), 1), return_inverse=True)[1]
    return pooled[codes].astype(np.int64), int(pooled.max()) + 1


def _best_split(codes: "NDArray[np.int64]", k: int, alpha: float) -> int | None:
    """How many rows stand before the most likely change; None where there is none that counts."""
    n = len(codes)
    if n < 2 * _MIN_ROWS or k < 2:
        return None
    place, ratio = _scan(codes, k)
    large = _distance(codes[:place], codes[place:], k) >= _MIN_DISTANCE
    return place if large and _p_value(ratio, k, n) < alpha else None


def _scan(codes: "NDArray[np.int64]", k: int) -> tuple[int, float]:
    """The row at which two multinomials beat one by the most, and twice the log likelihood ratio there.

    Long logs are searched by blocks first, then row by row around the best one.
    """
    import numpy as np

    n = len(codes)
    total = np.bincount(codes, minlength=k)
    block = max(1, n // _MOST_BLOCKS)
    edges = np.arange(block, n - _MIN_ROWS + 1, block)
    blocks = np.bincount(np.arange(n) // block * k + codes, minlength=(n // block + 1) * k).reshape(-1, k)
    left = np.cumsum(blocks, axis=0)[: len(edges)]
    inner = edges >= _MIN_ROWS
    best, ratio = _best(edges[inner], left[inner], total)
    if block > 1:
        start, end = max(best - block, _MIN_ROWS), min(best + block, n - _MIN_ROWS)
        near = np.arange(start, end + 1)
        each = codes[start:end, None] == np.arange(k)
        first = np.bincount(codes[:start], minlength=k)
        best, ratio = _best(near, np.vstack([first, first + np.cumsum(each, axis=0)]), total)
    return best, ratio


def _best(rows: "NDArray[np.int64]", left: "NDArray[np.int64]", total: "NDArray[np.int64]") -> tuple[int, float]:
    """The row with the largest ratio, of counts (rows, levels) that stand before it."""
    import numpy as np

    ratios = _ratios(left, total)
    place = int(np.argmax(ratios))
    return int(rows[place]), float(ratios[place])


def _ratios(left: "NDArray[np.int64]", total: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """(m,) twice the log likelihood ratio of two multinomials against one."""
    right = total - left
    split = _n_log_n(left).sum(axis=1) - _n_log_n(left.sum(axis=1)) + _n_log_n(right).sum(axis=1)
    found: NDArray[np.float64] = split - _n_log_n(right.sum(axis=1)) - _n_log_n(total).sum() + _n_log_n(total.sum())
    return 2.0 * found


def _n_log_n(counts: "NDArray[Any]") -> "NDArray[np.float64]":
    """n log n, and 0 for 0."""
    import numpy as np

    numbers = counts.astype(np.float64)
    return numbers * np.log(np.maximum(numbers, 1.0))


def _p_value(ratio: float, k: int, n: int) -> float:
    """Chi-square tail, times the rows it was the largest of."""
    return min(1.0, n * chi_square_tail(max(ratio, 0.0), k - 1))


def _distance(left: "NDArray[np.int64]", right: "NDArray[np.int64]", k: int) -> float:
    """Total variation between two samples of levels."""
    import numpy as np

    shares = [np.bincount(side, minlength=k) / len(side) for side in (left, right)]
    return 1.0 - float(np.minimum(shares[0], shares[1]).sum())


def _settled(codes: "NDArray[np.int64]", k: int, points: list[int], alpha: float) -> list[int]:
    """Each point once more between its neighbours: the first splits were found before the later ones were known."""
    for place in range(len(points)):
        start = points[place - 1] if place else 0
        end = points[place + 1] if place + 1 < len(points) else len(codes)
        better = _best_split(codes[start:end], k, alpha)
        if better is not None:
            points[place] = start + better
    return points


def _point(
    scores: "NDArray[np.float64]", codes: "NDArray[np.int64]", k: int, start: int, at: int, end: int
) -> ChangePoint:
    """What a change is like."""
    import numpy as np

    left, right = codes[start:at], codes[at:end]
    before = np.bincount(left, minlength=k)
    ratio = float(_ratios(before[None], before + np.bincount(right, minlength=k))[0])
    return ChangePoint(
        after_row=at - 1, distance=_distance(left, right, k), p_value=_p_value(ratio, k, end - start),
        mean_before=float(scores[start:at].mean()), mean_after=float(scores[at:end].mean()),
        n_before=at - start, n_after=end - at,
    )  # fmt: skip


def drift_between(scores: "NDArray[np.float64]", periods: "NDArray[np.int64]", *, mode: float | None = None) -> Drift:
    """Whether scores differ between periods.

    Args:
        scores: (n,) without nan.
        periods: (n,) number of each score's period, 0 and up, rising with time.
        mode: the score whose share is watched; the commonest of all if None.
    Returns:
        The tests; undefined with fewer than two periods that have scores, or one level only.
    Raises:
        InvalidInput: the lengths differ.
    Source: Pearson's chi-square, as `scipy.stats.chi2_contingency(correction=False)`; the two-sample gap, as
        `scipy.stats.ks_2samp`, with the p-value of `scipy.stats.kstwobign`.
    """
    import numpy as np

    if len(scores) != len(periods):
        raise InvalidInput(f"drift_between: {len(scores)} scores, yet {len(periods)} periods; expected one for each")
    used = np.flatnonzero(np.bincount(periods))
    levels, codes = level_codes(scores)
    counts = np.bincount(codes, minlength=len(levels))
    watched = float(levels[np.argmax(counts)]) if mode is None and len(levels) else mode
    share = float(counts[levels == watched].sum() / len(scores)) if len(scores) else 0.5
    needed = {f"{change:g}": rows_needed(share, change) for change in (0.05, 0.1, 0.2)}
    base = Drift(n_periods=len(used), n=len(scores), needed=needed)
    if len(used) < 2:
        return _undefined(base, "fewer than two periods have scores")
    table = _table(codes, periods, used, len(levels))
    n_first, n_last = int(table[0].sum()), int(table[-1].sum())
    before, after = (float(row[levels == watched].sum() / row.sum()) for row in (table[0], table[-1]))
    if len(levels) < 2:
        return _undefined(base, "all scores are equal")
    ks, ks_p = _ks(table[0], table[-1])
    chi2, df, p, v = _chi2(_pooled(table))
    return Drift(
        n_periods=len(used), n=len(scores), chi2=chi2, chi2_df=df, chi2_p=p, cramers_v=v, ks=ks, ks_p=ks_p,
        mode_change=after - before, detectable=detectable_change(before, n_first, n_last), needed=needed,
        undefined="too few scores: some level is expected less than five times" if chi2 is None else None,
    )  # fmt: skip


def _undefined(base: Drift, reason: str) -> Drift:
    """A drift without tests."""
    return Drift(n_periods=base.n_periods, n=base.n, needed=base.needed, undefined=reason)


def _table(
    codes: "NDArray[np.int64]", periods: "NDArray[np.int64]", used: "NDArray[np.int64]", k: int
) -> "NDArray[np.int64]":
    """Counts of each period (row) at each level (column)."""
    import numpy as np

    place = np.searchsorted(used, periods)
    return np.bincount(place * k + codes, minlength=len(used) * k).reshape(len(used), k)


def _pooled(table: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """Neighbouring levels pooled until each is expected at least five times in the smallest period."""
    import numpy as np

    least = 5.0 * table.sum() / max(int(table.sum(axis=1).min()), 1)
    columns: list[NDArray[np.int64]] = []
    gathered = np.zeros(len(table), np.int64)
    for column in table.T:
        gathered = gathered + column
        if gathered.sum() >= least:
            columns.append(gathered)
            gathered = np.zeros(len(table), np.int64)
    if gathered.any():
        if columns:
            columns[-1] = columns[-1] + gathered
        else:
            columns.append(gathered)
    return np.stack(columns, axis=1)


def _chi2(table: "NDArray[np.int64]") -> tuple[float | None, int | None, float | None, float | None]:
    """Pearson's chi-square, its degrees of freedom, p-value and Cramer's V; None where one level is left."""
    import numpy as np

    rows, columns = table.shape
    if columns < 2:
        return None, None, None, None
    n = float(table.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    value = float(((table - expected) ** 2 / expected).sum())
    df = (rows - 1) * (columns - 1)
    v = math.sqrt(value / (n * min(rows - 1, columns - 1)))
    return value, df, chi_square_tail(value, df), v


def _ks(first: "NDArray[np.int64]", last: "NDArray[np.int64]") -> tuple[float, float]:
    """The largest gap between two distributions, given as counts of the same levels, and its asymptotic p-value."""
    import numpy as np

    gaps = [np.cumsum(counts) / counts.sum() for counts in (first, last)]
    gap = float(np.abs(gaps[0] - gaps[1]).max())
    n = float(first.sum() * last.sum() / (first.sum() + last.sum()))
    return gap, kolmogorov_tail(math.sqrt(n) * gap)


def rows_needed(share: float, change: float, *, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """Rows a period with which a change of a share is seen: two-sided test of two proportions, equal sizes.

    Args:
        share: before, in [0, 1].
        change: how much it moves, in (0, 1]; it goes towards one half, where that is possible.
    Returns:
        Rows in each period; None where no share can change by so much.
    Source: Fleiss, Levin and Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed., formula 4.14
        (without continuity correction).

    >>> rows_needed(0.5, 0.1), rows_needed(0.6, 0.1)
    (388, 388)
    """
    after = share + change if share <= 0.5 else share - change
    if not 0 <= after <= 1:
        return None
    return math.ceil(_rows(share, after, 1.0, power, alpha) - 1e-9)


def _rows(before: float, after: float, ratio: float, power: float, alpha: float) -> float:
    """Rows of the first period, where the second has `ratio` times as many."""
    from statistics import NormalDist

    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)
    mean = (before + ratio * after) / (1 + ratio)
    null = z_alpha * math.sqrt((1 + 1 / ratio) * mean * (1 - mean))
    other = z_power * math.sqrt(before * (1 - before) + after * (1 - after) / ratio)
    return ((null + other) / (after - before)) ** 2


def detectable_change(
    share: float, n_before: int, n_after: int, *, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """The smallest change of a share (towards one half) that two periods show; None where they cannot show any.

    Args:
        share: before, in [0, 1].
        n_before, n_after: rows of the two periods, at least 1.

    >>> round(detectable_change(0.5, 388, 388), 3)
    0.1
    """
    sign, widest = (1.0, 1.0 - share) if share <= 0.5 else (-1.0, share)
    ratio = n_after / n_before
    low, high = 0.0, widest
    if _rows(share, share + sign * high, ratio, power, alpha) > n_before:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        enough = middle > 0 and _rows(share, share + sign * middle, ratio, power, alpha) <= n_before
        low, high = (low, middle) if enough else (middle, high)
    return high
