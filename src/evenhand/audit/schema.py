"""The published form of what `evenhand audit --json` prints; a change that breaks a reader is a new version."""

import json
from importlib.resources import files

from evenhand.integrity.verdicts import CRITERION_IDS

__all__ = ["schema_text", "study_schema_text"]

_COUNT = {"type": "integer", "minimum": 0}


def schema_text() -> str:
    """JSON Schema (2020-12) of an audit, `evenhand.audit/1`."""
    return files("evenhand.audit").joinpath("data", "audit.schema.json").read_text("utf-8")


def study_schema_text() -> str:
    """JSON Schema of many audits, `evenhand.audit_study/1`, with that of one in it."""
    audit = json.loads(schema_text())
    definitions = {**audit.pop("$defs"), "audit": {k: v for k, v in audit.items() if not k.startswith("$")}}
    broken = _record({"config": {"type": "string"}, "reason": {"type": "string"}})
    study = _record(
        {
            "schema": {"const": "evenhand.audit_study/1"},
            "criteria_version": audit["properties"]["criteria_version"],
            "n": _COUNT,
            "failed": _COUNT,
            "populations": _record({"verifiable": _population(), "subjective": _population()}),
            "audits": {"type": "array", "items": {"$ref": "#/$defs/audit"}},
            "broken": {"type": "array", "items": broken},
        }
    )
    named = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "evenhand.audit_study/1",
        "title": "What evenhand audit --study --json prints",
    }
    return json.dumps({**named, **study, "$defs": definitions}, indent=2) + "\n"


def _population() -> dict[str, object]:
    """How often each word came, by criterion, and the feedback statuses."""
    words = _record(dict.fromkeys(("pass", "fail", "insufficient evidence", "not applicable"), _COUNT))
    feedback = _record(dict.fromkeys(("held_out", "exposed", "unknown"), _COUNT))
    return _record({"n": _COUNT, "criteria": _record(dict.fromkeys(CRITERION_IDS, words)), "feedback": feedback})


def _record(properties: dict[str, object]) -> dict[str, object]:
    """An object with these properties, all of them, and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
