"""The node of a rule that the weights move: its outermost weighted aggregate, however the rule writes it.

A weighted sum is a mean times the sum of its weights, and a product a geometric mean to the power of its length.
"""

from collections.abc import Sequence
from dataclasses import replace

from evenhand.composite.clauses import taken_branches
from evenhand.composite.rule.evaluate import constant, weights_of
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Binary, Call, Conditional, Expression, Negation, Number, Rule, columns_of
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

__all__ = ["BARE", "live_rule"]

BARE = ("min", "max", "median")
"""Aggregates under which weights only say which columns count."""

_WEIGHTED = ("mean", "geomean", "hmean", "power", "winrate")


def live_rule(rule: Rule, table: Table) -> tuple[Expression, Call]:
    """The expression with its weighted aggregate written as a mean, and that aggregate.

    Branches that no row takes are gone; a weighted sum is its mean times the sum of its weights, and a product the
    geometric mean to the power of its length.
    """
    whole = taken_branches(rule, table).expression
    calls = _outermost(whole)
    if not calls:
        whole = _as_weighted(whole)
        calls = _outermost(whole) or _outermost(whole, BARE)
    if not calls:
        raise InvalidInput(
            f"rule {printed(rule)[:120]}: nothing in it is weighed; expected a mean, a sum or a product of two or more "
            "columns"
        )
    if len(calls) > 1:
        raise InvalidInput(
            f"rule: {printed(calls[0])[:80]} and {printed(calls[1])[:80]} weigh different things; a page has one "
            "set of sliders: keep the rows of one of them (--where)"
        )
    return whole, calls[0]


def _as_weighted(node: Expression) -> Expression:
    """The same value, with the outermost sum or product of columns written as a mean; as it is, if there is none."""
    terms = _terms(node)
    if sum(bool(columns_of(arg)) for arg, _ in terms) > 1:
        return _as_mean(terms)
    if isinstance(node, Call) and node.name == "prod":
        factors: Sequence[Expression] = node.args
    else:
        factors = _factors(node)
    weighed = [factor for factor in factors if columns_of(factor) and not _is_gate(factor)]
    if len(weighed) > 1:
        found: Expression = Binary("^", Call("geomean", tuple(weighed)), Number(float(len(weighed))))
        for factor in factors:
            if factor not in weighed:
                found = Binary("*", found, factor)
        return found
    match node:
        case Binary(_, left, right):
            first, second = _as_weighted(left), _as_weighted(right)
            return replace(node, left=first) if first != left else replace(node, right=second)
        case Negation(operand):
            return replace(node, operand=_as_weighted(operand))
        case Call(_, args):
            return replace(node, args=tuple(_as_weighted(arg) for arg in args))
        case _:
            return node


def _terms(node: Expression, factor: float = 1.0) -> list[tuple[Expression, float]]:
    """A sum as (term, weight); a node that is no sum is its own only term."""
    match node:
        case Binary("+", left, right):
            return _terms(left, factor) + _terms(right, factor)
        case Binary("-", left, right):
            return _terms(left, factor) + _terms(right, -factor)
        case Binary("*", left, right) if not columns_of(left):
            return _terms(right, factor * constant(left))
        case Binary("*" | "/" as operator, left, right) if not columns_of(right):
            by = constant(right)
            return _terms(left, factor * by if operator == "*" else factor / by) if by else [(node, factor)]
        case Negation(operand):
            return _terms(operand, -factor)
        case Call("sum", args):
            weights = weights_of(node).tolist()
            return [term for arg, w in zip(args, weights, strict=True) for term in _terms(arg, factor * w)]
        case _:
            return [(node, factor)]


def _as_mean(terms: Sequence[tuple[Expression, float]]) -> Expression:
    """A weighted sum as a mean times the sum of the weights, and its constants behind."""
    own = [(arg if w > 0 else Negation(arg), abs(w)) for arg, w in terms if columns_of(arg) and w]
    rest = sum(constant(arg) * w for arg, w in terms if not columns_of(arg))
    total = sum(w for _, w in own)
    equal = len({w for _, w in own}) == 1
    mean = Call("mean", tuple(arg for arg, _ in own), None if equal else tuple(Number(w) for _, w in own))
    found: Expression = Binary("*", mean, Number(total))
    if rest:
        found = Binary("+", found, Number(rest) if rest > 0 else Negation(Number(-rest)))
    return found


def _factors(node: Expression) -> list[Expression]:
    """The factors of a product."""
    if isinstance(node, Binary) and node.operator == "*":
        return _factors(node.left) + _factors(node.right)
    return [node]


def _outermost(node: Expression, names: Sequence[str] = _WEIGHTED) -> list[Call]:
    """The different aggregates of two or more columns that stand in no other one."""
    found: dict[Call, None] = {}
    pending: list[Expression] = [node]
    while pending:
        part = pending.pop()
        match part:
            case Call(name, args) if name in names and sum(bool(columns_of(arg)) for arg in args) > 1:
                found[part] = None
            case Call(_, args):
                pending += args
            case Binary(_, left, right):
                pending += left, right
            case Negation(operand):
                pending.append(operand)
            case Conditional(_, then, otherwise):
                pending += then, otherwise
            case _:
                pass
    return list(found)


def _is_gate(node: Expression) -> bool:
    """Whether a factor is `min(1, ...)` of columns."""
    return isinstance(node, Call) and node.name == "min" and Number(1.0) in node.args and bool(columns_of(node))
