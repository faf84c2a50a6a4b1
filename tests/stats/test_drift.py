"""Change points and tests between periods, against scipy, statsmodels and a search of every row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, ks_2samp, kstwobign

from evenhand.errors import InvalidInput
from evenhand.stats.drift import _ratios, _scan, change_points, detectable_change, drift_between, rows_needed


def drawn(seed, n, shares):
    return np.random.default_rng(seed).choice(np.arange(1.0, len(shares) + 1), n, p=shares)


def test_a_change_of_scale_is_found_at_its_row():
    (point,) = change_points(np.concatenate([drawn(1, 120, [0.1, 0.2, 0.7]), 20 * drawn(2, 80, [0.1, 0.2, 0.7])]))
    assert (point.after_row, point.distance, point.n_before, point.n_after) == (119, 1.0, 120, 80)
    assert point.p_value < 1e-20


def test_two_changes_are_found_apart():
    parts = [drawn(1, 200, [0.6, 0.3, 0.1]), drawn(2, 200, [0.1, 0.3, 0.6]), drawn(3, 200, [0.6, 0.3, 0.1])]
    first, second = change_points(np.concatenate(parts))
    assert abs(first.after_row - 199) <= 5
    assert abs(second.after_row - 399) <= 5


def test_scores_that_do_not_change_have_change_points_in_one_log_of_a_hundred_at_most():
    found = sum(bool(change_points(drawn(seed, 200, [0.1, 0.5, 0.3, 0.1]))) for seed in range(200))
    assert found <= 2


def test_a_small_change_is_none_however_many_the_rows():
    scores = np.concatenate([drawn(1, 20_000, [0.5, 0.5]), drawn(2, 20_000, [0.55, 0.45])])
    assert change_points(scores) == ()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(40, 120))
def test_the_best_row_is_the_best_of_all_rows(seed, n):
    codes = np.random.default_rng(seed).integers(0, 4, n)
    total = np.bincount(codes, minlength=4)
    rows = range(20, n - 19)
    every = [float(_ratios(np.bincount(codes[:row], minlength=4)[None], total)[0]) for row in rows]
    place, ratio = _scan(codes, 4)
    assert ratio == pytest.approx(max(every), abs=1e-9)
    assert every[place - 20] == pytest.approx(max(every), abs=1e-9)


def test_the_ratio_is_that_of_a_two_row_table():
    left, total = np.array([30, 20, 10]), np.array([50, 60, 70])
    expected = chi2_contingency(np.stack([left, total - left]), lambda_="log-likelihood", correction=False)
    assert float(_ratios(left[None], total)[0]) == pytest.approx(expected.statistic, abs=1e-9)


def test_a_long_log_is_searched_to_the_row():
    scores = np.concatenate([drawn(1, 50_000, [0.5, 0.5]), 9 + drawn(2, 30_001, [0.5, 0.5])])
    (point,) = change_points(scores)
    assert point.after_row == 49_999


@pytest.mark.parametrize("scores", [[], [7.0] * 100, [1.0, 9.0] * 10])
def test_nothing_is_found_in_constant_short_or_empty_logs(scores):
    assert change_points(np.array(scores)) == ()


def test_chi_square_and_ks_equal_scipy():
    first, last = drawn(1, 300, [0.2, 0.5, 0.3]), drawn(2, 200, [0.3, 0.5, 0.2])
    found = drift_between(np.concatenate([first, last]), np.repeat([0, 1], [300, 200]))
    table = np.array([[(part == level).sum() for level in (1, 2, 3)] for part in (first, last)])
    expected = chi2_contingency(table, correction=False)
    assert (found.chi2, found.chi2_p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
    assert found.chi2_df == 2
    assert found.cramers_v == pytest.approx((expected.statistic / 500) ** 0.5)
    assert found.ks == pytest.approx(ks_2samp(first, last).statistic, abs=1e-12)
    assert found.ks_p == pytest.approx(kstwobign.sf((300 * 200 / 500) ** 0.5 * found.ks), abs=1e-12)
    assert found.ks_p == pytest.approx(ks_2samp(first, last, method="asymp").pvalue, rel=0.1)  # of a finite sample


def test_rare_levels_are_pooled_until_each_is_expected_five_times():
    scores = np.array([1.0] * 30 + [2.0] * 2 + [3.0] + [1.0] * 28 + [5.0] * 5)
    found = drift_between(scores, np.repeat([0, 1], 33))
    assert found.chi2_df is None
    assert found.undefined == "too few scores: some level is expected less than five times"


def test_rows_needed_equal_statsmodels():
    power = pytest.importorskip("statsmodels.stats.proportion").samplesize_proportions_2indep_onetail
    expected = power(0.1, 0.5, power=0.8, ratio=1, alpha=0.05)
    assert rows_needed(0.5, 0.1) == pytest.approx(expected, abs=1)
    assert rows_needed(0.6, 0.2) == pytest.approx(power(-0.2, 0.6, power=0.8, ratio=1, alpha=0.05), abs=1)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.62, 1.0])
def test_the_detectable_change_needs_just_these_rows(share):
    change = detectable_change(share, 250, 250)
    assert rows_needed(share, change) in (250, 251)
    assert rows_needed(share, change * 0.97) > 250


def test_very_short_periods_show_no_change_at_all():
    assert detectable_change(0.5, 2, 2) is None
    assert rows_needed(0.5, 0.6) is None


def test_the_reason_stands_where_a_test_is_undefined():
    assert drift_between(np.array([1.0, 2.0]), np.array([0, 0])).undefined == "fewer than two periods have scores"
    assert drift_between(np.array([1.0, 1.0]), np.array([0, 1])).undefined == "all scores are equal"
    with pytest.raises(InvalidInput, match="2 scores, yet 1 periods"):
        drift_between(np.array([1.0, 2.0]), np.array([0]))
