"""A rule as a function of its weights: the score of every system for many weight vectors, and its linear form.

A power mean with row-wise factors orders the systems as a linear function of the weights does. With all weights
summing to 1, per system i and argument j:

    mean        sum w_j a_ij * g_i + d_i            is  w . (g_i a_ij + d_i)
    geomean     prod a_ij^w_j * g_i                 has the logarithm  w . (log a_ij + log g_i)
    power p     (sum w_j a_ij^p)^(1/p) * g_i        has the p-th power  w . (g_i a_ij)^p, order reversed for p < 0

That is what makes possible leaders and nearest flips linear programs, and 100,000 weight vectors one matrix product.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from evenhand.composite.clauses import taken_branches
from evenhand.composite.reweighting.core import PLACE, Core, Step, weighted_core, with_place
from evenhand.composite.rule.coupled import win_shares
from evenhand.composite.rule.evaluate import constant, evaluate, is_lower, numeric_columns, policy_of, values_of
from evenhand.composite.rule.functions import COUPLED
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Binary, Call, Expression, Missing, Rule, columns_of, walk
from evenhand.composite.table import Table
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Gates", "WeightedForm", "argument_of", "mean_of", "weighted_form"]

Gates = Literal["on", "off", "released"]
"""Factors that depend on a row: kept, left out, or left out while all the columns that they name have weight 0."""

_LARGEST = 1e100  # numbers whose sums and products with others of the table cannot overflow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedForm:
    """A rule as a function of its weights.

    Attributes:
        core: the weighted mean and its steps.
        rows: (n,) index in the table of each system that has a score.
        left_out: (index, why) of each row that has none.
        arguments: (n, m) what the mean is taken of, larger being better; nan where a cell is missing and left out.
        operands: per step, (n,) its other side on each row; None for a function of the mean alone.
        reversed: whether a lower score is better.
    """

    core: Core
    rows: "NDArray[np.int64]"
    left_out: tuple[tuple[int, str], ...]
    arguments: "Floats"
    operands: tuple["Floats | None", ...]
    reversed: bool = False
    gates: Gates = "on"
    _kept: dict[str, "Floats | None"] = field(default_factory=dict, repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """(m,) what the weights belong to."""
        return self.core.labels

    @property
    def weights(self) -> "Floats":
        """(m,) the rule's own, summing to 1."""
        import numpy as np

        return np.array(self.core.weights)

    def steps(self, weights: "Floats | None" = None) -> list[tuple[Step, "Floats | None"]]:
        """What is done to the mean, gates left out as `gates` says for these weights (None: weights above 0)."""
        found = []
        for step, operand in zip(self.core.steps, self.operands, strict=True):
            if step.is_gate and self.gates != "on":
                assert step.operand is not None
                named = [at for at, label in enumerate(self.labels) if label in columns_of(step.operand)]
                is_released = weights is not None and bool(named) and all(weights[at] == 0 for at in named)
                if self.gates == "off" or is_released:
                    continue
            found.append((step, operand))
        return found

    def scores(self, weights: "Floats") -> "Floats":
        """(d, n) the scores under (d, m) weights, each summing to 1."""
        import numpy as np

        if self.gates == "released" and (weights == 0).any():
            return np.stack([self._scores(one[None], self.steps(one))[0] for one in weights])
        return self._scores(weights, self.steps())

    def _scores(self, weights: "Floats", steps: Sequence[tuple[Step, "Floats | None"]]) -> "Floats":
        import numpy as np

        found = mean_of(self.arguments, weights, self.core.power) * self.core.total
        with np.errstate(all="ignore"):
            for step, operand in steps:
                found = _applied(step, operand, found)
        return found

    def merits(self, weights: "Floats") -> "Floats":
        """(d, n) what the systems are ranked by, larger being better: the linear form, else the scores."""
        import numpy as np

        linear = self.linear()
        # A weight of 0 releases a gate, and lets a system be whose zero stands in that column.
        if linear is not None and not ((weights == 0).any() and (self.gates == "released" or self.has_zeros)):
            return np.asarray(weights @ linear.T)
        found = self.scores(weights)
        return np.nan_to_num(-found if self.reversed else found, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    @property
    def has_zeros(self) -> bool:
        """Whether an argument of 0 makes a mean 0 whatever the others are."""
        return bool(self.core.power <= 0 and (self.arguments == 0).any())

    def linear(self) -> "Floats | None":
        """(n, m) whose product with the weights orders the systems, larger being better; None where none exists.

        A system that scores 0 whatever the weights, as long as none is 0, has rows far below all others.
        """
        if "linear" not in self._kept:
            self._kept["linear"] = _linear(self)
        return self._kept["linear"]

    def hopeless(self) -> "NDArray[np.bool_]":
        """(n,) systems that score 0, below all others, whatever the weights, as long as none is 0."""
        import numpy as np

        self.linear()
        found = self._kept.get("hopeless")
        return np.zeros(len(self.rows), bool) if found is None else found > 0

    def may_fall(self) -> bool:
        """Whether a larger mean can give a lower score on a row, other than by a factor or a subtraction."""
        import numpy as np

        span: Floats | None = _ends(self) if not np.isnan(self.arguments).any() else None
        for step, operand in self.steps():
            is_known = step.kind not in ("power", "function") or isinstance(step.node, Call)
            if not is_known and _way(step, operand, span) != 1:
                return True
            span = _spanned(step, operand, span)
        return False

    def with_power(self, power: float) -> "WeightedForm":
        """The same rule with another mean."""
        return replace(self, core=replace(self.core, power=power), _kept={})

    def with_gates(self, gates: Gates) -> "WeightedForm":
        """The same rule under another convention for its gates."""
        return replace(self, gates=gates, _kept={})

    @property
    def has_gates(self) -> bool:
        """Whether a factor depends on the row."""
        return any(step.is_gate for step in self.core.steps)


def weighted_form(
    rule: Rule, table: Table, *, missing: Missing | None = None, lower_score: bool = False
) -> WeightedForm:
    """A rule on a table, as a function of its weights.

    Args:
        missing: overrides what the rule says of missing cells.
        lower_score: whether a lower score is better.
    Raises:
        InvalidInput: no weighted mean among the branches that rows take, an unknown column, or no row with a score.
    """
    import numpy as np

    rule = taken_branches(rule, table)
    core = weighted_core(rule)
    columns = numeric_columns(rule, table)
    policy = policy_of(rule, missing)
    texts = {name: table.column(name).texts for name in columns_of(rule)}
    lower = frozenset(name for name in columns if table.columns[name].lower)

    def value(node: Expression) -> "Floats":
        return values_of(node, columns, texts=texts, lower=lower, missing=policy) * np.ones(table.n_rows)

    arguments = np.stack([argument_of(core, at, value, lower) for at in range(len(core.arguments))], axis=1)
    arguments *= np.array(core.signs)
    operands = tuple(None if step.operand is None else value(step.operand) for step in core.steps)
    renormalises = policy == "renormalise" or (core.call is not None and core.call.name == "winrate")
    known = ~np.isnan(arguments)
    usable = known.any(axis=1) if renormalises else known.all(axis=1)
    for step, operand in zip(core.steps, operands, strict=True):
        if operand is not None:
            usable &= np.abs(np.nan_to_num(operand, nan=np.inf)) <= _LARGEST
            usable &= (operand != 0) | (step.kind != "divide")
    if core.power != 1:
        usable &= ~(np.nan_to_num(arguments, nan=0.0) < 0).any(axis=1)
    usable &= ~(np.abs(np.nan_to_num(arguments, nan=0.0)) > _LARGEST).any(axis=1)
    rows = np.flatnonzero(usable)
    if not len(rows):
        raise InvalidInput(f"reweight: no row of {table.source} has a value under {printed(rule)[:120]}")
    reasons = _reasons(rule, table, missing, np.asarray(~usable))
    return WeightedForm(
        core=core, rows=rows, left_out=reasons, arguments=arguments[rows], reversed=lower_score,
        operands=tuple(None if operand is None else operand[rows] for operand in operands),
    )  # fmt: skip


def _reasons(
    rule: Rule, table: Table, missing: Missing | None, without: "NDArray[np.bool_]"
) -> tuple[tuple[int, str], ...]:
    """(index, why) of each row without a score."""
    evaluated = evaluate(rule, table, missing=missing)
    undefined = {one.index: f"{one.reason} in {one.clause}" for one in evaluated.undefined}
    other = {True: "a component is missing", False: f"a number beyond {_LARGEST:g}, or a mean without a value"}
    return tuple(
        (int(row), undefined.get(int(row), other[bool(evaluated.missing[row])])) for row in without.nonzero()[0]
    )


def argument_of(core: Core, at: int, value: Callable[[Expression], "Floats"], lower: frozenset[str]) -> "Floats":
    """One argument on every row; of a win rate, the share of the others that it beats."""
    found = value(core.arguments[at])
    if core.call is None or core.call.name != "winrate":
        return found
    ties = dict(core.call.options).get("ties", "half")
    return win_shares(found, lower=is_lower(core.call, at, lower), ties=ties)


def mean_of(arguments: "Floats", weights: "Floats", power: float) -> "Floats":
    """(d, n) weighted power means of (n, m) arguments under (d, m) weights; missing arguments are left out.

    Args:
        power: -inf is the smallest argument and inf the largest, whatever the weights.
    """
    import numpy as np

    known = ~np.isnan(arguments)
    if power in (float("inf"), float("-inf")):
        filled = np.where(known, arguments, -power)
        best = filled.min(axis=1) if power < 0 else filled.max(axis=1)
        return np.broadcast_to(best, (len(weights), len(arguments))).copy()
    with np.errstate(all="ignore"):
        raised = _raised(arguments, power)
        # A weight of 0 takes its argument out, also where its logarithm is infinite.
        finite = np.where(np.isfinite(raised), raised, 0.0)
        total = weights @ finite.T
        if not known.all():
            total = total / (weights @ known.T.astype(float))
        found = np.exp(total) if power == 0 else total if power == 1 else total ** (1 / power)
        found = found * _scale(arguments, power)
        nothing = known & ~np.isfinite(raised)
        if nothing.any():
            found = np.where((weights > 0).astype(float) @ nothing.T > 0, 0.0, found)
    return np.asarray(found)


def _raised(arguments: "Floats", power: float) -> "Floats":
    """What the mean adds up: the arguments, their logarithms or powers."""
    import numpy as np

    if power == 1:
        return arguments
    with np.errstate(all="ignore"):
        return np.asarray(np.log(arguments) if power == 0 else (arguments / _scale(arguments, power)) ** power)


def _scale(arguments: "Floats", power: float) -> float:
    """What arguments are divided by, so that no power of theirs overflows; a mean of them is multiplied by it again."""
    import numpy as np

    known = arguments[np.isfinite(arguments) & (arguments > 0)]
    if power in (0, 1) or not known.size:
        return 1.0
    return float(known.max() if power > 0 else known.min())


def _applied(step: Step, operand: "Floats | None", found: "Floats") -> "Floats":
    """One step on (d, n) values."""
    import numpy as np

    match step.kind:
        case "add":
            assert operand is not None
            return np.asarray(found + operand)
        case "subtract_from":
            assert operand is not None
            return np.asarray(operand - found)
        case "multiply":
            assert operand is not None
            return np.asarray(found * operand)
        case "divide":
            assert operand is not None
            return np.asarray(found / operand)
        case "power":
            assert operand is not None
            return np.asarray(found**operand)
        case "function":
            assert step.node is not None
            assert step.inside is not None
            node = with_place(step.node, step.inside)
            if _is_coupled(node):  # over the rows of one weight vector
                return np.stack([values_of(node, {PLACE: one}) for one in found])
            return values_of(node, {PLACE: found.ravel()}).reshape(found.shape)


def _is_coupled(node: Expression) -> bool:
    """Whether a value depends on other rows."""
    return any(isinstance(part, Call) and part.name in COUPLED for part in walk(node))


# --- the linear form -----------------------------------------------------------------------------------------------


def _linear(form: WeightedForm) -> "Floats | None":
    """The linear form, by carrying each step into it as long as it can be."""
    import numpy as np

    power = form.core.power
    if np.isnan(form.arguments).any() or not np.isfinite(power):
        return None
    found = _raised(form.arguments, power)
    if power == 1:
        found = form.arguments * form.core.total
    span: Floats | None = _ends(form)
    is_open, is_turned = True, False  # nothing that tells rows apart may follow a rounding or a bend
    for step, operand in form.steps():
        before, span = span, _spanned(step, operand, span)
        if step.kind == "function" and before is not None and span is not None and (span == before).all():
            continue  # a cap that no system can reach under any weights
        carried = _carried(step, operand, found, power) if operand is not None and is_open else None
        if carried is None:
            way = _way(step, operand, before)
            if way == 0:
                return None
            is_open, is_turned = False, is_turned != (way < 0)
            continue
        found = carried
        if step.kind == "power" and power != 0:
            power /= _exponent(step)
            if power == 1:  # from here on addends count, and with them the size
                found = found * _scale(form.arguments, form.core.power) ** form.core.power
    with np.errstate(all="ignore"):
        found = -found if power < 0 else found
        found = np.asarray(-found if form.reversed != is_turned else found)
    if np.isposinf(found).any():  # a factor's power overflows
        return None
    form._kept["hopeless"] = (~np.isfinite(found).all(axis=1)).astype(float)
    return _bounded(found)


def _exponent(step: Step) -> float:
    """The exponent of a `power` step."""
    assert step.operand is not None
    return constant(step.operand)


def _ends(form: WeightedForm) -> "Floats":
    """(2, n) between what each system's mean lies, under all weights."""
    import numpy as np

    found = np.stack([form.arguments.min(axis=1), form.arguments.max(axis=1)]) * form.core.total
    return np.sort(found, axis=0)


def _spanned(step: Step, operand: "Floats | None", span: "Floats | None") -> "Floats | None":
    """(2, n) between what each system's score lies after a step, under all weights; None where that is not known."""
    import numpy as np

    if span is None or (step.node is not None and _is_coupled(step.node)):
        return None
    if step.kind == "power" and (span < 0).any() and _exponent(step) % 2 != 1:
        return None
    with np.errstate(all="ignore"):
        found = np.sort(_applied(step, operand, span), axis=0)
    return found if np.isfinite(found).all() else None


def _way(step: Step, operand: "Floats | None", span: "Floats | None") -> int:
    """1 where a step keeps the order of any two systems, -1 where it turns them round, 0 where it may do neither.

    Args:
        span: (2, n) between what the scores lie before it; None if that is not known.
    """
    if operand is None:
        return int(_rises(step, span))
    by = float(operand[0])
    if set(operand.tolist()) != {by}:
        return 0
    match step.kind:
        case "add":
            return 1
        case "subtract_from":
            return -1
        case "power":
            return int(by > 0 and (by % 2 == 1 or (span is not None and bool((span >= 0).all()))))
        case _:
            return int(by > 0) - int(by < 0)


def _rises(step: Step, span: "Floats | None") -> bool:
    """Whether a function never makes two systems equal or turns them round, but for a rounding of what is shown.

    A cap or floor that some weights reach makes ties, and a logarithm of 0 or less nothing.
    """
    match step.node:
        case Call("exp" | "percentile" | "minmax" | "zscore" | "round" | "trunc"):
            return True
        case Call("sqrt"):
            return span is not None and bool((span >= 0).all())
        case Call("log" | "log2" | "log10"):
            return span is not None and bool((span > 0).all())
        case Binary() as node if step.inside is not None:
            return _increases(node, step.inside, span)
        case _:
            return False


def _increases(node: Expression, inside: Expression, span: "Floats | None") -> bool:
    """Whether an expression is part of itself, shifted and scaled alike on all rows: `100 * x / colmax(x)`."""
    if node == inside:
        return True
    match node:
        case Binary("+" | "-", left, right) if _is_one_number(right):
            return _increases(left, inside, span)
        case Binary("+", left, right) if _is_one_number(left):
            return _increases(right, inside, span)
        case Binary("*", left, right) if not columns_of(left):
            return constant(left) > 0 and _increases(right, inside, span)
        case Binary("*" | "/", left, right) if not columns_of(right):
            return constant(right) > 0 and _increases(left, inside, span)
        case Binary("/", left, Call("colsd")):
            return _increases(left, inside, span)
        case Binary("/", left, Call("colmax", (own,))) if own == inside:
            return span is not None and bool((span[0] > 0).any()) and _increases(left, inside, span)
        case _:
            return False


def _is_one_number(node: Expression) -> bool:
    """Whether an expression is the same on all rows: a constant, or a figure of a whole column."""
    return not columns_of(node) or (isinstance(node, Call) and node.name in ("colmin", "colmax", "colmean", "colsd"))


def _carried(step: Step, operand: "Floats", found: "Floats", power: float) -> "Floats | None":
    """The linear form after one step; None where it ends to be linear."""
    import numpy as np

    column = operand[:, None]
    with np.errstate(all="ignore"):
        if step.kind == "divide":
            column, operand = 1 / column, 1 / operand
        if power == 1:
            match step.kind:
                case "add":
                    return np.asarray(found + column)
                case "subtract_from":
                    return np.asarray(column - found)
                case "multiply" | "divide":
                    return np.asarray(found * column)
                case _:
                    return found if (found >= 0).all() else None
        if step.kind in ("multiply", "divide") and (operand >= 0).all():
            return np.asarray(found + np.log(column) if power == 0 else found * column**power)
        if step.kind == "power":
            return np.asarray(found * column if power == 0 else found)
    return None


def _bounded(found: "Floats") -> "Floats":
    """Rows with an infinite entry (a score of 0 whatever the weights) put below all others, in numbers that add."""
    import numpy as np

    finite: NDArray[np.bool_] = np.asarray(np.isfinite(found).all(axis=1))
    if finite.all():
        return found
    if not finite.any():
        return np.zeros_like(found)
    low, high = float(found[finite].min()), float(found[finite].max())
    return np.where(finite[:, None], found, low - 1e6 * (1 + high - low))
