"""A code repository as one item: what is read, what is passed over and why, and how much of it there is room for.

    repository = Repository.walked(Path("submission"))
    repository.text(Bounds())       the candidate: see `repository_text` for its form

Links are never followed, whatever ignore rules say. Ignored, hidden, binary, generated and lock files are passed over,
counted and named. A file of settings or of results that the repository brings (`.env`, `.evenhand`) is neither used nor
read; one that says how good the work is makes the flag `self_review`, and moves nothing.
"""

import codecs
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import InvalidInput
from evenhand.repository_text import CUT, SELF_REVIEW, FileText, composed, shown_path
from evenhand.store.ignore_rules import IgnoreRules
from evenhand.store.text_files import place

__all__ = ["BINARY_ENDINGS", "GENERATED_FOLDERS", "Bounds", "Repository"]

GENERATED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_ENDINGS = (
    ".7z .avif .bin .bmp .class .db .dll .doc .docx .exe .gif .gguf .gz .ico .jar .jpeg .jpg .mov .mp3 .mp4 .o .odt "
    ".otf .pdf .png .pptx .pyc .so .sqlite .tar .tiff .ttf .wasm .wav .webm .webp .woff .woff2 .xls .xlsx .xz .zip "
    ".zst"
)
BINARY_ENDINGS = frozenset(_ENDINGS.split())
_LOCK_NAMES = "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum packages.lock.json gradle.lockfile"
_LOCKS = frozenset(_LOCK_NAMES.split())
_GENERATED_ENDINGS = (".min.js", ".min.css", ".map")
_REASONS = ("links", "ignored", "hidden", "not text", "lock files", "generated", "not files", "too deep")
_DEEPEST = 64
_MOST_NAMES = 20
_LEAST = 2_000  # characters of a file, where there is room for a part of it only
_REVIEW_NAME = re.compile(
    r"(?:self[-_ ]?)?(?:scores?|reviews?|judge?ments?|verdicts?|evaluations?|grades?|ratings?|records)"
    r"\.(?:json|jsonl|ya?ml|toml|csv|md|txt)",
    re.IGNORECASE,
)
_REVIEW_KEY = re.compile(r"(score|rating|grade|verdict|rationale|judge|reviewer)[\"']?\s*[:=]", re.IGNORECASE)
_WORTH = frozenset({"score", "rating", "grade", "verdict"})
_WHO_OR_WHY = frozenset({"rationale", "judge", "reviewer", "verdict"})
_DATA_ENDINGS = (".json", ".jsonl", ".yaml", ".yml", ".toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much of a repository is read, in characters.

    Args:
        chars: of all files together; what is smaller stays whole, and larger files are cut alike.
        file_chars: of one file.
    """

    chars: int = 400_000
    file_chars: int = 60_000


@dataclass(slots=True, kw_only=True)
class Repository:
    """What a walk found.

    Args:
        root: the repository's folder.
        files: path inside to size in bytes, in the order of the paths.
        passed: reason to the paths that are not read.
        reviews_itself: whether a hidden file is one of evenhand's own results.
    """

    root: Path
    encoding: str | None = None
    files: dict[str, int] = field(default_factory=dict)
    passed: dict[str, list[str]] = field(default_factory=lambda: {reason: [] for reason in _REASONS})
    reviews_itself: bool = False

    @classmethod
    def walked(cls, root: Path, *, encoding: str | None = None) -> "Repository":
        """Look at every name below a folder, without following a link and without reading a file.

        Args:
            root: may itself be a link, since the caller named it.
            encoding: of the text files; None means UTF-8, or what a byte order mark says.
        Raises:
            InvalidInput: a name that is not UTF-8, or a folder that cannot be read.
        """
        found = cls(root=root, encoding=encoding)
        found._walk("", (), 0)
        found.files = dict(sorted(found.files.items()))
        return found

    def text(self, bounds: Bounds) -> str:
        """The candidate. Files that turn out to be no text are counted with the others that are not shown.

        Raises:
            InvalidInput: a file that was one and no longer is.
        """
        room, left_out = _room(self.files, bounds)
        files, no_text = [], []
        for path, chars in room.items():
            read = self._read(path, chars)
            if read is None:
                no_text.append(path)
            else:
                files.append(read)
        self.passed["not text"] = sorted({*self.passed["not text"], *no_text})
        is_cut = bool(left_out) or any(file.unread for file in files)
        is_review = self.reviews_itself or any(_is_review(file) for file in files)
        flags = [name for name, holds in ((SELF_REVIEW, is_review), (CUT, is_cut)) if holds]
        counts = {reason: len(paths) for reason, paths in self.passed.items()}
        return composed(files, not_shown=counts, left_out=left_out, flags=flags)

    def skipped(self) -> Mapping[str, list[str]]:
        """The names that are not read, by reason; at most twenty a reason, of which the last says how many more."""
        return {
            reason: [*map(shown_path, paths[:_MOST_NAMES]), *_more(paths)]
            for reason, paths in self.passed.items()
            if paths
        }

    def notes(self, name: str) -> Iterator[str]:
        """One sentence a reason, with the count and the first names."""
        for reason, paths in self.passed.items():
            if paths:
                shown = ", ".join(shown_path(path) for path in paths[:5])
                yield f"{name}: not read, {reason}: {len(paths)} ({shown}{', ...' if len(paths) > 5 else ''})"

    def _walk(self, folder: str, rules: tuple[IgnoreRules, ...], depth: int) -> None:
        """Collect what lies under one folder."""
        try:
            with os.scandir(self.root / folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise InvalidInput(f"{place(self.root / folder)}: cannot be read ({error.strerror})") from error
        own = next((entry for entry in found if entry.name == ".gitignore" and _is_plain(entry)), None)
        if own is not None:
            rules = (*rules, IgnoreRules.of(_rules_text(self.root / folder / ".gitignore"), folder))
        for entry in found:
            self._entry(entry, f"{folder}/{entry.name}" if folder else entry.name, rules, depth)

    def _entry(self, entry: "os.DirEntry[str]", path: str, rules: tuple[IgnoreRules, ...], depth: int) -> None:
        """Sort one name into what is read and what is passed over."""
        try:
            path.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(f"{place(self.root)}: the file name {path!a} is not UTF-8; rename the file") from error
        is_folder = entry.is_dir(follow_symlinks=False)
        reason = self._reason(entry, path, rules, is_folder=is_folder)
        if reason is not None:
            if path != ".git":
                self.passed[reason].append(path)
            self.reviews_itself |= entry.name.casefold() == ".evenhand" and reason == "hidden"
        elif not is_folder:
            self.files[path] = entry.stat(follow_symlinks=False).st_size
        elif depth >= _DEEPEST:
            self.passed["too deep"].append(path)
        else:
            self._walk(path, rules, depth + 1)

    def _reason(
        self, entry: "os.DirEntry[str]", path: str, rules: tuple[IgnoreRules, ...], *, is_folder: bool
    ) -> str | None:
        """Why a name is passed over; None where it is not."""
        name = entry.name.casefold()
        if entry.is_symlink():
            return "links"
        if name.startswith("."):
            return "hidden"
        if _ignored(path, rules, is_folder=is_folder):
            return "ignored"
        if is_folder:
            return "generated" if entry.name in GENERATED_FOLDERS else None
        if not entry.is_file(follow_symlinks=False):
            return "not files"
        if name in _LOCKS or name.endswith((".lock", "-lock.json")):
            return "lock files"
        if name.endswith(_GENERATED_ENDINGS):
            return "generated"
        return "not text" if os.path.splitext(name)[1] in BINARY_ENDINGS else None

    def _read(self, path: str, chars: int) -> FileText | None:
        """The first characters of a file; None where they are no text."""
        # A character has at most four bytes, and a byte order mark as many again.
        data, size = _bytes(self.root / path, 4 * chars + 4)
        encoding = self.encoding or _detected(data)
        text = _decoded(data, encoding, whole=len(data) == size)
        if text is None:
            return None
        if len(data) == size and len(text) <= chars:
            return FileText(path=path, text=text, size=size)
        kept = text[:chars]
        kept = kept[: kept.rfind("\n") + 1] or kept
        return FileText(path=path, text=kept, size=size, unread=max(size - len(kept.encode(encoding)), 1))


def _room(files: Mapping[str, int], bounds: Bounds) -> tuple[dict[str, int], list[str]]:
    """How many characters of each file are read, and the files for which there is no room.

    What is smaller than an equal share stays whole, and what it leaves goes to the others. Where even a short beginning
    of each is too much, files deep in folders give way to those at the top. A byte is taken for a character.
    """
    wanted = {path: min(size, bounds.file_chars) for path, size in files.items()}
    kept: list[str] = []
    left = bounds.chars
    for path in sorted(wanted, key=lambda path: (path.count("/"), path)):
        least = min(wanted[path], _LEAST)
        if least <= left or not kept:
            kept.append(path)
            left -= least
    room: dict[str, int] = {}
    left = bounds.chars
    for number, path in enumerate(sorted(kept, key=lambda path: (wanted[path], path))):
        room[path] = min(wanted[path], left // (len(kept) - number))
        left -= room[path]
    in_order = {path: room[path] for path in files if path in room}
    return in_order, [path for path in files if path not in room]


def _bytes(path: Path, most: int) -> tuple[bytes, int]:
    """The first bytes of a file and its size, read only if it is still an ordinary file."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise InvalidInput(
            f"{place(path)}: cannot be read ({error.strerror}); links are not followed, so a file that has become one "
            "is refused"
        ) from error
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{place(path)}: was a file and no longer is; links are not followed")
        data = stream.read(most)
        return data, max(status.st_size, len(data))


def _detected(data: bytes) -> str:
    """The encoding that a byte order mark names; UTF-8 without one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"


def _decoded(data: bytes, encoding: str, *, whole: bool) -> str | None:
    """Bytes as text; None where they are none. The last character may be cut in two unless the file is whole."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except (UnicodeError, LookupError):
        return None
    return None if "\0" in text else text


def _rules_text(path: Path) -> str:
    """A `.gitignore`; what is not UTF-8 in it matches nothing."""
    data, _ = _bytes(path, 200_000)
    return data.decode("utf-8", "replace")


def _ignored(path: str, rules: tuple[IgnoreRules, ...], *, is_folder: bool) -> bool:
    """Whether the nearest rules that speak of a path ignore it."""
    for own in reversed(rules):
        verdict = own.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _is_plain(entry: "os.DirEntry[str]") -> bool:
    return entry.is_file(follow_symlinks=False)


def _is_review(file: FileText) -> bool:
    """Whether a file reads like a score or a review of the work that it is part of."""
    name = file.path.rpartition("/")[2]
    if _REVIEW_NAME.fullmatch(name):
        return True
    if not name.casefold().endswith(_DATA_ENDINGS):
        return False
    keys = [key.casefold() for key in _REVIEW_KEY.findall(file.text[:4_000])]
    return len(keys) > 1 and not _WORTH.isdisjoint(keys) and not _WHO_OR_WHY.isdisjoint(keys)


def _more(paths: list[str]) -> list[str]:
    return [f"and {len(paths) - _MOST_NAMES} more"] if len(paths) > _MOST_NAMES else []
