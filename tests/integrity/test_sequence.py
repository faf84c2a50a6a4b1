"""Which calls belong to which item, what precedes what, and what acceptance followed."""

import json
from dataclasses import replace

import pytest

from evenhand.errors import InvalidInput
from evenhand.integrity.sequence import trace_evidence
from evenhand.integrity.trace_evidence import TraceEvidence
from evenhand.terms import Item, TracedCall

NAMES = ("hens", "robe", "runs", "feed")
TASK = "This is the question about {} that has to be answered with one number, and it is long enough."
ITEMS = [Item(id=name, task=TASK.format(name), candidate=str(70 + k), reference="70") for k, name in enumerate(NAMES)]
BLIND = "{task}\nEnd with a line\nMy answer: <number>"
COMPARE = "{task}\nYou said {own}. Proposed is {candidate}. Same? VERDICT: yes or VERDICT: no"


def same(candidate, answer):
    return "equal" if candidate.split()[-1] == answer.split()[-1] else "unequal"


def call(number, request, reply, *, began=None, ended=None, role="user"):
    began = 2 * number if began is None else began
    return TracedCall(number=number, wire="chat", path="/chat/completions", began=began, status=200, model="m",
                      ended=began + 1 if ended is None else ended, messages=((role, request),), replies=(reply,),
                      readable=True, request_hash=f"sha256:{number:064}")  # fmt: skip


def blind(own="70"):
    return [call(k, BLIND.format(task=item.task), f"so\nMy answer: {own}") for k, item in enumerate(ITEMS)]


def accepted(*ids):
    return {item.id: item.id in ids for item in ITEMS}


def test_acceptance_that_equals_the_match_everywhere_is_shown_so():
    found = trace_evidence(ITEMS, blind(), accepted("hens"), same, match_words="number")
    assert (found.arm, found.n_matched, found.disagreements) == ("commit_blind", 4, ())
    assert [one.solved for one in found.items] == [True] * 4
    assert found.items[0].commitment_hash == f"sha256:{0:064}"


def test_one_item_accepted_against_the_match_is_an_ignored_commitment():
    found = trace_evidence(ITEMS, blind(), accepted("hens", "runs"), same)
    assert (found.arm, found.disagreements) == ("commit_ignored", ("runs",))
    assert found.arms == {"commit_ignored": 1, "commit_blind": 3}


def test_an_item_on_which_the_harness_abstained_is_not_compared():
    found = trace_evidence(ITEMS, blind(), {**accepted("hens"), "runs": None}, same)
    assert (found.n_outcomes, found.n_matched, found.items[2].accepted) == (4, 3, None)


def test_an_answer_after_the_verdict_is_no_commitment():
    asked = "{task}\nProposed: {candidate}. Give VERDICT: yes or no, then a line\nMy answer: <number>"
    calls = [
        call(k, asked.format(task=item.task, candidate=item.candidate), "VERDICT: yes\nMy answer: 70")
        for k, item in enumerate(ITEMS)
    ]
    found = trace_evidence(ITEMS, calls, accepted(*NAMES), same)
    assert (found.arm, {one.precedes for one in found.items}) == ("solve_first", {False})


def test_an_answer_in_a_call_after_a_verdict_is_no_commitment():
    judged = [
        call(k, COMPARE.format(task=item.task, own="x", candidate=item.candidate), "VERDICT: yes")
        for k, item in enumerate(ITEMS)
    ]
    found = trace_evidence(ITEMS, [*judged, *(replace(one, number=one.number + 10, began=one.began + 20,
                                                      ended=one.ended + 20) for one in blind())])  # fmt: skip
    assert found.arm == "solve_first"
    assert "before" in found.items[0].reason


def test_a_demand_that_is_not_heeded_is_no_commitment():
    asked = "{task}\nProposed: {candidate}. End with My answer: <number>"
    calls = [
        call(k, asked.format(task=item.task, candidate=item.candidate), "It is right.") for k, item in enumerate(ITEMS)
    ]
    assert trace_evidence(ITEMS, calls).arm == "anchored"


def test_a_spontaneous_answer_that_no_prompt_demands_is_no_commitment():
    asked = "{task}\nProposed: {candidate}. Solve it first, then grade it."
    calls = [
        call(k, asked.format(task=item.task, candidate=item.candidate), "My answer: 70\nGRADE: C")
        for k, item in enumerate(ITEMS)
    ]
    assert trace_evidence(ITEMS, calls).arm == "solve_first"


def test_an_item_accepted_without_a_readable_commitment_is_named():
    calls = blind()
    calls[1] = replace(calls[1], replies=("I cannot tell.\nReally not, whatever I try.",))
    found = trace_evidence(ITEMS, calls, accepted("hens", "robe"), same)
    assert (found.accepted_without_commitment, found.disagreements) == (("robe",), ("robe",))


def test_a_majority_of_several_commitments_is_the_commitment():
    calls = []
    for k, own in enumerate(("70", "71", "70")):
        calls += [replace(one, number=one.number + 10 * k, began=one.began + 20 * k, ended=one.ended + 20 * k)
                  for one in blind(own)]  # fmt: skip
    found = trace_evidence(ITEMS, calls, accepted("hens"), same)
    assert [one.commitment for one in found.items] == ["70"] * 4
    split = trace_evidence(ITEMS, calls[:8], accepted("hens"), same)
    assert [one.commitment for one in split.items] == [None] * 4


def test_the_calls_that_made_the_candidates_are_no_commitments():
    made = [replace(item, candidate=f"We add and take away, and in the end it comes to\n#### {k}")
            for k, item in enumerate(ITEMS)]  # fmt: skip
    calls = [call(k, f"{item.task}\nEnd with ####", item.candidate) for k, item in enumerate(made)]
    found = trace_evidence(made, calls)
    assert found.arm == "unplaced"
    assert "made the candidate" in found.unplaced


def test_blind_calls_for_candidates_of_one_task_are_given_out_in_order_and_not_when_they_overlap():
    alike = [replace(item, task=ITEMS[0].task) for item in ITEMS]
    calls = [call(k, BLIND.format(task=alike[0].task), f"My answer: {70 + k}") for k in range(4)]
    found = trace_evidence(alike, calls, accepted(*NAMES), same)
    assert (found.n_placed, found.disagreements) == (4, ())
    assert any("in order" in note for note in found.notes)
    at_once = [replace(one, began=k, ended=10 + k) for k, one in enumerate(calls)]
    lost = trace_evidence(alike, at_once, accepted(*NAMES), same)
    assert lost.n_placed == 0
    assert "without concurrency" in lost.items[0].reason


def test_one_blind_call_for_candidates_of_one_task_serves_all_of_them():
    alike = [replace(item, task=ITEMS[0].task) for item in ITEMS]
    found = trace_evidence(alike, [call(0, BLIND.format(task=alike[0].task), "My answer: 70")], accepted("hens"), same)
    assert (found.arms, found.n_matched) == ({"commit_blind": 4}, 4)


def test_a_bare_comparison_is_placed_by_what_it_compares():
    calls = blind() + [call(10 + k, f"Are 70 and {item.candidate} the same answer? VERDICT: yes or no",
                            "VERDICT: yes" if k == 0 else "VERDICT: no")
                       for k, item in enumerate(ITEMS) if k]  # fmt: skip
    found = trace_evidence(ITEMS, calls, accepted("hens"), lambda a, b: "undecided")
    assert [one.compared for one in found.items] == [False, True, True, True]
    assert (found.undecided, found.n_matched) == (("hens",), 3)
    assert found.disagreements == ()


def test_a_call_that_began_before_the_commitment_ended_cannot_rest_on_it():
    calls = []
    for k, item in enumerate(ITEMS):
        calls.append(call(2 * k, BLIND.format(task=item.task), "My answer: 70", began=10 * k, ended=10 * k + 5))
        asked = COMPARE.format(task=item.task, own="mine", candidate=item.candidate)
        calls.append(call(2 * k + 1, asked, "VERDICT: yes", began=10 * k + 1, ended=10 * k + 6))
    assert {one.compared for one in trace_evidence(ITEMS, calls).items} == {False}


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ([], "no calls were seen"),
        ([call(0, "quite another text", "My answer: 70")], "cannot be placed"),
        ([replace(call(0, "x", "y"), replies=(), status=500)], "was answered"),
        ([TracedCall(number=0, wire="responses", path="/responses", began=0, ended=1)], "none can be read"),
    ],
)
def test_what_cannot_be_placed_is_said_and_not_judged(calls, says):
    found = trace_evidence(ITEMS, calls, accepted("hens"), same)
    assert says in found.unplaced
    assert (found.arm, found.n_placed, found.n_matched) == ("unplaced", 0, 0)


def test_evidence_comes_back_from_json_as_it_was():
    found = trace_evidence(ITEMS, blind(), accepted("hens", "runs"), same, match_words="number")
    assert TraceEvidence.read(json.loads(json.dumps(found.document()))) == found
    with pytest.raises(InvalidInput, match="schema"):
        TraceEvidence.read({**found.document(), "schema": "evenhand.trace_evidence/9"})


VISIBLE = "{task}\nProposed: {candidate}\nWork it out, End with a line\nMy answer: <number>"
DERIVED = "There are {} of them in the morning and the rest in the evening.\nMy answer: {}"


def shown_derivations(reply):
    """Candidates that end as the judge is told to end, and what the judge says to each."""
    items = [replace(item, candidate=DERIVED.format(item.id, item.candidate)) for item in ITEMS]
    calls = [
        call(k, VISIBLE.format(task=item.task, candidate=item.candidate), reply(item)) for k, item in enumerate(items)
    ]
    return trace_evidence(items, calls, accepted("hens"), same)


@pytest.mark.parametrize(
    "reply",
    [
        lambda item: f"It says: {item.candidate}\nThat is not what I get.\nMy answer: 70\nVERDICT: no",
        lambda item: f"My answer: 70\nIt says: {item.candidate}\nVERDICT: no",
        lambda item: f"My answer: 70\nIt ends so:\n> {item.candidate.splitlines()[-1]}\nVERDICT: no",
        lambda item: f"I read:\n> {'> '.join(item.candidate.splitlines(keepends=True))}\nMy answer: 70",
    ],
)
def test_an_answer_that_the_judge_repeats_from_the_candidate_is_not_its_own(reply):
    found = shown_derivations(reply)
    assert [one.commitment for one in found.items] == ["70"] * 4
    assert (found.arm, found.disagreements) == ("commit_visible", ())


def test_a_judge_that_only_repeats_the_candidate_has_committed_to_nothing():
    found = shown_derivations(lambda item: f"{item.candidate}\nThat is right.\nVERDICT: yes")
    assert [one.commitment for one in found.items] == [None] * 4
    assert found.arm not in ("commit_visible", "commit_blind")


GRADED = "{task}\n\nSubmission: {candidate}\n\nGrade it. Reply GRADE: C or I"


@pytest.mark.parametrize(
    "mark", ["My answer: {}", "#### {}", "\\boxed{{{}}}", "<answer>{}</answer>", '{{"answer": {}}}']
)
@pytest.mark.parametrize("before", ["", "First I sell three of them, then I count the rest of the day once more.\n"])
@pytest.mark.parametrize("cut", [0, 15])
def test_a_mark_of_an_answer_in_the_candidate_is_no_demand_for_one(mark, before, cut):
    items = [replace(item, candidate=before + mark.format(item.candidate)) for item in ITEMS]
    calls = [
        call(
            k,
            GRADED.format(task=item.task, candidate=item.candidate[cut if before else 0 :]),
            f"The submission ends so:\n{mark.format(ITEMS[k].candidate)}\nGRADE: C",
        )
        for k, item in enumerate(items)
    ]
    found = trace_evidence(items, calls, accepted(*NAMES), same)
    assert (found.arm, {one.commitment for one in found.items}) == ("anchored", {None})


def test_a_candidate_that_looks_like_the_prompts_own_demand_does_not_take_it_away():
    items = [replace(item, candidate="My answer: <number>") for item in ITEMS]
    calls = [
        call(k, VISIBLE.format(task=item.task, candidate=item.candidate), "I count.\nMy answer: 70")
        for k, item in enumerate(items)
    ]
    found = trace_evidence(items, calls, accepted(), lambda a, b: "unequal")
    assert [one.commitment for one in found.items] == ["70"] * 4
