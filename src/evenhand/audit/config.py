"""What is audited: a YAML file that describes one evaluator, read strictly, with every error named by line and field.

    version: 0.1
    name: my harness
    task: {class: mathematics, items: items.jsonl}
    judge: {kind: template, path: judge.txt, match: number}
    channel: {kind: command, run: [python, check.py], accepts: exit0, independent_of_judge: true, tolerance: 0}
    environment: {enter: docker run --rm -i my/image}
    suites: {visible: tasks.jsonl, held_out: tasks.jsonl, incorrect: [{path: candidates.jsonl, kind: llm}]}
    feedback: held_out
    waivers: [{criterion: C3, reason: no egress in production, date: 2026-11-02}]

Paths are relative to the file. `command` and `python` channels are the user's own trusted code and run as the user.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from evenhand.audit.steps import Step, command_words, read_steps
from evenhand.integrity.channel import Feedback
from evenhand.integrity.judge_independence import JudgeKind
from evenhand.integrity.verdicts import CRITERION_IDS, TaskClass
from evenhand.store.documents import Value, read_document
from evenhand.store.text_files import quoted

if TYPE_CHECKING:
    from evenhand.matching.rules import MatchRule

__all__ = [
    "AuditConfig",
    "ChannelConfig",
    "EnvironmentConfig",
    "IncorrectFile",
    "JudgeConfig",
    "SuitesConfig",
    "Waiver",
    "read_config",
]

ChannelKind = Literal["command", "python", "tests", "matcher", "records"]
Accepts = Literal["exit0", "json"]

_TASK_CLASSES = ("mathematics", "code", "factual", "subjective")
_JUDGE_KINDS = ("none", "template", "trace", "evenhand")
_CHANNEL_KINDS = ("command", "python", "tests", "matcher", "records")
_USUAL = {
    "tasks": "task", "judges": "judge", "checker": "channel", "verifier": "channel", "env": "environment",
    "suite": "suites", "waiver": "waivers", "criteria_version": "version", "type": "kind", "file": "path",
    "heldout": "held_out", "hidden": "held_out", "known_incorrect": "incorrect", "cmd": "run", "command": "run",
    "independent": "independent_of_judge", "why": "reason",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """The judge.

    Args:
        kind: none, template, trace or evenhand.
        path: the template, the trace's folder, or the judge file; None for `none`.
        match: the declared match relation; None where it is not specified.
        outcomes: what became of each item: JSONL with `id`, `accepted`, and what else is known.
    """

    kind: JudgeKind
    path: Path | None = None
    match: "MatchRule | None" = None
    outcomes: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelConfig:
    """The ground-truth channel.

    Args:
        kind: command, python, tests, matcher or records.
        run: the command's words; `file.py:function`; a tasks file; nothing; a records file.
        accepts: how a command says that it accepts: by exit code 0, or by JSON on its output.
        independent_of_judge: as stated; None where it is not.
        tolerance: share of controls of either kind that may be decided wrongly.
        rule: for `matcher`, the rule under which it matches.
    """

    kind: ChannelKind
    run: tuple[str, ...] = ()
    accepts: Accepts = "exit0"
    independent_of_judge: bool | None = None
    tolerance: float = 0.0
    rule: "MatchRule | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentConfig:
    """Where candidates work: the commands that enter it, or what was written about it.

    Args:
        enter: the command that enters it; empty where there are steps.
        spec: words, where nothing can be entered.
        steps: the phases in which a candidate works, in order, each with a command of its own.
    """

    enter: tuple[str, ...] = ()
    spec: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def entries(self) -> tuple[Step, ...]:
        """Every way in, in order: one without a name where there are no steps."""
        return self.steps or ((Step(name="", enter=self.enter),) if self.enter else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class IncorrectFile:
    """A file of known-incorrect implementations, and their kind; an empty kind means that the rows say."""

    path: Path
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitesConfig:
    """The suites of checks, and implementations that are known to be incorrect."""

    visible: Path | None = None
    held_out: Path | None = None
    incorrect: tuple[IncorrectFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A verdict that somebody answers for; it is shown, and changes no verdict."""

    criterion: str
    reason: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig:
    """One evaluator.

    Args:
        name: of the configuration.
        file: how messages name it.
        folder: what paths in it are relative to.
        task_class: of its tasks.
        items: JSONL of tasks with their golds; None where none is named.
        judge, channel, environment, suites: its parts; None where it does not describe one.
        feedback: whether the signal was held out from optimisation.
        waivers: shown beside the verdicts.
    """

    name: str
    file: str
    folder: Path
    task_class: TaskClass
    items: Path | None = None
    judge: JudgeConfig | None = None
    channel: ChannelConfig | None = None
    environment: EnvironmentConfig | None = None
    suites: SuitesConfig | None = None
    feedback: Feedback = "unknown"
    waivers: tuple[Waiver, ...] = ()


def read_config(path: str | Path) -> AuditConfig:
    """Read the description of one evaluator.

    Raises:
        InvalidInput: file, line, field, what came, what was expected, and the way out.
    """
    document = read_document(path)
    keys = ("version", "name", "task", "judge", "channel", "environment", "suites", "feedback", "waivers")
    found = document.entries(keys, _USUAL)
    folder = Path(path).absolute().parent
    if "version" in found and found["version"].written not in ("0.1", "1"):
        found["version"].refuse(f"expected 0.1, the version of the criteria; came {found['version'].came()}")
    if "task" not in found:
        document.refuse(
            "is missing; say which class of tasks is judged: mathematics, code, factual or subjective", "task"
        )
    task = found["task"].entries(("class", "items"), {"kind": "class", "file": "items", "path": "items"})
    if "class" not in task:
        found["task"].refuse("is missing; use mathematics, code, factual or subjective", "class")
    return AuditConfig(
        name=found["name"].text() if "name" in found else Path(path).stem,
        file=document.file,
        folder=folder,
        task_class=cast(TaskClass, task["class"].choice(*_TASK_CLASSES)),
        items=_path(task["items"], folder) if "items" in task else None,
        judge=_judge(found["judge"], folder) if "judge" in found else None,
        channel=_channel(found["channel"], folder) if "channel" in found else None,
        environment=_environment(found["environment"]) if "environment" in found else None,
        suites=_suites(found["suites"], folder) if "suites" in found else None,
        feedback=cast(Feedback, found["feedback"].choice("held_out", "exposed", "unknown"))
        if "feedback" in found
        else "unknown",
        waivers=tuple(_waiver(value) for value in found["waivers"].items()) if "waivers" in found else (),
    )


def _path(value: Value, folder: Path, *, is_folder: bool = False) -> Path:
    """A path that is there, relative to the configuration's folder."""
    path = folder / value.text()
    if not _is(path.exists):
        value.refuse(
            f"no such {'folder' if is_folder else 'file'}: {quoted(value.text())}; paths are relative to {folder.name}/"
        )
    if not is_folder and path.is_dir():
        value.refuse(f"{quoted(value.text())} is a folder; a file was expected")
    return path


def _is(asked: Callable[[], bool]) -> bool:
    """What a path says of itself; a name that no file can have is that of none."""
    try:
        return asked()
    except OSError:
        return False


def _judge(value: Value, folder: Path) -> JudgeConfig:
    found = value.entries(("kind", "path", "match", "outcomes"), _USUAL)
    if "kind" not in found:
        value.refuse("is missing; use none, template, trace or evenhand", "kind")
    kind = cast(JudgeKind, found["kind"].choice(*_JUDGE_KINDS))
    if kind == "none" and "path" in found:
        found["path"].refuse("where no model judges there is nothing to read; leave it out, or name the kind")
    if kind != "none" and "path" not in found:
        what = {"template": "the prompt template", "trace": "the folder of the trace", "evenhand": "the judge file"}[
            kind
        ]
        value.refuse(f"is missing; name {what}", "path")
    path = None
    if "path" in found:
        named = folder / found["path"].text()
        path = _path(found["path"], folder, is_folder=kind == "trace" and not _is(named.is_file))
    return JudgeConfig(
        kind=kind,
        path=path,
        match=_rule(found["match"]) if "match" in found else None,
        outcomes=_path(found["outcomes"], folder) if "outcomes" in found else None,
    )


def _channel(value: Value, folder: Path) -> ChannelConfig:
    found = value.entries(("kind", "run", "accepts", "independent_of_judge", "tolerance"), _USUAL)
    if "kind" not in found:
        value.refuse("is missing; use command, python, tests, matcher or records", "kind")
    kind = cast(ChannelKind, found["kind"].choice(*_CHANNEL_KINDS))
    if "accepts" in found and kind != "command":
        found["accepts"].refuse(f"only a command says by its exit code or by JSON that it accepts; kind is {kind}")
    if "run" not in found:
        value.refuse(f"is missing; {_RUN[kind]}", "run")
    tolerance = float(found["tolerance"].number()) if "tolerance" in found else 0.0
    if not 0.0 <= tolerance < 1.0:
        found["tolerance"].refuse(f"expected a share of controls from 0 to below 1; came {tolerance:g}")
    return ChannelConfig(
        kind=kind,
        run=() if kind == "matcher" else _run(found["run"], kind, folder),
        accepts=cast(Accepts, found["accepts"].choice("exit0", "json")) if "accepts" in found else "exit0",
        independent_of_judge=found["independent_of_judge"].truth() if "independent_of_judge" in found else None,
        tolerance=tolerance,
        rule=_rule(found["run"]) if kind == "matcher" else None,
    )


_RUN = {
    "command": "give the command as a list of words",
    "python": "give it as file.py:function",
    "tests": "name the file of tasks and checks",
    "matcher": "name the kind of answer, such as number, or a mapping with kind and tolerance",
    "records": "name the file of records",
}


def _run(value: Value, kind: ChannelKind, folder: Path) -> tuple[str, ...]:
    """What a channel runs, as words."""
    if kind == "command":
        return command_words(value)
    if kind in ("tests", "records"):
        return (str(_path(value, folder)),)
    file, _, function = value.text().rpartition(":")
    if not file or not function.isidentifier():
        value.refuse(f"expected file.py:function; came {value.came()}")
    if not _is((folder / file).is_file):
        value.refuse(f"no such file: {quoted(file)}; paths are relative to {folder.name}/")
    return (str(folder / file), function)


def _environment(value: Value) -> EnvironmentConfig:
    found = value.entries(("enter", "spec"), {"image": "enter", "command": "enter", "specification": "spec"})
    if ("enter" in found) == ("spec" in found):
        value.refuse(
            "expected either enter, a command that runs inside it, or spec, a description that counts as unverified"
        )
    if "enter" in found:
        steps = read_steps(found["enter"])
        return EnvironmentConfig(steps=steps) if steps[0].name else EnvironmentConfig(enter=steps[0].enter)
    return EnvironmentConfig(spec=found["spec"].text())


def _suites(value: Value, folder: Path) -> SuitesConfig:
    found = value.entries(("visible", "held_out", "incorrect"), _USUAL)
    return SuitesConfig(
        visible=_path(found["visible"], folder) if "visible" in found else None,
        held_out=_path(found["held_out"], folder) if "held_out" in found else None,
        incorrect=tuple(_incorrect(one, folder) for one in found["incorrect"].items()) if "incorrect" in found else (),
    )


def _incorrect(value: Value, folder: Path) -> IncorrectFile:
    found = value.entries(("path", "kind"), _USUAL)
    if "path" not in found:
        value.refuse("is missing; name the file of implementations", "path")
    return IncorrectFile(path=_path(found["path"], folder), kind=found["kind"].text() if "kind" in found else "")


def _waiver(value: Value) -> Waiver:
    found = value.entries(("criterion", "reason", "date"), _USUAL)
    for key in ("criterion", "reason", "date"):
        if key not in found:
            value.refuse("is missing; a waiver has a criterion, a reason and a date", key)
    criterion = found["criterion"].choice(*CRITERION_IDS)
    try:
        date = datetime.date.fromisoformat(found["date"].text())
    except ValueError:
        found["date"].refuse(f"expected a date such as 2026-11-02; came {found['date'].came()}")
    return Waiver(criterion=criterion, reason=found["reason"].text(), date=date.isoformat())


def _rule(value: Value) -> "MatchRule":
    """A match relation: the kind of answer, or a mapping of it and its settings."""
    from evenhand.audit.match_rules import match_rule

    return match_rule(value)
