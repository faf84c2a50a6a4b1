"""Rules that differ by the value of a column: weights that changed with the year, two graders, two divisions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import POWERS, Form, Problem
from evenhand.composite.recovery.levels import Found, weighted_on
from evenhand.composite.recovery.results import Parameter
from evenhand.composite.recovery.rules import by_era
from evenhand.composite.recovery.weights import program, settled, weights_inside
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["era_values", "eras_level"]

_MOST_VALUES = 24
_MOST_PARTS = 4


def era_values(table: Table, name: str, index: "NDArray[np.int64]") -> "dict[str, NDArray[np.int64]]":
    """Value of an era column to the places of its rows, in order; empty where it has one value or too many."""
    import numpy as np

    column = table.column(name)
    values: list[str] = [
        column.texts[row].strip() if np.isnan(column.values[row]) else f"{column.values[row]:g}" for row in index
    ]
    found: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        found.setdefault(value, []).append(place)
    if not 1 < len(found) <= min(_MOST_VALUES, len(index) // 2):
        return {}
    return {value: np.array(places) for value, places in sorted(found.items())}


def eras_level(problem: Problem, table: Table, eras: Sequence[str], scale: float) -> list[Found]:
    """One family whose weights (or, for plain means, whose kind) differ between groups of values of one column."""
    found = []
    for name in eras:
        values = era_values(table, name, problem.index)
        if values:
            found += _split(problem, table, name, values, scale)
    return found


def _split(
    problem: Problem, table: Table, name: str, values: "dict[str, NDArray[np.int64]]", scale: float
) -> list[Found]:

    axes = tuple(range(problem.m))
    for power in POWERS:
        if power != 1 and (problem.high < 0).any():
            continue
        like = Form(kind="power", power=power, axes=axes, scale=scale)
        parts = _parts(problem, like, values)
        if parts is None or not 1 < len(parts) <= _MOST_PARTS:
            continue
        return _found(problem, table, name, like, parts)
    return []


def _parts(
    problem: Problem, like: Form, values: "dict[str, NDArray[np.int64]]"
) -> "list[tuple[tuple[str, ...], NDArray[np.int64]]] | None":
    """Groups of values with one vector of weights each, merged greedily; None if a value has no vector."""
    import numpy as np

    if any(len(places) < 4 or not _feasible(problem.rows(places), like) for places in values.values()):
        return None
    parts: list[tuple[tuple[str, ...], NDArray[np.int64]]] = []
    for value, places in sorted(values.items(), key=lambda pair: -len(pair[1])):
        for number, (names, rows) in enumerate(parts):
            joined = np.concatenate([rows, places])
            if _feasible(problem.rows(joined), like):
                parts[number] = (*names, value), joined
                break
        else:
            parts.append(((value,), places))
    return sorted(parts, key=lambda part: len(part[1]))


def _feasible(problem: Problem, like: Form) -> bool:
    inside = weights_inside(program(problem, like))
    return inside is not None and inside[1] >= -1e-9


def _found(
    problem: Problem, table: Table, name: str, like: Form,
    parts: "list[tuple[tuple[str, ...], NDArray[np.int64]]]",
) -> list[Found]:  # fmt: skip
    told: list[tuple[tuple[str, ...], Form]] = []
    parameters: dict[str, Parameter] = {}
    for values, rows in parts:
        mended = weighted_on(problem.rows(rows), like)
        if mended is None or mended.form is None or not settled(mended.form, problem.rows(rows)):
            return []
        told.append((values, mended.form))
        where = f"{name} {', '.join(values[:3])}{', ...' if len(values) > 3 else ''}"
        parameters |= {f"{key} ({where})": found for key, found in mended.parameters.items()}
    is_text = not table.column(name).is_numeric
    free = len(parts) * (len(like.axes) - 1)
    return [Found(
        problem=problem, form=None, rule=by_era(name, is_text, told, problem),
        refit=_refit(like, parts, problem), parameters=parameters, complexity=(free, len(parts) - 1),
        key=(free, len(parts) - 1, 0, 0),
    )]  # fmt: skip


def _refit(
    like: Form, parts: "list[tuple[tuple[str, ...], NDArray[np.int64]]]", problem: Problem
) -> Callable[[Problem], bool]:
    """Whether each part has weights for other scores; rows are known by their place in the table."""
    import numpy as np

    groups = [problem.index[rows] for _, rows in parts]

    def refit(other: Problem) -> bool:
        for group in groups:
            some = other.rows(np.isin(other.index, group))
            if some.n and not _feasible(some, like):
                return False
        return True

    return refit
