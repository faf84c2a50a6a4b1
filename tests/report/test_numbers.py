"""All rounding, as a table."""

import pytest

from evenhand.report.numbers import alike, cost, interval, number, percent, percents
from evenhand.wording import count, none_of, plural


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (2.675, 2, "2.68"),  # a binary float just below; people expect its decimal form to round
        (0.125, 2, "0.13"),
        (-0.125, 2, "-0.13"),
        (4.0, 2, "4"),
        (10, 0, "10"),
        (100, 2, "100"),
        (-0.001, 2, "0"),
        (62.8, 0, "63"),
        (1e-9, 4, "0"),
        (1e22, 2, "10000000000000000000000"),
        (1e308, 4, "1.000e+308"),
        (-(2**80), 2, "-1.209e+24"),
        (None, 2, "undefined"),
        (float("nan"), 2, "undefined"),
    ],
)
def test_a_number_is_rounded_half_up_without_trailing_zeros(value, digits, shown):
    assert number(value, digits) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0 %"),
        (0.0004, "<0.1 %"),
        (0.034, "3.4 %"),
        (0.0995, "10 %"),
        (0.125, "13 %"),
        (0.5, "50 %"),
        (0.917, "91.7 %"),
        (0.999, "99.9 %"),
        (0.9995, ">99.9 %"),
        (1, "100 %"),
        (None, "undefined"),
        (float("nan"), "undefined"),
    ],
)
def test_only_nothing_is_none_and_only_all_is_all(share, shown):
    assert percent(share).replace("\u202f", " ") == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (None, "unknown"),
        (0.0, "$0"),
        (0.00000123, "$0.0000012"),
        (0.04567, "$0.046"),
        (0.999, "$1.00"),
        (1.005, "$1.01"),
        (12345.6, "$12,345.60"),
        (1e308, "$1.000e+308"),
    ],
)
def test_a_price_is_never_shown_as_nothing_unless_it_is(usd, shown):
    assert cost(usd) == shown


def test_counts_have_their_thousands_apart_and_their_noun():
    assert (count(1234567), count(None), plural(1, "reply", "replies"), plural(2, "reply", "replies")) == (
        "1,234,567",
        "unknown",
        "1 reply",
        "2 replies",
    )


def test_an_interval_without_trials_is_undefined():
    assert (interval(None), interval((float("nan"), float("nan")))) == ("undefined", "undefined")


@pytest.mark.parametrize(
    ("values", "digits", "shown"),
    [
        ((0.8, 1.0), 2, ("0.8", "1.0")),
        ((0.9573, 0.7825, 1.0), 2, ("0.96", "0.78", "1.00")),
        ((1.0, 5.0), 2, ("1", "5")),
        ((-1.0, 0.004), 2, ("-1", "0")),
        ((-0.5, 0.25), 2, ("-0.50", "0.25")),
        ((2.0, 2.5), 1, ("2.0", "2.5")),
        ((1e308, 0.25), 2, ("1.000e+308", "0.25")),
        ((float("nan"), 0.25), 2, ("undefined", "0.25")),
        ((), 2, ()),
    ],
)
def test_numbers_of_one_interval_have_as_many_decimals(values, digits, shown):
    assert alike(values, digits) == shown


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ((0.03, 0.085), ("3.0 %", "8.5 %")),
        ((0.03, 0.08), ("3 %", "8 %")),
        ((0.0, 0.085), ("0 %", "8.5 %")),
        ((0.034, 0.5), ("3.4 %", "50 %")),
        ((0.0995, 0.034), ("10.0 %", "3.4 %")),
        ((0.95, 0.917), ("95.0 %", "91.7 %")),
        ((0.0004, 0.08), ("<0.1 %", "8 %")),
        ((1.0, 0.917), ("100 %", "91.7 %")),
    ],
)
def test_shares_of_one_interval_have_as_many_decimals_outside_10_to_90_percent(shares, shown):
    assert tuple(share.replace("\u202f", " ") for share in percents(shares)) == shown


def test_one_alone_is_no_plural_and_none_of_one_is_said_otherwise():
    assert [plural(n, "item is", "items are") for n in (0, 1, 4423)] == ["0 items are", "1 item is", "4,423 items are"]
    assert [none_of(n, "reply", "replies", of="its") for n in (1, 2)] == [
        "not even its one reply", "none of its 2 replies",
    ]  # fmt: skip
