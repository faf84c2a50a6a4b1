"""What makes an item or a judge the same: content keys over everything that can change a verdict, and nothing else.

    item_hash    task, candidate, reference, context and system; not the id, not the metadata
    judge_hash   protocol, rubric, layout, formula settings and sampling; not the name, the models or the reruns

A field that is absent does not enter the key, so that a field added later leaves the keys of older items as they are.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evenhand.keys import content_key
from evenhand.terms import Check, CheckGroup, Criterion, Item, JudgeSpec

__all__ = ["decimal_text", "item_content", "item_hash", "judge_hash", "rubric_document"]


def item_hash(item: Item) -> str:
    """The content key of what an item says, whatever its id.

    >>> item_hash(Item(id="a", candidate="Yes.")) == item_hash(Item(id="b", candidate="Yes.", metadata={"n": 1}))
    True
    """
    return content_key(item_content(item))


def item_content(item: Item) -> dict[str, str]:
    """The part of an item that its hash names."""
    content = {"candidate": item.candidate}
    if item.task is not None:
        content["task"] = item.task
    if item.reference is not None:
        content["reference"] = item.reference
    if item.context is not None:
        content["context"] = item.context
    if item.system is not None:
        content["system"] = item.system
    return content


def judge_hash(spec: JudgeSpec) -> str:
    """The content key of all in a judge that can change a verdict or a score; equal numbers are equal (1 and 1.0)."""
    return content_key(rubric_document(spec))


def rubric_document(spec: JudgeSpec) -> dict[str, Any]:
    """The part of a judge that its hash names, as plain JSON with exact numbers as text."""
    return {
        "protocol": spec.protocol,
        "criteria": [_criterion(criterion) for criterion in spec.criteria],
        "scoring": {name: _scalar(value) for name, value in spec.scoring.items()},
        "layout": spec.layout,
        "perspectives": list(spec.perspectives),
        "catalog": [{"id": entry.id, "claim": entry.claim, "impact": entry.impact} for entry in spec.catalog],
        "examples": [
            {"candidate": example.candidate, "level": example.level, "reason": example.reason}
            for example in spec.examples
        ],
        "temperature": spec.temperature,
        "max_tokens": spec.max_tokens,
    }


def decimal_text(value: Decimal) -> str:
    """A decimal written in one way only: no exponent, no trailing zeros.

    >>> decimal_text(Decimal("0.50")), decimal_text(Decimal("1E+1")), decimal_text(Decimal("-0"))
    ('0.5', '10', '0')
    """
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) if value else "0"


def _criterion(criterion: Criterion) -> dict[str, Any]:
    """A criterion as plain JSON; level descriptions are keyed by the level's text."""
    return {
        "id": criterion.id,
        "weight": None if criterion.weight is None else decimal_text(criterion.weight),
        "ask": criterion.ask,
        "levels": None if criterion.levels is None else [decimal_text(bound) for bound in criterion.levels],
        "level_texts": {str(level): text for level, text in criterion.level_texts.items()},
        "map": criterion.map,
        "checks": [_group(entry) if isinstance(entry, CheckGroup) else _check(entry) for entry in criterion.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    """A check as plain JSON."""
    return {
        "id": check.id,
        "ask": check.ask,
        "weight": decimal_text(check.weight),
        "quote": check.quote,
        "na": check.na,
    }


def _group(group: CheckGroup) -> dict[str, Any]:
    """A group of checks as plain JSON."""
    return {
        "id": group.id,
        "weight": decimal_text(group.weight),
        "any_of": [_check(check) for check in group.any_of],
    }


def _scalar(value: Any) -> Any:
    """A formula setting as plain JSON: numbers exactly, as text."""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return decimal_text(Decimal(repr(value)))
    if isinstance(value, Mapping):
        return {name: _scalar(inner) for name, inner in value.items()}
    return value
