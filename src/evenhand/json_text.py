"""JSON texts judged the same by every interpreter: how deep they may nest, and where they are broken.

Python's own decoder gives up at a depth that differs between its versions and with the caller's stack, and names a
comma too many in two ways. What a message or a record says must not depend on that.
"""

import json
import re

__all__ = ["DEEPEST", "broken_at", "too_deep_at"]

DEEPEST = 200  # lists and objects in one another; any interpreter decodes so many within an ordinary stack

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_COMMA_TOO_MANY = "a comma with nothing after it"
_ITS_OLDER_NAMES = {"}": "Expecting property name enclosed in double quotes", "]": "Expecting value"}


def too_deep_at(text: str) -> int | None:
    """Where a JSON text, whole or broken, first nests deeper than `DEEPEST`; None if it never does.

    >>> too_deep_at("[" * 200 + "]" * 200), too_deep_at("[" * 5000), too_deep_at('["' + "[" * 5000 + '"]')
    (None, 200, None)
    """
    if text.count("[") + text.count("{") <= DEEPEST:
        return None
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        what = token.group()
        if what in "[{":
            depth += 1
            if depth > DEEPEST:
                return token.start()
        elif what in "]}":
            depth -= 1
    return None


def broken_at(error: json.JSONDecodeError) -> tuple[int, str]:
    """Position and reason of what the decoder refused: up to Python 3.12 a comma too many is named by what follows it.

    >>> try: json.loads('{"a": 1, }')
    ... except json.JSONDecodeError as error: broken_at(error)
    (7, 'a comma with nothing after it')
    """
    text, position, reason = error.doc, error.pos, error.msg
    if reason.startswith("Illegal trailing comma"):
        return position, _COMMA_TOO_MANY
    before = text[:position].rstrip(" \t\r\n")
    if before.endswith(",") and reason == _ITS_OLDER_NAMES.get(text[position : position + 1]):
        return len(before) - 1, _COMMA_TOO_MANY
    return position, reason
