import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.pass_rates import PassAgreement, pass_agreement, prediction_powered_mean, rogan_gladen

JUDGED = [1] * 56 + [0] * 7 + [1] * 8 + [0] * 29
GRADED = [1] * 63 + [0] * 37
MANY = [1] * 704 + [0] * 296


def test_the_published_rates():
    found = pass_agreement(JUDGED, GRADED)
    assert found.tpr.value == pytest.approx(0.8888889, abs=1e-7)
    assert found.tnr.value == pytest.approx(0.7837838, abs=1e-7)
    assert (found.tpr.n, found.tnr.n) == (63, 37)
    corrected = rogan_gladen(found, 704, 1000)
    assert corrected.value == pytest.approx(0.7251429, abs=1e-7)
    # judgy, which resamples the labelled items alone, has (0.6176, 0.8256)
    assert (corrected.low, corrected.high) == pytest.approx((0.6175699, 0.8255843), abs=0.03)


def test_prediction_powered_inference_equals_the_published_library():
    fixed = prediction_powered_mean(JUDGED, GRADED, MANY, tuning=1.0)
    assert (fixed.value, fixed.low, fixed.high) == pytest.approx((0.694, 0.6130133, 0.7749867), abs=1e-7)
    tuned = prediction_powered_mean(JUDGED, GRADED, MANY)
    assert (tuned.value, tuned.low, tuned.high) == pytest.approx((0.6732538, 0.6009973, 0.7455104), abs=1e-7)


def test_a_judge_no_better_than_a_coin_corrects_nothing_and_prediction_powered_inference_still_holds():
    found = pass_agreement([1, 0, 1, 0], [1, 1, 0, 0])
    corrected = rogan_gladen(found, 5, 10)
    assert corrected.value is None
    assert corrected.undefined == "TPR + TNR is 1, not above 1: the judge tells nothing"
    assert prediction_powered_mean([1, 0, 1, 0], [1, 1, 0, 0], [1] * 5 + [0] * 5).value == pytest.approx(0.5)


def test_a_rate_without_its_kind_of_item_is_undefined():
    found = pass_agreement([1, 1], [1, 1])
    assert found.tnr.undefined == "the humans failed no item"
    assert rogan_gladen(found, 1, 2).undefined == "the humans failed no item"
    assert pass_agreement([0], [0]).tpr.undefined == "the humans passed no item"
    assert rogan_gladen(pass_agreement(JUDGED, GRADED), 0, 0).undefined == "no unlabelled item has a score"


def test_the_interval_covers_the_true_rate():
    """200 data sets: the share that is covered lies within four standard errors of 95 %."""
    rng = np.random.default_rng(11)
    covered = {"formula": 0, "powered": 0}
    for _ in range(200):
        good, many_good = rng.random(100) < 0.7, rng.random(800) < 0.7
        judged = np.where(good, rng.random(100) < 0.9, rng.random(100) < 0.2).astype(float)
        many = np.where(many_good, rng.random(800) < 0.9, rng.random(800) < 0.2).astype(float)
        formula = rogan_gladen(pass_agreement(judged, good.astype(float)), int(many.sum()), 800)
        powered = prediction_powered_mean(judged, good.astype(float), many)
        covered["formula"] += formula.low <= 0.7 <= formula.high
        covered["powered"] += powered.low <= 0.7 <= powered.high
    assert min(covered.values()) >= 200 * (0.95 - 4 * 0.0154)


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_exchanging_pass_and_fail_exchanges_the_rates(seed):
    rng = np.random.default_rng(seed)
    judge, human = rng.integers(0, 2, 30).astype(float), rng.integers(0, 2, 30).astype(float)
    one, other = pass_agreement(judge, human), pass_agreement(1 - judge, 1 - human)
    assert (one.tpr, one.agreement, one.majority_baseline) == (
        other.tnr if one.tpr.value is not None else one.tpr, other.agreement, other.majority_baseline,
    )  # fmt: skip


def test_a_graded_score_is_no_pass():
    with pytest.raises(InvalidInput, match="judge holds 3"):
        pass_agreement([3, 1], [1, 0])
    with pytest.raises(InvalidInput, match="5 of 4 passed"):
        rogan_gladen(PassAgreement(n=1, true_pass=1, false_pass=0, false_fail=0, true_fail=0), 5, 4)


def test_too_little_for_a_mean_says_so():
    assert "1 hand-graded" in prediction_powered_mean([1], [1], [1, 0]).undefined
    assert prediction_powered_mean([1, 0], [1, 0], [1, 1], tuning=1.0).no_interval.startswith("degenerate")
