"""`-o` and `--plot` of diagnose, validate, compare and probe: named, whole or not there, and never over an input."""

import json

import pytest

from evenhand.report import chart_kit

pytest.importorskip("altair", reason="figures need the extra `figures`")
pytest.importorskip("vl_convert", reason="figures need the extra `figures`")


@pytest.fixture
def scores(tmp_path):
    """Two judges on twelve items with two reruns, and three raters."""
    rows = [
        f"i{k},{judge},{run},{1 + (k + run + len(judge)) % 5}\n"
        for k in range(12)
        for judge in ("a", "bb")
        for run in (1, 2)
    ]
    (tmp_path / "s.csv").write_text("item,judge,run,score\n" + "".join(rows))
    (tmp_path / "g.csv").write_text(
        "item,anna,ben,carla\n" + "".join(f"i{k},{1 + k % 5},{1 + (k + 1) % 5},{1 + k % 4}\n" for k in range(12))
    )
    (tmp_path / "runs").mkdir()
    for k in range(12):
        (tmp_path / f"runs/run-{k:03d}.json").write_text(json.dumps({"scores": [1, 5, 9 + k % 2]}))
    return tmp_path


COMMANDS = {
    "diagnose": ["diagnose", "s.csv", "--scale", "1:5"],
    "validate": ["validate", "s.csv", "--grades", "g.csv", "--only", "a", "--scale", "1:5", "--resamples", 99],
    "validate-all": ["validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99],
    "compare": ["compare", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99],
    "probe": ["probe", "--runs-dir", "runs", "--n-items", 3, "--resamples", 100],
}
FIGURES = {
    "diagnose": {"distribution", "levels-by-judge"},
    "validate": {"judge-against-humans", "agreement", "distribution", "reruns"},
    "validate-all": {"agreement", "levels"},
    "compare": {"judges", "differences"},
    "probe": {"histogram", "items"},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_page_markdown_document_and_pictures_are_written(command, scores, evenhand):
    done = evenhand(*COMMANDS[command], "-o", "r.html", "-o", "r.md", "-o", "r.json", "--plot", "svg", "--json")
    assert done.code == 0, done.err
    assert (scores / "r.html").read_text().startswith("<!doctype html>")
    assert (scores / "r.md").read_text().startswith("# ")
    assert json.loads((scores / "r.json").read_text()) == done.document
    pictures = {path.stem.removeprefix("r-") for path in scores.glob("r-*.svg")}
    assert pictures == FIGURES[command]
    assert all(f"written  r-{name}.svg" in done.err for name in pictures)


def test_pictures_without_a_report_bear_the_name_of_the_command(scores, evenhand):
    done = evenhand(*COMMANDS["diagnose"], "--plot", "png")
    assert done.code == 0, done.err
    assert {path.name for path in scores.glob("*.png")} == {"diagnose-distribution.png", "diagnose-levels-by-judge.png"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "r.pdf"], "the form is chosen by the ending; name the file .html, .md or .json"),
        (["--plot", "gif"], "expected png or svg"),
        (["-o", "./s.csv"], "the form is chosen by the ending"),
        (["-o", "nowhere/r.html"], "there is no folder nowhere; make it first"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_sentence(arguments, words, scores, evenhand):
    before = sorted(scores.iterdir())
    done = evenhand(*COMMANDS["diagnose"], *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert sorted(scores.iterdir()) == before


def test_the_input_is_never_written_over(scores, evenhand):
    (scores / "s.json").write_text('[{"score": 3}]')
    done = evenhand("diagnose", "s.json", "-o", "s.json")
    assert done.code == 2
    assert "this is the file that is read" in done.err
    assert (scores / "s.json").read_text() == '[{"score": 3}]'


def test_without_the_extra_a_page_is_refused_at_once_and_markdown_is_not(scores, evenhand, monkeypatch):
    monkeypatch.setattr(chart_kit, "find_spec", lambda name: None)
    done = evenhand(*COMMANDS["diagnose"], "-o", "r.html")
    assert done.code == 2
    assert 'figures need the extra "figures"; install it with: pip install "evenhand[figures]"' in done.err
    assert not (scores / "r.html").exists()
    assert evenhand(*COMMANDS["diagnose"], "-o", "r.md").code == 0
    assert "## Distribution" in (scores / "r.md").read_text()
