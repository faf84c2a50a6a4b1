"""The image of a rounding box holds every value that the rule takes in it; where it says so, its ends are reached."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.composite.rule.boxes import image
from evenhand.composite.rule.evaluate import evaluate, values_of
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.rule.syntax import Rule, columns_of
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

NAMES = ("a", "b", "c", "SST-2", "x y", "lower", "ça", "a`b", "and")


def random_table(seed, *, n_rows=6, signed=False):
    rng = np.random.default_rng(seed)
    cells = {}
    for name in NAMES:
        places = int(rng.integers(0, 3))
        values = rng.choice([0.3, 1, 10, 100]) * rng.random(n_rows) - (5 if signed else 0)
        cells[name] = [f"{value:.{places}f}" if rng.random() > 0.1 else "" for value in values]
        if rng.random() < 0.2:
            cells[name] = [cells[name][0]] * n_rows
    return Table.of_texts(cells)


def points_in(table, names, rng):
    """One random true value for every cell, half of them at an edge of its box."""
    found = {}
    for name in names:
        low, high = table.column(name).box()
        if not (table.column(name).values < 0).any():
            low = np.maximum(low, 0.0)
        share = np.where(rng.random(len(low)) < 0.5, rng.integers(0, 2, len(low)), rng.random(len(low)))
        found[name] = low + share * (high - low)
    return found


@settings(deadline=None, max_examples=150)
@given(st.from_type(Rule), st.integers(0, 2**32), st.booleans())
def test_no_value_in_the_box_lies_outside_the_image(rule, seed, signed):
    table = random_table(seed, signed=signed)
    rng = np.random.default_rng(seed)
    names = columns_of(rule)
    texts = {name: table.column(name).texts for name in names}
    labels = [name for name in names if name not in arithmetic(rule)]
    try:
        found = image(rule, table)
    except InvalidInput:  # weights that sum to 0, a constant without a value
        return
    for _ in range(6):
        points = points_in(table, names, rng) | {name: table.column(name).values for name in labels}
        values = values_of(rule, points, texts=texts) if points else evaluate(rule, table).values
        known = np.isfinite(values)
        slack = 1e-8 * np.maximum(1e-300, np.abs(values)) + 1e-9 * scale_of(table)
        assert not (known & ~(values >= found.low - slack)).any(), (values, found.low)
        assert not (known & ~(values <= found.high + slack)).any(), (values, found.high)


@pytest.mark.parametrize("text", ["sd(1 / b)", "sd(round(1 / b))", "sd(1 / b, 2)", "sd(1 / b, 1 / b)"])
def test_a_deviation_of_what_has_no_bound_can_be_anything_from_0_on(text):
    table = random_table(1, signed=False)
    at_zero = table.column("b").box()[0] < 0
    found = image(parse_rule(text), table)
    assert at_zero.any()
    assert (found.low[at_zero] == 0).all()
    assert np.isposinf(found.high[at_zero]).all()
    assert np.isfinite(found.high[~at_zero]).all()


def arithmetic(rule):
    from evenhand.composite.rule.evaluate import arithmetic_columns

    return arithmetic_columns(rule.expression)


def scale_of(table):
    return max(float(np.nanmax(np.abs(column.values), initial=1.0)) for column in table.columns.values())


MONOTONE = [
    "geomean(a, b, c) * min(1, (a / 50)^2)",
    "mean(a: 0.3, b: 0.7) - c",
    "hmean(a, b) / (1 + c)",
    "power(2, a, b) + power(-2, b, c)",
    "median(a, b, c) * max(a, 3)",
    "log(1 + a) + exp(b / 100) - sqrt(c)",
    "clamp((a - 20) / 65, 0, 1) * clamp(b / 10, 0, 1)",
    "a^0.5 * b^2 / c",
    "sum(a: 2, b: -1)",
    "min(a, b) + max(b, c)",
    "prod(a, b) - 3 * c",
    "if(missing(a), 0, a) + b",
    "2^a * b",
]


@pytest.mark.parametrize("text", MONOTONE)
def test_where_the_image_is_exact_its_ends_are_reached_at_corners(text):
    rng = np.random.default_rng(7)
    cells = {name: [f"{value:.1f}" for value in 1 + 80 * rng.random(40)] for name in "abc"}
    table = Table.of_texts(cells)
    rule = parse_rule(text)
    found = image(rule, table)
    assert found.is_exact.all()
    assert set(found.signs.values()) <= {1, -1}
    boxes = {name: table.column(name).box() for name in columns_of(rule)}
    corners = np.stack([
        values_of(rule, {name: boxes[name][side] for name, side in zip(boxes, sides, strict=True)})
        for sides in itertools.product((0, 1), repeat=len(boxes))
    ])  # fmt: skip
    np.testing.assert_allclose(found.low, corners.min(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.high, corners.max(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("a - a * b", "more than once and moves it both ways"),
        ("floor(a) + b", "floor is not continuous"),
        ("rank(a)", "rank couples the rows"),
        ("zscore(a) + minmax(b)", "minmax, zscore couples the rows"),
        ("if(a < 2.0, b, 3 * a)", "a condition can fall either way"),
    ],
)
def test_an_image_that_is_a_superset_says_why(text, because):
    table = Table.of_texts({"a": ["1.0", "2.0", "3.0", "3.0"], "b": ["2.0", "2.5", "3.5", "9.0"]})
    found = image(parse_rule(text), table)
    assert because in found.reason
    assert not found.is_exact.all()


def test_a_column_that_stands_once_is_exact_even_where_it_turns_round():
    found = image(parse_rule("abs(a - 2) + b"), Table.of_texts({"a": ["2.0"], "b": ["1.0"]}))
    assert found.is_exact.tolist() == [True]
    assert (found.low[0], found.high[0]) == pytest.approx((0.95, 1.1))


def test_exact_columns_have_no_box_so_that_every_rule_is_exact_on_them():
    table = Table.of_texts({"a": ["1", "2", "2"], "b": ["4", "5", "6"]}).declared(exact=["a", "b"])
    found = image(parse_rule("rank(a) + floor(b / 2) + a - a * b"), table)
    assert found.is_exact.all()
    assert (
        found.low.tolist()
        == found.high.tolist()
        == evaluate(parse_rule("rank(a) + floor(b / 2) + a - a * b"), table).values.tolist()
    )


def test_a_label_in_a_condition_is_taken_as_it_is_printed():
    table = Table.of_texts({"year": ["2011", "2012"], "a": ["1.0", "1.0"]})
    found = image(parse_rule("if(year <= 2011, a, 10 * a)"), table)
    assert found.is_exact.all()
    assert found.low.tolist() == pytest.approx([0.95, 9.5])


def test_a_knee_on_a_component_counts_both_branches_within_its_box():
    table = Table.of_texts({"a": ["49", "50", "51"]})
    found = image(parse_rule("if(a < 50, 0, a)"), table)
    assert found.low.tolist() == [0, 0, 50.5]
    assert found.high.tolist() == [0, 50.5, 51.5]  # 49.5 is below the knee, and so is 49.99 printed as 50
    assert found.is_exact.tolist() == [True, False, True]


def test_a_nought_of_a_column_without_negative_numbers_is_not_below_0():
    plain = image(parse_rule("a"), Table.of_texts({"a": ["0.0", "1.0"]}))
    signed = image(parse_rule("a"), Table.of_texts({"a": ["0.0", "-1.0"]}))
    assert (plain.low[0], signed.low[0]) == (0.0, -0.05)


def test_a_division_by_a_box_around_0_is_unbounded():
    found = image(parse_rule("1 / a"), Table.of_texts({"a": ["0.0", "-1.0", "0.1"]}))
    assert found.low[0] == -np.inf
    assert found.high[0] == np.inf
    assert (found.low[2], found.high[2]) == pytest.approx((1 / 0.15, 20))


def test_truncated_components_lie_above_what_was_printed():
    found = image(parse_rule("a + b"), Table.of_texts({"a": ["1.5"], "b": ["-2"]}), rounding="truncation")
    assert (found.low[0], found.high[0]) == pytest.approx((1.5 - 3, 1.6 - 2))


def test_missing_cells_follow_the_policy():
    table = Table.of_texts({"a": ["1.0", ""], "b": ["3.0", "5.0"]})
    dropped, zero, rest = (
        image(parse_rule("mean(a, b)"), table, missing=policy) for policy in ("drop", 0.0, "renormalise")
    )
    assert np.isnan(dropped.low[1])
    assert (zero.low[1], zero.high[1]) == pytest.approx((2.475, 2.525))
    assert (rest.low[1], rest.high[1]) == pytest.approx((4.95, 5.05))


def test_a_divisor_of_either_sign_leaves_a_gap_so_that_the_test_only_bounds():
    found = image(parse_rule("1 / b"), Table.of_texts({"b": ["0.0", "-2.0"]}))
    assert (found.low[0], found.high[0]) == (-np.inf, np.inf)
    assert found.is_exact.tolist() == [False, True]
    assert found.reason == "a divisor can have either sign within the rounding"
