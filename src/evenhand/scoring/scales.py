"""Scales, what arithmetic they permit, and the one rounding rule: half up, on exact numbers.

Half up means towards plus infinity: 92.5 -> 93, -12.5 -> -12. It is applied to fractions, never to binary floats, so
that a value that stands exactly on a half is seen to do so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evenhand.errors import InvalidInput

__all__ = [
    "Exact",
    "Scale",
    "common_scale",
    "exact_number",
    "half_up",
    "plain_number",
    "scale_of",
    "scale_score",
    "weight_shares",
]

Exact = int | Decimal | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The lowest and highest value a criterion can have, and whether only whole numbers stand between them."""

    lowest: Fraction
    highest: Fraction
    integral: bool = False

    def __str__(self) -> str:
        return f"{plain_number(self.lowest)}..{plain_number(self.highest)}"

    @property
    def ends(self) -> tuple[int | float, int | float]:
        """(lowest, highest) as plain numbers, as records hold them."""
        return plain_number(self.lowest), plain_number(self.highest)


def exact_number(value: Exact | float) -> Fraction:
    """The number as a fraction; a float stands for the shortest decimal that prints it, so 0.1 is one tenth.

    Raises:
        InvalidInput: NaN, an infinity, or a Decimal beyond 1e100 or 1e-100, whose fraction would fill the memory.

    >>> exact_number(0.1)
    Fraction(1, 10)
    """
    if isinstance(value, Decimal) and value and value.is_finite() and not -100 <= value.adjusted() <= 100:
        raise InvalidInput(f"exact_number: {value:.3e} is out of range; use a number of ordinary size")
    try:
        return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    except (ValueError, OverflowError):
        raise InvalidInput(f"exact_number: {value} is not a finite number; use one") from None


def half_up(value: Exact | float, digits: int = 0) -> Fraction:
    """The value rounded to `digits` decimals; exact halves go towards plus infinity.

    >>> [str(half_up(Decimal(text))) for text in ("92.5", "-12.5", "0.49999999999999999999")]
    ['93', '-12', '0']
    >>> str(half_up(Decimal("0.675"), 2))
    '17/25'
    """
    exact, power = exact_number(value), 10**digits
    return Fraction((2 * exact.numerator * power + exact.denominator) // (2 * exact.denominator), power)


def plain_number(value: Exact | float) -> int | float:
    """An int where the value is whole, else the nearest float.

    >>> plain_number(Fraction(4, 2)), plain_number(Fraction(7, 10))
    (2, 0.7)
    """
    exact = exact_number(value)
    return exact.numerator if exact.denominator == 1 else float(exact)


def scale_of(lowest: Exact, highest: Exact, *, what: str, integral: bool = False) -> Scale:
    """The scale between two values.

    Raises:
        InvalidInput: the lowest is not below the highest, or a value is not finite; `what` names the place.
    """
    scale = Scale(lowest=exact_number(lowest), highest=exact_number(highest), integral=integral)
    if not scale.lowest < scale.highest:
        raise InvalidInput(
            f"{what}: its levels are {lowest} and {highest}; expected the lowest first, then a higher one"
        )
    return scale


def scale_score(value: object, scale: Scale, *, what: str) -> int:
    """A level or rating as a score: itself, if it lies on the scale.

    Args:
        value: the level or rating.
        scale: what it must lie on.
        what: its name in the error.
    Raises:
        InvalidInput: no whole number, or off the scale.

    >>> scale_score(4, Scale(lowest=Fraction(1), highest=Fraction(5), integral=True), what="level")
    4
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{what} is {value!r}; expected a whole number on {scale}")
    if not scale.lowest <= value <= scale.highest:
        raise InvalidInput(f"{what} is {value}; expected a whole number on {scale}")
    return value


def common_scale(scales: Sequence[tuple[str, Scale]]) -> Scale:
    """The scale that all criteria share; only equal scales may be averaged.

    Args:
        scales: (criterion id, scale), at least one.
    Raises:
        InvalidInput: two criteria differ in range, or no criterion is given.
    """
    if not scales:
        raise InvalidInput("common_scale: no criterion is given; declare at least one")
    first_id, first = scales[0]
    for other_id, other in scales[1:]:
        if (other.lowest, other.highest) != (first.lowest, first.highest):
            raise InvalidInput(
                f"criteria: {first_id!r} has the scale {first} and {other_id!r} {other}; scores on different scales "
                "are not averaged: give both the same levels, or judge them in two files"
            )
    return first


def weight_shares(weights: Iterable[tuple[str, Decimal | Fraction | None]]) -> dict[str, Fraction]:
    """Each criterion's exact share of the overall score.

    Args:
        weights: (criterion id, weight); None for every criterion means equal shares.
    Returns:
        Shares above 0 that sum to exactly 1, in the order given.
    Raises:
        InvalidInput: no criterion, an id twice, only some weights given, one not above 0, or a sum other than 1.

    >>> weight_shares([("craft", None), ("depth", None)])
    {'craft': Fraction(1, 2), 'depth': Fraction(1, 2)}
    """
    rows = list(weights)
    if not rows:
        raise InvalidInput("weights: no criterion is given; name at least one")
    ids = [name for name, _ in rows]
    for name in ids:
        if ids.count(name) > 1:
            raise InvalidInput(f"weights: the criterion {name!r} stands twice; give each criterion an id of its own")
    missing = [name for name, weight in rows if weight is None]
    if len(missing) == len(rows):
        return {name: Fraction(1, len(rows)) for name in ids}
    if missing:
        raise InvalidInput(f"weights: {missing[0]!r} has none while others do; give every criterion a weight, or none")
    shares = {name: exact_number(weight) for name, weight in rows if weight is not None}
    for name, share in shares.items():
        if share <= 0:
            raise InvalidInput(
                f"weights: {name!r} has {plain_number(share)}; a weight must be above 0: take the criterion out instead"
            )
    total = sum(shares.values(), Fraction(0))
    if total != 1:
        stated = " + ".join(str(plain_number(share)) for share in shares.values())
        raise InvalidInput(
            f"weights: {stated} is {plain_number(total)}; weights must sum to exactly 1: change one, "
            "or leave all out for equal shares"
        )
    return shares
