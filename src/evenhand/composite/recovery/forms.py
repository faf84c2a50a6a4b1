"""What the search for a rule looks at: boxes of components and scores as arrays, and rules as settings of one kernel.

A `Form` is a rule of the family in the shape that numpy can try by the thousand; `rules` writes it as a rule
of the language, and only that is reported, after the exact rounding test of `boxes`.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

__all__ = ["POWERS", "Axis", "Form", "Gate", "Problem", "bounds", "combined", "misfits", "raised", "tolerance"]

Kind = Literal["power", "sum", "prod", "min", "max", "median"]

POWERS = (1.0, 0.0, -1.0, 2.0, 0.5, -0.5, -2.0)
"""Exponents of the power mean that are tried first: arithmetic, geometric, harmonic, and the round ones between."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What a rule combines: a column, or the plain mean of several (`94/92`, two halves of one task)."""

    name: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """The factor `min(1, axis / knee) ^ power`."""

    axis: int
    knee: float
    power: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One rule of the family.

    Attributes:
        kind: how the axes are combined.
        power: exponent of the power mean; 0 is geometric.
        axes: numbers of the axes combined; the others are decoys.
        weights: one per axis, of sum 1 for a mean; None where they are equal (1 each for `sum`).
        floors: (axis, least value) before combining.
        caps: (axis, greatest value).
        shared: whether all axes have one and the same floor, or cap: one parameter.
        gates: factors on the whole.
        scale: factor at the end.
        shift: what is added at the end.
        logs: whether the axes enter as logarithms.
    """

    kind: Kind
    power: float = 1.0
    axes: tuple[int, ...]
    weights: tuple[float, ...] | None = None
    floors: tuple[tuple[int, float], ...] = ()
    caps: tuple[tuple[int, float], ...] = ()
    shared: bool = True
    gates: tuple[Gate, ...] = ()
    scale: float = 1.0
    shift: float = 0.0
    free: frozenset[str] = field(default_factory=frozenset)

    @property
    def n_free(self) -> int:
        """How many numbers of the rule were fitted to the table."""
        weights = 0 if "weights" not in self.free or self.weights is None else len(self.weights)
        if self.kind == "power":
            weights = max(0, weights - 1)
        clauses = sum((1 if self.shared and found else len(found)) for found in (self.floors, self.caps))
        return weights + clauses + 2 * len(self.gates) + len(self.free & {"scale", "shift", "power"})

    @property
    def size(self) -> tuple[int, int, int, int]:
        """By which survivors are ordered: fitted numbers, clauses, the plainer combination, then more axes.

        An exponent that has no name of its own (not 1, 0 or -1) counts as a clause.
        """
        unusual = self.kind == "power" and self.power not in (1.0, 0.0, -1.0) and len(self.axes) > 1
        clauses = len(self.gates) + bool(self.floors) + bool(self.caps) + unusual
        kinds = ("power", "sum", "max", "min", "prod", "median")
        plain = POWERS.index(self.power) if self.kind == "power" and self.power in POWERS else 20
        return self.n_free, clauses, plain if self.kind == "power" else kinds.index(self.kind), -len(self.axes)

    @property
    def structure(self) -> tuple[object, ...]:
        """What makes two rules the same but for their numbers."""
        return (
            self.kind, self.power, self.axes, self.weights is None, tuple(a for a, _ in self.floors),
            tuple(a for a, _ in self.caps), tuple(sorted(g.axis for g in self.gates)), self.free & {"scale", "shift"},
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Boxes of the rows that are searched.

    Attributes:
        axes: what may be combined.
        low: (n, m) lower corner of each row's box.
        high: (n, m) upper corner.
        middle: (n, m) the printed numbers.
        score_low: (n,) least value that prints as the score.
        score_high: (n,) greatest.
        index: (n,) places of the rows in the table.
        missing: what a missing component counts as; None where rows with one are not searched.
    """

    axes: tuple[Axis, ...]
    low: "Floats"
    high: "Floats"
    middle: "Floats"
    score_low: "Floats"
    score_high: "Floats"
    index: "NDArray[np.int64]"
    missing: float | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.low.shape[0])

    @property
    def m(self) -> int:
        """Axes."""
        return int(self.low.shape[1])

    @property
    def score(self) -> "Floats":
        """(n,) the printed scores."""
        return (self.score_low + self.score_high) / 2

    def rows(self, chosen: "Booleans | NDArray[np.int64]") -> "Problem":
        """The chosen rows."""
        return replace(
            self, low=self.low[chosen], high=self.high[chosen], middle=self.middle[chosen],
            score_low=self.score_low[chosen], score_high=self.score_high[chosen], index=self.index[chosen],
        )  # fmt: skip

    def scored(self, order: "NDArray[np.int64]") -> "Problem":
        """The same components with the scores in another order."""
        return replace(self, score_low=self.score_low[order], score_high=self.score_high[order])


def raised(power: float, values: "Floats") -> "Floats":
    """The increasing transform whose mean is the power mean: log, `x^p`, or `-x^p` where p < 0.

    Numbers below 0 count as 0 unless p is 1; 0 gives -inf where p <= 0.
    """
    import numpy as np

    if power == 1.0:
        return values
    with np.errstate(divide="ignore"):
        inside = np.maximum(values, 0.0)
        if power == 0.0:
            return np.log(inside)
        return inside**power if power > 0 else -(inside**power)


def _lowered(power: float, values: "Floats") -> "Floats":
    """The inverse of `raised`."""
    import numpy as np

    if power == 1.0:
        return values
    with np.errstate(divide="ignore", over="ignore"):
        if power == 0.0:
            return np.exp(values)
        return np.maximum(values if power > 0 else -values, 0.0) ** (1 / power)


def combined(form: Form, values: "Floats") -> "Floats":
    """The rule on (..., m) values; a weight below 0 makes it fall in that axis, which `bounds` allows for."""
    import numpy as np

    inside = values[..., list(form.axes)]
    for clauses, cut in ((form.floors, np.maximum), (form.caps, np.minimum)):
        for axis, limit in clauses:
            if axis in form.axes:
                place = form.axes.index(axis)
                inside = np.array(inside)
                inside[..., place] = cut(inside[..., place], limit)
    total = _aggregate(form, inside)
    for gate in form.gates:
        total = total * np.clip(values[..., gate.axis] / gate.knee, 0.0, 1.0) ** gate.power
    return form.scale * total + form.shift


def _aggregate(form: Form, inside: "Floats") -> "Floats":
    import numpy as np

    if form.kind == "power":
        moved = raised(form.power, inside)
        if form.weights is None:
            return _lowered(form.power, moved.mean(axis=-1))
        used = [place for place, weight in enumerate(form.weights) if weight != 0]
        return _lowered(form.power, moved[..., used] @ np.array(form.weights)[used])
    if form.kind == "sum":
        return np.asarray(inside.sum(axis=-1) if form.weights is None else inside @ np.array(form.weights), dtype=float)
    if form.kind == "median":
        return np.asarray(np.median(inside, axis=-1))
    if form.kind == "prod":
        return np.asarray(inside.prod(axis=-1), dtype=float)
    return np.asarray(inside.min(axis=-1) if form.kind == "min" else inside.max(axis=-1), dtype=float)


def bounds(form: Form, problem: Problem) -> "tuple[Floats, Floats]":
    """(low, high) of the rule over each row's box: its value at two corners, since it is monotone in each axis."""
    import numpy as np

    falling = np.zeros(problem.m, bool)
    for axis, weight in zip(form.axes, form.weights or (), strict=False):
        falling[axis] = weight < 0
    below, above = np.where(falling, problem.high, problem.low), np.where(falling, problem.low, problem.high)
    first, second = combined(form, below), combined(form, above)
    return (first, second) if form.scale >= 0 else (second, first)


def misfits(form: Form, problem: Problem) -> "Floats":
    """(n,) by how much the rule misses each row's score: above 0 where it lies too high, 0 where feasible."""
    import numpy as np

    low, high = bounds(form, problem)
    slack = tolerance(problem)
    over = np.where(low > problem.score_high + slack, low - problem.score_high, 0.0)
    under = np.where(high < problem.score_low - slack, high - problem.score_low, 0.0)
    return np.where(np.isnan(low) | np.isnan(high), np.inf, over + under)


def tolerance(problem: Problem) -> "Floats":
    """(n,) what float arithmetic may add to a score: a part in 10^9, far below any printed place."""
    import numpy as np

    found: Floats = 1e-9 * (1 + np.abs(problem.score_high))
    return found
