"""Rules that couple rows: ranks, percentiles, win rates, normalisers, shares of the best."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import Problem, tolerance
from evenhand.composite.recovery.levels import Found
from evenhand.composite.rule.boxes import image
from evenhand.composite.rule.evaluate import evaluate
from evenhand.composite.rule.syntax import Binary, Call, ColumnRef, Expression, Number, Rule
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["coupled_level", "shares_of_best"]


def coupled_level(problem: Problem, table: Table) -> list[Found]:
    """Rules over the whole table, tried as they are printed, and kept if the rounding does not refute them."""
    return _not_refuted(_rules(problem), problem, table)


def shares_of_best(problem: Problem, table: Table) -> list[Found]:
    """Means of shares of the best, and shares of the best mean: on one table, each is a weighted sum as well."""
    return _not_refuted(_of_best(problem), problem, table) if problem.m > 1 else []


def _not_refuted(rules: Iterable[Rule], problem: Problem, table: Table) -> list[Found]:
    import numpy as np

    some = table.where(problem.index)
    found = []
    for number, rule in enumerate(rules):
        values = evaluate(rule, some, missing=problem.missing).values
        with np.errstate(invalid="ignore"):
            fine = (values >= problem.score_low - tolerance(problem)) & (
                values <= problem.score_high + tolerance(problem)
            )
        if not fine.all():
            continue
        lies = image(rule, some, missing=problem.missing)
        if ((lies.low > problem.score_high + 1e-9) | (lies.high < problem.score_low - 1e-9)).any():
            continue
        key = (0, 1, number, 0)
        refit = _printed_refit(values)
        found.append(Found(problem=problem, form=None, rule=rule, refit=refit, complexity=(0, 1), key=key))
    return found


def _printed_refit(values: "Floats") -> Callable[[Problem], bool]:
    """Nothing is fitted: do the same values print as other scores? Rows are known by their place."""
    import numpy as np

    def refit(other: Problem) -> bool:
        if other.n != len(values):
            return True
        return bool(np.all((values >= other.score_low - 1e-9) & (values <= other.score_high + 1e-9)))

    return refit


def _rules(problem: Problem) -> Iterator[Rule]:
    """Ranks and percentiles of each column, then normalised columns combined, then combinations ranked."""
    columns = _columns(problem)
    whole: Expression = Call("mean", columns) if len(columns) > 1 else columns[0]
    for inside in (*columns, *((whole, Call("geomean", columns)) if len(columns) > 1 else ())):
        yield from _ranked(inside)
    for ties in ("", "lose", "win"):
        win = Call("winrate", columns, None, (("ties", ties),) if ties else ())
        yield Rule(win)
        yield Rule(_times(100.0, win))
    for name in ("minmax", "percentile", "zscore", "rank"):
        for options in ((), (("direction", "lower"),)):
            normal = tuple(Call(name, (column,), None, options) for column in columns)
            for mean in ("mean", "sum") if len(columns) > 1 else ():
                yield Rule(Call(mean, normal))
                yield Rule(_times(100.0, Call(mean, normal)))
    yield from _of_best(problem)
    logs = tuple(Call("log", (column,)) for column in columns)
    for inside in (Call("mean", logs) if len(logs) > 1 else logs[0], Call("sum", logs) if len(logs) > 1 else logs[0]):
        yield Rule(inside)


def _columns(problem: Problem) -> tuple[ColumnRef, ...]:
    """The axes that are one column each."""
    return tuple(ColumnRef(axis.parts[0]) for axis in problem.axes if len(axis.parts) == 1)


def _of_best(problem: Problem) -> Iterator[Rule]:
    """Means of each column's share of its best, and each mean's share of the best one; of 1, and of 100."""
    columns = _columns(problem)
    shares = tuple(Binary("/", column, Call("colmax", (column,))) for column in columns)
    for mean in ("mean", "geomean", "hmean") if len(columns) > 1 else ():
        inside = Call(mean, columns)
        for whole in (Call(mean, shares), Binary("/", inside, Call("colmax", (inside,)))):
            yield Rule(whole)
            yield Rule(_times(100.0, whole))


def _ranked(inside: Expression) -> Iterator[Rule]:
    for ties in ("", "max", "mean"):
        for direction in ("", "lower"):
            options = (*((("direction", direction),) if direction else ()), *((("ties", ties),) if ties else ()))
            yield Rule(Call("rank", (inside,), None, options))
    for direction in ("", "lower"):
        yield Rule(Call("percentile", (inside,), None, (("direction", direction),) if direction else ()))


def _times(factor: float, inside: Expression) -> Expression:
    return Binary("*", Number(factor), inside)
