"""C4 of a configuration: its suites joined by task, and the reachability of their held-out checks measured."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from evenhand.audit.config import SuitesConfig
from evenhand.audit.implementations import Implementation, read_implementations
from evenhand.audit.reach import ReachSettings, measure_reach
from evenhand.audit.suites import TaskChecks, read_tasks
from evenhand.errors import SandboxError
from evenhand.integrity.degenerate import Taken, TaskReach, degenerate_verdict, task_verdict
from evenhand.integrity.memoriser import repeated
from evenhand.integrity.verdicts import CriterionVerdict
from evenhand.sandbox import Sandbox
from evenhand.wording import plural

__all__ = ["joined_tasks", "suites_verdict"]


def suites_verdict(
    suites: SuitesConfig | None,
    settings: ReachSettings,
    *,
    taken: Taken,
    allow_unsandboxed: bool = False,
    note: Callable[[str], None] = lambda text: None,
) -> CriterionVerdict:
    """The verdict on C4.

    Args:
        suites: as configured; None where none is described.
        settings: of the measurement.
        taken: which task speaks for all.
        allow_unsandboxed: run implementations without a sandbox where none works.
        note: told what happens.
    Raises:
        InvalidInput: a file of the suites cannot be used.
    """
    if suites is None:
        return degenerate_verdict([], source="nothing: no suite is described", taken=taken)
    tasks = joined_tasks(suites)
    given = _given(suites, tasks)
    structure = [_structure(task) for task in tasks]
    if any(task_verdict(one).verdict == "fail" for one in structure) and not given and not settings.generate:
        return degenerate_verdict(structure, source="the suites themselves; nothing was run", taken=taken)
    try:
        with Sandbox(allow_unsandboxed=allow_unsandboxed) as box:
            note(f"C4: {plural(len(given), 'given implementation')} over {plural(len(tasks), 'task')}")
            found = measure_reach(tasks, given, settings, box, note=note)
            where = f"in a sandbox ({box.kind})" if box.kind != "unsandboxed" else "UNSANDBOXED"
    except SandboxError as error:
        return _unmeasured(structure, taken, str(error))
    made = sum(sum(task.implementations.values()) for task in found) - len(given)
    source = (
        f"{plural(len(given), 'given implementation')} and {made} made here, run {where} over "
        f"{plural(len(tasks), 'task')}"
    )
    return degenerate_verdict(found, source=source, taken=taken)


def joined_tasks(suites: SuitesConfig) -> tuple[TaskChecks, ...]:
    """Every task of either file, with the visible checks of the one and the held-out checks of the other.

    Raises:
        InvalidInput: a file cannot be used.
    """
    if suites.visible is not None and suites.visible == suites.held_out:
        return read_tasks(suites.visible)
    visible = {} if suites.visible is None else {t.task: t for t in read_tasks(suites.visible, suite="visible")}
    held_out = {} if suites.held_out is None else {t.task: t for t in read_tasks(suites.held_out, suite="held_out")}
    return tuple(
        replace(
            visible.get(name) or held_out[name],
            visible=visible[name].visible if name in visible else (),
            held_out=held_out[name].held_out if name in held_out else (),
            comparison=_comparison(*(of[name].comparison for of in (visible, held_out) if name in of)),
        )
        for name in dict.fromkeys((*visible, *held_out))
    )


def _comparison(*named: str) -> str:
    """What the files of a task name; where one names none, the other's. Two that differ are none that is known."""
    return " and ".join(dict.fromkeys(name for name in named if name != "equal")) or "equal"


def _given(suites: SuitesConfig, tasks: Sequence[TaskChecks]) -> list[Implementation]:
    """The implementations of all files; one that stands in two of them is told apart by its file."""
    names = [task.task for task in tasks]
    found: list[Implementation] = []
    taken: set[tuple[str, str]] = set()
    for file in suites.incorrect:
        for one in read_implementations(file.path, names, file.kind).implementations:
            own = one if (one.task, one.id) not in taken else replace(one, id=f"{file.path.name}: {one.id}")
            taken.add((own.task, own.id))
            found.append(own)
    return found


def _structure(task: TaskChecks) -> TaskReach:
    """What the checks alone say: how many there are, and which repeat a visible one."""
    return TaskReach(
        task=task.task,
        held_out=tuple(check.id for check in task.held_out),
        repeats=repeated((check.args for check in task.visible), ((check.id, check.args) for check in task.held_out)),
        n_visible=len(task.visible),
    )


def _unmeasured(structure: Sequence[TaskReach], taken: Taken, why: str) -> CriterionVerdict:
    """Without a sandbox only what the checks alone say."""
    source = "the suites themselves; no implementation was run"
    if any(task_verdict(one).verdict == "fail" for one in structure):
        return degenerate_verdict(structure, source=source, taken=taken)
    return degenerate_verdict([], source=source, taken=taken, missing=f"reachability was not measured: {why}")
