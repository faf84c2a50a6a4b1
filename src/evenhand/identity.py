"""What makes an item or a judge the same: content keys over everything that can change a verdict, and nothing else.

    item_hash    task, candidate, reference, context, system, sources, whether it is a repository; not id nor metadata
    judge_hash   protocol, rubric, layout, pipeline, formula settings, sampling; not the name, the models or the reruns

A field that is absent, and a setting that has its default, does not enter the key, so that what is added later leaves
the keys of older items and judges as they are. (Settings of the first release enter always.)
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evenhand.keys import content_key
from evenhand.terms import (
    Breaker,
    Check,
    CheckGroup,
    Commit,
    Criterion,
    Detector,
    Escalation,
    Item,
    JudgeSpec,
    Pass,
    Synthesis,
)

__all__ = ["decimal_text", "item_content", "item_hash", "judge_hash", "rubric_document"]


def item_hash(item: Item) -> str:
    """The content key of what an item says, whatever its id.

    >>> item_hash(Item(id="a", candidate="Yes.")) == item_hash(Item(id="b", candidate="Yes.", metadata={"n": 1}))
    True
    """
    return content_key(item_content(item))


def item_content(item: Item) -> dict[str, Any]:
    """The part of an item that its hash names."""
    content: dict[str, Any] = {"candidate": item.candidate}
    if item.task is not None:
        content["task"] = item.task
    if item.reference is not None:
        content["reference"] = item.reference
    if item.context is not None:
        content["context"] = item.context
    if item.system is not None:
        content["system"] = item.system
    if item.sources:
        content["sources"] = dict(item.sources)
    if item.repository:
        content["repository"] = True
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
        **_pipeline(spec),
    }


def _pipeline(spec: JudgeSpec) -> dict[str, Any]:
    """What a judge does beyond reading each reply once; only what differs from doing nothing of it."""
    said = {
        "pool": spec.pool,
        "escalate": _escalation(spec.escalate, spec.read) if spec.escalate else None,
        "read": spec.read if spec.read != "json" else None,
        "cite": spec.cite if spec.cite != "quote" else None,
        "passes": [_pass(one) for one in spec.passes],
        "synthesis": _synthesis(spec.synthesis) if spec.synthesis else None,
        "detectors": [_detector(one) for one in spec.detectors],
        "breakers": [_breaker(one) for one in spec.breakers],
        "counter_bias": spec.counter_bias if spec.counter_bias != "off" else None,
        "near_duplicate": spec.near_duplicate,
        "buckets": spec.buckets,
        "feedback": spec.feedback,
        "inventory": None if spec.inventory is None else {"max_tokens": spec.inventory},
        **({} if spec.commit is None else _commit(spec.commit)),
    }
    return {name: value for name, value in said.items() if value is not None and value is not False and value != []}


def _commit(commit: Commit) -> dict[str, Any]:
    """How a judge answers for itself, and what counts as the same answer."""
    said = {name: _scalar(value) for name, value in commit.match.items()}
    top: dict[str, Any] = {name: said.pop(name) for name in ("tolerance", "choices") if name in said}
    return {
        "answer": said.pop("kind", None),
        "mode": commit.mode,
        **top,
        "match": said or None,
        "commitments": commit.commitments if commit.commitments > 1 else None,
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
        **({"needs": criterion.needs} if criterion.needs is not None else {}),
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


def _escalation(escalation: Escalation, read: str) -> dict[str, Any]:
    """When further models are asked, and which; neither where they are reached, nor bounds of what nothing reads."""
    document: dict[str, Any] = {"to": [model.model for model in escalation.to], "on": escalation.on}
    if read == "logprob" and escalation.on != "disagreement":
        document.update(low=escalation.low, high=escalation.high)
    return document


def _pass(one: Pass) -> dict[str, Any]:
    """A pass as plain JSON."""
    document: dict[str, Any] = {"name": one.name, "source": one.source}
    if one.ask:
        document["ask"] = one.ask
    if one.optional:
        document["optional"] = True
    return document


def _synthesis(synthesis: Synthesis) -> dict[str, Any]:
    """The impacts that synthesis applies."""
    return {"contradicted_impact": synthesis.contradicted_impact, "unbacked_impact": synthesis.unbacked_impact}


def _detector(detector: Detector) -> dict[str, Any]:
    """A detector as plain JSON."""
    document: dict[str, Any] = {
        "id": detector.id,
        "kind": detector.kind,
        "what": detector.what,
        "claim": detector.claim,
        "impact": detector.impact,
        "fires_on": detector.fires_on,
        "source": detector.source,
        "timeout_s": detector.timeout_s,
    }
    if detector.criterion is not None:
        document["criterion"] = detector.criterion
    if detector.perspective is not None:
        document["perspective"] = detector.perspective
    return document


def _breaker(breaker: Breaker) -> dict[str, Any]:
    """A breaker as plain JSON."""
    document: dict[str, Any] = {"finding": breaker.finding}
    if breaker.cap is not None:
        document["cap"] = decimal_text(breaker.cap)
    if breaker.fail:
        document["fail"] = True
    return document


def _scalar(value: Any) -> Any:
    """A formula setting as plain JSON: numbers exactly, as text."""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return decimal_text(Decimal(repr(value)))
    if isinstance(value, Mapping):
        return {name: _scalar(inner) for name, inner in value.items()}
    return value
