"""Tail probabilities against scipy, over all that a log of scores can ask."""

import pytest
from scipy import special

from evenhand.errors import InvalidInput
from evenhand.stats.tails import chi_square_tail, kolmogorov_tail

SHAPES = [1, 2, 3, 7, 11, 40, 99, 1000, 25_000]
RATIOS = [0.0, 1e-6, 0.1, 0.5, 0.9, 1.0, 1.02, 1.5, 3.0, 20.0, 400.0]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("df", SHAPES)
def test_chi_square_tail_is_scipys(df: int, ratio: float) -> None:
    expected = float(special.chdtrc(df, df * ratio))
    assert chi_square_tail(df * ratio, df) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("value", [0.0, 0.01, 0.05, 0.2, 0.4, 0.7, 0.999, 1.0, 1.36, 2.0, 5.0, 18.0, 30.0])
def test_kolmogorov_tail_is_scipys(value: float) -> None:
    assert kolmogorov_tail(value) == pytest.approx(float(special.kolmogorov(value)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("value", "df"), [(-1.0, 2), (1.0, 0), (float("nan"), 3)])
def test_a_tail_without_a_distribution_is_refused(value: float, df: float) -> None:
    with pytest.raises(InvalidInput, match="chi_square_tail"):
        chi_square_tail(value, df)
