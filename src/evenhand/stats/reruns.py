"""Noise of one judge on the same items asked again: its SD, how reliable one run is, and what more runs would buy."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.ratings import rating_matrix
from evenhand.stats.resampling import Bootstrap, Kernel, Units, draw, no_resampling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["RerunNoise", "best_n_reruns", "reliability_of_mean", "rerun_noise", "variance_of_mean"]

_NO_RERUNS = "no item has two scored reruns"
_ONE_VALUE = "the judge gave one value"


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunNoise:
    """How far a judge agrees with itself. Never read it alone: a judge that always says 7 has an SD of 0.

    Attributes:
        sd: pooled SD of an item's reruns, in points of the judge's scale.
        icc: ICC(1), the share of one run's variance that is between items; below 0 where items differ less than
            chance alone would make them.
        within: mean square within items; None without reruns.
        between: variance of the items' true means, (MSB - MSW) / n0; may be negative; None without reruns.
        n0: effective number of reruns in an unbalanced table.
        n_items: items with a score.
        n_scores: scores in all.
        n_repeated: items with two scores or more.
        n_identical: of these, items with equal scores throughout.
        mean_item_sd: mean of the items' own SDs (n - 1); None without reruns.
        largest_item_sd: the largest of them; pooling hides it.
    """

    sd: Estimate
    icc: Estimate
    within: float | None
    between: float | None
    n0: float | None
    n_items: int
    n_scores: int
    n_repeated: int
    n_identical: int
    mean_item_sd: float | None
    largest_item_sd: float | None


def rerun_noise(scores: "ArrayLike", *, bootstrap: Bootstrap | None = None) -> RerunNoise:
    """One-way random-effects analysis of variance over items, for unequal numbers of reruns.

    Args:
        scores: (n_items, n_reruns); None or nan where a rerun reached no verdict. Order of reruns does not matter.
        bootstrap: over items (or clusters); None gives no intervals.
    Returns:
        SD undefined without an item that was scored twice; ICC(1) undefined too below two items, or where every score
        is the same number. ICC(1) is (MSB - MSW) / (MSB + (n0 - 1) MSW) with
        n0 = (N - sum n_i^2 / N) / (m - 1); with equal n_i that is Shrout and Fleiss' ICC(1,1).
    Raises:
        InvalidInput: not two-dimensional, not numbers, or infinite.
    Source: Searle, Casella and McCulloch (1992), Variance Components, section 3.6.

    >>> noise = rerun_noise([[7, 7, 8], [6, 6, 5], [8, 8, 9], [7, 7, 7]])
    >>> round(noise.sd.value, 4), round(noise.icc.value, 4)
    (0.5, 0.7273)
    """
    import numpy as np

    matrix = rating_matrix(scores, name="rerun_noise")
    kept = np.logical_not(np.isnan(matrix)).any(axis=1)
    assert isinstance(kept, np.ndarray)
    matrix = matrix[kept]
    sums = _item_sums(matrix)
    n_repeated = int((sums[:, 0] > 1).sum())
    of_items = _anova(np.ones((1, len(matrix))), sums)[0] if n_repeated else None
    sd, icc = _estimates(matrix, sums, n_repeated, bootstrap.of(kept) if bootstrap else None)
    sds = _item_sds(sums)
    return RerunNoise(
        sd=sd,
        icc=icc,
        within=None if of_items is None else float(of_items[0]),
        between=None if of_items is None or math.isnan(of_items[1]) else float(of_items[1]),
        n0=None if of_items is None or math.isnan(of_items[2]) else float(of_items[2]),
        n_items=len(matrix),
        n_scores=int(sums[:, 0].sum()) if len(sums) else 0,
        n_repeated=n_repeated,
        n_identical=int((sds == 0).sum()),
        mean_item_sd=float(sds.mean()) if len(sds) else None,
        largest_item_sd=float(sds.max()) if len(sds) else None,
    )


def reliability_of_mean(icc: float, n_reruns: float) -> float:
    """Reliability of the mean of several runs, from that of one: k r / (1 + (k - 1) r), Spearman-Brown.

    Returns:
        nan where the denominator is not positive, which a negative ICC can bring about.

    >>> [round(reliability_of_mean(0.8023952, k), 4) for k in (1, 2, 3, 5)]
    [0.8024, 0.8904, 0.9241, 0.9531]
    """
    below = 1.0 + (n_reruns - 1.0) * icc
    return n_reruns * icc / below if below > 0 else math.nan


def variance_of_mean(between: float, within: float, *, n_items: float, n_reruns: float) -> float:
    """Variance of a judge's mean score over items: between / n + within / (n k)."""
    if n_items <= 0 or n_reruns <= 0:
        raise InvalidInput(f"variance_of_mean: {n_items} items and {n_reruns} reruns; expected more than 0 of each")
    return between / n_items + within / (n_items * n_reruns)


def best_n_reruns(between: float, within: float, *, cost_ratio: float) -> float | None:
    """Reruns an item at which a mean over items is most precise for the money: sqrt(cost ratio * within / between).

    Args:
        cost_ratio: what one more item costs (finding and hand-grading it) over what one more run costs.
    Returns:
        Not rounded, at least 0; below 1 means: buy items. None where items do not differ (between <= 0).
    Raises:
        InvalidInput: a cost ratio that is not positive.

    >>> round(best_n_reruns(0.9023569, 0.2222222, cost_ratio=10), 2)
    1.57
    """
    if not cost_ratio > 0:
        raise InvalidInput(f"best_n_reruns: cost ratio {cost_ratio}; expected more than 0")
    return math.sqrt(cost_ratio * within / between) if between > 0 else None


def _item_sums(matrix: "Floats") -> "Floats":
    """(n_items, 3): scores, their mean, and the sum of squares about it."""
    import numpy as np

    held = ~np.isnan(matrix)
    n = held.sum(axis=1).astype(np.float64)
    mean = np.where(held, matrix, 0.0).sum(axis=1) / np.maximum(n, 1.0)
    low = np.where(held, matrix, np.inf).min(axis=1, initial=np.inf)
    same = (np.where(held, matrix, -np.inf).max(axis=1, initial=-np.inf) == low)  # fmt: skip
    squares = (np.where(held, matrix - mean[:, None], 0.0) ** 2).sum(axis=1)
    return np.column_stack([n, np.where(same, low, mean), np.where(same, 0.0, squares)])


def _item_sds(sums: "Floats") -> "Floats":
    """Each repeated item's own SD."""
    import numpy as np

    repeated = sums[sums[:, 0] > 1]
    found: Floats = np.sqrt(repeated[:, 2] / (repeated[:, 0] - 1.0))
    return found


def _estimates(
    matrix: "Floats", sums: "Floats", n_repeated: int, bootstrap: Bootstrap | None
) -> tuple[Estimate, Estimate]:
    """SD and ICC(1) with their intervals."""
    import numpy as np

    n = len(matrix)
    if not n_repeated:
        return Estimate.of_nothing(_NO_RERUNS, n=n), Estimate.of_nothing(_NO_RERUNS, n=n)
    within, between, _ = _anova(np.ones((1, n)), sums)[0]
    why = "1 item" if n == 1 else _ONE_VALUE if within + between == 0 else None
    sd, icc = math.sqrt(within), between / (within + between) if why is None else math.nan
    if bootstrap is None:
        found = no_resampling(sd, n=n_repeated), no_resampling(icc, n=n)
    else:
        units = Units.of(matrix, bootstrap)
        draws = draw(_kernel(sums[units.rows]), units, bootstrap)
        found = draws.estimate(sd, 0, n=n_repeated), draws.estimate(icc, 1)
    return found[0], Estimate.of_nothing(why, n=n) if why else found[1]


def _kernel(sums: "Floats") -> Kernel:
    """SD and ICC(1) under weights."""
    import numpy as np

    def both(weights: "Floats") -> "Floats":
        found = _anova(weights, sums)
        within, between = found[:, 0], found[:, 1]
        whole = within + between
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.column_stack([np.sqrt(within), np.where(whole > 0, between / whole, np.nan)])

    return both


def _anova(weights: "Floats", sums: "Floats") -> "Floats":
    """(n_batch, 3): mean square within, variance between, n0; nan where it is not defined."""
    import numpy as np

    n, mean, squares = sums.T
    centred = mean - mean.mean()
    items, total = weights.sum(axis=1), weights @ n
    grand = weights @ (n * centred) / total
    ss_between = np.maximum(weights @ (n * centred * centred) - total * grand * grand, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        within = np.where(total > items, weights @ squares / (total - items), np.nan)
        ms_between = np.where(items > 1, ss_between / (items - 1.0), np.nan)
        n0 = np.where(items > 1, (total - weights @ (n * n) / total) / (items - 1.0), np.nan)
        found: Floats = np.column_stack([within, (ms_between - within) / n0, n0])
    return found
