"""`evenhand score` as a user meets it: real files, a real process where streams and exit codes matter."""

import json
import os
import subprocess
import sys
import threading

import pytest
import typer
from typer.testing import CliRunner

from evenhand.cli.score import score
from evenhand.errors import InvalidInput

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(score)


def run(*arguments, stdin=None):
    """The command in this process; (stdout, stderr)."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def document(*arguments, **how):
    return json.loads(run(*arguments, "--json", **how)[0])


def refused(*arguments):
    """The one sentence of what is refused."""
    with pytest.raises(InvalidInput) as caught:
        CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def file(tmp_path):
    def write(content, name="e.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def items(*rows):
    names = ("impact", "criterion", "perspective", "pass")
    return [dict(zip(names, row if isinstance(row, tuple) else (row,), strict=False)) for row in rows]


POOL_FIELDS = {
    *("score", "exact", "confidence", "net_impact", "total_items", "normalized", "raw", "density", "multiplier"),
}


def test_one_pool_has_the_documented_fields(file):
    found = document(file(items(3, 3, -1, -1)))
    assert found == {
        "score": 63,
        "exact": 62.8,
        "confidence": 0.2,
        "net_impact": 4,
        "total_items": 4,
        "normalized": 2.0,
        "raw": 66.0,
        "density": 0.2,
        "multiplier": 0.8,
        "flags": [],
    }


@pytest.mark.parametrize(
    ("net", "n", "score", "confidence"), [(25, 25, 90, 1.0), (25, 4, 90, 0.2), (0, 20, 50, 1.0), (-15, 25, 26, 1.0)]
)
def test_totals_give_the_worked_examples(net, n, score, confidence):
    found = document("--totals", net, n)
    assert (found["score"], found["confidence"]) == (score, confidence)
    assert found.keys() == POOL_FIELDS | {"flags"}


def test_totals_that_no_items_could_have_are_said_to_be_so():
    out, err = run("--totals", 25, 4)
    assert "rounded half up: 90" in out
    assert "no items can have these totals" in err


def test_criteria_have_the_documented_fields_and_the_whole_comes_from_rounded_finals(file):
    rows = items((3, "a"), (3, "a"), (1, "b"))
    found = document(file({"items": rows, "weights": {"a": 0.525, "b": 0.475}}))
    assert found.keys() == POOL_FIELDS | {"criteria", "span", "self_check", "flags"}
    assert [(made["id"], made["weight"], made["score"]) for made in found["criteria"]] == [
        ("a", 0.525, 76),
        ("b", 0.475, 56),
    ]
    assert all(made.keys() == POOL_FIELDS | {"id", "weight"} for made in found["criteria"])
    assert (found["score"], found["confidence"], found["span"], found["self_check"]) == (67, 0.05, 20, "pass")
    assert (found["net_impact"], found["total_items"], found["normalized"]) == (7, 3, None)


def test_a_failed_self_check_is_reported_and_exits_0(file):
    rows = items((1, "a"), (1, "b"))
    path = file({"items": rows, "weights": {"a": 0.5, "b": 0.5}})
    assert document(path)["self_check"] == "fail"
    assert "the criteria hardly differ" in run(path)[1]


def test_an_empty_criterion_has_no_score_and_is_never_the_centre(file):
    path = file({"items": items((3, "a")), "weights": {"a": 0.5, "b": 0.5}})
    found = document(path)
    assert (found["score"], found["exact"], found["span"], found["self_check"]) == (None, None, None, None)
    assert (found["criteria"][1]["score"], found["criteria"][1]["raw"]) == (None, None)
    assert found["confidence"] == 0
    out, err = run(path)
    assert "empty" in out
    assert "the criterion 'b' is empty" in err
    assert " 50\n" not in out


def test_no_items_at_all_are_no_score(file):
    assert document(file([]))["score"] is None
    assert document("--totals", 0, 0)["score"] is None
    assert "there is no score" in run(file([]))[1]


def test_criteria_without_weights_weigh_the_same_and_that_is_said(file):
    path = file(items((3, "a"), (3, "a"), (1, "b")))
    assert document(path)["score"] == 66
    assert "states no weights" in run(path)[1]


def test_the_four_buckets_are_one_pool(file):
    path = file({"evidence": {"working": [{"value": 3, "text": "t"}], "missing": [{"value": -2}]}})
    assert document(path)["net_impact"] == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.yaml", "- {impact: +3}\n- {impact: -1}\n"),
        ("e.jsonl", '{"impact": 3}\n{"impact": -1}\n'),
        ("e.txt", '[{"impact": 3}, {"impact": -1}]'),
    ],
)
def test_every_format_gives_the_same(file, name, content):
    assert document(file(content, name)) == document(file(items(3, -1)))


def test_variant_and_set_change_the_formula(file):
    path = file(items(-3, -3, -1))
    assert document(path, "--variant", "ranked")["normalized"] == pytest.approx(-4.5605, abs=1e-4)
    assert document("--totals", -15, 25, "--set", "scale=6")["score"] == 32
    assert document("--totals", 40, 50, "--variant", "density-amplified")["score"] == 107
    out, err = run("--totals", 40, 50, "--variant", "density-amplified", "--set", "min_span=3")
    assert "variant density-amplified, min_span 3" in out
    assert "off the scale" in err


def test_an_item_that_moves_the_score_against_its_sign_is_flagged(file):
    path = file(items(-3, -3, -1))
    assert "against_sign" in document(path)["flags"]
    assert "against_sign" not in document(path, "--variant", "ranked")["flags"]


def test_a_cap_exists_only_where_criterion_and_perspective_stand(file):
    crowd = items(*[(1, "a", "sme")] * 6)
    assert "[5] is one more than the cap of 5 for criterion 'a', perspective 'sme'" in refused(file(crowd))
    assert document(file(crowd), "--set", "cap=6")["total_items"] == 6
    assert document(file(items(*[(1, "a")] * 6)))["total_items"] == 6
    assert document(file(items(*[(1, None, "sme")] * 6)))["total_items"] == 6
    passes = items(*[(1, "a", "sme", "code")] * 5, *[(1, "a", "sme", "demo")] * 5)
    assert document(file(passes))["total_items"] == 10
    uncounted = [{**row, "counted": False} for row in crowd[:1]] + crowd[1:]
    assert document(file(uncounted))["total_items"] == 5


def test_what_is_wrong_is_refused_by_item(file):
    weights = {"a": 0.5, "b": 0.5}
    assert "items[1] names no criterion although weights" in refused(
        file({"items": items((3, "a"), 3), "weights": weights})
    )
    assert "items[0].criterion is 'aa', which has no weight; did you mean 'a'" in refused(
        file({"items": items((3, "aa")), "weights": weights})
    )
    assert "e.json: weights: 0.4 + 0.4 is 0.8" in refused(
        file({"items": items((3, "a")), "weights": {"a": 0.4, "b": 0.4}})
    )
    assert "[1] names no criterion while other items do" in refused(file(items((3, "a"), 3)))
    assert "[0] is the only item, and the variant 'log'" in refused(file(items(3)), "--variant", "log")
    assert "[2] is the only item of the criterion 'b'" in refused(
        file(items((3, "a"), (3, "a"), (1, "b"))), "--variant", "log"
    )
    assert "'ranked' orders items by magnitude" in refused("--totals", 25, 25, "--variant", "ranked")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name an EVIDENCE file or give --totals"),
        (("--totals", "x", "1"), "NET is 'x'"),
        (("--totals", "1", "2.5"), "COUNT is '2.5'"),
        (("--totals", "1", "9" * 5000), "COUNT is"),
        (("--totals", "1", "-1"), "expected 0 or more items"),
        (("--totals", "1", "1", "--set", "scale"), "has no `=`"),
        (("--totals", "1", "1", "--set", "scale=x"), "'x' is no number"),
        (("--totals", "1", "1", "--set", "scale=NaN"), "finite"),
        (("--totals", "1", "1", "--set", "scale=1e400"), "1e-9 to 1e9"),
        (("--totals", "1", "1", "--set", "scale=1", "--set", "scale=2"), "given twice"),
        (("--totals", "1", "1", "--set", "sclae=1"), "did you mean 'scale'"),
        (("--totals", "1", "1", "--variant", "prod"), "did you mean 'production'"),
        (("--totals", "1", "1", "-o", "-"), "--json prints the same document on stdout"),
    ],
)
def test_wrong_calls_are_refused_in_one_sentence(arguments, said):
    assert said in refused(*arguments)


def test_evidence_and_totals_together_are_refused(file):
    assert "not both" in refused(file([]), "--totals", "1", "1")


def test_the_document_can_go_to_a_file_which_is_never_the_evidence(file, tmp_path):
    path, target = file(items(3, -1)), tmp_path / "out.json"
    out, _ = run(path, "-o", target)
    assert json.loads(target.read_text()) == document(path)
    assert "rounded half up" in out
    assert "is the evidence itself" in refused(path, "-o", path)
    assert "cannot be written" in refused(path, "-o", tmp_path / "none" / "out.json")
    assert json.loads(path.read_text()) == items(3, -1)


def test_a_link_or_a_device_named_as_output_stays_one(tmp_path):
    link, target, pipe = tmp_path / "link.json", tmp_path / "target.json", tmp_path / "pipe"
    link.symlink_to(target)
    run("--totals", "25", "25", "-o", link)
    assert link.is_symlink()
    assert json.loads(target.read_text())["score"] == 90
    os.mkfifo(pipe)  # stands for /dev/null, which no test should put at risk
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text()))
    texts = []
    reader.start()
    run("--totals", "25", "25", "-o", pipe)
    reader.join(timeout=30)
    assert pipe.is_fifo()
    assert texts == [target.read_text()]


def test_every_line_for_people_fits_eighty_columns(file):
    names = ["a" * 70, "b\x1b[31m\u202eb", "c"]
    rows = items(*[(impact, name) for name in names for impact in (5, 3, 2, 1, -1, -2, -3, -5) * 40])
    for variant in ("production", "ranked", "log"):
        out, _ = run(file(rows), "--variant", variant)
        assert max(map(len, out.splitlines())) <= 80
        assert "\x1b" not in out
        assert "\u202e" not in out


def process(*arguments, stdin=b""):
    code = (
        "import sys, typer\n"
        "from evenhand.cli.score import score\n"
        "from evenhand.cli.output import say\n"
        "from evenhand.errors import EvenhandError\n"
        "app = typer.Typer(pretty_exceptions_enable=False)\n"
        "app.command()(score)\n"
        "try:\n    app()\n"
        "except EvenhandError as error:\n    say(f'error: {error}')\n    sys.exit(2)\n"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], input=stdin, capture_output=True, timeout=60)


def test_standard_input_gives_one_json_document_and_nothing_else_on_stdout():
    done = process(
        "-", "--json", stdin=b'{"items": [{"impact": 3, "criterion": "a"}], "weights": {"a": 0.5, "b": 0.5}}'
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["score"] is None
    assert b"warning: the criterion 'b' is empty" in done.stderr


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"[" * 10**5, b'[{"impact": 1e400}]', b'[{"impact": 3}]\x00'])
def test_nasty_streams_exit_2_with_one_sentence(data):
    done = process("-", stdin=data)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"error: standard input")
    assert done.stderr.count(b"\n") == 1
