"""Several judges on the same items: differences of rho and of means, paired, with intervals that hold together.

All judges are resampled by one joint draw of items, so that what makes an item hard for both cancels. With several
judges every pair is a chance to be fooled: the simultaneous intervals are widened so that all of them hold at once in
95 of 100 cases (max-|t|); one pair alone has the percentile interval. A pair is compared on the items that both judged,
which need not be those of another pair.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.planning import detectable_difference
from evenhand.stats.rank import spearman
from evenhand.stats.rank_kernels import spearman_kernel
from evenhand.stats.ratings import rating_matrix, rating_vector
from evenhand.stats.resampling import Bootstrap, Draws, Kernel, Units, draw
from evenhand.stats.simultaneous import simultaneous_estimates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.intp]
    _Figure = Callable[[Floats, Floats, int], Estimate]
    _KernelOf = Callable[[Floats, Floats], Kernel]

__all__ = ["Difference", "mcnemar_exact", "mean_differences", "rho_differences", "wilcoxon_p"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One judge less another.

    Attributes:
        a: index of the first judge.
        b: index of the second.
        value_a: the first judge's figure on the items that both judged; None where undefined.
        value_b: the second's.
        difference: value_a - value_b, with an interval for this pair alone.
        low: lower end of the interval that holds together with all other pairs'; None where there is none.
        high: its upper end.
        standard_error: of the difference; None where there is none.
        detectable: the smallest difference that these items would have shown (power .8); None likewise.
    """

    a: int
    b: int
    value_a: float | None
    value_b: float | None
    difference: Estimate
    low: float | None
    high: float | None
    standard_error: float | None
    detectable: float | None


def rho_differences(
    judges: "ArrayLike", human: "ArrayLike", *, bootstrap: Bootstrap, names: Sequence[str] | None = None
) -> tuple[Difference, ...]:
    """Differences of Spearman's rho with the humans, for every pair of judges.

    Intervals of the single rhos waste the pairing: judges that err on the same items differ less than their intervals
    suggest, or more surely.

    Args:
        judges: (n_items, n_judges) scores; None or nan where a judge has none.
        human: (n_items,) grades, or means of several raters'.
        bootstrap: over items, or the clusters that it names.
        names: of the judges, for reasons; by default `judge 1` and on.
    Returns:
        Pairs in the order (0, 1), (0, 2), ...; undefined where one rho is, with the reason.
    Raises:
        InvalidInput: fewer than two judges, or other lengths.

    >>> found = rho_differences([[1, 2], [2, 1], [3, 3], [4, 4]], [1, 2, 3, 4], bootstrap=Bootstrap(n_resamples=99))
    >>> round(found[0].difference.value, 4)
    0.2
    """
    scores, grades = _checked(judges, human)
    called = list(names or (f"judge {k + 1}" for k in range(scores.shape[1])))
    if len(called) != scores.shape[1]:
        raise InvalidInput(f"rho_differences: {len(called)} names of {scores.shape[1]} judges; expected one each")

    def rho(column: "Floats", truth: "Floats", judge: int) -> Estimate:
        return spearman(column, truth, names=(called[judge], "the humans"))

    graded = _present(grades[:, None])[:, 0]
    return _differences(scores, grades, graded, bootstrap, rho, _rho_kernel)


def mean_differences(judges: "ArrayLike", *, bootstrap: Bootstrap) -> tuple[Difference, ...]:
    """Differences of mean scores for every pair of judges, on one scale.

    Args:
        judges: (n_items, n_judges) scores; None or nan where a judge has none, never 0 for a failure.
        bootstrap: over items, or the clusters that it names.
    Raises:
        InvalidInput: fewer than two judges.

    >>> found = mean_differences([[4, 3], [5, 4], [None, 5], [4, 4]], bootstrap=Bootstrap(n_resamples=99))
    >>> round(found[0].difference.value, 4), found[0].difference.n
    (0.6667, 3)
    """
    import numpy as np

    scores = rating_matrix(judges, name="judges")
    scores, grades = _checked(scores, np.zeros(len(scores)))
    return _differences(scores, grades, np.ones(len(scores), dtype=bool), bootstrap, _mean_of, _mean_kernel)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact p of McNemar's test: do two pass/fail judges differ in how often they agree with the truth?

    Args:
        only_a: items that the first judge alone has right.
        only_b: items that the second alone has right.
    Returns:
        1 where no item tells them apart.
    Source: McNemar (1947), Psychometrika 12, 153-157; the exact form is a sign test, as in `statsmodels` `mcnemar`.

    >>> round(mcnemar_exact(12, 4), 7)
    0.0768127
    """
    if min(only_a, only_b) < 0:
        raise InvalidInput(f"mcnemar_exact: {only_a} and {only_b} items; expected 0 or more of each")
    if only_a + only_b == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def wilcoxon_p(errors_a: "ArrayLike", errors_b: "ArrayLike") -> tuple[float | None, int]:
    """Two-sided p of Wilcoxon's signed-rank test on paired absolute errors, and how many pairs it rests on.

    Returns:
        (None, n) where no pair differs.
    Source: `scipy.stats.wilcoxon`.
    """
    import numpy as np
    from scipy.stats import wilcoxon

    both = rating_matrix(np.column_stack([np.abs(errors_a), np.abs(errors_b)]), name="errors")
    kept = both[_present(both).all(axis=1)]
    differences = kept[:, 0] - kept[:, 1]
    differences[np.abs(differences) < 1e-12] = 0.0  # equal errors, but for rounding
    if not differences.any():
        return None, len(kept)
    return float(wilcoxon(differences).pvalue), len(kept)


def _checked(judges: "ArrayLike", human: "ArrayLike") -> "tuple[Floats, Floats]":
    scores, grades = rating_matrix(judges, name="judges"), rating_vector(human, name="human")
    if len(scores) != len(grades):
        raise InvalidInput(f"differences: {len(scores)} items of judges beside {len(grades)}; expected the same ones")
    if scores.shape[1] < 2:
        raise InvalidInput(f"differences: {scores.shape[1]} judge; expected two or more to compare")
    return scores, grades


def _present(values: "Floats") -> "Booleans":
    import numpy as np

    found: Booleans = np.isfinite(values)
    return found


def _mean_of(scores: "Floats", grades: "Floats", judge: int) -> Estimate:
    if not len(scores):
        return Estimate.of_nothing("no item that both judged", n=0)
    return Estimate(value=float(scores.mean()), n=len(scores))


def _rho_kernel(columns: "Floats", grades: "Floats") -> Kernel:
    """rho of each column with the grades."""
    import numpy as np

    n = columns.shape[1]
    return spearman_kernel(np.column_stack([columns, grades]), [(k, n) for k in range(n)])


def _mean_kernel(columns: "Floats", grades: "Floats") -> Kernel:
    """Weighted mean of each column."""
    import numpy as np

    def means(weights: "Floats") -> "Floats":
        whole = weights.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(whole > 0, weights @ columns / whole, np.nan)

    return means


class _Pairs:
    """Pairs of judges by the items that they share: one kernel for all judges on one set of items."""

    def __init__(self, scores: "Floats", graded: "Booleans") -> None:
        self.n_judges = scores.shape[1]
        self.pairs = list(itertools.combinations(range(self.n_judges), 2))
        present = _present(scores) & graded[:, None]
        self.shared: dict[bytes, Booleans] = {}
        self.judges: dict[bytes, dict[int, int]] = {}
        self.key_of: dict[tuple[int, int], bytes] = {}
        for a, b in self.pairs:
            items = present[:, a] & present[:, b]
            key = items.tobytes()
            self.shared.setdefault(key, items)
            self.key_of[a, b] = key
            for judge in (a, b):
                self.judges.setdefault(key, {}).setdefault(judge, len(self.judges[key]))


def _differences(
    scores: "Floats",
    grades: "Floats",
    graded: "Booleans",
    bootstrap: Bootstrap,
    figure: "_Figure",
    kernel: "_KernelOf",
) -> tuple[Difference, ...]:
    """All pairs, from one joint draw."""
    import numpy as np

    pairs = _Pairs(scores, graded)
    used = np.zeros(len(scores), dtype=bool)
    for items in pairs.shared.values():
        used |= items
    n_used = int(used.sum())
    values = {
        key: {j: figure(scores[items, j], grades[items], j) for j in pairs.judges[key]}
        for key, items in pairs.shared.items()
    }
    draws = None
    if n_used:
        chosen = bootstrap.of(used)
        units = Units.of(np.column_stack([scores, grades])[used], chosen)
        draws = draw(_joint_kernel(scores[used], grades[used], pairs, used, units, kernel), units, chosen)
    found = [_one(pair, column, values, pairs, draws) for column, pair in enumerate(pairs.pairs)]
    if draws is None or len(found) == 1:
        return tuple(replace(one, low=one.difference.low, high=one.difference.high) for one in found)
    together = simultaneous_estimates([one.difference.value or 0.0 for one in found], draws)
    return tuple(
        one if one.difference.value is None else replace(one, low=wide.low, high=wide.high)
        for one, wide in zip(found, together, strict=True)
    )


def _joint_kernel(
    scores: "Floats", grades: "Floats", pairs: _Pairs, used: "Booleans", units: Units, kernel: "_KernelOf"
) -> Kernel:
    """(n_batch, n_pairs) differences under weights."""
    import numpy as np

    made: dict[bytes, tuple[Integers, Kernel]] = {}
    for key, items in pairs.shared.items():
        places = np.flatnonzero(items[used][units.rows])
        rows = units.rows[places]
        if len(rows):
            made[key] = places, kernel(scores[rows][:, list(pairs.judges[key])], grades[rows])

    def differences(weights: "Floats") -> "Floats":
        figures = {
            key: of_key(weights if len(places) == weights.shape[1] else np.ascontiguousarray(weights[:, places]))
            for key, (places, of_key) in made.items()
        }
        found = np.full((len(weights), len(pairs.pairs)), np.nan)
        for column, pair in enumerate(pairs.pairs):
            key = pairs.key_of[pair]
            if key in figures:
                a, b = (pairs.judges[key][judge] for judge in pair)
                found[:, column] = figures[key][:, a] - figures[key][:, b]
        return found

    return differences


def _one(
    pair: tuple[int, int],
    column: int,
    values: "Mapping[bytes, Mapping[int, Estimate]]",
    pairs: _Pairs,
    draws: Draws | None,
) -> Difference:
    """One pair with its own interval."""
    key = pairs.key_of[pair]
    of_a, of_b = values[key][pair[0]], values[key][pair[1]]
    n = int(pairs.shared[key].sum())
    why = of_a.undefined or of_b.undefined
    if draws is None or of_a.value is None or of_b.value is None:
        difference, error = Estimate.of_nothing(why or "no item that both judged", n=n), None
    else:
        difference = draws.estimate(of_a.value - of_b.value, column, n=n)
        error = None if difference.low is None else draws.standard_error(column)
    return Difference(
        a=pair[0],
        b=pair[1],
        value_a=of_a.value,
        value_b=of_b.value,
        difference=difference,
        low=None,
        high=None,
        standard_error=error,
        detectable=None if error is None else detectable_difference(error),
    )
