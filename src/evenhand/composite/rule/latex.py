r"""A rule as LaTeX mathematics: means as fractions and roots, conditionals as cases, names escaped."""

from evenhand.composite.rule.printing import number_text
from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Comparison,
    Conditional,
    Expression,
    Logic,
    Negation,
    Node,
    Number,
    Rule,
    Text,
)

__all__ = ["latex"]

_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne"}
_KNOWN = {"exp": r"\exp", "log": r"\ln", "min": r"\min", "max": r"\max"}


def latex(rule: "Rule | Node") -> str:
    r"""The rule as LaTeX mathematics, without dollar signs.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> print(latex(parse_rule("geomean(I, C) * gate(I, 50, 2)")))
    \sqrt{\text{I} \cdot \text{C}} \cdot \min\left(1, \left(\frac{\text{I}}{50}\right)^{2}\right)
    """
    node = rule.expression if isinstance(rule, Rule) else rule
    match node:
        case Number(value):
            return _number(value)
        case Text(text) | ColumnRef(text):
            return rf"\text{{{_escaped(text)}}}"
        case Negation(operand):
            return f"-{_grouped(operand, ('+', '-'), negation=True)}"
        case Binary(operator, left, right):
            return _binary(operator, left, right)
        case Conditional():
            return _cases(node)
        case Comparison("missing", left, _):
            return rf"{latex(left)} \text{{ is missing}}"
        case Comparison(operator, left, right):
            return f"{latex(left)} {_RELATIONS[operator]} {latex(right)}"
        case Logic("not", (operand,)):
            return rf"\neg\left({latex(operand)}\right)"
        case Logic(operator, args):
            joint = r" \wedge " if operator == "and" else r" \vee "
            return joint.join(rf"\left({latex(arg)}\right)" if isinstance(arg, Logic) else latex(arg) for arg in args)
        case Call():
            return _call(node)


def _escaped(text: str) -> str:
    """Every character that LaTeX would read as a command, written out; control characters become a space."""
    return "".join(_ESCAPED.get(character, character if character.isprintable() else " ") for character in text)


def _number(value: float) -> str:
    """A constant; `1e-05` as a power of ten."""
    mantissa, exponential, exponent = number_text(value).partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponential else mantissa


def _grouped(node: Expression, operators: tuple[str, ...], *, negation: bool = False) -> str:
    """In brackets where it is one of these operations."""
    inner = latex(node)
    is_open = (isinstance(node, Binary) and node.operator in operators) or isinstance(node, Conditional)
    return rf"\left({inner}\right)" if is_open or (negation and isinstance(node, Negation)) else inner


def _binary(operator: str, left: Expression, right: Expression) -> str:
    if operator == "/":
        return rf"\frac{{{latex(left)}}}{{{latex(right)}}}"
    if operator == "^":
        base = _grouped(left, ("+", "-", "*", "/", "^"), negation=True)
        base = rf"\left({base}\right)" if isinstance(left, Call) else base
        return f"{base}^{{{latex(right)}}}"
    if operator == "*":
        return rf"{_grouped(left, ('+', '-'))} \cdot {_grouped(right, ('+', '-'), negation=True)}"
    return f"{latex(left)} {operator} {_grouped(right, ('+', '-'), negation=True)}"


def _cases(node: Conditional) -> str:
    """A chain of conditionals as one brace."""
    lines = []
    rest: Expression = node
    while isinstance(rest, Conditional):
        lines.append(rf"{latex(rest.then)} & \text{{if }} {latex(rest.condition)}")
        rest = rest.otherwise
    body = r" \\ ".join([*lines, rf"{latex(rest)} & \text{{otherwise}}"])
    return rf"\begin{{cases}} {body} \end{{cases}}"


def _call(call: Call) -> str:
    """Means as they are written by hand; everything else by its name."""
    args = [latex(arg) for arg in call.args]
    weights = None if call.weights is None else [_grouped(weight, ("+", "-")) for weight in call.weights]
    if call.name in ("mean", "sum"):
        return _weighted_sum(call, weights)
    if call.name == "geomean" and weights is None and len(args) > 1:
        degree = "" if len(args) == 2 else f"[{len(args)}]"
        product = r" \cdot ".join(_grouped(arg, ("+", "-")) for arg in call.args)
        return rf"\sqrt{degree}{{{product}}}"
    if call.name == "hmean" and weights is None:
        inverses = " + ".join(rf"\frac{{1}}{{{arg}}}" for arg in args)
        return rf"\frac{{{len(args)}}}{{{inverses}}}"
    if call.name == "abs":
        return rf"\left|{args[0]}\right|"
    if call.name == "sqrt":
        return rf"\sqrt{{{args[0]}}}"
    if call.name in ("floor", "ceil"):
        return rf"\left\l{call.name} {args[0]} \right\r{call.name}"
    return _named(call, args, weights)


def _weighted_sum(call: Call, weights: list[str] | None) -> str:
    """A sum, over what its weights come to where it is a mean."""
    terms = [
        latex(arg) if weights is None else rf"{weight} \cdot {_grouped(arg, ('+', '-'), negation=True)}"
        for arg, weight in zip(call.args, weights or [""] * len(call.args), strict=True)
    ]
    total = " + ".join(terms)
    if call.name == "sum":
        return rf"\left({total}\right)" if len(terms) > 1 else total
    below = str(len(terms)) if weights is None else " + ".join(weights)
    return rf"\frac{{{total}}}{{{below}}}"


def _named(call: Call, args: list[str], weights: list[str] | None) -> str:
    """`name(arguments)`, weights as `: w`, options as words."""
    if weights is not None:
        ahead = len(args) - len(weights)
        args = [*args[:ahead], *(f"{arg}: {w}" for arg, w in zip(args[ahead:], weights, strict=True))]
    options = [
        rf"\text{{{value if option == 'direction' else option + '=' + value}}}" for option, value in call.options
    ]
    name = _KNOWN.get(call.name, rf"\operatorname{{{call.name}}}")
    return rf"{name}\left({', '.join([*args, *options])}\right)"
