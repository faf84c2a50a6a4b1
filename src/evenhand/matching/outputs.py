"""What a program printed, compared exactly, or number by number where a tolerance is declared."""

import re

from evenhand.matching.numerals import Exact, Huge, numeral
from evenhand.matching.rules import Tolerance
from evenhand.matching.tolerances import within

__all__ = ["same_output"]

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]{1,9})?(?![\w.])")
_WHOLE = re.compile(r"[-+]?[0-9]++")


def same_output(first: str, second: str, tolerance: Tolerance | None) -> tuple[bool, str]:
    r"""Whether two outputs are the same, and why in words; symmetric.

    Line ends are one kind of line end, and those at the end of the text do not count. Everything else does, blanks
    included. With a tolerance, the texts between the numbers must be the same but for the amount of blank space, there
    must be as many numbers, and two whole numbers must be equal digit by digit.

    >>> same_output("1\r\n2\n", "1\n2", None)[0], same_output("1 2", "1  2", None)[0]
    (True, False)
    >>> same_output("[1.0, 2.5]", "[1.0000004, 2.5]", Tolerance(decimals=6))[0]
    True
    """
    first, second = _lines(first), _lines(second)
    if first == second:
        return True, "the outputs are the same"
    if tolerance is None:
        return False, "the outputs differ"
    return _near(first, second, tolerance)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _near(first: str, second: str, tolerance: Tolerance) -> tuple[bool, str]:
    one, two = _NUMBER.findall(first), _NUMBER.findall(second)
    if len(one) != len(two):
        return False, f"the outputs hold {len(one)} and {len(two)} numbers"
    if [part.split() for part in _NUMBER.split(first)] != [part.split() for part in _NUMBER.split(second)]:
        return False, "the outputs differ between their numbers"
    apart = next((at for at, (a, b) in enumerate(zip(one, two, strict=True)) if not _same(a, b, tolerance)), None)
    if apart is None:
        return True, "the outputs are the same within the declared tolerance"
    return False, f"number {apart + 1} of {len(one)} differs"


def _same(a: str, b: str, tolerance: Tolerance) -> bool:
    one, two = _value(a), _value(b)
    if _WHOLE.fullmatch(a) and _WHOLE.fullmatch(b):
        return one == two
    if not isinstance(one, Exact) or not isinstance(two, Exact):
        return one == two and one is not None
    return one.value == two.value or within(one.value, two.value, tolerance)


def _value(text: str) -> Exact | Huge | None:
    digits, _, exponent = text.lower().lstrip("+-").partition("e")
    return numeral(digits, exponent=int(exponent or 0), negative=text.startswith("-"))
