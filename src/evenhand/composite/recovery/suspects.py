"""Rules that hold on all rows but a few: a deduction, a slip, a component that is not shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.composite.recovery.eras import era_values
from evenhand.composite.recovery.forms import POWERS, Form, Problem, misfits
from evenhand.composite.recovery.levels import Found, weighted_on
from evenhand.composite.recovery.subsets import plain_trials, score_scale
from evenhand.composite.recovery.weights import elastic, program
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["near_rules"]

_SHUFFLES = 20


def near_rules(
    problem: Problem, table: Table, eras: Sequence[str], share: float, rng: "np.random.Generator"
) -> "tuple[list[Found], NDArray[np.int64], str]":
    """(rules, places of the rows they do not reproduce, where those stand): the fewest rows first, then the simplest.

    At most `share` of the rows (but one is allowed in any table of eight), or exactly the rows of one value of an era
    column. What fits shuffled scores as well is not reported.
    """
    import numpy as np

    nothing: tuple[list[Found], NDArray[np.int64], str] = ([], np.zeros(0, np.int64), "")
    if problem.n < 8:
        return nothing
    limit = max(1, int(share * problem.n))
    trials = sorted(plain_trials(problem), key=lambda trial: (trial.wrong, *trial.form.size))
    near = [trial for trial in trials if 0 < trial.wrong <= limit]
    if near:
        wrong = near[0].wrong
        chosen = [trial.form for trial in near if trial.wrong == wrong][:5]
        if _by_chance(problem, wrong, rng):
            return nothing
        found = [
            Found(problem=problem, form=form, refit=lambda other: False, complexity=form.size[:2], key=form.size)
            for form in chosen
        ]
        return found, np.flatnonzero(misfits(chosen[0], problem)), ""
    for form in [trial.form for trial in trials if not trial.form.free and trial.wrong <= 0.6 * problem.n][:40]:
        rows = np.flatnonzero(misfits(form, problem))
        told = _one_value(problem, table, eras, rows)
        if told and problem.n - len(rows) >= 6:
            one = Found(problem=problem, form=form, refit=lambda other: False, complexity=form.size[:2], key=form.size)
            return [one], rows, told
    return _elastic(problem, limit) or nothing


def _by_chance(problem: Problem, wrong: int, rng: "np.random.Generator") -> bool:
    """Whether scores in another order come as near to some combination."""
    for _ in range(_SHUFFLES):
        other = problem.scored(rng.permutation(problem.n))
        if min((trial.wrong for trial in plain_trials(other)), default=other.n) <= wrong:
            return True
    return False


def _one_value(problem: Problem, table: Table, eras: Sequence[str], rows: "NDArray[np.int64]") -> str:
    """The value of an era column that all these rows have and no other row has; "" if there is none."""
    if not len(rows):
        return ""
    for name in eras:
        values = era_values(table, name, problem.index)
        for value, places in values.items():
            if len(values) == 2 and set(places.tolist()) >= set(rows.tolist()) and len(rows) >= 0.75 * len(places):
                return f"{name} {value}"
    return ""


def _elastic(problem: Problem, limit: int) -> "tuple[list[Found], NDArray[np.int64], str] | None":
    """Weights by the elastic program, refitted without the rows that need slack."""
    import numpy as np

    if problem.n - limit < 3 * problem.m:
        return None
    axes = tuple(range(problem.m))
    scale = score_scale(problem)
    likes = [Form(kind="power", power=power, axes=axes, scale=scale) for power in POWERS[:3]]
    best: tuple[list[Found], NDArray[np.int64], str] | None = None
    for like in (*likes, Form(kind="sum", axes=axes)):
        if like.power != 1 and (problem.high < 0).any():
            continue
        found = elastic(program(problem, like), problem.n)
        if found is None or not 0 < len(found[1]) <= limit or (best is not None and len(found[1]) >= len(best[1])):
            continue
        kept = np.setdiff1d(np.arange(problem.n), found[1])
        mended = weighted_on(problem.rows(kept), like)
        if mended is not None and mended.form is not None:
            rows = np.flatnonzero(misfits(mended.form, problem))
            best = [replace(mended, problem=problem)], rows, ""
    return best
