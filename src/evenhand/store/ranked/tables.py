"""A published table with components and a composite: `read_ranked_table(path, settings)`, and what was read.

Nothing is dropped or replaced in silence: rows that a condition or a broken line leaves out, missing and infinite
cells, text among numbers, probable sentinels and doubled names are all named in `RankedTable.document()`.
"""

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import InvalidInput
from evenhand.store.ranked.cells import cell_reader, comma_hint
from evenhand.store.ranked.columns import RankedColumn, read_column
from evenhand.store.ranked.forms import read_grid
from evenhand.store.ranked.grids import Grid, bare_name
from evenhand.store.row_filters import rows_where
from evenhand.store.text_files import place, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RankedTable", "TableSettings", "alias_option", "missing_option", "read_ranked_table"]

_NAMES = (
    *("system", "name", "model", "method", "team", "submission", "entry", "participant", "agent", "run", "player"),
    *("country", "university", "university_name", "institution", "dept", "department", "company", "club", "city"),
    *("systems", "models", "algorithm", "approach", "candidate", "essay", "student", "id"),
)
_ORDER = re.compile(r"(?:.*[\s_-])?(?:rank|ranking|position|place|pos|#|no\.?|nr\.?|listing|index|year)", re.IGNORECASE)
_PRINTING = {
    "zeros dropped": "trailing zeros are dropped, so every cell counts with the column's most decimals",
    "mixed decimals": "the cells have different decimals, and each counts with its own",
    "whole numbers": "no number has a fraction, so that whole numbers were printed",
}
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """How a table is to be read.

    Args:
        score: column of the composite; None where it is not needed.
        name: column that names the systems; None finds it, "" numbers the rows instead.
        columns: the components; empty takes every column of numbers that is neither score, name nor place.
        where: which rows count.
        aliases: further names of columns: alias to column.
        exact: columns whose printed numbers are the numbers (counts).
        lower: columns where lower is better.
        decimal_comma: whether `62,5` is a number.
        table: which table of a page, from 1.
        encoding: of the file; None means UTF-8 or its mark.
    """

    score: str | None = None
    name: str | None = None
    columns: tuple[str, ...] = ()
    where: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    exact: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    decimal_comma: bool = False
    table: int | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedTable:
    """The rows that count.

    Attributes:
        source: how messages name the file.
        form: `CSV`, `TSV`, `JSON`, `Parquet`, `Markdown` or `HTML`.
        names: (n,) of the systems as they stand; duplicates are possible.
        labels: (n,) the same, a doubled name with its row behind it, so that each is one row's.
        rows: (n,) number of each row among the file's rows, from 1; rows left out leave gaps.
        lines: (n,) where it stands in the file.
        columns: every column by its name, text columns and parts of paired cells included.
        components: names of those that count.
        score: name of the composite; None where none was named.
        name: name of the column that names the systems; None where they are numbered.
        aliases: further names of columns, those of the user and the short ones of headers in several rows.
        dropped: rows left out: (line, why).
        notes: what a reader should know, in sentences.
    """

    source: str
    form: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    lines: tuple[int, ...]
    columns: Mapping[str, RankedColumn]
    components: tuple[str, ...]
    score: str | None
    name: str | None
    aliases: Mapping[str, str]
    dropped: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """How many rows count."""
        return len(self.rows)

    def find(self, name: str) -> str:
        """A column's own name for a name as a user writes it: exact, an alias, or the one that differs in case only.

        Raises:
            InvalidInput: no such column; says which was perhaps meant.
        """
        return _find(name, self.columns, self.aliases, self.source)

    def document(self) -> dict[str, Any]:
        """What was read, as `--json` prints it under `table`."""
        roles = {
            **dict.fromkeys(self.components, "component"),
            **({self.score: "score"} if self.score else {}),
            **({self.name: "name"} if self.name else {}),
        }
        return {
            "source": self.source, "form": self.form, "n_rows": self.n_rows, "name": self.name, "score": self.score,
            "columns": [
                {**column.document(), "role": roles.get(name, "part" if column.parent else "other")}
                for name, column in self.columns.items()
            ],
            "dropped": [{"line": line, "reason": why} for line, why in self.dropped],
            "notes": list(self.notes),
        }  # fmt: skip


def read_ranked_table(path: str | Path, settings: TableSettings | None = None) -> RankedTable:
    """A table of CSV, TSV, JSON, Parquet, Markdown or HTML.

    Args:
        path: the file; `-` is standard input.
    Raises:
        InvalidInput: no such file, table or column, too large, broken, no row left, or a score without any number.
    """
    wanted = settings or TableSettings()
    grid = read_grid(path, table=wanted.table, holds=wanted.score, encoding=wanted.encoding)
    source = "standard input" if str(path) == "-" else place(path)
    columns, notes = _columns(grid, wanted)
    aliases = _aliases(grid, columns, wanted, source)

    def find(name: str) -> str:
        return _find(name, columns, aliases, source)

    for name in dict.fromkeys((*wanted.exact, *wanted.lower)):
        own = find(name)
        columns[own] = columns[own].declared(exact=own in map(find, wanted.exact), lower=own in map(find, wanted.lower))
    score = None if wanted.score is None else find(wanted.score)
    own_name = _name_column(wanted, columns, find, score)
    components = _components(wanted, columns, find, {score, own_name}, source)
    kept, dropped = _kept(grid, wanted, columns, find, source)
    columns = {own: column.where(kept) for own, column in columns.items()}
    rows = tuple(int(row) + 1 for row in kept.nonzero()[0])
    names = columns[own_name].texts if own_name is not None else tuple(f"row {row}" for row in rows)
    names = tuple(" ".join(text.split()) or f"row {row}" for text, row in zip(names, rows, strict=True))
    found = RankedTable(
        source=source, form=grid.form, names=names, labels=_labels(names, rows), rows=rows,
        lines=tuple(grid.lines[row - 1] for row in rows), columns=columns, components=components, score=score,
        name=own_name, aliases=aliases, dropped=dropped, notes=(),
    )  # fmt: skip
    _refuse_no_numbers(found)
    return replace(found, notes=(*notes, *_notes(found, wanted)))


def alias_option(texts: Sequence[str]) -> dict[str, str]:
    """`--alias I=intelligence`, several of them.

    Raises:
        InvalidInput: no `=`, an empty side, or one alias twice.

    >>> alias_option(["I=intelligence", "C=calibration"])
    {'I': 'intelligence', 'C': 'calibration'}
    """
    found: dict[str, str] = {}
    for text in texts:
        alias, equals, column = (part.strip() for part in text.partition("="))
        if not (alias and equals and column) or alias in found:
            what = "this alias came before" if alias in found else "expected ALIAS=COLUMN, such as I=intelligence"
            raise InvalidInput(f"--alias {quoted(text)}: {what}")
        found[alias] = column
    return found


def missing_option(text: str | None) -> Literal["drop", "renormalise"] | float | None:
    """`--missing`: what a missing component does; `zero` is 0, None leaves it to the rule.

    Raises:
        InvalidInput: none of these, and no number.

    >>> missing_option("zero"), missing_option("drop"), missing_option("1.5")
    (0.0, 'drop', 1.5)
    """
    if text is None:
        return None
    word = text.strip().casefold()
    if word == "drop":
        return "drop"
    if word in ("renormalise", "renormalize"):
        return "renormalise"
    try:
        number = 0.0 if word == "zero" else float(word)
    except ValueError:
        number = float("nan")
    if number - number != 0:
        raise InvalidInput(f"--missing {quoted(text)}: expected drop, zero, renormalise or a number")
    return number


# --- columns and their roles ---------------------------------------------------------------------------------------


def _columns(grid: Grid, wanted: TableSettings) -> tuple[dict[str, RankedColumn], list[str]]:
    """Every column read, parts of paired cells behind their column."""
    read = cell_reader(decimal_comma=wanted.decimal_comma)
    columns: dict[str, RankedColumn] = {}
    notes = list(grid.notes)
    texts = list(zip(*grid.rows, strict=True))
    for name, cells in zip(grid.header, texts, strict=True):
        column, parts, said = read_column(name, cells, read)
        columns[name] = column
        notes += said
        for part in parts:
            while part.name in columns or part.name in grid.header:
                part = replace(part, name=f"{part.name}_part")
            columns[part.name] = part
    return columns, notes


def _aliases(grid: Grid, columns: Mapping[str, RankedColumn], wanted: TableSettings, source: str) -> dict[str, str]:
    """Other names where they are one column's: without arrows and marks, of the last header row; and the user's."""
    shorts = grid.short_names or ("",) * len(grid.header)
    pairs = [
        (other, name)
        for name, short in zip(grid.header, shorts, strict=False)
        for other in dict.fromkeys((short, bare_name(name), bare_name(short)))
        if other and other not in columns
    ]
    count = Counter(other for other, _ in pairs)
    found = {other: name for other, name in pairs if count[other] == 1}
    return found | {alias: _find(column, columns, found, source) for alias, column in wanted.aliases.items()}


def _find(name: str, columns: Mapping[str, RankedColumn], aliases: Mapping[str, str], source: str) -> str:
    """A column's own name."""
    wanted = name.strip()
    if wanted in aliases:
        return aliases[wanted]
    if wanted in columns:
        return wanted
    known = {key.casefold(): own for own in columns for key in (own,)} | {
        a.casefold(): own for a, own in aliases.items()
    }
    same = [own for own in columns if own.casefold() == wanted.casefold()]
    if len(same) == 1 or (not same and wanted.casefold() in known):
        return same[0] if same else known[wanted.casefold()]
    near = difflib.get_close_matches(wanted.casefold(), known, n=1)
    others = ", ".join(quoted(own) for own in list(columns)[:12]) + (", ..." if len(columns) > 12 else "")
    hint = f"did you mean {quoted(known[near[0]])}?" if near else f"the columns are {others}"
    raise InvalidInput(f"{source}: no column is called {quoted(name)}; {hint}")


def _name_column(
    wanted: TableSettings, columns: Mapping[str, RankedColumn], find: Any, score: str | None
) -> str | None:
    """The column that names the systems: the one named, else a usual name, else the first of distinct texts."""
    if wanted.name is not None:
        return find(wanted.name) if wanted.name.strip() else None
    taken = {score, *(find(name) for name in wanted.columns)}
    free = [own for own in columns if own not in taken]
    texts = [own for own in free if columns[own].kind == "text"]
    lowered = {bare_name(own).casefold().strip(): own for own in (*reversed(free), *texts)}
    usual = next((lowered[name] for name in _NAMES if name in lowered), None)
    distinct = (own for own in texts if len(set(columns[own].texts)) == len(columns[own].texts))
    return usual or next(distinct, None) or next(iter(texts), None)


def _is_order(name: str) -> bool:
    """Whether a column is a place in an order, by its name."""
    return _ORDER.fullmatch(bare_name(name)) is not None


def _components(
    wanted: TableSettings, columns: Mapping[str, RankedColumn], find: Any, taken: set[str | None], source: str
) -> tuple[str, ...]:
    """The columns that count: those named, else all columns of numbers but score, name and place."""
    if not wanted.columns:
        return tuple(
            own
            for own, column in columns.items()
            if column.kind == "number" and not column.parent and own not in taken and not _is_order(own)
        )
    named = tuple(dict.fromkeys(find(name) for name in wanted.columns))
    for own in named:
        if columns[own].kind == "text":
            first = next((text for text in columns[own].texts if text.strip()), "")
            raise InvalidInput(
                f"{source}: column {quoted(own)} holds text ({quoted(first)}); name columns of numbers in --columns"
                f"{comma_hint(columns[own].texts)}"
            )
    return named


# --- rows ----------------------------------------------------------------------------------------------------------


def _kept(
    grid: Grid, wanted: TableSettings, columns: Mapping[str, RankedColumn], find: Any, source: str
) -> "tuple[NDArray[np.bool_], tuple[tuple[int, str], ...]]":
    """Which rows count, and why the others do not."""
    import numpy as np

    kept = np.ones(len(grid.rows), bool)
    dropped = list(grid.refused)
    if wanted.where is not None:
        kept = rows_where(wanted.where, columns, find)
        dropped += [(grid.lines[int(row)], f"not {wanted.where}") for row in np.flatnonzero(~kept)]
        if not kept.any():
            raise InvalidInput(f"{source}: --where {quoted(wanted.where)} leaves none of {len(kept)} rows")
    return kept, tuple(sorted(dropped))


def _labels(names: Sequence[str], rows: Sequence[int]) -> tuple[str, ...]:
    """Names of which each is one row's."""
    count = Counter(names)
    return tuple(name if count[name] == 1 else f"{name} (row {row})" for name, row in zip(names, rows, strict=True))


def _refuse_no_numbers(table: RankedTable) -> None:
    """A composite without any number can be held against no rule."""
    import numpy as np

    if table.score is None or not np.isnan((column := table.columns[table.score]).values).all():
        return
    first = next((text for text in column.texts if text.strip()), "")
    raise InvalidInput(
        f"{table.source}: the score column {quoted(table.score)} holds no number in any of {table.n_rows} rows "
        f"(the first cell that is filled is {quoted(first)}); name the column of the composite with --score"
        f"{comma_hint(column.texts)}"
    )


def _notes(table: RankedTable, wanted: TableSettings) -> list[str]:
    """What a reader should know of the rows that count."""
    import numpy as np

    counted = [name for name in (*table.components, table.score) if name is not None]
    found = [
        f"{', '.join(map(quoted, alike))}: {what}"
        for printing, what in _PRINTING.items()
        if (alike := [name for name in counted if table.columns[name].printing == printing])
    ]
    for name in counted:
        column = table.columns[name]
        for which, what in (
            (column.missing, "missing"),
            (column.stray, "text where a number was expected, taken as missing"),
            (column.infinite, "infinite"),
        ):
            if which.any():
                where = _where(table, which, column)
                hint = comma_hint([column.texts[int(row)] for row in which.nonzero()[0]])
                found.append(f"{quoted(name)}: {int(which.sum())} cell(s) {what} ({where}){hint}")
        if (probable := column.sentinels()) is not None:
            code, which = probable
            found.append(
                f"{quoted(name)}: {code:g} probably stands for a missing value ({_where(table, which, column)}); it is "
                "counted as the number that it is"
            )
        known = column.values[np.isfinite(column.values)]
        if table.n_rows > 1 and known.size and (known == known[0]).all():
            found.append(
                f"{quoted(name)}: the same number ({known[0]:g}) in every row, so that its part cannot be told"
            )
    for name, column in table.columns.items():
        if column.kind == "text" and (hint := comma_hint(column.texts)):
            found.append(f"{quoted(name)} is taken for text{hint}")
    doubled = [name for name, n in Counter(table.names).items() if n > 1]
    for name in doubled[:_SHOWN]:
        at = ", ".join(str(row) for own, row in zip(table.names, table.rows, strict=True) if own == name)
        found.append(f"the name {quoted(name)} stands in rows {at}")
    if len(doubled) > _SHOWN:
        found.append(f"{len(doubled) - _SHOWN} more names stand in several rows")
    if wanted.where is not None:
        n = sum(why.startswith("not ") for _, why in table.dropped)
        found.append(f"{n} of {n + table.n_rows} rows left out by --where {quoted(wanted.where)}")
    refused = [one for one in table.dropped if not one[1].startswith("not ")]
    found += [f"line {line} left out: {why}" for line, why in refused[:_SHOWN]]
    return found


def _where(table: RankedTable, which: "NDArray[np.bool_]", column: RankedColumn) -> str:
    """The first few rows of a kind, with what stands there."""
    at = [int(row) for row in which.nonzero()[0]]
    shown = [
        f"row {table.rows[row]} {quoted(table.names[row], 40)}: {quoted(column.texts[row], 30)}" for row in at[:_SHOWN]
    ]
    return "; ".join(shown) + (", ..." if len(at) > _SHOWN else "")
