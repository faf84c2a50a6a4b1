"""Runs simulated from distributions, and sampled ratings tested against them."""

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInput
from evenhand.stats.rating_shares import mean_of, sample_agreement, sd_of, simulated_runs
from evenhand.stats.regime_figures import figures_of, thresholds

EVEN = dict.fromkeys(range(1, 11), 0.1)
HIGH = {9: 0.3, 10: 0.7}


def test_simulated_runs_follow_their_distributions():
    runs = simulated_runs([EVEN, HIGH], 4000, seed=1)
    first, second = zip(*runs, strict=True)
    assert np.bincount(first, minlength=11)[1:] / 4000 == pytest.approx([0.1] * 10, abs=0.03)
    assert second.count(10) / 4000 == pytest.approx(0.7, abs=0.03)
    figures = figures_of(runs, thresholds(1, 10))
    assert figures.mean_item_sd == pytest.approx((sd_of(EVEN) + sd_of(HIGH)) / 2, abs=0.05)


def test_the_same_seed_gives_the_same_runs_and_another_gives_others():
    assert simulated_runs([EVEN] * 5, 9, seed=2) == simulated_runs([EVEN] * 5, 9, seed=2)
    assert simulated_runs([EVEN] * 5, 9, seed=2) != simulated_runs([EVEN] * 5, 9, seed=3)


def test_a_distribution_without_a_level_is_refused():
    with pytest.raises(InvalidInput, match="item 1 has no level"):
        simulated_runs([EVEN, {}], 3, seed=0)


def test_mean_and_sd_equal_numpys():
    levels = np.arange(1, 11)
    assert mean_of(EVEN) == pytest.approx(5.5)
    assert sd_of(EVEN) == pytest.approx(np.std(levels))


def test_p_values_are_uniform_where_the_promise_is_kept():
    # 60 data sets of 20 items with 4 samples each: the smallest p must not crowd at 0, nor all at 1.
    shares = [EVEN, HIGH] * 10
    found = []
    for seed in range(60):
        columns = list(zip(*simulated_runs(shares, 4, seed=100 + seed), strict=True))
        found.append(sample_agreement(shares, columns, seed=seed, n_draws=300).p_value)
    assert stats.kstest(found, "uniform").pvalue > 0.001


def test_a_broken_promise_is_seen():
    columns = list(zip(*simulated_runs([EVEN] * 20, 5, seed=1), strict=True))
    found = sample_agreement([{9: 0.5, 10: 0.5}] * 10 + [EVEN] * 10, columns, seed=0, n_draws=500)
    assert found.p_value == pytest.approx(1 / 501)
    assert found.mean_difference < -1
    document = found.document()
    assert document["variation"] > document["variation_by_chance"]


def test_a_large_sample_equals_scipys_g_test():
    counts = np.array([30, 70])
    found = sample_agreement([{1: 0.4, 2: 0.6}], [[1] * 30 + [2] * 70], seed=0, n_draws=20_000)
    expected = stats.power_divergence(counts, [40, 60], lambda_="log-likelihood").pvalue
    assert found.p_value == pytest.approx(expected, abs=0.01)


def test_items_without_a_readable_sample_are_left_out_and_told():
    found = sample_agreement([EVEN, EVEN], [[], [4, 5]], n_failed=2)
    assert (found.n, found.n_failed) == (2, 2)
    assert (found.items[0].n, found.items[0].variation) == (0, None)
    nothing = sample_agreement([EVEN], [[]], n_failed=4)
    assert (nothing.p_value, nothing.undefined) == (None, "no sampled rating could be read")


def test_items_and_distributions_are_as_many():
    with pytest.raises(InvalidInput, match="2 distributions and 1 items"):
        sample_agreement([EVEN, EVEN], [[1]])
