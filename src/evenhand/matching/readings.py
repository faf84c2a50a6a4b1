"""One side's answer under a rule, and where it was read: the passages of a text, each read as the rule's kind."""

import re
from dataclasses import dataclass, replace

from evenhand.matching.answers import NoAnswer, Passage, Unreadable, first_sentence, passages
from evenhand.matching.choice_answers import choice_answer
from evenhand.matching.cleaning import unwrapped_latex
from evenhand.matching.formulas import Written, formula
from evenhand.matching.number_answers import Formula, number_answer
from evenhand.matching.numerals import numeral
from evenhand.matching.quantities import Quantity, quantity
from evenhand.matching.rules import MatchRule
from evenhand.matching.set_answers import Elements, elements
from evenhand.matching.texts import plain_text
from evenhand.matching.tolerances import same_quantity

__all__ = ["Answer", "Words", "answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A short text.

    Args:
        text: the passage, without a reason that follows.
        forms: its plain words, of the whole passage and of its first sentence.
    """

    text: str
    forms: frozenset[str]


_BARE = re.compile(r"-?(?:[0-9]++|[0-9]++\.[0-9]{1,2})")
_LONGEST_WORDS = 20_000
Value = Quantity | Formula | Written | Elements | Words | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was read, and where."""

    value: Value
    where: str


def answer(text: str, rule: MatchRule) -> Answer | NoAnswer | Unreadable:
    """The one answer of a text; several stated ones must agree, save that a set may be stated in several boxes."""
    if len(text) < 19 and rule.kind == "number" and rule.read in ("final", "whole") and _BARE.fullmatch(text):
        bare = numeral(text.lstrip("-"), negative=text[0] == "-")  # most golds: nothing to clean, nowhere to look
        if bare is not None:
            return Answer(value=Quantity(number=bare), where="the whole text")
    found = passages(text, rule)
    if isinstance(found, NoAnswer):
        return found
    read = [_read(passage, rule) for passage in found]
    for one in read:
        if isinstance(one, NoAnswer):
            return one
    last, where = read[-1], found[-1].where
    assert not isinstance(last, NoAnswer)
    if len(read) > 1 and rule.kind == "set":
        return _united(read, where)
    if any(not _agree(one, last, rule) for one in read[:-1]):
        return NoAnswer(reason="states different answers")
    return last if isinstance(last, Unreadable) else Answer(value=last, where=where)


def _read(passage: Passage, rule: MatchRule) -> Value | NoAnswer | Unreadable:
    match rule.kind:
        case "number":
            return number_answer(passage, decimal_comma=rule.decimal_comma)
        case "expression":
            return _expression(passage, rule)
        case "choice":
            return choice_answer(passage, rule)
        case "set":
            return elements(passage, decimal_comma=rule.decimal_comma)
        case _:
            return _words(passage)


def _expression(passage: Passage, rule: MatchRule) -> Value | NoAnswer | Unreadable:
    r"""A plain number where it is one, else a formula. `3 m` is a product here; `3\text{ m}` and `3 meters` are not."""
    number = quantity(unwrapped_latex(passage.text), decimal_comma=rule.decimal_comma)
    if number is not None and (number.unit is None or "\\text" in passage.text or "\\mathrm" in passage.text):
        return number
    if number is not None and not _letters_only(passage.text):
        return number
    found = formula(passage)
    return replace(found, same=" ".join(passage.text.split())) if isinstance(found, Unreadable) else found


def _letters_only(text: str) -> bool:
    """Whether the unit behind a number is of one or two letters, which are symbols in a formula."""
    tail = unwrapped_latex(text).rstrip(" .").rpartition(" ")[2].lstrip("0123456789.,-+")
    return tail.isalpha() and len(tail) < 3


def _words(passage: Passage) -> Words | NoAnswer | Unreadable:
    if len(passage.text) > _LONGEST_WORDS:
        return Unreadable(
            reason=f"has more than {_LONGEST_WORDS:,} characters, which is no short text", same=passage.text
        )
    sentence = first_sentence(passage.text) if passage.stated else passage.text
    if sentence is None:
        return NoAnswer(reason="takes its answer back")
    text = unwrapped_latex(passage.text)
    forms = frozenset(form for form in (plain_text(text), plain_text(unwrapped_latex(sentence))) if form)
    return Words(text=unwrapped_latex(sentence), forms=forms) if forms else NoAnswer(reason="has no words")


def _agree(one: Value | NoAnswer | Unreadable, last: Value | Unreadable, rule: MatchRule) -> bool:
    """Whether two stated answers of one text are the same, as far as shows without a comparer."""
    if isinstance(one, Quantity) and isinstance(last, Quantity):
        return same_quantity(one, last, rule)[0]
    if isinstance(one, Words) and isinstance(last, Words):
        return bool(one.forms & last.forms)
    if isinstance(one, Written) and isinstance(last, Written):
        return one.notation == last.notation
    return one == last


def _united(read: list[Value | NoAnswer | Unreadable], where: str) -> Answer | NoAnswer | Unreadable:
    """The values of several boxes together, unless they are the same box over again."""
    lists = [one for one in read if isinstance(one, Elements)]
    if len(lists) < len(read):
        return next(one for one in read if isinstance(one, Unreadable))
    if all(one == lists[-1] for one in lists):
        return Answer(value=lists[-1], where=where)
    if any(one.form == "tuple" for one in lists):
        return NoAnswer(reason="states different answers")
    return Answer(value=Elements(values=tuple(v for one in lists for v in one.values), form="list"), where="the boxes")
