"""Facts about a pool that the number alone hides."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evenhand.scoring.flags import against_sign, one_sided, pool_flags
from evenhand.scoring.impact import score_impacts, score_totals
from evenhand.scoring.variants import settings
from evenhand.terms import IMPACTS


@hypothesis_settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.sampled_from(IMPACTS), min_size=1, max_size=30))
@pytest.mark.parametrize("variant", ["production", "mean", "net-amplified", "log"])
def test_against_sign_finds_exactly_the_items_whose_removal_says_so(variant, impacts):
    chosen = settings(variant)
    if variant == "log" and len(impacts) <= 2:
        assert against_sign(impacts, chosen) == ()
        return
    whole = score_impacts(impacts, chosen).normalized
    expected = tuple(
        place
        for place, impact in enumerate(impacts)
        if (whole - score_impacts(impacts[:place] + impacts[place + 1 :], chosen).normalized) * impact < -1e-10
    )
    assert against_sign(impacts, chosen) == expected


def test_ratio_beyond_two_to_one_is_one_sided_either_way():
    assert not one_sided([])
    assert not one_sided([1, 1, -1])
    assert one_sided([1, 1, 1, -1])
    assert one_sided([1, -1, -1, -1])
    assert one_sided([5])


def test_flags_name_what_a_reader_should_know():
    assert pool_flags(score_impacts([3, -3, 2, -1], settings())) == ()
    assert pool_flags(score_impacts([1], settings())) == ("one_sided", "below_item_floor")
    assert pool_flags(score_totals(40, 50, settings("density-amplified"))) == ("off_scale",)
    assert pool_flags(score_totals(21, 4, settings())) == ("impossible_totals",)
    assert pool_flags(score_totals(20, 4, settings())) == ()
