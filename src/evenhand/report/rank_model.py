"""What a page needs to re-rank a table in the browser: the rule cut into what the weights move and what they do not.

One node of the rule is live: its outermost weighted aggregate. Its arguments, the gates and every other part are
computed here, once, to one number per row; what is left of the rule is a small tree of arithmetic around the live node,
which the page computes as Python does. So no parser and no rule language is needed in the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from evenhand.composite.clauses import rewritten
from evenhand.composite.rule.coupled import win_shares
from evenhand.composite.rule.evaluate import constant, holds, is_lower, policy_of, values_of, weights_of
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    Conditional,
    Expression,
    Missing,
    Negation,
    Number,
    Rule,
    columns_of,
    walk,
)
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput
from evenhand.report.rank_live import BARE, live_rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Gate", "RankModel", "Tree", "numbers", "rank_model"]

Tree: TypeAlias = Mapping[str, Any]
"""A node as the page takes it: `live`, `gate`, `number`, `rows`, or `op` with `args`."""

_EXPONENTS = {"mean": 1.0, "geomean": 0.0, "hmean": -1.0, "winrate": 1.0}
_ROW_WISE = ("abs", "exp", "log", "log2", "log10", "sqrt", "floor", "ceil", "clamp", "default", "min", "max", "prod")
_TABLE_WISE = ("rank", "percentile", "zscore", "minmax", "colmin", "colmax", "colmean", "colsd")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gate:
    """A factor of the rule that depends on the row, and can be switched off.

    Attributes:
        text: as the rule prints it.
        of: positions of the weighted columns that it looks at.
        values: (n_rows,) the factor.
        n_touched: rows whose score would be another without it.
    """

    text: str
    of: tuple[int, ...]
    values: "Floats"
    n_touched: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankModel:
    """A rule, ready to be weighed anew.

    Attributes:
        labels: (m,) of the weighted columns: the column's name, or the argument as the rule prints it.
        weights: (m,) of the rule, summing to 1.
        aggregator: `power`, `min`, `max` or `median`.
        exponent: of the power mean; 1 is arithmetic, 0 geometric, -1 harmonic.
        components: (m, n_rows) the arguments; nan where missing.
        renormalise: whether missing components are left out of the mean, rather than leave the row without a score.
        gates: factors that can be switched.
        tree: what the rule does with the live aggregate.
        is_linear: whether the tree only multiplies it with positive factors and then rises with it, the same for all
            rows; then the nearest change of leader is exact.
    """

    labels: tuple[str, ...]
    weights: tuple[float, ...]
    aggregator: str
    exponent: float
    components: "Floats"
    renormalise: bool
    gates: tuple[Gate, ...]
    tree: Tree
    is_linear: bool


def rank_model(rule: Rule, table: Table, *, missing: Missing | None = None) -> RankModel:
    """The rule on this table, cut for the page.

    Raises:
        InvalidInput: nothing in the rule is weighed, or two different aggregates are.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> table = Table.of_texts({"a": ["1", "4"], "b": ["4", "9"]})
    >>> model = rank_model(parse_rule("geomean(a: 1, b: 3) * min(1, a / 2)"), table)
    >>> model.labels, model.weights, model.exponent, [gate.of for gate in model.gates]
    (('a', 'b'), (0.25, 0.75), 0.0, [(0,)])
    """
    policy = policy_of(rule, missing)
    whole, live = live_rule(rule, table)
    own = live.args[1:] if live.name == "power" else live.args
    weights = weights_of(live)
    if (weights < 0).any():
        raise InvalidInput(f"rule: {printed(live)[:120]} has a negative weight; a page weighs with 0 or more")
    cutter = _Cutter(table=table, policy=policy, whole=whole, live=live, gates=[])
    tree = cutter.tree(whole)
    return RankModel(
        labels=_labels(own), weights=tuple((weights / weights.sum()).tolist()),
        aggregator=live.name if live.name in BARE else "power",
        exponent=constant(live.args[0]) if live.name == "power" else _EXPONENTS.get(live.name, 1.0),
        components=cutter.components(own), renormalise=policy == "renormalise" or live.name == "winrate",
        gates=tuple(cutter.gates), tree=tree, is_linear=_is_linear(tree, cutter.gates),
    )  # fmt: skip


def _labels(args: Sequence[Expression]) -> tuple[str, ...]:
    """A column's name where it says which argument is meant, else the argument as the rule prints it."""
    short = []
    for arg in args:
        names = columns_of(arg)
        short.append(names[0] if len(names) == 1 else printed(arg))
    return tuple(
        label if short.count(label) == 1 else f"{printed(arg)}" for label, arg in zip(short, args, strict=True)
    )


@dataclass(slots=True, kw_only=True)
class _Cutter:
    """Turns nodes into what the page computes."""

    table: Table
    policy: Missing
    whole: Expression
    live: Call
    gates: list[Gate]

    def tree(self, node: Expression) -> Tree:
        """A node, computed to numbers where the weights cannot reach it."""
        if node == self.live:
            return {"kind": "live"}
        if not any(part == self.live for part in walk(node)):
            return self.fixed(node)
        match node:
            case Binary("*", left, right):
                return {"kind": "op", "op": "*", "args": [self.factor(left), self.factor(right)]}
            case Binary(operator, left, right):
                return {"kind": "op", "op": operator, "args": [self.tree(left), self.tree(right)]}
            case Negation(operand):
                return {"kind": "op", "op": "negate", "args": [self.tree(operand)]}
            case Conditional(condition, then, otherwise):
                if any(part == self.live for part in walk(condition)):
                    raise InvalidInput(f"rule: the page cannot weigh anew what {printed(node)[:120]} asks for first")
                rows = {"kind": "rows", "rows": holds(condition, self.table).astype(float).tolist()}
                return {"kind": "op", "op": "if", "args": [rows, self.tree(then), self.tree(otherwise)]}
            case Call(name, args, _, options) if name in (*_ROW_WISE, *_TABLE_WISE, "round", "trunc"):
                found = {"kind": "op", "op": name, "args": [self.tree(arg) for arg in args]}
                return {**found, "options": dict(options)} if options else found
            case _:
                raise InvalidInput(f"rule: the page cannot weigh anew what stands in {printed(node)[:120]}")

    def factor(self, node: Expression) -> Tree:
        """A factor; one that depends on the row, such as a gate, can be switched."""
        if not columns_of(node) or any(part == self.live for part in walk(node)):
            return self.tree(node)
        own = self.live.args[1:] if self.live.name == "power" else self.live.args
        looks = set(columns_of(node))
        of = tuple(at for at, arg in enumerate(own) if looks & set(columns_of(arg)))
        gate = Gate(text=printed(node), of=of, values=self.values(node), n_touched=self.touched(node))
        self.gates.append(gate)
        return {"kind": "gate", "gate": len(self.gates) - 1}

    def touched(self, node: Expression) -> int:
        """Rows whose score would be another with the factor at 1."""
        import numpy as np

        without = rewritten(self.whole, lambda part: Number(1.0) if part == node else part)
        same = np.isclose(self.values(self.whole), self.values(without), rtol=1e-12, atol=0, equal_nan=True)
        return int(np.count_nonzero(~same))

    def fixed(self, node: Expression) -> Tree:
        """A part that the weights do not move."""
        if not columns_of(node):
            return {"kind": "number", "number": constant(node)}
        return {"kind": "rows", "rows": numbers(self.values(node))}

    def values(self, node: Expression) -> "Floats":
        """(n_rows,) a part's values."""
        names = columns_of(node)
        return values_of(
            node, {name: self.table.column(name).values for name in names},
            texts={name: self.table.column(name).texts for name in names},
            lower=frozenset(name for name in names if self.table.column(name).lower), missing=self.policy,
        )  # fmt: skip

    def components(self, args: Sequence[Expression]) -> "Floats":
        """(m, n_rows) the arguments of the live aggregate; of a win rate the shares of rows beaten."""
        import numpy as np

        n, found = self.table.n_rows, []
        for at, arg in enumerate(args):
            values = np.broadcast_to(self.values(arg), n) if columns_of(arg) else np.full(n, constant(arg))
            if self.live.name == "winrate":
                lower = frozenset(name for name, column in self.table.columns.items() if column.lower)
                ties = dict(self.live.options).get("ties", "half")
                values = win_shares(values, lower=is_lower(self.live, at, lower), ties=ties)
            found.append(values)
        return np.stack(found)


def numbers(values: "Floats") -> list[float | None]:
    """Numbers for the page: null where there is none."""
    return [value if value == value and abs(value) != float("inf") else None for value in values.tolist()]


def _is_linear(tree: Tree, gates: Sequence[Gate]) -> bool:
    """Whether only factors of 0 or more stand around the live node, and around those what rises alike for all rows."""
    node = tree
    while node["kind"] == "op" and (inner := _risen(node)) is not None:
        node = inner
    while node["kind"] == "op" and node["op"] in ("*", "/"):
        left, right = node["args"]
        if _is_positive(right, gates):
            node = left
        elif node["op"] == "*" and _is_positive(left, gates):
            node = right
        else:
            return False
    return bool(node["kind"] == "live")


def _is_positive(node: Tree, gates: Sequence[Gate]) -> bool:
    """Whether a part is a factor above 0 on every row; a gate may be 0."""
    match node["kind"]:
        case "gate":
            return not bool((gates[node["gate"]].values < 0).any())
        case "rows":
            return all(value is None or value > 0 for value in node["rows"])
        case "number":
            return bool(node["number"] > 0)
    return False


def _risen(node: Tree) -> Tree | None:
    """What is inside an operation that rises with it in the same way on every row; None for any other one."""
    args = node["args"]
    numbers_of = [arg for arg in args if arg["kind"] == "number"]
    inner = [arg for arg in args if arg["kind"] != "number"]
    match node["op"]:
        case "+" if len(numbers_of) == 1:
            return inner[0]  # type: ignore[no-any-return]
        case "*" if len(numbers_of) == 1 and numbers_of[0]["number"] > 0:
            return inner[0]  # type: ignore[no-any-return]
        case "-" | "/" | "^" if args[1]["kind"] == "number" and (node["op"] == "-" or args[1]["number"] > 0):
            return args[0]  # type: ignore[no-any-return]
        case "/" if args[1] == {"kind": "op", "op": "colmax", "args": [args[0]]}:
            return args[0]  # type: ignore[no-any-return]
        case "exp" | "log" | "log2" | "log10" | "sqrt" | "percentile":
            return args[0]  # type: ignore[no-any-return]
    return None
