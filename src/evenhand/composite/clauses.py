"""The clauses of a rule that act on some rows only, and whether a table can tell that they are there.

A clause is a gate, cap, floor, branch, tie rule or missing policy. Each has a form of the rule without it: rows on
which the two differ are touched by the clause, and rows which the form without it cannot produce carry it. A clause
that touches no row is inert: on this table nobody can tell.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.composite.rule.evaluate import constant, holds
from evenhand.composite.rule.functions import is_constant
from evenhand.composite.rule.printing import name_text, number_text, printed
from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Comparison,
    Conditional,
    Expression,
    Logic,
    Negation,
    Number,
    Rule,
)
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

__all__ = ["Clause", "clauses_of", "plain_rule", "rewritten", "taken_branches"]

Kind = Literal["gate", "cap", "floor", "branch", "default", "ties", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause.

    Attributes:
        kind: what it is.
        text: the clause, printed.
        when: on which rows it acts, in words: `Speed under 50`.
        node: the clause itself.
        instead: what stands in its place without it; it acts on the rows where the two differ.
        without: the whole rule without it.
    """

    kind: Kind
    text: str
    when: str
    node: Expression
    instead: Expression
    without: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """A node's clause before it is put into the whole rule."""

    kind: Kind
    when: str
    instead: Expression


def clauses_of(rule: Rule) -> tuple[Clause, ...]:
    """The clauses of a rule, in the order of its text; equal ones count once.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> [(clause.kind, clause.when) for clause in clauses_of(parse_rule("max(C, 1) * gate(I, 50, 2)"))]
    [('floor', 'C under 1'), ('gate', 'I under 50')]
    """
    found: list[Clause] = []
    seen: set[tuple[Expression, Kind, Expression]] = set()
    for node, is_factor in _places(rule.expression):
        for form in _forms(node, is_factor):
            if (node, form.kind, form.instead) in seen:
                continue
            seen.add((node, form.kind, form.instead))
            whole = _without(rule.expression, node, form.instead)
            found.append(
                Clause(
                    kind=form.kind,
                    text=printed(node),
                    when=form.when,
                    node=node,
                    instead=form.instead,
                    without=replace(rule, expression=whole),
                )
            )
    return tuple(found)


def _without(whole: Expression, clause: Expression, instead: Expression) -> Expression:
    """A tree with something else in every place where the clause stands."""
    return rewritten(whole, lambda part: instead if part == clause else part)


def plain_rule(rule: Rule) -> Rule:
    """The rule without any of its gates, caps, floors and branches (of which the last one stays)."""
    if not any(clause.kind in ("gate", "cap", "floor", "branch") for clause in clauses_of(rule)):
        return rule

    def stripped(node: Expression, is_factor: bool) -> Expression:
        kinds = ("gate", "cap", "floor")
        forms = [form for form in _forms(node, is_factor) if form.kind in kinds]
        if isinstance(node, Conditional):
            return node.otherwise
        if isinstance(node, Call) and node.name == "clamp" and forms:
            return node.args[0]
        if isinstance(node, Binary) and node.operator == "*":  # a gate that is gone leaves no factor behind
            one = Number(1.0)
            return node.left if node.right == one else node.right if node.left == one else node
        return forms[0].instead if forms else node

    return replace(rule, expression=_rewritten(rule.expression, stripped, False))


def taken_branches(rule: Rule, table: Table) -> Rule:
    """The rule without the branches that no row of the table takes; the rows of one case have one formula.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> table = Table.of_texts({"year": ["2015", "2016"], "a": ["1", "2"], "b": ["3", "4"]})
    >>> taken_branches(parse_rule("if(year < 2012, a, mean(a, b))"), table) == parse_rule("mean(a, b)")
    True
    """

    def chosen(node: Expression) -> Expression:
        if not isinstance(node, Conditional):
            return node
        taken = holds(node.condition, table)
        return node.then if taken.all() else node if taken.any() else node.otherwise

    return replace(rule, expression=rewritten(rule.expression, chosen))


def rewritten(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """A tree in which every node is changed after its parts are; conditions stay as they are."""
    return _rewritten(node, lambda part, _: change(part), False)


def _rewritten(node: Expression, change: Callable[[Expression, bool], Expression], is_factor: bool) -> Expression:
    """As `rewritten`; `change` is also told whether the node is a factor of a product."""
    match node:
        case Negation(operand):
            found: Expression = replace(node, operand=_rewritten(operand, change, is_factor))
        case Binary(operator, left, right):
            sides = _factors(operator, left, right, is_factor)
            found = replace(node, left=_rewritten(left, change, sides[0]), right=_rewritten(right, change, sides[1]))
        case Call(name, args, _):
            found = replace(node, args=tuple(_rewritten(arg, change, name == "prod" and len(args) > 1) for arg in args))
        case Conditional(_, then, otherwise):
            found = replace(
                node, then=_rewritten(then, change, is_factor), otherwise=_rewritten(otherwise, change, is_factor)
            )
        case _:
            found = node
    return change(found, is_factor)


def _places(node: Expression, is_factor: bool = False) -> Iterator[tuple[Expression, bool]]:
    """Every expression of a tree, and whether it is a factor of a product; in the order of the text."""
    yield node, is_factor
    match node:
        case Negation(operand):
            yield from _places(operand, is_factor)
        case Binary(operator, left, right):
            sides = _factors(operator, left, right, is_factor)
            yield from _places(left, sides[0])
            yield from _places(right, sides[1])
        case Call(name, args, _):
            for arg in args:
                yield from _places(arg, name == "prod" and len(args) > 1)
        case Conditional(_, then, otherwise):
            yield from _places(then, is_factor)
            yield from _places(otherwise, is_factor)
        case _:
            return


def _factors(operator: str, left: Expression, right: Expression, is_factor: bool) -> tuple[bool, bool]:
    """Whether each side multiplies something that varies: `2 * min(bugs, 1)` is a cap, `quality * min(1, x)` a gate."""
    if operator == "*":
        return is_factor or not is_constant(right), is_factor or not is_constant(left)
    return is_factor and operator == "/", False


def _forms(node: Expression, is_factor: bool) -> Iterator[_Form]:
    """What clauses a node is, and what stands there without them."""
    match node:
        case Call(("min" | "max"), _):
            yield from _limit(node, is_factor)
        case Call("clamp", (value, low, high)):
            if is_constant(low) and not is_constant(value):
                rest = replace(node, name="min", args=(value, high))
                yield _Form(kind="floor", when=_when(value, "under", low), instead=rest)
            if is_constant(high) and not is_constant(value):
                rest = replace(node, name="max", args=(value, low))
                yield _Form(kind="cap", when=_when(value, "over", high), instead=rest)
        case Call("default", (value, _)):
            yield _Form(kind="default", when=f"{printed(value)} missing", instead=value)
        case Call(("rank" | "winrate") as name, _):
            yield _ties(node, name)
        case Conditional(condition, then, otherwise):
            yield _Form(kind="branch", when=printed(condition), instead=otherwise)
            yield _Form(kind="branch", when=_opposite(condition), instead=then)
        case _:
            return


def _limit(node: Call, is_factor: bool) -> Iterator[_Form]:
    """A cap or floor by one constant; as a factor of a product, min(1, ...) is a gate and would else be 1."""
    fixed = [arg for arg in node.args if is_constant(arg)]
    free = tuple(arg for arg in node.args if not is_constant(arg))
    if len(fixed) != 1 or not free:
        return
    rest = free[0] if len(free) == 1 else replace(node, args=free)
    if node.name == "min" and is_factor and _value(fixed[0]) == 1.0:
        yield _Form(kind="gate", when=_when(rest, "under", fixed[0]), instead=Number(1.0))
    elif node.name == "min":
        yield _Form(kind="cap", when=_when(rest, "over", fixed[0]), instead=rest)
    else:
        yield _Form(kind="floor", when=_when(rest, "under", fixed[0]), instead=rest)


def _ties(node: Call, name: str) -> _Form:
    """The tie rule, against the one that is farthest from it."""
    ties = dict(node.options).get("ties", "min" if name == "rank" else "half")
    other = {"min": "max", "max": "min", "mean": "min", "half": "lose", "lose": "win", "win": "lose"}[ties]
    options = {**dict(node.options), "ties": other}
    if name == "rank" and other == "min":
        del options["ties"]
    what = printed(node.args[0]) if len(node.args) == 1 else f"any of {len(node.args)} columns"
    return _Form(kind="ties", when=f"ties in {what}", instead=replace(node, options=tuple(sorted(options.items()))))


def _when(value: Expression, side: str, limit: Expression) -> str:
    """`Speed under 50`, solved for a column where that is simple."""
    bound = _value(limit)
    solved = None if bound is None else _solved(value, bound)
    if solved is None:
        return f"{printed(value)} {side} {printed(limit)}"
    name, at, is_turned = solved
    side = {"under": "over", "over": "under"}[side] if is_turned else side
    return f"{name} {side} {number_text(float(f'{at:.10g}'))}"


def _solved(value: Expression, bound: float) -> tuple[str, float, bool] | None:
    """(column, where it is when the expression is at the bound, whether it falls); None where that is not simple."""
    is_turned = False
    while not isinstance(value, ColumnRef):
        step = _undone(value, bound)
        if step is None:
            return None
        value, bound, turns = step
        is_turned ^= turns
    return (name_text(value.name), bound, is_turned) if math.isfinite(bound) else None


def _undone(value: Expression, bound: float) -> tuple[Expression, float, bool] | None:
    """One step towards the column: (what is left, its bound, whether it turned round)."""
    match value:
        case Negation(operand):
            return operand, -bound, True
        case Call("log", (inner,)) if bound < 700:
            return inner, math.exp(bound), False
        case Call("sqrt", (inner,)) if bound >= 0:
            return inner, bound * bound, False
        case Binary(operator, left, right) if (fixed := _value(right)) is not None:
            before = _before(operator, bound, fixed)
            return None if before is None else (left, before, operator in "*/" and fixed < 0)
        case Binary(("+" | "*") as operator, left, right) if (fixed := _value(left)) is not None:
            before = _before(operator, bound, fixed)
            return None if before is None else (right, before, operator == "*" and fixed < 0)
        case Binary("-", left, right) if (fixed := _value(left)) is not None:
            return right, fixed - bound, True
        case _:
            return None


def _before(operator: str, bound: float, fixed: float) -> float | None:
    """What was on the left of `operator fixed` when the result is `bound`."""
    if operator in "+-":
        return bound - fixed if operator == "+" else bound + fixed
    if operator in "*/":
        return None if fixed == 0 else bound / fixed if operator == "*" else bound * fixed
    return bound ** (1 / fixed) if fixed > 0 and bound >= 0 else None


def _value(node: Expression) -> float | None:
    """The value of a constant; None of anything else."""
    if not is_constant(node):
        return None
    try:
        return constant(node)
    except InvalidInput:
        return None


def _opposite(condition: Comparison | Logic) -> str:
    """The negation of a condition, in words that read well."""
    turned: Mapping[str, Literal["<", "<=", ">", ">=", "==", "!="]] = {
        "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==",
    }  # fmt: skip
    if isinstance(condition, Comparison) and condition.operator in turned:
        return printed(replace(condition, operator=turned[condition.operator]))
    return printed(Logic("not", (condition,)))
