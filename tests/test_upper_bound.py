"""No judgement asks for more than the bound of a dry run, however badly its replies come."""

import json

import pytest

from evenhand.evaluate.upper_bound import input_tokens, questions_at_most
from evenhand.judges import judge_for
from evenhand.repository_text import FileText, composed
from evenhand.store.packaged import templates
from evenhand.terms import Commit, Criterion, Item, JudgeSpec, ModelSpec, Pass, Reply, Synthesis

FILES = [FileText(path=f"src/part_{n}.py", text=f"value_{n} = {n}  # " + "x" * 2_000 + "\n") for n in range(20)]
REPOSITORY = Item(id="r", candidate=composed(FILES), repository=True, sources={"demo": "It stops at row nine."})
FEATURES = [{"name": f"part {n}", "files": [FILES[n].path]} for n in range(12)]
ITEM = Item(id="1", candidate="The parser reads every row.", sources=REPOSITORY.sources)
PASSES = (Pass(name="code"), Pass(name="show", source="demo"))
ALL = {"synthesis": Synthesis(), "feedback": True, "passes": PASSES}
MATRIX = {"criteria": (Criterion(id="fit"), Criterion(id="craft")), "layout": "matrix", "perspectives": ("user",)}
UNREADABLE = "{" + "y" * 5_000 + "}"
READABLE = {
    "inventory": json.dumps({"features": FEATURES}),
    "synthesis": json.dumps({"marks": []}),
    "feedback": "Add a test for each of the errors.",
}


def worst(spec, item, rerun, answer=None):
    """All calls where every question is cut off, repaired in vain and asked afresh before it is answered."""
    judging = judge_for(spec, templates()).judge(item, model="a/b", rerun=rerun)
    heard = []
    try:
        calls = next(judging)
        while True:
            heard += calls
            calls = judging.send(tuple(map(answer or said, calls)))
    except StopIteration:
        return heard


def said(call):
    if call.attempt == 0 and call.max_tokens == 2048:
        return Reply(text="{", finish="length", key="k")
    if call.attempt == 0:
        return Reply(text=UNREADABLE, key="k")
    found = {"claim": "Reads.", "quote": "value_", "impact": 2, "criterion": "fit", "perspective": "user"}
    return Reply(text=READABLE.get(call.schema_name) or json.dumps({"items": [found]}), key="k")


@pytest.mark.parametrize("rerun", [0, 1])
@pytest.mark.parametrize(
    ("item", "settings"),
    [
        (ITEM, {"feedback": True}),
        (ITEM, ALL | MATRIX),
        (REPOSITORY, ALL | MATRIX | {"inventory": 2_000}),
        (REPOSITORY, {"inventory": 2_000, "scoring": {"item_floor": 0}}),
        (ITEM, {}),
    ],
)
def test_the_worst_judgement_stays_within_the_bound(item, settings, rerun):
    spec = JudgeSpec(name="j", protocol="evidence", models=(ModelSpec(model="a/b"),), **settings)
    heard = worst(spec, item, rerun)
    first = next(judge_for(spec, templates()).judge(item, model="a/b", rerun=rerun))
    asked = questions_at_most(spec, item, first, rerun=rerun)
    assert len(heard) <= sum(question.calls for question in asked)
    assert sum(map(input_tokens, heard)) <= sum(question.input_at_most for question in asked) / 2
    assert sum(call.max_tokens for call in heard) <= sum(question.output_at_most for question in asked)
    if item is REPOSITORY and settings.get("feedback"):  # and the bound is no looser than that
        assert len(heard) == sum(question.calls for question in asked) == (116, 112)[rerun]


def test_every_step_is_counted_once():
    spec = JudgeSpec(name="j", protocol="evidence", models=(ModelSpec(model="a/b"),), inventory=2_000, **ALL)
    first = next(judge_for(spec, templates()).judge(REPOSITORY, model="a/b"))
    # the inventory; twelve features and the demo, and each once more; the synthesis; in the first rerun the feedback
    assert [len(questions_at_most(spec, REPOSITORY, first, rerun=rerun)) for rerun in (0, 1)] == [29, 28]


@pytest.mark.parametrize("kind", ["number", "short_text"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_judge_that_answers_for_itself_stays_within_the_bound(kind, n):
    commit = Commit(match={"kind": kind}, commitments=n)
    spec = JudgeSpec(name="j", protocol="commit", models=(ModelSpec(model="a/b"),), commit=commit)
    item = Item(id="1", task="Which ocean is it? " * 40, candidate="a name " + "x" * 1_900)

    def answer(call):
        found = said(call)
        if found.finish == "length" or found.text == UNREADABLE:
            return found
        own = {"answer": f"{call.rerun + 5}" if kind == "number" else f"ocean {'y' * 1_900}{call.rerun}"}
        return Reply(text=json.dumps({"same": "yes"} if call.schema_name == "same_answer" else own), key="k")

    heard = worst(spec, item, 0, answer)
    first = next(judge_for(spec, templates()).judge(item, model="a/b"))
    most = questions_at_most(spec, item, first, rerun=0)
    assert len(heard) == sum(question.calls for question in most)
    assert sum(map(input_tokens, heard)) <= sum(question.input_at_most for question in most)
    assert sum(call.max_tokens for call in heard) <= sum(question.output_at_most for question in most)
