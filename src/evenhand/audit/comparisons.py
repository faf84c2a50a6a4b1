"""When a returned value is the right one: the comparisons that a task may name under `comparison`, all of them ours.

`equal` and `isclose`: `==`, or through lists and tuples floats within `max(atol, 1e-6) + 1e-7 * |expected|`.
`poly_root`: the value is a root of the polynomial whose coefficients, lowest power first, are the first argument.

A name is looked up and nothing of a task's file is evaluated, so that a comparison of somebody's own cannot be
honoured: such a task is not compared at all.
"""

import math
from collections.abc import Callable, Mapping

from evenhand.audit.suites import Check, TaskChecks
from evenhand.sandbox.comparing import equal_values

__all__ = ["as_expected", "not_compared"]

_NEAR_ROOT = 1e-4
"""How near 0 the polynomial has to be. Source: EvalPlus (Liu et al. 2023), HumanEval/32."""


def not_compared(task: TaskChecks) -> str:
    """Why no value of a task can be held against its checks; "" where its comparison is known.

    >>> task = TaskChecks(task="t", entry_point="f", visible=(), held_out=(), absolute=0, row={}, comparison="mine")
    >>> not_compared(task)
    "the comparison 'mine' is none of equal, isclose, poly_root"
    """
    if task.comparison in _COMPARISONS:
        return ""
    return f"the comparison {task.comparison[:60]!r} is none of {', '.join(_COMPARISONS)}"


def as_expected(value: object, check: Check, task: TaskChecks) -> bool:
    """Whether a value is the one that a check expects, by the task's comparison, which has to be a known one."""
    return _COMPARISONS[task.comparison](value, check, task)


def _equal(value: object, check: Check, task: TaskChecks) -> bool:
    return equal_values(value, check.expected, absolute=task.absolute, lists_as_tuples=True)


def _poly_root(value: object, check: Check, task: TaskChecks) -> bool:
    """|sum of c_k * x^k| <= max(1e-4, atol), by Horner's rule in floats; what is no finite number is no root."""
    if not _is_number(value) or not check.args or not isinstance(check.args[0], list | tuple):
        return False
    total = 0.0
    try:
        x = float(value)  # type: ignore[arg-type]  # an int too large for a float is no root that anybody could check
        for coefficient in reversed(check.args[0]):
            total = total * x + float(coefficient)
    except (OverflowError, TypeError, ValueError):
        return False
    return math.isfinite(x) and abs(total) <= max(_NEAR_ROOT, task.absolute)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_COMPARISONS: Mapping[str, Callable[[object, Check, TaskChecks], bool]] = {
    "equal": _equal, "isclose": _equal, "poly_root": _poly_root,
}  # fmt: skip
