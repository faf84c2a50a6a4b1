"""`evenhand rank reweight` as its user meets it: figures, keys that scripts rely on, refusals in one sentence."""

import json

import pytest

BOARD = "system,I,K,score\nAsh,90,20,55\nBirch,60,70,65\nCedar,50,75,62.5\nElm,40,40,40\n"
RULE = "mean(I, K)"


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text(BOARD)
    return path


def test_the_keys_that_scripts_rely_on(evenhand, board):
    done = evenhand("rank", "reweight", board, "--rule", RULE, "--score", "score", "--draws", 2000, "--json")
    document = done.document
    assert (done.code, done.err) == (0, "")
    assert document["weights"] == {"I": 0.5, "K": 0.5}
    assert document["leader"] == "Birch"
    assert set(document["shares"]) == {"Ash", "Birch", "Cedar"}
    assert sum(share["value"] for share in document["shares"].values()) == pytest.approx(1)
    for share in document["shares"].values():
        assert share["low"] <= share["value"] <= share["high"]
        assert (share["n"], share["undefined"]) == (2000, None)
    assert document["possible_leaders"] == ["Ash", "Birch", "Cedar"]
    assert document["pareto"] == ["Ash", "Birch", "Cedar"]
    assert document["dominated"] == {"Elm": "Birch"}
    # Ash draws level where 90 a + 20 (1 - a) = 60 a + 70 (1 - a), at a = 5/8; Cedar where a = 1/3.
    flip = document["nearest_flip"]
    assert (flip["l1"], flip["to"]) == (pytest.approx(0.25), "Ash")
    assert flip["weights"] == {"I": pytest.approx(0.625), "K": pytest.approx(0.375)}
    assert flip["words"] == "12.5 points from K to I hand the lead to Ash"
    assert [one["to"] for one in document["flips"]] == ["Ash", "Cedar"]
    assert document["draws"] == {"n": 2000, "seed": 0}


def test_every_view_prints_its_weights(evenhand, board, tmp_path):
    presets = tmp_path / "presets.yaml"
    presets.write_text("thrifty: {K: 0.8}\nclever: {I: 3, K: 1}\n")
    done = evenhand(
        "rank", "reweight", board, "--rule", RULE, "--weights", "I=.9", "--presets", presets, "--draws", 500
    )  # fmt: skip
    assert done.code == 0
    assert "weights  I 0.9, K 0.1" in done.out
    assert "thrifty                      Cedar (70)   with I 0.2, K 0.8" in done.out
    assert "clever                       Ash (72.5)   with I 0.75, K 0.25" in done.out
    assert "without I                    Cedar (75)   with I 0, K 1" in done.out
    assert "smallest component           Birch (60)" in done.out
    assert "flip     27.5 points from I to K hand the lead to Birch (L1 0.550)" in done.out
    assert "possible leaders: 3 of 4 (all that can lead, by linear programs)" in done.out
    assert "read 4 rows of CSV" in done.err


def test_conditions_bound_every_answer(evenhand, board):
    arguments = ("rank", "reweight", board, "--rule", RULE, "--draws", 500, "--json", "--constraint", "I >= 2 * K")
    document = evenhand(*arguments).document
    assert document["constraints"] == ["I >= 2 * K"]
    assert document["possible_leaders"] == ["Ash"]


def test_equal_rows_lead_together_whatever_their_order(evenhand, tmp_path):
    rows = ["Ardea,80,60,70", "Bittern,80,60,70", "Crane,60,79,69.5", "Dotterel,85,50,67.5"]
    found = []
    for order in (rows, rows[::-1]):
        path = tmp_path / "t.csv"
        path.write_text("run,speed,style,total\n" + "\n".join(order) + "\n")
        document = evenhand(
            "rank", "reweight", path, "--rule", "mean(speed, style)", "--score", "total", "--json"
        ).document
        assert document["shares"]["Ardea"] == document["shares"]["Bittern"]
        assert document["shares"]["Ardea"]["tied"] == pytest.approx(2 * document["shares"]["Ardea"]["value"])
        assert sorted(document["tied_leaders"]) == ["Ardea", "Bittern"]
        found.append({name: share["value"] for name, share in document["shares"].items()})
        assert {"Ardea", "Bittern"} <= set(document["possible_leaders"])
    assert found[0] == found[1]


def test_names_that_a_terminal_would_obey_are_shown_as_text(evenhand, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('system,"a\x1b[31m",b\n\x1b]0;x\x07Ash,1,2\n"Bi\nrch\u202e",3,1\n')
    done = evenhand("rank", "reweight", path, "--rule", "mean(`a\x1b[31m`, b)", "--draws", 200)
    assert done.code == 0
    assert not set("\x1b\x07\u202e") & set(done.out + done.err)
    as_json = evenhand("rank", "reweight", path, "--rule", "mean(`a\x1b[31m`, b)", "--draws", 200, "--json")
    assert not set("\x1b\x07\u202e") & set(as_json.out)
    assert as_json.document["leader"] == "Bi rch\u202e"


def test_a_doubled_name_has_its_row_behind_it(evenhand, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("system,a,b\nAsh,1,9\nAsh,8,1\n")
    document = evenhand("rank", "reweight", path, "--rule", "mean(a, b)", "--json").document
    assert set(document["shares"]) == {"Ash (row 1)", "Ash (row 2)"}


def test_spreads_and_columns_of_standard_errors_widen_the_ranks(evenhand, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("system,a,b,b_se\nAsh,62.5 ± 9,50.0,0\nBirch,61.5 ± 9,50.0,0\nElm,10.0 ± 0.1,50.0,0\n")
    document = evenhand("rank", "reweight", path, "--rule", "mean(a, b)", "--se", "b=b_se", "--json").document
    noise = document["component_uncertainty"]
    assert noise["sources"] == {"a": "standard error", "b": "standard error"}
    assert [(row["name"], row["low"], row["high"]) for row in noise["ranks"]] == [
        ("Ash", 1, 2), ("Birch", 1, 2), ("Elm", 3, 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rule", "mean(I, Q)"], "no column `Q`"),
        (["--rule", "I"], "has no weighted mean or sum"),
        (["--rule", RULE, "--weights", "I=0,K=0"], "--weights: the weights sum to 0"),
        (["--rule", RULE, "--weights", "I=-1"], "expected a number of at least 0"),
        (["--rule", RULE, "--weights", "I:1"], "expected columns with their weights, each once, such as I=.7,C=.1"),
        (["--rule", RULE, "--weights", "Z=1"], "the rule has no weight for 'Z'"),
        (["--rule", RULE, "--constraint", "I > 1"], None),
        (["--rule", RULE, "--constraint", "I > 2"], "no weights that sum to 1 meet I > 2; loosen one"),
        (["--rule", RULE, "--presets", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["--rule", RULE, "--se", "I"], "expected COMPONENT=COLUMN, such as I=I_se"),
        (["--rule", RULE, "--se", "I=system"], "holds no number"),
        (["--rule", RULE, "--score", "scoer"], "did you mean 'score'?"),
        (["--rule", "mean(a: 0, b: 0)", "--alias", "a=I", "--alias", "b=K"], "weights"),
        (["--rule", "mean(log(I - 100), K)"], "no row of"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(evenhand, board, arguments, words):
    done = evenhand("rank", "reweight", board, *arguments, "--draws", 200)
    if words is None:  # a weight of 1 and no more: the border is allowed
        assert done.code == 0
        return
    assert done.code == 2
    assert done.out == ""
    assert words in done.err
    assert done.err.startswith("error: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "expected 1 to 200 presets"),
        ("a: {I: x}", "the weight of 'I' is 'x'; expected a number"),
        ("a: {I: -1}", "expected a number of at least 0"),
        ("a: 3", "holds '3'; expected weights such as {I: 0.7}"),
        ("a: {I: .inf}", "expected a number of at least 0"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: {I: [*b, *b]}", "'a': holds a list; expected weights"),
        ("a: {I: [", "presets.yaml line 1: is no YAML"),
        ("a: {Z: 1}", "preset 'a': the rule has no weight for 'Z'"),
        ("? !!python/object/apply:os.system [true] : {I: 1}", "is no YAML"),
        ("[" * 2000, "is no YAML"),
    ],
)
def test_presets_that_cannot_be_used_are_refused(evenhand, board, tmp_path, text, words):
    (tmp_path / "presets.yaml").write_text(text)
    done = evenhand("rank", "reweight", board, "--rule", RULE, "--presets", "presets.yaml", "--draws", 200)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_page_with_scripts_and_spans_is_ranked_too(evenhand, tmp_path):
    page = tmp_path / "board.html"
    page.write_text(
        "<script>alert('<table><tr><td>9')</script><table><thead><tr><th rowspan=2>Model</th><th colspan=2>Math</th>"
        "</tr><tr><th>easy</th><th>hard</th></tr></thead><tr><td>Ash<script>x()</script></td><td>80.5</td><td>40.5</td>"
        "</tr><tr><td>Birch</td><td colspan=2>55.5</td></tr></table>"
    )
    document = evenhand("rank", "reweight", page, "--rule", "mean(easy, hard)", "--draws", 500, "--json").document
    assert document["leader"] == "Ash"
    assert document["table"]["form"] == "HTML"
    assert document["weights"] == {"Math easy": 0.5, "Math hard": 0.5}
    json.dumps(document, allow_nan=False)


def test_one_system_and_none_with_a_score_are_said(evenhand, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("system,a,b\nAsh,5,6\n")
    done = evenhand("rank", "reweight", path, "--rule", "geomean(a, b)", "--draws", 200)
    assert done.code == 0
    assert "flip     none: no allowed weights lift another system to the leader" in done.out
    path.write_text("system,a,b\nAsh,5,\nElm,,6\n")
    done = evenhand("rank", "reweight", path, "--rule", "geomean(a, b)", "--draws", 200)
    assert done.code == 2
    assert "no row of" in done.err
