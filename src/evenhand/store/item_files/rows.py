"""Rows of JSONL and JSON files, each with its line number in the file.

Broken JSON is named by line, column and the last good item. Stricter than most readers: a name twice in one object,
NaN, infinities and lone surrogates are refused, since other tools would read or write something else.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from evenhand.errors import InvalidInput
from evenhand.json_text import broken_at, too_deep_at
from evenhand.store.item_files.fields import Row, names_in_words
from evenhand.store.text_files import TextFile, quoted

__all__ = ["JsonLines", "JsonList", "Rows", "json_fault"]

_decode_row = msgspec.json.Decoder().decode
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)', re.DOTALL)
_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)', re.DOTALL | re.ASCII)
_ESCAPES = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|.)", re.DOTALL)


class Rows(Protocol):
    """A file of rows, which can be read again and again.

    Attributes:
        name: how messages name the file.
        unit: what rows are counted in, `line` or `row`.
        notes: what a user should know about how the file was read.
    """

    unit: str
    notes: list[str]

    @property
    def name(self) -> str:
        """How messages name the file."""
        ...

    def rows(self, *, check: bool, label: Callable[[Row], str]) -> Iterator[tuple[int, Row]]:
        """Each row with its line (or row) number.

        Args:
            check: whether to look for what only a first reading needs to.
            label: names a row in a message, for "the last good item is".
        Raises:
            InvalidInput: a row that cannot be read, with its place.
        """
        ...


@dataclass(slots=True)
class JsonLines:
    """One JSON object a line; blank lines are passed over, and count.

    Args:
        constants: read NaN as null, and Infinity as a text, as Python writes both; else they are broken JSON.
    """

    file: TextFile
    unit: str = "line"
    notes: list[str] = field(default_factory=list)
    constants: bool = False

    @property
    def name(self) -> str:
        """How messages name the file."""
        return self.file.name

    def rows(self, *, check: bool, label: Callable[[Row], str]) -> Iterator[tuple[int, Row]]:
        """Each object with its line number."""
        last: tuple[int, Row] | None = None
        for number, line in enumerate(self.file.lines(), start=1):
            if line.isspace():
                continue
            try:
                row = _object(_plain(line) if self.constants else line, check=check)
            except _BrokenRow as error:
                raise InvalidInput(_located(error, self.name, number, line, last, label)) from error
            yield number, row
            last = number, row


@dataclass(slots=True)
class JsonList:
    """A JSON list of objects, or an object that holds one under `items`; numbered by the line each begins on.

    Args:
        constants: as for `JsonLines`.
    """

    file: TextFile
    unit: str = "line"
    notes: list[str] = field(default_factory=list)
    constants: bool = False

    @property
    def name(self) -> str:
        """How messages name the file."""
        return self.file.name

    def rows(self, *, check: bool, label: Callable[[Row], str]) -> Iterator[tuple[int, Row]]:
        """Each object with the line it begins on."""
        data = self.file.text().encode()
        data = _plain(data) if self.constants else data
        last: tuple[int, Row] | None = None
        line, offset = 1, 0
        for raw in self._elements(data):
            element = bytes(raw)
            start = data.find(element, offset)  # elements stand in order, so the next one found is this one
            line += data.count(b"\n", offset, start)
            offset = start
            try:
                row = _object(element, check=check)
            except _BrokenRow as error:
                raise InvalidInput(_located(error, self.name, line, element, last, label)) from error
            yield line, row
            last = line, row

    def _elements(self, data: bytes) -> list[msgspec.Raw]:
        """The list's elements as they stand, not yet read."""
        opening = data.lstrip()[:1]
        try:
            if opening == b"[":
                return msgspec.json.decode(data, type=list[msgspec.Raw])
            if opening == b"{":
                return self._of_object(msgspec.json.decode(data, type=dict[str, msgspec.Raw]))
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidInput(_broken_file(data, self.name, error)) from error
        if not opening:
            raise InvalidInput(f"{self.name}: the file is empty; expected a JSON list of items")
        raise InvalidInput(f'{self.name}: expected a JSON list of items, or {{"items": [...]}}')

    def _of_object(self, document: dict[str, msgspec.Raw]) -> list[msgspec.Raw]:
        """The list under `items`."""
        if "items" not in document or bytes(document["items"])[:1] != b"[":
            raise InvalidInput(
                f'{self.name}: expected a JSON list of items, or {{"items": [...]}}; came an object with '
                f"{names_in_words(document) or 'nothing in it'}: put square brackets around it, "
                "or name the file .jsonl if it holds one object a line"
            )
        others = [name for name in document if name != "items"]
        note = f"{self.name}: beside 'items', {names_in_words(others)} is left out"
        if others and note not in self.notes:
            self.notes.append(note)
        return msgspec.json.decode(document["items"], type=list[msgspec.Raw])


def _plain(data: bytes) -> bytes:
    """JSON with NaN as null and Infinity as a text; what else is wrong with it stays."""
    if b"NaN" not in data and b"Infinity" not in data:
        return data
    text = data.decode("utf-8", "surrogatepass")
    found = _STRING_OR_CONSTANT.sub(lambda m: m[0] if not m[1] else "null" if m[1] == "NaN" else f'"{m[1]}"', text)
    return found.encode("utf-8", "surrogatepass")


class _BrokenRow(Exception):
    """A row that cannot be used; the cause where its JSON is broken, else a sentence."""


def _object(data: bytes, *, check: bool) -> Row:
    """One JSON object."""
    try:
        if check and too_deep_at(data.decode()) is not None:
            raise RecursionError
        row = _decode_row(data)
        if check:
            _decode_strictly(data.decode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise _BrokenRow from error
    if isinstance(row, dict):
        return row
    hint = "; a file that is one JSON list ends in .json" if isinstance(row, list) else ""
    came = quoted(data.decode().strip())
    raise _BrokenRow(f"expected a JSON object with an item's fields, came {came}{hint}")


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Refuse a name that stands twice in one object: readers differ on which value holds."""
    if len(pairs) > 1 and len({name for name, _ in pairs}) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise _BrokenRow(f"{quoted(doubled)} stands twice in one object; leave one of them out")


_decode_strictly = json.JSONDecoder(object_pairs_hook=_once).decode


def _located(
    error: _BrokenRow, name: str, line: int, data: bytes, last: tuple[int, Row] | None, label: Callable[[Row], str]
) -> str:
    """The sentence on a broken row: file, line and column, what is wrong, and the last good item before it."""
    if not isinstance(error.__cause__, Exception):
        return f"{name} line {line}: {error}"
    row, column, reason = json_fault(data.rstrip(b"\r\n"), error.__cause__)
    before = "no item stands before it"
    if last is not None:
        what = label(last[1])
        before = f"the last good item {f'is {what}' if what else 'stands'} in line {last[0]}"
    return f"{name} line {line + row - 1}, column {column}: broken JSON ({reason}); {before}; repair or remove it"


def _broken_file(data: bytes, name: str, error: Exception) -> str:
    """The sentence on a JSON file that is broken as a whole."""
    line, column, reason = json_fault(data, error)
    hint = "; a file with one object a line ends in .jsonl" if reason == "Extra data" else ""
    return f"{name} line {line}, column {column}: broken JSON ({reason}); repair it{hint}"


def json_fault(data: bytes, error: Exception) -> tuple[int, int, str]:
    """Where JSON is broken, as (line, column, reason), both counted from 1 in characters.

    Args:
        data: UTF-8 that the fast reader refused.
        error: what it said, used where the thorough reader finds nothing.
    """
    text = data.decode("utf-8", "surrogatepass")
    position, reason = _fault(text, error)
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position), reason


def _fault(text: str, error: Exception) -> tuple[int, str]:
    """Position and reason, the same with every interpreter."""
    deep = too_deep_at(text)
    if deep is not None or isinstance(error, RecursionError):
        return deep or 0, "nested too deep"
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        return broken_at(fault)
    except RecursionError:
        return 0, "nested too deep"
    except ValueError:
        return _too_large(text) or (0, "a number with too many digits")
    return _refused_by_us(text) or _too_large(text) or (0, str(error))


def _too_large(text: str) -> tuple[int, str] | None:
    """The first number that is beyond every float, as (position, reason); the fast reader does not say where it is."""
    for token in _STRING_OR_NUMBER.finditer(text):
        if token[1] and math.isinf(float(token[1])):
            return token.start(1), f"{quoted(token[1])} is beyond the largest number, about 1.8e308"
    return None


def _refused_by_us(text: str) -> tuple[int, str] | None:
    """What lax readers accept and JSON does not: NaN, infinities, lone surrogates; as (position, reason)."""
    for token in _STRING_OR_CONSTANT.finditer(text):
        if token[1]:
            return token.start(1), f"{token[1]} is no JSON number; use null or leave the field out"
        high = None  # position of a first half of a surrogate pair that waits for its second
        for escape in _ESCAPES.finditer(token[0]):
            code = int(escape["code"] or "0", 16)
            follows = high is not None and escape.start() == high + 6
            if high is not None and not (follows and 0xDC00 <= code < 0xE000):
                return token.start() + high, "a lone surrogate, which no text holds"
            if 0xDC00 <= code < 0xE000 and high is None:
                return token.start() + escape.start(), "a lone surrogate, which no text holds"
            high = escape.start() if 0xD800 <= code < 0xDC00 else None
        if high is not None:
            return token.start() + high, "a lone surrogate, which no text holds"
    return None
