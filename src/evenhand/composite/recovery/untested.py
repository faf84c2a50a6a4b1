"""What a table cannot tell: clauses that may stand beside a rule unnoticed, and rows that separate survivors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.composite.recovery.clauses import clause_interval, knees_of
from evenhand.composite.recovery.forms import Form, Problem, bounds, combined
from evenhand.composite.recovery.results import Gap, Untested

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["separating_rows", "untested_of"]

_NEAREST = 3


def untested_of(problem: Problem, form: Form, names: Sequence[str]) -> list[Untested]:
    """A gate on each axis, a floor and a cap on each and on all, as far as every row still holds with them.

    A gate is counted from exponent 1 on. What reaches furthest into the axis' range stands first.
    """
    found: list[tuple[float, Untested]] = []
    for axis in range(problem.m):
        found += _gate(problem, form, axis, names)
        if axis in form.axes:
            found += _limit(problem, form, (axis,), names, floor=True)
            found += _limit(problem, form, (axis,), names, floor=False)
    if len(form.axes) > 1:
        found += _limit(problem, form, form.axes, names, floor=True)
        found += _limit(problem, form, form.axes, names, floor=False)
    order = {"gate": 0, "floor": 1, "cap": 2}
    return [one for _, one in sorted(found, key=lambda pair: (order[pair[1].kind], -pair[0]))]


def _gate(problem: Problem, form: Form, axis: int, names: Sequence[str]) -> list[tuple[float, Untested]]:
    """The highest knee on an axis that no row gives away."""
    import numpy as np

    if any(gate.axis == axis for gate in form.gates) or (bounds(form, problem)[1] < 0).any():
        return []
    least, most = max(float(problem.low[:, axis].min()), 0.0), float(problem.high[:, axis].max())
    if most <= 0:
        return []
    grid = np.linspace(max(least, 1e-9), most, 800)
    knees = knees_of(problem, form, axis, grid)
    with_one = knees.knee[knees.most >= 1.0]
    knee = float(with_one.max()) if len(with_one) else least
    if knee <= 0:
        return []
    middle = problem.middle[:, axis]
    name = problem.axes[axis].name
    return [(
        (knee - least) / max(most - least, 1e-12),
        Untested(
            kind="gate", column=name, low=None, high=knee, told_by=f"a row with {name} clearly under {knee:.4g}",
            nearest=tuple(names[problem.index[row]] for row in np.argsort(middle, kind="stable")[:_NEAREST]),
        ),
    )]  # fmt: skip


def _limit(
    problem: Problem, form: Form, axes: tuple[int, ...], names: Sequence[str], *, floor: bool
) -> list[tuple[float, Untested]]:
    """How far a floor or cap can go in before a row gives it away."""
    import numpy as np

    if any(axis in axes for axis, _ in (form.floors if floor else form.caps)):
        return []
    ends = clause_interval(problem, form, floor=floor, axes=axes)
    if ends is None:
        return []
    values = problem.middle[:, list(axes)]
    least, most = float(values.min()), float(values.max())
    limit = ends[1] if floor else ends[0]
    if floor and limit <= 0:
        return []
    name = "" if len(axes) > 1 else problem.axes[axes[0]].name
    beyond = values.min(axis=1) if floor else -values.max(axis=1)
    what = "under" if floor else "over"
    reach = (limit - least if floor else most - limit) / max(most - least, 1e-12)
    return [(
        reach,
        Untested(
            kind="floor" if floor else "cap", column=name, low=None if floor else limit, high=limit if floor else None,
            told_by=f"a row with {name or 'any component'} clearly {what} {limit:.4g}",
            nearest=tuple(names[problem.index[row]] for row in np.argsort(beyond, kind="stable")[:_NEAREST]),
        ),
    )]  # fmt: skip


def separating_rows(
    problem: Problem, forms: Sequence[Form], names: Sequence[str], numbers: Sequence[int], most: int = 5
) -> list[Gap]:
    """The rows on which the first survivor and any other differ most, in half-widths of the score as printed."""
    import numpy as np

    if len(forms) < 2:
        return []
    width: NDArray[np.float64] = np.maximum((problem.score_high - problem.score_low) / 2, 1e-9)
    values = np.array([combined(form, problem.middle) for form in forms])
    gaps = np.abs(values[1:] - values[0]).max(axis=0) / width
    order = np.argsort(-gaps, kind="stable")[:most]
    return [
        Gap(row=numbers[problem.index[row]], name=names[problem.index[row]], gap=float(gaps[row]))
        for row in order if gaps[row] > 1e-6
    ]  # fmt: skip
