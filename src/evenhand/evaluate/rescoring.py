"""New scores from stored replies, and the proof that old ones can be recomputed: no call is made.

A record names the keys of the replies it rests on. The judge's generator is run again and sent those replies; each
call it yields must be the one that was answered, so that a changed prompt can never meet an old reply.

A panel's record names the keys of all its members, in order, and how many are whose: its members are read again from
it alone, and combined again. Why it was escalated, and which models are kin, is kept as it stands.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from evenhand.engine.request import asked_otherwise
from evenhand.errors import InvalidInput, StoreError
from evenhand.evaluate.beforehand import GIVEN_FLAGS, Beforehand, Known, bound, replayed_given
from evenhand.evaluate.expressions import math_worker
from evenhand.evaluate.panels import Done, PanelRecorder
from evenhand.evaluate.recording import Recorder, judge_head, sum_usage
from evenhand.identity import judge_hash
from evenhand.judges import judge_for
from evenhand.judges.places import item_flags, placed
from evenhand.judges.protocol import Judge, Judging
from evenhand.keys import bare
from evenhand.sandbox.math_worker import MathWorker
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.store.database.sql import Store
from evenhand.store.database.texts import Texts
from evenhand.store.judge_files import judge_from_rubric
from evenhand.terms import Call, Escalation, Evidence, Failure, Item, JudgeSpec, ModelSpec, Outcome, Record, Reply
from evenhand.wording import plural

__all__ = ["Change", "Rescorer", "differences"]

# A fault of a provider or a detector left nothing to read again: such records stay as they are.
_WITHOUT_REPLY = frozenset({"provider", "deadline", "detector"})

# Flags on kinship, which no reply tells.
_KIN = frozenset({"same_family", "shared_family"})

_Replies = Iterator[tuple[Reply, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A record before and after."""

    before: Record
    after: Record

    @property
    def moved(self) -> bool:
        """Whether the score or the status is another."""
        return (self.before.score, self.before.status) != (self.after.score, self.after.status)


@dataclass(slots=True)
class _Bound:
    """A judge ready to judge and to record."""

    judge: Judge
    recorder: Recorder
    spec: JudgeSpec
    _panel: PanelRecorder | None = None
    _worker: MathWorker | None = None

    def given(self, flags: Sequence[str], recorded: Iterable[Mapping[str, Any]]) -> Judge:
        """The judge with what was found out before it judged, as a record tells it."""
        if not Beforehand.needed(self.spec):
            return self.judge
        given = replayed_given(self.spec, flags, recorded)
        if self._worker is None:
            self._worker = math_worker(self.spec)
        same = None if self._worker is None else self._worker.same
        return bound(self.judge, Known(given=replace(given, expressions=same)))

    def close(self) -> None:
        """End what compares formulas, if it was started."""
        if self._worker is not None:
            self._worker.close()

    def findings(self, recorded: Iterable[Mapping[str, Any]]) -> tuple[Evidence, ...]:
        """What detectors found, as a panel's record tells it."""
        return replayed_given(self.spec, (), recorded).findings

    def panel(self) -> PanelRecorder:
        """Combines members; made once, and only if a record needs it."""
        if self._panel is None:
            self._panel = PanelRecorder(self.spec, self.recorder)
        return self._panel


@dataclass(slots=True)
class Rescorer:
    """Rescores records.

    Args:
        store: holds the replies, items and judges that the records name.
        templates: prompt templates by file name.
        scoring: formula settings that replace those of the judge, by name; an empty mapping changes nothing.
        judge: a judge file that replaces the stored one; it must ask the same questions.
    """

    store: Store
    templates: Mapping[str, str]
    scoring: Mapping[str, Any] = field(default_factory=dict)
    judge: JudgeSpec | None = None
    _bound: dict[tuple[str, ...], _Bound] = field(default_factory=dict)

    def rescore(self, records: Iterable[Record]) -> Iterator[Change]:
        """Each record with its new self, in order.

        Raises:
            StoreError: a reply, item or judge that a record rests on is not in the store.
            InvalidInput: the judge cannot be scored with these settings, or asks other questions than were answered.
        """
        try:
            for record in records:
                yield Change(before=record, after=self._again(record))
        finally:
            for bound_judge in self._bound.values():
                bound_judge.close()

    def _again(self, record: Record) -> Record:
        if record.cause is not None and record.cause.get("code") in _WITHOUT_REPLY:
            return record
        bound = self._bind(record)
        item = self._item(record)
        if record.member is None:
            return self._combined(bound, item, record)
        items = (found for criterion in record.criteria for found in criterion.get("items", ()))
        judge = bound.given(record.flags, items)
        judging = judge.judge(item, model=record.member, rerun=record.rerun)
        outcome = _replayed(judging, self._replies(record), record)
        return self._recorded(bound, item, record, record.member, outcome)

    def _recorded(self, bound: _Bound, item: Item, record: Record, member: str, outcome: Outcome) -> Record:
        """A member's record, with everything that no reply tells as it was."""
        return bound.recorder.record(
            item=record.item,
            item_hash=record.item_hash,
            metadata=record.metadata,
            candidate_chars=len(item.candidate),
            member=member,
            rerun=record.rerun,
            outcome=placed(outcome, item),
            cost_usd=record.cost_usd,
            flags=(
                *item_flags(item),
                *(flag for flag in record.flags if flag in _KIN or flag.startswith(GIVEN_FLAGS)),
            ),
        )

    def _combined(self, bound: _Bound, item: Item, record: Record) -> Record:
        """A panel's record from its members' replies; a member whose provider failed left none, and stays failed."""
        document = record.panel
        if document is None:
            raise InvalidInput(
                f"record {record.item!r}: `member` is null and there is no `panel`; expected one of both"
            )
        replies = self._replies(record)
        dones = [self._member(bound, item, record, part, replies) for part in document["members"]]
        escalation = document.get("escalation")
        n_first = len(dones) if escalation is None else len(escalation["first"])
        because = () if escalation is None else escalation["because"]
        made = bound.panel().record(dones[:n_first], dones[n_first:], because)
        kept = [flag for flag in ("shared_family", "same_family") if flag in record.flags]
        return replace(made, cost_usd=record.cost_usd, flags=_with_kin(made.flags, kept))

    def _member(self, bound: _Bound, item: Item, record: Record, part: Mapping[str, Any], replies: _Replies) -> Done:
        """One member of a combined record, read again."""
        member, keys = str(part["member"]), part["calls"]
        if part.get("code") in _WITHOUT_REPLY:
            skipped = tuple(itertools.islice(replies, keys))
            outcome: Outcome = Failure(
                code=part["code"],
                message="",
                keys=tuple(reply.key for reply, _ in skipped),
                usage=sum_usage([reply.usage for reply, _ in skipped]),
            )
        else:
            dial = (f"counter_bias:{part['counter_bias']}",) if "counter_bias" in part else ()
            judge = bound.given(dial, (record.panel or {}).get("findings", ()))
            judging = judge.judge(item, model=member, rerun=record.rerun)
            outcome = _replayed(judging, itertools.islice(replies, keys), record)
        made = self._recorded(bound, item, record, member, outcome)
        if "counter_bias" in part:
            made = replace(made, flags=(f"counter_bias:{part['counter_bias']}", *made.flags))
        findings = bound.findings((record.panel or {}).get("findings", ()))
        return Done(member=member, outcome=outcome, record=made, findings=findings)

    def _bind(self, record: Record) -> _Bound:
        """The judge that a record names, made once."""
        head = record.judge
        models = (*head["models"], None, *head.get("escalate_to", ()))
        key = (str(head["hash"]), str(head["name"]), *map(str, models))
        if key not in self._bound:
            spec = self.judge or judge_from_rubric(self._document(self.store.judges, str(head["hash"]), "judge"))
            spec = replace(
                spec,
                name=spec.name if self.judge else str(head["name"]),
                models=tuple(ModelSpec(model=str(name)) for name in head["models"]),
                escalate=_escalation(spec, head),
                scoring={**spec.scoring, **self.scoring},
            )
            if self.judge is not None:
                self._refuse_new_detectors(head)
            judge = judge_for(spec, self.templates)
            new_head = judge_head(
                name=spec.name,
                judge_hash=judge_hash(spec),
                protocol=judge.protocol,
                protocol_version=judge.version,
                models=[model.model for model in spec.models],
                escalate_to=[model.model for model in spec.escalate.to] if spec.escalate else (),
            )
            self._bound[key] = _Bound(judge, Recorder(new_head, VerdictScorer(spec)), spec)
        return self._bound[key]

    def _refuse_new_detectors(self, head: Mapping[str, Any]) -> None:
        """A detector that never ran has no finding to rescore."""
        if self.judge is None or not self.judge.detectors:
            return
        stored = judge_from_rubric(self._document(self.store.judges, str(head["hash"]), "judge"))
        ran = {detector.id for detector in stored.detectors}
        for detector in self.judge.detectors:
            if detector.id not in ran:
                raise InvalidInput(
                    f"judge {self.judge.name}: the detector {detector.id!r} was not run on these items; run "
                    "`evenhand judge` with this judge, or take it out"
                )

    def _item(self, record: Record) -> Item:
        return Item(id=record.item, **self._document(self.store.items, record.item_hash, "item"))

    def _document(self, texts: Texts, key: str, what: str) -> dict[str, Any]:
        """What a hash names, from the store."""
        text = texts.get(key)
        if text is None:
            raise StoreError(
                f"the {what} {key} is not in {self.store.where}; name the store it was judged with (--store)"
            )
        document: dict[str, Any] = msgspec.json.decode(text)
        return document

    def _replies(self, record: Record) -> _Replies:
        for key in record.keys:
            stored = self.store.replies.stored(bare(key))
            if stored is None:
                raise StoreError(
                    f"record {record.item!r}: its reply {key} is not in {self.store.where}; name the store it was "
                    "judged with (--store), or judge it again"
                )
            yield stored.reply, stored.request


def differences(before: Record, after: Record) -> list[str]:
    """The fields in which two records differ, by name."""
    names = [name for name in Record.__dataclass_fields__ if name != "metadata"]
    found = {name for name in names if _plain(getattr(before, name)) != _plain(getattr(after, name))}
    if not _models_fit(before):
        found.add("judge")
    return [name for name in names if name in found]


def _models_fit(record: Record) -> bool:
    """Whether the models that a record names as its judge's are those that its replies came from."""
    models, to = list(record.judge["models"]), list(record.judge.get("escalate_to", ()))
    if record.member is not None:
        return record.member in [*models, *to]
    document = record.panel or {}
    members = [str(part["member"]) for part in document.get("members", ())]
    n_first = len(members) if document.get("escalation") is None else len(document["escalation"]["first"])
    return members[:n_first] == models and members[n_first:] in ([], to)


def _escalation(spec: JudgeSpec, head: Mapping[str, Any]) -> Escalation | None:
    """Whom the judge escalated to, as the record says; a stored rubric names no models."""
    models = tuple(ModelSpec(model=str(name)) for name in head.get("escalate_to", ()))
    if not models:
        return None
    return replace(spec.escalate or Escalation(to=models, on="both"), to=models)


def _with_kin(flags: Sequence[str], kept: Sequence[str]) -> tuple[str, ...]:
    """The flags with those on kin in their place: behind `escalated` and `members_without_verdict`."""
    others = [flag for flag in flags if flag not in kept]
    place = sum(flag in ("escalated", "members_without_verdict") for flag in others)
    return (*others[:place], *kept, *others[place:])


def _replayed(judging: Judging, replies: _Replies, record: Record) -> Outcome:
    """Run a generator on stored replies; each call must be the one that was answered."""
    try:
        calls = next(judging)
        while True:
            calls = judging.send(tuple(_next(call, replies, record) for call in calls))
    except StopIteration as done:
        outcome: Outcome = done.value
        return outcome
    finally:
        judging.close()


def _next(call: Call, replies: _Replies, record: Record) -> Reply:
    found = next(replies, None)
    if found is None:
        raise StoreError(
            f"record {record.item!r}: the judge now asks more than the "
            f"{plural(len(record.keys), 'reply', 'replies')} that the record "
            "names; judge it again"
        )
    reply, request = found
    changed = asked_otherwise(request, call)
    if changed is not None:
        raise InvalidInput(
            f"record {record.item!r}: the judge now asks something else than what was answered under {reply.key}; "
            f"changed {changed} needs new replies: run `evenhand judge`"
        )
    return reply


def _plain(value: Any) -> Any:
    """Tuples and lists alike, so that a record read from a file equals the one computed."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(inner) for inner in value]
    return value
