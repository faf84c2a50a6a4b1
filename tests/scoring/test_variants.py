"""Settings of the formula: what may be changed, and what is refused."""

from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.scoring.variants import SETTING_NAMES, VARIANTS, Settings, settings


def test_the_names_that_users_may_set():
    assert set(SETTING_NAMES) == {
        *("centre", "scale", "lowest", "highest", "density_denominator", "multiplier_floor", "multiplier_gain"),
        *("cap", "item_floor", "min_span"),
    }


def test_every_variant_bears_its_key_as_name():
    assert all(name == made.variant for name, made in VARIANTS.items())


def test_override_changes_one_constant_and_keeps_the_rest():
    assert settings("production", {"scale": 6}) == Settings(scale=Decimal(6))
    assert settings("scale-6", {"cap": 3}).scale == 6


def test_a_float_stands_for_the_decimal_that_prints_it():
    assert settings(overrides={"multiplier_floor": 0.1}).multiplier_floor == Decimal("0.1")


@pytest.mark.parametrize(
    ("variant", "meant"), [("prodution", "production"), ("rank", "ranked"), ("Scale-6", "scale-6")]
)
def test_unknown_variant_is_refused_with_the_nearest(variant, meant):
    with pytest.raises(InvalidInput, match=f"did you mean '{meant}'"):
        settings(variant)


def test_unknown_variant_without_a_neighbour_lists_all():
    with pytest.raises(InvalidInput, match="use one of production, mean, log"):
        settings("zzz")
    with pytest.raises(InvalidInput, match="the variant 3 is unknown"):
        settings(3)


def test_unknown_constant_is_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match="'center' is unknown; did you mean 'centre'"):
        settings(overrides={"center": 50})
    with pytest.raises(InvalidInput, match="'normaliser' is unknown"):
        settings(overrides={"normaliser": "sqrt"})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("scale", 0, "above 0"),
        ("scale", -1, "above 0"),
        ("density_denominator", 0, "above 0"),
        ("multiplier_floor", -0.1, "0 or more"),
        ("multiplier_gain", -1, "0 or more"),
        ("min_span", -1, "0 or more"),
        ("item_floor", -1, "0 or more"),
        ("cap", 0, "at least 1"),
        ("cap", 2.5, "whole number"),
        ("item_floor", 1.5, "whole number"),
        ("lowest", 100, "expected lowest below it"),
        ("highest", 10, "set centre too"),
        ("centre", 101, "from lowest"),
        ("scale", float("nan"), "finite"),
        ("scale", float("inf"), "finite"),
        ("scale", Decimal("sNaN"), "finite"),
        ("scale", "8", "expected a number"),
        ("scale", True, "expected a number"),
        ("scale", None, "expected a number"),
        ("scale", 10**400, "1e-9 to 1e9"),
        ("scale", Decimal("1e-999999"), "1e-9 to 1e9"),
    ],
)
def test_a_constant_out_of_range_is_refused_by_name(name, value, said):
    with pytest.raises(InvalidInput, match=rf"{name} is .*{said}|{name}.*{said}"):
        settings(overrides={name: value})


def test_only_the_historical_variants_amplify():
    assert {name for name, made in VARIANTS.items() if made.amplifies} == {"density-amplified", "net-amplified"}
