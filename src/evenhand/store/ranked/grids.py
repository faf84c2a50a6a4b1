"""A table before its cells are read: texts in rows, each with its place, from whatever form the file has."""

import re
from dataclasses import dataclass, field

from evenhand.errors import InvalidInput
from evenhand.store.text_files import quoted

__all__ = ["MOST_BYTES", "MOST_CELLS", "Grid", "bare_name", "grid_of", "refuse_size"]

MOST_BYTES = 16 << 20
MOST_CELLS = 500_000

_ARROWS = "▲▼▴▾△▽▵▿◄►◂▸↑↓↕⇅⇵⇧⇩⇑⇓⬆⬇⬍⮃⯅⯆🔼🔽🔺🔻\ufe0e\ufe0f"
_SIGNS = re.compile(
    rf"^[{_ARROWS}\s]+|(?:[{_ARROWS}\s]|[*†‡§¶]|[¹²³⁰⁴-⁹ᵃ-ᶻ]|\^\(?[0-9a-z]\)?|\[[0-9a-z]{{1,3}}\]|\((?:[{_ARROWS}]+)\))+$"
)


@dataclass(slots=True, kw_only=True)
class Grid:
    """A table of texts.

    Attributes:
        header: the columns' names, as they stand.
        rows: cells by row, each as long as the header.
        lines: where each row stands in the file.
        unit: what `lines` counts: `line` or `row`.
        form: `CSV`, `TSV`, `JSON`, `Parquet`, `Markdown` or `HTML`.
        short_names: the last part of a name that several header rows make up (`easy` for `Math easy`).
        refused: rows left out: (line, why).
    """

    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    lines: list[int]
    unit: str
    form: str
    short_names: tuple[str, ...] = ()
    refused: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bare_name(name: str) -> str:
    """A header without the signs of a page around it: sort arrows, marks of footnotes; as it is, if nothing is left.

    >>> [bare_name(name) for name in ("Overall ▼", "MMLU†", "Acc (↑)", "GSM8K [2]", "⬍ Score", "*", "FID")]
    ['Overall', 'MMLU', 'Acc', 'GSM8K', 'Score', '*', 'FID']
    """
    return _SIGNS.sub("", _SIGNS.sub("", name)) or name


def refuse_size(name: str, n_bytes: int) -> None:
    """Refuse a file that is larger than any published table.

    Raises:
        InvalidInput: it holds more than `MOST_BYTES`.
    """
    if n_bytes > MOST_BYTES:
        raise InvalidInput(
            f"{name}: holds {n_bytes / 1e6:,.0f} MB; a table of components and a composite may hold at most "
            f"{MOST_BYTES / 1e6:.0f} MB: keep one row a system and the columns that count"
        )


def grid_of(name: str, header: list[str], rows: list[tuple[int, list[str]]], *, unit: str, form: str) -> Grid:
    """A grid of rows that may be ragged: a row of another width, or the header once more, is left out and named.

    Raises:
        InvalidInput: no rows, doubled names, or more than a tenth of the rows of another width.
    """
    names = tuple(cell.strip() or f"column_{place}" for place, cell in enumerate(header, start=1))
    doubled = next((column for column in names if names.count(column) > 1), None)
    if doubled is not None:
        raise InvalidInput(f"{name}: two columns are called {quoted(doubled)}; rename one of them")
    if len(names) * len(rows) > MOST_CELLS:
        raise InvalidInput(
            f"{name}: holds {len(rows):,} rows of {len(names)} columns; at most {MOST_CELLS:,} cells are read: keep "
            "one row a system and the columns that count"
        )
    grid = Grid(header=names, rows=[], lines=[], unit=unit, form=form)
    for line, row in rows:
        cells = tuple(row)
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            grid.refused.append((line, f"{len(cells)} cells instead of {len(names)}"))
        elif tuple(cell.strip() for cell in cells) == names:
            grid.refused.append((line, "the header once more"))
        else:
            grid.rows.append(cells)
            grid.lines.append(line)
    _refuse_ragged(name, grid)
    return grid


def _refuse_ragged(name: str, grid: Grid) -> None:
    """A table that is mostly of another width has not been understood."""
    ragged = [place for place in grid.refused if "cells instead" in place[1]]
    if ragged and len(ragged) * 10 > len(ragged) + len(grid.rows):
        line, why = ragged[0]
        raise InvalidInput(
            f"{name} {grid.unit} {line}: {why}, and so are {len(ragged)} of {len(ragged) + len(grid.rows)} rows; give "
            "every row as many cells as the header, and put quotes around a cell that holds the separator"
        )
    if not grid.rows:
        raise InvalidInput(f"{name}: holds no rows; expected a header and a row for each system")
