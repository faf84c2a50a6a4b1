"""Does a judge like length more than the humans do? Humans like it too, so that the raw correlation misleads.

What is measured is the association of judge less human with log length. Human grades are noisy: quality that they miss
stays in the difference, and length picks it up. It is therefore called an association not explained by these humans,
never a proven bias.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.stats.estimates import Estimate
from evenhand.stats.rank import spearman
from evenhand.stats.ratings import one_value, rating_vector
from evenhand.stats.resampling import Bootstrap
from evenhand.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["WORDING", "LengthBias", "length_bias"]

WORDING = "association not explained by these humans"
_LEAST_ITEMS = 8
_NO_STATSMODELS = "needs statsmodels: pip install 'evenhand[stats]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias:
    """Length, judge and humans.

    Attributes:
        per_doubling: change of judge less human as the text doubles in length, in points of the common scale (in SDs
            where judge and humans have none in common).
        partial: standardised coefficient of log length where the judge is regressed on the humans and log length.
        judge_length: Spearman's rho of judge and length.
        human_length: Spearman's rho of humans and length: what length is worth by itself.
    """

    per_doubling: Estimate
    partial: Estimate
    judge_length: Estimate
    human_length: Estimate


def length_bias(
    judge: "ArrayLike",
    human: "ArrayLike",
    length: "ArrayLike",
    *,
    common_scale: bool = True,
    bootstrap: Bootstrap | None = None,
    confidence: float = 0.95,
) -> LengthBias:
    """Differential length bias, over the items with a score, a grade and a length above 0.

    Args:
        judge: (n_items,) scores.
        human: (n_items,) grades or means of grades.
        length: (n_items,) characters or any other measure above 0.
        common_scale: whether judge and human are on one scale; if not, both are standardised first.
        bootstrap: for the intervals of the two correlations; None gives none. Where it names clusters the errors of the
            regressions are cluster-robust, else HC3.
    Returns:
        Regressions undefined below 8 items, where lengths do not differ, or without statsmodels, with the reason.
    Source: ordinary least squares by `statsmodels` with HC3 (MacKinnon and White 1985) or cluster-robust errors.
    """
    import numpy as np

    columns = [rating_vector(found, name="length_bias") for found in (judge, human, length)]
    with np.errstate(invalid="ignore"):
        kept = ~np.isnan(np.column_stack(columns)).any(axis=1) & (columns[2] > 0)
    scores, grades, lengths = (column[kept] for column in columns)
    chosen = None if bootstrap is None else bootstrap.of(kept)
    sources = None if chosen is None else chosen.clusters
    n = len(scores)
    return LengthBias(
        per_doubling=_per_doubling(scores, grades, lengths, common_scale, sources, confidence),
        partial=_partial(scores, grades, lengths, sources, confidence),
        judge_length=spearman(scores, lengths, bootstrap=chosen, names=("the judge", "length"))
        if n
        else Estimate.of_nothing("no item has a length", n=0),
        human_length=spearman(grades, lengths, bootstrap=chosen, names=("the humans", "length"))
        if n
        else Estimate.of_nothing("no item has a length", n=0),
    )


def _per_doubling(
    scores: "Floats",
    grades: "Floats",
    lengths: "Floats",
    common_scale: bool,
    sources: Sequence[Hashable] | None,
    confidence: float,
) -> Estimate:
    """Regression of judge less human on the base-2 logarithm of length."""
    import numpy as np

    if why := _refusal(scores, grades, lengths, constant_matters=not common_scale):
        return Estimate.of_nothing(why, n=len(scores))
    difference = scores - grades if common_scale else _standard(scores) - _standard(grades)
    return _coefficient(difference, [np.log2(lengths)], sources, confidence)


def _partial(
    scores: "Floats", grades: "Floats", lengths: "Floats", sources: Sequence[Hashable] | None, confidence: float
) -> Estimate:
    """The coefficient of log length beside that of the humans, all standardised."""
    import numpy as np

    if why := _refusal(scores, grades, lengths, constant_matters=True):
        return Estimate.of_nothing(why, n=len(scores))
    return _coefficient(
        _standard(scores), [_standard(np.log(lengths)), _standard(grades)], sources, confidence
    )  # fmt: skip


def _refusal(scores: "Floats", grades: "Floats", lengths: "Floats", *, constant_matters: bool) -> str | None:
    """Why there is no regression, or None."""
    if len(scores) < _LEAST_ITEMS:
        return f"{plural(len(scores), 'item')} with a score, a grade and a length; a regression needs {_LEAST_ITEMS}"
    if one_value(lengths):
        return "all texts are of one length"
    if constant_matters and one_value(scores):
        return "the judge gave one value"
    if constant_matters and one_value(grades):
        return "the humans gave one value"
    return None


def _coefficient(
    outcome: "Floats", predictors: "list[Floats]", sources: Sequence[Hashable] | None, confidence: float
) -> Estimate:
    """The first predictor's coefficient with its robust interval."""
    import numpy as np

    n = len(outcome)
    try:
        from statsmodels.regression.linear_model import OLS
    except ImportError:
        return Estimate.of_nothing(_NO_STATSMODELS, n=n)
    design = np.column_stack([*predictors, np.ones(n)])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Estimate.of_nothing("length and grades say the same: one is a line of the other", n=n)
    fit = OLS(outcome, design).fit()
    value = float(fit.params[0])
    kind, options, method = _errors(sources)
    if kind is None:
        return Estimate(value=value, n=n, no_interval=method)
    if float(np.abs(fit.resid).max()) <= 1e-12 * max(1.0, float(np.abs(outcome).max())):
        return Estimate(value=value, n=n, no_interval="degenerate: the line fits every item")
    low, high = fit.get_robustcov_results(cov_type=kind, use_t=True, **options).conf_int(1.0 - confidence)[0]
    if not (math.isfinite(low) and math.isfinite(high)):
        return Estimate(value=value, n=n, no_interval="one item alone decides the line")
    return Estimate(value=value, low=float(low), high=float(high), n=n, method=method, confidence=confidence)


def _errors(sources: Sequence[Hashable] | None) -> tuple[str | None, dict[str, Any], str]:
    """The kind of robust error, its options, and the method in words."""
    import numpy as np

    if sources is None:
        return "HC3", {}, "least squares, HC3 errors"
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(source, len(numbers)) for source in sources])
    if len(numbers) < 3:
        return None, {}, f"{plural(len(numbers), 'cluster is', 'clusters are')} too few for an error"
    return "cluster", {"groups": codes}, f"least squares, errors by {len(numbers):,} clusters"


def _standard(values: "Floats") -> "Floats":
    """z-scores (n - 1)."""
    found: Floats = (values - values.mean()) / values.std(ddof=1)
    return found
