"""What an evidence pipeline asks: one source a pass, all at once, and no more than today's prompt where all is off."""

import json

import pytest

from evenhand.errors import InvalidInput
from evenhand.judges.counter_bias import dial_for
from evenhand.judges.protocol import Given
from evenhand.terms import (
    Abstention,
    CatalogEntry,
    Criterion,
    Detector,
    Evidence,
    Failure,
    Item,
    Pass,
    Reply,
    Synthesis,
    Verdict,
)

ITEM = Item(
    id="1",
    task="Parse the file.",
    candidate="The parser reads every row.",
    context="The file has nine rows.",
    sources={"demo": "It stops at row nine."},
)
PASSES = (Pass(name="code", ask="Look for tests."), Pass(name="show", source="demo"))
EMPTY = {"items": []}
UNFLOORED = {"item_floor": 0}


def turns(judge, *replies, item=ITEM, **how):
    """The outcome, and the calls of each turn; replies by turn."""
    judging = judge.judge(item, model="openai/x", **how)
    asked, number = [], 0
    try:
        calls = next(judging)
        while True:
            asked.append(calls)
            given = replies[len(asked) - 1]
            given = given if isinstance(given, tuple) else (given,)
            assert len(given) == len(calls)
            texts = [reply if isinstance(reply, str) else json.dumps(reply) for reply in given]
            calls = judging.send(tuple(Reply(text=text, key=f"k{number + n}") for n, text in enumerate(texts)))
            number += len(texts)
    except StopIteration as done:
        return done.value, asked


def found(claim, quote, impact=2, **more):
    return {"claim": claim, "quote": quote, "impact": impact, **more}


def test_passes_go_out_together_and_each_sees_one_source(make):
    judge = make("evidence", passes=PASSES, scoring=UNFLOORED)
    outcome, asked = turns(
        judge, ({"items": [found("Reads.", "reads every row")]}, {"items": [found("Stops.", "stops at row nine", -3)]})
    )
    ((code, show),) = asked
    assert isinstance(outcome, Verdict)
    assert "The parser reads every row." in code.messages[1].text
    assert "It stops at row nine." not in code.messages[1].text
    assert "The file has nine rows." in code.messages[1].text
    assert "It stops at row nine." in show.messages[1].text
    assert "The parser reads every row." not in show.messages[1].text
    assert "The file has nine rows." not in show.messages[1].text
    assert "Look for tests." in code.messages[0].text
    assert "Look for tests." not in show.messages[0].text
    assert [(one.source, one.pass_name, one.quote_status) for one in outcome.criteria[0].items] == [
        (None, "code", "exact"),
        ("demo", "show", "exact"),
    ]


def test_a_quote_from_another_source_does_not_count(make):
    judge = make("evidence", passes=PASSES, scoring=UNFLOORED)
    outcome, _ = turns(judge, ({"items": [found("Stops.", "stops at row nine")]}, EMPTY))
    assert [(one.counted, one.dropped) for one in outcome.criteria[0].items] == [(False, "absent_quote")]


def test_a_context_that_a_pass_reads_is_shown_to_that_pass_alone(make):
    passes = (Pass(name="code"), Pass(name="brief", source="context"))
    _, (calls, *_) = turns(make("evidence", passes=passes, scoring=UNFLOORED), (EMPTY, EMPTY))
    assert ["The file has nine rows." in call.messages[1].text for call in calls] == [False, True]


def test_a_pipeline_of_one_pass_asks_what_the_simple_form_asks(make):
    _, ((simple,),) = turns(make("evidence", scoring=UNFLOORED), EMPTY)
    _, ((pipeline,),) = turns(make("evidence", near_duplicate=0.9, scoring=UNFLOORED), EMPTY)
    assert pipeline == simple


def test_keys_stand_in_the_order_of_the_calls_when_one_pass_is_repaired(make):
    judge = make("evidence", passes=PASSES, scoring=UNFLOORED)
    outcome, asked = turns(judge, ("nonsense", EMPTY), EMPTY)
    assert [len(calls) for calls in asked] == [2, 1]
    assert len(asked[1][0].messages) == 4
    assert outcome.keys == ("k0", "k1", "k2")


@pytest.mark.parametrize(("reply", "kind_of"), [("I'm sorry, but I can't help with that.", Abstention), ("", Failure)])
def test_a_pass_without_a_verdict_ends_the_item(make, reply, kind_of):
    judge = make("evidence", passes=PASSES, scoring=UNFLOORED)
    outcome, _ = turns(judge, (reply, EMPTY), *(() if kind_of is Abstention else ("",)))
    assert isinstance(outcome, kind_of)
    assert outcome.keys[:2] == ("k0", "k1")


def test_a_short_criterion_is_asked_about_once_with_what_was_said_before(make):
    criteria = (Criterion(id="fit"), Criterion(id="craft"))
    judge = make("evidence", *criteria, layout="matrix", near_duplicate=0.9)
    items = [found("Reads.", "reads every row", criterion="fit"), found("All.", "The parser", -1, criterion="fit")]
    outcome, asked = turns(judge, {"items": items}, EMPTY)
    ((more,),) = asked[1:]
    assert [message.role for message in more.messages] == ["system", "user", "assistant", "user"]
    assert json.loads(more.messages[2].text) == {"items": items}
    assert 'under: "craft".' in more.messages[3].text
    assert '"fit"' not in more.messages[3].text
    assert isinstance(outcome, Verdict)


def test_a_short_criterion_is_asked_about_wherever_its_evidence_may_stand(make):
    criteria = (Criterion(id="fit"), Criterion(id="shown", needs="demo"), Criterion(id="craft"))
    judge = make("evidence", *criteria, layout="matrix", passes=PASSES)
    fit = [found("Reads.", "reads every row", criterion="fit"), found("Parses.", "The parser", criterion="fit")]
    late = {"items": [found("Stops.", "stops at row nine", -3, criterion="craft")]}
    outcome, asked = turns(judge, ({"items": fit}, EMPTY), (EMPTY, late))
    code, show = asked[1]
    assert 'under: "craft".' in code.messages[3].text
    assert 'under: "shown", "craft".' in show.messages[3].text
    assert "It stops at row nine." in show.messages[1].text
    assert [(one.source, one.counted) for one in outcome.criteria[2].items] == [("demo", True)]


def test_a_criterion_whose_source_alone_is_short_is_asked_about_there_alone(make):
    criteria = (Criterion(id="fit"), Criterion(id="shown", needs="demo"))
    judge = make("evidence", *criteria, layout="matrix", passes=PASSES)
    fit = [found("Reads.", "reads every row", criterion="fit"), found("Parses.", "The parser", criterion="fit")]
    _, asked = turns(judge, ({"items": fit}, EMPTY), EMPTY)
    ((show,),) = asked[1:]
    assert "It stops at row nine." in show.messages[1].text


@pytest.mark.parametrize("feedback", [False, True])
def test_neither_findings_nor_their_number_change_a_call(make, feedback):
    detector = Detector(id="d", kind="regex", what="x", claim="c", impact=-5)
    judge = make("evidence", detectors=(detector,), synthesis=Synthesis(), near_duplicate=0.9, feedback=feedback)
    replies = ({"items": [found("Reads.", "reads every row")]}, EMPTY, {"marks": []}, "Keep reading every row, please.")
    findings = tuple(Evidence(claim=f"{n} c", impact=-5, detector="d") for n in range(3))
    without, asked = turns(judge, *replies)
    with_findings, asked_with = turns(judge, *replies, given=Given(findings=findings))
    assert asked == asked_with
    assert len(with_findings.criteria[0].items) == len(without.criteria[0].items) + 3


def test_the_synthesis_is_not_asked_about_nothing(make):
    _, asked = turns(make("evidence", synthesis=Synthesis(), scoring=UNFLOORED), EMPTY)
    assert len(asked) == 1


def test_the_dial_changes_the_rules_and_off_changes_nothing(make):
    texts = {}
    for dial in ("off", "soft", "full"):
        _, ((call,),) = turns(make("evidence", counter_bias=dial, near_duplicate=1.0, scoring=UNFLOORED), EMPTY)
        texts[dial] = call.messages[0].text
    _, ((plain,),) = turns(make("evidence", scoring=UNFLOORED), EMPTY)
    assert texts["off"] == plain.messages[0].text
    assert len(set(texts.values())) == 3
    assert "too kind" in texts["full"]
    assert not any(digit in added for added in (texts["soft"].replace(texts["off"], ""),) for digit in "46789")
    auto = make("evidence", counter_bias="auto", scoring=UNFLOORED)
    for dial in ("off", "soft", "full"):
        _, ((call,),) = turns(auto, EMPTY, given=Given(dial=dial))
        assert call.messages[0].text == texts[dial]
    assert turns(auto, EMPTY)[1][0][0].messages[0].text == texts["soft"]


@pytest.mark.parametrize(
    ("regime", "dial"),
    [
        ("INFLATION_LIKELY", "full"),
        ("CALIBRATED", "off"),
        ("DEFLATION_LIKELY", "off"),
        ("AMBIGUOUS", "soft"),
        (None, "soft"),
    ],
)
def test_the_dial_of_each_regime(regime, dial):
    assert dial_for("openai/x", regime) == dial


@pytest.mark.parametrize("regime", ["PICKS_A_NUMBER", "JITTERY"])
def test_a_regime_that_speaks_against_a_model_is_refused_without_anyway(regime):
    with pytest.raises(InvalidInput, match=f"openai/x: its last probe found {regime}"):
        dial_for("openai/x", regime)
    assert dial_for("openai/x", regime, anyway=True) == "soft"


def test_an_unknown_regime_is_refused():
    with pytest.raises(InvalidInput, match="probe it again"):
        dial_for("openai/x", "SLEEPY")


def test_the_same_point_in_five_wordings_does_not_push_others_out_of_a_cell(make):
    judge = make("evidence", Criterion(id="fit"), perspectives=("user",), near_duplicate=0.8, layout="matrix")
    same = [found(f"The parser reads every row{end}", "reads every row", 3, perspective="user") for end in "!?.;:"]
    other = [found("It is a parser.", "The parser", 1, perspective="user")]
    outcome, _ = turns(judge, {"items": same + other})
    assert [one.dropped for one in outcome.criteria[0].items] == [None, *["duplicate"] * 4, None]


def test_the_cap_holds_for_each_pass(make):
    judge = make(
        "evidence", Criterion(id="fit"), perspectives=("user",), passes=PASSES, scoring={"cap": 1}, layout="matrix"
    )
    said = [
        found("Reads.", "reads every row", 1, perspective="user"),
        found("Is.", "The parser", 3, perspective="user"),
    ]
    shown = [found("Stops.", "stops at row nine", -2, perspective="user")]
    outcome, _ = turns(judge, ({"items": said}, {"items": shown}))
    assert [(one.impact, one.dropped) for one in outcome.criteria[0].items] == [(1, "over_cap"), (3, None), (-2, None)]
    assert outcome.flags == ("over_cap:1",)


def test_sentences_can_be_cited_in_every_pass(make):
    judge = make("evidence", passes=PASSES, cite="sentence", scoring=UNFLOORED)
    outcome, _ = turns(judge, ({"items": []}, {"items": [{"claim": "Stops.", "cite": [1], "impact": -3}]}))
    (one,) = outcome.criteria[0].items
    assert (one.quote, one.source, one.counted) == ("It stops at row nine.", "demo", True)


BUCKETS = {"working": [], "not_working": [], "missing": [], "confusing": []}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"confusing": [{"claim": "c", "quote": "", "value": 5}]}, "expected one of 1, 2, 3"),
        ({"missing": [{"claim": "c", "quote": "", "value": -2}]}, '"value" is -2'),
        ({"missing": None}, '"missing" is missing or null'),
    ],
)
def test_a_bucket_takes_its_own_values_only(make, wrong, said):
    judge = make("evidence", buckets=True, scoring=UNFLOORED)
    _, asked = turns(judge, {**BUCKETS, **wrong}, BUCKETS)
    assert said in asked[1][0].messages[-1].text


@pytest.mark.parametrize(
    ("criteria", "settings", "said"),
    [
        ((), {"passes": (Pass(name="a"), Pass(name="a"))}, "stands twice"),
        ((), {"buckets": True, "catalog": (CatalogEntry(id="k", claim="-", impact=1),)}, "a catalogue would part it"),
        ((), {"buckets": True, "perspectives": ("a",)}, "perspectives would part it"),
        ((), {"detectors": (Detector(id="d", kind="regex", what="x", claim="c", impact=4),)}, "has the impact 4"),
        (
            (Criterion(id="a"), Criterion(id="b")),
            {"layout": "matrix", "detectors": (Detector(id="d", kind="regex", what="x", claim="c", impact=1),)},
            "names the criterion None; expected one of 'a', 'b'",
        ),
    ],
)
def test_a_pipeline_that_could_not_be_read_is_refused(make, criteria, settings, said):
    with pytest.raises(InvalidInput, match=said):
        make("evidence", *criteria, **settings)


@pytest.mark.parametrize("key", ["passes", "buckets", "near_duplicate"])
def test_other_protocols_do_not_take_the_pipelines_keys(make, key):
    value = {"passes": PASSES, "buckets": True, "near_duplicate": 0.9}[key]
    with pytest.raises(InvalidInput, match=f"`{key}` belongs to the protocol evidence"):
        make("number", Criterion(id="a"), **{key: value})
