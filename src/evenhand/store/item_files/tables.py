"""Rows of CSV and Parquet files. In CSV every cell is text: `NA`, `007` and `TRUE` are what they are.

An unterminated quote is named by the line it opens on, not by the end of the file that it swallowed; a row with too few
or too many cells, a column without a name or twice named is refused by line. `;` and tabs are accepted and said.
"""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.item_files.fields import Row
from evenhand.store.text_files import TextFile, place, quoted

__all__ = ["CsvTable", "ParquetTable", "json_value"]


@dataclass(slots=True)
class CsvTable:
    """A CSV file with a header line.

    Args:
        file: the text.
        known: names of columns that can be a field; they tell a `;` in a header from a separator.
        delimiter: found when the header is read.
    """

    file: TextFile
    known: frozenset[str]
    unit: str = "line"
    delimiter: str = ","
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)  # one setting for the whole process
        with self.file.open() as characters:
            header = characters.readline()
        self.delimiter = self._delimiter(header)

    @property
    def name(self) -> str:
        """How messages name the file."""
        return self.file.name

    def rows(self, *, check: bool, label: Callable[[Row], str]) -> Iterator[tuple[int, Row]]:
        """Each row with the line it begins on; blank lines are passed over."""
        with self.file.open() as characters:
            taken = _TakenLines(characters)
            reader = csv.reader(taken, strict=True, delimiter=self.delimiter)
            names: list[str] | None = None
            while (cells := self._cells(reader, taken)) is not None:
                line = taken.first
                if cells and names is None:
                    names = self._names(cells, line)
                elif cells and names is not None:
                    if len(cells) != len(names):
                        raise InvalidInput(self._miscounted(cells, names, taken))
                    yield line, dict(zip(names, cells, strict=True))
            if names is None:
                raise InvalidInput(f"{self.name}: the file is empty; expected a header line with column names")

    def _cells(self, reader: Any, taken: "_TakenLines") -> list[str] | None:
        """The next row's cells; None at the end."""
        taken.begin()
        try:
            cells: list[str] = next(reader)
        except StopIteration:
            return None
        except csv.Error as error:
            raise InvalidInput(self._stray_quote(str(error), taken)) from error
        return cells

    def _delimiter(self, header: str) -> str:
        """A comma, unless the header has a known column only when it is split otherwise."""
        if self._has_known(header, ","):
            return ","
        for delimiter, word in ((";", "semicolons"), ("\t", "tabs")):
            if delimiter in header and self._has_known(header, delimiter):
                self.notes.append(f"{self.name}: the columns are separated by {word}")
                return delimiter
        return ","

    def _has_known(self, header: str, delimiter: str) -> bool:
        """Whether splitting the header this way gives a column that can be a field."""
        try:
            cells = next(csv.reader([header], delimiter=delimiter), [])
        except csv.Error:
            return False
        return any(cell.strip() in self.known for cell in cells)

    def _names(self, cells: list[str], line: int) -> list[str]:
        """The header's column names; one without a name is called by its position."""
        names = [cell.strip() or f"column_{position}" for position, cell in enumerate(cells, start=1)]
        for position, (name, cell) in enumerate(zip(names, cells, strict=True), start=1):
            if names.index(name) != position - 1:
                raise InvalidInput(
                    f"{self.name} line {line}: columns {names.index(name) + 1} and {position} are both called "
                    f"{quoted(name)}; rename one of them"
                )
            note = f"{self.name} line {line}: column {position} has no name and is called {name!r}"
            if not cell.strip() and note not in self.notes:
                self.notes.append(note)
        return names

    def _miscounted(self, cells: list[str], names: list[str], taken: "_TakenLines") -> str:
        """One sentence on a row with too few or too many cells."""
        spread = f", and the row runs on to line {taken.last}: is a quote missing?" if taken.last > taken.first else ""
        return (
            f"{self.name} line {taken.first}: {len(cells)} cells, but the header names {len(names)} columns{spread}; "
            'put a cell that holds a comma or a line break in double quotes, and write a quote inside it as ""'
        )

    def _stray_quote(self, reason: str, taken: "_TakenLines") -> str:
        """One sentence on a quote that does not close, or closes in the middle of a cell."""
        if "quot" not in reason and "expected after" not in reason and "unexpected end" not in reason:
            return f"{self.name} line {taken.last}: cannot be read as CSV ({reason}); repair the line"
        opened = taken.quote_opened(self.delimiter)
        end = (
            "is not closed before the file ends"
            if "unexpected end" in reason
            else f"closes in line {taken.last} with text right behind it"
        )
        return (
            f'{self.name} line {opened}: a double quote opens here and {end}; write a quote inside a cell as "", '
            "and put double quotes around the whole cell"
        )


class _TakenLines:
    """Hands lines to the CSV reader and keeps those of the current row, to say where it began."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.last = 0
        self.first = 1
        self._row: list[str] = []

    def __iter__(self) -> "_TakenLines":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.last += 1
        self._row.append(line)
        return line

    def begin(self) -> None:
        """The next line begins a row."""
        self.first = self.last + 1
        self._row.clear()

    def quote_opened(self, delimiter: str) -> int:
        """The line on which the last quoted cell of the current row opens."""
        opened, inside, at_start = self.first, False, True
        for number, line in enumerate(self._row, start=self.first):
            position = 0
            while position < len(line):
                character = line[position]
                if inside and character == '"' and line[position + 1 : position + 2] == '"':
                    position += 1
                elif inside and character == '"':
                    inside = False
                elif not inside and character == '"' and at_start:
                    opened, inside = number, True
                at_start = not inside and character in (delimiter, "\n", "\r")
                position += 1
        return opened


@dataclass(slots=True)
class ParquetTable:
    """A Parquet file; values that JSON does not have become text (times in ISO form, decimals and NaN as written).

    Args:
        keep_bytes: hand bytes on as they are, for a reader that takes a few columns and refuses them there; else they
            are refused in any column.
    """

    path: Path
    unit: str = "row"
    notes: list[str] = field(default_factory=list)
    keep_bytes: bool = False

    @property
    def name(self) -> str:
        """How messages name the file."""
        return place(self.path)

    def rows(self, *, check: bool, label: Callable[[Row], str]) -> Iterator[tuple[int, Row]]:
        """Each row with its number, counted from 1."""
        number = 0
        with self._opened() as file:
            names = file.schema_arrow.names
            doubled = next((name for name in names if names.count(name) > 1), None)
            if doubled is not None:
                raise InvalidInput(f"{self.name}: two columns are called {quoted(doubled)}; rename one of them")
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {name: self._cell(value, number, name) for name, value in row.items()}

    def _cell(self, value: Any, number: int, column: str) -> Any:
        """A cell as JSON has it, or bytes where they are kept."""
        if self.keep_bytes and isinstance(value, bytes):
            return value
        return json_value(value, self.name, number, column)

    def _opened(self) -> Any:
        """The file, opened by pyarrow."""
        try:
            from pyarrow import ArrowInvalid
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise InvalidInput(
                f"{self.name}: reading Parquet needs pyarrow; install evenhand[parquet], or save the table as CSV"
            ) from error
        try:
            return ParquetFile(self.path)
        except FileNotFoundError as error:
            raise InvalidInput(f"{self.name}: no such file; check the path") from error
        except (ArrowInvalid, OSError) as error:
            raise InvalidInput(f"{self.name}: cannot be read as Parquet ({quoted(error)})") from error


def json_value(value: Any, name: str, number: int, column: str) -> Any:
    """A cell of Parquet as JSON has it.

    Args:
        name, number, column: file, row and column, for messages.
    Raises:
        InvalidInput: bytes, or what else has no text form.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # NaN and infinities have no JSON form
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (Decimal, timedelta)):
        return str(value)
    if isinstance(value, list):
        return [json_value(inner, name, number, column) for inner in value]
    if isinstance(value, dict):
        return {str(key): json_value(inner, name, number, column) for key, inner in value.items()}
    raise InvalidInput(
        f"{name} row {number}: column {quoted(column)} holds {type(value).__name__}, which has no text form; "
        "leave the column out, or save it as text"
    )
