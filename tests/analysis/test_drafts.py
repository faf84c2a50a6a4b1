"""One draft after the other: each finding is resolved, remaining or new, and counted once."""

import pytest

from evenhand.analysis.drafts import draft_changes, slug_of
from evenhand.terms import Record


def record(item, score, items, *, member="m", judge="h", metadata=None, text=""):
    found = [{"claim": claim, "impact": impact, "counted": counted} for claim, impact, counted in items]
    return Record(
        item=item,
        item_hash=text or item,
        metadata=metadata or {},
        judge={"hash": judge},
        member=member,
        rerun=0,
        status="verdict" if score is not None else "abstained",
        score=score,
        criteria=({"id": "readiness", "items": found},),
    )


V1 = [
    ("The limits are not stated.", -3, True),
    ("Table 1 has no units.", -2, True),
    ("The opening is clear.", 3, True),
    ("A quote that was made up.", -5, False),
]
V2 = [
    ("the limits are not stated", -2, True),
    ("Table 2 has no units.", -2, True),
    ("The opening is clear!", 3, True),
    ("The example helps.", 2, True),
]


def test_findings_are_resolved_remaining_or_new():
    (change,) = draft_changes([record("essay@1", 40, V1)], [record("essay@2", 58, V2)])
    assert change.resolved == ("Table 1 has no units.",)
    assert change.remaining == ("the limits are not stated",)
    assert change.new == ("Table 2 has no units.",)
    assert change.lost == ()
    assert change.gained == ("The example helps.",)
    assert (change.scores, change.delta, change.comparable) == ((40, 58), 18, True)
    assert change.document()["n_resolved"] == 1


def test_passes_of_one_slug_accumulate_and_the_last_one_is_compared():
    earlier = [record("essay@1", 40, V1), record("other@1", 10, []), record("essay@2", 50, [])]
    (change,) = draft_changes(earlier, [record("essay@3", 45, V1)])
    assert change.earlier == "essay@2"
    assert change.scores == (40, 50, 45)
    assert change.delta == -5
    assert len(change.new) == 2


def test_two_versions_of_one_run_follow_each_other():
    first, second = draft_changes([record("e@1", 1, [])], [record("e@2", 2, []), record("e@3", 3, [])])
    assert (first.earlier, second.earlier, second.scores) == ("e@1", "e@2", (1, 2, 3))


def test_a_claim_is_matched_once():
    twice = [("It is not said who decides.", -2, True), ("It is not said who decides!", -2, True)]
    (change,) = draft_changes([record("e@1", 1, twice)], [record("e@2", 1, twice[:1])])
    assert len(change.remaining) == 1
    assert len(change.resolved) == 1


def test_blame_and_praise_in_the_same_words_are_two_findings():
    (change,) = draft_changes(
        [record("e@1", 1, [("It is short.", -1, True)])], [record("e@2", 1, [("It is short.", 1, True)])]
    )
    assert (change.resolved, change.gained) == (("It is short.",), ("It is short.",))


def test_without_a_score_there_is_no_delta_and_another_judge_is_said():
    (change,) = draft_changes([record("e@1", 1, [])], [record("e@2", None, [], judge="other")])
    assert change.delta is None
    assert not change.comparable


def test_a_panels_record_speaks_for_its_item():
    now = [record("e@2", 3, [], member="a"), record("e@2", 7, [], member=None)]
    (change,) = draft_changes([record("e@1", 1, [], member=None)], now)
    assert change.scores == (1, 7)


@pytest.mark.parametrize(
    ("item", "slug"),
    [
        ("essay@2", "essay"),
        ("essay-v2.md", "essay"),
        ("essay_v2.1.md", "essay"),
        ("dir/essay version 3.txt", "dir/essay"),
        ("essay.md", "essay"),
        ("@2", "@2"),
        ("overview", "overview"),
    ],
)
def test_the_version_is_no_part_of_the_slug(item, slug):
    assert slug_of(record(item, 1, [])) == slug


def test_a_first_pass_has_nothing_to_be_compared_with():
    assert draft_changes([], [record("e", 1, [])]) == ()


def failed(item):
    head = {"item_hash": item, "metadata": {}, "judge": {"hash": "h"}, "member": "m", "rerun": 0}
    return Record(item=item, status="failed", cause={"code": "empty", "message": ""}, **head)


def test_a_pass_that_failed_resolves_nothing():
    (change,) = draft_changes([record("essay@1", 40, V1)], [failed("essay@2")])
    assert (change.resolved, change.remaining, change.new, change.lost, change.gained) == ((), (), (), (), ())
    assert (change.scores, change.delta) == ((40, None), None)


def test_a_failed_pass_between_two_is_passed_over():
    (change,) = draft_changes([record("essay@1", 40, V1), failed("essay@2")], [record("essay@3", 58, V2)])
    assert change.earlier == "essay@1"
    assert change.resolved == ("Table 1 has no units.",)
    assert change.new == ("Table 2 has no units.",)
    assert (change.scores, change.delta) == ((40, None, 58), 18)


def test_after_failed_passes_alone_nothing_is_called_new():
    (change,) = draft_changes([failed("essay@1")], [record("essay@2", 58, V2)])
    assert (change.new, change.gained, change.delta) == ((), (), None)


@pytest.mark.parametrize("text", ["@", "a.v1."])
def test_the_slug_of_a_very_long_id_is_found_in_steady_steps(text):
    long = text * 200_000 + "/"  # a quadratic search would take hours
    assert slug_of(record(long, 1, [])) == long
