r"""Text as it stands on disk: encoding found and every byte checked before a line is used; files written whole or not.

    read_text_file(path)      the file, checked: `.lines()` for JSONL, `.open()` for CSV, `.text()` for the rest
    Replacement(path)         a file written beside its target and renamed over it at the end

Lines end at `\n` (or `\r\n`) and nowhere else: U+2028, U+0085 and form feeds are text. Nothing is ever decoded with
replacement characters. A pipe is read into memory, since items are read twice: once to check, once to judge.
"""

import codecs
import contextlib
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TextIO

from evenhand.errors import InvalidInput, StoreError

__all__ = ["Replacement", "TextFile", "is_utf8", "place", "quoted", "read_text_file"]

_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_BOMS = (  # the longer ones first: the mark of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def place(path: str | Path) -> str:
    """A path as messages name it; control characters in a file's name are made visible."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def is_utf8(name: str) -> bool:
    r"""Whether a file's name is text: one of other bytes comes from the system with lone surrogates in it.

    >>> is_utf8("ä.txt"), is_utf8("a\udcff.txt")
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def quoted(text: object, limit: int = 60) -> str:
    """Text of a file, quoted for a message: escaped, and cut where it is long."""
    whole = str(text)
    return repr(whole if len(whole) <= limit else whole[: limit - 1] + "…")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A text file whose bytes have been checked.

    Args:
        name: how messages name it.
        encoding: Python's name of the codec that reads it, byte order mark included.
        path: where it lies, or None where it came through a pipe.
        data: its bytes, where it came through a pipe.
        stamp: size in bytes and time of change in nanoseconds when it was checked.
    """

    name: str
    encoding: str
    path: Path | None = None
    data: bytes = b""
    stamp: tuple[int, int] = (0, 0)

    def open(self) -> TextIO:
        """The characters, line ends untouched.

        Raises:
            InvalidInput: the file has changed since it was checked.
        """
        return io.TextIOWrapper(self._bytes(), encoding=self.encoding, newline="")

    def lines(self) -> Iterator[bytes]:
        r"""The lines as UTF-8, split at `\n` only.

        Raises:
            InvalidInput: the file has changed since it was checked.
        """
        if self.encoding in ("utf-8", "utf-8-sig"):
            with self._bytes() as stream:
                if self.encoding == "utf-8-sig":
                    stream.seek(len(codecs.BOM_UTF8))
                yield from stream
        else:
            with io.TextIOWrapper(self._bytes(), encoding=self.encoding, newline="\n") as characters:
                for line in characters:
                    yield line.encode()

    def text(self) -> str:
        """The whole text, line ends untouched."""
        with self.open() as characters:
            return characters.read()

    def _bytes(self) -> BinaryIO:
        """The bytes once more, from the start."""
        if self.path is None:
            return io.BytesIO(self.data)
        stream = _opened(self.path, self.name)
        if _stamp(stream) != self.stamp:
            stream.close()
            raise InvalidInput(f"{self.name}: the file has changed while it was read; run again once it is complete")
        return stream


def read_text_file(path: str | Path, *, encoding: str | None = None, has_option: bool = True) -> TextFile:
    """Find a file's encoding and check every byte of it.

    Args:
        path: a file, a pipe, or `-` for standard input.
        encoding: Python's name of a codec; None means UTF-8, or what a byte order mark says.
        has_option: whether a message may name `--encoding` as the way out.
    Raises:
        InvalidInput: no such file; bytes that are not in the encoding (with offset, line and best guess); a NUL.
    """
    if str(path) == "-":
        return _checked(
            TextFile(name="standard input", encoding="utf-8", data=sys.stdin.buffer.read()), encoding, has_option
        )
    name = place(path)
    with _opened(Path(path), name) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return _checked(TextFile(name=name, encoding="utf-8", data=stream.read()), encoding, has_option)
        found = TextFile(name=name, encoding="utf-8", path=Path(path), stamp=_stamp(stream))
    return _checked(found, encoding, has_option)


def _opened(path: Path, name: str) -> BinaryIO:
    """The file opened for reading bytes, or one sentence on why not."""
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise InvalidInput(f"{name}: no such file; check the path") from error
    except IsADirectoryError as error:
        raise InvalidInput(f"{name}: is a folder; a file was expected") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"{name}: cannot be read ({reason}); check the path and its permissions") from error


def _stamp(stream: BinaryIO) -> tuple[int, int]:
    """Size and time of change."""
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def _checked(file: TextFile, encoding: str | None, has_option: bool) -> TextFile:
    """The same file with its codec settled and every byte decoded once."""
    with file._bytes() as stream:
        settled = _codec(file.name, stream.read(4), encoding)
        stream.seek(0)
        _scan(file.name, stream, settled, has_option)
    return TextFile(name=file.name, encoding=settled, path=file.path, data=file.data, stamp=file.stamp)


def _codec(name: str, head: bytes, encoding: str | None) -> str:
    """The codec that a byte order mark or the caller names."""
    marked = next((codec for bom, codec in _BOMS if head.startswith(bom)), None)
    if encoding is None:
        return marked or "utf-8"
    try:
        found = codecs.lookup(encoding)
        "".encode(found.name)  # refuses codecs that are not of text, such as rot13 and zip
    except (LookupError, ValueError) as error:
        raise InvalidInput(
            f"--encoding {quoted(encoding)}: no such text encoding; use utf-8, cp1252, utf-16 or another of Python's"
        ) from error
    if marked is None:
        return found.name
    if found.name.replace("-", "")[:5] != marked.replace("-", "")[:5]:
        raise InvalidInput(
            f"{name}: begins with the mark of {marked.removesuffix('-sig')}, yet --encoding says {found.name}; "
            "leave --encoding out"
        )
    return marked


def _scan(name: str, stream: BinaryIO, codec: str, has_option: bool) -> None:
    """Decode everything once, and name the first byte that does not belong."""
    decoder = codecs.getincrementaldecoder(codec)("strict")
    offset, line = 0, 1
    while True:
        chunk = stream.read(_CHUNK)
        pending = decoder.getstate()[0]
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(codec, "ignore").count("\n")
            place = f"{name} line {line + before}: byte offset {offset - len(pending) + error.start}"
            raise InvalidInput(_undecodable(place, codec, error, has_option)) from error
        if "\0" in text:
            before = text[: text.index("\0")].count("\n")
            raise InvalidInput(_nul(f"{name} line {line + before}", stream, codec, has_option))
        line += text.count("\n")
        offset += len(chunk)
        if not chunk:
            return


def _undecodable(place: str, codec: str, error: UnicodeDecodeError, has_option: bool) -> str:
    """One sentence on a byte that is not in the encoding: where, which, the guess, the way out."""
    byte = error.object[error.start : error.start + 1]
    if error.object.startswith(_GZIP) and error.start == 1:
        return f"{place} (0x{byte.hex()}): the file is compressed with gzip; unpack it first"
    found = f"{place} (0x{byte.hex()}) is not {codec.removesuffix('-sig').upper()}"
    name_it = "name the encoding it is in with --encoding, or " if has_option else ""
    if not codec.startswith("utf-8"):
        return f"{found}; {name_it}save the file as UTF-8"
    try:
        character = byte.decode("cp1252")
        error.object[max(error.start - 200, 0) : error.start + 200].decode("cp1252")
    except UnicodeDecodeError:
        return f"{found}; {name_it}save the file as UTF-8"
    pass_it = "pass --encoding cp1252, or " if has_option else ""
    return f"{found}; it looks like cp1252 (Windows), where it is {quoted(character)}: {pass_it}save the file as UTF-8"


def _nul(place: str, stream: BinaryIO, codec: str, has_option: bool) -> str:
    """One sentence on a NUL: a stray byte, or UTF-16 without its mark."""
    stream.seek(0)
    head = stream.read(2000)
    even, odd = head[::2].count(0), head[1::2].count(0)
    if codec != "utf-8" or max(even, odd) * 4 <= len(head):
        return f"{place}: a NUL byte, which no text holds; take it out (tr -d '\\000')"
    guess = "utf-16-le" if odd > even else "utf-16-be"
    pass_it = f"pass --encoding {guess}, or " if has_option else ""
    return f"{place}: NUL bytes throughout; it looks like {guess} without its mark: {pass_it}save the file as UTF-8"


class Replacement:
    """A file written beside its target, and renamed over it once it is whole; an error leaves the target untouched.

    Args:
        path: the target; a link is followed, and a device or pipe is written to at the end.
    Raises:
        InvalidInput: the target's folder does not exist or cannot be written; said before anything is written.
    """

    def __init__(self, path: str | Path) -> None:
        self.name = place(path)
        self._target = Path(os.path.realpath(path))
        self._device = self._target.exists() and not self._target.is_file()
        if self._target.is_dir():
            raise InvalidInput(f"{self.name}: is a folder; name a file to write to")
        try:
            self.path, self.stream = self._part()
        except OSError as error:
            raise InvalidInput(
                f"{self.name}: cannot be written ({error.strerror}); name a file in a folder that exists and is yours"
            ) from error

    def _part(self) -> tuple[Path, BinaryIO]:
        """A new file beside the target; beside a device nothing can lie, so its part goes to the temporary folder."""
        if self._device:
            handle, name = tempfile.mkstemp(suffix=".part")
            return Path(name), os.fdopen(handle, "wb")
        path = self._target.with_name(f".{self._target.name[:100]}.{os.getpid()}.part")
        path.unlink(missing_ok=True)
        return path, path.open("xb")

    def write(self, data: bytes) -> None:
        """Add to what will be the file.

        Raises:
            StoreError: the disk is full.
        """
        try:
            self.stream.write(data)
        except OSError as error:
            raise StoreError(f"{self.name}: cannot be written ({error.strerror}); free some space") from error

    def keep(self) -> None:
        """Make the file durable and put it in the target's place."""
        try:
            if not self.stream.closed:
                self.stream.flush()
                os.fsync(self.stream.fileno())
                self.stream.close()
            if self._device:
                with self.path.open("rb") as source, self._target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                self.path.unlink()
            else:
                self.path.replace(self._target)
        except OSError as error:
            self.drop()
            raise StoreError(
                f"{self.name}: cannot be written ({error.strerror}); free some space and run again"
            ) from error

    def drop(self) -> None:
        """Forget what was written; the target stays as it was."""
        with contextlib.suppress(OSError):  # a full disk refuses what was still buffered
            self.stream.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> "Replacement":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.keep()
        else:
            self.drop()
