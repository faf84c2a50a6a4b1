import pytest

from evenhand.analysis.hardening import bootstrap_interval, lift_of, paired, reaction_of
from evenhand.terms import Record


def record(score=None, *, status="verdict", rerun=0, item="i"):
    cause = {"code": "empty", "message": "", "raw_key": None} if status == "failed" else None
    return Record(
        item=item, item_hash="h", metadata={}, judge={}, member="p/m", rerun=rerun, status=status, score=score,
        exact=None if score is None else float(score), scale=None if score is None else (0, 10), cause=cause,
    )  # fmt: skip


ABSTAINED, FAILED = record(status="abstained"), record(status="failed")


def items(*pairs):
    return {f"i{n}": [pair] for n, pair in enumerate(pairs)}


def test_the_lift_is_the_mean_of_paired_differences():
    lift = lift_of("k", items((record(1), record(3)), (record(2), record(2)), (record(4), record(5))), seed=1)
    assert (lift.n, lift.mean, lift.lifted) == (3, 1.0, 2)
    assert 0 <= lift.interval[0] <= 1 <= lift.interval[1] <= 2


def test_what_has_no_score_is_counted_and_never_a_zero():
    lift = lift_of(
        "k",
        items(
            (record(1), FAILED),
            (FAILED, ABSTAINED),
            (ABSTAINED, record(5)),
            (record(1), ABSTAINED),
            (record(1), record(2)),
        ),
        seed=1,
        missing=2,
    )
    assert (lift.n, lift.mean) == (1, 1.0)
    assert (lift.failed, lift.abstained, lift.newly_scored) == (4, 2, 1)
    assert lift.interval is None


def test_reruns_are_one_item():
    pairs = {"i": [(record(1), record(2)), (record(1, rerun=1), record(4, rerun=1))]}
    lift = lift_of("k", pairs, seed=1)
    assert (lift.n, lift.mean, lift.interval) == (1, 2.0, None)


def test_no_item_with_a_score_leaves_the_lift_undefined():
    lift = lift_of("k", items((ABSTAINED, ABSTAINED)), seed=1)
    assert (lift.n, lift.mean, lift.interval, lift.lifted_interval) == (0, None, None, None)
    assert not lift.exceeds(0)


def test_a_limit_is_exceeded_by_the_whole_interval_only():
    every = lift_of("k", items(*[(record(1), record(3))] * 9), seed=1)
    assert (every.exceeds(1.9), every.exceeds(2)) == (True, False)
    some = lift_of("k", items((record(1), record(9)), *[(record(1), record(1))] * 9), seed=1)
    assert some.mean == 0.8
    assert not some.exceeds(0.1)


def test_the_interval_is_that_of_the_seed():
    values = [0.0, 1.0, 2.0, 5.0, 1.0, 0.5]
    one, other = (bootstrap_interval(values, seed=7, n_resamples=500) for _ in range(2))
    assert one == other
    assert one != bootstrap_interval(values, seed=8, n_resamples=500)


@pytest.mark.parametrize(
    ("before", "after", "reacts"),
    [(record(3), record(3), 0), (record(3), record(1), 1), (record(1), ABSTAINED, 1), (ABSTAINED, record(1), 1)],
)
def test_a_score_that_moves_comes_or_goes_is_a_reaction(before, after, reacts):
    assert reaction_of("c", items((before, after))).reacted == reacts


def test_items_that_cannot_tell_are_left_out_and_counted():
    found = reaction_of("c", items((ABSTAINED, ABSTAINED), (record(1), FAILED), (record(1), record(2))), missing=3)
    assert (found.n, found.reacted, found.silent, found.failed) == (1, 1, 1, 4)


def test_a_judge_that_never_reacts_is_not_reading_once_there_are_enough_items():
    still = (record(3), record(3))
    assert reaction_of("c", items(still)).reads is True  # one item cannot tell: the interval reaches .79
    assert reaction_of("c", items(*[still] * 5)).reads is False
    assert reaction_of("c", items(*[still] * 5, *[(record(3), record(1))] * 5)).reads is True
    assert reaction_of("c", {}).reads is None


def test_judgements_are_paired_by_item_and_rerun_and_the_others_counted():
    plain = {("a", 0): record(1), ("a", 1): record(2), ("b", 0): record(3)}
    changed = {("a", 0): record(4), ("c", 0): record(5)}
    pairs, missing = paired(plain, changed)
    assert pairs == {"a": [(record(1), record(4))]}
    assert missing == 3


def test_the_lowest_score_cannot_fall_and_is_left_out():
    found = reaction_of("c", items((record(0), record(0)), (record(0), record(2)), (record(2), record(0))))
    assert (found.n, found.reacted, found.at_lowest) == (1, 1, 2)
