"""Kappa and its companions: values computed by other libraries, the whole scale, and the paradox."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.kappa import (
    agreement,
    kappa_kernel,
    kappa_paradox,
    pair_agreement,
    scale_levels,
    weighted_kappa,
)
from evenhand.stats.resampling import Bootstrap

pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'evenhand[stats]'")

FIVE = scale_levels(1, 5)
FIRST = [3, 2, 5, 4, 1, 3, 5, 2, 4, 3, 1, 4]
SECOND = [4, 2, 4, 4, 2, 3, 5, 3, 5, 2, 1, 3]


@pytest.mark.parametrize(("weights", "value"), [("none", 0.2631579), ("linear", 0.5922330), ("quadratic", 0.8189655)])
def test_the_toy_values(weights, value):
    assert weighted_kappa(FIRST, SECOND, levels=FIVE, weights=weights).value == pytest.approx(value, abs=5e-8)


def test_distances_are_those_of_the_whole_scale():
    a, b = [1, 1, 2, 5, 5, 2, 1, 5], [1, 2, 2, 5, 2, 2, 1, 5]
    assert weighted_kappa(a, b, levels=FIVE).value == pytest.approx(0.7727273, abs=5e-8)
    assert weighted_kappa(a, b, levels=[1, 2, 5]).value == pytest.approx(0.8, abs=5e-8)


@pytest.mark.parametrize(
    ("weights", "low", "high"), [("quadratic", 0.6816309, 0.9563001), ("linear", 0.3482257, 0.8362403)]
)
def test_the_interval_is_near_the_asymptotic_one(weights, low, high):
    # Twelve items: the library's normal interval and the percentiles differ by little more than 0.1.
    found = weighted_kappa(FIRST, SECOND, levels=FIVE, weights=weights, bootstrap=Bootstrap(n_resamples=4999))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.14)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_a_whole_number_exactly_where_the_counts_say_so(weights):
    """All 3^6 pairs of three ratings by two raters, with fractions; the library alone misses -1, 0 and 1 by an ulp."""
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]

    def apart(x, y):
        return (x != y) if power == 0 else abs(x - y) ** power

    seen = set()
    for a in itertools.product((1, 2, 3), repeat=3):
        for b in itertools.product((1, 2, 3), repeat=3):
            expected = sum(apart(x, y) for x in a for y in b)
            if not expected:
                continue
            true = 1 - Fraction(3 * sum(apart(x, y) for x, y in zip(a, b, strict=True)), expected)
            found = weighted_kappa(a, b, levels=scale_levels(1, 3), weights=weights).value
            assert found == pytest.approx(float(true), abs=1e-12)
            if true.denominator == 1:
                assert found == float(true)
                seen.add(int(true))
    assert seen >= {0, 1}
    pair = weighted_kappa([1, 3, 1, 3], [3, 1, 3, 1], levels=scale_levels(1, 3), weights=weights)
    assert pair.value == -1.0


def test_a_constant_rater_gives_chance_agreement():
    found = weighted_kappa([3, 3, 3, 3], [1, 2, 3, 4], levels=FIVE, bootstrap=Bootstrap(n_resamples=99))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.no_interval is not None


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([2, 2], [2, 2], "the judge and the humans gave one and the same value throughout"),
        ([], [], "no items that the judge and the humans both rated"),
        ([2.5, 3, 9], [2, 3, 4], "2 of 3 ratings of the judge are none of the 5 levels of the scale"),
        ([2, 3], [2, 0], "1 of 2 ratings of the humans are none of the 5 levels of the scale"),
    ],
)
def test_undefined_is_said_with_its_reason(a, b, reason):
    found = weighted_kappa(a, b, levels=FIVE)
    assert (found.value, found.undefined) == (None, reason)


def test_without_statsmodels_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("evenhand.stats.kappa.find_spec", lambda name: None)
    assert "evenhand[stats]" in weighted_kappa([1, 2], [2, 1], levels=FIVE).undefined


@pytest.mark.parametrize("levels", [[1], [2, 1], [1, 1, 2]])
def test_levels_must_rise(levels):
    with pytest.raises(InvalidInput):
        weighted_kappa([1], [1], levels=levels)


def test_an_unknown_weighting_is_refused():
    with pytest.raises(InvalidInput, match="cubic"):
        weighted_kappa([1], [1], levels=FIVE, weights="cubic")


def test_scales_have_whole_numbers_of_levels():
    assert scale_levels(0, 1, 0.1)[-1] == 1.0
    assert len(scale_levels(0, 100)) == 101
    for scale in ((5, 1, 1), (1, 5, 0), (1, 5, 3), (0, 1, 0.0001), (1, float("inf"), 1)):
        with pytest.raises(InvalidInput):
            scale_levels(*scale)


def test_agreement_has_wilsons_interval_or_the_clusters():
    alone = agreement([1, 2, 3, 3], [1, 2, 3, 1])
    assert (alone.value, alone.method) == (0.75, "Wilson")
    assert (alone.low, alone.high) == pytest.approx((0.3006, 0.9544), abs=5e-5)
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, 60))
    clustered = agreement(a, b, bootstrap=Bootstrap(clusters=(np.arange(60) // 10).tolist()))
    assert clustered.method == "percentile bootstrap over 6 clusters"
    assert agreement([], []).undefined == "no items that both rated"


def test_high_agreement_beside_a_kappa_below_zero_is_explained():
    # T075: 46 of 50 agree; the humans say 1 of 48.
    judge, human = [1] * 48 + [0] * 2, [1] * 46 + [0] * 2 + [1] * 2
    found = pair_agreement(judge, human, levels=[0, 1], bootstrap=Bootstrap())
    assert found.none.value == pytest.approx(-0.041667, abs=5e-7)
    assert (found.agreement.value, found.majority_baseline, found.majority_level) == (0.92, 0.96, 1.0)
    assert (found.n, found.judge_mode_share) == (50, 0.96)
    assert found.paradox.startswith("kappa's paradox: the judge agrees on 92 % of the items and kappa is -0.04")
    assert "96 %" in found.paradox


@pytest.mark.parametrize("figures", [(0.3, 0.9, 0.9), (-0.1, 0.5, 0.6), (None, 0.9, 0.9), (0.0, None, None)])
def test_there_is_no_paradox_elsewhere(figures):
    assert kappa_paradox(*figures) is None


def test_agreement_of_no_items_has_no_baseline():
    found = pair_agreement([None], [1], levels=FIVE)
    assert (found.n, found.majority_baseline, found.judge_mode_share, found.paradox) == (0, None, None, None)


codes = st.integers(0, 4)
triples = st.integers(1, 20).flatmap(
    lambda n: st.tuples(*[st.lists(kind, min_size=n, max_size=n) for kind in (codes, codes, st.integers(0, 3))])
)


@settings(deadline=None, max_examples=50)
@given(triples, st.sampled_from(["none", "linear", "quadratic"]))
def test_the_kernel_under_weights_equals_the_library_on_the_drawn_items(table, weights):
    a, b, held = (np.array(column) for column in table)
    place = np.arange(5.0)
    apart = np.abs(place[:, None] - place)
    distances = {"none": (apart > 0) * 1.0, "linear": apart, "quadratic": apart**2}[weights]
    ours = kappa_kernel(a, b, distances)(held[None, :].astype(float))[0]
    theirs = weighted_kappa(np.repeat(a, held), np.repeat(b, held), levels=[0, 1, 2, 3, 4], weights=weights)
    assert np.isnan(ours) == (theirs.value is None)
    if theirs.value is not None:
        assert ours == pytest.approx(theirs.value, abs=1e-12)
