"""`evenhand rank verify`, as a person and a script run it."""

import json

import pytest

from evenhand.cli.rank.verify import rows_of
from evenhand.errors import InvalidInput

BOARD = """name,quality,speed,score
Ash,90,80,85.0
Birch,70,60,65.0
Cedar,40,50,36.0
Elm,30,90,36.0
"""
RULE = "mean(quality, speed) * gate(quality, 50)"


def verified(evenhand, folder, text, rule, *options, name="board.csv", score="score"):
    (folder / name).write_text(text, encoding="utf-8")
    done = evenhand("rank", "verify", name, "--rule", rule, "--score", score, "--json", *options)
    assert done.code in (0, 1, 3), done.err
    return done.document, done.code


# --- verdicts and exit codes ---------------------------------------------------------------------------------------


def test_a_rule_that_holds_exits_0_and_names_what_the_table_cannot_tell(evenhand, tmp_path):
    found, code = verified(evenhand, tmp_path, BOARD, f"{RULE} * gate(speed, 20)")
    assert (code, found["verdict"], found["n_rows"], found["violations"]) == (0, "all", 4, [])
    assert [(one["when"], one["rows"], one["inert"]) for one in found["clauses"]] == [
        ("quality under 50", [3, 4], False),
        ("speed under 20", [], True),
    ]
    assert found["rule"] == "mean(quality, speed) * min(1, quality / 50) * min(1, speed / 20)"
    assert found["table"]["n_rows"] == 4


def test_a_rule_that_fails_somewhere_exits_1_and_says_by_how_much(evenhand, tmp_path):
    found, code = verified(evenhand, tmp_path, BOARD + "Fir,60,60,70.0\n", RULE)
    assert (code, found["verdict"]) == (1, "all_but")
    (one,) = found["violations"]
    assert (one["row"], one["name"], one["direction"]) == (5, "Fir", "above")
    assert one["excess"] == pytest.approx(9.45)
    assert found["max_residual"] == pytest.approx(10)
    refuted, code = verified(evenhand, tmp_path, BOARD, "min(quality, speed)")
    assert (code, refuted["verdict"]) == (1, "refuted")


def test_columns_that_do_not_determine_the_score_exit_3(evenhand, tmp_path):
    rows = "".join(f"{name},1,1,{score}\n" for name, score in zip("ABCDEF", "192837", strict=True))
    found, code = verified(evenhand, tmp_path, "name,a,b,score\n" + rows, "mean(a, b)", "--exact", "a,b")
    assert (code, found["verdict"]) == (3, "undetermined")
    assert found["contradictions"][0]["equal"]


def test_a_person_reads_80_columns_that_end_with_the_verdict(evenhand, tmp_path):
    (tmp_path / "board.csv").write_text(
        BOARD + "Fir with a name that is quite a bit longer than it needs to be,60,60,70.0\n"
    )
    done = evenhand(
        "rank", "verify", "board.csv", "--rule", f"{RULE} * gate(speed, 20)", "--score", "score", "--top", "2"
    )
    assert done.code == 1
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("rule     mean(quality, speed) * min(1, quality / 50)")
    assert "  gate    speed under 20" in lines
    assert "          cannot be told here: no row has speed under 20" in lines
    assert "         top 2: not told (0 rows tell)" in lines
    assert lines[-2].startswith("verdict  the rule reproduces all rows but 1 of 5: Fir with a name")
    assert "read 5 rows of CSV from board.csv" in done.err


def test_a_rule_may_stand_in_a_file_with_definitions_and_comments(evenhand, tmp_path):
    (tmp_path / "rule.txt").write_text(
        "# the published rule\nknee = 50\nscore = mean(quality, speed)\n  * gate(quality, knee)\n"
    )
    found, code = verified(evenhand, tmp_path, BOARD, "@rule.txt")
    assert (code, found["rule"]) == (0, "mean(quality, speed) * min(1, quality / 50)")
    done = evenhand("rank", "verify", "board.csv", "--rule", "@gone.txt", "--score", "score")
    assert (done.code, done.out) == (2, "")
    assert "gone.txt" in done.err


def test_aliases_conditions_and_samples_by_row(evenhand, tmp_path):
    found, code = verified(
        evenhand, tmp_path, BOARD, "mean(Q, speed) * gate(Q, 50)", "--alias", "Q=quality", "--where", "speed > 50",
        "--sample", "1-2,4", "--random", "1", "--against", "mean(Q, speed)",
    )  # fmt: skip
    assert (code, found["n_rows"]) == (0, 3)
    assert found["sample"]["telling_rows"] == [4]
    assert [(one["sample"], one["n_telling"]) for one in found["sample"]["samples"]] == [
        ("top 3", 1), ("these 3 rows", 1), ("1 random row", None),
    ]  # fmt: skip


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--rule", "mean(quality, sped)"], "no column `sped`; did you mean `speed`?\n    mean(quality, sped)\n"),
        (["--rule", "mean(quality"], "the rule ends"),
        (["--rule", "(" * 500 + "quality" + ")" * 500], "deep"),
        (["--rule", "mean(quality: 1, speed: -1)"], "sum to 0"),
        (["--rule", "name + 1"], "no cell is a number"),
        (["--rule", "round(quality, 400)"], "expected a whole number, -15 to 15"),
        (["--rule", ""], "a rule has an expression"),
        (["--rule", "@"], "no file is named"),
        (["--rule", "quality", "--sample", "9"], "row 9 of the sample is none of the 4 rows"),
        (["--rule", "quality", "--sample", "x"], "--sample x: expected numbers of rows"),
        (["--rule", "quality", "--missing", "often"], "--missing"),
        (["--rule", "quality", "--score", "points"], "no column"),
    ],
)
def test_bad_calls_are_one_message_and_exit_2(evenhand, tmp_path, options, says):
    (tmp_path / "board.csv").write_text(BOARD)
    extra = [] if "--score" in options else ["--score", "score"]
    done = evenhand("rank", "verify", "board.csv", *options, *extra)
    assert (done.code, done.out) == (2, "")
    assert says in done.err.replace("'", "")


def test_names_that_a_terminal_would_obey_are_shown(evenhand, tmp_path):
    (tmp_path / "board.csv").write_text("name,q\x1b[31m,score\n\x1b]0;owned\x07,1,9\nb,2,2\nc,3,3\n")
    done = evenhand("rank", "verify", "board.csv", "--rule", "`q\x1b[31m`", "--score", "score")
    assert done.code == 1
    assert "\x1b" not in done.out + done.err
    assert r"\x1b]0;owned\x07" in done.out


def test_one_row_constant_columns_and_duplicate_names(evenhand, tmp_path):
    one, code = verified(evenhand, tmp_path, "name,a,b,score\nx,1,2,1.5\n", "mean(a, b)")
    assert (code, one["verdict"]) == (0, "all")
    assert "says little" in one["notes"][0]
    constant, _ = verified(evenhand, tmp_path, "name,a,b,score\nx,5,2,3.5\nx,5,4,4.5\nx,5,9,9\n", "mean(a, b)")
    assert [(row["row"], row["name"]) for row in constant["violations"]] == [(3, "x")]


@pytest.mark.parametrize("text", ["1 / (a - b)", "log(a - b)", "(a - b)^-1"])
def test_a_rule_without_a_value_on_row_7_names_the_row_and_the_clause(evenhand, tmp_path, text):
    rows = "".join(f"s{k},{9 if k == 7 else k + 10},9,1\n" for k in range(1, 10))
    found, code = verified(evenhand, tmp_path, "name,a,b,score\n" + rows, text, "--exact", "a,b")
    assert code in (1, 3)
    undefined = [one for one in found["violations"] if one["direction"] == "undefined"]
    assert [(one["row"], one["name"], one["excess"]) for one in undefined] == [(7, "s7", None)]
    assert text in undefined[0]["reason"]


# --- kinds of trouble on published boards, each with siblings ------------------------------------------------------


def test_a_mean_of_the_shown_columns_cannot_lie_below_both(evenhand, tmp_path):
    text = "name,precision,recall,f1\na,42.7,46.3,41.5\nb,56.1,39.7,45.0\nc,60.0,50.0,61.0\nd,50.0,50.0,44.0\n"
    for rule in ("hmean(precision, recall)", "mean(precision, recall)", "power(3, precision, recall)"):
        found, _ = verified(evenhand, tmp_path, text, rule, score="f1")
        assert found["outside_components"] == {"below": [1, 4], "above": [3]}


def test_a_skipped_part_that_counts_as_1_is_told_from_one_left_out(evenhand, tmp_path):
    text = "name,a,b,c,score\nx,100,400,200,200\ny,900,,400,71\nz,800,100,50,159\nw,50,60,70,59\n"
    left_out, code = verified(evenhand, tmp_path, text, "gmean(a, b, c)", "--missing", "renormalise")
    assert (code, [one["name"] for one in left_out["violations"]]) == (1, ["y"])
    as_one, code = verified(evenhand, tmp_path, text, "gmean(a, b, c)", "--missing", "1")
    assert (code, as_one["clauses"][0]["carried_by"]) == (0, [2])
    dropped, code = verified(evenhand, tmp_path, text, "gmean(a, b, c)")
    assert (code, dropped["dropped"][0]["name"]) == (0, "y")
    assert "zero 0, renormalise 0, 1 1" in " ".join(dropped["notes"])


def test_an_infinite_score_of_a_division_by_zero_is_reported_and_the_rest_is_tested(evenhand, tmp_path):
    text = "name,t1,t2,score\na,12,30,52.70\nb,0,21,Infinity\nc,15,15,66.67\nd,10,40,50\n"
    found, code = verified(evenhand, tmp_path, text, "1000 / gmean(t1, t2)", "--exact", "t1,t2")
    assert (code, found["verdict"], found["n_rows"]) == (1, "all_but", 4)
    (one,) = found["violations"]
    assert (one["row"], one["score"]) == (2, "Infinity")
    assert one["reason"] == "division by zero in 1000 / geomean(t1, t2)"
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("ranks", "rule", "wrong"),
    [
        ("4,3,3,1", "rank(errors, lower)", ["b", "c"]),
        ("4,2,2,1", "rank(errors, lower)", []),
        ("4,3,3,1", "rank(errors, lower, ties=max)", []),
        ("4,2.5,2.5,1", "rank(errors, lower, ties=mean)", []),
        ("1,2,2,4", "rank(errors)", []),
        ("1,3,3,4", "rank(errors)", ["b", "c"]),
    ],
)
def test_ranks_say_how_ties_share_a_place(evenhand, tmp_path, ranks, rule, wrong):
    rows = "".join(f"{n},{e},{r}\n" for n, e, r in zip("abcd", (22, 17, 17, 8), ranks.split(","), strict=True))
    found, _ = verified(evenhand, tmp_path, "name,errors,rank\n" + rows, rule, score="rank")
    assert [one["name"] for one in found["violations"]] == wrong


def test_two_graders_of_whom_one_follows_the_rule(evenhand, tmp_path):
    staff = "".join(f"s{k},staff,{k % 4},{k % 3},{k % 4 + k % 3}\n" for k in range(12))
    machine = "m1,ml,2,1,5\nm2,ml,2,1,7\nm3,ml,1,1,6\nm4,ml,1,0,3\n"
    text = "name,grader,ideas,form,grade\n" + staff + machine
    exact = ("--exact", "ideas,form,grade")
    found, code = verified(evenhand, tmp_path, text, "sum(ideas, form)", *exact, score="grade")
    assert (code, found["verdict"], [one["name"] for one in found["violations"]]) == (
        1,
        "all_but",
        ["m1", "m2", "m3", "m4"],
    )
    assert found["pattern"]["where"] == 'grader == "ml"'
    assert {"at_least_as_good": "m1", "scored_above": "m2", "equal": True} in found["contradictions"]
    rule = "if(grader == 'staff', ideas + form, 3 * min(ideas + form, 2))"
    branch, _ = verified(evenhand, tmp_path, text, rule, *exact, score="grade")
    assert [one["name"] for one in branch["violations"]] == ["m1", "m2"]


def test_caps_are_told_from_gates(evenhand, tmp_path):
    text = "name,bugs,hints,total\na,1,2,3.0\nb,3,0,2.0\nc,0,3,1.5\nd,2,4,3.5\n"
    found, code = verified(
        evenhand, tmp_path, text, "2 * min(bugs, 1) + 0.5 * min(hints, 3)", "--exact", "bugs,hints", score="total"
    )
    assert code == 0
    assert [(one["kind"], one["when"], one["names"]) for one in found["clauses"]] == [
        ("cap", "bugs over 1", ["b", "d"]), ("cap", "hints over 3", ["d"]),
    ]  # fmt: skip


def test_short_names_of_a_header_in_two_rows_serve_in_rules(evenhand, tmp_path):
    page = (
        "<table><tr><th rowspan=2>Model</th><th colspan=2>Math</th><th rowspan=2>Avg</th></tr>"
        "<tr><th>easy</th><th>hard</th></tr><tr><td>a</td><td>80</td><td>40</td><td>60</td></tr>"
        "<tr><td>b</td><td colspan=2>55</td><td>55</td></tr></table><script>alert(1)</script>"
    )
    found, code = verified(evenhand, tmp_path, page, "mean(easy, hard)", name="board.html", score="Avg")
    assert (code, found["rule"]) == (0, "mean(`Math easy`, `Math hard`)")


def test_rows_of_a_sample_are_numbers_and_ranges():
    assert rows_of(None) == ()
    assert rows_of("3, 1-2,2") == (3, 1, 2)
    for wrong in ("", "0", "3-1", "1-", "-1", "1-99999999999", "a"):
        with pytest.raises(InvalidInput, match="--sample"):
            rows_of(wrong)
