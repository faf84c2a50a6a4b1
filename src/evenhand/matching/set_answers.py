"""Several values out of an answer: in any order, or in the order of a tuple."""

import re
from dataclasses import dataclass

from evenhand.matching.answers import NoAnswer, Passage, Unreadable
from evenhand.matching.cleaning import unwrapped_latex
from evenhand.matching.formulas import Written, written
from evenhand.matching.number_answers import clock
from evenhand.matching.quantities import Quantity, quantity
from evenhand.matching.texts import plain_text

__all__ = ["Element", "Elements", "elements", "notation"]

LONGEST = 100_000  # characters
MOST = 10_000  # values


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One value.

    Args:
        text: as it stands, without dress.
        number: its value where it is a plain number.
        nested: its elements where it is a set or a tuple itself.
    """

    text: str
    number: Quantity | None = None
    nested: "Elements | None" = None

    def formula(self) -> Written | None:
        """The element as a formula, where it can be read as one."""
        found = written(self.text)
        return found if isinstance(found, Written) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """The values of one answer.

    Args:
        values: in the order in which they stand.
        form: `set` (braces), `tuple` (round or square brackets: the order counts), or `list` (bare: it does not, save
            against a tuple).
    """

    values: tuple[Element, ...]
    form: str


_MEMBER = re.compile(r"^[A-Za-z](?:_[A-Za-z0-9])?\s*+(?:=|\\in(?![A-Za-z])|\u2208)\s*+")
_DOTS = re.compile(r"\\[lc]?dots(?![A-Za-z])|\.\.\.|\u2026")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_DEEPEST = 20


def elements(passage: Passage, *, decimal_comma: bool = False) -> Elements | NoAnswer | Unreadable:
    r"""The values that a passage lists.

    `\pm 12` is two values; a list with dots in it is one value, compared by its notation, since what the dots stand
    for is anybody's guess.
    """
    if len(passage.text) > LONGEST:
        return Unreadable(reason=f"has more than {LONGEST:,} characters", same=passage.text)
    text = unwrapped_latex(passage.text).replace("\\lbrace", "\\{").replace("\\rbrace", "\\}")
    text = text.replace("\\{", "{").replace("\\}", "}").replace("\u2205", "\\emptyset").strip().rstrip(".").strip()
    return _read(text, decimal_comma, 0)


def _read(text: str, decimal_comma: bool, depth: int) -> Elements | NoAnswer | Unreadable:
    if depth > _DEEPEST:
        return Unreadable(reason=f"nests deeper than {_DEEPEST}")
    text = text.strip()
    several = _several_symbols(text, decimal_comma)
    text = text if several else _MEMBER.sub("", text)
    if text in ("\\emptyset", "\\varnothing", "{}"):
        return Elements(values=(), form="set")
    form, inner = _form(text)
    if _DOTS.search(inner):
        return Elements(values=(Element(text="".join(_DOTS.sub("...", inner).split())),), form=form)
    values: list[Element] = []
    pieces = _split(inner, decimal_comma)
    if len(pieces) > MOST:
        return Unreadable(reason=f"lists more than {MOST:,} values", same=text)
    for piece in pieces:
        read = [_assigned(piece, decimal_comma)] if several else _element(piece, decimal_comma, depth)
        if isinstance(read, Unreadable):
            return read
        values += read
    return Elements(values=tuple(values), form=form) if values else NoAnswer(reason="lists nothing")


def _assigned(piece: str, decimal_comma: bool) -> Element:
    return Element(text=piece, number=quantity(piece, decimal_comma=decimal_comma))


def _several_symbols(text: str, decimal_comma: bool) -> bool:
    """Whether the pieces are values of different symbols, `x=3, y=4`, which belong to their symbols."""
    if text.count("=") < 2 or len(text) > LONGEST:
        return False
    pieces = _split(_form(text)[1], decimal_comma)
    return len({found.group() for piece in pieces if (found := _MEMBER.match(piece.strip("$ ")))}) > 1


def _form(text: str) -> tuple[str, str]:
    """`set`, `tuple` or `list`, and what stands inside the brackets that enclose all of it."""
    close = _PAIRS.get(text[:1])
    if close is None or text[-1:] not in ")]}" or _end(text) != len(text) - 1:
        return "list", text
    if text[0] == "{":
        return ("set", text[1:-1]) if text[-1] == "}" else ("list", text)
    inner = text[1:-1]
    if text[-1] == close:
        return ("tuple", inner) if "," in inner or ";" in inner else ("list", inner)
    return "list", text  # `[1, 2)`: an interval


_BRACKET = re.compile(r"[()\[\]{}]")


def _end(text: str) -> int:
    """Where the bracket that a text begins with is closed, counting all kinds alike."""
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += 1 if found.group() in "([{" else -1
        if depth == 0:
            return found.start()
    return -1


_SEPARATOR = re.compile(r"[()\[\]{}]|[,;\n]|(?<![A-Za-z\\])(?:and|or|und|oder)(?![A-Za-z])", re.IGNORECASE)


_GROUPS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}+(?:,[0-9]{3}(?![0-9]))++")
_SPACED = re.compile(r"[,;]\s|;|[0-9]\s(?:and|or|und|oder)\s", re.IGNORECASE)


def _grouping_commas(text: str) -> frozenset[int]:
    """The places of commas that group digits: `1,000`, and `1,200` where the values have blanks between them.

    `100,200,300` without any blank is three values.
    """
    spaced = _SPACED.search(text) is not None
    places: set[int] = set()
    for found in _GROUPS.finditer(text):
        if spaced or ",0" in found.group():
            places |= {found.start() + at for at, sign in enumerate(found.group()) if sign == ","}
    return frozenset(places)


def _split(text: str, decimal_comma: bool) -> list[str]:
    """The pieces between separators outside brackets; a comma inside a plain number is none."""
    grouped = _grouping_commas(text)
    comma = ";\n" if ";" in text or (decimal_comma and ", " not in text) else ",;\n"
    pieces, start, depth = [], 0, 0
    for found in _SEPARATOR.finditer(text):
        sign = found.group()
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0 and (sign in comma or sign.isalpha()) and found.start() not in grouped:
            pieces.append(text[start : found.start()])
            start = found.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


_PLUS_MINUS = re.compile(r"(?P<before>.*?)(?:\\pm(?![A-Za-z])|\u00b1)\s*+(?P<after>[^\u00b1\\]++)", re.DOTALL)


def _element(piece: str, decimal_comma: bool, depth: int) -> list[Element] | Unreadable:
    piece = _MEMBER.sub("", piece.strip().strip("$").strip())
    both = _PLUS_MINUS.fullmatch(piece) if len(piece) < 200 else None
    if both:
        joint = "+" if both["before"].strip() else ""
        listed = (f"{both['before']}{joint}{both['after']}".strip(), f"{both['before']}-{both['after']}".strip())
        return [Element(text=one, number=quantity(one, decimal_comma=decimal_comma)) for one in listed]
    if piece[:1] in _PAIRS and _form(piece)[0] in ("set", "tuple"):
        nested = _read(piece, decimal_comma, depth + 1)
        if isinstance(nested, Elements):
            return [Element(text=piece, nested=nested)]
        if isinstance(nested, Unreadable):
            return nested
    number = None if clock(piece) else quantity(piece, decimal_comma=decimal_comma)
    return [Element(text=piece, number=number)]


def notation(element: Element) -> str:
    """What an element is compared by where it is no plain number."""
    return plain_text(element.text) if element.text.replace(" ", "").isalpha() else "".join(element.text.split())
