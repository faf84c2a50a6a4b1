"""How far a survivor may be trusted: would the same structure have fitted scores that mean nothing?"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from evenhand.composite.recovery.forms import Problem, tolerance

if TYPE_CHECKING:
    import numpy as np

__all__ = ["contradiction", "shuffles_accepted"]

_ROWS = 120
"""Rows on which a shuffle is tried first: what fails on some of the rows fails on all."""


def shuffles_accepted(
    problem: Problem,
    refit: Callable[[Problem], bool],
    rng: "np.random.Generator",
    *,
    count: int,
    rising: bool,
    stop: int,
) -> tuple[int, int]:
    """(accepted, tried): to how many shuffles of the scores the same structure can be fitted.

    Args:
        refit: whether the structure can be fitted to a problem.
        count: shuffles at most.
        rising: whether the structure never falls in an axis, so that a row which dominates must not score less.
        stop: ends once so many were accepted.
    """
    import numpy as np

    accepted = 0
    few = np.linspace(0, problem.n - 1, min(problem.n, _ROWS)).astype(int)
    below, above = _dominance(problem.rows(few)) if rising else (None, None)
    for number in range(count):
        other = problem.scored(rng.permutation(problem.n))
        some = other.rows(few)
        if below is not None and (some.score_high[above] < some.score_low[below] - tolerance(some)[below]).any():
            continue
        small = other.rows(few[:: max(1, len(few) // 24)])
        if small.n < problem.n and not refit(small):
            continue
        accepted += refit(other)
        if accepted >= stop:
            return accepted, number + 1
    return accepted, count


def _dominance(problem: Problem) -> "tuple[np.ndarray, np.ndarray]":
    """(dominated, dominating): pairs of rows where one's lower corner is at least the other's upper corner."""
    import numpy as np

    over = np.ones((problem.n, problem.n), bool)
    for axis in range(problem.m):
        over &= problem.low[:, axis][:, None] >= problem.high[:, axis][None, :]
    np.fill_diagonal(over, False)
    above, below = np.nonzero(over)
    return below, above


def contradiction(problem: Problem, falling: "np.ndarray", exact: "np.ndarray") -> tuple[int, int, str] | None:
    """Two rows which prove that no rule can hold, and why.

    Args:
        falling: (m,) axes where lower is better.
        exact: (m,) axes whose numbers have no box.
    Returns:
        (row, other row, reason) as places of the problem, the dominating row first; None where nothing is proven.
    """
    import numpy as np

    slack = tolerance(problem)
    if exact.all():
        keys: dict[tuple[float, ...], list[int]] = {}
        for row in range(problem.n):
            keys.setdefault(tuple(problem.low[row]), []).append(row)
        for rows in keys.values():
            first, last = min(rows, key=problem.score_high.__getitem__), max(rows, key=problem.score_low.__getitem__)
            if problem.score_high[first] + slack[first] < problem.score_low[last]:
                return last, first, "equal"
    sign = np.where(falling, -1.0, 1.0)
    low, high = np.where(falling, problem.high, problem.low) * sign, np.where(falling, problem.low, problem.high) * sign
    order = np.argsort(problem.score_high, kind="stable")
    for row in order[: min(problem.n, 4000)]:
        beaten = (low[row] >= high).all(axis=1) & (problem.score_high[row] + slack[row] < problem.score_low)
        if beaten.any():
            return int(row), int(np.flatnonzero(beaten)[0]), "dominated"
    return None
