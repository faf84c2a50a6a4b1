"""One number out of an answer: exactly one, plainly written, and not one of several."""

import re
from dataclasses import dataclass, replace

from evenhand.matching.answers import LONGEST_SENTENCE, NoAnswer, Passage, Unreadable, asked, first_sentence, sentences
from evenhand.matching.beside import not_one_number
from evenhand.matching.cleaning import shortened, unwrapped_latex
from evenhand.matching.hedging import hedge, is_refusal, negated
from evenhand.matching.numerals import same_value
from evenhand.matching.quantities import Quantity, numbers_in, quantity

__all__ = ["Formula", "clock", "number_answer", "same_clock"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """An answer that is no plain number, but mathematics that may be worth one."""

    text: str


_INFINITE = re.compile(r"[-+]?\s?(?:\\infty|\u221e|inf(?:inity)?|nan|infinite)", re.IGNORECASE)
_BY_NOUGHT = re.compile(r"(?:/\s?|\\[dtc]?frac\s?\{[^{}]{0,20}\}\s?)\{?0++(?:\.0*+)?\}?$")
_CLOCK = re.compile(r"[0-9]{1,9}(?:\s?:\s?[0-9]{1,9}){1,3}(?:\s?[ap](?:m(?![A-Za-z])|\.\s?m\.?))?", re.IGNORECASE)
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{4}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}"
)
_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_FORMULA = re.compile(r"[0-9A-Za-z\s+\-*/^(){}\[\]\\.,=!|\u221a\u03c0\u00b7\u00d7\u00b0_<>]++")
_MATHEMATICAL = re.compile(
    r"\\[A-Za-z]|[0-9][a-z](?![A-Za-z])|[\^\u221a\u03c0!]|[0-9a-z)\]}]\s*+[-+*/\u00b7\u00d7]\s*+[0-9a-z(\[{\\]"
    r"|(?<![A-Za-z])(?:sqrt|log|ln|exp|sin|cos|tan)(?![A-Za-z])|-\s?[(|]|\|-[^|\s]++\|"
)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_SHORT_WORD = re.compile(
    r"(?<![\\A-Za-z])(?:so|it|is|we|to|of|in|an|be|by|at|on|he|if|as|my|no|are|was)(?![A-Za-z])", re.IGNORECASE
)
_FUNCTION_NAMES = "sin cos tan cot sec csc log exp sqrt mod arcsin arccos arctan"
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_LIST = re.compile(r"[,;]\s|\sand\s|\s&\s")
_MINUS = re.compile(r"(?<![A-Za-z])(is|are|was|be|equals|=)\s-\s(?=[$]?[.]?[0-9])", re.IGNORECASE)  # `it is - 5`
_CLAUSE = re.compile(r"[,;:](?=\s|$)|\s-{1,3}\s|\u2014")


def number_answer(passage: Passage, *, decimal_comma: bool = False) -> Quantity | Formula | str | NoAnswer | Unreadable:
    """The one number that a passage gives; a `str` is a time or a ratio such as `3:45`, equal to itself alone."""
    whole = _plain(unwrapped_latex(passage.text), decimal_comma)
    if whole is not None:
        return whole
    if passage.stated and asked(passage.text):
        return NoAnswer(reason="asks instead of answering")
    if passage.stated:
        text = first_sentence(passage.text)
        return NoAnswer(reason="takes its answer back") if text is None else _stated(text, decimal_comma)
    return _mentioned(passage.text, decimal_comma)


def clock(text: str) -> str | None:
    """A time, a ratio or a date in one form, or None.

    >>> clock("03 : 45"), clock("3:45 P.M."), clock("2024-01-05"), clock("3.45")
    ('3:45', '3:45pm', '2024-1-5', None)
    """
    if len(text) >= 50:
        return None
    if _DATE.fullmatch(text):
        return _ZEROS.sub("", text)
    if not _CLOCK.fullmatch(text):
        return None
    bare = "".join(char for char in text.casefold() if char not in " .\u2009\n\t")
    return _ZEROS.sub("", bare, count=1) if bare.startswith("0") else bare


def same_clock(one: str, two: str) -> bool:
    """Whether two times, ratios or dates are the same; am or pm that only one of them names is taken as said.

    >>> same_clock("3:45", "3:45pm"), same_clock("3:45am", "3:45pm")
    (True, False)
    """
    one_said = (one[-2:] in _HALVES) != (two[-2:] in _HALVES)
    return one == two or (one_said and one.rstrip("apm") == two.rstrip("apm"))


_HALVES = ("am", "pm")


def _plain(text: str, decimal_comma: bool) -> Quantity | str | NoAnswer | Unreadable | None:
    """What the whole text is, where it is one thing."""
    if len(text) < 20 and _INFINITE.fullmatch(text.strip(" .$")):
        return Unreadable(reason="is infinite or not a number, which equals nothing")
    found = quantity(text, decimal_comma=decimal_comma)
    if found is None and _BY_NOUGHT.search(text[-40:]):
        return Unreadable(reason="divides by nought, which equals nothing")
    if found is None:
        return clock(text.strip().rstrip("."))
    return _unhedged(found)


def _unhedged(found: Quantity) -> Quantity | NoAnswer:
    word = hedge(found.named) if found.named else None
    return found if word is None else NoAnswer(reason=f"leaves open which answer it gives ('{word}')")


def _stated(text: str, decimal_comma: bool) -> Quantity | Formula | str | NoAnswer | Unreadable:
    """The number of one sentence that is the answer."""
    text = unwrapped_latex(text)
    whole = _plain(text, decimal_comma)
    if whole is not None:
        return whole
    return _open(text) or _only_number(text, decimal_comma)


def _open(text: str) -> NoAnswer | None:
    word = hedge(text)
    if word is not None:
        return NoAnswer(reason=f"leaves open which answer it gives ('{word}')")
    if negated(text):
        return NoAnswer(reason="says what the answer is not")
    return _several(text)


def _several(text: str) -> NoAnswer | None:
    reason = not_one_number(text) if len(text) <= LONGEST_SENTENCE else None
    return None if reason is None else NoAnswer(reason=reason)


def _mentioned(text: str, decimal_comma: bool) -> Quantity | Formula | str | NoAnswer | Unreadable:
    """The number of the last clause that has one, in prose that states no answer."""
    text = _MINUS.sub(r"\1 -", unwrapped_latex(text))
    if _is_formula(text):
        return _several(text) or _only_number(text, decimal_comma)
    listed = sentences(text)
    if listed and is_refusal(listed[-1]):
        return NoAnswer(reason="ends in a refusal")
    numbered = [one for one in listed if any(char.isdigit() for char in one)]
    if not numbered:
        return NoAnswer(reason="has no number")
    sentence = numbered[-1]
    if sentence.endswith("?"):
        return NoAnswer(reason="asks instead of answering")
    if len(numbered) > 1 and _listed(numbered[-2].rstrip(" ?"), sentence, decimal_comma):
        return NoAnswer(reason="gives several numbers")
    if len(sentence) > LONGEST_SENTENCE:
        return NoAnswer(reason="has no sentence short enough to give one answer")
    word = hedge(sentence)
    if word is not None:
        return NoAnswer(reason=f"leaves open which answer it gives ('{word}')")
    return _several(sentence) or _last_clause(sentence, decimal_comma)


def _listed(one: str, two: str, decimal_comma: bool) -> bool:
    """Whether two sentences or lines are a bare number each, and not the same one: `5` above `6`."""
    if max(len(one), len(two)) > _LONGEST_BARE:
        return False
    first, second = quantity(one, decimal_comma=decimal_comma), quantity(two, decimal_comma=decimal_comma)
    return first is not None and second is not None and _key(first) != _key(second)


_LONGEST_BARE = 40  # characters


def _last_clause(sentence: str, decimal_comma: bool) -> Quantity | Formula | str | NoAnswer | Unreadable:
    clauses = [clause.strip() for clause in _CLAUSE.split(sentence)]
    numbered = [clause for clause in clauses if any(char.isdigit() for char in clause)]
    last, earlier = numbered[-1], numbered[:-1]
    if negated(last):
        return NoAnswer(reason="says what the answer is not")
    # `3, 4 and 5`: bare numbers beside one another are a list, of which none is the answer
    if any(quantity(clause, decimal_comma=decimal_comma) is not None for clause in earlier):
        return NoAnswer(reason="gives several numbers")
    return _only_number(last, decimal_comma)


def _only_number(text: str, decimal_comma: bool) -> Quantity | Formula | str | NoAnswer | Unreadable:
    """The number after the last equals sign, or the only one there is."""
    if len(text) > LONGEST_SENTENCE:
        return NoAnswer(reason="is too long to give one answer")
    if "=" in text and not _LIST.search(text):
        left, _, last = text.rpartition("=")
        right = quantity(last, decimal_comma=decimal_comma)
        if right is not None:
            return _unhedged(right) if not _unequal_before(left, right, decimal_comma) else NoAnswer(reason=_DIFFER)
    if _is_formula(text):
        return Formula(text=text)
    found = numbers_in(text, decimal_comma=decimal_comma)
    if not found:
        return NoAnswer(reason="has no number")
    times = {clock(match.group()) or "" for match in _CLOCK.finditer(text)}
    if times:
        return times.pop() if len(times) == 1 and len(found) <= 4 else NoAnswer(reason="gives several numbers")
    if len({_key(one) for one, _, _ in found}) > 1:
        return NoAnswer(reason="gives several numbers")
    number = found[-1][0]
    if number is None:
        return Unreadable(reason=f"writes its number in a way that is not plain ({shortened(text)})")
    return replace(number, named="")  # in prose the next words need not name what is counted


_DIFFER = "gives several numbers, or sets two different ones equal"
_SYMBOL = re.compile(r"(?<![A-Za-z\\])([A-Za-z])(?:_\{?([A-Za-z0-9]++)\}?)?+\s*+$")


def _unequal_before(left: str, right: Quantity, decimal_comma: bool) -> bool:
    """Whether a bare number of another worth, or several symbols, stand before the last equals sign."""
    sides = left.split("=")
    symbols = {found.groups() for side in sides if (found := _SYMBOL.search(side[-12:])) is not None}
    if len(symbols) > 1:
        return True  # `x = 5 y = 6`
    bare = quantity(sides[-1], decimal_comma=decimal_comma)
    if bare is None or bare.named or bare.unit or right.unit or bare.percent != right.percent:
        return False
    return not same_value(bare.number, right.number)


def _key(one: Quantity | None) -> tuple[object, ...]:
    return () if one is None else (one.number, one.percent, one.unit)


def _is_formula(text: str) -> bool:
    """Whether a text is mathematics without prose."""
    if len(text) > LONGEST_SENTENCE or not _FORMULA.fullmatch(text) or not _MATHEMATICAL.search(text):
        return False
    if _SHORT_WORD.search(text):
        return False  # `it is -5` takes nothing from `s`
    return all(word.group().casefold() in _FUNCTIONS for word in _WORD.finditer(text))
