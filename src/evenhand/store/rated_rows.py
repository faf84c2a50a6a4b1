"""Rows of grades and of scores from any other system: the file opened by its ending, its columns found by name."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.item_files.fields import Row, names_in_words
from evenhand.store.item_files.rows import JsonLines, JsonList, Rows
from evenhand.store.item_files.tables import CsvTable, ParquetTable
from evenhand.store.text_files import place, quoted, read_text_file

__all__ = ["ITEM_NAMES", "RatedRows", "id_text", "joined_id", "open_rated"]

ITEM_NAMES = ("item", "item_id", "id")
_KNOWN = frozenset({*ITEM_NAMES, "rater", "grade", "criterion", "judge", "score", "rerun"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedRows:
    """A table of ratings, open for reading.

    Args:
        name: how messages name the file.
        unit: what rows are counted in.
        columns: the columns of its rows, in the order in which they first come.
        notes: what a user should know about how it was read.
    """

    name: str
    unit: str
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    _rows: Rows

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        """Each row with its place as messages name it."""
        for number, row in self._rows.rows(check=False, label=_no_label):
            yield f"{self.name} {self.unit} {number}", row

    def column(self, wanted: str | None, usual: Sequence[str], option: str) -> str | None:
        """The column that an option names, or else the first of its usual names that is there.

        Raises:
            InvalidInput: the option names a column that no row has.
        """
        if wanted is None:
            return next((name for name in usual if name in self.columns), None)
        if wanted not in self.columns:
            raise InvalidInput(
                f"{self.name}: {option} {quoted(wanted)}: no such column; columns are {names_in_words(self.columns)}"
            )
        return wanted

    def item_columns(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The columns that together are an item's id: those wanted, or the first of the usual names.

        Returns:
            An empty tuple where there is none.
        Raises:
            InvalidInput: a wanted column is missing.
        """
        if wanted:
            return tuple(name for one in wanted if (name := self.column(one, (), "--item")) is not None)
        found = self.column(None, ITEM_NAMES, "--item")
        return () if found is None else (found,)


def open_rated(
    path: str | Path, *, known: Iterable[str] = (), encoding: str | None = None, others_as_lines: bool = False,
    constants: bool = True,
) -> RatedRows:  # fmt: skip
    """Open a table of ratings: .csv, .tsv, .jsonl, .ndjson, .json or .parquet; every row is read once here.

    Args:
        known: names of columns that the caller looks for; they tell a `;` in a header from a separator.
        others_as_lines: read a file of any other ending as JSONL.
        constants: read NaN as null in JSON, as Python writes it; else it is broken.
    Raises:
        InvalidInput: another ending, or a row that cannot be read, with its place.
    """
    rows = _rows(path, _KNOWN | set(known), encoding, constants, ".jsonl" if others_as_lines else None)
    columns: dict[str, None] = {}
    n = 0
    for _, row in rows.rows(check=True, label=_no_label):
        n += 1
        if len(row) != len(columns) or not columns.keys() >= row.keys():
            columns.update(dict.fromkeys(row))
    if n == 0:
        raise InvalidInput(f"{rows.name}: holds no rows; expected at least one under the header")
    return RatedRows(name=rows.name, unit=rows.unit, columns=tuple(columns), notes=tuple(rows.notes), _rows=rows)


def id_text(value: Any, where: str, column: str) -> str:
    """An id as text, without surrounding white space; `007` is not `7`.

    Raises:
        InvalidInput: empty, or no text and no whole number.
    """
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    came = "nothing" if value is None or value == "" else quoted(value)
    raise InvalidInput(f"{where}: column {quoted(column)} holds {came}; expected an id in every row")


def joined_id(row: Row, columns: Sequence[str], where: str) -> str:
    """An item's id from one column, or from several joined by ` / `."""
    return " / ".join(id_text(row.get(column), where, column) for column in columns)


def _no_label(row: Row) -> str:
    return ""


def _rows(
    path: str | Path, known: frozenset[str], encoding: str | None, constants: bool, otherwise: str | None
) -> Rows:
    """The reader for a path, chosen by its ending; `otherwise` is that of an ending that none is for."""
    suffix = Path(path).suffix.casefold()
    if suffix in (".parquet", ".pq"):
        return ParquetTable(Path(path), keep_bytes=True)
    readers: dict[str, Callable[[], Rows]] = {
        ".csv": lambda: CsvTable(read_text_file(path, encoding=encoding, has_option=False), known),
        ".tsv": lambda: CsvTable(read_text_file(path, encoding=encoding, has_option=False), known),
        ".jsonl": lambda: JsonLines(read_text_file(path, encoding=encoding, has_option=False), constants=constants),
        ".ndjson": lambda: JsonLines(read_text_file(path, encoding=encoding, has_option=False), constants=constants),
        ".json": lambda: JsonList(read_text_file(path, encoding=encoding, has_option=False), constants=constants),
    }
    if Path(path).is_dir():
        raise InvalidInput(f"{place(path)}: is a folder; expected a table (.csv, .jsonl, .json or .parquet)")
    if suffix not in readers and otherwise is not None:
        suffix = otherwise
    if suffix not in readers:
        raise InvalidInput(
            f"{place(path)}: tables are read from .csv, .tsv, .jsonl, .json or .parquet; name the file so"
        )
    return readers[suffix]()
