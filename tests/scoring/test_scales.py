"""Rounding half up, scales and weights."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.scoring.scales import (
    Scale,
    common_scale,
    exact_number,
    half_up,
    plain_number,
    scale_of,
    scale_score,
    weight_shares,
)


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [
        (0.5, 0, 1),
        (-0.5, 0, 0),
        (2.5, 0, 3),
        (Decimal("2.4999999999999999999999"), 0, 2),
        (0.675, 2, Fraction(68, 100)),  # round() gives 0.68 or 0.67 by the binary digits; the printed decimal decides
        (1.005, 2, Fraction(101, 100)),
        (Fraction(2, 3), 2, Fraction(67, 100)),
        (Fraction(-1, 8), 2, Fraction(-12, 100)),
        (7, 2, 7),
    ],
)
def test_half_goes_up_on_the_printed_decimal(value, digits, rounded):
    assert half_up(value, digits) == rounded


@hypothesis_settings(deadline=None, max_examples=60, derandomize=True)
@given(st.fractions(max_denominator=1000), st.integers(0, 4))
def test_rounding_moves_a_value_by_at_most_half_a_digit(value, digits):
    moved = half_up(value, digits) - value
    assert -Fraction(1, 2 * 10**digits) < moved <= Fraction(1, 2 * 10**digits)
    assert half_up(half_up(value, digits), digits) == half_up(value, digits)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_no_number_is_refused(value):
    with pytest.raises(InvalidInput, match="not a finite number"):
        exact_number(value)


def test_a_decimal_that_would_fill_the_memory_is_refused():
    for text in ("1e999999", "1e-999999"):
        with pytest.raises(InvalidInput, match="out of range"):
            exact_number(Decimal(text))


def test_whole_numbers_are_shown_as_integers():
    assert repr(plain_number(Decimal("3.0"))) == "3"
    assert repr(plain_number(Fraction(7, 10))) == "0.7"


@pytest.mark.parametrize("value", [0, 6, True, 2.0, "3", None])
def test_a_level_off_the_scale_or_of_another_type_is_refused(value):
    with pytest.raises(InvalidInput, match=r"level is .*on 1\.\.5"):
        scale_score(value, scale_of(1, 5, what="c", integral=True), what="level")


def test_a_scale_whose_ends_are_swapped_is_refused():
    with pytest.raises(InvalidInput, match="criterion 'c': its levels are 5 and 1"):
        scale_of(5, 1, what="criterion 'c'")


def test_only_equal_scales_are_averaged():
    short, long = Scale(lowest=Fraction(1), highest=Fraction(5)), Scale(lowest=Fraction(1), highest=Fraction(10))
    assert common_scale([("a", short), ("b", short)]) == short
    with pytest.raises(InvalidInput, match=r"'a' has the scale 1\.\.5 and 'b' 1\.\.10"):
        common_scale([("a", short), ("b", long)])


def test_a_criterion_twice_is_refused():
    with pytest.raises(InvalidInput, match="'a' stands twice"):
        weight_shares([("a", None), ("a", None)])


def test_tenths_sum_to_one_exactly():
    assert sum(weight_shares([(str(place), Decimal("0.1")) for place in range(10)]).values()) == 1
