"""The four buckets of a draft's readiness: what works, what does not, what is missing, what confuses.

Reply: {"working": [{"claim": ..., "quote": ..., "value": 3}], "not_working": [], "missing": [], "confusing": []}

Values are magnitudes; the bucket gives the sign. All four make one pool. What is missing cannot always be quoted: under
`missing` an item without a quote counts, one whose quote is not in the text does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.errors import InvalidInput, UnreadableReply
from evenhand.judges.asking import Asking, ask
from evenhand.judges.citing import Field, NumberedText, Passages, QuotedPassages
from evenhand.judges.fit import TEXT, entry
from evenhand.judges.parse import reply_object
from evenhand.judges.prompts import Prompt, quoted
from evenhand.judges.quotes import counts
from evenhand.judges.replies import integer, kind, words
from evenhand.scoring.pipeline import BUCKETS
from evenhand.terms import Evidence, Item, JudgeSpec, Message

__all__ = ["IMPACTS_BY_BUCKET", "BucketReader"]

IMPACTS_BY_BUCKET: Mapping[str, Mapping[int, int]] = {
    "working": {1: 1, 2: 2, 3: 3, 5: 5},
    "not_working": {1: -1, 2: -2, 3: -3, 5: -5},
    "missing": {1: -1, 2: -2, 3: -3, 5: -5},
    "confusing": {1: -1, 2: -2, 3: -3},
}
"""Bucket to value to the impact that it stands for."""

_VALUES = {5: "settles the matter by itself", 3: "weighs heavily", 2: "is clearly felt", 1: "is slight"}
_NO_PLACE = {"quote": "the quote is an empty string", "sentence": "the list is empty"}
_MOST_ITEMS = 20


class BucketReader:
    """Asks for findings in buckets, and reads them.

    Args:
        spec: the judge file, with one pool.
        templates: prompt templates by file name.
        reading: what the prompt says about the one source that this pass reads.
        counter_bias: further rules of reporting.
    Raises:
        InvalidInput: a catalogue, perspectives or several criteria, which buckets have no place for.
    """

    def __init__(
        self, spec: JudgeSpec, templates: Mapping[str, str], *, reading: str = "", counter_bias: str = ""
    ) -> None:
        _refuse_others(spec)
        self._criterion = spec.criteria[0].id if spec.criteria else None
        self._passages = Passages(spec.cite, _schema)
        values = {
            "reading": reading,
            "counter_bias": counter_bias,
            "criteria": "".join(f"\nWhat matters: {one.ask}\n" for one in spec.criteria if one.ask),
            "values": "\n".join(_value_lines()),
            "no_place": _NO_PLACE[spec.cite],
            "fields": "{"
            + ", ".join(
                ['"claim": <one sentence>', self._passages.wording["quote_field"], '"value": <one of the values>']
            )
            + "}",
        }
        self._prompt = Prompt(spec, templates, values=values, schema=self._passages.schema, template="buckets.md")

    def asking(
        self, item: Item, *, model: str, rerun: int, attempt: int, turns: Sequence[Message] = ()
    ) -> Asking[list[Evidence]]:
        """Ask for the items of all buckets, in the order of the buckets."""
        passages = self._passages.of(item.candidate)
        call = self._passages.call(self._prompt, item, passages, model=model, rerun=rerun, attempt=attempt)
        if turns:
            call = replace(call, messages=(*call.messages, *turns))
        return ask(call, lambda text: self._read(text, passages), self._prompt.repair)

    def reply_of(self, items: Sequence[Evidence]) -> dict[str, Any]:
        """Items in the shape of a reply, to be shown to the model again."""
        reply: dict[str, Any] = {bucket: [] for bucket in BUCKETS}
        for item in items:
            shown = list(item.sentences or ()) if self._passages.cites else item.quote
            entry_of = {"claim": item.claim, self._passages.field: shown, "value": abs(item.impact)}
            reply[item.bucket or BUCKETS[0]].append(entry_of)
        return reply

    def _read(self, text: str, passages: QuotedPassages | NumberedText) -> list[Evidence]:
        reply = reply_object(text, BUCKETS[0])
        items = []
        for bucket in BUCKETS:
            found = reply.get(bucket)
            if not isinstance(found, list):
                raise UnreadableReply(f'"{bucket}" is {kind(found)}; expected a list')
            for place, value in enumerate(found, start=1):
                if not isinstance(value, dict):
                    raise UnreadableReply(f'"{bucket}": entry {place} is {kind(value)}; expected an object')
                items.append(self._item(value, bucket, f'"{bucket}": entry {place}', passages))
        return items

    def _item(self, found: dict[str, Any], bucket: str, what: str, passages: QuotedPassages | NumberedText) -> Evidence:
        """One item.

        Raises:
            UnreadableReply: a field is missing or of the wrong type, or a value that its bucket does not have.
        """
        claim, place = words(found, "claim", what), passages.passage(found, what)
        if claim is None or place is None:
            missing, kind_of = ("claim", "a string") if claim is None else (self._passages.field, self._passages.kind)
            raise UnreadableReply(f'{what}: "{missing}" is missing; expected {kind_of}')
        impacts = IMPACTS_BY_BUCKET[bucket]
        value = integer(found, "value", what, impacts, f"one of {', '.join(map(str, impacts))}, without a sign")
        return Evidence(
            claim=claim,
            impact=impacts[value],
            quote=place.quote,
            criterion=self._criterion,
            bucket=bucket,
            quote_status=place.status,
            span=place.span,
            gap=place.gap,
            counted=counts(place.status) or (bucket == "missing" and not place.quote),
            sentences=place.sentences,
        )


def _schema(field: Field) -> dict[str, Any]:
    """All four lists, each with its own values."""
    return entry(
        **{
            bucket: {
                "type": "array",
                "items": entry(claim=TEXT, **field, value={"type": "integer", "enum": list(impacts)}),
                "maxItems": _MOST_ITEMS,
            }
            for bucket, impacts in IMPACTS_BY_BUCKET.items()
        }
    )


def _value_lines() -> list[str]:
    """What each value means, and which buckets have it."""
    lines = []
    for value, what in _VALUES.items():
        without = [quoted(bucket) for bucket, impacts in IMPACTS_BY_BUCKET.items() if value not in impacts]
        lines.append(f"- {value}: the finding {what}" + (f" (not in {', '.join(without)})" if without else ""))
    return lines


def _refuse_others(spec: JudgeSpec) -> None:
    """One pool, free claims, one view."""
    others = {
        "a catalogue": bool(spec.catalog),
        "perspectives": bool(spec.perspectives),
        "several criteria": len(spec.criteria) > 1 or spec.layout == "matrix",
    }
    for what, is_there in others.items():
        if is_there:
            raise InvalidInput(f"judge {spec.name}: `buckets` make one pool of free findings, and {what} would part it")
