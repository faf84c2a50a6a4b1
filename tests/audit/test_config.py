"""Configurations are read strictly, and every mistake is one sentence with its place and the way out."""

from pathlib import Path

import pytest

from evenhand.audit.config import read_config
from evenhand.errors import InvalidInput

WHOLE = """\
version: 0.1
name: mine
task: {class: mathematics, items: items.jsonl}
judge:
  kind: template
  path: judge.txt
  match: {kind: number, tolerance: {absolute: 0.01}}
  outcomes: outcomes.jsonl
channel:
  kind: command
  run: sh check.sh "{candidate}"
  accepts: json
  independent_of_judge: true
  tolerance: 0.05
environment:
  enter: [docker, run, --rm, -i, my/image]
suites:
  visible: tasks.jsonl
  held_out: tasks.jsonl
  incorrect:
    - {path: wrong.jsonl, kind: llm}
feedback: held_out
waivers:
  - {criterion: C3, reason: no egress, date: 2026-11-02}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("items.jsonl", "judge.txt", "outcomes.jsonl", "tasks.jsonl", "wrong.jsonl", "check.py"):
        (tmp_path / name).write_text("")
    return tmp_path


def read(folder: Path, text: str):  # type: ignore[no-untyped-def]
    (folder / "audit.yaml").write_text(text)
    return read_config(folder / "audit.yaml")


def test_a_whole_configuration_is_read(folder: Path) -> None:
    config = read(folder, WHOLE)
    assert config.name == "mine"
    assert config.channel.run == ("sh", "check.sh", "{candidate}")
    assert (config.channel.accepts, config.channel.tolerance) == ("json", 0.05)
    assert config.environment.enter == ("docker", "run", "--rm", "-i", "my/image")
    assert config.judge.match.tolerance.absolute.numerator == 1
    assert config.suites.incorrect[0].kind == "llm"
    assert config.waivers[0].date == "2026-11-02"
    assert config.items == folder / "items.jsonl"


def test_the_least_configuration_names_the_class_of_tasks(folder: Path) -> None:
    config = read(folder, "task: {class: subjective}")
    assert (config.name, config.judge, config.channel, config.feedback) == ("audit", None, None, "unknown")


@pytest.mark.parametrize(
    ("enter", "steps"),
    [
        ("docker run -i my/image", [("", ("docker", "run", "-i", "my/image"))]),
        ("[docker, run, -i, my/image]", [("", ("docker", "run", "-i", "my/image"))]),
        ("[docker exec -i one, docker exec -i 'two three']",
         [("step 1", ("docker", "exec", "-i", "one")), ("step 2", ("docker", "exec", "-i", "two three"))]),
        ("[{step: fix, enter: ssh one}, {enter: [ssh, two]}, ssh three]",
         [("fix", ("ssh", "one")), ("step 2", ("ssh", "two")), ("step 3", ("ssh", "three"))]),
        ("[{step: only, enter: enter-me}]", [("only", ("enter-me",))]),
    ],
)  # fmt: skip
def test_an_environment_is_entered_by_one_command_or_by_one_a_step(
    folder: Path, enter: str, steps: list[tuple[str, tuple[str, ...]]]
) -> None:
    config = read(folder, f"task: {{class: code}}\nenvironment:\n  enter: {enter}\n")
    assert [(step.name, step.enter) for step in config.environment.entries] == steps
    assert bool(config.environment.steps) is bool(steps[0][0])


@pytest.mark.parametrize(
    ("enter", "says"),
    [
        ("[]", r"environment\.enter: expected a command; came an empty list"),
        ("[{step: fix}]", r"line 3: environment\.enter\[0\]\.enter: is missing"),
        ("[{step: a, enter: ssh x}, {step: a, enter: ssh y}]", r"the step 'a' stands here twice"),
        ("[{step: step 2, enter: ssh x}, ssh y]", r"the step 'step 2' stands here twice"),
        ("[{step: a, enter: ssh x}, ssh]", r"environment\.enter: holds steps beside single words"),
        ("[[ssh, x], [ssh, y]]", r"write every step as a mapping of step and enter"),
        ("[{step: a, enter: ssh x, probe: 1}]", r"unknown key 'probe'"),
        ("[{name: a, enter: ssh x}]", r"it is called 'step' here"),
        ('[{step: a, enter: "ssh \'x"}]', r"cannot be split into words"),
    ],
)
def test_a_step_that_cannot_be_read_is_named_with_its_place(folder: Path, enter: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read(folder, f"task: {{class: code}}\nenvironment:\n  enter: {enter}\n")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("name: mine", "nam: mine"), r"line 2: nam: unknown key 'nam'; did you mean 'name'\?"),
        (("channel:", "checker:"), r"unknown key 'checker'; it is called 'channel' here"),
        (("accepts: json", "acepts: json"), r"channel\.acepts: unknown key 'acepts'; did you mean 'accepts'\?"),
        (("class: mathematics", "class: maths"), r"line 3: task\.class: expected .*; did you mean 'mathematics'\?"),
        (("kind: template", "kind: prompt"), r"line 5: judge\.kind: expected none, template, trace or evenhand"),
        (("path: judge.txt", f"path: {'a' * 300}"), r"line 6: judge\.path: no such file: 'aaa"),
        (("path: judge.txt", "path: gone.txt"), r"line 6: judge\.path: no such file: 'gone.txt'"),
        (("  path: judge.txt\n", ""), r"judge\.path: is missing; name the prompt template"),
        (("kind: number,", "kind: numbre,"), r"line 7: judge\.match\.kind: is 'numbre'; expected one of"),
        (("tolerance: 0.05", "tolerance: 1.5"), r"channel\.tolerance: expected a share"),
        (("tolerance: 0.05", "tolerance: none"), r"channel\.tolerance: expected a number"),
        (("independent_of_judge: true", "independent_of_judge: maybe"), r"expected true or false"),
        (("feedback: held_out", "feedback: hidden"), r"feedback: expected held_out, exposed or unknown"),
        ((", date: 2026-11-02", ""), r"waivers\[0\]\.date: is missing; a waiver has a criterion, a reason and a date"),
        (("reason: no egress, ", ""), r"waivers\[0\]\.reason: is missing"),
        (("date: 2026-11-02", "date: soon"), r"expected a date such as"),
        (("criterion: C3", "criterion: C9"), r"expected C1, C2, C3 or C4"),
        (("version: 0.1", "version: 0.2"), r"version: expected 0\.1"),
        (("  enter: [docker, run, --rm, -i, my/image]", "  enter: a\n  spec: b"), r"either enter.*or spec"),
        (("  run: sh check.sh \"{candidate}\"\n", ""), r"channel\.run: is missing; give the command"),
        (("kind: command", "kind: python"), r"only a command says by its exit code"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(folder: Path, change: tuple[str, str], says: str) -> None:
    assert change[0] in WHOLE
    with pytest.raises(InvalidInput, match=says) as caught:
        read(folder, WHOLE.replace(*change))
    assert "audit.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("run", "says"),
    [("check.py", "file.py:function"), ("gone.py:check", "no such file"), ("check.py:not a name", "file.py:function")],
)
def test_a_callable_is_a_file_and_a_function(folder: Path, run: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read(folder, f"task: {{class: factual}}\nchannel: {{kind: python, run: '{run}'}}\n")


def test_a_command_that_cannot_be_split_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="write it as a list"):
        read(folder, "task: {class: factual}\nchannel: {kind: command, run: 'sh \"broken'}\n")


def test_a_judge_of_kind_none_has_nothing_to_read(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="leave it out"):
        read(folder, "task: {class: factual}\njudge: {kind: none, path: judge.txt}\n")


def test_the_class_of_tasks_is_needed(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="task: is missing"):
        read(folder, "name: x\n")
    with pytest.raises(InvalidInput, match=r"task\.class: is missing"):
        read(folder, "task: {items: items.jsonl}\n")
