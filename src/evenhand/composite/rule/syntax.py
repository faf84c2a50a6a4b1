"""What a rule is: a tree of frozen nodes, and the settings that hold for the whole rule.

    Expression = Number | Text | ColumnRef | Negation | Binary | Call | Conditional
    Condition  = Comparison | Logic      (only inside a Conditional)

Two rules are equal if their trees are; where a node stood in the text does not count. Sugar (`gate`, `cap`,
`goalposts`, `rescale`, definitions) is gone once parsed, so everything that walks a tree meets these nodes only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "Binary",
    "Call",
    "ColumnRef",
    "Comparison",
    "Condition",
    "Conditional",
    "Expression",
    "Logic",
    "Missing",
    "Negation",
    "Number",
    "Rule",
    "Text",
    "children",
    "columns_of",
    "depth_of",
    "size_of",
    "walk",
]

Missing = Literal["drop", "renormalise"] | float
"""What a missing cell does: its row has no value, the aggregators leave it out, or it counts as this number."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant, never negative (that is a Negation) and never nan."""

    value: float
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Text:
    """A constant text, to compare a column of texts with."""

    value: str
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the table, by its name there (aliases are resolved by the parser)."""

    name: str
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Negation:
    """Minus an expression."""

    operand: "Expression"
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right` with `+ - * / ^`."""

    operator: Literal["+", "-", "*", "/", "^"]
    left: "Expression"
    right: "Expression"
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its canonical name (`functions.FUNCTIONS`), with one weight per argument or none.

    `power` keeps its exponent in `args[0]`; its weights belong to `args[1:]`. `options` are sorted pairs such as
    `("direction", "lower")` and `("ties", "max")`; an option at its default is left out.
    """

    name: str
    args: tuple["Expression", ...]
    weights: tuple["Expression", ...] | None = None
    options: tuple[tuple[str, str], ...] = ()
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right` with `< <= > >= == !=`, or `missing(column)` as operator `missing` (right is left)."""

    operator: Literal["<", "<=", ">", ">=", "==", "!=", "missing"]
    left: "Expression"
    right: "Expression"
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Logic:
    """`and`, `or` over two or more conditions, `not` over one."""

    operator: Literal["and", "or", "not"]
    args: tuple["Condition", ...]
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Conditional:
    """`if(condition, then, otherwise)`."""

    condition: "Condition"
    then: "Expression"
    otherwise: "Expression"
    at: int = field(default=-1, compare=False, repr=False, kw_only=True)


Condition = Comparison | Logic
Expression = Number | Text | ColumnRef | Negation | Binary | Call | Conditional
Node = Expression | Condition


@dataclass(frozen=True, slots=True)
class Rule:
    """A whole rule.

    Attributes:
        expression: what computes the score.
        missing: what the rule itself says of missing cells; None where it says nothing (then `drop`).
    """

    expression: Expression
    missing: Missing | None = None


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order of the text."""
    match node:
        case Negation(operand):
            return (operand,)
        case Binary(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case Call(_, args, weights):
            return (*args, *(weights or ()))
        case Logic(_, args):
            return args
        case Conditional(condition, then, otherwise):
            return (condition, then, otherwise)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, parents first."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def size_of(node: Node) -> int:
    """How many nodes a tree has."""
    return sum(1 for _ in walk(node))


def depth_of(node: Node) -> int:
    """How many levels a tree has; found level by level, so that no tree is too deep to measure."""
    level: tuple[Node, ...] = (node,)
    depth = 0
    while level:
        depth += 1
        level = tuple({id(child): child for parent in level for child in children(parent)}.values())
    return depth


def columns_of(rule: "Rule | Node") -> tuple[str, ...]:
    """The columns that a rule names, each once, in the order of the text."""
    start = rule.expression if isinstance(rule, Rule) else rule
    return tuple(dict.fromkeys(node.name for node in walk(start) if isinstance(node, ColumnRef)))
