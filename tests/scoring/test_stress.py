from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.scoring.impact import score_impacts
from evenhand.scoring.stress import stressed, weak_items_to
from evenhand.scoring.variants import settings as variant
from evenhand.terms import IMPACTS, Evidence


def items(*impacts, criterion=None, perspective=None):
    return [
        Evidence(claim=f"claim {n}", impact=impact, criterion=criterion, perspective=perspective)
        for n, impact in enumerate(impacts)
    ]


def stress(found, weights=None, name="production", **constants):
    return stressed(found, weights, variant(name, constants), distinct=found)


def test_twenty_five_weak_items_reach_90_from_nothing():
    # 50 + 8 * 25 / sqrt(25) = 90; with 24 it is 50 + 8 * sqrt(24) = 89.19.
    assert weak_items_to(90, [], variant()) == 25


def test_a_variant_that_no_padding_moves_is_said_to_be_out_of_reach():
    # net / n never exceeds 1 with +1 items, so that the score stays at or below 58.
    assert weak_items_to(90, [1] * 3, variant("mean")) is None
    assert weak_items_to(90, [5], variant("mean")) is None


def test_what_has_the_target_already_needs_none():
    assert weak_items_to(90, [5] * 20, variant()) == 0


def test_many_items_are_found_without_trying_each():
    held = [-5] * 4000
    needed = weak_items_to(90, held, variant())
    assert needed > 2048
    below, at = (score_impacts([*held, *[1] * n], variant()).score for n in (needed - 1, needed))
    assert below < 90 <= at


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from(IMPACTS), max_size=12), st.sampled_from(["production", "log", "ranked", "scale-10"]))
def test_the_number_found_is_the_fewest(held, name):
    chosen = variant(name)
    needed = weak_items_to(90, held, chosen)
    reached = [
        score_impacts([*held, *[1] * n], chosen).score >= 90
        for n in range(needed + 1)
        if len(held) + n > (name == "log")
    ]
    assert reached[-1]
    assert not any(reached[:-1])


def test_every_free_place_is_filled_and_counted():
    # Two criteria and two perspectives make four cells of five places; three places are taken.
    found = [
        *items(3, -1, criterion="craft", perspective="user"),
        *items(2, criterion="depth", perspective="owner"),
    ]
    made = stress(found, {"craft": Decimal("0.5"), "depth": Decimal("0.5")})
    assert made.places == 17
    assert [padding.impact for padding in made.padded] == [1, 5]
    assert made.score < made.padded[0].score < made.padded[1].score
    assert {reach.id: (reach.room, reach.within_caps) for reach in made.reach} == {
        "craft": (8, False),
        "depth": (9, False),
    }


def test_a_wider_cap_makes_the_target_reachable():
    made = stress(items(3, criterion="c", perspective="p"), {"c": None}, cap=100)
    assert made.reach[0].within_caps


def test_items_outside_cells_have_no_cap():
    made = stress(items(1, 2, 3))
    assert (made.padded, made.reach[0].room, made.reach[0].within_caps) == ((), None, None)


def test_the_strongest_is_taken_out_by_size_and_first_of_equals():
    made = stress(items(1, -5, 5, 2))
    assert (made.strongest.claim, made.without_strongest > made.score) == ("claim 1", True)


def test_a_pool_left_without_items_has_no_score():
    assert stress(items(5)).without_strongest is None
    found = [*items(5, criterion="a"), *items(1, 1, criterion="b")]
    assert stress(found, {"a": None, "b": None}).without_strongest is None
    assert stress([]).strongest is None


def test_the_logarithm_of_one_item_left_is_no_crash():
    assert stress(items(3, 2), name="log").without_strongest is None


def test_another_scale_has_its_own_target():
    assert stress(items(1), name="ten-point").reach[0].target == 9.0


def test_distinct_items_are_scored_by_themselves():
    found = items(2, 2, 2)
    made = stressed(found, None, variant(), distinct=found[:1])
    assert (made.duplicates, made.without_duplicates) == (2, score_impacts([2], variant()).score)


@pytest.mark.parametrize("name", ["production", "ranked", "mean", "net-amplified"])
def test_the_score_itself_is_the_formulas(name):
    assert stress(items(3, -2, 1), name=name).score == score_impacts([3, -2, 1], variant(name)).score


def test_a_criterion_with_a_weight_and_no_item_has_its_free_places_too():
    found = items(3, criterion="a", perspective="p") + items(-2, criterion="a", perspective="q")
    made = stress(found, {"a": Decimal("0.5"), "b": Decimal("0.5")})
    assert made.score is None
    assert made.places == 18  # two criteria by two perspectives by five, less two
    # a: 8 + 1 = 9 of 10 items, 50 + 0.875 * 8 * 9 / sqrt(10) = 69.92; b: 10 of 10, 72.14. 0.5 * 70 + 0.5 * 72 = 71
    assert [(padding.impact, padding.score) for padding in made.padded] == [(1, 71), (5, 94)]
    assert [(reach.id, reach.items, reach.room) for reach in made.reach] == [("a", 25, 8), ("b", 25, 10)]
