"""Which weights are allowed: the simplex, and what a user adds to it (`I >= K`, `C <= 0.4`, `I + C == 0.5`).

All weights are at least 0 and sum to 1. Draws are uniform over what is allowed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.composite.rule.evaluate import constant
from evenhand.composite.rule.parse import parse_condition
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Binary, ColumnRef, Comparison, Expression, Logic, Negation, Node, columns_of
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["WeightRegion", "solved", "solved_weights", "weight_region"]

_TIGHT = 1e-9
_BURN_IN = 200
_THINNING = 20
_CHAINS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightRegion:
    """Allowed weights w: at least 0, sum 1, `above @ w >= above_of`, `equal @ w == equal_of`.

    Attributes:
        texts: the user's conditions, in normal form.
    """

    n_weights: int
    above: "Floats"
    above_of: "Floats"
    equal: "Floats"
    equal_of: "Floats"
    texts: tuple[str, ...] = ()

    @property
    def is_simplex(self) -> bool:
        """Whether nothing but the simplex limits the weights."""
        return not self.texts

    def holds(self, weights: "Floats") -> "NDArray[np.bool_]":
        """(d,) whether each of (d, m) weight vectors is allowed."""
        import numpy as np

        above = (weights @ self.above.T >= self.above_of - 1e-12).all(axis=1)
        equal = (np.abs(weights @ self.equal.T - self.equal_of) <= 1e-9).all(axis=1)
        return np.asarray(above & equal)

    def draws(self, rng: "np.random.Generator", n_draws: int, chunk: int) -> "Iterator[Floats]":
        """Uniform draws in chunks of (at most chunk, m) that come to n_draws.

        Over the whole simplex they are independent (normalised exponentials). Under conditions that leave at least a
        fiftieth of it they are taken from those; else they come from 256 hit-and-run chains, 20 steps apart.
        """
        if self.is_simplex:
            for start in range(0, n_draws, chunk):
                yield _simplex(rng, min(chunk, n_draws - start), self.n_weights)
        elif not len(self.equal) and self.holds(_simplex(rng, 5000, self.n_weights)).sum() >= 100:
            yield from self._accepted(rng, n_draws, chunk)
        else:
            yield from self._walked(rng, n_draws)

    def _accepted(self, rng: "np.random.Generator", n_draws: int, chunk: int) -> "Iterator[Floats]":
        """Those draws over the simplex that are allowed."""
        left = n_draws
        while left:
            drawn = _simplex(rng, chunk, self.n_weights)
            found = drawn[self.holds(drawn)][:left]
            left -= len(found)
            yield found

    def _walked(self, rng: "np.random.Generator", n_draws: int) -> "Iterator[Floats]":
        """Hit-and-run within what is allowed: many chains side by side from its middle."""
        import numpy as np

        directions = _null_space(np.vstack([np.ones((1, self.n_weights)), self.equal]))
        if not directions.shape[1]:  # one allowed vector
            yield np.repeat(self.middle()[None], n_draws, axis=0)
            return
        sides = np.vstack([np.eye(self.n_weights), self.above])
        limits = np.concatenate([np.zeros(self.n_weights), self.above_of])
        is_free = np.abs(sides @ directions).max(axis=1) > 1e-9  # the others hold along every direction
        sides, limits = sides[is_free], limits[is_free]
        at = np.repeat(self.middle()[None], min(_CHAINS, n_draws), axis=0)
        left, step = n_draws, 0
        while left:
            step += 1
            along = rng.standard_normal((len(at), directions.shape[1])) @ directions.T
            slack, slope = at @ sides.T - limits, along @ sides.T
            with np.errstate(all="ignore"):
                reach = -slack / slope
                most = np.where(slope < -1e-12, reach, np.inf).min(axis=1).clip(min=0)
                least = np.where(slope > 1e-12, reach, -np.inf).max(axis=1).clip(max=0)
            at = (at + (least + (most - least) * rng.random(len(at)))[:, None] * along).clip(min=0)
            if step > _BURN_IN and step % _THINNING == 0:
                yield at[:left].copy()
                left -= min(left, len(at))

    def middle(self) -> "Floats":
        """(m,) the allowed weights whose smallest slack is largest."""
        import numpy as np

        m = self.n_weights
        rows = np.vstack([np.eye(m), self.above])
        limits = np.concatenate([np.zeros(m), self.above_of])
        along = _null_space(np.vstack([np.ones((1, m)), self.equal]))
        room = np.linalg.norm(rows @ along, axis=1, keepdims=True) if along.shape[1] else np.zeros((len(rows), 1))
        best = solved(
            np.append(np.zeros(m), -1.0),
            above=np.hstack([rows, -np.where(room > 1e-9, room, 0.0)]),
            above_of=limits,
            equal=np.hstack([np.vstack([np.ones((1, m)), self.equal]), np.zeros((1 + len(self.equal), 1))]),
            equal_of=np.concatenate([[1.0], self.equal_of]),
            bounds=[(0, 1)] * m + [(0, 1)],
        )
        assert best is not None  # weight_region has seen that something is allowed
        return np.asarray(best.x[:m])


def weight_region(
    labels: Sequence[str], conditions: Sequence[str] = (), *, aliases: Mapping[str, str] | None = None
) -> WeightRegion:
    """The weights that are allowed.

    Args:
        labels: (m,) what the weights belong to.
        conditions: such as `I >= 2 * K` or `0.1 <= C and C <= 0.4`; a name stands for its weight.
        aliases: further names.
    Raises:
        InvalidInput: no condition, not linear, an unknown name, or nothing is left.

    >>> import numpy as np
    >>> region = weight_region(["I", "K"], ["I >= K"])
    >>> region.holds(np.array([[0.6, 0.4], [0.4, 0.6]])).tolist(), region.middle().round(3).tolist()
    ([True, False], [0.75, 0.25])
    """
    import numpy as np

    m = len(labels)
    above: list[tuple[Any, float]] = []
    equal: list[tuple[Any, float]] = []
    texts = []
    for text in conditions:
        condition = parse_condition(text, columns=tuple(labels), aliases=aliases)
        for comparison in _comparisons(condition, text):
            texts.append(printed(comparison))
            row, limit = _linear(comparison, labels, text)
            if comparison.operator == "==":
                equal.append((row, limit))
            elif comparison.operator in (">", ">="):
                above.append((row, limit))
            else:
                above.append((-row, -limit))
    region = WeightRegion(
        n_weights=m, texts=tuple(texts),
        above=np.array([row for row, _ in above]).reshape(-1, m), above_of=np.array([limit for _, limit in above]),
        equal=np.array([row for row, _ in equal]).reshape(-1, m), equal_of=np.array([limit for _, limit in equal]),
    )  # fmt: skip
    if solved_weights(region, np.zeros(m)) is None:
        raise InvalidInput(
            f"--constraint: no weights that sum to 1 meet {' and '.join(region.texts)[:200]}; loosen one"
        )
    return region if region.is_simplex else _tightened(region)


def _tightened(region: WeightRegion) -> WeightRegion:
    """The same weights, conditions that leave no room said as equalities: `a >= 1` makes all others 0."""
    import numpy as np

    sides = np.vstack([np.eye(region.n_weights), region.above])
    limits = np.concatenate([np.zeros(region.n_weights), region.above_of])
    tight = []
    for side, limit in zip(sides, limits, strict=True):
        best = solved_weights(region, -side)
        assert best is not None  # weight_region has seen that something is allowed
        tight.append(bool(float(side @ best) - limit <= _TIGHT))
    return replace(
        region,
        equal=np.vstack([region.equal, sides[tight]]), equal_of=np.concatenate([region.equal_of, limits[tight]]),
    )  # fmt: skip


def solved_weights(region: WeightRegion, cost: "Floats") -> "Floats | None":
    """The allowed weights of least cost; None where nothing is allowed."""
    import numpy as np

    found = solved(
        cost, above=region.above, above_of=region.above_of,
        equal=np.vstack([np.ones((1, region.n_weights)), region.equal]),
        equal_of=np.concatenate([[1.0], region.equal_of]), bounds=[(0, 1)] * region.n_weights,
    )  # fmt: skip
    return None if found is None else np.asarray(found.x)


def solved(
    cost: "Floats",
    *,
    above: "Floats",
    above_of: "Floats",
    equal: "Floats",
    equal_of: "Floats",
    bounds: Sequence[tuple[float | None, float | None]],
) -> Any:
    """The least `cost @ x` with `above @ x >= above_of` and `equal @ x == equal_of`, by HiGHS; None without any."""
    from scipy.optimize import linprog

    found = linprog(
        cost,
        A_ub=-above if len(above) else None, b_ub=-above_of if len(above) else None,
        A_eq=equal if len(equal) else None, b_eq=equal_of if len(equal) else None, bounds=list(bounds), method="highs",
    )  # fmt: skip
    return found if found.status == 0 else None


def _simplex(rng: "np.random.Generator", n_draws: int, m: int) -> "Floats":
    """(n_draws, m) uniform over the simplex: exponentials by their sum."""
    drawn = rng.standard_exponential((n_draws, m))
    drawn /= drawn.sum(axis=1, keepdims=True)
    return drawn


def _null_space(rows: "Floats") -> "Floats":
    """(m, k) directions along which no row changes."""
    import numpy as np

    _, sizes, right = np.linalg.svd(rows)
    return np.asarray(right[int((sizes > 1e-10).sum()) :].T)


def _comparisons(condition: Node, text: str) -> Iterator[Comparison]:
    """The comparisons that must hold together."""
    if isinstance(condition, Logic) and condition.operator == "and":
        for part in condition.args:
            yield from _comparisons(part, text)
    elif isinstance(condition, Comparison) and condition.operator in ("<", "<=", ">", ">=", "=="):
        yield condition
    else:
        raise _refusal(text, "is no comparison of weights")


def _refusal(text: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"--constraint {text[:120]!a}: {what}; expected one that is linear, such as I >= 2 * K or C <= 0.4"
    )


def _linear(comparison: Comparison, labels: Sequence[str], text: str) -> "tuple[Floats, float]":
    """`left - right` as coefficients of the weights, and what is left on the other side."""
    import numpy as np

    def of(node: Expression) -> "Floats":
        """(m + 1,) coefficients, the constant last."""
        if not columns_of(node):
            return np.append(np.zeros(len(labels)), constant(node))
        match node:
            case ColumnRef(name):
                return np.append(np.array([float(label == name) for label in labels]), 0.0)
            case Negation(operand):
                return -of(operand)
            case Binary("+", left, right):
                return of(left) + of(right)
            case Binary("-", left, right):
                return of(left) - of(right)
            case Binary("*", left, right) if not columns_of(left):
                return constant(left) * of(right)
            case Binary("*", left, right) if not columns_of(right):
                return constant(right) * of(left)
            case Binary("/", left, right) if not columns_of(right):
                return of(left) / constant(right)
        raise _refusal(text, f"{printed(node)[:60]} is not linear")

    combine: Callable[[Any, Any], Any] = np.subtract
    found = combine(of(comparison.left), of(comparison.right))
    return found[:-1], -float(found[-1])
