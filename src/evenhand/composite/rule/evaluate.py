"""A rule's value on every row, vectorised over rows.

Where arithmetic has no value (a division by zero), the row is nan and the innermost clause that failed is named; where
a component is missing, the row is nan as well and counted apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand.composite.rule.arithmetic import COMPARISONS, ELEMENTWISE, OPERATORS, rounded, why_undefined
from evenhand.composite.rule.coupled import coupled, win_shares
from evenhand.composite.rule.functions import COUPLED, is_constant
from evenhand.composite.rule.means import aggregate
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Comparison,
    Condition,
    Conditional,
    Expression,
    Logic,
    Missing,
    Negation,
    Number,
    Rule,
    Text,
    columns_of,
)
from evenhand.composite.table import Table, comma_hint
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = [
    "Evaluation",
    "Scene",
    "Undefined",
    "arithmetic_columns",
    "constant",
    "evaluate",
    "holds",
    "is_lower",
    "numeric_columns",
    "places_of",
    "policy_of",
    "present_of",
    "values_of",
    "weights_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """A row on which a clause has no value.

    Attributes:
        index: of the row in the table, from 0.
        reason: `division by zero`, `logarithm of 0 or less`, ...
        clause: the innermost clause without a value, printed.
    """

    index: int
    reason: str
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """A rule's value on every row.

    Attributes:
        values: (n_rows,) nan where a component is missing or the rule is undefined.
        missing: (n_rows,) rows without a value because a component is missing.
        undefined: rows without a value because of arithmetic, in the order of the table.
    """

    values: "Floats"
    missing: "Booleans"
    undefined: tuple[Undefined, ...]


def evaluate(rule: Rule, table: Table, *, missing: Missing | None = None) -> Evaluation:
    """The rule on the printed numbers.

    Args:
        rule: its columns must be in the table.
        table: infinite components make their rows undefined.
        missing: overrides what the rule says; `drop` if neither says anything.
    Raises:
        InvalidInput: a column that the table does not have, or that holds no number.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> table = Table.of_texts({"a": ["1", "4", ""], "b": ["4", "0", "1"]})
    >>> found = evaluate(parse_rule("a / b"), table)
    >>> found.values.tolist(), found.undefined[0].reason, found.missing.tolist()
    ([0.25, nan, nan], 'division by zero', [False, False, True])
    """
    import numpy as np

    columns = numeric_columns(rule, table)
    scene = Scene(
        columns=columns, n_rows=table.n_rows,
        texts={name: table.column(name).texts for name in columns_of(rule)},
        lower=frozenset(name for name in columns if table.columns[name].lower),
        missing=policy_of(rule, missing),
    )  # fmt: skip
    values = scene.value(rule.expression, np.ones(table.n_rows, dtype=bool))
    failed = {index: Undefined(index=index, reason=why, clause=what) for index, (why, what) in scene.failed.items()}
    gaps = np.isnan(values)
    gaps[list(failed)] = False
    values[list(failed)] = np.nan
    return Evaluation(values=values, missing=gaps, undefined=tuple(failed[index] for index in sorted(failed)))


def values_of(
    rule: "Rule | Expression",
    values: "Mapping[str, Floats]",
    *,
    texts: Mapping[str, Sequence[str]] | None = None,
    lower: frozenset[str] = frozenset(),
    missing: Missing | None = None,
) -> "Floats":
    """The rule on bare columns, (n_rows,) each; nan where it is undefined or a component is missing."""
    import numpy as np

    node = rule.expression if isinstance(rule, Rule) else rule
    n_rows = len(next(iter(values.values()))) if values else 1
    scene = Scene(
        columns=values, n_rows=n_rows, texts=texts or {}, lower=lower,
        missing=policy_of(rule if isinstance(rule, Rule) else Rule(node), missing),
    )  # fmt: skip
    return scene.value(node, np.ones(n_rows, dtype=bool))


def holds(condition: Condition, table: Table) -> "Booleans":
    """(n_rows,) where a condition holds on the printed numbers and texts; a missing number makes it false."""
    import numpy as np

    names = columns_of(condition)
    scene = Scene(
        columns={name: table.column(name).values for name in names}, n_rows=table.n_rows,
        texts={name: table.column(name).texts for name in names},
    )  # fmt: skip
    return scene.truth(condition, np.ones(table.n_rows, dtype=bool))


def constant(node: Expression) -> float:
    """The value of an expression without columns.

    Raises:
        InvalidInput: it has no value, such as 1 / 0.
    """
    if isinstance(node, Number):
        return node.value
    value = float(values_of(node, {})[0])
    if value != value:
        raise InvalidInput(f"rule: the constant {printed(node)} has no value; expected a number")
    return value


def policy_of(rule: Rule, missing: Missing | None) -> Missing:
    """What a missing cell does, in this rule under this override."""
    return missing if missing is not None else rule.missing if rule.missing is not None else "drop"


def numeric_columns(rule: Rule, table: Table) -> "dict[str, Floats]":
    """The rule's columns; those it computes with must hold numbers."""
    found = {}
    arithmetic = arithmetic_columns(rule.expression)
    for name in columns_of(rule):
        column = table.column(name)
        if name in arithmetic and not column.is_numeric and any(column.texts):
            example = next(text for text in column.texts if text)
            raise InvalidInput(
                f"{table.source}, column {name!a}: no cell is a number (the first is {example[:40]!a}); "
                f"the rule computes with it{comma_hint(example)}"
            )
        found[name] = column.values
    return found


def arithmetic_columns(node: Expression) -> frozenset[str]:
    """The columns that a rule computes with, apart from those that only stand in conditions."""
    names: set[str] = set()
    pending: list[Expression] = [node]
    while pending:
        match pending.pop():
            case ColumnRef(name):
                names.add(name)
            case Negation(operand):
                pending.append(operand)
            case Binary(_, left, right):
                pending += left, right
            case Call(_, args, weights):
                pending += [*args, *(weights or ())]
            case Conditional(_, then, otherwise):
                pending += then, otherwise
            case _:
                pass
    return frozenset(names)


@dataclass(slots=True, kw_only=True)
class Scene:
    """Columns that a rule is computed on, and which rows failed so far.

    `active` in its methods are the rows that matter: those of the branch that is taken.
    """

    columns: "Mapping[str, Floats]"
    n_rows: int
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lower: frozenset[str] = frozenset()
    missing: Missing = "drop"
    failed: dict[int, tuple[str, str]] = field(default_factory=dict)

    def value(self, node: Expression, active: "Booleans") -> "Floats":
        """(n_rows,) the node on every active row, nan elsewhere or where it has no value."""
        import numpy as np

        match node:
            case Number(value):
                return np.full(self.n_rows, value)
            case ColumnRef():
                return self.column(node, active)
            case Negation(operand):
                return -self.value(operand, active)
            case Binary(operator, left, right):
                with np.errstate(all="ignore"):
                    a, b = self.value(left, active), self.value(right, active)
                    return self.checked(node, OPERATORS[operator](a, b), (a, b), active)
            case Conditional(condition, then, otherwise):
                taken = self.truth(condition, active)
                first, second = self.value(then, active & taken), self.value(otherwise, active & ~taken)
                return np.where(taken, first, second)
            case Call():
                with np.errstate(all="ignore"):
                    return self.call(node, active)
            case Text():
                raise InvalidInput("rule: a text stands where a number is computed")

    def column(self, node: ColumnRef, active: "Booleans") -> "Floats":
        """A column, its gaps filled if the policy is a number."""
        import numpy as np

        found = self.columns.get(node.name)
        if found is None:
            raise InvalidInput(f"rule: no column {node.name!a} came")
        if isinstance(self.missing, float | int):
            found = np.where(np.isnan(found), self.missing, found)
        return self.checked(node, found.astype(float), (), active)

    def checked(self, node: Expression, found: "Floats", inputs: "Sequence[Floats]", active: "Booleans") -> "Floats":
        """The values, nan where they are not finite; the rows where that is new are remembered with their clause."""
        import numpy as np

        wrong = ~np.isfinite(found) if inputs else np.isinf(found)
        if not wrong.any():
            return found
        new = wrong & active
        for value in inputs:
            new &= ~np.isnan(value)
        if new.any():
            clause = printed(node)
            for index in np.flatnonzero(new).tolist():
                self.failed.setdefault(index, (why_undefined(node, index, inputs), clause))
        return np.where(wrong, np.nan, found)

    def call(self, node: Call, active: "Booleans") -> "Floats":
        """A function of its arguments."""
        import numpy as np

        args = [self.value(arg, active) for arg in node.args]
        if node.name in ELEMENTWISE:
            return self.checked(node, ELEMENTWISE[node.name](*args), args, active)
        if node.name == "default":
            return np.where(np.isnan(args[0]), args[1], args[0])
        if node.name in ("round", "trunc"):
            return rounded(node.name, args[0], places_of(node))
        if node.name == "winrate":
            return self.winrate(node, args)
        if node.name in COUPLED:
            return self.checked(node, self.over_rows(node, args[0]), args, active)
        return self.aggregate(node, args, active)

    def aggregate(self, node: Call, args: "list[Floats]", active: "Booleans") -> "Floats":
        """A mean, extreme or sum of the arguments."""
        import numpy as np

        weights = weights_of(node)
        exponent = constant(node.args[0]) if node.name == "power" else 1.0
        own = args[1:] if node.name == "power" else args
        stacked = np.stack(own)
        present = present_of(node, stacked, self.missing)
        found = aggregate(node.name, stacked, weights, present, exponent=exponent)
        counted = np.where(present.any(axis=0) & ~np.isnan(np.where(present, stacked, 0.0)).any(axis=0), 1.0, np.nan)
        return self.checked(node, found, (counted,), active)

    def over_rows(self, node: Call, values: "Floats") -> "Floats":
        """A row-coupled function of one argument."""
        options = dict(node.options)
        return coupled(node.name, values, lower=is_lower(node, 0, self.lower), ties=options.get("ties", ""))

    def winrate(self, node: Call, args: "list[Floats]") -> "Floats":
        """Mean over the columns of the share of other rows beaten; columns that a row lacks are left out."""
        import numpy as np

        ties = dict(node.options).get("ties", "half")
        shares = np.stack(
            [win_shares(arg, lower=is_lower(node, at, self.lower), ties=ties) for at, arg in enumerate(args)]
        )
        return aggregate("mean", shares, weights_of(node), ~np.isnan(shares))

    def truth(self, node: Condition, active: "Booleans") -> "Booleans":
        """(n_rows,) where a condition holds."""
        import numpy as np

        match node:
            case Logic("not", (operand,)):
                return ~self.truth(operand, active)
            case Logic(operator, args):
                found = [self.truth(arg, active) for arg in args]
                return np.asarray((np.logical_and if operator == "and" else np.logical_or).reduce(found))
            case Comparison("missing", left, _):
                name = left.name if isinstance(left, ColumnRef) else ""
                return np.asarray(np.isnan(self.columns[name]))
            case Comparison(operator, left, right):
                if isinstance(left, Text) or isinstance(right, Text):
                    return np.asarray(self.same_text(left, right) == (operator == "=="))
                a, b = self.value(left, active), self.value(right, active)
                return np.asarray(COMPARISONS[operator](a, b)) & ~np.isnan(a) & ~np.isnan(b)

    def same_text(self, left: Expression, right: Expression) -> "Booleans":
        """Where a column's text is this one."""
        import numpy as np

        text, column = (left, right) if isinstance(left, Text) else (right, left)
        assert isinstance(text, Text)
        assert isinstance(column, ColumnRef)
        return np.array([cell == text.value for cell in self.texts[column.name]], dtype=bool)


def weights_of(node: Call) -> "Floats":
    """(n_args,) the weights of a call; ones where it has none.

    Raises:
        InvalidInput: the weights of a mean sum to 0.
    """
    import numpy as np

    n = len(node.args) - (node.name == "power")
    weights = np.ones(n) if node.weights is None else np.array([constant(weight) for weight in node.weights])
    if node.name != "sum" and abs(weights.sum()) <= 1e-12 * np.abs(weights).sum():
        raise InvalidInput(f"rule: the weights of {printed(node)[:120]} sum to 0; a mean needs a sum other than 0")
    return weights


def present_of(node: Call, stacked: "Floats", missing: Missing) -> "Booleans":
    """(n_args, n_rows) which arguments count: all, or, renormalised, those that are there unless only constants are."""
    import numpy as np

    present = np.ones(stacked.shape, dtype=bool)
    if missing != "renormalise":
        return present
    own = node.args[1:] if node.name == "power" else node.args
    varies = np.array([not is_constant(arg) for arg in own])
    there = ~np.isnan(stacked)
    return np.asarray(there & (there[varies].any(axis=0) | ~varies.any()))


def is_lower(node: Call, at: int, lower: frozenset[str]) -> bool:
    """Whether lower is better in an argument: as the call says, or as its column is declared."""
    stated = dict(node.options).get("direction", "")
    column = node.args[at]
    return stated == "lower" or (not stated and isinstance(column, ColumnRef) and column.name in lower)


def places_of(node: Call) -> int:
    """The decimals that `round` and `trunc` keep.

    Raises:
        InvalidInput: no whole number from -15 to 15.
    """
    places = constant(node.args[1]) if len(node.args) > 1 else 0.0
    if places != int(places) or abs(places) > 15:
        raise InvalidInput(f"rule: {printed(node)[:120]} keeps {places:g} decimals; expected a whole number, -15 to 15")
    return int(places)
