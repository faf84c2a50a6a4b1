"""A probe carried out: models asked about items through the engine, and what follows from their ratings.

    probing = Probing(["openai/x"], items, ProbePlan(), templates(), store=store)
    results = probing.run(Settings())            one for each model

Every reply is in the store before it counts, under its own rerun number: a probe that was cut goes on by running it
again, and a longer one begins with the runs of a shorter one.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from evenhand.analysis.probes import Probed, Run, Tokens, ratings_in
from evenhand.engine.answer import Answers
from evenhand.engine.budget import Budget
from evenhand.errors import InvalidInput, ProviderError
from evenhand.evaluate.estimate import estimate_calls
from evenhand.evaluate.evaluation import Settings, endpoint_of, refuse_unpriced
from evenhand.evaluate.probe_work import Outcome, ProbeWork, Used
from evenhand.evaluate.session import is_stored, targets_of
from evenhand.judges.probe import TEMPERATURE, Probe, RatingShares
from evenhand.judges.probe_reading import RunFailure, run_of_document
from evenhand.providers.open import open_provider, price
from evenhand.stats.digit_control import DigitControl, digit_control, pile_up
from evenhand.stats.rating_shares import SampleAgreement, sample_agreement, simulated_runs
from evenhand.stats.regime_figures import Reading
from evenhand.stats.regimes import ENOUGH_RUNS, MOST_RUNS, Regime, regime_of, until_sure
from evenhand.store.database.sql import Store
from evenhand.store.probe_files import RunFile
from evenhand.terms import Call, ModelSpec, ProbeItems, Usage

__all__ = ["CONTROL_RUNS", "ProbePlan", "Probing", "probed_runs"]

CONTROL_RUNS = 5
"""Calls over all items on each of the two other scales of the digit control."""

_STEP = 5
_SAMPLES = 5

Watch = Callable[[ProbeWork, int], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """What a probe does.

    Args:
        method: all items in one call (`sample`), one token an item (`logprob`), or `both`.
        runs: calls at most; and runs simulated from the distributions.
        temperature: of sampling; acts on the distributions as well.
        max_tokens: limit of a reply about all items.
        until_sure: stop early, once one regime holds 95 % of the resamples over at least ten parsed runs.
        control: run the digit control; None does so where half of the ratings are one number.
        samples: single-item calls an item that the distributions are tested against; None is 5 with `both`, else none.
        reading: of ceiling and floor.
        seed: of resamples, simulated runs and draws.
        n_resamples: of the bootstrap over runs.
    """

    method: Literal["sample", "logprob", "both"] = "sample"
    runs: int = MOST_RUNS
    temperature: float = TEMPERATURE
    max_tokens: int = 2048
    until_sure: bool = False
    control: bool | None = None
    samples: int | None = None
    reading: Reading = "script"
    seed: int = 0
    n_resamples: int = 2000

    @property
    def samples_drawn(self) -> int:
        """Single-item calls an item."""
        if self.samples is not None:
            return self.samples
        return _SAMPLES if self.method == "both" else 0


class Probing:
    """Models and what they are asked.

    Args:
        models: `provider/model`, each once.
        items: what is rated.
        plan: how.
        templates: file name to text of the prompt templates.
        store: where replies and regimes are kept.
        base_url: another address for every model that is reached over the network.
        environ, folder: as `Session` takes them.
        dry: nothing will be sent; only `estimate` may be called.
    Raises:
        InvalidInput: a model or key that cannot be used, or a scale that one token cannot carry.
    """

    def __init__(
        self,
        models: Sequence[str],
        items: ProbeItems,
        plan: ProbePlan,
        templates: Mapping[str, str],
        *,
        store: Store,
        base_url: str | None = None,
        dry: bool = False,
        **options: Any,
    ) -> None:
        self._models = tuple(models)
        self._items, self._plan, self._store = items, plan, store
        common: dict[str, Any] = {"temperature": plan.temperature, "max_tokens": plan.max_tokens}
        self._probe = Probe(items, templates, **common)
        if plan.method != "sample":
            self._probe.refuse_long_levels()
            if plan.temperature <= 0.0:
                raise InvalidInput(
                    "--method logprob: a distribution at temperature 0 is one number; use a temperature above 0"
                )
        self._control = None
        if items.scale_max - items.scale_min >= 2:
            shorter = replace(items, scale_max=items.scale_max - 1)
            self._control = Probe(shorter, templates, **common), Probe(items, templates, best="low", **common)
        elif plan.control:
            raise InvalidInput("--control: the scale has two points, and a shorter one would have one; leave it out")
        self._targets = targets_of([ModelSpec(model=name) for name in models], base_url=base_url, dry=dry, **options)

    @property
    def n_planned(self) -> int:
        """Tasks at most, without the digit control, which runs where ratings pile up."""
        return len(self._models) * sum(1 for _ in self._first_calls(""))

    def price(self, model: str, usage: Usage) -> float | None:
        """Dollars of a usage at a model, None where the price is unknown."""
        return price(self._targets[model], usage)

    def estimate(self) -> dict[str, Any]:
        """What a run would send, all calls of `runs`; second tokens and the digit control are not foreseen."""
        providers = {name: open_provider(target) for name, target in self._targets.items()}
        endpoints = {name: endpoint_of(name, one, self.price, Settings()) for name, one in providers.items()}
        n = len(self._items.items)
        made = estimate_calls(
            (call for model in self._models for call in self._first_calls(model)),
            reply_tokens=1 if self._plan.method == "logprob" else 3 * n + 8,
            price=self.price,
            stored=lambda call: is_stored(call, endpoints[call.model], self._store),
        )
        control = 0 if self._control is None or self._plan.control is False else 2 * self._n_control_calls()
        return {
            "schema": "evenhand.probe_estimate/1",
            "models": list(self._models),
            "method": self._plan.method,
            "n_items": n,
            "runs": self._plan.runs,
            **made,
            "control_calls_at_most": control * len(self._models),
        }

    def run(self, settings: Settings | None = None, *, watch: Watch | None = None) -> tuple[Probed, ...]:
        """Probe every model. Inside a running event loop, await `run_async` instead.

        Raises:
            ProviderError, BudgetSpent, StoreError: nothing was found of any model; what was answered is kept.
        """
        return asyncio.run(self.run_async(settings, watch=watch))

    async def run_async(self, settings: Settings | None = None, *, watch: Watch | None = None) -> tuple[Probed, ...]:
        """As `run`, within the caller's event loop."""
        settings = settings or Settings()
        providers = {name: open_provider(target) for name, target in self._targets.items()}
        endpoints = {name: endpoint_of(name, one, self.price, settings) for name, one in providers.items()}
        refuse_unpriced(settings, endpoints)
        answers = Answers(
            endpoints,
            self._store.replies,
            policy=settings.policy,
            budget=Budget(usd=settings.budget_usd, tokens=settings.budget_tokens),
        )
        work = ProbeWork(answers, settings)
        loop = asyncio.get_running_loop()
        work.interruption.listen(loop)
        watching = None if watch is None else asyncio.create_task(watch(work, self.n_planned))
        try:
            found = await asyncio.gather(
                *(self._probe_model(name, work) for name in self._models), return_exceptions=True
            )
        finally:
            work.interruption.ignore(loop)
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
            for provider in providers.values():
                await provider.close()
        if work.interruption.happened:
            raise KeyboardInterrupt
        if work.stop is not None:
            raise self._explained(work.stop)
        results = []
        for name, one in zip(self._models, found, strict=True):
            if isinstance(one, BaseException):
                raise one
            results.append(self._kept(name, one, endpoints[name].identity))
        return tuple(results)

    # --- one model -------------------------------------------------------------------------------------------------

    async def _probe_model(self, model: str, work: ProbeWork) -> Probed:
        """Everything that is asked of one model, and what follows from it."""
        plan = self._plan
        tokens: dict[str, Tokens] = {}
        made: dict[str, Any] = {}
        if plan.method != "logprob":
            runs, sampled, ended = await self._sampled(model, work, tokens)
            made |= {"runs": runs, "sampled": sampled, "ended": ended}
        if plan.method != "sample":
            shares = await self._shares(self._probe, model, work, tokens, "logprob")
            drawn = _drawn(shares, plan.runs, plan.seed)
            made |= {"shares": shares, "simulated": self._regime(drawn), "drawn": drawn}
            made["agreement"] = await self._tested(model, shares, work, tokens)
        rated = ratings_in(made["runs"]) if "runs" in made else drawn
        made["control"] = await self._controlled(model, rated, work, tokens)
        profile = work.answers.endpoints[model].profile
        return Probed(
            model=model,
            items=self._items,
            method=plan.method,
            temperature=plan.temperature,
            n_planned=plan.runs,
            tokens=tokens,
            omitted=profile.omit if profile is not None else (),
            **made,
        )

    async def _sampled(
        self, model: str, work: ProbeWork, tokens: dict[str, Tokens]
    ) -> tuple[tuple[Run, ...], Regime, Literal["sure", "calls"]]:
        """All items in one call, again and again."""
        plan, used = self._plan, Used()
        runs: list[Run] = []
        while True:
            upto = min(plan.runs, max(ENOUGH_RUNS, len(runs) + _STEP)) if plan.until_sure else plan.runs
            asked = [self._probe.together(model=model, rerun=rerun) for rerun in range(len(runs), upto)]
            runs += [
                _run(str(number), one) for number, one in enumerate(await work.all(asked, used), start=len(runs) + 1)
            ]
            found = self._regime(ratings_in(runs))
            ended = until_sure(found, len(runs), most=plan.runs) if plan.until_sure else "calls"
            if ended is not None:
                tokens["sample"] = used.tokens()
                return tuple(runs), found, ended

    async def _shares(
        self, probe: Probe, model: str, work: ProbeWork, tokens: dict[str, Tokens], part: str
    ) -> tuple[RatingShares | RunFailure, ...]:
        """Each item's distribution."""
        used = Used()
        asked = [probe.share(place, model=model) for place in range(len(self._items.items))]
        found = await work.all(asked, used)
        tokens[part] = used.tokens(tokens.get(part))
        return cast("tuple[RatingShares | RunFailure, ...]", tuple(found))

    async def _tested(
        self,
        model: str,
        shares: Sequence[RatingShares | RunFailure],
        work: ProbeWork,
        tokens: dict[str, Tokens],
    ) -> SampleAgreement | None:
        """Single-item samples against the distributions of those items that have one."""
        n = self._plan.samples_drawn
        read = [(place, one) for place, one in enumerate(shares) if isinstance(one, RatingShares)]
        if not n or not read:
            return None
        used = Used()
        asked = [
            self._probe.alone(place, model=model, rerun=rerun, begun=one.begun)
            for place, one in read
            for rerun in range(n)
        ]
        found = await work.all(asked, used)
        tokens["agreement"] = used.tokens()
        sampled = [
            [one[0] for one in found[first : first + n] if isinstance(one, tuple)]
            for first in range(0, n * len(read), n)
        ]
        failed = sum(not isinstance(one, tuple) for one in found)
        return sample_agreement([one.shares for _, one in read], sampled, n_failed=failed, seed=self._plan.seed)

    async def _controlled(
        self, model: str, rated: Sequence[Sequence[int]], work: ProbeWork, tokens: dict[str, Tokens]
    ) -> DigitControl | None:
        """The digit control, where it is wanted, or where ratings pile up and nobody said otherwise."""
        wanted = self._plan.control
        if self._control is None or wanted is False or (wanted is None and not pile_up(rated).piled):
            return None
        found: list[Sequence[tuple[int, ...]]] = []
        n_failed = {}
        for name, probe in zip(("shorter", "turned"), self._control, strict=True):
            if self._plan.method == "logprob":
                shares = await self._shares(probe, model, work, tokens, "control")
                found.append(_drawn(shares, CONTROL_RUNS, self._plan.seed))
                n_failed[name] = sum(isinstance(one, RunFailure) for one in shares)
                continue
            used = Used()
            asked = [probe.together(model=model, rerun=rerun) for rerun in range(CONTROL_RUNS)]
            runs = [_run("", one) for one in await work.all(asked, used)]
            tokens["control"] = used.tokens(tokens.get("control"))
            found.append(ratings_in(runs))
            n_failed[name] = CONTROL_RUNS - len(found[-1])
        shorter, turned = found
        return digit_control(rated, shorter, turned, self._probe.low, self._probe.high, n_failed=n_failed)

    # --- inside ----------------------------------------------------------------------------------------------------

    def _explained(self, stop: BaseException) -> BaseException:
        """Why the probe stopped, with this command's way out where log probabilities are lacking."""
        if not isinstance(stop, ProviderError) or stop.code != "unsupported":
            return stop
        return ProviderError(
            f"--method {self._plan.method} needs log probabilities, and {stop.provider} returns none for this model; "
            "use --method sample",
            provider=stop.provider,
            status=stop.status,
            code=stop.code,
        )

    def _regime(self, ratings: Sequence[Sequence[int]]) -> Regime:
        plan = self._plan
        return regime_of(
            ratings,
            self._probe.low,
            self._probe.high,
            reading=plan.reading,
            seed=plan.seed,
            n_resamples=plan.n_resamples,
        )

    def _kept(self, model: str, found: Probed, endpoint: str) -> Probed:
        """The result, its regime kept for the counter-bias dial where it is defined."""
        regime = found.found.regime
        if regime is None:
            return found
        found = replace(found, stored=True)
        self._store.regimes.keep(model=model, endpoint=endpoint, regime=regime, document=found.document())
        return found

    def _n_control_calls(self) -> int:
        return len(self._items.items) if self._plan.method == "logprob" else CONTROL_RUNS

    def _first_calls(self, model: str) -> Iterator[Call]:
        """The first call of every task but the control's."""
        plan, places = self._plan, range(len(self._items.items))
        if plan.method != "logprob":
            for rerun in range(plan.runs):
                yield from next(self._probe.together(model=model, rerun=rerun))
        if plan.method != "sample":
            for place in places:
                yield from next(self._probe.share(place, model=model))
            for place in places:
                for rerun in range(plan.samples_drawn):
                    yield from next(self._probe.alone(place, model=model, rerun=rerun))


def probed_runs(
    files: Sequence[RunFile],
    items: ProbeItems,
    *,
    model: str | None = None,
    reading: Reading = "script",
    seed: int = 0,
    n_resamples: int = 2000,
) -> Probed:
    """The result of runs that were made elsewhere; no model is asked.

    Args:
        files: the runs.
        items: how many items and which scale; the texts may be empty.
        model: what the runs are called.
    """
    n, low, high = len(items.items), items.scale_min, items.scale_max
    runs = tuple(
        _run(
            file.name,
            RunFailure(cause="unreadable", message=file.problem)
            if file.problem
            else run_of_document(file.document, n, low, high),
        )
        for file in files
    )
    found = regime_of(ratings_in(runs), low, high, reading=reading, seed=seed, n_resamples=n_resamples)
    return Probed(
        model=model,
        items=items,
        method="runs",
        temperature=None,
        runs=runs,
        sampled=found,
        n_planned=len(runs),
    )


def _run(name: str, outcome: Outcome) -> Run:
    if isinstance(outcome, tuple):
        return Run(name=name, ratings=outcome)
    assert isinstance(outcome, RunFailure)
    return Run(name=name, ratings=None, failure=outcome)


def _drawn(shares: Sequence[RatingShares | RunFailure], n_runs: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Runs simulated from the distributions of those items that have one."""
    read = [one.shares for one in shares if isinstance(one, RatingShares)]
    return tuple(map(tuple, simulated_runs(read, n_runs, seed=seed))) if read else ()
