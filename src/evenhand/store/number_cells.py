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
        number = float(value)
        if number != number:
            return None
        if abs(number) <= _MOST:
            return number
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value.strip())
        if abs(number) <= _MOST:
            return number
    hint = " (a decimal comma: write 3.5)" if isinstance(value, str) and re.fullmatch(r"\d+,\d+", value.strip()) else ""
    raise InvalidInput(
        f"{where}: column {quoted(column)} holds {quoted(value)}{hint}; expected a number, or an empty cell where "
        "there is none"
    )


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
