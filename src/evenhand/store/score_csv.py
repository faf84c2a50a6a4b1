"""Scores in a CSV file: quoted line breaks, semicolons, tabs, byte order marks and CRLF as others write them."""

import csv
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.store.score_columns import ScoreColumns, resolve_columns
from evenhand.store.score_rows import CHUNK, RawColumns, RowBuilder
from evenhand.store.text_files import TextFile, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read_csv"]


def read_csv(file: TextFile, wanted: ScoreColumns) -> RawColumns:
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
        builder = RowBuilder(columns)
        for before, rows in _chunks(reader, file):
            lines, cells = _sound(rows, before, reader.line_num, header, builder)
            if cells:
                builder.add(((name, cells[place]) for name, place in places), lines)
    raw = builder.finished(file.name, "line", notes)
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


def _chunks(reader: Any, file: TextFile) -> Iterator[tuple[int, list[list[str]]]]:
    """Rows by the thousand, with the line before the first of them."""
    while True:
        before = reader.line_num
        try:
            rows = list(islice(reader, CHUNK))
        except csv.Error as error:
            raise InvalidInput(
                f"{file.name}: cannot be read as CSV from a row between lines {before + 1} and {reader.line_num} on "
                f'({error}); write a quote inside a cell as "" and put double quotes around the whole cell'
            ) from error
        if not rows:
            return
        yield before, rows


def _sound(
    rows: list[list[str]], before: int, after: int, header: list[str], builder: RowBuilder
) -> "tuple[NDArray[np.int64], list[tuple[str, ...]]]":
    """The cells column by column, and the line of each row; what is no row of scores is kept apart.

    Args:
        before: the line before the first row.
        after: the last line of the last row; a row a line means that none runs over a line break.
    """
    import numpy as np

    width = len(header)
    if after - before == len(rows) and set(map(len, rows)) == {width}:
        cells = list(zip(*rows, strict=True))
        if header[0] not in cells[0]:
            return np.arange(before + 1, after + 1, dtype=np.int64), cells
    kept, lines, line = [], [], before + 1
    for row in rows:
        if len(row) == width and [cell.strip() for cell in row] != header:
            kept.append(row)
            lines.append(line)
        elif row and len(row) == width:
            builder.refuse("the header once more", line, quoted(row[0]))
        elif row:
            builder.refuse("another number of cells", line, f"{len(row)} instead of {width}")
        line += 1 + sum(cell.count("\n") for cell in row)
    return np.array(lines, np.int64), list(zip(*kept, strict=True)) if kept else []
