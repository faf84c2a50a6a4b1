"""What `validate`, `compare` and `study` read: judges' scores from records or any table, grades, texts and sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli.output import shown, warn
from evenhand.errors import InvalidInput
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.analysis.judge_ratings import JudgeRatings
    from evenhand.store.grades import Grades
    from evenhand.store.scores.table import ScoreTable
    from evenhand.terms import JudgeSpec

__all__ = [
    "Cluster",
    "Columns",
    "CriterionName",
    "GradesPath",
    "ItemColumns",
    "ItemsPath",
    "JudgeColumn",
    "Raters",
    "RerunColumn",
    "Resamples",
    "ScaleText",
    "ScoreColumnNames",
    "ScoreScale",
    "Seed",
    "StoreOption",
    "Strict",
    "Texts",
    "pass_mark",
    "read_grades_file",
    "read_judges",
    "refuse_strictly",
    "unlabelled_scores",
]

GradesPath = Annotated[
    Path,
    typer.Option("--grades", "-g", metavar="G", help="Hand grades: item,rater,grade or item and a column a rater."),
]
ScaleText = Annotated[str | None, typer.Option("--scale", metavar="LO:HI", help="What a grade can be, such as 1:5.")]
ScoreScale = Annotated[
    str | None, typer.Option(metavar="LO:HI", help="What a table's score can be, where it is not --scale.")
]
ItemColumns = Annotated[
    list[str] | None, typer.Option("--item", metavar="COL", help="Column of the item's id; several together name it.")
]
ScoreColumnNames = Annotated[
    list[str] | None, typer.Option("--score", metavar="COL", help="Column of the scores; several are several judges.")
]
JudgeColumn = Annotated[str | None, typer.Option("--judge", metavar="COL", help="Column that names the judge.")]
RerunColumn = Annotated[str | None, typer.Option("--rerun", metavar="COL", help="Column that numbers reruns.")]
CriterionName = Annotated[str | None, typer.Option("--criterion", help="Take this criterion's scores and grades.")]
Raters = Annotated[
    list[str] | None, typer.Option("--rater", metavar="NAME", help="Take this rater; repeatable. All unless given.")
]
Cluster = Annotated[
    str | None, typer.Option(metavar="COL", help="Column of each item's source: sources are resampled, not items.")
]
ItemsPath = Annotated[Path | None, typer.Option("--items", help="The items file, for texts and lengths.")]
StoreOption = Annotated[Path | None, typer.Option("--store", help="The store that the judge judged with.")]
Resamples = Annotated[int, typer.Option("--resamples", min=99, help="Resamples of each interval; 9999 to publish.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the resamples.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse where an item has a score or a grade alone.")]

_USUAL_STORE = Path(".evenhand/evenhand.db")
_LENGTH_NAMES = ("length", "chars", "candidate_chars", "text_length")
_TEXT_NAMES = ("text", "candidate", "output", "answer", "response")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How the columns of tables are called, as the command line says."""

    item: Sequence[str] = ()
    score: Sequence[str] = ()
    judge: str | None = None
    rerun: str | None = None
    cluster: str | None = None
    length: str | None = None
    criterion: str | None = None


@dataclass(slots=True)
class Texts:
    """Texts and judges by hash, from the items file and the store, looked up when they are wanted."""

    items: Path | None
    store: Path | None
    lengths: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.store is None and _USUAL_STORE.exists():
            self.store = _USUAL_STORE
        elif self.store is not None and not self.store.exists():
            raise InvalidInput(f"--store {shown(str(self.store))}: no such store; check the path")
        if self.items is not None:
            from evenhand.store.items import read_items

            for item in read_items(self.items, skip_empty=True):
                self.lengths[item.id] = len(item.candidate)
                self._texts[item.id] = item.candidate

    def of(self, wanted: Iterable[tuple[str, str | None]]) -> Mapping[str, str]:
        """The texts of (item, hash), as far as they are at hand."""
        pairs = list(wanted)
        found = {item: self._texts[item] for item, _ in pairs if item in self._texts}
        missing = [(item, key) for item, key in pairs if item not in found and key is not None]
        if missing and self.store is not None:
            from evenhand.report.texts import Library
            from evenhand.store.database.sql import open_store

            with open_store(self.store, create=False) as opened:
                library = Library(opened)
                for item, key in missing:
                    document, _ = library.item(str(key), item)
                    if document is not None and isinstance(document.get("candidate"), str):
                        found[item] = document["candidate"]
        return found

    def judges(self, ratings: "Sequence[JudgeRatings]") -> "Mapping[str, JudgeSpec]":
        """The judges behind the records, by hash, as far as the store has them."""
        hashes = {
            str(record.judge.get("hash"))
            for one in ratings
            for records in one.records.values()
            for record in records
            if record.judge.get("protocol") == "checklist"
        }
        if self.store is None or not hashes:
            return {}
        from evenhand.report.texts import Library
        from evenhand.store.database.sql import open_store

        with open_store(self.store, create=False) as opened:
            library = Library(opened)
            return {key: spec for key in sorted(hashes) if (spec := library.judge(key)) is not None}


def read_judges(paths: Sequence[Path], columns: Columns, *, scale: tuple[float, float] | None) -> "list[JudgeRatings]":
    """The judges of all files, each under a name of its own.

    Args:
        scale: of a table's scores; records bring their own.
    """
    import dataclasses

    found: list[JudgeRatings] = []
    for path in paths:
        for one in _judges_of(path, columns, scale):
            taken = {other.name for other in found}
            if one.name not in taken:
                found.append(one)
                continue
            name = f"{one.name} ({path.stem})"
            number = 2
            while name in taken:
                name, number = f"{one.name} ({path.stem} {number})", number + 1
            found.append(dataclasses.replace(one, name=name))
    return found


def read_grades_file(
    path: Path,
    *,
    scale: tuple[float, float] | None,
    columns: Columns,
    raters: Sequence[str],
    scores: Sequence[Path] = (),
) -> "Grades":
    """The grades, with what a user should know about how they were read said on stderr."""
    from evenhand.store.grades import read_grades

    grades = read_grades(
        path,
        scale=scale,
        item=columns.item,
        raters=raters,
        criterion=columns.criterion,
        cluster=columns.cluster,
    )
    for note in grades.notes:
        warn(shown(note))
    same = any(path.exists() and other.exists() and path.samefile(other) for other in scores)
    doubled = sorted(set(grades.raters) & set(columns.score)) if columns.score else []
    if same and not raters:
        raise InvalidInput(
            f"{shown(str(path))}: holds scores and grades; name the columns of the grades with --rater, those of the "
            "scores with --score"
        )
    if doubled and same:
        raise InvalidInput(f"--rater {shown(doubled[0])}: the same column is taken for a score; it cannot be both")
    return grades


def unlabelled_scores(
    path: Path, columns: Columns, judge: "JudgeRatings", *, graded: Sequence[str], scale: tuple[float, float] | None
) -> list[float]:
    """One score an item (the mean of its reruns) of the larger run of the same judge.

    Args:
        graded: the items with a score and a grade, which take no part. The file may be RECORDS itself: what it holds
            beside them is the larger run.
    Raises:
        InvalidInput: the run has several judges and none of this name, or no score at all.
    """
    import dataclasses

    runs = _judges_of(path, dataclasses.replace(columns, cluster=None), scale)
    named = [run for run in runs if run.name == judge.name] or runs
    if len(named) > 1:
        names = ", ".join(shown(run.name, 40) for run in runs[:5])
        raise InvalidInput(
            f"--unlabelled {shown(str(path))}: holds several judges ({names}), none called {shown(judge.name, 60)!r}"
        )
    known = set(graded)
    kept = {item: scores for item, scores in named[0].scores.items() if scores and item not in known}
    if not kept:
        raise InvalidInput(f"--unlabelled {shown(str(path))}: no score of an item that is not graded already")
    lost = named[0].n - named[0].counts["verdict"]
    if lost:
        warn(
            f"--unlabelled: {count(lost)} of {plural(named[0].n, 'judgement')} "
            f"{'has no score and takes' if lost == 1 else 'have no score and take'} no part"
        )
    overlap = sum(item in known for item in named[0].scores)
    if overlap:
        warn(
            f"--unlabelled: {plural(overlap, 'graded item stands', 'graded items stand')} there too and "
            f"are counted as graded only"
        )
    return [sum(scores) / len(scores) for scores in kept.values()]


def pass_mark(pass_at: float | None, scale: tuple[float, float] | None) -> None:
    """Refuse a pass mark that is no grade.

    Raises:
        InvalidInput: not a finite number, or outside the grades' scale.
    """
    import math

    if pass_at is None:
        return
    if not math.isfinite(pass_at):
        raise InvalidInput(f"--pass-at {pass_at:g}: expected a grade")
    if scale is not None and not scale[0] <= pass_at <= scale[1]:
        raise InvalidInput(f"--pass-at {pass_at:g}: expected a grade on the scale {scale[0]:g} to {scale[1]:g}")


def refuse_strictly(judge: str, not_judged: Sequence[str], not_graded: Sequence[str]) -> None:
    """`--strict`: every item has both, or nothing is computed."""
    for of, lacks, names in (("graded item", "score", not_judged), ("judged item", "usable grade", not_graded)):
        if names:
            some = ", ".join(shown(name, 40) for name in names[:5])
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            what = f"{plural(len(names), of)} without a {lacks}"
            raise InvalidInput(f"--strict: {shown(judge, 60)}: {what}: {some}{more}")


def _judges_of(path: Path, columns: Columns, scale: tuple[float, float] | None) -> "list[JudgeRatings]":
    """The judges of one file."""
    from evenhand.analysis.judge_ratings import ratings_of_records, ratings_of_table

    if path.is_fifo():
        raise InvalidInput(
            f"{shown(str(path))}: is a pipe, which can be read only once; write it to a file first, or name - for "
            "records on standard input"
        )
    if _is_records(path):
        from evenhand.store.records import read_records

        return ratings_of_records(read_records(path), criterion=columns.criterion, cluster=columns.cluster)
    from evenhand.store.scores.columns import ScoreColumns, listed
    from evenhand.store.scores.tables import read_scores

    several = len(columns.score) > 1
    wanted = ScoreColumns(
        score=tuple(columns.score),
        item=tuple(columns.item),
        judge="" if several and columns.judge is None else columns.judge,
        rerun=columns.rerun,
        criterion="" if several else None,
        human="",
        time="",
        beside=tuple(name for name in (columns.cluster, columns.length) if name),
        by_chance=(*_LENGTH_NAMES, *_TEXT_NAMES),
    )
    table = read_scores(path, wanted)
    for note in table.notes:
        warn(shown(note))
    for fault in table.faults:
        warn(shown(fault.sentence(table.source, table.unit)))
    if table.criterion is not None and not several:
        table = _of_criterion(table, columns.criterion)
    elif columns.criterion is not None:
        raise InvalidInput(
            f"{table.source}: --criterion {shown(columns.criterion)}: the scores tell no criteria apart; leave it out"
        )
    if columns.length is not None and columns.length not in table.beside:
        raise InvalidInput(
            f"{table.source}: --length {shown(columns.length, 60)!r}: no such column; the others are "
            f"{listed(table.columns.unused)}"
        )
    clusters, lengths = _beside(table, columns)
    return ratings_of_table(
        table,
        scale=scale,
        columns_are_judges=several,
        clusters=clusters,
        lengths=lengths,
        name=columns.score[0] if columns.score else path.stem,
    )


def _of_criterion(table: "ScoreTable", wanted: str | None) -> "ScoreTable":
    """The cells of one criterion."""
    import numpy as np

    names = table.criterion
    assert names is not None
    used = sorted({names.names[code] for code in np.unique(names.codes) if code >= 0})
    if wanted is None:
        if len(used) < 2:
            return table
        some = ", ".join(shown(name, 40) for name in used[:8])
        raise InvalidInput(f"{table.source}: scores of several criteria ({some}); choose one with --criterion")
    if wanted not in used:
        some = ", ".join(shown(name, 40) for name in used[:8])
        raise InvalidInput(f"{table.source}: --criterion {shown(wanted)}: no score of it; criteria are {some}")
    return table.where(names.codes == names.names.index(wanted))


def _beside(table: "ScoreTable", columns: Columns) -> tuple[dict[str, str], dict[str, int]]:
    """Sources and text lengths that stand in a table beside its scores, each item's first."""
    clusters: dict[str, str] = {}
    for where, item, source in _pairs(table, columns.cluster):
        if source.strip() and clusters.setdefault(item, source.strip()) != source.strip():
            raise InvalidInput(f"{where}: item {shown(item, 60)!r} has another source here than before")
    return clusters, _lengths(table, columns.length)


def _lengths(table: "ScoreTable", named: str | None) -> dict[str, int]:
    """Each item's text length: of the named column, of one that usually holds it, or of a text's characters."""
    if named is not None:
        return _stated_lengths(table, named)
    for name in _LENGTH_NAMES:
        if name in table.beside:
            try:
                return _stated_lengths(table, name)
            except InvalidInput as error:  # a column of that name which holds something else, and was not asked for
                warn(f"{shown(str(error), 300)}; {name!r} is not taken for a length")
    text = next((name for name in _TEXT_NAMES if name in table.beside), None)
    lengths: dict[str, int] = {}
    for _, item, cell in _pairs(table, text):
        if cell:
            lengths.setdefault(item, len(cell))
    return lengths


def _stated_lengths(table: "ScoreTable", name: str) -> dict[str, int]:
    """Lengths that stand in a column."""
    from evenhand.store.number_cells import number_cell

    lengths: dict[str, int] = {}
    for where, item, cell in _pairs(table, name):
        if (found := number_cell(cell, where, name)) is not None:
            lengths.setdefault(item, int(found))
    return lengths


def _pairs(table: "ScoreTable", name: str | None) -> Iterator[tuple[str, str, str]]:
    """Place, item and text of a column beside the scores, every two of them once."""
    import numpy as np

    if name is None or table.item is None or name not in table.beside:
        return
    items, texts = table.item, table.beside[name]
    keys = items.codes.astype(np.int64) * max(1, len(texts.names)) + texts.codes
    for cell in np.sort(np.unique(keys, return_index=True)[1]).tolist():
        if items.codes[cell] >= 0:
            where = f"{table.source} {table.unit} {table.line[cell]}"
            yield where, items.names[items.codes[cell]], texts.names[texts.codes[cell]]


def _is_records(path: Path) -> bool:
    """Whether a file holds evenhand's own records rather than a table."""
    from evenhand.store.scores.from_records import is_record_file

    return str(path) == "-" or is_record_file(path)
