import json

import pytest

PAIRWISE = """\
name: better
protocol: pairwise
models: [scripted/replies.jsonl]
"""
REFERENCE = """\
name: same
protocol: reference
models: [scripted/replies.jsonl]
scoring: {partly: 0.4}
"""


@pytest.fixture
def desk(tmp_path):
    def write(judge, items, replies):
        (tmp_path / "judge.yaml").write_text(judge, encoding="utf-8")
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
        (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
        return tmp_path

    return write


def pairs(n, **more):
    return [{"id": f"p{k}", "candidate_a": f"One {k}.", "candidate_b": f"Two {k}.", **more} for k in range(n)]


def better(*words):
    return [{"reason": "r", "better": word} for word in words]


def test_pairs_are_judged_in_both_orders_and_recorded(evenhand, desk):
    desk(PAIRWISE, pairs(2), better("first", "second", "first", "first"))
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "--json")
    assert done.code == 0, done.err
    first, second = done.document["records"]
    assert (first["score"], first["scale"], first["criteria"][0]["label"]) == (1, [0, 1], "a")
    assert [order["better"] for order in second["criteria"][0]["orders"]] == ["first", "first"]
    assert (second["score"], second["flags"]) == (0.5, ["inconsistent_swap"])
    assert len(first["keys"]) == 2
    summary = done.document["summary"]["pairs"]
    assert (summary["inconsistent"], summary["position_preference"]) == (1, 1.0)


def test_the_table_gives_the_order_its_part_and_each_system_its_rate(evenhand, desk):
    pytest.importorskip("choix")
    items = pairs(4, system_a="north\x1b[31m", system_b="south")
    desk(PAIRWISE, items, better("first", "second", "second", "first", "first", "first", "first", "second"))
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1)
    assert done.code == 0, done.err
    assert "a better 2, b better 1, tie 1, of 4" in done.out
    assert "the first in both orders 1, the second 0" in done.out
    assert "0.62 [" in done.out
    assert "Bradley-Terry" in done.out
    assert "\x1b" not in done.out
    hidden = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "--hide-scores")
    assert "pairs    hidden, of 4" in hidden.out
    assert not [
        word
        for word in ("a better", "both orders", "inconsistent", "win rate", "north", "Bradley-Terry")
        if word in hidden.out
    ]


@pytest.mark.parametrize("judge", [PAIRWISE, REFERENCE])
def test_a_panel_without_a_rule_to_decide_by_is_refused(evenhand, desk, judge):
    folder = desk(judge, pairs(1, reference="One."), better("first"))
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--panel")
    assert done.code == 2
    assert "--panel" in done.err
    assert not (folder / ".evenhand").exists()


def test_pairwise_records_are_recomputed_from_the_store(evenhand, desk):
    desk(PAIRWISE, pairs(3), better("first", "second", "second", "second", "tie", "tie"))
    evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "records.jsonl")
    done = evenhand("rescore", "records.jsonl", "--check")
    assert done.code == 0, done.err


def test_reference_records_are_recomputed_and_rescored(evenhand, desk):
    items = [{"id": f"i{k}", "candidate": f"It is {k}.", "reference": "It is 0."} for k in range(3)]
    replies = [
        {"reason": "r", "quote": "It is 0.", "says": "equal"},
        {"reason": "r", "quote": "It is 1.", "says": "partly"},
        {"reason": "r", "quote": "", "says": "cannot_tell"},
    ]
    desk(REFERENCE, items, replies)
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "records.jsonl", "--json")
    assert done.code == 0, done.err
    assert done.document["summary"]["scores"] == {"0.4": 1, "1": 1}
    assert done.document["summary"]["abstained"] == 1
    assert evenhand("rescore", "records.jsonl", "--check").code == 0


def test_a_judge_of_single_candidates_refuses_pairs(evenhand, desk):
    judge = "name: n\nprotocol: number\nmodels: [scripted/replies.jsonl]\ncriteria:\n  - {id: overall}\n"
    desk(judge, pairs(1), better("tie"))
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert done.code == 2
    assert "holds two candidates, and `protocol: number` reads one" in done.err


@pytest.mark.parametrize(("judge", "what"), [(PAIRWISE, "second candidate"), (REFERENCE, "reference")])
def test_items_that_all_lack_what_is_compared_are_refused_and_some_are_counted(evenhand, desk, judge, what):
    lone = {"id": "lone", "candidate": "Alone."}
    desk(judge, [lone], better("tie"))
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert done.code == 2
    assert f"no item has a {what}" in done.err
    whole = {"id": "whole", "candidate": "It.", "reference": "It.", "sources": {"candidate_b": "Other."}}
    reply = {"reason": "r", "quote": "It.", "says": "equal", "better": "tie"}
    desk(judge, [lone, whole], [reply])
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--json")
    assert done.code == 0, done.err
    assert f"1 of 2 items has no {what} and will abstain" in done.err
    assert [record["status"] for record in done.document["records"]] == ["abstained", "verdict"]


def test_a_dry_run_counts_both_orders(evenhand, desk):
    desk(PAIRWISE, pairs(5), better("tie"))
    assert evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run", "--json").document["calls"] == 10


def test_a_model_does_not_judge_its_own_candidate_in_either_place(evenhand, desk):
    desk(PAIRWISE, pairs(1, system_a="x", system_b="scripted/replies.jsonl"), better("tie"))
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert done.code == 2
    assert "--allow-self-judging" in done.err
