"""Signed impact items: what is found, where, and how much it moves the score that the formula computes.

Reply: {"items": [{"claim": ..., "quote": ..., "criterion": ..., "perspective": ..., "impact": 3}]}

`criterion` stands only with several criteria (`layout: matrix`), `perspective` only where perspectives are declared,
and with a catalogue `catalog_id` stands instead of `impact`, which the catalogue then fixes.

An item counts unless its quote is not in the candidate, it repeats an earlier one, or its cell (a criterion and a
perspective) is full. An empty list is a valid reply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.errors import InvalidInput, UnreadableReply
from evenhand.judges.asking import Asking, Read, ask
from evenhand.judges.citing import Field, NumberedText, Passages, QuotedPassages
from evenhand.judges.fit import TEXT, entry, list_of, refuse_repeated, refuse_unused
from evenhand.judges.prompts import Prompt, quoted
from evenhand.judges.protocol import Judging
from evenhand.judges.quotes import counts
from evenhand.judges.replies import entries, integer, kind, words
from evenhand.scoring.evidence_pools import judge_settings
from evenhand.scoring.impact import weakest_over_cap
from evenhand.terms import IMPACTS, CriterionVerdict, Evidence, Item, JudgeSpec, Message, Verdict

__all__ = ["POOL", "EvidenceJudge"]

POOL = "overall"
"""The id of the one pool where no criterion is declared."""

_MAGNITUDES = {5: "settles the matter by itself", 3: "weighs heavily", 2: "is clearly felt", 1: "is slight"}

# How long a list the schema lets grow, since small models do not stop by themselves: 40 items a pool, which reaches
# full confidence with 20, and twice what counts of a cell, so that what its cap drops can be seen.
_MOST_ITEMS = 40
_MOST_OF_A_CAP = 2


class EvidenceJudge:
    """Evidence in one pool, or in a pool for each criterion."""

    protocol = "evidence"
    version = 1

    def __init__(
        self, spec: JudgeSpec, templates: Mapping[str, str], *, reading: str = "", counter_bias: str = ""
    ) -> None:
        """Check the spec and render the prompt.

        Args:
            spec: the judge file.
            templates: prompt templates by file name.
            reading: what a pipeline's prompt says about the one source that this pass reads.
            counter_bias: further rules of reporting, against a model's leniency.
        """
        refuse_unused(spec)
        _refuse_layout(spec)
        self._cap = judge_settings(spec).cap
        self._criteria = tuple(criterion.id for criterion in spec.criteria)
        self._perspectives = spec.perspectives
        self._impacts = {found.id: found.impact for found in spec.catalog}
        self._passages = Passages(spec.cite, lambda field: _schema(spec, field))
        values = {
            **_values(spec, self._passages.wording["quote_field"]),
            "reading": reading,
            "counter_bias": counter_bias,
        }
        self._prompt = Prompt(spec, templates, values=values, schema=self._passages.schema)

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item."""
        found = yield from self.asking(item, model=model, rerun=rerun, attempt=first_attempt)
        if not isinstance(found, Read):
            return found
        items, flags = self._counted(found.value)
        pools = self._criteria or (POOL,)
        criteria = tuple(
            CriterionVerdict(id=name, items=tuple(item for item in items if (item.criterion or name) == name))
            for name in pools
        )
        return Verdict(criteria=criteria, keys=found.keys, usage=found.usage, flags=flags)

    def asking(
        self, item: Item, *, model: str, rerun: int, attempt: int, turns: Sequence[Message] = ()
    ) -> Asking[list[Evidence]]:
        """Ask for the items, as they are found and before any is left out of the count.

        Args:
            turns: what follows the item's message, where it is asked about once more.
        """
        passages = self._passages.of(item.candidate)
        call = self._passages.call(self._prompt, item, passages, model=model, rerun=rerun, attempt=attempt)
        if turns:
            call = replace(call, messages=(*call.messages, *turns))
        return ask(call, lambda text: self._read(text, passages), self._prompt.repair)

    def reply_of(self, items: Sequence[Evidence]) -> dict[str, Any]:
        """Items in the shape of a reply, to be shown to the model again."""
        return {"items": [self._entry(item) for item in items]}

    def _entry(self, item: Evidence) -> dict[str, Any]:
        shown: dict[str, Any] = {"claim": item.claim}
        shown[self._passages.field] = list(item.sentences or ()) if self._passages.cites else item.quote
        if len(self._criteria) > 1:
            shown["criterion"] = item.criterion
        if self._perspectives:
            shown["perspective"] = item.perspective
        fixed = item.catalog_id is not None
        return {**shown, "catalog_id" if fixed else "impact": item.catalog_id if fixed else item.impact}

    def _read(self, text: str, passages: QuotedPassages | NumberedText) -> list[Evidence]:
        return [
            self._item(found, f"item {place}", passages) for place, found in enumerate(entries(text, "items"), start=1)
        ]

    def _item(self, found: dict[str, Any], what: str, passages: QuotedPassages | NumberedText) -> Evidence:
        """One item.

        Raises:
            UnreadableReply: a field is missing, of the wrong type, or names what is not declared.
        """
        claim, place = words(found, "claim", what), passages.passage(found, what)
        if claim is None or place is None:
            missing, kind_of = ("claim", "a string") if claim is None else (self._passages.field, self._passages.kind)
            raise UnreadableReply(f'{what}: "{missing}" is missing; expected {kind_of}')
        catalog_id = _declared(found, "catalog_id", what, tuple(self._impacts)) if self._impacts else None
        return Evidence(
            claim=claim,
            quote=place.quote,
            impact=_impact(found, what) if catalog_id is None else self._impacts[catalog_id],
            criterion=self._criterion(found, what),
            perspective=_declared(found, "perspective", what, self._perspectives) if self._perspectives else None,
            catalog_id=catalog_id,
            quote_status=place.status,
            span=place.span,
            gap=place.gap,
            counted=counts(place.status),
            sentences=place.sentences,
        )

    def _criterion(self, found: dict[str, Any], what: str) -> str | None:
        """The item's criterion; the only one need not be named."""
        if not self._criteria:
            return None
        if len(self._criteria) == 1 and found.get("criterion") is None:
            return self._criteria[0]
        return _declared(found, "criterion", what, self._criteria)

    def _counted(self, items: Sequence[Evidence]) -> tuple[list[Evidence], tuple[str, ...]]:
        """The items with those marked that do not count, and what a reader should know about it."""
        seen: set[tuple[object, ...]] = set()
        made, repeated = [], 0
        for item in items:
            what = (item.claim, item.quote, item.impact) if item.catalog_id is None else (item.catalog_id,)
            key = (item.criterion, item.perspective, *what)
            again = key in seen and item.counted
            repeated += again
            if item.counted:
                seen.add(key)
            made.append(replace(item, counted=False) if again else item)
        over = weakest_over_cap(made, self._cap)
        for place in over:
            made[place] = replace(made[place], counted=False)
        flags = [f"repeated:{repeated}"] if repeated else []
        return made, (*flags, *([f"over_cap:{len(over)}"] if over else []))


def _impact(found: dict[str, Any], what: str) -> int:
    return integer(found, "impact", what, IMPACTS, f"one of {', '.join(map(str, IMPACTS))}")


def _declared(found: dict[str, Any], field: str, what: str, names: Sequence[str]) -> str:
    """A field that names one of the declared ids."""
    name = found.get(field)
    if isinstance(name, str) and name in names:
        return name
    raise UnreadableReply(f'{what}: "{field}" is {kind(name)}; expected one of {", ".join(map(quoted, names))}')


def _refuse_layout(spec: JudgeSpec) -> None:
    """Criteria, perspectives and catalogue that the layout can hold."""
    refuse_repeated([criterion.id for criterion in spec.criteria], "criteria", spec)
    refuse_repeated(spec.perspectives, "perspectives", spec)
    refuse_repeated([found.id for found in spec.catalog], "catalog", spec)
    if spec.layout == "matrix" and not spec.criteria:
        raise InvalidInput(f"judge {spec.name}: `layout: matrix` scores each criterion, and `criteria` is empty")
    if spec.layout == "pooled" and len(spec.criteria) > 1:
        raise InvalidInput(
            f"judge {spec.name}: `layout: pooled` scores one pool, and there are {len(spec.criteria)} criteria; "
            "set `layout: matrix`, or keep one criterion"
        )
    for found in spec.catalog:
        if found.impact not in IMPACTS:
            raise InvalidInput(
                f"judge {spec.name}: catalog {found.id!r} has the impact {found.impact}; expected one of "
                f"{', '.join(map(str, IMPACTS))}"
            )


def _values(spec: JudgeSpec, quote_field: str) -> dict[str, str]:
    """What the template is filled with."""
    places = [f"the {name} it touches most" for name, _ in _named(spec)]
    fields = ['"claim": <one sentence>', quote_field]
    fields += [f'"{name}": <one of the {name} ids>' for name, _ in _named(spec)]
    fields += ['"catalog_id": <an id of the list>' if spec.catalog else '"impact": <one of the impacts>']
    return {
        "criteria": "".join(
            f"\nCriterion {quoted(criterion.id)}{': ' if criterion.ask else ''}{criterion.ask}\n"
            for criterion in spec.criteria
        ),
        "perspectives": f"\nPerspectives: {', '.join(map(quoted, spec.perspectives))}\n" if spec.perspectives else "",
        "findings": _catalog(spec) if spec.catalog else _scale(),
        "places": f", under {' and '.join(places)}" if places else "",
        "fields": "{" + ", ".join(fields) + "}",
    }


def _catalog(spec: JudgeSpec) -> str:
    lines = [f"- {quoted(found.id)}: {found.claim}" for found in spec.catalog]
    return "\n".join(["Only these findings can be reported, each by its id:", "", *lines])


def _scale() -> str:
    lines = [f"- {n} or {-n}: the finding {what}" for n, what in _MAGNITUDES.items()]
    head = "The impact of a finding says how much it weighs. Good findings are positive, bad ones negative:"
    return "\n".join([head, "", *lines, "", "No other impact exists. Positive numbers are written without a sign."])


def _named(spec: JudgeSpec) -> list[tuple[str, Sequence[str]]]:
    """The fields by which an item says where it belongs."""
    criteria = [criterion.id for criterion in spec.criteria]
    named: list[tuple[str, Sequence[str]]] = [("criterion", criteria)] if len(criteria) > 1 else []
    return named + ([("perspective", spec.perspectives)] if spec.perspectives else [])


def _schema(spec: JudgeSpec, field: Field) -> dict[str, Any]:
    """The schema of a reply; its length is bounded against models that do not stop."""
    fields: dict[str, Mapping[str, Any]] = {"claim": TEXT, **field}
    for name, ids in _named(spec):
        fields[name] = {"type": "string", "enum": list(ids)}
    if spec.catalog:
        fields["catalog_id"] = {"type": "string", "enum": [found.id for found in spec.catalog]}
    else:
        fields["impact"] = {"type": "integer", "enum": list(IMPACTS)}
    most = _MOST_ITEMS * max(1, len(spec.criteria))
    if spec.criteria and spec.perspectives:
        most = min(most, _MOST_OF_A_CAP * judge_settings(spec).cap * len(spec.criteria)) * len(spec.perspectives)
    return list_of("items", entry(**fields), maxItems=most)
