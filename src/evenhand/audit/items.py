"""The tasks of an audit: what is asked and which answer is right; a candidate need not be there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.rated_rows import id_text, open_rated
from evenhand.store.text_files import quoted

__all__ = ["AuditItem", "read_audit_items", "with_gold"]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "task_id", "item"),
    "task": ("task", "question", "input", "problem", "prompt"),
    "gold": ("reference", "gold", "gold_answer", "target", "answer", "canonical_solution", "expected"),
    "candidate": ("candidate", "response", "output", "completion"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem:
    """One task.

    Args:
        id: as the file has it.
        task: what is asked; "" where it is not given.
        gold: the right answer; "" where it is not given.
        candidate: an answer that was given; "" where there is none.
        row: the whole row, for a channel that wants more of it.
    """

    id: str
    task: str = ""
    gold: str = ""
    candidate: str = ""
    row: Mapping[str, Any] = field(default_factory=dict)


def read_audit_items(path: Path) -> tuple[AuditItem, ...]:
    """Read the tasks of a file: JSONL, JSON, CSV, TSV or Parquet.

    Raises:
        InvalidInput: no id, an id twice, or a gold that is no text and no number, with its place.
    """
    rows = open_rated(path, known=[name for names in _NAMES.values() for name in names])
    columns = {part: next((name for name in names if name in rows.columns), None) for part, names in _NAMES.items()}
    if columns["id"] is None:
        raise InvalidInput(f"{rows.name}: no column of ids; expected one of {', '.join(_NAMES['id'])}")
    seen: dict[str, str] = {}
    items = []
    for place, row in rows:
        found = id_text(row.get(columns["id"]), place, columns["id"])
        if found in seen:
            raise InvalidInput(f"{place}: the id {quoted(found)} stands in {seen[found]} already; ids must differ")
        seen[found] = place
        items.append(_item(found, row, columns, place))
    return tuple(items)


def _item(name: str, row: Mapping[str, Any], columns: Mapping[str, str | None], place: str) -> AuditItem:
    gold = _text(row, columns["gold"], place)
    if columns["gold"] == "canonical_solution":  # of a function whose head is the prompt
        gold = _text(row, columns["task"], place) + gold
    return AuditItem(
        id=name,
        task=_text(row, columns["task"], place),
        gold=gold,
        candidate=_text(row, columns["candidate"], place),
        row=row,
    )


def _text(row: Mapping[str, Any], column: str | None, place: str) -> str:
    """A cell as text; a number is written as it stands."""
    value = None if column is None else row.get(column)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise InvalidInput(f"{place}: column {quoted(column)} holds {quoted(value)}; expected text or a number")


def with_gold(items: Sequence[AuditItem]) -> list[AuditItem]:
    """The items whose right answer is known."""
    return [item for item in items if item.gold.strip()]
