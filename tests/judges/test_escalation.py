from dataclasses import replace
from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.judges.escalation import reasons_to_escalate, refuse_escalation
from evenhand.judges.panel import Seat
from evenhand.terms import (
    Check,
    CheckResult,
    Criterion,
    CriterionVerdict,
    Escalation,
    Failure,
    JudgeSpec,
    ModelSpec,
    Verdict,
)

STRONG = (ModelSpec(model="b/strong"),)
BOTH = Escalation(to=STRONG, low=0.2, high=0.8)
JUDGE = JudgeSpec(
    name="j",
    protocol="checklist",
    models=(ModelSpec(model="a/cheap"),),
    read="logprob",
    criteria=(Criterion(id="c", levels=(Decimal(0), Decimal(1)), checks=(Check(id="x", ask="?"),)),),
    escalate=BOTH,
)


def seat(passed=True, probability=None):
    check = CheckResult(id="x", passed=passed, probability=probability)
    return Seat(member="m", outcome=Verdict(criteria=(CriterionVerdict(id="c", checks=(check,)),)))


@pytest.mark.parametrize(
    ("probability", "unsure"), [(0.2, False), (0.21, True), (0.79, True), (0.8, False), (1, False)]
)
def test_a_check_is_unsure_strictly_between_the_bounds(probability, unsure):
    assert reasons_to_escalate(BOTH, [seat(probability=probability)]) == (("unsure:x",) if unsure else ())


def test_members_or_reruns_that_differ_disagree():
    assert reasons_to_escalate(BOTH, [seat(True), seat(False)]) == ("disagreement:x",)
    assert reasons_to_escalate(BOTH, [seat(True), seat(True)]) == ()


def test_levels_that_differ_disagree():
    seats = [Seat(member="m", outcome=Verdict(criteria=(CriterionVerdict(id="c", level=level),))) for level in (3, 4)]
    assert reasons_to_escalate(BOTH, seats) == ("disagreement:c",)


def test_each_trigger_can_be_asked_for_alone():
    seats = [seat(True, 0.5), seat(False, 0.5)]
    assert reasons_to_escalate(replace(BOTH, on="unsure"), seats) == ("unsure:x",)
    assert reasons_to_escalate(replace(BOTH, on="disagreement"), seats) == ("disagreement:x",)


@pytest.mark.parametrize("on", ["unsure", "disagreement", "both"])
def test_a_first_judge_without_a_verdict_has_decided_nothing(on):
    failed = Seat(member="m", outcome=Failure(code="unreadable", message=""))
    assert reasons_to_escalate(replace(BOTH, on=on), [seat(), failed]) == ("no_verdict",)


REFUSED = {
    "evidence": (replace(JUDGE, protocol="evidence", criteria=()), "can agree or be unsure"),
    "nobody": (replace(JUDGE, escalate=replace(BOTH, to=())), "names no model"),
    "the same model": (replace(JUDGE, escalate=replace(BOTH, to=JUDGE.models)), "asked twice"),
    "no room": (replace(JUDGE, escalate=replace(BOTH, low=0.8)), "low < high"),
    "two that decide": (replace(JUDGE, escalate=replace(BOTH, to=(*STRONG, ModelSpec(model="c/d")))), "escalate.to"),
    "no probabilities": (replace(JUDGE, read="json", escalate=replace(BOTH, on="unsure")), "read: logprob"),
    "nothing to be unsure by": (replace(JUDGE, read="json"), "cannot disagree"),
    "nobody to disagree": (replace(JUDGE, escalate=replace(BOTH, on="disagreement")), "cannot disagree"),
}


@pytest.mark.parametrize(("spec", "says"), REFUSED.values(), ids=REFUSED)
def test_an_escalation_that_could_do_nothing_is_refused(spec, says):
    with pytest.raises(InvalidInput, match=says):
        refuse_escalation(spec)


def test_reruns_of_one_model_can_disagree():
    refuse_escalation(replace(JUDGE, read="json", reruns=2, escalate=replace(BOTH, on="disagreement")))
