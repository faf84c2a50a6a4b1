"""Cells that should hold a number: read as one, as missing, or refused; never guessed.

Text in a number column is the writer's mistake and is refused by its place. What stands for nothing (an empty cell,
`NA`, `NaN`, `null`) is missing, and counted by whoever reads. A decimal comma is refused: `3,5` may be two numbers.
"""

import re
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.store.text_files import quoted

__all__ = ["MISSING_WORDS", "number_cell", "scale_of"]

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "-", ".", "missing"})
_MOST = 1e100  # beyond it, squares are no numbers any more
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
_LARGE = re.compile(r"[-+]?[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?")  # of any length, only ever named


def number_cell(value: Any, where: str, column: str) -> float | None:
    """A cell as a number, or None where it stands for nothing.

    Args:
        value: a cell of CSV (text), JSON or Parquet.
        where: file and line, for messages.
        column: the column's name, for messages.
    Raises:
        InvalidInput: text, an infinity or another number beyond 1e100, a list or a truth value.

    >>> number_cell(" 3.5 ", "g.csv line 2", "grade"), number_cell("NaN", "g.csv line 3", "grade")
    (3.5, None)
    """
    if value is None or (isinstance(value, str) and value.strip().casefold() in MISSING_WORDS):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value != value:
            return None
        if abs(value) <= _MOST:  # before it is made a float: JSON's whole numbers can be too large for one
            return float(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value.strip())
        if abs(number) <= _MOST:
            return number
    raise InvalidInput(
        f"{where}: column {quoted(column)} holds {quoted(value)}{_hint(value)}; expected a number, or an empty cell "
        "where there is none"
    )


def _hint(value: Any) -> str:
    """What is wrong with a cell that looks like a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    if re.fullmatch(r"[0-9]+,[0-9]+", text):
        return " (a decimal comma: write 3.5)"
    is_large = isinstance(value, int) or (_LARGE.fullmatch(text) is not None and abs(float(text)) > _MOST)
    return " (beyond 1e100)" if is_large else ""


def scale_of(text: str, option: str) -> tuple[float, float]:
    """The scale that `LO:HI` states.

    Args:
        option: the option that it came with, for messages.
    Raises:
        InvalidInput: not two numbers, or the first is not below the second.

    >>> scale_of("1:5", "--scale")
    (1.0, 5.0)
    """
    low, colon, high = text.partition(":")
    try:
        found = (float(low), float(high)) if colon else None
    except ValueError:
        found = None
    if found is None or any(bound - bound != 0 for bound in found) or not found[0] < found[1]:
        raise InvalidInput(f"{option} {quoted(text)}: expected LOWEST:HIGHEST, such as 1:5")
    return found
