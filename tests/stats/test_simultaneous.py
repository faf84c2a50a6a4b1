"""Paired differences and intervals that hold together."""

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInput
from evenhand.stats.resampling import Bootstrap, Draws
from evenhand.stats.simultaneous import simultaneous_estimates, spearman_differences

HUMANS = np.array([list(map(int, grades)) for grades in ("325413524314", "424423535213", "315314424324")]).T
HUMAN_MEAN = HUMANS.mean(axis=1)
JUDGE = np.array([list(map(int, ratings)) for ratings in ("768757878757", "768767867758", "859757878767")]).T
JUDGE_MEAN = JUDGE.mean(axis=1)
SECOND = [6, 4, 9, 7, 3, 6, 9, 5, 8, 5, 3, 7]


def test_the_toy_difference():
    both = np.column_stack([SECOND, JUDGE_MEAN])
    (found,) = spearman_differences(both, HUMAN_MEAN, bootstrap=Bootstrap(seed=7)).differences
    assert found.alone.value == pytest.approx(0.0409240, abs=1e-7)
    assert (found.alone.low, found.alone.high) == pytest.approx((-0.0058, 0.2113), abs=5e-5)
    assert found.together == found.alone
    assert found.standard_error > 0


def test_differences_are_those_of_the_same_items():
    both = np.column_stack([SECOND, JUDGE_MEAN])
    found = spearman_differences(both, HUMAN_MEAN, bootstrap=Bootstrap(n_resamples=200, seed=1)).differences[0]
    drawn = np.random.default_rng(1).integers(0, 12, (200, 12))
    by_hand = [
        stats.spearmanr(both[rows, 0], HUMAN_MEAN[rows]).statistic
        - stats.spearmanr(both[rows, 1], HUMAN_MEAN[rows]).statistic
        for rows in drawn
    ]
    assert (found.alone.low, found.alone.high) == pytest.approx(tuple(np.percentile(by_hand, [2.5, 97.5])), abs=1e-12)
    assert found.standard_error == pytest.approx(np.std(by_hand, ddof=1), abs=1e-12)


def test_several_differences_hold_together_and_are_wider():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=80)
    judges = truth[:, None] + rng.normal(size=(80, 4)) * [0.5, 1.0, 1.5, 2.0]
    found = spearman_differences(judges, truth, bootstrap=Bootstrap())
    assert [(one.a, one.b) for one in found.differences] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for one in found.differences:
        assert one.together.method == "max-|t| bootstrap over items, 6 at once"
        assert one.together.high - one.together.low > one.alone.high - one.alone.low
    reaches = [(one.together.high - one.together.value) / one.standard_error for one in found.differences]
    assert reaches == pytest.approx([reaches[0]] * 6)
    assert 2.0 < reaches[0] < 3.1  # Bonferroni's normal quantile for six is 2.64


def test_max_t_covers_all_at_once_where_each_alone_does_not():
    rng = np.random.default_rng(11)
    together = alone = 0
    for _ in range(150):
        sample = rng.normal(size=(40, 8))
        index = rng.integers(0, 40, (299, 40))
        draws = Draws(values=sample[index].mean(axis=1), bootstrap=Bootstrap(n_resamples=299), n_items=40, n_units=40)
        means = sample.mean(axis=0).tolist()
        together += all(one.low < 0 < one.high for one in simultaneous_estimates(means, draws))
        alone += all(one.low < 0 < one.high for k in range(8) if (one := draws.estimate(means[k], k)))
    assert together / 150 > 0.88
    assert alone / 150 < 0.8


def test_the_same_judge_twice_differs_by_nothing_and_widens_nobody():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=50)
    first, second = truth + rng.normal(size=50), truth + rng.normal(size=50)
    twice = spearman_differences(np.column_stack([first, first, second]), truth, bootstrap=Bootstrap()).differences
    assert twice[0].together.value == 0.0
    assert twice[0].together.no_interval.startswith("degenerate")
    assert twice[1].together.low is not None


def test_a_judge_without_rho_takes_part_in_no_difference():
    judges = np.column_stack([SECOND, np.full(12, 7.0), JUDGE_MEAN])
    found = spearman_differences(judges, HUMAN_MEAN, bootstrap=Bootstrap(n_resamples=99), names=["x", "seven", "y"])
    assert found.judges[1].undefined == "seven gave one value"
    assert [(one.a, one.b) for one in found.differences] == [(0, 2)]
    none = spearman_differences(judges, np.full(12, 3.0), bootstrap=Bootstrap(n_resamples=99))
    assert none.differences == ()
    assert none.judges[0].undefined == "the humans gave one value"


def test_only_items_that_all_rated_are_compared():
    judges = np.column_stack([SECOND, JUDGE_MEAN])
    judges[0, 0] = np.nan
    grades = HUMAN_MEAN.copy()
    grades[3] = np.nan
    found = spearman_differences(judges, grades, bootstrap=Bootstrap(n_resamples=50, clusters=list("aabbccddeeff")))
    assert (found.n, found.n_left_out) == (10, 2)
    assert found.judges[0].method == "percentile bootstrap over 6 clusters"


def test_intervals_end_at_the_bounds_of_the_statistic():
    rng = np.random.default_rng(4)
    values = np.column_stack([rng.normal(0.95, 0.1, 500), rng.normal(0.5, 0.1, 500)])
    draws = Draws(values=values, bootstrap=Bootstrap(n_resamples=500), n_items=20, n_units=20)
    first, second = simultaneous_estimates([0.95, 0.5], draws, bounds=(-1.0, 1.0))
    assert first.high == 1.0
    assert second.high < 1.0


def test_resamples_that_leave_one_undefined_are_too_many_together():
    values = np.random.default_rng(5).normal(size=(100, 3))
    for k in range(3):
        values[4 * k : 4 * k + 4, k] = np.nan
    draws = Draws(values=values, bootstrap=Bootstrap(n_resamples=100), n_items=20, n_units=20)
    assert all("too many resamples" in one.no_interval for one in simultaneous_estimates([0.0] * 3, draws))
    assert draws.estimate(0.0, 1).low is not None


@pytest.mark.parametrize("pairs", [[(0, 0)], [(0, 2)], [(-1, 0)]])
def test_what_is_no_pair_is_refused(pairs):
    with pytest.raises(InvalidInput):
        spearman_differences(np.column_stack([SECOND, JUDGE_MEAN]), HUMAN_MEAN, bootstrap=Bootstrap(), pairs=pairs)
    with pytest.raises(InvalidInput):
        spearman_differences(np.zeros((3, 2)), HUMAN_MEAN, bootstrap=Bootstrap())
