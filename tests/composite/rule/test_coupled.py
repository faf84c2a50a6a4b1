"""Bounds of row-coupled functions hold every value they can take."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.composite.rule.coupled import coupled, coupled_bounds, win_shares, win_shares_bounds

NAMES = ("rank", "percentile", "zscore", "minmax", "colmin", "colmax", "colmean", "colsd")


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(NAMES), st.booleans(), st.sampled_from(["min", "max", "mean"]), st.integers(0, 2**32))
def test_bounds_hold_every_value_of_numbers_in_their_boxes(name, lower, ties, seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.random(7) * rng.choice([3, 10]), int(rng.integers(0, 2)))
    half = rng.choice([0.0, 0.05, 0.5], size=7)
    values[rng.random(7) < 0.1] = np.nan
    low, high = coupled_bounds(name, values - half, values + half, lower=lower, ties=ties)
    for _ in range(30):
        share = np.where(rng.random(7) < 0.5, rng.integers(0, 2, 7), rng.random(7))
        found = coupled(name, values - half + 2 * half * share, lower=lower, ties=ties)
        known = ~np.isnan(found)
        assert (found[known] >= low[known] - 1e-9).all()
        assert (found[known] <= high[known] + 1e-9).all()


@settings(deadline=None, max_examples=100)
@given(st.booleans(), st.sampled_from(["half", "lose", "win"]), st.integers(0, 2**32))
def test_win_shares_lie_in_their_bounds_and_add_up(lower, ties, seed):
    rng = np.random.default_rng(seed)
    values, half = rng.integers(0, 6, 8).astype(float), rng.choice([0.0, 0.5], size=8)
    low, high = win_shares_bounds(values - half, values + half, lower=lower, ties=ties)
    found = win_shares(values - half + 2 * half * rng.random(8), lower=lower, ties=ties)
    assert ((low - 1e-9 <= found) & (found <= high + 1e-9)).all()
    assert win_shares(values, lower=lower).sum() == pytest.approx(4)


def test_a_box_that_touches_another_counts_as_a_tie():
    low, high = coupled_bounds("rank", np.array([0.5815, 0.5825]), np.array([0.5825, 0.5835]))
    assert (low.tolist(), high.tolist()) == ([1, 1], [2, 1])


def test_what_has_no_spread_has_no_value():
    for name in ("zscore", "minmax"):
        assert np.isnan(coupled(name, np.array([2.0, 2.0]))).all()
    assert np.isnan(coupled("percentile", np.array([2.0]))).all()
    assert np.isnan(coupled("rank", np.array([np.nan]))).all()
