"""What is the rule of a composite score? A search from cheap families to dear ones, and how far its result can be told.

A rule is accepted only if every row's rounding box maps into its score's interval; nothing is fitted in the sense of
small residuals. All survivors of the first level that has any are reported.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.composite.recovery.coupled import coupled_level, shares_of_best
from evenhand.composite.recovery.eras import eras_level
from evenhand.composite.recovery.forms import Axis, Problem
from evenhand.composite.recovery.groups import grouped
from evenhand.composite.recovery.levels import Found, axis_clauses, gates, plain, weights
from evenhand.composite.recovery.missing import misses
from evenhand.composite.recovery.mixed import weights_with_clauses
from evenhand.composite.recovery.report import RecoverSettings, Scene, refused, rule_found, survived, too_few
from evenhand.composite.recovery.rescaled import rescaled
from evenhand.composite.recovery.results import Recovery
from evenhand.composite.recovery.subsets import plain_trials, score_scale
from evenhand.composite.table import Table, comma_hint
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["recover"]

_MOST = 200  # survivors that are looked at
_FEW = 4  # rows with every component, below which a search means nothing


def recover(
    table: Table,
    score: str,
    *,
    columns: Sequence[str] | None = None,
    eras: Sequence[str] = (),
    settings: RecoverSettings | None = None,
) -> Recovery:
    """The rules of the family that hold on every row of a table.

    Args:
        table: components and score as printed.
        score: column of the composite.
        columns: the components; None takes every column with numbers but the score and the eras.
        eras: columns by whose values the rule may differ (a year, a grader).
        settings: seed, shuffles, policy of missing cells.
    Raises:
        InvalidInput: no such column; no component; a score without any number.
    """
    wanted = settings or RecoverSettings()
    components = _components(table, score, columns, eras)
    problem, rows, notes = _problem(table, score, components, wanted)
    if problem.n < _FEW:
        return too_few(table, problem, tuple(notes))
    scene = Scene(table=table, score=score, problem=problem, usable=rows, eras=tuple(eras), notes=tuple(notes))
    for level, some in _levels(problem, table, score, eras):
        found = _proven(some, table, score)
        if found:
            return survived(scene, level, found, wanted)
    return refused(scene, wanted)


def _components(table: Table, score: str, columns: Sequence[str] | None, eras: Sequence[str]) -> tuple[str, ...]:
    """The columns searched."""
    import numpy as np

    numbers = table.column(score).values
    if not np.isfinite(numbers).any():
        raise InvalidInput(f"{table.source}: the score column {score!r} holds no number in any of {table.n_rows} rows")
    if columns is not None:
        for name in columns:
            table.column(name)
        found = tuple(name for name in dict.fromkeys(columns) if name != score)
    else:
        found = tuple(n for n, c in table.columns.items() if c.is_numeric and n != score and n not in eras)
    if not found:
        firsts = [text for column in table.columns.values() for text in column.texts[:1]]
        raise InvalidInput(
            f"{table.source}: no column of numbers besides the score {score!r}; there is nothing to combine"
            + next(filter(None, map(comma_hint, firsts)), "")
        )
    return found


def _problem(
    table: Table, score: str, components: Sequence[str], wanted: RecoverSettings
) -> "tuple[Problem, NDArray[np.int64], list[str]]":
    """The rows that are searched: a finite score, and every component (or as the policy says)."""
    import numpy as np

    known = np.isfinite(table.column(score).values)
    values = np.array([table.column(name).values for name in components]).T
    usable = known & ~np.isinf(values).any(axis=1)
    fill = wanted.missing if isinstance(wanted.missing, float | int) else None
    complete = usable & (~np.isnan(values).any(axis=1) | (fill is not None))
    low, high = (np.array(side).T for side in zip(*(table.column(name).box() for name in components), strict=True))
    if fill is not None:
        low, high, values = (np.where(np.isnan(values), fill, side) for side in (low, high, values))
    low = np.where((values >= 0) & (low < 0), 0.0, low)
    ends = table.column(score).box()
    place = np.flatnonzero(complete)
    notes = []
    if (~known).any():
        notes.append(f"{int((~known).sum())} of {table.n_rows} rows have no finite score and are left out")
    if (known & ~usable).any():
        notes.append(f"{int((known & ~usable).sum())} rows with an infinite component are left out")
    problem = Problem(
        axes=tuple(Axis(name, (name,)) for name in components), low=low[place], high=high[place], middle=values[place],
        score_low=ends[0][place], score_high=ends[1][place], index=place, missing=fill,
    )  # fmt: skip
    same = (problem.middle == problem.middle[:1]).all(axis=0)
    constant = [name for name, is_same in zip(components, same.tolist(), strict=True) if is_same and problem.n]
    if constant and problem.n > 1:
        notes.append(f"the same number in every row, so that its part cannot be told: {', '.join(constant)}")
    return problem, np.flatnonzero(usable), notes


def _levels(problem: Problem, table: Table, score: str, eras: Sequence[str]) -> "Iterator[tuple[str, list[Found]]]":
    """Each level's survivors, computed when asked for."""
    trials = plain_trials(problem)
    scale = score_scale(problem)
    yield "equal weights", plain(problem, trials)
    for other in grouped(problem):
        yield "nested groups", plain(other, plain_trials(other))
    weighed = weights(problem, trials, scale)
    simpler = shares_of_best(problem, table) if any(one.form and one.form.kind == "sum" for one in weighed) else []
    yield "weights, floors and caps", [*weighed, *simpler, *axis_clauses(problem, trials)]
    yield "gates", gates(problem, trials)
    yield "gates with a floor", gates(problem, trials, floors=(1.0, 0.1, 0.01, 0.5, 5.0, 10.0))
    yield "normalised or row-coupled", coupled_level(problem, table)
    yield "rescaled", rescaled(problem, trials)
    yield "weights with clauses", weights_with_clauses(problem, scale)
    yield "eras", eras_level(problem, table, eras, scale)


def _proven(found: list[Found], table: Table, score: str) -> list[Found]:
    """Those whose rule passes the exact rounding test of the rule language, each once, simplest first.

    Rules that merely agree on this table stay apart: that they cannot be told from each other is a finding.
    """
    kept: list[Found] = []
    seen: set[tuple[object, ...]] = set()
    for one in sorted(found, key=lambda one: one.key):
        if len(kept) >= _MOST:
            break
        key = _linear_key(one)
        if key in seen or misses(rule_found(one), table.where(one.problem.index), score).any():
            continue
        seen |= {key} if key is not None else set()
        kept.append(one)
    return kept


def _linear_key(found: Found) -> tuple[object, ...] | None:
    """What a weighted sum comes to, since a sum and a scaled mean can be one function; None for other rules."""
    form = found.form
    if form is None or form.gates or form.floors or form.caps or form.shift:
        return None
    if form.kind != "sum" and (form.kind, form.power) != ("power", 1.0):
        return None
    plain = 1.0 if form.kind == "sum" else 1 / len(form.axes)
    weights = form.weights or (plain,) * len(form.axes)
    axes = tuple(found.problem.axes[axis].parts for axis in form.axes)
    return axes, tuple(round(form.scale * weight, 9) for weight in weights)
