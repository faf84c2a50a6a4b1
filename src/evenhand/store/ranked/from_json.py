"""Tables in JSON, every number in its own digits: a list of objects, an object a line, columns, or header and rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.json_text import DEEPEST, broken_at, too_deep_at
from evenhand.store.text_files import quoted

__all__ = ["json_table"]

_LISTS = ("data", "rows", "results", "leaderboard", "items", "records", "entries", "systems", "models")
_MOST_FIELDS = 1000


class _Digits(str):
    """A number as the file writes it."""


def json_table(text: str, name: str) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """The names of the columns, the rows with their places, and what the places count.

    Fields inside a field are columns too (`scores.math`).

    Raises:
        InvalidInput: no JSON, nested too deeply, or no table in it.

    >>> json_table('[{"a": "x", "s": {"b": 1.50}}, {"a": "y"}]', "t.json")
    (['a', 's.b'], [(1, ['x', '1.50']), (2, ['y', ''])], 'row')
    """
    lines = _lines(text, name)
    if lines is not None:
        return *_of_objects(lines, name), "line"
    rows = _rows(_decoded(text, name, 1), name)
    return *_of_objects(list(enumerate(rows, start=1)), name), "row"


def _lines(text: str, name: str) -> list[tuple[int, Any]] | None:
    """An object a line, or None where the text is one document."""
    numbered = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(numbered) < 2 or not all(line.strip()[0] == "{" and line.strip()[-1] == "}" for _, line in numbered):
        return None
    return [(number, _decoded(line, name, number)) for number, line in numbered]


def _decoded(text: str, name: str, line: int) -> Any:
    """JSON with the digits of its numbers kept; NaN and Infinity as Python writes them."""
    if (place := too_deep_at(text)) is not None:
        at = line + text[:place].count("\n")
        raise InvalidInput(f"{name} line {at}: nests deeper than {DEEPEST}; expected a list of objects, one a system")
    try:
        return json.loads(
            text, parse_float=_Digits, parse_int=_Digits, parse_constant=_Digits, object_pairs_hook=_object
        )
    except InvalidInput as error:
        raise InvalidInput(f"{name}{'' if line == 1 else f' line {line}'}: {error}") from error
    except json.JSONDecodeError as error:
        position, reason = broken_at(error)
        at = line + text[:position].count("\n")
        raise InvalidInput(
            f"{name} line {at}: is no JSON ({reason}); expected a list of objects, one a system"
        ) from error


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, each field of which comes once."""
    found = dict(fields)
    if len(found) < len(fields):
        names = [key for key, _ in fields]
        doubled = next(key for key in names if names.count(key) > 1)
        raise InvalidInput(f"two fields of one object are called {quoted(doubled)}; rename one of them")
    return found


def _rows(document: Any, name: str) -> Sequence[Any]:
    """The rows of a document in any of the usual layouts."""
    if isinstance(document, list):
        return _with_header(document)
    if isinstance(document, dict):
        header = document.get("columns", document.get("headers", document.get("header")))
        for key in _LISTS:
            if isinstance(rows := document.get(key), list) and rows:
                if isinstance(header, list) and all(isinstance(row, list) for row in rows):
                    names = [
                        str(column.get("name", "")) if isinstance(column, dict) else str(column) for column in header
                    ]
                    return _with_header([names, *rows])
                return _with_header(rows)
        values = list(document.values())
        if values and all(isinstance(value, list) for value in values):
            return _of_columns(document, name)
        if len(values) == 1 and next(iter(document)) in _LISTS and isinstance(values[0], dict):
            return _rows(values[0], name)
        if values and all(isinstance(value, dict) for value in values):
            if _is_indexed(values):
                return _of_columns({key: list(column.values()) for key, column in document.items()}, name)
            return [{"name": key, **value} for key, value in document.items()]
    raise InvalidInput(
        f'{name}: holds JSON, but no table; expected a list of objects such as [{{"system": "A", "score": 71.2}}]'
    )


def _is_indexed(columns: list[dict[str, Any]]) -> bool:
    """Whether these are columns whose values stand under the same row numbers, as a data frame writes them."""
    keys = list(columns[0])
    return bool(keys) and all(key.isdecimal() for key in keys) and all(list(column) == keys for column in columns)


def _with_header(rows: list[Any]) -> Sequence[Any]:
    """Lists of cells under a list of names become objects."""
    if len(rows) > 1 and all(isinstance(row, list) for row in rows):
        names = [_text(cell).strip() or f"column_{place}" for place, cell in enumerate(rows[0], start=1)]
        if len(set(names)) == len(names) and all(len(row) == len(names) for row in rows[1:]):
            return [dict(zip(names, row, strict=True)) for row in rows[1:]]
    return rows


def _of_columns(document: Mapping[str, list[Any]], name: str) -> list[dict[str, Any]]:
    """Columns of one length, as rows."""
    lengths = {key: len(values) for key, values in document.items()}
    first, n = next(iter(lengths.items()))
    if other := next((key for key, length in lengths.items() if length != n), None):
        raise InvalidInput(
            f"{name}: column {quoted(first)} holds {n} values and {quoted(other)} {lengths[other]}; give every column "
            "one value a system"
        )
    return [dict(zip(document, row, strict=True)) for row in zip(*document.values(), strict=True)]


def _of_objects(rows: list[tuple[int, Any]], name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Objects to cells; the columns stand in the order in which they first come."""
    flat: list[tuple[int, dict[str, str]]] = []
    header: dict[str, None] = {}
    for place, row in rows:
        if not isinstance(row, dict):
            raise InvalidInput(f"{name} row {place}: {quoted(_text(row))} is no object; expected one a system")
        cells = dict(_fields(row, ""))
        header.update(dict.fromkeys(cells))
        flat.append((place, cells))
        if len(header) > _MOST_FIELDS:
            raise InvalidInput(
                f"{name}: the objects have more than {_MOST_FIELDS:,} different fields; keep those that count"
            )
    return list(header), [(place, [cells.get(column, "") for column in header]) for place, cells in flat]


def _fields(row: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    """Every field with its path."""
    for key, value in row.items():
        if isinstance(value, dict) and value:
            yield from _fields(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", _text(value)


def _text(value: Any) -> str:
    """A value as it would stand in a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)
