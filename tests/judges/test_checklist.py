from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.terms import Abstention, Check, CheckGroup, CheckResult, Criterion, Failure, Item, Reply, Verdict

TEXT = "We changed the filter. Complaints fell from 31 to 4 in a month, and I wrote the guide."
IDS = ("figure", "outcome", "action", "reflection")
QUOTES = {"figure": "fell from 31 to 4", "outcome": "Complaints fell", "action": "I wrote the guide", "reflection": ""}


def reply(**changes):
    """A full reply; `figure={"passed": 1}` changes an entry, `figure=None` drops it."""
    made = []
    for name in IDS:
        entry = {"id": name, "quote": QUOTES[name], "passed": name != "reflection"}
        if changes.get(name, entry) is not None:
            made.append({**entry, **changes.get(name, {})})
    return {"checks": made + changes.get("more", [])}


def test_a_reply_becomes_a_verdict_with_places_and_keys(four_checks, play):
    outcome, calls = play(four_checks, TEXT, reply())
    assert isinstance(outcome, Verdict)
    assert outcome.keys == ("key-1",)
    (found,) = outcome.criteria
    assert [(check.id, check.passed, check.counted) for check in found.checks] == [
        ("figure", True, True),
        ("outcome", True, True),
        ("action", True, True),
        ("reflection", False, True),
    ]
    start, end = found.checks[0].span
    assert TEXT[start:end] == "fell from 31 to 4"
    assert len(calls) == 1


def test_the_order_of_a_reply_does_not_matter(four_checks, play):
    backwards = {"checks": reply()["checks"][::-1]}
    assert play(four_checks, TEXT, backwards)[0] == play(four_checks, TEXT, reply())[0]


@pytest.mark.parametrize("quote", ["", " ", "fell from 31 to 5", "we wrote no guide", "x", "fell ... a month"])
def test_a_yes_whose_quote_is_not_in_the_candidate_does_not_count(quote, four_checks, play):
    outcome, _ = play(four_checks, TEXT, reply(figure={"quote": quote}))
    figure = outcome.criteria[0].checks[0]
    assert (figure.passed, figure.counted, figure.quote) == (True, False, quote)
    assert figure.quote_status in ("absent", "elided")


def test_a_quote_typed_differently_counts(four_checks, play):
    outcome, _ = play(four_checks, TEXT, reply(figure={"quote": "FELL  from 31 to 4"}))
    figure = outcome.criteria[0].checks[0]
    assert (figure.quote_status, figure.counted) == ("normalized", True)


def test_a_no_with_a_false_quote_stays_a_no_and_keeps_the_quote(four_checks, play):
    outcome, _ = play(four_checks, TEXT, reply(reflection={"quote": "nowhere to be found"}))
    assert outcome.criteria[0].checks[3] == CheckResult(
        id="reflection", passed=False, quote="nowhere to be found", quote_status="absent", counted=True
    )


def test_a_check_without_a_quote_counts_whatever_is_quoted(make, play):
    judge = make("checklist", Criterion(id="c", checks=(Check(id="short", ask="Is it short?", quote="none"),)))
    for entry in ({"quote": "invented words"}, {"quote": ""}, {"quote": None}, {}):
        outcome, _ = play(judge, TEXT, {"checks": [{"id": "short", **entry, "passed": True}]})
        assert outcome.criteria[0].checks[0].counted


def test_null_is_an_answer_only_where_a_check_may_not_apply(make, four_checks, play):
    judge = make("checklist", Criterion(id="c", checks=(Check(id="k", ask="?", na=True), Check(id="l", ask="?"))))
    said = {"checks": [{"id": "k", "quote": "", "passed": None}, {"id": "l", "quote": "", "passed": False}]}
    outcome, calls = play(judge, TEXT, said)
    assert [check.passed for check in outcome.criteria[0].checks] == [None, False]
    assert "null" in calls[0].messages[0].text
    outcome, _ = play(four_checks, TEXT, reply(figure={"passed": None}))
    assert isinstance(outcome, Failure)


def test_a_missing_answer_is_no_null(make, play):
    judge = make("checklist", Criterion(id="c", checks=(Check(id="k", ask="?", na=True),)))
    outcome, _ = play(judge, TEXT, {"checks": [{"id": "k", "quote": ""}]})
    assert isinstance(outcome, Failure)


@pytest.mark.parametrize(
    "passed", ["false", "true", "True", "yes", "no", "", 0, 1, 1.0, [], [True], {}, {"value": True}]
)
def test_an_answer_of_another_type_is_repaired_and_then_fails(passed, four_checks, play):
    outcome, calls = play(four_checks, TEXT, reply(figure={"passed": passed}))
    assert isinstance(outcome, Failure)
    assert outcome.code == "unreadable"
    assert 'check "figure": "passed" is' in outcome.message
    assert outcome.raw_key == "key-3"
    assert len(calls) == 3
    assert outcome.message in calls[1].messages[-1].text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reflection": None}, 'missing: "reflection"'),
        ({"figure": None, "action": None}, 'missing: "figure", "action"'),
        ({"more": [{"id": "style", "quote": "", "passed": True}]}, 'undeclared: "style"'),
        ({"reflection": {"id": "Reflection"}}, 'missing: "reflection"; undeclared: "Reflection"'),
        ({"more": [{"id": "figure", "quote": "", "passed": True}]}, 'more than once: "figure"'),
        ({"more": [{"id": "figure", "quote": QUOTES["figure"], "passed": True}]}, 'more than once: "figure"'),
        ({"outcome": {"id": "figure"}}, 'missing: "outcome"; more than once: "figure"'),
        ({"figure": {"id": 1}}, "an entry has 1 for its id"),
        ({"figure": {"id": None}}, "an entry has missing or null for its id"),
        ({"more": ["figure"]}, 'entry 5 is the string "figure"'),
        ({"figure": {"quote": None}}, 'check "figure": a yes needs the "quote"'),
        ({"figure": {"quote": ["a"]}}, '"quote" is a list; expected a string'),
    ],
)
def test_a_reply_must_hold_exactly_the_declared_checks_and_is_told_what_is_wrong(changes, said, four_checks, play):
    outcome, calls = play(four_checks, TEXT, [reply(**changes), reply()])
    assert isinstance(outcome, Verdict)
    assert outcome.keys == ("key-1", "key-2")
    assert said in calls[1].messages[-1].text


@pytest.mark.parametrize("value", [None, {}, "all passed", True, {"figure": True}])
def test_checks_that_are_no_list_are_unreadable(value, four_checks, play):
    assert isinstance(play(four_checks, TEXT, {"checks": value})[0], Failure)


def test_other_keys_are_passed_over(four_checks, play):
    said = {"score": 0, **reply(figure={"verdict": "fail", "reason": "none"})}
    assert play(four_checks, TEXT, said)[0] == play(four_checks, TEXT, reply())[0]


def test_a_quote_that_declines_is_no_refusal(four_checks, play):
    text = "He said: I'm sorry, but I can't help with that."
    said = reply(figure={"quote": "I'm sorry, but I can't help with that."})
    assert isinstance(play(four_checks, text, said)[0], Verdict)
    assert isinstance(play(four_checks, text, Reply(text="I'm sorry, but I can't help with that."))[0], Abstention)


def test_all_criteria_are_asked_in_one_call_and_groups_check_by_check(make, play):
    group = CheckGroup(any_of=(Check(id="b", ask="B?"), Check(id="c", ask="C?")))
    judge = make(
        "checklist",
        Criterion(id="first", ask="The first part.", checks=(Check(id="a", ask="A?"), group)),
        Criterion(id="second", checks=(Check(id="d", ask="D?"),)),
    )
    said = {"checks": [{"id": name, "quote": "", "passed": False} for name in "dcba"]}
    outcome, calls = play(judge, TEXT, said)
    assert [[check.id for check in found.checks] for found in outcome.criteria] == [["a", "b", "c"], ["d"]]
    system = calls[0].messages[0].text
    assert 'About "first": The first part.\n- "a": A?\n- "b": B?\n- "c": C?' in system
    assert 'About "second"\n- "d": D?' in system


def test_the_call_carries_the_settings_and_what_makes_it_its_own(make, play):
    judge = make("checklist", Criterion(id="c", checks=(Check(id="k", ask="?"),)), temperature=None, max_tokens=77)
    _, (call,) = play(judge, TEXT, {"checks": [{"id": "k", "quote": "", "passed": False}]}, rerun=2, first_attempt=4)
    assert (call.model, call.member) == ("openai/fake-judge", "openai/fake-judge")
    assert (call.rerun, call.attempt, call.temperature, call.max_tokens) == (2, 4, None, 77)
    assert call.schema_name == "checklist"


def test_the_schema_permits_exactly_the_declared_checks(make, play):
    checks = (Check(id="k", ask="?"), Check(id="n", ask="?", na=True))
    _, calls = play(make("checklist", Criterion(id="c", checks=checks)), TEXT, "")
    listed = calls[0].schema["properties"]["checks"]
    assert (listed["minItems"], listed["maxItems"]) == (2, 2)
    plain, maybe = listed["items"]["anyOf"]
    assert list(plain["properties"]) == ["id", "quote", "passed"] == plain["required"]
    assert plain["properties"]["id"]["enum"] == ["k"]
    assert plain["properties"]["passed"] == {"type": "boolean"}
    assert maybe["properties"]["passed"] == {"type": ["boolean", "null"]}
    assert all(part["additionalProperties"] is False for part in (calls[0].schema, plain, maybe))


def test_one_schema_object_serves_all_calls(four_checks):
    calls = [next(four_checks.judge(Item(id=str(n), candidate="x"), model="m"))[0] for n in range(2)]
    assert calls[0].schema is calls[1].schema


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ([Criterion(id="c")], "criterion 'c' has no checks"),
        ([Criterion(id="c", checks=(Check(id="k", ask=" "),))], "check 'k' asks nothing"),
        (
            [Criterion(id=name, checks=(Check(id="k", ask="?"),), levels=(Decimal(0), Decimal(1))) for name in "cd"],
            "'k' stands 2 times in `checks`; ids must differ over the whole judge",
        ),
        ([Criterion(id="c", checks=(Check(id="", ask="?"),))], "empty id"),
    ],
)
def test_a_checklist_that_cannot_be_asked_is_refused(criteria, said, make):
    with pytest.raises(InvalidInput, match=said):
        make("checklist", *criteria)
