"""The keys of a judge file that say what happens around a reply: how checks are read, panels, passes, guards.

    spec = with_pipeline(spec, entries)     the spec with everything under `PIPELINE_KEYS`, checked against the rest

Each key is off unless it is written. What could never take effect is refused: a breaker whose finding nobody can
report, bounds that nothing is compared with. Whether members can decide, and an escalation can happen, is left to the
run, whose models and reruns need not be the file's.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, cast

from evenhand.store.documents import Value
from evenhand.store.judge_keys.detectors import detectors_of, impact_of, source_of
from evenhand.store.judge_keys.models import models_of, same_model
from evenhand.terms import Breaker, CheckGroup, Escalation, JudgeSpec, Pass, Synthesis

__all__ = ["PIPELINE_KEYS", "PIPELINE_ONLY_FOR", "PIPELINE_USUAL", "with_pipeline"]

PIPELINE_ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "pool": ("evidence",),
    "escalate": ("checklist", "anchored"),
    "read": ("checklist",),
    "cite": ("checklist", "anchored", "evidence"),
    "passes": ("evidence",),
    "synthesis": ("evidence",),
    "detectors": ("evidence",),
    "breakers": ("evidence",),
    "counter_bias": ("evidence",),
    "near_duplicate": ("evidence",),
    "buckets": ("evidence",),
    "feedback": ("evidence",),
    "inventory": ("evidence",),
}
"""The keys read here, each with the protocols that read it."""

PIPELINE_KEYS = tuple(PIPELINE_ONLY_FOR)
PIPELINE_USUAL = {
    "escalation": "escalate",
    "reading": "read",
    "citation": "cite",
    "sources": "passes",
    "stages": "passes",
    "detector": "detectors",
    "rules": "detectors",
    "breaker": "breakers",
    "circuit_breakers": "breakers",
    "fatal": "breakers",
    "bias": "counter_bias",
    "dedup": "near_duplicate",
    "deduplicate": "near_duplicate",
    "duplicates": "near_duplicate",
    "mentoring": "feedback",
    "advice": "feedback",
}


def with_pipeline(spec: JudgeSpec, entries: Mapping[str, Value]) -> JudgeSpec:
    """The judge with its pipeline.

    Args:
        spec: the rest of the judge, read.
        entries: the file's values by key.
    Raises:
        InvalidInput: with line and field.
    """
    read: dict[str, Callable[[Value], Any]] = {
        "pool": Value.truth,
        "read": lambda value: value.choice("json", "logprob"),
        "cite": lambda value: value.choice("quote", "sentence"),
        "passes": _passes,
        "synthesis": _synthesis,
        "detectors": lambda value: detectors_of(value, spec),
        "counter_bias": _counter_bias,
        "near_duplicate": _share,
        "buckets": Value.truth,
        "feedback": Value.truth,
        "inventory": _inventory,
    }
    spec = replace(spec, **{name: of(entries[name]) for name, of in read.items() if name in entries})
    if "breakers" in entries:
        spec = replace(spec, breakers=_breakers(entries["breakers"], spec))
    if "escalate" in entries:
        spec = replace(spec, escalate=_escalation(entries["escalate"], spec))
    _refuse_conflicts(spec, entries)
    return spec


def _refuse_conflicts(spec: JudgeSpec, entries: Mapping[str, Value]) -> None:
    """Settings that cannot hold together."""
    if spec.read == "logprob" and spec.cite == "sentence":
        entries["cite"].refuse("read: logprob takes one word for an answer, which cites nothing; take one of them out")
    if spec.read == "logprob" and (with_na := _first_with_na(spec)) is not None:
        entries["read"].refuse(
            f"reads yes or no only, and the check {with_na!r} may be not applicable (na: true); use read: json, or ask "
            "without na"
        )
    if not spec.buckets:
        return
    others = {
        "catalog": bool(spec.catalog),
        "perspectives": bool(spec.perspectives),
        "layout": spec.layout == "matrix",
    }
    clash = next((name for name, is_there in others.items() if is_there), None)
    if clash is not None:
        place = entries.get(clash, entries["buckets"])
        what = "a matrix (several criteria mean one)" if clash == "layout" else clash
        place.refuse(
            f"buckets: true puts all findings into four buckets of one pool, and {what} would part them; drop one"
        )


def _first_with_na(spec: JudgeSpec) -> str | None:
    """A check that may be not applicable."""
    asked = [entry for criterion in spec.criteria for entry in criterion.checks]
    checks = [check for entry in asked for check in (entry.any_of if isinstance(entry, CheckGroup) else (entry,))]
    return next((check.id for check in checks if check.na), None)


def _counter_bias(value: Value) -> str:
    """The dial; what YAML would turn into false stays the word that was written."""
    if value.kind == "scalar" and value.written.lower() == "false":
        value.refuse("expected off, soft, full or auto; came 'false', which some programs write for off: write \"off\"")
    return value.choice("off", "soft", "full", "auto")


def _inventory(value: Value) -> int:
    """The budget of an inventory's reads, in tokens."""
    entries = value.entries(("max_tokens",), {"tokens": "max_tokens", "budget": "max_tokens"})
    if "max_tokens" not in entries:
        value.refuse("is missing; write inventory: {max_tokens: 100000}", "max_tokens")
    return entries["max_tokens"].whole(1_000)


def _share(value: Value) -> float:
    """A likeness above 0, and at most 1."""
    number = value.number()
    if not 0 < number <= 1:
        value.refuse(f"expected a likeness above 0 and at most 1, such as 0.9; came {number}")
    return float(number)


# --- passes and synthesis ------------------------------------------------------------------------------------------


def _passes(value: Value) -> tuple[Pass, ...]:
    """The readings, each with a name of its own."""
    passes: list[Pass] = []
    for element in value.items():
        one = _pass(element)
        if any(one.name == other.name for other in passes):
            element.refuse(f"the pass {one.name!r} stands here twice; names must differ")
        passes.append(one)
    if not passes:
        value.refuse("is empty; name at least one pass, or take it out for one pass over the candidate")
    return tuple(passes)


def _pass(value: Value) -> Pass:
    """One reading of one source."""
    usual = {"id": "name", "pass": "name", "prompt": "ask", "question": "ask", "reads": "source", "text": "source"}
    entries = value.entries(("name", "source", "ask", "optional"), usual)
    if "name" not in entries:
        value.refuse("is missing; a pass needs one", "name")
    source = source_of(entries.get("source"))
    optional = entries["optional"].truth() if "optional" in entries else False
    if optional and source == "candidate":
        entries["optional"].refuse("every item has a candidate, so a pass over it is never left out; take optional out")
    ask = entries["ask"].text() if "ask" in entries else ""
    return Pass(name=entries["name"].text(), source=source, ask=ask, optional=optional)


def _synthesis(value: Value) -> Synthesis | None:
    """The adversarial pass: true for the published impacts, or a mapping with others."""
    if value.kind == "scalar":
        return Synthesis() if value.truth() else None
    entries = value.entries(("contradicted_impact", "unbacked_impact"), {"contradicted": "contradicted_impact"})
    return Synthesis(
        contradicted_impact=_negative(entries["contradicted_impact"]) if "contradicted_impact" in entries else -3,
        unbacked_impact=_negative(entries["unbacked_impact"], or_none=True) if "unbacked_impact" in entries else 0,
    )


def _negative(value: Value, *, or_none: bool = False) -> int:
    """An impact below 0; 0 where that means a flag alone."""
    impact = 0 if or_none and value.whole() == 0 else impact_of(value)
    if impact > 0:
        value.refuse(
            f"a claim that does not hold cannot speak for the candidate; expected -1, -2, -3 or -5; came {impact}"
        )
    return impact


# --- breakers ------------------------------------------------------------------------------------------------------


def _breakers(value: Value, spec: JudgeSpec) -> tuple[Breaker, ...]:
    """Findings that cap the score or fail it, each once."""
    breakers: list[Breaker] = []
    for element in value.items():
        breaker = _breaker(element, spec)
        if any(breaker.finding == other.finding for other in breakers):
            element.refuse(f"the finding {breaker.finding!r} has a breaker already; keep one of them")
        breakers.append(breaker)
    return tuple(breakers)


def _breaker(value: Value, spec: JudgeSpec) -> Breaker:
    """One finding, with what it does."""
    usual = {"id": "finding", "on": "finding", "detector": "finding", "max": "cap", "limit": "cap"}
    entries = value.entries(("finding", "cap", "fail"), usual)
    if "finding" not in entries:
        value.refuse("is missing; write the id of a catalogue entry or of a detector", "finding")
    known = [entry.id for entry in spec.catalog] + [detector.id for detector in spec.detectors]
    finding = entries["finding"].known(known, "catalogue entry or detector")
    fail = entries["fail"].truth() if "fail" in entries else False
    if fail == ("cap" in entries):
        came = "both" if fail else "neither"
        value.refuse(f"expected either cap: NUMBER or fail: true; came {came}")
    return Breaker(finding=finding, cap=_cap(entries["cap"], spec) if "cap" in entries else None, fail=fail)


def _cap(value: Value, spec: JudgeSpec) -> Decimal:
    """A bound of the score below the highest one, which it could not lower."""
    cap = value.number()
    lowest, highest = (_setting(spec, name, default) for name, default in (("lowest", 0), ("highest", 100)))
    if not lowest <= cap < highest:
        value.refuse(f"expected a score from {lowest} to below {highest}; came {cap}")
    return cap


def _setting(spec: JudgeSpec, name: str, default: int) -> Decimal:
    """A bound of the formula's scale; one that is no number is refused by the formula."""
    bound = spec.scoring.get(name, default)
    return bound if isinstance(bound, Decimal) else Decimal(default)


# --- escalation ----------------------------------------------------------------------------------------------------


def _escalation(value: Value, spec: JudgeSpec) -> Escalation:
    """Whom to ask where the first is unsure, and what unsure means."""
    usual = {"models": "to", "model": "to", "lower": "low", "upper": "high", "when": "on"}
    entries = value.entries(("to", "low", "high", "on"), usual)
    models = models_of(entries["to"]) if "to" in entries else ()
    if not models:
        value.refuse("is missing or empty; name at least one model to ask then", "to")
    for element, model in zip(entries["to"].items(), models, strict=True):
        if any(same_model(model, other) for other in spec.models):
            element.refuse(f"{model.model!r} judges already, under models; name another one")
    on = entries["on"].choice("unsure", "disagreement", "both") if "on" in entries else "both"
    low = _probability(entries["low"]) if "low" in entries else 0.2
    high = _probability(entries["high"]) if "high" in entries else 0.8
    if not low < high:
        value.refuse(f"expected low below high; came low {low} and high {high}")
    _refuse_uncompared(entries, spec, on)
    return Escalation(to=models, low=low, high=high, on=cast("Literal['unsure', 'disagreement', 'both']", on))


def _refuse_uncompared(entries: Mapping[str, Value], spec: JudgeSpec, on: str) -> None:
    """Refuse what needs probabilities where there are none."""
    has_probabilities = spec.read == "logprob" and on != "disagreement"
    if on == "unsure" and not has_probabilities:
        entries["on"].refuse("needs a probability of each check; set read: logprob (protocol checklist)")
    for name in ("low", "high"):
        if name in entries and not has_probabilities:
            entries[name].refuse(
                "bounds the probability of a check, and none is compared here: it takes read: logprob, and on: unsure "
                "or both; take it out"
            )


def _probability(value: Value) -> float:
    """A number from 0 to 1."""
    number = value.number()
    if not 0 <= number <= 1:
        value.refuse(f"expected a probability from 0 to 1; came {number}")
    return float(number)
