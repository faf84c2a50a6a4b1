"""Combinations that are rescaled at the end, and rules that couple rows: ranks, percentiles, win rates, normalisers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.composite.boxes import image
from evenhand.composite.evaluate import evaluate
from evenhand.composite.recover_clauses import round_number
from evenhand.composite.recover_forms import Form, Problem, bounds, combined, tolerance
from evenhand.composite.recover_levels import Found
from evenhand.composite.recover_results import Parameter
from evenhand.composite.recover_subsets import Trial
from evenhand.composite.recover_weights import program, settled, weighted, weights_inside
from evenhand.composite.syntax import Binary, Call, ColumnRef, Expression, Number, Rule
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["coupled_level", "rescaled"]

_MOST_FORMS = 1_200


# --- a scale, and a shift ------------------------------------------------------------------------------------------


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
    form = weighted(given, inside[0])
    if not form.axes or not settled(form, problem):
        return []

    def refit(other: Problem) -> bool:
        found = weights_inside(program(other, like, signs=signs.tolist(), shifted=True))
        return found is not None and found[1] >= -1e-9

    size = (problem.m + 1, 0, 0, 0)
    parameters = {
        f"weight of {problem.axes[axis].name}": Parameter(value=weight, low=None, high=None)
        for axis, weight in zip(form.axes, form.weights or (), strict=True)
    }
    parameters["shift"] = Parameter(value=form.shift, low=None, high=None)
    return [Found(problem=problem, form=form, refit=refit, parameters=parameters, complexity=size[:2], key=size)]


# --- rows coupled --------------------------------------------------------------------------------------------------


def coupled_level(problem: Problem, table: Table) -> list[Found]:
    """Rules over the whole table, tried as they are printed, and kept if the rounding does not refute them."""
    import numpy as np

    some = table.where(problem.index)
    found = []
    for number, rule in enumerate(_rules(problem)):
        values = evaluate(rule, some).values
        with np.errstate(invalid="ignore"):
            fine = (values >= problem.score_low - tolerance(problem)) & (
                values <= problem.score_high + tolerance(problem)
            )
        if not fine.all():
            continue
        lies = image(rule, some)
        if ((lies.low > problem.score_high + 1e-9) | (lies.high < problem.score_low - 1e-9)).any():
            continue
        key = (0, 1, number, 0)
        refit = _printed_refit(values)
        found.append(Found(problem=problem, form=None, rule=rule, refit=refit, complexity=(0, 1), key=key))
    return found


def _printed_refit(values: "Floats") -> Callable[[Problem], bool]:
    """Nothing is fitted: do the same values print as other scores? Rows are known by their place."""
    import numpy as np

    def refit(other: Problem) -> bool:
        if other.n != len(values):
            return True
        return bool(np.all((values >= other.score_low - 1e-9) & (values <= other.score_high + 1e-9)))

    return refit


def _rules(problem: Problem) -> Iterator[Rule]:
    """Ranks and percentiles of each column, then normalised columns combined, then combinations ranked."""
    columns = tuple(ColumnRef(axis.parts[0]) for axis in problem.axes if len(axis.parts) == 1)
    whole: Expression = Call("mean", columns) if len(columns) > 1 else columns[0]
    for inside in (*columns, *((whole, Call("geomean", columns)) if len(columns) > 1 else ())):
        yield from _ranked(inside)
    for ties in ("", "lose", "win"):
        win = Call("winrate", columns, None, (("ties", ties),) if ties else ())
        yield Rule(win)
        yield Rule(_times(100.0, win))
    for name in ("minmax", "percentile", "zscore", "rank"):
        for options in ((), (("direction", "lower"),)):
            normal = tuple(Call(name, (column,), None, options) for column in columns)
            for mean in ("mean", "sum") if len(columns) > 1 else ():
                yield Rule(Call(mean, normal))
                yield Rule(_times(100.0, Call(mean, normal)))
    shares = tuple(Binary("/", column, Call("colmax", (column,))) for column in columns)
    for mean in ("mean", "geomean", "hmean") if len(columns) > 1 else ():
        yield Rule(Call(mean, shares))
        yield Rule(_times(100.0, Call(mean, shares)))
        inside = Call(mean, columns)
        yield Rule(_times(100.0, Binary("/", inside, Call("colmax", (inside,)))))
    logs = tuple(Call("log", (column,)) for column in columns)
    for inside in (Call("mean", logs) if len(logs) > 1 else logs[0], Call("sum", logs) if len(logs) > 1 else logs[0]):
        yield Rule(inside)


def _ranked(inside: Expression) -> Iterator[Rule]:
    for ties in ("", "max", "mean"):
        for direction in ("", "lower"):
            options = (*((("direction", direction),) if direction else ()), *((("ties", ties),) if ties else ()))
            yield Rule(Call("rank", (inside,), None, options))
    for direction in ("", "lower"):
        yield Rule(Call("percentile", (inside,), None, (("direction", direction),) if direction else ()))


def _times(factor: float, inside: Expression) -> Expression:
    return Binary("*", Number(factor), inside)
