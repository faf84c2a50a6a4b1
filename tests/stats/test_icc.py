"""Intraclass correlations and the one-way analysis: published tables, computed values, and resamples by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.icc import icc_kernel, intraclass_correlations
from evenhand.stats.one_way import one_way, one_way_kernel, spearman_brown
from evenhand.stats.resampling import Bootstrap

HUMANS = np.array([list(map(int, grades)) for grades in ("325413524314", "424423535213", "315314424324")]).T
JUDGE = np.array([list(map(int, ratings)) for ratings in ("768757878757", "768767867758", "859757878767")]).T
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
LENIENT = [[2, 4, 5], [5, 7, 7], [3, 5, 5], [6, 8, 8], [4, 6, 7], [7, 9, 9], [1, 3, 3], [5, 7, 7]]


@pytest.mark.parametrize(
    ("ratings", "values"),
    [
        (SHROUT_FLEISS, (0.165742, 0.289764, 0.714841, 0.442797, 0.620051, 0.909316)),
        (HUMANS, (0.803863, 0.802985, 0.792342, 0.924786, 0.924399, 0.919658)),
        (LENIENT, (0.682704, 0.711809, 0.982063, 0.86586, 0.881091, 0.993949)),  # T077
    ],
)
def test_the_six_forms(ratings, values):
    found = intraclass_correlations(ratings).by_label()
    assert list(found) == ["ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"]
    assert [one.value for one in found.values()] == pytest.approx(values, abs=6e-7)


def test_agreement_counts_leniency_and_consistency_does_not():
    found = intraclass_correlations(LENIENT)
    assert found.agreement_single.value < 0.72 < 0.98 < found.consistency_single.value


def test_intervals_are_those_of_the_items_drawn():
    found = intraclass_correlations(HUMANS, bootstrap=Bootstrap(n_resamples=300, seed=4)).by_label()
    drawn = np.random.default_rng(4).integers(0, 12, (300, 12))
    by_hand = [[one.value for one in intraclass_correlations(HUMANS[rows]).by_label().values()] for rows in drawn]
    for one, values in zip(found.values(), np.array(by_hand, dtype=float).T, strict=True):
        assert (one.low, one.high) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])), abs=1e-10)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[1, 2]], "1 item"),
        (np.empty((0, 2)), "no items"),
        ([[1], [2]], "1 rater"),
        ([[3, 3], [3, 3]], "all grades are equal"),
        ([[1, None], [None, 2]], "no item was graded by all raters"),
        (
            [[1, 2], [2, None], [3, 3]],
            "1 of 3 items lacks a grade, and this form needs every rater on every item; see alpha",
        ),
    ],
)
def test_undefined_is_said_with_its_reason(ratings, reason):
    found = intraclass_correlations(ratings)
    assert {one.undefined for one in list(found.by_label().values())[1:]} == {reason}


def test_a_missing_grade_leaves_the_one_way_form():
    found = intraclass_correlations([[1, 2], [2, None], [3, 3], [5, 4]])
    assert found.one_way_single.value == one_way([[1, 2], [2, None], [3, 3], [5, 4]]).icc.value
    assert found.agreement_single.value is None


def test_equal_means_leave_the_mean_forms_undefined():
    found = intraclass_correlations([[1, 3], [3, 1], [2, 2]])
    assert found.consistency_mean.undefined == "the items' means hardly differ, so that there is nothing to relate to"
    assert found.one_way_single.value == pytest.approx(-1.0)


def test_rounding_makes_no_variance():
    shifted = np.array([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]]) + 1e6
    assert intraclass_correlations(shifted).agreement_single.value is None
    assert np.isnan(icc_kernel(np.full((3, 2), 0.1))(np.ones((1, 3)))).all()


def test_the_toy_analysis_of_reruns():
    found = one_way(JUDGE)
    assert found.mean_square_between == pytest.approx(2.929293, abs=5e-7)
    assert found.mean_square_within == pytest.approx(0.222222, abs=5e-7)
    assert found.within_sd.value == pytest.approx(0.4714045, abs=5e-8)
    assert found.item_variance == pytest.approx(0.9023569, abs=5e-8)
    assert found.icc.value == pytest.approx(0.8023952, abs=5e-8)
    assert (found.n_items, found.n_ratings, found.n0) == (12, 36, 3.0)


@pytest.mark.parametrize(("k", "value"), [(1, 0.8024), (2, 0.8904), (3, 0.9241), (5, 0.9531)])
def test_what_more_reruns_buy(k, value):
    assert spearman_brown(one_way(JUDGE).icc.value, k) == pytest.approx(value, abs=5e-5)


def test_unequal_numbers_of_ratings_by_hand():
    # Items 7,7,8 | 6,6,5 | 8,8 | 7,7,7: N 11, n0 (11 - 31/11)/3 = 30/11; SS within 4/3 on 7 degrees.
    found = one_way([[7, 7, 8], [6, 6, 5], [8, 8, None], [7, 7, 7]])
    assert found.n0 == pytest.approx(30 / 11)
    assert found.mean_square_within == pytest.approx(4 / 21)
    between = (22**2 / 3 + 17**2 / 3 + 16**2 / 2 + 21**2 / 3 - 76**2 / 11) / 3
    assert found.mean_square_between == pytest.approx(between)
    variance = (between - 4 / 21) * 11 / 30
    assert found.icc.value == pytest.approx(variance / (variance + 4 / 21))


def test_one_way_is_the_one_way_form_of_complete_data():
    assert one_way(HUMANS).icc.value == pytest.approx(intraclass_correlations(HUMANS).one_way_single.value, abs=1e-12)


def test_a_judge_that_always_says_seven_has_no_spread_and_no_reliability():
    found = one_way(np.full((6, 3), 7), bootstrap=Bootstrap(n_resamples=50))
    assert found.within_sd.value == 0.0
    assert found.within_sd.no_interval.startswith("degenerate")
    assert found.icc.undefined == "all ratings are equal"


@pytest.mark.parametrize(
    ("ratings", "sd", "icc"),
    [
        ([[1], [2]], "no item has two ratings", "no item has two ratings"),
        ([[1, None], [None, 2]], "no item has two ratings", "no item has two ratings"),
        ([[1, 2]], None, "1 item"),
    ],
)
def test_one_way_undefined(ratings, sd, icc):
    found = one_way(ratings)
    assert (found.within_sd.undefined, found.icc.undefined) == (sd, icc)


def test_items_without_a_rating_are_left_out():
    found = one_way([[1, 2], [None, None], [4, 4]], bootstrap=Bootstrap(n_resamples=20, clusters=["a", "b", "c"]))
    assert (found.n_items, found.n_ratings) == (2, 4)


def test_one_way_kernel_equals_the_analysis_of_the_drawn_items():
    rng = np.random.default_rng(8)
    ratings = rng.integers(1, 8, (9, 4)).astype(float)
    ratings[rng.random((9, 4)) < 0.25] = np.nan
    ratings[:, 0] = 3.0
    weights = rng.integers(0, 3, (20, 9))
    for values, held in zip(one_way_kernel(ratings)(weights.astype(float)), weights, strict=True):
        plain = one_way(np.repeat(ratings, held, axis=0))
        assert values[0] == pytest.approx(plain.icc.value, abs=1e-10)
        assert values[1] == pytest.approx(plain.within_sd.value, abs=1e-12)
        assert values[4] == pytest.approx(plain.n0, abs=1e-12)


def test_spearman_brown_where_no_raters_could_be():
    assert math.isnan(spearman_brown(-0.5, 3))
    with pytest.raises(InvalidInput):
        spearman_brown(1.2, 3)
    with pytest.raises(InvalidInput):
        spearman_brown(0.5, 0)


def exact_forms(rows):
    """The six forms by fractions; None where the denominator is not above 0."""
    n, k = len(rows), len(rows[0])
    cells = [[Fraction(str(cell)) for cell in row] for row in rows]
    grand = sum(map(sum, cells)) / (n * k)
    of_rows = k * sum((sum(row) / k - grand) ** 2 for row in cells) / (n - 1)
    of_raters = n * sum((sum(column) / n - grand) ** 2 for column in zip(*cells, strict=True)) / (k - 1)
    within = sum((cell - sum(row) / k) ** 2 for row in cells for cell in row) / (n * (k - 1))
    rest = (n * within - of_raters) / (n - 1)
    parts = [
        (of_rows - within, of_rows + (k - 1) * within),
        (of_rows - rest, of_rows + (k - 1) * rest + k * (of_raters - rest) / n),
        (of_rows - rest, of_rows + (k - 1) * rest),
        (of_rows - within, of_rows),
        (of_rows - rest, of_rows + (of_raters - rest) / n),
        (of_rows - rest, of_rows),
    ]
    return [above / below if below > 0 else None for above, below in parts]


@settings(deadline=None, max_examples=150)
@given(
    st.integers(2, 3).flatmap(
        lambda k: st.lists(st.lists(st.integers(1, 4), min_size=k, max_size=k), min_size=2, max_size=5)
    ),
    st.sampled_from([1, 2, 10, 100]),
)
def test_small_tables_give_the_fractions_and_whole_numbers_exactly(rows, steps):
    """A denominator of 0 is no number of 1e16, and what is 0 or -1 is not off by an ulp."""
    grades = [[cell / steps for cell in row] for row in rows]
    found = list(intraclass_correlations(grades).by_label().values())
    if len({cell for row in rows for cell in row}) == 1:
        assert {one.undefined for one in found[1:]} == {"all grades are equal"}
        return
    for one, true in zip(found, exact_forms(grades), strict=True):
        assert (one.value is None) == (true is None)
        if true is not None:
            assert one.value == pytest.approx(float(true), rel=1e-12, abs=1e-300)
            assert true.denominator != 1 or one.value == float(true)


def test_a_mean_of_raters_whose_denominator_is_nothing_is_undefined():
    # Mean squares 3/2 of items, 1/2 of raters, 7/2 of the rest: 3/2 + (1/2 - 7/2) / 2 = 0, and no 1e-16.
    found = intraclass_correlations([[1, 1, 4], [3, 4, 2]])
    assert exact_forms([[1, 1, 4], [3, 4, 2]])[4] is None
    assert found.agreement_mean.value is None
    assert "hardly differ" in found.agreement_mean.undefined
