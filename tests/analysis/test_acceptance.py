"""What judges accept, held against the truth: ties, members, unreadable commitments, and whose solves they are."""

import pytest

from evenhand.analysis.acceptance import Run, acceptance, accepts_or_rejects
from evenhand.analysis.best_of import best_of
from evenhand.stats.resampling import Bootstrap
from evenhand.terms import Commit, JudgeSpec, ModelSpec, Record

BOOTSTRAP = Bootstrap(n_resamples=199, seed=3)
REFERENCE = {f"i{k}": str(k) for k in range(12)}
TRUTH = {item: k % 3 == 0 for k, item in enumerate(REFERENCE)}  # 4 right, 8 wrong


def spec(name="blind", protocol="commit", mode="blind", temperature=0.0):
    commit = Commit(mode=mode, match={"kind": "number"}) if protocol == "commit" else None
    return JudgeSpec(
        name=name, protocol=protocol, models=(ModelSpec(model="p/m"),), temperature=temperature, commit=commit
    )


def record(item, accepted, *, answers=None, lost=(), mode="blind", member="p/m", rerun=0):
    own = None
    if answers is not None:
        said = [{"answer": answer, "key": "k", "hash": "h", "agrees": True} for answer in answers]
        own = {"mode": mode, "stands": 0 if said else None, "commitments": said, "lost": list(lost)}
    verdict = accepted is not None
    return Record(
        item=item, item_hash="h", metadata={}, judge={"name": "j"}, member=member, rerun=rerun,
        status="verdict" if verdict else "abstained", score=int(accepted) if verdict else None,
        scale=(0, 1) if verdict else None, criteria=({"id": "", **({"own": own} if own else {})},),
    )  # fmt: skip


def gold(item, answer):
    return None if item not in REFERENCE else answer == REFERENCE[item]


def found(*runs, truth=TRUTH):
    return acceptance(runs, truth, {run.spec.name: gold for run in runs if run.spec.commit}, BOOTSTRAP)


def test_each_figure_rests_on_its_own_items():
    solves = [
        record(item, TRUTH[item] and k < 6, answers=[str(k) if k < 6 else "x"]) for k, item in enumerate(REFERENCE)
    ]
    (one,) = found(Run(spec=spec(), records=tuple(solves)))
    assert (one.solving.solve_accuracy.value, one.solving.solve_accuracy.n) == (0.5, 12)
    assert (one.solving.solve_accuracy_on_wrong.value, one.solving.bound.value) == (0.5, 0.5)
    assert (one.solving.false_positive_rate.value, one.solving.false_positive_rate.n) == (0, 8)
    assert (one.accepted_right.value, one.accepted_right.n, one.accepted_right.method) == (0.5, 4, "Wilson interval")
    assert one.discrimination.value == 0.5
    assert one.solving.excess.value == -0.5


def test_an_unreadable_commitment_is_a_task_that_was_not_solved_and_its_item_has_no_verdict():
    solves = [record(item, None, answers=[], lost=["unreadable"]) for item in REFERENCE]
    (one,) = found(Run(spec=spec(), records=tuple(solves)))
    assert (one.solving.solve_accuracy.value, one.solving.solve_accuracy.n) == (0, 12)
    assert one.solving.false_positive_rate.value is None
    assert one.no_verdict == 12


def test_most_reruns_decide_and_a_tie_is_no_verdict():
    item = "i1"
    votes = [record(item, accepted, rerun=n) for n, accepted in enumerate([True, False, True])]
    tied = [record("i2", accepted, rerun=n) for n, accepted in enumerate([True, False])]
    (one,) = found(Run(spec=spec("a", "anchored_verdict"), records=(*votes, *tied)))
    assert (one.solving.false_positive_rate.value, one.solving.false_positive_rate.n) == (1, 1)
    assert one.no_verdict == 1


@pytest.mark.parametrize(("temperature", "source"), [(0.0, "blind"), (0.7, "")])
def test_solves_are_those_of_the_same_model_with_the_same_settings(temperature, source):
    blind = Run(spec=spec(), records=tuple(record(item, True, answers=["0"]) for item in REFERENCE))
    shown = spec("a", "anchored_verdict", temperature=temperature)
    anchored = Run(spec=shown, records=tuple(record(item, True) for item in REFERENCE))
    _, one = found(blind, anchored)
    assert one.solves_from == source
    assert (one.solving.bound.value is None) == (source == "")
    assert one.solving.proves_anchoring is False  # 8 wrong items are too few to prove anything


def test_what_is_committed_with_the_candidate_in_view_is_no_solve():
    visible = Run(
        spec=spec("v", mode="visible"),
        records=tuple(record(item, True, answers=[REFERENCE[item]], mode="visible") for item in REFERENCE),
    )
    (one,) = found(visible)
    assert one.solving.bound.value is None
    assert one.own_accuracy.value == 1


def test_each_member_has_figures_of_its_own_and_a_panels_record_none():
    records = [record(item, member == "p/a", member=member) for item in REFERENCE for member in ("p/a", "p/b", None)]
    first, second = found(Run(spec=spec("a", "anchored_verdict"), records=tuple(records)))
    assert [one.variant for one in (first, second)] == ["a by p/a", "a by p/b"]
    assert [one.solving.false_positive_rate.value for one in (first, second)] == [1, 0]


def test_without_wrong_candidates_nothing_is_said_of_false_positives():
    records = tuple(record(item, True) for item in REFERENCE)
    (one,) = found(Run(spec=spec("a", "anchored_verdict"), records=records), truth=dict.fromkeys(REFERENCE, True))
    assert one.solving.false_positive_rate.undefined == "no item has a candidate that is known to be wrong"
    assert one.discrimination.undefined == "no wrong candidate has a verdict"


def test_a_judge_of_many_levels_neither_accepts_nor_rejects():
    graded = Record(
        item="i1", item_hash="h", metadata={}, judge={}, member="p/m", rerun=0, status="verdict", score=7, scale=(1, 10)
    )  # fmt: skip
    assert not accepts_or_rejects([graded])
    assert found(Run(spec=spec("n", "number"), records=(graded,))) == ()


def test_a_lenient_judges_gap_grows_with_the_candidates_to_pick_from_and_an_exact_ones_is_0():
    lenient = [[(n != 0, False), (True, False), (True, False), (True, True)] for n in range(10)]
    assert [round(one.gap.value, 3) for one in best_of(lenient, BOOTSTRAP)] == [0.9, 1.0, 1.0, 0.742]
    exact = [[(False, False), (False, False), (True, True)]] * 10
    assert [one.gap.value for one in best_of(exact, BOOTSTRAP)] == [0, 0, 0]
    assert best_of([[(True, True)]], BOOTSTRAP) == ()


def test_shares_that_are_0_or_1_throughout_have_an_interval_and_so_has_their_difference():
    records = tuple(record(item, TRUTH[item]) for item in REFERENCE)
    (one,) = found(Run(spec=spec("a", "anchored_verdict"), records=records))
    z = 1.959963984540054
    right, wrong = (z * z / (n + z * z) for n in (4, 8))  # how far Wilson's interval reaches from 1 of 1 and 0 of 1
    assert (one.discrimination.value, one.discrimination.n) == (1, 12)
    assert one.discrimination.low == pytest.approx(1 - (right**2 + wrong**2) ** 0.5)
    assert one.discrimination.high == 1
    (_, two) = best_of([[(True, True), (True, True)]] * 30, BOOTSTRAP)
    assert two.accepted.low == two.right.low == pytest.approx(30 / (30 + z * z))
