"""Krippendorff's alpha and Fleiss' kappa: published examples, others' bugs, and a second calculation of alpha."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.stats.alpha import MEASUREMENTS, alpha_kernel, fleiss_kappa, krippendorff_alpha
from evenhand.stats.resampling import Bootstrap

HUMANS = np.array([list(map(int, grades)) for grades in ("325413524314", "424423535213", "315314424324")]).T
N = None
CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]


def by_item(raters):
    return [list(grades) for grades in zip(*raters, strict=True)]


@pytest.mark.parametrize(
    ("measurement", "value"), [("nominal", 0.1732283), ("ordinal", 0.7984899), ("interval", 0.7944200)]
)
def test_the_toy_values(measurement, value):
    assert krippendorff_alpha(HUMANS, measurement=measurement).value == pytest.approx(value, abs=5e-8)


@pytest.mark.parametrize(
    ("measurement", "value"),
    [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)],
)
def test_four_coders_and_twelve_units(measurement, value):
    found = krippendorff_alpha(by_item(CODERS), measurement=measurement)
    assert found.value == pytest.approx(value, abs=5e-7)
    assert found.n == 11


def test_missing_grades_are_no_category():
    found = krippendorff_alpha(by_item([[1, 1, 2, 3, N], [1, 1, N, 3, 2], [N, 1, 2, N, 2]]), measurement="nominal")
    assert found.value == 1.0


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_full_agreement_is_one_and_its_interval_degenerate(measurement):
    found = krippendorff_alpha(by_item([[1, 2, 3, 5], [1, 2, 3, 5]]), measurement=measurement, bootstrap=Bootstrap())
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert found.no_interval.startswith("degenerate")


def test_items_with_different_numbers_of_grades():
    raters = [[1, 2, 3, 3, 2, N, 1, N], [1, 2, 3, 2, 2, 1, N, 3], [N, 2, 3, 3, N, 1, 1, 3]]
    assert krippendorff_alpha(by_item(raters), measurement="nominal").value == pytest.approx(0.85, abs=5e-7)
    assert krippendorff_alpha(by_item(raters)).value == pytest.approx(0.921053, abs=5e-7)
    fleiss = fleiss_kappa(by_item(raters))
    assert fleiss.undefined == "items have 2 to 3 grades, and Fleiss' kappa needs equally many; see alpha"


@pytest.mark.parametrize(
    ("ratings", "reason", "n"),
    [
        ([[1, N], [N, 2]], "no item has two grades", 0),
        ([[1], [2]], "no item has two grades", 0),
        ([[2, 2], [2, 2], [5, N]], "all grades are equal", 2),
    ],
)
def test_undefined_is_said_with_its_reason(ratings, reason, n):
    found = krippendorff_alpha(ratings)
    assert (found.value, found.undefined, found.n) == (None, reason, n)


def test_what_alpha_cannot_use_is_refused():
    with pytest.raises(InvalidInput, match="cardinal"):
        krippendorff_alpha([[1, 2]], measurement="cardinal")
    with pytest.raises(InvalidInput, match="negative"):
        krippendorff_alpha([[-1, 2]], measurement="ratio")
    with pytest.raises(InvalidInput):
        krippendorff_alpha([1, 2, 3])


def test_the_interval_is_over_pairable_items():
    found = krippendorff_alpha(by_item(CODERS), bootstrap=Bootstrap(clusters=list("aabbccddeeff")))
    assert found.n == 11
    assert found.low < found.value < found.high
    assert found.method == "percentile bootstrap over 6 clusters"


def squared_distance(measurement, counts, c, k):
    """Krippendorff's own definition, level by level."""
    match measurement:
        case "nominal":
            return float(c != k)
        case "ordinal":
            between = sum(n for level, n in counts.items() if min(c, k) <= level <= max(c, k))
            return (between - (counts[c] + counts[k]) / 2) ** 2 if c != k else 0.0
        case "interval":
            return (c - k) ** 2
        case _:
            return ((c - k) / (c + k)) ** 2 if c + k else 0.0


def plain_alpha(units, measurement):
    """Alpha by its definition, pair by pair."""
    units = [[grade for grade in unit if grade is not None] for unit in units]
    units = [unit for unit in units if len(unit) > 1]
    grades = [grade for unit in units for grade in unit]
    counts = {level: grades.count(level) for level in set(grades)}
    if len(counts) < 2:
        return None
    observed = sum(
        squared_distance(measurement, counts, c, k) / (len(unit) - 1)
        for unit in units
        for c, k in itertools.permutations(unit, 2)
    )
    expected = sum(squared_distance(measurement, counts, c, k) for c, k in itertools.permutations(grades, 2))
    return 1 - observed * (len(grades) - 1) / expected


grade = st.one_of(st.none(), st.integers(0, 4))
designs = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.tuples(st.lists(grade, min_size=raters, max_size=raters), st.integers(0, 3)), min_size=1, max_size=8
    )
)


@settings(deadline=None, max_examples=80)
@given(designs, st.sampled_from(MEASUREMENTS))
def test_alpha_and_its_kernel_equal_the_definition(design, measurement):
    units = [unit for unit, _ in design]
    found, plain = krippendorff_alpha(units, measurement=measurement).value, plain_alpha(units, measurement)
    one = sum(sum(g is not None for g in unit) > 1 for unit in units) == 1  # the definition says 0 whatever they gave
    assert (found is None) == (plain is None or one)
    if found is not None:
        assert found == pytest.approx(plain, abs=1e-12)
    kept = [(unit, held) for unit, held in design if sum(g is not None for g in unit) > 1]
    if not kept:
        return
    matrix = np.array([unit for unit, _ in kept], dtype=float)
    ours = alpha_kernel(matrix, measurement)(np.array([[held for _, held in kept]], dtype=float))[0]
    plain = plain_alpha([unit for unit, held in kept for _ in range(held)], measurement)
    assert np.isnan(ours) == (plain is None)
    if plain is not None:
        assert ours == pytest.approx(plain, abs=1e-12)


def test_the_table_of_levels_is_never_whole_at_ratio():
    rng = np.random.default_rng(5)
    many = rng.random((600, 2)) + 0.5
    assert krippendorff_alpha(many, measurement="ratio").value == pytest.approx(
        plain_alpha(many.tolist()[:600], "ratio"), abs=1e-9
    )


def test_fleiss_toy_value():
    pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'evenhand[stats]'")
    found = fleiss_kappa(HUMANS, bootstrap=Bootstrap())
    assert found.value == pytest.approx(0.1496063, abs=5e-8)
    assert found.low < found.value < found.high


def test_fleiss_does_not_mind_who_graded():
    pytest.importorskip("statsmodels", reason="needs statsmodels: pip install 'evenhand[stats]'")
    spread_out = [[1, 1, N, N], [N, 2, 2, N], [N, N, 3, 1], [2, N, N, 2]]
    assert fleiss_kappa(spread_out).value == pytest.approx(fleiss_kappa([[1, 1], [2, 2], [3, 1], [2, 2]]).value)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[N, N]], "no item has a grade"),
        ([[1], [2]], "no item has two grades"),
        ([[2, 2], [2, 2]], "all grades are equal"),
    ],
)
def test_fleiss_undefined(ratings, reason):
    assert fleiss_kappa(ratings).undefined == reason


def test_fleiss_kernel_equals_the_library():
    library = pytest.importorskip("statsmodels.stats.inter_rater", reason="needs statsmodels")
    rng = np.random.default_rng(2)
    ratings = rng.integers(1, 5, (12, 3)).astype(float)
    found = fleiss_kappa(ratings, bootstrap=Bootstrap(n_resamples=400, seed=9))
    index = np.random.default_rng(9).integers(0, 12, (400, 12))
    counts = (ratings[:, :, None] == np.arange(1.0, 5.0)).sum(axis=1)
    theirs = [library.fleiss_kappa(counts[drawn]) for drawn in index]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(theirs, [2.5, 97.5])), abs=1e-12)


def test_one_item_says_nothing_about_agreement():
    found = krippendorff_alpha([[3.0, 4.0, float("nan")]])
    assert (found.value, found.n, found.undefined) == (None, 1, "1 item with two grades")
