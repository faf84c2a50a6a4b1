import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.scoring.preference import points, win_rate, win_rates
from evenhand.scoring.strengths import bradley_terry

# Wins of the row's team over the column's: Agresti (2002), Categorical Data Analysis, Table 10.10 (baseball, 1987).
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)


def games_of(names, wins):
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names)) if i != j]
    return [(names[i], names[j], names[i]) for i, j in pairs for _ in range(wins[i][j])]


def strengths_of(made):
    return {one.system: one.value for one in made.strengths}


def test_the_published_strengths_come_out():
    found = strengths_of(bradley_terry(games_of(TEAMS, WINS)))
    against = {team: round(value - found["Baltimore"], 2) for team, value in found.items()}
    assert against == {
        "Milwaukee": 1.58, "Detroit": 1.44, "Toronto": 1.29, "New York": 1.25, "Boston": 1.11, "Cleveland": 0.68,
        "Baltimore": 0.0,
    }  # fmt: skip
    assert list(found) == list(TEAMS)


@pytest.mark.shared
def test_the_reported_case_of_the_second_tie_label_comes_out(shared):
    lines = (shared / "data" / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(found for found in map(json.loads, lines) if found["id"] == "T053")
    games = [tuple(game) for game in case["input"]["games"]]
    labels = {winner for _, _, winner in games} - set(case["input"]["systems"])
    for name, expected in case["expected"]["win_rates"].items():
        one, other = name.split(">")
        rate = win_rate(games, one, other, ties=sorted(labels))
        assert math.isnan(rate) if expected == "undefined" else rate == expected
    with pytest.raises(InvalidInput, match="the label 'tie \\(bothbad\\)' is unknown"):
        win_rates(games, ties=("tie",))


def test_every_declared_tie_is_half_a_point_for_both():
    games = [("x", "y", "x"), ("x", "y", "neither"), ("y", "x", "even"), ("x", "y", "y")]
    by_pair = {(one.system, one.against): one for one in win_rates(games, ties=("neither", "even"))}
    assert by_pair["x", "y"].points == by_pair["y", "x"].points == 2.0
    assert (by_pair["x", "y"].rate, by_pair["x", "y"].ties, by_pair["x", "y"].games) == (0.5, 2, 4)


def test_a_pair_that_never_met_has_no_rate():
    made = win_rates([("x", "y", "x"), ("y", "z", "z")])
    assert [one.games for one in made if {one.system, one.against} == {"x", "z"}] == [0, 0]
    assert all(math.isnan(one.rate) for one in made if {one.system, one.against} == {"x", "z"})


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (("x", "y", "X"), "games\\[0\\]: the label 'X' is unknown; expected 'x', 'y', or a declared tie"),
        (("x", "y", ""), "the label '' is unknown"),
        (("x", "x", "x"), "'x' plays against itself"),
        (("x", "tie", "x"), "a system is called as a tie is"),
    ],
)
def test_a_game_that_says_nothing_is_refused_by_name(game, said):
    with pytest.raises(InvalidInput, match=said):
        win_rates([game], ties=("tie",))


def test_a_game_of_a_system_that_is_not_named_is_refused():
    with pytest.raises(InvalidInput, match="'z' is none of the systems 'x', 'y'"):
        win_rates([("x", "z", "x")], systems=["x", "y"])


def test_two_systems_have_the_log_odds_of_their_points():
    # 3 wins, 1 loss, 2 ties: 4 of 6 points, so that the difference is ln(4 / 2).
    games = [("x", "y", "x")] * 3 + [("x", "y", "y")] + [("y", "x", "tie")] * 2
    found = strengths_of(bradley_terry(games))
    assert found["x"] - found["y"] == pytest.approx(math.log(2))
    assert found["x"] + found["y"] == pytest.approx(0)


def test_systems_that_no_game_connects_have_no_strengths():
    made = bradley_terry([("x", "y", "tie"), ("u", "v", "tie")])
    assert made.strengths == ()
    assert "no games connect 'u', 'v' with x" in made.undefined


def test_a_system_that_lost_everything_leaves_strengths_undefined_not_regularised():
    made = bradley_terry([("x", "y", "x"), ("y", "x", "y"), ("x", "z", "x"), ("y", "z", "y")])
    assert made.strengths == ()
    assert "'z' never won or drew against 'x', 'y'" in made.undefined


def test_intervals_come_from_the_generator_alone():
    games = games_of(("x", "y"), ((0, 12), (8, 0)))
    one, other = (bradley_terry(games, rng=np.random.default_rng(3), n_resamples=200) for _ in range(2))
    assert one == other
    low, high = one.strengths[0].interval
    assert low < one.strengths[0].value < high
    assert bradley_terry(games).strengths[0].interval is None


def test_games_of_one_unit_are_drawn_together():
    # Ten games of one item say no more than one: with two items, a resample holds 0, 10 or 20 of the wins.
    games = [("x", "y", "x")] * 10 + [("x", "y", "tie")] * 10
    units = ["i"] * 10 + ["k"] * 10
    whole = bradley_terry(games, units=units, rng=np.random.default_rng(5), n_resamples=200)
    assert whole.n_units == 2
    assert whole.n_undefined == pytest.approx(50, abs=25)  # a quarter of the resamples holds wins alone
    assert whole.strengths[0].interval is None


def test_nothing_to_compare_is_refused():
    with pytest.raises(InvalidInput, match="no games were given"):
        bradley_terry([])
    with pytest.raises(InvalidInput, match="1 units for 2 games"):
        bradley_terry([("x", "y", "x"), ("x", "y", "y")], units=["i"])


NAMES = st.sampled_from("xyz")
GAMES = st.lists(
    st.tuples(NAMES, NAMES, st.sampled_from([0, 1, 2])).filter(lambda game: game[0] != game[1]), min_size=1, max_size=20
).map(lambda games: [(a, b, ("tie", a, b)[won]) for a, b, won in games])


@settings(deadline=None, max_examples=40)
@given(GAMES)
def test_points_of_both_sum_to_the_games_and_sides_do_not_matter(games):
    turned = [(b, a, winner) for a, b, winner in games]
    rates = {(one.system, one.against): one for one in win_rates(games)}
    for (one, other), record in rates.items():
        assert record.points + rates[other, one].points == record.games
    assert {pair: record.points for pair, record in rates.items()} == {
        (one.system, one.against): one.points for one in win_rates(turned)
    }
    assert sum(points(game) for game in games) + sum(points(game) for game in turned) == len(games)


@settings(deadline=None, max_examples=20)
@given(GAMES)
def test_renaming_systems_renames_strengths(games):
    new = {"x": "p", "y": "q", "z": "r"}
    renamed = [(new[a], new[b], new.get(winner, winner)) for a, b, winner in games]
    one, other = bradley_terry(games), bradley_terry(renamed)
    assert (one.undefined is None) == (other.undefined is None)
    assert {new[name]: value for name, value in strengths_of(one).items()} == pytest.approx(strengths_of(other))
