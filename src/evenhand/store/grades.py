"""Grades that people gave: one table of items by raters, whatever form the file has.

    item,rater,grade[,criterion]        long: a row a grade
    item,anna,ben,...                   wide: a row an item, a column a rater
    rater,answer-1,answer-2,...         raters in rows: a row a rater, a column an item; the column `rater` says so

Which of the three it is follows from the column names alone, and `reading` says it, since a transposed table gives
another coefficient and no error. A second id and a column without a name (row numbers) are no raters unless `--rater`
names them. A matrix with neither `item` nor `rater` is refused. An empty cell is a missing grade,
not one more category. A grade outside the scale is counted, named and left out, never averaged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.store.item_files.fields import names_in_words
from evenhand.store.number_cells import number_cell
from evenhand.store.rated_rows import ITEM_NAMES, RatedRows, id_text, joined_id, open_rated
from evenhand.store.text_files import quoted
from evenhand.wording import plural

__all__ = ["Grades", "OutOfScale", "read_grades"]

_GRADE_NAMES = ("grade", "rating")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfScale:
    """A grade or score that the scale does not have; it takes part in no figure."""

    where: str
    item: str
    who: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades:
    """Grades by item and rater.

    Args:
        name: of the file.
        reading: how it was read, in words.
        items: in the order of the file; each has at least one cell, though maybe no usable grade.
        raters: in the order of the file.
        values: item to rater to grade, within the scale.
        scale: (lowest, highest), as stated; None where it was not.
        n_cells: grades and missing ones.
        n_missing: empty cells.
        out_of_scale: in the order of the file.
        clusters: item to its source; empty where no column was named, or the file has none of that name.
        notes: what a user should know about how it was read.
    """

    name: str
    reading: str
    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: Mapping[str, Mapping[str, float]]
    scale: tuple[float, float] | None = None
    n_cells: int = 0
    n_missing: int = 0
    out_of_scale: tuple[OutOfScale, ...] = ()
    clusters: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """One cell as it stands."""

    where: str
    item: str
    rater: str
    value: float | None
    criterion: str | None = None


def read_grades(
    path: str | Path,
    *,
    scale: tuple[float, float] | None = None,
    item: Sequence[str] = (),
    raters: Sequence[str] = (),
    criterion: str | None = None,
    cluster: str | None = None,
    encoding: str | None = None,
) -> Grades:
    """Read a file of grades.

    Args:
        path: .csv, .tsv, .jsonl, .json or .parquet.
        scale: what a grade can be; None takes every number.
        item: columns that together are an item's id, where it has another name than `item`, `item_id` or `id`.
        raters: the columns of a wide file that hold grades; all but the item's and the cluster's unless given. In a
            long file the raters to take.
        criterion: which criterion's grades to take, where the file has several.
        cluster: a column that names each item's source.
    Raises:
        InvalidInput: a matrix without ids, text for a number, one rater's grade of one item twice, several criteria and
            none chosen, an item in two clusters; always with file and line.
    """
    table = open_rated(path, known=(*item, *raters, *((cluster,) if cluster else ())), encoding=encoding)
    wanted_items = item if all(name in table.columns for name in item) else ()
    cells, form = _cells(table, wanted_items, raters, cluster)
    found = _Collected(table, scale)
    for cell in _of_criterion(table, cells, criterion):
        found.add(cell)
    return found.grades(form, _clusters(table, wanted_items, cluster))


def _cells(
    table: RatedRows, item: Sequence[str], raters: Sequence[str], cluster: str | None
) -> tuple[Iterator[_Cell], str]:
    """The cells of a table, and which of the three forms it has."""
    columns = table.columns
    items = table.item_columns(item)
    grade = table.column(None, _GRADE_NAMES, "")
    if items and "rater" in columns and grade is not None:
        return _long(table, items, grade, frozenset(raters)), "long"
    if items and "rater" in columns and not raters:
        raise InvalidInput(
            f"{table.name}: a column 'rater', yet none called 'grade' (columns are {names_in_words(columns)}); call "
            "the grades' column so, or name the columns that are raters with --rater"
        )
    if items:
        named = _rater_columns(table, items, raters, cluster)
        return _wide(table, items, named), "wide"
    if "rater" in columns and grade is None:
        return _raters_in_rows(table), "raters in rows"
    raise InvalidInput(
        f"{table.name}: no column 'item' (columns are {names_in_words(columns)}), so that nothing says whether rows or "
        "columns are items; expected item,rater,grade, or item and a column a rater; name the id's column with --item"
    )


def _rater_columns(
    table: RatedRows, items: Sequence[str], raters: Sequence[str], cluster: str | None
) -> tuple[str, ...]:
    """The columns that hold grades."""
    named = tuple(name for one in raters if (name := table.column(one, (), "--rater")) is not None)
    if not named:
        apart = {*items, *ITEM_NAMES, *_unnamed(table), cluster, "criterion"}
        named = tuple(name for name in table.columns if name not in apart)
    if not named:
        raise InvalidInput(f"{table.name}: no column holds grades; expected one a rater beside {quoted(items[0])}")
    return named


def _unnamed(table: RatedRows) -> tuple[str, ...]:
    """Columns whose head is empty: row numbers that a table writer left there, and never a rater."""
    return tuple(
        name for name in table.columns if any(f"has no name and is called {name!r}" in one for one in table.notes)
    )


def _long(table: RatedRows, items: Sequence[str], grade: str, raters: frozenset[str]) -> Iterator[_Cell]:
    """A row a grade."""
    for where, row in table:
        rater = id_text(row.get("rater"), where, "rater")
        if raters and rater not in raters:
            continue
        criterion = row.get("criterion")
        yield _Cell(
            where=where,
            item=joined_id(row, items, where),
            rater=rater,
            value=number_cell(row.get(grade), where, grade),
            criterion=None if criterion in (None, "") else str(criterion),
        )


def _wide(table: RatedRows, items: Sequence[str], raters: Sequence[str]) -> Iterator[_Cell]:
    """A row an item."""
    for where, row in table:
        name = joined_id(row, items, where)
        criterion = row.get("criterion")
        for rater in raters:
            yield _Cell(
                where=where,
                item=name,
                rater=rater,
                value=_wide_cell(row.get(rater), where, rater, raters),
                criterion=None if criterion in (None, "") else str(criterion),
            )


def _wide_cell(value: object, where: str, rater: str, raters: Sequence[str]) -> float | None:
    """A rater's grade; a column of text among several is rarely a rater, so the way out is named."""
    try:
        return number_cell(value, where, rater)
    except InvalidInput as error:
        if len(raters) < 2:
            raise
        raise InvalidInput(f"{error}; if {quoted(rater)} is no rater, name those that are with --rater") from error


def _raters_in_rows(table: RatedRows) -> Iterator[_Cell]:
    """A row a rater."""
    for where, row in table:
        rater = id_text(row.get("rater"), where, "rater")
        for name in table.columns:
            if name != "rater":
                yield _Cell(where=where, item=name, rater=rater, value=number_cell(row.get(name), where, name))


def _of_criterion(table: RatedRows, cells: Iterable[_Cell], wanted: str | None) -> Iterator[_Cell]:
    """The cells of one criterion; of all, where the file tells none apart."""
    seen: dict[str | None, None] = {}
    for cell in cells:
        seen.setdefault(cell.criterion)
        if wanted is None and len(seen) > 1:
            raise InvalidInput(
                f"{cell.where}: grades of more than one criterion ({names_in_words(map(str, seen))}); "
                "choose one with --criterion"
            )
        if wanted is None or cell.criterion in (wanted, None):
            yield cell
    if wanted is not None and None not in seen and wanted not in seen:
        raise InvalidInput(
            f"{table.name}: --criterion {quoted(wanted)}: no grade of it; criteria are {names_in_words(map(str, seen))}"
        )


class _Collected:
    """Cells sorted into grades, missing ones and those that the scale does not have."""

    def __init__(self, table: RatedRows, scale: tuple[float, float] | None) -> None:
        self._table = table
        self._scale = scale
        self._places: dict[tuple[str, str], str] = {}
        self._values: dict[str, dict[str, float]] = {}
        self._raters: dict[str, None] = {}
        self._missing = 0
        self._out: list[OutOfScale] = []

    def add(self, cell: _Cell) -> None:
        """Count one cell."""
        first = self._places.setdefault((cell.item, cell.rater), cell.where)
        if first != cell.where:
            raise InvalidInput(
                f"{cell.where}: a second grade of item {quoted(cell.item)} by {quoted(cell.rater)}, after {first}; "
                "keep one, or give a second opinion a rater's name of its own"
            )
        grades = self._values.setdefault(cell.item, {})
        self._raters.setdefault(cell.rater)
        if cell.value is None:
            self._missing += 1
        elif self._scale is not None and not self._scale[0] <= cell.value <= self._scale[1]:
            self._out.append(OutOfScale(where=cell.where, item=cell.item, who=cell.rater, value=cell.value))
        else:
            grades[cell.rater] = cell.value

    def grades(self, form: str, clusters: Mapping[str, str]) -> Grades:
        """What was found."""
        if not self._places:
            raise InvalidInput(f"{self._table.name}: no grade by the raters asked for; check --rater")
        n_items, n_raters = len(self._values), len(self._raters)
        return Grades(
            name=self._table.name,
            reading=f"{form}: {plural(n_items, 'item')}, {plural(n_raters, 'rater')}",
            items=tuple(self._values),
            raters=tuple(self._raters),
            values=self._values,
            scale=self._scale,
            n_cells=len(self._places),
            n_missing=self._missing,
            out_of_scale=tuple(self._out),
            clusters=clusters,
            notes=self._table.notes,
        )


def _clusters(table: RatedRows, item: Sequence[str], cluster: str | None) -> Mapping[str, str]:
    """Each item's source, where the file has the column."""
    items = table.item_columns(item)
    if cluster is None or cluster not in table.columns or not items:
        return {}
    found: dict[str, str] = {}
    for where, row in table:
        name, source = joined_id(row, items, where), id_text(row.get(cluster), where, cluster)
        if found.setdefault(name, source) != source:
            raise InvalidInput(
                f"{where}: item {quoted(name)} is of the source {quoted(source)} here and of {quoted(found[name])} "
                "before; an item has one source"
            )
    return found
