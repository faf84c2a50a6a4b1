"""The image of every row's rounding box under a rule: where the score can lie, given how the components were printed.

For a rule that is continuous and monotone in each column the image is [f(low corner), f(high corner)] and the test that
rests on it is exact. Elsewhere it is a superset: a rejection is proof, an acceptance only "not refuted".
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.rule.arithmetic import rounded
from evenhand.composite.rule.coupled import coupled_bounds, win_shares_bounds
from evenhand.composite.rule.evaluate import (
    arithmetic_columns,
    constant,
    evaluate,
    is_lower,
    numeric_columns,
    places_of,
    policy_of,
    present_of,
    weights_of,
)
from evenhand.composite.rule.functions import COUPLED, is_constant
from evenhand.composite.rule.intervals import (
    EITHER,
    Interval,
    extremes,
    hull,
    magnitude,
    mean_of,
    monotone,
    negated,
    power,
    product,
    quotient,
    total,
)
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
    walk,
)
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["Image", "image"]

_STEPS = ("floor", "ceil", "round", "trunc")
_SLACK = 1e-12  # relative: a step must not be missed by an ulp


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Image:
    """Where the rule can lie on each row, given the printed components.

    Attributes:
        low: (n_rows,) nan where the rule has no value.
        high: (n_rows,).
        is_exact: (n_rows,) where [low, high] is the image itself, and not a superset of it.
        reason: why it is not exact on every row; "" where it is.
        signs: per column of the rule +1 (never falls), -1 (never rises), 0 (does not matter), 2 (may do either).
    """

    low: "Floats"
    high: "Floats"
    is_exact: "Booleans"
    reason: str
    signs: Mapping[str, int]


def image(rule: Rule, table: Table, *, missing: Missing | None = None, rounding: str = "nearest") -> Image:
    """[low, high] of the rule over the rounding box of every row.

    A column that only stands in conditions (a year, a grader) is a label: its printed value is taken as it is. In a
    column without negative numbers no box reaches below 0.

    Args:
        rule: its columns must be in the table.
        table: columns declared exact have no box.
        missing: as in `evaluate`.
        rounding: of the components, `nearest` or `truncation`.
    Raises:
        InvalidInput: as `evaluate`.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> found = image(parse_rule("a * min(1, (a / 50)^2)"), Table.of_texts({"a": ["40"]}))
    >>> round(float(found.low[0]), 3), round(float(found.high[0]), 3), bool(found.is_exact[0])
    (24.652, 26.572, True)
    """
    import numpy as np

    scene = _scene(rule, table, missing, rounding)
    with np.errstate(all="ignore"):
        found = _never_lost(scene.value(rule.expression), rule, table, missing)
    counts = Counter(node.name for node in walk(rule.expression) if isinstance(node, ColumnRef))
    wide = {name: high > low for name, (low, high) in scene.boxes.items()}
    strays = np.zeros(table.n_rows, dtype=bool)
    for name, sign in found.signs.items():
        if name in wide:
            strays |= (sign == EITHER) & wide[name]
    once = all(counts[name] == 1 for name in scene.boxes)
    is_exact = ~found.loose & (~strays | once)
    return Image(
        low=found.low, high=found.high, is_exact=is_exact | (found.low == found.high),
        reason="" if is_exact.all() else _reason(rule.expression), signs=_overall(rule, found, scene),
    )  # fmt: skip


def _never_lost(found: Interval, rule: Rule, table: Table, missing: Missing | None) -> Interval:
    """Ends that arithmetic lost (an infinity less an infinity) are open, on rows where the rule has a value."""
    import numpy as np

    lost = np.isnan(found.low) | np.isnan(found.high)
    if lost.any():
        lost &= np.isfinite(evaluate(rule, table, missing=missing).values)
    return found.with_ends(np.where(lost, -np.inf, found.low), np.where(lost, np.inf, found.high), loose=lost)


def _scene(rule: Rule, table: Table, missing: Missing | None, rounding: str) -> "_Scene":
    """The boxes of the columns that are computed with, and the labels.

    A column without a negative number has none: its 0 is nothing below 0, which would have been printed as -0.
    """
    import numpy as np

    policy = policy_of(rule, missing)
    arithmetic = arithmetic_columns(rule.expression)
    boxes, labels = {}, {}
    for name, values in numeric_columns(rule, table).items():
        gaps = np.isnan(values)
        ends = [np.where(np.isfinite(values), end, np.nan) for end in table.columns[name].box(rounding)]
        if not (values < 0).any():
            ends[0] = np.maximum(ends[0], 0.0)
        if isinstance(policy, float | int):
            ends, values = [np.where(gaps, policy, end) for end in ends], np.where(gaps, policy, values)
        if name in arithmetic:
            boxes[name] = ends[0], ends[1]
        else:
            labels[name] = values
    return _Scene(rule=rule, table=table, boxes=boxes, labels=labels, policy=policy)


def _overall(rule: Rule, found: Interval, scene: "_Scene") -> Mapping[str, int]:
    """One sign per column, over all rows; labels may do either."""
    signs = {}
    for name in columns_of(rule):
        seen = set(found.signs[name].tolist()) - {0} if name in found.signs else set()
        signs[name] = EITHER if name in scene.labels or len(seen) > 1 else next(iter(seen), 0)
    return signs


def _reason(node: Expression) -> str:
    """What in a rule makes its image a superset."""
    calls = {part.name for part in walk(node) if isinstance(part, Call)}
    if calls & set(COUPLED):
        return f"{', '.join(sorted(calls & set(COUPLED)))} couples the rows"
    if calls & set(_STEPS):
        return f"{', '.join(sorted(calls & set(_STEPS)))} is not continuous"
    if any(isinstance(part, Conditional) for part in walk(node)):
        return "a condition can fall either way within the rounding"
    counts = Counter(part.name for part in walk(node) if isinstance(part, ColumnRef))
    if max(counts.values(), default=0) == 1:
        return "a divisor can have either sign within the rounding"
    return "a column stands in it more than once and moves it both ways"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """What a rule's image is computed on."""

    rule: Rule
    table: Table
    boxes: "Mapping[str, tuple[Floats, Floats]]"
    labels: "Mapping[str, Floats]"
    policy: Missing

    def value(self, node: Expression) -> Interval:
        """The interval of a node."""
        match node:
            case Number(value):
                return Interval.of_constant(value, self.table.n_rows)
            case ColumnRef(name):
                return self.column(name)
            case Negation(operand):
                return negated(self.value(operand))
            case Binary("^", left, right):
                fixed = constant(right) if is_constant(right) else None
                return power(self.value(left), self.value(right), fixed)
            case Binary(operator, left, right):
                x, y = self.value(left), self.value(right)
                if operator == "-":
                    return total(x, negated(y))
                return {"+": total, "*": product, "/": quotient}[operator](x, y)
            case Conditional(condition, then, otherwise):
                swayed = [name for name in columns_of(condition) if name in self.boxes]
                return hull(self.value(then), self.value(otherwise), self.truth(condition), swayed)
            case Call():
                return self.call(node)
            case Text():
                raise InvalidInput("rule: a text stands where a number is computed")

    def column(self, name: str) -> Interval:
        """A column's box, which rises with itself."""
        import numpy as np

        n = self.table.n_rows
        low, high = self.boxes[name] if name in self.boxes else (self.labels[name], self.labels[name])
        return Interval(low=low, high=high, signs={name: np.ones(n, dtype=np.int8)}, loose=np.zeros(n, dtype=bool))

    def call(self, node: Call) -> Interval:
        """The interval of a function."""
        import numpy as np

        args = [self.value(arg) for arg in node.args]
        x = args[0]
        match node.name:
            case "abs":
                return magnitude(x)
            case "log" | "log2" | "log10" | "sqrt":
                return _of_positive(node.name, x)
            case "exp":
                return monotone(x, np.exp(x.low), np.exp(x.high))
            case "floor" | "ceil" | "round" | "trunc":
                return _step(node, x)
            case "clamp":
                everywhere = np.ones((2, self.table.n_rows), dtype=bool)
                return extremes("min", (extremes("max", (x, args[1]), everywhere), args[2]), everywhere)
            case "default":
                gaps = np.isnan(x.low)
                return hull(args[1], x, (gaps, ~gaps), ())
            case "winrate":
                return self.winrate(node, args)
            case name if name in COUPLED:
                return self.over_rows(node, x)
            case _:
                return self.aggregate(node, args)

    def aggregate(self, node: Call, args: list[Interval]) -> Interval:
        """A mean, extreme, sum or product of the arguments."""
        import numpy as np

        own = args[1:] if node.name == "power" else args
        present = present_of(node, np.stack([arg.low for arg in own]), self.policy)
        exponent = constant(node.args[0]) if node.name == "power" else 1.0
        return mean_of(node.name, own, weights_of(node), present, exponent=exponent)

    def over_rows(self, node: Call, x: Interval) -> Interval:
        """A row-coupled function: the bounds of what it can be."""
        ties = dict(node.options).get("ties", "")
        lower = is_lower(node, 0, self.lower)
        low, high = coupled_bounds(node.name, x.low, x.high, lower=lower, ties=ties)
        return x.with_ends(low, high, loose=high > low).unsure()

    def winrate(self, node: Call, args: list[Interval]) -> Interval:
        """The mean of the columns' win shares; columns that a row lacks are left out."""
        import numpy as np

        ties = dict(node.options).get("ties", "half")
        shares = []
        for at, arg in enumerate(args):
            low, high = win_shares_bounds(arg.low, arg.high, lower=is_lower(node, at, self.lower), ties=ties)
            shares.append(arg.with_ends(low, high, loose=high > low).unsure())
        present = ~np.isnan(np.stack([share.low for share in shares]))
        return mean_of("mean", shares, weights_of(node), present, exponent=1.0)

    @property
    def lower(self) -> frozenset[str]:
        """Columns declared lower-is-better."""
        return frozenset(name for name, column in self.table.columns.items() if column.lower)

    def truth(self, node: Condition) -> "tuple[Booleans, Booleans]":
        """(n_rows,) each: where a condition can hold, and where it can fail."""
        import numpy as np

        match node:
            case Logic("not", (operand,)):
                can, cannot = self.truth(operand)
                return cannot, can
            case Logic(operator, args):
                found = [self.truth(arg) for arg in args]
                both, some = np.logical_and.reduce, np.logical_or.reduce
                holds, fails = (both, some) if operator == "and" else (some, both)
                return np.asarray(holds([can for can, _ in found])), np.asarray(fails([not_ for _, not_ in found]))
            case Comparison("missing", left, _):
                assert isinstance(left, ColumnRef)
                gaps = np.asarray(np.isnan(self.table.column(left.name).values))
                return gaps, ~gaps
            case Comparison(operator, left, right) if isinstance(left, Text) or isinstance(right, Text):
                return self.same_text(left, right, operator)
            case Comparison(operator, left, right):
                return _compared(operator, self.value(left), self.value(right))

    def same_text(self, left: Expression, right: Expression, operator: str) -> "tuple[Booleans, Booleans]":
        """A column's text against a constant."""
        import numpy as np

        text, column = (left, right) if isinstance(left, Text) else (right, left)
        assert isinstance(text, Text)
        assert isinstance(column, ColumnRef)
        same = np.array([cell == text.value for cell in self.table.column(column.name).texts], dtype=bool)
        return (same, ~same) if operator == "==" else (~same, same)


def _compared(operator: str, x: Interval, y: Interval) -> "tuple[Booleans, Booleans]":
    """Where a comparison of two intervals can hold, and where it can fail; a missing side fails it."""
    import numpy as np

    if operator in (">", ">="):
        return _compared({">": "<", ">=": "<="}[operator], y, x)
    if operator in ("==", "!="):
        can = (x.low <= y.high) & (y.low <= x.high)
        cannot = ~((x.low == x.high) & (y.low == y.high) & (x.low == y.low))
    elif operator == "<":
        can, cannot = x.low < y.high, x.high >= y.low
    else:
        can, cannot = x.low <= y.high, x.high > y.low
    if operator == "!=":
        can, cannot = cannot, can
    gaps = np.isnan(x.low) | np.isnan(y.low)
    return np.asarray(can & ~gaps), np.asarray(cannot | gaps)


def _of_positive(name: str, x: Interval) -> Interval:
    """A logarithm or root, on the part of x where it has a value."""
    import numpy as np

    function = getattr(np, name)
    nothing = (x.high < 0) if name == "sqrt" else (x.high <= 0)
    low, high = function(np.maximum(x.low, 0.0)), function(np.maximum(x.high, 0.0))
    return x.with_ends(np.where(nothing, np.nan, low), np.where(nothing, np.nan, high))


def _step(node: Call, x: Interval) -> Interval:
    """A rounding to steps; a point stays a point."""
    import numpy as np

    places = places_of(node) if node.name in ("round", "trunc") else 0
    slack = np.where(x.high > x.low, _SLACK * np.maximum(np.abs(x.low), np.abs(x.high)), 0.0)
    ends = []
    for end in (x.low - slack, x.high + slack):
        if node.name in ("floor", "ceil"):
            ends.append(getattr(np, node.name)(end))
        else:
            ends.append(rounded(node.name, end, places))
    return x.with_ends(ends[0], ends[1], loose=ends[1] > ends[0])
