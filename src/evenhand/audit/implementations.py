"""Implementations that are held against a task's checks: read from files, or made from a right one.

JSONL, one implementation a line: `task_id`, `code` (a whole module), and `candidate_id` and `kind` where there are any;
or a Python file, which is one implementation of the only task.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.audit.suites import TaskChecks
from evenhand.errors import InvalidInput
from evenhand.integrity.degenerate import MEMORISER
from evenhand.integrity.memoriser import memoriser
from evenhand.integrity.mutants import Mutant, mutants
from evenhand.store.rated_rows import id_text, open_rated
from evenhand.store.text_files import quoted

__all__ = [
    "GENERATED",
    "MUTANT",
    "Implementation",
    "ReadImplementations",
    "generated",
    "read_implementations",
    "right_one",
]

MUTANT = "mutant"
GENERATED = "made here: "
"""What the ids of implementations begin with that were not given."""

_IDS = ("candidate_id", "implementation", "id")
_CODES = ("code", "solution", "completion")
_GIVEN = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """One implementation of one task.

    Args:
        task: its id.
        id: unique within the task.
        kind: what it comes from, in the user's words; `mutant` and `memoriser` where it was made here.
        code: a whole module; foreign unless it was made here.
    """

    task: str
    id: str
    kind: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadImplementations:
    """What a file held: implementations in its order, and how many belong to tasks that are not asked about."""

    implementations: tuple[Implementation, ...]
    n_other_tasks: int = 0


def read_implementations(path: Path, tasks: Collection[str], kind: str = "") -> ReadImplementations:
    """Read a file of implementations.

    Args:
        path: .py, or rows in .jsonl, .json, .csv or .parquet.
        tasks: ids of the tasks that are asked about; the rows of others are counted.
        kind: of all of them; where it is empty the rows say, and `given` stands for those that do not.
    Raises:
        InvalidInput: a missing field, an id twice within a task, or a Python file for more than one task.
    """
    if path.suffix.casefold() == ".py":
        return ReadImplementations(implementations=(_module(path, tasks, kind),))
    found: dict[tuple[str, str], Implementation] = {}
    places: dict[tuple[str, str], str] = {}
    others = 0
    for place, row in open_rated(path, known=("task_id", "kind", *_IDS, *_CODES)):
        task = id_text(row.get("task_id", row.get("task")), place, "task_id")
        if task not in tasks:
            others += 1
            continue
        one = _row(row, place, task, kind)
        if (task, one.id) in places:
            raise InvalidInput(
                f"{place}: the implementation {quoted(one.id)} of {quoted(task)} stands in {places[task, one.id]} "
                "already; ids must differ"
            )
        found[task, one.id], places[task, one.id] = one, place
    return ReadImplementations(implementations=tuple(found.values()), n_other_tasks=others)


def _row(row: Mapping[str, object], place: str, task: str, kind: str) -> Implementation:
    code = next((row[name] for name in _CODES if name in row), None)
    if not isinstance(code, str):
        came = "nothing" if code is None else quoted(code)
        raise InvalidInput(f"{place}: code is {came}; expected the text of a whole module")
    name = next((row[name] for name in _IDS if row.get(name) is not None), None)
    said = row.get("kind")
    return Implementation(
        task=task,
        id=_hash(code) if name is None else id_text(name, place, "candidate_id"),
        kind=_kind_word(kind) or (_kind_word(said) if isinstance(said, str) else "") or _GIVEN,
        code=code,
    )


def _module(path: Path, tasks: Collection[str], kind: str) -> Implementation:
    if len(tasks) != 1:
        raise InvalidInput(
            f"{path.name}: a Python file is one implementation of the only task, and there are {len(tasks)}; give rows "
            "with task_id and code"
        )
    try:
        code = path.read_bytes().decode("utf-8", "surrogateescape")  # what is no text does not load, and that is said
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}); name a Python file") from error
    return Implementation(task=next(iter(tasks)), id=path.name, kind=_kind_word(kind) or _GIVEN, code=code)


def _kind_word(said: str) -> str:
    """A kind as it was written; a lookup table has one name however it was spelt, since it counts for less."""
    kind = said.strip()
    return MEMORISER if kind.casefold().replace("z", "s") == MEMORISER else kind


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def right_one(task: TaskChecks) -> str | None:
    """The module of a task's own solution, `prompt` and `canonical_solution` as text; None where it gives none."""
    solution = next((task.row[name] for name in ("canonical_solution", "solution") if name in task.row), None)
    if not isinstance(solution, str):
        return None
    prompt = task.row.get("prompt")
    whole = f"def {task.entry_point}" in solution
    return solution if whole or not isinstance(prompt, str) else prompt + solution


def generated(task: TaskChecks, *, most: int, seed: int) -> tuple[tuple[Implementation, ...], str]:
    """What can be made for a task: a memoriser of its visible checks, and mutants of its own solution.

    Args:
        task: with its solution, where there is one.
        most: mutants.
        seed: of drawing them.
    Returns:
        (implementations, what could not be made and why; empty where all was).
    """
    learnt = memoriser(task.entry_point, [(check.args, check.expected) for check in task.visible])
    made = Implementation(task=task.task, id=GENERATED + MEMORISER, kind=MEMORISER, code=learnt)
    source = right_one(task)
    if source is None:
        return (made,), "no mutants: the task gives no solution (canonical_solution)"
    try:
        changed = mutants(source, task.entry_point, most=most, seed=seed)
    except SyntaxError as error:
        return (made,), f"no mutants: its solution cannot be parsed ({error})"
    return (made, *_named(task, changed)), ""


def _named(task: TaskChecks, changed: Sequence[Mutant]) -> list[Implementation]:
    return [
        Implementation(task=task.task, id=f"{GENERATED}{MUTANT} {number}, {one.label}", kind=MUTANT, code=one.code)
        for number, one in enumerate(changed)
    ]
