"""A test suite as a channel: a candidate is accepted where every check of its task returns the expected value.

Candidates are foreign code: each runs in a sandbox of its own, and values are compared outside of it.
"""

from pathlib import Path
from types import TracebackType

from evenhand.audit.comparisons import as_expected, not_compared
from evenhand.audit.suites import TaskChecks, read_tasks
from evenhand.errors import InvalidInput
from evenhand.integrity.channel import Got
from evenhand.sandbox import CheckCall, Limits, Sandbox, SuiteRun
from evenhand.store.text_files import quoted

__all__ = ["TestsChannel"]


class TestsChannel:
    """The checks of a file of tasks, run on candidates.

    Args:
        path: JSONL of tasks in the form that `suites.read_tasks` reads.
        allow_unsandboxed: where no sandbox works, run candidates with limits of resources alone.
    Raises:
        InvalidInput: the file cannot be read.
        SandboxError: no sandbox works here.
    """

    __test__ = False  # not one of pytest's

    def __init__(self, path: Path, *, allow_unsandboxed: bool = False) -> None:
        self._name = path.name
        self._tasks = {task.task: task for task in read_tasks(path)}
        self._box = Sandbox(allow_unsandboxed=allow_unsandboxed)

    def verdict(self, task: str, code: str) -> tuple[Got, str]:
        """What the suite says to a candidate.

        Raises:
            InvalidInput: the file has no such task, or no check of it.
        """
        checks = self._tasks.get(task)
        if checks is None or not (checks.visible or checks.held_out):
            raise InvalidInput(f"{self._name}: no check of task {quoted(task)}; each item needs a task of its id there")
        if unknown := not_compared(checks):
            return "not graded", unknown
        every = (*checks.visible, *checks.held_out)
        calls = [CheckCall(id=f"{place} {check.id}", args=check.args) for place, check in enumerate(every)]
        run = self._box.run_suite(code, checks.entry_point, calls, Limits(max_timeouts=1))
        return _verdict(checks, run)

    def __enter__(self) -> "TestsChannel":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._box.close()


def _verdict(task: TaskChecks, run: SuiteRun) -> tuple[Got, str]:
    """Rejected at the first check without the expected value; a time-out is no value either."""
    if run.load != "loaded":
        return "rejected", f"the module does not load: {run.load_detail or run.load}"
    every = (*task.visible, *task.held_out)
    for check, result in zip(every, run.results, strict=True):
        if result.status != "value":
            return "rejected", f"check {check.id}: {result.status}{': ' + result.detail if result.detail else ''}"
        if not as_expected(result.value, check, task):
            return "rejected", f"check {check.id}: another value than expected"
    return "accepted", f"all {len(every)} checks returned the expected value"
