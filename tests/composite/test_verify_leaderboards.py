"""What must come out of verify on real published tables; the data folder is shared, not part of the repository."""

import csv

import pytest

from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.table import Table
from evenhand.composite.verify import verify

pytestmark = pytest.mark.shared

JEV = "geomean(intelligence, calibration, speed, cost)"
FLOORED = (
    "geomean(max(intelligence, 1), max(calibration, 1), max(speed, 1), max(cost, 1)) * min(1, (intelligence / 50)^2)"
)
HDI = (
    "geomean(goalposts(life_expectancy, 20, 85), mean(min(expected_schooling / 18, 1), min(mean_schooling / 15, 1)), "
    "clamp(ln(gni_pc_ppp2017 / 100) / ln(750), 0, 1))"
)
TRACK = {"100m": (25.4347, 18, 1.81), "400m": (1.53775, 82, 1.81), "1500m": (0.03768, 480, 1.85),
         "110m_hurdle": (5.74352, 28.5, 1.92)}  # fmt: skip
FIELD = {"long_jump": (0.14354, 220, 1.4, 100), "shot_put": (51.39, 1.5, 1.05, 1),
         "high_jump": (0.8465, 75, 1.42, 100), "discus": (12.91, 4, 1.1, 1),
         "pole_vault": (0.2797, 100, 1.35, 100), "javeline": (10.14, 7, 1.08, 1)}  # fmt: skip


@pytest.fixture(scope="module")
def board(shared):
    def read(name, keep=lambda row: True):
        with (shared / "data" / "leaderboards" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        kept = [(number, row) for number, row in enumerate(rows, 1) if keep(row)]
        return Table.of_texts(
            {column: [row[column] for _, row in kept] for column in rows[0]},
            names=[row["system"] for _, row in kept], rows=[number for number, _ in kept], source=name,
        )  # fmt: skip

    return read


def ranked(row):
    return row["listing"].isdigit()


def verified(rule, table, score="score", **options):
    return verify(parse_rule(rule, columns=list(table.columns)), table, score, **options)


def test_the_plain_mean_holds_on_31_rows_of_jevbench_and_fails_on_15(board):
    found = verified(JEV, board("jevbench-v1.3.0-int", ranked))
    rows = [one.row for one in found.violations]
    assert (found.n_rows, len(rows), rows[0]) == (48, 15, 32)
    assert found.is_exact
    assert found.verdict == "refuted"
    assert found.pattern.where == "intelligence <= 47"


def test_the_gated_mean_holds_on_every_row_of_jevbench(board):
    rule = f"{JEV} * gate(intelligence, 50, 2) * gate(speed, 50)"
    found = verified(rule, board("jevbench-v1.3.0-int", ranked), top=[4, 31, 32], random=[4, 8, 16])
    assert (found.verdict, found.is_exact, found.violations) == ("all", True, ())
    assert found.max_residual == pytest.approx(0.979, abs=5e-4)
    intelligence, speed = found.clauses
    assert (len(intelligence.rows), intelligence.carried_by, intelligence.inert) == (15, intelligence.rows, False)
    assert speed.sentence == "cannot be told here: no row has speed under 50"
    sample = found.sample
    assert (len(sample.telling), sample.first, sample.against) == (15, 32, JEV)
    assert [one.n_telling for one in sample.samples[:3]] == [0, 0, 1]
    assert [round(one.probability, 3) for one in sample.samples[3:]] == [0.79, 0.963, 0.999]
    tenth = verified(rule, board("jevbench-v1.3.0", ranked))
    assert (tenth.verdict, round(tenth.max_residual, 3)) == ("all", 0.137)
    assert verified(JEV, board("jevbench-v1.3.0-exact6")).verdict == "all"


def test_the_floor_of_jevbench_is_told_by_the_partial_rows_alone(board):
    inert = verified(FLOORED, board("jevbench-v1.3.0-int", ranked))
    assert [clause.inert for clause in inert.clauses if clause.kind == "floor"] == [True] * 4
    for name in ("jevbench-v1.3.0", "jevbench-v1.3.0-int"):
        whole = verified(FLOORED, board(name), missing=0.0)
        assert (whole.verdict, whole.n_rows) == ("all", 52)
        floors = {clause.when: clause for clause in whole.clauses if clause.kind == "floor"}
        assert len(floors["calibration under 1"].carried_by) == 2
        assert floors["cost under 1"].sentence == "touches 1 row; carried by a single row"
        assert verified(f"{JEV} * gate(intelligence, 50, 2)", board(name), missing=0.0).verdict == "all_but"


def test_the_caps_of_the_human_development_index_are_carried_by_14_and_5_rows(board):
    found = verified(HDI, board("undp-hdi-2022"))
    assert (found.verdict, found.n_rows, found.is_exact) == ("all", 193, True)
    clauses = {clause.when: clause for clause in found.clauses}
    assert len(clauses["expected_schooling over 18"].carried_by) == 14
    assert len(clauses["gni_pc_ppp2017 over 75000"].carried_by) == 5
    for inert in ("mean_schooling over 15", "life_expectancy under 20", "life_expectancy over 85"):
        assert clauses[inert].inert
    plain = verified(
        "geomean((life_expectancy - 20) / 65, mean(expected_schooling / 18, mean_schooling / 15), "
        "ln(gni_pc_ppp2017 / 100) / ln(750))", board("undp-hdi-2022"),
    )  # fmt: skip
    assert (plain.verdict, len(plain.violations)) == ("all_but", 18)
    assert plain.max_residual == pytest.approx(0.031, abs=5e-4)


def test_the_decathlon_is_a_sum_of_floored_powers_within_the_marks(board):
    parts = [f"floor({a} * ({b} - `{event}`)^{c})" for event, (a, b, c) in TRACK.items()]
    parts += [f"floor({a} * ({unit} * `{event}` - {b})^{c})" for event, (a, b, c, unit) in FIELD.items()]
    found = verified(f"sum({', '.join(parts)})", board("decathlon-2004"))
    assert (found.verdict, found.n_rows, found.max_residual) == ("all", 41, 4)
    assert not found.is_exact
    assert found.inexact_because == "floor is not continuous"
    assert verified(" + ".join(parts), board("decathlon-2004")).verdict == "all"


def test_the_open_llm_leaderboard_averages_what_it_normalises(board):
    table = board("open-llm-leaderboard-v2-official")
    found = verified("mean(IFEval, BBH, `MATH Lvl 5`, GPQA, MUSR, `MMLU-PRO`)", table)
    assert (found.verdict, found.n_rows) == ("all", 459)
    for column, chance in (("IFEval", 0), ("MATH Lvl 5", 0), ("GPQA", 0.25), ("MMLU-PRO", 0.1)):
        rule = f"100 * max(0, (`{column} Raw` - {chance}) / (1 - {chance}))"
        assert verified(rule, table, column).verdict == "all", column
    raw = ", ".join(f"`{name} Raw`" for name in ("IFEval", "BBH", "MATH Lvl 5", "GPQA", "MUSR", "MMLU-PRO"))
    wrong = verified(f"100 * mean({raw})", table)
    assert wrong.verdict == "refuted"
    assert wrong.max_residual == pytest.approx(16, abs=0.01)


def test_the_win_rate_of_helm_is_qualified(board):
    table = board("helm-classic-accuracy-mean-win-rate")
    columns = ", ".join(f"`{name}`" for name in table.columns if name not in ("system", "score"))
    found = verified(f"winrate({columns})", table)
    assert not found.is_exact
    assert found.inexact_because == "winrate couples the rows"
    assert found.verdict == "all_but"
    assert found.max_residual == pytest.approx(0.0189, abs=5e-5)
    worst = max(found.violations, key=lambda one: one.excess)
    assert worst.name.startswith("T0pp")
    assert sum(one.excess > 0.003 for one in found.violations) == 1


def test_one_vector_of_weights_is_refuted_by_the_year(board):
    table = board("the-world-university-2011-2016")
    early = "mean(teaching: .30, international: .05, research: .30, citations: .325, income: .025)"
    late = "mean(teaching: .30, international: .075, research: .30, citations: .30, income: .025)"
    one = verified(late, table)
    assert (one.verdict, one.n_rows, len(one.violations), len(one.dropped)) == ("refuted", 1056, 125, 145)
    assert one.pattern.where == "year == 2011"
    assert one.max_residual == pytest.approx(2.06, abs=5e-3)
    both = verified(f"if(year <= 2011, {early}, {late})", table)
    assert (both.verdict, both.is_exact) == ("all", True)
    assert both.max_residual == pytest.approx(0.085)
    assert [clause.inert for clause in both.clauses] == [False, False]


def test_a_pollutant_that_is_not_shown_lifts_141_rows_above_the_maximum(board):
    found = verified("max(co_aqi, ozone_aqi, no2_aqi, pm25_aqi)", board("city-aqi-max"))
    assert (len(found.violations), found.verdict) == (141, "all_but")
    assert {one.direction for one in found.violations} == {"above"}
    assert found.above == tuple(one.row for one in found.violations)
    assert found.contradictions


def test_the_league_table_has_one_deduction(board):
    table = board("premier-league-2023-12-26").declared(exact=["won", "drawn"])
    found = verified("3 * won + drawn", table)
    assert found.verdict == "all_but"
    assert [(one.row, one.name, one.direction) for one in found.violations] == [(17, "Everton", "below")]
    assert found.max_residual == 10


def test_weighted_nested_and_harmonic_means_hold(board):
    mteb = board("mteb-en-2024-01")
    tasks = [name for name in mteb.columns if "_n" in name]
    weighted = ", ".join(f"{name}: {name.rpartition('_n')[2]}" for name in tasks)
    assert verified(f"mean({weighted})", mteb).verdict == "all"
    plain = verified(f"mean({', '.join(tasks)})", mteb)
    assert (plain.verdict, len(plain.violations), round(plain.max_residual, 2)) == ("refuted", 82, 4.59)
    zero_shot = board("gzsl-harmonic")
    assert verified("hmean(unseen_acc, seen_acc)", zero_shot).verdict == "all"
    assert verified("2 * unseen_acc * seen_acc / (unseen_acc + seen_acc)", zero_shot).verdict == "all"
