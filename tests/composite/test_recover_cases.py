"""Rule recovery on the shared rank cases, and on siblings of each kind written here."""

import json
from csv import DictReader

import pytest

from evenhand.composite.recover import recover
from evenhand.composite.recovery.report import RecoverSettings
from evenhand.composite.rule.evaluate import evaluate
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.rule.printing import printed
from evenhand.composite.table import Table

_FILES = {
    "T091": "board-macro-f1.csv", "T093": "board-counts.csv", "T095": "board-missing-drop.csv",
    "T097": "board-geomean-floor.csv", "T099": "board-skipped.csv", "T103": "board-rank-ties.csv",
    "T105": "board-sentinel.csv", "T109": "board-usage-limit.csv", "T113": "board-two-graders.csv",
}  # fmt: skip


@pytest.fixture
def case(shared):
    def load(key):
        """(table, what is expected, its score column)."""
        folder = shared / "data" / "cases"
        lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
        told = next(one for one in map(json.loads, lines) if one["id"] == key)
        text = (folder / "files" / key / _FILES[key]).read_text(encoding="utf-8")
        return table_of(text), told["expected"], told["input"]["score"]

    return load


def table_of(text):
    rows = list(DictReader(text.strip().splitlines()))
    first, *others = rows[0]
    return Table.of_texts({name: [row[name] for row in rows] for name in others}, names=[row[first] for row in rows])


def rule(found):
    return printed(found.rules[0].rule)


def names(table, rows):
    return [table.names[row - 1] for row in rows]


def test_scores_below_both_components_are_no_mean_of_them(case):
    table, expected, score = case("T091")
    found = recover(table, score)
    assert (found.verdict, found.rules) == (expected["recover"], ())
    assert any(f"{expected['rows_below_both']} below all of their components" in note for note in found.notes)


def test_weights_that_are_question_counts_lie_in_their_intervals(case):
    table, expected, score = case("T093")
    found = recover(table, score)
    assert found.verdict == expected["recover"]
    told = [one for name, one in found.rules[0].parameters.items() if name.startswith("weight of ")]
    for one, weight in zip(told, expected["weights"], strict=True):
        assert one.low <= weight <= one.high
        assert one.high - one.low < 0.006


def test_a_mean_over_the_present_cells_names_the_rows_that_carry_the_policy(case):
    table, expected, score = case("T095")
    found = recover(table, score)
    assert found.verdict == expected["recover"]
    assert found.rules[0].rule.missing == expected["missing_policy"]
    assert names(table, found.rules[0].missing_rows) == expected["rows_that_carry_it"]


@pytest.mark.parametrize("exact", [True, False])
def test_counts_of_0_are_lifted_to_1_in_the_geometric_mean(case, exact):
    table, expected, score = case("T097")
    if exact:
        table = table.declared(exact=["ai", "sys", "theory", "hci"])
    found = recover(table, score)
    assert found.verdict == expected["recover"]
    told = found.rules[0].parameters["floor"]
    assert (told.value, told.low <= 1 <= told.high) == (1, True)
    assert names(table, found.rules[0].clauses[0].carried_by) == expected["rows_with_zero"]


def test_a_skipped_benchmark_counts_as_the_factor_1(case):
    table, expected, score = case("T099")
    found = recover(table, score)
    assert rule(found) == "geomean(regex, crypto, ray, deltablue); missing = 1"
    assert names(table, found.rules[0].missing_rows) == expected["violators"]


def test_ranks_whose_ties_share_the_worst_place_are_named_so(case):
    table, _, score = case("T103")
    found = recover(table, score)
    assert rule(found) == "rank(errors, lower, ties=max)"
    assert not found.rules[0].is_proof


def test_a_sentinel_is_averaged_as_it_stands_and_a_gap_counts_as_0(case):
    table, expected, score = case("T105")
    found = recover(table, score)
    assert rule(found) == "mean(task1, task2); missing = 0"
    assert names(table, found.rules[0].missing_rows) == expected["missing_rows"]


def test_uses_that_count_once_are_caps(case):
    table, expected, score = case("T109")
    found = recover(table.declared(exact=["bug_found", "documented", "hints"]), score)
    assert rule(found) == "2 * min(bug_found, 1) + documented + 0.5 * min(hints, 3)"
    assert (found.verdict, "too few rows" in found.reason) == ("ambiguous", True)
    carried = {clause.clause: names(table, clause.carried_by) for clause in found.rules[0].clauses}
    assert carried == {"cap on bug_found": expected["rows_cap_1"], "cap on hints": expected["rows_cap_2"]}


def test_grades_of_one_grader_are_a_sum_and_those_of_the_other_are_not(case):
    table, expected, score = case("T113")
    marks = ["ideas", "language", "form"]
    found = recover(table.declared(exact=marks), score, columns=marks, eras=["grader"])
    assert found.verdict == "undetermined"
    assert all(name in found.reason for name in expected["contradiction"])
    assert "grader ml" in found.reason
    assert rule(found) == "sum(ideas, language, form)"
    assert [one.name for one in found.suspects] == expected["violators"]


# --- siblings ------------------------------------------------------------------------------------------------------


def test_a_missing_cell_that_counts_as_0_is_told_from_one_that_is_left_out():
    table = table_of("""
name,a,b,c,score
p,70,80,90,80.0
q,30,45,60,45.0
r,12,33,75,40.0
s,88,41,36,55.0
t,51,,24,25.0
u,64,20,96,60.0
""")
    found = recover(table, "score")
    assert rule(found) == "mean(a, b, c); missing = 0"
    assert "counts as 1: not to be told here" in found.rules[0].missing  # whole numbers: 25 is 24.5 to 25.5
    assert recover(table.declared(exact=["a", "b", "c"]), "score").rules[0].missing == "counts as 0"


def test_rows_that_no_policy_reproduces_are_named_and_not_explained_away():
    table = table_of("""
name,a,b,c,score
p,70,80,90,80.0
q,30,45,60,45.0
r,12,33,75,40.0
s,88,41,36,55.0
t,51,,24,61.0
u,64,20,96,60.0
""")
    found = recover(table, "score")
    assert rule(found) == "mean(a, b, c)"
    assert (found.unexplained, found.rules[0].missing) == ((5,), "")
    assert any("no policy" in note for note in found.notes)


def test_a_gap_in_a_decoy_column_needs_no_policy():
    table = table_of("""
name,a,b,decoy,score
p,70,80,11,75.0
q,30,45,90,37.5
r,12,33,52,22.5
s,88,41,,64.5
t,51,64,37,57.5
u,64,20,70,42.0
""")
    found = recover(table, "score")
    assert (rule(found), found.rules[0].unused) == ("mean(a, b)", ("decoy",))
    assert (found.rules[0].missing, found.unexplained) == ("", ())


@pytest.mark.parametrize(
    ("ranks", "told"),
    [
        ("1,2,2,4,5,6,7,8", "rank(points)"),
        ("1,3,3,4,5,6,7,8", "rank(points, ties=max)"),
        ("8,6,6,5,4,3,2,1", "rank(points, lower)"),
    ],
)
def test_the_handling_of_ties_and_the_direction_of_ranks_are_told(ranks, told):
    points = ["99", "80", "80", "71", "55", "30", "21", "5"]
    table = Table.of_texts({"points": points, "place": ranks.split(",")}).declared(exact=["points"])
    assert rule(recover(table, "place")) == told


def test_one_slip_in_eight_rows_is_a_suspect():
    table = table_of("""
name,a,b,c,score
p,70,80,90,80.0
q,30,45,60,45.0
r,12,33,75,40.0
s,88,41,36,55.0
t,51,48,24,51.0
u,64,20,96,60.0
v,77,14,59,50.0
w,23,68,32,41.0
""")
    found = recover(table, "score")
    assert found.verdict == "ambiguous"
    assert [(one.name, one.excess > 0) for one in found.suspects] == [("t", True)]
    assert rule(found) == "mean(a, b, c)"


def test_equal_exact_components_with_unequal_scores_are_undetermined():
    table = table_of("""
name,a,b,score
p,1,2,5
q,1,2,9
r,3,1,2
s,4,4,1
t,2,3,7
u,5,1,3
""").declared(exact=["a", "b"])
    found = recover(table, "score")
    assert found.verdict == "undetermined"
    assert "q and p have equal ones" in found.reason or "p and q have equal ones" in found.reason


@pytest.mark.parametrize(("policy", "cell"), [(0.0, "25.0"), (10.0, "28.3"), (1.0, "25.3")])
def test_a_gap_counts_as_the_number_that_is_named(policy, cell):
    table = table_of(f"""
name,a,b,c,score
p,70,80,90,80.0
q,30,45,60,45.0
r,12,33,75,40.0
s,88,41,36,55.0
t,51,,24,{cell}
u,64,20,96,60.0
""").declared(exact=["a", "b", "c"])
    found = recover(table, "score", settings=RecoverSettings(missing=policy))
    assert (found.n_searched, found.rules[0].rule.missing, found.unexplained) == (6, policy, ())
    assert rule(found).startswith("mean(a, b, c)")


def test_ranks_and_eras_are_searched_with_a_gap_that_counts_as_a_number():
    points = ["99", "80", "80", "71", "", "30", "21", "5"]
    table = Table.of_texts({"points": points, "place": list("12248567")}).declared(exact=["points"])
    found = recover(table, "place", settings=RecoverSettings(missing=0.0))
    assert rule(found) == "rank(points); missing = 0"


# --- siblings of T097, T109 and T113: made by a rule, so that what must be found is known ----------------------------


def scored(text, cells, decimals, names=None):
    """A table with the scores that a rule gives, in so many decimals."""
    table = Table.of_texts(cells, names=names)
    values = evaluate(parse_rule(text), table).values
    return Table.of_texts({**cells, "score": [f"{value:.{decimals}f}" for value in values]}, names=names)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("mean", "floor"), [("geomean", 2), ("hmean", 1), ("geomean", 3)])
def test_counts_of_0_are_lifted_to_whatever_the_floor_is(mean, floor, exact):
    counts = {"a": "0 12 4 20 1 6 9 2 7 33 8 5", "b": "3 0 6 15 3 0 9 14 1 2 6 8", "c": "5 7 1 11 5 4 9 3 1 5 0 13"}
    cells = {name: text.split() for name, text in counts.items()}
    table = scored(f"{mean}(max(a, {floor}), max(b, {floor}), max(c, {floor}))", cells, 2)
    found = recover(table.declared(exact=["a", "b", "c"]) if exact else table, "score")
    assert rule(found) == f"{mean}(max(a, {floor}), max(b, {floor}), max(c, {floor}))"
    told = found.rules[0].parameters["floor"]
    assert told.low <= floor <= told.high
    assert set(found.rules[0].clauses[0].carried_by) >= {1, 2, 6, 11}


@pytest.mark.parametrize(
    ("text", "caps"),
    [
        ("3 * min(a, 1) + b + 0.5 * c", {"cap on a"}),
        ("a + 2 * min(b, 1) + 0.5 * c", {"cap on b"}),
        ("2 * a + b + min(c, 2)", {"cap on c"}),
    ],
)
def test_what_counts_only_so_often_is_a_cap_on_its_column(text, caps):
    counts = {"a": "1 3 0 2 1 1 2 1 3 0", "b": "1 1 0 0 2 1 3 1 2 0", "c": "2 0 3 0 4 1 2 1 1 3"}
    columns = {name: text.split() * 3 for name, text in counts.items()}
    columns["b"] = columns["b"][1:] + columns["b"][:1]
    columns["c"] = columns["c"][:10] + columns["c"][3:13] + columns["c"][7:17]
    table = scored(text, columns, 1).declared(exact=["a", "b", "c"])
    found = recover(table, "score")
    values = evaluate(found.rules[0].rule, table).values
    assert values == pytest.approx(evaluate(parse_rule(text), table).values)
    assert {clause.clause for clause in found.rules[0].clauses if clause.carried_by} == caps


@pytest.mark.parametrize("text", ["sum(a, b, c)", "mean(a, b, c)", "max(a, b, c)"])
def test_rows_of_one_grader_follow_the_rule_and_those_of_the_other_are_suspects(text):
    marks = {"a": "3 3 2 1 0 2 2 3 2 2 2 1 0 2", "b": "1 0 1 1 3 2 1 3 3 3 2 0 1 2", "c": "1 3 3 0 3 2 3 0 2 3 0 0 3 3"}
    cells = {name: text.split() for name, text in marks.items()}
    table = scored(text, cells, 2)
    off = {2: "9.41", 5: "7.05", 6: "0.13", 10: "8.77"}
    score = [off.get(place, cell) for place, cell in enumerate(table.column("score").texts)]
    grader = ["ml" if place in off else "staff" for place in range(14)]
    table = Table.of_texts({**cells, "grader": grader, "score": score}).declared(exact=["a", "b", "c"])
    found = recover(table, "score", columns=["a", "b", "c"], eras=["grader"])
    assert found.verdict != "unique"
    assert rule(found) == text
    assert [one.row for one in found.suspects] == [3, 6, 7, 11]
    assert "grader ml" in found.reason
