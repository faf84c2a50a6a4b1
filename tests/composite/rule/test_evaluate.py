"""A rule's value on every row: worked values, library equality, and what has no value."""

import decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.composite.rule.evaluate import constant, evaluate, holds, values_of
from evenhand.composite.rule.parse import parse_condition, parse_rule
from evenhand.composite.rule.syntax import Rule, columns_of
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput


def of(text, **columns):
    return values_of(
        parse_rule(text), {name: np.array(values, dtype=float) for name, values in columns.items()}
    ).tolist()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("mean(2, 4, 9)", 5),
        ("mean(2: 1, 4: 3)", 3.5),
        ("geomean(2, 8)", 4),
        ("hmean(40, 60)", 48),
        ("power(2, 3, 4)", 12.5**0.5),
        ("power(0, 2, 8)", 4),
        ("power(-1, 40, 60)", 48),
        ("median(1, 9, 5)", 5),
        ("median(1, 9, 5, 6)", 5.5),
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 2)", 3),
        ("sum(1: 2, 5: -1)", -3),
        ("prod(2, 3, 4)", 24),
        ("sd(2, 4, 4, 4, 5, 5, 7, 9)", 2),
        ("clamp(7, 0, 5)", 5),
        ("floor(2.7) + ceil(2.2)", 5),
        ("floor(-2.5)", -3),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(1.005, 2)", 1.01),
        ("trunc(-2.567, 1)", -2.5),
        ("log(exp(2)) + log2(8) + log10(1000)", 8),
        ("sqrt(abs(-9))", 3),
        ("(-8)^3", -512),
        ("0^0", 1),
        ("hmean(0, 5)", 0),
        ("geomean(0, 5)", 0),
    ],
)
def test_a_function_has_its_worked_value(text, value):
    assert of(text) == pytest.approx([value])


@settings(deadline=None, max_examples=60)
@given(arrays(float, (3, 4), elements=st.floats(0.01, 1e6)), st.lists(st.floats(0.01, 9), min_size=3, max_size=3))
def test_means_are_those_of_scipy(values, weights):
    from scipy import stats

    columns = dict(zip("xyz", values, strict=True))
    stated = ", ".join(f"{name}: {weight!r}" for name, weight in zip("xyz", weights, strict=True))
    by_row = np.array(weights)[:, None] * np.ones((3, 4))
    for name, oracle in (("geomean", stats.gmean), ("hmean", stats.hmean)):
        np.testing.assert_allclose(
            of(f"{name}({stated})", **columns), oracle(values, weights=by_row, axis=0), rtol=1e-12
        )
    for p in (-2, 0.5, 3):
        np.testing.assert_allclose(
            of(f"power({p}, {stated})", **columns), stats.pmean(values, p, weights=by_row, axis=0), rtol=1e-11
        )
    if np.ptp(values[0]) > 1:
        np.testing.assert_allclose(of("zscore(x)", x=values[0]), stats.zscore(values[0]), atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(arrays(float, 7, elements=st.integers(0, 4).map(float)))
def test_ranks_are_those_of_scipy(values):
    from scipy import stats

    for ties, method in (("min", "min"), ("max", "max"), ("mean", "average")):
        assert of(f"rank(x, lower, ties={ties})", x=values) == stats.rankdata(values, method=method).tolist()
        assert of(f"rank(x, ties={ties})", x=values) == stats.rankdata(-values, method=method).tolist()
    below = np.array([(values < value).sum() + ((values == value).sum() - 1) / 2 for value in values])
    assert of("percentile(x)", x=values) == pytest.approx((100 * below / 6).tolist())
    assert of("winrate(x)", x=values) == pytest.approx((below / 6).tolist())
    assert of("winrate(x, ties=lose)", x=values) == pytest.approx([(values < value).sum() / 6 for value in values])


@settings(deadline=None, max_examples=100)
@given(st.from_type(Rule), st.integers(0, 2**32), st.permutations(range(5)))
def test_the_order_of_rows_does_not_matter(rule, seed, order):
    rng = np.random.default_rng(seed)
    columns = {name: np.round(rng.random(5) * 9, 1) for name in columns_of(rule)}
    texts = {name: [str(value) for value in values] for name, values in columns.items()}
    if not columns:
        return
    try:
        found = values_of(rule, columns, texts=texts)
    except InvalidInput:
        return
    mixed = values_of(
        rule, {name: values[order] for name, values in columns.items()},
        texts={name: [cells[place] for place in order] for name, cells in texts.items()},
    )  # fmt: skip
    np.testing.assert_allclose(mixed, found[order], rtol=1e-9)


def test_minmax_zscore_and_column_statistics_leave_missing_rows_alone():
    table = Table.of_texts({"x": ["1", "", "3", "5"]})
    assert evaluate(parse_rule("minmax(x)"), table).values.tolist() == pytest.approx([0, np.nan, 0.5, 1], nan_ok=True)
    assert evaluate(parse_rule("minmax(x, lower)"), table).values[0] == 1
    assert evaluate(parse_rule("colmax(x) - colmin(x) + colmean(x)"), table).values.tolist() == [7, 7, 7, 7]
    assert evaluate(parse_rule("rescale(x, 100)"), table).values[3] == 100


def test_lower_is_better_may_be_declared_once_for_the_column():
    table = Table.of_texts({"x": ["1", "2"]})
    assert evaluate(parse_rule("rank(x)"), table.declared(lower=["x"])).values.tolist() == [1, 2]
    assert evaluate(parse_rule("rank(x, higher)"), table.declared(lower=["x"])).values.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("text", "reason", "clause"),
    [
        ("1 + 1 / a", "division by zero", "1 / a"),
        ("log(a) * b", "log of 0", "log(a)"),
        ("sqrt(a - b)", "square root of a negative number", "sqrt(a - b)"),
        ("geomean(a, -b)", "geomean of a negative number", "geomean(a, -b)"),
        ("a^-1", "0 to a negative power", "a^-1"),
        ("(a - b)^0.5", "a negative number to a broken power", "(a - b)^0.5"),
        ("exp(1000 * b)", "the number is too large", "exp(1000 * b)"),
    ],
)
def test_a_row_without_a_value_names_the_innermost_clause(text, reason, clause):
    found = evaluate(parse_rule(text), Table.of_texts({"a": ["0", "2"], "b": ["1", "0.5"]}))
    assert (found.undefined[0].index, found.undefined[0].reason, found.undefined[0].clause) == (0, reason, clause)
    assert np.isnan(found.values[0])
    assert not found.missing.any()


def test_only_the_branch_that_is_taken_can_fail():
    found = evaluate(parse_rule("if(a == 0, 7, 1 / a)"), Table.of_texts({"a": ["0", "2"]}))
    assert found.values.tolist() == [7, 0.5]
    assert found.undefined == ()


def test_an_infinite_component_makes_its_row_undefined():
    found = evaluate(parse_rule("a"), Table.of_texts({"a": ["Infinity", "-inf", "1"]}))
    assert [one.reason for one in found.undefined] == ["the component is infinite"] * 2


def test_missing_policies():
    table = Table.of_texts({"a": ["1", "", ""], "b": ["4", "9", ""]})
    rule = parse_rule("geomean(a, b)")
    assert evaluate(rule, table).missing.tolist() == [False, True, True]
    assert evaluate(rule, table, missing=0.0).values.tolist() == [2, 0, 0]
    assert evaluate(rule, table, missing=1.0).values.tolist() == pytest.approx([2, 3, 1])
    assert evaluate(rule, table, missing="renormalise").values.tolist() == pytest.approx([2, 9, np.nan], nan_ok=True)
    own = parse_rule("geomean(a, b); missing = 1")
    assert evaluate(own, table).values.tolist() == pytest.approx([2, 3, 1])
    assert evaluate(own, table, missing="drop").missing.tolist() == [False, True, True]
    floors = parse_rule("geomean(max(a, 1), max(b, 1))")
    assert evaluate(floors, table, missing="renormalise").values.tolist() == pytest.approx([2, 9, np.nan], nan_ok=True)
    assert evaluate(parse_rule("default(a, 4) + b"), table).values.tolist() == pytest.approx(
        [5, 13, np.nan], nan_ok=True
    )
    assert evaluate(parse_rule("if(missing(a), 0, a)"), table).values.tolist() == [1, 0, 0]


def test_weights_that_sum_to_0_and_columns_of_text_are_refused():
    table = Table.of_texts({"a": ["1"], "b": ["2"], "t": ["one"]})
    with pytest.raises(InvalidInput, match=r"the weights of mean.* sum to 0"):
        evaluate(parse_rule("mean(a: 1, b: -1)"), table)
    with pytest.raises(InvalidInput, match=r"no cell is a number .the first is 'one'.; the rule computes with it"):
        evaluate(parse_rule("a + t"), table)
    with pytest.raises(InvalidInput, match="did you mean `a`"):
        evaluate(parse_rule("A"), table)
    with pytest.raises(InvalidInput, match="1 / 0 has no value"):
        constant(parse_rule("1 / 0").expression)


def test_conditions_hold_on_numbers_and_texts():
    table = Table.of_texts({"year": ["2011", "2012", ""], "g": ["staff", "ml", "ml"]})
    for text, expected in (
        ("year >= 2012", [False, True, False]),
        ("not year >= 2012", [True, False, True]),
        ("g == 'ml' and year > 0", [False, True, False]),
        ("'staff' != g", [False, True, True]),
        ("missing(year)", [False, False, True]),
    ):
        assert holds(parse_condition(text), table).tolist() == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("power(0.00000000000001, 0.001, 99.9)", 0.31606961258558215),  # next to sqrt(0.001 * 99.9)
        ("power(-1e-17, 0.001, 99.9)", 0.31606961258558215),
        ("power(1e-9, 0, 5)", 0),
        ("power(-300, 0.001, 1)", 0.001 * 2 ** (1 / 300)),
        ("power(-50, 0.001: 1, 0.001: 1, 12345.6: 0)", 0.001),
        ("power(100, 0.00001: 2, 3.64: 0)", 0.00001),
        ("power(500, 0.001, 50)", 50 * 2 ** (-1 / 500)),
        ("power(2, 1e-200, 1e-200)", 1e-200),
    ],
)
def test_a_power_mean_keeps_its_digits_near_0_and_at_extreme_exponents(text, value):
    assert of(text) == pytest.approx([value], rel=1e-11, abs=0)


@given(
    st.lists(st.floats(0.01, 1e4), min_size=2, max_size=4), st.sampled_from([1e-14, 1e-8, 1e-4, 0.0099, 0.0101, -0.003])
)
@settings(deadline=None, max_examples=40)
def test_a_power_mean_equals_one_computed_to_fifty_digits(values, exponent):
    with decimal.localcontext(decimal.Context(prec=50)):
        p = decimal.Decimal(exponent)
        inner = sum((decimal.Decimal(value).ln() * p).exp() for value in values) / len(values)
        expected = float((inner.ln() / p).exp())
    assert of(f"power({exponent!r}, {', '.join(map(repr, values))})") == pytest.approx([expected], rel=1e-11)


def test_a_column_of_equal_numbers_has_no_spread_whatever_floating_point_makes_of_its_mean():
    assert of("colsd(a)", a=[0.1] * 3) == [0.0] * 3
    assert of("sd(0.1, 0.1, 0.1)") == [0.0]
    for function in ("zscore", "minmax"):
        table = Table.of_texts({"a": ["0.1", "0.1", "0.1"], "b": ["0.2", "0.2", "0.2"]})
        for rule in (f"{function}(a)", f"{function}(a + b)"):
            found = evaluate(parse_rule(rule), table)
            assert [one.reason for one in found.undefined] == [f"{function} of a column without spread"] * 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("round(100000000000000)", 1e14),
        ("round(123456789012345, 2)", 123456789012345),
        ("round(1.23, 15)", 1.23),
        ("round(1e300, 3)", 1e300),
        ("trunc(123456789012345.67, 1)", 123456789012345.6),
        ("trunc(0.29, 2)", 0.29),
    ],
)
def test_rounding_leaves_the_digits_that_it_keeps(text, value):
    assert of(text) == [value]


@pytest.mark.parametrize("mean", ["mean(a: 1, b: 0)", "geomean(a: 1, b: 0)", "power(2, a: 1, b: 0)", "sum(a: 1, b: 0)"])
def test_a_missing_cell_leaves_no_value_whatever_its_weight(mean):
    assert np.isnan(of(mean, a=[5], b=[np.nan])).all()
    table = Table.of_texts({"a": ["5"], "b": [""]})
    assert evaluate(parse_rule(f"{mean}; missing = renormalise"), table).values == pytest.approx([5])
