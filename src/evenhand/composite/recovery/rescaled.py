"""Combinations rescaled at the end: by a factor, by a factor and a constant, or a weighted sum with a constant.

Each row's rounding box bounds these numbers by linear inequalities; stated are the roundest numbers inside.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.composite.recovery.clauses import round_number
from evenhand.composite.recovery.forms import Form, Problem, bounds, combined, tolerance
from evenhand.composite.recovery.levels import Found
from evenhand.composite.recovery.results import Parameter
from evenhand.composite.recovery.subsets import Trial
from evenhand.composite.recovery.weights import Program, program, settled, weighted, weights_inside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["rescaled"]

_MOST_FORMS = 1_200


def rescaled(problem: Problem, trials: list[Trial]) -> list[Found]:
    """Equal weights with a free factor, else with a factor and a constant, else a weighted sum with a constant."""
    import numpy as np

    if problem.n < 5:
        return []
    forms = [trial.form for trial in trials if not trial.form.free][:_MOST_FORMS]
    forms = [form for form in forms if _nearly(combined(form, problem.middle), problem.score)]
    found = [one for form in forms for one in _scaled(problem, replace(form, scale=1.0))]
    if not found:
        found = [one for form in forms[:60] for one in _affine(problem, replace(form, scale=1.0))]
    if not found and problem.n >= problem.m + 4 and np.ptp(problem.score) > 0:
        found = _shifted(problem)
    return found


def _nearly(values: "Floats", score: "Floats") -> bool:
    """Whether a straight line is worth a try."""
    import numpy as np

    if not np.isfinite(values).all() or np.ptp(values) == 0 or np.ptp(score) == 0:
        return False
    return bool(abs(np.corrcoef(values, score)[0, 1]) > 0.98)


def _scaled(problem: Problem, form: Form) -> list[Found]:
    """A factor: each row gives an interval of it."""
    ends = _scale_ends(problem, form)
    if ends is None:
        return []
    mended = replace(form, scale=round_number(*ends), free=frozenset({"scale"}))
    if not settled(mended, problem):
        return []
    refit: Callable[[Problem], bool] = lambda other: _scale_ends(other, form) is not None  # noqa: E731
    return [Found(
        problem=problem, form=mended, refit=refit, complexity=mended.size[:2], key=mended.size,
        parameters={"scale": Parameter(value=mended.scale, low=ends[0], high=ends[1])},
    )]  # fmt: skip


def _scale_ends(problem: Problem, form: Form) -> tuple[float, float] | None:
    import numpy as np

    low, high = bounds(form, problem)
    slack = tolerance(problem)
    if (low < 0).any() or not (high > 0).any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(
            high > 0, (problem.score_low - slack) / high, np.where(problem.score_low <= 0, 0, np.inf)
        ).max()
        most = np.where(low > 0, (problem.score_high + slack) / low, np.inf).min()
    return (float(least), float(most)) if 0 < least <= most < np.inf else None


def _affine(problem: Problem, form: Form) -> list[Found]:
    """A factor above 0 and a constant: a program of two numbers."""
    ends = _affine_ends(problem, form)
    if ends is None:
        return []
    scale, shift, scales, shifts = ends
    mended = replace(form, scale=scale, shift=shift, free=frozenset({"scale", "shift"}))
    if not settled(mended, problem):
        return []
    refit: Callable[[Problem], bool] = lambda other: _affine_ends(other, form) is not None  # noqa: E731
    return [Found(
        problem=problem, form=mended, refit=refit, complexity=mended.size[:2], key=mended.size,
        parameters={
            "scale": Parameter(value=scale, low=scales[0], high=scales[1]),
            "shift": Parameter(value=shift, low=shifts[0], high=shifts[1]),
        },
    )]  # fmt: skip


def _affine_ends(problem: Problem, form: Form) -> tuple[float, float, tuple[float, float], tuple[float, float]] | None:
    """(factor, constant, factor's interval, constant's interval)."""
    import numpy as np
    from scipy.optimize import linprog

    low, high = bounds(form, problem)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    slack, ones = tolerance(problem), np.ones(problem.n)
    matrix = np.vstack([np.column_stack([low, ones]), -np.column_stack([high, ones])])
    limit = np.concatenate([problem.score_high + slack, -(problem.score_low - slack)])

    def end(cost: tuple[float, float], fixed: float | None = None) -> float | None:
        scale = (1e-12, None) if fixed is None else (fixed, fixed)
        found = linprog(cost, A_ub=matrix, b_ub=limit, bounds=[scale, (None, None)], method="highs")
        return None if found.x is None else float(np.dot(found.x, np.abs(cost)))

    first = end((1.0, 0.0))
    if first is None:
        return None
    scales = first, end((-1.0, 0.0))
    shifts = end((0.0, 1.0)), end((0.0, -1.0))
    if scales[1] is None or shifts[0] is None or shifts[1] is None:
        return None
    scale = round_number(scales[0], scales[1])
    inner = end((0.0, 1.0), scale), end((0.0, -1.0), scale)
    if inner[0] is None or inner[1] is None:
        return None
    return scale, round_number(inner[0], inner[1]), (scales[0], scales[1]), (shifts[0], shifts[1])


def _shifted(problem: Problem) -> list[Found]:
    """A weighted sum with a constant; the sign of each weight is that of the least-squares fit."""
    import numpy as np

    design = np.column_stack([problem.middle, np.ones(problem.n)])
    fitted = np.linalg.lstsq(design, problem.score, rcond=None)[0][:-1]
    signs = np.where(fitted < 0, -1.0, 1.0)
    like = Form(kind="sum", axes=tuple(range(problem.m)))
    given = program(problem, like, signs=signs.tolist(), shifted=True)
    inside = weights_inside(given)
    if inside is None or inside[1] < -1e-9:
        return []
    form = weighted(given, _round_vector(given))
    form = form if form.axes and settled(form, problem) else weighted(given, inside[0])
    if not form.axes or not settled(form, problem):
        return []

    def refit(other: Problem) -> bool:
        found = weights_inside(program(other, like, signs=signs.tolist(), shifted=True))
        return found is not None and found[1] >= -1e-9

    size = (problem.m + 1, 0, 0, 0)
    told = dict(zip(form.axes, form.weights or (1 / len(form.axes),) * len(form.axes), strict=True))
    parameters = {}
    for place, axis in enumerate(problem.axes):
        low, high = sorted(float(signs[place]) * end for end in _ends(given, place))
        if low * high <= 0:  # the other sign may hold as well
            turned = np.where(np.arange(problem.m) == place, -signs, signs)
            other = program(problem, like, signs=turned.tolist(), shifted=True)
            farthest = float(turned[place]) * _ends(other, place)[1]
            low, high = min(low, farthest), max(high, farthest)
        parameters[f"weight of {axis.name}"] = _parameter(told.get(place, 0.0), low, high)
    parameters["shift"] = _parameter(form.shift, *_ends(given, problem.m))
    return [Found(problem=problem, form=form, refit=refit, parameters=parameters, complexity=size[:2], key=size)]


def _parameter(value: float, low: float, high: float) -> Parameter:
    """A number between its ends; an end that no row bounds is none."""
    import math

    return Parameter(value=value, low=low if math.isfinite(low) else None, high=high if math.isfinite(high) else None)


def _ends(given: Program, place: int, fixed: Sequence[float] = ()) -> tuple[float, float]:
    """(least, greatest) of a weight of a shifted sum, or of its constant, behind the weights.

    Args:
        fixed: the first weights, held at these.
    """
    import numpy as np
    from scipy.optimize import linprog

    size = given.matrix.shape[1]
    bounds: list[tuple[float, float | None]] = [*((value, value) for value in fixed), *[(0.0, None)] * size][:size]
    cost = np.zeros(size)
    cost[place] = 1.0
    if place == size - 2:
        cost[place + 1] = -1.0
    found = []
    for sign in (1.0, -1.0):
        best = linprog(sign * cost, A_ub=given.matrix, b_ub=given.limit, bounds=bounds, method="highs")
        found.append(float(cost @ best.x) if best.x is not None else -sign * np.inf)
    return found[0], found[1]


def _round_vector(given: Program) -> "Floats":
    """The weights and the constant of a shifted sum, one after the other as round as those before leave it."""
    import numpy as np

    found: list[float] = []
    for place in range(given.matrix.shape[1] - 2):
        ends = _ends(given, place, found)
        found.append(round_number(*ends) if np.isfinite(ends).all() else max(ends[0], 0.0))
    ends = _ends(given, len(found), found)
    shift = round_number(*ends) if np.isfinite(ends).all() else 0.0
    return np.array([*found, max(shift, 0.0), max(-shift, 0.0)])
