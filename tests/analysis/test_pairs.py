import pytest

from evenhand.analysis.pairs import Pairs, is_pair
from evenhand.analysis.summary import Summary
from evenhand.cli.pair_output import pair_lines
from evenhand.terms import Record

ORDERS = {"a": ("first", "second"), "b": ("second", "first"), "tie": ("tie", "tie")}


def record(label, *, better=None, item="i", rerun=0, systems=(None, None)):
    metadata = {name: value for name, value in zip(("system", "system_b"), systems, strict=True) if value is not None}
    orders = [
        {"first": first, "better": word, "reason": None}
        for first, word in zip("ab", better or ORDERS[label], strict=True)
    ]
    return Record(
        item=item, item_hash="h", metadata=metadata, judge={"protocol": "pairwise"}, member="p/m", rerun=rerun,
        status="verdict", score={"a": 1, "tie": 0.5, "b": 0}[label], exact=None,
        criteria=({"id": "", "label": label, "orders": orders},),
    )  # fmt: skip


def pairs_of(*records):
    pairs = Pairs()
    for one in records:
        pairs.add(one)
    return pairs


def test_a_place_that_wins_in_both_orders_is_a_position_preference():
    document = pairs_of(
        record("a"),
        record("tie"),
        *[record("tie", better=("first", "first"))] * 3,
        record("tie", better=("second", "second")),
        record("tie", better=("first", "tie")),
    ).document()
    assert (document["n"], document["inconsistent"]) == (7, 5)
    assert (document["first_twice"], document["second_twice"], document["one_tie"]) == (3, 1, 1)
    assert document["position_preference"] == 0.75
    low, high = document["position_interval"]
    assert low < 0.75 < high
    assert (document["a"], document["b"], document["tie"]) == (1, 0, 6)
    assert "win_rates" not in document


def test_without_inconsistent_swaps_no_preference_is_defined():
    document = pairs_of(record("a"), record("b")).document()
    assert (document["inconsistent_share"], document["position_preference"]) == (0.0, None)


def test_named_systems_get_win_rates_and_strengths():
    pytest.importorskip("choix")
    games = [("a", ("x", "y")), ("a", ("x", "y")), ("b", ("x", "y")), ("tie", ("y", "x"))]
    document = pairs_of(
        *[record(label, item=f"i{n}", systems=systems) for n, (label, systems) in enumerate(games)]
    ).document()
    (row,) = document["win_rates"]
    assert (row["system"], row["against"], row["items"], row["win_rate"]) == ("x", "y", 4, 0.625)
    assert [one["system"] for one in document["strengths"]["systems"]] == ["x", "y"]
    assert document["strengths"]["seed"] == 20250101


def test_reruns_of_one_item_are_its_mean_and_feign_no_items():
    reruns = [record("a", rerun=n, systems=("x", "y")) for n in range(9)]
    document = pairs_of(*reruns, record("b", item="k", systems=("x", "y"))).document()
    assert (document["win_rates"][0]["win_rate"], document["win_rates"][0]["items"]) == (0.5, 2)


def test_many_systems_are_bounded_and_what_is_left_out_is_said():
    pytest.importorskip("choix")
    ring = [record("a", item=f"i{n}", systems=(f"s{n}", f"s{(n + 1) % 101}")) for n in range(101)]
    document = pairs_of(*ring).document()
    assert (len(document["win_rates"]), document["never_met"]) == (101, 101 * 100 // 2 - 101)
    last = document["win_rates"][-1]
    assert (last["system"], last["against"], last["win_rate"]) == ("s0", "s100", 0.0)
    assert document["strengths"]["systems"][0]["interval"] is None
    assert document["strengths"]["note"].startswith("no intervals: 101 systems")
    lines = pair_lines(document)
    assert "  and 61 more" in lines
    assert "  4,949 further pairs of systems never met" in lines
    few = pairs_of(*ring[:3]).document()
    assert (len(few["win_rates"]), "never_met" in few) == (6, False)


def test_strengths_of_thousands_of_systems_are_undefined_with_the_reason():
    pytest.importorskip("choix")
    pairs = [record("tie", item=f"i{n}", systems=(f"a{n}", f"b{n}")) for n in range(501)]
    assert pairs_of(*pairs).document()["strengths"]["undefined"].startswith("1,002 systems")


def test_a_system_called_tie_and_one_against_itself_are_no_trouble():
    document = pairs_of(record("b", systems=("x", "tie")), record("a", systems=("x", "x"))).document()
    assert document["win_rates"][0]["win_rate"] == 0.0
    assert (document["games"], document["system_against_itself"]) == (1, 1)
    assert document["strengths"]["undefined"]


def test_the_summary_has_pairs_only_where_there_are_any():
    summary = Summary(1)
    plain = Record(item="i", item_hash="h", metadata={}, judge={}, member="p/m", rerun=0, status="verdict", score=1)
    summary.add(plain)
    assert "pairs" not in summary.document()
    summary.add(record("a"))
    assert summary.document()["pairs"]["n"] == 1
    assert not is_pair(plain)


def test_members_are_added_up():
    one, other = pairs_of(record("a")), pairs_of(record("b"), record("tie"))
    assert (one + other).document()["n"] == 3
