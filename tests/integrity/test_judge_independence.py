"""C1: every branch of the verdict, and the figures beside it."""

from dataclasses import replace

import pytest

from evenhand.errors import InvalidInput
from evenhand.integrity.judge_independence import JudgeFacts, judge_independence
from evenhand.integrity.solving import Judged, solve_figures
from evenhand.integrity.verdicts import TaskClass, Word
from evenhand.stats.resampling import Bootstrap

SOUND = JudgeFacts(
    kind="trace", source="a trace of 40 calls", has_candidate=False, commits=True, precedes=True, match="number",
    n_matched=20,
)  # fmt: skip
SOLVED = solve_figures([Judged(item=str(n), solves=(n % 2 == 0,), wrong=True, accepted=False) for n in range(20)])


def word(facts: JudgeFacts, task: TaskClass = "mathematics", solved: bool = True) -> tuple[Word, str]:
    found = judge_independence(facts, task, SOLVED if solved else None)
    return found.verdict, found.reason


def test_a_judge_that_commits_and_accepts_by_the_match_passes() -> None:
    assert word(SOUND)[0] == "pass"


def test_a_visible_candidate_is_no_reason_to_fail() -> None:
    assert word(replace(SOUND, has_candidate=True))[0] == "pass"


@pytest.mark.parametrize(
    ("change", "expected", "says"),
    [
        ({"commits": False, "has_candidate": True}, "fail", "candidate is in view and the judge is not held"),
        ({"commits": False, "has_candidate": False}, "fail", "not held to an answer"),
        ({"precedes": False}, "fail", "after the comparison"),
        ({"without_commitment": ("a", "b")}, "fail", "a, b"),
        ({"disagreements": ("q7",)}, "fail", "1 of 20 items: q7"),
        ({"score_decides": True}, "fail", "a score that follows"),
        ({"n_open": 3}, "insufficient evidence", "on 3 of 23 items"),
        ({"unplaced": "the trace cannot be placed"}, "insufficient evidence", "cannot be placed"),
        ({"commits": None}, "insufficient evidence", "not shown"),
        ({"precedes": None}, "insufficient evidence", "not shown"),
        ({"has_reference": True}, "insufficient evidence", "need not be the judge's own"),
        ({"match": ""}, "insufficient evidence", "match relation"),
        ({"n_matched": 0}, "insufficient evidence", "outcomes"),
    ],
)
def test_what_is_broken_fails_and_what_is_unknown_is_insufficient(
    change: dict[str, object], expected: Word, says: str
) -> None:
    found, reason = word(replace(SOUND, **change))  # type: ignore[arg-type]
    assert found == expected
    assert says in reason


def test_what_is_seen_broken_fails_even_where_more_is_unknown() -> None:
    assert word(replace(SOUND, commits=False, match="", n_matched=0), solved=False)[0] == "fail"


def test_without_the_judges_solve_accuracy_the_evidence_is_insufficient() -> None:
    assert word(SOUND, solved=False) == (
        "insufficient evidence",
        "the judge's own solve accuracy on these tasks is not disclosed",
    )


def test_any_solve_accuracy_will_do_since_it_is_a_disclosure() -> None:
    never = solve_figures([Judged(item=str(n), solves=(False,), wrong=True, accepted=False) for n in range(12)])
    assert judge_independence(SOUND, "mathematics", never).verdict == "pass"


def test_without_a_model_judge_or_a_verifiable_task_the_criterion_does_not_apply() -> None:
    assert word(replace(SOUND, kind="none"))[0] == "not applicable"
    assert word(SOUND, "subjective")[0] == "not applicable"


def test_the_evidence_holds_the_figures_that_others_rely_on() -> None:
    evidence = judge_independence(SOUND, "mathematics", SOLVED).evidence
    assert {"solve_accuracy", "solve_accuracy_on_wrong", "bound", "false_positive_rate", "excess"} <= set(evidence)
    assert evidence["solve_accuracy"]["value"] == 0.5
    assert evidence["solve_accuracy"]["n"] == 20


def test_undefined_figures_say_why() -> None:
    evidence = judge_independence(SOUND, "mathematics").evidence
    assert evidence["solve_accuracy"]["value"] is None
    assert evidence["solve_accuracy"]["undefined"] == "the judge's blind solves are not given"


# 40 wrong candidates: the judge solves 10 of them, and accepts 34. bound = 30/40, rate = 34/40, excess = 4/40.
def rows(accepted: int, solved: int, n: int = 40) -> list[Judged]:
    return [Judged(item=str(k), solves=(k < solved,), wrong=True, accepted=k < accepted) for k in range(n)]


def test_the_excess_is_the_false_positive_rate_less_the_bound() -> None:
    found = solve_figures(rows(34, 10))
    assert found.bound.value == pytest.approx(30 / 40)
    assert found.false_positive_rate.value == pytest.approx(34 / 40)
    assert found.excess.value == pytest.approx(4 / 40)
    assert found.excess.seed == 0
    assert found.excess.method == "percentile bootstrap over items"


def test_anchoring_is_proved_only_above_the_whole_interval() -> None:
    assert solve_figures(rows(38, 30)).proves_anchoring
    barely = solve_figures(rows(31, 10))
    assert barely.excess.value == pytest.approx(1 / 40)
    assert barely.excess.low is not None
    assert barely.excess.low < 0 < barely.excess.value
    assert not barely.proves_anchoring


def test_few_wrong_items_prove_nothing() -> None:
    few = [Judged(item=str(k), solves=(k != 0,), wrong=True, accepted=True) for k in range(9)]
    assert solve_figures(few).excess.low is not None
    assert solve_figures(few).excess.low > 0
    assert not solve_figures(few).proves_anchoring


def test_a_judge_that_accepts_every_wrong_answer_to_what_it_solves_is_proved_to_be_anchored() -> None:
    """Resamples of one and the same value say nothing; the exact share of items that give it does."""
    found = solve_figures([Judged(item=str(k), solves=(True,), wrong=True, accepted=True) for k in range(30)])
    share = 0.025 ** (1 / 30)
    assert (found.excess.value, found.excess.high) == (1.0, 1.0)
    assert found.excess.low == pytest.approx(2 * share - 1)
    assert found.bound.high == pytest.approx(1 - share)
    assert found.proves_anchoring


def test_one_item_of_ten_proves_nothing() -> None:
    found = solve_figures([Judged(item=str(k), solves=(k > 0,), wrong=True, accepted=k < 2) for k in range(10)])
    assert found.excess.value == pytest.approx(0.1)
    assert not found.proves_anchoring


@pytest.mark.parametrize(("solved", "accepted"), [(True, True), (True, False), (False, True), (False, False)])
def test_shares_that_are_0_or_1_throughout_have_an_interval(solved: bool, accepted: bool) -> None:
    found = solve_figures([Judged(item=str(k), solves=(solved,), wrong=True, accepted=accepted) for k in range(12)])
    for figure in (found.solve_accuracy, found.solve_accuracy_on_wrong, found.bound, found.false_positive_rate):
        assert figure.value in (0.0, 1.0)
        assert figure.low is not None
        assert figure.high is not None
        assert figure.high - figure.low == pytest.approx(1 - 0.025 ** (1 / 12))
    assert found.proves_anchoring == (solved and accepted)


def test_the_interval_is_paired() -> None:
    """Accepting exactly the unsolved ones leaves an excess of 0 on every item: unpaired draws would spread."""
    paired = [Judged(item=str(k), solves=(k % 2 == 0,), wrong=True, accepted=k % 2 == 1) for k in range(40)]
    excess = solve_figures(paired).excess
    assert excess.value == 0.0
    assert excess.low == pytest.approx(-(1 - 0.025 ** (1 / 40)))
    assert excess.high == pytest.approx(1 - 0.025 ** (1 / 40))


def test_several_solves_count_as_their_share_and_their_number_is_given() -> None:
    found = solve_figures([Judged(item="a", solves=(True, False, False, True)), Judged(item="b", solves=(True,))])
    assert found.solve_accuracy.value == pytest.approx(0.75)
    assert found.n_solves == 5


def test_right_candidates_count_for_the_accuracy_alone() -> None:
    found = solve_figures([*rows(20, 20, 20), Judged(item="right", solves=(False,), wrong=False, accepted=True)])
    assert found.solve_accuracy.n == 21
    assert found.false_positive_rate.n == 20


def test_items_without_verdict_or_truth_are_counted() -> None:
    found = solve_figures([Judged(item="a", wrong=True), Judged(item="b", accepted=True)])
    assert (found.no_verdict, found.unknown_truth) == (1, 1)
    assert found.excess.undefined == "the judge's blind solves are not given"


def test_equal_seeds_give_equal_intervals() -> None:
    once, again, other = (solve_figures(rows(34, 10), Bootstrap(seed=seed)).excess for seed in (3, 3, 4))
    assert (once.low, once.high) == (again.low, again.high)
    assert other.seed == 4


def test_an_item_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        solve_figures([Judged(item="a"), Judged(item="a")])
