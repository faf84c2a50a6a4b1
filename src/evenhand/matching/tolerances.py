"""Whether two written numbers are the same: exactly, in one unit, or within the declared tolerance."""

from dataclasses import replace
from fractions import Fraction

from evenhand.matching.numerals import Exact, Huge, same_value
from evenhand.matching.quantities import Quantity
from evenhand.matching.rules import MatchRule, Tolerance

__all__ = ["same_quantity", "within"]


def same_quantity(a: Quantity, b: Quantity, rule: MatchRule) -> tuple[bool, str]:
    """Whether two numbers are the same under a rule, and why in words; symmetric.

    A unit that one side leaves out is taken as said; two known units must convert into one another. An absolute bound
    holds in the smaller of two units, and in percentage points between two percentages.
    """
    if a.symbol and b.symbol and a.symbol != b.symbol:
        return False, "they are the values of different symbols"
    if rule.percent == "distinct" and a.percent != b.percent:
        return False, "one is a percentage and the other is not"
    a, b = _without_percent(a, b, rule)
    if a.unit and b.unit:
        if a.unit.dimension != b.unit.dimension:
            return False, f"their units differ ({a.unit.dimension} and {b.unit.dimension})"
        smaller = min(a.unit.factor, b.unit.factor)
        first, second = _scaled(a.number, a.unit.factor / smaller), _scaled(b.number, b.unit.factor / smaller)
    elif (a.unit and _counts(b.named)) or (b.unit and _counts(a.named)):
        return False, "one has a unit and the other counts something else"
    else:
        first, second = a.number, b.number
    if same_value(first, second):
        return True, "the numbers are equal"
    if rule.tolerance is None or isinstance(first, Huge) or isinstance(second, Huge):
        return False, "the numbers differ" + ("" if rule.tolerance else "; no tolerance is declared")
    near = within(first.value, second.value, rule.tolerance)
    return near, f"the numbers are {'within' if near else 'not within'} the declared tolerance"


def _counts(named: str) -> bool:
    """Whether the words behind a number name something counted, as `laps` does and `in all` does not."""
    return bool(named) and named.split()[0].casefold() not in _NO_NOUNS


_NO_NOUNS = frozenset(
    ("in", "of", "for", "at", "on", "to", "by", "is", "are", "was", "each", "per", "a", "as", "left", "total")
)


def within(a: Fraction, b: Fraction, tolerance: Tolerance) -> bool:
    """Whether two numbers are within any one of the declared bounds of each other.

    >>> within(Fraction(100, 7), Fraction("14.3"), Tolerance(significant=3))
    True
    >>> within(Fraction(1, 3), Fraction("0.33"), Tolerance(decimals=3))
    False
    """
    apart, larger = abs(a - b), max(abs(a), abs(b))
    return (
        apart <= (tolerance.absolute or 0)
        or apart <= (tolerance.relative or 0) * larger
        or (tolerance.decimals is not None and apart <= _half_unit(-tolerance.decimals))
        or (tolerance.significant is not None and apart <= _half_unit(_magnitude(larger) + 1 - tolerance.significant))
    )


def _half_unit(exponent: int) -> Fraction:
    return (Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)) / 2


def _magnitude(value: Fraction) -> int:
    """The exponent of the first significant digit; 0 for zero."""
    if not value:
        return 0
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if value >= Fraction(10) ** guess else guess - 1


def _without_percent(a: Quantity, b: Quantity, rule: MatchRule) -> tuple[Quantity, Quantity]:
    """Percentages as numbers, where not both are percentages."""
    if rule.percent == "hundredth" and a.percent != b.percent:
        a, b = (replace(q, number=_scaled(q.number, Fraction(1, 100))) if q.percent else q for q in (a, b))
    return a, b


def _scaled(number: Exact | Huge, factor: Fraction) -> Exact | Huge:
    if factor == 1:
        return number
    if isinstance(number, Huge):
        return Huge(digits=f"{number.digits}*{factor}", exponent=number.exponent)
    return Exact(value=number.value * factor, half_unit=number.half_unit * factor)
