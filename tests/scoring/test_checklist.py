"""Checks, groups and levels."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.scoring.checklist import Checklist, reachable, refuse_unreachable, score_checks
from evenhand.terms import Check, CheckGroup, CheckResult, Criterion


def check(name, weight="1", *, na=False):
    return Check(id=name, ask="?", weight=Decimal(weight), na=na)


def criterion(*checks, levels=("0", "4"), by="count"):
    return Criterion(id="c", levels=(Decimal(levels[0]), Decimal(levels[1])), checks=checks, map=by)


def exact(made, **passed):
    """The score where each check is given as passed=True, False or None."""
    return score_checks(made, [CheckResult(id=name, passed=value) for name, value in passed.items()]).exact


def test_count_is_the_sum_of_passed_weights():
    four = criterion(*map(check, "abcd"))
    assert exact(four, a=True, b=False, c=True, d=True) == 3


def test_tenths_are_summed_exactly():
    made = criterion(check("a", "0.2"), check("b", "0.4"), check("c", "0.1"), check("d", "0.3"), levels=("0", "1"))
    assert exact(made, a=True, b=True, c=True, d=False) == Fraction(7, 10)


def test_count_is_kept_within_the_levels():
    made = criterion(check("a", "3"), check("b", "3"), check("c", "-2"), levels=("1", "5"))
    assert exact(made, a=True, b=True, c=False) == 5
    assert exact(made, a=False, b=False, c=True) == 1


def test_share_is_the_passed_part_of_the_positive_weights():
    made = criterion(check("a", "1"), check("b", "2"), check("n", "-1"), levels=("1", "5"), by="share")
    assert exact(made, a=True, b=True, n=False) == 5
    assert exact(made, a=False, b=True, n=False) == 1 + 4 * Fraction(2, 3)
    assert exact(made, a=False, b=True, n=True) == 1 + 4 * Fraction(1, 3)
    assert exact(made, a=False, b=False, n=True) == 1


def test_a_check_that_does_not_apply_adds_nothing_to_count_and_leaves_the_share():
    count = criterion(check("a", na=True), check("b"), levels=("0", "2"))
    assert exact(count, a=None, b=True) == 1
    share = criterion(check("a", na=True), check("b"), levels=("0", "2"), by="share")
    assert exact(share, a=None, b=True) == 2


def test_nothing_that_applies_is_no_score_with_the_reason():
    for by in ("count", "share"):
        made = criterion(check("a", na=True), levels=("0", "1"), by=by)
        found = score_checks(made, [CheckResult(id="a", passed=None)])
        assert found.exact is None
        assert "none of its checks applies" in found.reason


def test_share_without_an_applying_positive_check_is_no_score():
    made = criterion(check("a", na=True), check("n", "-1"), levels=("0", "1"), by="share")
    found = score_checks(made, [CheckResult(id="a", passed=None), CheckResult(id="n", passed=True)])
    assert found.exact is None
    assert "no check of positive weight applies" in found.reason


def test_a_group_counts_once_with_its_own_weight():
    group = CheckGroup(any_of=(check("a", "9"), check("b", "9")), weight=Decimal(2))
    made = criterion(group, check("c"), levels=("0", "3"))
    assert exact(made, a=True, b=True, c=False) == 2
    assert exact(made, a=False, b=True, c=True) == 3
    assert exact(made, a=False, b=False, c=True) == 1


def test_a_group_applies_if_one_of_its_checks_does():
    group = CheckGroup(any_of=(check("a", na=True), check("b", na=True)))
    made = criterion(group, check("c"), levels=("0", "2"), by="share")
    assert exact(made, a=None, b=False, c=True) == 1
    assert exact(made, a=None, b=None, c=True) == 2
    assert exact(made, a=None, b=True, c=False) == 1


def test_a_pass_whose_quote_is_absent_does_not_count_either_way():
    made = criterion(check("a"), check("n", "-1"), levels=("0", "1"))
    results = [CheckResult(id="a", passed=True, counted=False), CheckResult(id="n", passed=True, counted=False)]
    assert score_checks(made, results).exact == 0
    assert score_checks(made, [CheckResult(id="a", passed=True), results[1]]).exact == 1


def test_an_uncounted_pass_still_applies():
    made = criterion(check("a"), check("b"), levels=("0", "2"), by="share")
    results = [CheckResult(id="a", passed=True, counted=False), CheckResult(id="b", passed=True)]
    assert score_checks(made, results).exact == 1


def test_levels_out_of_reach_of_count_are_refused_with_both_numbers_and_the_way_out():
    made = criterion(check("a"), check("b"), check("n", "-3"), levels=("1", "5"))
    assert reachable(made) == (-3, 2)
    with pytest.raises(InvalidInput, match=r"sum to 2, which .*highest level 5; write `map: share`"):
        refuse_unreachable(made)
    with pytest.raises(InvalidInput, match="map: share"):
        Checklist(made)
    refuse_unreachable(criterion(check("a"), levels=("1", "5"), by="share"))


def test_reach_takes_a_group_as_one():
    made = criterion(CheckGroup(any_of=(check("a"), check("b")), weight=Decimal("0.5")), check("c", "0.5"))
    assert reachable(made) == (0, 1)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (criterion(), "no checks"),
        (criterion(CheckGroup(any_of=())), "empty group"),
        (criterion(check("a"), check("a"), levels=("0", "1")), "'a' stands twice"),
        (criterion(check("a"), CheckGroup(any_of=(check("a"),)), levels=("0", "1")), "'a' stands twice"),
        (criterion(check("a", "-1"), by="share"), "no check has a positive weight"),
        (criterion(check("a", "NaN")), "finite"),
        (criterion(check("a"), levels=("4", "0")), "levels are 4 and 0"),
        (Criterion(id="c", checks=(check("a"),)), "it has no levels"),
    ],
)
def test_a_criterion_that_cannot_be_scored_is_refused(made, said):
    with pytest.raises(InvalidInput, match=f"criterion 'c': .*{said}|{said}"):
        Checklist(made)


@pytest.mark.parametrize(
    ("names", "said"),
    [(("a",), "are for a; expected one each for a, b"), (("a", "b", "b"), "a, b, b"), ((), "nothing")],
)
def test_results_of_other_checks_are_refused(names, said):
    made = criterion(check("a"), check("b"), levels=("0", "2"))
    with pytest.raises(InvalidInput, match=said):
        score_checks(made, [CheckResult(id=name, passed=True) for name in names])


def test_a_check_that_must_apply_needs_an_answer():
    with pytest.raises(InvalidInput, match="'a' has no answer"):
        score_checks(criterion(check("a"), levels=("0", "1")), [CheckResult(id="a", passed=None)])


weights = st.decimals(min_value=-3, max_value=3, places=2)


@hypothesis_settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.tuples(weights, st.sampled_from([True, False, None])), min_size=1, max_size=8), st.randoms())
@pytest.mark.parametrize("by", ["count", "share"])
def test_scores_stay_on_the_levels_and_order_does_not_matter(by, rows, random):
    checks = [Check(id=str(place), ask="?", weight=weight, na=True) for place, (weight, _) in enumerate(rows)]
    made = criterion(*checks, check("sure", "10"), levels=("1", "5"), by=by)
    results = [CheckResult(id=str(place), passed=passed) for place, (_, passed) in enumerate(rows)]
    results.append(CheckResult(id="sure", passed=True))
    found = Checklist(made).score(results)
    random.shuffle(results)
    assert Checklist(made).score(results) == found
    assert 1 <= found.exact <= 5
    passed = sum(Fraction(weight) for weight, value in rows if value) + 10
    positive = sum(max(Fraction(weight), Fraction(0)) for weight, value in rows if value is not None) + 10
    expected = min(max(passed, 1), 5) if by == "count" else 1 + 4 * min(max(passed / positive, Fraction(0)), 1)
    assert found.exact == expected
