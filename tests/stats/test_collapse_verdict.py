"""The rule of three outcomes, at its edges."""

import math

import numpy as np
import pytest

from evenhand.stats.collapse import spread_of
from evenhand.stats.collapse_verdict import Comparator, collapse_verdict


def spread(*counts):
    return spread_of(np.arange(1.0, len(counts) + 1), np.array(counts))


def other(ratio=3.0, levels=1.0):
    return Comparator(who="the humans", n_items=50, n_raters=1, sd_ratio=ratio, level_ratio=levels)


def verdict(*arguments, **named):
    return collapse_verdict(*arguments, **named).verdict


def test_half_of_the_scale_in_use_and_no_half_in_one_score_is_no_collapse():
    assert verdict(spread(20, 20, 20, 20, 20), 5) == "not_collapsed"
    assert verdict(spread(20, 20, 20, 20, 20), 13) == "cannot_tell"  # 5 levels of 13 are less than .4


def test_the_upper_bound_decides_and_not_the_share():
    assert verdict(spread(20, 16, 16), 3) == "cannot_tell"  # 38 %, yet up to 52 %
    assert verdict(spread(200, 160, 160), 3) == "not_collapsed"


def test_nothing_has_collapsed_without_a_comparator_that_spreads_twice_as_much():
    seven = spread(1, 58, 1)
    assert verdict(seven, 10) == "cannot_tell"
    assert verdict(seven, 10, (other(1.99),)) == "cannot_tell"
    assert verdict(seven, 10, (other(2.0),)) == "collapsed"
    assert verdict(seven, 10, (other(1.0, levels=2.0),)) == "collapsed"
    assert verdict(seven, 10, (other(1.0), other(2.5))) == "collapsed"


def test_a_wider_comparator_does_not_make_spread_scores_collapse():
    assert verdict(spread(20, 20, 20, 20, 20), 5, (other(9.0),)) == "not_collapsed"
    assert verdict(spread(5, 6, 5, 6, 4), 5, (other(9.0),)) == "not_collapsed"
    assert verdict(spread(4, 3, 3), 3, (other(9.0),)) == "cannot_tell"  # up to 69 %, yet nothing is on the wrong side


def test_few_scores_tell_nothing():
    found = collapse_verdict(spread(9), 10, (other(),))
    assert (found.verdict, found.reasons) == ("cannot_tell", ("9 scores are too few: at least 10",))
    assert collapse_verdict(spread(), 10).reasons == ("there are no scores",)


def test_an_assumed_scale_clears_nobody():
    found = collapse_verdict(spread(20, 20, 20), 5, scale_known=False)
    assert found.verdict == "cannot_tell"
    assert "name it with --scale" in found.reasons[0]


def test_every_verdict_has_a_reason():
    found = collapse_verdict(spread(0, 60), 10, (other(math.inf),))
    assert found.reasons == ("the humans spread, where these scores do not spread at all on the same 50 items",)
    found = collapse_verdict(spread(1, 58, 1), 10)
    assert len(found.reasons) == 3


@pytest.mark.parametrize("ratio", [math.inf, 2.5])
def test_a_ratio_beside_a_constant_is_null_in_json(ratio):
    document = other(ratio).document()
    assert document["sd_ratio"] == (None if math.isinf(ratio) else ratio)
    assert document["beside_constant"] is math.isinf(ratio)
