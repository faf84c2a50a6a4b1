"""Levels with written descriptions, and optionally graded examples: which description fits.

Reply: {"criteria": [{"id": ..., "reason": ..., "quote": ..., "level": 4}]}

The quote is looked for and reported; whether it is found changes nothing.
"""

from collections.abc import Mapping
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.judges.asking import Read, ask
from evenhand.judges.citing import Field, NumberedText, Passage, Passages, QuotedPassages
from evenhand.judges.fit import TEXT, listed, refuse_unused, require_criteria
from evenhand.judges.prompts import Fence, Prompt, quoted
from evenhand.judges.protocol import Judging
from evenhand.judges.replies import by_id, integer, words
from evenhand.terms import Criterion, CriterionVerdict, Item, JudgeSpec, Verdict

__all__ = ["AnchoredJudge"]


class AnchoredJudge:
    """A level for each criterion, chosen by its description."""

    protocol = "anchored"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        require_criteria(spec)
        refuse_unused(spec)
        self._levels = {criterion.id: _levels(criterion) for criterion in spec.criteria}
        _refuse_examples(spec, self._levels)
        groups = [
            ([name for name, own in self._levels.items() if own == levels], levels)
            for levels in dict.fromkeys(self._levels.values())
        ]
        self._passages = Passages(
            spec.cite, lambda field: listed("criteria", [(names, _fields(levels, field)) for names, levels in groups])
        )
        wording = self._passages.wording
        self._prompt = Prompt(
            spec,
            templates,
            values={
                "criteria": "\n\n".join(map(_described, spec.criteria)),
                "examples": _examples(spec),
                "quote_field": wording["quote_field"],
                "quote_that_carries": wording["quote_that_carries"],
            },
            schema=self._passages.schema,
        )

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item."""
        passages = self._passages.of(item.candidate)
        call = self._passages.call(self._prompt, item, passages, model=model, rerun=rerun, attempt=first_attempt)
        found = yield from ask(call, lambda text: self._read(text, passages), self._prompt.repair)
        if isinstance(found, Read):
            return Verdict(criteria=found.value, keys=found.keys, usage=found.usage)
        return found

    def _read(self, text: str, passages: QuotedPassages | NumberedText) -> tuple[CriterionVerdict, ...]:
        named = by_id(text, "criteria", self._levels)
        return tuple(_verdict(name, levels, named[name], passages) for name, levels in self._levels.items())


def _verdict(
    name: str, levels: tuple[int, ...], entry: dict[str, Any], passages: QuotedPassages | NumberedText
) -> CriterionVerdict:
    what = f'criterion "{name}"'
    level = integer(entry, "level", what, levels, f"one of {', '.join(map(str, levels))}")
    found = passages.passage(entry, what) or Passage("", "absent")
    return CriterionVerdict(
        id=name,
        level=level,
        reason=words(entry, "reason", what),
        quote=found.quote,
        quote_status=found.status,
        span=found.span,
        gap=found.gap,
        sentences=found.sentences,
    )


def _levels(criterion: Criterion) -> tuple[int, ...]:
    """The declared levels in rising order; they need not be contiguous.

    Raises:
        InvalidInput: fewer than two are described.
    """
    if len(criterion.level_texts) < 2:
        raise InvalidInput(
            f"criterion {criterion.id}: `anchored` needs two or more described levels, and "
            f"{len(criterion.level_texts)} came; write `levels: {{1: text, 2: text, ...}}`, or use `protocol: number`"
        )
    return tuple(sorted(criterion.level_texts))


def _described(criterion: Criterion) -> str:
    asked = f": {criterion.ask}" if criterion.ask else ""
    levels = (f"- level {level}: {text}" for level, text in sorted(criterion.level_texts.items()))
    return "\n".join([f"{quoted(criterion.id)}{asked}", *levels])


def _refuse_examples(spec: JudgeSpec, levels: Mapping[str, tuple[int, ...]]) -> None:
    """Graded examples name a level only, so there must be one criterion that has it."""
    if spec.examples and len(levels) != 1:
        raise InvalidInput(
            f"judge {spec.name}: `examples` bear one level each, and there are {len(levels)} criteria; use one "
            "criterion, or take the examples out"
        )
    for place, example in enumerate(spec.examples, start=1):
        declared = next(iter(levels.values()))
        if example.level not in declared:
            raise InvalidInput(
                f"judge {spec.name}: example {place} has the level {example.level}; expected one of "
                f"{', '.join(map(str, declared))}"
            )


def _examples(spec: JudgeSpec) -> str:
    """The graded examples, fenced like the material, since they are such texts."""
    if not spec.examples:
        return ""
    mark = Fence(spec.name.encode("utf-8", "surrogatepass")).mark([example.candidate for example in spec.examples])
    shown = [
        f"{mark} EXAMPLE BEGINS\n{example.candidate}\n{mark} EXAMPLE ENDS\nLevel {example.level}"
        + (f": {example.reason}" if example.reason else "")
        for example in spec.examples
    ]
    return "\nExamples that were graded by hand:\n\n" + "\n\n".join(shown) + "\n"


def _fields(levels: tuple[int, ...], field: Field) -> dict[str, Mapping[str, Any]]:
    return {"reason": TEXT, **field, "level": {"type": "integer", "enum": list(levels)}}
