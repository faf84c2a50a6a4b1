"""C4: can a degenerate implementation be told from a right one, from the reachability of held-out checks.

A held-out check is reached by an implementation that passes every visible check and fails it. How that is found out is
not decided here: this is the figures' verdict. A memoriser, a lookup table of the visible inputs, reaches almost every
check, so that it is counted and never enough.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.integrity.verdicts import CriterionVerdict, Word, worst
from evenhand.wording import count, none_of, plural

__all__ = ["MEMORISER", "Taken", "TaskReach", "TaskVerdict", "degenerate_verdict", "reach_evidence", "task_verdict"]

MEMORISER = "memoriser"
"""The kind of a lookup table of the visible inputs, as a key of `by_kind`."""

Taken = Literal["worst", "most"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReach:
    """Reachability of one task's held-out checks.

    Args:
        task: its id.
        held_out: ids of its held-out checks.
        by_kind: kind of known-incorrect implementation to the ids of checks it reaches; these may overlap.
        witnesses: check to kind to the implementation that reached it, twice.
        repeats: ids of held-out checks whose inputs a visible check has as well.
        n_visible: visible checks.
        implementations: kind to how many implementations were given or made.
        incorrect: kind to how many of them pass every visible check and fail a held-out one.
        not_counted: what was given and not counted, with how often: `timed out on a visible check`, `did not load`.
        subset: the smallest set of held-out checks that tells apart all that the whole set does.
        subset_is_smallest: whether that is proved; else a smaller one may be there.
        not_compared: why no value could be held against the checks, so that nothing was run; "" where they could.
    """

    task: str
    held_out: tuple[str, ...]
    by_kind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    witnesses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    repeats: tuple[str, ...] = ()
    n_visible: int = 0
    implementations: Mapping[str, int] = field(default_factory=dict)
    incorrect: Mapping[str, int] = field(default_factory=dict)
    not_counted: Mapping[str, int] = field(default_factory=dict)
    subset: tuple[str, ...] = ()
    subset_is_smallest: bool = True
    not_compared: str = ""

    @property
    def reachable(self) -> tuple[str, ...]:
        """Held-out checks with a witness of any kind, in order."""
        found = {check for checks in self.by_kind.values() for check in checks}
        return tuple(check for check in self.held_out if check in found)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """Held-out checks without a witness; never counted as evidence."""
        found = set(self.reachable)
        return tuple(check for check in self.held_out if check not in found)

    @property
    def telling(self) -> tuple[str, ...]:
        """Checks that repeat no visible one and have a witness other than a memoriser."""
        kinds = {check for kind, checks in self.by_kind.items() if kind != MEMORISER for check in checks}
        return tuple(check for check in self.held_out if check in kinds and check not in set(self.repeats))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerdict:
    """One task's word and why."""

    task: str
    verdict: Word
    reason: str


def task_verdict(reach: TaskReach) -> TaskVerdict:
    """The verdict on one task.

    >>> task_verdict(TaskReach(task="t", held_out=("h1",), by_kind={"memoriser": ("h1",)})).reason
    'only memorisers reach a held-out check'
    """
    word, reason = _word(reach)
    return TaskVerdict(task=reach.task, verdict=word, reason=reason)


def _word(reach: TaskReach) -> tuple[Word, str]:
    if not reach.held_out:
        return "fail", "there is no check at all" if reach.n_visible == 0 else "there is no held-out check"
    if set(reach.held_out) <= set(reach.repeats):
        n = len(reach.held_out)
        which = f"each of the {plural(n, 'held-out check')}" if n > 1 else "the one held-out check"
        return "fail", f"{which} repeats a visible one, so that all can be enumerated"
    if reach.not_compared:
        return "insufficient evidence", f"nothing was compared: {reach.not_compared}"
    if reach.telling:
        do = "has a witness and repeats" if len(reach.telling) == 1 else "have a witness and repeat"
        return "pass", f"{count(len(reach.telling))} of {plural(len(reach.held_out), 'held-out check')} {do} nothing"
    if reach.reachable and not any(checks for kind, checks in reach.by_kind.items() if kind != MEMORISER):
        return "insufficient evidence", "only memorisers reach a held-out check"
    if reach.reachable:
        return "insufficient evidence", "the only held-out checks with a witness repeat a visible one"
    if not sum(reach.implementations.values()):
        return "insufficient evidence", "no known-incorrect implementation was given"
    return "insufficient evidence", (
        f"{none_of(sum(reach.implementations.values()), 'implementation')} passes every visible "
        f"check and fails a "
        "held-out one"
    )


def degenerate_verdict(
    tasks: Sequence[TaskReach], *, source: str, taken: Taken = "worst", missing: str = "", failure: str = ""
) -> CriterionVerdict:
    """The verdict on C4.

    Args:
        tasks: reachability, one entry a task.
        source: where it was measured, in words.
        taken: `worst`: the worst task speaks for all; `most`: the word that holds for more than half of the tasks,
            else insufficient.
        missing: why there is no figure at all.
        failure: what is wrong with the suites themselves, where that is so; it fails.
    """
    verdicts = [task_verdict(task) for task in tasks]
    counts = Counter(one.verdict for one in verdicts)
    word, reason = (
        _taken(verdicts, counts, taken) if verdicts else ("insufficient evidence", missing or "no suite is described")
    )
    if failure:
        word, reason = "fail", failure
    evidence = {**reach_evidence(tasks), "taken": taken, "missing": missing or None}
    return CriterionVerdict(criterion="C4", verdict=word, reason=reason, evidence=evidence, source=source)


def _taken(verdicts: Sequence[TaskVerdict], counts: "Counter[Word]", taken: Taken) -> tuple[Word, str]:
    n = len(verdicts)
    shares = ", ".join(f"{counts[word]} {word}" for word in ("pass", "insufficient evidence", "fail") if counts[word])
    if taken == "most":
        word: Word = next((w for w, times in counts.items() if 2 * times > n), "insufficient evidence")
        return word, f"of {plural(n, 'task')}: {shares}; what holds for more than half was asked for"
    word = worst(counts)
    first = next(one for one in verdicts if one.verdict == word)
    if n == 1:
        return word, f"{first.task}: {first.reason}"
    return word, f"of {plural(n, 'task')}: {shares}; the worst is {first.task}: {first.reason}"


def reach_evidence(tasks: Sequence[TaskReach]) -> dict[str, Any]:
    """The figures of C4 as `--json` prints them: totals first, then each task.

    `held_out`, `reachable` and the values of `by_kind` are numbers of checks; `unreachable` and `witnesses` name them,
    by task.
    """
    kinds = list(dict.fromkeys(kind for task in tasks for kind in (*task.by_kind, *task.implementations)))
    words = Counter(task_verdict(task).verdict for task in tasks)
    return {
        "n_tasks": len(tasks),
        "held_out": sum(len(task.held_out) for task in tasks),
        "reachable": sum(len(task.reachable) for task in tasks),
        "by_kind": {kind: sum(len(task.by_kind.get(kind, ())) for task in tasks) for kind in kinds},
        "unreachable": {task.task: list(task.unreachable) for task in tasks if task.unreachable},
        "witnesses": {task.task: {check: dict(of) for check, of in task.witnesses.items()} for task in tasks},
        "tasks_without_reachable": sum(not task.reachable for task in tasks),
        "verdicts": dict(words),
        "tasks": [_task_document(task) for task in tasks],
    }


def _task_document(task: TaskReach) -> dict[str, Any]:
    found = task_verdict(task)
    return {
        "task": task.task,
        "verdict": found.verdict,
        "reason": found.reason,
        "n_visible": task.n_visible,
        "held_out": len(task.held_out),
        "reachable": len(task.reachable),
        "by_kind": {kind: len(checks) for kind, checks in task.by_kind.items()},
        "repeats": list(task.repeats),
        "implementations": dict(task.implementations),
        "incorrect": dict(task.incorrect),
        "not_counted": dict(task.not_counted),
        "subset": list(task.subset),
        "subset_is_smallest": task.subset_is_smallest,
    }
