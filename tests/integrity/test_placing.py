"""Where an item's texts stand in a request: escaped, re-wrapped, cut, short, or there by chance."""

import json

import pytest

from evenhand.integrity.placing import occurrences, placed_calls, texts_of
from evenhand.integrity.sequence import trace_evidence
from evenhand.terms import Item, TracedCall

TASKS = {
    "hens": 'A farm has 16 hens; "each" lays one egg a day.\nSeven are eaten.  How many of them are left to sell?',
    "robe": "A robe takes 2 bolts of blue fibre and half as much white fibre.\nHow many bolts does it take in all?",
    "runs": "James runs 3 sprints of 60 metres three times a week.\nHow many metres does he run in a whole week?",
}


def items(candidates=("9", "4", "540"), references=("9", "3", "540")):
    return [
        Item(id=name, task=task, candidate=candidate, reference=reference)
        for (name, task), candidate, reference in zip(TASKS.items(), candidates, references, strict=True)
    ]


def calls(*exchanges):
    """Calls one after the other, from (request, reply)."""
    return [
        TracedCall(number=k, wire="chat", path="/chat/completions", began=2 * k, ended=2 * k + 1, status=200,
                   messages=(("user", request),), replies=(reply,), readable=True, request_hash=f"sha256:{k}")
        for k, (request, reply) in enumerate(exchanges)
    ]  # fmt: skip


def placed(request):
    (one,) = placed_calls([texts_of(item) for item in items()], calls((request, "fine")))
    return one


@pytest.mark.parametrize(
    "written",
    [
        lambda task: task,
        lambda task: json.dumps({"question": task}),
        lambda task: json.dumps({"question": json.dumps({"inner": task})})[1:-1].replace("\\\\", "\\"),
        lambda task: task.replace(" ", "\n   "),
        lambda task: task.replace('"', "&quot;"),
        lambda task: "é" + task,
    ],
    ids=["plain", "json", "json in json", "wrapped", "html", "beside other text"],
)
def test_a_task_is_found_however_it_is_written(written):
    one = placed(f"Judge this: {written(TASKS['hens'])} Well?")
    assert one.items == ("hens",)
    assert one.sights["hens"]["task"].how in ("whole", "fragments")


def test_a_long_text_that_is_cut_is_found_by_its_fragments():
    whole = " ".join(f"word{k}" for k in range(60))
    item = Item(id="x", task=whole, candidate="7")
    (one,) = placed_calls([texts_of(item)], calls((" ".join(whole.split()[:40]) + "[cut]", "fine")))
    assert (one.items, one.sights["x"]["task"].how) == (("x",), "fragments")


def test_a_request_with_two_tasks_is_not_one_items():
    one = placed(TASKS["hens"] + TASKS["robe"])
    assert (one.items, one.several) == (("hens", "robe"), True)


def test_a_task_within_another_is_not_taken_for_it():
    short = Item(id="short", task="How many bolts does it take in all?", candidate="1")
    (one,) = placed_calls([texts_of(item) for item in [*items(), short]], calls((TASKS["robe"], "fine")))
    assert (one.items, one.several) == (("robe",), False)


@pytest.mark.parametrize(
    ("short", "text", "n"),
    [
        ("42", "3.42 42.5 1,42 42,000 x42 42x", 0),
        ("42", "(42) '42' 42. 42, 42", 5),
        ("A", "A AB a", 1),
        ("-3", "x-3", 1),
    ],
)
def test_a_short_text_is_a_word_of_its_own(short, text, n):
    assert occurrences(short, text) == n


BLIND = "{}\nWork it out. On a scale from 4 to 540 words, end with a line\nMy answer: <number>"


def test_a_short_candidate_that_stands_in_the_template_by_chance_is_not_in_view():
    found = trace_evidence(items(), calls(*((BLIND.format(task), "My answer: 1") for task in TASKS.values())))
    assert [one.arm for one in found.items] == ["commit_blind"] * 3


def test_a_short_candidate_beside_the_task_is_in_view():
    asked = "{}\nProposed: {}. Work it out. End with a line\nMy answer: <number>"
    requests = [asked.format(item.task, item.candidate) for item in items()]
    found = trace_evidence(items(), calls(*((request, "My answer: 1") for request in requests)))
    assert [one.candidate_in_view for one in found.items] == [True] * 3


def test_a_long_candidate_of_which_only_the_answer_is_shown_is_in_view():
    long = [f"First we add, then we take away, and so at last we get what was asked.\n#### {k}" for k in (9, 4, 541)]
    given = items(candidates=long, references=("8", "3", "540"))
    requests = [f"{item.task}\nProposed: {item.candidate.split()[-1]}\nMy answer: <number>" for item in given]
    found = trace_evidence(given, calls(*((request, "My answer: 1") for request in requests)))
    assert [(one.arm, one.candidate_in_view) for one in found.items] == [("commit_visible", True)] * 3


def test_a_reference_in_view_makes_the_answer_no_commitment_of_ones_own():
    given = items(references=("8", "3", "541"))
    requests = [f"{item.task}\nThe key says {item.reference}.\nEnd with My answer: <number>" for item in given]
    found = trace_evidence(given, calls(*((request, "My answer: 1") for request in requests)))
    assert {one.arm for one in found.items} == {"anchored"}
    assert all("reference" in one.reason for one in found.items)
