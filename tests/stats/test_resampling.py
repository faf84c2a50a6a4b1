"""The bootstrap's draws and intervals, against scipy's own bootstrap where it can be asked."""

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInput
from evenhand.stats.rank import spearman
from evenhand.stats.rank_kernels import spearman_kernel
from evenhand.stats.resampling import Bootstrap, Draws, Units, draw

RNG = np.random.default_rng(20261129)
A = RNG.integers(1, 11, 40).astype(float)
B = np.clip(A + RNG.integers(-3, 4, 40), 1, 10)


def drawn(values, **settings):
    bootstrap = Bootstrap(n_resamples=len(values), **settings)
    return Draws(values=np.asarray(values, dtype=float)[:, None], bootstrap=bootstrap, n_items=9, n_units=9)


def test_the_interval_is_the_one_that_scipy_draws_with_the_same_seed():
    def rho(index):
        chosen = index.astype(int)
        return stats.spearmanr(A[chosen], B[chosen]).statistic

    theirs = stats.bootstrap(
        (np.arange(40),), rho, vectorized=False, n_resamples=300, method="percentile", rng=np.random.default_rng(7)
    )
    ours = spearman(A, B, bootstrap=Bootstrap(n_resamples=300, seed=7))
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=1e-12)
    assert (ours.n_resamples, ours.n_degenerate, ours.seed) == (300, 0, 7)
    assert ours.method == "percentile bootstrap over items"


@pytest.mark.parametrize("n_items", [7, 40_000])
def test_weights_do_not_depend_on_the_batch(n_items, monkeypatch):
    ratings = RNG.normal(size=(n_items, 1))
    bootstrap = Bootstrap(n_resamples=11, seed=3)
    whole = np.concatenate(list(Units.of(ratings, bootstrap).weights(bootstrap)))
    monkeypatch.setattr("evenhand.stats.resampling._BATCH", 3 * n_items)
    assert np.array_equal(np.concatenate(list(Units.of(ratings, bootstrap).weights(bootstrap))), whole)
    assert (whole.sum(axis=1) == n_items).all()


def test_batches_stay_small():
    bootstrap = Bootstrap(n_resamples=4)
    units = Units.of(RNG.normal(size=(200_000, 1)), bootstrap)
    assert {weights.shape for weights in units.weights(bootstrap)} == {(1, 200_000)}


def test_equal_rows_are_one_that_is_drawn_as_often_as_they_stand_for():
    ratings = np.tile([[1.0, 2.0], [1.0, np.nan], [3.0, 2.0]], (500, 1))
    bootstrap = Bootstrap(n_resamples=50)
    units = Units.of(ratings, bootstrap)
    assert units.once().tolist() == [[500.0, 500.0, 500.0]]
    assert sorted(units.rows.tolist()) == [0, 1, 2]
    assert all((weights.sum(axis=1) == 1500).all() for weights in units.weights(bootstrap))


def test_a_table_gives_the_distribution_that_items_give():
    a, b = RNG.integers(0, 4, 2000).astype(float), RNG.integers(0, 4, 2000).astype(float)
    bootstrap = Bootstrap(n_resamples=1500)
    both = np.column_stack([a, b])
    table = spearman(a, b, bootstrap=bootstrap)
    items = Units(rows=np.arange(2000), n_items=2000, n_units=2000)
    rows = draw(spearman_kernel(both), items, bootstrap).estimate(table.value)
    assert (table.low, table.high) == pytest.approx((rows.low, rows.high), abs=0.006)


def test_whole_clusters_are_drawn():
    clusters = [0, 0, 0, 1, 2, 2]
    bootstrap = Bootstrap(n_resamples=200, clusters=clusters)
    units = Units.of(np.arange(6.0)[:, None], bootstrap)
    weights = np.concatenate(list(units.weights(bootstrap)))
    assert units.n_units == 3
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 4] == weights[:, 5]).all()
    assert (weights[:, [0, 3, 4]].sum(axis=1) == 3).all()


def test_a_table_of_clusters_draws_the_clusters_that_items_draw():
    a, b = RNG.integers(0, 3, 900).astype(float), RNG.integers(0, 3, 900).astype(float)
    bootstrap = Bootstrap(n_resamples=64, seed=5, clusters=(np.arange(900) // 30).tolist())
    both = np.column_stack([a, b])
    units = Units.of(both, bootstrap)
    assert units.table is not None
    items = Units(rows=np.arange(900), n_items=900, n_units=30, codes=np.arange(900) // 30)
    of_table = draw(spearman_kernel(both[units.rows]), units, bootstrap).values
    of_items = draw(spearman_kernel(both), items, bootstrap).values
    assert of_table == pytest.approx(of_items, abs=1e-12)


def test_one_cluster_has_no_interval():
    found = spearman(A, B, bootstrap=Bootstrap(clusters=["essay"] * 40))
    assert found.low is None
    assert found.no_interval == "one cluster: there is nothing to resample"


def test_equal_seeds_draw_equal_resamples_and_others_do_not():
    first, same, other = (spearman(A, B, bootstrap=Bootstrap(seed=seed)) for seed in (1, 1, 2))
    assert first == same
    assert first.low != other.low


def test_undefined_resamples_are_counted_and_left_out():
    values = [float("nan")] * 4 + list(range(96))
    found = drawn(values).estimate(5.0)
    assert (found.n_degenerate, found.n_resamples) == (4, 100)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(range(96), [2.5, 97.5])))


def test_too_many_undefined_resamples_refuse_the_interval():
    found = drawn([float("nan")] * 6 + list(range(94))).estimate(5.0)
    assert (found.value, found.low, found.high) == (5.0, None, None)
    assert found.no_interval == "6 of 100 resamples (6.0 %) leave it undefined, more than 5 %"
    assert found.document()["resamples"] == {"n": 100, "degenerate": 6, "seed": 0}


def test_a_collapsed_judge_of_twenty_loses_its_interval_as_computed_elsewhere():
    # 6, 18 times 7, 8: the share of constant resamples is (18/20)^20 = 12.2 %; scipy's bootstrap returns nan.
    judge, humans = [6] + [7] * 18 + [8], list(RNG.permutation(np.arange(20)))
    found = spearman(judge, humans, bootstrap=Bootstrap(n_resamples=9999))
    assert found.low is None
    assert found.n_degenerate / 9999 == pytest.approx(0.9**20, abs=0.01)


def test_resamples_that_are_all_alike_are_called_degenerate():
    found = drawn([1.0] * 99 + [1.0 - 1e-15]).estimate(1.0)
    assert found.low is None
    assert found.no_interval == "degenerate: the resamples give 1 throughout, which is no sign of precision"


def test_memory_is_not_asked_for_all_resamples_at_once():
    draws = draw(lambda weights: weights[:, 0], Units.of(np.zeros((10, 1)), Bootstrap()), Bootstrap())
    assert draws.values.shape == (1999, 1)


@pytest.mark.parametrize("settings", [{"n_resamples": 0}, {"confidence": 1.0}, {"seed": -1}, {"most_undefined": 1.5}])
def test_settings_outside_their_range_are_refused(settings):
    with pytest.raises(InvalidInput):
        Bootstrap(**settings)


def test_clusters_of_another_length_are_refused():
    with pytest.raises(InvalidInput, match="3 clusters for 40 items"):
        spearman(A, B, bootstrap=Bootstrap(clusters=[1, 2, 3]))
