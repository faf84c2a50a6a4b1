"""Many pools at once give what one pool at a time gives."""

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.scoring.impact import score_impacts
from evenhand.scoring.pools import score_pools
from evenhand.scoring.variants import VARIANTS, settings
from evenhand.terms import IMPACTS


@pytest.mark.parametrize("variant", VARIANTS)
def test_bulk_equals_single_for_every_variant(variant):
    rng = np.random.default_rng(11)
    n_pools = 300
    pools = rng.permutation(np.concatenate([np.repeat(np.arange(n_pools), 2), rng.integers(0, n_pools, 3000)]))
    impacts = rng.choice(np.array(IMPACTS), len(pools))
    bulk = score_pools(impacts, pools, settings(variant))
    for pool in range(n_pools):
        single = score_impacts(impacts[pools == pool].tolist(), settings(variant))
        assert bulk.score[pool] == single.score
        for field in ("net", "n", "normalized", "raw", "density", "multiplier", "exact", "confidence"):
            assert getattr(bulk, field)[pool] == pytest.approx(getattr(single, field), abs=1e-9), field


def test_exact_halves_are_rounded_as_in_single_scores():
    # 16 items of net 5: 59.5; 16 of net -5: 40.5
    impacts = [1] * 5 + [3, -3] * 5 + [2] + [-1] * 5 + [3, -3] * 5 + [-2]
    impacts[15], impacts[31] = 1, -1
    impacts[0], impacts[16] = -1 + 1 + 1, 1 - 1 - 1
    pools = [0] * 16 + [1] * 16
    bulk = score_pools(impacts, pools, settings())
    singles = [score_impacts(impacts[:16], settings()).score, score_impacts(impacts[16:], settings()).score]
    assert bulk.score.tolist() == singles


@pytest.mark.parametrize("variant", ["production", "net-amplified", "mean"])
def test_every_small_pool_is_rounded_alike(variant):
    impacts, pools = [], []
    cases = [[3] * a + [-1] * b + [1] * c for a in range(5) for b in range(5) for c in range(17) if a + b + c]
    for place, case in enumerate(cases):
        impacts += case
        pools += [place] * len(case)
    bulk = score_pools(impacts, pools, settings(variant))
    assert bulk.score.tolist() == [score_impacts(case, settings(variant)).score for case in cases]


def test_a_pool_without_items_has_no_score():
    bulk = score_pools([3], [1], settings(), n_pools=3)
    assert np.isnan(bulk.score[[0, 2]]).all()
    assert np.isnan(bulk.exact[[0, 2]]).all()
    assert bulk.n.tolist() == [0, 1, 0]
    assert bulk.normalized[0] == 0


def test_no_items_at_all_are_no_pools():
    assert score_pools([], [], settings()).score.shape == (0,)
    assert np.isnan(score_pools([], [], settings("log"), n_pools=2).score).all()


@pytest.mark.parametrize(
    ("impacts", "pools", "said"),
    [
        ([3, 4], [0, 0], r"impacts\[1\] is 4"),
        ([3, 0], [0, 0], r"impacts\[1\] is 0"),
        ([3, -(2**63)], [0, 0], r"impacts\[1\] is -9223372036854775808"),
        ([3], [0, 0], "shape"),
        ([3.0], [0], "float64"),
        ([True], [0], "bool"),
        ([[3]], [[0]], "2 dimensions"),
        ([3], [-1], "runs from -1"),
        ([3], [10**9], "without gaps"),
    ],
)
def test_arrays_that_are_no_pools_are_refused(impacts, pools, said):
    with pytest.raises(InvalidInput, match=said):
        score_pools(impacts, pools, settings())


def test_a_pool_beyond_the_stated_number_is_refused():
    with pytest.raises(InvalidInput, match="numbers from 0 to 1"):
        score_pools([3], [2], settings(), n_pools=2)


def test_log_names_the_pool_of_one_item():
    with pytest.raises(InvalidInput, match="pool 1 holds one item"):
        score_pools([3, 1, 2], [0, 0, 1], settings("log"))
