"""Whatever a model says: no crash, and no verdict with anything but the declared ids and types."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.terms import IMPACTS, Abstention, Criterion, Failure, Verdict

TEXT = "We changed the filter. Complaints fell from 31 to 4 in a month, and I wrote the guide."
CHECKS = {
    "checks": [
        {"id": name, "quote": "fell from 31 to 4", "passed": True}
        for name in ("figure", "outcome", "action", "reflection")
    ]
}
RATING = {"criteria": [{"id": "overall", "reason": "Fine.", "rating": 7}]}
ITEMS = {"items": [{"claim": "It fell.", "quote": "fell from 31 to 4", "criterion": "fit", "impact": 3}] * 2}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["figure", "fit"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        ",",
        ":",
        "<think>",
        "</think>",
        "```",
        "\n",
        "null",
        "-",
        "1e999",
        "\ud800",
        '{"checks": []}',
    ]
)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def changed(data, value):
    """The value with one place in it replaced, dropped or doubled."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(value)))
        if data.draw(st.integers(0, 3)) == 0:
            return {key: inner for key, inner in value.items() if key != name}
        return {**value, name: changed(data, value[name])}
    if isinstance(value, list) and value and data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(value) - 1))
        middle = data.draw(st.sampled_from([[], [value[place]] * 2, None]))
        return value[:place] + ([changed(data, value[place])] if middle is None else middle) + value[place + 1 :]
    return data.draw(JSON)


def spoiled(data, text):
    """The text with a few pieces put in or cut out."""
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(PIECES | st.text(max_size=3)) + text[place + data.draw(st.integers(0, 4)) :]
    return text


def said(data, reply):
    text = json.dumps(changed(data, reply) if data.draw(st.booleans()) else reply)
    return spoiled(data, text) if data.draw(st.booleans()) else text


@QUICK
@given(data=st.data())
def test_a_checklist_reads_only_what_is_declared(data, four_checks, play):
    outcome, _ = play(four_checks, TEXT, said(data, CHECKS))
    assert isinstance(outcome, Verdict | Failure | Abstention)
    if isinstance(outcome, Verdict):
        checks = outcome.criteria[0].checks
        assert [check.id for check in checks] == ["figure", "outcome", "action", "reflection"]
        assert all(check.passed is True or check.passed is False for check in checks)
        json.dumps([check.quote for check in checks], ensure_ascii=False).encode()


@QUICK
@given(data=st.data())
def test_a_number_reads_only_what_is_declared(data, one_number, play):
    outcome, _ = play(one_number, TEXT, said(data, RATING))
    if isinstance(outcome, Verdict):
        (found,) = outcome.criteria
        assert (found.id, type(found.rating)) == ("overall", int)
        assert 1 <= found.rating <= 10


@QUICK
@given(data=st.data())
def test_evidence_reads_only_what_is_declared(data, make, play):
    judge = make("evidence", Criterion(id="fit"), Criterion(id="craft"), layout="matrix")
    outcome, _ = play(judge, TEXT, said(data, ITEMS))
    if isinstance(outcome, Verdict):
        items = [item for found in outcome.criteria for item in found.items]
        assert all(item.impact in IMPACTS and type(item.impact) is int for item in items)
        assert all(item.criterion in ("fit", "craft") for item in items)


@QUICK
@given(text=st.text(alphabet=st.characters(), max_size=60) | st.lists(PIECES, max_size=30).map("".join))
def test_noise_is_never_a_verdict(text, four_checks, play):
    outcome, _ = play(four_checks, TEXT, text)
    assert isinstance(outcome, Failure | Abstention)
