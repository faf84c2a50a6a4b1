"""A value in a JSON report: `FILE:POINTER=VALUE`, the pointer as in RFC 6901.

`{id}` in FILE is the item's id; `-` as FILE is the text itself. VALUE is JSON where it reads as such, else a string.
A report that is not there or is no JSON is a fault; a text that is no JSON holds no value, as candidates write texts.
"""

import json
import re
import stat
from pathlib import Path
from typing import Any

__all__ = ["in_report"]

_LARGEST = 64_000_000
_NOTHING = object()
_FORM = re.compile(r"(.+?):((?:/[^=]*)?)=(.+)", re.DOTALL)


def in_report(what: str, text: str, item_id: str) -> bool | str:
    """Whether the value stands there, or why that cannot be said.

    >>> in_report('-:/summary/errors=0', '{"summary": {"errors": 0}}', "a"), in_report("-:/a=1", "no JSON", "a")
    (True, False)
    """
    form = _FORM.fullmatch(what)
    if form is None:
        return f"{what!r} does not have the form FILE:POINTER=VALUE"
    file, pointer, value = form.groups()
    if file == "-":
        document = _parsed(text)
    else:
        if "{id}" in file and (not item_id or item_id.startswith(".") or any(mark in item_id for mark in "/\\\0")):
            return f"the item's id {item_id!r} cannot be a part of a file's name"
        document = _loaded(Path(file.replace("{id}", item_id)))
        if isinstance(document, _Trouble):
            return str(document)
    return _same(_at(document, pointer), _value(value))


class _Trouble(str):
    """Why a report cannot be read."""


def _loaded(path: Path) -> Any:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):  # reading a pipe or a device may never end
            return _Trouble(f"{path} is no regular file")
        if about.st_size > _LARGEST:
            return _Trouble(f"{path} is larger than {_LARGEST} bytes")
        document = _parsed(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        return _Trouble(f"{path} cannot be read ({getattr(error, 'strerror', None) or 'no UTF-8'})")
    return _Trouble(f"{path} is no JSON") if document is _NOTHING else document


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _at(document: Any, pointer: str) -> Any:
    """What a pointer leads to."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return _NOTHING
    return document


def _value(value: str) -> Any:
    parsed = _parsed(value)
    return value if parsed is _NOTHING else parsed


def _same(found: Any, expected: Any) -> bool:
    """Equal as JSON: 0 is not false, and 1.0 is 1."""
    return found is not _NOTHING and isinstance(found, bool) == isinstance(expected, bool) and bool(found == expected)
