"""Rank correlations: published and computed values, undefined cases, and kernels equal to scipy's values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import InvalidInput
from evenhand.stats.rank import bonett_wright_interval, kendall_tau_b, pearson, spearman
from evenhand.stats.rank_kernels import kendall_kernel, spearman_kernel
from evenhand.stats.resampling import Bootstrap

HUMANS = np.array([list(map(int, grades)) for grades in ("325413524314", "424423535213", "315314424324")]).T
JUDGE = np.array([list(map(int, ratings)) for ratings in ("768757878757", "768767867758", "859757878767")]).T
HUMAN_MEAN, JUDGE_MEAN = HUMANS.mean(axis=1), JUDGE.mean(axis=1)


def test_the_toy_values():
    assert spearman(JUDGE_MEAN, HUMAN_MEAN).value == pytest.approx(0.9573014355, abs=5e-11)
    assert kendall_tau_b(JUDGE_MEAN, HUMAN_MEAN).value == pytest.approx(0.9105992007, abs=5e-11)
    assert spearman(JUDGE[:, 0], HUMAN_MEAN).value == pytest.approx(0.9339916625, abs=5e-11)
    assert pearson(JUDGE_MEAN, HUMAN_MEAN).value == pytest.approx(0.9671894, abs=5e-8)


def test_the_toy_interval():
    found = spearman(JUDGE_MEAN, HUMAN_MEAN, bootstrap=Bootstrap(n_resamples=9999, seed=7))
    assert (found.low, found.high) == pytest.approx((0.7825, 1.0), abs=5e-5)


def test_statpsych_publishes_the_bonett_wright_interval():
    y = (21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19)
    x = (67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51)
    rho = spearman(y, x).value
    assert rho == pytest.approx(0.8699639, abs=5e-8)
    assert bonett_wright_interval(rho, 15) == pytest.approx((0.5840951, 0.9638297), abs=5e-8)


@pytest.mark.parametrize(("rho", "low", "high"), [(0.3, 0.044, 0.519), (0.5, 0.267, 0.678), (0.7, 0.521, 0.820)])
def test_precision_at_sixty_items(rho, low, high):
    assert bonett_wright_interval(rho, 60) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize(("rho", "n"), [(0.5, 3), (1.0, 60), (-1.0, 60)])
def test_bonett_wright_is_undefined_below_four_items_and_at_the_ends(rho, n):
    assert all(math.isnan(bound) for bound in bonett_wright_interval(rho, n))


def test_bonett_wright_refuses_what_is_no_correlation():
    with pytest.raises(InvalidInput):
        bonett_wright_interval(1.1, 60)
    with pytest.raises(InvalidInput):
        bonett_wright_interval(0.5, 60, confidence=1.0)


def test_the_short_cut_without_ties_is_not_taken():
    judge, human = [6, 9, 9, 9, 9, 9, 9], [5, 2, 2, 2, 2, 2, 2]
    assert spearman(judge, human).value == -1.0
    assert kendall_tau_b(judge, human).value == -1.0


@pytest.mark.parametrize("correlation", [spearman, kendall_tau_b, pearson])
@pytest.mark.parametrize(
    ("judge", "humans", "reason", "n"),
    [
        ([7, 7, 7], [1, 2, 3], "the judge gave one value", 3),
        ([1, 2, 3], [7, 7, 7], "the humans gave one value", 3),
        ([1, 1], [2, 2], "the judge and the humans gave one value each", 2),
        ([1, None], [2, 3], "1 item", 1),
        ([], [], "no items that both rated", 0),
        ([1, None], [None, 1], "no items that both rated", 0),
        ([1, 2, 2, 2], [None, 1, 2, 3], "the judge gave one value", 3),
    ],
)
def test_undefined_is_said_with_its_reason(correlation, judge, humans, reason, n):
    found = correlation(judge, humans)
    assert (found.value, found.undefined, found.n) == (None, reason, n)


def test_pairs_are_complete_and_take_their_clusters_along():
    judge, humans = [1, 2, None, 4, 5, 6.5, 7], [2, 1, 3, None, 5, 7, 6]
    found = spearman(judge, humans, bootstrap=Bootstrap(clusters=list("aabbccd")))
    assert found.n == 5
    assert found.value == spearman([1, 2, 5, 6.5, 7], [2, 1, 5, 7, 6]).value
    assert found.method == "percentile bootstrap over 3 clusters"


@pytest.mark.parametrize("ratings", [[1, "x"], [1, math.inf], [1, 1e300], [[1, 2], [3, 4]]])
def test_what_is_no_rating_is_refused(ratings):
    with pytest.raises(InvalidInput):
        spearman(ratings, [1, 2])


def test_other_lengths_are_refused():
    with pytest.raises(InvalidInput, match="2 ratings beside 3"):
        spearman([1, 2], [1, 2, 3])


levels = st.integers(1, 7)
tables = st.integers(2, 25).flatmap(
    lambda n: st.tuples(*[st.lists(kind, min_size=n, max_size=n) for kind in (levels, levels, st.integers(0, 4))])
)


def same(ours, theirs):
    assert (math.isnan(ours) and math.isnan(theirs)) or ours == pytest.approx(theirs, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(tables)
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_kernels_under_weights_equal_scipy_on_the_drawn_items(table):
    a, b, weights = (np.array(column, dtype=float) for column in table)
    items = np.repeat(np.arange(len(a)), weights.astype(int))
    if len(items) < 2:
        return
    both = np.column_stack([a, b])
    same(spearman_kernel(both)(weights[None, :])[0, 0], stats.spearmanr(a[items], b[items]).statistic)
    same(kendall_kernel(a, b)(weights[None, :])[0], stats.kendalltau(a[items], b[items]).statistic)


@pytest.mark.parametrize(("n_a", "n_b"), [(4, 4), (1000, 5), (5, 1000), (1000, 1000)])
def test_kernels_of_many_items_equal_scipy(n_a, n_b):
    rng = np.random.default_rng(n_a + n_b)
    a = rng.integers(0, n_a, 1000).astype(float)
    b = rng.integers(0, n_b, 1000) + 0.5 * a
    weights = rng.integers(0, 3, (3, 1000)).astype(float)
    rho, tau = spearman_kernel(np.column_stack([a, b]))(weights), kendall_kernel(a, b)(weights)
    for row, held in enumerate(weights.astype(int)):
        same(rho[row, 0], stats.spearmanr(np.repeat(a, held), np.repeat(b, held)).statistic)
        same(tau[row], stats.kendalltau(np.repeat(a, held), np.repeat(b, held)).statistic)


def test_tau_says_where_it_cannot_be_resampled():
    rng = np.random.default_rng(1)
    found = kendall_tau_b(rng.normal(size=3000), rng.normal(size=3000), bootstrap=Bootstrap(n_resamples=2))
    assert found.value is not None
    assert found.no_interval.startswith("3,000 distinct pairs of ratings are too many")


def test_without_a_bootstrap_there_is_no_interval_and_it_is_said():
    found = spearman([1, 2, 3], [1, 3, 2])
    assert (found.low, found.no_interval) == (None, "no resampling was asked for")
