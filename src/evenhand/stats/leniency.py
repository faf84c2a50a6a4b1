"""Level error that no correlation sees: how far a judge's scores lie above or below the humans' on one scale."""

from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.ratings import complete_pairs, rating_vector
from evenhand.stats.resampling import Bootstrap, Kernel, Units, draw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["leniency", "on_scale", "sd_ratio"]


def leniency(
    judge: "ArrayLike", human: "ArrayLike", *, bootstrap: Bootstrap | None = None, confidence: float = 0.95
) -> Estimate:
    """Mean of judge less human over the items that both rated, in points of the common scale; above 0 is lenient.

    Args:
        judge: (n_items,) scores, on the humans' scale (`on_scale`); None or nan where missing.
        human: (n_items,) grades, or means of several raters'.
        bootstrap: used only where it names clusters, whose items are not independent; otherwise the interval is
            Student's t over items.
        confidence: of the t interval.
    Returns:
        Undefined without a pair; no interval with one item, or where all differences are equal.
    Source: the t interval by `scipy.stats.ttest_rel`.

    >>> round(leniency([3, 4, 5], [2, 4, 4]).value, 4)
    0.6667
    """
    pairs = complete_pairs(judge, human)
    if pairs.n == 0:
        return Estimate.of_nothing("no items that both rated", n=0)
    differences = pairs.a - pairs.b
    value = float(differences.mean())
    if bootstrap is not None and bootstrap.clusters is not None:
        chosen = bootstrap.of(pairs.kept)
        units = Units.of(differences[:, None], chosen)
        return draw(_mean_kernel(differences[units.rows]), units, chosen).estimate(value)
    return _t_interval(differences, value, confidence)


def sd_ratio(judge: "ArrayLike", human: "ArrayLike") -> float | None:
    """SD of the judge's scores over that of the humans', on the items that both rated; None where that is not defined.

    Below 1 the judge spreads its scores less than the humans spread theirs; both on one scale.

    >>> sd_ratio([1, 2, 3], [2, 4, 6])
    0.5
    """
    pairs = complete_pairs(judge, human)
    if pairs.n < 2 or pairs.b.std() == 0:
        return None
    return float(pairs.a.std() / pairs.b.std())


def on_scale(scores: "ArrayLike", *, came: tuple[float, float], wanted: tuple[float, float]) -> "Floats":
    """Scores moved linearly from one scale to another: lowest to lowest, highest to highest.

    It says what a score means on another scale only as far as both scales were used alike.

    Raises:
        InvalidInput: a scale whose ends are not in order.

    >>> on_scale([1, 5.5, 10], came=(1, 10), wanted=(1, 5)).tolist()
    [1.0, 3.0, 5.0]
    """
    for low, high in (came, wanted):
        if not low < high:
            raise InvalidInput(f"on_scale: {low:g} to {high:g} is no scale; expected the lowest below the highest")
    found = rating_vector(scores, name="on_scale")
    if came == wanted:
        return found
    moved: Floats = wanted[0] + (found - came[0]) * (wanted[1] - wanted[0]) / (came[1] - came[0])
    return moved


def _t_interval(differences: "Floats", value: float, confidence: float) -> Estimate:
    """Student's t over items."""
    n = len(differences)
    if n < 2:
        return Estimate(value=value, n=n, no_interval="1 item")
    if (differences == differences[0]).all():
        return Estimate(value=value, n=n, no_interval="degenerate: the difference is the same on every item")
    from scipy.stats import ttest_1samp

    low, high = ttest_1samp(differences, 0.0).confidence_interval(confidence)
    return Estimate(
        value=value, low=float(low), high=float(high), n=n, method="t interval over items", confidence=confidence
    )


def _mean_kernel(differences: "Floats") -> Kernel:
    """Weighted means."""

    def mean(weights: "Floats") -> "Floats":
        found: Floats = weights @ differences / weights.sum(axis=1)
        return found

    return mean
