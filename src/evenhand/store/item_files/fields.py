"""From a row of a file to an item: which column is which field, and everything in it is text.

Fields are `id`, `task`, `candidate`, `reference`, `context`, `system`, and `sources` (see sources.py); what else a
row holds is metadata. Usual names
of other tools are understood (`ALIASES`), `--map field=column` settles the rest. The canonical name wins over an alias
beside it, which then is metadata; two aliases without it are refused. A row with `candidate_a` and `candidate_b` (or
an alias with these ends) and no candidate is a pair: the first is its candidate, the second its source `candidate_b`;
`system_a` is its system, `system_b` metadata. Nothing is parsed, rounded or lower-cased: an id
`007` is not `7`. Only ids lose surrounding white space; a candidate is kept to the last character.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.item_files.sources import SOURCES, SourceColumns, Sources, named_column, source_name
from evenhand.store.item_files.values import field_text
from evenhand.store.text_files import quoted
from evenhand.terms import Item

__all__ = ["ALIASES", "FIELDS", "Fields", "Row", "field_mapping", "names_in_words"]

Row = Mapping[str, Any]
FIELDS = ("id", "task", "candidate", "reference", "context", "system")
ALIASES = {
    "task": ("input", "question", "prompt"),
    "candidate": ("output", "answer", "response"),
    "reference": ("expected", "target", "ground_truth"),
}
_PLANS_KEPT = 1000
_PAIRED = ("candidate_a", "candidate_b")


def field_mapping(assignments: Iterable[str]) -> dict[str, str]:
    """The mapping that `--map field=column` arguments state.

    Raises:
        InvalidInput: no `=`, an unknown field, a field or a column twice.

    >>> field_mapping(["candidate=my column"])
    {'candidate': 'my column'}
    """
    mapping: dict[str, str] = {}
    for assignment in assignments:
        name, equals, column = assignment.partition("=")
        if not equals or not column:
            raise InvalidInput(
                f"--map {quoted(assignment)}: expected field=column; write FIELD=COLUMN, such as candidate=my_column"
            )
        if name in mapping:
            raise InvalidInput(f"--map {quoted(assignment)}: {name} is mapped to {quoted(mapping[name])} already")
        mapping[name] = column
    _check_mapping(mapping)
    return mapping


def names_in_words(names: Iterable[str], limit: int = 12) -> str:
    """Column names for a message, quoted; the first ones where there are many."""
    every = list(names)
    return ", ".join(map(quoted, every[:limit])) + (f" and {len(every) - limit} more" if len(every) > limit else "")


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the fields of rows with one set of columns stand."""

    columns: tuple[str | None, ...]  # in the order of FIELDS
    rest: tuple[str, ...]
    sources: SourceColumns | None


@dataclass(slots=True)
class Fields:
    """Turns rows into items.

    Args:
        mapping: field to column, as `--map` states it.
        numbered: whether ids are made from row numbers, since no row brings one.
        notes: what was decided about columns, in order; a mapping serves as an ordered set.
        columns: seen in any row, in order.
        sources: collects each item's further texts.
    Raises:
        InvalidInput: an unknown field, or one column for two fields.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    numbered: bool = False
    notes: dict[str, None] = field(default_factory=dict)
    columns: dict[str, None] = field(default_factory=dict)
    sources: Sources = field(default_factory=Sources)
    _plans: dict[tuple[str, ...], _Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_mapping(self.mapping)

    def item(self, row: Mapping[str, Any], number: int) -> Item:
        """The item of one row; an absent id is empty, unless ids are numbered.

        Args:
            row: column to value.
            number: of the row, counted from 1.
        Raises:
            InvalidInput: two aliases of a field, or a value that is no text; the caller adds file and line.
        """
        plan = self.plan(tuple(row))
        item_id, task, candidate, reference, context, system = plan.columns
        identifier = _text(row, item_id, "id").strip()
        metadata = {name: row[name] for name in plan.rest}
        return Item(
            id=identifier or (f"row-{number}" if self.numbered else ""),
            candidate=_text(row, candidate, "candidate"),
            task=_text(row, task, "task") or None,
            reference=_text(row, reference, "reference") or None,
            context=_text(row, context, "context") or None,
            system=_text(row, system, "system") or None,
            sources=self.sources.of_row(row, plan.sources, metadata) if plan.sources else {},
            metadata=metadata,
        )

    def plan(self, columns: tuple[str, ...]) -> _Plan:
        """Where the fields stand among these columns.

        Raises:
            InvalidInput: two aliases of one field and neither its canonical name nor a mapping.
        """
        plan = self._plans.get(columns)
        if plan is None:
            found = tuple(self._column(name, columns) for name in FIELDS)
            sources = SourceColumns.among(columns, self.mapping)
            pair = self._pair(columns) if found[2] is None else None
            if pair is not None:
                system = found[5] or ("system_a" if "system_a" in columns else None)
                found = (*found[:2], pair[0], *found[3:5], system)
                sources = replace(sources, named=(*sources.named, (_PAIRED[1], pair[1])))
            rest = tuple(column for column in columns if column not in found)
            plan = _Plan(columns=found, rest=rest, sources=sources if sources.whole or sources.named else None)
            if len(self.columns) < _PLANS_KEPT:
                self.columns.update(dict.fromkeys(columns))
            if len(self._plans) < _PLANS_KEPT:  # rows of many shapes must not fill the memory
                self._plans[columns] = plan
        return plan

    def raw_id(self, row: Mapping[str, Any]) -> object:
        """The id as the row writes it, for messages and for counting what was stripped."""
        column = self.plan(tuple(row)).columns[0]
        return None if column is None else row[column]

    def _pair(self, columns: tuple[str, ...]) -> tuple[str, str] | None:
        """The columns of two candidates in one row, or None; what `--map` names serves nothing else."""
        if "candidate" in self.mapping:
            return None
        taken = set(self.mapping.values())
        for stem in ("candidate", *ALIASES["candidate"]):
            first, second = f"{stem}_a", f"{stem}_b"
            if first in columns and second in columns and not taken & {first, second}:
                return first, second
        return None

    def _column(self, name: str, columns: tuple[str, ...]) -> str | None:
        """The column that holds a field, or None."""
        if name in self.mapping:
            return self.mapping[name] if self.mapping[name] in columns else None
        taken = set(self.mapping.values())
        aliases = [alias for alias in ALIASES.get(name, ()) if alias in columns and alias not in taken]
        if name in columns and name not in taken:
            for alias in aliases:
                self.notes[f"{alias!r} is kept as metadata, since {name!r} stands beside it"] = None
            return name
        if len(aliases) > 1:
            raise InvalidInput(
                f"{' and '.join(map(repr, aliases))} can all mean {name!r}; say which with --map {name}={aliases[0]}"
            )
        return aliases[0] if aliases else None


def _text(row: Mapping[str, Any], column: str | None, name: str) -> str:
    """A field's text; empty where no column holds it."""
    return "" if column is None else field_text(row[column], column, name)


def _check_mapping(mapping: Mapping[str, str]) -> None:
    """Refuse unknown fields, and one column for two."""
    for name in mapping:
        source = named_column(name)
        if source is not None:
            source_name(source, f"--map {quoted(name)}")
        elif name not in (*FIELDS, SOURCES):
            near = difflib.get_close_matches(name, [*FIELDS, SOURCES], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(f"--map {quoted(name)}: no such field; use {', '.join(FIELDS)} or source:NAME{hint}")
    by_column: dict[str, str] = {}
    for name, column in mapping.items():
        if column in by_column:
            raise InvalidInput(f"--map: {quoted(column)} cannot be both {by_column[column]!r} and {name!r}")
        by_column[column] = name
