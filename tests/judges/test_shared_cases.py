"""Replies that others met, each played to the generator; tests/whole sends them through a real server as well."""

import json
from decimal import Decimal

import pytest

from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import Check, Criterion, Item, JudgeSpec, ModelSpec, Reply, Usage, Verdict

pytestmark = pytest.mark.shared

STATUS = {"Verdict": "verdict", "Abstention": "abstained", "Failure": "failed"}
IDS = [f"T{n:03d}" for n in range(1, 27, 2)] + ["T037", "T045"]


@pytest.fixture(scope="module")
def cases(shared):
    path = shared / "data" / "cases" / "cases.jsonl"
    return {case["id"]: case for case in map(json.loads, filter(None, path.read_text(encoding="utf-8").split("\n")))}


def spec(setup):
    if setup == "number":
        criterion = Criterion(id="overall", levels=(Decimal(1), Decimal(10)))
    else:
        ids = ("figure", "outcome", "action", "reflection")
        checks = tuple(Check(id=name, ask=f"Does the text show the {name}?") for name in ids)
        criterion = Criterion(id="answer", levels=(Decimal(0), Decimal(4)), checks=checks)
    return JudgeSpec(name="cases", protocol=setup, models=(ModelSpec(model="openai/x"),), criteria=(criterion,))


def as_reply(choice):
    message, usage = choice["message"], choice.get("usage", {})
    return Reply(
        text=message.get("content") or "",
        refusal=message.get("refusal"),
        finish=choice["finish_reason"],
        usage=Usage(reasoning_tokens=usage.get("completion_tokens_details", {}).get("reasoning_tokens")),
    )


@pytest.mark.parametrize("name", IDS)
def test_the_case_comes_out_as_stated(name, cases, make, play, shared):
    case = cases[name]
    expected, given = case["expected"], case["input"]
    judged = spec(given["setup"])
    judge = make(judged.protocol, *judged.criteria)
    texts = (shared / "data" / "cases" / "setup" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    item = Item(**(given.get("item") or json.loads(texts[0])))
    plays = [[as_reply(choice) for choice in given["replies"]]]
    if "variants" in given:
        plays = [[Reply(text=text)] for text in given["variants"]]
    for number, replies in enumerate(plays):
        outcome, calls = play(judge, item, replies)
        status = STATUS[type(outcome).__name__]
        wanted = expected.get("variant_status", [expected.get("status", "verdict")] * len(plays))[number]
        assert status in (wanted if isinstance(wanted, list) else wanted.split()), (name, number, outcome)
        if isinstance(outcome, Verdict):
            score = VerdictScorer(judged).score(outcome).score
            assert score == expected.get("score", given.get("expected_score", 8)), name
        else:
            assert outcome.keys[-1] == f"key-{len(calls)}"
        assert len(calls) == expected.get("calls", len(calls))
        assert len(calls) >= expected.get("calls_at_least", 1)
        assert expected.get("cause", getattr(outcome, "code", None)) == getattr(outcome, "code", None)
        assert expected.get("cause_mentions", "") in getattr(outcome, "message", "")
        if "repair_mentions" in expected:
            assert expected["repair_mentions"] in calls[1].messages[-1].text
        if "second_call_limit" in expected:
            assert calls[1].max_tokens > calls[0].max_tokens
        if "quote_status" in expected:
            checks = outcome.criteria[0].checks
            assert {check.quote_status for check in checks if check.quote} == {expected["quote_status"]}


def test_braces_reach_the_model_character_for_character(cases, make):
    case = cases["T041"]
    ask = 'Does it use the form {"a": {"b": 1}}?'
    judge = make("checklist", Criterion(id="c", checks=(Check(id="keys", ask=ask),)))
    (call,) = next(judge.judge(Item(**case["input"]["items"][0]), model="openai/x"))
    sent = "".join(message.text for message in call.messages)
    assert ask in sent
    assert all(text in sent for text in case["expected"]["request_contains"])
