"""Written numbers to exact values: separators, signs, fractions, powers of ten. Nothing is guessed."""

import re
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Exact", "Huge", "numeral", "same_value"]

LONGEST = 1_000  # digits, or decimal exponent, with which we calculate; longer ones are compared digit by digit
_DECIMALS_OF_A_FLOAT = 15  # as many significant digits as every binary float keeps

_PLAIN = re.compile(r"[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++")
_ONE_KIND = re.compile(r"[1-9][0-9]{0,2}+(?:([,.'_\u2009])[0-9]{3})(?:\1[0-9]{3})*+(?![0-9])")
_LAKHS = re.compile(r"[1-9][0-9]?+(?:,[0-9]{2}(?![0-9]))++,[0-9]{3}(?![0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """A number that we calculate with.

    Args:
        value: the exact value.
        half_unit: half a unit of the last printed place, for a decimal printed as fully as a float is; else 0. Such a
            decimal stands for every number that agrees with it to all printed digits.
    """

    value: Fraction
    half_unit: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Huge:
    """A number too long to calculate with: equal to one that has the same digits, and to no other.

    Args:
        digits: sign and significant digits without zeros at either end.
        exponent: the power of ten that the last digit stands for.
    """

    digits: str
    exponent: int


def numeral(
    text: str, *, decimal_comma: bool = False, exponent: int = 0, negative: bool = False
) -> Exact | Huge | None:
    """The value of digits with separators, times a power of ten; None if the separators do not show it plainly.

    Args:
        text: digits, and any of `,` `.` `'` `_` and a thin space between them.
        decimal_comma: whether a lone comma is the decimal sign, and a lone point groups.
        exponent: the power of ten that multiplies it.
        negative: whether a minus stands before it.

    >>> numeral("1,200"), numeral("12,34,567").value, numeral("1.234,5").value
    (Exact(value=Fraction(1200, 1), half_unit=Fraction(0, 1)), Fraction(1234567, 1), Fraction(2469, 2))
    >>> numeral("1,5"), numeral("1,5", decimal_comma=True).value, numeral("1,20,0")
    (None, Fraction(3, 2), None)
    """
    plain = _plain(text, decimal_comma=decimal_comma)
    if plain is None:
        return None
    whole, _, decimals = plain.partition(".")
    digits = (whole + decimals).lstrip("0")
    shift = exponent - len(decimals)
    if not digits:
        return Exact(value=Fraction(0))
    sign = "-" if negative else ""
    if len(digits) > LONGEST or abs(shift) > LONGEST:
        kept = digits.rstrip("0")
        if len(kept) > LONGEST or abs(shift + len(digits) - len(kept)) > LONGEST:
            return Huge(digits=sign + kept, exponent=shift + len(digits) - len(kept))
        digits, shift = kept, shift + len(digits) - len(kept)
    whole_value = int(sign + digits)
    value = Fraction(whole_value * 10**shift) if shift >= 0 else Fraction(whole_value, 10**-shift)
    full = bool(decimals) and len(digits) >= _DECIMALS_OF_A_FLOAT
    return Exact(value=value, half_unit=_power(shift) / 2 if full else Fraction(0))


def same_value(a: Exact | Huge, b: Exact | Huge) -> bool:
    """Whether two numbers are the same exactly, or to all printed digits of one printed as fully as a float is."""
    if isinstance(a, Huge) or isinstance(b, Huge):
        return a == b
    return a.value == b.value or abs(a.value - b.value) <= max(a.half_unit, b.half_unit)


def _power(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def _plain(text: str, *, decimal_comma: bool) -> str | None:
    """Digits with at most a decimal point."""
    if decimal_comma and "," in text and "." not in text:
        point = text.replace(",", ".")
        return point if _PLAIN.fullmatch(point) else _ungrouped(text)
    if _PLAIN.fullmatch(text) and not (decimal_comma and _ONE_KIND.fullmatch(text)):
        return text
    return _ungrouped(text)


def _ungrouped(text: str) -> str | None:
    """Groups of three, or India's groups, with one and the same sign between them, and perhaps another and decimals."""
    grouped = _ONE_KIND.match(text) or _LAKHS.match(text)
    if grouped is None:
        return None
    mark = grouped[1] if grouped.re is _ONE_KIND else ","
    whole, rest = grouped.group().replace(mark, ""), text[grouped.end() :]
    if not rest:
        return whole
    if rest[0] in ",." and rest[0] != mark and (rest[1:].isdigit() or rest == "."):
        return f"{whole}.{rest[1:]}"
    return None
