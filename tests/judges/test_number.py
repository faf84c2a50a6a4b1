import json
from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.terms import Criterion, CriterionVerdict, Failure, Verdict


def rated(rating, reason="It is fine."):
    return {"criteria": [{"id": "overall", "reason": reason, "rating": rating}]}


@pytest.mark.parametrize(("rating", "read"), [(1, 1), (10, 10), (8, 8), (8.0, 8)])
def test_a_whole_number_on_the_scale_is_the_rating(rating, read, one_number, play):
    outcome, _ = play(one_number, "text", rated(rating))
    assert isinstance(outcome, Verdict)
    assert outcome.criteria == (CriterionVerdict(id="overall", rating=read, reason="It is fine."),)


@pytest.mark.parametrize(
    "rating", [0, 11, -3, 0.7, 7.5, 72.5, 100, "8", "8/10", "True", "", True, False, None, [8], {"value": 8}, 10**19]
)
def test_anything_else_is_never_rounded_rescaled_or_converted(rating, one_number, play):
    outcome, calls = play(one_number, "text", rated(rating))
    assert isinstance(outcome, Failure)
    assert outcome.message.endswith("expected a whole number from 1 to 10")
    assert (outcome.code, outcome.raw_key, len(calls)) == ("unreadable", "key-3", 3)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "8/10", "-0"])
@pytest.mark.parametrize("around", ["{}", "Result: {}", "```json\n{}\n```"])
def test_what_is_no_number_fails_on_every_path(number, around, one_number, play):
    said = around.replace("{}", json.dumps(rated(0)).replace('"rating": 0', f'"rating": {number}'))
    assert isinstance(play(one_number, "text", said)[0], Failure)


def test_a_reason_may_be_missing_but_must_be_text(one_number, play):
    outcome, _ = play(one_number, "text", {"criteria": [{"id": "overall", "rating": 4}]})
    assert outcome.criteria[0].reason is None
    assert isinstance(play(one_number, "text", rated(4, reason=["a"]))[0], Failure)


def test_the_scale_is_one_to_ten_unless_stated(make, play):
    _, calls = play(make("number", Criterion(id="overall", ask="How clear?")), "text", rated(10))
    assert '- "overall": How clear? From 1 to 10.' in calls[0].messages[0].text


def test_criteria_have_their_own_scales(make, play):
    judge = make(
        "number",
        Criterion(id="a"),
        Criterion(id="b", levels=(Decimal(0), Decimal(100))),
        Criterion(id="c", levels=(Decimal(-2), Decimal(2))),
    )
    said = {"criteria": [{"id": "b", "rating": 72}, {"id": "c", "rating": -2}, {"id": "a", "rating": 7}]}
    outcome, calls = play(judge, "text", said)
    assert [(found.id, found.rating) for found in outcome.criteria] == [("a", 7), ("b", 72), ("c", -2)]
    ratings = [part["properties"]["rating"] for part in calls[0].schema["properties"]["criteria"]["items"]["anyOf"]]
    assert ratings == [
        {"type": "integer", "enum": list(range(1, 11))},
        {"type": "integer", "minimum": 0, "maximum": 100},
        {"type": "integer", "enum": [-2, -1, 0, 1, 2]},
    ]
    said["criteria"][2]["rating"] = 72
    assert isinstance(play(judge, "text", said)[0], Failure)


@pytest.mark.parametrize(
    ("levels", "said"),
    [((Decimal("0.5"), Decimal(5)), "expected a whole number"), ((Decimal(5), Decimal(5)), r"\[5, 5\]; expected")],
)
def test_a_scale_without_whole_levels_is_refused(levels, said, make):
    with pytest.raises(InvalidInput, match=said):
        make("number", Criterion(id="c", levels=levels))
