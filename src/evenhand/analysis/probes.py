"""What a probe found of one model: its regime by either method, the digit control, and whether the methods agree."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.judges.probe import RatingShares
from evenhand.judges.probe_reading import RunFailure
from evenhand.stats.digit_control import DigitControl
from evenhand.stats.rating_shares import SampleAgreement, mean_of, sd_of
from evenhand.stats.regime_figures import READINGS, thresholds
from evenhand.stats.regimes import Regime
from evenhand.terms import ProbeItems

__all__ = ["Method", "Probed", "Run", "Tokens", "ratings_in"]

Method = Literal["sample", "logprob", "both", "runs"]
"""`runs` were made elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run over all items.

    Args:
        name: number of the call from 1, or name of the file.
        ratings: in the order of the items; None where the run could not be read.
        failure: why it could not.
    """

    name: str
    ratings: tuple[int, ...] | None
    failure: RunFailure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one part of a probe rests on.

    Args:
        calls: replies, also those that were in the store already.
        input_tokens, output_tokens: of these replies; None where an endpoint did not say.
        cost_usd: None where a price is unknown or nothing was answered.
    """

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None

    def document(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A probe's whole result.

    Args:
        model: `provider/model`, or what the caller calls the source of the runs; None for runs of unknown source.
        items: what was rated.
        method: how.
        temperature: None for runs made elsewhere.
        runs: of sampling, in order, failed ones among them.
        shares: of log probabilities: each item's distribution, or why it has none.
        sampled: the regime of the parsed runs; None where nothing was sampled.
        simulated: the regime of runs simulated from the distributions; None where there are none.
        drawn: those runs, over the items that have a distribution.
        control: the digit control; None where it did not run.
        agreement: single-item samples against the distributions; None where none were drawn.
        n_planned: runs at most.
        ended: why asking ended: `sure`, or `calls` (all done).
        tokens: part (`sample`, `logprob`, `control`, `agreement`) to what it rests on.
        omitted: parameters that the endpoint rejected.
        stored: whether the regime was kept for the counter-bias dial.
    """

    model: str | None
    items: ProbeItems
    method: Method
    temperature: float | None
    runs: tuple[Run, ...] = ()
    shares: tuple[RatingShares | RunFailure, ...] = ()
    sampled: Regime | None = None
    simulated: Regime | None = None
    drawn: tuple[tuple[int, ...], ...] = ()
    control: DigitControl | None = None
    agreement: SampleAgreement | None = None
    n_planned: int = 0
    ended: Literal["sure", "calls"] = "calls"
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    omitted: tuple[str, ...] = ()
    stored: bool = False

    @property
    def found(self) -> Regime:
        """The regime that counts: of the published protocol where it ran, else of the simulated runs."""
        found = self.sampled or self.simulated
        assert found is not None
        return found

    @property
    def n_failed(self) -> int:
        """Runs that could not be read; items without a distribution where nothing was sampled."""
        if self.sampled is not None:
            return sum(run.ratings is None for run in self.runs)
        return sum(isinstance(one, RunFailure) for one in self.shares)

    @property
    def causes(self) -> Mapping[str, int]:
        """Cause to count, over failed runs or items."""
        failures = [run.failure for run in self.runs] if self.sampled is not None else list(self.shares)
        return dict(sorted(Counter(one.cause for one in failures if isinstance(one, RunFailure)).items()))

    @property
    def counts(self) -> Mapping[int, int]:
        """Level to how often it was given, over all items and runs that count; every level of the scale is there."""
        counts = Counter(rating for run in self._rated for rating in run)
        return {level: counts[level] for level in range(self.items.scale_min, self.items.scale_max + 1)}

    def document(self) -> dict[str, Any]:
        """Everything, as `--json` prints it, the store keeps it, and a page shows it."""
        found = self.found
        return {
            "schema": "evenhand.probe/1",
            "model": self.model,
            "domain": self.items.name,
            "scale": [self.items.scale_min, self.items.scale_max],
            "n_items": len(self.items.items),
            "method": self.method,
            "temperature": self.temperature,
            **_regime_document(found),
            "runs": found.n_runs,
            "simulated_runs": self.sampled is None,
            "failed": self.n_failed,
            "failed_are": "runs" if self.sampled is not None else "items",
            "causes": self.causes,
            "failures": self._failures(),
            "planned": self.n_planned,
            "ended": self.ended,
            "histogram": {str(level): count for level, count in self.counts.items()},
            "items": self._items(),
            "logprob": self._logprob(),
            "agreement": self._agreement(),
            "control": None if self.control is None else self.control.document(),
            "tokens": {name: used.document() for name, used in self.tokens.items()},
            "omitted": list(self.omitted),
            "stored": self.stored,
        }

    # --- inside ----------------------------------------------------------------------------------------------------

    @property
    def _rated(self) -> Sequence[Sequence[int]]:
        """The runs that count: parsed ones, or simulated ones where nothing was sampled."""
        return ratings_in(self.runs) if self.sampled is not None else self.drawn

    def _failures(self) -> list[dict[str, str]]:
        if self.sampled is not None:
            pairs = [(run.name, run.failure) for run in self.runs]
        else:
            pairs = [
                (str(place), one if isinstance(one, RunFailure) else None)
                for place, one in enumerate(self.shares, start=1)
            ]
        return [{"of": name, "cause": one.cause, "message": one.message} for name, one in pairs if one is not None]

    def _items(self) -> list[dict[str, Any]]:
        """One entry an item: its ratings by either method."""
        rated, columns = self._rated, self._columns()
        entries = []
        for place, text in enumerate(self.items.items):
            column = columns.get(place)
            ratings = [] if column is None else [run[column] for run in rated]
            entry: dict[str, Any] = {"text": text, **_column(ratings)}
            if self.shares:
                entry["logprob"] = _share_document(self.shares[place])
            entries.append(entry)
        return entries

    def _columns(self) -> dict[int, int]:
        """Place of an item to its place in the runs that count; simulated ones lack items without a distribution."""
        places: Sequence[int] = range(len(self.items.items))
        if self.sampled is None:
            places = [place for place, one in enumerate(self.shares) if isinstance(one, RatingShares)]
        return {place: column for column, place in enumerate(places)}

    def _logprob(self) -> dict[str, Any] | None:
        """The logprob method's own result: the regime of its simulated runs, and the figures without any chance."""
        if self.simulated is None:
            return None
        read = [one for one in self.shares if isinstance(one, RatingShares)]
        means = [mean_of(one.shares) for one in read]
        exact: dict[str, Any] = {}
        if read:
            limits = self.simulated.thresholds
            top, bottom = limits.high - limits.points, limits.low + limits.points
            n = len(read)
            exact = {
                "mean_item_sd": math.fsum(sd_of(one.shares) for one in read) / n,
                "ceiling_rate": math.fsum(s for one in read for level, s in one.shares.items() if level > top) / n,
                "floor_rate": math.fsum(s for one in read for level, s in one.shares.items() if level < bottom) / n,
                "range_of_means": max(means) - min(means),
            }
        return {
            **_regime_document(self.simulated),
            "simulated_runs": len(self.drawn),
            "items_read": len(read),
            "items_failed": len(self.shares) - len(read),
            "parted": sum(one.parted for one in read),
            "begun": sum(one.begun for one in read),
            "least_mass": min((one.mass for one in read), default=None),
            "exact": exact,
        }

    def _agreement(self) -> dict[str, Any] | None:
        """Samples against distributions, and the two methods' regimes and item means against each other."""
        if self.agreement is None and (self.sampled is None or self.simulated is None):
            return None
        found: dict[str, Any] = {"samples": None if self.agreement is None else self.agreement.document()}
        if self.sampled is not None and self.simulated is not None:
            found["methods"] = {
                "same_regime": None
                if self.sampled.regime is None or self.simulated.regime is None
                else self.sampled.regime == self.simulated.regime,
                "sample": self.sampled.regime,
                "logprob": self.simulated.regime,
                **self._mean_differences(),
            }
        return found

    def _mean_differences(self) -> dict[str, Any]:
        """Item means of sampled runs minus means of the distributions, over items that have both."""
        rated = self._rated
        differences = [
            math.fsum(run[place] for run in rated) / len(rated) - mean_of(one.shares)
            for place, one in enumerate(self.shares)
            if isinstance(one, RatingShares) and rated
        ]
        n = len(differences)
        return {
            "n_items": n,
            "mean_difference": math.fsum(differences) / n if n else None,
            "mean_absolute_difference": math.fsum(map(abs, differences)) / n if n else None,
        }


def ratings_in(runs: Sequence[Run]) -> list[tuple[int, ...]]:
    """The ratings of the runs that were parsed."""
    return [run.ratings for run in runs if run.ratings is not None]


def _regime_document(found: Regime) -> dict[str, Any]:
    """A regime with its figures, thresholds and sureness."""
    limits = found.thresholds
    return {
        "regime": found.regime,
        "undefined": found.undefined,
        "labels": list(found.labels),
        "confidence": dict(found.shares),
        "sure": found.sure,
        "why_not_sure": found.why_not_sure or None,
        "reading": limits.reading,
        "figures": None if found.figures is None else dict(found.figures.document()),
        "estimates": {name: dict(estimate.document()) for name, estimate in found.estimates.items()},
        "by_reading": {
            name: {
                "points": thresholds(limits.low, limits.high, name).points,
                "labels": list(labels),
                "ceiling_rate": figures.ceiling_rate,
                "floor_rate": figures.floor_rate,
            }
            for name in READINGS
            if name in found.by_reading
            for figures, labels in [found.by_reading[name]]
        },
        "distances": [
            {
                "regime": one.regime,
                "figure": one.figure,
                "needs": one.needs,
                "holds": one.holds,
                "distance": one.distance,
                "standard_errors": one.standard_errors,
            }
            for one in found.distances
        ],
        "thresholds_published": limits.published,
        "n_resamples": found.n_resamples,
        "seed": found.seed,
    }


def _column(ratings: Sequence[int]) -> dict[str, Any]:
    """One item's ratings over the runs; SD with n - 1, None with fewer than two."""
    n = len(ratings)
    mean = math.fsum(ratings) / n if n else None
    sd = None
    if mean is not None and n > 1:
        sd = math.sqrt(math.fsum((rating - mean) ** 2 for rating in ratings) / (n - 1))
    counts = {str(level): count for level, count in sorted(Counter(ratings).items())}
    return {"n": n, "mean": mean, "sd": sd, "counts": counts}


def _share_document(one: RatingShares | RunFailure) -> dict[str, Any]:
    """One item's distribution, or why it has none."""
    if isinstance(one, RunFailure):
        return {"cause": one.cause, "message": one.message}
    return {
        "shares": {str(level): share for level, share in sorted(one.shares.items())},
        "mean": mean_of(one.shares),
        "sd": sd_of(one.shares),
        "mass": one.mass,
        "parted": one.parted,
        "begun": one.begun,
    }
