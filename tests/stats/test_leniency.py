import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.leniency import leniency, on_scale, sd_ratio
from evenhand.stats.resampling import Bootstrap

H = np.array(
    [[3, 4, 3], [2, 2, 1], [5, 4, 5], [4, 4, 3], [1, 2, 1], [3, 3, 4], [5, 5, 4], [2, 3, 2], [4, 5, 4], [3, 2, 3],
     [1, 1, 2], [4, 3, 4]]
)  # fmt: skip
J = np.array(
    [[7, 7, 8], [6, 6, 5], [8, 8, 9], [7, 7, 7], [5, 6, 5], [7, 7, 7], [8, 8, 8], [7, 6, 7], [8, 7, 8], [7, 7, 7],
     [5, 5, 6], [7, 8, 7]]
)  # fmt: skip


def test_the_worked_value_and_its_t_interval():
    found = leniency(J.mean(1) / 2, H.mean(1))
    assert found.value == pytest.approx(0.3611, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((-0.1143, 0.8365), abs=5e-5)
    assert sd_ratio(J.mean(1) / 2, H.mean(1)) == pytest.approx(0.4065, abs=5e-5)


def test_clusters_are_resampled_and_the_interval_is_wider():
    rng = np.random.default_rng(3)
    sources = np.repeat(np.arange(8), 20)
    human = rng.normal(size=160)
    judge = human + rng.normal(size=8)[sources] + 0.1 * rng.normal(size=160)
    plain = leniency(judge, human)
    clustered = leniency(judge, human, bootstrap=Bootstrap(clusters=sources.tolist(), n_resamples=499))
    assert clustered.method == "percentile bootstrap over 8 clusters"
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)


def test_what_has_no_spread_has_no_interval():
    assert leniency([2, 3, 4], [1, 2, 3]).no_interval.startswith("degenerate")
    assert leniency([2], [1]).no_interval == "1 item"
    assert leniency([None], [1]).undefined == "no items that both rated"
    assert sd_ratio([1, 2], [3, 3]) is None


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=3, max_size=20))
@settings(deadline=None, max_examples=50)
def test_exchanging_judge_and_humans_turns_the_sign(pairs):
    judge, human = zip(*pairs, strict=True)
    one, other = leniency(judge, human), leniency(human, judge)
    assert one.value == pytest.approx(-other.value)
    if one.low is not None:
        assert one.low == pytest.approx(-other.high)


def test_a_scale_is_moved_end_to_end():
    assert on_scale([0, 50, 100], came=(0, 100), wanted=(1, 5)).tolist() == [1.0, 3.0, 5.0]
    assert on_scale([1, 2], came=(1, 5), wanted=(1, 5)).tolist() == [1.0, 2.0]
    with pytest.raises(InvalidInput, match="is no scale"):
        on_scale([1], came=(5, 1), wanted=(1, 5))
