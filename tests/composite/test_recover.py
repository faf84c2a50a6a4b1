"""What rule recovery must find, must not find, and must say that it cannot tell."""

import csv

import numpy as np
import pytest

from evenhand.composite.recover import recover
from evenhand.composite.recovery.report import RecoverSettings
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.rule.printing import printed
from evenhand.composite.table import Table
from evenhand.composite.verify import verify
from evenhand.errors import InvalidInput

AXES = ["intelligence", "calibration", "speed", "cost"]
THE = ["teaching", "international", "research", "citations", "income"]


def read(path, keep=lambda row: True, name="system"):
    """A table of the shared folder, the rows that count."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if keep(row)]
    cells = {key: [row[key] for row in rows] for key in rows[0] if key != name}
    return Table.of_texts(cells, names=[row[name] for row in rows])


def ranked(row):
    return row["listing"].isdigit()


@pytest.fixture
def boards(shared):
    return shared / "data" / "leaderboards"


def rules(found):
    return [printed(rule.rule) for rule in found.rules]


def interval(found, name):
    told = found.rules[0].parameters[name]
    return told.low, told.high


def untested(found, kind):
    return {one.column: one for one in found.untested if one.kind == kind}


class TestJevBench:
    """COMPOSITES.md, sections 1 and 7."""

    def test_integers_give_the_gated_geometric_mean_and_leave_a_gate_on_speed_open(self, boards):
        found = recover(read(boards / "jevbench-v1.3.0-int.csv", ranked), "score", columns=AXES)
        assert (found.verdict, found.n_searched, found.n_survivors) == ("unique", 48, 1)
        assert rules(found) == ["geomean(intelligence, calibration, speed, cost) * min(1, (intelligence / 50)^2)"]
        assert interval(found, "knee of intelligence") == pytest.approx((49.42, 51.02), abs=0.03)
        assert interval(found, "power of intelligence") == pytest.approx((1.935, 2.07), abs=0.005)
        assert interval(found, "exponent") == pytest.approx((-0.07, 0.027), abs=0.002)
        assert interval(found, "weight of intelligence") == pytest.approx((0.234, 0.282), abs=0.001)
        assert interval(found, "weight of cost") == pytest.approx((0.245, 0.260), abs=0.001)
        (gate,) = found.rules[0].clauses
        assert (len(gate.carried_by), gate.carried_by[0]) == (15, 32)
        assert untested(found, "gate")["speed"].high > 50
        assert found.untested[0].column == "speed"
        assert found.shuffles == (0, 200)

    def test_one_decimal_gives_narrower_intervals(self, boards):
        found = recover(read(boards / "jevbench-v1.3.0.csv", ranked), "score", columns=AXES)
        assert found.verdict == "unique"
        assert interval(found, "knee of intelligence") == pytest.approx((49.95, 50.05), abs=0.03)
        assert interval(found, "power of intelligence") == pytest.approx((1.99, 2.01), abs=0.01)
        for name, ends in zip(AXES, [(0.248, 0.256), (0.247, 0.252), (0.246, 0.252), (0.249, 0.251)], strict=True):
            assert interval(found, f"weight of {name}") == pytest.approx(ends, abs=0.001)

    @pytest.mark.parametrize("decimals", ["-int", ""])
    def test_the_partial_rows_show_the_floor_at_1(self, boards, decimals):
        table = read(boards / f"jevbench-v1.3.0{decimals}.csv", lambda row: row["listing"] != "honorable")
        found = recover(table, "score", columns=AXES)
        assert found.verdict == "unique"
        assert found.rules[0].parameters["floor"].value == 1
        low, high = interval(found, "floor")
        assert 0.97 < low <= 1 <= high < 1.04
        assert found.rules[0].missing.startswith("counts as 0")
        assert found.rules[0].missing_rows == (50, 51)
        floor = next(clause for clause in found.rules[0].clauses if clause.clause.startswith("floor"))
        assert floor.rows == floor.carried_by == (49, 50, 51)

    @pytest.mark.parametrize("decimals", ["-int", ""])
    def test_gaps_that_are_said_to_count_as_0_give_the_same_rule_on_all_rows(self, boards, decimals):
        table = read(boards / f"jevbench-v1.3.0{decimals}.csv")
        found = recover(table, "score", columns=AXES, settings=RecoverSettings(missing=0.0))
        assert (found.verdict, found.n_searched) == ("unique", 52)
        assert rules(found) == rules(recover(table, "score", columns=AXES))
        assert verify(found.rules[0].rule, table, "score").verdict == "all"

    @pytest.mark.parametrize(
        ("keep", "missing"),
        [(ranked, None), (lambda row: True, None), (lambda row: True, 0.0)],
        ids=["ranked", "all", "all-with-gaps-as-0"],
    )
    def test_a_clause_counts_the_rows_that_verify_counts(self, boards, keep, missing):
        table = read(boards / "jevbench-v1.3.0-int.csv", keep)
        found = recover(table, "score", columns=AXES, settings=RecoverSettings(missing=missing)).rules[0]
        gate = next(one for one in found.clauses if one.clause == "gate on intelligence")
        (told,) = (one for one in verify(found.rule, table, "score").clauses if one.kind == "gate")
        assert (gate.rows, gate.carried_by) == (told.rows, told.carried_by)
        floors = [one for one in verify(found.rule, table, "score").clauses if one.kind == "floor"]
        shared = [one for one in found.clauses if one.clause.startswith("floor")]
        assert {row for one in shared for row in one.rows} == {row for one in floors for row in one.rows}

    def test_the_top_31_rows_give_the_plain_mean_and_leave_the_gate_open(self, boards):
        found = recover(
            read(boards / "jevbench-v1.3.0-int.csv", lambda row: ranked(row) and int(row["listing"]) <= 31),
            "score", columns=AXES,
        )  # fmt: skip
        assert (found.verdict, rules(found)) == ("unique", ["geomean(intelligence, calibration, speed, cost)"])
        assert untested(found, "gate")["intelligence"].high >= 50
        assert "kev 0.6B (research preview)" in untested(found, "gate")["intelligence"].nearest

    def test_four_rows_are_too_few(self, boards):
        found = recover(
            read(boards / "jevbench-v1.3.0-int.csv", lambda row: ranked(row) and int(row["listing"]) <= 4),
            "score", columns=AXES,
        )  # fmt: skip
        assert found.verdict == "ambiguous"
        assert "too few rows" in found.reason


class TestBoards:
    def test_mteb_weights_are_the_task_counts(self, boards):
        found = recover(read(boards / "mteb-en-2024-01.csv"), "score")
        assert found.verdict == "unique"
        for name, count in zip(found.rules[0].parameters, (12, 11, 3, 4, 15, 10, 1), strict=False):
            told = found.rules[0].parameters[name]
            assert name.startswith("weight of")
            assert told.low <= count / 56 <= told.high < told.low + 0.006
            assert told.value == pytest.approx(count / 56)

    def test_world_rankings_are_split_at_2011_and_refuted_as_one_vector(self, boards):
        table = read(boards / "the-world-university-2011-2016.csv")
        found = recover(table, "score", columns=THE, eras=["year"])
        assert (found.verdict, found.level, found.n_searched) == ("unique", "eras", 1056)
        assert rules(found)[0].startswith("if(year == 2011, mean(teaching: 0.3, international: 0.05, ")
        assert interval(found, "weight of citations (year 2011)") == pytest.approx((0.325, 0.325), abs=0.003)
        assert len(found.unexplained) == 145
        one = recover(table, "score", columns=THE)
        assert one.verdict in ("none", "undetermined")
        assert not one.rules

    def test_gzsl_is_the_harmonic_mean(self, boards):
        found = recover(read(boards / "gzsl-harmonic.csv"), "score")
        assert (found.verdict, rules(found)) == ("unique", ["hmean(unseen_acc, seen_acc)"])

    def test_air_quality_is_the_maximum_but_a_component_is_not_shown(self, boards):
        found = recover(read(boards / "city-aqi-max.csv"), "score")
        assert found.verdict == "undetermined"
        assert rules(found)[0] == "max(co_aqi, ozone_aqi, no2_aqi, pm25_aqi)"
        assert len(found.suspects) == 141
        assert all(one.excess > 0 for one in found.suspects)
        assert "a component is not shown" in found.reason

    def test_the_league_table_has_one_deduction_by_name(self, boards):
        found = recover(read(boards / "premier-league-2023-12-26.csv"), "score")
        assert rules(found) == ["3 * won + drawn"]
        assert [(one.row, one.name, one.excess) for one in found.suspects] == [(17, "Everton", -7.5)]
        assert found.verdict == "ambiguous"
        exact = read(boards / "premier-league-2023-12-26.csv").declared(exact=["won", "drawn"])
        told = recover(exact, "score", columns=["won", "drawn", "lost"])
        assert [one.excess for one in told.suspects] == [-9.5]


def table_of(rule, seed=0, n=30, decimals=0, score_decimals=1, columns="abcd", low=20, high=95):
    """A table that a rule makes of unrounded components, then printed."""
    rng = np.random.default_rng(seed)
    from evenhand.composite.rule.evaluate import values_of

    values = {name: rng.uniform(low, high, n) for name in columns}
    scores = values_of(parse_rule(rule), values)
    cells = {name: [f"{v:.{decimals}f}" for v in column] for name, column in values.items()}
    return Table.of_texts({**cells, "score": [f"{s:.{score_decimals}f}" for s in scores]})


@pytest.mark.parametrize(
    "rule",
    [
        "mean(a, b, c, d)", "mean(a, b, d)", "geomean(b, c)", "hmean(a, b, c, d)", "sum(a, b, c)", "min(a, b, c, d)",
        "max(a, b, c)", "median(a, b, c)", "mean(a: 0.4, b: 0.3, c: 0.2, d: 0.1)", "power(2, a, b, c, d)",
        "mean(max(a, 40), max(b, 40), max(c, 40), max(d, 40))", "mean(min(a, 80), min(b, 80), min(c, 80), min(d, 80))",
        "mean(a, b, c, d) * min(1, c / 60)", "2 * a + b",
    ],
)  # fmt: skip
def test_a_rule_is_recovered_from_what_it_printed(rule):
    found = recover(table_of(rule), "score")
    assert rules(found)[0] == rule
    assert found.verdict == "unique"


def test_two_gates_are_found_on_the_columns_that_have_them():
    found = recover(table_of("geomean(a, b, c, d) * min(1, a / 50) * min(1, c / 60)", n=60, decimals=1), "score")
    assert {name for name in found.rules[0].parameters if name.startswith("knee")} == {"knee of a", "knee of c"}
    assert printed(found.rules[0].rule) == "geomean(a, b, c, d) * min(1, a / 50) * min(1, c / 60)"


def test_a_mean_of_two_columns_of_one_stem_is_nested():
    rng = np.random.default_rng(3)
    x = rng.uniform(20, 95, (30, 4))
    score = (x[:, 0] + x[:, 1] + (x[:, 2] + x[:, 3]) / 2) / 3
    cells = {name: [f"{v:.1f}" for v in x[:, k]] for k, name in enumerate(["A", "B", "Task-m", "Task-mm"])}
    found = recover(Table.of_texts({**cells, "score": [f"{s:.1f}" for s in score]}), "score")
    assert rules(found)[0] == "mean(A, B, mean(`Task-m`, `Task-mm`))"


def test_shuffled_scores_have_no_rule():
    table = table_of("mean(a, b, c, d)")
    rng = np.random.default_rng(1)
    texts = dict(table.columns)
    order = rng.permutation(table.n_rows)
    cells = {name: list(column.texts) for name, column in texts.items()}
    cells["score"] = [cells["score"][row] for row in order]
    found = recover(Table.of_texts(cells), "score")
    assert found.verdict in ("none", "undetermined")
    assert not found.rules


def test_rules_of_equal_complexity_are_ambiguous_and_the_rows_that_separate_them_are_named():
    cells = {"a": ["50", "60", "70", "80", "90"], "b": ["51", "60", "70", "81", "90"]}
    found = recover(Table.of_texts({**cells, "score": ["50", "60", "70", "80", "90"]}, names=list("vwxyz")), "score")
    assert found.verdict == "ambiguous"
    assert found.n_survivors > 1
    assert {gap.name for gap in found.separating[:2]} == {"v", "y"}


@pytest.mark.parametrize(
    "rule", ["100 * (mean(a, b, c) / colmax(mean(a, b, c)))", "100 * mean(a / colmax(a), b / colmax(b), c / colmax(c))"]
)
def test_shares_of_the_best_are_stated_before_the_weighted_sum_that_they_come_to_on_one_table(rule):
    found = recover(table_of(rule, decimals=3, columns="abc"), "score")
    assert found.verdict == "unique"
    assert rules(found)[0] == rule
    assert not found.rules[0].is_proof
    assert len(rules(found)) == 2


def test_a_weighted_sum_without_a_simpler_rule_stays_one():
    found = recover(table_of("0.3 * a + 0.25 * b + 0.6 * c", columns="abc"), "score")
    assert (found.verdict, rules(found)) == ("unique", ["0.3 * a + 0.25 * b + 0.6 * c"])


def test_a_weighted_sum_with_a_constant_is_stated_in_round_numbers_with_their_intervals():
    # Five numbers are fitted, which needs 25 rows.
    found = recover(table_of("0.5 * a - 0.3 * b + 12 + 0.05 * c + 0 * d", n=40, decimals=1), "score")
    assert found.verdict == "unique"
    assert rules(found) == ["0.5 * a + 0.05 * c - 0.3 * b + 12"]
    for name, value in (("a", 0.5), ("b", -0.3), ("c", 0.05), ("d", 0.0)):
        told = found.rules[0].parameters[f"weight of {name}"]
        assert told.value == pytest.approx(value)
        assert told.low < value < told.high < told.low + 0.02
    shift = found.rules[0].parameters["shift"]
    assert 11 < shift.low < shift.value == 12 < shift.high < 13


def test_rules_that_agree_on_every_row_are_not_one_rule():
    numbers = [str(number) for number in range(11, 31)]
    found = recover(Table.of_texts({"a": numbers, "b": numbers, "score": numbers}), "score")
    assert found.verdict == "ambiguous"
    assert {"mean(a, b)", "a", "b", "max(a, b)"} <= set(rules(found))


def test_more_components_than_rows_are_not_identifiable():
    found = recover(table_of("mean(a, b, c, d, e, f)", n=5, columns="abcdef"), "score")
    assert found.verdict == "ambiguous"
    assert "not identifiable" in found.reason


def test_one_row_is_too_few():
    found = recover(Table.of_texts({"a": ["1"], "b": ["2"], "score": ["1.5"]}), "score")
    assert (found.verdict, found.rules) == ("ambiguous", ())
    assert "too few rows" in found.reason


def test_a_score_without_numbers_and_a_table_without_components_are_refused():
    with pytest.raises(InvalidInput, match="no number in any of 2 rows"):
        recover(Table.of_texts({"a": ["1", "2"], "score": ["-", "-"]}), "score")
    with pytest.raises(InvalidInput, match="nothing to combine"):
        recover(Table.of_texts({"a": ["x", "y"], "score": ["1", "2"]}), "score")
    with pytest.raises(InvalidInput, match="did you mean"):
        recover(Table.of_texts({"a": ["1", "2"], "score": ["1", "2"]}), "scores")


def test_constant_columns_are_said_not_to_be_told():
    cells = {"a": [str(v) for v in range(20, 40)], "b": ["50"] * 20}
    scores = [f"{(v + 50) / 2:.1f}" for v in range(20, 40)]
    found = recover(Table.of_texts({**cells, "score": scores}), "score")
    assert "mean(a, b)" in rules(found)
    assert any("cannot be told: b" in note for note in found.notes)


def test_infinite_components_and_scores_are_left_out_and_counted():
    table = table_of("mean(a, b, c)", columns="abc")
    cells = {name: list(column.texts) for name, column in table.columns.items()}
    cells["a"][0], cells["score"][1] = "inf", "Infinity"
    found = recover(Table.of_texts(cells), "score")
    assert (found.verdict, found.n_searched) == ("unique", 28)
    assert len(found.notes) == 2


def test_the_same_seed_gives_the_same_answer_and_rows_may_stand_in_any_order():
    table = table_of("geomean(a, b, c, d)", n=25)
    first = recover(table, "score", settings=RecoverSettings(seed=4)).document()
    assert first == recover(table, "score", settings=RecoverSettings(seed=4)).document()
    turned = recover(table.where(np.arange(25)[::-1]), "score")
    assert [rule["rule"] for rule in first["rules"]] == rules(turned)


def test_the_document_has_the_keys_that_others_rely_on():
    document = recover(table_of("mean(a: 0.5, b: 0.3, c: 0.2)", columns="abc"), "score").document()
    assert {"verdict", "reason", "rules", "untested", "suspects"} <= document.keys()
    (rule,) = document["rules"]
    assert set(rule["parameters"]["weight of a"]) == {"value", "low", "high"}
    assert parse_rule(rule["rule"]) is not None
