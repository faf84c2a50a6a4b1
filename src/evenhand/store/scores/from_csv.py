"""Scores in a CSV file: quoted line breaks, semicolons, tabs, byte order marks and CRLF as others write them."""

import csv
import io
import sys
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TextIO

from evenhand.errors import InvalidInput
from evenhand.store.scores.columns import ScoreColumns, resolve_columns
from evenhand.store.scores.rows import CHUNK, RawColumns, RowBuilder
from evenhand.store.text_files import TextFile, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read_csv"]

_BLOCK = 1 << 19
_LINE_END = ord("\n")


def read_csv(file: TextFile, wanted: ScoreColumns) -> RawColumns:
    """A CSV file with a header line."""
    csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)  # one setting for the whole process
    with file.open() as characters:
        head = characters.readline()
        while head and head.isspace():
            head = characters.readline()
    delimiter, notes = _delimiter(file, head)
    with file.open() as characters:
        lines = _CountedLines(characters)
        header = _header(csv.reader(lines, strict=True, delimiter=delimiter), lines, file)
        columns = resolve_columns(wanted, header, source=file.name)
        places = [(name, header.index(name)) for name in columns.named()]
        builder = RowBuilder(columns)
        rest = _add_plain(characters, lines, header, delimiter, places, builder)
        reader = csv.reader(lines.after(rest), strict=True, delimiter=delimiter)
        for before, rows in _chunks(reader, lines, file):
            numbers, cells = _sound(rows, before, lines.n, header, builder)
            if cells:
                builder.add(((name, cells[place]) for name, place in places), numbers)
    raw = builder.finished(file.name, "line", notes)
    raw.decimal_comma = delimiter != ","
    return raw


class _CountedLines:
    """Lines of a file for the CSV reader, and how many of them were taken."""

    def __init__(self, characters: TextIO) -> None:
        self._characters: Iterator[str] = iter(characters.readline, "")
        self.n = 0

    def after(self, text: str) -> "_CountedLines":
        """First the lines of a text that was taken from the file already."""
        self._characters = chain(io.StringIO(text, newline=""), self._characters)
        return self

    def __iter__(self) -> "_CountedLines":
        return self

    def __next__(self) -> str:
        line = next(self._characters)
        self.n += 1
        return line


def _add_plain(
    characters: TextIO,
    lines: _CountedLines,
    header: list[str],
    delimiter: str,
    places: list[tuple[str, int]],
    builder: RowBuilder,
) -> str:
    """Add the rows as long as they are plain: no quote, and as many cells in each line as the header has.

    Plain rows are cut all at once, which takes half the time of the CSV reader; where the first block is not plain,
    what was read of it is returned, and the CSV reader goes on from there.
    """
    import numpy as np

    open_line = ""
    while block := characters.read(_BLOCK):
        whole, end, open_line = (open_line + block).rpartition("\n")
        if not end:
            continue
        cells = _plain_cells(whole, header, delimiter)
        if cells is None:
            return whole + end + open_line
        n = len(cells) // len(header)
        builder.add(
            ((name, cells[place :: len(header)]) for name, place in places),
            np.arange(lines.n + 1, lines.n + 1 + n, dtype=np.int64),
        )
        lines.n += n
    return open_line


def _plain_cells(text: str, header: list[str], delimiter: str) -> list[str] | None:
    """All cells of some whole lines, one after the other; None where a line is not plain."""
    import numpy as np

    if '"' in text:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
        if "\r" in text:
            return None
    width = len(header)
    codes = np.frombuffer(text.encode(), np.uint8)
    marks = codes[(codes == ord(delimiter)) | (codes == _LINE_END)]
    ends = np.append(marks, np.uint8(_LINE_END)) == _LINE_END
    if len(ends) % width or not ends[width - 1 :: width].all() or int(ends.sum()) * width != len(ends):
        return None
    cells = text.replace("\n", delimiter).split(delimiter)
    first = cells[::width]
    return None if header[0] in first or (width == 1 and "" in first) else cells


def _delimiter(file: TextFile, head: str) -> tuple[str, list[str]]:
    """A comma, unless the header holds none and another separator."""
    if not head.strip():
        raise InvalidInput(f"{file.name}: the file is empty; expected a header line with column names")
    for delimiter, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if delimiter in head and head.count(delimiter) > head.count(","):
            return delimiter, [f"the columns are separated by {word}"]
    return ",", []


def _header(reader: Any, lines: "_CountedLines", file: TextFile) -> list[str]:
    """The names of the columns, each once, and none of them a number."""
    cells: list[str] = []
    while not cells:
        cells = next(reader)
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InvalidInput(f"{file.name} line {lines.n}: two columns are called {quoted(doubled)}; rename one of them")
    if all(name.replace(".", "", 1).lstrip("+-").isdecimal() for name in names):
        raise InvalidInput(
            f"{file.name} line {lines.n}: the first line holds numbers ({quoted(','.join(names))}), yet it "
            "should name the columns; put a header line such as `item,score` before it"
        )
    return names


def _chunks(reader: Any, lines: "_CountedLines", file: TextFile) -> Iterator[tuple[int, list[list[str]]]]:
    """Rows by the thousand, with the line before the first of them."""
    while True:
        before = lines.n
        try:
            rows = list(islice(reader, CHUNK))
        except csv.Error as error:
            raise InvalidInput(
                f"{file.name}: cannot be read as CSV from a row between lines {before + 1} and {lines.n} on "
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
