"""A form of the search written as a rule of the language."""

from evenhand.composite.recovery.forms import Axis, Form, Problem
from evenhand.composite.rule.calls import gate as gate_call
from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Comparison,
    Conditional,
    Expression,
    Negation,
    Number,
    Rule,
    Text,
)

__all__ = ["by_era", "expression_of", "number", "rule_of"]

_NAMES = {1.0: "mean", 0.0: "geomean", -1.0: "hmean"}


def rule_of(form: Form, problem: Problem) -> Rule:
    """The rule that a form is, with what a gap counts as where that was given."""
    return Rule(expression_of(form, problem.axes), problem.missing)


def expression_of(form: Form, axes: tuple[Axis, ...]) -> Expression:
    """The form as a tree; weights as decimals, nested means as `mean(a, b)`."""
    inside = tuple(_axis(form, axes, axis) for axis in form.axes)
    if form.kind == "sum" and form.weights is not None:
        found = _sum(inside, form.weights)
    elif len(inside) == 1:
        found = inside[0]
    else:
        found = _combination(form, inside)
    for gate in form.gates:
        factor = gate_call(_column(axes[gate.axis]), gate.knee, gate.power)
        found = Binary("*", found, factor)
    if form.scale != 1:
        found = Binary("*", number(form.scale), found)
    return _plus(found, form.shift)


def number(value: float) -> Expression:
    """A constant; one below 0 is a negation."""
    neat = float(f"{abs(value):.12g}")
    return Negation(Number(neat)) if value < 0 else Number(neat)


def _plus(found: Expression, shift: float) -> Expression:
    if not shift:
        return found
    return Binary("+" if shift > 0 else "-", found, Number(float(f"{abs(shift):.12g}")))


def _column(axis: Axis) -> Expression:
    if len(axis.parts) == 1:
        return ColumnRef(axis.parts[0])
    return Call("mean", tuple(ColumnRef(part) for part in axis.parts))


def _axis(form: Form, axes: tuple[Axis, ...], axis: int) -> Expression:
    """An axis with its floor and cap."""
    found = _column(axes[axis])
    for clauses, name in ((form.floors, "max"), (form.caps, "min")):
        for which, limit in clauses:
            if which == axis:
                found = Call(name, (found, number(limit)))
    return found


def _combination(form: Form, inside: tuple[Expression, ...]) -> Expression:
    weights = None if form.weights is None else tuple(number(weight) for weight in form.weights)
    if form.kind != "power":
        return Call(form.kind, inside)
    name = _NAMES.get(form.power)
    if name is None:
        return Call("power", (number(form.power), *inside), weights)
    return Call(name, inside, weights)


def _sum(inside: tuple[Expression, ...], weights: tuple[float, ...]) -> Expression:
    """`3 * won + drawn`, the first term positive if any is."""
    found: Expression | None = None
    for weight, term in sorted(zip(weights, inside, strict=True), key=lambda pair: pair[0] < 0):
        part = term if abs(weight) == 1 else Binary("*", Number(float(f"{abs(weight):.12g}")), term)
        if found is None:
            found = part if weight > 0 else Negation(part)
        else:
            found = Binary("+" if weight > 0 else "-", found, part)
    assert found is not None
    return found


def by_era(column: str, is_text: bool, parts: "list[tuple[tuple[str, ...], Form]]", problem: Problem) -> Rule:
    """`if(column == value, rule, otherwise)`: parts in order, the last one for whatever is left."""
    found = expression_of(parts[-1][1], problem.axes)
    for values, form in reversed(parts[:-1]):
        for value in reversed(values):
            told: Expression = Text(value) if is_text else number(float(value))
            condition = Comparison("==", ColumnRef(column), told)
            found = Conditional(condition, expression_of(form, problem.axes), found)
    return Rule(found, problem.missing)
