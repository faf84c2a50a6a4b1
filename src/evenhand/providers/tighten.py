"""A schema made tighter, for a runtime that enforces all of JSON Schema and models that need to be held.

Two things that vendors' strict modes do not take, and that a grammar can promise:
- **Each id once, in order.** A list that must hold n entries whose ids come from n names is written entry by entry. A
  small model otherwise gives one id n times: of 12 checklist replies of SmolLM2 not one had every id.
- **No text without an end.** A text of unstated length gets a limit. A small model at temperature 0 otherwise repeats a
  sentence until its tokens are spent. A quotation that is cut by the limit is still the candidate's own words.

What the tightened schema accepts the given one accepts, so that nothing is read differently.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["LONGEST_TEXT", "tightened"]

LONGEST_TEXT = 300
"""Code points of a text whose schema states no limit."""

_STATED = ("enum", "const", "maxLength", "pattern", "format")


def tightened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with each listed id once, in order, and an end to every text.

    >>> tightened({"type": "string"})
    {'type': 'string', 'maxLength': 300}
    >>> tightened({"type": "string", "enum": ["a", "b"]})
    {'type': 'string', 'enum': ['a', 'b']}
    """
    entries = _entries(schema)
    if entries is not None:
        rest = {name: value for name, value in schema.items() if name not in ("items", "minItems", "maxItems")}
        n = len(entries)
        return {**rest, "prefixItems": [tightened(e) for e in entries], "items": False, "minItems": n, "maxItems": n}
    inner = {name: _inside(name, value) for name, value in schema.items()}
    if schema.get("type") == "string" and not any(name in schema for name in _STATED):
        inner["maxLength"] = LONGEST_TEXT
    return inner


def _inside(name: str, value: Any) -> Any:
    """The value of one keyword, tightened where it holds schemas."""
    if name in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
        return {key: tightened(inner) if isinstance(inner, Mapping) else inner for key, inner in value.items()}
    if name in ("anyOf", "prefixItems") and isinstance(value, Sequence):
        return [tightened(inner) if isinstance(inner, Mapping) else inner for inner in value]
    return tightened(value) if name == "items" and isinstance(value, Mapping) else value


def _entries(schema: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The schemas of n entries with n ids, one for each id; None where the list is another one."""
    n, items = schema.get("minItems"), schema.get("items")
    if schema.get("type") != "array" or not n or n != schema.get("maxItems") or not isinstance(items, Mapping):
        return None
    variants = items.get("anyOf", [items])
    if any("enum" not in variant.get("properties", {}).get("id", {}) for variant in variants):
        return None
    entries = [
        {**variant, "properties": {**variant["properties"], "id": {"const": name}}}
        for variant in variants
        for name in variant["properties"]["id"]["enum"]
    ]
    names = {entry["properties"]["id"]["const"] for entry in entries}
    return entries if len(entries) == len(names) == n else None
