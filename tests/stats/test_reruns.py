import csv
import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.reruns import best_n_reruns, rerun_noise, variance_of_mean
from evenhand.stats.resampling import Bootstrap

TOY = [
    [7, 7, 8], [6, 6, 5], [8, 8, 9], [7, 7, 7], [5, 6, 5], [7, 7, 7],
    [8, 8, 8], [7, 6, 7], [8, 7, 8], [7, 7, 7], [5, 5, 6], [7, 8, 7],
]  # fmt: skip


def test_the_worked_values_are_reproduced():
    found = rerun_noise(TOY)
    assert found.sd.value == pytest.approx(0.4714045, abs=1e-7)
    assert found.icc.value == pytest.approx(0.8023952, abs=1e-7)
    assert (found.within, found.between) == pytest.approx((0.2222222, 0.9023569), abs=1e-7)
    assert (found.n_items, found.n_scores, found.n_repeated, found.n_identical) == (12, 36, 12, 4)
    assert best_n_reruns(found.between, found.within, cost_ratio=10) == pytest.approx(1.57, abs=0.005)


@pytest.mark.shared
def test_every_batch_of_essays_has_the_published_noise(shared):
    folder = shared / "data/judgments/evalessay_reruns"
    oracles = json.loads((folder / "oracles.json").read_text())["batches"]
    runs = defaultdict(lambda: defaultdict(list))
    with (folder / "runs.csv").open() as stream:
        for row in csv.DictReader(stream):
            runs[row["batch"]][row["essay"]].append(float(row["score"]) if row["score"] else np.nan)
    assert runs.keys() == oracles.keys()
    for batch, items in runs.items():
        width, oracle = max(map(len, items.values())), oracles[batch]
        found = rerun_noise([[*scores, *[np.nan] * (width - len(scores))] for scores in items.values()])
        if oracle["rerun_sd_pooled"] is None:
            assert found.sd.undefined == "no item has scores of two reruns"
            assert found.sd.value is found.icc.value is found.between is None  # not 0, whatever a table shows
            continue
        assert found.sd.value == pytest.approx(oracle["rerun_sd_pooled"], abs=1e-6), batch
        assert found.mean_item_sd == pytest.approx(oracle["rerun_sd_mean_of_item_sds"], abs=1e-6), batch
        assert found.largest_item_sd == pytest.approx(oracle["sd_max"], abs=1e-6), batch
        assert found.between == pytest.approx(oracle["between_item_var"], abs=1e-6), batch
        assert found.icc.value == pytest.approx(oracle["icc1_single_run"], abs=1e-6), batch
        assert found.n_scores == oracle["n_rows"], batch


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(2, 5))
@settings(deadline=None, max_examples=40)
def test_the_order_of_items_and_reruns_is_of_no_account(seed, n, k):
    rng = np.random.default_rng(seed)
    scores = rng.integers(1, 6, size=(n, k)).astype(float)
    scores[rng.random((n, k)) < 0.2] = np.nan
    mixed = rng.permuted(scores, axis=1)[rng.permutation(n)]
    one, other = rerun_noise(scores), rerun_noise(mixed)
    assert (one.sd.undefined, one.icc.undefined, one.n_identical) == (
        other.sd.undefined, other.icc.undefined, other.n_identical,
    )  # fmt: skip
    if one.sd.value is not None:
        assert one.sd.value == pytest.approx(other.sd.value, abs=1e-9)


def test_a_judge_without_noise_has_an_sd_of_0_and_no_interval_that_would_look_precise():
    found = rerun_noise([[3, 3], [4, 4], [5, 5]], bootstrap=Bootstrap(n_resamples=99))
    assert found.sd.value == 0.0
    assert found.sd.low is None
    assert "degenerate" in found.sd.no_interval


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([[7.0], [6.0]], "no item has scores of two reruns"),
        ([[7.0, None], [None, 6.0]], "no item has scores of two reruns"),
        ([[7.0, 7.0], [7.0, 7.0]], "all ratings are equal"),
        ([[7.0, 8.0]], "1 item"),
    ],
)
def test_an_icc_that_is_not_defined_says_why(scores, reason):
    assert rerun_noise(scores).icc.undefined == reason


def test_what_cannot_be_planned_is_refused():
    assert best_n_reruns(-0.1, 0.2, cost_ratio=10) is None
    with pytest.raises(InvalidInput, match="cost ratio"):
        best_n_reruns(1.0, 0.2, cost_ratio=0)
    with pytest.raises(InvalidInput, match="reruns"):
        variance_of_mean(1.0, 0.2, n_items=5, n_reruns=0)
