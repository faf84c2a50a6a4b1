"""Does a judge file fit its protocol, and the schema of its replies."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.terms import Check, Criterion, JudgeSpec

__all__ = [
    "TEXT",
    "checks_of",
    "entry",
    "list_of",
    "listed",
    "refuse_repeated",
    "refuse_unused",
    "require_criteria",
    "whole",
]

TEXT: Mapping[str, Any] = {"type": "string"}
"""The schema of any text. It bounds no length: several vendors refuse `maxLength`, and max_tokens bounds the reply."""

_UNUSED = {
    "checks": "checklist",
    "level_texts": "anchored",
    "examples": "anchored",
    "perspectives": "evidence",
    "catalog": "evidence",
    "matrix": "evidence",
    "logprob": "checklist",
    "passes": "evidence",
    "synthesis": "evidence",
    "detectors": "evidence",
    "breakers": "evidence",
    "counter_bias": "evidence",
    "near_duplicate": "evidence",
    "buckets": "evidence",
    "commit": "commit",
}
_CITING = ("checklist", "anchored", "evidence")


def require_criteria(spec: JudgeSpec) -> None:
    """At least one criterion, and no id twice.

    Raises:
        InvalidInput: as said.
    """
    if not spec.criteria:
        raise InvalidInput(f"judge {spec.name}: `criteria` is empty; the protocol {spec.protocol} needs at least one")
    refuse_repeated([criterion.id for criterion in spec.criteria], "criteria", spec)


def refuse_repeated(ids: Sequence[str], where: str, spec: JudgeSpec) -> None:
    """No id twice, since replies are read by id.

    Raises:
        InvalidInput: an id stands twice or is empty.
    """
    if "" in ids:
        raise InvalidInput(f"judge {spec.name}: an entry of `{where}` has an empty id; give it a name")
    twice = [name for name, n in Counter(ids).items() if n > 1]
    if twice:
        raise InvalidInput(
            f"judge {spec.name}: the id {twice[0]!r} stands {ids.count(twice[0])} times in `{where}`; ids must differ "
            "over the whole judge, since replies are read by id: rename one"
        )


def refuse_unused(spec: JudgeSpec) -> None:
    """No setting that the protocol would pass over in silence.

    Raises:
        InvalidInput: a setting of another protocol is there.
    """
    criteria = spec.criteria
    present = {
        "checks": any(criterion.checks for criterion in criteria),
        "level_texts": any(criterion.level_texts for criterion in criteria),
        "examples": bool(spec.examples),
        "perspectives": bool(spec.perspectives),
        "catalog": bool(spec.catalog),
        "matrix": spec.layout == "matrix",
        "logprob": spec.read == "logprob",
        "passes": bool(spec.passes),
        "synthesis": spec.synthesis is not None,
        "detectors": bool(spec.detectors),
        "breakers": bool(spec.breakers),
        "counter_bias": spec.counter_bias != "off",
        "near_duplicate": spec.near_duplicate is not None,
        "buckets": spec.buckets,
        "commit": spec.commit is not None,
    }
    names = {
        "level_texts": "described levels",
        "matrix": "`layout: matrix`",
        "logprob": "`read: logprob`",
        "commit": "`answer`",
    }
    for what, owner in _UNUSED.items():
        if present[what] and owner != spec.protocol:
            raise InvalidInput(
                f"judge {spec.name}: {names.get(what, f'`{what}`')} belongs to the protocol {owner}, and this judge's "
                f"is {spec.protocol}; take it out, or set `protocol: {owner}`"
            )
    if spec.cite != "quote" and spec.protocol not in _CITING:
        raise InvalidInput(
            f"judge {spec.name}: `cite: {spec.cite}` belongs to the protocols {', '.join(_CITING)}, and this judge's "
            f"is {spec.protocol}; take it out"
        )


def checks_of(criterion: Criterion) -> list[Check]:
    """The checks of a criterion in order, those of groups among them."""
    found: list[Check] = []
    for entry in criterion.checks:
        found.extend([entry] if isinstance(entry, Check) else entry.any_of)
    return found


def whole(value: Decimal, what: str) -> int:
    """A whole number.

    Raises:
        InvalidInput: it has a fraction.
    """
    if value != int(value):
        raise InvalidInput(f"{what} is {value}; expected a whole number")
    return int(value)


def entry(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these fields, all required, in this order."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def list_of(top: str, items: Mapping[str, Any], **bounds: int) -> dict[str, Any]:
    """The schema of a reply: a list under its top key."""
    return entry(**{top: {"type": "array", "items": items, **bounds}})


def listed(top: str, ids_by_schema: Sequence[tuple[Sequence[str], Mapping[str, Mapping[str, Any]]]]) -> dict[str, Any]:
    """The schema of a reply with one entry for each id: ids that share their other fields share an object."""
    variants = [entry(id={"type": "string", "enum": list(ids)}, **fields) for ids, fields in ids_by_schema]
    n = sum(len(ids) for ids, _ in ids_by_schema)
    items = variants[0] if len(variants) == 1 else {"anyOf": variants}
    return list_of(top, items, minItems=n, maxItems=n)
