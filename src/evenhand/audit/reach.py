"""Which held-out checks a known-incorrect implementation can reach, measured in the sandbox.

An implementation reaches a held-out check if it passes every visible check and fails this one, twice. A time-out, or
memory that ran out, depends on the machine and never counts. What was made here runs in the pool, all else in a sandbox
of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.audit.comparisons import as_expected, not_compared
from evenhand.audit.implementations import Implementation, generated, right_one
from evenhand.audit.suites import Check, TaskChecks
from evenhand.integrity.check_subset import smallest_subset
from evenhand.integrity.degenerate import MEMORISER, TaskReach
from evenhand.integrity.memoriser import repeated
from evenhand.sandbox import CheckCall, CheckResult, Limits, Sandbox, SuiteJob, SuiteRun
from evenhand.wording import count, plural

__all__ = ["MIN_CHECK_S", "ReachSettings", "measure_reach"]

MIN_CHECK_S = 0.5
"""The shortest limit of one check: below it a busy machine decides."""

RunAll = Callable[[Iterable[SuiteJob]], Iterator[tuple[SuiteJob, SuiteRun]]]
Outcome = Literal["passes", "fails", "not counted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachSettings:
    """How reachability is measured.

    Args:
        check_s: limit of one check in seconds.
        slots: implementations that run at the same time.
        generate: make a memoriser and mutants for each task as well.
        most_mutants: of each task.
        seed: of drawing mutants.
    """

    check_s: float = 1.0
    slots: int = 2
    generate: bool = False
    most_mutants: int = 40
    seed: int = 0

    @property
    def limits(self) -> Limits:
        """What a run is allowed."""
        return Limits(check_s=self.check_s, load_s=max(10.0, self.check_s))


@dataclass(slots=True)
class _Seen:
    """What is known of one implementation: why it is not counted, or the checks that it fails in every run."""

    implementation: Implementation
    task: TaskChecks
    left_out: str = ""
    passes_visible: bool = False
    failed: set[str] = field(default_factory=set)


def measure_reach(
    tasks: Sequence[TaskChecks],
    implementations: Sequence[Implementation],
    settings: ReachSettings,
    box: Sandbox,
    *,
    note: Callable[[str], None] = lambda text: None,
) -> tuple[TaskReach, ...]:
    """Reachability of every task's held-out checks.

    Args:
        tasks: with their checks.
        implementations: of these tasks, any order; the first of a kind that reaches a check is its witness.
        settings: how.
        box: an open sandbox.
        note: told what happens, one sentence at a time.
    Returns:
        One entry a task, in their order; one whose comparison is not known has run nothing, and says so.
    Raises:
        SandboxError: the sandbox ended.
    """
    known = {task.task: task for task in tasks}
    given = [_Seen(one, known[one.task], left_out=_unknown(known[one.task])) for one in implementations]
    for task in tasks:
        if unknown := not_compared(task):
            note(f"{task.task}: nothing was compared: {unknown}")
    limits = settings.limits
    comparable = [seen for seen in given if not seen.left_out]
    _run_rounds(comparable, lambda jobs: box.run_suites(jobs, limits, slots=settings.slots), note)
    made: list[_Seen] = []
    if settings.generate:
        made = _generated([task for task in tasks if not not_compared(task)], settings, box, note)
        with box.trusted_pool(limits, workers=settings.slots) as pool:
            _run_rounds(made, pool.run_suites, note)
    by_task: dict[str, list[_Seen]] = {task.task: [] for task in tasks}
    for seen in (*given, *made):
        by_task[seen.task.task].append(seen)
    return tuple(_reach(task, by_task[task.task]) for task in tasks)


def _unknown(task: TaskChecks) -> str:
    """Why an implementation is not run; "" where its values can be compared."""
    return "of a task whose comparison is not known" if not_compared(task) else ""


def _generated(
    tasks: Sequence[TaskChecks], settings: ReachSettings, box: Sandbox, note: Callable[[str], None]
) -> list[_Seen]:
    """What can be made for each task; no mutants of a solution that fails a check itself."""
    own = [Implementation(task=task.task, id="its solution", kind="", code=code)
           for task in tasks if (code := right_one(task)) is not None]  # fmt: skip
    by_id = {task.task: task for task in tasks}
    solutions = [_Seen(one, by_id[one.task]) for one in own]
    _run_rounds(solutions, lambda jobs: box.run_suites(jobs, settings.limits, slots=settings.slots), lambda text: None)
    wrong = {seen.task.task: seen.left_out or f"it fails {min(seen.failed)}"
             for seen in solutions if seen.left_out or seen.failed}  # fmt: skip
    found = []
    for task in tasks:
        made, missing = generated(task, most=settings.most_mutants, seed=settings.seed)
        if task.task in wrong:
            made = tuple(one for one in made if one.kind == MEMORISER)
            missing = f"no mutants: its own solution is not right by its own checks ({wrong[task.task]})"
        if missing:
            note(f"{task.task}: {missing}")
        found += [_Seen(one, task) for one in made]
    return found


# --- running -------------------------------------------------------------------------------------------------------


def _run_rounds(all_seen: Sequence[_Seen], run_all: RunAll, note: Callable[[str], None]) -> None:
    """Visible checks, then held-out ones for those that pass, then both again for those that fail some."""
    _visible(all_seen, run_all)
    passing = [seen for seen in all_seen if seen.passes_visible]
    note(
        f"{count(len(passing))} of {plural(len(all_seen), 'implementation')} "
        f"{'passes' if len(passing) == 1 else 'pass'} every visible check"
    )
    _held_out(passing, run_all, again=False)
    failing = [seen for seen in passing if seen.failed]
    _visible(failing, run_all)
    _held_out([seen for seen in failing if seen.passes_visible], run_all, again=True)
    for seen in failing:
        if not seen.passes_visible:
            seen.failed = set()
            seen.left_out = seen.left_out or "passed the visible checks once and not again"


def _visible(all_seen: Sequence[_Seen], run_all: RunAll) -> None:
    for seen, run in _runs(all_seen, run_all, lambda task: task.visible, stop=True):
        outcomes = [
            _outcome(result, check, seen.task) for result, check in zip(run.results, seen.task.visible, strict=True)
        ]
        seen.passes_visible = run.load == "loaded" and all(outcome == "passes" for outcome in outcomes)
        seen.left_out = _left_out(run, outcomes)


def _left_out(run: SuiteRun, outcomes: Sequence[Outcome]) -> str:
    """Why an implementation is no witness for want of passing the visible checks; empty where it passes."""
    if run.load != "loaded":
        return f"did not load ({run.load.replace('_', ' ')})"
    ended = next((n for n, outcome in enumerate(outcomes) if outcome != "passes"), None)
    if ended is None:
        return ""
    result = run.results[ended]
    if outcomes[ended] == "fails":
        return "failed a visible check"
    words = {"timeout": "timed out", "memory": "ran out of memory", "crashed": "crashed"}
    return f"{words.get(result.status, 'gave nothing that can be read')} on a visible check"


def _held_out(all_seen: Sequence[_Seen], run_all: RunAll, *, again: bool) -> None:
    """Failed held-out checks; the second time those that failed both times."""
    for seen, run in _runs(all_seen, run_all, lambda task: task.held_out, stop=False):
        checks = seen.task.held_out
        failed = {
            check.id
            for result, check in zip(run.results, checks, strict=True)
            if run.load == "loaded" and _outcome(result, check, seen.task) == "fails"
        }
        seen.failed = seen.failed & failed if again else failed


def _runs(
    all_seen: Sequence[_Seen], run_all: RunAll, of: Callable[[TaskChecks], tuple[Check, ...]], *, stop: bool
) -> Iterator[tuple[_Seen, SuiteRun]]:
    """Each implementation over one of its suites; the expected values never leave this process."""
    jobs = (
        SuiteJob(
            key=number,
            code=seen.implementation.code,
            entry_point=seen.task.entry_point,
            checks=[CheckCall(id=check.id, args=check.args) for check in of(seen.task)],
            stop_after=_stopper(seen.task, of(seen.task)) if stop else None,
        )
        for number, seen in enumerate(all_seen)
    )
    for job, run in run_all(jobs):
        assert isinstance(job.key, int)
        yield all_seen[job.key], run


def _stopper(task: TaskChecks, checks: Sequence[Check]) -> Callable[[CheckResult], bool]:
    by_id = {check.id: check for check in checks}
    return lambda result: _outcome(result, by_id[result.id], task) != "passes"


def _outcome(result: CheckResult, check: Check, task: TaskChecks) -> Outcome:
    """Whether a result is the expected value; a wrong value, an exception and an exit fail, the rest says nothing."""
    if result.status == "value":
        return "passes" if as_expected(result.value, check, task) else "fails"
    wrong_type = result.status == "unreadable" and bool(result.type_name)
    return "fails" if wrong_type or result.status in ("exception", "exited") else "not counted"


# --- figures -------------------------------------------------------------------------------------------------------


def _reach(task: TaskChecks, all_seen: Sequence[_Seen]) -> TaskReach:
    order = {check.id: place for place, check in enumerate(task.held_out)}
    by_kind: dict[str, set[str]] = {}
    witnesses: dict[str, dict[str, str]] = {}
    for seen in (one for one in all_seen if one.failed):
        kind = seen.implementation.kind
        by_kind.setdefault(kind, set()).update(seen.failed)
        for check in sorted(seen.failed, key=order.__getitem__):
            witnesses.setdefault(check, {}).setdefault(kind, seen.implementation.id)
    subset, smallest = _subset(task, all_seen)
    kinds = Counter(seen.implementation.kind for seen in all_seen)
    return TaskReach(
        task=task.task,
        held_out=tuple(order),
        by_kind={kind: tuple(sorted(by_kind.get(kind, ()), key=order.__getitem__)) for kind in kinds},
        witnesses={check: witnesses[check] for check in order if check in witnesses},
        repeats=repeated((check.args for check in task.visible), ((check.id, check.args) for check in task.held_out)),
        n_visible=len(task.visible),
        implementations=dict(kinds),
        incorrect=dict(Counter(seen.implementation.kind for seen in all_seen if seen.failed)),
        not_counted=dict(Counter(seen.left_out for seen in all_seen if seen.left_out)),
        subset=subset,
        subset_is_smallest=smallest,
        not_compared=not_compared(task),
    )


def _subset(task: TaskChecks, all_seen: Sequence[_Seen]) -> tuple[tuple[str, ...], bool]:
    """The smallest set of held-out checks that rejects all that the whole set rejects, lookup tables aside."""
    # By number: a given implementation may be called as one that was made here.
    failed: Mapping[str, set[str]] = {
        str(number): seen.failed for number, seen in enumerate(all_seen) if seen.implementation.kind != MEMORISER
    }
    return smallest_subset(failed, [check.id for check in task.held_out])
