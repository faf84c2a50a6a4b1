"""Circuit breakers: a fatal finding cannot be bought off."""

from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.terms import Breaker, CatalogEntry, CriterionVerdict, Detector, Evidence, JudgeSpec, ModelSpec, Verdict

LEAK = CatalogEntry(id="leak", claim="A key is shown.", impact=-5)
GOOD = CatalogEntry(id="good", claim="It works.", impact=5)
FAILS = Detector(id="fails", kind="command", what="make", claim="It fails.", impact=-3, fires_on="failure")


def scored(*items, breakers, **more):
    spec = JudgeSpec(
        name="j",
        protocol="evidence",
        models=(ModelSpec(model="openai/x"),),
        catalog=(LEAK, GOOD),
        detectors=(FAILS,),
        breakers=breakers,
        **more,
    )
    return VerdictScorer(spec).score(Verdict(criteria=(CriterionVerdict(id="overall", items=items),)))


def found(entry, **more):
    return Evidence(claim="-", impact=entry.impact, catalog_id=entry.id, **more)


PRAISE = [found(GOOD)] * 20
CAP = Breaker(finding="leak", cap=Decimal(40))
FAIL = Breaker(finding="leak", fail=True)


def test_twenty_praises_do_not_buy_a_fatal_finding_off():
    made = scored(found(LEAK), *PRAISE, breakers=(CAP,))
    assert (made.score, made.exact) == (40, 40.0)
    assert made.flags[:2] == ("breaker:leak", "capped_from:100")


def test_five_praises_do_not_push_a_fatal_finding_out_of_its_cell():
    """The cap of a cell bounds what it weighs: what it had no room for was found all the same."""
    out = found(LEAK, counted=False, dropped="over_cap")
    made = scored(*PRAISE, out, breakers=(CAP,))
    assert (made.score, made.flags[:2]) == (40, ("breaker:leak", "capped_from:100"))
    for dropped in ("absent_quote", "unsupported", "not_asked"):
        assert scored(*PRAISE, found(LEAK, counted=False, dropped=dropped), breakers=(CAP,)).score == 100


def test_a_cap_never_raises_a_score():
    low = scored(*[found(LEAK)] * 3, breakers=(CAP,))
    assert low.score == scored(*[found(LEAK)] * 3, breakers=()).score < 40
    assert low.flags[0] == "breaker:leak"
    assert not any(flag.startswith("capped_from") for flag in low.flags)


def test_a_forced_fail_is_the_lowest_score_and_flagged():
    made = scored(found(LEAK), *PRAISE, breakers=(FAIL,))
    assert (made.score, made.exact) == (0, 0.0)
    assert made.flags[:3] == ("breaker:leak", "fail", "capped_from:100")


def test_a_fatal_finding_fails_even_where_the_rest_would_abstain():
    made = scored(found(LEAK), breakers=(FAIL,))
    assert (made.score, made.abstained) == (0, None)


def test_a_cap_leaves_an_abstention():
    made = scored(found(LEAK), breakers=(CAP,))
    assert made.score is None
    assert made.abstained
    assert made.flags[0] == "breaker:leak"


def test_the_lowest_of_several_breakers_holds():
    fails = Evidence(claim="-", impact=-3, detector="fails")
    made = scored(found(LEAK), fails, *PRAISE, breakers=(CAP, Breaker(finding="fails", cap=Decimal("12.5"))))
    assert made.score == 12.5
    assert made.flags[:2] == ("breaker:leak", "breaker:fails")


def test_what_does_not_count_trips_nothing():
    made = scored(found(LEAK, counted=False), *PRAISE, breakers=(FAIL,))
    assert made.score == 100
    assert "fail" not in made.flags


@pytest.mark.parametrize(
    ("breakers", "said"),
    [
        ((Breaker(finding="lek", fail=True),), "neither a catalogue entry nor a detector"),
        ((CAP, FAIL), "stands twice"),
        ((Breaker(finding="leak"),), "needs either `cap` or `fail: true`"),
        ((Breaker(finding="leak", cap=Decimal(1), fail=True),), "not both"),
    ],
)
def test_a_breaker_that_could_do_nothing_is_refused(breakers, said):
    with pytest.raises(InvalidInput, match=said):
        scored(breakers=breakers)
