"""The rating regime of a probed model, and how sure it is.

The label is a threshold on noisy figures (`regime_figures`). Beside it stand the share of bootstrap resamples that get
each label, the distance of each figure to its thresholds, and both readings of ceiling and floor. Only the sampling
noise of runs is in this: the items are given, and other items can give another regime.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.regime_figures import (
    FIGURES,
    READINGS,
    REGIMES,
    Figures,
    Reading,
    Thresholds,
    conditions,
    figures_of,
    holds,
    labels_of,
    table_of,
    thresholds,
    weighted_figures,
)

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "ENOUGH_RUNS",
    "MOST_RUNS",
    "SURE",
    "Distance",
    "Regime",
    "regime_of",
    "until_sure",
]

SURE = 0.95
"""Share of resamples that one regime has to hold."""

ENOUGH_RUNS = 10
"""Parsed runs without which no regime is sure."""

MOST_RUNS = 30
"""Calls of the published protocol."""

_AT_ONCE = 2_000_000  # weights of resamples held at a time
_DIGITS = 12
_ALIKE = 1e-12


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
    draws = _resampled(table_of(ratings, limits), limits, seed, n_resamples)
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


def _resampled(table: "np.ndarray", limits: Thresholds, seed: int, n_resamples: int) -> dict[str, "np.ndarray"]:
    """The figures of resamples of whole runs."""
    import numpy as np

    rng = np.random.default_rng(seed)
    n_runs = len(table)
    parts = []
    step = max(1, _AT_ONCE // n_runs)
    for start in range(0, n_resamples, step):
        n = min(step, n_resamples - start)
        parts.append(weighted_figures(table, rng.multinomial(n_runs, np.full(n_runs, 1.0 / n_runs), size=n), limits))
    draws = {name: np.concatenate([part[name] for part in parts]) for name in FIGURES}
    draws["mean_item_sd"] = np.round(draws["mean_item_sd"] * np.sqrt(n_runs / (n_runs - 1)), _DIGITS)
    return draws


def _shares(draws: Mapping[str, "np.ndarray"], limits: Thresholds) -> dict[str, float]:
    """The share of resamples that get each regime."""
    import numpy as np

    needs = conditions(limits)
    holding = [
        np.all([holds(draws[name], sign, limit) for name, sign, limit in needs[regime]], axis=0)
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
        if np.ptp(draws[name]) <= _ALIKE:
            reason = "degenerate: all resamples agree, which is no sign of precision"
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
        return {name: Estimate.of_nothing(reason, n=0, unit="runs") for name in FIGURES}
    return {
        name: Estimate.of_nothing(reason, n=n_runs, unit="runs")
        if value is None
        else Estimate(value=value, n=n_runs, unit="runs", no_interval=reason)
        for name, value in figures.document().items()
    }


def _distances(figures: Figures, draws: Mapping[str, "np.ndarray"], limits: Thresholds) -> tuple[Distance, ...]:
    """Each figure's distance to each of its thresholds."""
    found = []
    for regime, needs in conditions(limits).items():
        for name, sign, limit in needs:
            value = getattr(figures, name)
            error = float(draws[name].std(ddof=1)) if name != "range" and len(draws[name]) > 1 else 0.0
            found.append(
                Distance(
                    regime=regime,
                    figure=name,
                    needs=f"{sign} {limit:.4g}",
                    holds=bool(holds(value, sign, limit)),
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
