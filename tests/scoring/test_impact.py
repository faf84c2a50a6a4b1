"""The evidence formula: published values, laws, and the borders of rounding."""

from decimal import Decimal
from fractions import Fraction
from math import floor, isqrt

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.scoring.flags import against_sign
from evenhand.scoring.impact import (
    over_cap,
    score_impacts,
    score_items,
    score_totals,
    weakest_over_cap,
    within_cap,
)
from evenhand.scoring.pools import score_pools
from evenhand.scoring.variants import VARIANTS, settings
from evenhand.terms import IMPACTS, Evidence

impact_lists = st.lists(st.sampled_from(IMPACTS), min_size=1, max_size=30)
quick = hypothesis_settings(deadline=None, max_examples=50, derandomize=True)

PROFILES = ((25, 25), (25, 4), (-15, 25), (40, 50))
PUBLISHED = {
    "production": [90, 90, 26, 95],
    "mean": [58, 90, 45, 56],
    "log": [100, 90, 13, 100],
    "no-density": [90, 100, 26, 95],
    "density-amplified": [100, 93, 20, 107],
    "scale-6": [80, 90, 32, 84],
    "scale-10": [100, 90, 20, 100],
    "net-amplified": [100, 84, 20, 113],
}


@pytest.mark.parametrize("variant", PUBLISHED)
def test_published_variant_table_is_reproduced(variant):
    assert [score_totals(net, n, settings(variant)).score for net, n in PROFILES] == PUBLISHED[variant]


@pytest.mark.parametrize(
    ("net", "n", "score", "confidence"), [(25, 25, 90, 1.0), (25, 4, 90, 0.2), (0, 20, 50, 1.0), (-15, 25, 26, 1.0)]
)
def test_worked_examples(net, n, score, confidence):
    found = score_totals(net, n, settings())
    assert (found.score, found.confidence) == (score, confidence)


def test_every_step_of_a_worked_example_is_kept():
    # 25 / sqrt(4) = 12.5; 50 + 8 * 12.5 = 150, clamped to 100; 0.75 + 0.25 * 4/20 = 0.8; 50 + 50 * 0.8 = 90
    found = score_totals(25, 4, settings())
    assert found.normalized == 12.5
    assert found.raw_unclamped == 150
    assert found.raw == 100
    assert found.density == 0.2
    assert found.multiplier == 0.8
    assert found.exact == 90
    assert found.tally is None


def test_density_is_kept_unclamped_and_confidence_clamped():
    found = score_totals(40, 50, settings())
    assert (found.density, found.confidence, found.multiplier) == (2.5, 1.0, 1.0)


def test_ten_point_variant_uses_its_own_constants():
    # 5 + 0.8 * 15/sqrt(25) = 7.4; density 25/15 counts as 1
    found = score_totals(15, 25, settings("ten-point"))
    assert (found.exact, found.score) == (7.4, 7)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_items_is_no_score(variant):
    found = score_impacts([], settings(variant))
    assert (found.score, found.exact, found.raw, found.normalized, found.n) == (None, None, None, 0.0, 0)


def test_an_exact_half_is_rounded_up_although_floats_would_miss_it():
    # n = 4: 50 + (8 * net / 2) * 0.8 = 50 + 3.2 * net never ends in .5; n = 16: 50 + 2 * net * 0.95 = 50 + 1.9 * net
    assert score_totals(5, 16, settings()).exact == 59.5
    assert score_totals(5, 16, settings()).score == 60
    assert score_totals(-5, 16, settings()).exact == 40.5
    assert score_totals(-5, 16, settings()).score == 41


def test_half_up_is_towards_plus_infinity_off_the_scale_too():
    # raw 0, multiplier 1.25: 50 - 50 * 1.25 = -12.5
    assert score_totals(-200, 25, settings("net-amplified")).exact == -12.5
    assert score_totals(-200, 25, settings("net-amplified")).score == -12


@pytest.mark.parametrize("denominator", [15, 20, 7])
def test_rounding_equals_fractions_wherever_the_root_is_whole(denominator):
    chosen = settings("production", {"density_denominator": denominator})
    for n in (1, 4, 9, 16, 25, 36):
        for net in range(-5 * n, 5 * n + 1):
            raw = min(max(50 + Fraction(8 * net, isqrt(n)), 0), 100)
            exact = 50 + (raw - 50) * (Fraction(3, 4) + Fraction(1, 4) * min(Fraction(n, denominator), 1))
            assert score_totals(net, n, chosen).score == floor(exact + Fraction(1, 2))


@quick
@given(impact_lists, st.randoms(use_true_random=False))
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "log"])
def test_order_of_items_does_not_matter(variant, impacts, random):
    shuffled = impacts.copy()
    random.shuffle(shuffled)
    assert score_impacts(impacts, settings(variant)) == score_impacts(shuffled, settings(variant))


@quick
@given(impact_lists)
@pytest.mark.parametrize("variant", ["production", "ranked"])
def test_multiplier_never_amplifies_and_scores_stay_in_bounds(variant, impacts):
    found = score_impacts(impacts, settings(variant))
    assert 0.75 <= found.multiplier <= 1
    assert 0 <= found.exact <= 100
    assert 0 <= found.score <= 100
    assert abs(found.exact - 50) <= abs(found.raw - 50)


@hypothesis_settings(deadline=None, max_examples=300, derandomize=True)
@given(st.lists(st.sampled_from(IMPACTS), max_size=40), st.sampled_from(IMPACTS))
def test_ranked_is_never_moved_against_the_sign_of_an_added_item(impacts, added):
    chosen = settings("ranked")
    moved = score_impacts([*impacts, added], chosen).normalized - score_impacts(impacts, chosen).normalized
    assert moved * added >= -1e-12


@quick
@given(st.sampled_from((1, 2, 3, 5)), st.lists(st.booleans(), min_size=1, max_size=50))
def test_ranked_equals_the_published_form_when_magnitudes_are_equal(magnitude, signs):
    impacts = [magnitude if sign else -magnitude for sign in signs]
    ranked, published = (score_impacts(impacts, settings(name)) for name in ("ranked", "production"))
    assert ranked.normalized == pytest.approx(published.normalized, abs=1e-12)
    assert ranked.score == published.score


def test_ranked_worked_by_hand():
    # 5 * 1 + 1 * (2 - 1) / 3 * (sqrt(4) - sqrt(1)) = 5 + 1/3
    assert score_impacts([1, 5, -1, 1], settings("ranked")).normalized == pytest.approx(16 / 3)


def test_the_published_square_root_can_be_moved_against_the_sign_and_the_item_is_found():
    published, ranked = settings(), settings("ranked")
    assert score_impacts([-3, -3], published).normalized == pytest.approx(-4.24, abs=0.005)
    assert score_impacts([-3, -3, -1], published).normalized == pytest.approx(-4.04, abs=0.005)
    assert against_sign([-3, -3, -1], published) == (2,)
    assert score_impacts([-3, -3, -1], ranked).normalized < score_impacts([-3, -3], ranked).normalized
    assert against_sign([-3, -3, -1], ranked) == ()


def test_published_form_is_moved_against_the_sign_in_about_one_of_a_hundred_random_pools_and_ranked_in_none():
    import numpy as np

    rng = np.random.default_rng(7)
    n_pools = 20_000
    sizes = rng.integers(1, 21, n_pools)
    pools = np.repeat(np.arange(n_pools), sizes)
    impacts, added = rng.choice(np.array(IMPACTS), len(pools)), rng.choice(np.array(IMPACTS), n_pools)

    def share_moved(variant):
        before = score_pools(impacts, pools, settings(variant))
        after = score_pools(np.append(impacts, added), np.append(pools, np.arange(n_pools)), settings(variant))
        return ((after.normalized - before.normalized) * added < -1e-12).mean()

    assert 0.005 < share_moved("production") < 0.015
    assert share_moved("ranked") == 0


def test_forty_agreeing_trifles_reach_the_top_which_the_formula_allows():
    assert score_impacts([1] * 40, settings()).score == 100


@pytest.mark.parametrize("impact", [0, 4, 6, -4, True, 2.5, "3", None])
def test_impact_outside_the_set_is_refused(impact):
    with pytest.raises(InvalidInput, match=r"an impact is .*expected one of \+5, \+3, \+2, \+1, -1"):
        score_impacts([3, impact], settings())


def test_log_with_one_item_is_refused():
    for call in (lambda: score_impacts([3], settings("log")), lambda: score_totals(3, 1, settings("log"))):
        with pytest.raises(InvalidInput, match=r"ln\(n\), which is 0 for one item"):
            call()


def test_ranked_with_totals_only_is_refused():
    with pytest.raises(InvalidInput, match="'ranked' orders items by magnitude, which totals do not show"):
        score_totals(25, 25, settings("ranked"))


@pytest.mark.parametrize(("net", "n"), [(1, 0), (1, -1), (1.5, 2), (True, 1), (10**13, 10**13), ("3", 3)])
def test_totals_that_are_none_are_refused(net, n):
    with pytest.raises(InvalidInput, match="score_totals"):
        score_totals(net, n, settings())


def test_items_that_do_not_count_are_left_out():
    items = [Evidence(claim="", impact=5, counted=False), Evidence(claim="", impact=-1)]
    assert score_items(items, settings()).net == -1


def cell(impact, **fields):
    return Evidence(claim="", impact=impact, **{"criterion": "c", "perspective": "p", **fields})


def test_cap_keeps_the_strongest_by_magnitude_then_the_first():
    items = [cell(1), cell(-3), cell(2), cell(3), cell(-1), cell(5), cell(1), cell(-2)]
    assert weakest_over_cap(items, 5) == (0, 4, 6)
    kept, dropped = within_cap(items, 5)
    assert [item.impact for item in kept] == [-3, 2, 3, 5, -2]
    assert [item.impact for item in dropped] == [1, -1, 1]
    assert weakest_over_cap(items, 6) == (4, 6)


def test_over_cap_names_what_comes_too_many_in_order():
    assert over_cap([cell(1)] * 5 + [cell(5)], 5) == (5,)


def test_a_cell_is_criterion_perspective_and_pass_and_needs_the_first_two():
    apart = [cell(1, pass_name=name) for name in ("code", "demo", None)] + [cell(1, perspective="q")]
    assert over_cap(apart, 1) == ()
    loose = [cell(1, perspective=None), cell(1, criterion=None), cell(1, criterion=None, perspective=None)] * 3
    assert over_cap(loose, 1) == weakest_over_cap(loose, 1) == ()


def test_items_that_do_not_count_take_no_room_in_a_cell():
    items = [cell(5, counted=False), cell(1), cell(2)]
    assert weakest_over_cap(items, 2) == ()


def test_caller_context_of_decimal_changes_nothing():
    from decimal import ROUND_DOWN, Context, localcontext

    wanted = score_impacts([3, 2, -1], settings())
    with localcontext(Context(prec=3, rounding=ROUND_DOWN)):
        assert score_impacts([3, 2, -1], settings()) == wanted
        assert Decimal(1) / 3 == Decimal("0.333")
