import math

import pytest

from evenhand.errors import InvalidInput
from evenhand.stats.intervals import wilson_interval


@pytest.mark.parametrize(
    ("successes", "n", "lower", "upper"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_newcombe_1998_table_i(successes, n, lower, upper):
    assert [round(bound, 4) for bound in wilson_interval(successes, n)] == [lower, upper]


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (3, 7), (7, 7), (1, 1000)])
def test_successes_and_failures_mirror_each_other(successes, n):
    lower, upper = wilson_interval(successes, n)
    mirrored = wilson_interval(n - successes, n)
    assert mirrored == pytest.approx((1 - upper, 1 - lower))


def test_no_trials_define_no_share():
    assert all(math.isnan(bound) for bound in wilson_interval(0, 0))


@pytest.mark.parametrize("counts", [(-1, 5), (6, 5)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(InvalidInput):
        wilson_interval(*counts)
