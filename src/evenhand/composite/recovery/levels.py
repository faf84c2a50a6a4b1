"""The search itself: levels from cheap to dear, each a list of the rules that hold on every row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evenhand.composite.recovery.clauses import clause_interval, gated, knees_of, limited, round_number
from evenhand.composite.recovery.forms import POWERS, Form, Problem, bounds, misfits, tolerance
from evenhand.composite.recovery.results import Parameter
from evenhand.composite.recovery.subsets import Trial
from evenhand.composite.recovery.weights import (
    program,
    round_weights,
    settled,
    weight_intervals,
    weighted,
    weights_inside,
)
from evenhand.composite.rule.syntax import Rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Found", "axis_clauses", "gates", "parameters_of", "plain", "power_interval", "weighted_on", "weights"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """A survivor.

    Attributes:
        problem: the rows and axes it was found on.
        form: the rule as a form; None where it is only a rule of the language.
        rule: the rule, where it is no form.
        refit: whether the same structure can be fitted to the same rows with other scores.
        parameters: intervals that the level found.
        complexity: (fitted numbers, clauses); survivors of the same complexity compete.
    """

    problem: Problem
    form: Form | None
    refit: Callable[[Problem], bool]
    rule: Rule | None = None
    parameters: dict[str, Parameter] = field(default_factory=dict)
    complexity: tuple[int, int] = (0, 0)
    key: tuple[object, ...] = ()


def _found(problem: Problem, form: Form, refit: Callable[[Problem], bool], **parameters: Parameter) -> Found:
    return Found(
        problem=problem, form=form, refit=refit, parameters=parameters, complexity=form.size[:2], key=form.size
    )  # fmt: skip


def plain(problem: Problem, trials: list[Trial]) -> list[Found]:
    """Combinations without a fitted number."""
    kept = [trial.form for trial in trials if trial.wrong == 0 and "weights" not in trial.form.free]
    return [_found(problem, form, _fixed(form)) for form in kept if settled(form, problem)]


def _fixed(form: Form) -> Callable[[Problem], bool]:
    return lambda other: settled(form, other)


# --- weights -------------------------------------------------------------------------------------------------------


def weights(problem: Problem, trials: list[Trial], scale: float) -> list[Found]:
    """Power means whose weights a linear program finds, then weighted sums, then the exponent free."""
    found = []
    axes = tuple(range(problem.m))
    if problem.m > 1:
        for power in POWERS:
            if power != 1 and (problem.high < 0).any():
                continue
            found += _weighted(problem, Form(kind="power", power=power, axes=axes, scale=scale))
    if not found:
        found += [
            _found(problem, trial.form, _weights_refit(replace(trial.form, weights=None, axes=axes)))
            for trial in trials
            if trial.wrong == 0 and "weights" in trial.form.free and settled(trial.form, problem)
        ]
        found += [] if found else _weighted(problem, Form(kind="sum", axes=axes))
    return found or _free_power(problem, scale)


def _weighted(problem: Problem, like: Form, **more: Parameter) -> list[Found]:
    """The roundest weights of one program's polytope, with every weight's interval."""
    import numpy as np

    given = program(problem, like)
    inside = weights_inside(given)
    if inside is None or inside[1] < -1e-9:
        return []
    ends = weight_intervals(given)
    if ends is None:
        return []
    names = [problem.axes[axis].name for axis in like.axes]
    vector = round_weights(given, *ends, names)
    form = weighted(given, inside[0] if vector is None else vector)
    if not settled(form, problem):
        form = weighted(given, inside[0])
        if not settled(form, problem):
            return []
    stated = dict(zip(form.axes, form.weights or [1 / len(form.axes)] * len(form.axes), strict=True))
    parameters = {
        f"weight of {problem.axes[axis].name}": Parameter(
            value=stated.get(axis, 0.0), low=float(low), high=float(high) if np.isfinite(high) else None
        )
        for axis, low, high in zip(like.axes, *ends, strict=False)
    }
    form = replace(form, free=form.free | {"weights"})
    free = len(like.axes) - (like.kind == "power") + form.n_free - (len(form.weights or ()) - (like.kind == "power"))
    found = _found(problem, form, _weights_refit(like))
    return [replace(found, parameters=parameters | more, complexity=(free, form.size[1]), key=(free, *form.size[1:]))]


def weighted_on(problem: Problem, like: Form) -> Found | None:
    """The roundest weights on these rows, or None."""
    found = _weighted(problem, like)
    return found[0] if found else None


def _weights_refit(like: Form) -> Callable[[Problem], bool]:
    def refit(other: Problem) -> bool:
        inside = weights_inside(program(other, like))
        return inside is not None and inside[1] >= -1e-9

    return refit


def _free_power(problem: Problem, scale: float) -> list[Found]:
    """A power mean with equal weights and an exponent that is none of the usual ones."""
    if problem.m < 2 or (problem.high < 0).any():
        return []
    form = Form(kind="power", axes=tuple(range(problem.m)), scale=scale)
    ends = power_interval(problem, form)
    if ends is None:
        return []
    form = replace(form, power=round_number(*ends), free=frozenset({"power"}))
    parameter = Parameter(value=form.power, low=ends[0], high=ends[1])
    refit: Callable[[Problem], bool] = lambda other: power_interval(other, form) is not None  # noqa: E731
    return [_found(problem, form, refit, exponent=parameter)] if settled(form, problem) else []


def power_interval(
    problem: Problem, form: Form, least: float = -20.0, most: float = 20.0
) -> tuple[float, float] | None:
    """The exponents with which a power mean holds on every row: it rises with the exponent, so each row bounds it."""
    import numpy as np

    slack = tolerance(problem)

    def many(powers: "NDArray[np.float64]", values: "NDArray[np.float64]") -> "NDArray[np.float64]":
        return _means(form, values, powers) * _gate_factor(form, values)

    low = np.full(problem.n, least), np.full(problem.n, most)
    high = np.full(problem.n, least), np.full(problem.n, most)
    bottom, top = problem.score_low - slack, problem.score_high + slack
    enough = many(low[1], problem.high) >= bottom
    few = many(high[0], problem.low) <= top
    if not (enough.all() and few.all()):
        return None
    for _ in range(40):
        middle = (low[0] + low[1]) / 2
        fine = many(middle, problem.high) >= bottom
        low = np.where(fine, low[0], middle), np.where(fine, middle, low[1])
        middle = (high[0] + high[1]) / 2
        fine = many(middle, problem.low) <= top
        high = np.where(fine, middle, high[0]), np.where(fine, high[1], middle)
    ends = float(low[1].max()), float(high[0].min())
    return ends if ends[0] <= ends[1] else None


def _means(form: Form, values: "NDArray[np.float64]", powers: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Power means with an exponent of each row's own, in logarithms so that no power overflows."""
    import numpy as np

    inside = np.array(values)
    for clauses, cut in ((form.floors, np.maximum), (form.caps, np.minimum)):
        for axis, limit in clauses:
            inside[:, axis] = cut(inside[:, axis], limit)
    inside = np.log(np.maximum(inside[:, list(form.axes)], 1e-300))
    share = np.array(form.weights or [1 / len(form.axes)] * len(form.axes))
    power = np.where(np.abs(powers) < 1e-9, 1e-9, powers)[:, None]
    moved = power * inside
    peak = moved.max(axis=1, keepdims=True)
    total = np.log((np.exp(moved - peak) * share).sum(axis=1)) + peak[:, 0]
    return np.asarray(form.scale * np.exp(np.clip(total / power[:, 0], -700, 700)))


def _gate_factor(form: Form, values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    import numpy as np

    found = np.ones(len(values))
    for gate in form.gates:
        found = found * np.clip(values[:, gate.axis] / gate.knee, 0.0, 1.0) ** gate.power
    return found


# --- clauses on settled combinations -------------------------------------------------------------------------------


def _one_sided(trials: list[Trial], *, above: bool, most: float) -> list[Form]:
    """Forms that miss on one side only, and not on nearly every row: those that one kind of clause can mend."""
    chosen = [
        trial
        for trial in trials
        if (trial.below if above else trial.above) == 0 and 0 < trial.wrong <= most and not trial.form.free
    ]
    return [trial.form for trial in sorted(chosen, key=lambda trial: trial.wrong)[:60]]


def axis_clauses(problem: Problem, trials: list[Trial]) -> list[Found]:
    """Floors and caps on combinations that lie below, or above, the score on some rows only."""
    found = []
    for floor in (True, False):
        for form in _one_sided(trials, above=not floor, most=0.8 * problem.n):
            for mended in limited(problem, form, floor=floor):
                if settled(mended, problem):
                    axes = tuple(axis for axis, _ in mended.floors or mended.caps)
                    found.append(_found(problem, mended, _clause_refit(form, floor, axes)))
    return found


def _clause_refit(form: Form, floor: bool, axes: tuple[int, ...]) -> Callable[[Problem], bool]:
    return lambda other: clause_interval(other, form, floor=floor, axes=axes) is not None


def gates(problem: Problem, trials: list[Trial], *, floors: tuple[float, ...] = ()) -> list[Found]:
    """One gate, else two, else three, on combinations that lie above the score on some rows and below it on none."""
    found: list[Found] = []
    forms = _one_sided(trials, above=True, most=0.9 * problem.n)
    few = [trial.form for trial in trials if 0 < trial.below <= 0.3 * problem.n and _is_low(trial.form)]
    for limit in floors if few and (problem.low < max(floors, default=0)).any() else ():
        mended = [replace(form, floors=tuple((axis, limit) for axis in form.axes)) for form in few]
        forms = [form for form in mended if not (misfits(form, problem) < 0).any()]
        found = _gated(problem, forms, 1)
        if found:
            return found
    if floors:
        return []
    for most in (1, 2, 3):
        found = _gated(problem, forms[: 60 if most == 1 else 12 if most == 2 else 4], most)
        if found:
            return found
    return found


def _is_low(form: Form) -> bool:
    """Whether a component near 0 pulls the whole to 0, so that floors are in use."""
    return form.kind == "power" and form.power <= 0 and not form.free


def _gated(problem: Problem, forms: list[Form], most: int) -> list[Found]:
    found = []
    for form in forms:
        for mended, _ in gated(problem, form, most=most):
            if len(mended.gates) == most and settled(mended, problem):
                axes = tuple(gate.axis for gate in mended.gates)
                found.append(_found(problem, mended, _gate_refit(form, axes)))
    return found


def _gate_refit(form: Form, axes: tuple[int, ...]) -> Callable[[Problem], bool]:
    def refit(other: Problem) -> bool:
        if settled(form, other):
            return True
        return any(tuple(g.axis for g in mended.gates) == axes for mended, _ in gated(other, form, most=len(axes)))

    return refit


# --- intervals ------------------------------------------------------------------------------------------------------


def parameters_of(found: Found) -> Iterator[tuple[str, Parameter]]:
    """The interval of every number of a form, each with the others as stated; one gate's two numbers go together."""
    import numpy as np

    form, problem = found.form, found.problem
    assert form is not None
    if form.kind == "power" and "power" not in form.free and len(form.axes) > 1 and not (problem.high < 0).any():
        ends = power_interval(problem, form)
        yield "exponent", Parameter(value=form.power, low=ends and ends[0], high=ends and ends[1])
    if form.kind == "power" and form.weights is None and len(form.axes) > 1:
        yield from _equal_weights(problem, form)
    for gate in form.gates:
        name = problem.axes[gate.axis].name
        without = replace(form, gates=tuple(other for other in form.gates if other is not gate))
        first, _ = bounds(without, problem)
        over = first > problem.score_high
        start = float(problem.low[over, gate.axis].max()) if over.any() else gate.knee
        knees = knees_of(problem, without, gate.axis, np.linspace(max(start, 1e-6), gate.knee * 1.5, 4001))
        if len(knees.knee):
            yield f"knee of {name}", Parameter(value=gate.knee, low=float(knees.knee[0]), high=float(knees.knee[-1]))
            yield (
                f"power of {name}",
                Parameter(value=gate.power, low=max(float(knees.least.min()), 0.0), high=float(knees.most.max())),
            )
        else:
            yield f"knee of {name}", Parameter(value=gate.knee, low=gate.knee, high=gate.knee)
            yield f"power of {name}", Parameter(value=gate.power, low=gate.power, high=gate.power)
    for name, clauses in (("floor", form.floors), ("cap", form.caps)):
        if not clauses:
            continue
        without = replace(form, **{name + "s": ()})  # type: ignore[arg-type]
        if form.shared:
            ends = clause_interval(problem, without, floor=name == "floor", axes=[axis for axis, _ in clauses])
            yield name, Parameter(value=clauses[0][1], low=ends and ends[0], high=ends and ends[1])
            continue
        for axis, limit in clauses:
            kept = replace(form, **{name + "s": tuple(pair for pair in clauses if pair[0] != axis)})  # type: ignore[arg-type]
            ends = clause_interval(problem, kept, floor=name == "floor", axes=[axis])
            yield (
                f"{name} of {problem.axes[axis].name}",
                Parameter(value=limit, low=ends and ends[0], high=ends and ends[1]),
            )


def _equal_weights(problem: Problem, form: Form) -> Iterator[tuple[str, Parameter]]:
    """How far each weight can be from equal."""
    ends = weight_intervals(program(problem, form))
    for place, axis in enumerate(form.axes) if ends is not None else ():
        assert ends is not None
        low, high = float(ends[0][place]), float(ends[1][place])
        yield f"weight of {problem.axes[axis].name}", Parameter(value=1 / len(form.axes), low=low, high=high)
