"""The human ceiling and the correction for noise: computed values, missing grades, and where nothing may be said."""

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InvalidInput
from evenhand.stats.attenuation import attenuation
from evenhand.stats.ceiling import human_ceiling, pairwise_agreement
from evenhand.stats.icc import intraclass_correlations
from evenhand.stats.resampling import Bootstrap

HUMANS = np.array([list(map(int, grades)) for grades in ("325413524314", "424423535213", "315314424324")]).T
JUDGE = np.array([list(map(int, ratings)) for ratings in ("768757878757", "768767867758", "859757878767")]).T
MEAN = JUDGE.mean(axis=1)


def test_the_toy_ceiling():
    found = human_ceiling(HUMANS, MEAN)
    assert [one.human.value for one in found.raters] == pytest.approx([0.9281454, 0.7874909, 0.8230123], abs=5e-8)
    assert [one.judge.value for one in found.raters] == pytest.approx([0.9545658, 0.9412871, 0.9378464], abs=5e-8)
    assert found.mean.value == pytest.approx(np.mean([0.9281454, 0.7874909, 0.8230123]), abs=5e-8)
    assert found.judge_less_human.value == pytest.approx(
        found.judge_on_same_targets.value - found.mean.value, abs=1e-12
    )
    assert (found.n_raters, found.mean.n) == (3, 12)


def test_all_figures_of_the_ceiling_come_from_one_draw():
    found = human_ceiling(HUMANS, MEAN, bootstrap=Bootstrap(n_resamples=200, seed=6))
    drawn = np.random.default_rng(6).integers(0, 12, (200, 12))
    human, judge = [], []
    for rows in drawn:
        others = [np.delete(HUMANS[rows], k, axis=1).mean(axis=1) for k in range(3)]
        human.append(np.mean([stats.spearmanr(HUMANS[rows, k], others[k]).statistic for k in range(3)]))
        judge.append(np.mean([stats.spearmanr(MEAN[rows], target).statistic for target in others]))
    for one, values in (
        (found.mean, human),
        (found.judge_on_same_targets, judge),
        (found.judge_less_human, np.subtract(judge, human)),
    ):
        assert (one.low, one.high) == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])), abs=1e-12)


def test_without_a_judge_only_the_humans_stand():
    found = human_ceiling(HUMANS, bootstrap=Bootstrap(n_resamples=99))
    assert found.judge_on_same_targets is None
    assert found.judge_less_human is None
    assert all(one.judge is None for one in found.raters)
    assert found.mean.value == human_ceiling(HUMANS, MEAN).mean.value


def test_judge_and_rater_have_the_same_items():
    judge = MEAN.copy()
    judge[[0, 5]] = np.nan
    kept = ~np.isnan(judge)
    found, alone = human_ceiling(HUMANS, judge), human_ceiling(HUMANS[kept], judge[kept])
    assert found.mean.value == alone.mean.value
    assert found.raters[0].human.n == found.raters[0].judge.n == 10


def test_missing_grades_leave_the_mean_of_the_others():
    grades = HUMANS.astype(float)
    grades[0, 1] = grades[1, 0] = grades[1, 1] = grades[2, 2] = np.nan
    found = human_ceiling(grades, MEAN, bootstrap=Bootstrap(n_resamples=50))
    others = np.array([grades[i][[0, 2]][~np.isnan(grades[i][[0, 2]])].mean() for i in range(2, 12)])
    assert found.raters[1].human.n == 10
    assert found.raters[1].human.value == pytest.approx(stats.spearmanr(grades[2:, 1], others).statistic)
    assert found.raters[0].human.n == 11


def test_a_judge_with_one_value_leaves_the_humans_their_ceiling():
    found = human_ceiling(HUMANS, np.full(12, 7.0), bootstrap=Bootstrap(n_resamples=99))
    assert found.mean.value == human_ceiling(HUMANS).mean.value
    assert found.judge_on_same_targets.undefined == "the judge gave one value"
    assert found.judge_less_human.undefined == "the judge gave one value"


def test_a_rater_with_one_value_is_left_out_of_the_means():
    grades = HUMANS.copy()
    grades[:, 2] = 3
    found = human_ceiling(grades, MEAN, bootstrap=Bootstrap(n_resamples=99))
    assert found.raters[2].human.undefined == "rater 3 gave one value"
    assert found.n_raters == 2
    assert found.mean.value == pytest.approx(np.mean([one.human.value for one in found.raters[:2]]))


@pytest.mark.parametrize(
    ("humans", "reason"),
    [
        ([[1], [2], [3]], "1 rater: there is nobody to agree with"),
        ([[1, 2], [2, 2]], "the other raters have 2 items in common; 3 are needed"),
        ([[1, None], [None, 2]], "the other raters have 0 items in common; 3 are needed"),
    ],
)
def test_no_ceiling_without_raters_in_common(humans, reason):
    found = human_ceiling(humans, [1] * len(humans), bootstrap=Bootstrap(n_resamples=9))
    assert found.n_raters == 0
    assert found.mean.undefined.removeprefix("rater 1 and ") == reason
    assert found.judge_on_same_targets.undefined.removeprefix("the judge and ") == reason


def test_other_lengths_are_refused():
    with pytest.raises(InvalidInput, match="2 items judged, 12 graded"):
        human_ceiling(HUMANS, [1, 2])
    with pytest.raises(InvalidInput):
        attenuation([[1], [2]], HUMANS, bootstrap=Bootstrap())


def test_pairwise_agreement_and_its_bound():
    found = pairwise_agreement(HUMANS, bootstrap=Bootstrap(n_resamples=99))
    rhos = [stats.spearmanr(HUMANS[:, a], HUMANS[:, b]).statistic for a, b in ((0, 1), (0, 2), (1, 2))]
    assert [one.value for _, _, one in found.pairs] == pytest.approx(rhos, abs=1e-12)
    r = np.mean(rhos)
    assert found.mean.value == pytest.approx(r)
    assert found.reliability.value == pytest.approx(3 * r / (1 + 2 * r))
    assert found.bound.value == pytest.approx(np.sqrt(3 * r / (1 + 2 * r)))
    assert found.bound.low < found.bound.value < found.bound.high


def test_raters_who_disagree_bound_nothing():
    found = pairwise_agreement([[1, 4], [2, 2], [3, 3], [4, 1]])
    assert found.mean.value < 0
    assert found.bound.undefined == "the raters agree no better than by chance, which bounds nothing"
    assert pairwise_agreement([[1, 3], [2, 2], [3, 1]]).reliability.undefined == "no raters could agree that little"


def test_pairs_that_share_too_few_items_are_left_out():
    grades = [[1, 2, None], [2, 3, None], [3, 1, 2], [4, 4, 4], [5, None, 3]]
    found = pairwise_agreement(grades, bootstrap=Bootstrap(n_resamples=9, most_undefined=0.9))
    assert [one.n for _, _, one in found.pairs] == [4, 3, 2]
    assert found.pairs[2][2].undefined == "rater 2 and rater 3 have 2 items in common; 3 are needed"
    assert found.mean.value == pytest.approx(np.mean([found.pairs[0][2].value, found.pairs[1][2].value]))


def test_one_rater_agrees_with_nobody():
    assert pairwise_agreement([[1], [2], [3]]).mean.undefined == "1 rater"


def test_the_toy_correction_exceeds_one_and_is_not_cut():
    found = attenuation(JUDGE, HUMANS, bootstrap=Bootstrap())
    assert found.observed.value == pytest.approx(0.9671894, abs=5e-8)
    assert found.human_reliability.value == pytest.approx(0.9196581, abs=5e-8)
    assert found.judge_reliability.value == pytest.approx(0.9241379, abs=5e-8)
    assert found.corrected.value == pytest.approx(1.0491315, abs=5e-8)
    assert found.corrected.low < found.corrected.value < found.corrected.high


def test_one_rerun_is_taken_to_be_without_noise():
    found = attenuation(MEAN[:, None], HUMANS, bootstrap=Bootstrap())
    assert found.judge_reliability is None
    assert found.corrected.value == pytest.approx(found.observed.value / found.human_reliability.value**0.5)


def test_nothing_is_divided_by_a_reliability_near_zero():
    rng = np.random.default_rng(3)
    found = attenuation(MEAN[:, None], rng.integers(1, 6, (12, 3)), bootstrap=Bootstrap())
    assert found.corrected.value is None
    assert found.corrected.undefined.startswith("the reliability of the humans' mean is")
    assert found.observed.value is not None


@pytest.mark.parametrize(
    ("judge", "humans", "reason"),
    [
        (MEAN[:, None], HUMANS[:, :1], "the reliability of the humans' mean is undefined: 1 rater"),
        (np.full((12, 1), 7.0), HUMANS, "the judge gave one value"),
        ([[7.0]], [[1, 2]], "the reliability of the humans' mean is undefined: 1 item"),
    ],
)
def test_no_correction_without_its_parts(judge, humans, reason):
    assert attenuation(judge, humans, bootstrap=Bootstrap(n_resamples=99)).corrected.undefined == reason


def test_missing_reruns_leave_the_observed_value():
    judge = JUDGE.astype(float)
    judge[0, 0] = judge[3] = np.nan
    found = attenuation(judge, HUMANS, bootstrap=Bootstrap(n_resamples=99))
    assert found.observed.n == 11
    assert found.corrected.undefined.startswith("the reliability of the judge's mean is undefined")


def test_two_reliabilities_below_zero_make_no_correction():
    judge, humans = [[1, 5], [5, 1], [3, 4], [2, 4]], [[1, 5], [5, 2], [3, 4], [4, 2]]
    found = attenuation(judge, humans, bootstrap=Bootstrap(n_resamples=200))
    assert found.human_reliability.value < 0
    assert found.judge_reliability.value < 0
    assert found.corrected.value is None


def test_the_correction_is_drawn_with_its_reliabilities():
    found = attenuation(JUDGE, HUMANS, bootstrap=Bootstrap(n_resamples=150, seed=2))
    drawn = np.random.default_rng(2).integers(0, 12, (150, 12))
    by_hand = []
    for rows in drawn:
        icc_h = intraclass_correlations(HUMANS[rows]).consistency_mean.value
        icc_j = intraclass_correlations(JUDGE[rows]).one_way_mean.value
        by_hand.append(np.corrcoef(MEAN[rows], HUMANS[rows].mean(axis=1))[0, 1] / np.sqrt(icc_h * icc_j))
    interval = tuple(np.percentile(by_hand, [2.5, 97.5]))
    assert (found.corrected.low, found.corrected.high) == pytest.approx(interval, abs=1e-10)


def test_means_over_raters_say_who_was_left_out_and_why():
    humans = np.array([[1, 2, 3], [2, 2, 3], [3, 4, 3], [4, 4, 3], [5, 5, 3]], dtype=float)
    names = ["anna", "ben", "cleo"]
    ceiling = human_ceiling(humans, humans.mean(axis=1), bootstrap=Bootstrap(n_resamples=99), names=names)
    for one in (ceiling.mean, ceiling.judge_on_same_targets, ceiling.judge_less_human):
        assert one.left_out == "over 2 of 3 raters; left out: cleo gave one value"
    pairs = pairwise_agreement(humans, names=names)
    assert pairs.mean.left_out == pairs.bound.left_out == "over 1 of 3 pairs of raters; left out: cleo gave one value"
    assert human_ceiling(humans[:, :2]).mean.left_out is None
    assert pairwise_agreement(humans).mean.document()["left_out"].endswith("rater 3 gave one value")
