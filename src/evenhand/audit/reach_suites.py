"""The suites that a configuration of an audit names, measured."""

from collections.abc import Callable

from evenhand.audit.config import SuitesConfig
from evenhand.audit.implementations import read_implementations
from evenhand.audit.reach import ReachSettings, measure_reach
from evenhand.audit.suites import read_suites
from evenhand.integrity.degenerate import TaskReach
from evenhand.sandbox import Sandbox

__all__ = ["reach_of_suites"]


def reach_of_suites(
    suites: SuitesConfig, settings: ReachSettings, *, allow_unsandboxed: bool, note: Callable[[str], None]
) -> tuple[TaskReach, ...]:
    """Reachability of the held-out checks of a configuration; empty where no suite is named.

    Args:
        suites: files of checks and of known-incorrect implementations.
        settings: how.
        allow_unsandboxed: go on where no sandbox works, which protects nothing.
        note: told what happens, one sentence at a time.
    Raises:
        InvalidInput: a file that cannot be used.
        SandboxError: no sandbox works here.
    """
    tasks = read_suites(suites.visible, suites.held_out)
    names = [task.task for task in tasks]
    implementations = []
    for file in suites.incorrect:
        read = read_implementations(file.path, names, file.kind)
        implementations += read.implementations
        if read.n_other_tasks:
            note(f"C4: {file.path.name}: {read.n_other_tasks} implementations of tasks that are in no suite, not run")
    if not tasks:
        return ()
    with Sandbox(allow_unsandboxed=allow_unsandboxed) as box:
        note(f"C4: {len(implementations)} implementations over {len(tasks)} tasks")
        return measure_reach(tasks, implementations, settings, box, note=lambda text: note(f"C4: {text}"))
