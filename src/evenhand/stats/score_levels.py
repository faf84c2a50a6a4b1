"""The levels of a scale: how many there are, on which steps scores stand, and what rounding leaves of many decimals."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ScoreScale", "natural_step", "score_scale", "usual_scale"]

_USUAL = ((0.0, 1.0), (1.0, 5.0), (0.0, 5.0), (1.0, 10.0), (0.0, 10.0), (0.0, 100.0))
_ON_STEP = 0.999
_NARROWEST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreScale:
    """The scale that scores are on.

    Attributes:
        low, high: its ends.
        step: between its levels.
        decimals: whether the scores stand between the levels, so that they are to be rounded before they are counted.
        declared: whether somebody said so; else it is the smallest usual scale that holds the scores.
    """

    low: float
    high: float
    step: float
    decimals: bool = False
    declared: bool = True

    @property
    def n_levels(self) -> int:
        """How many levels the scale has."""
        return round((self.high - self.low) / self.step) + 1

    def rounded(self, scores: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Scores on the nearest level, halves upwards; those off the scale stay off it."""
        import numpy as np

        found: NDArray[np.float64] = self.low + np.floor((scores - self.low) / self.step + 0.5) * self.step
        return np.round(found, 9)


def natural_step(low: float, high: float) -> float:
    """The step on which a scale's levels are counted: 1 for most; a tenth of 0 to 1, tens for 0 to 100.

    >>> natural_step(1, 5), natural_step(0, 10), natural_step(0, 100), natural_step(0, 1)
    (1.0, 1.0, 10.0, 0.1)
    """
    import math

    span = high - low
    if 2 <= span < 90:
        return 1.0
    return float(10.0 ** (math.floor(math.log10(span / 9 * (1 + 1e-9)))))


def usual_scale(low: float, high: float) -> tuple[float, float]:
    """The smallest usual scale (0-1, 1-5, 0-5, 1-10, 0-10, 0-100) that holds both; else the two themselves.

    >>> usual_scale(3, 7), usual_scale(0.2, 0.9), usual_scale(-3, 3)
    ((1.0, 10.0), (0.0, 1.0), (-3, 3))
    """
    return next((scale for scale in _USUAL if scale[0] <= low and high <= scale[1]), (low, high))


def score_scale(
    levels: "NDArray[np.float64]", counts: "NDArray[np.int64]", declared: tuple[float, float] | None
) -> ScoreScale:
    """The scale with its step, found from the scores that stand on it.

    Args:
        levels: (k,) distinct scores.
        counts: (k,) how often each comes.
        declared: its ends, where they are known.
    Returns:
        The scale. Its step is the coarser of the natural step and its half on which the scores stand (marks out
        of 100 that are all multiples of five have the step 5). Where no scale is declared and all scores are 0 or
        1, they are taken for pass and fail: two levels. Scores on neither have `decimals` and are to be rounded
        to the natural step.
    Raises:
        InvalidInput: the declared ends are not in order.
    """
    if declared is not None and not declared[0] < declared[1]:
        raise InvalidInput(f"score_scale: {declared[0]:g} to {declared[1]:g} is no scale; expected the lower end first")
    ends = declared or _assumed(levels)
    low, high = float(ends[0]), float(ends[1])
    if high - low < _NARROWEST:
        low, high = low - 0.5, high + 0.5
    natural = natural_step(low, high)
    inside = (levels >= low) & (levels <= high)
    passing = declared is None and levels.tolist() == [0.0, 1.0]
    step = next(
        (
            s
            for s in (*((1.0,) if passing else ()), natural, natural / 2)
            if _on(levels[inside], counts[inside], low, s)
        ),
        None,
    )
    return ScoreScale(
        low=low, high=high, step=step or natural, decimals=step is None and bool(inside.any()),
        declared=declared is not None,
    )  # fmt: skip


def _assumed(levels: "NDArray[np.float64]") -> tuple[float, float]:
    """A usual scale around the scores; 0 to 1 where there are none."""
    return usual_scale(float(levels.min()), float(levels.max())) if len(levels) else (0.0, 1.0)


def _on(levels: "NDArray[np.float64]", counts: "NDArray[np.int64]", low: float, step: float) -> bool:
    """Whether (all but one in a thousand of) the scores stand on the steps."""
    import numpy as np

    if len(counts) == 0:
        return True
    steps = (levels - low) / step
    return float(counts[np.abs(steps - np.round(steps)) < 1e-6].sum()) >= _ON_STEP * float(counts.sum())
