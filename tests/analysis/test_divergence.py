"""Bare numbers against evidence on the same items."""

import math

import pytest

from evenhand.analysis.divergence import divergence
from evenhand.terms import Record


def scored(item, exact, scale=(0, 100), member="m", rerun=0):
    return Record(
        item=item,
        item_hash=item,
        metadata={},
        judge={},
        member=member,
        rerun=rerun,
        status="abstained" if exact is None else "verdict",
        score=exact,
        exact=exact,
        scale=None if exact is None else scale,
    )


def run(*scores, **how):
    return [scored(str(place), score, **how) for place, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("by", "reading", "sure"),
    [(20.0, "one_is_wrong", True), (2.0, "agree", True), (8.0, "between", True)],
)
def test_a_constant_distance_is_read_with_certainty(by, reading, sure):
    found = divergence(run(10.0, 20.0, 30.0, 40.0), run(10.0 + by, 20.0 + by, 30.0 + by, 40.0 + by))
    assert (found.n_items, found.mean, found.reading, found.sure) == (4, by, reading, sure)
    assert found.interval == (by, by)


def test_a_wide_interval_is_not_sure():
    # differences 0, 0, 40: mean 13.33, standard error 13.33, t(2) = 4.303
    found = divergence(run(10.0, 20.0, 30.0), run(10.0, 20.0, 70.0))
    assert found.reading == "one_is_wrong"
    assert not found.sure
    assert found.interval == pytest.approx((0.0, 40 / 3 * (1 + 4.302652729)), rel=1e-6)


def test_scales_are_taken_to_a_hundred():
    assert divergence(run(1, 10, scale=(1, 10)), run(0, 100)).mean == 0


def test_members_and_reruns_are_averaged_and_the_panels_record_stands_for_them():
    numbers = [scored("a", 40.0, rerun=0), scored("a", 60.0, rerun=1)]
    panel = [scored("a", 0.0), scored("a", 50.0, member=None)]
    assert divergence(numbers, panel).mean == 0


def test_items_without_a_score_of_both_are_counted():
    found = divergence(run(10.0, None, 30.0), run(10.0, 20.0))
    assert (found.n_items, found.left_out) == (1, 2)
    assert all(map(math.isnan, found.interval))


def test_nothing_in_common_is_undefined():
    found = divergence([scored("a", 1.0)], [scored("b", 1.0)])
    assert (found.reading, found.sure, found.n_items) == ("undefined", False, 0)
    assert math.isnan(found.mean)
