"""Figures that need records: checks, evidence, brief but strong texts, costs, panels."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from evenhand.analysis.graded import common_scale, join
from evenhand.analysis.judge_ratings import JudgeRatings, ratings_of_records
from evenhand.analysis.sentences import sentences_of
from evenhand.analysis.validation import ValidationSettings, validate
from evenhand.analysis.validation_document import validation_document
from evenhand.errors import InvalidInput
from evenhand.store.grades import Grades
from evenhand.terms import Check, Criterion, JudgeSpec, Record

SETTINGS = ValidationSettings(n_resamples=199)


def grades_of(values, scale=(1.0, 5.0)):
    raters = tuple(dict.fromkeys(rater for given in values.values() for rater in given))
    return Grades(name="g.csv", reading="long", items=tuple(values), raters=raters, values=values, scale=scale)


def record(item, passed, *, rerun=0, chars=100, member="m", cost=0.001, scale=(0, 4), status="verdict"):
    checks = [
        {"id": name, "passed": ok, "quote": f"words {name}" if ok else "", "quote_status": "exact" if ok else "absent",
         "span": None, "counted": True}
        for name, ok in passed.items()
    ]  # fmt: skip
    score = sum(passed.values())
    common = {
        "item": item, "item_hash": f"sha256:{item}", "metadata": {"topic": item[0]}, "member": member, "rerun": rerun,
        "judge": {"name": "j", "hash": "sha256:j", "protocol": "checklist"}, "candidate_chars": chars,
        "cost_usd": cost, "keys": ("k",),
    }  # fmt: skip
    if status != "verdict":
        return Record(status="failed", cause={"code": "unreadable", "message": "no JSON"}, **common)
    criteria = ({"id": "c", "weight": 1.0, "score": score, "exact": float(score), "scale": scale, "checks": checks},)
    return Record(status="verdict", score=score, exact=float(score), scale=scale, criteria=criteria, **common)


@pytest.fixture
def broken_check():
    """Forty items whose check `d` fails what it should pass: it alone makes every miss."""
    rng = np.random.default_rng(2)
    records, grades = [], {}
    for k in range(40):
        truth = {name: bool(rng.random() < 0.6) for name in "abcd"}
        shown = {**truth, "d": False if truth["d"] else truth["d"]}
        records.append(record(f"i{k}", shown, chars=50 if truth["d"] else 400))
        grades[f"i{k}"] = {"anna": float(sum(truth.values()))}
    return records, grades_of(grades, scale=(0.0, 4.0))


def test_the_broken_check_explains_every_miss(broken_check):
    records, grades = broken_check
    (judge,) = ratings_of_records(records)
    found = validate(join(judge, grades), grades, SETTINGS)
    checks = {check.check: check for check in found.checks}
    assert checks["d"].explains.value == 1.0
    assert checks["d"].n_passed == 0
    assert checks["d"].sensitivity.value == 0.0
    assert checks["d"].specificity.value == 1.0
    assert checks["a"].explains.value < 1.0
    assert checks["a"].rho.value > 0
    assert checks["d"].rho.undefined == "the check gave one value"
    assert any("'d' alone explains 100 %" in sentence for sentence in sentences_of(found))


def test_unknown_weights_are_not_guessed(broken_check):
    records, grades = broken_check
    doubled = [
        replace(one, score=2 * one.score, exact=2 * one.exact, scale=(0, 8),
                criteria=({**one.criteria[0], "score": 2 * one.score, "exact": 2 * one.exact, "scale": (0, 8)},))
        for one in records
    ]  # fmt: skip
    (judge,) = ratings_of_records(doubled)
    found = validate(join(judge, grades), grades, SETTINGS)
    assert found.checks[0].explains.undefined.startswith("the judge's weights are not at hand")
    checks = tuple(Check(id=name, ask="?", weight=Decimal(2)) for name in "abcd")
    criterion = Criterion(id="c", levels=(Decimal(0), Decimal(8)), checks=checks)
    spec = JudgeSpec(name="j", protocol="checklist", models=(), criteria=(criterion,))
    known = validate(join(judge, grades), grades, replace(SETTINGS, specs={"sha256:j": spec}))
    assert next(one for one in known.checks if one.check == "d").explains.value == 1.0


def test_a_miss_stands_with_grades_length_and_the_judges_own_evidence(broken_check):
    records, grades = broken_check
    (judge,) = ratings_of_records(records)
    found = validate(join(judge, grades), grades, SETTINGS)
    document = validation_document(found, {found.misses[0].item: "the text"})
    worst = document["worst_misses"][0]
    assert worst["text"] == "the text"
    assert worst["gap"] == -1.0
    assert worst["evidence"][0]["check"] == "a"
    assert {"quote", "quote_status"} <= worst["evidence"][0].keys() or worst["evidence"][0]["passed"] is False
    brief = document["brief_but_strong"]
    assert brief
    assert all(one["length"] == 50 and one["human"] >= 3 and one["gap"] <= -1 for one in brief)


def test_costs_are_unknown_if_one_is():
    known = [record(f"i{k}", {"a": k % 2 == 0}, cost=0.002, scale=(0, 1)) for k in range(4)]
    (judge,) = ratings_of_records(known)
    assert judge.cost_per_1000 == pytest.approx(2.0)
    (other,) = ratings_of_records([*known[:3], replace(known[3], cost_usd=None)])
    assert other.cost_per_1000 is None
    grades = grades_of({f"i{k}": {"r": float(k % 2)} for k in range(4)}, scale=(0.0, 1.0))
    document = validation_document(validate(join(other, grades), grades, SETTINGS))
    assert document["cost"]["undefined"] == "the cost of 1 of 4 judgements is not known"


def test_failures_are_counted_and_no_score():
    records = [record(f"i{k}", {"a": True, "b": k % 2 == 0}, scale=(0, 2)) for k in range(6)]
    records += [record(f"i{k}", {}, rerun=1, status="failed") for k in range(6)]
    (judge,) = ratings_of_records(records)
    assert judge.counts == {"verdict": 6, "abstained": 0, "failed": 6, "missing": 0}
    grades = grades_of({f"i{k}": {"r": float(k % 3)} for k in range(6)}, scale=(0.0, 2.0))
    found = validate(join(judge, grades), grades, SETTINGS)
    assert found.noise.sd.undefined == "no item has scores of two reruns"
    assert found.graded.scores.shape == (6, 1)


def test_members_and_panel_are_judges_of_their_own():
    records = [record("i0", {"a": True}, member=member) for member in ("m1", "m2", None)]
    found = ratings_of_records(records)
    assert [one.name for one in found] == ["j by m1", "j by m2", "j by the panel"]
    assert [one.is_panel for one in found] == [False, False, True]


def test_one_judgement_twice_is_refused():
    with pytest.raises(InvalidInput, match="stands twice"):
        ratings_of_records([record("i0", {"a": True}), record("i0", {"a": False})])


def test_a_criterion_that_no_record_has_is_refused():
    with pytest.raises(InvalidInput, match="no record has it; criteria are 'c'"):
        ratings_of_records([record("i0", {"a": True})], criterion="tone")


@pytest.mark.parametrize(
    ("scores", "judge_scale", "grades", "human_scale", "same"),
    [
        ((1, 5), (1.0, 5.0), (1, 5), (1.0, 5.0), True),
        ((1, 9), (1.0, 10.0), (1, 5), (1.0, 5.0), False),
        ((1, 5), (1.0, 5.0), (2, 5), None, True),  # the grades lie in the judge's scale and use most of it
        ((1, 9), (1.0, 10.0), (1, 5), None, None),  # they may be on another one
        ((7, 9), None, (1, 5), None, None),
        ((0, 1), None, (0, 1), None, True),
        ((1, 5), None, (1, 5), None, True),
        ((2, 9), None, (1, 5), None, None),
    ],
)
def test_scales_are_taken_as_one_only_where_that_is_plain(scores, judge_scale, grades, human_scale, same):
    given = {f"i{k}": (float(score),) for k, score in enumerate(scores)}
    judge = JudgeRatings(name="j", scores=given, shown=given, counts={"verdict": 2}, scale=judge_scale)
    found = common_scale(judge, grades_of({f"i{k}": {"r": float(g)} for k, g in enumerate(grades)}, scale=human_scale))
    assert found.same is same
    assert found.sentence


def test_a_judge_that_only_counts_words_is_told_so():
    rng = np.random.default_rng(7)
    length = np.exp(rng.normal(5, 1, 60))
    human = np.clip(np.round(np.log(length) - 2 + rng.normal(size=60)), 1, 5)
    score = np.clip(np.round(np.log(length) - 2), 1, 5)
    given = {f"i{k}": (float(score[k]),) for k in range(60)}
    judge = JudgeRatings(
        name="j", scores=given, shown=given, counts={"verdict": 60, "abstained": 0, "failed": 0, "missing": 0},
        scale=(1.0, 5.0), lengths={f"i{k}": int(length[k]) for k in range(60)},
    )  # fmt: skip
    grades = grades_of({f"i{k}": {"r": float(human[k])} for k in range(60)})
    found = validate(join(judge, grades), grades, SETTINGS)
    assert found.length_baseline.beaten is False
    assert any("not shown to beat the length of the text" in sentence for sentence in sentences_of(found))
