"""Scores by criterion, and the overall score from their rounded finals."""

from decimal import Decimal
from fractions import Fraction

import pytest

from evenhand.errors import InvalidInput
from evenhand.scoring.criteria import score_criteria
from evenhand.scoring.variants import settings
from evenhand.terms import Evidence


def evidence(criterion, *impacts):
    return [Evidence(claim="", impact=impact, criterion=criterion) for impact in impacts]


def test_overall_comes_from_rounded_finals_and_exact_from_unrounded_ones():
    # a: (3, 3): 50 + 8 * 6/sqrt(2) * 0.775 = 76.304 -> 76; b: (-1,): 50 - 8 * 0.7625 = 43.9 -> 44
    found = score_criteria(
        evidence("a", 3, 3) + evidence("b", -1), {"a": Decimal("0.5"), "b": Decimal("0.5")}, settings()
    )
    assert [made.breakdown.score for made in found.criteria] == [76, 44]
    assert found.score == 60
    assert found.exact == pytest.approx((76.304372 + 43.9) / 2, abs=1e-4)
    assert found.confidence == 0.05
    assert (found.span, found.self_check) == (32, "pass")


def test_a_half_in_the_weighted_sum_goes_up():
    finals = evidence("a", 3, 3) + evidence("b", 1)
    found = score_criteria(finals, {"a": Decimal("0.525"), "b": Decimal("0.475")}, settings())
    # 76 * 0.525 + 56 * 0.475 = 39.9 + 26.6 = 66.5
    assert found.score == 67


def test_weights_in_tenths_are_exact():
    names = "abcdefghij"
    items = [item for name in names for item in evidence(name, 1)]
    found = score_criteria(items, {name: Decimal("0.1") for name in names}, settings())
    assert found.score == 56
    assert found.exact == 56.1


def test_no_weights_are_equal_weights():
    found = score_criteria(evidence("a", 1) + evidence("b", 1) + evidence("c", 1), dict.fromkeys("abc"), settings())
    assert [made.weight for made in found.criteria] == [Fraction(1, 3)] * 3
    assert found.score == 56


def test_an_empty_criterion_has_no_score_and_leaves_the_whole_without_one():
    found = score_criteria(evidence("a", 3, 3), {"a": Decimal("0.5"), "b": Decimal("0.5")}, settings())
    assert found.empty == ("b",)
    assert found.criteria[1].breakdown.score is None
    assert (found.score, found.exact, found.span, found.self_check) == (None, None, None, None)
    assert found.confidence == 0


def test_self_check_fails_below_the_span_and_passes_at_it():
    alike = score_criteria(evidence("a", 1) + evidence("b", 1), dict.fromkeys("ab"), settings())
    assert (alike.span, alike.self_check) == (0, "fail")
    items = evidence("a", 3, 3) + evidence("b", 1)
    assert score_criteria(items, dict.fromkeys("ab"), settings()).self_check == "pass"  # 76 - 56 = 20
    assert score_criteria(items, dict.fromkeys("ab"), settings(overrides={"min_span": 21})).self_check == "fail"


def test_one_criterion_alone_has_no_span():
    found = score_criteria(evidence("a", 3), {"a": None}, settings())
    assert (found.score, found.span, found.self_check) == (68, None, None)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"a": Decimal("0.4"), "b": Decimal("0.4")}, r"0.4 \+ 0.4 is 0.8; weights must sum to exactly 1"),
        ({"a": Decimal("1.5"), "b": Decimal("-0.5")}, "'b' has -0.5; a weight must be above 0"),
        ({"a": Decimal(1), "b": Decimal(0)}, "above 0"),
        ({"a": Decimal("0.5"), "b": None}, "'b' has none while others do"),
        ({"a": Decimal("NaN"), "b": Decimal(1)}, "not a finite number"),
        ({"a": Decimal("1e-999999"), "b": Decimal(1)}, "out of range"),
        ({}, "no criterion"),
    ],
)
def test_weights_that_are_none_are_refused(weights, said):
    with pytest.raises(InvalidInput, match=said):
        score_criteria(evidence("a", 3), weights, settings())


@pytest.mark.parametrize("criterion", ["c", None])
def test_an_item_of_no_declared_criterion_is_refused(criterion):
    with pytest.raises(InvalidInput, match=r"items\[1\] names the criterion .*; expected one of 'a'"):
        score_criteria(evidence("a", 3) + evidence(criterion, 1), {"a": None}, settings())


def test_what_a_pool_refuses_names_its_criterion():
    with pytest.raises(InvalidInput, match=r"criterion 'b': .*ln\(n\)"):
        score_criteria(evidence("a", 3, 1) + evidence("b", 1), dict.fromkeys("ab"), settings("log"))
