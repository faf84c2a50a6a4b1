"""`evenhand audit`: what it prints, how it ends, and that its JSON is what the schema says."""

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema to hold the output to the published schema")

Audit = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "audit"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLES, tmp_path / "audit")


@pytest.fixture
def evenhand(evenhand_process: list[str]) -> Audit:
    """Runs `evenhand audit ...` in a folder, as a process of its own."""
    return lambda folder, *words: subprocess.run(
        [*evenhand_process, "audit", *words], cwd=folder, capture_output=True, text=True, timeout=180
    )


def schema() -> dict[str, object]:
    found: dict[str, object] = json.loads(files("evenhand.audit").joinpath("data", "audit.schema.json").read_text())
    return found


def validated(text: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(text)
    jsonschema.Draft202012Validator(schema()).validate(document)
    return document


def test_the_schema_is_a_schema_and_is_printed(evenhand: Audit, folder: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert json.loads(evenhand(folder, "--schema").stdout) == schema()


def test_many_audits_are_what_the_studys_schema_says_and_show_a_line_each(evenhand: Audit, folder: Path) -> None:
    form = json.loads(evenhand(folder, "--schema", "--study", ".").stdout)
    jsonschema.Draft202012Validator.check_schema(form)
    (folder / "broken.yaml").write_text("task: {class: other}\n")
    (folder / "sealed.yaml").write_text("task: {class: code}\nenvironment: {enter: env -i PATH=/none}\n")
    (folder / "naive.yaml").unlink()
    (folder / "sound.yaml").unlink()
    done = evenhand(folder, "--study", ".", "--json")
    assert done.returncode == 3
    jsonschema.Draft202012Validator(form).validate(json.loads(done.stdout))
    shown = evenhand(folder, "--study", ".").stdout
    assert "sealed.yaml           insufficient insufficient insufficient insufficient" in shown
    assert max(map(len, shown.splitlines())) < 80


def test_several_steps_are_listed_in_the_json_on_the_page_and_on_the_terminal(evenhand: Audit, folder: Path) -> None:
    (folder / "steps.yaml").write_text(
        "task: {class: code}\nenvironment:\n  enter:\n    - {step: fix, enter: env -i PATH=/none}\n"
        "    - {step: review, enter: [env, -i, PATH=/none]}\n"
    )
    done = evenhand(folder, "steps.yaml", "--json", "-o", "steps.html")
    found = validated(done.stdout)["criteria"]["C3"]["evidence"]["steps"]  # type: ignore[index]
    assert [(one["step"], one["enter"]) for one in found] == [
        ("fix", ["env", "-i", "PATH=/none"]), ("review", ["env", "-i", "PATH=/none"]),
    ]  # fmt: skip
    page = (folder / "steps.html").read_text()
    assert "Step by step" in page
    assert "env -i PATH=/none" in page
    shown = evenhand(folder, "steps.yaml").stdout
    assert "    step fix: insufficient evidence\n    step review: insufficient evidence\n" in shown


def test_an_audit_fits_80_columns(evenhand: Audit, folder: Path) -> None:
    assert max(map(len, evenhand(folder, "naive.yaml", "--control-items", "20").stdout.splitlines())) < 80


def test_a_naive_evaluator_fails_and_exits_1(evenhand: Audit, folder: Path) -> None:
    done = evenhand(folder, "naive.yaml", "--control-items", "20")
    assert done.returncode == 1
    assert "C1  FAIL" in done.stdout
    assert "C2  FAIL" in done.stdout
    assert "superset 20, hedged 20" in done.stdout
    assert "an always-pass channel would have accepted 20/20" in done.stdout
    assert "matchers' own controls" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_sound_one_exits_by_what_is_required_and_its_json_validates(evenhand: Audit, folder: Path) -> None:
    done = evenhand(folder, "sound.yaml", "--json", "--require", "c1,C2", "-o", "page.html")
    assert done.returncode == 0, done.stdout
    document = validated(done.stdout)
    assert document["criteria_version"] == "0.1"
    assert document["population"] == "verifiable"
    words = {name: found["verdict"] for name, found in document["criteria"].items()}
    assert words == {"C1": "pass", "C2": "pass", "C3": "insufficient evidence", "C4": "insufficient evidence"}
    assert document["waivers"] == [
        {"criterion": "C3", "date": "2026-11-02", "verdict": "insufficient evidence",
         "reason": "the solver is a bare model behind an API and runs no code"}
    ]  # fmt: skip
    assert "Waived on 2026-11-02" in (folder / "page.html").read_text()


def test_insufficient_evidence_exits_3_and_the_file_equals_the_output(evenhand: Audit, folder: Path) -> None:
    done = evenhand(folder, "sound.yaml", "--json", "-o", "audit.json")
    assert done.returncode == 3
    assert validated((folder / "audit.json").read_text()) == json.loads(done.stdout)


def test_a_subjective_configuration_is_a_population_of_its_own(evenhand: Audit, folder: Path) -> None:
    (folder / "essay.yaml").write_text(
        "task: {class: subjective}\njudge: {kind: template, path: solve_first.txt}\n"
        "channel: {kind: command, run: sh -c false}\n"
    )
    document = validated(evenhand(folder, "essay.yaml", "--json").stdout)
    assert document["population"] == "subjective"
    words = [found["verdict"] for found in document["criteria"].values()]
    assert words == ["not applicable", "not applicable", "insufficient evidence", "insufficient evidence"]


def test_a_study_reports_both_populations_and_a_broken_configuration_costs_the_others_nothing(
    evenhand: Audit, folder: Path
) -> None:
    (folder / "essay.yaml").write_text("task: {class: subjective}\n")
    (folder / "broken.yaml").write_text("task: {class: essays}\n")
    done = evenhand(folder, "--study", ".", "--json", "--control-items", "20", "-o", "study.html")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    for audit in document["audits"]:
        validated(json.dumps(audit))
    assert {name: found["n"] for name, found in document["populations"].items()} == {"verifiable": 2, "subjective": 1}
    assert document["populations"]["verifiable"]["criteria"]["C2"]["fail"] == 1
    assert document["populations"]["verifiable"]["feedback"] == {"held_out": 1, "exposed": 1, "unknown": 0}
    assert [one["config"] for one in document["broken"]] == ["broken.yaml"]
    page = (folder / "study.html").read_text()
    assert "subjective: 1 configuration" in page
    assert "Not audited: 1 configuration" in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gone.yaml"], "no such file"),
        ([], "evenhand audit"),
        (["sound.yaml", "--require", "C7"], "no such criterion"),
        (["sound.yaml", "--require", ","], "names no criterion"),
        (["sound.yaml", "--tasks", "best"], "expected worst or most"),
        (["sound.yaml", "--study", "."], "either a configuration"),
        (["sound.yaml", "-o", "page.pdf"], ".html or .json"),
        (["sound.yaml", "-o", "gone/page.html"], "make it first"),
        (["--study", "gone"], "no such folder"),
    ],
)
def test_a_wrong_call_is_one_sentence(evenhand: Audit, folder: Path, words: list[str], says: str) -> None:
    done = evenhand(folder, *words)
    assert done.returncode == (2 if words else 0)
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_foreign_text_reaches_no_terminal(evenhand: Audit, folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    rows[0]["id"] = "q\x1b[31m01"
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = evenhand(folder, "naive.yaml", "--control-items", "20", "-o", "page.html")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\\x1b[31m01" in done.stdout
    assert "\x1b" not in (folder / "page.html").read_text()
