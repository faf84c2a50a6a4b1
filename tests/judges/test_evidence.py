import pytest

from evenhand.errors import InvalidInput
from evenhand.terms import IMPACTS, CatalogEntry, Criterion, Failure, Verdict

TEXT = "The plan names an owner. It has no date. The budget is stated twice."
CRITERIA = (Criterion(id="fit", ask="Does it fit?"), Criterion(id="craft"))


def item(quote="names an owner", impact=3, **fields):
    return {"claim": "It names an owner.", "quote": quote, "impact": impact, **fields}


def test_items_are_read_in_their_order_with_the_place_of_their_quotes(make, play):
    outcome, _ = play(make("evidence"), TEXT, {"items": [item(), item("has no date", -2, claim="No date.")]})
    assert isinstance(outcome, Verdict)
    (pool,) = outcome.criteria
    assert [(found.impact, found.quote_status, found.counted) for found in pool.items] == [
        (3, "exact", True),
        (-2, "exact", True),
    ]
    assert pool.items[0].span == (9, 23)
    assert (pool.id, pool.items[0].criterion, pool.items[0].perspective) == ("overall", None, None)


def test_no_items_is_a_verdict(make, play):
    outcome, _ = play(make("evidence"), TEXT, {"items": []})
    assert isinstance(outcome, Verdict)
    assert outcome.criteria[0].items == ()
    outcome, _ = play(make("evidence", *CRITERIA, layout="matrix"), TEXT, {"items": []})
    assert [found.items for found in outcome.criteria] == [(), ()]


@pytest.mark.parametrize("quote", ["", "names two owners", "names ... owner"])
def test_an_item_whose_quote_is_not_in_the_candidate_does_not_count(quote, make, play):
    outcome, _ = play(make("evidence"), TEXT, {"items": [item(quote)]})
    (found,) = outcome.criteria[0].items
    assert not found.counted
    assert found.quote == quote


@pytest.mark.parametrize("impact", [*IMPACTS, 3.0])
def test_the_permitted_impacts_are_read(impact, make, play):
    outcome, _ = play(make("evidence"), TEXT, {"items": [item(impact=impact)]})
    assert outcome.criteria[0].items[0].impact == impact


@pytest.mark.parametrize("impact", [0, 4, -4, 6, 1.5, "3", "+3", True, None, [3]])
def test_any_other_impact_is_unreadable(impact, make, play):
    outcome, _ = play(make("evidence"), TEXT, {"items": [item(), item(impact=impact)]})
    assert isinstance(outcome, Failure)
    assert 'item 2: "impact" is' in outcome.message


@pytest.mark.parametrize("broken", [{"claim": None}, {"quote": None}, {"claim": 1}, {"quote": 2}])
def test_claim_and_quote_must_be_text(broken, make, play):
    assert isinstance(play(make("evidence"), TEXT, {"items": [{**item(), **broken}]})[0], Failure)


def test_a_matrix_sorts_items_under_their_criteria(make, play):
    judge = make("evidence", *CRITERIA, layout="matrix", perspectives=("user", "expert"))
    said = [item(criterion="craft", perspective="user"), item("has no date", -1, criterion="fit", perspective="expert")]
    outcome, calls = play(judge, TEXT, {"items": said})
    assert [(found.id, [entry.impact for entry in found.items]) for found in outcome.criteria] == [
        ("fit", [-1]),
        ("craft", [3]),
    ]
    assert outcome.criteria[1].items[0].perspective == "user"
    entry = calls[0].schema["properties"]["items"]["items"]
    assert list(entry["properties"]) == ["claim", "quote", "criterion", "perspective", "impact"]
    assert 'Criterion "fit": Does it fit?' in calls[0].messages[0].text
    assert 'Perspectives: "user", "expert"' in calls[0].messages[0].text


@pytest.mark.parametrize("fields", [{}, {"criterion": "Fit"}, {"criterion": None}, {"criterion": ["fit"]}])
def test_a_criterion_that_is_not_declared_is_unreadable(fields, make, play):
    outcome, _ = play(make("evidence", *CRITERIA, layout="matrix"), TEXT, {"items": [item(**fields)]})
    assert isinstance(outcome, Failure)
    assert 'expected one of "fit", "craft"' in outcome.message


def test_a_perspective_that_is_not_declared_is_unreadable(make, play):
    judge = make("evidence", perspectives=("user",))
    assert isinstance(play(judge, TEXT, {"items": [item(perspective="expert")]})[0], Failure)
    assert isinstance(play(judge, TEXT, {"items": [item()]})[0], Failure)


def test_the_only_criterion_need_not_be_named(make, play):
    judge = make("evidence", CRITERIA[0], layout="matrix")
    for fields in ({}, {"criterion": "fit"}):
        outcome, calls = play(judge, TEXT, {"items": [item(**fields)]})
        assert outcome.criteria[0].items[0].criterion == "fit"
    assert "criterion" not in calls[0].schema["properties"]["items"]["items"]["properties"]
    assert isinstance(play(judge, TEXT, {"items": [item(criterion="craft")]})[0], Failure)


def test_with_a_catalogue_the_impact_is_the_catalogues(make, play):
    catalog = (
        CatalogEntry(id="owner", claim="It names an owner.", impact=2),
        CatalogEntry(id="date", claim="-", impact=-5),
    )
    judge = make("evidence", catalog=catalog)
    said = {"claim": "Owned.", "quote": "names an owner", "catalog_id": "owner", "impact": 5}
    outcome, calls = play(judge, TEXT, {"items": [said]})
    (found,) = outcome.criteria[0].items
    assert (found.catalog_id, found.impact) == ("owner", 2)
    assert "impact" not in calls[0].schema["properties"]["items"]["items"]["properties"]
    assert "5" not in calls[0].messages[0].text
    assert isinstance(play(judge, TEXT, {"items": [{**said, "catalog_id": "none"}]})[0], Failure)
    assert isinstance(play(judge, TEXT, {"items": [item()]})[0], Failure)


def test_a_repeated_item_counts_once_and_is_flagged(make, play):
    outcome, _ = play(make("evidence"), TEXT, {"items": [item(), item(), item(), item("has no date", -2)]})
    assert [found.counted for found in outcome.criteria[0].items] == [True, False, False, True]
    assert outcome.flags == ("repeated:2",)


def test_a_catalogue_entry_counts_once_in_each_cell(make, play):
    judge = make("evidence", perspectives=("a", "b"), catalog=(CatalogEntry(id="k", claim="-", impact=2),))
    quotes = {"names an owner": "a", "has no date": "a", "stated twice": "b"}
    said = [{"claim": q, "quote": q, "catalog_id": "k", "perspective": p} for q, p in quotes.items()]
    outcome, _ = play(judge, TEXT, {"items": said})
    assert [found.counted for found in outcome.criteria[0].items] == [True, False, True]


def test_the_strongest_items_of_a_cell_count_up_to_its_cap(make, play):
    judge = make("evidence", CRITERIA[0], perspectives=("user",), scoring={"cap": 2})
    impacts = [1, -3, 2, 3, 1]
    said = [item(impact=impact, perspective="user", claim=str(n)) for n, impact in enumerate(impacts)]
    said.append(item("not in the text", 5, perspective="user"))
    outcome, _ = play(judge, TEXT, {"items": said})
    assert [found.impact for found in outcome.criteria[0].items if found.counted] == [-3, 3]
    assert outcome.flags == ("over_cap:3",)


def test_the_list_is_bounded_against_models_that_do_not_stop(make, play):
    _, calls = play(make("evidence"), TEXT, {"items": []})
    assert calls[0].schema["properties"]["items"]["maxItems"] == 40


def test_the_list_holds_twice_what_counts_of_each_cell(make, play):
    judge = make("evidence", *CRITERIA, layout="matrix", perspectives=("user", "adversary"), scoring={"cap": 3})
    _, calls = play(judge, TEXT, {"items": []})
    assert calls[0].schema["properties"]["items"]["maxItems"] == 2 * 3 * 2 * 2


@pytest.mark.parametrize(
    ("criteria", "settings", "said"),
    [
        (CRITERIA, {}, "`layout: pooled` scores one pool, and there are 2 criteria; set `layout: matrix`"),
        ((), {"layout": "matrix"}, "`layout: matrix` scores each criterion, and `criteria` is empty"),
        ((), {"perspectives": ("a", "a")}, "'a' stands 2 times in `perspectives`"),
        ((), {"catalog": (CatalogEntry(id="k", claim="-", impact=4),)}, "catalog 'k' has the impact 4"),
        ((), {"catalog": (CatalogEntry(id="k", claim="-", impact=1),) * 2}, "'k' stands 2 times in `catalog`"),
    ],
)
def test_a_layout_that_cannot_be_scored_is_refused(criteria, settings, said, make):
    with pytest.raises(InvalidInput, match=said):
        make("evidence", *criteria, **settings)
