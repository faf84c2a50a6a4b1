"""Which form a table's file has, and its texts: CSV, TSV, JSON, Parquet, Markdown or HTML, within a bounded size."""

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.ranked.from_html import HtmlTable, html_tables
from evenhand.store.ranked.from_json import json_table
from evenhand.store.ranked.from_markdown import markdown_tables
from evenhand.store.ranked.grids import MOST_CELLS, Grid, bare_name, grid_of, refuse_size
from evenhand.store.ranked.refusals import refuse_drawn, refuse_foreign
from evenhand.store.text_files import place, quoted, read_text_file

__all__ = ["read_grid"]

_ENDINGS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
}
_LONGEST_HEADER = 10_000
_MOST_HEADER_ROWS = 6


def read_grid(
    path: str | Path, *, table: int | None = None, holds: str | None = None, encoding: str | None = None
) -> Grid:
    """The texts of a table.

    Args:
        path: the file; `-` is standard input.
        table: which table of a Markdown or HTML page, from 1; None takes the largest that has the column `holds`.
        encoding: Python's name of a codec; None means UTF-8, or what a byte order mark says.
    Raises:
        InvalidInput: no such file or table, too large, broken, or without rows.
    """
    name = "standard input" if str(path) == "-" else place(path)
    if str(path) != "-" and Path(path).is_file():
        refuse_size(name, os.path.getsize(path))
    form = _ENDINGS.get(Path(path).suffix.casefold())
    if str(path) != "-" and form != "parquet":
        refuse_foreign(Path(path), name)
    if form == "parquet":
        _only_one(name, table)
        return _parquet(Path(path), name)
    text = read_text_file(path, encoding=encoding, has_option=False).text()
    refuse_size(name, len(text))
    if not text.strip():
        raise InvalidInput(f"{name}: the file is empty; expected a table with a header line")
    form = form if form not in (None, "csv") or Path(path).suffix.casefold() in (".csv", ".tsv") else _sniffed(text)
    if form in ("html", "markdown"):
        return _of_page(text, name, form, table, holds)
    _only_one(name, table)
    if form == "json":
        header, rows, unit = json_table(text, name)
        return grid_of(name, header, rows, unit=unit, form="JSON")
    return _csv(text, name)


def _only_one(name: str, table: int | None) -> None:
    """Files of data hold one table."""
    if table not in (None, 1):
        raise InvalidInput(f"{name}: --table {table}: such a file holds one table; leave --table out")


def _sniffed(text: str) -> str:
    """The form, told by how the text begins."""
    head = text.lstrip()[:200].casefold()
    if head.startswith(("<!doctype", "<html", "<table", "<?xml", "<div", "<body")):
        return "html"
    if head.startswith(("{", "[")):
        return "json"
    return "markdown" if re.search(r"^\s*\|?\s*:?-{3,}:?\s*\|", text[:200_000], re.MULTILINE) else "csv"


# --- CSV -----------------------------------------------------------------------------------------------------------


def _csv(text: str, name: str) -> Grid:
    """Comma, semicolon, tab or bar, whichever the header line holds most."""
    header_line = next(line for line in text.splitlines() if line.strip())
    if len(header_line) > _LONGEST_HEADER * 10:
        raise InvalidInput(f"{name}: the first line holds {len(header_line):,} characters; expected a header line")
    refuse_drawn(text, name)
    counts = {mark: header_line.count(mark) for mark in ",;\t|"}
    delimiter = max(counts, key=lambda mark: counts[mark])
    csv.field_size_limit(1 << 20)  # one setting for the whole process
    reader = csv.reader(text.splitlines(keepends=True), strict=True, delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    n_cells, before = 0, 0
    try:
        for row in reader:
            if row:
                rows.append((before + 1, row))
                n_cells += len(row)
            before = reader.line_num
            if n_cells > MOST_CELLS:
                raise InvalidInput(
                    f"{name}: holds more than {MOST_CELLS:,} cells; keep one row a system and the columns that count"
                )
    except csv.Error as error:
        raise InvalidInput(
            f'{name} line {before + 1}: cannot be read as CSV ({error}); write a quote inside a cell as "" and put '
            "double quotes around the whole cell"
        ) from error
    _refuse_numbers(name, rows[0])
    grid = grid_of(name, rows[0][1], rows[1:], unit="line", form="TSV" if delimiter == "\t" else "CSV")
    if delimiter not in ",\t":
        grid.notes.append(f"the columns are separated by {'semicolons' if delimiter == ';' else 'bars'}")
    return grid


def _refuse_numbers(name: str, header: tuple[int, list[str]]) -> None:
    """A first line of numbers is no header."""
    if all(re.fullmatch(r"\s*[-+]?[0-9]+(?:\.[0-9]+)?\s*", cell) for cell in header[1]):
        raise InvalidInput(
            f"{name} line {header[0]}: the first line holds numbers ({quoted(','.join(header[1]))}), yet it should "
            "name the columns; put a header line such as `system,score` before it"
        )


# --- pages ---------------------------------------------------------------------------------------------------------


def _of_page(text: str, name: str, form: str, table: int | None, holds: str | None) -> Grid:
    """One table of a page: the one that is named, else the largest that has the wanted column."""
    if form == "html":
        found = html_tables(text, name)
        label = "HTML"
    else:
        found = [HtmlTable(rows=rows, n_header=1) for rows in markdown_tables(text)]
        label = "Markdown"
    whole = [one for one in found if len(one.rows) > one.n_header]
    if not whole:
        raise InvalidInput(f"{name}: holds no {label} table with rows; expected one with a header and a row a system")
    if table is not None and not 1 <= table <= len(whole):
        raise InvalidInput(f"{name}: --table {table}: the page holds {len(whole)} table(s)")
    chosen = table - 1 if table is not None else _largest(whole, holds)
    grid = _grid_of_table(whole[chosen], name, label)
    if len(whole) > 1:
        grid.notes.append(f"table {chosen + 1} of {len(whole)} on the page (--table chooses another)")
    return grid


def _largest(tables: Sequence[HtmlTable], holds: str | None) -> int:
    """The table of most cells, among those with the wanted column where any has it."""

    def rank(number: int) -> tuple[bool, int]:
        one = tables[number]
        heads = [cell.strip().casefold() for _, row in one.rows[: one.n_header] for cell in row]
        names = {*heads, *map(bare_name, heads)}
        return holds is not None and holds.strip().casefold() in names, sum(len(row) for _, row in one.rows)

    return max(range(len(tables)), key=rank)


def _grid_of_table(table: HtmlTable, name: str, label: str) -> Grid:
    """Header rows joined to names, and the rows below them."""
    head = [row for _, row in table.rows[: table.n_header]][:_MOST_HEADER_ROWS]
    width = max(len(row) for row in head)
    parts = [list(dict.fromkeys(row[column] for row in head if column < len(row))) for column in range(width)]
    names = [" ".join(part for part in column if part) for column in parts]
    body = [(line, row) for line, row in table.rows[table.n_header :] if any(cell.strip() for cell in row)]
    while body and width > 1 and not names[-1] and all(len(row) < width or not row[width - 1] for _, row in body):
        width, names = width - 1, names[:-1]
        body = [(line, row[:width]) for line, row in body]
    body = [(line, row + [""] * (width - len(row))) for line, row in body]  # as every browser shows them
    grid = grid_of(name, _distinct(names), body, unit="line", form=label)
    shorts = tuple(column[-1] if len(column) > 1 else "" for column in parts[:width])
    return replace(grid, short_names=shorts)


def _distinct(names: list[str]) -> list[str]:
    """Pages repeat headings; the second of a name gets its place behind it."""
    seen: dict[str, int] = {}
    found = []
    for column in names:
        seen[column] = seen.get(column, 0) + 1
        found.append(column if not column or seen[column] == 1 else f"{column} ({seen[column]})")
    return found


# --- Parquet -------------------------------------------------------------------------------------------------------


def _parquet(path: Path, name: str) -> Grid:
    """A Parquet file, each value as Python prints it."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InvalidInput(
            f"{name}: reading Parquet needs pyarrow; install evenhand[parquet], or save the table as CSV"
        ) from error
    try:
        with ParquetFile(path) as file:
            header = [str(column) for column in file.schema_arrow.names]
            if file.metadata.num_rows * len(header) > MOST_CELLS:
                raise InvalidInput(
                    f"{name}: holds {file.metadata.num_rows:,} rows of {len(header)} columns; at most {MOST_CELLS:,} "
                    "cells are read: keep one row a system and the columns that count"
                )
            columns = [_values(column) for column in file.read().columns]
    except FileNotFoundError as error:
        raise InvalidInput(f"{name}: no such file; check the path") from error
    except (ArrowException, OSError) as error:
        raise InvalidInput(f"{name}: cannot be read as Parquet ({quoted(error)})") from error
    rows = [(number, list(row)) for number, row in enumerate(zip(*columns, strict=True), start=1)]
    return grid_of(name, header, rows, unit="row", form="Parquet")


def _values(column: Any) -> list[str]:
    """A column's values as texts; floats of 32 or 16 bits in the few digits that they hold."""
    import numpy as np

    short = {"float": np.float32, "halffloat": np.float16}.get(str(column.type))
    return [_value(value if short is None or value is None else short(value)) for value in column.to_pylist()]


def _value(value: Any) -> str:
    """A value as text; a decimal keeps the digits that it has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
