"""Where a quotation may begin and end: never inside a character, a number, or a word whose rest would turn it round.

"fell 3" is a substring of "fell 37 %" and "able to pay" one of "unable to pay", and neither is what the text says. A
place is judged by the few characters on its two sides, folded, so that invisible characters between them do not help.
"""

import re
import unicodedata

from evenhand.judges.quote_text import fold_chars, is_variation_selector, is_wordless, joins_pictures

__all__ = ["NEGATING_PREFIXES", "NEGATING_SUFFIXES", "SHORT_QUOTE", "is_cut"]

SHORT_QUOTE = 16
"""Quotations of fewer characters than this need whole words at both ends; longer ones may be cut within a word."""

NEGATING_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis", "anti", "nicht")
"""What turns a word round from its front, in English, German, French, Spanish and their neighbours."""

NEGATING_SUFFIXES = ("less", "free", "los", "frei")
"""What turns a word round from its end; longer endings that begin so ("-lessly", "-loser") count too."""

_PAUSES = "\u2014\u2015"  # an em dash parts what it stands between, unlike a hyphen
_REACH = 24  # characters looked at on each side; longer than any number or affix that matters
_SEPARATORS = r"[.,:/'^\u00b7\u066b\u066c_-]"
_NUMBER_GOES_ON = re.compile(rf"{_SEPARATORS}-?\d|[\u207a\u207b][^\W_]| \d{{3}}(?!\d)")
_NUMBER_SO_FAR = re.compile(rf"\d{_SEPARATORS}-?$|(?:^|[ (\[])\.$")
_SIGNED = re.compile(r"(?:^|[^\w)\]])[-\u00b1\u2213][$\u00a3\u20ac\u00a5]?$")
_GROUP_BEFORE = re.compile(r"(?<!\d)\d{1,3} $")
_GROUP_AFTER = re.compile(r"\d{3}(?!\d)")
_WORD_BEFORE = re.compile(r"[^\W\d_]+$")
_WORD_AFTER = re.compile(r"[^\W\d_]+")
_NEGATING_END = re.compile(rf"-?(?:{'|'.join(NEGATING_SUFFIXES)})|n?'t(?![^\W\d_])")
_HYPHENATED_NEGATION = re.compile(r"(?<![^\W\d_])(?:non|un|anti|nicht|not|no|in|dis)-$")


def is_cut(text: str, index: int, *, length: int, opening: bool) -> bool:
    """Whether a quotation may not begin or end at `index` of `text`, original or folded.

    Args:
        index: a place between characters; the text's two ends are no cuts.
        length: of the quotation. Below SHORT_QUOTE it must not cut words at all, in scripts that set spaces.

        opening: whether it would begin there; else it would end there.

    Example:
        >>> [is_cut("fell 37 %", place, length=40, opening=False) for place in (6, 7)]
        [True, False]
        >>> [is_cut(text, 2, length=40, opening=True) for text in ("unable to pay the rent", "enable them to pay it")]
        [True, False]
    """
    if not 0 < index < len(text):
        return False
    before, after = text[index - 1], text[index]
    if _is_plain_end(before, after) or _is_plain_end(after, before):
        return False
    if before.isalnum() and after.isalnum():
        if not (is_wordless(before) or is_wordless(after)) and (
            length < SHORT_QUOTE or before.isnumeric() or after.isnumeric()
        ):
            return True
    elif before in _PAUSES or after in _PAUSES:
        return False
    if is_variation_selector(after) or joins_pictures(text, index):
        return True
    left, right = _left(text, index), _right(text, index)
    return bool(left and right) and (
        _continues_character(right[0]) or _cuts_number(left, right) or _cuts_word(left, right, length, opening)
    )


def _is_plain_end(inner: str, outer: str) -> bool:
    """A letter beside a space or a sign that ends clauses: the common case, seen at once."""
    return outer in " \n.,;:!?()" and inner.isascii() and inner.isalpha()


def _left(text: str, index: int) -> str:
    """The last visible characters before a place, folded."""
    reach = _REACH
    while True:
        seen = fold_chars(text[max(0, index - reach) : index])
        if len(seen) >= _REACH or reach >= index:
            return seen[-_REACH:]
        reach *= 2  # only a flood of invisible characters comes here more than once


def _right(text: str, index: int) -> str:
    """The first visible characters from a place on, folded."""
    reach = _REACH
    while True:
        seen = fold_chars(text[index : index + reach])
        if len(seen) >= _REACH or index + reach >= len(text):
            return seen[:_REACH]
        reach *= 2


def _continues_character(char: str) -> bool:
    """Combining marks, later parts of a Hangul syllable, skin tones."""
    return (
        unicodedata.category(char).startswith("M")
        or "\u1160" <= char <= "\u11ff"
        or "\ud7b0" <= char <= "\ud7ff"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def _cuts_number(left: str, right: str) -> bool:
    """Inside a number: its digits, groups, decimals, sign, exponent, or the letters written onto it (37k, v2)."""
    before, after = left[-1], right[0]
    if before.isalnum() and after.isalnum() and (before.isnumeric() or after.isnumeric()):
        return all(char.isnumeric() or not is_wordless(char) for char in (before, after))
    if before.isdigit():
        going_on = _NUMBER_GOES_ON.match(right)
        return going_on is not None and (right[0] != " " or _GROUP_BEFORE.search(left + " ") is not None)
    if not after.isdigit():
        return False
    if before == " ":
        return _GROUP_BEFORE.search(left) is not None and _GROUP_AFTER.match(right) is not None
    return _NUMBER_SO_FAR.search(left) is not None or _SIGNED.search(left) is not None


def _cuts_word(left: str, right: str, length: int, opening: bool) -> bool:
    """Inside a word where that matters: any word for a short quotation, a negating beginning or end for all."""
    if opening and _is_letter(right[0]) and _HYPHENATED_NEGATION.search(left):
        return True
    if not opening and _is_letter(left[-1]) and _NEGATING_END.match(right):
        return True
    if not (_is_letter(left[-1]) and _is_letter(right[0])) or is_wordless(left[-1]) or is_wordless(right[0]):
        return False
    if length < SHORT_QUOTE:
        return True
    before, after = _WORD_BEFORE.search(left), _WORD_AFTER.match(right)
    return opening and before is not None and after is not None and _turns_round(before.group(), after.group())


def _turns_round(prefix: str, rest: str) -> bool:
    """Whether a word's cut-off beginning negates the rest: im- stands before b, m, p; il- before l; ir- before r."""
    if len(rest) < 3 or prefix not in NEGATING_PREFIXES:
        return False
    return rest[0] in {"im": "bmp", "il": "l", "ir": "r"}.get(prefix, rest[0])


def _is_letter(char: str) -> bool:
    return char.isalpha() or unicodedata.category(char).startswith("M")
