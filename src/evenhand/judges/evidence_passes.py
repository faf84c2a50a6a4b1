"""The evidence pipeline: passes over single sources, a floor, duplicates counted once, and an adversarial synthesis.

    0. a repository larger than the inventory's budget is divided by its features (`inventory`), which takes one call
    1. one call a pass, all together; each sees one source, and its quotes are looked up there
    2. what counts is settled by code (`counting`)
    3. a criterion with fewer counted items than the floor is asked about once more, where its evidence may stand: in
       every reading, or in those of the source that it needs, all together
    4. the synthesis reads the counted items, and code applies its marks (`synthesis`)
    5. where the judge gives feedback, advice to the author is written from what counts (`feedback`); it sets nothing
    6. findings of detectors join, and what they and the items say alike counts once

Every call depends on the item, the judge file and the dial alone: findings of detectors change no prompt, and no model
can strike one out. So a stored run is replayed without running a detector.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from evenhand.errors import InvalidInput
from evenhand.judges.asking import Asking, total_usage
from evenhand.judges.buckets import BucketReader
from evenhand.judges.counter_bias import DIALS, Dial
from evenhand.judges.counting import NOT_ASKED, counted_items, counting_flags
from evenhand.judges.duplicates import merge_near_duplicates
from evenhand.judges.evidence import POOL, EvidenceJudge
from evenhand.judges.feedback import FeedbackPrompt, bounded, feedback_flags
from evenhand.judges.inventory import InventoryPrompt
from evenhand.judges.prompts import Template, fill, quoted, template_text
from evenhand.judges.protocol import Given, Judging
from evenhand.judges.readings import Reading, readings, refuse_passes, told
from evenhand.judges.synthesis import SynthesisPrompt, synthesized
from evenhand.judges.together import resting_on, together
from evenhand.scoring.evidence_pools import judge_settings
from evenhand.scoring.floors import short_of_floor
from evenhand.terms import (
    IMPACTS,
    Abstention,
    Call,
    CriterionVerdict,
    Evidence,
    Failure,
    Item,
    JudgeSpec,
    Message,
    Reply,
    Verdict,
)

__all__ = ["EvidencePipeline", "GivenPipeline", "Reader"]

Ended = Abstention | Failure
Found = Generator[tuple[Call, ...], tuple[Reply, ...], list[Evidence] | Ended]
Divided = Generator[tuple[Call, ...], tuple[Reply, ...], tuple[list[Reading], tuple[str, ...]] | Ended]
Advice = Generator[tuple[Call, ...], tuple[Reply, ...], tuple[str | None, tuple[str, ...]]]
PERSON_DECIDES = "person_must_decide"
"""Flag of a criterion that is not scored, since the item lacks the source that it needs."""


class Reader(Protocol):
    """Asks for the items of one pass, and reads them."""

    def asking(
        self, item: Item, *, model: str, rerun: int, attempt: int, turns: Sequence[Message] = ()
    ) -> Asking[list[Evidence]]:
        """Ask for the items, as they are found."""
        ...

    def reply_of(self, items: Sequence[Evidence]) -> dict[str, Any]:
        """Items in the shape of a reply, to be shown to the model again."""
        ...


class EvidencePipeline:
    """Evidence in several passes, with guards."""

    protocol = "evidence"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        refuse_passes(spec)
        _refuse_detectors(spec)
        _refuse_needs(spec)
        self._spec = spec
        self._settings = judge_settings(spec)
        self._pools = tuple(criterion.id for criterion in spec.criteria) or (POOL,)
        self._readers = _readers(spec, templates)
        self._floor = Template(template_text(templates, "floor.md").strip("\n"), name="floor.md", known=("criteria",))
        self._synthesis = SynthesisPrompt(spec, templates) if spec.synthesis is not None else None
        self._feedback = FeedbackPrompt(spec, templates) if spec.feedback else None
        self._inventory = InventoryPrompt(spec, templates) if spec.inventory is not None else None

    def judge(
        self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0, given: Given | None = None
    ) -> Judging:
        """Judge one item.

        Args:
            item: what is judged.
            model: `provider/model` of the member that judges.
            rerun: asked afresh for each number.
            first_attempt: the attempt number to begin with.
            given: what was found out before judging: the findings of detectors, and the dial where it is `auto`.
        """
        given = given or Given()
        how: dict[str, Any] = {"model": model, "rerun": rerun, "attempt": first_attempt}
        read = readings(item, self._spec.passes)
        if isinstance(read, Abstention):
            return read
        found_in, flags = read
        readers = self._readers[self._dial(given)]
        heard: list[Reply] = []
        divided = yield from self._divided(item, found_in, how, heard)
        if isinstance(divided, (Abstention, Failure)):
            return resting_on(divided, heard)
        found_in, parted = divided
        flags = (*parted, *flags)
        held = tuple([one.id for one in self._spec.criteria if one.needs and item.text_of(one.needs) is None])
        items = yield from self._items(found_in, readers, how, heard, held)
        if isinstance(items, (Abstention, Failure)):
            return resting_on(items, heard)
        made = self._counted(items)
        marked: tuple[str, ...] = ()
        numbered = [place for place, one in enumerate(made) if one.counted]
        if self._synthesis is not None and self._spec.synthesis is not None and numbered:
            shown = [made[place] for place in numbered]
            marks = yield from together([self._synthesis.asking(shown, **how)], heard)
            if isinstance(marks, (Abstention, Failure)):
                return resting_on(marks, heard)
            made, marked = synthesized(made, numbered, marks[0], self._spec.synthesis)
        feedback, advised = yield from self._advice(made, item, how, heard)  # before findings, which change no prompt
        made = self._with_findings(made, [_held_back(one, held) for one in given.findings])
        flags = (*(f"{PERSON_DECIDES}:{name}" for name in held), *flags)
        return Verdict(
            criteria=tuple(
                CriterionVerdict(id=name, items=tuple(one for one in made if (one.criterion or name) == name))
                for name in self._pools
            ),
            keys=tuple([reply.key for reply in heard]),
            usage=total_usage(heard),
            flags=(*flags, *counting_flags(made), *marked, *advised),
            feedback=feedback,
        )

    def given(self, given: Given) -> "GivenPipeline":
        """The same judge for one item about which something was found out before."""
        return GivenPipeline(self, given)

    def _dial(self, given: Given) -> Dial:
        """The dial: the judge's own, or what was found for the model; soft where nothing is known of it."""
        return (given.dial or "soft") if self._spec.counter_bias == "auto" else self._spec.counter_bias

    def _counted(self, items: Sequence[Evidence]) -> list[Evidence]:
        return counted_items(items, cap=self._settings.cap, likeness=self._spec.near_duplicate)

    def _items(
        self,
        found_in: Sequence[Reading],
        readers: Sequence[Reader],
        how: Mapping[str, Any],
        heard: list[Reply],
        held: Sequence[str],
    ) -> Found:
        """The items of all passes, and of the one further round where a criterion falls short."""
        askings = [readers[reading.number].asking(reading.item, **how) for reading in found_in]
        lists = yield from together(askings, heard)
        if isinstance(lists, (Abstention, Failure)):
            return lists
        by_pass = [_in_pass(items, reading) for items, reading in zip(lists, found_in, strict=True)]
        items = [_held_back(one, held) for items in by_pass for one in items]
        short = tuple([name for name in self._short(items) if name not in held])
        if not short:
            return items
        asked = [
            (reading, said, names)
            for reading, said in zip(found_in, lists, strict=True)
            if (names := self._sought(short, reading))
        ]
        again = [
            readers[one.number].asking(one.item, turns=self._turns(readers[one.number], said, names), **how)
            for one, said, names in asked
        ]
        more = yield from together(again, heard)
        if isinstance(more, (Abstention, Failure)):
            return more
        return items + [
            one if (one.criterion or self._pools[0]) in names else replace(one, counted=False, dropped=NOT_ASKED)
            for (reading, _, names), said in zip(asked, more, strict=True)
            for one in _in_pass(said, reading)
        ]

    def _sought(self, short: Sequence[str], reading: Reading) -> tuple[str, ...]:
        """The short criteria whose evidence may stand in what a reading sees: those that need no other source."""
        needs = {criterion.id: criterion.needs for criterion in self._spec.criteria}
        return tuple([name for name in short if needs.get(name) in (None, reading.source or "candidate")])

    def _divided(self, item: Item, found_in: list[Reading], how: Mapping[str, Any], heard: list[Reply]) -> Divided:
        """The readings, that of a large repository divided by its features, and flags about it."""
        files = None if self._inventory is None else self._inventory.needed(item)
        if self._inventory is None or files is None or all(one.source is not None for one in found_in):
            return found_in, ()
        said = yield from together([self._inventory.asking(files, **how)], heard)
        if isinstance(said, (Abstention, Failure)):
            return said
        parts = self._inventory.parts(files, said[0])
        divided = [
            replace(one, item=replace(one.item, candidate=part.text), part=part) if part is not None else one
            for one in found_in
            for part in (parts if one.source is None else (None,))
        ]
        unread = len(set(files.paths) - {file for feature in said[0] for file in feature.files})
        return divided, (f"features:{len(parts)}", *((f"files_unread:{unread}",) if unread else ()))

    def _advice(self, made: Sequence[Evidence], item: Item, how: Mapping[str, Any], heard: list[Reply]) -> Advice:
        """Advice from what counts, once an item however often it is judged, and flags about it.

        Advice that cannot be had is no reason to give a sound verdict up: a flag names what it ended with.
        """
        counted = [one for one in made if one.counted]
        if self._feedback is None or how["rerun"] or not counted:
            return None, ()
        said = yield from together([self._feedback.asking(counted, item, **how)], heard)
        if isinstance(said, (Abstention, Failure)):
            return None, (f"feedback_failed:{said.code if isinstance(said, Failure) else said.reason}",)
        text, is_cut = bounded(said[0])
        return text, feedback_flags(text, counted, item, cut=is_cut)

    def _short(self, items: Sequence[Evidence]) -> tuple[str, ...]:
        """The criteria below the floor; a floor of 0 asks for nothing more."""
        counts = dict.fromkeys(self._pools, 0)
        for one in self._counted(items):
            counts[one.criterion or self._pools[0]] += one.counted
        return short_of_floor(counts, self._settings.item_floor) if self._settings.item_floor else ()

    def _turns(self, reader: Reader, items: Sequence[Evidence], short: Sequence[str]) -> tuple[Message, ...]:
        """What a reading reported, and the question for more."""
        said = json.dumps(reader.reply_of(items), ensure_ascii=False)
        named = ", ".join(quoted(name) for name in short) if self._spec.criteria else "the candidate as a whole"
        return Message(role="assistant", text=said), Message(role="user", text=self._floor.fill({"criteria": named}))

    def _with_findings(self, items: list[Evidence], findings: Sequence[Evidence]) -> list[Evidence]:
        """The items and the findings of detectors together, what is alike counted once."""
        if not findings:
            return items
        if self._spec.near_duplicate is None:
            return [*items, *findings]
        return list(merge_near_duplicates([*items, *findings], self._spec.near_duplicate))


class GivenPipeline:
    """A pipeline together with what was found out about one item before judging it."""

    protocol = "evidence"
    version = EvidencePipeline.version

    def __init__(self, pipeline: EvidencePipeline, given: Given) -> None:
        self._pipeline = pipeline
        self._given = given

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """As `EvidencePipeline.judge`."""
        return self._pipeline.judge(item, model=model, rerun=rerun, first_attempt=first_attempt, given=self._given)


def _readers(spec: JudgeSpec, templates: Mapping[str, str]) -> dict[Dial, tuple[Reader, ...]]:
    """A reader for each pass, for each dial that may be needed."""
    make: type[BucketReader] | type[EvidenceJudge] = BucketReader if spec.buckets else EvidenceJudge
    dials: Sequence[Dial] = DIALS if spec.counter_bias == "auto" else (spec.counter_bias,)
    return {
        dial: tuple(make(spec, templates, reading=text, counter_bias=_leaning(dial, templates)) for text in told(spec))
        for dial in dials
    }


def _leaning(dial: Dial, templates: Mapping[str, str]) -> str:
    """What a dial adds to the rules of reporting; nothing where it is off."""
    return "" if dial == "off" else "\n" + fill(templates, f"counter_bias_{dial}.md", {})


def _in_pass(items: Sequence[Evidence], reading: Reading) -> list[Evidence]:
    """The items with the pass and source that they are from, and their places in the whole."""
    if reading.part is not None:
        items = [reading.part.in_whole(one) for one in items]
    if reading.pass_name is None:
        return list(items)
    return [replace(one, pass_name=reading.pass_name, source=reading.source) for one in items]


def _held_back(one: Evidence, held: Sequence[str]) -> Evidence:
    """An item of a criterion that needs a source which is not there does not count."""
    return replace(one, counted=False, dropped="needs_source") if one.criterion in held else one


def _refuse_needs(spec: JudgeSpec) -> None:
    """A source that no pass reads could not inform its criterion; a single criterion would leave nothing to score."""
    read = [one.source for one in spec.passes]
    for criterion in spec.criteria:
        if criterion.needs is not None and criterion.needs not in read:
            raise InvalidInput(
                f"judge {spec.name}: the criterion {criterion.id!r} needs the source {criterion.needs!r}, which no "
                f"pass reads; the passes read {', '.join(read) or 'the candidate alone'}"
            )
        if criterion.needs is not None and len(spec.criteria) == 1:
            raise InvalidInput(
                f"judge {spec.name}: the only criterion {criterion.id!r} needs the source {criterion.needs!r}; let the "
                "pass over it be required (no `optional`), so that items without it abstain"
            )


def _refuse_detectors(spec: JudgeSpec) -> None:
    """Findings that no pool could hold."""
    names = [criterion.id for criterion in spec.criteria]
    taken = [entry.id for entry in spec.catalog] + [detector.id for detector in spec.detectors]
    for detector in spec.detectors:
        where = f"judge {spec.name}: detector {detector.id!r}"
        if taken.count(detector.id) > 1:
            raise InvalidInput(f"{where} has the id of another detector or catalogue entry; ids must differ")
        if detector.impact not in IMPACTS:
            raise InvalidInput(
                f"{where} has the impact {detector.impact}; expected one of {', '.join(map(str, IMPACTS))}"
            )
        if detector.criterion not in (names if names[1:] or detector.criterion is not None else [None]):
            expected = ", ".join(map(repr, names)) or "none, as no criterion is declared"
            raise InvalidInput(f"{where} names the criterion {detector.criterion!r}; expected one of {expected}")
