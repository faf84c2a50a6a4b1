"""Floors, caps and gates on a form whose combination is settled: exact sets of their numbers, not fits.

Each clause moves the score one way, and further the further its number moves. So every row gives an interval of the
number, and the rows together their intersection; for a gate the interval of the exponent is found for each knee.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import Form, Gate, Problem, bounds, tolerance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

__all__ = ["Knees", "clause_interval", "gated", "knees_of", "limited", "round_number", "without_clauses"]

_STEPS = 44  # halvings: far below a printed place
_MOST_POWER = 8.0


def round_number(low: float, high: float) -> float:
    """The roundest number of an interval: fewest digits, then the nearest to the middle.

    >>> round_number(49.45, 51.0), round_number(0.98, 1.03), round_number(1.935, 2.07)
    (50.0, 1.0, 2.0)
    """
    import math

    if not low < high:
        return low
    middle = (low + high) / 2
    if low <= 0 <= high:
        return 0.0
    size = math.floor(math.log10(max(abs(low), abs(high))))
    for exponent in range(size, size - 12, -1):
        for unit in (10.0**exponent, 5 * 10.0 ** (exponent - 1)):
            first, last = math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9)
            if first <= last:
                nearest = min(max(round(middle / unit), first), last)
                return float(f"{nearest * unit:.12g}")
    return middle


def clause_interval(problem: Problem, form: Form, *, floor: bool, axes: Sequence[int]) -> "tuple[float, float] | None":
    """(least, greatest) limit of a floor or cap on these axes with which every row holds; None where none does.

    A limit beyond every number of the axes changes nothing, so the end that no row decides is the end of the axes.
    """
    import numpy as np

    ends = _ends(problem, axes)
    slack = tolerance(problem)
    least, most = np.full(problem.n, ends[0]), np.full(problem.n, ends[1])

    def at(limit: "Floats") -> "tuple[Floats, Floats]":
        return _limited_bounds(problem, form, limit, floor=floor, axes=axes)

    bottom, top = at(least), at(most)
    if (top[1] < problem.score_low - slack).any() or (bottom[0] > problem.score_high + slack).any():
        return None
    needs, allows = bottom[1] < problem.score_low - slack, top[0] > problem.score_high + slack
    first, second = (least.copy(), most.copy()), (least.copy(), most.copy())
    for _ in range(_STEPS):
        middle = (first[0] + first[1]) / 2
        enough = at(middle)[1] >= problem.score_low - slack
        first = np.where(enough, first[0], middle), np.where(enough, middle, first[1])
        middle = (second[0] + second[1]) / 2
        few = at(middle)[0] <= problem.score_high + slack
        second = np.where(few, middle, second[0]), np.where(few, second[1], middle)
    low = float(first[1][needs].max()) if needs.any() else ends[0]
    high = float(second[0][allows].min()) if allows.any() else ends[1]
    return (low, high) if low <= high else None


def _ends(problem: Problem, axes: Sequence[int]) -> tuple[float, float]:
    chosen = list(axes)
    return float(min(problem.low[:, chosen].min(), 0.0)), float(problem.high[:, chosen].max())


def _limited_bounds(
    problem: Problem, form: Form, limit: "Floats", *, floor: bool, axes: Sequence[int]
) -> "tuple[Floats, Floats]":
    """Bounds with a limit of each row's own."""
    import numpy as np

    cut = np.maximum if floor else np.minimum
    low, high = np.array(problem.low), np.array(problem.high)
    for axis in axes:
        low[:, axis], high[:, axis] = cut(low[:, axis], limit), cut(high[:, axis], limit)
    inner = replace(form, gates=())
    moved = _with_boxes(problem, low, high)
    first, second = bounds(inner, moved)
    if form.gates:
        unit = Form(kind="sum", axes=(0,), gates=form.gates)
        first, second = first * _factor(unit, problem.low), second * _factor(unit, problem.high)
    return first, second


def _factor(unit: Form, values: "Floats") -> "Floats":
    import numpy as np

    found = np.ones(len(values))
    for gate in unit.gates:
        found = found * np.clip(values[:, gate.axis] / gate.knee, 0.0, 1.0) ** gate.power
    return found


def _with_boxes(problem: Problem, low: "Floats", high: "Floats") -> Problem:
    """The same scores with other boxes."""
    return replace(problem, low=low, high=high)


def limited(problem: Problem, form: Form, *, floor: bool, single: bool = True) -> Iterator[Form]:
    """The form with one shared floor (or cap), else with one on a single axis, its number the roundest that holds."""
    choices = [form.axes] + ([(axis,) for axis in form.axes] if single and len(form.axes) > 1 else [])
    for axes in choices:
        found = clause_interval(problem, form, floor=floor, axes=axes)
        if found is None:
            continue
        limit = round_number(*found)
        clauses = tuple((axis, limit) for axis in axes)
        name = "floors" if floor else "caps"
        yield replace(form, shared=len(axes) > 1, **{name: clauses})  # type: ignore[arg-type]
        if len(axes) > 1:
            return


# --- gates ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knees:
    """The knees of one gate that hold, and the exponents at each.

    Attributes:
        knee: (k,) rising.
        least: (k,) least exponent.
        most: (k,) greatest.
    """

    axis: int
    knee: "Floats"
    least: "Floats"
    most: "Floats"


def knees_of(problem: Problem, form: Form, axis: int, knees: "Floats") -> Knees:
    """The exponents with which a gate on an axis holds on every row, for each knee; knees without any are left out."""
    import numpy as np

    slack = tolerance(problem)
    first, second = bounds(form, problem)
    if not (second >= problem.score_low - slack).all():
        return Knees(axis=axis, knee=knees[:0], least=knees[:0], most=knees[:0])
    least, most = _powers(problem, first, second, axis, knees, slack)
    fine = least <= most + 1e-12
    return Knees(axis=axis, knee=knees[fine], least=least[fine], most=np.minimum(most[fine], _MOST_POWER))


def _powers(
    problem: Problem, first: "Floats", second: "Floats", axis: int, knees: "Floats", slack: "Floats"
) -> "tuple[Floats, Floats]":
    """(least, greatest) exponent for each knee: the intersection of what the rows allow."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.log(np.clip(problem.low[:, axis, None] / knees, 0.0, 1.0))
        upper = np.log(np.clip(problem.high[:, axis, None] / knees, 0.0, 1.0))
        down = np.log(np.maximum(problem.score_high + slack, 0.0) / np.maximum(first, 1e-300))[:, None]
        up = np.log(np.maximum(problem.score_low - slack, 0.0) / np.maximum(second, 1e-300))[:, None]
        least = np.where(down >= 0, 0.0, np.where(lower < 0, down / lower, np.inf))
        most = np.where(np.isneginf(up) | (upper >= 0), np.inf, up / upper)
    least = np.where(np.isnan(least), 0.0, least)
    most = np.where(np.isnan(most), np.inf, most)
    return least.max(axis=0), most.min(axis=0)


def gated(problem: Problem, form: Form, *, most: int = 3) -> list[tuple[Form, Knees | None]]:
    """The form with gates on one axis, else on two, else on three; all subsets of the least number that holds.

    A gate only lowers a score, so a form that lies below any printed score has none. Returns each with its knees
    (None where there is more than one gate).
    """
    import numpy as np

    slack = tolerance(problem)
    first, second = bounds(form, problem)
    if not (second >= problem.score_low - slack).all() or np.isnan(first).any():
        return []
    over = first > problem.score_high + slack
    if not over.any():
        return []
    found: list[tuple[Form, Knees | None]] = []
    for axis in range(problem.m):
        knees = knees_of(problem, form, axis, _grid(problem, axis, over))
        if len(knees.knee):
            found.append((replace(form, gates=(*form.gates, _roundest(knees))), knees))
    if found or most < 2:
        return found
    for count, size in ((2, 24), (3, 9)):
        if count > most:
            break
        for axes in combinations(range(problem.m), count):
            many = _several(problem, first, second, axes, size, slack)
            if many is not None:
                found.append((replace(form, gates=many), None))
        if found:
            return found
    return found


def _grid(problem: Problem, axis: int, over: "Booleans", size: int = 400) -> "Floats":
    """Knees to try, between the highest row that the gate must touch and the axis' end: round ones, and a fine grid."""
    import numpy as np

    start, stop = float(problem.low[over, axis].max()), float(problem.high[:, axis].max())
    start = max(start, 1e-6)
    if stop <= start:
        return np.array([start * (1 + 1e-9)])
    return np.unique(np.concatenate([np.linspace(start, stop, size)[1:], _round_values(start, stop, 60)]))


def _round_values(start: float, stop: float, most: int) -> "Floats":
    """Round numbers above start up to stop, at most so many, by the coarsest step that gives enough."""
    import numpy as np

    size = 10.0 ** np.floor(np.log10(max(stop, 1e-9)))
    best = np.array([stop])
    for step in (size, size / 2, size / 5, size / 10, size / 20, size / 100):
        values = np.arange(np.floor(start / step) + 1, np.floor(stop / step) + 1) * step
        if len(values) > most:
            break
        best = values if len(values) else best
    return np.asarray(best)


def _roundest(knees: Knees) -> Gate:
    """The gate with the roundest knee, and the roundest exponent there."""
    import numpy as np

    knee = round_number(float(knees.knee[0]), float(knees.knee[-1]))
    place = int(np.argmin(np.abs(knees.knee - knee)))
    whole = [
        int(p) for p in np.flatnonzero(np.floor(knees.most + 1e-12) >= np.maximum(np.ceil(knees.least - 1e-12), 1))
    ]
    if whole:
        nearest = {p: _digits(float(knees.knee[p])) for p in whole}
        place = min(whole, key=lambda p: (nearest[p], abs(knees.knee[p] - knee)))
    power = round_number(max(float(knees.least[place]), 1e-3), float(knees.most[place]))
    if whole:
        power = float(max(np.ceil(knees.least[place] - 1e-12), 1.0))
    return Gate(knees.axis, float(knees.knee[place]), power)


def _digits(number: float) -> int:
    """How many digits a number needs; a last 5 counts as half of one."""
    text = f"{number:.9g}".replace(".", "").strip("0")
    return 2 * len(text) - text.endswith("5")


def _several(
    problem: Problem, first: "Floats", second: "Floats", axes: Sequence[int], size: int, slack: "Floats"
) -> tuple[Gate, ...] | None:
    """Gates on several axes, over a grid of round knees, with exponents on a grid; the roundest that holds."""
    import numpy as np

    over = first > problem.score_high + slack
    grids = [
        _round_values(max(float(problem.low[:, a].min()), 1e-6), float(problem.high[:, a].max()), size) for a in axes
    ]
    powers = np.array([0.5, 1.0, 1.5, 2.0, 3.0] if len(axes) < 3 else [1.0, 2.0, 0.5])
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = [np.log(np.clip(problem.low[:, a, None] / g, 0, 1)) for a, g in zip(axes, grids, strict=True)]
        upper = [np.log(np.clip(problem.high[:, a, None] / g, 0, 1)) for a, g in zip(axes, grids, strict=True)]
        most = np.log(np.maximum(problem.score_high + slack, 1e-300) / np.maximum(first, 1e-300))
        least = np.log(np.maximum(problem.score_low - slack, 0) / np.maximum(second, 1e-300))
    order = np.argsort(~over)
    shape = [size for grid in grids for size in (len(grid), len(powers))]
    choice = np.indices(shape).reshape(len(axes), 2, -1).transpose(2, 0, 1)
    total = len(axes)
    for start in range(0, problem.n, 8):
        rows = order[start : start + 8]
        high_sum, low_sum = np.zeros((len(rows), len(choice))), np.zeros((len(rows), len(choice)))
        for place in range(total):
            k, q = choice[:, place, 0], powers[choice[:, place, 1]]
            low_sum += lower[place][rows][:, k] * q
            high_sum += upper[place][rows][:, k] * q
        fine = ((low_sum <= most[rows, None]) & (high_sum >= least[rows, None])).all(axis=0)
        choice = choice[fine]
        if not len(choice):
            return None
    ranked = sorted(
        choice.tolist(),
        key=lambda c: sum(
            _digits(float(grids[p][k])) + (powers[q] % 1 != 0) + abs(powers[q] - 1) for p, (k, q) in enumerate(c)
        ),
    )
    return tuple(Gate(axes[p], float(grids[p][k]), float(powers[q])) for p, (k, q) in enumerate(ranked[0]))


def without_clauses(form: Form) -> Iterator[tuple[str, Form]]:
    """Each clause's key, such as `gate 0` for the first axis or `floor` for all, and the form without it."""
    for place, gate in enumerate(form.gates):
        yield f"gate {gate.axis}", replace(form, gates=form.gates[:place] + form.gates[place + 1 :])
    for name, clauses in (("floors", form.floors), ("caps", form.caps)):
        if clauses and form.shared:
            yield name[:-1], replace(form, **{name: ()})  # type: ignore[arg-type]
        for axis, _ in () if form.shared else clauses:
            kept = tuple(pair for pair in clauses if pair[0] != axis)
            yield f"{name[:-1]} {axis}", replace(form, **{name: kept})  # type: ignore[arg-type]
