import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.analysis.reruns import Reruns


def noise(items, n_reruns=None):
    reruns = Reruns(n_reruns)
    for name, scores in items.items():
        for score in scores:
            reruns.add_score(name, score)
    return reruns.document()


def test_the_rerun_sd_is_pooled_within_items_with_n_minus_one():
    """(2, 4, 6): squares 8, 2 degrees; (1, 1, 4): mean 2, squares 6, 2 degrees: sqrt(14 / 4)."""
    found = noise({"a": (2, 4, 6), "b": (1, 1, 4)})
    assert found["rerun_sd"] == pytest.approx(math.sqrt(14 / 4))
    assert (found["rerun_items"], found["rerun_agree"]) == (2, 0)


def test_one_rerun_leaves_the_sd_undefined_not_zero():
    found = noise({"a": (3,), "b": (5,)})
    assert (found["rerun_sd"], found["rerun_agree_share"], found["rerun_agree_interval"]) == (None, None, None)
    assert found["rerun_items"] == 0


def test_items_far_apart_whose_reruns_agree_have_no_rerun_noise():
    found = noise({"a": (1, 1), "b": (9, 9)})
    assert (found["rerun_sd"], found["rerun_agree"], found["rerun_agree_share"]) == (0.0, 2, 1.0)


def test_an_item_with_a_verdict_in_some_reruns_only_is_counted_apart():
    found = noise({"a": (3, None, 4), "b": (3, None), "c": (None, None), "d": (2, 2)})
    assert (found["rerun_items"], found["rerun_mixed"], found["rerun_agree"]) == (2, 2, 1)


@given(
    st.dictionaries(st.text(max_size=3), st.lists(st.integers(0, 10), min_size=3, max_size=3), min_size=1, max_size=6)
)
@settings(max_examples=50, deadline=None)
def test_letting_scores_go_early_and_any_order_change_nothing(items):
    pairs = [(name, score) for name, scores in items.items() for score in scores]
    backwards = Reruns()
    for name, score in reversed(pairs):
        backwards.add_score(name, score)
    assert noise(items, 3) == noise(items) == backwards.document()
    variance = statistics.fmean(statistics.variance(scores) for scores in items.values())
    assert noise(items)["rerun_sd"] == pytest.approx(math.sqrt(variance), abs=1e-9)


def test_two_members_together_keep_their_noise_within_items():
    one, other = Reruns(2), Reruns()
    for score in (1, 1):
        one.add_score("a", score)
    for score in (9, 9):
        other.add_score("a", score)
    assert (one + other).document()["rerun_sd"] == 0.0
