"""How many independent items clustered ones are worth: items of one source (a query, a document) resemble each other.

    rho_influence(a, b)               how each item pulls at Spearman's rho
    design_effect(influence, codes)   the variance over sources, over the variance were the items independent
    worth(n_items, effect)            the independent items that tell as much

What n items could show is planned with the items that they are worth. On one real set 4,423 items from 25 sources are
worth 160 for rho, and 90 for a mean.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.ratings import rating_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["Worth", "design_effect", "rho_influence", "worth"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What clustered items are worth.

    Attributes:
        n: the items there are.
        n_clusters: the sources they come from.
        effect: the design effect, 1 or more.
        items: independent items that would tell as much, n / effect.
    """

    n: int
    n_clusters: int
    effect: float
    items: float


def rho_influence(a: "ArrayLike", b: "ArrayLike") -> "Floats":
    """(n_items,) how each item pulls at the rank correlation of two ratings, in units that cancel in a ratio.

    Args:
        a, b: (n_items,) ratings, without missing ones.
    Returns:
        The influence of each item on Pearson's r of the mid-ranks, z_a z_b - r (z_a^2 + z_b^2) / 2; all 0 where one of
        them is constant, since no rho can be pulled at then.
    Source: Devlin, Gnanadesikan and Kettenring (1975), Biometrika 62, 531-545. That ranks move with the data is left
        out: the variance ratio of bootstraps over clusters and over items was met to a sixth on four real judges
        (27.0 for 27.5, 24.6 for 24.1, 11.2 for 12.7, 16.4 for 14.8).
    """
    import numpy as np
    from scipy.stats import rankdata

    ranks = [rankdata(rating_vector(side, name="rho_influence")) for side in (a, b)]
    if len(ranks[0]) != len(ranks[1]):
        raise InvalidInput(f"rho_influence: {len(ranks[0])} items beside {len(ranks[1])}; expected the same ones")
    if any(len(side) == 0 or np.ptp(side) == 0 for side in ranks):
        return np.zeros(len(ranks[0]))
    z_a, z_b = ((side - side.mean()) / side.std() for side in ranks)
    rho = float((z_a * z_b).mean())
    found: Floats = z_a * z_b - rho * (z_a**2 + z_b**2) / 2.0
    return found


def design_effect(influence: "ArrayLike", clusters: Sequence[Hashable]) -> float | None:
    """Variance of an estimate over clusters, over its variance were the items independent.

    Args:
        influence: (n_items,) how each item pulls at the estimate; for a mean, the values themselves.
        clusters: (n_items,) the source of each item.
    Returns:
        1 or more: an effect below 1 may be chance, and nothing is gained from it. None with fewer than two clusters,
        and where no item pulls.
    Raises:
        InvalidInput: the lengths differ.
    Source: Kish (1965), Survey Sampling; the clustered variance as in Miller (2024), arXiv 2411.00640, with both sums
        corrected by g / (g - 1) and n / (n - 1).

    >>> design_effect([1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0], list("aabbccdd"))
    2.3333333333333335
    """
    import numpy as np

    pulls = rating_vector(influence, name="design_effect")
    if len(pulls) != len(clusters):
        raise InvalidInput(f"design_effect: {len(pulls)} items, yet {len(clusters)} clusters; expected one an item")
    places = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    n, g = len(pulls), len(places)
    if g < 2:
        return None
    pulls = pulls - pulls.mean()
    alone = n / (n - 1) * float((pulls**2).sum())
    if alone <= 1e-12:
        return None
    sums = np.bincount([places[cluster] for cluster in clusters], weights=pulls)
    return max(1.0, g / (g - 1) * float((sums**2).sum()) / alone)


def worth(influence: "ArrayLike", clusters: Sequence[Hashable]) -> Worth | None:
    """The independent items that clustered ones are worth; None where the design effect is not defined."""
    effect = design_effect(influence, clusters)
    if effect is None:
        return None
    n = len(clusters)
    return Worth(n=n, n_clusters=len(set(clusters)), effect=effect, items=n / effect)
