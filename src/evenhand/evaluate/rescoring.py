"""New scores from stored replies, and the proof that old ones can be recomputed: no call is made.

A record names the keys of the replies it rests on. The judge's generator is run again and sent those replies; each
call it yields must be the one that was answered, so that a changed prompt can never meet an old reply.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from evenhand.engine.request import asked_otherwise
from evenhand.errors import InvalidInput, StoreError
from evenhand.evaluate.recording import Recorder, judge_head
from evenhand.identity import judge_hash
from evenhand.judges import judge_for
from evenhand.judges.protocol import Judge, Judging
from evenhand.keys import bare
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.store.judge_files import judge_from_rubric
from evenhand.store.sql import Store
from evenhand.store.texts import Texts
from evenhand.terms import Call, Item, JudgeSpec, ModelSpec, Outcome, Record, Reply

__all__ = ["Change", "Rescorer", "differences"]

# A provider fault left nothing to read again: such records stay as they are.
_WITHOUT_REPLY = frozenset({"provider", "deadline"})


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
        for record in records:
            yield Change(before=record, after=self._again(record))

    def _again(self, record: Record) -> Record:
        if record.cause is not None and record.cause.get("code") in _WITHOUT_REPLY:
            return record
        bound = self._bind(record)
        item = self._item(record)
        judging = bound.judge.judge(item, model=str(record.member), rerun=record.rerun)
        outcome = _replayed(judging, self._replies(record), record)
        return bound.recorder.record(
            item=record.item,
            item_hash=record.item_hash,
            metadata=record.metadata,
            candidate_chars=len(item.candidate),
            member=str(record.member),
            rerun=record.rerun,
            outcome=outcome,
            cost_usd=record.cost_usd,
        )

    def _bind(self, record: Record) -> _Bound:
        """The judge that a record names, made once."""
        head = record.judge
        key = (str(head["hash"]), str(head["name"]), *map(str, head["models"]))
        if key not in self._bound:
            spec = self.judge or judge_from_rubric(self._document(self.store.judges, str(head["hash"]), "judge"))
            spec = replace(
                spec,
                name=spec.name if self.judge else str(head["name"]),
                models=tuple(ModelSpec(model=str(name)) for name in head["models"]),
                scoring={**spec.scoring, **self.scoring},
            )
            judge = judge_for(spec, self.templates)
            new_head = judge_head(
                name=spec.name,
                judge_hash=judge_hash(spec),
                protocol=judge.protocol,
                protocol_version=judge.version,
                models=[model.model for model in spec.models],
            )
            self._bound[key] = _Bound(judge, Recorder(new_head, VerdictScorer(spec)))
        return self._bound[key]

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

    def _replies(self, record: Record) -> Iterator[tuple[Reply, bytes]]:
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
    names = (name for name in Record.__dataclass_fields__ if name != "metadata")
    return [name for name in names if _plain(getattr(before, name)) != _plain(getattr(after, name))]


def _replayed(judging: Judging, replies: Iterator[tuple[Reply, bytes]], record: Record) -> Outcome:
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


def _next(call: Call, replies: Iterator[tuple[Reply, bytes]], record: Record) -> Reply:
    found = next(replies, None)
    if found is None:
        raise StoreError(
            f"record {record.item!r}: the judge now asks more than the {len(record.keys)} replies that the record "
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
