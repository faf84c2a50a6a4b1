"""Items of a folder: one text file an item, and a code repository (see repositories) one item as a whole.

A folder of folders that each hold a `candidate` file is one item a folder instead (see parts.py). An item's id is
its path inside the folder, with `/` on every system. Links are never followed, hidden and binary files are never read,
and what was passed over is counted and said. A `.env` or a store beside candidates is refused: candidates bring such
files, and they would set keys, addresses and stored replies. Inside a repository they are never used, and passed over.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import InvalidInput
from evenhand.repository_text import RepositoryText, shown_path
from evenhand.store.item_files.parts import Parts, layout_of
from evenhand.store.item_files.sources import Sources
from evenhand.store.repositories import BINARY_ENDINGS, GENERATED_FOLDERS, Bounds, Repository
from evenhand.store.text_files import is_utf8, place, quoted, read_text_file
from evenhand.terms import Item

__all__ = ["ItemFolder", "RepositoryMode", "mode_for", "refuse_inside"]

STORE_FOLDER = ".evenhand"
_DEEPEST = 200
_MOST_BYTES = 64 << 20  # of one candidate; the longest contexts of models hold a tenth of it

RepositoryMode = Literal["git", "whole", "each", "none"]
"""Which folders are code repositories: those with `.git`, the judged one itself, each folder in it, or none."""


def refuse_inside(folder: str | Path, path: str | Path, what: str) -> None:
    """Refuse a file that evenhand would trust and that lies where candidates lie.

    Args:
        folder: the judged folder (a file is never one).
        path: the store, or the `.env` about to be read.
        what: what to call it in the message.
    Raises:
        InvalidInput: the path, or what it links to, lies inside the folder.
    """
    judged, file = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
    place_itself = Path(os.path.realpath(Path(path).parent), Path(path).name)
    if judged.is_dir() and (file.is_relative_to(judged) or place_itself.is_relative_to(judged)):
        raise InvalidInput(
            f"{place(path)}: {what} lies inside the judged folder {place(folder)}, where candidates could bring it; "
            "run from another folder, or name a store outside with --store"
        )


def mode_for(path: str | Path, folder: str) -> RepositoryMode:
    """Which folders are one item, where only the judge file says what a folder is to it.

    Args:
        path: of the items.
        folder: `files` or `repository`. A folder of repositories (with `.git`) or of item folders (with a `candidate`)
            is not one repository, and stays what it is.
    """
    if folder == "files" or str(path) == "-" or not Path(path).is_dir():
        return "git"
    folders = [entry.path for entry in _entries(path) if entry.is_dir(follow_symlinks=False) and entry.name[0] != "."]
    for one in folders:
        if any(entry.name == ".git" or Path(entry.name).stem.casefold() == "candidate" for entry in _entries(one)):
            return "git"
    return "whole"


def _entries(folder: str | Path) -> "list[os.DirEntry[str]]":
    """What lies in a folder; nothing where it cannot be read, which the walk says."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


@dataclass(slots=True)
class _Passed:
    """What was not read, by reason."""

    links: list[str] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    generated: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    deeper: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    too_deep: list[str] = field(default_factory=list)

    def sentences(self, name: str) -> list[str]:
        """One note a reason, with the count and the first names."""
        reasons = (
            (self.links, "links are not followed"),
            (self.binary, "files are not text"),
            (self.hidden, "hidden names are passed over"),
            (self.generated, "folders of generated files are passed over"),
            (self.special, "names are neither files nor folders"),
            (self.beside, "files lie beside the folders that are items, and are not read"),
            (self.deeper, "files lie in a folder inside one that is an item, and are not read"),
            (self.unnamed, "names are not UTF-8, and are passed over (rename them to have them judged)"),
            (self.unreadable, "files or folders cannot be read, and are passed over"),
            (self.too_deep, f"folders lie more than {_DEEPEST} deep, and are not read"),
        )
        return [
            f"{name}: {len(paths)} {reason}: {', '.join(map(quoted, paths[:5]))}{', ...' if len(paths) > 5 else ''}"
            for paths, reason in reasons
            if paths
        ]


class ItemFolder:
    """A folder whose files, or repositories, are items.

    Args:
        path: the folder; it may itself be a link, since the caller named it.
        encoding: of the text files; None means UTF-8, or what a byte order mark says.
        repositories: which folders are one item each; all others hold a file an item.
        bounds: how much of a repository is read.
    Raises:
        InvalidInput: a `.env` or a store inside, or the folder itself cannot be read.
    """

    unit = "file"

    def __init__(
        self,
        path: str | Path,
        *,
        encoding: str | None = None,
        repositories: RepositoryMode = "git",
        bounds: Bounds | None = None,
    ) -> None:
        self.path = Path(path)
        self.name = place(path)
        self.notes: list[str] = []
        self._encoding = encoding
        self._passed = _Passed()
        self._files: list[str] = []
        self._mode = repositories
        self._bounds = bounds or Bounds()
        self._repositories: dict[str, Repository] = {}
        self._inner: dict[str, Repository] = {}  # repositories inside of items
        self._parts: dict[str, Parts] = {}
        self.sources = Sources()
        self._walk("", self._files)
        self._files.sort()
        self._drop_binaries()
        self._group()
        self.notes += self._passed.sentences(self.name)

    def items(self) -> Iterator[tuple[str, Item]]:
        """Each item with the path that messages name, sorted by id.

        Raises:
            InvalidInput: a text file that cannot be decoded, or a candidate of more than 64 MB.
        """
        for relative in sorted([*self._files, *self._repositories, *self._parts]):
            if relative in self._parts:
                parts = self._parts[relative]
                yield parts.fields["candidate"], self._item(relative, parts)
            elif relative in self._repositories:
                yield relative, self._repository(relative, self._repositories[relative])
            else:
                yield relative, Item(id=relative, candidate=self._text(relative))

    def repository_notes(self) -> list[str]:
        """What was passed over in repositories; complete once their items were read."""
        found = {**self._repositories, **self._inner}
        return [note for name, one in found.items() for note in one.notes(f"{self.name}: {quoted(name)}")]

    def _walk(self, folder: str, files: list[str]) -> None:
        """Collect what lies under one folder, without following a link."""
        try:
            with os.scandir(self.path / folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if folder == "":
                raise InvalidInput(f"{self.name}: cannot be read ({error.strerror})") from error
            self._passed.unreadable.append(folder)
            return
        if self._is_repository(folder, found):
            own = self.path.resolve().name
            identifier = folder or (own if is_utf8(own) else shown_path(own))
            self._repositories[identifier] = Repository.walked(self.path / folder, encoding=self._encoding)
            holds = " holds .git and" if any(entry.name == ".git" for entry in found) else ""
            self.notes.append(f"{self.name}: {quoted(identifier)}{holds} is judged as one item, a code repository")
            return
        for entry in found:
            self._entry(entry, f"{folder}/{entry.name}" if folder else entry.name, files)

    def _is_repository(self, folder: str, found: Sequence["os.DirEntry[str]"]) -> bool:
        """Whether a folder is one item as a whole."""
        if self._mode == "none":
            return False
        if self._mode == "whole":
            return folder == ""
        if self._mode == "git" or folder == "":
            return self._mode == "git" and any(entry.name == ".git" and not entry.is_symlink() for entry in found)
        if "/" in folder:
            return folder.partition("/")[2] == "candidate"
        return not any(Path(entry.name).stem.casefold() == "candidate" for entry in found)

    def _entry(self, entry: "os.DirEntry[str]", relative: str, files: list[str]) -> None:
        """Sort one name into what is read and what is passed over."""
        if entry.name.casefold() in (".env", STORE_FOLDER):
            what = "a .env" if entry.name.casefold() == ".env" else "a store"
            raise InvalidInput(
                f"{self.name}: {what} lies inside the judged folder ({quoted(relative)}); candidates could "
                "bring one to change keys or replies: take it out first, judge a copy without it, or judge the folder "
                "as one repository, where it is never used (--repositories whole)"
            )
        if not is_utf8(relative):
            self._passed.unnamed.append(relative)
        elif entry.is_symlink():
            self._passed.links.append(relative)
        elif entry.name.startswith("."):
            self._passed.hidden.append(relative)
        elif entry.is_dir():
            if entry.name in GENERATED_FOLDERS:
                self._passed.generated.append(relative)
            elif relative.count("/") >= _DEEPEST:
                self._passed.too_deep.append(relative)
            else:
                self._walk(relative, files)
        elif entry.is_file(follow_symlinks=False):
            files.append(relative)
        else:
            self._passed.special.append(relative)

    def _drop_binaries(self) -> None:
        """Take out what is not text, or cannot be read."""
        self._files[:] = [relative for relative in self._files if self._is_text(relative)]

    def _group(self) -> None:
        """Where folders are items, take their files for the items' parts."""
        layout = layout_of(self.name, self._files, self._repositories, self._passed.binary)
        if layout is None:
            return
        self._parts = layout.items
        self._passed.beside, self._passed.deeper = layout.beside, layout.deeper
        self._files = []
        self._inner = {path: one for path, one in self._repositories.items() if "/" in path}
        self._repositories = {path: one for path, one in self._repositories.items() if "/" not in path}

    def _item(self, identifier: str, parts: Parts) -> Item:
        """The item of a folder."""
        read = {name: self._part(path) for name, path in parts.fields.items()}
        fields = {name: text for name, (text, _) in read.items()}
        return Item(
            id=identifier,
            candidate=fields["candidate"],
            task=fields.get("task") or None,
            reference=fields.get("reference") or None,
            context=fields.get("context") or None,
            system=fields.get("system", "").strip() or None,
            sources=self.sources.shown({name: self._part(path)[0] for name, path in parts.sources.items()}),
            repository=parts.fields["candidate"] in self._inner,
            metadata=read["candidate"][1],
        )

    def _part(self, relative: str) -> tuple[str, Mapping[str, Any]]:
        """The text of a file or of a repository, and what is known about it."""
        if relative in self._inner:
            repository = self._repository(relative, self._inner[relative])
            return repository.candidate, repository.metadata
        return self._text(relative), {}

    def _is_text(self, relative: str) -> bool:
        """Whether a file is read: not what its ending or a NUL says is no text, nor what cannot be read."""
        path = self.path / relative
        try:
            binary = path.suffix.casefold() in BINARY_ENDINGS or _holds_nul(path)
        except OSError:
            self._passed.unreadable.append(relative)
            return False
        if binary:
            self._passed.binary.append(relative)
        return not binary

    def _text(self, relative: str) -> str:
        """A file's text, read only if it is still an ordinary file."""
        path = self.path / relative
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{place(path)}: was a file and no longer is; links are not followed")
        if status.st_size > _MOST_BYTES:
            raise InvalidInput(f"{place(path)}: {status.st_size} bytes; one candidate may have {_MOST_BYTES}: split it")
        return read_text_file(path, encoding=self._encoding).text()

    def _repository(self, identifier: str, repository: Repository) -> Item:
        """A repository as one text; empty where it holds no file to show."""
        text = repository.text(self._bounds)
        files = RepositoryText.of(text)
        n_files = len(files.paths) if files else 0
        metadata: dict[str, Any] = {"n_files": n_files}
        if skipped := repository.skipped():
            metadata["skipped"] = skipped
        return Item(id=identifier, candidate=text if n_files else "", repository=True, metadata=metadata)


def _holds_nul(path: Path) -> bool:
    """Whether a file without a byte order mark holds a NUL byte."""
    with path.open("rb") as stream:
        chunk = stream.read(1 << 20)
        if chunk.startswith((b"\xff\xfe", b"\xfe\xff")):
            return False
        while chunk:
            if b"\0" in chunk:
                return True
            chunk = stream.read(1 << 20)
    return False
