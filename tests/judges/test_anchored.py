import pytest

from evenhand.errors import InvalidInput
from evenhand.terms import Criterion, CriterionVerdict, Example, Failure, Verdict

TEXTS = {1: "nothing is named", 3: "one thing is named", 5: "all things are named"}
SPECIFIC = Criterion(id="specific", ask="How specific is it?", level_texts=TEXTS)


def chosen(level, quote="the red door"):
    return {"criteria": [{"id": "specific", "reason": "It names a door.", "quote": quote, "level": level}]}


def test_the_level_is_read_with_its_reason_and_the_place_of_its_quote(make, play):
    outcome, _ = play(make("anchored", SPECIFIC), "He opened the red door.", chosen(3))
    assert isinstance(outcome, Verdict)
    assert outcome.criteria == (
        CriterionVerdict(
            id="specific",
            level=3,
            reason="It names a door.",
            quote="the red door",
            quote_status="exact",
            span=(10, 22),
        ),
    )


@pytest.mark.parametrize("quote", ["", "the blue door"])
def test_an_absent_quote_is_reported_and_changes_nothing(quote, make, play):
    outcome, _ = play(make("anchored", SPECIFIC), "He opened the red door.", chosen(5, quote))
    (found,) = outcome.criteria
    assert (found.level, found.quote, found.quote_status, found.span) == (5, quote, "absent", None)


@pytest.mark.parametrize("level", [0, 2, 4, 6, 3.5, "3", "level 3", True, None])
def test_a_level_that_is_not_described_is_unreadable(level, make, play):
    outcome, _ = play(make("anchored", SPECIFIC), "text", chosen(level))
    assert isinstance(outcome, Failure)
    assert outcome.message.endswith("expected one of 1, 3, 5")


def test_levels_and_descriptions_stand_in_the_system_message(make, play):
    _, calls = play(make("anchored", SPECIFIC), "text", chosen(3))
    described = '"specific": How specific is it?\n- level 1: nothing is named\n- level 3: one thing is named'
    assert described in calls[0].messages[0].text
    entry = calls[0].schema["properties"]["criteria"]["items"]
    assert list(entry["properties"]) == ["id", "reason", "quote", "level"]
    assert entry["properties"]["level"]["enum"] == [1, 3, 5]


def test_graded_examples_stand_fenced_in_the_system_message(make, play):
    examples = (
        Example(candidate="A {door}\nand more", level=3, reason="One is named."),
        Example(candidate="x", level=1),
    )
    _, calls = play(make("anchored", SPECIFIC, examples=examples), "text", chosen(3))
    system = calls[0].messages[0].text
    assert " EXAMPLE BEGINS\nA {door}\nand more\n" in system
    assert " EXAMPLE ENDS\nLevel 3: One is named.\n" in system
    assert " EXAMPLE ENDS\nLevel 1\n" in system


@pytest.mark.parametrize(
    ("criteria", "settings", "said"),
    [
        ([Criterion(id="c")], {}, "needs two or more described levels, and 0 came"),
        ([Criterion(id="c", level_texts={1: "one"})], {}, "and 1 came"),
        (
            [SPECIFIC],
            {"examples": (Example(candidate="x", level=2),)},
            "example 1 has the level 2; expected one of 1, 3, 5",
        ),
        (
            [SPECIFIC, Criterion(id="d", level_texts=TEXTS)],
            {"examples": (Example(candidate="x", level=3),)},
            "there are 2 criteria",
        ),
    ],
)
def test_what_cannot_be_anchored_is_refused(criteria, settings, said, make):
    with pytest.raises(InvalidInput, match=said):
        make("anchored", *criteria, **settings)
