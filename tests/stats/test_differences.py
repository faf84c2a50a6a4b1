import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from evenhand.errors import InvalidInput
from evenhand.stats.baselines import length_baseline
from evenhand.stats.differences import mcnemar_exact, mean_differences, rho_differences, wilcoxon_p
from evenhand.stats.resampling import Bootstrap

HUMAN = np.array([10, 5, 14, 11, 4, 10, 14, 7, 13, 8, 4, 11]) / 3
JUDGE = np.array([22, 17, 25, 21, 16, 21, 24, 20, 23, 21, 16, 22]) / 3
SECOND = np.array([6, 4, 9, 7, 3, 6, 9, 5, 8, 5, 3, 7], dtype=float)


def z(values):
    return (values - values.mean()) / values.std(ddof=1)


def test_the_worked_difference_and_its_percentile_interval():
    found = rho_differences(np.column_stack([SECOND, JUDGE]), HUMAN, bootstrap=Bootstrap(seed=7))[0]
    assert found.difference.value == pytest.approx(0.0409240, abs=1e-7)
    assert (found.low, found.high) == pytest.approx((-0.0058, 0.2113), abs=5e-5)
    assert (found.low, found.high) == (found.difference.low, found.difference.high)
    assert found.detectable == pytest.approx(2.8015852 * found.standard_error)


def test_the_worked_tests():
    assert mcnemar_exact(12, 4) == pytest.approx(0.0768127, abs=1e-7)
    assert mcnemar_exact(0, 0) == 1.0
    p, n = wilcoxon_p(z(JUDGE) - z(HUMAN), z(SECOND) - z(HUMAN))
    assert (p, n) == (pytest.approx(0.0410156, abs=1e-7), 12)
    assert wilcoxon_p([1, -2], [-1, 2]) == (None, 2)


@pytest.mark.shared
def test_clusters_widen_the_difference_of_two_runs(shared):
    with (shared / "data/judgments/llmjudge_trec_dl23/labels.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    judges = [[float(row[name]) for name in ("willia-umbrela1", "Olz-gpt4o")] for row in rows]
    human = [float(row["human"]) for row in rows]
    over_rows = rho_differences(judges, human, bootstrap=Bootstrap(seed=7, n_resamples=1000))[0]
    assert over_rows.difference.value == pytest.approx(-0.0044968, abs=6e-8)
    assert (over_rows.low, over_rows.high) == pytest.approx((-0.0194, 0.0102), abs=0.002)
    clusters = [row["qid"] for row in rows]
    over_queries = rho_differences(judges, human, bootstrap=Bootstrap(seed=7, n_resamples=1000, clusters=clusters))[0]
    assert (over_queries.low, over_queries.high) == pytest.approx((-0.0291, 0.0168), abs=0.002)


def test_a_pair_is_compared_on_the_items_that_both_judged():
    rng = np.random.default_rng(2)
    human = rng.normal(size=40)
    judges = human[:, None] + rng.normal(size=(40, 3))
    judges[:10, 0], judges[30:, 1] = np.nan, np.nan
    for one in rho_differences(judges, human, bootstrap=Bootstrap(n_resamples=199)):
        both = np.isfinite(judges[:, [one.a, one.b]]).all(axis=1)
        rho_a, rho_b = (spearmanr(judges[both, k], human[both]).statistic for k in (one.a, one.b))
        assert one.difference.value == pytest.approx(rho_a - rho_b, abs=1e-12)
        assert one.difference.n == both.sum()


def test_the_joint_draw_equals_a_bootstrap_written_out():
    rng = np.random.default_rng(4)
    human = rng.integers(1, 6, 30).astype(float)
    judges = np.clip(human[:, None] + rng.integers(-2, 3, (30, 2)), 1, 5)
    found = rho_differences(judges, human, bootstrap=Bootstrap(n_resamples=300, seed=9))[0]
    picks = np.random.default_rng(9).integers(0, 30, size=(300, 30))
    drawn = [
        spearmanr(judges[pick, 0], human[pick]).statistic - spearmanr(judges[pick, 1], human[pick]).statistic
        for pick in picks
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])), abs=1e-12)
    assert found.standard_error == pytest.approx(np.std(drawn, ddof=1), abs=1e-12)


def test_with_several_judges_the_intervals_hold_together_and_are_wider():
    rng = np.random.default_rng(0)
    human = rng.normal(size=80)
    judges = human[:, None] + rng.normal(size=(80, 4)) * [0.5, 1.0, 1.5, 2.0]
    found = rho_differences(judges, human, bootstrap=Bootstrap(n_resamples=999))
    assert [(one.a, one.b) for one in found] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert all(one.high - one.low > one.difference.high - one.difference.low for one in found)
    reaches = [(one.high - one.difference.value) / one.standard_error for one in found]
    assert reaches == pytest.approx([reaches[0]] * 6)
    assert 2.0 < reaches[0] < 3.1  # Bonferroni's normal quantile for six is 2.64


def test_the_same_judge_twice_differs_by_nothing_and_widens_nobody():
    rng = np.random.default_rng(2)
    human = rng.normal(size=50)
    first, second = human + rng.normal(size=50), human + rng.normal(size=50)
    twice, apart, _ = rho_differences(np.column_stack([first, first, second]), human, bootstrap=Bootstrap())
    assert twice.difference.value == 0.0
    assert twice.difference.no_interval.startswith("degenerate")
    assert twice.low is None
    assert apart.low is not None


def test_a_judge_with_one_value_is_undefined_and_spoils_no_other_pair():
    rng = np.random.default_rng(8)
    human = rng.normal(size=30)
    judges = np.column_stack([human + rng.normal(size=30), np.full(30, 7.0), human + rng.normal(size=30)])
    how = Bootstrap(n_resamples=199)
    first, second, third = rho_differences(judges, human, bootstrap=how, names=["x", "seven", "y"])
    assert first.difference.undefined == third.difference.undefined == "seven gave one value"
    assert first.low is third.low is first.detectable is None
    assert second.low < second.difference.value < second.high
    flat = rho_differences(judges, np.full(30, 3.0), bootstrap=how)
    assert "the humans gave one value" in {one.difference.undefined for one in flat}


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=15)
def test_exchanging_two_judges_turns_the_sign(seed):
    rng = np.random.default_rng(seed)
    human, judges = rng.integers(1, 6, 20).astype(float), rng.integers(1, 6, (20, 2)).astype(float)
    how = Bootstrap(n_resamples=99, most_undefined=0.99)
    one = rho_differences(judges, human, bootstrap=how)[0]
    other = rho_differences(judges[:, ::-1], human, bootstrap=how)[0]
    if one.difference.value is not None:
        assert one.difference.value == pytest.approx(-other.difference.value, abs=1e-12)
    means = mean_differences(judges, bootstrap=how)[0], mean_differences(judges[:, ::-1], bootstrap=how)[0]
    assert means[0].difference.value == pytest.approx(-means[1].difference.value, abs=1e-12)


def test_a_failure_is_no_zero_in_a_mean():
    judges = [[4, 4], [5, 3], [None, 4], [4, 4], [None, 3], [5, 4], [None, 4], [4, 4]]
    found = mean_differences(judges, bootstrap=Bootstrap(n_resamples=199))[0]
    assert (found.value_a, found.value_b, found.difference.n) == (pytest.approx(4.4), pytest.approx(3.8), 5)


def test_one_judge_is_nothing_to_compare():
    with pytest.raises(InvalidInput, match="expected two or more"):
        rho_differences([[1], [2]], [1, 2], bootstrap=Bootstrap())
    with pytest.raises(InvalidInput, match="the same ones"):
        rho_differences([[1, 2]], [1, 2], bootstrap=Bootstrap())
    with pytest.raises(InvalidInput, match="expected one each"):
        rho_differences([[1, 2], [2, 1]], [1, 2], bootstrap=Bootstrap(), names=["a"])
    with pytest.raises(InvalidInput, match="0 or more"):
        mcnemar_exact(-1, 2)


def test_a_judge_that_only_measures_length_does_not_beat_length():
    rng = np.random.default_rng(12)
    length = np.exp(rng.normal(5, 1, 80))
    human = np.log(length) + rng.normal(size=80)
    found = length_baseline(np.log(length), human, length, bootstrap=Bootstrap(n_resamples=199))
    assert found.judge_less_length.difference.value == pytest.approx(0.0, abs=1e-12)
    assert found.beaten in (False, None)
    better = length_baseline(human + 0.1 * rng.normal(size=80), human, length, bootstrap=Bootstrap(n_resamples=199))
    assert better.beaten is True
    assert length_baseline([1, 2], [1, 2], [None, None], bootstrap=Bootstrap()).rho.undefined == "no lengths are known"
