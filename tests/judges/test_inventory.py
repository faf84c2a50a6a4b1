"""A large repository is read feature by feature within a budget, and its quotations stand in the whole."""

import dataclasses
import json

import pytest

from evenhand.errors import UnreadableReply
from evenhand.judges import judge_for
from evenhand.judges.inventory import CHARACTERS_PER_TOKEN, Feature, Part, parts_of, read_features
from evenhand.judges.places import placed
from evenhand.repository_text import FileText, RepositoryText, composed
from evenhand.store.packaged import templates
from evenhand.terms import Evidence, Item, JudgeSpec, ModelSpec, Reply, Verdict

FILES = {
    "README.md": "# Store\nIt keeps orders.\n",
    "src/big.py": "".join(f"value_{n} = {n}\n" for n in range(2_000)),
    "src/order.py": "def total(order):\n    return sum(order)\n",
    "tests/test_order.py": "def test_total():\n    assert total([1]) == 1\n",
}
TEXT = composed([FileText(path=path, text=text) for path, text in FILES.items()])
ITEM = Item(id="r", candidate=TEXT)


def spec(tokens):
    return JudgeSpec(name="j", protocol="evidence", models=(ModelSpec(model="a/b"),), inventory=tokens)


def reply(document, n):
    return Reply(text=json.dumps(document), key=f"sha256:{n:064x}")


def finding(claim, quote, impact):
    return {"claim": claim, "quote": quote, "impact": impact}


FEATURES = [
    {"name": "orders", "files": ["src/order.py", "README.md"]},
    {"name": "values", "files": ["src/big.py"]},
]


def test_features_are_read_apart_and_quotes_stand_in_the_whole():
    judging = judge_for(spec(2_000), templates()).judge(ITEM, model="a/b")
    (call,) = next(judging)
    assert call.schema_name == "inventory"
    listed = call.messages[1].text
    assert '{"path": "src/order.py", "lines": 2, "first": "def total(order):"}' in listed
    assert "value_1 =" not in listed
    calls = judging.send((reply({"features": FEATURES}, 1),))
    assert len(calls) == 2
    assert "return sum(order)" in calls[0].messages[1].text
    assert "test_total" not in calls[0].messages[1].text
    assert "value_0 = 0" in calls[1].messages[1].text
    assert "characters are not read here" in calls[1].messages[1].text
    first = [finding("It adds.", "return sum(order)", 2), finding("Not seen.", "assert total([1]) == 1", 5)]
    second = [finding("It is repetitive.", "value_3 = 3\nvalue_4 = 4", -2)]
    with pytest.raises(StopIteration) as done:
        judging.send((reply({"items": first}, 2), reply({"items": second}, 3)))
    outcome = placed(done.value.value, ITEM)
    assert isinstance(outcome, Verdict)
    assert outcome.flags[:2] == ("features:2", "files_unread:1")
    items = {item.claim: item for item in outcome.criteria[0].items}
    assert TEXT[slice(*items["It adds."].span)] == "return sum(order)"
    assert items["It adds."].place == "src/order.py:2"
    assert items["It is repetitive."].place == "src/big.py:4-5"
    assert items["Not seen."].dropped == "absent_quote"
    assert len(outcome.keys) == 3


def test_too_little_evidence_is_looked_for_in_every_feature():
    judge = judge_for(dataclasses.replace(spec(2_000), near_duplicate=0.9), templates())
    judging = judge.judge(ITEM, model="a/b")
    next(judging)
    judging.send((reply({"features": FEATURES}, 1),))
    said = {"items": [finding("It adds.", "return sum(order)", 2)]}
    more = judging.send((reply(said, 2), reply({"items": []}, 3)))
    assert ["value_0 = 0" in call.messages[1].text for call in more] == [False, True]
    assert [json.loads(call.messages[2].text) for call in more] == [said, {"items": []}]
    late = {"items": [finding("It is repetitive.", "value_3 = 3\nvalue_4 = 4", -2)]}
    with pytest.raises(StopIteration) as done:
        judging.send((reply({"items": []}, 4), reply(late, 5)))
    items = placed(done.value.value, ITEM).criteria[0].items
    assert [(item.place, item.counted) for item in items] == [("src/order.py:2", True), ("src/big.py:4-5", True)]


def test_what_fits_the_budget_is_read_whole():
    judging = judge_for(spec(100_000), templates()).judge(ITEM, model="a/b")
    (call,) = next(judging)
    assert call.schema_name == "evidence"
    judging = judge_for(spec(1_000), templates()).judge(Item(id="a", candidate="long " * 9_000), model="a/b")
    (call,) = next(judging)
    assert call.schema_name == "evidence"


@pytest.mark.parametrize("tokens", [1_000, 2_000, 5_000])
@pytest.mark.parametrize("n", [1, 2, 12])
def test_parts_stay_within_the_budget(tokens, n):
    files = RepositoryText.of(TEXT)
    features = [Feature(name=str(k), files=tuple(FILES)) for k in range(n)]
    parts = parts_of(files, features, tokens * CHARACTERS_PER_TOKEN)
    assert sum(len(part.text) for part in parts) <= tokens * CHARACTERS_PER_TOKEN + 300 * n
    for part in parts:
        for at, whole, length in part.pieces:
            assert part.text[at : at + length] == TEXT[whole : whole + length]


def test_a_quote_over_two_pieces_does_not_count():
    part = Part(text="aabb", pieces=((0, 10, 2), (2, 30, 2)))
    assert part.in_whole(Evidence(claim="c", impact=1, span=(2, 4))).span == (30, 32)
    assert not part.in_whole(Evidence(claim="c", impact=1, span=(1, 3))).counted


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ([], "expected 1 to 12"),
        ([{"name": "a", "files": ["../secret"]}], "no path of the list"),
        ([{"name": "a", "files": []}], "at least one path"),
        ([{"name": "", "files": ["README.md"]}], '"name" is missing'),
        ([{"name": "a", "files": [3]}], "no path of the list"),
    ],
)
def test_an_inventory_names_files_that_are_there(features, words):
    with pytest.raises(UnreadableReply, match=words):
        read_features(json.dumps({"features": features}), frozenset(FILES))
