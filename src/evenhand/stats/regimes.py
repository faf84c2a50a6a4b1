"""The rating regime of a probed model: figures of repeated ratings against published thresholds, and how sure that is.

The label is a threshold on noisy figures. Beside it stand the share of bootstrap resamples that get each label, the
distance of each figure to its thresholds, and both readings of ceiling and floor. Only the sampling noise of runs is in
this: the items are given, and other items can give another regime.

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
from evenhand.stats.estimates import Estimate

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "ENOUGH_RUNS",
    "MOST_RUNS",
    "READINGS",
    "REGIMES",
    "SURE",
    "Distance",
    "Figures",
    "Reading",
    "Regime",
    "Thresholds",
    "figures_of",
    "labels_of",
    "regime_of",
    "thresholds",
    "until_sure",
]

REGIMES = ("JITTERY", "INFLATION_LIKELY", "DEFLATION_LIKELY", "PICKS_A_NUMBER", "CALIBRATED", "AMBIGUOUS")
"""In the order in which they are tried."""

Reading = Literal["script", "text"]
READINGS: tuple[Reading, ...] = ("script", "text")

SURE = 0.95
"""Share of resamples that one regime has to hold."""

ENOUGH_RUNS = 10
"""Parsed runs without which no regime is sure."""

MOST_RUNS = 30
"""Calls of the published protocol."""

_NAMES = ("mean_item_sd", "ceiling_rate", "floor_rate", "range", "range_of_means")
_AT_ONCE = 2_000_000  # weights of resamples held at a time
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
        return {name: getattr(self, name) for name in _NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How far a figure is from a threshold that decides about a regime.

    Attributes:
        needs: the condition in words, such as `>= 2.5`.
        holds: whether the figure meets it.
        distance: figure minus threshold.
        standard_errors: the distance in bootstrap standard errors; None where these are 0 or do not hold (range).
    """

    regime: str
    figure: str
    needs: str
    holds: bool
    distance: float
    standard_errors: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """A model's regime with all that has to stand beside it.

    Attributes:
        regime: the label; None where it is undefined.
        undefined: why there is none.
        labels: every regime whose conditions hold, in order.
        figures: in the chosen reading; None without a run.
        by_reading: reading to its figures and labels.
        estimates: figure to its estimate with interval; n counts runs.
        shares: regime to its share of the resamples; all six, empty where undefined.
        sure: whether `regime` holds at least `SURE` of the resamples and rests on at least `ENOUGH_RUNS` runs.
        why_not_sure: the reason, empty where it is sure.
    """

    regime: str | None
    undefined: str | None
    labels: tuple[str, ...]
    thresholds: Thresholds
    figures: Figures | None
    by_reading: Mapping[Reading, tuple[Figures, tuple[str, ...]]]
    estimates: Mapping[str, Estimate]
    shares: Mapping[str, float]
    distances: tuple[Distance, ...]
    n_runs: int
    n_items: int
    n_resamples: int
    seed: int
    sure: bool
    why_not_sure: str


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

    table = _table(ratings, limits)
    found = _figures(table, np.ones((1, len(table))), limits)
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
    conditions = _conditions(limits)
    found = tuple(
        regime
        for regime in REGIMES[:-1]
        if all(_holds(getattr(figures, name), sign, limit) for name, sign, limit in conditions[regime])
    )
    return found or ("AMBIGUOUS",)


def regime_of(
    ratings: Sequence[Sequence[int]],
    low: int,
    high: int,
    *,
    reading: Reading = "script",
    seed: int = 0,
    n_resamples: int = 2000,
) -> Regime:
    """The regime of some runs, with its sureness.

    Resamples draw whole runs with replacement, since the ratings of one call belong together. A resample's variances
    are multiplied by n / (n - 1): it draws some runs twice, which makes its SD too small by 5 % at ten runs, and an SD
    just above 2.5 would be called below it by most resamples. No resample can hold a wider range than the runs do, so
    the range has no interval.

    Args:
        ratings: (n_runs, n_items) of the parsed runs; failed ones are not among them.
        low, high: ends of the scale.
        reading: which points count as ceiling and floor.
        seed: of the resamples.
        n_resamples: how many; at least 1.
    Returns:
        Undefined, with the reason, where fewer than two runs were parsed.
    Raises:
        InvalidInput: as `thresholds` and `figures_of`; or no resamples.

    >>> found = regime_of([[2, 5, 8, 9], [1, 5, 7, 9]] * 6, 1, 10)
    >>> found.regime, found.shares["CALIBRATED"], found.sure
    ('CALIBRATED', 1.0, True)
    """
    if n_resamples < 1:
        raise InvalidInput(f"regime_of: {n_resamples} resamples; expected at least 1")
    limits = thresholds(low, high, reading)
    n_runs = len(ratings)
    by_reading = _by_reading(ratings, low, high) if n_runs else {}
    figures, labels = by_reading[reading] if n_runs else (None, ())
    common: dict[str, Any] = {
        "labels": labels,
        "thresholds": limits,
        "figures": figures,
        "by_reading": by_reading,
        "n_runs": n_runs,
        "n_items": len(ratings[0]) if n_runs else 0,
        "seed": seed,
    }
    if n_runs < 2 or figures is None:
        reason = "no run was parsed" if not n_runs else "one run was parsed, and a spread over runs needs two"
        return Regime(
            regime=None,
            undefined=reason,
            estimates=_undefined(figures, n_runs, reason),
            shares={},
            distances=(),
            n_resamples=0,
            sure=False,
            why_not_sure=reason,
            **common,
        )
    draws = _resampled(_table(ratings, limits), limits, seed, n_resamples)
    shares = _shares(draws, limits)
    why = _why_not_sure(shares[labels[0]], n_runs)
    return Regime(
        regime=labels[0],
        undefined=None,
        estimates=_estimates(figures, draws, n_runs, seed, n_resamples),
        shares=shares,
        distances=_distances(figures, draws, limits),
        n_resamples=n_resamples,
        sure=not why,
        why_not_sure=why,
        **common,
    )


def until_sure(found: Regime, n_calls: int, *, most: int = MOST_RUNS) -> Literal["sure", "calls"] | None:
    """Why to stop asking: one regime is sure, or all calls are done; None where another call is wanted.

    Args:
        found: of the runs parsed so far.
        n_calls: calls made, failed ones among them.
        most: calls at most.
    """
    if found.sure:
        return "sure"
    return "calls" if n_calls >= most else None


# --- inside --------------------------------------------------------------------------------------------------------


def _by_reading(
    ratings: Sequence[Sequence[int]], low: int, high: int
) -> dict[Reading, tuple[Figures, tuple[str, ...]]]:
    """Figures and labels in each reading of ceiling and floor."""
    found: dict[Reading, tuple[Figures, tuple[str, ...]]] = {}
    for name in READINGS:
        limits = thresholds(low, high, name)
        figures = figures_of(ratings, limits)
        found[name] = figures, labels_of(figures, limits)
    return found


def _conditions(limits: Thresholds) -> dict[str, tuple[tuple[str, str, float], ...]]:
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


def _holds(value: Any, sign: str, limit: float) -> Any:
    """Whether a figure, or each of many, meets a condition."""
    return {">=": value >= limit, "<=": value <= limit, "<": value < limit}[sign]


def _table(ratings: Sequence[Sequence[int]], limits: Thresholds) -> "np.ndarray":
    """(n_runs, n_items), checked."""
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


def _figures(table: "np.ndarray", weights: "np.ndarray", limits: Thresholds) -> dict[str, "np.ndarray"]:
    """The figures of each row of weights over the runs; SD is 0 where there is one run."""
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


def _resampled(table: "np.ndarray", limits: Thresholds, seed: int, n_resamples: int) -> dict[str, "np.ndarray"]:
    """The figures of resamples of whole runs."""
    import numpy as np

    rng = np.random.default_rng(seed)
    n_runs = len(table)
    parts = []
    step = max(1, _AT_ONCE // n_runs)
    for start in range(0, n_resamples, step):
        n = min(step, n_resamples - start)
        parts.append(_figures(table, rng.multinomial(n_runs, np.full(n_runs, 1.0 / n_runs), size=n), limits))
    draws = {name: np.concatenate([part[name] for part in parts]) for name in _NAMES}
    draws["mean_item_sd"] = np.round(draws["mean_item_sd"] * np.sqrt(n_runs / (n_runs - 1)), _DIGITS)
    return draws


def _shares(draws: Mapping[str, "np.ndarray"], limits: Thresholds) -> dict[str, float]:
    """The share of resamples that get each regime."""
    import numpy as np

    conditions = _conditions(limits)
    holding = [
        np.all([_holds(draws[name], sign, limit) for name, sign, limit in conditions[regime]], axis=0)
        for regime in REGIMES[:-1]
    ]
    chosen = np.select(holding, range(len(holding)), default=len(holding))
    counts = np.bincount(chosen, minlength=len(REGIMES))
    return {regime: float(count / len(chosen)) for regime, count in zip(REGIMES, counts, strict=True)}


def _estimates(
    figures: Figures, draws: Mapping[str, "np.ndarray"], n_runs: int, seed: int, n_resamples: int
) -> dict[str, Estimate]:
    """Each figure with its percentile interval."""
    import numpy as np

    found = {}
    for name, value in figures.document().items():
        if name == "range":
            reason = "the bootstrap does not hold for a largest and smallest value"
            found[name] = Estimate(value=value, n=n_runs, unit="runs", no_interval=reason)
            continue
        low, high = np.quantile(draws[name], [0.025, 0.975])
        found[name] = Estimate(
            value=value,
            low=float(low),
            high=float(high),
            n=n_runs,
            unit="runs",
            method="percentile bootstrap over runs",
            n_resamples=n_resamples,
            seed=seed,
        )
    return found


def _undefined(figures: Figures | None, n_runs: int, reason: str) -> dict[str, Estimate]:
    """What can be said of none or one run."""
    if figures is None:
        return {name: Estimate.of_nothing(reason, n=0, unit="runs") for name in _NAMES}
    return {
        name: Estimate.of_nothing(reason, n=n_runs, unit="runs")
        if value is None
        else Estimate(value=value, n=n_runs, unit="runs", no_interval=reason)
        for name, value in figures.document().items()
    }


def _distances(figures: Figures, draws: Mapping[str, "np.ndarray"], limits: Thresholds) -> tuple[Distance, ...]:
    """Each figure's distance to each of its thresholds."""
    found = []
    for regime, conditions in _conditions(limits).items():
        for name, sign, limit in conditions:
            value = getattr(figures, name)
            error = float(draws[name].std(ddof=1)) if name != "range" and len(draws[name]) > 1 else 0.0
            found.append(
                Distance(
                    regime=regime,
                    figure=name,
                    needs=f"{sign} {limit:.4g}",
                    holds=bool(_holds(value, sign, limit)),
                    distance=round(value - limit, _DIGITS),
                    standard_errors=round((value - limit) / error, 3) if error > 1e-9 else None,
                )
            )
    return tuple(found)


def _why_not_sure(share: float, n_runs: int) -> str:
    if n_runs < ENOUGH_RUNS:
        return f"{n_runs} parsed runs, and at least {ENOUGH_RUNS} are needed"
    if share < SURE:
        return f"it holds {share:.0%} of the resamples, and {SURE:.0%} are needed"
    return ""
