"""A judge under attack: every item as it is, with each payload, and under each control, judged by the same judge.

The changed items are judged like any others, through `Session`: replies are stored, so that a run is resumed by running
it again, and what was judged before costs nothing. Only the control that changes the rubric is a judge of its own.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.analysis.hardening import Lift, Pair, Reaction, lift_of, paired, reaction_of
from evenhand.errors import InvalidInput
from evenhand.evaluate.evaluation import Evaluation, Settings
from evenhand.evaluate.session import Judged, Session
from evenhand.judges.controls import (
    CONTROLS,
    NOTHING_SAID,
    OTHER_CANDIDATE,
    OTHER_QUESTION,
    nothing_said,
    other_candidates,
    other_question,
    other_reference,
    other_task,
)
from evenhand.judges.payloads import PAYLOADS, attacked
from evenhand.scoring.labels import ACCEPTANCE_PROTOCOLS
from evenhand.terms import Item, JudgeSpec, Record

__all__ = ["KINDS", "Hardened", "HardenedMember", "Hardening", "chosen_kinds"]

KINDS = tuple(payload.kind for payload in PAYLOADS)
"""Every kind of payload, in the order of reports."""

_PLAIN = ""
# Judges whose question stands in the item: what is changed there.
_OF_ITEM = {"reference": other_reference, **dict.fromkeys(ACCEPTANCE_PROTOCOLS, other_task)}

_NO_QUESTION = "the judge asks nothing of its own that could be changed: it has no criterion and no catalogue"
_ONE_TEXT = "all items have one and the same candidate"

Watch = Callable[[Evaluation, int], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HardenedMember:
    """What attacks and controls did to one member; `member` is None for a panel's combined verdict."""

    member: str | None
    baseline: Mapping[str, int]
    lifts: tuple[Lift, ...]
    reactions: tuple[Reaction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardened:
    """How a run ended.

    Args:
        members: one for each model, and one for a panel.
        records: of all judgements, in the order of items and variants.
        scale: of the scores; None where none was reached.
        judged: the run over items and their variants; `other` the one with the changed rubric.
    """

    members: tuple[HardenedMember, ...]
    records: tuple[Record, ...]
    scale: tuple[float, float] | None
    judged: Judged
    other: Judged | None

    @property
    def stop(self) -> BaseException | None:
        """Why the run ended early, or None if it is complete."""
        return self.judged.stop or (self.other.stop if self.other else None)

    @property
    def failed(self) -> int:
        """Judgements that failed, over both runs."""
        return int(self.judged.summary["failed"]) + (int(self.other.summary["failed"]) if self.other else 0)


def chosen_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """The kinds named, in the order of reports; all if none is named.

    Raises:
        InvalidInput: a kind that there is not.
    """
    for name in names:
        if name not in KINDS:
            raise InvalidInput(f"--kind {name!r}: no such payload; use one of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if not names or kind in names)


class Hardening:
    """One judge, its items, and everything that is done to them.

    Args:
        spec: the judge, with at least one model.
        items: what is attacked; read once.
        kinds: of payloads.
        seed: of the bootstrap.
        options: as `Session` takes them.
    Attributes:
        notes: sentences that a user should read before the run.
    Raises:
        InvalidInput: as `Session`.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        items: Sequence[Item],
        *,
        kinds: Sequence[str] = KINDS,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self._spec = spec
        self._items = list(items)
        self._kinds = tuple(kinds)
        self._seed = seed
        self._origin: dict[str, tuple[str, str]] = {}
        self._why_not: dict[str, str] = {}
        self._session = Session(spec, list(self._variants()), **options)
        changed = other_question(spec)
        self._other = None if changed is None else Session(changed, self._items, **options)
        if changed is None and spec.protocol not in _OF_ITEM:
            self._why_not[OTHER_QUESTION] = _NO_QUESTION
        self.notes = self._session.notes

    @property
    def n_planned(self) -> int:
        """Judgements to be made."""
        return self._session.n_planned + (self._other.n_planned if self._other else 0)

    def estimate(self) -> dict[str, Any]:
        """What a run would send; figures of both runs added up."""
        first = self._session.estimate()
        if self._other is None:
            return {**first, "items": len(self._items)}
        second = self._other.estimate()
        summed = {
            name: None if first[name] is None or second[name] is None else first[name] + second[name]
            for name, value in first.items()
            if isinstance(value, (int, float)) or value is None
        }
        return {**first, **summed, "items": len(self._items)}

    def run(self, settings: Settings, *, watch: Watch | None = None) -> Hardened:
        """Judge everything, and compare; a budget holds for both runs together."""
        judged = self._session.run(settings, watch=watch)
        other = None
        if self._other is not None and judged.stop is None:
            other = self._other.run(_left(settings, judged), watch=watch)
        records = (*judged.records, *(other.records if other else ()))
        plain, changed = self._sorted(judged.records, other.records if other else ())
        names = list(dict.fromkeys(record.member for record in judged.records))
        return Hardened(
            members=tuple(self._member(name, plain.get(name, {}), changed.get(name, {})) for name in names),
            records=records,
            scale=next((record.scale for record in records if record.scale is not None), None),
            judged=judged,
            other=other,
        )

    def _variants(self) -> Iterator[Item]:
        """Each item as it is, attacked, and under the controls; item by item, so that a cut run has whole ones."""
        swapped = other_candidates(self._items)
        if not any(swapped):
            self._why_not[OTHER_CANDIDATE] = _ONE_TEXT
        payloads = [payload for payload in PAYLOADS if payload.kind in self._kinds]
        for place, (item, other) in enumerate(zip(self._items, swapped, strict=True)):
            yield self._named(place, _PLAIN, item, item)
            for payload in payloads:
                yield self._named(place, payload.kind, item, attacked(item, payload, self._spec))
            if other is not None:
                yield self._named(place, OTHER_CANDIDATE, item, other)
            yield self._named(place, NOTHING_SAID, item, nothing_said(item))
            if self._spec.protocol in _OF_ITEM:
                yield self._named(place, OTHER_QUESTION, item, _OF_ITEM[self._spec.protocol](item))

    def _named(self, place: int, kind: str, item: Item, changed: Item) -> Item:
        """The changed item under an id of its own, whose origin is remembered."""
        name = f"{place}:{kind}"
        self._origin[name] = kind, item.id
        return replace(changed, id=name, metadata={**item.metadata, "hardening": kind or "plain", "of": item.id})

    def _sorted(self, records: Sequence[Record], other: Sequence[Record]) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Member to (item, rerun) to record of the items as they are; member to kind to the same of the changed."""
        plain: dict[str | None, dict[tuple[str, int], Record]] = {}
        changed: dict[str | None, dict[str, dict[tuple[str, int], Record]]] = {}
        for record in records:
            kind, item = self._origin[record.item]
            into = plain.setdefault(record.member, {}) if kind == _PLAIN else None
            if into is None:
                into = changed.setdefault(record.member, {}).setdefault(kind, {})
            into[item, record.rerun] = record
        for record in other:
            into = changed.setdefault(record.member, {}).setdefault(OTHER_QUESTION, {})
            into[record.item, record.rerun] = record
        return plain, changed

    def _member(
        self,
        name: str | None,
        plain: Mapping[tuple[str, int], Record],
        changed: Mapping[str, Mapping[tuple[str, int], Record]],
    ) -> HardenedMember:
        """One member's figures."""
        statuses = [record.status for record in plain.values()]
        lifts = []
        for kind in self._kinds:
            pairs, missing = paired(plain, changed.get(kind, {}))
            lifts.append(lift_of(kind, pairs, seed=self._seed, missing=missing))
        return HardenedMember(
            member=name,
            baseline={status: statuses.count(status) for status in ("verdict", "abstained", "failed")},
            lifts=tuple(lifts),
            reactions=tuple(self._reaction(control, plain, changed.get(control, {})) for control in CONTROLS),
        )

    def _reaction(
        self, kind: str, plain: Mapping[tuple[str, int], Record], changed: Mapping[tuple[str, int], Record]
    ) -> Reaction:
        if kind in self._why_not:
            return Reaction(kind=kind, why_not=self._why_not[kind])
        pairs: dict[str, list[Pair]]
        pairs, missing = paired(plain, changed)
        return reaction_of(kind, pairs, missing=missing)


def _left(settings: Settings, judged: Judged) -> Settings:
    """The settings with what a first run left of the budget."""
    usd, tokens = settings.budget_usd, settings.budget_tokens
    return replace(
        settings,
        budget_usd=None if usd is None else max(0.0, usd - judged.spent_usd),
        budget_tokens=None if tokens is None else max(0, tokens - judged.spent_tokens),
    )
