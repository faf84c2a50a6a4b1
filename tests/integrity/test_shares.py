"""Exact intervals against published and derived values."""

import pytest

from evenhand.errors import InvalidInput
from evenhand.integrity.shares import Share, exact_interval


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 20, 0.0, 1 - 0.025 ** (1 / 20)),
        (20, 20, 0.025 ** (1 / 20), 1.0),
        (81, 263, 0.2527, 0.3676),  # Newcombe (1998), Table I, method 5
        (15, 148, 0.0578, 0.1617),
        (1, 29, 0.0009, 0.1776),
    ],
)
def test_the_interval_is_that_of_clopper_and_pearson(successes: int, n: int, low: float, high: float) -> None:
    assert exact_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_counts_that_no_sample_has_are_refused(successes: int, n: int) -> None:
    with pytest.raises(InvalidInput):
        exact_interval(successes, n)


def test_a_share_of_nothing_is_undefined_and_says_why() -> None:
    found = Share(successes=0, n=0, failed=3).document()
    assert found == {
        "value": None, "successes": 0, "n": 0, "failed": 3, "low": None, "high": None, "undefined": "none was graded"
    }  # fmt: skip
