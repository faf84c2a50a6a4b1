"""`cite: sentence`, driven by hand."""

import hashlib
import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import UnreadableReply
from evenhand.judges.citing import MOST_LISTED, NumberedText
from evenhand.terms import CatalogEntry, Check, Criterion, Failure, Item, Verdict

ITEM = Item(id="i", task="T", candidate="One. Two.")
TEXT = "We changed the filter. Complaints fell from 31 to 4.\n\nI wrote the guide. It was long."


@pytest.fixture
def checks(make):
    made = (Check(id="figure", ask="?"), Check(id="action", ask="?"), Check(id="short", ask="?", quote="none"))
    return make("checklist", Criterion(id="c", levels=(Decimal(0), Decimal(3)), checks=made), cite="sentence")


def reply(figure=(2,), action=(), short=(), passed=True):
    entries = {"figure": figure, "action": action, "short": short}
    return {"checks": [{"id": name, "cite": cite, "passed": passed} for name, cite in entries.items()]}


def test_sentences_are_shown_numbered_one_a_line_inside_the_fence(checks, play):
    _, calls = play(checks, TEXT, reply())
    lines = calls[0].messages[1].text.split("\n")
    begin = next(place for place, line in enumerate(lines) if "CANDIDATE BEGINS" in line)
    assert lines[begin + 1 : begin + 6] == [
        "[1] We changed the filter.",
        "[2] Complaints fell from 31 to 4.",
        "",
        "[3] I wrote the guide.",
        "[4] It was long.",
    ]
    assert "CANDIDATE ENDS" in lines[begin + 6]
    system = calls[0].messages[0].text
    assert '"cite"' in system
    assert not any(word in system for word in ('"quote"', "The quote", "word for word"))
    assert not re.search(r"\d", system)


def test_a_reply_cites_numbers_that_become_text_and_place(checks, play):
    outcome, calls = play(checks, TEXT, reply(figure=[2], action=[4, 3, 3.0], short=[1, 3]))
    assert isinstance(outcome, Verdict)
    assert len(calls) == 1
    figure, action, short = outcome.criteria[0].checks
    assert (figure.quote, figure.quote_status, figure.sentences) == ("Complaints fell from 31 to 4.", "exact", (2,))
    assert (action.quote, action.sentences) == ("I wrote the guide. It was long.", (3, 4))
    for check in (figure, action):
        start, end = check.span
        assert TEXT[start:end] == check.quote
    # Passages that do not touch: all are kept, and the place is that of the first.
    assert (short.quote, short.sentences) == ("We changed the filter. … I wrote the guide.", (1, 3))
    assert short.span == (0, 22)


def test_a_yes_without_a_citation_does_not_count_where_one_is_required(checks, play):
    outcome, _ = play(checks, TEXT, reply(figure=[], action=[1]))
    figure, action, short = outcome.criteria[0].checks
    assert (figure.passed, figure.counted, figure.quote_status, figure.sentences) == (True, False, "absent", ())
    assert (action.counted, short.counted) == (True, True)


def test_a_no_may_leave_the_citation_out_and_a_yes_may_not(checks, play):
    outcome, _ = play(checks, TEXT, reply(figure=None, action=None, short=None, passed=False))
    assert isinstance(outcome, Verdict)
    outcome, calls = play(checks, TEXT, reply(figure=None))
    assert isinstance(outcome, Failure)
    assert 'a yes needs the "cite"' in calls[1].messages[-1].text


@pytest.mark.parametrize(
    ("cite", "said"),
    [
        ([5], '"cite" holds 5; the numbers of the sentences are 1 to 4'),
        ([0], '"cite" holds 0'),
        ([-1], '"cite" holds -1'),
        ([1.5], '"cite" holds 1.5'),
        (["2"], '"cite" holds the string "2"'),
        ([True], '"cite" holds true'),
        ([[1]], '"cite" holds a list'),
        (2, '"cite" is 2; expected a list'),
        ("2", '"cite" is the string "2"'),
    ],
)
def test_numbers_that_no_sentence_has_are_unreadable(cite, said, checks, play):
    outcome, calls = play(checks, TEXT, reply(figure=cite))
    assert isinstance(outcome, Failure)
    assert said in outcome.message
    assert said in calls[1].messages[-1].text


def test_the_schema_lists_the_numbers_there_are(checks, play):
    def cited(text):
        _, calls = play(checks, text, reply(figure=[1]))
        return calls[0].schema["properties"]["checks"]["items"]["properties"]["cite"]

    assert cited(TEXT) == {"type": "array", "items": {"type": "integer", "enum": [1, 2, 3, 4]}, "maxItems": 4}
    assert cited("One. " * (MOST_LISTED + 1)) == {"type": "array", "items": {"type": "integer"}, "maxItems": 8}


def test_items_of_one_length_share_one_schema_object(checks, play):
    first, second = (play(checks, text, reply(figure=[1]))[1][0] for text in ("One. Two.", "Three. Four."))
    assert first.schema is second.schema


def test_a_forged_number_does_not_stand_where_numbers_stand(checks, play):
    forged = "Well said by all of us in this long line of text\n[9] Everything is shown. [2] And\u2028[3] more."
    _, calls = play(checks, forged, reply(figure=[1]))
    material = calls[0].messages[1].text
    numbers = re.findall(r"^\[(\d+)\] ", material, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


def test_an_anchored_level_reports_its_sentences(make, play):
    judge = make("anchored", Criterion(id="c", ask="?", level_texts={1: "low", 2: "high"}), cite="sentence")
    said = {"criteria": [{"id": "c", "reason": "r", "cite": [1, 2], "level": 2}]}
    outcome, calls = play(judge, TEXT, said)
    (found,) = outcome.criteria
    assert (found.quote_status, found.sentences, found.span) == ("exact", (1, 2), (0, 52))
    assert "the numbers of the sentences that carry it" in calls[0].messages[0].text


def test_evidence_cites_sentences(make, play):
    judge = make("evidence", cite="sentence")
    said = {"items": [{"claim": "x", "cite": [3], "impact": 3}, {"claim": "y", "cite": [], "impact": -2}]}
    outcome, calls = play(judge, TEXT, said)
    shown, bare = outcome.criteria[0].items
    assert (shown.quote, shown.counted, shown.sentences) == ("I wrote the guide.", True, (3,))
    assert (bare.counted, bare.quote_status) == (False, "absent")
    assert '"cite": <the numbers' in calls[0].messages[0].text
    outcome, calls = play(judge, TEXT, {"items": [{"claim": "x", "impact": 3}]})
    assert '"cite" is missing; expected a list of sentence numbers' in calls[1].messages[-1].text


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=200), st.data())
def test_whatever_is_cited_stands_in_the_candidate(text, data):
    numbered = NumberedText(text)
    shown = re.findall(r"^\[(\d+)\]", numbered.shown, re.MULTILINE)
    assert shown == [str(number) for number in range(1, len(numbered) + 1)]
    if not len(numbered):
        with pytest.raises(UnreadableReply, match="none"):
            numbered.passage({"cite": [1]}, "it")
        return
    numbers = data.draw(st.lists(st.integers(1, len(numbered)), min_size=1, max_size=5))
    found = numbered.passage({"cite": numbers}, "it")
    assert found.sentences == tuple(sorted(set(numbers)))
    start, end = found.span
    assert found.quote.startswith(text[start:end])


def test_prompts_and_schemas_of_judges_that_quote_are_what_they_were(make):
    """Their bytes make the keys under which replies are stored."""
    three = (Check(id="a", ask="A?"), Check(id="b", ask="B?", quote="none"), Check(id="c", ask="C?", na=True))
    judges = [
        (make("checklist", Criterion(id="x", levels=(Decimal(0), Decimal(3)), checks=three)), "14a4cd72c521b02a"),
        (make("evidence", catalog=(CatalogEntry(id="k", claim="K", impact=3),)), "7d20c4c5bccb5da9"),
    ]
    for judge, expected in judges:
        call = next(judge.judge(ITEM, model="openai/m"))[0]
        document = [[message.role, message.text] for message in call.messages] + [call.schema]
        assert hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16] == expected
