"""`evenhand study`: variants run, recorded and held against the truth; a scripted model answers."""

import csv
import json

import pytest

from evenhand.store.records import read_records

NUMBER = """
name: {name}
protocol: number
models: [scripted/{name}.jsonl]
criteria:
  - {{id: q, ask: How good is it?, levels: [1, 5]}}
"""


@pytest.fixture
def desk(tmp_path, evenhand):
    """Two variants, ten items with grades and a known answer, and the replies of both."""
    items = [{"id": f"i{k}", "candidate": f"text {k} " * (k + 1), "known": 1 + k % 5} for k in range(10)]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    (tmp_path / "g.csv").write_text(
        "item,anna,ben\n" + "".join(f"i{k},{1 + k % 5},{1 + (k + 1) % 5}\n" for k in range(10))
    )

    def replies(name, ratings):
        (tmp_path / f"{name}.yaml").write_text(NUMBER.format(name=name))
        lines = (
            json.dumps(
                {"criteria": [{"id": "q", "reason": "so", "rating": rating}]} if isinstance(rating, int) else rating
            )
            for rating in ratings
        )
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        return f"{name}.yaml"

    return replies


def run(evenhand, *arguments):
    return evenhand("study", *arguments, "--scale", "1:5", "--resamples", 199, "-j", 1)


def test_a_study_writes_records_table_and_document(desk, evenhand, tmp_path):
    right, seven = desk("right", [1 + k % 5 for k in range(10) for _ in range(2)]), desk("same", [3])
    done = run(evenhand, right, seven, "items.jsonl", "--grades", "g.csv", "--reruns", 2, "-o", "out", "--json")
    assert done.code == 0, done.err
    found = done.document
    assert json.loads((tmp_path / "out/study.json").read_text()) == found
    assert [row["variant"] for row in found["table"]] == ["right", "same"]
    first, second = found["table"]
    assert (first["n_items"], first["reruns"], first["verdict"], first["failed"]) == (10, 2, 20, 0)
    assert second["rho"] is None
    assert second["rho_undefined"] == "the judge gave one value"
    assert second["mode_share"] == 1.0
    records = list(read_records(tmp_path / "out/records.jsonl"))
    assert len(records) == 40
    assert {record.judge["name"] for record in records} == {"right", "same"}
    with (tmp_path / "out/table.csv").open() as stream:
        assert [row["variant"] for row in csv.DictReader(stream)] == ["right", "same"]
    assert len(found["comparison"]["pairs"]) == 1
    again = run(evenhand, right, seven, "items.jsonl", "--grades", "g.csv", "--reruns", 2, "-o", "again", "--json")
    assert again.document["table"] == found["table"]
    assert (tmp_path / "again/records.jsonl").read_bytes() == (tmp_path / "out/records.jsonl").read_bytes()


def test_the_truth_may_be_a_column_of_the_items(desk, evenhand):
    right = desk("right", [1 + k % 5 for k in range(10)])
    found = run(evenhand, right, "items.jsonl", "--truth", "known", "--reruns", 1, "--json").document
    assert found["table"][0]["rho"] == pytest.approx(1.0)
    assert found["truth"]["raters"] == ["truth"]
    assert found["variants"][0]["ceiling"]["value"] is None
    assert found["comparison"] is None


def test_a_name_that_a_spreadsheet_would_run_stays_text(desk, evenhand, tmp_path):
    desk("right", [1 + k % 5 for k in range(10)])
    judge = (tmp_path / "right.yaml").read_text().replace("name: right", "name: '=1+1'")
    (tmp_path / "formula.yaml").write_text(judge)
    done = run(evenhand, "formula.yaml", "items.jsonl", "--grades", "g.csv", "--reruns", 1, "-o", "out")
    assert done.code == 0, done.err
    assert "\n'=1+1," in (tmp_path / "out/table.csv").read_text()


def test_failures_are_counted_and_exit_3_and_the_study_is_written_all_the_same(desk, evenhand, tmp_path):
    judge = desk("right", [*[1 + k % 5 for k in range(9)], {"nothing": "readable"}])
    done = run(evenhand, judge, "items.jsonl", "--grades", "g.csv", "--reruns", 1, "-o", "out", "--json")
    assert done.code == 3
    assert done.document["table"][0]["failed"] >= 1
    assert (tmp_path / "out/study.json").exists()


def test_a_study_without_any_score_could_not_be_measured(desk, evenhand, tmp_path):
    judge = desk("right", [{"nothing": "readable"}])
    done = run(evenhand, judge, "items.jsonl", "--grades", "g.csv", "--reruns", 1, "-o", "out")
    assert done.code == 3
    assert "no variant reached a score" in done.err
    assert len(list(read_records(tmp_path / "out/records.jsonl"))) == 10


def test_a_dry_run_sends_and_writes_nothing(desk, evenhand, tmp_path):
    judge = desk("right", [1])
    done = run(evenhand, judge, "items.jsonl", "--grades", "g.csv", "--dry-run")
    assert done.code == 0
    assert "right: 50 calls to send" in done.out
    assert not (tmp_path / ".evenhand").exists()


def test_the_table_for_people_has_every_variant(desk, evenhand):
    right, other = desk("right", [1 + k % 5 for k in range(10)]), desk("other", [5 - k % 5 for k in range(10)])
    done = run(evenhand, right, other, "items.jsonl", "--grades", "g.csv", "--reruns", 1)
    assert done.code == 0, done.err
    assert "2 variants against g.csv" in done.out
    for word in ("right", "other", "rho", "mode", "rerun SD", "ceiling", "detectable"):
        assert word in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("items.jsonl", "--grades", "g.csv"), "one path only"),
        (("right.yaml", "items.jsonl"), "--grades G, or by --truth"),
        (("right.yaml", "items.jsonl", "--grades", "g.csv", "--truth", "known"), "one of them"),
        (("right.yaml", "right.yaml", "items.jsonl", "--grades", "g.csv"), "two judges are called 'right'"),
        (("right.yaml", "items.jsonl", "--truth", "nowhere"), "no item has a number in it"),
        (("right.yaml", "items.jsonl", "--truth", "known", "-o", "g.csv"), "is a file"),
        (("right.yaml", "items.jsonl", "--grades", "other.csv"), "no such file"),
    ],
)
def test_a_wrong_study_is_one_sentence_before_anything_is_asked(desk, evenhand, tmp_path, arguments, sentence):
    desk("right", [1])
    done = run(evenhand, *arguments)
    assert done.code == 2
    assert sentence in done.err
    assert not (tmp_path / ".evenhand").exists()


@pytest.fixture
def written(desk, evenhand, tmp_path):
    """A study of two variants on disk, with its page and its pictures."""
    pytest.importorskip("altair", reason="needs the extra figures: pip install 'evenhand[figures]'")
    right, other = desk("right", [1 + k % 5 for k in range(10)]), desk("other", [5 - k % 5 for k in range(10)])

    def made(plot):
        options = ("--grades", "g.csv", "--reruns", 1, "-o", "out", "--plot", plot)
        done = run(evenhand, right, other, "items.jsonl", *options)
        assert done.code == 0, done.err
        return tmp_path / "out"

    return made


def test_the_written_page_shows_every_variant_with_n_interval_and_ceiling(written):
    page = (written("svg") / "report.html").read_text()
    for words in ("The study in one figure", "right", "other", "n 10 items", "ceiling", "95 % interval", "unknown"):
        assert words in page, words
    assert page.count("<svg") >= 2
    assert "<script" not in page
    assert " src=" not in page  # one file, nothing loaded


@pytest.mark.parametrize(("plot", "begins"), [("png", b"\x89PNG\r\n\x1a\n"), ("svg", b"<svg")])
def test_pictures_stand_beside_the_page_in_the_form_that_was_asked_for(written, plot, begins):
    folder = written(plot)
    pictures = sorted(folder.glob(f"*.{plot}"))
    assert "report-study" in {path.stem for path in pictures}
    for path in pictures:
        assert path.read_bytes().startswith(begins), path.name
        assert path.stat().st_size > 1000


def test_pictures_are_written_without_a_folder_too(desk, evenhand, tmp_path):
    pytest.importorskip("altair", reason="needs the extra figures: pip install 'evenhand[figures]'")
    right = desk("right", [1 + k % 5 for k in range(10)])
    done = run(evenhand, right, "items.jsonl", "--grades", "g.csv", "--reruns", 1, "--plot", "svg")
    assert done.code == 0, done.err
    assert list(tmp_path.glob("study-*.svg"))


@pytest.mark.parametrize(
    ("folder", "options", "sentence"),
    [
        ("out", ("--grades", "out/table.csv"), "out/table.csv is read, and would be written over"),
        ("{here}/out", ("--grades", "out/table.csv"), "is read, and would be written over"),
        ("taken", ("--grades", "g.csv"), "holds a folder study.json"),
        ("g.csv", ("--grades", "g.csv"), "is a file"),
        ("g.csv/out", ("--grades", "g.csv"), "cannot be made"),
        ("new", ("--grades", "g.csv", "--plot", "pdf"), "expected png or svg"),
        ("new", ("--grades", "g.csv", "--cluster", "nobody"), "--cluster 'nobody'"),
        ("new", ("--grades", "strange.csv"), "none of its 2 graded items (such as 'x0') is among the items"),
    ],
)
def test_a_folder_that_cannot_hold_the_study_is_refused_before_anything_is_asked(
    desk, evenhand, tmp_path, folder, options, sentence
):
    judge = desk("right", [1 + k % 5 for k in range(10)])
    (tmp_path / "out").mkdir()
    (tmp_path / "taken" / "study.json").mkdir(parents=True)
    grades = (tmp_path / "g.csv").read_bytes()
    (tmp_path / "strange.csv").write_text("item,anna\nx0,3\nx1,4\n")
    (tmp_path / "out/table.csv").write_bytes(grades)
    done = run(evenhand, judge, "items.jsonl", *options, "-o", folder.format(here=tmp_path))
    assert done.code == 2
    assert sentence in done.err
    assert (tmp_path / "out/table.csv").read_bytes() == grades
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / ".evenhand").exists()


def test_a_dry_run_makes_no_folder(desk, evenhand, tmp_path):
    judge = desk("right", [1])
    assert run(evenhand, judge, "items.jsonl", "--grades", "g.csv", "--dry-run", "-o", "out").code == 0
    assert not (tmp_path / "out").exists()
