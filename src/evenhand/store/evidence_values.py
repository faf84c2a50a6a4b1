"""JSON and YAML texts of evidence files as plain values, read strictly.

Every number with a fraction becomes a Decimal, so that 0.4 + 0.6 is 1; NaN and infinities become Decimals too, for the
reader of the field to refuse by name. An object remembers a key that stood in it twice (`Object.twice`), for the same
reason. YAML is read without tags of its own, merge keys, dates and numbers to the base of sixty.
"""

import json
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

import yaml

from evenhand.errors import InvalidInput
from evenhand.json_text import broken_at, too_deep_at

__all__ = ["Object", "described", "parse_json", "parse_yaml", "split_json"]

_SHOWN = 40
_YAML_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_TOO_DEEP = "is nested too deeply to be read; expected items without inner structure"


class Object(dict[str, Any]):
    """A JSON object; `twice` names a key that stood in it more than once."""

    __slots__ = ("twice",)

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        super().__init__()
        self.twice: str | None = None
        for name, value in pairs:
            if name in self:
                self.twice = name
            self[name] = value


def parse_json(text: str, where: str) -> Any:
    """The value of one JSON text.

    Args:
        text: the whole text.
        where: file, or file and line, as messages name it.
    Raises:
        InvalidInput: no JSON, or nested too deeply.
    """
    try:
        if too_deep_at(text) is not None:
            raise RecursionError
        return _JSON.decode(text)
    except json.JSONDecodeError as error:
        position, reason = broken_at(error)
        line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
        raise InvalidInput(f"{where}: is no JSON ({reason}, line {line} column {column}); correct it there") from error
    except RecursionError as error:
        raise InvalidInput(f"{where}: {_TOO_DEEP}") from error


def split_json(text: str) -> bool:
    """Whether a whole JSON value is followed by more: JSONL rather than JSON."""
    try:
        _, end = _JSON.raw_decode(text, len(text) - len(text.lstrip()))
    except (json.JSONDecodeError, RecursionError):
        return False
    return bool(text[end:].strip())


def parse_yaml(text: str, where: str) -> Any:
    """The value of one YAML document.

    Raises:
        InvalidInput: no YAML, more than one document, a tag or merge key, or nested too deeply.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader, made stricter
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise InvalidInput(f"{where}{line}: is no YAML that is read here ({problem}); correct it there") from error
    except RecursionError as error:
        raise InvalidInput(f"{where}: {_TOO_DEEP}") from error


def described(value: object) -> str:
    """A value as a message names it: short, with its kind where that is the trouble.

    >>> described("3"), described(True), described(None), described({})
    ("the text '3'", 'true', 'null', 'an object')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return "an integer of more than 40 digits"
    if isinstance(value, (int, Decimal)):
        return str(value) if len(str(value)) <= _SHOWN else f"{str(value)[:_SHOWN]}..."
    if isinstance(value, str):
        return f"the text {value if len(value) <= _SHOWN else value[:_SHOWN] + '...'!a}"
    if isinstance(value, (dict, Object)):
        return "an object"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"


def _decimal(text: str) -> Decimal:
    """The number; one too large for any Decimal is infinite."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def _integer(text: str) -> int | Decimal:
    """An int, or for one of hundreds of digits a Decimal: Python refuses to read the longest as integers."""
    return int(text) if len(text) <= 300 else _decimal(text)


_JSON = json.JSONDecoder(object_pairs_hook=Object, parse_float=_decimal, parse_int=_integer, parse_constant=_decimal)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader, stricter."""


def _mapping(loader: Any, node: yaml.MappingNode) -> Object:
    """A mapping whose keys are plain names."""
    pairs = []
    for key_node, value_node in node.value:
        merge = key_node.tag == "tag:yaml.org,2002:merge"
        key = None if merge else loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            problem = f"the key {str(key_node.value)[:_SHOWN]!r} is not a plain name"
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
        pairs.append((key, loader.construct_object(value_node, deep=True)))
    return Object(pairs)


def _scalar_number(loader: Any, node: yaml.ScalarNode) -> object:
    """A number as JSON would write it; anything else that YAML takes for one stays text."""
    text = str(loader.construct_scalar(node)).lower()
    if text.lstrip("+-") in (".inf", ".nan"):
        return _decimal(text.replace(".inf", "Infinity").replace(".nan", "NaN"))
    if not _YAML_NUMBER.fullmatch(text):
        return text
    return _integer(text) if text.lstrip("+-").isdigit() else _decimal(text)


def _text(loader: Any, node: yaml.ScalarNode) -> str:
    """A date as it is written."""
    return str(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:int", _scalar_number)
_Loader.add_constructor("tag:yaml.org,2002:float", _scalar_number)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _text)
