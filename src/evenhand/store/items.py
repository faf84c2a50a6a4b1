"""Items as users bring them: JSONL, JSON, CSV, Parquet, a folder, or standard input.

    items = read_items("answers.jsonl")    the whole file is checked here, before any call could be made
    len(items), items.notes                how many, and what a user should be told about how they were read
    for item in items: ...                 streamed from the file, so that no more than one need be in memory

What cannot be judged is refused in one sentence with its place: broken rows, doubled ids, empty candidates.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.store.item_files.fields import ALIASES, FIELDS, Fields, Row, names_in_words
from evenhand.store.item_files.folders import ItemFolder, RepositoryMode
from evenhand.store.item_files.rows import JsonLines, JsonList, Rows
from evenhand.store.item_files.sources import source_name
from evenhand.store.item_files.tables import CsvTable, ParquetTable
from evenhand.store.item_files.values import is_blank
from evenhand.store.repositories import Bounds
from evenhand.store.text_files import place, quoted, read_text_file
from evenhand.terms import Item

__all__ = ["Items", "read_items"]

_SHOWN = 10  # places named in one message
_NO_MAPPING: Mapping[str, str] = {}
_NO_SOURCES: Mapping[str, Path] = {}
_TEXT_ENDINGS = (".md", ".markdown", ".rst", ".adoc", ".tex", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Checked items, streamed anew by each iteration.

    Args:
        name: of the file or folder, for messages.
        notes: sentences about how it was read: aliases, left-out rows, made-up ids.
        n_items: how many an iteration gives.
    """

    name: str
    notes: tuple[str, ...]
    n_items: int
    _source: "_RowItems | _FolderItems | _OneText"
    _skip_empty: bool
    _sources: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_items

    def __iter__(self) -> Iterator[Item]:
        left = self.n_items
        for _, item in self._source.read(check=False):
            if left == 0:
                return
            if self._skip_empty and is_blank(item.candidate):
                continue
            left -= 1
            yield replace(item, sources={**item.sources, **self._sources}) if self._sources else item


def read_items(
    path: str | Path,
    *,
    mapping: Mapping[str, str] = _NO_MAPPING,
    encoding: str | None = None,
    limit: int | None = None,
    skip_empty: bool = False,
    repositories: RepositoryMode = "git",
    repository_chars: int | None = None,
    sources: Mapping[str, Path] = _NO_SOURCES,
) -> Items:
    """Check a file or folder of items from end to end, and return them for streaming.

    Args:
        path: .jsonl, .ndjson, .json, .csv, .tsv, .parquet, a folder, or `-` for JSONL from standard input.
        mapping: field to column, where names differ from the fields and their aliases.
        encoding: codec of the text; None means UTF-8, or what a byte order mark says.
        limit: give only the first so many; the whole file is checked all the same.
        skip_empty: leave out items whose candidate is empty, and say which, instead of refusing the file.
        repositories: which folders are one item each: `git`, those with `.git`; `whole`, the folder itself; `each`, the
            folders in it; `none`.
        sources: name to file of further texts of a single item.
        repository_chars: how many characters of a repository are read; None for the usual bound.
    Raises:
        InvalidInput: anything that cannot be judged, with file, line, what came, what was expected, and the way out.
    """
    if limit is not None and limit < 1:
        raise InvalidInput(f"--limit {limit}: expected 1 or more")
    bounds = Bounds() if repository_chars is None else Bounds(chars=repository_chars, file_chars=repository_chars)
    source = _source(path, mapping, encoding, repositories, bounds)
    survey = _surveyed(source)
    notes = [*source.notes(), *survey.notes(source)]
    if survey.empty and not skip_empty:
        raise InvalidInput(survey.empties(source))
    if survey.empty:
        notes.append(f"{source.name}: left out, since the candidate is empty: {_places(source, survey.empty)}")
    n_items = survey.n - len(survey.empty)
    if n_items == 0:
        raise InvalidInput(f"{source.name}: no item to judge; expected at least one with a candidate")
    return Items(
        name=source.name,
        notes=tuple(notes),
        n_items=n_items if limit is None else min(limit, n_items),
        _source=source,
        _skip_empty=skip_empty,
        _sources=_given_sources(sources, n_items, source.name, encoding),
    )


def _given_sources(sources: Mapping[str, Path], n_items: int, name: str, encoding: str | None) -> dict[str, str]:
    """The texts of `--source`, which belong to one item."""
    if sources and n_items > 1:
        raise InvalidInput(
            f"--source: {name} holds {n_items} items, and a source given so belongs to one; put a file of the source's "
            "name beside each candidate, or a column source:NAME"
        )
    texts = {
        source_name(one, "--source"): read_text_file(file, encoding=encoding).text() for one, file in sources.items()
    }
    for one, text in texts.items():
        if is_blank(text):
            raise InvalidInput(f"--source {one}: {place(sources[one])} is empty; leave it out")
    return texts


def _source(
    path: str | Path, mapping: Mapping[str, str], encoding: str | None, repositories: RepositoryMode, bounds: Bounds
) -> "_RowItems | _FolderItems | _OneText":
    """The reader for a path, chosen by its ending."""
    suffix = Path(path).suffix.casefold()
    if str(path) != "-" and Path(path).is_dir():
        if mapping:
            raise InvalidInput(f"--map: {place(path)} is a folder, whose files have no columns; leave --map out")
        return _FolderItems(ItemFolder(path, encoding=encoding, repositories=repositories, bounds=bounds))
    fields = Fields(mapping)
    if suffix in (".parquet", ".pq"):
        return _RowItems(ParquetTable(Path(path)), fields)
    if str(path) != "-" and Path(path).is_file() and suffix in _TEXT_ENDINGS:
        if mapping:
            raise InvalidInput(f"--map: {place(path)} is one text, which has no columns; leave --map out")
        return _OneText(path, encoding)
    if str(path) != "-" and Path(path).is_file() and suffix not in (".jsonl", ".ndjson", ".json", ".csv", ".tsv"):
        raise InvalidInput(
            f"{place(path)}: items end in .jsonl, .json, .csv, .tsv or .parquet, are a folder of text files, or are "
            f"one text ({', '.join(_TEXT_ENDINGS)}); rename the file, or put it into a folder and name the folder"
        )
    file = read_text_file(path, encoding=encoding)
    if suffix in (".csv", ".tsv"):
        known = frozenset([*FIELDS, *mapping.values(), *(alias for names in ALIASES.values() for alias in names)])
        return _RowItems(CsvTable(file, known), fields)
    return _RowItems(JsonList(file) if suffix == ".json" else JsonLines(file), fields)


class _RowItems:
    """Items from the rows of a file."""

    def __init__(self, rows: Rows, fields: Fields) -> None:
        self.name = rows.name
        self.unit = rows.unit
        self.fields = fields
        self._rows = rows
        self.stripped: list[tuple[int | str, str]] = []

    def read(self, *, check: bool) -> Iterator[tuple[int | str, Item]]:
        """Each item with its line."""
        for number, (line, row) in enumerate(self._rows.rows(check=check, label=self._label), start=1):
            try:
                item = self.fields.item(row, number)
            except InvalidInput as error:
                raise InvalidInput(f"{self.name} {self.unit} {line}: {error}") from error
            if check:
                self._look_at(row, line, item)
            yield line, item

    def notes(self) -> list[str]:
        """How the file and its columns were read."""
        about_columns = [*self.fields.notes, *self.fields.sources.notes()]
        notes = [*self._rows.notes, *(f"{self.name}: {note}" for note in about_columns)]
        if self.stripped:
            shown = ", ".join(f"{quoted(raw)} in {self.unit} {line}" for line, raw in self.stripped[:3])
            notes.append(f"{self.name}: spaces around {len(self.stripped)} ids were stripped ({shown})")
        return notes

    def _label(self, row: Row) -> str:
        """A row's id for a message."""
        raw = self.fields.raw_id(row)
        return quoted(raw).strip() if isinstance(raw, (str, int)) else "one without an id"

    def _look_at(self, row: Row, line: int, item: Item) -> None:
        """Keep what the notes need: ids that were stripped."""
        raw = self.fields.raw_id(row)
        if isinstance(raw, str) and len(raw) != len(item.id):
            self.stripped.append((line, raw))


class _FolderItems:
    """Items from the files of a folder."""

    def __init__(self, folder: ItemFolder) -> None:
        self.name = folder.name
        self.unit = folder.unit
        self._folder = folder

    def read(self, *, check: bool) -> Iterator[tuple[int | str, Item]]:
        """Each item with its path."""
        for relative, item in self._folder.items():
            yield quoted(relative), item

    def notes(self) -> list[str]:
        """What was passed over."""
        return [
            *self._folder.notes,
            *self._folder.repository_notes(),
            *(f"{self.name}: {note}" for note in self._folder.sources.notes()),
        ]


class _OneText:
    """One text file that is the only item, named as the file is."""

    unit = "file"

    def __init__(self, path: str | Path, encoding: str | None) -> None:
        self.name = place(path)
        self._id = Path(path).name
        self._file = read_text_file(path, encoding=encoding)

    def read(self, *, check: bool) -> Iterator[tuple[int | str, Item]]:
        """The item."""
        yield quoted(self._id), Item(id=self._id, candidate=self._file.text())

    def notes(self) -> list[str]:
        """That it is taken whole."""
        return [f"{self.name}: is judged as one item, a text; rows are read from .jsonl, .json, .csv or .parquet"]


@dataclass(slots=True)
class _Survey:
    """What the first reading found."""

    n: int = 0
    lines: dict[str, int | str] = field(default_factory=dict)
    doubled: list[tuple[str, int | str, int | str]] = field(default_factory=list)
    nameless: list[tuple[int | str, str]] = field(default_factory=list)
    empty: list[tuple[int | str, str]] = field(default_factory=list)

    def notes(self, source: "_RowItems | _FolderItems | _OneText") -> list[str]:
        """The note on ids that were made up."""
        if not self.nameless or not isinstance(source, _RowItems):
            return []
        return [
            f"{source.name}: no item has an 'id' (fields are {names_in_words(source.fields.columns)}), so they are "
            f"called row-1 to row-{self.n}; name the field that holds one with --map id=..."
        ]

    def empties(self, source: "_RowItems | _FolderItems | _OneText") -> str:
        """One sentence on empty candidates, or on a candidate field that no row has."""
        if isinstance(source, _RowItems) and len(self.empty) == self.n and not _has_candidate(source):
            aliases = "|".join(ALIASES["candidate"])
            return (
                f"{source.name}: no field 'candidate' (or {aliases}) in any row; fields are "
                f"{names_in_words(source.fields.columns)}: say which one holds it with --map candidate=..."
            )
        return (
            f"{source.name}: empty candidate in {_places(source, self.empty)}; an empty text cannot be judged: "
            "fill it in, or leave such items out with --skip-empty"
        )


def _surveyed(source: "_RowItems | _FolderItems | _OneText") -> _Survey:
    """Read everything once; refuse doubled and partly missing ids, and a mapping to a column that never comes."""
    survey = _Survey()
    for line, item in source.read(check=True):
        survey.n += 1
        if not item.id:
            survey.nameless.append((line, ""))
        elif (first := survey.lines.setdefault(item.id, line)) != line:
            survey.doubled.append((item.id, first, line))
        if is_blank(item.candidate):
            survey.empty.append((line, item.id))
    if survey.n == 0:
        raise InvalidInput(f"{source.name}: holds no items; expected at least one")
    if isinstance(source, _RowItems):
        _check_ids(source, survey)
    return survey


def _check_ids(source: "_RowItems", survey: _Survey) -> None:
    """Refuse what makes ids useless, and number the rows where none has one."""
    for name, column in source.fields.mapping.items():
        if column not in source.fields.columns:
            raise InvalidInput(
                f"{source.name}: --map {name}={column}: no row has a field {quoted(column)}; fields are "
                f"{names_in_words(source.fields.columns)}"
            )
    if survey.doubled:
        shown = "; ".join(
            f"{quoted(item_id)} in {source.unit} {first} and {source.unit} {line}"
            for item_id, first, line in survey.doubled[:_SHOWN]
        )
        more = f" (and {len(survey.doubled) - _SHOWN} more)" if len(survey.doubled) > _SHOWN else ""
        raise InvalidInput(
            f"{source.name}: the same id twice: {shown}{more}; ids must differ: rename or remove one of each"
        )
    if survey.nameless and len(survey.nameless) < survey.n:
        raise InvalidInput(
            f"{source.name}: no id in {_places(source, survey.nameless)}, while other items have one; "
            "give every item an id, or none"
        )
    source.fields.numbered = bool(survey.nameless)


def _has_candidate(source: "_RowItems") -> bool:
    """Whether any row has a column for the candidate."""
    mapped = source.fields.mapping.get("candidate")
    return any(
        column in source.fields.columns for column in ([mapped] if mapped else ["candidate", *ALIASES["candidate"]])
    )


def _places(source: "_RowItems | _FolderItems | _OneText", found: list[tuple[int | str, str]]) -> str:
    """Up to ten places with their ids, and how many more."""
    shown = ", ".join(
        f"{source.unit} {line}" + (f" (id {quoted(item_id)})" if item_id and source.unit != "file" else "")
        for line, item_id in found[:_SHOWN]
    )
    return shown + (f" and {len(found) - _SHOWN} more ({len(found)} in all)" if len(found) > _SHOWN else "")
