"""How scores are spread: the toy log of sixty rows, statsmodels and scipy as oracles, laws, and degenerate cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy, kendalltau, spearmanr

from evenhand.errors import InvalidInput
from evenhand.stats.collapse import goodman_interval, heaping, level_counts, spread_of

LOG = np.repeat([7.0, 8.0, 6.0, 9.0, 5.0], [37, 14, 6, 2, 1])
SCORES = st.lists(st.integers(0, 10), min_size=1, max_size=60).map(lambda found: np.array(found, float))


def spread(scores):
    return spread_of(*level_counts(np.asarray(scores, float)))


def test_the_toy_log_has_its_worked_values():
    log = spread(LOG)
    assert (log.n, log.mode, log.levels_used) == (60, 7.0, 5)
    assert log.mode_share.value == pytest.approx(0.6166667, abs=5e-8)
    assert (log.mode_share.low, log.mode_share.high) == pytest.approx((0.4901760, 0.7291173), abs=5e-8)
    assert log.simultaneous == pytest.approx((0.4511917, 0.7589084), abs=5e-8)
    assert log.entropy == pytest.approx(1.0495510, abs=5e-8)
    assert log.effective_levels == pytest.approx(2.8563682, abs=5e-8)
    assert log.inverse_simpson == pytest.approx(2.2415940, abs=5e-8)
    assert log.tied_pairs == pytest.approx(0.4367232, abs=5e-8)
    assert log.rho_ceiling == pytest.approx(0.8671556, abs=5e-8)
    assert log.tau_ceiling == pytest.approx(0.7505177, abs=5e-8)


def test_goodman_equals_statsmodels():
    multinomial = pytest.importorskip("statsmodels.stats.proportion").multinomial_proportions_confint
    counts = [1, 6, 37, 14, 2]
    for count, bounds in zip(counts, multinomial(counts, method="goodman"), strict=True):
        assert goodman_interval(count, 60, 5) == pytest.approx(tuple(bounds), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(SCORES)
def test_entropy_sd_and_ceilings_equal_scipy(scores):
    found = spread(scores)
    assert found.entropy == pytest.approx(float(entropy(np.bincount(scores.astype(int)))), abs=1e-12)
    if len(scores) > 1:
        assert found.sd == pytest.approx(float(scores.std(ddof=1)), abs=1e-9)
    if len(set(scores)) > 1:
        untied = np.arange(len(scores))
        assert found.rho_ceiling == pytest.approx(spearmanr(np.sort(scores), untied).statistic, abs=1e-12)
        assert found.tau_ceiling == pytest.approx(kendalltau(np.sort(scores), untied).statistic, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(SCORES, st.randoms(use_true_random=False))
def test_order_and_relabelling_change_no_share(scores, random):
    shuffled = list(scores)
    random.shuffle(shuffled)
    found, other, moved = spread(scores), spread(shuffled), spread(scores * 3 + 1)
    assert found == other
    assert moved.counts == found.counts
    assert moved.effective_levels == found.effective_levels
    assert 1 <= found.inverse_simpson <= found.effective_levels + 1e-9 <= found.levels_used + 2e-9
    assert found.simultaneous[0] <= found.mode_share.low <= found.mode_share.value <= found.mode_share.high


def test_without_scores_every_figure_is_undefined_with_its_reason():
    found = spread([])
    assert (found.mode, found.entropy, found.sd, found.rho_ceiling) == (None, None, None, None)
    assert found.mode_share.undefined == "no scores"


def test_one_score_has_a_share_and_no_sd():
    found = spread([7])
    assert (found.mode_share.value, found.effective_levels) == (1, 1)
    assert (found.sd, found.tied_pairs, found.rho_ceiling) == (None, None, None)


def test_a_constant_judge_has_one_level_and_no_rank_correlation():
    found = spread([7] * 20)
    assert (found.effective_levels, found.sd, found.tied_pairs) == (1, 0, 1)
    assert found.rho_ceiling is None
    assert found.tau_ceiling is None


def test_the_lowest_of_several_commonest_scores_is_the_mode():
    assert spread([8, 8, 3, 3, 5]).mode == 3


def test_round_numbers_are_counted_beside_what_chance_would_give():
    tens, fives = heaping(*level_counts(np.array([70.0] * 30 + [75.0] * 15 + [81.0] * 5)), 0, 100)
    assert (tens.share.value, fives.share.value) == (0.6, 0.9)
    assert (tens.expected, fives.expected) == (11 / 101, 21 / 101)
    assert heaping(*level_counts(np.array([1.0, 2, 3])), 1, 5) == ()
    (whole,) = heaping(*level_counts(np.array([7.0, 8, 8.25, 9.5])), 1, 10)
    assert (whole.step, whole.share.value, whole.expected) == (1, 0.5, 10 / 901)


def test_a_share_of_no_level_is_refused():
    with pytest.raises(InvalidInput, match="0 levels; expected at least 1"):
        goodman_interval(0, 0, 0)
    assert all(math.isnan(bound) for bound in goodman_interval(0, 0, 2))
