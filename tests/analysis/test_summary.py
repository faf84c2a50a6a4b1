import pytest

from evenhand.analysis.summary import Summary
from evenhand.terms import Record, Usage


def a_record(score=None, member="m", status="verdict", quotes=(), **fields):
    checks = [
        {"id": str(k), "passed": True, "quote": quote, "quote_status": found} for k, (quote, found) in enumerate(quotes)
    ]
    known = {
        "item": "i", "item_hash": "h", "metadata": {}, "judge": {}, "member": member, "rerun": 0, "status": status,
        "score": score, "criteria": ({"id": "c", "checks": checks},), "keys": ("k",),
    }  # fmt: skip
    return Record(**(known | fields))


def summed(*records):
    summary = Summary()
    for record in records:
        summary.add(record)
    return summary.document()


def test_verdicts_abstentions_and_failures_are_all_there_are():
    document = summed(
        a_record(3), a_record(status="abstained"), a_record(status="failed", cause={"code": "empty"}), a_record(4)
    )
    assert (document["n"], document["verdict"], document["abstained"], document["failed"]) == (4, 2, 1, 1)
    assert document["causes"] == {"empty": 1}


def test_the_mode_has_its_n_and_interval_and_the_smaller_score_where_two_tie():
    document = summed(*[a_record(score) for score in (7, 7, 8, 8, 3)])
    assert (document["mode"], document["mode_share"], document["n_scores"]) == (7, 0.4, 5)
    assert document["mode_share_interval"] == pytest.approx((0.1176, 0.7693), abs=1e-4)


def test_without_a_score_the_mode_is_undefined_not_zero():
    document = summed(a_record(status="failed", cause={"code": "empty"}))
    assert (document["mode"], document["mode_share"], document["mode_share_interval"]) == (None, None, None)


def test_fabricated_quotes_are_the_absent_ones_of_those_offered_and_empty_ones_stand_apart():
    quotes = [("a b", "exact"), ("c d", "absent"), ("", "absent"), ("  ", "absent"), ("e f", "elided")]
    document = summed(a_record(1, quotes=quotes))
    assert (document["fabricated_quotes"], document["quotes_offered"], document["quotes_empty"]) == (1, 3, 2)
    assert document["fabricated_quote_rate"] == pytest.approx(1 / 3)


def test_an_unknown_price_makes_the_sum_unknown_never_smaller():
    assert summed(a_record(1, cost_usd=0.5), a_record(1, cost_usd=None))["cost_usd"] is None
    assert summed(a_record(1, cost_usd=0.5), a_record(1, cost_usd=0.25))["cost_usd"] == 0.75


def test_what_was_never_answered_has_no_price_to_know():
    nothing = a_record(status="failed", cause={"code": "provider"}, keys=())
    assert summed(nothing, a_record(1, cost_usd=0.5))["cost_usd"] == 0.5


def test_a_run_without_any_answer_has_no_cost_not_a_cost_of_zero():
    nothing = a_record(status="failed", cause={"code": "provider"}, keys=())
    assert summed(nothing)["cost_usd"] is None


def test_one_message_stands_for_each_cause():
    late = {"code": "deadline", "message": "no answer within 2 s"}
    cut = {"code": "truncated", "message": "cut at 800 tokens"}
    records = [
        a_record(status="failed", item=name, cause=cause) for name, cause in (("a", late), ("b", cut), ("c", cut))
    ]
    assert summed(*records)["cause_examples"] == {
        "deadline": "a: no answer within 2 s",
        "truncated": "b: cut at 800 tokens",
    }


def test_one_text_stands_for_each_reason_to_abstain():
    said = [
        ("a", "missing_reference", "none is there"),
        ("b", "refusal", "No."),
        ("c", "refusal", "Never."),
        ("d", "odd", None),
    ]
    summary = summed(*(a_record(status="abstained", item=item, reason=why, text=text) for item, why, text in said))
    assert summary["reasons"] == {"missing_reference": 1, "odd": 1, "refusal": 2}
    assert summary["reason_examples"] == {"missing_reference": "a: none is there", "odd": "d", "refusal": "b: No."}


def test_tokens_that_no_endpoint_reported_are_unknown_not_zero():
    assert summed(a_record(1, usage=Usage(input_tokens=5, output_tokens=2)))["usage"]["cached_tokens"] is None
    both = [a_record(1, member="a", usage=Usage(cached_tokens=3)), a_record(1, member="b")]
    assert summed(*both)["usage"]["cached_tokens"] == 3


def test_tokens_that_an_endpoint_did_not_count_are_said_to_be_unknown():
    document = summed(a_record(1, usage=Usage(input_tokens=5, output_tokens=2)), a_record(1))
    assert document["usage"]["input_tokens"] == 5
    assert document["usage"]["unknown"] == 1


def test_members_stand_in_the_declared_order_however_their_replies_arrive():
    summary = Summary(1, ["m/b", "m/a", "m/c"])
    for member in ("m/c", "m/x", "m/a", "m/b"):
        summary.add(a_record(3, member))
    assert [one["member"] for one in summary.document()["members"]] == ["m/b", "m/a", "m/c", "m/x"]


def test_several_members_are_shown_apart_and_together():
    document = summed(a_record(1, member="a"), a_record(5, member="b"), a_record(5, member="b"))
    assert document["n"] == 3
    assert document["scores"] == {"1": 1, "5": 2}
    assert [(member["member"], member["n"]) for member in document["members"]] == [("a", 1), ("b", 2)]
