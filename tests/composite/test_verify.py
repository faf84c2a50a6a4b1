"""The exact rounding test on small tables: verdicts, roundings, clauses, samples, patterns."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.composite.clauses import clauses_of, plain_rule
from evenhand.composite.patterns import contradictions, pattern_of
from evenhand.composite.rounding import ROUNDINGS, misfit
from evenhand.composite.rule.parse import parse_rule
from evenhand.composite.rule.printing import printed
from evenhand.composite.samples import chance, smallest_sample
from evenhand.composite.table import Table
from evenhand.composite.verify import verify
from evenhand.errors import InvalidInput


def table_of(rows, columns="a b s", **options):
    names = columns.split()
    cells = {name: [str(row[place]) for row in rows] for place, name in enumerate(names)}
    return Table.of_texts(cells, **options)


def verified(rule, rows, columns="a b s", *, exact=(), **options):
    table = table_of(rows, columns).declared(exact=exact)
    return verify(parse_rule(rule, columns=list(table.columns)), table, "s", **options)


# --- rounding ------------------------------------------------------------------------------------------------------

POINTS = [
    # number, printed, half-up, half-even, truncation
    (62.5, "62", False, True, True),
    (62.5, "63", True, False, False),
    (63.5, "64", True, True, False),
    (62.4, "62", True, True, True),
    (62.6, "62", False, False, True),
    (-62.5, "-63", True, False, False),
    (-62.5, "-62", False, True, True),
    (0.5, "0", False, True, True),
    (-0.5, "0", False, True, True),
    (0.5, "1", True, False, False),
    (1.0, "1", True, True, True),
    (0.0, "0", True, True, True),
    (0.25, "0.3", True, False, False),
    (0.25, "0.2", False, True, True),
    (63.0, "62", False, False, False),
]


@pytest.mark.parametrize(("value", "text", "up", "even", "cut"), POINTS)
def test_one_number_is_printed_as_its_rounding_prints_it(value, text, up, even, cut):
    score, at = Table.of_texts({"s": [text]}).column("s"), np.array([value])
    held = [not misfit(at, at, score, rounding).violated[0] for rounding in ROUNDINGS[:3]]
    assert held == [up, even, cut]


@settings(deadline=None, max_examples=300)
@given(st.integers(-2000, 2000), st.integers(0, 2), st.integers(1, 64))
def test_one_number_is_printed_as_decimal_prints_it(numerator, places, denominator):
    from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

    number = numerator / denominator
    exact = Decimal(numerator) / Decimal(denominator)
    step = Decimal(1).scaleb(-places)
    for rounding, mode in (("half-up", ROUND_HALF_UP), ("half-even", ROUND_HALF_EVEN), ("truncation", ROUND_DOWN)):
        for shift in (-1, 0, 1):
            right = exact.quantize(step, mode)
            score = Table.of_texts({"s": [f"{right + shift * step:f}"]}).column("s")
            fits = not misfit(np.array([number]), np.array([number]), score, rounding).violated[0]
            assert fits == (shift == 0), (number, score.texts, rounding)


def test_the_rounding_that_holds_is_named():
    rows = [(1, 2, 1), (2, 3, 2), (3, 4, 3), (4, 5, 4)]
    found = verified("mean(a, b)", rows, exact=["a", "b"])
    assert (found.verdict, found.rounding) == ("all", "truncation")
    assert found.roundings == {"half-up": 4, "half-even": 2, "truncation": 0, "truncation throughout": 0}
    even = verified("mean(a, b)", [(1, 2, 2), (2, 3, 2), (3, 4, 4), (4, 5, 4)], exact=["a", "b"])
    assert (even.verdict, even.rounding) == ("all", "half-even")
    throughout = verified("sum(a, b)", [(1.9, 1.9, 3.9), (1.1, 2.5, 3.7)])
    assert throughout.roundings["truncation throughout"] == 0


def test_an_edge_alone_has_excess_0_and_says_so():
    found = verified("mean(a, b)", [(1, 2, 1), (2, 2, 2), (5, 5, 5)], exact=["a", "b"])
    assert found.rounding == "truncation"  # which explains it, so that nothing is violated
    found = verified("mean(a, b)", [(1, 2, 1), (2, 4, 3), (3, 4, 4)], exact=["a", "b"])
    assert [(one.direction, one.excess) for one in found.violations] == [("edge", 0.0)]


# --- the test itself -----------------------------------------------------------------------------------------------

RULES = [
    "mean(a, b)",
    "geomean(max(a, 1), b) * gate(a, 50, 2)",
    "mean(a: 0.3, b: 0.7) - 2",
    "hmean(a, b)",
    "min(a, b) + cap(b, 60) / 2",
    "if(g == 'x', mean(a, b), max(a, b))",
    "percentile(a) + b",
    "floor(a / 3) + b",
    "rank(a)",
    "winrate(a, b)",
]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(RULES), st.integers(0, 2**32), st.integers(0, 2), st.integers(0, 2))
def test_a_score_that_the_rule_made_is_never_a_violation(text, seed, places, score_places):
    """From hidden components: score first, rounding after, as a publisher does it."""
    from evenhand.composite.rule.evaluate import values_of

    rng = np.random.default_rng(seed)
    hidden = {name: rng.random(12) * 100 for name in "ab"}
    groups = rng.choice(["x", "y"], 12).tolist()
    rule = parse_rule(text)
    scores = values_of(rule, {**hidden, "g": np.full(12, np.nan)}, texts={"g": groups})
    cells = {name: [f"{value:.{places}f}" for value in values] for name, values in hidden.items()}
    table = Table.of_texts({**cells, "g": groups, "s": [f"{value:.{score_places}f}" for value in scores]})
    found = verify(rule, table, "s")
    assert min(found.roundings["half-up"], found.roundings["half-even"]) == 0  # Python prints 0.5 as 0
    assert found.verdict == "all"


def test_an_excess_is_what_the_boxes_leave_open():
    found = verified("a + b", [(1, 2, 6), (1, 1, 2), (1, 1, 2), (1, 1, 2)])
    assert [(one.row, one.direction, one.excess, one.value) for one in found.violations] == [(1, "above", 1.5, 3)]
    assert (found.max_residual, found.max_residual_row) == (3, 1)
    below = verified("a + b", [(1, 2, 0), (1, 1, 2), (1, 1, 2), (1, 1, 2)])
    assert [(one.direction, one.excess) for one in below.violations] == [("below", 1.5)]


@pytest.mark.parametrize(
    ("n_wrong", "n", "verdict"),
    [(0, 10, "all"), (1, 10, "all_but"), (4, 10, "all_but"), (5, 10, "refuted"), (5, 11, "all_but"), (1, 2, "refuted"),
     (6, 20, "refuted"), (6, 60, "all_but"), (7, 60, "refuted"), (1, 1, "refuted")],
)  # fmt: skip
def test_few_violators_leave_the_rule_standing(n_wrong, n, verdict):
    rows = [(10 * k, 10 * k, 10 * k + 4 * (k < n_wrong)) for k in range(n)]
    assert verified("mean(a, b)", rows).verdict == verdict


def test_equal_rows_with_unequal_scores_leave_the_rule_undetermined_where_many_fail():
    rows = [(1, 1, 1), (1, 1, 9), (2, 2, 8), (2, 2, 3), (3, 3, 0), (3, 3, 7)]
    found = verified("mean(a, b)", rows, exact=["a", "b"])
    assert found.verdict == "undetermined"
    assert ("1", "2", True) in found.contradictions
    rounded = verified("mean(a, b)", rows)  # integers that were rounded are not equal for certain
    assert not any(equal for _, _, equal in rounded.contradictions)


def test_a_dominated_row_that_is_scored_higher_is_a_contradiction_unless_the_rule_falls_in_the_column():
    rows = [(9, 9, 1), (5, 5, 8), (6, 2, 9)]
    assert verified("mean(a, b)", rows).contradictions[0][:2] == ("1", "2")
    assert verified("0 - mean(a, b)", rows).contradictions == ()


def test_two_sides_of_a_condition_do_not_contradict_each_other():
    rows = [(k, k, k if k % 2 else 100 - k, "x" if k % 2 else "y") for k in range(1, 21)]
    one = verified("mean(a, b)", rows, "a b s g")
    assert one.pattern.where == 'g == "y"'
    assert one.verdict == "undetermined"  # within y alone, a better row is scored lower
    both = verified("if(g == 'x', mean(a, b), 100 - mean(a, b))", rows, "a b s g")
    assert both.verdict == "all"


def test_a_row_without_a_value_is_named_with_its_clause_and_the_others_are_tested():
    found = verified("10 / a + b", [(0, 1, 4), (2, 1, 6), (5, 1, 3), (10, 1, 2)], exact=["a"])
    assert found.verdict == "all_but"
    assert found.n_rows == 4
    (one,) = found.violations
    assert (one.row, one.excess, one.direction, one.reason) == (1, None, "undefined", "division by zero in 10 / a")
    assert "no value on row 1" in found.notes[-1]


def test_infinite_scores_and_missing_cells_are_told_apart():
    found = verified("a + b", [(1, 1, "inf"), (1, 1, 2), ("", 1, 2), (1, 1, ""), (2, 2, 4), (3, 3, 6)])
    assert [(row.row, row.reason) for row in found.dropped] == [(3, "a component is missing"), (4, "no score")]
    assert [(one.row, one.excess) for one in found.violations] == [(1, None)]
    assert "1 row left out for a gap" in found.notes[-1]
    with pytest.raises(InvalidInput, match="none of 1 row can be tested"):
        verified("a + b", [("", 1, 2)])


def test_scores_below_every_component_prove_that_no_mean_gives_them():
    rows = [(10, 20, 5), (10, 20, 15), (10, 20, 25), (10, 20, 15)]
    found = verified("hmean(a, b)", rows)
    assert (found.below, found.above) == ((1,), (3,))
    assert verified("sum(a, b)", rows).below == ()


def test_printed_ranks_are_held_against_each_other():
    rows = [(22, 8), (19, 7), (17, 6), (17, 6), (17, 6), (12, 3), (12, 3), (8, 1)]
    shared_best = verified("rank(a, lower)", rows, "a s")
    assert [one.row for one in shared_best.violations] == [3, 4, 5, 6, 7]
    (ties,) = shared_best.clauses
    assert ties.holds_without
    assert "rank(a, lower, ties=max)" in ties.sentence
    assert verified("rank(a, lower, ties=max)", rows, "a s").verdict == "all"
    broken = verified("rank(a)", [(9.1, 1), (8.1, 2), (8.3, 3)], "a s")
    assert [one.row for one in broken.violations] == [2, 3]


# --- clauses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("geomean(a, b) * gate(a, 50, 2)", [("gate", "a under 50")]),
        ("2 * min(a, 1) + b", [("cap", "a over 1")]),
        ("b * min(1, a / 18)", [("gate", "a under 18")]),
        ("mean(min(a / 18, 1), b)", [("cap", "a over 18")]),
        ("max(a, 1) + max(b, a)", [("floor", "a under 1")]),
        ("goalposts(a, 20, 85)", [("floor", "a under 20"), ("cap", "a over 85")]),
        ("clamp(log(a / 100) / log(750), 0, 1)", [("floor", "a under 100"), ("cap", "a over 75000")]),
        ("min(1, (2 - a) * 3)", [("cap", "a under 1.666666667")]),
        ("min(-2 * a, 4)", [("cap", "a under -2")]),
        ("min(a + b, 7)", [("cap", "a + b over 7")]),
        ("if(y < 3, a, b)", [("branch", "y < 3"), ("branch", "y >= 3")]),
        ("default(a, 0) + rank(b)", [("default", "a missing"), ("ties", "ties in b")]),
        ("max(a, 1) * max(a, 1)", [("floor", "a under 1")]),
        ("min(a, b)", []),
        ("min(3, 4) * a", []),
    ],
)
def test_clauses_and_when_they_act(text, clauses):
    assert [(clause.kind, clause.when) for clause in clauses_of(parse_rule(text))] == clauses


def test_a_rule_without_a_clause_is_the_rule_with_something_else_in_its_place():
    (floor, gate) = clauses_of(parse_rule("max(a, 1) * gate(b, 50)"))
    assert printed(floor.without) == "a * min(1, b / 50)"
    assert printed(gate.without) == "max(a, 1) * 1"
    assert printed(plain_rule(parse_rule("max(a, 1) * gate(b, 50) * gate(a, 9)"))) == "a"
    assert printed(plain_rule(parse_rule("goalposts(a, 0, 9) + if(y < 3, 1, b)"))) == "(a - 0) / (9 - 0) + b"


def test_a_clause_says_whom_it_touches_who_carries_it_and_whether_it_is_inert():
    rows = [(90, 50, 70), (40, 50, 45 * 0.8), (10, 50, 6), (49, 49, 48)]
    found = verified("mean(a, b) * gate(a, 50) * gate(b, 40)", rows)
    first, second = found.clauses
    assert (first.rows, first.carried_by, first.inert) == ((2, 3, 4), (2, 3), False)
    assert first.sentence == "touches 3 rows; carried by 2"
    assert second.inert
    assert second.sentence == "cannot be told here: no row has b under 40"
    single = verified("cap(a, 60)", [(90, 60), (40, 40)], "a s").clauses[0]
    assert single.sentence == "touches 1 row; carried by a single row"
    hidden = verified("cap(a, 60)", [(60.4, 60), (40, 40)], "a s").clauses[0]
    assert hidden.sentence == "cannot be told here: the rounding hides it on the 1 row with a over 60"
    undone = verified("min(cap(a, 60), 30)", [(90, 30), (20, 20)], "a s").clauses[1]
    assert "the rest of the rule undoes it on the 1 row with a over 60" in undone.sentence


def test_the_missing_policy_is_a_clause():
    rows = [(10, 20, 15), ("", 20, 20), (30, "", 30)]
    found = verified("mean(a, b)", rows, missing="renormalise")
    assert found.verdict == "all"
    assert [(clause.kind, clause.rows, clause.carried_by) for clause in found.clauses] == [("missing", (2, 3), (2, 3))]
    zero = verified("mean(a, b); missing = zero", rows)
    assert [one.row for one in zero.violations] == [2, 3]
    assert zero.clauses[0].holds_without


# --- samples and patterns ------------------------------------------------------------------------------------------


def test_the_chance_of_a_sample_is_hypergeometric():
    from scipy.stats import hypergeom

    for n, m in ((48, 15), (10, 0), (10, 10), (7, 1)):
        for k in range(1, n + 1):
            assert chance(n, m, k) == pytest.approx(1 - hypergeom.pmf(0, n, m, k), abs=1e-12)
    assert smallest_sample(48, 15) == next(k for k in range(1, 49) if chance(48, 15, k) >= 0.95) == 8
    assert smallest_sample(48, 0) is None


def test_samples_are_the_top_chosen_and_random_rows():
    rows = [(90, 90, 90), (80, 80, 80), (40, 40, 32), (45, 45, 40.5), (10, 10, 2)]
    found = verified("a * gate(b, 50)", rows, top=[2, 3, 99], sample=[5, 1], random=[1, 99])
    sample = found.sample
    assert (sample.telling, sample.first, sample.against) == ((3, 4, 5), 3, "a")
    assert [(one.what, one.n_telling, one.probability) for one in sample.samples] == [
        ("top 2", 0, 0.0), ("top 3", 1, 1.0), ("top 5", 3, 1.0), ("these 2 rows", 1, 1.0),
        ("1 random row", None, 0.6), ("5 random rows", None, 1.0),
    ]  # fmt: skip
    other = verified("a", rows, against=parse_rule("b")).sample
    assert (other.telling, other.enough) == ((), None)
    assert verified("a", rows).sample is None
    with pytest.raises(InvalidInput, match="row 6 of the sample is none of the 5 rows"):
        verified("a * gate(b, 50)", rows, sample=[6])


def test_a_pattern_is_named_only_where_chance_would_hardly_make_it():
    table = Table.of_texts({"year": ["2011"] * 10 + ["2012"] * 30, "x": [str(k * 7 % 40) for k in range(40)]})
    tested = np.ones(40, dtype=bool)
    era = np.arange(40) < 6
    found = pattern_of(era, tested, table, skip=())
    assert (found.column, found.where, found.n_there, found.n_violated) == ("year", "year == 2011", 10, 6)
    assert found.chance == pytest.approx(math.comb(10, 6) / math.comb(40, 6) * 5, rel=0.5)  # places looked at
    assert pattern_of(era, tested, table, skip=("year",)) is None
    assert pattern_of(np.arange(40) == 3, tested, table, skip=()) is None
    assert pattern_of(tested, tested, table, skip=()) is None


def test_contradictions_compare_only_what_the_rule_can_order():
    low = np.array([1.0, 2.0])
    score = (np.array([5.0, 3.0]), np.array([5.0, 3.0]))
    both = np.ones(2, dtype=bool)
    pair = contradictions(both, both, [(low, low, 1)], score)
    assert [(one.better, one.worse, one.equal) for one in pair] == [(1, 0, False)]
    assert contradictions(both, both, [(low, low, -1)], score) == ()
    assert contradictions(both, both, [(low, low, 2)], score) == ()
    assert contradictions(both, both, [(low, low, 0)], score) == ()
    assert contradictions(both, both, [(low, low, 1)], score, texts=[["x", "y"]]) == ()


# --- the whole document --------------------------------------------------------------------------------------------


def test_the_document_is_plain_json_with_the_keys_that_others_rely_on():
    import json

    found = verified("10 / a + cap(b, 5)", [(0, 1, "inf"), (2, 9, 10), (5, 1, 3), (10, 1, 9)])
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert {"verdict", "n_rows", "violations", "max_residual", "clauses"} <= set(document)
    assert {"row", "name", "excess"} <= set(document["violations"][0])
    assert {"clause", "rows", "inert"} <= set(document["clauses"][0])
    assert document["rule"] == "10 / a + min(b, 5)"


def test_a_data_frame_serves_without_files():
    pandas = pytest.importorskip("pandas", reason="needs pandas, which is no dependency")
    frame = pandas.DataFrame({"m": ["x", "y", "z"], "a": [1.5, 2.0, None], "b": [3, 4, 5], "s": [2.25, 3.0, 4.0]})
    found = verify(parse_rule("mean(a, b)"), Table.of_frame(frame, name="m"), "s")
    assert (found.verdict, found.n_rows, found.dropped[0].name) == ("all", 2, "z")


def test_scores_that_touch_are_no_contradiction_whatever_floating_point_makes_of_their_ends():
    # 62.4 and 62.5 can both have been 62.45, and 62.4 + 0.05 < 62.5 - 0.05 in floating point.
    scores = np.array([62.4, 62.5])
    assert scores[0] + 0.05 < scores[1] - 0.05
    boxes = [(np.array([51.0, 50.0]), np.array([51.0, 50.0]), 1)]
    both = np.array([True, True])
    assert contradictions(both, both, boxes, (scores - 0.05, scores + 0.05)) == ()
    assert len(contradictions(both, both, boxes, (scores - 0.04, scores + 0.04))) == 1


def test_boxes_that_touch_dominate_whatever_floating_point_makes_of_their_ends():
    assert 10.1 - 0.05 < 10.0 + 0.05
    box = (np.array([10.1 - 0.05, 10.0 - 0.05]), np.array([10.1 + 0.05, 10.0 + 0.05]), 1)
    both = np.array([True, True])
    found = contradictions(both, both, [box], (np.array([1.0, 5.0]), np.array([1.1, 5.1])))
    assert [(one.better, one.worse) for one in found] == [(0, 1)]


def test_a_mean_with_a_weight_below_0_may_leave_the_range_of_its_components():
    cells = {"a": ["1.0", "2.0", "3.0"], "b": ["2.0", "1.0", "7.0"], "s": ["0.0", "3.0", "-1.0"]}
    found = verify(parse_rule("mean(a: 2, b: -1)"), Table.of_texts(cells), "s")
    assert (found.verdict, found.below, found.above) == ("all", (), ())


def test_the_top_of_a_board_is_where_its_scores_are_best():
    cells = {"a": ["10", "60", "70", "90", "20"], "s": ["0.4", "60.0", "70.0", "90.0", "3.2"]}
    table = Table.of_texts(cells)
    for lower, first in ((False, 4), (True, 1)):
        found = verify(parse_rule("a * gate(a, 50, 2)"), table.declared(lower=["s"] if lower else []), "s", top=[2])
        assert found.sample is not None
        assert found.sample.first == first
        assert found.sample.samples[0].n_telling == (2 if lower else 0)
    ranks = Table.of_texts({"a": ["10.0", "60.0", "70.0", "90.0"], "s": ["4", "3", "2", "1"]})
    found = verify(parse_rule("rank(a)"), ranks, "s", against=parse_rule("rank(-a)"), top=[1], sample=[1, 1])
    assert [(one.what, one.n, one.n_telling) for one in found.sample.samples[:2]] == [
        ("top 1", 1, 1),
        ("this row", 1, 1),
    ]


def test_a_sample_of_no_rows_is_refused():
    table = Table.of_texts({"a": ["10", "60"], "s": ["0.4", "60.0"]})
    for sizes in ({"top": [0]}, {"random": [-3]}):
        with pytest.raises(InvalidInput, match="expected at least 1"):
            verify(parse_rule("a * gate(a, 50, 2)"), table, "s", **sizes)
