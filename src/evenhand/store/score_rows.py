"""Rows of CSV, JSONL, JSON and Parquet as columns of factorised texts; rows that cannot be read are counted and named.

A log is read in spite of a torn line, a repeated header or a row with too many cells: these hold no score that could be
trusted, so each is kept apart by kind with its line. Where more than a tenth of all rows are like that, the file is not
what it was taken for and is refused.
"""

import csv
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.store.score_columns import ScoreColumns, resolve_columns
from evenhand.store.text_files import TextFile, place, quoted, read_text_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Names", "RawColumns", "read_columns"]

_CHUNK = 8192
_MOST_UNREADABLE = 0.1
_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """A column of texts, factorised.

    Attributes:
        codes: (n,) place of each row's text in `names`; -1 where the row has none.
        names: the distinct texts, in the order in which they first come.
    """

    codes: "NDArray[np.int32]"
    names: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class RawColumns:
    """What was read, before any text is taken as a number.

    Attributes:
        source: how messages name the file.
        unit: what its places are: `line` or `row`.
        columns: which column plays which role.
        texts: factorised texts by column; JSON's null and a missing field are "".
        line: (n,) where each row begins.
        unreadable: kind to the places and words of rows that could not be read, the first few.
        n_unreadable: kind to how many there were.
        notes: what a reader should know about how the file was read.
        decimal_comma: whether the file's separator leaves the comma to decimals.
    """

    source: str
    unit: str
    columns: ScoreColumns
    texts: dict[str, Names]
    line: "NDArray[np.int64]"
    unreadable: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    n_unreadable: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    decimal_comma: bool = False


class _Codes(dict[str, int]):
    """Gives each new text the next number."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class _Builder:
    """Columns that grow chunk by chunk."""

    def __init__(self, names: Sequence[str]) -> None:
        self._codes = {name: _Codes() for name in names}
        self._parts: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}
        self._lines: list[NDArray[np.int64]] = []
        self.unreadable: dict[str, list[tuple[int, str]]] = {}
        self.n_unreadable: dict[str, int] = {}

    def add(self, columns: Iterable[tuple[str, Sequence[str]]], lines: "NDArray[np.int64]") -> None:
        """Add one chunk of each column."""
        import numpy as np

        for name, texts in columns:
            codes = map(self._codes[name].__getitem__, texts)
            self._parts[name].append(np.fromiter(codes, np.int32, len(texts)))
        self._lines.append(lines)

    def refuse(self, kind: str, line: int, words: str) -> None:
        """Count a row that cannot be read."""
        self.n_unreadable[kind] = self.n_unreadable.get(kind, 0) + 1
        examples = self.unreadable.setdefault(kind, [])
        if len(examples) < _EXAMPLES:
            examples.append((line, words))

    def finished(self, source: str, unit: str, columns: ScoreColumns, notes: list[str]) -> RawColumns:
        """The whole table."""
        import numpy as np

        line = np.concatenate(self._lines) if self._lines else np.zeros(0, np.int64)
        self._check(source, unit, len(line))
        texts = {
            name: Names(codes=np.concatenate(parts) if parts else np.zeros(0, np.int32), names=tuple(self._codes[name]))
            for name, parts in self._parts.items()
        }
        return RawColumns(
            source=source, unit=unit, columns=columns, texts=texts, line=line,
            unreadable=self.unreadable, n_unreadable=self.n_unreadable, notes=notes,
        )  # fmt: skip

    def _check(self, source: str, unit: str, n: int) -> None:
        """Refuse a file without rows, and one that is mostly unreadable."""
        n_bad = sum(self.n_unreadable.values())
        if n == 0 and n_bad == 0:
            raise InvalidInput(f"{source}: holds no rows of scores; expected a header and a row for each score")
        if n_bad > _MOST_UNREADABLE * (n + n_bad):
            kind, examples = next(iter(self.unreadable.items()))
            raise InvalidInput(
                f"{source}: {n_bad} of {n + n_bad} rows cannot be read, the first in {unit} {examples[0][0]} "
                f"({kind}: {examples[0][1]}); repair the file, or convert it to CSV or JSONL"
            )


def read_columns(path: str | Path, wanted: ScoreColumns) -> RawColumns:
    """The columns that play a role, as texts.

    Args:
        path: CSV (also separated by semicolons or tabs), JSONL, a JSON list of objects, or Parquet; `-` is standard
            input.
    Raises:
        InvalidInput: no such file, encoding, column or rows; a header that names a column twice; more than a tenth of
            the rows unreadable.
    """
    suffix = Path(path).suffix.casefold()
    with _no_cycles():
        if suffix in (".parquet", ".pq"):
            return _parquet(Path(path), wanted)
        file = read_text_file(path, has_option=False)
        if suffix in (".jsonl", ".ndjson", ".json") or (suffix not in (".csv", ".tsv") and _looks_like_json(file)):
            return _json(file, wanted)
        return _csv(file, wanted)


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Millions of short lists are made and dropped, none in a cycle: looking for cycles takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _looks_like_json(file: TextFile) -> bool:
    """Whether the first line that is not blank begins an object or a list."""
    first = next((line for line in file.lines() if not line.isspace()), b"")
    return first.lstrip()[:1] in (b"{", b"[")


# --- CSV -----------------------------------------------------------------------------------------------------------


def _csv(file: TextFile, wanted: ScoreColumns) -> RawColumns:
    """A CSV file with a header line."""
    csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)  # one setting for the whole process
    with file.open() as characters:
        head = characters.readline()
        while head and head.isspace():
            head = characters.readline()
    delimiter, notes = _delimiter(file, head)
    with file.open() as characters:
        reader = csv.reader(characters, strict=True, delimiter=delimiter)
        header = _header(reader, file)
        columns = resolve_columns(wanted, header, source=file.name)
        places = [(name, header.index(name)) for name in columns.named()]
        builder = _Builder([name for name, _ in places])
        for line, rows in _csv_chunks(reader, file):
            lines, cells = _sound(rows, line, header, builder)
            if cells:
                builder.add(((name, cells[place]) for name, place in places), lines)
    raw = builder.finished(file.name, "line", columns, notes)
    raw.decimal_comma = delimiter != ","
    return raw


def _delimiter(file: TextFile, head: str) -> tuple[str, list[str]]:
    """A comma, unless the header holds none and another separator."""
    if not head.strip():
        raise InvalidInput(f"{file.name}: the file is empty; expected a header line with column names")
    for delimiter, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if delimiter in head and head.count(delimiter) > head.count(","):
            return delimiter, [f"the columns are separated by {word}"]
    return ",", []


def _header(reader: Any, file: TextFile) -> list[str]:
    """The names of the columns, each once, and none of them a number."""
    cells: list[str] = []
    while not cells:
        cells = next(reader)
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InvalidInput(
            f"{file.name} line {reader.line_num}: two columns are called {quoted(doubled)}; rename one of them"
        )
    if all(name.replace(".", "", 1).lstrip("+-").isdecimal() for name in names):
        raise InvalidInput(
            f"{file.name} line {reader.line_num}: the first line holds numbers ({quoted(','.join(names))}), yet it "
            "should name the columns; put a header line such as `item,score` before it"
        )
    return names


def _csv_chunks(reader: Any, file: TextFile) -> Iterator[tuple[int, list[list[str]]]]:
    """Rows by the thousand, with the line before the first of them."""
    while True:
        before = reader.line_num
        try:
            rows = list(islice(reader, _CHUNK))
        except csv.Error as error:
            raise InvalidInput(
                f"{file.name}: cannot be read as CSV from a row between lines {before + 1} and {reader.line_num} on "
                f'({error}); write a quote inside a cell as "" and put double quotes around the whole cell'
            ) from error
        if not rows:
            return
        yield before, rows


def _sound(
    rows: list[list[str]], before: int, header: list[str], builder: _Builder
) -> "tuple[NDArray[np.int64], list[tuple[str, ...]]]":
    """The cells column by column, and the line of each row; what is no row of scores is kept apart."""
    import numpy as np

    width = len(header)
    if set(map(len, rows)) == {width}:
        cells = list(zip(*rows, strict=True))
        if cells[0].count(header[0]) == 0 and not any("\n" in "".join(column) for column in cells):
            return np.arange(before + 1, before + 1 + len(rows), dtype=np.int64), cells
    kept, lines, line = [], [], before + 1
    for row in rows:
        if len(row) == width and [cell.strip() for cell in row] != header:
            kept.append(row)
            lines.append(line)
        elif row and len(row) == width:
            builder.refuse("the header once more", line, quoted(row[0]))
        elif row:
            builder.refuse("another number of cells", line, f"{len(row)} instead of {width}")
        line += max(1, 1 + sum(cell.count("\n") for cell in row))
    return np.array(lines, np.int64), list(zip(*kept, strict=True)) if kept else []


# --- JSON ----------------------------------------------------------------------------------------------------------


def _json(file: TextFile, wanted: ScoreColumns) -> RawColumns:
    """An object a line, or one list of objects."""
    rows = _json_rows(file)
    first = list(islice((row for row in rows if isinstance(row[1], dict)), 1000))
    names = list(dict.fromkeys(str(name) for _, row in first for name in row))
    if not names:
        raise InvalidInput(f'{file.name}: holds no JSON objects; expected one a line, such as {{"score": 7}}')
    columns = resolve_columns(wanted, names, source=file.name, dotted=True)
    used = columns.named()
    builder = _Builder(used)
    getters = [_getter(name, names) for name in used]
    rows = _json_rows(file)
    while chunk := list(islice(rows, _CHUNK)):
        _add_objects(chunk, used, getters, builder)
    return builder.finished(file.name, "line", columns, [])


def _add_objects(
    chunk: list[tuple[int, Any]], used: Sequence[str], getters: list[Callable[[Any], Any]], builder: _Builder
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
            builder.refuse(kind, line, row.reason if isinstance(row, _Broken) else quoted(_text(row)))
    columns = ((name, [_text(get(row)) for row in objects]) for name, get in zip(used, getters, strict=True))
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
        return _Broken(getattr(error, "msg", "not UTF-8, or nested too deeply"))


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


def _text(value: Any) -> str:
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


# --- Parquet -------------------------------------------------------------------------------------------------------


def _parquet(path: Path, wanted: ScoreColumns) -> RawColumns:
    """A Parquet file, column by column."""
    import numpy as np

    name = place(path)
    file = _parquet_file(path, name)
    with file:
        names = file.schema_arrow.names
        doubled = next((column for column in names if names.count(column) > 1), None)
        if doubled is not None:
            raise InvalidInput(f"{name}: two columns are called {quoted(doubled)}; rename one of them")
        columns = resolve_columns(wanted, names, source=name)
        table = file.read(columns=list(columns.named()))
    builder = _Builder(())
    raw = builder.finished(name, "row", columns, []) if table.num_rows == 0 else None
    if raw is not None:
        return raw
    texts = {column: _arrow_names(table.column(column)) for column in columns.named()}
    return RawColumns(
        source=name, unit="row", columns=columns, texts=texts, line=np.arange(1, table.num_rows + 1, dtype=np.int64)
    )


def _parquet_file(path: Path, name: str) -> Any:
    """The file, opened by pyarrow."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InvalidInput(
            f"{name}: reading Parquet needs pyarrow; install evenhand[parquet], or save the table as CSV"
        ) from error
    try:
        return ParquetFile(path)
    except FileNotFoundError as error:
        raise InvalidInput(f"{name}: no such file; check the path") from error
    except (ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{name}: cannot be read as Parquet ({quoted(error)})") from error


def _arrow_names(column: Any) -> Names:
    """A column factorised; null is ""."""
    import numpy as np
    import pyarrow.types as kinds

    whole = column.combine_chunks()
    encoded = whole if kinds.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    names = [_arrow_text(value) for value in encoded.dictionary.to_pylist()]
    if (codes < 0).any():
        codes[codes < 0] = len(names)
        names.append("")
    return Names(codes=codes, names=tuple(names))


def _arrow_text(value: Any) -> str:
    """A cell as text; times in ISO form."""
    return value.isoformat() if hasattr(value, "isoformat") else _text(value)
