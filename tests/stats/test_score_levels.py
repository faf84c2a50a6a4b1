"""Which levels a scale has, and which scores stand between them."""

import numpy as np
import pytest

from evenhand.errors import InvalidInput
from evenhand.stats.collapse import level_counts
from evenhand.stats.score_levels import natural_step, score_scale


def scale(scores, declared=None):
    return score_scale(*level_counts(np.asarray(scores, float)), declared)


@pytest.mark.parametrize(
    ("scores", "declared", "n_levels", "decimals"),
    [
        ([2, 3], (0, 3), 4, False),
        ([1, 5], (1, 5), 5, False),
        ([1, 2.5], (1, 5), 9, False),
        ([7.31, 8.02, 9.9], (0, 10), 11, True),
        ([70, 80], (0, 100), 11, False),
        ([70, 75], (0, 100), 21, False),
        ([70, 71], (0, 100), 11, True),
        ([0, 1], (0, 1), 11, False),
        ([0.83, 0.9], (0, 1), 11, True),
        ([1, 7], (1, 7), 7, False),
        ([], (1, 5), 5, False),
    ],
)
def test_the_levels_are_those_on_which_the_scores_stand(scores, declared, n_levels, decimals):
    found = scale(scores, declared)
    assert (found.n_levels, found.decimals, found.declared) == (n_levels, decimals, True)


def test_the_smallest_usual_scale_is_assumed_and_said():
    found = scale([3, 7])
    assert (found.low, found.high, found.declared) == (1, 10, False)
    assert scale([0, 80]).high == 100
    assert (scale([-2, 2]).low, scale([-2, 2]).high) == (-2, 2)
    assert scale([]).n_levels == 11
    assert scale([0, 1, 1, 1]).n_levels == 2  # pass and fail, not eleven levels of which nine are not used
    assert scale([1, 1]).n_levels == scale([0, 0.5, 1]).n_levels == 11
    assert scale([-1e-320, 1e-320]).n_levels == 11  # ends that are one are set apart


def test_rounding_is_half_up_from_the_lower_end():
    found = scale([1.5, 2.49, 4.51, 11.3], (1, 5))
    assert found.rounded(np.array([1.5, 2.49, 4.51])).tolist() == [2, 2, 5]
    tenths = scale([0.83, 0.25], (0, 1))
    assert tenths.rounded(np.array([0.83, 0.25, 1.0])).tolist() == [0.8, 0.3, 1.0]


def test_one_stray_score_in_a_thousand_does_not_change_the_step():
    assert not scale([7] * 2000 + [7.3], (1, 10)).decimals
    assert scale([7] * 500 + [7.3], (1, 10)).decimals


def test_ends_in_the_wrong_order_are_refused():
    with pytest.raises(InvalidInput, match="5 to 1 is no scale; expected the lower end first"):
        scale([3], (5, 1))


def test_steps_follow_the_width():
    assert [natural_step(0, high) for high in (1, 2, 20, 89, 100, 1000)] == [0.1, 1, 1, 1, 10, 100]
