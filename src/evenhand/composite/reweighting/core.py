"""Where a rule's weights are: its outermost weighted mean, and what is done to that mean on the way to the score.

geomean(I, C, S, K) * min(1, (I / 50)^2)      mean of four, then multiplied by a gate
0.6 * accuracy + 0.4 * speed - penalty / 10   a sum is a mean too, its terms' factors being the weights
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evenhand.composite.clauses import rewritten
from evenhand.composite.rule.evaluate import constant, weights_of
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Conditional,
    Expression,
    Negation,
    Number,
    Rule,
    children,
    columns_of,
    walk,
)
from evenhand.errors import InvalidInput

__all__ = ["PLACE", "Core", "Step", "weighted_core", "with_place"]

PLACE = "\0mean"
"""Column that stands for what a step is done to."""

WEIGHTED: dict[str, float] = {"mean": 1.0, "geomean": 0.0, "hmean": -1.0, "sum": 1.0, "winrate": 1.0}
_SCALARS = ("min", "max", "clamp", "round", "trunc", "floor", "ceil", "sqrt", "log", "log2", "log10", "exp")
_ORDERED = ("percentile", "minmax", "zscore")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing done to the mean.

    Attributes:
        kind: `add`, `subtract_from` (operand - x), `multiply`, `divide`, `power`, or `function` (of what is inside
            alone: a cap, a rounding, a share of the best).
        operand: the other side; None for `function`.
        node: the whole expression, for `function`.
        inside: what of `node` is to be replaced, wherever it stands.
    """

    kind: Literal["add", "subtract_from", "multiply", "divide", "power", "function"]
    operand: Expression | None = None
    node: Expression | None = None
    inside: Expression | None = None

    @property
    def is_gate(self) -> bool:
        """Whether it multiplies by something that depends on the row."""
        return self.kind in ("multiply", "divide") and self.operand is not None and bool(columns_of(self.operand))


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """A rule's weighted mean.

    Attributes:
        labels: (m,) what each argument is called: its column where it has one alone, else its text.
        arguments: (m,) expressions.
        weights: (m,) of the rule, each at least 0, summing to 1.
        signs: (m,) -1 where the rule subtracts the argument.
        total: what the weights sum to in a sum; 1 in a mean.
        power: exponent of the mean.
        call: the call itself; None where a sum was written with `+`.
        steps: from the mean outwards.
    """

    labels: tuple[str, ...]
    arguments: tuple[Expression, ...]
    weights: tuple[float, ...]
    signs: tuple[float, ...]
    total: float
    power: float
    call: Call | None
    steps: tuple[Step, ...]


def weighted_core(rule: Rule) -> Core:
    """The outermost weighted mean of a rule, and the steps from it to the score.

    Raises:
        InvalidInput: the rule has no weighted mean, or several under one roof (an `if` between two means).

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> core = weighted_core(parse_rule("geomean(I: 1, C: 3) * min(1, I / 50)"))
    >>> core.labels, core.weights, core.power, [(step.kind, step.is_gate) for step in core.steps]
    (('I', 'C'), (0.25, 0.75), 0.0, [('multiply', True)])
    """
    place = _place(rule.expression)
    call: Call | None = None
    if not isinstance(place, Call):
        parts = _terms(place)
    else:
        own = place.args[1:] if place.name == "power" else place.args
        parts = list(zip((float(weight) for weight in weights_of(place)), own, strict=True))
        call = place
    power = WEIGHTED.get(call.name, 1.0) if call is not None else 1.0
    if call is not None and call.name == "power":
        power = constant(call.args[0])
    fixed = [part for part in parts if not columns_of(part[1]) and call is None]
    parts = [part for part in parts if part not in fixed and part[0] != 0] if call is None else parts
    size = sum(abs(weight) for weight, _ in parts)
    if power != 1 and any(weight < 0 for weight, _ in parts):
        raise InvalidInput(f"reweight: {printed(place)[:120]} has negative weights; they cannot be moved on a simplex")
    steps = list(_steps(rule.expression, place))
    offset = sum(weight * constant(node) for weight, node in fixed)
    if offset:
        steps.insert(0, Step(kind="add", operand=_number(offset)))
    total = size if call is None or call.name == "sum" else size / sum(weight for weight, _ in parts)
    labels = _labels([node for _, node in parts])
    return Core(
        labels=labels, arguments=tuple(node for _, node in parts),
        weights=tuple(abs(weight) / size for weight, _ in parts),
        signs=tuple(-1.0 if weight < 0 else 1.0 for weight, _ in parts),
        total=total, power=power, call=call, steps=tuple(steps),
    )  # fmt: skip


def _number(value: float) -> Expression:
    return Number(value) if value >= 0 else Negation(Number(-value))


def _place(expression: Expression) -> Expression:
    """The node whose weights are meant: a weighted call, else a sum written with `+`."""
    calls = [(depth, node) for depth, node in _weighted(expression, 0)]
    outermost = [node for depth, node in calls if depth == min(depth for depth, _ in calls)] if calls else []
    varying = [term for term in _terms(expression) if columns_of(term[1])]
    is_mean = abs(sum(factor for factor, _ in varying) - 1) < 1e-9 and all(factor > 0 for factor, _ in varying)
    if len(varying) > 1 and (is_mean or sum(_has_call(node, outermost) for _, node in varying) != 1):
        return expression
    if len(outermost) == 1:
        return outermost[0]
    for node in walk(expression):  # a sum inside, such as (a + 2 * b) / 3
        if outermost or not isinstance(node, Binary) or node.operator not in "+-":
            continue
        if len([term for term in _terms(node) if columns_of(term[1])]) > 1:
            return node
    what = "holds several weighted means side by side" if outermost else "has no weighted mean or sum"
    raise InvalidInput(
        f"reweight: the rule {printed(expression)[:120]} {what}; expected one outermost mean, such as "
        "mean(a: 0.6, b: 0.4), with the rows of one case chosen by --where"
    )


def _has_call(node: Expression, calls: list[Call]) -> bool:
    """Whether one of these very calls stands in an expression."""
    return any(below is call for below in walk(node) for call in calls)


def _weighted(node: Expression, depth: int) -> Iterator[tuple[int, Call]]:
    """Weighted calls over at least two arguments that vary, not inside one another, with their depth."""
    if isinstance(node, Call) and (node.name in WEIGHTED or node.name == "power"):
        own = node.args[1:] if node.name == "power" else node.args
        if sum(bool(columns_of(arg)) for arg in own) > 1:
            yield depth, node
            return
    below: tuple[Expression, ...] = ()
    match node:
        case Negation(operand):
            below = (operand,)
        case Binary(operator, left, right):
            below = (left, right)
            depth -= operator in "+-*/"  # a chain of factors or terms is one level
        case Call(_, args):
            below = args
        case Conditional(_, then, otherwise):
            below = (then, otherwise)
        case _:
            pass
    for one in below:
        yield from _weighted(one, depth + 1)


def _terms(node: Expression, factor: float = 1.0) -> list[tuple[float, Expression]]:
    """A sum as (factor, term): `0.6 * a + b / 2` has the factors 0.6 and 0.5."""
    match node:
        case Binary("+", left, right):
            return _terms(left, factor) + _terms(right, factor)
        case Binary("-", left, right):
            return _terms(left, factor) + _terms(right, -factor)
        case Negation(operand):
            return _terms(operand, -factor)
        case Binary("*", left, right) if not columns_of(left):
            return _terms(right, factor * constant(left))
        case Binary("*" | "/", left, right) if not columns_of(right):
            by = constant(right)
            return _terms(left, factor * by if node.operator == "*" else factor / by)
    return [(factor, node)]


def _labels(arguments: list[Expression]) -> tuple[str, ...]:
    """The column of an argument that has one alone, else its text; each once."""
    found: list[str] = []
    for node in arguments:
        columns = columns_of(node)
        label = columns[0] if len(columns) == 1 else printed(node)
        found.append(label if label not in found else printed(node))
    return tuple(label if found.count(label) == 1 else f"{label} ({at})" for at, label in enumerate(found, start=1))


def with_place(node: Expression, inside: Expression) -> Expression:
    """An expression with a column `PLACE` wherever another expression stands in it."""
    return rewritten(node, lambda part: ColumnRef(PLACE) if part == inside else part)


def _steps(whole: Expression, place: Expression) -> Iterator[Step]:
    """What is done to the mean, from it outwards.

    Where the other side holds the mean as well (`x / colmax(x)`), the whole is one function of what it can be told by.
    """
    path = _path(whole, place)
    found: list[tuple[int, Step]] = []
    for at, (node, inside) in enumerate(zip(path[1:], path[:-1], strict=True), start=1):
        if not _stands_again(node, inside, place):
            found.append((at, _step(node, inside)))
            continue
        starts = (
            start for start in (at - 1, *(end for end, _ in reversed(found)), 0) if _depends_on(node, path[start])
        )
        start = next(starts, None)
        if start is None:
            raise InvalidInput(
                f"reweight: in {printed(node)[:120]} the mean stands twice, beside columns; its weights can be moved "
                "where it stands once, or again in a share of the best such as x / colmax(x)"
            )
        found = [step for step in found if step[0] <= start]
        found.append((at, Step(kind="function", node=node, inside=path[start])))
    return iter([step for _, step in found])


def _stands_again(node: Expression, inside: Expression, place: Expression) -> bool:
    """Whether the mean stands in another part of a node as well."""
    parts = [part for part in children(node) if part is not inside]
    twice = sum(part is inside for part in children(node)) > 1
    return twice or any(below == place for part in parts for below in walk(part))


def _depends_on(node: Expression, inside: Expression) -> bool:
    """Whether a node is a function of this part of it alone."""
    return set(columns_of(with_place(node, inside))) == {PLACE}


def _path(node: Expression, place: Expression) -> list[Expression]:
    """The mean, what holds it, what holds that, and so on to the whole rule."""
    if node is place:
        return [node]
    for one in children(node):
        if isinstance(one, Expression) and (found := _path(one, place)):
            return [*found, node]
    return []


def _step(node: Expression, inside: Expression) -> Step:
    """What one node does to the mean inside it."""
    match node:
        case Negation():
            return Step(kind="multiply", operand=Negation(Number(1.0)))
        case Binary("+", left, right):
            return Step(kind="add", operand=right if left is inside else left)
        case Binary("-", left, right):
            if left is inside:
                return Step(kind="add", operand=Negation(right))
            return Step(kind="subtract_from", operand=left)
        case Binary("*", left, right):
            return Step(kind="multiply", operand=right if left is inside else left)
        case Binary("/", left, right) if left is inside:
            return Step(kind="divide", operand=right)
        case Binary("^", left, right) if left is inside and not columns_of(right) and constant(right) > 0:
            return Step(kind="power", operand=right)
        case Call(name, args) if name in _ORDERED and args == (inside,) and not node.options:
            return Step(kind="function", node=node, inside=inside)
        case Call(name, args) if name in _SCALARS and all(arg is inside or not columns_of(arg) for arg in args):
            return Step(kind="function", node=node, inside=inside)
        case _:
            raise InvalidInput(
                f"reweight: in {printed(node)[:120]} the mean stands where its weights cannot be moved; expected it "
                "multiplied, divided, shifted, raised, capped or rounded, and the rows of one case chosen by --where"
            )
