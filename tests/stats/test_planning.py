import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.planning import (
    detectable_difference,
    detectable_rho,
    detectable_shift,
    items_for_difference,
    items_for_rho,
    items_for_rho_width,
    items_for_shift,
    rho_with_more,
)
from evenhand.stats.rank import bonett_wright_interval


def test_the_published_sample_sizes():
    assert items_for_shift(0.3) == pytest.approx(89.149, abs=5e-4)
    assert detectable_shift(60) == pytest.approx(0.3677, abs=5e-5)
    assert [items_for_rho(rho) for rho in (0.3, 0.4, 0.5, 0.7)] == pytest.approx([84.07, 45.92, 28.25, 12.82], abs=5e-3)
    assert detectable_rho(60) == pytest.approx(0.3526, abs=5e-5)


def test_power_of_a_t_test_equals_statsmodels():
    power = pytest.importorskip("statsmodels.stats.power", reason="needs evenhand[stats]").TTestPower()
    for n in (5, 12, 60, 500):
        wanted = power.solve_power(nobs=n, power=0.8, alpha=0.05)
        assert detectable_shift(n) == pytest.approx(float(wanted), rel=1e-5)


@given(st.integers(5, 5000))
@settings(deadline=None, max_examples=30)
def test_items_and_what_they_show_are_each_others_inverse(n):
    assert items_for_rho(detectable_rho(n)) == pytest.approx(n, rel=1e-5)
    assert items_for_shift(detectable_shift(n)) == pytest.approx(n, rel=1e-5)


@given(st.floats(-0.95, 0.95), st.floats(0.05, 0.8))
@settings(deadline=None, max_examples=30)
def test_the_width_asked_for_is_reached_and_not_one_item_earlier(rho, width):
    n = items_for_rho_width(rho, width)
    low, high = bonett_wright_interval(rho, n)
    assert high - low <= width
    if n > 4:
        low, high = bonett_wright_interval(rho, n - 1)
        assert high - low > width


def test_a_planned_study_shows_what_it_was_planned_for():
    n = items_for_difference(0.1, 0.05, 60)
    assert detectable_difference(0.05 * (60 / n) ** 0.5) <= 0.1 < detectable_difference(0.05 * (60 / (n - 1)) ** 0.5)


def test_more_raters_lift_the_same_judge():
    assert rho_with_more(0.5, times=1) == 1.0
    assert rho_with_more(0.5, times=3) == pytest.approx((3 / 2) ** 0.5)
    assert rho_with_more(-0.1, times=2) is None  # raters who agree less than by chance promise nothing


def test_what_is_too_little_has_no_power():
    assert detectable_rho(4) is detectable_shift(2) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: items_for_rho(1.0),
        lambda: items_for_shift(0.0),
        lambda: items_for_difference(0.0, 0.1, 60),
        lambda: items_for_rho_width(1.0, 0.1),
        lambda: detectable_difference(-1.0),
        lambda: detectable_rho(60, power=1.0),
    ],
)
def test_impossible_wishes_are_refused(call):
    with pytest.raises(InvalidInput):
        call()
