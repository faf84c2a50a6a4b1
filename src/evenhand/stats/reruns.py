"""Noise of one judge on the same items asked again: its SD, how reliable one run is, and what more runs would buy."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.one_way import one_way
from evenhand.stats.ratings import rating_matrix
from evenhand.stats.resampling import Bootstrap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["RerunNoise", "best_n_reruns", "rerun_noise", "variance_of_mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunNoise:
    """How far a judge agrees with itself. Never read it alone: a judge that always says 7 has an SD of 0.

    Attributes:
        sd: pooled SD of an item's reruns, in points of the judge's scale.
        icc: ICC(1), the share of one run's variance that is between items; below 0 where items differ less than
            chance alone would make them.
        within: mean square within items; None without reruns.
        between: variance of the items' true means, (MSB - MSW) / n0; may be negative; None without reruns.
        n_items: items with a score.
        n_scores: scores in all.
        n_repeated: items with two scores or more.
        n_identical: of these, items with equal scores throughout.
        mean_item_sd: mean of the items' own SDs (n - 1); None without reruns.
        largest_item_sd: the largest of them, which pooling hides.
    """

    sd: Estimate
    icc: Estimate
    within: float | None
    between: float | None
    n_items: int
    n_scores: int
    n_repeated: int
    n_identical: int
    mean_item_sd: float | None
    largest_item_sd: float | None


def rerun_noise(scores: "ArrayLike", *, bootstrap: Bootstrap | None = None) -> RerunNoise:
    """Rerun SD and ICC(1) of a judge, for unequal numbers of reruns.

    Args:
        scores: (n_items, n_reruns); None or nan where a rerun reached no verdict. The order of reruns does not matter.
        bootstrap: over items (or clusters); None gives no intervals.
    Returns:
        SD undefined without an item that was scored twice; ICC(1) too below two items, or where every score is equal.
    Raises:
        InvalidInput: not two-dimensional, not numbers, or infinite.
    Source: `one_way`.

    >>> noise = rerun_noise([[7, 7, 8], [6, 6, 5], [8, 8, 9], [7, 7, 7]])
    >>> round(noise.sd.value, 4), round(noise.icc.value, 4), noise.n_identical
    (0.5, 0.8188, 1)
    """
    matrix = rating_matrix(scores, name="rerun_noise")
    found = one_way(matrix, bootstrap=bootstrap)
    sds = _item_sds(matrix)
    nothing = None if len(sds) else Estimate.of_nothing("no item has scores of two reruns", n=found.n_items)
    return RerunNoise(
        sd=nothing or found.within_sd,
        icc=nothing or found.icc,
        within=found.mean_square_within,
        between=found.item_variance,
        n_items=found.n_items,
        n_scores=found.n_ratings,
        n_repeated=len(sds),
        n_identical=int((sds == 0).sum()),
        mean_item_sd=float(sds.mean()) if len(sds) else None,
        largest_item_sd=float(sds.max()) if len(sds) else None,
    )


def variance_of_mean(between: float, within: float, *, n_items: float, n_reruns: float) -> float:
    """Variance of a judge's mean score over items: between / n + within / (n k).

    >>> round(variance_of_mean(0.9, 0.2, n_items=10, n_reruns=2), 6)
    0.1
    """
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


def _item_sds(matrix: "Floats") -> "Floats":
    """Each repeated item's own SD (n - 1); exactly 0 where its scores are equal."""
    import numpy as np

    held = ~np.isnan(matrix)
    rows, held = matrix[held.sum(axis=1) > 1], held[held.sum(axis=1) > 1]
    n = held.sum(axis=1)
    mean = np.where(held, rows, 0.0).sum(axis=1) / np.maximum(n, 1)
    squares = (np.where(held, rows - mean[:, None], 0.0) ** 2).sum(axis=1)
    low, high = (
        np.where(held, rows, np.inf).min(axis=1, initial=np.inf),
        np.where(held, rows, -np.inf).max(axis=1, initial=-np.inf),
    )
    found: Floats = np.where(low == high, 0.0, np.sqrt(squares / np.maximum(n - 1, 1)))
    return found
