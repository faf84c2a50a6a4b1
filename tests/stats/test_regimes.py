"""The six regimes: published thresholds, the laws of their figures, and how sure a label is."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.regime_figures import READINGS, REGIMES, figures_of, labels_of, thresholds
from evenhand.stats.regimes import ENOUGH_RUNS, regime_of, until_sure

TEN = thresholds(1, 10)
TEXT = thresholds(1, 10, "text")

tables = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(1, 10), min_size=n, max_size=n), min_size=2, max_size=8)
)


def naive(table, low, high, points):
    """The figures by the book: loops over items and ratings."""
    items = list(zip(*table, strict=True))
    sds = []
    for ratings in items:
        mean = sum(ratings) / len(ratings)
        sds.append(math.sqrt(sum((r - mean) ** 2 for r in ratings) / (len(ratings) - 1)))
    every = [r for run in table for r in run]
    means = [sum(ratings) / len(ratings) for ratings in items]
    return {
        "mean_item_sd": sum(sds) / len(sds),
        "ceiling_rate": sum(r > high - points for r in every) / len(every),
        "floor_rate": sum(r < low + points for r in every) / len(every),
        "range": max(every) - min(every),
        "range_of_means": max(means) - min(means),
    }


@settings(deadline=None, max_examples=60)
@given(tables)
def test_the_figures_equal_those_by_the_book(table):
    for name in READINGS:
        limits = thresholds(1, 10, name)
        found = figures_of(table, limits).document()
        assert found == pytest.approx(naive(table, 1, 10, limits.points), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(tables, st.randoms(use_true_random=False))
def test_order_of_runs_and_items_changes_no_figure(table, random):
    places = list(range(len(table[0])))
    random.shuffle(places)
    shuffled = [[run[place] for place in places] for run in table]
    random.shuffle(shuffled)
    assert figures_of(shuffled, TEN).document() == pytest.approx(figures_of(table, TEN).document(), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(tables)
def test_a_turned_scale_swaps_ceiling_and_floor_and_nothing_else(table):
    turned = [[11 - rating for rating in run] for run in table]
    found, other = figures_of(table, TEN), figures_of(turned, TEN)
    assert (found.ceiling_rate, found.floor_rate) == (other.floor_rate, other.ceiling_rate)
    assert found.mean_item_sd == pytest.approx(other.mean_item_sd, abs=1e-9)
    assert (found.range, found.range_of_means) == pytest.approx((other.range, other.range_of_means), abs=1e-9)
    swapped = {"INFLATION_LIKELY": "DEFLATION_LIKELY", "DEFLATION_LIKELY": "INFLATION_LIKELY"}
    for regime in labels_of(found, TEN)[:1]:
        if regime in swapped:
            assert swapped[regime] in labels_of(other, TEN)


@settings(deadline=None, max_examples=40)
@given(tables)
def test_a_shifted_scale_changes_nothing(table):
    shifted = [[rating - 1 for rating in run] for run in table]
    assert labels_of(figures_of(shifted, thresholds(0, 9)), thresholds(0, 9)) == labels_of(figures_of(table, TEN), TEN)


@settings(deadline=None, max_examples=25)
@given(tables)
def test_shares_sum_to_one_and_the_same_seed_gives_the_same(table):
    one, two = (regime_of(table, 1, 10, seed=3, n_resamples=200) for _ in range(2))
    assert math.fsum(one.shares.values()) == pytest.approx(1.0)
    assert tuple(one.shares) == REGIMES
    assert (one.shares, one.estimates) == (two.shares, two.estimates)


# 4 items x 5 runs = 20 ratings, so that one rating is .05: what just meets a threshold, and what just misses it.
def constant(*run):
    return [list(run)] * 5


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        ([[10] * 20] * 30, ("INFLATION_LIKELY", "PICKS_A_NUMBER")),
        ([[1] * 20] * 30, ("DEFLATION_LIKELY", "PICKS_A_NUMBER")),
        (constant(5, 6, 7, 7), ("PICKS_A_NUMBER",)),
        (constant(4, 5, 6, 7), ("AMBIGUOUS",)),
        (constant(2, 5, 6, 7), ("DEFLATION_LIKELY", "CALIBRATED")),  # floor .25, ceiling 0
        (constant(9, 6, 5, 5), ("INFLATION_LIKELY",)),
        (constant(9, 2, 5, 5), ("CALIBRATED",)),  # ceiling and floor .25 each
        (constant(9, 9, 5, 2), ("AMBIGUOUS",)),  # ceiling .5 is not below .35
        ([[1, 10], [10, 1]] * 3, ("JITTERY",)),
        ([[1, 10, 1, 10], [10, 1, 5, 5]] * 3, ("JITTERY",)),
    ],
)
def test_each_regime_and_all_that_overlap_in_the_published_order(table, labels):
    assert labels_of(figures_of(table, TEN), TEN) == labels
    assert regime_of(table, 1, 10, n_resamples=100).regime == labels[0]


def test_an_sd_of_exactly_two_and_a_half_is_jittery():
    # Two runs: SD is |a - b| / sqrt(2). Ratings 3 and 8 with SD 2.5 need four runs: 3, 3, 8, 8 has SD 5/sqrt(3).
    # Seven runs with deviations of +-2.5 from 5.5 cannot be whole; so by squares: sum = 2.5**2 * (n - 1).
    # n = 5: 25 = 4 + 4 + 4 + 4 + 9 has mean 0 for no signs; n = 9: 50 = 2 * 25 with seven at the mean.
    table = [[10], [0], *[[5]] * 7]
    limits = thresholds(0, 9 + 1)
    figures = figures_of(table, limits)
    assert figures.mean_item_sd == 2.5
    published = thresholds(1, 10)
    shifted = figures_of([[10], [2], *[[6]] * 3], published)  # 32 / 4 = 8, SD 2.83
    assert "JITTERY" in labels_of(shifted, published)
    ten_wide = thresholds(0, 9)
    assert figures_of([[9], [0], *[[4]] * 4, *[[5]] * 4], ten_wide).mean_item_sd == pytest.approx(math.sqrt(42.5 / 9))


def test_thresholds_meet_their_own_value():
    quarter = [[9, 5, 5, 5]] * 5
    assert figures_of(quarter, TEN).ceiling_rate == 0.25
    assert labels_of(figures_of(quarter, TEN), TEN)[0] == "INFLATION_LIKELY"
    twentieth = [[2, *[5] * 19], [5] * 20] * 1
    assert figures_of([twentieth[0]] * 5, TEN).floor_rate == 0.05
    assert "CALIBRATED" in labels_of(figures_of([[2, *[5] * 18, 7]] * 5, TEN), TEN)
    assert labels_of(figures_of([[9] * 10 + [2] + [5] * 9] * 5, TEN), TEN) == ("AMBIGUOUS",)  # floor .05 is not < .05


def test_the_text_counts_the_extreme_point_where_the_script_counts_two():
    table = [[9, 9, 5, 6]] * 12
    found = regime_of(table, 1, 10)
    assert found.regime == "INFLATION_LIKELY"
    figures, labels = found.by_reading["text"]
    assert (figures.ceiling_rate, labels) == (0.0, ("AMBIGUOUS",))
    assert regime_of(table, 1, 10, reading="text").regime == "AMBIGUOUS"


@pytest.mark.parametrize(
    ("low", "high", "points"), [(1, 10, 2), (1, 9, 2), (0, 10, 2), (1, 7, 1), (1, 5, 1), (1, 3, 1), (0, 100, 20)]
)
def test_other_scales_keep_a_fifth_of_their_points_and_their_share_of_the_width(low, high, points):
    limits = thresholds(low, high)
    assert limits.points == points
    assert limits.jitter_sd / (high - low) == pytest.approx(2.5 / 9)
    assert limits.published == (high - low == 9)


def test_no_run_and_one_run_have_no_regime_and_say_why():
    none = regime_of([], 1, 10)
    assert (none.regime, none.undefined, none.figures) == (None, "no run was parsed", None)
    assert {estimate.value for estimate in none.estimates.values()} == {None}
    one = regime_of([[5, 9]], 1, 10)
    assert one.regime is None
    assert "needs two" in one.undefined
    assert one.estimates["mean_item_sd"].undefined
    assert one.estimates["ceiling_rate"].value == 0.5
    assert one.estimates["ceiling_rate"].no_interval


def test_two_runs_are_never_sure_however_clear_they_are():
    found = regime_of([[10, 10]] * 2, 1, 10)
    assert found.shares["INFLATION_LIKELY"] == 1.0
    assert not found.sure
    assert found.why_not_sure == "2 parsed runs, and at least 10 are needed"
    assert regime_of([[10, 10]] * ENOUGH_RUNS, 1, 10).sure


def test_a_label_near_its_threshold_is_not_sure_and_its_distance_is_told():
    table = [[9, 5, 5, 5], [5, 5, 5, 5], [9, 9, 5, 5]] * 4  # ceiling rate .25 on average
    found = regime_of(table, 1, 10)
    assert found.regime == "INFLATION_LIKELY"
    assert 0.3 < found.shares["INFLATION_LIKELY"] < 0.9
    assert not found.sure
    distance = next(one for one in found.distances if one.regime == "INFLATION_LIKELY" and one.needs == ">= 0.25")
    assert (distance.distance, distance.holds, distance.standard_errors) == (0.0, True, 0.0)


def test_asking_ends_when_sure_or_when_all_calls_are_done():
    sure = regime_of([[10, 10]] * 10, 1, 10)
    unsure = regime_of([[10, 10]] * 9, 1, 10)
    assert until_sure(sure, 10) == "sure"
    assert until_sure(unsure, 29) is None
    assert until_sure(unsure, 30) == "calls"
    assert until_sure(unsure, 5, most=5) == "calls"


def test_resampled_variances_are_unbiased():
    # Without the factor n / (n - 1) the mean squared SD would be too small by a tenth at ten runs.
    rng = np.random.default_rng(5)
    table = rng.integers(1, 11, size=(10, 1)).tolist()
    estimate = regime_of(table, 1, 10, n_resamples=4000).estimates["mean_item_sd"]
    variance = figures_of(table, TEN).mean_item_sd ** 2
    from evenhand.stats import regimes

    draws = regimes._resampled(np.asarray(table, float), TEN, 0, 4000)["mean_item_sd"]
    assert np.mean(draws**2) == pytest.approx(variance, rel=0.05)
    assert estimate.low < estimate.value < estimate.high


def test_resamples_drawn_in_parts_are_those_drawn_at_once(monkeypatch):
    from evenhand.stats import regimes

    table = np.random.default_rng(1).integers(1, 11, size=(12, 5)).tolist()
    whole = regime_of(table, 1, 10, n_resamples=500)
    monkeypatch.setattr(regimes, "_AT_ONCE", 100)
    assert regime_of(table, 1, 10, n_resamples=500).shares == whole.shares


def test_one_item_is_enough_for_figures():
    found = regime_of([[7], [7], [8]] * 4, 1, 10)
    assert (found.regime, found.n_items, found.figures.range_of_means) == ("PICKS_A_NUMBER", 1, 0.0)


@pytest.mark.parametrize(
    ("table", "message"),
    [([[1, 2], [1]], "runs of one length"), ([[11, 2]], "outside the scale"), ([[float("nan"), 2]], "outside")],
)
def test_what_are_no_ratings_is_refused(table, message):
    with pytest.raises(InvalidInput, match=message):
        regime_of(table, 1, 10)


def test_no_scale_and_no_reading_are_refused():
    with pytest.raises(InvalidInput, match="from 5 to 5"):
        thresholds(5, 5)
    with pytest.raises(InvalidInput, match="script or text"):
        thresholds(1, 10, "both")


def test_resamples_that_all_agree_are_no_sign_of_precision():
    found = regime_of([[2, 5, 8, 9], [1, 5, 7, 9]], 1, 10)
    floor = found.estimates["floor_rate"]
    assert (floor.value, floor.low, floor.high) == (0.25, None, None)
    assert floor.no_interval == "degenerate: all resamples agree, which is no sign of precision"
    assert found.estimates["mean_item_sd"].low is not None
