"""Reading one number with its sign, fraction, power of ten, scale, percent sign and unit out of a text."""

import re
import unicodedata
from dataclasses import dataclass, replace

from evenhand.matching.beside import changed_after, changed_before
from evenhand.matching.numerals import Exact, Huge, numeral
from evenhand.matching.units import SCALES, Unit, unit_of

__all__ = ["NUMBER", "Quantity", "numbers_in", "quantity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number as it was written.

    Args:
        number: its value, a scale such as `thousand` already in it; a percent sign is not.
        percent: whether a percent sign, or the word, follows.
        unit: the known unit; None where no word follows, or one that names what is counted.
        named: the words that follow and are no known unit.
        symbol: the lone symbol that the number is assigned to, as in `x = 5`.
    """

    number: Exact | Huge
    percent: bool = False
    unit: Unit | None = None
    named: str = ""
    symbol: str = ""


_DIGITS = r"(?:[0-9](?:[,.'_\u2009]?[0-9])*+\.?|\.[0-9]++)"
_MONEY = r"(?:(?<![A-Za-z])(?:US|AU|CA|NZ|HK|SG|MX|NT|A|C|S|R)?\$|[€£¥₹¢])"
_SIGN = r"[-+]"
_POWER = r"(?:\^\s?(?:\{\s?([-+]?[0-9]{1,9})\s?\}|([-+]?[0-9]{1,9})))"
_NAMED_POWER = _POWER.replace("([-", "(?P<p1>[-", 1).replace("|([-", "|(?P<p2>[-", 1)
# One number: signs and money in either order, digits, then a power of ten or a fraction. Groups are read by `_read`.
NUMBER = re.compile(
    rf"(?P<sign>{_SIGN}\s?)?(?P<money>{_MONEY}\s?)?(?P<inner>{_SIGN}\s?)?(?P<digits>{_DIGITS})"
    rf"(?:(?:[eE](?P<e>[-+]?[0-9]{{1,9}})(?![0-9A-Za-z.]))"
    rf"|(?:\s?(?:[x×*·]|\\times|\\cdot)\s?10{_NAMED_POWER})"
    rf"|(?:(?P<mixed>(?:[ \u2009]|\\ )?)(?P<frac>\\[dtc]?frac)\s?(?P<top>\{{\s?[0-9]++\s?\}}|[0-9])\s?"
    rf"(?P<bottom>\{{\s?[0-9]++\s?\}}|[0-9]))"
    rf"|(?: (?P<above>[0-9]++)\s?[/\u2044]\s?(?P<below>[0-9]++))"
    rf"|(?:\s?[/\u2044]\s?(?P<over>{_DIGITS})))?+"
)
_FRAC = re.compile(
    rf"(?P<sign>{_SIGN}\s?)?\\[dtc]?frac\s?(?P<top>\{{\s?-?[0-9]++\s?\}}|[0-9])\s?(?P<bottom>\{{\s?-?[0-9]++\s?\}}|[0-9])"
)
_POWER_OF_TEN = re.compile(rf"(?P<sign>{_SIGN}\s?)?10{_POWER}")
_START = re.compile(rf"(?:{_SIGN}\s?)?(?:{_MONEY}\s?)?(?:{_SIGN}\s?)?(?:[0-9]|\.[0-9]|\\[dtc]?frac)")
_PERCENT = re.compile(r"\s?(?:[%\u066a]|(?:percent(?:age)?|per cent)(?![A-Za-z]))(?:\s?(?:points?))?")
_SCALE = re.compile(rf"[\s-]?({'|'.join(sorted(SCALES, key=len, reverse=True))})(?![A-Za-z])", re.IGNORECASE)
_SHORT_SCALE = re.compile(r"([kKMB])(?![A-Za-z0-9])")
_SHORT = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_DASHED_CENTS = re.compile(r",-{1,2}(?![0-9])|\.-{1,2}(?![0-9])")


def quantity(text: str, *, decimal_comma: bool = False) -> Quantity | None:
    r"""The number that a cleaned text is, and nothing but a unit, or the name of what is counted, behind it.

    >>> quantity("$1,200.50").number.value, quantity("50%").percent, quantity("3 1/2 hours").unit.dimension
    (Fraction(2401, 2), True, 'time')
    >>> quantity(r"-2\frac{1}{4}").number.value, quantity("1.5 x 10^3").number.value, quantity("5 or 6")
    (Fraction(-9, 4), Fraction(1500, 1), None)
    """
    text, symbol = _bared(text)
    found = _leading(text, 0, decimal_comma=decimal_comma)
    while found is not None and (more := _SMALLER.match(text, found[1])) is not None:
        found = _added(found[0], _leading(text, more.end(), decimal_comma=decimal_comma))
    if found is None or text[found[1] :].strip(" .,;:)") or not _is_name(found[0].named):
        return None
    return replace(found[0], symbol=symbol) if symbol else found[0]


def numbers_in(text: str, *, decimal_comma: bool = False) -> list[tuple[Quantity | None, int, int]]:
    """Every number of a text with its span; None for digits that are no plain number, nothing for digits in words.

    >>> [found and found.number.value for found, _, _ in numbers_in("x1 is 3 of 1,5")]
    [Fraction(3, 1), None]
    """
    found: list[tuple[Quantity | None, int, int]] = []
    at = 0
    while (start := _START.search(text, at)) is not None:
        first = start.start()
        if (
            first
            and (_joins(text[first - 1]) or text[first - 1] in "_^{")
            and text[first : first + 1] not in "$€£¥₹¢\\"
        ):
            at = _past_digits(text, start.end())
            continue
        if first and text[first] in "+-" and (text[first - 1].isalnum() or text[first - 1] in ")}%"):
            first += 1  # `5-6`: a range or a difference, no negative number
        read = None if changed_before(text, first) else _leading(text, first, decimal_comma=decimal_comma)
        if read is None:
            end = _past_digits(text, max(start.end(), first + 1))
            found.append((None, first, end))
        else:
            end = max(read[1], first + 1)
            found.append((read[0], first, end))
        at = end
    return found


def _joins(char: str) -> bool:
    """Whether digits behind a sign belong to its word; scripts that set no blanks between words do not join."""
    return char.isalnum() and (char < "\u3000" or unicodedata.category(char) != "Lo")


def _past_digits(text: str, at: int) -> int:
    while at < len(text) and (text[at].isdigit() or (text[at] in ",.'_" and text[at + 1 : at + 2].isdigit())):
        at += 1
    return at


def _bared(text: str) -> tuple[str, str]:
    """Without a full stop, brackets all around, or a lone symbol that the number is assigned to; and that symbol."""
    text = text.strip()
    text = text[:-1].rstrip() if text.endswith((".", ",", ";")) and not text.endswith("..") else text
    while len(text) > 2 and text[0] + text[-1] in ("()", "{}") and text.count(text[0]) == 1:
        text = text[1:-1].strip()
    assigned = _ASSIGNED.match(text)
    return (text[assigned.end() :].strip(), (assigned["symbol"] or "").casefold()) if assigned else (text, "")


_ASSIGNED = re.compile(
    r"(?P<symbol>[A-Za-z](?:_(?:[A-Za-z0-9]|\{[A-Za-z0-9]++\}))?+)\s*+(?:=|\\approx(?![A-Za-z])|≈)(?!=)"
    r"|\\approx(?![A-Za-z])|≈|=(?!=)"
)


def _leading(text: str, at: int, *, decimal_comma: bool) -> tuple[Quantity, int] | None:
    """The number that a text begins with, and where it ends, unit and all."""
    read = _value(text, at, decimal_comma=decimal_comma)
    if read is None:
        return None
    number, money, end = read
    if end == len(text):
        return Quantity(number=number, unit=money), end
    dashed = _DASHED_CENTS.match(text, end)
    end = dashed.end() if dashed else end
    scaled = _SCALE.match(text, end) or _SHORT_SCALE.match(text, end)
    if scaled:
        number = _times(number, SCALES.get(scaled[1].lower()) or _SHORT[scaled[1]])
        end = scaled.end()
    percent = _PERCENT.match(text, end)
    if percent:
        return Quantity(number=number, percent=True), percent.end()
    before = text[end - 1 : end + 1]
    unit, end, named = _unit(text, end)
    if named and (named.split()[0].casefold() in _POWERS_AND_PI or (before[-1].isalpha() and _LONE.match(named))):
        return None  # `3x` and `5 pi` are no 3 and no 5
    if changed_after(text, end, named) and unit is None:
        return None  # nor are `5 tenths`
    return Quantity(number=number, unit=money or unit, named=named), end


_POWERS_AND_PI = frozenset(("pi", "squared", "cubed", "sqrt", "factorial"))
_LONE = re.compile(r"[A-Za-z](?![A-Za-z])")


def _value(text: str, at: int, *, decimal_comma: bool) -> tuple[Exact | Huge, Unit | None, int] | None:
    power = _POWER_OF_TEN.match(text, at)
    if power:
        value = numeral("1", exponent=int(power[2] or power[3]), negative=_minus(power["sign"]))
        return None if value is None else (value, None, power.end())
    lone = _FRAC.match(text, at)
    if lone:
        value = _fraction("0", lone["top"], lone["bottom"], negative=_minus(lone["sign"]))
        return None if value is None else (value, None, lone.end())
    found = NUMBER.match(text, at)
    return None if found is None else _read(found, decimal_comma=decimal_comma)


def _read(found: re.Match[str], *, decimal_comma: bool) -> tuple[Exact | Huge, Unit | None, int] | None:
    if found["sign"] and found["inner"]:
        return None
    negative = _minus(found["sign"]) or _minus(found["inner"])
    money = unit_of(found["money"].strip()) if found["money"] else None
    end = found.end()
    digits = found["digits"]
    if digits.endswith(".") and end == found.end("digits"):
        digits, end = digits[:-1], end - 1
    value: Exact | Huge | None
    if found["top"]:
        value = _fraction(digits, found["top"], found["bottom"], negative=negative)
    elif found["above"]:
        value = _fraction(digits, found["above"], found["below"], negative=negative)
    elif found["over"]:
        value = _ratio(digits, found["over"].rstrip("."), negative=negative, decimal_comma=decimal_comma)
    else:
        exponent = int(found["e"] or found["p1"] or found["p2"] or 0)
        value = numeral(digits, decimal_comma=decimal_comma, exponent=exponent, negative=negative)
    return None if value is None else (value, money, end)


def _minus(sign: str | None) -> bool:
    return bool(sign) and sign is not None and sign.strip() == "-"


def _fraction(whole: str, above: str, below: str, *, negative: bool) -> Exact | None:
    """A whole number and a fraction; None for a fraction of nothing, or of more digits than we calculate with."""
    parts = [numeral(part.strip("{} -")) for part in (whole, above, below)]
    first, top, bottom = parts
    if not isinstance(first, Exact) or not isinstance(top, Exact) or not isinstance(bottom, Exact) or not bottom.value:
        return None
    negative ^= ("-" in above) ^ ("-" in below)
    value = first.value + top.value / bottom.value
    return Exact(value=-value if negative else value)


def _ratio(above: str, below: str, *, negative: bool, decimal_comma: bool) -> Exact | None:
    top, bottom = numeral(above, decimal_comma=decimal_comma), numeral(below, decimal_comma=decimal_comma)
    if not isinstance(top, Exact) or not isinstance(bottom, Exact) or not bottom.value:
        return None
    value = top.value / bottom.value
    return Exact(value=-value if negative else value)


def _times(number: Exact | Huge, factor: int) -> Exact | Huge:
    if isinstance(number, Huge):
        return Huge(digits=f"{number.digits}*{factor}", exponent=number.exponent)
    return Exact(value=number.value * factor, half_unit=number.half_unit * factor)


_WORDS = re.compile(r"[\s-]?([A-Za-z°μ¢$€£¥₹][A-Za-z°μ¢$€£¥₹/^{}0-9.']*+(?: [A-Za-z°/][A-Za-z°/^{}0-9.'-]*+){0,8})")


def _unit(text: str, end: int) -> tuple[Unit | None, int, str]:
    """A unit, or the name of what is counted, directly behind a number."""
    words = _WORDS.match(text, end) if end < len(text) else None
    if words is None:
        return None, end, ""
    unit = unit_of(words[1])
    return (unit, words.end(), "") if unit else (None, words.end(), words[1])


_MATHEMATICAL_WORDS = (
    "pi e i sqrt root squared cubed sin cos tan cot sec csc log ln exp mod plus minus times over or not"
)
_MATHEMATICS = frozenset(_MATHEMATICAL_WORDS.split())


def _is_name(words: str) -> bool:
    """Whether words behind a number name what is counted: no formula (`3x`, `5 pi`), no second answer."""
    if not words:
        return True
    listed = words.casefold().split()
    return len(words) <= 80 and not any((len(word) == 1 and word != "a") or word in _MATHEMATICS for word in listed)


_SMALLER = re.compile(r",? (?:and )?(?=[0-9])")


def _added(larger: Quantity, smaller: "tuple[Quantity, int] | None") -> "tuple[Quantity, int] | None":
    """`1 hour 30 minutes`: units of one dimension, each smaller than the one before it."""
    if smaller is None or larger.unit is None or smaller[0].unit is None:
        return None
    first, then, (a, b) = larger.number, smaller[0].number, (larger.unit, smaller[0].unit)
    if a.dimension != b.dimension or a.factor <= b.factor or isinstance(first, Huge) or isinstance(then, Huge):
        return None
    return replace(smaller[0], number=Exact(value=first.value * a.factor / b.factor + then.value)), smaller[1]
