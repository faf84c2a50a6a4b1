"""`evenhand rank recover` as its user sees it."""

import pytest

BOARD = """system,quality,calibration,speed,score
Birch,91,83,92,88.6
Pine,92,74,82,82.6
Spruce,93,90,67,82.4
Oak,94,89,67,82.3
Ash,69,83,87,79.2
Elm,70,91,60,72.4
Maple,86,59,64,68.8
Fir,58,61,77,64.7
Hazel,65,51,64,59.4
Larch,68,56,55,59.4
Willow,50,57,61,56.0
Ivy,45,91,86,55.9
Rowan,39,92,83,41.4
Juniper,36,86,61,30.0
Yew,30,64,79,18.5
Cedar,27,71,93,16.4
"""


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text(BOARD, encoding="utf-8")
    return path


def test_the_verdict_stands_first_and_the_untested_clauses_with_it(evenhand, board):
    done = evenhand("rank", "recover", board, "--score", "score")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("verdict   unique: ")
    assert "geomean(quality, calibration, speed) * min(1, (quality / 50)^2)" in done.out
    assert "untested: " in done.out
    assert max(map(len, lines)) <= 80
    assert "read 16 rows of CSV" in done.err


def test_the_document_has_the_keys_that_scripts_read(evenhand, board):
    document = evenhand("rank", "recover", board, "--score", "score", "--json").document
    assert (document["verdict"], document["seed"]) == ("unique", 0)
    assert set(document["rules"][0]["parameters"]["knee of quality"]) == {"value", "low", "high"}
    assert document["table"]["n_rows"] == 16
    assert document["suspects"] == []
    assert {"clause", "rows"} <= document["untested"][0].keys()


def test_without_the_rows_that_show_it_the_gate_is_untested(evenhand, board):
    document = evenhand("rank", "recover", board, "--score", "score", "--where", "score > 55.9", "--json").document
    assert document["rules"][0]["rule"] == "geomean(quality, calibration, speed)"
    (gate,) = (one for one in document["untested"] if one["kind"] == "gate" and one["column"] == "quality")
    assert gate["high"] >= 50
    assert gate["rows"][0] == "Willow"


def test_no_rule_exits_0_and_offers_none(evenhand, tmp_path):
    path = tmp_path / "odd.csv"
    scores = ["51", "7", "93", "20", "66", "38", "81", "12", "59", "44"]
    rows = [f"s{i},{(i * 37) % 97},{(i * 61) % 89},{scores[i]}.3" for i in range(10)]
    path.write_text("\n".join(["system,a,b,score", *rows]) + "\n", encoding="utf-8")
    done = evenhand("rank", "recover", path, "--score", "score")
    assert done.code == 0
    assert done.out.startswith(("verdict   none: ", "verdict   undetermined: "))
    assert "\nrule " not in done.out


def test_eras_are_found_in_columns_that_are_no_components(evenhand, tmp_path):
    lines = ["system,division,a,b,score"]
    for i in range(24):
        a, b = 20 + (i * 31) % 71, 15 + (i * 47) % 79
        share = 0.3 if i % 2 else 0.8
        lines.append(f"s{i},{'east' if i % 2 else 'west'},{a},{b},{share * a + (1 - share) * b:.1f}")
    path = tmp_path / "two.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = evenhand("rank", "recover", path, "--score", "score", "--exact", "a,b", "--json").document
    assert document["level"] == "eras"
    assert "if(division ==" in document["rules"][0]["rule"]
    alone = evenhand("rank", "recover", path, "--score", "score", "--exact", "a,b", "--era", "", "--json").document
    assert alone["rules"] == []


def test_nested_cells_and_a_decoy_are_read_from_the_published_board(evenhand, shared):
    path = shared / "data" / "leaderboards" / "glue.csv"
    document = evenhand("rank", "recover", path, "--score", "score", "--json").document
    (rule,) = document["rules"]
    assert document["verdict"] == "unique"
    assert rule["unused"] == ["AX"]
    assert rule["rule"] == ("mean(CoLA, `SST-2`, MRPC, `STS-B`, QQP, QNLI, RTE, WNLI, mean(`MNLI-m`, `MNLI-mm`))")
    assert len([name for name in rule["parameters"] if name.startswith("weight of")]) == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--score", "scroe"], "did you mean"),
        (["--score", "score", "--columns", "qualty"], "did you mean"),
        (["--score", "score", "--era", "nowhere"], "no column is called"),
        (["--score", "score", "--missing", "perhaps"], "--missing"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(evenhand, board, arguments, message):
    done = evenhand("rank", "recover", board, *arguments)
    assert done.code == 2
    assert message in done.err


def test_hostile_names_never_reach_the_terminal(evenhand, tmp_path):
    text = BOARD.replace("Willow", "\x1b[31mWillow").replace("speed", "sp\u202eeed")
    path = tmp_path / "hostile.csv"
    path.write_text(text, encoding="utf-8")
    done = evenhand("rank", "recover", path, "--score", "score", "--where", "score > 55.9", "--all")
    assert done.code == 0
    assert "\x1b[31m" not in done.out + done.err
    assert "\u202e" not in done.out + done.err
