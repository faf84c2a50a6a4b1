"""A rule printed back in normal form, which parses to the same rule, and as plain data for pages."""

import re
from collections.abc import Mapping
from typing import Any

from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Comparison,
    Conditional,
    Logic,
    Negation,
    Node,
    Number,
    Rule,
    Text,
)

__all__ = ["name_text", "number_text", "printed", "tree"]

_BARE = re.compile(r"[^\W\d]\w*")
_RESERVED = {"and", "or", "not", "missing", "lower", "higher", "ties"}
_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "^": 30}
_UNARY = 25


def printed(rule: "Rule | Node") -> str:
    """The normal form of a rule or a part of it: `parse_rule(printed(rule)) == rule`.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> printed(parse_rule("GMEAN(I,C)*gate(I,50,2)"))
    'geomean(I, C) * min(1, (I / 50)^2)'
    """
    if not isinstance(rule, Rule):
        return _text(rule)
    if rule.missing is None:
        return _text(rule.expression)
    policy = rule.missing if isinstance(rule.missing, str) else number_text(rule.missing)
    return f"{_text(rule.expression)}; missing = {policy}"


def number_text(value: float) -> str:
    """A constant as short as it reads back: 50, 0.325, 1e-05."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def name_text(name: str) -> str:
    """A column's name, in backticks where it is no plain word."""
    if _BARE.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def tree(rule: "Rule | Node") -> Mapping[str, Any]:
    """The rule as nested mappings with `kind`, for JSON and for pages that evaluate it themselves."""
    match rule:
        case Rule(expression, missing):
            return {"kind": "rule", "expression": tree(expression), "missing": missing}
        case Number(value):
            return {"kind": "number", "value": value}
        case Text(text):
            return {"kind": "text", "value": text}
        case ColumnRef(name):
            return {"kind": "column", "name": name}
        case Negation(operand):
            return {"kind": "negation", "operand": tree(operand)}
        case Binary(operator, left, right):
            return {"kind": "binary", "operator": operator, "left": tree(left), "right": tree(right)}
        case Comparison(operator, left, right):
            return {"kind": "comparison", "operator": operator, "left": tree(left), "right": tree(right)}
        case Logic(operator, args):
            return {"kind": "logic", "operator": operator, "args": [tree(arg) for arg in args]}
        case Conditional(condition, then, otherwise):
            return {
                "kind": "if", "condition": tree(condition), "then": tree(then), "otherwise": tree(otherwise),
            }  # fmt: skip
        case Call(name, args, weights, options):
            return {
                "kind": "call", "name": name, "args": [tree(arg) for arg in args],
                "weights": None if weights is None else [tree(weight) for weight in weights],
                "options": dict(options),
            }  # fmt: skip


def _text(node: Node) -> str:
    """The normal form of one node, without brackets around it."""
    match node:
        case Number(value):
            return number_text(value)
        case Text(text):
            return _quoted(text)
        case ColumnRef(name):
            return name_text(name)
        case Negation(operand):
            return f"-{_bracketed(operand, _binding(operand) < _UNARY or isinstance(operand, Negation))}"
        case Binary(operator, left, right):
            return _binary(operator, left, right)
        case Call():
            return _call(node)
        case Comparison("missing", left, _):
            return f"missing({_text(left)})"
        case Comparison(operator, left, right):
            return f"{_text(left)} {operator} {_text(right)}"
        case Logic("not", (operand,)):
            return f"not {_bracketed(operand, isinstance(operand, Logic))}"
        case Logic(operator, args):
            return f" {operator} ".join(_bracketed(arg, _is_chain(arg)) for arg in args)
        case Conditional(condition, then, otherwise):
            return f"if({_text(condition)}, {_text(then)}, {_text(otherwise)})"


def _quoted(text: str) -> str:
    """A text in the quotes that it does not hold; where it holds both, in double ones, each of its own doubled."""
    if '"' in text and "'" not in text:
        return f"'{text}'"
    return '"' + text.replace('"', '""') + '"'


def _binary(operator: str, left: Node, right: Node) -> str:
    """Operators that bind alike go from the left, powers from the right; a minus on the right stands in brackets."""
    own = _BINDING[operator]
    if operator == "^":
        base = _bracketed(left, _binding(left) <= own or isinstance(left, Negation))
        is_number = isinstance(right, Negation) and isinstance(right.operand, Number)
        return f"{base}^{_bracketed(right, _binding(right) < own and not is_number)}"
    shown = _bracketed(right, _binding(right) <= own or isinstance(right, Negation))
    return f"{_bracketed(left, _binding(left) < own)} {operator} {shown}"


def _binding(node: Node) -> int:
    """How tightly a node holds together; 100 for what needs no brackets."""
    match node:
        case Binary(operator, _, _):
            return _BINDING[operator]
        case Negation():
            return _UNARY
        case Comparison("missing", _, _):
            return 100
        case Comparison() | Logic():
            return 0
        case _:
            return 100


def _is_chain(node: Node) -> bool:
    """Whether a condition is joined by `and` or `or`."""
    return isinstance(node, Logic) and node.operator != "not"


def _bracketed(node: Node, brackets: bool) -> str:
    return f"({_text(node)})" if brackets else _text(node)


def _call(call: Call) -> str:
    """A function, its arguments with their weights, and its options."""
    shown = [_text(arg) for arg in call.args]
    if call.weights is not None:
        ahead = len(call.args) - len(call.weights)
        shown[ahead:] = [f"{arg}: {_text(w)}" for arg, w in zip(shown[ahead:], call.weights, strict=True)]
    options = [value if option == "direction" else f"{option}={value}" for option, value in call.options]
    return f"{call.name}({', '.join([*shown, *options])})"
