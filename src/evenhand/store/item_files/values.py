"""What a value of a row is as text: itself. Nothing is parsed, rounded or guessed."""

import re
from typing import Any

from evenhand.errors import InvalidInput

__all__ = ["field_text", "is_blank"]

_VISIBLE = re.compile(r"[^\s\u200b\u200c\u200d\u2060\ufeff\u00ad]")


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: empty, white space, zero-width characters."""
    return _VISIBLE.search(text) is None


def field_text(value: Any, column: str, name: str) -> str:
    """A field's text; an integer is its own digits, nothing else is turned into text.

    Args:
        value: as the row has it; None is an empty text.
        column: where it stands, for messages.
        name: of the field that it fills.
    Raises:
        InvalidInput: it is no text; the caller adds file and line.
    """
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidInput(f"{column!r} holds a NUL character, which no text holds; take it out")
        return value
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    kinds = {bool: "true or false", float: f"the number {value!r}", list: "a list", dict: "an object"}
    came = kinds.get(type(value), type(value).__name__)
    way_out = "write it in quotation marks" if isinstance(value, (bool, float)) else "give it as one string"
    raise InvalidInput(f"{column!r} ({name}) is {came}; text was expected: {way_out}")
