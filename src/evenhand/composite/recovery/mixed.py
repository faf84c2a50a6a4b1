"""Weights that are not equal beside a gate, or caps: least squares rank the clauses, linear programs decide.

For thousands of clauses at once the weights are fitted by their normal equations; only clauses whose largest residual
comes near the rounding are worth a linear program. The fit ranks and never accepts.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import Form, Gate, Problem
from evenhand.composite.recovery.levels import Found, weighted_on
from evenhand.composite.recovery.weights import program, weights_inside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["weights_with_clauses"]

_POWERS = (1.0, 2.0, 0.5, 3.0)
_NEAR = 4.0  # half-widths that the worst row of a fit may lie off for a program to be tried
_TRIED = 8
_HEAVY = 1e3  # of the line that makes weights sum to 1

Caps = tuple[tuple[int, float], ...]


def weights_with_clauses(problem: Problem, scale: float) -> list[Found]:
    """Weights by linear program where a gate on one axis, else caps on one or two axes, stand as well."""
    if problem.m < 2 or problem.n < problem.m + 3:
        return []
    axes = tuple(range(problem.m))
    found: list[Found] = []
    for power in (1.0, 0.0, -1.0):
        if power == 1 or not (problem.high < 0).any():
            found += _with_gate(problem, Form(kind="power", power=power, axes=axes, scale=scale))
    for like in (Form(kind="power", axes=axes, scale=scale), Form(kind="sum", axes=axes)):
        found += [] if found else _with_caps(problem, like)
    return found


def _fits(problem: Problem, like: Form) -> float:
    """How deep the polytope of weights is; below 0 where it is empty."""
    inside = weights_inside(program(problem, like))
    return float("-inf") if inside is None else inside[1]


# --- a gate --------------------------------------------------------------------------------------------------------


def _with_gate(problem: Problem, like: Form) -> list[Found]:
    """On each axis the gate with the roundest knee and exponent among those that some weights hold with."""
    found = []
    for axis in range(problem.m):
        gate = _best_gate(problem, like, axis)
        mended = None if gate is None else weighted_on(problem, replace(like, gates=(gate,)))
        if mended is not None:
            found.append(replace(mended, refit=_gate_refit(like, axis)))
    return found


def _gate_refit(like: Form, axis: int) -> Callable[[Problem], bool]:
    return lambda other: _fits(other, like) >= -1e-9 or _best_gate(other, like, axis) is not None


def _best_gate(problem: Problem, like: Form, axis: int) -> Gate | None:
    """A gate with which some weights hold: round knees first, then a finer grid about the best fit."""
    import numpy as np

    low, high = float(problem.low[:, axis].min()), float(problem.high[:, axis].max())
    if high <= 0 or high <= low:
        return None
    step = 10.0 ** np.floor(np.log10(high)) / 2
    for _ in range(3):
        knees = np.arange(np.floor(low / step) + 1, np.floor(high / step) + 1)[:60] * step
        if len(knees):
            ranked = _ranked_gates(problem, like, axis, knees)
            for miss, gate in sorted(ranked[:_TRIED], key=lambda pair: (_POWERS.index(pair[1].power), pair[0])):
                if miss < _NEAR and _fits(problem, replace(like, gates=(gate,))) >= -1e-9:
                    return gate
            if ranked[0][0] > 8 * _NEAR:
                return None
            middle = ranked[0][1].knee
            low, high = max(low, middle - step), min(high, middle + step)
        step /= 5
    return None


def _ranked_gates(problem: Problem, like: Form, axis: int, knees: "Floats") -> list[tuple[float, Gate]]:
    """(largest residual in half-widths, gate), least first."""
    import numpy as np

    choices = [(float(knee), power) for power in _POWERS for knee in knees]
    values = np.maximum(problem.middle, 1e-9)
    score = np.maximum(problem.score, 1e-9) / like.scale
    half = (problem.high - problem.low) / 2
    factor = np.array([np.clip(values[:, axis] / knee, 1e-9, 1.0) ** power for knee, power in choices])
    width = (problem.score_high - problem.score_low) / 2 / like.scale
    usable = problem.score > 2 * (problem.score_high - problem.score_low)
    share = (half / values).mean(axis=1) + width / score
    with np.errstate(all="ignore"):
        if like.power == 1.0:
            design = factor[:, :, None] * values
            target = np.broadcast_to(score, factor.shape)
            unit = np.broadcast_to(half.mean(axis=1) + width, factor.shape)
        elif like.power == 0.0:
            design = np.broadcast_to(np.log(values), (len(choices), *values.shape))
            target, unit = np.log(score) - np.log(factor), np.broadcast_to(share, factor.shape)
        else:
            design = np.broadcast_to(score[:, None] / values, (len(choices), *values.shape))
            target, unit = factor, factor * share
    if usable.sum() <= problem.m:
        return [(float("inf"), Gate(axis, *choices[0]))]
    miss = _largest_misses(design[:, usable], target[:, usable], unit[:, usable], summed=like.kind == "power")
    order = np.argsort(miss, kind="stable")
    return [(float(miss[place]), Gate(axis, *choices[place])) for place in order]


def _largest_misses(design: "Floats", target: "Floats", unit: "Floats", *, summed: bool) -> "Floats":
    """(choices,) the largest residual of each fit, in units; `summed` holds the weights' sum at 1."""
    import numpy as np

    scaled, wanted = design / unit[..., None], target / unit
    gram = np.einsum("cni,cnj->cij", scaled, scaled)
    right = np.einsum("cni,cn->ci", scaled, wanted)
    if summed:
        heavy = _HEAVY * np.trace(gram, axis1=1, axis2=2)
        gram = gram + heavy[:, None, None]
        right = right + heavy[:, None]
    size = design.shape[-1]
    gram = gram + (1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300)[:, None, None] * np.eye(size)
    fitted = np.einsum("cni,ci->cn", scaled, np.linalg.solve(gram, right[..., None])[..., 0])
    return np.asarray(np.abs(fitted - wanted).max(axis=1))


# --- caps ----------------------------------------------------------------------------------------------------------


def _with_caps(problem: Problem, like: Form) -> list[Found]:
    """Caps on one axis, else on two, at values that stand in the table."""
    for count in (1, 2) if problem.m <= 8 else (1,):
        for miss, caps in _ranked_caps(problem, like, count)[: 2 * _TRIED]:
            form = replace(like, caps=caps, shared=False)
            if miss < _NEAR and _fits(problem, form) >= -1e-9:
                mended = weighted_on(problem, form)
                if mended is not None:
                    return [replace(mended, refit=_caps_refit(like, count))]
    return []


def _caps_refit(like: Form, count: int) -> Callable[[Problem], bool]:
    def refit(other: Problem) -> bool:
        ranked = _ranked_caps(other, like, count)[:6]
        return any(miss < _NEAR and _fits(other, replace(like, caps=c, shared=False)) >= -1e-9 for miss, c in ranked)

    return refit


def _ranked_caps(problem: Problem, like: Form, count: int) -> list[tuple[float, Caps]]:
    """(largest residual in half-widths, caps), least first."""
    import numpy as np

    middle = problem.middle
    values = [_inner(middle[:, axis], 24 if count == 1 else 10) for axis in range(problem.m)]
    choices: list[Caps] = [
        tuple(zip(axes, limits, strict=True))
        for axes in combinations(range(problem.m), count)
        for limits in product(*(values[axis] for axis in axes))
    ]
    half = (problem.high - problem.low).mean(axis=1) / 2 + (problem.score_high - problem.score_low) / 2
    found: list[tuple[float, Caps]] = []
    for start in range(0, len(choices), 512):
        some = choices[start : start + 512]
        inside = np.repeat(middle[None], len(some), axis=0)
        for place, caps in enumerate(some):
            for axis, limit in caps:
                inside[place, :, axis] = np.minimum(inside[place, :, axis], limit)
        shape = inside.shape[:2]
        miss = _largest_misses(
            inside, np.broadcast_to(problem.score / like.scale, shape), np.broadcast_to(half / like.scale, shape),
            summed=like.kind == "power",
        )  # fmt: skip
        found += zip(miss.tolist(), some, strict=True)
    return sorted(found, key=lambda pair: pair[0])


def _inner(values: "Floats", most: int) -> list[float]:
    """Distinct inner values of an axis, at most so many."""
    import numpy as np

    found = np.unique(values)[1:-1]
    return [
        float(v) for v in (found if len(found) <= most else found[np.linspace(0, len(found) - 1, most).astype(int)])
    ]
