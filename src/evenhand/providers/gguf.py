"""The header of a GGUF file: what a local model is, read before the runtime loads it.

Only the metadata is read, never the tensors: the chat template (part of a local model's identity), the trained
context, and the control tokens, which must not be taken from a candidate's text. llama.cpp itself refuses truncated or
damaged files without crashing (tried with cut, random, empty and HTML files), but says only "failed to load"; the
sentences here name what is wrong.
Source: the GGUF specification, version 3, in llama.cpp's ggml repository (docs/gguf.md).
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput

__all__ = ["GgufHeader", "parts", "read_header"]

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_CONTROL = 3  # the token type of markup such as <|im_end|>
_MOST = 10_000_000  # entries of one table; a damaged count is far beyond


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """What a GGUF file says of itself.

    Args:
        architecture: `llama`, `qwen2` and so on.
        name: as its makers call it; empty where they say nothing.
        context: tokens it was trained on at once; None where the file does not say.
        chat_template: None for a base model, which cannot be talked to in turns.
        control_tokens: the markup that the chat template is made of.
        tensors: how many it holds.
    """

    architecture: str
    name: str
    context: int | None
    chat_template: str | None
    control_tokens: tuple[str, ...]
    tensors: int


def read_header(path: Path) -> GgufHeader:
    """Read a file's metadata.

    Raises:
        InvalidInput: there is no such file, it is no GGUF file, or it ends within its metadata.
    """
    if not path.is_file():
        raise InvalidInput(f"{path}: no such file; name a GGUF file that exists, or pull a model with models pull")
    try:
        with path.open("rb") as file:
            if file.read(4) != _MAGIC:
                raise InvalidInput(f"{path}: no GGUF file (it does not begin with 'GGUF'); name a model's .gguf file")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                return _header(_Reader(view))
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror})") from error
    except (struct.error, IndexError, ValueError, UnicodeDecodeError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{path}: the GGUF file is damaged or was cut off within its metadata; fetch it again"
        ) from error


def parts(path: Path) -> tuple[Path, ...]:
    """All files of a model that was split (`...-00001-of-00003.gguf`), in order; else the one file.

    Raises:
        InvalidInput: a part is missing.
    """
    stem, _, count = path.stem.rpartition("-of-")
    base, _, first = stem.rpartition("-")
    if not (count.isdigit() and first.isdigit() and len(count) == len(first) == 5):
        return (path,)
    files = tuple(path.with_name(f"{base}-{number:05d}-of-{count}.gguf") for number in range(1, int(count) + 1))
    for file in files:
        if not file.is_file():
            raise InvalidInput(f"{file}: this part of the model is missing; all {int(count)} parts must lie together")
    return files


class _Reader:
    """A cursor over the file; every read beyond its end is an error."""

    def __init__(self, view: mmap.mmap) -> None:
        self._view = view
        self._at = 4

    def scalar(self, letter: str) -> Any:
        """One little-endian number."""
        layout = struct.Struct(f"<{letter}")
        value = layout.unpack_from(self._view, self._at)[0]
        self._at += layout.size
        return value

    def count(self) -> int:
        """The number of entries that follow."""
        number = int(self.scalar("Q"))
        if number > _MOST:
            raise ValueError("an impossible count")
        return number

    def raw(self) -> bytes:
        """A length and that many bytes."""
        size = int(self.scalar("Q"))
        if self._at + size > len(self._view):
            raise IndexError("a string that ends beyond the file")
        value = self._view[self._at : self._at + size]
        self._at += size
        return value

    def value(self, kind: int) -> Any:
        """A value of one of the format's types; texts stay bytes."""
        if kind == _STRING:
            return self.raw()
        if kind != _ARRAY:
            if kind not in _SCALARS:
                raise ValueError("an unknown value type")
            return self.scalar(_SCALARS[kind])
        kind, size = int(self.scalar("I")), self.count()
        if kind in _SCALARS:
            layout = struct.Struct(f"<{size}{_SCALARS[kind]}")
            values = layout.unpack_from(self._view, self._at)
            self._at += layout.size
            return values
        return [self.value(kind) for _ in range(size)]


def _header(reader: _Reader) -> GgufHeader:
    """The header behind the magic number."""
    if reader.scalar("I") not in (2, 3):
        raise ValueError("an unknown version of the format")
    tensors = reader.count()
    fields: dict[str, Any] = {}
    for _ in range(reader.count()):
        name = reader.raw().decode()
        fields[name] = reader.value(int(reader.scalar("I")))
    architecture = _text(fields.get("general.architecture")) or ""
    context = fields.get(f"{architecture}.context_length")
    tokens, kinds = fields.get("tokenizer.ggml.tokens", ()), fields.get("tokenizer.ggml.token_type", ())
    markup = (_text(token) for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL)
    return GgufHeader(
        architecture=architecture,
        name=_text(fields.get("general.name")) or "",
        context=context if isinstance(context, int) else None,
        chat_template=_text(fields.get("tokenizer.chat_template")) or None,
        control_tokens=tuple(token for token in markup if token and len(token) > 1),
        tensors=tensors,
    )


def _text(value: Any) -> str | None:
    """A text, leniently decoded: names and token pieces need not be whole characters."""
    return value.decode(errors="replace") if isinstance(value, bytes) else None
