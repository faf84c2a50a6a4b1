"""Every statistic of agreement and rank with the laws that it obeys, in one table."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.stats.alpha import fleiss_kappa, krippendorff_alpha
from evenhand.stats.ceiling import human_ceiling, pairwise_agreement
from evenhand.stats.icc import intraclass_correlations
from evenhand.stats.kappa import agreement, scale_levels, weighted_kappa
from evenhand.stats.one_way import one_way
from evenhand.stats.rank import kendall_tau_b, pearson, spearman
from evenhand.stats.resampling import Bootstrap

LEVELS = scale_levels(-40, 40)  # wide enough for every relabelling below


class Laws(NamedTuple):
    """One statistic: how it is called on (n_items, n_raters), and what leaves it as it is."""

    statistic: Callable[..., object]
    raters: bool = True  # the raters may change places
    mirrored: bool = True  # the scale may be turned round, for all raters
    shifted: bool = True  # the same number may be added to every rating
    monotone: bool = False  # any rising relabelling, for all raters
    permuted: bool = False  # any relabelling, for all raters
    own_scale: bool = False  # each rater may have a scale of their own: one shifted and stretched
    perfect: float | None = 1.0  # where all raters agree and the items differ
    two_raters: bool = False
    library: str | None = None


def of_pair(statistic, **fixed):
    return lambda grades, **more: statistic(grades[:, 0], grades[:, 1], **fixed, **more)


def form(name):
    return lambda grades, **more: getattr(intraclass_correlations(grades, **more), name)


KAPPA = {"two_raters": True, "library": "statsmodels"}
TABLE = {
    "spearman": Laws(of_pair(spearman), monotone=True, own_scale=True, two_raters=True),
    "kendall_tau_b": Laws(of_pair(kendall_tau_b), monotone=True, own_scale=True, two_raters=True),
    "pearson": Laws(lambda grades, bootstrap=None: of_pair(pearson)(grades), own_scale=True, two_raters=True),
    "agreement": Laws(of_pair(agreement), monotone=True, permuted=True, two_raters=True),
    "kappa": Laws(of_pair(weighted_kappa, levels=LEVELS, weights="none"), monotone=True, permuted=True, **KAPPA),
    "linear kappa": Laws(of_pair(weighted_kappa, levels=LEVELS, weights="linear"), **KAPPA),
    "quadratic kappa": Laws(of_pair(weighted_kappa, levels=LEVELS), **KAPPA),
    "nominal alpha": Laws(
        lambda grades, **more: krippendorff_alpha(grades, measurement="nominal", **more), monotone=True, permuted=True
    ),
    "ordinal alpha": Laws(krippendorff_alpha, monotone=True),
    "interval alpha": Laws(lambda grades, **more: krippendorff_alpha(grades, measurement="interval", **more)),
    "ratio alpha": Laws(
        lambda grades, **more: krippendorff_alpha(grades, measurement="ratio", **more), mirrored=False, shifted=False
    ),
    "fleiss_kappa": Laws(fleiss_kappa, monotone=True, permuted=True, library="statsmodels"),
    "ICC(1,1)": Laws(form("one_way_single")),
    "ICC(A,1)": Laws(form("agreement_single")),
    "ICC(C,1)": Laws(form("consistency_single")),
    "ICC(1,k)": Laws(form("one_way_mean")),
    "ICC(A,k)": Laws(form("agreement_mean")),
    "ICC(C,k)": Laws(form("consistency_mean")),
    "one-way ICC": Laws(lambda grades, **more: one_way(grades, **more).icc),
    "within SD": Laws(lambda grades, **more: one_way(grades, **more).within_sd, perfect=0.0),
    "human ceiling": Laws(lambda grades, **more: human_ceiling(grades, **more).mean),
    "pairwise rho": Laws(lambda grades, **more: pairwise_agreement(grades, **more).mean, monotone=True, own_scale=True),
    "reliability bound": Laws(
        lambda grades, **more: pairwise_agreement(grades, **more).bound, monotone=True, own_scale=True
    ),
}

designs = st.tuples(st.integers(4, 12), st.integers(2, 4), st.integers(0, 10_000))


def grades_of(design, laws):
    """Whole grades of 1 to 5 by raters who agree somewhat."""
    n_items, n_raters, seed = design
    rng = np.random.default_rng(seed)
    quality = rng.integers(1, 6, n_items)
    noise = rng.integers(-1, 2, (n_items, 2 if laws.two_raters else n_raters))
    return np.clip(quality[:, None] + noise, 1, 5).astype(float)


def value(laws, grades):
    return laws.statistic(grades).value


def same(found, expected):
    assert (found is None) == (expected is None)
    if found is not None:
        assert found == pytest.approx(expected, abs=1e-9)


check = settings(deadline=None, max_examples=12)
each = pytest.mark.parametrize(
    "laws",
    [
        pytest.param(
            laws,
            id=name,
            marks=pytest.mark.skipif(
                laws.library is not None and find_spec(laws.library) is None,
                reason=f"needs {laws.library}: pip install 'evenhand[stats]'",
            ),
        )
        for name, laws in TABLE.items()
    ],
)


@each
@check
@given(design=designs)
def test_the_order_of_items_is_nothing(laws, design):
    grades = grades_of(design, laws)
    same(value(laws, grades[::-1]), value(laws, grades))


@each
@check
@given(design=designs)
def test_the_order_of_raters_is_nothing(laws, design):
    if laws.raters:
        grades = grades_of(design, laws)
        same(value(laws, grades[:, ::-1]), value(laws, grades))


@each
@check
@given(design=designs)
def test_a_scale_turned_round_is_the_same_scale(laws, design):
    if laws.mirrored:
        grades = grades_of(design, laws)
        same(value(laws, 6.0 - grades), value(laws, grades))


@each
@check
@given(design=designs, shift=st.integers(-10, 10))
def test_a_number_added_to_all_is_nothing(laws, design, shift):
    if laws.shifted:
        grades = grades_of(design, laws)
        same(value(laws, grades + shift), value(laws, grades))


@each
@check
@given(design=designs)
def test_ranks_do_not_mind_how_far_levels_lie_apart(laws, design):
    if laws.monotone:
        grades = grades_of(design, laws)
        same(value(laws, grades**2), value(laws, grades))


@each
@check
@given(design=designs, order=st.permutations([1, 2, 3, 4, 5]))
def test_categories_do_not_mind_their_names(laws, design, order):
    if laws.permuted:
        grades = grades_of(design, laws)
        same(value(laws, np.array([0, *order])[grades.astype(int)].astype(float)), value(laws, grades))


@each
@check
@given(design=designs)
def test_correlations_let_each_rater_have_a_scale(laws, design):
    if laws.own_scale:
        grades = grades_of(design, laws)
        stretched = grades.copy()
        stretched[:, 0] = 3 * stretched[:, 0] + 2
        same(value(laws, stretched), value(laws, grades))


@each
@check
@given(design=designs)
def test_perfect_agreement_is_the_largest_value(laws, design):
    grades = grades_of(design, laws)
    grades[:] = grades[:, :1]
    assume(len(set(grades[:, 0])) > 1)
    assert value(laws, grades) == pytest.approx(laws.perfect, abs=1e-9)


@each
@check
@given(design=designs)
def test_a_value_is_finite_and_no_larger_than_perfect(laws, design):
    found = laws.statistic(grades_of(design, laws))
    assert (found.value is None) == (found.undefined is not None)
    if found.value is not None:
        assert np.isfinite(found.value)
        assert laws.perfect == 0.0 or found.value <= 1.0


@each
def test_a_single_item_is_undefined_with_a_reason(laws):
    found = laws.statistic(np.array([[3.0, 4.0]]))
    if laws is TABLE["agreement"]:
        assert (found.value, found.n) == (0.0, 1)
    elif found.value is not None:
        # Disagreement on one item: two levels are there, which is all that alpha, kappa and an SD need.
        assert np.isfinite(found.value)
        assert laws in [TABLE[name] for name in TABLE if "alpha" in name or "kappa" in name or "SD" in name]
    else:
        assert found.undefined


@each
def test_equal_grades_throughout_are_undefined_save_where_spread_is_meant(laws):
    found = laws.statistic(np.full((6, 2 if laws.two_raters else 3), 7.0))
    if laws in (TABLE["agreement"], TABLE["within SD"]):
        assert found.value is not None
    else:
        assert found.value is None
        assert found.undefined


@each
def test_a_single_item_drawn_again_and_again_gives_no_interval(laws):
    found = laws.statistic(np.array([[3.0, 4.0]]), bootstrap=Bootstrap(n_resamples=9))
    assert found.low is None or laws is TABLE["agreement"]


@each
@check
@given(design=designs)
def test_an_interval_stands_in_order_or_is_refused_with_a_reason(laws, design):
    found = laws.statistic(grades_of(design, laws), bootstrap=Bootstrap(n_resamples=40))
    if found.value is None:
        assert found.low is None
    elif found.low is None:
        assert found.no_interval
    else:
        assert found.low < found.high
