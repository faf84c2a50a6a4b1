"""The image of every row's rounding box under a rule."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.composite.syntax import Missing, Rule
from evenhand.composite.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Image", "image"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Image:
    """Where the rule can lie on each row, given the printed components.

    Attributes:
        low: (n_rows,) nan where the rule has no value.
        high: (n_rows,).
        exact: whether [low, high] is the image itself on every row; else a superset (rejection is proof, acceptance
            is "not refuted").
        reason: why it is not exact; "" where it is.
        signs: per column of the rule +1 (increasing), -1 (decreasing), 0 (neither).
    """

    low: "Floats"
    high: "Floats"
    exact: bool
    reason: str
    signs: "dict[str, int]"


def image(rule: Rule, table: Table, *, missing: Missing | None = None, rounding: str = "nearest") -> Image:
    """[low, high] of the rule over the rounding box of every row.

    Args:
        rounding: of the components, `nearest` or `truncation`.
    """
    raise NotImplementedError
