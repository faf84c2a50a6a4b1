"""A YAML or JSON document with the place of every value, read as text until somebody says what it should be.

    document = read_document("judge.yaml")
    document.entries(("name", "criteria"))["name"].text()      errors say `judge.yaml line 3: name: ...`

A scalar keeps the characters it was written with: `no`, `012`, `1_000` and `12:30` are text where text is expected, and
`0.1` is exactly that where a number is. A key twice, tags, merge keys, and documents that grow through aliases are
refused. Nothing is constructed from a document but strings, lists and mappings.
"""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NoReturn

import yaml

from evenhand.errors import InvalidInput
from evenhand.json_text import too_deep_at
from evenhand.store.item_files.rows import json_fault
from evenhand.store.text_files import TextFile, quoted, read_text_file

__all__ = ["Value", "plain_document", "read_document"]

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_CHARACTERS = 4 << 20
_MOST_VALUES = 100_000  # aliases may repeat a value, and repeat the repetition
_DEEPEST = 30
_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "int", "float", "bool", "null", "timestamp", "value", "seq", "map", "merge")
)
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,2})?")
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of a document, which knows its place.

    Args:
        file: how messages name the document.
        path: of the value inside it, such as `criteria[0].weight`; empty for the whole.
        line: counted from 1, or None where lines are not known.
        kind: what it is.
        written: a scalar's characters.
        is_quoted: whether a scalar stood in quotation marks, or as a block of text.
        pairs: a mapping's (key, value), in order.
        elements: a list's values, in order.
    """

    file: str
    path: str = ""
    line: int | None = None
    kind: Literal["scalar", "null", "list", "mapping"]
    written: str = ""
    is_quoted: bool = False
    pairs: tuple[tuple[str, "Value"], ...] = ()
    elements: tuple["Value", ...] = ()

    def refuse(self, message: str, key: str = "") -> NoReturn:
        """Raise InvalidInput with the value's place before the message; `key` names what is missing in a mapping."""
        line = f" line {self.line}" if self.line is not None else ""
        path = ".".join(part for part in (self.path, key) if part)
        raise InvalidInput(f"{self.file}{line}:{f' {path}:' if path else ''} {message}")

    def entries(self, known: Sequence[str], usual: Mapping[str, str] | None = None) -> dict[str, "Value"]:
        """A mapping's values by key, without those that are null.

        Args:
            known: the keys that may stand here.
            usual: what other tools call them, for the hint.
        """
        if self.kind != "mapping":
            self.refuse(f"expected a mapping with {', '.join(known)}; came {self.came()}")
        for key, value in self.pairs:
            if key not in known:
                value.refuse(f"unknown key {quoted(key)}{_hint(key, value, known, usual or {})}")
        return {key: value for key, value in self.pairs if value.kind != "null"}

    def items(self) -> tuple["Value", ...]:
        """A list's values."""
        if self.kind != "list":
            self.refuse(f"expected a list; came {self.came()}")
        return self.elements

    def text(self) -> str:
        """A scalar as the text it was written with, without surrounding white space; never blank."""
        if self.kind == "null":
            self.refuse("expected text, came nothing; fill it in, or put it in quotation marks if the word is meant")
        if self.kind != "scalar":
            self.refuse(f"expected text; came {self.came()}")
        text = self.written.strip()
        if not text:
            self.refuse("expected text; came an empty one")
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            self.refuse("the text holds a NUL or a lone surrogate, which no text holds; take it out")
        return text

    def number(self) -> Decimal:
        """A scalar as the exact decimal it was written as."""
        return Decimal(self._numeral(_NUMBER, "a number such as 0.5"))

    def whole(self, lowest: int | None = None) -> int:
        """A scalar as an integer, at least `lowest`."""
        number = int(self._numeral(_WHOLE, "a whole number"))
        if lowest is not None and number < lowest:
            self.refuse(f"expected a whole number of {lowest} or more; came {number}")
        return number

    def truth(self) -> bool:
        """A scalar as true or false."""
        if self.kind != "scalar" or self.is_quoted or self.written.lower() not in _TRUTHS:
            self.refuse(f"expected true or false; came {self.came()}")
        return _TRUTHS[self.written.lower()]

    def choice(self, *known: str) -> str:
        """A scalar as one of a few words."""
        if self.kind != "scalar" or self.written not in known:
            near = difflib.get_close_matches(self.written, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            self.refuse(f"expected {', '.join(known[:-1])} or {known[-1]}; came {self.came()}{hint}")
        return self.written

    def known(self, names: Sequence[str], what: str) -> str:
        """A scalar as one of the names that the file declares elsewhere; `what` says what they name."""
        name = self.text()
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"declared: {', '.join(map(quoted, names[:12])) or 'none'}"
            self.refuse(f"no {what} {quoted(name)} is declared in this file; {hint}")
        return name

    def is_number(self) -> bool:
        """Whether a scalar is a numeral that stood without quotation marks."""
        return self.kind == "scalar" and not self.is_quoted and _NUMBER.fullmatch(self.written) is not None

    def came(self) -> str:
        """What came, for a message."""
        kinds = {"null": "nothing", "list": "a list", "mapping": "a mapping"}
        return kinds.get(self.kind) or (f"the text {quoted(self.written)}" if self.is_quoted else quoted(self.written))

    def _numeral(self, form: re.Pattern[str], expected: str) -> str:
        """A scalar's characters, if they have the form of a number."""
        if self.kind == "scalar" and self.is_quoted and form.fullmatch(self.written):
            self.refuse(f"expected {expected}; came {self.came()}: take the quotation marks away")
        if self.kind != "scalar" or self.is_quoted or not form.fullmatch(self.written):
            self.refuse(f"expected {expected}; came {self.came()}")
        return self.written


def read_document(path: str | Path) -> Value:
    """Read a YAML document, or a JSON one where the file ends in .json.

    Raises:
        InvalidInput: it cannot be read, with line and reason.
    """
    file = read_text_file(path, has_option=False)
    text = file.text()
    if len(text) > _MOST_CHARACTERS:
        raise InvalidInput(f"{file.name}: {len(text)} characters; a file of this kind has at most {_MOST_CHARACTERS}")
    return _of_json(file, text) if Path(path).suffix.casefold() == ".json" else _of_yaml(file, text)


def plain_document(document: object, file: str) -> Value:
    """A document that is in memory already, of JSON's types; strings count as written without quotation marks.

    Args:
        document: what was read.
        file: how messages name it.
    """
    return _of_plain(document, file, "", 0)


def _hint(key: str, value: Value, known: Sequence[str], usual: Mapping[str, str]) -> str:
    """The way out of an unknown key."""
    if key == "<<":
        return "; merge keys are not read: write the keys out"
    if key in usual and usual[key] in known:
        return f"; it is called {usual[key]!r} here"
    near = difflib.get_close_matches(key, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    comma = "; put a text that holds a comma in quotation marks" if value.kind == "null" else ""
    return f"; known are {', '.join(known)}{comma}"


# --- YAML ----------------------------------------------------------------------------------------------------------


def _of_yaml(file: TextFile, text: str) -> Value:
    """A YAML document as values."""
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise InvalidInput(_broken_yaml(file.name, text, error)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidInput(f"{file.name} line {line}: a control character ({error.character}); take it out") from error
    except RecursionError as error:
        raise InvalidInput(f"{file.name}: nested too deep") from error
    if node is None:
        raise InvalidInput(f"{file.name}: the file is empty")
    return _YamlValues(file.name).value(node, "", 0)


class _YamlValues:
    """Turns nodes into values, and counts them."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._n = 0

    def value(self, node: Any, path: str, depth: int) -> Value:
        """A node as a value."""
        line = node.start_mark.line + 1
        place = Value(file=self._file, path=path, line=line, kind="null")
        self._n += 1
        if self._n > _MOST_VALUES or depth > _DEEPEST:
            place.refuse(f"nested deeper than {_DEEPEST}, or more than {_MOST_VALUES} values (aliases count each time)")
        if node.tag not in _PLAIN_TAGS:
            place.refuse(f"the tag {quoted(node.tag)} is not read; leave it out")
        if isinstance(node, yaml.SequenceNode):
            elements = tuple(self.value(inner, f"{path}[{n}]", depth + 1) for n, inner in enumerate(node.value))
            return Value(file=self._file, path=path, line=line, kind="list", elements=elements)
        if isinstance(node, yaml.MappingNode):
            pairs = tuple(self._pairs(node, path, depth))
            return Value(file=self._file, path=path, line=line, kind="mapping", pairs=pairs)
        is_quoted = bool(node.style)  # a plain scalar has none
        is_null = node.tag == "tag:yaml.org,2002:null" and not is_quoted
        kind: Literal["null", "scalar"] = "null" if is_null else "scalar"
        return Value(file=self._file, path=path, line=line, kind=kind, written=node.value, is_quoted=is_quoted)

    def _pairs(self, node: Any, path: str, depth: int) -> list[tuple[str, Value]]:
        """A mapping's keys and values; each key stands once."""
        lines: dict[str, int] = {}
        pairs: list[tuple[str, Value]] = []
        for key, inner in node.value:
            line = key.start_mark.line + 1
            place = Value(file=self._file, path=path, line=line, kind="null")
            if not isinstance(key, yaml.ScalarNode):
                place.refuse("a key is a list or a mapping; expected a word")
            name = key.value
            if name in lines:
                place.refuse(f"the key {quoted(name)} stands in line {lines[name]} already; leave one of them out")
            lines[name] = line
            pairs.append((name, self.value(inner, f"{path}.{_shown(name)}" if path else _shown(name), depth + 1)))
        return pairs


def _broken_yaml(file: str, text: str, error: yaml.MarkedYAMLError) -> str:
    """One sentence on broken YAML: line, column, reason, way out."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    reason = " ".join(part for part in (error.context, error.problem) if part)
    written = text.split("\n")[line - 1] if line <= text.count("\n") + 1 else ""
    way_out = "repair the line"
    if "mapping values are not allowed" in reason:
        way_out = "put a text that holds ': ' in quotation marks, or mend the indentation"
    elif "\t" in written[:column]:
        way_out = "indent with spaces, not with tabs"
    elif "cannot start any token" in reason:
        way_out = "put a text that begins with this character in quotation marks"
    elif "another document" in reason or "single document" in reason:
        way_out = "keep one document a file, without a second '---'"
    elif error.context_mark is not None and error.context_mark.line + 1 != line:
        way_out = f"what began in line {error.context_mark.line + 1} does not end as expected; repair it"
    return f"{file} line {line}, column {column}: broken YAML ({reason}); {way_out}"


def _shown(key: str) -> str:
    """A key as part of a path."""
    return key if key.isidentifier() else quoted(key)


# --- JSON ----------------------------------------------------------------------------------------------------------


class _Numeral(str):
    """A JSON number's own characters."""

    __slots__ = ()


def _of_json(file: TextFile, text: str) -> Value:
    """A JSON document as values; lines are known only where it is broken."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) < len(pairs):
            names = [name for name, _ in pairs]
            doubled = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(f"{file.name}: the key {quoted(doubled)} stands twice in one object; leave one out")
        return document

    try:
        if too_deep_at(text) is not None:
            raise RecursionError
        document = json.loads(text, object_pairs_hook=once, parse_int=_Numeral, parse_float=_Numeral)
    except (json.JSONDecodeError, RecursionError) as error:
        line, column, reason = json_fault(text.encode(), error)
        raise InvalidInput(f"{file.name} line {line}, column {column}: broken JSON ({reason}); repair it") from error
    return _of_plain(document, file.name, "", 0, quoting=True)


def _of_plain(document: object, file: str, path: str, depth: int, *, quoting: bool = False) -> Value:
    """A value of JSON's types, with its path."""
    if depth > _DEEPEST:
        Value(file=file, path=path[:60], kind="null").refuse(f"nested deeper than {_DEEPEST}")
    if document is None:
        return Value(file=file, path=path, kind="null")
    if isinstance(document, Mapping):
        pairs = tuple(
            (
                str(key),
                _of_plain(
                    inner, file, f"{path}.{_shown(str(key))}" if path else _shown(str(key)), depth + 1, quoting=quoting
                ),
            )
            for key, inner in document.items()
        )
        return Value(file=file, path=path, kind="mapping", pairs=pairs)
    if isinstance(document, (list, tuple)):
        elements = tuple(
            _of_plain(inner, file, f"{path}[{n}]", depth + 1, quoting=quoting) for n, inner in enumerate(document)
        )
        return Value(file=file, path=path, kind="list", elements=elements)
    if isinstance(document, bool):
        return Value(file=file, path=path, kind="scalar", written="true" if document else "false")
    is_quoted = quoting and isinstance(document, str) and not isinstance(document, _Numeral)
    return Value(file=file, path=path, kind="scalar", written=str(document), is_quoted=is_quoted)
