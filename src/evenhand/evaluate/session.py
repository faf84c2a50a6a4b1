"""A judge, its items, its endpoints and a store, put together: what `evenhand judge` does, as a library.

session = Session(read_judge("judge.yaml"), read_items("answers.jsonl"), store=Path(".evenhand/evenhand.db"))
judged = session.run()
judged.records, judged.summary
"""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evenhand.engine.endpoint import Endpoint
from evenhand.errors import InvalidInput
from evenhand.evaluate.beforehand import Beforehand, by_regime
from evenhand.evaluate.estimate import estimate
from evenhand.evaluate.evaluation import Evaluation, Settings
from evenhand.evaluate.kin import kin_notes
from evenhand.evaluate.needs import Needs
from evenhand.evaluate.panels import asked_models, refuse_unfit
from evenhand.judges import judge_for
from evenhand.judges.families import Kinship
from evenhand.judges.protocol import Judge
from evenhand.providers.base import Provider
from evenhand.providers.environment import read_dotenv
from evenhand.providers.open import Target, open_provider, price, resolve
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.store.database.sql import Store, open_store
from evenhand.store.packaged import families, templates
from evenhand.terms import Call, Item, JudgeSpec, ModelSpec, Record, Usage

__all__ = ["Judged", "Session", "SizedItems", "is_stored", "targets_of"]

DEFAULT_STORE = Path(".evenhand/evenhand.db")


class SizedItems(Sized, Iterable[Item], Protocol):
    """Items that can be counted and walked more than once: a list, or what `read_items` gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How a run ended.

    Args:
        records: in the order of items, members and reruns; empty if a sink took them.
        summary: counts, distribution, fabricated quotes, tokens and cost, as `--json` prints them.
        calls: `asked` (attempts sent), `stored` (answered from the store), `shared` (answered by an equal call in
            flight) and `faults` (failed attempts by code).
        n_planned: judgements that were to be made.
        stop: why the run ended early, or None if it is complete; what was answered is in the store either way.
        omitted: parameters that an endpoint rejected and that were left out, by model.
        spent_usd: what the budget was charged in dollars; 0 without a dollar budget.
        spent_tokens: the same in tokens; 0 without any budget.
    """

    records: tuple[Record, ...]
    summary: Mapping[str, Any]
    calls: Mapping[str, Any]
    n_planned: int
    seconds: float
    stop: BaseException | None
    omitted: Mapping[str, tuple[str, ...]]
    spent_usd: float = 0.0
    spent_tokens: int = 0


class Session:
    """One judge and its items.

    Args:
        spec: the judge, with at least one model.
        items: what is judged.
        store: the database file; None keeps replies in memory only.
        base_url: another address for every model that is reached over the network.
        environ: where keys and addresses are looked for; the process environment unless given.
        folder: where a `.env` file is looked for; the current folder unless given.
        dry: nothing will be sent, so that no key is needed; only `estimate` may be called.
        panel: False records each of several models alone, without a combined record.
        allow_self_judging: let a model judge candidates whose `system` names it.
        anyway: judge with a model whose probe speaks against it, where the judge's counter-bias is `auto`.
    Attributes:
        notes: sentences that a user should read before the run: kin among the models, or between models and candidates,
            and items that lack what the judge needs.
    Raises:
        InvalidInput: the judge does not fit its protocol or its items, a model or key is missing, a panel cannot
            decide, or a model would judge its own candidates.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        items: SizedItems,
        *,
        store: Path | None = DEFAULT_STORE,
        base_url: str | None = None,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
        dry: bool = False,
        panel: bool = True,
        allow_self_judging: bool = False,
        anyway: bool = False,
    ) -> None:
        if not spec.models:
            raise InvalidInput(f"{spec.name}: no model is named; write `models: [provider/model]` or use --model")
        self.spec = spec
        self.items = items
        self.judge = judge_for(spec, templates())
        VerdictScorer(spec)  # refuses here, before a dry run too, what could not be scored
        refuse_unfit(spec, panel=panel)
        self._panel = panel
        self._anyway = anyway
        models = asked_models(spec)
        self._kinship = Kinship(models, families())
        needs = Needs(spec)
        self.notes = kin_notes(
            spec, needs.seen(items), self._kinship, panel=panel, allow_self_judging=allow_self_judging
        )
        self.notes = (*needs.notes(), *self.notes)
        self._store_path = store
        self._targets = targets_of(models, base_url=base_url, environ=environ, folder=folder, dry=dry)

    @property
    def n_planned(self) -> int:
        """Judgements to be made: items by models by reruns; escalation may add to them."""
        return len(self.items) * len(self.spec.models) * self.spec.reruns

    def price(self, model: str, usage: Usage) -> float | None:
        """Dollars of a usage at one of the session's models, None where the price is unknown."""
        return price(self._targets[model], usage)

    def estimate(self) -> dict[str, Any]:
        """What a run would send; a reply counts as stored only if the store exists and holds it."""
        if self._store_path is None or not self._store_path.exists():
            return self._estimate(lambda call: False, self.judge)
        endpoints = {
            name: Endpoint(open_provider(target), name, price=lambda usage: None)
            for name, target in self._targets.items()
        }
        with open_store(self._store_path) as store:
            judge = self.judge
            if self.spec.counter_bias == "auto":
                judge = by_regime(judge, self.spec, self._regimes(store, endpoints), anyway=self._anyway)
            return self._estimate(lambda call: is_stored(call, endpoints[call.model], store), judge)

    def run(
        self,
        settings: Settings | None = None,
        *,
        sink: Callable[[Record], None] | None = None,
        watch: Callable[[Evaluation, int], Coroutine[Any, Any, None]] | None = None,
    ) -> Judged:
        """Judge everything. Inside a running event loop, await `run_async` instead.

        Args:
            settings: how the run is carried out.
            sink: takes each record as it is done, in order; without it they are collected.
            watch: given the evaluation and the number of judgements, runs beside it until it ends.
        """
        return asyncio.run(self.run_async(settings, sink=sink, watch=watch))

    async def run_async(
        self,
        settings: Settings | None = None,
        *,
        sink: Callable[[Record], None] | None = None,
        watch: Callable[[Evaluation, int], Coroutine[Any, Any, None]] | None = None,
    ) -> Judged:
        """As `run`, within the caller's event loop."""
        began = time.monotonic()
        records: list[Record] = []
        with open_store(self._store_path) as store:
            providers = {name: open_provider(target) for name, target in self._targets.items()}
            beforehand: Beforehand | None = None
            try:
                if Beforehand.needed(self.spec):
                    beforehand = Beforehand(self.spec, self._regimes(store, providers), anyway=self._anyway)
                evaluation = Evaluation(
                    self.spec,
                    self.judge,
                    providers=providers,
                    store=store,
                    price=self.price,
                    settings=settings,
                    panel=self._panel,
                    kinship=self._kinship,
                    beforehand=beforehand,
                )
                stop = await _watched(evaluation, self.items, sink or records.append, watch, self.n_planned)
            finally:
                if beforehand is not None:
                    beforehand.close()
                for provider in providers.values():
                    await provider.close()
        tally = evaluation.answers.tally
        if sink is None:
            records.extend(evaluation.rest())
        return Judged(
            records=tuple(records),
            summary=evaluation.summary.document(),
            calls={
                "asked": tally.asked,
                "stored": tally.stored,
                "shared": tally.shared,
                "faults": dict(sorted(tally.faults.items())),
            },
            n_planned=self.n_planned,
            seconds=time.monotonic() - began,
            stop=stop,
            omitted=dict(evaluation.omitted),
            spent_usd=evaluation.answers.budget.spent_usd,
            spent_tokens=evaluation.answers.budget.spent_tokens,
        )

    def _regimes(self, store: Store, asked: Mapping[str, Endpoint | Provider]) -> dict[str, str | None]:
        """What the store knows of each model where it is asked."""
        return {model: store.regimes.regime(model, where.identity) for model, where in asked.items()}

    def _estimate(self, stored: Callable[[Call], bool], judge: Judge) -> dict[str, Any]:
        return estimate(self.spec, judge, self.items, price=self.price, stored=stored)


def targets_of(
    models: Iterable[ModelSpec],
    *,
    base_url: str | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    dry: bool = False,
) -> dict[str, Target]:
    """Where each model is, by its name; nothing is opened.

    Args:
        models: as a judge file or the command line names them.
        base_url: another address for every model that is reached over the network.
        environ: where keys and addresses are looked for; the process environment unless given.
        folder: where a `.env` file is looked for; the current folder unless given.
        dry: nothing will be sent, so that no key is needed.
    Raises:
        InvalidInput: a model, an address or a key that cannot be used.
    """
    variables = os.environ if environ is None else environ
    dotenv = read_dotenv(folder or Path.cwd())
    return {
        model.model: resolve(model, base_url=base_url, environ=variables, dotenv=dotenv, need_key=not dry)
        for model in models
    }


async def _watched(
    evaluation: Evaluation,
    items: SizedItems,
    sink: Callable[[Record], None],
    watch: Callable[[Evaluation, int], Coroutine[Any, Any, None]] | None,
    n_planned: int,
) -> BaseException | None:
    """Run an evaluation with somebody looking on."""
    watching = None if watch is None else asyncio.create_task(watch(evaluation, n_planned))
    try:
        return await evaluation.run(items, sink)
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


def is_stored(call: Call, endpoint: Endpoint, store: Store) -> bool:
    """Whether a call would be answered from the store now."""
    profile = store.replies.profile(endpoint.identity, endpoint.model)
    return profile is not None and store.replies.get(endpoint.requester.request(call, profile)[1]) is not None
