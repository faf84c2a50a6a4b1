"""Intervals that hold together."""

import numpy as np

from evenhand.stats.resampling import Bootstrap, Draws
from evenhand.stats.simultaneous import simultaneous_estimates


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
