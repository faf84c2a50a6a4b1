"""The rounding test: can a number that lies in this interval have been printed as this score?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand.composite.table import Column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["ROUNDINGS", "Misfit", "Rounding", "misfit", "score_interval"]

Rounding = Literal["half-up", "half-even", "truncation", "truncation throughout"]
ROUNDINGS: tuple[Rounding, ...] = ("half-up", "half-even", "truncation", "truncation throughout")
"""How a score can have been printed, the usual first: halves away from zero, halves to the even digit, digits cut off
(of the score, or of the components as well)."""

_SLACK = 1e-12  # relative; floating point computes a rule to within some ulps, and prints 62.45 as 62.4500000000000028


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Misfit:
    """How each row fares.

    Attributes:
        violated: (n_rows,) no number in the interval is printed as the score.
        excess: (n_rows,) by how much the score's own interval is missed: above 0 where the score is printed above what
            the rule allows, below 0 where below; 0 where it fits, or fails on the edge alone.
    """

    violated: "Booleans"
    excess: "Floats"


def score_interval(score: Column, rounding: Rounding = "half-up") -> tuple["Floats", "Floats"]:
    """(low, high) of the numbers that are printed as each score, edges included."""
    return score.box("nearest" if rounding.startswith("half") else "truncation")


def misfit(low: "Floats", high: "Floats", score: Column, rounding: Rounding = "half-up") -> Misfit:
    """Whether [low, high] meets the numbers that are printed as the score.

    Edges count as met, unless [low, high] is one number: then it has to be printed as the score under the very
    rounding, so that 62.5 is 63 half-up, and 62 half-even.

    Args:
        low: (n_rows,) nan where the rule has no value; such rows are not violated.
        high: (n_rows,).
        score: its printed values.

    >>> import numpy as np
    >>> from evenhand.composite.table import Table
    >>> score = Table.of_texts({"s": ["62", "62", "62"]}).column("s")
    >>> x = np.array([62.5, 62.4, 63.7])
    >>> misfit(x, x, score).violated.tolist(), misfit(x, x, score, "half-even").violated.tolist()
    ([True, False, True], [False, False, True])
    """
    import numpy as np

    bottom, top = score_interval(score, rounding)
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(score.values), np.minimum(np.abs(low), np.abs(high)))
        slack = np.where(np.isfinite(size), _SLACK * size, 0.0)
        above, below = bottom - high, low - top
        excess = np.where(above > slack, above, np.where(below > slack, -below, 0.0))
        is_point = (high - low <= slack) & (score.half_widths() > 4 * slack)
        edge = is_point & (excess == 0) & _refused(low, bottom, top, score, rounding, slack)
    known = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(score.values)
    return Misfit(violated=known & ((excess != 0) | edge), excess=np.where(known, excess, 0.0))


def _refused(
    at: "Floats", bottom: "Floats", top: "Floats", score: Column, rounding: Rounding, slack: "Floats"
) -> "Booleans":
    """Where a single number lies on an edge that this rounding prints as the neighbour."""
    import numpy as np

    on_bottom, on_top = np.abs(at - bottom) <= slack, np.abs(at - top) <= slack
    away = np.sign(score.values)
    if rounding == "half-even":
        half = np.where(score.half_widths() > 0, score.half_widths(), 0.5)
        odd = np.round(score.values / (2 * half)) % 2 == 1
        return np.asarray((on_bottom | on_top) & odd)
    # Both others keep the edge nearer to zero, and give the farther one away; around 0 both edges are given away.
    return np.asarray((on_top & (away >= 0)) | (on_bottom & (away <= 0)))
