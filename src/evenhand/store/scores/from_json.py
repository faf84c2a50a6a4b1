"""Scores in JSON: an object a line, or one list of objects; NaN is read as Python writes it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.store.item_files.rows import json_fault
from evenhand.store.scores.columns import ScoreColumns, resolve_columns
from evenhand.store.scores.rows import CHUNK, RawColumns, RowBuilder
from evenhand.store.text_files import TextFile, quoted

__all__ = ["json_cell", "read_json"]


def read_json(file: TextFile, wanted: ScoreColumns) -> RawColumns:
    """An object a line, or one list of objects."""
    rows = _json_rows(file)
    first = list(islice((row for row in rows if isinstance(row[1], dict)), 1000))
    names = list(dict.fromkeys(str(name) for _, row in first for name in row))
    if not names:
        raise InvalidInput(f'{file.name}: holds no JSON objects; expected one a line, such as {{"score": 7}}')
    if not wanted.score and str(first[0][1].get("schema", "")).startswith("evenhand.record/"):
        raise InvalidInput(f"{file.name}: these are evenhand's own records, which are read from a file; name the file")
    columns = resolve_columns(wanted, names, source=file.name, dotted=True)
    used = columns.named()
    builder = RowBuilder(columns)
    getters = [_getter(name, names) for name in used]
    rows = _json_rows(file)
    while chunk := list(islice(rows, CHUNK)):
        _add_objects(chunk, used, getters, builder)
    return builder.finished(file.name, "line", [])


def _add_objects(
    chunk: list[tuple[int, Any]], used: Sequence[str], getters: list[Callable[[Any], Any]], builder: RowBuilder
) -> None:
    """One chunk of objects; what is none is kept apart."""
    import numpy as np

    objects, lines = [], []
    for line, row in chunk:
        if isinstance(row, dict):
            objects.append(row)
            lines.append(line)
        else:
            kind = "broken JSON" if isinstance(row, _Broken) else "no JSON object"
            builder.refuse(kind, line, row.reason if isinstance(row, _Broken) else quoted(json_cell(row)))
    columns = ((name, [json_cell(get(row)) for row in objects]) for name, get in zip(used, getters, strict=True))
    builder.add(columns, np.array(lines, np.int64))


@dataclass(frozen=True, slots=True)
class _Broken:
    """A line that is no JSON."""

    reason: str


def _json_rows(file: TextFile) -> Iterator[tuple[int, Any]]:
    """Each value with its line; a file that is one list gives its entries, counted from 1."""
    decode = msgspec.json.Decoder().decode
    for number, line in enumerate(file.lines(), start=1):
        if line.isspace():
            continue
        if number == 1 and line.lstrip()[:1] == b"[":
            yield from enumerate(_whole_list(file), start=1)
            return
        try:
            yield number, decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            yield number, _python_json(line)


def _python_json(line: bytes) -> Any:
    """JSON as Python writes it: with NaN and Infinity."""
    import json

    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return _Broken(json_fault(line.rstrip(b"\r\n"), error)[2])


def _whole_list(file: TextFile) -> list[Any]:
    """A file that is one JSON list."""
    found = _python_json(file.text().encode())
    if isinstance(found, _Broken) or not isinstance(found, list):
        raise InvalidInput(f'{file.name}: begins like a JSON list, yet is none; expected [{{"score": 7}}, ...]')
    return found


def _getter(name: str, names: Sequence[str]) -> Callable[[Any], Any]:
    """How to take a field, or one inside another (`result.score`)."""
    if name in names or "." not in name:
        return lambda row: row.get(name)
    path = name.split(".")

    def inner(row: Any) -> Any:
        for part in path:
            row = row.get(part) if isinstance(row, dict) else None
        return row

    return inner


def json_cell(value: Any) -> str:
    """A JSON value as the text it would be in a table."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return msgspec.json.encode(value).decode() if isinstance(value, (dict, list)) else str(value)
