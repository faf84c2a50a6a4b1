"""Tasks with their checks: JSONL with `task_id`, `entry_point`, `visible_checks`, `heldout_checks`, one task a line.

A check is `{"id", "args", "expected"}`, where `args` is the Python literal of the argument list and `expected` the
literal of the right value, both as text; they are read as literals and never evaluated.
"""

import ast
import keyword
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import InvalidInput
from evenhand.sandbox.literal import Unreadable, encode
from evenhand.store.rated_rows import id_text, open_rated
from evenhand.store.text_files import quoted

__all__ = ["Check", "TaskChecks", "read_tasks"]

Suite = Literal["both", "visible", "held_out"]
LEAST_TOLERANCE = 1e-6
VISIBLE = ("visible_checks", "visible", "base_checks", "public_checks")
PLAIN = ("checks",)
HELD_OUT = ("heldout_checks", "held_out_checks", "held_out", "heldout", "hidden_checks", "private_checks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One call and the value that it has to return."""

    id: str
    args: tuple[object, ...]
    expected: object


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChecks:
    """One task's checks.

    Args:
        task: its id.
        entry_point: the function that is called.
        visible: checks that the candidate may see.
        held_out: checks that it may not.
        absolute: tolerance of a float.
        row: the whole row.
        comparison: by which a returned value is held against the expected one; see `comparisons`.
        plain: checks that stand under `checks`, of which the row does not say what they are.
    """

    task: str
    entry_point: str
    visible: tuple[Check, ...]
    held_out: tuple[Check, ...]
    absolute: float
    row: Mapping[str, Any]
    plain: tuple[Check, ...] = ()
    comparison: str = "equal"


def read_tasks(path: Path, *, suite: Suite = "both") -> tuple[TaskChecks, ...]:
    """Read a file of tasks.

    Args:
        path: JSONL, JSON or Parquet.
        suite: which suite the file holds; where it is one alone, its checks may be called `checks` or `tests` as well.
    Raises:
        InvalidInput: a task or a check twice, a missing field, or a value that is no literal, with its place.
    """
    rows = open_rated(path, known=("task_id", "entry_point", *VISIBLE, *HELD_OUT, *PLAIN))
    seen: dict[str, str] = {}
    tasks = []
    for place, row in rows:
        task = id_text(row.get("task_id", row.get("id")), place, "task_id")
        if task in seen:
            raise InvalidInput(f"{place}: the task {quoted(task)} stands in {seen[task]} already; ids must differ")
        seen[task] = place
        tasks.append(_task(task, row, place, suite))
    return tuple(tasks)


def _task(task: str, row: Mapping[str, Any], place: str, suite: Suite) -> TaskChecks:
    entry_point = row.get("entry_point")
    if not isinstance(entry_point, str) or not entry_point.isidentifier() or keyword.iskeyword(entry_point):
        raise InvalidInput(f"{place}: entry_point is {quoted(entry_point)}; expected the name of a function")
    return TaskChecks(
        task=task,
        entry_point=entry_point,
        visible=() if suite == "held_out" else _checks(row, _names(VISIBLE, suite), place),
        held_out=() if suite == "visible" else _checks(row, _names(HELD_OUT, suite), place),
        absolute=max(_tolerance(row.get("atol"), place), LEAST_TOLERANCE),
        row=row,
        comparison=_comparison(row.get("comparison"), place),
        plain=_checks(row, PLAIN, place),
    )


def _comparison(given: object, place: str) -> str:
    """A comparison's name; whether it is a known one is asked where values are compared."""
    if given is None or given == "==":
        return "equal"
    if isinstance(given, str) and given.strip():
        return given.strip()
    raise InvalidInput(f"{place}: comparison is {quoted(given)}; expected a name such as equal, or leave it out")


def _tolerance(given: object, place: str) -> float:
    """A tolerance; 0 where the row names none."""
    if given is None:
        return 0.0
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < sys.float_info.max:
        return float(given)
    raise InvalidInput(f"{place}: atol is {quoted(given)}; expected a number of at least 0")


def _names(names: tuple[str, ...], suite: Suite) -> tuple[str, ...]:
    return names if suite == "both" else (*names, "checks", "tests")


def _checks(row: Mapping[str, Any], names: tuple[str, ...], place: str) -> tuple[Check, ...]:
    """The checks of one suite; none where the row has no such field."""
    name = next((name for name in names if name in row), None)
    found = [] if name is None else row[name]
    if found is None:
        found = []
    if not isinstance(found, list):
        raise InvalidInput(f"{place}: {name} is {quoted(found)}; expected a list of checks")
    checks = tuple(_check(one, f"{place}: {name}[{number}]", str(number)) for number, one in enumerate(found))
    ids = [check.id for check in checks]
    doubled = next((one for one in ids if ids.count(one) > 1), None) if len(set(ids)) < len(ids) else None
    if doubled is not None:
        raise InvalidInput(f"{place}: {name} has the check {quoted(doubled)} twice; ids must differ")
    return checks


def _check(value: Any, place: str, number: str) -> Check:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{place} is {quoted(value)}; expected an object with id, args and expected")
    for key in ("args", "expected"):
        if key not in value:
            raise InvalidInput(f"{place}: {key} is missing; a check has id, args and expected")
    args = _literal(value["args"], f"{place}.args")
    if not isinstance(args, (list, tuple)):
        raise InvalidInput(f"{place}.args is {quoted(value['args'])}; expected the literal of a list of arguments")
    name = value.get("id", number)
    return Check(
        id=id_text(name, place, "id"), args=tuple(args), expected=_literal(value["expected"], f"{place}.expected")
    )


def _literal(value: Any, place: str) -> object:
    """A Python literal as text, or data as it stands; of exact builtin types, so that it can be compared.

    Raises:
        InvalidInput: it is no literal, or cannot be serialised.
    """
    found = value
    if isinstance(value, str):
        try:
            with warnings.catch_warnings(action="ignore"):  # of an escape that Python does not know; the value is read
                found = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
            raise InvalidInput(
                f"{place} is {quoted(value)}, which is no Python literal; write a value as repr() prints it"
            ) from error
    try:
        encode((found,))  # it travels inside of a frame
    except Unreadable as error:
        raise InvalidInput(f"{place} cannot be serialised: {error}") from error
    return found
