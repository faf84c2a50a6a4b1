"""Weights by linear program: with the exponent fixed, the rounding boxes leave a polytope of weights.

`sum w_j f(low_j) <= f(score_high)` and `sum w_j f(high_j) >= f(score_low)` are linear in w for every power mean. Where
nothing satisfies all of them, the elastic program says which rows stand in the way.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.composite.recovery.forms import Form, Problem, misfits, raised, tolerance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "Program", "elastic", "program", "round_weights", "settled", "weight_intervals", "weighted", "weights_inside",
]  # fmt: skip

_INFINITE = 1e8
_MOST_TRIED = 4_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Program:
    """The polytope of weights: `matrix @ w <= limit`, w >= 0, and their sum is 1 if it is a mean's.

    Attributes:
        like: the form without its weights.
        matrix: (rows, weights), each row in units of its own slack.
        limit: (rows,).
        row: (rows,) which row of the problem each line is from.
        total: what the weights sum to; None where they are free.
        signs: (weights,) +1 or -1: which way each axis counts; the weights of the program are never negative.
        hard: rows that no weights can satisfy.
        shifted: whether the last weight is a constant (free in sign, as two columns).
    """

    like: Form
    matrix: "Floats"
    limit: "Floats"
    row: "NDArray[np.int64]"
    total: float | None
    signs: "Floats"
    hard: "NDArray[np.int64]"
    shifted: bool = False


def program(problem: Problem, like: Form, *, signs: Sequence[float] | None = None, shifted: bool = False) -> Program:
    """The program of a form's weights, its floors, caps and gates held as they are."""
    import numpy as np

    axes = list(like.axes)
    way = np.ones(len(axes)) if signs is None else np.array(signs, dtype=float)
    power = like.power if like.kind == "power" else 1.0
    below, above = _limits(problem.low, like), _limits(problem.high, like)
    first, second = raised(power, np.where(way > 0, below, -above)), raised(power, np.where(way > 0, above, -below))
    slack = tolerance(problem)
    least, most = (
        (problem.score_low - slack - like.shift) / like.scale,
        (problem.score_high + slack - like.shift) / like.scale,
    )
    if like.gates:
        unit = Form(kind="sum", axes=(0,), gates=like.gates)
        least, most = _ungated(least, _factor(unit, problem.high)), _ungated(most, _factor(unit, problem.low))
    least, most = raised(power, least), raised(power, most)
    hard = np.flatnonzero((least == np.inf) | ((most < -_INFINITE) & (first > -_INFINITE).any(axis=1)))
    first, second = np.clip(first, -_INFINITE, None), np.clip(second, -_INFINITE, None)
    if shifted:
        ones = np.ones((problem.n, 1))
        first, second = np.hstack([first, ones, -ones]), np.hstack([second, ones, -ones])
    upper_used = np.isfinite(most) & (np.abs(first) < _INFINITE).all(axis=1)
    lower_used = np.isfinite(least)
    known = np.isfinite(most) & np.isfinite(least) & (most > least)
    unit_ = np.where(known, np.where(known, most, 1.0) - np.where(known, least, 0.0), 1.0)
    matrix = np.vstack([first[upper_used] / unit_[upper_used, None], -second[lower_used] / unit_[lower_used, None]])
    limit = np.concatenate([most[upper_used] / unit_[upper_used], -least[lower_used] / unit_[lower_used]])
    rows = np.concatenate([np.flatnonzero(upper_used), np.flatnonzero(lower_used)])
    return Program(
        like=like, matrix=matrix, limit=limit, row=rows, total=1.0 if like.kind == "power" else None,
        signs=way, hard=hard, shifted=shifted,
    )  # fmt: skip


def _limits(values: "Floats", like: Form) -> "Floats":
    """The axes of a form, after its floors and caps."""
    import numpy as np

    inside = np.array(values[:, list(like.axes)])
    for clauses, cut in ((like.floors, np.maximum), (like.caps, np.minimum)):
        for axis, limit in clauses:
            if axis in like.axes:
                place = like.axes.index(axis)
                inside[:, place] = cut(inside[:, place], limit)
    return inside


def _factor(unit: Form, values: "Floats") -> "Floats":
    import numpy as np

    found = np.ones(len(values))
    for gate in unit.gates:
        found = found * np.clip(values[:, gate.axis] / gate.knee, 0.0, 1.0) ** gate.power
    return found


def _ungated(score: "Floats", factor: "Floats") -> "Floats":
    """What the combination must be for its gated value to be the score; a factor of 0 leaves only 0."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(factor > 0, score / factor, np.where(score > 0, np.inf, -np.inf))


def _solve(cost: "Floats", matrix: "Floats", limit: "Floats", given: Program, extra: int, bounds: Any) -> Any:
    """One linear program; `extra` columns behind the weights."""
    import numpy as np
    from scipy.optimize import linprog

    size = matrix.shape[1] - extra
    equal = None if given.total is None else np.hstack([np.ones((1, size)), np.zeros((1, extra))])
    return linprog(
        cost, A_ub=matrix, b_ub=limit, A_eq=equal, b_eq=None if given.total is None else [given.total],
        bounds=bounds, method="highs",
    )  # fmt: skip


def weights_inside(given: Program) -> "tuple[Floats, float] | None":
    """(weights, depth): the weights deepest in the polytope; depth < 0 if there are none. None: a row forbids any."""
    import numpy as np

    if len(given.hard) or not len(given.limit):
        return None
    size = given.matrix.shape[1]
    order = _first_rows(given)
    matrix = np.hstack([given.matrix, np.ones((len(given.limit), 1))])
    found = None
    for _ in range(12):
        found = _solve(
            np.concatenate([np.zeros(size), [-1.0]]), matrix[order], given.limit[order], given, 1,
            [(0, None)] * size + [(None, 0.5)],
        )  # fmt: skip
        if found.x is None:
            return None
        if found.x[-1] < 0 or len(order) == len(given.limit):
            break
        left = given.limit - given.matrix @ found.x[:-1] - found.x[-1]
        worst = np.flatnonzero(left < -1e-9)
        if not len(worst):
            break
        worst = worst[np.argsort(left[worst])[:40]]
        order = np.union1d(order, worst)
    assert found is not None
    return found.x[:-1], float(found.x[-1])


def _first_rows(given: Program) -> "NDArray[np.int64]":
    """Where to begin: all lines of a small table, a spread of those of a large one."""
    import numpy as np

    n = len(given.limit)
    return np.arange(n) if n <= 250 else np.unique(np.linspace(0, n - 1, 80).astype(np.int64))


def weight_intervals(given: Program) -> "tuple[Floats, Floats] | None":
    """(least, greatest) of each weight over the polytope, by two programs a weight."""
    import numpy as np

    size = given.matrix.shape[1]
    least, most = np.zeros(size), np.full(size, np.inf)
    order = _binding(given)
    for place in range(size):
        for sign, into in ((1.0, least), (-1.0, most)):
            cost = np.zeros(size)
            cost[place] = sign
            rows = order
            for _ in range(12):
                found = _solve(cost, given.matrix[rows], given.limit[rows], given, 0, [(0, None)] * size)
                if found.x is None:
                    break
                left = given.limit - given.matrix @ found.x
                worst = np.flatnonzero(left < -1e-7)
                if not len(worst):
                    break
                rows = np.union1d(rows, worst[np.argsort(left[worst])[:40]])
            order = np.union1d(order, rows)
            if found.x is not None:
                into[place] = found.x[place]
            elif found.status == 2:
                return None
    return least, most


def _binding(given: Program) -> "NDArray[np.int64]":
    """The lines that lie closest to the weights deepest inside."""
    import numpy as np

    inside = weights_inside(given)
    if inside is None:
        return np.arange(len(given.limit))
    left = given.limit - given.matrix @ inside[0]
    return np.argsort(left)[: max(60, 6 * given.matrix.shape[1])]


def elastic(given: Program, n: int) -> "tuple[Floats, NDArray[np.int64]] | None":
    """(weights, rows that need slack): as few rows as two rounds of reweighting find.

    The plain program makes the sum of slacks least; dividing each slack by what it was makes their number least.
    """
    import numpy as np
    from scipy.sparse import csr_matrix, hstack

    size, lines = given.matrix.shape[1], len(given.limit)
    rows, place = np.unique(given.row, return_inverse=True)
    slack = csr_matrix((-np.ones(lines), (np.arange(lines), place)), shape=(lines, len(rows)))
    matrix = hstack([csr_matrix(given.matrix), slack]).tocsr()
    price = np.ones(len(rows))
    best = None
    for _ in range(3):
        found = _solve(
            np.concatenate([np.zeros(size), price]), matrix, given.limit, given, len(rows),
            [(0, None)] * (size + len(rows)),
        )  # fmt: skip
        if found.x is None:
            return None
        needed = found.x[size:]
        if best is None or (needed > 1e-7).sum() < len(best[1]):
            best = found.x[:size], np.union1d(rows[needed > 1e-7], given.hard)
        price = 1 / (needed + 0.05)
    return best


def round_weights(given: Program, low: "Floats", high: "Floats", names: Sequence[str]) -> "Floats | None":
    """The simplest weights of the polytope: equal, counts in the columns' names, few parts of a whole, whole numbers.

    Parts of a whole are tried as tenths, twentieths, then any total up to 120 (fortieths are the steps of .025).
    """
    import numpy as np

    for tried, vector in enumerate(_candidates(given, low, high, names)):
        if tried >= _MOST_TRIED:
            return None
        if (given.matrix @ vector <= given.limit + 1e-9).all():
            return np.asarray(vector)
    return None


def _candidates(given: Program, low: "Floats", high: "Floats", names: Sequence[str]) -> Iterator["Floats"]:
    import numpy as np

    size = len(low)
    low, high = low - 1e-9, high + 1e-9
    if given.total is None:
        for step in (1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001):
            yield from _grid(low, high, step, None)
        return
    equal = np.full(size, 1 / size)
    if (low <= equal).all() and (equal <= high).all():
        yield equal
    counts = [re.search(r"(\d+)\D*$", name) for name in names]
    if all(counts):
        numbers = np.array([float(found[1]) for found in counts if found])
        if numbers.sum():
            yield numbers / numbers.sum()
    for total in (10, 20, *(t for t in range(2, 121) if t not in (10, 20)), 200, 400, 500, 600, 1000):
        yield from _grid(low, high, 1 / total, total)


def _grid(low: "Floats", high: "Floats", step: float, total: int | None) -> Iterator["Floats"]:
    """Vectors of multiples of a step within the intervals, and of the given sum of steps."""
    import numpy as np

    first, last = np.ceil(low / step - 1e-9).astype(int), np.floor(np.minimum(high / step, 1e6) + 1e-9).astype(int)
    first = np.maximum(first, 0)
    if (first > last).any() or (total is not None and not first.sum() <= total <= last.sum()):
        return
    pending: list[tuple[int, ...]] = [()]
    given = 0
    while pending and given < _MOST_TRIED:
        head = pending.pop()
        place = len(head)
        if place == len(low):
            if total is None or sum(head) == total:
                given += 1
                yield np.array(head) * step
            continue
        ahead_least, ahead_most = int(first[place + 1 :].sum()), int(last[place + 1 :].sum())
        options = range(int(first[place]), int(last[place]) + 1)
        if total is not None:
            options = [o for o in options if ahead_least <= total - sum(head) - o <= ahead_most]  # type: ignore[assignment]
        middle = (low[place] + high[place]) / 2 / step
        pending.extend((*head, o) for o in sorted(list(options)[:200], key=lambda o: -abs(o - middle)))


def weighted(given: Program, vector: "Floats", *, is_free: bool = True) -> Form:
    """The form with these weights; axes of weight 0 are gone, and a constant is its shift."""
    import numpy as np

    like = given.like
    size = len(like.axes)
    weights = np.where(np.abs(vector[:size]) < 1e-12, 0.0, vector[:size] * given.signs)
    used = [place for place in range(size) if weights[place]]
    shift = float(vector[size] - vector[size + 1]) if given.shifted else like.shift
    equal = like.kind == "power" and bool(used) and np.allclose(weights[used], 1 / len(used), atol=1e-12, rtol=0)
    free = like.free | ({"weights"} if is_free and not equal else set()) | ({"shift"} if given.shifted else set())
    return replace(
        like, axes=tuple(like.axes[p] for p in used), shift=shift, free=frozenset(free),
        weights=None if equal else tuple(float(weights[p]) for p in used),
    )  # fmt: skip


def settled(form: Form, problem: Problem) -> bool:
    """Whether a form holds on every row."""
    return not misfits(form, problem).any()
