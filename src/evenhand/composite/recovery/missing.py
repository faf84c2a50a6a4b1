"""What missing cells do: the policies under which a rule also holds on the rows that lack a component."""

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.composite.rule.boxes import image
from evenhand.composite.rule.syntax import Missing, Rule
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["misses", "policies"]

POLICIES: tuple[tuple[Missing, str], ...] = (
    ("renormalise", "left out, the rest weigh as among themselves"),
    (0.0, "counts as 0"),
    (1.0, "counts as 1"),
    (100.0, "counts as 100"),
)


def misses(rule: Rule, table: Table, score: str) -> "NDArray[np.float64]":
    """(n_rows,) by how much the exact test misses each row, + where printed above what the rule allows.

    Infinite where the rule has no value.
    """
    import numpy as np

    lies = image(rule, table)
    low, high = table.column(score).box()
    slack = 1e-9 * (1 + np.abs(high))
    with np.errstate(invalid="ignore"):
        over = np.where(lies.low > high + slack, high - lies.low, 0.0)
        under = np.where(lies.high < low - slack, low - lies.high, 0.0)
    return np.where(np.isnan(lies.low) | np.isnan(lies.high), np.inf, over + under)


def policies(rule: Rule, table: Table, score: str, rows: "NDArray[np.int64]") -> list[tuple[Rule, str]]:
    """The rule under each policy that all of these rows are reproduced by, in the order of `POLICIES`."""
    found = []
    for policy, words in POLICIES:
        told = replace(rule, missing=policy)
        if not misses(told, table, score)[rows].any():
            found.append((told, words))
    return found
