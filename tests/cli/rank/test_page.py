"""`evenhand rank page`, as its user meets it."""

import json
import random

import pytest
from typer.testing import CliRunner

from evenhand.cli.main import app
from evenhand.errors import InvalidInput

BOARD = "system,acc,spd,score\nCrane,80.0,60.0,70.0\nHeron,60.0,79.0,69.5\nIbis,70.0,50.0,60.0\n"


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text(BOARD, "utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["rank", "page", *map(str, arguments)])


def test_the_page_is_written_and_what_was_read_is_said(board, tmp_path):
    done = run(board, "--rule", "mean(acc, spd)", "--score", "score", "-o", tmp_path / "board.html")
    assert done.exit_code == 0, done.output
    assert "wrote" in done.stdout
    page = (tmp_path / "board.html").read_text("utf-8")
    assert "<title>board</title>" in page
    assert 'id="banner"' not in page


def test_json_says_verdict_and_shares(board, tmp_path):
    rule = "geomean(acc, spd)"
    done = run(board, "--rule", rule, "--score", "score", "-o", tmp_path / "p.html", "--json", "--seed", 3)
    found = json.loads(done.stdout)
    assert found["verdict"] == "refuted"
    assert found["shares"]["seed"] == 3
    assert sum(one["share"] for one in found["shares"]["leaders"]) == pytest.approx(1)
    assert (tmp_path / "p.html").stat().st_size == found["bytes"]


def test_a_rule_without_weights_to_draw_still_has_a_page(board, tmp_path):
    done = run(board, "--rule", "max(acc, spd)", "-o", tmp_path / "p.html")
    assert done.exit_code == 0
    assert "no leader's shares were drawn beforehand" in done.stderr


def test_presets_of_a_file_are_on_the_page(board, tmp_path):
    (tmp_path / "presets.yaml").write_text("speed first:\n  spd: 0.8\n", "utf-8")
    run(board, "--rule", "mean(acc, spd)", "--presets", tmp_path / "presets.yaml", "-o", tmp_path / "p.html")
    assert '{"name":"speed first","weights":[' in (tmp_path / "p.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("page.pdf", "mean(acc, spd)", "name the file .html"),
        ("page.html", "mean(acc, sdp)", "did you mean"),
        ("page.html", "acc", "nothing in it is weighed"),
    ],
)
def test_a_mistake_leaves_no_page_behind(board, tmp_path, name, rule, said):
    done = run(board, "--rule", rule, "-o", tmp_path / name)
    assert isinstance(done.exception, InvalidInput)
    assert said in str(done.exception)
    assert not (tmp_path / name).exists()


def test_the_table_is_never_overwritten(tmp_path):
    path = tmp_path / "board.html"
    path.write_text("<table><tr><th>s<th>a<th>b<tr><td>x<td>1<td>2<tr><td>y<td>2<td>3</table>", "utf-8")
    done = run(path, "--rule", "mean(a, b)", "-o", path)
    assert "this is the table that is read" in str(done.exception)


def test_the_shares_of_the_page_are_those_of_reweight(tmp_path):
    rng = random.Random(8)
    path = tmp_path / "board.csv"
    rows = [f"s{k}," + ",".join(f"{rng.uniform(5, 95):.1f}" for _ in range(4)) for k in range(30)]
    path.write_text("system,a,b,c,score\n" + "\n".join(rows) + "\n", "utf-8")
    options = ["--rule", "geomean(a, b, c) * gate(a, 40)", "--score", "score", "--seed", "4", "--json"]
    page = json.loads(run(path, *options, "-o", tmp_path / "p.html").stdout)
    other = json.loads(CliRunner().invoke(app, ["rank", "reweight", str(path), *options]).stdout)
    assert {one["name"]: one["share"] for one in page["shares"]["leaders"]} == {
        name: share["value"] for name, share in other["shares"].items() if share["value"] > 0
    }


@pytest.mark.parametrize(("command", "options"), [("verify", ["--rule", "mean(acc, spd)"]), ("recover", [])])
def test_a_score_that_is_not_named_is_asked_for_with_the_columns_there_are(board, command, options):
    done = CliRunner().invoke(app, ["rank", command, str(board), *options])
    assert isinstance(done.exception, InvalidInput)
    assert "--score COLUMN" in str(done.exception)
    assert "acc, spd, score" in str(done.exception)


@pytest.mark.parametrize("command", ["verify", "reweight", "page"])
def test_a_rule_that_nobody_states_is_searched_for_elsewhere(board, tmp_path, command):
    options = ["-o", str(tmp_path / "p.html")] if command == "page" else []
    done = CliRunner().invoke(app, ["rank", command, str(board), "--score", "score", *options])
    assert isinstance(done.exception, InvalidInput)
    assert "evenhand rank recover" in str(done.exception)
