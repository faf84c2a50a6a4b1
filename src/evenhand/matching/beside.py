"""What stands beside a number and makes it another one, or a bound: `-(5)`, `half of 5`, `> 5`, `5 thirds`, `(5, 6)`.

A number that is picked out of words loses what stands around it. Where that would change what it is worth, nothing is
picked: the number is not plain, or there is no one number.
"""

import re

__all__ = ["changed_after", "changed_before", "not_one_number"]

_NEAR = 40  # characters looked at on each side
_OPERATIONS = (
    "minus|negative|half|third|quarter|twice|double|triple|thrice|times|root|sqrt|cbrt|log|ln|lg|exp|sin|cos|tan|square"
    "|cube|reciprocal|inverse|factorial"
)
_BOUNDING = (  # words by which the number behind them is a limit, or the one that is not meant
    "under|over|below|above|up to|exceed(?:s|ing)?|beyond|other than|(?:anything|everything|all) but|except(?: for)?"
    "|excluding|rather than|instead of|unlike|(?:up|down) from|no longer|nor|not|never|n't"
)
_BEFORE = re.compile(
    rf"(?:(?<![A-Za-z])(?:{_OPERATIONS}|{_BOUNDING})(?:_\{{?[0-9a-z]\}}?)?(?: of)?(?: the)?\s?[($]?"
    r"|[\u00ac\u221a\u221b\u221c\u230a\u2308]|[\w)\]][ ]?[-*/\u00d7\u00f7\u00b7^][ ]?\(?|(?<![\w)\]])-[ ]?[(|])[ ]?$",
    re.IGNORECASE,
)
_PARTS = "third|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth|millionth"
_SCALES = (
    "mille|mil|tausend|millionen|millón|millones|milhão|milhões|milliard|milliards|milliarden|mrd|pct|bp|bps|basis|permil"
    "|permille"
)
_WORDS_AFTER = re.compile(
    rf"(?:{_PARTS})s?(?![A-Za-z])|(?:{_SCALES})(?![^\W\d_])"
    r"|(?:halves|plus|minus|squared|cubed|factorial|mn|mln|at (?:most|least)|below (?:zero|nought|0))(?![A-Za-z])"
    r"|(?:[a-z]+ )?and (?:a|one|two|three) (?:half|third|quarter|fifth|tenth)|[b-z]$",
    re.IGNORECASE,
)
# per mille, East Asian powers of ten, a plus (`5+`), a power, a minus behind (`5-`)
_SIGNS_AFTER = re.compile(
    r"[ ]?[\u2030\u2031\u5341\u767e\u5343\u4e07\u842c\u4ebf\u5104\u5146\ub9cc\uc5b5+^\u00d7\u00f7\u30fb]"
    r"|-(?=\s|$|[.,;)])"
)


def changed_before(text: str, start: int) -> bool:
    """Whether what stands before a number changes it.

    >>> changed_before("half of 5", 8), changed_before("-(5)", 2), changed_before("It is 5", 6)
    (True, True, False)
    """
    return _BEFORE.search(text[max(0, start - _NEAR) : start]) is not None


def changed_after(text: str, end: int, named: str) -> bool:
    """Whether the sign, or the words, behind a number change it.

    >>> changed_after("5 tenths", 8, "tenths"), changed_after("5+", 1, ""), changed_after("5 tiles", 7, "tiles")
    (True, True, False)
    """
    return _SIGNS_AFTER.match(text, end) is not None or _WORDS_AFTER.match(named) is not None


_BOUND = re.compile(
    r"(?<![-=])[<>](?![A-Za-z/])|[\u2264\u2265\u2260\u226e\u226f\u2a7d\u2a7e]|[!/]=|=/=|\u00b1|\u2213"
    r"|\\(?:leq?|geq?|leqslant|geqslant|neq?|lt|gt|pm|mp|not)(?![A-Za-z])"
    r"|(?<![A-Za-z])(?:(?:more|less|fewer|greater|larger|smaller|higher|lower) than|at least|at most)\s[$(]?[0-9]",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_-]{0,20}\s?/?>")
_LISTED = re.compile(r"[(\[{][^()\[\]{}A-Za-z]*?[,;]\s[^()\[\]{}A-Za-z]*[)\]}]")
_RANGE = re.compile(r"[$(]?[0-9]++(?:[.,][0-9]++)*+-[0-9]++(?:[.,][0-9]++)*+[)%]?")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(
    rf"(?<![A-Za-z])(?:{_MONTHS})[a-z]*\.?\s[0-9]{{1,2}}(?:st|nd|rd|th)?,?\s[0-9]{{4}}(?![0-9])", re.IGNORECASE
)


def not_one_number(text: str) -> str | None:
    """Half a sentence on why a sentence gives no one number, whatever numbers stand in it; None if it may.

    >>> not_one_number("x > 5"), not_one_number("(5, 6)"), not_one_number("5-6"), not_one_number("so 5 it is")
    ('gives a bound', 'gives several numbers', 'gives a range, or a difference that it does not work out', None)
    """
    if _BOUND.search(_TAG.sub(" ", text)):
        return "gives a bound"
    if _RANGE.fullmatch(text.strip(" .")):
        return "gives a range, or a difference that it does not work out"
    if _LISTED.search(text):
        return "gives several numbers"
    if _DATE.search(text):
        return "gives a date"
    return "has a brace that was never opened or closed" if text.count("{") != text.count("}") else None
