"""A rule's value on every row, vectorised over rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.syntax import Missing, Node, Rule
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Evaluation", "Undefined", "evaluate", "values_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """A row on which a clause has no value.

    Attributes:
        index: of the row in the table, from 0.
        reason: `division by zero`, `logarithm of 0`, ...
        clause: the clause, printed.
    """

    index: int
    reason: str
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """Attributes.

    values: (n_rows,) nan where a component is missing or the rule is undefined.
    missing: (n_rows,) rows without a value because a component is missing.
    undefined: rows without a value because of arithmetic, with the clause.
    """

    values: "Floats"
    missing: "NDArray[np.bool_]"
    undefined: tuple[Undefined, ...]


def evaluate(rule: Rule, table: Table, *, missing: Missing | None = None) -> Evaluation:
    """The rule on the printed numbers; `missing` overrides what the rule says, `drop` if neither says anything."""
    raise NotImplementedError


def values_of(
    node: "Node | Rule",
    values: "Mapping[str, Floats]",
    *,
    texts: Mapping[str, Sequence[str]] | None = None,
    lower: frozenset[str] = frozenset(),
    missing: Missing | None = None,
) -> "Floats":
    """The rule on bare columns (column name -> (n_rows,) or any one broadcastable shape); nan where undefined.

    Row-coupled functions couple along the last axis.
    """
    raise NotImplementedError
