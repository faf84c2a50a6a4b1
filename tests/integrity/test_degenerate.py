"""C4: every branch of a task's verdict, and what several tasks come to."""

import pytest

from evenhand.integrity.degenerate import MEMORISER, TaskReach, degenerate_verdict, task_verdict

REACHED = TaskReach(
    task="t1", held_out=("h1", "h2", "h3"), n_visible=2, by_kind={"llm": ("h1",), "mutant": ("h1", "h2")},
    witnesses={"h1": {"llm": "c1", "mutant": "m1"}, "h2": {"mutant": "m1"}}, implementations={"llm": 3, "mutant": 5},
)  # fmt: skip
NONE = TaskReach(task="t2", held_out=("h1",), n_visible=1, implementations={"llm": 4})
NO_HELD_OUT = TaskReach(task="t3", held_out=(), n_visible=3)


@pytest.mark.parametrize(
    ("reach", "word", "says"),
    [
        (REACHED, "pass", "2 of 3 held-out checks"),
        (NO_HELD_OUT, "fail", "no held-out check"),
        (TaskReach(task="t", held_out=()), "fail", "no check at all"),
        (TaskReach(task="t", held_out=("h1",), repeats=("h1",), by_kind={"llm": ("h1",)}), "fail", "enumerated"),
        (TaskReach(task="t", held_out=("h1",), by_kind={MEMORISER: ("h1",)}), "insufficient evidence", "memorisers"),
        (TaskReach(task="t", held_out=("h1",)), "insufficient evidence", "no known-incorrect"),
        (NONE, "insufficient evidence", "none of the 4"),
        (
            TaskReach(task="t", held_out=("h1", "h2"), repeats=("h1",), by_kind={"llm": ("h1",), MEMORISER: ("h2",)}),
            "insufficient evidence",
            "repeat a visible one",
        ),
    ],
)
def test_a_task_gets_its_word_and_reason(reach: TaskReach, word: str, says: str) -> None:
    found = task_verdict(reach)
    assert found.verdict == word
    assert says in found.reason


def test_the_worst_task_speaks_for_all_and_the_shares_are_shown() -> None:
    found = degenerate_verdict([REACHED, NONE], source="s")
    assert found.verdict == "insufficient evidence"
    assert "1 pass, 1 insufficient evidence" in found.reason
    assert "t2" in found.reason
    assert degenerate_verdict([REACHED, NONE, NO_HELD_OUT], source="s").verdict == "fail"


def test_the_word_of_most_can_be_asked_for() -> None:
    assert degenerate_verdict([REACHED, REACHED, NO_HELD_OUT], source="s", taken="most").verdict == "pass"
    assert degenerate_verdict([REACHED, NO_HELD_OUT], source="s", taken="most").verdict == "insufficient evidence"


def test_without_suites_the_evidence_is_insufficient() -> None:
    found = degenerate_verdict([], source="s")
    assert (found.verdict, found.reason) == ("insufficient evidence", "no suite is described")
    assert degenerate_verdict([], source="s", missing="why").reason == "why"


def test_what_is_wrong_with_the_suites_fails() -> None:
    assert degenerate_verdict([REACHED], source="s", failure="the visible suite is empty").verdict == "fail"


def test_kinds_may_overlap_and_the_total_counts_a_check_once() -> None:
    evidence = degenerate_verdict([REACHED], source="s").evidence
    assert (evidence["held_out"], evidence["reachable"]) == (3, 2)
    assert evidence["by_kind"] == {"llm": 1, "mutant": 2}
    assert evidence["unreachable"] == {"t1": ["h3"]}
    assert evidence["witnesses"]["t1"]["h1"] == {"llm": "c1", "mutant": "m1"}
