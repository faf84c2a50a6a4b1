"""The smallest set of checks rejects all that the whole set rejects, and none is smaller."""

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.integrity.check_subset import smallest_subset

CHECKS = [f"h{n}" for n in range(6)]
FAILED = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.sets(st.sampled_from(CHECKS)), max_size=8)


def rejects_all(subset, failed):
    return all(of & set(subset) for of in failed.values() if of)


@settings(deadline=None, max_examples=60)
@given(FAILED)
def test_no_smaller_set_keeps_the_resolution(failed):
    found, smallest = smallest_subset(failed, CHECKS)
    assert smallest
    assert rejects_all(found, failed)
    assert list(found) == sorted(found, key=CHECKS.index)
    smaller = itertools.chain.from_iterable(itertools.combinations(CHECKS, n) for n in range(len(found)))
    assert not any(rejects_all(subset, failed) for subset in smaller)


def test_of_checks_that_reject_the_same_the_first_is_kept():
    assert smallest_subset({"a": {"h1", "h4"}, "b": {"h1", "h4"}}, CHECKS) == (("h1",), True)


def test_nothing_is_kept_where_nothing_is_rejected():
    assert smallest_subset({"a": set()}, CHECKS) == ((), True)
    assert smallest_subset({}, CHECKS) == ((), True)


def test_a_hard_instance_ends_and_says_that_a_smaller_set_may_be_there():
    rng, checks = random.Random(1), [f"h{n}" for n in range(100)]
    failed = {str(k): {check for check in checks if rng.random() < 0.06} for k in range(120)}
    found, smallest = smallest_subset(failed, checks)
    assert rejects_all(found, failed)
    assert not smallest
