"""What a judge must beat to be worth anything: always the commonest grade, and the length of the text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.stats.differences import Difference, rho_differences
from evenhand.stats.estimates import Estimate
from evenhand.stats.rank import spearman
from evenhand.stats.ratings import rating_vector
from evenhand.stats.resampling import Bootstrap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LengthBaseline", "length_baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBaseline:
    """Text length taken for a judge.

    Attributes:
        rho: Spearman's rho of length with the humans.
        judge_less_length: the judge's rho less length's, on the same items; None where lengths are not known.
        beaten: True where the judge's rho lies above length's with its whole interval, False where it does not, None
            where nothing can be said.
    """

    rho: Estimate
    judge_less_length: Difference | None
    beaten: bool | None


def length_baseline(
    judge: "ArrayLike", human: "ArrayLike", length: "ArrayLike", *, bootstrap: Bootstrap
) -> LengthBaseline:
    """Whether a judge tells more about the humans' grades than the text's length does.

    Args:
        judge: (n_items,) scores; None or nan where missing.
        human: (n_items,) grades, or means of several raters'.
        length: (n_items,) lengths; None or nan where unknown.
        bootstrap: over items, or the clusters that it names.
    """
    import numpy as np

    scores, grades, lengths = (rating_vector(found, name="length_baseline") for found in (judge, human, length))
    if not (np.isfinite(lengths) & np.isfinite(grades)).any():
        return LengthBaseline(rho=Estimate.of_nothing("no lengths are known", n=0), judge_less_length=None, beaten=None)
    rho = spearman(lengths, grades, bootstrap=bootstrap, names=("length", "the humans"))
    difference = rho_differences(np.column_stack([scores, lengths]), grades, bootstrap=bootstrap)[0]
    low = difference.difference.low
    return LengthBaseline(rho=rho, judge_less_length=difference, beaten=None if low is None else low > 0)
