"""What the six rating regimes are told apart by: figures of repeated ratings, and the published thresholds on them.

In the published order, for a scale from 1 to 10; the first that holds is the regime, and all that hold are shown:

    JITTERY            mean within-item SD >= 2.5
    INFLATION_LIKELY   ceiling rate >= .25 and floor rate < .05
    DEFLATION_LIKELY   floor rate >= .25 and ceiling rate < .05
    PICKS_A_NUMBER     range <= 2
    CALIBRATED         range >= 5, floor rate >= .05 and ceiling rate < .35
    AMBIGUOUS          none of these

The published text counts the extreme point of the scale as ceiling and floor, the published script the top and bottom
two of ten points. The script is the default, and what the other reading gives is always there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "FIGURES",
    "READINGS",
    "REGIMES",
    "Figures",
    "Reading",
    "Thresholds",
    "conditions",
    "figures_of",
    "holds",
    "labels_of",
    "table_of",
    "thresholds",
    "weighted_figures",
]

REGIMES = ("JITTERY", "INFLATION_LIKELY", "DEFLATION_LIKELY", "PICKS_A_NUMBER", "CALIBRATED", "AMBIGUOUS")
"""In the order in which they are tried."""

Reading = Literal["script", "text"]
READINGS: tuple[Reading, ...] = ("script", "text")

FIGURES = ("mean_item_sd", "ceiling_rate", "floor_rate", "range", "range_of_means")
"""The figures by name."""

_DIGITS = 12  # an SD that is exactly a threshold must not miss it by the last bit


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The thresholds on one scale.

    Attributes:
        low, high: ends of the scale, whole numbers.
        reading: which points count as ceiling and floor.
        points: how many points at each end these are.
        jitter_sd, narrow_range, wide_range: published for ten points, in proportion to the width on any other scale.
        often, seldom, ceiling_below: rates; .25, .05 and .35 on every scale.
    """

    low: int
    high: int
    reading: Reading
    points: int
    jitter_sd: float
    narrow_range: float
    wide_range: float
    often: float = 0.25
    seldom: float = 0.05
    ceiling_below: float = 0.35

    @property
    def published(self) -> bool:
        """Whether this is the scale that the thresholds were published for."""
        return self.high - self.low == 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the regimes are told apart by.

    Attributes:
        mean_item_sd: mean over items of the SD over runs (n - 1), in points; None with fewer than two runs.
        ceiling_rate, floor_rate: shares of all ratings, in [0, 1].
        range: largest minus smallest rating given to any item in any run.
        range_of_means: the same of the items' means.
    """

    mean_item_sd: float | None
    ceiling_rate: float
    floor_rate: float
    range: float
    range_of_means: float

    def document(self) -> Mapping[str, float | None]:
        """The figures by name."""
        return {name: getattr(self, name) for name in FIGURES}


def thresholds(low: int, high: int, reading: Reading = "script") -> Thresholds:
    """The thresholds on a scale of whole numbers.

    On ten points they are the published ones. On any other scale SD and range keep their share of the width, and
    ceiling and floor their fifth of the points (the script's reading), at least one.

    Raises:
        InvalidInput: no scale, or no such reading.

    >>> thresholds(1, 10).jitter_sd, thresholds(1, 10).points, thresholds(1, 10, "text").points
    (2.5, 2, 1)
    >>> thresholds(1, 5).points, thresholds(0, 100).points, round(thresholds(0, 100).wide_range, 2)
    (1, 20, 55.56)
    """
    if low >= high:
        raise InvalidInput(f"thresholds: the scale runs from {low} to {high}; expected a lowest and a highest number")
    if reading not in READINGS:
        raise InvalidInput(f"thresholds: the reading {reading!r} is unknown; expected {' or '.join(READINGS)}")
    width = (high - low) / 9.0
    points = 1 if reading == "text" else max(1, int((high - low + 1) / 5 + 0.5))
    return Thresholds(
        low=low,
        high=high,
        reading=reading,
        points=points,
        jitter_sd=2.5 * width,
        narrow_range=2.0 * width,
        wide_range=5.0 * width,
    )


def figures_of(ratings: Sequence[Sequence[int]], limits: Thresholds) -> Figures:
    """The figures of some runs.

    Args:
        ratings: (n_runs, n_items) whole numbers on the scale; at least one of each.
        limits: of the scale and reading.
    Raises:
        InvalidInput: no rating, runs of different lengths, or a rating outside the scale.

    >>> figures_of([[1, 10], [3, 10]], thresholds(1, 10)).document()["ceiling_rate"]
    0.5
    """
    import numpy as np

    table = table_of(ratings, limits)
    found = weighted_figures(table, np.ones((1, len(table))), limits)
    return Figures(
        mean_item_sd=float(found["mean_item_sd"][0]) if len(table) > 1 else None,
        ceiling_rate=float(found["ceiling_rate"][0]),
        floor_rate=float(found["floor_rate"][0]),
        range=float(found["range"][0]),
        range_of_means=float(found["range_of_means"][0]),
    )


def labels_of(figures: Figures, limits: Thresholds) -> tuple[str, ...]:
    """Every regime whose conditions hold, in order; `AMBIGUOUS` where none does, nothing where no SD is defined.

    >>> constant = figures_of([[10] * 20] * 30, thresholds(1, 10))
    >>> labels_of(constant, thresholds(1, 10))
    ('INFLATION_LIKELY', 'PICKS_A_NUMBER')
    """
    if figures.mean_item_sd is None:
        return ()
    needs = conditions(limits)
    found = tuple(
        regime
        for regime in REGIMES[:-1]
        if all(holds(getattr(figures, name), sign, limit) for name, sign, limit in needs[regime])
    )
    return found or ("AMBIGUOUS",)


def conditions(limits: Thresholds) -> dict[str, tuple[tuple[str, str, float], ...]]:
    """Regime to (figure, sign, threshold), all of which have to hold."""
    often, seldom = limits.often, limits.seldom
    return {
        "JITTERY": (("mean_item_sd", ">=", limits.jitter_sd),),
        "INFLATION_LIKELY": (("ceiling_rate", ">=", often), ("floor_rate", "<", seldom)),
        "DEFLATION_LIKELY": (("floor_rate", ">=", often), ("ceiling_rate", "<", seldom)),
        "PICKS_A_NUMBER": (("range", "<=", limits.narrow_range),),
        "CALIBRATED": (
            ("range", ">=", limits.wide_range),
            ("floor_rate", ">=", seldom),
            ("ceiling_rate", "<", limits.ceiling_below),
        ),
    }


def holds(value: Any, sign: str, limit: float) -> Any:
    """Whether a figure, or each of many, meets a condition: `>=`, `<=` or `<` a limit."""
    return {">=": value >= limit, "<=": value <= limit, "<": value < limit}[sign]


def table_of(ratings: Sequence[Sequence[int]], limits: Thresholds) -> "np.ndarray":
    """(n_runs, n_items) as floats, checked.

    Raises:
        InvalidInput: no rating, runs of different lengths, or a rating outside the scale.
    """
    import numpy as np

    lengths = {len(run) for run in ratings}
    if len(lengths) != 1 or 0 in lengths:
        raise InvalidInput(
            f"ratings: runs of {sorted(lengths) or 'no'} ratings; expected runs of one length, 1 or more"
        )
    table = np.asarray(ratings, dtype=float)
    if not np.all((table >= limits.low) & (table <= limits.high)):  # nan is refused with it
        raise InvalidInput(f"ratings: one is outside the scale from {limits.low} to {limits.high}")
    return table


def weighted_figures(table: "np.ndarray", weights: "np.ndarray", limits: Thresholds) -> dict[str, "np.ndarray"]:
    """The figures of many weightings of the same runs at once.

    Args:
        table: (n_runs, n_items).
        weights: (n_draws, n_runs) how often each run counts; each row sums to n_runs.
    Returns:
        Figure to (n_draws,) values; the SD is 0 where there is one run.
    """
    import numpy as np

    n_runs, n_items = table.shape
    centred = table - table.mean(axis=0)
    means = weights @ centred / n_runs
    squares = weights @ centred**2 / n_runs
    variances = np.clip(squares - means**2, 0.0, None) * (n_runs / max(n_runs - 1, 1))
    item_means = means + table.mean(axis=0)
    given = weights > 0
    largest = np.where(given, table.max(axis=1), -np.inf).max(axis=1)
    smallest = np.where(given, table.min(axis=1), np.inf).min(axis=1)
    ceiling = (table > limits.high - limits.points).sum(axis=1)
    floor = (table < limits.low + limits.points).sum(axis=1)
    return {
        "mean_item_sd": np.round(np.sqrt(variances).mean(axis=1), _DIGITS),
        "ceiling_rate": weights @ ceiling / (n_runs * n_items),
        "floor_rate": weights @ floor / (n_runs * n_items),
        "range": largest - smallest,
        "range_of_means": np.round(item_means.max(axis=1) - item_means.min(axis=1), _DIGITS),
    }
