r"""A repository as one text, and the way back from a span of that text to `path:line`.

    --- bcdfghjklmnpqr repository: 2 files; not shown: 3 links; flags: self_review
    --- bcdfghjklmnpqr file: README.md
    ...the file's own characters...
    --- bcdfghjklmnpqr file: src/line\nbreak.py
    ...
    --- bcdfghjklmnpqr cut: the file goes on, 70,000 of its 90,000 bytes are not shown
    --- bcdfghjklmnpqr left out for size: 12 files: assets/a.json, ...

The mark is made from everything in the text and occurs in none of it, so that no file can begin another one. Files
stand as they are, so that a quotation of a file is found in the whole; the text alone says where each file begins, so
that a record is placed again from what the store holds. Pure: nothing is opened here.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["CUT", "ITEM_FLAGS", "SELF_REVIEW", "FileText", "RepositoryText", "composed", "shown_path", "text_flags"]

SELF_REVIEW = "self_review"
"""The repository brings a score or a review of itself; it is text like any other, and moves nothing."""

CUT = "repository_cut"
"""Files were cut or left out, since the whole is larger than what is read."""

ITEM_FLAGS = (SELF_REVIEW, CUT)

_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")
_HEAD = re.compile(r"--- ([b-t]{14}) repository: (?:[^\n]*; flags: ([a-z_, ]+))?")
_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """One file of a repository.

    Args:
        path: inside the repository, with `/`.
        text: its characters from the first on.
        size: its bytes on disk.
        unread: how many of them are not in `text`.
    """

    path: str
    text: str
    size: int = 0
    unread: int = 0


def composed(
    files: Sequence[FileText],
    *,
    not_shown: Mapping[str, int] | None = None,
    left_out: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> str:
    """The one text of a repository.

    Args:
        files: in the order in which they are to stand.
        not_shown: reason to number of names that were passed over.
        left_out: paths of files for which there was no room.
        flags: of `ITEM_FLAGS`.
    """
    paths = [shown_path(file.path) for file in files]
    tail = _tail(left_out)
    mark = _mark([*paths, *(file.text for file in files), tail])
    passed = ", ".join(f"{n} {reason}" for reason, n in (not_shown or {}).items() if n)
    head = f"--- {mark} repository: {len(files)} file{'' if len(files) == 1 else 's'}"
    head += f"; not shown: {passed}" if passed else ""
    parts = [head + (f"; flags: {', '.join(flags)}" if flags else "") + "\n"]
    for path, file in zip(paths, files, strict=True):
        ended = not file.text or file.text.endswith("\n")
        parts.append(f"--- {mark} file: {path}\n{file.text}{'' if ended else chr(10)}")
        if file.unread:
            parts.append(
                f"--- {mark} cut: the file goes on, {file.unread:,} of its {file.size:,} bytes are not shown\n"
            )
    if tail:
        parts.append(f"--- {mark} left out for size: {tail}\n")
    return "".join(parts)


def text_flags(candidate: str) -> tuple[str, ...]:
    """What a repository's text says about itself, of `ITEM_FLAGS`; nothing for any other text.

    >>> text_flags(composed([FileText(path="a.py", text="a")], flags=["self_review"])), text_flags("a")
    (('self_review',), ())
    """
    head = _HEAD.match(candidate) if candidate.startswith("--- ") else None
    said = (head[2] or "").split(", ") if head else []
    return tuple(flag for flag in ITEM_FLAGS if flag in said)


class RepositoryText:
    """Where the files of a repository's text begin."""

    def __init__(self, candidate: str, mark: str) -> None:
        self.text = candidate
        self.mark = mark
        self._starts: list[int] = []
        self._extents: dict[str, tuple[int, int]] = {}
        self._files: list[tuple[str, int, int] | None] = []  # path, start and end of the body; None: no file
        line = re.compile(rf"^--- {mark} (?:file: (.*)|.*)$", re.MULTILINE)
        found = list(line.finditer(candidate))
        ends = [*(one.start() for one in found[1:]), len(candidate)]
        for one, end in zip(found, ends, strict=True):
            self._starts.append(one.start())
            self._files.append(None if one[1] is None else (one[1], min(one.end() + 1, end), end))

    @staticmethod
    def of(candidate: str) -> "RepositoryText | None":
        """The files of a repository's text; None for any other text."""
        head = _HEAD.match(candidate) if candidate.startswith("--- ") else None
        return _parsed(candidate, head[1]) if head else None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are shown, as `path:line` names them."""
        return tuple(file[0] for file in self._files if file is not None)

    def extent(self, path: str) -> tuple[int, int]:
        """Where a file stands in the text, the line that names it included.

        Raises:
            KeyError: there is no such file.
        """
        if not self._extents:
            found = zip(self._starts, self._files, strict=True)
            self._extents = {file[0]: (start, file[2]) for start, file in found if file is not None}
        return self._extents[path]

    def place(self, span: tuple[int, int]) -> str | None:
        r"""Where a span stands: `path:line`, `path:first-last`, the path alone for the line that names it, or None.

        >>> text = composed([FileText(path="a.py", text="x = 1\ny = 2\n"), FileText(path="b c.py", text="z = 3")])
        >>> files = RepositoryText.of(text)
        >>> [files.place((text.index(quote), text.index(quote) + len(quote))) for quote in ("y = 2", "z", "b c.py")]
        ['a.py:2', 'b c.py:1', 'b c.py']
        """
        start, end = span
        while start < end - 1 and self.text[start] in "\r\n":
            start += 1
        while end - 1 > start and self.text[end - 1] in "\r\n":
            end -= 1
        first, last = self._line(start), self._line(max(start, end - 1))
        if first is None or last is None or first == last:
            return first and _joined(*first) if first is not None else (last and _joined(*last))
        if first[0] == last[0] and first[1] is not None:
            return f"{first[0]}:{first[1]}-{last[1]}"
        return f"{_joined(*first)} to {_joined(*last)}"

    def _line(self, at: int) -> tuple[str, int | None] | None:
        """Path and line of one character; no line in the line that names the file."""
        number = bisect_right(self._starts, at) - 1
        file = self._files[number] if number >= 0 else None
        if file is None:
            return None
        path, start, _ = file
        return path, None if at < start else self.text.count("\n", start, at) + 1


def shown_path(path: str) -> str:
    r"""A path on one line, in which no two paths look alike: what does not print is escaped, and so is a backslash.

    >>> print(shown_path("src/line\nbreak.py"), shown_path("🐙 octopus.py"))
    src/line\nbreak.py 🐙 octopus.py
    """
    return "".join(
        character if character.isprintable() and character != "\\" else character.encode("unicode_escape").decode()
        for character in path
    )


def _joined(path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"


def _tail(left_out: Sequence[str]) -> str:
    """The files for which there was no room: how many, and the first names."""
    if not left_out:
        return ""
    more = ", ..." if len(left_out) > _NAMED else ""
    names = ", ".join(shown_path(path) for path in left_out[:_NAMED])
    return f"{len(left_out)} file{'' if len(left_out) == 1 else 's'}: {names}{more}"


def _mark(texts: Sequence[str]) -> str:
    """Letters that occur in none of the texts; the same for the same texts."""
    digest = hashlib.sha256(b"repository")
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    mark = digest.hexdigest()[:14].translate(_LETTERS)
    while any(mark in text for text in texts):
        digest.update(b"!")
        mark = digest.hexdigest()[:14].translate(_LETTERS)
    return mark


@lru_cache(maxsize=8)
def _parsed(candidate: str, mark: str) -> RepositoryText:
    """Kept for the members, reruns and items of one candidate."""
    return RepositoryText(candidate, mark)
