"""Cells of published tables as people print them: `1,234`, `64%`, `62.5 ± 0.4`, `94/92`, `71.3*`, `n/a`, `∞`.

Beside the value stands what the print says of its precision: how many decimals, and in how many significant digits.
What is not a number is missing, infinite or text, and stays apart; nothing becomes 0.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from evenhand.store.text_files import quoted

__all__ = ["CellKind", "RankedCell", "cell_reader", "comma_hint", "is_missing"]

CellKind = Literal["number", "missing", "infinite", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCell:
    """One cell, read.

    Attributes:
        value: the number, infinite included; None where the cell is missing or text. Of `94/92`, the mean.
        decimals: digits after the decimal sign, less the exponent: `1.25` has 2, `1.2e3` has -2.
        digits: significant digits printed.
        spread: what stands after `±`, in the cell's unit.
        parts: the numbers of a cell such as `94/92`; empty for a plain one.
        unit: `%`, a currency sign, or letters behind the number; "" for none.
        remark: what was left out in reading: footnote marks, brackets.
    """

    kind: CellKind
    text: str
    value: float | None = None
    decimals: int = 0
    digits: int = 0
    spread: float | None = None
    parts: tuple[float, ...] = ()
    unit: str = ""
    remark: str = ""


_MISSING = frozenset(
    {
        *("", "na", "n/a", "n.a.", "n.a", "nan", "null", "nil", "none", "missing", "unknown", "tbd", "tba", "?"),
        *("-", "--", "---", "–", "—", "−", ".", "..", "...", "…", "/", "<na>", "#n/a"),
    }
)
_INFINITE = re.compile(r"([-+−]?)(?:inf|infinity|∞)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[-+−]?[0-9]{1,3}(?:[.  '][0-9]{3})*,[0-9]{1,15}\s*%?|[-+−]?[0-9]+,[0-9]{1,15}\s*%?")
_MARKS = re.compile(r"(?:\^\(?[a-z0-9]\)?|\[[^\[\]]{0,12}\]|[*†‡§¶#^_`¹²³⁰⁴-⁹ᵃ-ᶻ↑↓▲▼★☆✓])++$")
_PLAIN = re.compile(r"-?(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,15}))?")
_BRACKET = re.compile(r"\s*(?:\([^()]{0,80}\)|\[[^\[\]]{0,80}\])$")
_SPREAD = re.compile(r"\s*(?:±|\+/-|\+-|\\pm)\s*")
_SPREAD_IN_BRACKETS = re.compile(r"\s*\(\s*(?:±|\+/-|\+-|\\pm)\s*([^()]{1,40})\)")
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
_UNIT = re.compile(r"\s*(%|‰|[^\W\d_]{1,6}(?:/[^\W\d_]{1,4})?)$")
_LEADING = re.compile(r"^[~≈]?\s*([$€£¥]?)\s*")
_MINUS = str.maketrans({"−": "-", "–": "-", "‑": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
_EXPONENT = r"(?:[eE][-+]?[0-9]{1,3})?"
_LONGEST = 200


def _number(decimal: str, group: str) -> re.Pattern[str]:
    """A number whose groups of three may be set apart by `group`, a blank or an apostrophe."""
    digits = rf"(?:[1-9][0-9]{{0,2}}(?:([{re.escape(group)} '])[0-9]{{3}})(?:\1[0-9]{{3}})*|[0-9]{{1,40}})"
    sign = re.escape(decimal)
    return re.compile(rf"[-+]?(?:{digits}(?:{sign}[0-9]{{0,40}})?|{sign}[0-9]{{1,40}}){_EXPONENT}")


_POINT, _COMMA = _number(".", ","), _number(",", ".")


def cell_reader(*, decimal_comma: bool = False) -> Callable[[str], RankedCell]:
    """What reads a cell; equal texts are read once.

    Args:
        decimal_comma: `62,5` is a number and `1.234` is 1234; otherwise `1,234` is 1234 and `62,5` is text.

    >>> read = cell_reader()
    >>> [(c.value, c.decimals) for c in map(read, ("1,234", "64%", "71.30*", "94/92.0", "1.2e3"))]
    [(1234.0, 0), (64.0, 0), (71.3, 2), (93.0, 0), (1200.0, -2)]
    >>> cell = read("62.5 ± 0.4")
    >>> cell.value, cell.spread, read("n/a").kind, read("OOM").kind, read("Infinity").value
    (62.5, 0.4, 'missing', 'text', inf)
    >>> cell_reader(decimal_comma=True)("1.234,5").value
    1234.5
    """
    pattern, separators = (_COMMA, (",", ".")) if decimal_comma else (_POINT, (".", ","))

    @lru_cache(maxsize=1 << 16)
    def read(text: str) -> RankedCell:
        return _read(text, pattern, separators)

    return read


def is_missing(text: str) -> bool:
    """Whether a cell stands for nothing, a remark in brackets and footnote marks aside.

    >>> [is_missing(text) for text in ("", " - ", "N/A†", "none (label only)", "0", "no", "(12.3)")]
    [True, True, True, True, False, False, False]
    """
    plain = text.strip().casefold()
    bare = _MARKS.sub("", _BRACKET.sub("", plain)).strip()
    return plain in _MISSING or (bare != "" and bare in _MISSING)  # `(12.3)` alone is no gap


def comma_hint(texts: Sequence[str]) -> str:
    """The way out where half of the filled cells are numbers with a decimal comma; "" where they are not.

    >>> comma_hint(["66,3", "1.071,25", ""]), comma_hint(["66.3", "n/a"])
    ("; --decimal-comma reads '66,3' as a number", '')
    """
    filled = [text for text in texts if not is_missing(text)]
    commas = [text for text in filled if _COMMA_NUMBER.fullmatch(text.strip())]
    if not commas or 2 * len(commas) < len(filled):
        return ""
    return f"; --decimal-comma reads {quoted(commas[0])} as a number"


def _read(text: str, pattern: re.Pattern[str], separators: tuple[str, str]) -> RankedCell:
    """One cell: missing, infinite, a number, several with a slash, or text."""
    if separators[0] == "." and (plainly := _PLAIN.fullmatch(text)):  # nine cells of ten
        whole, fraction = plainly[1], plainly[2] or ""
        digits = len((whole + fraction).lstrip("0"))
        return RankedCell(kind="number", text=text, value=float(text), decimals=len(fraction), digits=digits)
    if is_missing(text):
        return RankedCell(kind="missing", text=text)
    plain = text.strip().translate(_MINUS).replace("**", "").replace("__", "") if len(text) <= _LONGEST else ""
    if infinite := _INFINITE.fullmatch(_MARKS.sub("", plain).strip()):
        return RankedCell(kind="infinite", text=text, value=float("-inf" if infinite[1] == "-" else "inf"))
    bare, remark = _unmarked(_SPREAD_IN_BRACKETS.sub(r" ± \1", plain))
    main, *spreads = _SPREAD.split(bare, maxsplit=1)
    main, unit = _without_unit(main)
    parts = [part.strip() for part in main.split("/")]
    if unit == "%" and len(parts) > 1:  # `94%/92%`
        parts = [_without_unit(part)[0] for part in parts]
    if not 1 <= len(parts) <= 6 or not all(pattern.fullmatch(part) for part in parts):
        return RankedCell(kind="text", text=text)
    numbers = [_value(part, separators) for part in parts]
    if any(number - number != 0 for number in numbers):  # such as 1e999
        return RankedCell(kind="infinite", text=text, value=numbers[0])
    if any(number == 0 and _digits(part, separators) for number, part in zip(numbers, parts, strict=True)):
        return RankedCell(kind="text", text=text)  # such as 1e-999, whose decimals would be those of its whole column
    spread = None
    if spreads:
        behind, unit_behind = _without_unit(spreads[0])
        if not pattern.fullmatch(behind):
            return RankedCell(kind="text", text=text)
        spread, unit = abs(_value(behind, separators)), unit or unit_behind
    return RankedCell(
        kind="number", text=text, value=sum(numbers) / len(numbers),
        decimals=min(_decimals(part, separators[0]) for part in parts),
        digits=min(_digits(part, separators) for part in parts),
        spread=spread, parts=tuple(numbers) if len(numbers) > 1 else (), unit=unit, remark=remark,
    )  # fmt: skip


def _unmarked(text: str) -> tuple[str, str]:
    """A cell without the footnote marks and brackets at its end, and what they were."""
    bare, before = text, None
    while bare != before:
        before = bare
        bare = _MARKS.sub("", _BRACKET.sub("", bare)).strip()
        bare = bare.lstrip("*_` ")
    return bare, text.replace(bare, "", 1).strip()


def _without_unit(text: str) -> tuple[str, str]:
    """A number without the unit before or behind it."""
    currency = _LEADING.match(text)
    assert currency is not None  # every part of the pattern may be empty
    bare = text[currency.end() :].strip()
    if ordinal := _ORDINAL.fullmatch(bare):
        return ordinal[1], ""
    if (unit := _UNIT.search(bare)) and not re.fullmatch(r"[eE]", unit[1]):
        return bare[: unit.start()].strip(), unit[1]
    return bare, currency[1]


def _value(text: str, separators: tuple[str, str]) -> float:
    """The number that a text which fits the pattern stands for."""
    decimal, group = separators
    return float(text.replace(group, "").replace(" ", "").replace("'", "").replace(decimal, "."))


def _decimals(text: str, decimal: str) -> int:
    """Digits after the decimal sign, less the exponent."""
    mantissa, _, exponent = text.lower().partition("e")
    return len(mantissa.partition(decimal)[2]) - (int(exponent) if exponent else 0)


def _digits(text: str, separators: tuple[str, str]) -> int:
    """Significant digits: from the first that is not 0 to the last that is printed."""
    mantissa = text.lower().partition("e")[0]
    return len("".join(filter(str.isdigit, mantissa)).lstrip("0"))
