"""Near-duplicate evidence counts once."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from evenhand.errors import InvalidInput
from evenhand.judges import duplicates
from evenhand.judges.duplicates import merge_near_duplicates
from evenhand.terms import Evidence

LONG = "The parser drops every row after the ninth one without a word of warning"


def item(claim, impact=2, **more):
    return Evidence(claim=claim, impact=impact, **more)


def counted(items, likeness=0.9):
    return [found.counted for found in merge_near_duplicates(items, likeness)]


def test_the_strongest_stands_for_the_others_then_the_first():
    items = [
        item(LONG, 2, perspective="a"),
        item(LONG.upper() + "!", 3, perspective="b", pass_name="demo"),
        item(LONG, 3),
    ]
    made = merge_near_duplicates(items, 0.9)
    assert [found.counted for found in made] == [False, True, False]
    assert made[1].merged == ("candidate/a", "candidate")
    assert made[0].dropped == made[2].dropped == "duplicate"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (item("the parser DROPS every row after the ninth one, without a word of warning."), True),
        (item("Without a word of warning the parser drops every row after the ninth one"), True),
        (item(LONG, -2), False),
        (item(LONG, criterion="craft"), False),
        (item("The cache is never emptied and grows with each run of the import"), False),
    ],
)
def test_the_same_claim_in_other_words_is_the_same(other, same):
    assert counted([item(LONG), other]) == [True, not same]


def test_claims_that_differ_in_a_number_are_two_findings():
    assert counted([item("Test 1 of the importer fails"), item("Test 2 of the importer fails")]) == [True, True]


def test_one_span_of_one_source_is_one_finding_whatever_is_claimed():
    one, other = item("It has an owner.", span=(3, 9)), item("Somebody is in charge.", span=(3, 9))
    assert counted([one, other]) == [True, False]
    assert counted([one, item("Somebody is in charge.", span=(3, 9), source="demo")]) == [True, True]
    assert counted([one, item("Somebody is in charge.", span=(3, 10))]) == [True, True]


@pytest.mark.parametrize(("cited", "same"), [((1, 4), True), ((1,), False), ((1, 5), False), ((1, 2), False)])
def test_several_cited_sentences_are_one_place_only_with_all_of_them(cited, same):
    """The span is that of the first passage, so [1, 4] and [1] share it."""
    one = item("It has an owner.", span=(3, 9), sentences=(1, 4))
    assert counted([one, item("Somebody is in charge.", span=(3, 9), sentences=cited)]) == [True, not same]


def test_cited_sentences_in_a_row_are_the_place_that_a_match_of_a_pattern_has():
    cited = item("It has an owner.", span=(3, 29), sentences=(2, 3))
    assert counted([cited, item("Owner named.", span=(3, 29), detector="owner")]) == [False, True]


@pytest.mark.parametrize("n", [2, 80])
def test_two_detectors_are_two_findings_whatever_they_match_or_claim(n):
    """A breaker may name either."""
    found = [item(LONG, -2, span=(3, 9), detector=f"d{k}") for k in range(n)]
    assert counted([*found, item(LONG, -1, span=(3, 9))]) == [True] * n + [False]


def test_one_detectors_finding_in_several_members_counts_once():
    assert counted([item("!", -2, detector="d"), item("!", -2, detector="d")]) == [True, False]


def test_findings_with_a_declared_id_are_the_same_if_the_id_is():
    items = [item(LONG, catalog_id="a"), item("Quite another", catalog_id="a"), item(LONG, catalog_id="b")]
    assert counted(items) == [True, False, True]


def test_a_detectors_finding_stays_before_a_stronger_one_of_a_model():
    made = merge_near_duplicates([item(LONG, 5), item(LONG, 1, detector="d")], 0.9)
    assert [found.counted for found in made] == [False, True]
    assert made[1].merged == ("candidate",)


def test_what_does_not_count_takes_no_part():
    made = merge_near_duplicates([item(LONG, counted=False, dropped="over_cap"), item(LONG)], 0.9)
    assert [(found.counted, found.dropped) for found in made] == [(False, "over_cap"), (True, None)]


def test_claims_without_a_word_are_not_alike_unless_they_are_equal():
    assert counted([item(""), item("")]) == [True, True]
    assert counted([item("!!"), item("??")]) == [True, True]


def test_sources_that_were_merged_before_are_kept():
    first = merge_near_duplicates([item(LONG, pass_name="a"), item(LONG, pass_name="b")], 0.9)
    again = merge_near_duplicates([*first, item(LONG, 3, pass_name="c")], 0.9)
    assert set(again[2].merged) == {"a", "b"}


@pytest.mark.parametrize("likeness", [0, 1.01, -0.5])
def test_a_likeness_out_of_its_range_is_refused(likeness):
    with pytest.raises(InvalidInput, match="likeness is"):
        merge_near_duplicates([], likeness)


WORDS = ["parser", "cache", "drops", "rows", "names", "owner", "7", "8", "slowly", "tests"]
VOCABULARY = st.lists(st.sampled_from(WORDS), max_size=6)
ITEMS = st.lists(
    st.builds(
        lambda words, impact, span: item(" ".join(words), impact, span=span),
        VOCABULARY,
        st.sampled_from([5, 2, 1, -1, -3]),
        st.sampled_from([None, None, (0, 4), (2, 9)]),
    ),
    max_size=14,
)


@settings(deadline=None, max_examples=150)
@given(ITEMS, st.randoms(use_true_random=False), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_order_of_the_items_changes_no_score(items, chance, likeness):
    shuffled = list(items)
    chance.shuffle(shuffled)
    assert impacts(items, likeness) == impacts(shuffled, likeness)


@settings(deadline=None, max_examples=100)
@given(ITEMS, st.sampled_from([0.5, 0.8, 0.95]))
def test_counting_once_more_changes_nothing_but_what_was_already_alike(items, likeness):
    made = merge_near_duplicates(items, likeness)
    assert len(made) == len(items)
    assert [found.claim for found in made] == [found.claim for found in items]
    assert sum(len(found.merged) for found in made) == sum(not found.counted for found in made)


@settings(deadline=None, max_examples=60)
@given(ITEMS, st.sampled_from([0.5, 0.8, 0.9]))
def test_many_at_once_and_one_by_one_find_the_same(items, likeness):
    few, threshold = merge_near_duplicates(items, likeness), duplicates._FEW
    duplicates._FEW = 0
    try:
        assert merge_near_duplicates(items, likeness) == few
    finally:
        duplicates._FEW = threshold


def test_the_signature_lets_every_pair_through_that_is_alike():
    chance = random.Random(3)
    texts = []
    for _ in range(60):
        text = "".join(chance.choice("abcdefgh ") for _ in range(chance.randint(0, 40)))
        texts += [text, "".join(one for one in text if chance.random() > 0.1), text + chance.choice(["", "x", "yz"])]
    claims = duplicates._Claims([item(text) for text in texts], range(len(texts)))
    for likeness in (0.6, 0.85, 0.95):
        search = duplicates._Many(claims, likeness).near
        for leader in range(len(texts)):
            expected = {
                place
                for place in range(leader + 1, len(texts))
                if claims.texts[leader] and fuzz.ratio(claims.texts[leader], claims.texts[place]) >= 100 * likeness
            }
            assert set(search(leader, [False] * len(texts))) == expected


def impacts(items, likeness):
    return sorted(found.impact for found in merge_near_duplicates(items, likeness) if found.counted)
