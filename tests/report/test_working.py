"""The arithmetic is redone from the findings, and a record that does not agree is shown up."""

from decimal import Decimal

import pytest

from evenhand.report.working import working
from evenhand.terms import Check, CheckGroup, Criterion, JudgeSpec, ModelSpec

CHECKS = (
    Check(id="a", ask="?", weight=Decimal(2)),
    CheckGroup(any_of=(Check(id="b", ask="?"), Check(id="c", ask="?"))),
)


def spec(**more):
    criterion = Criterion(id="c", levels=(Decimal(0), Decimal(3)), checks=CHECKS)
    return JudgeSpec(name="j", protocol="checklist", models=(ModelSpec(model="m/x"),), criteria=(criterion,), **more)


@pytest.fixture
def entry():
    def make(score, *passed):
        checks = [{"id": name, "passed": name in passed, "quote": "", "quote_status": "absent", "span": None,
                   "counted": True} for name in "abc"]  # fmt: skip
        return {"id": "c", "weight": 1.0, "score": score, "exact": float(score), "scale": [0, 3], "checks": checks}

    return make


def test_a_checklist_shows_the_weights_that_counted(record, entry):
    made = working(record(score=3, exact=3.0, criteria=(entry(3, "a", "b", "c"),)), spec())
    assert made == ("passed       a 2 + b or c 1 = 3", "score        3, kept within 0 and 3: 3")


def test_a_score_that_does_not_follow_is_named(record, entry):
    made = working(record(score=3, exact=3.0, criteria=(entry(3, "a"),)), spec())
    assert made[-1] == "DIFFERS      redone it is 2; recompute with `evenhand rescore --check`"


def test_without_the_judge_the_page_says_what_it_cannot_redo(record, entry):
    made = working(record(score=3, exact=3.0, criteria=(entry(3, "a", "b"),)), None)
    assert "not in the store" in made[0]
    assert made[1] == "counted      2 of 3 checks: a, b"


def test_evidence_is_worked_by_the_formula_and_compared(record):
    items = [{"claim": str(k), "impact": 3 if k < 2 else -1, "counted": True} for k in range(4)]
    entry = {"id": "pool", "weight": 1.0, "score": 63, "exact": 62.8, "arithmetic": {"net_impact": 4}, "items": items}
    judge = JudgeSpec(name="j", protocol="evidence", models=(ModelSpec(model="m/x"),))
    made = working(record(score=63, exact=62.8, criteria=(entry,)), judge)
    assert "score        50 + (66 - 50) * 0.8 = 62.8, rounded half up: 63" in made
    assert not any(line.startswith("DIFFERS") for line in made)
    wrong = working(record(score=70, exact=70.0, criteria=({**entry, "score": 70},)), judge)
    assert any(line.startswith("DIFFERS") for line in wrong)
