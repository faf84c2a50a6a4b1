from dataclasses import replace
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.judges.duplicates import merge_near_duplicates
from evenhand.judges.panel import Panel, Seat, panel_rule, refuse_panel, vote
from evenhand.scoring.scored import Scored, ScoredCriterion
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import (
    Abstention,
    Breaker,
    CatalogEntry,
    Check,
    CheckGroup,
    CheckResult,
    Criterion,
    CriterionVerdict,
    Evidence,
    Failure,
    JudgeSpec,
    Verdict,
)

LAWS = settings(max_examples=60, deadline=None)
FAILED = Failure(code="provider", message="down")
SILENT = Abstention(reason="refusal")


def a_checklist(*checks, levels=(0, 2), map_="count"):
    criterion = Criterion(id="c", levels=tuple(map(Decimal, levels)), map=map_, checks=checks)
    return JudgeSpec(name="j", protocol="checklist", models=(), criteria=(criterion,))


PLAIN = a_checklist(Check(id="a", ask="?"), Check(id="b", ask="?"))
MIXED = a_checklist(
    CheckGroup(any_of=(Check(id="a", ask="?"), Check(id="b", ask="?", na=True)), weight=Decimal(2)),
    Check(id="c", ask="?", weight=Decimal(-1)),
    Check(id="d", ask="?", na=True),
    levels=(0, 2),
    map_="share",
)
ANCHORED = JudgeSpec(
    name="j",
    protocol="anchored",
    models=(),
    criteria=(Criterion(id="c", level_texts={1: "poor", 3: "fair", 5: "good"}),),
)
NUMBER = JudgeSpec(name="j", protocol="number", models=(), criteria=(Criterion(id="c"),))
EVIDENCE = JudgeSpec(name="j", protocol="evidence", models=())


def checked(*passed, spec=PLAIN, counted=True):
    names = [check.id for entry in spec.criteria[0].checks for check in getattr(entry, "any_of", (entry,))]
    results = tuple(
        CheckResult(id=name, passed=said, quote=f"q{name}", counted=counted)
        for name, said in zip(names, passed, strict=True)
    )
    return Verdict(criteria=(CriterionVerdict(id="c", checks=results),))


def at_level(level):
    return Verdict(criteria=(CriterionVerdict(id="c", level=level, reason=f"r{level}", quote="q"),))


def rated(rating):
    return Verdict(criteria=(CriterionVerdict(id="c", rating=rating),))


def found(*impacts, claim="point"):
    items = tuple(Evidence(claim=f"{claim} {k}", impact=impact) for k, impact in enumerate(impacts))
    return Verdict(criteria=(CriterionVerdict(id="overall", items=items),))


def combine(spec, *outcomes):
    scorer = VerdictScorer(spec)
    seats = [
        Seat(
            member=f"m{k}",
            outcome=outcome,
            scored=scorer.score(outcome) if isinstance(outcome, Verdict) else None,
        )
        for k, outcome in enumerate(outcomes)
    ]
    return Panel(spec, len(seats), scorer, merge=merge_near_duplicates).combine(seats)


def decisions(combined):
    return [check.passed for criterion in combined.verdict.criteria for check in criterion.checks]


# --- majority -------------------------------------------------------------------------------------------------------


def test_more_than_half_of_the_declared_members_decide_each_check():
    made = combine(PLAIN, checked(True, False), checked(True, True), checked(False, False))
    assert decisions(made) == [True, False]
    assert (made.scored.score, made.scored.abstained) == (1, None)


def test_dissent_says_who_said_what():
    made = combine(PLAIN, checked(True, False), checked(True, True), checked(False, False))
    assert list(made.dissent) == [
        {"member": "m2", "criterion": "c", "check": "a", "said": "no"},
        {"member": "m1", "criterion": "c", "check": "b", "said": "yes"},
    ]
    assert made.votes == {"c": {"a": {"no": 1, "yes": 2}, "b": {"no": 2, "yes": 1}}}


def test_a_passed_check_shows_the_first_passing_members_counted_quote():
    unquoted = checked(True, True, counted=False)
    own = replace(checked(True, True).criteria[0].checks[0], quote="the words")
    shown = Verdict(criteria=(CriterionVerdict(id="c", checks=(own, checked(True, True).criteria[0].checks[1])),))
    made = combine(PLAIN, unquoted, shown, checked(True, True))
    assert made.verdict.criteria[0].checks[0].quote == "the words"


def test_a_yes_whose_required_quote_is_absent_votes_no():
    made = combine(PLAIN, checked(True, True, counted=False), checked(True, True, counted=False), checked(True, True))
    assert decisions(made) == [False, False]


def test_a_failed_member_is_not_an_absent_one():
    """One yes, one no, one failure: of those who answered nobody prevails, and of three neither."""
    made = combine(PLAIN, checked(True, True), checked(False, True), FAILED)
    assert decisions(made) == [None, True]
    assert made.scored.score is None
    assert made.scored.abstained == ("criterion 'c': no strict majority on a (1 no, 1 yes, 1 without a verdict)")


def test_two_that_agree_carry_a_panel_of_three_whose_third_failed():
    made = combine(PLAIN, checked(True, False), checked(True, False), FAILED)
    assert (decisions(made), made.scored.score) == ([True, False], 1)


@pytest.mark.parametrize("outcomes", [(checked(True, True), FAILED, SILENT), (FAILED, FAILED, FAILED)])
def test_a_short_panel_abstains_and_says_how_short(outcomes):
    made = combine(PLAIN, *outcomes)
    n = sum(isinstance(outcome, Verdict) for outcome in outcomes)
    assert made.scored.abstained == (f"short panel: {n} of 3 declared members gave a verdict, and more than half must")
    assert made.scored.criteria[0].score is None


def test_a_tie_of_four_abstains_rather_than_being_a_no():
    made = combine(PLAIN, *[checked(True, True)] * 2, *[checked(False, True)] * 2)
    assert made.scored.abstained is not None
    assert decisions(made) == [None, True]


def test_an_undecided_check_that_moves_nothing_costs_no_verdict():
    """Two no, two yes on `b`; its group has already passed by `a`, four to nothing."""
    made = combine(MIXED, *[checked(True, said, False, True, spec=MIXED) for said in (True, True, False, False)])
    assert decisions(made) == [True, None, False, True]
    assert (made.scored.score, made.scored.abstained) == (2, None)


def test_an_undecided_check_that_may_not_apply_is_decisive_where_nothing_else_applies():
    spec = a_checklist(Check(id="a", ask="?", na=True), Check(id="b", ask="?", na=True), map_="share", levels=(0, 1))
    made = combine(spec, *[checked(None, said, spec=spec) for said in (None, False, True)])
    assert made.scored.abstained is not None


def test_an_ordinal_level_needs_a_strict_majority_for_one_level():
    assert combine(ANCHORED, at_level(3), at_level(5), at_level(5)).scored.score == 5
    split = combine(ANCHORED, at_level(1), at_level(3), at_level(5))
    assert split.scored.abstained == "criterion 'c': no strict majority on level (1 1, 1 3, 1 5)"
    assert split.verdict.criteria[0].level is None
    assert [entry["said"] for entry in split.dissent] == [1, 3, 5]


def test_a_level_comes_with_the_reason_of_its_first_member():
    made = combine(ANCHORED, at_level(3), at_level(5), at_level(5))
    assert made.verdict.criteria[0].reason == "r5"


def test_one_open_criterion_leaves_the_record_without_a_score_and_the_others_with_theirs():
    two = replace(ANCHORED, criteria=(ANCHORED.criteria[0], replace(ANCHORED.criteria[0], id="d")))

    def at(first, second):
        return Verdict(criteria=(CriterionVerdict(id="c", level=first), CriterionVerdict(id="d", level=second)))

    made = combine(two, at(1, 3), at(3, 3), at(5, 3))
    assert [part.score for part in made.scored.criteria] == [None, 3]
    assert made.scored.score is None


# --- median and pool ------------------------------------------------------------------------------------------------


def test_agreeing_members_are_not_more_evidence():
    """A median of three equal pools is that pool's score; pooled as they are, the items would count three times."""
    alone = combine(EVIDENCE, found(3, 2)).scored
    assert combine(EVIDENCE, *[found(3, 2)] * 3).scored == alone


def test_the_median_of_an_even_number_is_the_mean_of_the_two_middle_ones():
    made = combine(NUMBER, rated(3), rated(9), rated(6), rated(7))
    assert (made.scored.score, made.scored.exact) == (6.5, 6.5)


def test_an_evidence_median_is_shown_as_a_whole_number_and_kept_unrounded():
    scores = [combine(EVIDENCE, found(*impacts)).scored.exact for impacts in ((3,), (5, 5))]
    made = combine(EVIDENCE, found(3), found(5, 5)).scored
    assert made.exact == pytest.approx(sum(scores) / 2)
    assert made.score == round(made.exact)


def seated(*scores, spec=EVIDENCE):
    """Members whose (score, exact) are given; criteria as (score, weight) may follow."""
    seats = [
        Seat(
            member=f"m{k}",
            outcome=found(1),
            scored=Scored(
                score=score,
                exact=exact,
                scale=(0, 100),
                criteria=tuple(
                    ScoredCriterion(id=f"c{place}", weight=weight, score=own, exact=own, scale=(0, 100))
                    for place, (own, weight) in enumerate(criteria)
                ),
            ),
        )
        for k, (score, exact, *criteria) in enumerate(scores)
    ]
    return Panel(spec, len(seats), VerdictScorer(spec)).combine(seats)


def test_a_median_is_one_of_the_scores_that_members_show():
    """Rounding by criteria carries a score away from its own unrounded value; a reader sees the former."""
    made = seated((56, 54.9), (47, 47.2), (56, 55.1)).scored
    assert (made.score, made.exact) == (56, 54.9)
    assert seated((56, 56.4), (57, 56.6)).scored.score == 57


def test_only_a_score_far_from_the_median_is_dissent():
    assert seated((56, 56.0), (57, 57.0), (44, 44.0)).dissent == ()
    assert seated((56, 56.0), (57, 57.0), (43, 43.0)).dissent == ({"member": "m2", "said": 43},)


TWO = replace(EVIDENCE, layout="matrix", criteria=(Criterion(id="c0"), Criterion(id="c1")), near_duplicate=0.9)


def test_a_criterion_keeps_its_declared_weight_whatever_a_member_left_out():
    made = seated(
        (60, 60.0, (None, 0.0), (60, 1.0)),
        (50, 50.0, (None, 0.0), (50, 1.0)),
        (40, 40.0, (20, 0.5), (60, 0.5)),
        spec=TWO,
    ).scored
    assert [(own.score, own.weight) for own in made.criteria] == [(None, 0.5), (60, 0.5)]
    assert made.flags == ("criterion_out:c0",)


FATAL = replace(
    EVIDENCE,
    catalog=(CatalogEntry(id="leak", claim="A key is shown.", impact=-5),),
    breakers=(Breaker(finding="leak", cap=Decimal(30)),),
    scoring={"item_floor": 0},
)
LEAK = Evidence(claim="A key is shown.", impact=-5, catalog_id="leak")


def leaking(*impacts):
    (pool,) = found(*impacts).criteria
    return Verdict(criteria=(replace(pool, items=(LEAK, *pool.items)),))


def test_a_fatal_finding_of_most_members_trips_the_panels_breaker():
    made = combine(FATAL, leaking(5, 5, 5), leaking(5, 5), found(5, 5)).scored
    assert (made.score, made.flags) == (30, ("breaker:leak",))
    assert combine(
        replace(FATAL, breakers=(Breaker(finding="leak", fail=True),)), leaking(5), leaking(3), FAILED
    ).scored.flags == ("breaker:leak", "fail")


def test_a_fatal_finding_of_few_members_trips_nothing_and_is_shown():
    made = combine(FATAL, leaking(5, 5, 5), found(5, 5), found(5, 5)).scored
    assert made.score > 30
    assert made.flags == ("breaker_minority:leak",)
    assert combine(FATAL, leaking(5), FAILED, SILENT).scored.flags == ("breaker_minority:leak",)


def test_a_breaker_caps_the_median_where_those_who_found_it_have_no_score():
    """Three of five count the finding; two of them have too little evidence for a score, and the others' is high."""
    spec = replace(FATAL, scoring={"item_floor": 2})
    made = combine(spec, leaking(), leaking(), leaking(5, 5, 5), found(5, 5), found(5, 5)).scored
    assert (made.score, made.exact, made.flags[0]) == (30, 30.0, "breaker:leak")
    assert made.flags[1].startswith("capped_from:")


def test_a_median_needs_more_than_half_of_the_members_scored():
    made = combine(NUMBER, rated(3), FAILED)
    assert made.scored.abstained == "short panel: 1 of 2 declared members gave a verdict, and more than half must"


def test_a_pool_counts_the_same_point_once_and_says_whose_it_was():
    pooled = replace(EVIDENCE, pool=True)
    made = combine(pooled, found(3, -2), found(3, -2))
    counted = [item for item in made.verdict.criteria[0].items if item.counted]
    assert [(item.impact, item.pass_name, item.merged) for item in counted] == [(3, "m0", ("m1",)), (-2, "m0", ("m1",))]
    assert made.scored.exact == combine(EVIDENCE, found(3, -2)).scored.exact


def test_a_pool_adds_what_only_one_member_found():
    pooled = replace(EVIDENCE, pool=True)
    made = combine(pooled, found(3, claim="tests cover the parser"), found(2, claim="readme names its limits"))
    assert made.scored.exact == combine(EVIDENCE, found(3, 2)).scored.exact


# --- laws -----------------------------------------------------------------------------------------------------------

answers = st.sampled_from([True, False, None])
mixed_verdicts = st.builds(
    lambda a, b, c, d: checked(a, b, c, d, spec=MIXED), st.booleans(), answers, st.booleans(), answers
)
members = st.lists(st.one_of(mixed_verdicts, st.just(FAILED), st.just(SILENT)), min_size=1, max_size=5)


@given(members, st.randoms(use_true_random=False))
@LAWS
def test_member_order_does_not_matter(outcomes, rng):
    shuffled = list(outcomes)
    rng.shuffle(shuffled)
    first, second = combine(MIXED, *outcomes), combine(MIXED, *shuffled)
    assert (first.scored, first.votes, decisions(first)) == (second.scored, second.votes, decisions(second))


@given(members, st.data())
@LAWS
def test_a_failed_member_never_turns_a_verdict(outcomes, data):
    place = data.draw(st.integers(0, len(outcomes) - 1))
    lost = [*outcomes[:place], FAILED, *outcomes[place + 1 :]]
    before, after = combine(MIXED, *outcomes), combine(MIXED, *lost)
    for was, now in zip(decisions(before), decisions(after), strict=True):
        assert now is None or now is was
    if after.scored.score is not None and before.scored.score is not None:
        assert after.scored.score == before.scored.score


@given(members, st.data())
@LAWS
def test_a_majority_is_monotone(outcomes, data):
    """A member that turns from no to yes never turns the panel from yes to anything else."""
    place = data.draw(st.integers(0, len(outcomes) - 1))
    if not isinstance(outcomes[place], Verdict):
        return
    own = outcomes[place].criteria[0].checks
    turned = tuple(replace(check, passed=True) if check.passed is False else check for check in own)
    raised = list(outcomes)
    raised[place] = Verdict(criteria=(CriterionVerdict(id="c", checks=turned),))
    for was, now in zip(decisions(combine(MIXED, *outcomes)), decisions(combine(MIXED, *raised)), strict=True):
        assert was is not True or now is True


@given(mixed_verdicts, st.integers(1, 5))
@LAWS
def test_members_of_one_mind_score_as_each_of_them(verdict, n):
    alone = VerdictScorer(MIXED).score(verdict)
    assert combine(MIXED, *[verdict] * n).scored == alone


@given(members)
@LAWS
def test_a_score_stands_whichever_way_the_undecided_checks_fall(outcomes):
    """Brute force over every way of falling: all give the panel's score, or the panel has none."""
    made = combine(MIXED, *outcomes)
    open_ = [(name, check) for name, check in zip("abcd", decisions(made), strict=True)]
    n_verdicts = sum(isinstance(outcome, Verdict) for outcome in outcomes)
    if 2 * n_verdicts <= len(outcomes):
        assert made.scored.score is None
        return
    votes = made.votes["c"]
    ways = []
    for name, passed in open_:
        decided = any(2 * n > len(outcomes) for n in votes[name].values())
        ways.append([passed] if decided else [True, False, *([None] if name in "bd" else [])])
    scores = {VerdictScorer(MIXED).score(checked(*way, spec=MIXED)).score for way in product(*ways)}
    assert {made.scored.score} == scores if len(scores) == 1 else made.scored.score is None


@given(st.lists(st.integers(1, 10), min_size=1, max_size=7), st.randoms(use_true_random=False))
@LAWS
def test_a_median_lies_within_its_members_and_ignores_their_order(ratings, rng):
    shuffled = list(ratings)
    rng.shuffle(shuffled)
    made = combine(NUMBER, *map(rated, ratings)).scored
    assert min(ratings) <= made.exact <= max(ratings)
    assert made == combine(NUMBER, *map(rated, shuffled)).scored


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [PLAIN, ANCHORED])
def test_two_members_that_must_decide_by_majority_are_refused(spec):
    with pytest.raises(InvalidInput, match="every dissent is a tie"):
        refuse_panel(spec, 2)
    for n in (1, 3, 4):
        refuse_panel(spec, n)
    refuse_panel(EVIDENCE, 2)


def test_each_protocol_has_its_rule():
    assert [panel_rule(spec) for spec in (PLAIN, ANCHORED, NUMBER, EVIDENCE, replace(EVIDENCE, pool=True))] == [
        "majority", "majority", "median", "median", "pool",
    ]  # fmt: skip
    assert panel_rule(replace(PLAIN, protocol="pairwise")) is None


def test_a_vote_is_what_the_score_makes_of_an_answer():
    assert [vote(CheckResult(id="a", passed=said)) for said in (True, False, None)] == ["yes", "no", "na"]


def test_outcomes_must_be_as_many_as_declared_members():
    with pytest.raises(InvalidInput, match="1 outcomes came for 3"):
        Panel(PLAIN, 3, VerdictScorer(PLAIN)).combine([Seat(member="m", outcome=FAILED)])
