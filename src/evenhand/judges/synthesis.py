"""Adversarial synthesis: one call that reads all items and no artifact, and marks what does not hold. Code applies it.

Reply: {"marks": [{"reason": ..., "mark": "contradicts" | "unsupported" | "unbacked", "item": 3, "other": 7 or null}]}

    unsupported   the quote does not show the claim: the item is dropped
    contradicts   both items are shown for review; a claim that speaks for the candidate, refuted from another source,
                  becomes one negative item with the declared impact
    unbacked      the claim rests on the work's word for itself: shown for review, or, where the judge declares an
                  impact, a claim that speaks for the candidate becomes one negative item with it

No number comes from the synthesis. It can take away, and it can turn praise into the declared blame; it can turn
nothing into praise, and findings that blame are never turned, so that refuting them by mere assertion does not pay.
A synthesis that cannot be read fails the record: it is a part of the method, and without it another score would stand.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from evenhand.errors import InvalidInput, UnreadableReply
from evenhand.judges.asking import Asking, ask
from evenhand.judges.duplicates import origin
from evenhand.judges.fit import TEXT, entry, list_of
from evenhand.judges.prompts import Fence, Template, fill, template_text
from evenhand.judges.replies import entries, integer, kind, words
from evenhand.keys import bare, content_key
from evenhand.terms import IMPACTS, Call, Evidence, JudgeSpec, Message, Synthesis

__all__ = ["CONTRADICTED", "UNBACKED", "UNSUPPORTED", "Mark", "SynthesisPrompt", "read_marks", "synthesized"]

UNSUPPORTED = "unsupported"
CONTRADICTED = "contradicted"
UNBACKED = "unbacked"

MarkKind = Literal["contradicts", "unsupported", "unbacked"]
_MARKS: tuple[MarkKind, ...] = ("contradicts", "unsupported", "unbacked")
_MOST_MARKS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One mark.

    Args:
        item: number of the item, from 0.
        other: the item that refutes it; None unless the mark is `contradicts`.
    """

    mark: MarkKind
    item: int
    other: int | None = None
    reason: str = ""


class SynthesisPrompt:
    """What is asked about the items, and how the reply is read.

    Args:
        spec: the judge file, with a synthesis.
        templates: prompt templates by file name.
    Raises:
        InvalidInput: a declared impact that is not negative or not permitted, or a missing template.
    """

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        _refuse_impacts(spec)
        self._spec = spec
        self._system = Message(role="system", text=fill(templates, "synthesis.md", {}))
        self._repair = Template(template_text(templates, "repair.md").strip("\n"), name="repair.md", known=("problem",))
        self._schema = list_of(
            "marks",
            entry(
                reason=TEXT,
                mark={"type": "string", "enum": list(_MARKS)},
                item={"type": "integer"},
                other={"type": ["integer", "null"]},
            ),
            maxItems=_MOST_MARKS,
        )
        self._fence = Fence(bare(content_key({"synthesis": self._system.text})))

    def asking(self, items: Sequence[Evidence], *, model: str, rerun: int, attempt: int) -> Asking[list[Mark]]:
        """Ask for the marks on these items, all of which count."""
        call = Call(
            model=model,
            messages=(self._system, Message(role="user", text=self._text(items))),
            schema=self._schema,
            schema_name="synthesis",
            temperature=self._spec.temperature,
            max_tokens=self._spec.max_tokens,
            member=model,
            rerun=rerun,
            attempt=attempt,
        )
        return ask(call, lambda text: read_marks(text, len(items)), lambda wrong: self._repair.fill({"problem": wrong}))

    def _text(self, items: Sequence[Evidence]) -> str:
        """The items, one JSON object a line, fenced. Neither impact nor perspective is shown: they are no argument."""
        lines = [_line(number, item) for number, item in enumerate(items, start=1)]
        mark = self._fence.mark(lines)
        fenced = "\n".join([f"{mark} FINDINGS BEGIN", *lines, f"{mark} FINDINGS END"])
        return f"The mark of this message is {mark}.\n\n{fenced}"


def read_marks(text: str, n_items: int) -> list[Mark]:
    """The marks of a reply.

    Raises:
        UnreadableReply: another shape, a number that no item has, or an `other` where there must be none.
    """
    return [_mark(found, f"mark {place}", n_items) for place, found in enumerate(entries(text, "marks"), start=1)]


def synthesized(
    items: Sequence[Evidence], numbered: Sequence[int], marks: Sequence[Mark], declared: Synthesis
) -> tuple[list[Evidence], tuple[str, ...]]:
    """The items with the marks applied, and flags that count them.

    Args:
        items: all items, counted or not.
        numbered: positions of those that the synthesis saw, in the order of their numbers.
        marks: numbers from 0.
        declared: the impacts that refuted and unbacked claims become.
    Returns:
        As many items, and behind them one negative item for each claim that was turned; its original no longer counts.
        The order of the marks does not matter: `unsupported` goes first, and what it drops refutes nothing any more;
        two items that are said to refute each other are both shown, and neither is turned.
    """
    made, turned = list(items), []
    flags: Counter[str] = Counter()
    for mark in _of("unsupported", marks):
        place = numbered[mark.item]
        made[place] = replace(made[place], counted=False, dropped=UNSUPPORTED, note=mark.reason or None)
        flags[UNSUPPORTED] += 1
    standing = [mark for mark in _of("contradicts", marks) if _stands(made, numbered, mark)]
    pairs = {(mark.item, mark.other) for mark in standing}
    for mark in standing:
        item, other = numbered[mark.item], numbered[mark.other or 0]
        flags["contradictions"] += (mark.other, mark.item) not in pairs or mark.item < (mark.other or 0)
        refuted, refuting = items[item], items[other]
        for place, note in (
            (item, f"contradicted by {origin(refuting)}: {refuting.claim}"),
            (other, f"contradicts {origin(refuted)}: {refuted.claim}"),
        ):
            made[place] = replace(made[place], review=True, note=_joined(made[place].note, note, mark.reason))
        if refuted.source != refuting.source and (mark.other, mark.item) not in pairs:
            turned += _turn(made, item, declared.contradicted_impact, CONTRADICTED)
    for mark in _of("unbacked", marks):
        place = numbered[mark.item]
        if made[place].counted:
            made[place] = replace(made[place], review=True, note=_joined(made[place].note, UNBACKED, mark.reason))
            flags[UNBACKED] += 1
            turned += _turn(made, place, declared.unbacked_impact, UNBACKED)
    return [*made, *turned], tuple(f"{name}:{n}" for name, n in flags.items())


def _of(kind_of: MarkKind, marks: Sequence[Mark]) -> list[Mark]:
    """The marks of one kind in the order of their items, each pair once."""
    first = {(mark.item, mark.other): mark for mark in reversed(marks) if mark.mark == kind_of}
    return [first[pair] for pair in sorted(first, key=lambda pair: (pair[0], pair[1] or 0))]


def _stands(made: Sequence[Evidence], numbered: Sequence[int], mark: Mark) -> bool:
    """Whether both items of a contradiction count."""
    return mark.other is not None and made[numbered[mark.item]].counted and made[numbered[mark.other]].counted


def _turn(made: list[Evidence], place: int, impact: int, why: str) -> list[Evidence]:
    """The negative item that a claim becomes, once; nothing for a claim that blames, or without a declared impact."""
    item = made[place]
    if not impact or item.impact < 0 or not item.counted:
        return []
    made[place] = replace(item, counted=False, dropped=why)
    return [replace(item, claim=f"{why.capitalize()}: {item.claim}", impact=impact, merged=(), review=True)]


def _joined(*parts: str | None) -> str:
    return "; ".join(part for part in parts if part)


def _line(number: int, item: Evidence) -> str:
    shown: dict[str, Any] = {"number": number, "source": item.source or "candidate"}
    if item.criterion is not None:
        shown["criterion"] = item.criterion
    return json.dumps({**shown, "claim": item.claim, "quote": item.quote}, ensure_ascii=False)


def _mark(found: dict[str, Any], what: str, n_items: int) -> Mark:
    """One entry of the reply."""
    name = found.get("mark")
    if name not in _MARKS:
        raise UnreadableReply(f'{what}: "mark" is {kind(name)}; expected one of {", ".join(_MARKS)}')
    expected = f"the number of a finding, from 1 to {n_items}"
    item = integer(found, "item", what, range(1, n_items + 1), expected)
    other = None
    if name == "contradicts":
        other = integer(found, "other", what, range(1, n_items + 1), expected)
        if other == item:
            raise UnreadableReply(f'{what}: "item" and "other" are both {item}; a finding does not contradict itself')
    elif found.get("other") is not None:
        raise UnreadableReply(f'{what}: "other" is {kind(found["other"])}; expected null with the mark "{name}"')
    return Mark(
        mark=cast("MarkKind", name),
        item=item - 1,
        other=None if other is None else other - 1,
        reason=words(found, "reason", what) or "",
    )


def _refuse_impacts(spec: JudgeSpec) -> None:
    """What a refuted claim becomes must speak against the candidate."""
    declared = spec.synthesis or Synthesis()
    for name, impact, allowed in (
        ("contradicted_impact", declared.contradicted_impact, [one for one in IMPACTS if one < 0]),
        ("unbacked_impact", declared.unbacked_impact, [0, *(one for one in IMPACTS if one < 0)]),
    ):
        if isinstance(impact, bool) or impact not in allowed:
            stated = ", ".join(map(str, allowed))
            raise InvalidInput(f"judge {spec.name}: synthesis {name} is {impact!r}; expected one of {stated}")
