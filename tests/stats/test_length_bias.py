import csv
import json

import numpy as np
import pytest

from evenhand.stats.length_bias import WORDING, length_bias
from evenhand.stats.resampling import Bootstrap

HUMAN = np.array([10, 5, 14, 11, 4, 10, 14, 7, 13, 8, 4, 11]) / 3
JUDGE = np.array([22, 17, 25, 21, 16, 21, 24, 20, 23, 21, 16, 22]) / 3
LENGTH = [120, 80, 310, 200, 60, 150, 400, 90, 260, 170, 75, 210]


def test_the_worked_values():
    pytest.importorskip("statsmodels", reason="needs evenhand[stats]")
    found = length_bias(JUDGE, HUMAN, LENGTH, common_scale=False)
    assert found.judge_length.value == pytest.approx(0.9293808, abs=1e-7)
    assert found.human_length.value == pytest.approx(0.9718551, abs=1e-7)
    assert found.partial.value == pytest.approx(-0.0626371, abs=1e-7)
    assert found.partial.method == "least squares, HC3 errors"
    # t(9) times the published HC3 error 0.5211548
    assert (found.partial.high - found.partial.value) == pytest.approx(2.2621572 * 0.5211548, abs=1e-6)


@pytest.mark.shared
def test_humans_like_length_too_and_the_difference_is_what_counts(shared):
    folder = shared / "data/judgments/hanna_stories"
    oracles = json.loads((folder / "oracles.json").read_text())["length"]
    with (folder / "scores.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    lengths = [float(row["text_length"]) for row in rows]
    for name, oracle in list(oracles.items())[::5]:
        human = np.mean([[float(row[f"human{k}_{name[-2:]}"]) for row in rows] for k in (1, 2, 3)], axis=0)
        found = length_bias([float(row[name]) for row in rows], human, lengths)
        assert found.judge_length.value == pytest.approx(oracle["rho_judge_length"], abs=1e-6)
        assert found.human_length.value == pytest.approx(oracle["rho_human_length"], abs=1e-6)


def test_a_judge_that_pays_for_length_is_found_and_one_that_does_not_is_not():
    pytest.importorskip("statsmodels", reason="needs evenhand[stats]")
    rng = np.random.default_rng(5)
    length = np.exp(rng.normal(5, 1, size=400))
    human = rng.normal(3, 1, size=400)
    fair = human + 0.3 * rng.normal(size=400)
    found = length_bias(fair + 0.5 * np.log2(length), human, length)
    assert found.per_doubling.value == pytest.approx(0.5, abs=0.05)
    assert found.per_doubling.low > 0.4
    fair_found = length_bias(fair, human, length)
    assert fair_found.per_doubling.low < 0 < fair_found.per_doubling.high
    sources = Bootstrap(n_resamples=99, clusters=[k % 20 for k in range(400)])
    clustered = length_bias(fair, human, length, bootstrap=sources)
    assert clustered.per_doubling.method == "least squares, errors by 20 clusters"
    assert clustered.judge_length.method == "percentile bootstrap over 20 clusters"


@pytest.mark.parametrize(
    ("judge", "human", "length", "reason"),
    [
        ([1, 2, 3], [1, 2, 3], [5, 6, 7], "3 items with a score, a grade and a length; a regression needs 8"),
        (list(range(9)), list(range(9, 0, -1)), [5] * 9, "all texts are of one length"),
        ([4] * 9, list(range(9)), list(range(1, 10)), "the judge gave one value"),
        (list(range(9)), [4] * 9, list(range(1, 10)), "the humans gave one value"),
    ],
)
def test_what_is_not_defined_says_why(judge, human, length, reason):
    assert length_bias(judge, human, length, common_scale=False).per_doubling.undefined == reason


def test_no_lengths_at_all_is_said():
    found = length_bias([1, 2], [1, 2], [None, None])
    assert found.judge_length.undefined == found.human_length.undefined == "no item has a length"


def test_the_wording_claims_no_more_than_the_data():
    assert WORDING == "association not explained by these humans"
