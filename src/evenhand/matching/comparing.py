"""Two answers that were read: equal, unequal, or for somebody else to decide."""

from dataclasses import dataclass
from fractions import Fraction

from evenhand.matching.answers import NoAnswer, Unreadable
from evenhand.matching.formulas import Written, worth_the_same, written
from evenhand.matching.hedging import hedge
from evenhand.matching.number_answers import Formula, same_clock
from evenhand.matching.numerals import Exact
from evenhand.matching.quantities import Quantity, quantity
from evenhand.matching.readings import Answer, Value, Words
from evenhand.matching.rules import Expressions, MatchRule, MatchVerdict
from evenhand.matching.set_answers import Elements
from evenhand.matching.sets import same_elements
from evenhand.matching.tolerances import same_quantity

__all__ = ["Compared", "same_answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A verdict, the comparison that gave it, and one sentence."""

    verdict: MatchVerdict
    how: str
    reason: str


def same_answer(given: Answer, right: Answer, rule: MatchRule, expressions: Expressions | None) -> Compared:
    """Whether two answers of one kind are the same."""
    one, two = given.value, right.value
    if isinstance(one, Quantity) and isinstance(two, Quantity):
        return _decided(same_quantity(one, two, rule), "exact number" if rule.tolerance is None else "number")
    if isinstance(one, Elements) and isinstance(two, Elements):
        same, reason = same_elements(one, two, rule, expressions)
        return _open("set", reason, expressions) if same is None else _decided((same, reason), "set")
    if isinstance(one, Words) and isinstance(two, Words):
        return _texts(one, two, rule)
    if isinstance(one, str) or isinstance(two, str):
        what = "label" if rule.kind == "choice" else "time, ratio or date"
        same = one == two
        if rule.kind != "choice" and isinstance(one, str) and isinstance(two, str):
            same = same_clock(one, two)
        return _decided((same, f"the answers are {'the same' if same else 'different'} ({what})"), what)
    return _formulas(one, two, rule, expressions)


def _decided(found: tuple[bool, str], how: str) -> Compared:
    same, reason = found
    return Compared(verdict="equal" if same else "unequal", how=how, reason=reason)


def _open(how: str, reason: str, expressions: Expressions | None) -> Compared:
    gave_up = "there is none" if expressions is None else "it gave up (too slow, too large, or not readable)"
    return Compared(verdict="undecided", how=how, reason=f"{reason}, and {gave_up}")


def _texts(one: Words, two: Words, rule: MatchRule) -> Compared:
    if one.forms & two.forms:
        return Compared(verdict="equal", how="normalised text", reason="the words are the same")
    first, second = quantity(one.text), quantity(two.text)
    if first is not None and second is not None:
        return _decided(same_quantity(first, second, rule), "exact number")
    hedges = [hedge(text[:400]) for text in (one.text, two.text)]
    if (hedges[0] is None) != (hedges[1] is None):
        word = hedges[0] or hedges[1]
        return Compared(
            verdict="no_answer", how="hedge", reason=f"one side leaves open which answer it gives ('{word}')"
        )
    reason = "the words differ; whether they are the same answer is for a model to say"
    return Compared(verdict="undecided", how="normalised text", reason=reason)


def _formulas(one: Value, two: Value, rule: MatchRule, expressions: Expressions | None) -> Compared:
    if rule.percent == "distinct" and any(isinstance(side, Quantity) and side.percent for side in (one, two)):
        return Compared(verdict="unequal", how="percentage", reason="one is a percentage and the other is not")
    if isinstance(one, Formula) and one == two:
        return Compared(verdict="equal", how="notation", reason="the formulas are written alike")
    first, second = _as_formula(one, rule), _as_formula(two, rule)
    if not isinstance(first, Written) or not isinstance(second, Written):
        faulty = first if not isinstance(first, Written) else second
        reason = faulty.reason if isinstance(faulty, NoAnswer | Unreadable) else "is too long a number for a formula"
        return Compared(verdict="unequal", how="formula", reason=f"one side {reason}")
    if first.notation == second.notation:
        return Compared(verdict="equal", how="notation", reason="the formulas are written alike")
    if not first.comparable or not second.comparable:
        reason = "words, quantifiers, dots, plus-minus, primes and transposes are compared by notation, and it differs"
        return Compared(verdict="unequal", how="notation", reason=reason)
    same = worth_the_same(first, second, rule, expressions)
    if same is None:
        return _open("formula", "the formulas need a comparer", expressions)
    given = " with every symbol positive" if rule.positive else ""
    return _decided((same, f"the formulas are {'worth the same' if same else 'not worth the same'}{given}"), "formula")


def _as_formula(side: Value, rule: MatchRule) -> Written | NoAnswer | Unreadable | None:
    if isinstance(side, Written):
        return side
    if isinstance(side, Formula):
        return written(side.text)
    if not isinstance(side, Quantity) or not isinstance(side.number, Exact):
        return None
    value = side.number.value / 100 if side.percent and rule.percent == "hundredth" else side.number.value
    return written(_decimal(side.number) if side.number.half_unit and not side.percent else _latex(value))


def _decimal(number: Exact) -> str:
    """A decimal printed as fully as a float is, with all the places that it was printed with."""
    unit = 2 * number.half_unit
    digits, places = abs(number.value / unit).numerator, len(str(unit.denominator)) - 1
    text = str(digits).rjust(places + 1, "0")
    return f"{'-' if number.value < 0 else ''}{text[:-places]}.{text[-places:]}"


def _latex(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
