"""A judge's verdicts to scores."""

from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import (
    CatalogEntry,
    Check,
    CheckResult,
    Criterion,
    CriterionVerdict,
    Evidence,
    JudgeSpec,
    Verdict,
)


def judge(protocol, *criteria, **fields):
    return JudgeSpec(name="j", protocol=protocol, models=(), criteria=criteria, **fields)


def verdict(*criteria):
    return Verdict(criteria=criteria)


def number(name, weight=None, levels=(1, 10)):
    return Criterion(id=name, weight=weight, levels=levels and tuple(map(Decimal, levels)))


def checks(name, *weights, weight=None, levels=(0, 1), na=False):
    made = tuple(
        Check(id=f"{name}{place}", ask="?", weight=Decimal(value), na=na) for place, value in enumerate(weights)
    )
    return Criterion(id=name, weight=weight, levels=tuple(map(Decimal, levels)), checks=made)


def answers(name, *passed):
    results = tuple(CheckResult(id=f"{name}{place}", passed=value) for place, value in enumerate(passed))
    return CriterionVerdict(id=name, checks=results)


def test_a_bare_number_is_itself_on_one_to_ten():
    found = VerdictScorer(judge("number", number("c"))).score(verdict(CriterionVerdict(id="c", rating=7)))
    assert (found.score, found.exact, found.scale, found.abstained) == (7, 7.0, (1, 10), None)
    assert repr(found.score) == "7"
    assert VerdictScorer(judge("number", number("c", levels=None))).score(
        verdict(CriterionVerdict(id="c", rating=7))
    ).scale == (1, 10)


def test_an_anchored_level_is_itself_among_those_described():
    spec = judge("anchored", Criterion(id="c", level_texts={1: "poor", 3: "fair", 5: "good"}))
    scorer = VerdictScorer(spec)
    assert scorer.score(verdict(CriterionVerdict(id="c", level=3))).score == 3
    assert scorer.score(verdict(CriterionVerdict(id="c", level=3))).scale == (1, 5)
    for level, said in ((2, "described: 1, 3, 5"), (6, r"on 1\.\.5"), (None, "level is None")):
        with pytest.raises(InvalidInput, match=said):
            scorer.score(verdict(CriterionVerdict(id="c", level=level)))


def test_a_checklist_of_tenths_shows_seven_tenths():
    scorer = VerdictScorer(judge("checklist", checks("m", "0.2", "0.4", "0.1", "0.3", weight=Decimal(1))))
    found = scorer.score(verdict(answers("m", True, True, True, False)))
    assert (repr(found.score), repr(found.exact)) == ("0.7", "0.7")


def test_several_criteria_are_a_weighted_mean_of_unrounded_scores_shown_to_two_decimals():
    spec = judge(
        "checklist",
        checks("a", "0.125", "0.875", weight=Decimal("0.5")),
        checks("b", "0.5", "0.5", weight=Decimal("0.5")),
    )
    found = VerdictScorer(spec).score(verdict(answers("a", True, False), answers("b", False, True)))
    # 0.5 * 0.125 + 0.5 * 0.5 = 0.3125 -> 0.31; the first criterion alone: 0.125 -> 0.13
    assert (found.score, found.exact) == (0.31, 0.3125)
    assert [made.score for made in found.criteria] == [0.13, 0.5]
    assert [made.exact for made in found.criteria] == [0.125, 0.5]


def test_equal_weights_are_exact_thirds():
    spec = judge("number", *(number(name) for name in "abc"))
    found = VerdictScorer(spec).score(verdict(*(CriterionVerdict(id=name, rating=7) for name in "abc")))
    assert repr(found.score) == "7"
    found = VerdictScorer(spec).score(
        verdict(*(CriterionVerdict(id=name, rating=rating) for name, rating in zip("abc", (7, 7, 8), strict=True)))
    )
    assert found.score == 7.33


def test_one_criterion_without_a_score_makes_the_record_abstain_with_the_reason():
    spec = judge("checklist", checks("a", "1", na=True), checks("b", "1"))
    found = VerdictScorer(spec).score(verdict(answers("a", None), answers("b", True)))
    assert (found.score, found.exact) == (None, None)
    assert found.abstained == "criterion 'a': none of its checks applies"
    assert [made.score for made in found.criteria] == [None, 1]


def items(*impacts, **fields):
    return tuple(Evidence(claim="", impact=impact, **fields) for impact in impacts)


def test_pooled_evidence_is_one_pool_with_its_arithmetic():
    found = VerdictScorer(judge("evidence")).score(verdict(CriterionVerdict(id="overall", items=items(3, 3, -1, -1))))
    assert (found.score, found.exact, found.scale) == (63, 62.8, (0, 100))
    assert found.criteria[0].arithmetic == {
        "variant": "production",
        "net_impact": 4,
        "total_items": 4,
        "normalized": 2.0,
        "raw": 66.0,
        "density": 0.2,
        "multiplier": 0.8,
        "confidence": 0.2,
    }
    assert found.flags == ()


def test_evidence_that_does_not_count_is_no_evidence():
    scorer = VerdictScorer(judge("evidence"))
    found = scorer.score(verdict(CriterionVerdict(id="overall", items=items(5, counted=False) + items(-1))))
    assert found.criteria[0].arithmetic["total_items"] == 1
    for nothing in ((), items(5, 5, counted=False)):
        found = scorer.score(verdict(CriterionVerdict(id="overall", items=nothing)))
        assert found.score is None
        assert found.abstained == "no evidence item counts, so there is nothing to score"


def test_matrix_evidence_is_scored_by_criterion():
    spec = judge(
        "evidence",
        Criterion(id="a", weight=Decimal("0.525")),
        Criterion(id="b", weight=Decimal("0.475")),
        layout="matrix",
    )
    found = VerdictScorer(spec).score(
        verdict(CriterionVerdict(id="a", items=items(3, 3)), CriterionVerdict(id="b", items=items(1)))
    )
    assert found.score == 67  # 76 * 0.525 + 56 * 0.475 = 66.5, half up
    assert [made.weight for made in found.criteria] == [0.525, 0.475]
    assert found.arithmetic == {"confidence": 0.05, "span": 20, "self_check": "pass"}
    assert found.flags == ("one_sided:a", "one_sided:b", "below_item_floor:b")


def test_an_empty_criterion_of_a_matrix_abstains_and_is_never_the_centre():
    spec = judge("evidence", Criterion(id="a"), Criterion(id="b"), layout="matrix")
    found = VerdictScorer(spec).score(
        verdict(CriterionVerdict(id="a", items=items(3)), CriterionVerdict(id="b", items=()))
    )
    assert (found.score, found.criteria[1].score) == (None, None)
    assert found.abstained.startswith("criterion 'b': no evidence item counts")


def test_a_cell_over_its_cap_keeps_the_strongest_and_says_so():
    crowd = items(1, 1, 1, 1, 1, 5, -2, criterion="a", perspective="p")
    found = VerdictScorer(judge("evidence")).score(verdict(CriterionVerdict(id="overall", items=crowd)))
    assert found.criteria[0].arithmetic["over_cap"] == [3, 4]
    assert found.criteria[0].arithmetic["net_impact"] == 6
    assert "over_cap" in found.flags
    wider = VerdictScorer(judge("evidence", scoring={"cap": 7}))
    assert wider.score(verdict(CriterionVerdict(id="overall", items=crowd))).criteria[0].arithmetic["total_items"] == 7


def test_one_item_under_the_logarithm_abstains_and_keeps_what_was_found():
    pooled = VerdictScorer(judge("evidence", scoring={"variant": "log"}))
    found = pooled.score(verdict(CriterionVerdict(id="overall", items=items(3))))
    assert (found.score, found.exact) == (None, None)
    assert "ln(1)" in found.abstained
    steps = found.criteria[0].arithmetic
    assert (steps["net_impact"], steps["total_items"], steps["normalized"], steps["raw"]) == (3, 1, None, None)
    spec = judge("evidence", Criterion(id="a"), Criterion(id="b"), layout="matrix", scoring={"variant": "log"})
    matrix = VerdictScorer(spec).score(
        verdict(CriterionVerdict(id="a", items=items(3, 1)), CriterionVerdict(id="b", items=items(-2)))
    )
    assert matrix.abstained == "criterion 'b': one evidence item counts, and the variant divides by ln(1), which is 0"


def test_formula_settings_of_the_judge_file_are_used():
    spec = judge("evidence", scoring={"variant": "ranked", "scale": Decimal(6)})
    found = VerdictScorer(spec).score(verdict(CriterionVerdict(id="overall", items=items(-3, -3, -1))))
    assert found.criteria[0].arithmetic["variant"] == "ranked"
    assert found.criteria[0].arithmetic["normalized"] == pytest.approx(-4.5605, abs=1e-4)
    assert "against_sign" not in found.flags
    ten = VerdictScorer(judge("evidence", scoring={"variant": "ten-point"}))
    assert ten.score(verdict(CriterionVerdict(id="overall", items=items(3)))).scale == (0, 10)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (judge("number", number("a", Decimal("0.4")), number("b", Decimal("0.4"))), r"0.4 \+ 0.4 is 0.8"),
        (judge("number", number("a"), number("b", levels=(1, 5))), "different scales are not averaged"),
        (judge("number"), "no criterion is given"),
        (judge("checklist", checks("a", "1", levels=(1, 5))), "map: share"),
        (judge("anchored", Criterion(id="a")), "it has no levels"),
        (judge("number", number("a"), scoring={"scale": 6}), "formula settings are for `protocol: evidence`"),
        (judge("evidence", scoring={"scal": 6}), "did you mean 'scale'"),
        (judge("evidence", scoring={"variant": "prod"}), "did you mean 'production'"),
        (judge("evidence", layout="matrix"), "no criterion is declared"),
        (judge("evidence", Criterion(id="a", weight=Decimal("0.9"))), "sum to exactly 1"),
        (judge("evidence", catalog=(CatalogEntry(id="x", claim="", impact=4),)), "'x' has the impact 4"),
        (judge("essay"), "'essay' has no score of its own"),
    ],
)
def test_a_judge_that_cannot_be_scored_is_refused_when_it_is_built(spec, said):
    with pytest.raises(InvalidInput, match=said):
        VerdictScorer(spec)


def test_a_verdict_on_other_criteria_is_refused():
    scorer = VerdictScorer(judge("number", number("a"), number("b")))
    with pytest.raises(InvalidInput, match="its criteria are b, a; expected a, b"):
        scorer.score(verdict(CriterionVerdict(id="b", rating=1), CriterionVerdict(id="a", rating=1)))
    with pytest.raises(InvalidInput, match="holds 2 pools"):
        VerdictScorer(judge("evidence")).score(verdict(CriterionVerdict(id="a"), CriterionVerdict(id="b")))
