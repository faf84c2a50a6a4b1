"""Criteria without evidence: taken out exactly, and never so that silence pays."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.scoring.floors import kept_weights
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import Criterion, CriterionVerdict, Evidence, JudgeSpec, ModelSpec, Pass, Verdict

WEIGHTS = {"a": "0.25", "b": "0.25", "c": "0.5"}


def scorer(**more):
    spec = JudgeSpec(
        name="j",
        protocol="evidence",
        models=(ModelSpec(model="openai/x"),),
        layout="matrix",
        criteria=tuple(Criterion(id=name, weight=Decimal(weight)) for name, weight in WEIGHTS.items()),
        passes=(Pass(name="one"),),
        **more,
    )
    return VerdictScorer(spec)


def verdict(**impacts):
    return Verdict(
        criteria=tuple(
            CriterionVerdict(
                id=name,
                items=tuple(Evidence(claim=str(n), impact=impact, criterion=name) for n, impact in enumerate(found)),
            )
            for name, found in impacts.items()
        )
    )


def test_a_quarter_of_the_weight_may_be_taken_out_and_goes_to_the_others_by_their_weight():
    scored = scorer().score(verdict(a=[5], b=[3] * 4, c=[-3] * 4))
    # b: 50 + 48 * 0.8 = 88; c: 12; thirds: (88 + 2 * 12) / 3 = 37.33
    assert [made.weight for made in scored.criteria] == [0.0, 1 / 3, 2 / 3]
    assert [made.score for made in scored.criteria] == [None, 88, 12]
    assert scored.score == 37
    assert scored.flags[0] == "criterion_out:a"
    assert scored.criteria[0].arithmetic["taken_out"] is True
    assert scored.criteria[0].arithmetic["weight"] == 0.25
    assert scored.criteria[0].arithmetic["net_impact"] == 5


def test_more_than_a_quarter_leaves_no_score_and_says_why():
    scored = scorer().score(verdict(a=[5, 5], b=[5, 5], c=[5]))
    assert scored.score is None
    assert scored.abstained == (
        "fewer than 2 items count for 'c' (1): 0.5 of the weight is without evidence, and at most 0.25 may be taken out"
    )
    assert "criterion_out:c" in scored.flags


def test_the_floor_is_a_setting():
    assert scorer(scoring={"item_floor": 1}).score(verdict(a=[5], b=[5], c=[5])).score is not None
    assert scorer(scoring={"item_floor": 0}).score(verdict(a=[], b=[5], c=[5])).flags[0] == "criterion_out:a"


def test_a_judge_without_the_pipelines_keys_is_scored_as_ever():
    spec = JudgeSpec(
        name="j",
        protocol="evidence",
        models=(ModelSpec(model="openai/x"),),
        layout="matrix",
        criteria=tuple(Criterion(id=name, weight=Decimal(weight)) for name, weight in WEIGHTS.items()),
    )
    scored = VerdictScorer(spec).score(verdict(a=[5], b=[3] * 4, c=[-3] * 4))
    assert [made.weight for made in scored.criteria] == [0.25, 0.25, 0.5]
    assert "below_item_floor:a" in scored.flags


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 4)), min_size=1, max_size=8))
def test_what_is_kept_sums_to_one_and_keeps_its_proportions(rows):
    total = sum(weight for weight, _ in rows)
    shares = {str(n): Fraction(weight, total) for n, (weight, _) in enumerate(rows)}
    counts = {str(n): count for n, (_, count) in enumerate(rows)}
    kept = kept_weights(shares, counts, 2)
    assert (kept.reason is None) is (kept.out_weight <= Fraction(1, 4))
    if kept.reason is None:
        assert sum(kept.shares.values()) == 1
        assert {name for name, share in kept.shares.items() if share == 0} == set(kept.out)
        ratios = {kept.shares[name] / shares[name] for name in shares if name not in kept.out}
        assert len(ratios) == 1


@pytest.mark.parametrize("dropped", ["duplicate", "unsupported"])
def test_what_does_not_count_does_not_reach_the_floor(dropped):
    items = [Evidence(claim="x", impact=1, criterion="a"), Evidence(claim="y", impact=1, criterion="a", counted=False)]
    found = verdict(a=[], b=[1, 1], c=[1, 1])
    found = Verdict(criteria=(CriterionVerdict(id="a", items=tuple(items)), *found.criteria[1:]))
    assert "criterion_out:a" in scorer().score(found).flags
