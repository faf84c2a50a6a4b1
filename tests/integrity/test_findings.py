"""The flaw classes are seen where they are, and nowhere else."""

import pytest

from evenhand.integrity.channel import ControlResult
from evenhand.integrity.findings import (
    FLAWS,
    Sight,
    channel_findings,
    code_findings,
    sight_findings,
    template_findings,
)
from evenhand.integrity.templates import read_template


def result(control: str, got: str = "accepted") -> ControlResult:
    return ControlResult(item="i1", control=control, expected=None, got=got)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("control", "flaw"),
    [("superset", "V5"), ("hedged", "V5"), ("truncated", "V5"), ("empty", "V6"), ("refusal", "V6"),
     ("exception", "V6"), ("planted_reward", "V7")],
)  # fmt: skip
def test_an_accepted_control_is_a_finding_of_its_class(control: str, flaw: str) -> None:
    assert [found.flaw for found in channel_findings([result(control)])] == [flaw]
    assert channel_findings([result(control, "rejected")]) == []


def test_what_could_not_be_graded_is_a_gap() -> None:
    assert [found.flaw for found in channel_findings([result("gold", "not graded")])] == ["V6"]


@pytest.mark.parametrize(
    ("what", "flaw"),
    [("writable evaluator", "V1"), ("answer", "V2"), ("plantable reward", "V7"), ("verifier state", "V7"),
     ("runs as root", "V8"), ("network", "V8")],
)  # fmt: skip
def test_what_the_probe_saw_is_a_finding_of_its_class(what: str, flaw: str) -> None:
    found = sight_findings([Sight(what=what, where="/x"), Sight(what=what, where="/y"), Sight(what=what, where="/x")])
    assert [(one.flaw, one.where, one.n) for one in found] == [(flaw, ("/x", "/y"), 2)]


@pytest.mark.parametrize(
    "line",
    ["eval(x)", "exec(x)", "os.system(x)", "pickle.loads(x)", "subprocess.run(x, shell=True)", "yaml.load(x)"],
)
def test_a_checker_that_executes_its_input_is_seen(line: str) -> None:
    assert [found.flaw for found in code_findings(f"def check(x):\n    return {line}\n", "c.py")] == ["V3"]


@pytest.mark.parametrize("source", ["int(x)", "eval('1 + 1')", "subprocess.run(['ls'])", "def broken(", "\0"])
def test_a_checker_that_does_not_is_not(source: str) -> None:
    assert code_findings(source, "c.py") == []


def test_a_candidate_without_marks_around_it_is_seen() -> None:
    bare = read_template("Question: {task}\nAnswer: {candidate}\n")
    marked = read_template("Question: {task}\n<answer>\n{candidate}\n</answer>\n")
    assert [found.flaw for found in template_findings(bare, "t.txt")] == ["V4"]
    assert template_findings(marked, "t.txt") == []
    assert template_findings(read_template("Only {task}"), "t.txt") == []


def test_every_class_has_its_title_in_the_document() -> None:
    assert list(FLAWS) == [f"V{n}" for n in range(1, 9)]
    found = channel_findings([result("superset")])[0].document()
    assert found["title"] == FLAWS["V5"]
