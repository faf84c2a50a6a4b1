"""Combinations without any fitted number, on every subset of the axes at once: the first level of the search."""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import POWERS, Form, Problem, misfits, raised, tolerance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Trial", "plain_trials", "score_scale"]

MOST_AXES = 12
_SCALES = (1.0, 100.0, 0.01, 10.0, 0.1, 1000.0)
_BLOCK = 4_000_000  # numbers held at once


@dataclass(frozen=True, slots=True)
class Trial:
    """A form, and on how many rows it lies above and below what is printed."""

    form: Form
    above: int
    below: int

    @property
    def wrong(self) -> int:
        """Rows that it does not reproduce."""
        return self.above + self.below


def plain_trials(problem: Problem) -> list[Trial]:
    """Power means, sums, products, extremes and medians with equal weights, on every subset, and small whole weights.

    Beyond twelve axes only the whole, single axes, and all but one or two are tried.
    """
    sets = _subsets(problem.m)
    found: list[Trial] = []
    scale = score_scale(problem)
    for power in POWERS:
        found += _separable(problem, sets, Form(kind="power", power=power, axes=(), scale=scale))
    found += _separable(problem, sets, Form(kind="sum", axes=()))
    for kind in ("min", "max", "median", "prod"):
        found += _others(problem, sets, Form(kind=kind, axes=(), scale=scale if kind != "prod" else 1.0))
    return found + _whole_weights(problem, scale)


def score_scale(problem: Problem) -> float:
    """The power of ten between a score in per cent and components that are shares, or the other way round."""
    import numpy as np

    inside, score = np.abs(problem.middle).mean(), np.abs(problem.score).mean()
    if not inside or not score:
        return 1.0
    return min(_SCALES, key=lambda scale: abs(np.log10(score / inside / scale)))


def _subsets(m: int) -> list[tuple[int, ...]]:
    """Subsets of the axes, larger ones first."""
    if m <= MOST_AXES:
        found = [tuple(axis for axis in range(m) if mask >> axis & 1) for mask in range(1, 1 << m)]
    else:
        whole = range(m)
        found = [tuple(whole)] + [(axis,) for axis in whole]
        found += [tuple(a for a in whole if a not in pair) for pair in product(whole, whole)]
    return sorted({subset for subset in found if subset}, key=lambda subset: (-len(subset), subset))


def _separable(problem: Problem, sets: list[tuple[int, ...]], like: Form) -> list[Trial]:
    """Sums and power means: one matrix product for all subsets."""
    import numpy as np

    if like.kind == "sum":
        sets = [subset for subset in sets if len(subset) > 1]
    elif like.power != 1.0:
        sets = [subset for subset in sets if len(subset) > 1]
        if (problem.high < 0).any():
            return []
    if not sets:
        return []
    member = np.zeros((problem.m, len(sets)))
    for place, subset in enumerate(sets):
        member[list(subset), place] = 1.0 if like.kind == "sum" else 1.0 / len(subset)
    power = like.power if like.kind == "power" else 1.0
    slack = tolerance(problem)
    least, most = ((s + sign * slack) / like.scale for s, sign in ((problem.score_low, -1), (problem.score_high, 1)))
    least, most = raised(power, least), raised(power, most)
    above = np.zeros(len(sets), int)
    below = np.zeros(len(sets), int)
    low, high = _finite(raised(power, problem.low)), _finite(raised(power, problem.high))
    step = max(1, _BLOCK // len(sets))
    for start in range(0, problem.n, step):
        part = slice(start, start + step)
        above += (low[part] @ member > np.clip(most[part], -1e9, 1e12)[:, None]).sum(axis=0)
        below += (high[part] @ member < np.clip(least[part], -1e13, 1e12)[:, None]).sum(axis=0)
    return [
        Trial(_like(like, subset), int(above[place]), int(below[place])) for place, subset in enumerate(sets)
    ]  # fmt: skip


def _finite(values: "Floats") -> "Floats":
    """Infinities as numbers too large to be made up for, yet small enough to be added."""
    import numpy as np

    return np.clip(values, -1e12, 1e12)


def _like(like: Form, axes: tuple[int, ...]) -> Form:
    return Form(kind=like.kind, power=like.power, axes=axes, scale=like.scale)


def _others(problem: Problem, sets: list[tuple[int, ...]], like: Form) -> list[Trial]:
    """Extremes, medians and products, subset by subset; rows that settle it first."""
    import numpy as np

    found = []
    first = problem if problem.n <= 64 else problem.rows(np.linspace(0, problem.n - 1, 64).astype(int))
    if like.kind == "prod" and (problem.low < -0.5).any():
        return []
    for subset in sets:
        if len(subset) < (3 if like.kind == "median" else 2):
            continue
        form = _like(like, subset)
        misses = misfits(form, first)
        if first is not problem and (misses != 0).mean() <= 0.3:
            misses = misfits(form, problem)
        elif first is not problem:
            misses = np.repeat(misses, problem.n // first.n)
        found.append(Trial(form, int((misses > 0).sum()), int((misses < 0).sum())))
    return found


def _whole_weights(problem: Problem, scale: float) -> list[Trial]:
    """Sums and means with weights 0 to 5 (0 to 3, 0 to 2 where there are many axes)."""
    import numpy as np

    vectors = np.array(_vectors(problem.m), dtype=float).reshape(-1, problem.m)
    found: list[Trial] = []
    for kind in ("sum", "power"):
        factor = scale / vectors.sum(axis=1) if kind == "power" else np.ones(len(vectors))
        if not len(vectors):
            continue
        slack = tolerance(problem)
        step = max(1, _BLOCK // len(vectors))
        above, below = np.zeros(len(vectors), int), np.zeros(len(vectors), int)
        for start in range(0, problem.n, step):
            part = slice(start, start + step)
            weights = vectors.T * factor
            above += (problem.low[part] @ weights > (problem.score_high + slack)[part, None]).sum(axis=0)
            below += (problem.high[part] @ weights < (problem.score_low - slack)[part, None]).sum(axis=0)
        limit = max(1, problem.n // 10)
        for place in np.flatnonzero(above + below <= limit):
            axes = tuple(int(a) for a in np.flatnonzero(vectors[place]))
            weights_ = vectors[place][list(axes)]
            if kind == "power":
                weights_ = weights_ / weights_.sum()
            form = Form(
                kind="power" if kind == "power" else "sum", axes=axes, weights=tuple(map(float, weights_)),
                scale=scale if kind == "power" else 1.0, free=frozenset({"weights"}),
            )  # fmt: skip
            found.append(Trial(form, int(above[place]), int(below[place])))
    return found


@cache
def _vectors(m: int) -> tuple[tuple[int, ...], ...]:
    """Weight vectors without a common factor and not all equal; the more axes, the smaller the weights."""
    from math import gcd

    most = {1: 5, 2: 5, 3: 5, 4: 5, 5: 4, 6: 3, 7: 2, 8: 2}.get(m, 0)
    found = []
    for vector in product(range(most + 1), repeat=m) if most else ():
        used = [weight for weight in vector if weight]
        if (len(set(used)) > 1 and gcd(*used) == 1) or (len(used) == 1 and used[0] > 1):
            found.append(vector)
    return tuple(found)
