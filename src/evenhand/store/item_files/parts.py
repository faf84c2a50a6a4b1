"""Items that are folders: `ID/candidate.md`, with `ID/task.md`, `ID/demo.txt` and so on beside it.

A folder is read so where a folder in it holds a file (or a code repository) called `candidate`; then every folder in it
must. A file's name without its ending says what it is: a field of the item, or else a source of that name.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from evenhand.errors import InvalidInput
from evenhand.store.item_files.sources import source_name
from evenhand.store.text_files import quoted

__all__ = ["Layout", "Parts", "layout_of"]

_FIELDS = ("candidate", "task", "reference", "context", "system")
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of one item, each a path inside the judged folder.

    Args:
        fields: by field of the item; `candidate` is there.
        sources: by the source's name.
    """

    fields: Mapping[str, str]
    sources: Mapping[str, str]


@dataclass(slots=True)
class Layout:
    """A folder of item folders.

    Args:
        items: id to parts.
        beside: files that lie beside the item folders.
        deeper: files that lie in folders of an item folder.
    """

    items: dict[str, Parts] = field(default_factory=dict)
    beside: list[str] = field(default_factory=list)
    deeper: list[str] = field(default_factory=list)


def layout_of(name: str, files: Iterable[str], repositories: Collection[str], unread: Iterable[str]) -> Layout | None:
    """The items of a folder of item folders; None where no folder holds a candidate.

    Args:
        name: of the judged folder, for messages.
        files: paths of text files inside, with `/`.
        repositories: paths of code repositories inside; one at the top is an item of its own.
        unread: paths of files that are no text; a folder that holds only such is no item, and is refused.
    Raises:
        InvalidInput: a folder without a candidate beside one with, or two files of one name.
    """
    own: dict[str, list[tuple[str, str]]] = {}
    layout = Layout()
    for path in sorted([*files, *repositories]):
        folder, _, rest = path.partition("/")
        if not rest and path not in repositories:
            layout.beside.append(path)
        elif "/" in rest:
            layout.deeper.append(path)
            own.setdefault(folder, [])
        elif rest:
            own.setdefault(folder, []).append((_part(rest, is_folder=path in repositories), path))
    if not any(part == "candidate" for parts in own.values() for part, _ in parts):
        return None
    only_unread = {path.partition("/")[0] for path in unread if "/" in path} - {*own, *repositories}
    _refuse_without(name, {**own, **{folder: [] for folder in only_unread}})
    layout.items = {folder: _parts(parts, name) for folder, parts in own.items()}
    return layout


def _part(file: str, *, is_folder: bool) -> str:
    """What a file's name says it is."""
    stem = file if is_folder else PurePosixPath(file).stem
    return stem.casefold() if stem.casefold() in _FIELDS else stem


def _parts(found: Iterable[tuple[str, str]], name: str) -> Parts:
    """Fields and sources of one item, each once."""
    parts: dict[str, str] = {}
    for part, path in found:
        key = part if part in _FIELDS else source_name(part, f"{name}: {quoted(path)}")
        if key in parts:
            raise InvalidInput(
                f"{name}: {quoted(parts[key])} and {quoted(path)} are both the {key} of one item; keep one of them"
            )
        parts[key] = path
    return Parts(
        fields={part: path for part, path in parts.items() if part in _FIELDS},
        sources={part: path for part, path in parts.items() if part not in _FIELDS},
    )


def _refuse_without(name: str, own: Mapping[str, Iterable[tuple[str, str]]]) -> None:
    """Every folder has a candidate, if one has."""
    candidates = {folder: path for folder, parts in own.items() for part, path in parts if part == "candidate"}
    without = sorted(folder for folder in own if folder not in candidates)
    if without:
        more = f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
        raise InvalidInput(
            f"{name}: {quoted(min(candidates.values()))} makes its folder one item, but no candidate that is text lies "
            f"in {', '.join(map(quoted, without[:_SHOWN]))}{more}; give every folder a file candidate.*, or rename "
            "those files to judge each text file by itself"
        )
