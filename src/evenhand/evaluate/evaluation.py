"""Where engine and store meet: plan a run, judge every item, record every outcome. Start reading here.

    evaluation = Evaluation(spec, judge, ...)
    stop = await evaluation.run(items, sink)      records reach the sink in the order of the items

Running it again resumes: what the store holds is not asked again, and the records equal those of an unbroken run.
"""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.analysis.summary import Summary
from evenhand.engine.answer import Answers, Stopped
from evenhand.engine.budget import Budget
from evenhand.engine.drive import judge_item
from evenhand.engine.endpoint import Endpoint
from evenhand.engine.plan import Task, plan
from evenhand.engine.retry import RetryPolicy
from evenhand.engine.run import run_all
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.evaluate.beforehand import Beforehand, Known, bound
from evenhand.evaluate.kin import systems_of
from evenhand.evaluate.panels import Done, PanelRecorder, asked_models, has_panel, refuse_unfit
from evenhand.evaluate.recording import Recorder, judge_head, metadata_of
from evenhand.identity import item_content, judge_hash, rubric_document
from evenhand.judges.families import Kinship
from evenhand.judges.places import item_flags, placed
from evenhand.judges.protocol import Judge
from evenhand.keys import canonical_json, hashed
from evenhand.providers.base import Provider
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.store.database.sql import Store
from evenhand.terms import Failure, Item, JudgeSpec, Outcome, Record, Usage

__all__ = ["GRACE_S", "Evaluation", "Interruption", "Settings", "TooManyAlike", "endpoint_of", "refuse_unpriced"]

GRACE_S = 10.0

# A run whose first items nearly all fail in one way has a cause that more items will not change.
_ALIKE_FIRST = 50
_ALIKE_SHARE = 0.95


class TooManyAlike(EvenhandError):
    """The first items of a run failed alike; the run stopped, and running it again resumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run is carried out; nothing here changes a record.

    Args:
        max_concurrency: calls in flight at each endpoint.
        requests_per_minute: at each endpoint; None is no limit.
        tokens_per_minute: at each endpoint; None is no limit.
        budget_usd: what the run may spend; refused where a price is unknown.
        budget_tokens: input and output tokens that the run may use.
        retry_failed: ask afresh what an earlier run left unreadable.
        grace_s: seconds that calls in flight have to arrive in once the run is interrupted.
        policy: patience with a single call.
    """

    max_concurrency: int = 64
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    retry_failed: bool = False
    grace_s: float = GRACE_S
    policy: RetryPolicy = field(default_factory=RetryPolicy)


class Evaluation:
    """One judge at work on many items.

    Args:
        spec: the judge, with the models that are to judge.
        judge: the protocol bound to the spec.
        providers: by `provider/model`, one for each of the spec's models and of those it escalates to.
        store: where replies, items and judges are kept.
        price: dollars of a usage at a model, None where the price is unknown.
        settings: how the run is carried out.
        panel: False records each member alone, without a combined record.
        kinship: the models' families; None reports no kin.
        beforehand: finds out what an evidence pipeline needs to know first; None where it needs nothing.
    Raises:
        InvalidInput: the spec cannot be scored, its panel cannot decide, or a dollar budget where a model has no known
            price.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        judge: Judge,
        *,
        providers: Mapping[str, Provider],
        store: Store,
        price: Callable[[str, Usage], float | None],
        settings: Settings | None = None,
        panel: bool = True,
        kinship: Kinship | None = None,
        beforehand: Beforehand | None = None,
    ) -> None:
        refuse_unfit(spec, panel=panel)
        self.spec = spec
        self.summary = Summary(spec.reruns, [model.model for model in asked_models(spec)])
        self._settings = settings or Settings()
        self._judge = judge
        self._store = store
        self._members = tuple(model.model for model in spec.models)
        self.judge_hash = judge_hash(spec)
        head = judge_head(
            name=spec.name,
            judge_hash=self.judge_hash,
            protocol=judge.protocol,
            protocol_version=judge.version,
            models=self._members,
            escalate_to=[model.model for model in spec.escalate.to] if spec.escalate else (),
        )
        self._recorder = Recorder(head, VerdictScorer(spec))
        self._kinship = kinship
        self._beforehand = beforehand
        self._panel = PanelRecorder(spec, self._recorder, kinship) if panel and has_panel(spec) else None
        self._gathered: dict[int, dict[int, Done]] = {}
        self._endpoints = {
            model: endpoint_of(model, provider, price, self._settings) for model, provider in providers.items()
        }
        refuse_unpriced(self._settings, self._endpoints)
        self.answers = Answers(
            self._endpoints,
            store.replies,
            policy=self._settings.policy,
            budget=Budget(usd=self._settings.budget_usd, tokens=self._settings.budget_tokens),
            keep_fresh=self._settings.retry_failed,
        )
        self._retried = store.replies.any_retried()
        self._alike = _Alike()
        self._waiting: dict[int, Sequence[Record]] = {}
        self._next = 0
        self._interruption = Interruption(self.answers, self._settings.grace_s)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or SIGTERM came: what is in flight has its grace to arrive in."""
        return self._interruption.happened

    @property
    def omitted(self) -> Mapping[str, tuple[str, ...]]:
        """Parameters that an endpoint rejected and that are therefore left out, by model."""
        return {
            model: endpoint.profile.omit
            for model, endpoint in self._endpoints.items()
            if endpoint.profile is not None and endpoint.profile.omit
        }

    async def run(self, items: Iterable[Item], sink: Callable[[Record], None]) -> BaseException | None:
        """Judge every item.

        Args:
            items: drawn lazily, already checked.
            sink: given each record, in the order of items, members and reruns.
        Returns:
            Why the run stopped early, or None if it is complete. What was answered is in the store either way.
        """
        self._store.judges.keep(self.judge_hash, canonical_json(rubric_document(self.spec)))
        width = 2 * sum(int(endpoint.limit.largest) for endpoint in self._endpoints.values()) + 64
        loop = asyncio.get_running_loop()
        interrupted = self._interruption
        interrupted.listen(loop)
        try:
            stop = await run_all(
                plan(items, self._members, self.spec.reruns),
                lambda task: self._work(task, sink),
                width=width,
                stop=self.answers.stop,
                stopping=lambda: self.answers.stopping,
            )
        finally:
            interrupted.ignore(loop)
        if interrupted.happened:
            return KeyboardInterrupt()
        return stop

    async def _work(self, task: Task, sink: Callable[[Record], None]) -> None:
        """Judge one task and hand its record on; with a panel, its item's records once all members are done."""
        done = await self._judged(task)
        if done is None:
            return
        if self._panel is None:
            self._hand_on(task.index, (done.record,), sink)
        else:
            await self._gather(self._panel, task, done, sink)
        self._alike.see(done.outcome)

    async def _judged(self, task: Task) -> Done | None:
        """One judgement, counted; None where the run was stopped before it was reached."""
        item = task.item
        document = canonical_json(item_content(item))
        key = hashed(document)
        self._store.items.keep(key, document)
        known = None if self._beforehand is None else await self._beforehand.of(item, task.member)
        try:
            outcome, cost_usd = await self._outcome(task, known)
        except Stopped:
            return None
        kinship = self._kinship
        kin = ("same_family",) if kinship and any(kinship.is_kin(task.member, who) for who in systems_of(item)) else ()
        record = self._recorder.record(
            item=item.id,
            item_hash=key,
            metadata=metadata_of(item),
            candidate_chars=len(item.candidate),
            member=task.member,
            rerun=task.rerun,
            outcome=placed(outcome, item),
            cost_usd=cost_usd,
            flags=(*item_flags(item), *(known.flags if isinstance(known, Known) else ()), *kin),
        )
        self.summary.add(record)
        findings = known.given.findings if isinstance(known, Known) else ()
        return Done(member=task.member, outcome=outcome, record=record, findings=findings)

    async def _outcome(self, task: Task, known: Known | Failure | None) -> tuple[Outcome, float | None]:
        """What the judge makes of a task; a detector that did not work has failed it already."""
        if isinstance(known, Failure):
            return known, None
        judge = bound(self._judge, known)
        return await judge_item(
            self.answers,
            lambda attempt: judge.judge(task.item, model=task.member, rerun=task.rerun, first_attempt=attempt),
            retried=self._retried,
            retry_failed=self._settings.retry_failed,
            slow=known is not None and known.given.expressions is not None,
        )

    async def _gather(self, panel: PanelRecorder, task: Task, done: Done, sink: Callable[[Record], None]) -> None:
        """Once every member and rerun of an item is done: escalate it if need be, combine, and hand all records on."""
        n = len(self._members) * self.spec.reruns
        number = task.index // n
        gathered = self._gathered.setdefault(number, {})
        gathered[task.index] = done
        if len(gathered) < n:
            return
        firsts = [gathered[index] for index in sorted(gathered)]
        because = panel.reasons(firsts)
        seconds = await self._escalated(task.item, gathered) if because else []
        if seconds is None:
            return
        combined = list(panel.records(firsts, seconds, because))
        for record in combined:
            self.summary.add(record)
        del self._gathered[number]
        self._hand_on(number, [*(one.record for one in (*firsts, *seconds)), *combined], sink)

    async def _escalated(self, item: Item, gathered: dict[int, Done]) -> list[Done] | None:
        """What the second judge says of an item, in order; None where the run was stopped before it had answered."""
        if self.spec.escalate is None:
            return []
        members = [model.model for model in self.spec.escalate.to]
        tasks = list(plan([item], members, self.spec.reruns))
        results = await asyncio.gather(*map(self._judged, tasks), return_exceptions=True)
        seconds = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            if result is not None:
                gathered[max(gathered) + 1] = result  # behind the first ones, should the run stop here
                seconds.append(result)
        return seconds if len(seconds) == len(tasks) else None

    def _hand_on(self, place: int, records: Sequence[Record], sink: Callable[[Record], None]) -> None:
        """Records leave in order, whatever the order in which they are done."""
        self._waiting[place] = records
        while self._next in self._waiting:
            for record in self._waiting.pop(self._next):
                sink(record)
            self._next += 1

    def rest(self) -> list[Record]:
        """Records that were done out of order when a run stopped early, in their order."""
        left = dict(self._waiting)
        for number, gathered in self._gathered.items():
            left[number] = [gathered[index].record for index in sorted(gathered)]
        return [record for place in sorted(left) for record in left[place]]


class _Alike:
    """Watches whether the first items fail alike."""

    def __init__(self) -> None:
        self._seen = 0
        self._failed: Counter[str] = Counter()
        self._message = ""

    def see(self, outcome: Outcome) -> None:
        if self._seen >= _ALIKE_FIRST:
            return
        self._seen += 1
        if isinstance(outcome, Failure):
            self._failed[outcome.code] += 1
            self._message = outcome.message
        if self._seen == _ALIKE_FIRST and self._failed:
            code, n = self._failed.most_common(1)[0]
            if n >= _ALIKE_SHARE * _ALIKE_FIRST:
                raise TooManyAlike(
                    f"{n} of the first {_ALIKE_FIRST} judgements failed alike ({code}), so the run stopped; "
                    f"the last one: {self._message}"
                )


class Interruption:
    """Ctrl-C and SIGTERM: after the first, what is in flight has a grace to arrive in; the second ends at once.

    A local model may need minutes for a call, and an endpoint may never answer: waiting has to end by itself.
    """

    def __init__(self, answers: Answers, grace_s: float) -> None:
        self.happened = False
        self._answers = answers
        self._grace_s = grace_s
        self._end: asyncio.TimerHandle | None = None

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take the signals over."""
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, self._receive, loop, number)
            except (NotImplementedError, RuntimeError, ValueError):  # no main thread, or a platform without them
                return

    def ignore(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give them back."""
        if self._end is not None:
            self._end.cancel()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.remove_signal_handler(number)
            except (NotImplementedError, RuntimeError, ValueError):
                return

    def _receive(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        if self.happened:
            self._answers.cut_off()
            loop.remove_signal_handler(number)  # a third one meets Python's own handler
            return
        self.happened = True
        self._answers.stop()
        self._end = loop.call_later(self._grace_s, self._answers.cut_off)


def endpoint_of(
    model: str, provider: Provider, price: Callable[[str, Usage], float | None], settings: Settings
) -> Endpoint:
    """A model's endpoint within the limits of the settings."""
    return Endpoint(
        provider,
        model,
        price=lambda usage: price(model, usage),
        max_concurrency=settings.max_concurrency,
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
    )


def refuse_unpriced(settings: Settings, endpoints: Mapping[str, Endpoint]) -> None:
    """A dollar budget means nothing where a price is unknown.

    Raises:
        InvalidInput: there is one, and a model has no known price.
    """
    if settings.budget_usd is None:
        return
    for model, endpoint in endpoints.items():
        if endpoint.price(Usage(input_tokens=1000, cached_tokens=0, output_tokens=1000)) is None:
            raise InvalidInput(
                f"--budget-usd: the price of {model} is not known, so dollars cannot be counted; use --budget-tokens"
            )
