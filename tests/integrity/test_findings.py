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
     ("exception", "V6"), ("planted_reward", "V7"), ("early_exit", "V7"), ("always_equal", "V7")],
)  # fmt: skip
def test_an_accepted_control_is_a_finding_of_its_class(control: str, flaw: str) -> None:
    assert [found.flaw for found in channel_findings([result(control)])] == [flaw]
    assert channel_findings([result(control, "rejected")]) == []


def test_an_item_is_named_once_however_many_of_its_controls_are_meant() -> None:
    found = channel_findings([result("gold", "not graded"), result("empty", "not graded")])
    assert [(one.where, one.n) for one in found] == [(("i1",), 2)]


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


@pytest.mark.parametrize(
    "source",
    [
        "compile(x, '', 'exec')", "__import__('os').system(x)", "from os import system as s\ns(x)",
        "import os as o\no.system(x)", "import pickle as p\np.load(x)", "import builtins\nbuiltins.eval(x)",
        "e = eval\ne(x)", "import subprocess\nsubprocess.getoutput(x)", "import torch\ntorch.load(x)",
        "import numpy as np\nnp.load(x, allow_pickle=True)", "import pandas as pd\npd.read_pickle(x)",
        "import yaml\nyaml.unsafe_load(x)", "import yaml\nyaml.load(x, Loader=yaml.Loader)",
        "from sympy import sympify\nsympify(x)",
    ],
)  # fmt: skip
def test_no_name_hides_what_executes_its_input(source: str) -> None:
    assert [found.flaw for found in code_findings(source, "c.py")] == ["V3"]


@pytest.mark.parametrize(
    "source",
    [
        "import yaml\nyaml.load(x, Loader=yaml.SafeLoader)", "import yaml\nyaml.safe_load(x)", "model.eval()",
        "import re\nre.compile(x)", "import ast\nast.literal_eval(x)", "import json\njson.loads(x)", "df.eval('a')",
        "import numpy as np\nnp.load(x)", "s = 'eval(x)'  # eval(x)",
    ],
)  # fmt: skip
def test_what_only_sounds_like_it_is_no_finding(source: str) -> None:
    assert code_findings(source, "c.py") == []


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
