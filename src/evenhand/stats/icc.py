"""Intraclass correlation: how much of the spread of grades is the items', for raters who graded all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from evenhand.stats.estimates import Estimate
from evenhand.stats.one_way import one_way, whole_steps
from evenhand.stats.ratings import rating_matrix
from evenhand.stats.resampling import Bootstrap, Kernel, Units, draw, no_resampling
from evenhand.stats.weights import weighted_sum, weighted_sums
from evenhand.wording import count, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["IntraclassCorrelations", "icc_kernel", "intraclass_correlations"]

_TINY = 1e-12  # a sum of squares below this share of the whole is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelations:
    """The six forms, by what they mean; `by_label` has McGraw and Wong's names.

    Agreement counts it against the raters that one is more lenient than another, consistency does not: the gap
    between the two is leniency. One-way takes no rater to be the same from item to item. `single` is the reliability
    of one grade, `mean` that of the mean of all raters.
    """

    one_way_single: Estimate
    agreement_single: Estimate
    consistency_single: Estimate
    one_way_mean: Estimate
    agreement_mean: Estimate
    consistency_mean: Estimate

    def by_label(self) -> Mapping[str, Estimate]:
        """ICC(1,1), ICC(A,1), ICC(C,1), ICC(1,k), ICC(A,k), ICC(C,k); Shrout and Fleiss say 2 for A, and 3 for C."""
        labels = ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)")
        return {label: getattr(self, field.name) for label, field in zip(labels, fields(self), strict=True)}


def intraclass_correlations(ratings: "ArrayLike", *, bootstrap: Bootstrap | None = None) -> IntraclassCorrelations:
    """The six intraclass correlations of a set of raters.

    Args:
        ratings: (n_items, n_raters) grades; None or nan where missing.
        bootstrap: how intervals are made, over items with these raters; None gives none. F intervals would need
            normal grades, which a scale of five levels does not give.
    Returns:
        Each at most 1; below 0 where items differ less than grades of one item do. With a grade missing only
        `one_way_single` is defined (see `one_way`). Undefined also below two items or raters, where all grades are
        equal, and `mean` forms where the items' means are equal.
    Raises:
        InvalidInput: not a matrix of numbers.
    Source: McGraw and Wong (1996), Psychol. Methods 1, 30-46. Example: Shrout and Fleiss (1979), Psychol. Bull. 86,
        420-428, Table 4.

    >>> grades = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> {label: round(found.value, 2) for label, found in intraclass_correlations(grades).by_label().items()}
    {'ICC(1,1)': 0.17, 'ICC(A,1)': 0.29, 'ICC(C,1)': 0.71, 'ICC(1,k)': 0.44, 'ICC(A,k)': 0.62, 'ICC(C,k)': 0.91}
    """
    import numpy as np

    matrix = rating_matrix(ratings, name="ratings")
    if why := _undefined(matrix):
        n_graded = int((~np.isnan(matrix)).any(axis=1).sum())
        nothing = [Estimate.of_nothing(why, n=n_graded) for _ in range(5)]
        return _forms([one_way(matrix, bootstrap=bootstrap).icc, *nothing])
    values = icc_kernel(matrix)(np.ones((1, len(matrix))))[0]
    if bootstrap is None:
        return _forms([_defined(value, no_resampling(value, n=len(matrix))) for value in values])
    units = Units.of(matrix, bootstrap)
    draws = draw(icc_kernel(matrix[units.rows]), units, bootstrap)
    return _forms([_defined(value, draws.estimate(value, column)) for column, value in enumerate(values)])


def icc_kernel(ratings: "Floats") -> Kernel:
    """The six forms under weights (n_batch, 6), for complete rows (n_rows, n_raters); nan where undefined."""
    import numpy as np

    centred = whole_steps(ratings)
    k = centred.shape[1]
    totals, squares = centred.sum(axis=1), (centred**2).sum(axis=1)

    def forms(weights: "Floats") -> "Floats":
        n = weights.sum(axis=1)
        all_squares, grand = weighted_sum(weights, squares), weighted_sum(weights, totals) ** 2
        of_rows = n * weighted_sum(weights, totals**2)
        whole, rows = n * k * all_squares - grand, of_rows - grand
        columns = k * (weighted_sums(weights, centred) ** 2).sum(axis=1) - grand
        least = _TINY * n * k * all_squares
        rows, columns, within, rest = (
            np.where(ss > least, ss, 0.0) for ss in (rows, columns, whole - rows, whole - rows - columns)
        )
        return _of_sums_of_squares(rows, columns, within, rest, n, k)

    return forms


def _of_sums_of_squares(
    rows: "Floats", columns: "Floats", within: "Floats", rest: "Floats", n: "Floats", k: int
) -> "Floats":
    """The six forms of the sums of squares of items, raters, within items, and what remains; all times any number.

    Mean squares are these over n - 1, k - 1, n (k - 1) and (n - 1) (k - 1). All are taken n (n - 1) (k - 1) times as
    large here, so that whole numbers stay whole: a form that is 0 or -1 is exactly that, and a denominator that is 0
    is none.
    """
    import numpy as np

    of_rows, of_within, of_rest = n * (k - 1) * rows, (n - 1) * within, n * rest
    of_raters = (n - 1) * columns - rest  # (mean square of raters less that of the rest) / n
    parts = (
        (of_rows - of_within, of_rows + (k - 1) * of_within),
        (of_rows - of_rest, of_rows + (k - 1) * of_rest + k * of_raters),
        (of_rows - of_rest, of_rows + (k - 1) * of_rest),
        (of_rows - of_within, of_rows),
        (of_rows - of_rest, of_rows + of_raters),
        (of_rows - of_rest, of_rows),
    )
    least = _TINY * (of_rows + (n - 1) * columns + k * of_rest)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([np.where(below > least, above / below, np.nan) for above, below in parts], axis=1)


def _undefined(matrix: "Floats") -> str | None:
    """Why all forms but the one-way of a single grade are undefined, or None."""
    import numpy as np

    n, k = matrix.shape
    if n < 2:
        return "1 item" if n else "no items"
    if k < 2:
        return "1 rater"
    missing = np.isnan(matrix).any(axis=1)
    if missing.all():
        return "no item was graded by all raters"
    if missing.any():
        return (
            f"{count(int(missing.sum()))} of {plural(n, 'item')} "
            f"{'lacks' if missing.sum() == 1 else 'lack'} a grade, and this form needs every rater on every item; "
            "see alpha"
        )
    if matrix.min() == matrix.max():
        return "all grades are equal"
    return None


def _defined(value: float, found: Estimate) -> Estimate:
    """The estimate, or what keeps a form from being defined although the grades differ."""
    import math

    if math.isnan(value):
        return Estimate.of_nothing("the items' means hardly differ, so that there is nothing to relate to", n=found.n)
    return found


def _forms(found: "list[Estimate]") -> IntraclassCorrelations:
    """Six estimates under their names."""
    return IntraclassCorrelations(
        one_way_single=found[0],
        agreement_single=found[1],
        consistency_single=found[2],
        one_way_mean=found[3],
        agreement_mean=found[4],
        consistency_mean=found[5],
    )
