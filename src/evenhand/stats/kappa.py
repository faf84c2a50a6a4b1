"""Agreement of two raters on one scale: share of equal ratings, kappa, and what the commonest grade alone reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.intervals import wilson_interval
from evenhand.stats.rank import NAMES
from evenhand.stats.ratings import Pairs, complete_pairs, one_value
from evenhand.stats.resampling import Bootstrap, Kernel, Units, draw, no_resampling
from evenhand.stats.weights import level_weights, weighted_sum, weighted_sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

__all__ = [
    "PairAgreement", "Weighting", "agreement", "kappa_kernel", "kappa_paradox", "pair_agreement", "scale_levels",
    "weighted_kappa",
]  # fmt: skip

Weighting = Literal["none", "linear", "quadratic"]

_MOST_LEVELS = 1001


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far two raters agree, with what must stand beside it.

    Attributes:
        n: items that both rated.
        agreement: share of equal ratings.
        majority_level: the humans' commonest grade; the lowest of them where several are as common. None without items.
        majority_baseline: its share: what answering it always would agree. None without items.
        judge_mode_share: share of the judge's commonest rating. None without items.
        none: kappa without weights.
        linear: kappa with linear weights.
        quadratic: kappa with quadratic weights.
        paradox: a sentence where high agreement stands beside a kappa of 0 or less; None elsewhere.
    """

    n: int
    agreement: Estimate
    majority_level: float | None
    majority_baseline: float | None
    judge_mode_share: float | None
    none: Estimate
    linear: Estimate
    quadratic: Estimate
    paradox: str | None


def scale_levels(lowest: float, highest: float, step: float = 1) -> tuple[float, ...]:
    """The levels of a declared scale, lowest first; kappa needs them all, used or not.

    Raises:
        InvalidInput: an empty scale, a step that does not reach the highest level, or more than 1,001 levels.

    >>> scale_levels(1, 4)
    (1.0, 2.0, 3.0, 4.0)
    """
    low, high, by = (Decimal(str(number)) for number in (lowest, highest, step))
    if not (low.is_finite() and high.is_finite() and by.is_finite() and by > 0 and low < high):
        raise InvalidInput(f"scale_levels: {lowest} to {highest} by {step} is no scale; expected lowest < highest")
    n, rest = divmod(high - low, by)
    if rest or n >= _MOST_LEVELS:
        raise InvalidInput(
            f"scale_levels: {lowest} to {highest} by {step} gives no whole number of levels up to {_MOST_LEVELS}; "
            "choose a step that does"
        )
    return tuple(float(low + by * k) for k in range(int(n) + 1))


def weighted_kappa(
    ratings_a: "ArrayLike",
    ratings_b: "ArrayLike",
    *,
    levels: Sequence[float],
    weights: Weighting = "quadratic",
    bootstrap: Bootstrap | None = None,
    names: tuple[str, str] = NAMES,
) -> Estimate:
    """Chance-corrected agreement of two raters, with weights for how far apart they are.

    Args:
        ratings_a: (n_items,) the first rater's ratings, each one of `levels`; None or nan where missing.
        ratings_b: (n_items,) the second's, in the same item order.
        levels: the whole declared scale, rising. Distances are those of places on it, so that a scale cut down to the
            levels in use gives another value: scikit-learn without `labels` has 0.8 where the whole scale has 0.7727.
        weights: of a disagreement: all alike, the distance, or its square.
        bootstrap: how the interval is made; None gives none.
        names: of both, for the reasons.
    Returns:
        Kappa in [-1, 1]; 0 is agreement by chance, and exactly 0 where just one rater gave one value: its mode share
        belongs beside it. Undefined without items, where both gave one and the same value, where a rating is none of
        the levels (a mean of several raters, say), or without statsmodels.
    Raises:
        InvalidInput: the lengths differ, levels that do not rise, or an unknown weighting.
    Source: Cohen (1968), Psychol. Bull. 70, 213-220; value by `statsmodels.stats.inter_rater.cohens_kappa`.
    """
    distances = _distances(levels, weights)
    pairs = complete_pairs(ratings_a, ratings_b)
    if why := _undefined(pairs, levels, names):
        return Estimate.of_nothing(why, n=pairs.n)
    value = _statsmodels_kappa(pairs, levels, distances)
    if bootstrap is None:
        return no_resampling(value, n=pairs.n)
    chosen, (units, codes) = bootstrap.of(pairs.kept), _rows(pairs, levels, bootstrap)
    return draw(kappa_kernel(*codes, distances), units, chosen).estimate(value)


def agreement(ratings_a: "ArrayLike", ratings_b: "ArrayLike", *, bootstrap: Bootstrap | None = None) -> Estimate:
    """Share of items that both raters rated alike, with Wilson's interval, or a bootstrap's where items have clusters.

    Undefined without items that both rated.

    >>> agreement([1, 2, 3, 3], [1, 2, 3, 1]).value
    0.75
    """
    import numpy as np

    pairs = complete_pairs(ratings_a, ratings_b)
    if not pairs.n:
        return Estimate.of_nothing("no items that both rated", n=0)
    equal = (pairs.a == pairs.b).astype(np.float64)
    if bootstrap is not None and bootstrap.clusters is not None:
        chosen = bootstrap.of(pairs.kept)
        units = Units.of(equal[:, None], chosen)
        kept = equal[units.rows]
        return draw(lambda weights: weighted_sum(weights, kept) / weights.sum(axis=1), units, chosen).estimate(
            float(equal.mean())
        )
    confidence = 0.95 if bootstrap is None else bootstrap.confidence
    low, high = wilson_interval(int(equal.sum()), pairs.n, confidence=confidence)
    return Estimate(
        value=float(equal.mean()), low=low, high=high, n=pairs.n, method="Wilson", confidence=confidence
    )  # fmt: skip


def pair_agreement(
    judge: "ArrayLike", humans: "ArrayLike", *, levels: Sequence[float], bootstrap: Bootstrap | None = None
) -> PairAgreement:
    """Agreement of a judge with the humans: share, majority baseline, the three kappas, and the paradox if it is there.

    Args:
        judge: (n_items,) ratings; None or nan where missing.
        humans: (n_items,) grades, in the same item order.
        levels: the whole declared scale, rising.
        bootstrap: how intervals are made; None gives none but Wilson's.
    Raises:
        InvalidInput: as `weighted_kappa`.
    """
    import numpy as np

    pairs = complete_pairs(judge, humans)
    kappas = [
        weighted_kappa(judge, humans, levels=levels, weights=weighting, bootstrap=bootstrap)
        for weighting in ("none", "linear", "quadratic")
    ]
    alike = agreement(judge, humans, bootstrap=bootstrap)
    found, counts = np.unique(pairs.b, return_counts=True)
    baseline = float(counts.max() / pairs.n) if pairs.n else None
    return PairAgreement(
        n=pairs.n,
        agreement=alike,
        majority_level=float(found[counts.argmax()]) if pairs.n else None,
        majority_baseline=baseline,
        judge_mode_share=float(np.unique(pairs.a, return_counts=True)[1].max() / pairs.n) if pairs.n else None,
        none=kappas[0],
        linear=kappas[1],
        quadratic=kappas[2],
        paradox=kappa_paradox(kappas[0].value, alike.value, baseline),
    )


def kappa_paradox(kappa: float | None, agreement: float | None, majority_baseline: float | None) -> str | None:
    """A sentence on high agreement beside a kappa of 0 or less, where one grade dominates; None elsewhere.

    Args:
        kappa: without weights, in [-1, 1].
        agreement: share of equal ratings, in [0, 1].
        majority_baseline: share of the humans' commonest grade, in [0, 1].
    Source: Feinstein and Cicchetti (1990), J. Clin. Epidemiol. 43, 543-549.

    >>> kappa_paradox(-0.0417, 0.92, 0.96).split(":")[0]
    "kappa's paradox"
    """
    if kappa is None or agreement is None or majority_baseline is None or kappa > 1e-9 or agreement < 0.8:
        return None
    return (
        f"kappa's paradox: the judge agrees on {100 * agreement:.0f} % of the items and kappa is {kappa:.2f}, because "
        f"one grade makes up {100 * majority_baseline:.0f} % and would be agreed on that often by answering nothing "
        "else; what the judge does with the other grades decides"
    )


def kappa_kernel(codes_a: "Integers", codes_b: "Integers", distances: "Floats") -> Kernel:
    """Weighted kappa under weights: 1 - observed / expected disagreement; nan where none is expected.

    Args:
        codes_a: (n_rows,) places on the scale, from 0.
        codes_b: the second rater's.
        distances: (n_levels, n_levels) weights of disagreements.
    """
    import numpy as np

    apart = distances[codes_a, codes_b]
    n_levels = len(distances)

    def kappa(weights: "Floats") -> "Floats":
        expected = np.einsum(
            "ij,ij->i",
            weighted_sums(level_weights(weights, codes_a, n_levels), distances),
            level_weights(weights, codes_b, n_levels),
        )
        observed = weighted_sum(weights, apart) * weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1.0 - observed / expected, np.nan)

    return kappa


def _distances(levels: Sequence[float], weights: Weighting) -> "Floats":
    """(n_levels, n_levels) 0 on the diagonal."""
    import numpy as np

    rises = all(below < above for below, above in pairwise(levels))
    if len(levels) < 2 or not rises:
        raise InvalidInput("weighted_kappa: the levels must rise, and be two or more; give the whole scale")
    place = np.arange(len(levels), dtype=np.float64)
    apart = np.abs(place[:, None] - place[None, :])
    match weights:
        case "none":
            return (apart > 0).astype(np.float64)
        case "linear":
            return apart
        case "quadratic":
            return apart**2
        case _:
            raise InvalidInput(f"weighted_kappa: weights {weights!r}; use 'none', 'linear' or 'quadratic'")


def _undefined(pairs: Pairs, levels: Sequence[float], names: tuple[str, str]) -> str | None:
    """Why kappa is not defined on these pairs, or None."""
    import numpy as np

    if not pairs.n:
        return f"no items that {names[0]} and {names[1]} both rated"
    for name, ratings in zip(names, (pairs.a, pairs.b), strict=True):
        if n_off := int((~np.isin(ratings, levels)).sum()):
            return f"{n_off} of {pairs.n} ratings of {name} are none of the {len(levels)} levels of the scale"
    if one_value(np.concatenate([pairs.a, pairs.b])):
        return f"{names[0]} and {names[1]} gave one and the same value throughout"
    if find_spec("statsmodels") is None:
        return "needs the library statsmodels; pip install 'evenhand[stats]'"
    return None


def _statsmodels_kappa(pairs: Pairs, levels: Sequence[float], distances: "Floats") -> float:
    """The library's value on the table of the whole scale, or the whole number that kappa is where counts say so.

    Counts and distances are whole numbers, so n * observed and expected disagreement are exact: none observed is 1, as
    much as expected 0, twice as much -1, where the library's shares give -0.9999999999999998.
    """
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    codes_a, codes_b = (np.searchsorted(levels, ratings) for ratings in (pairs.a, pairs.b))
    n = len(levels)
    table = np.bincount(codes_a * n + codes_b, minlength=n * n).reshape(n, n)
    observed = float(pairs.n * (table * distances).sum())
    expected = float(table.sum(axis=1) @ distances @ table.sum(axis=0))
    if observed in (0.0, expected, 2.0 * expected):
        return 1.0 - observed / expected
    with np.errstate(invalid="ignore", divide="ignore"):  # its standard errors, where a rater gave one value
        return float(cohens_kappa(table, weights=distances, return_results=False))


def _rows(pairs: Pairs, levels: Sequence[float], bootstrap: Bootstrap) -> "tuple[Units, tuple[Integers, Integers]]":
    """The units that are drawn, and both raters' places on the scale for each row."""
    import numpy as np

    codes_a, codes_b = (np.searchsorted(levels, ratings) for ratings in (pairs.a, pairs.b))
    units = Units.of(np.column_stack([pairs.a, pairs.b]), bootstrap.of(pairs.kept))
    return units, (codes_a[units.rows], codes_b[units.rows])
