"""Pass/fail judges: how often they let a good one pass and a bad one fail, and what that does to a pass rate.

The share that an imperfect judge passes is not the share that is good. Two corrections start from a hand-graded part
that must be a random sample of the whole: prediction-powered inference (the default, also for graded scores), and
Rogan and Gladen's formula, which is refused where the judge is no better than a coin.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.stats.estimates import Estimate
from evenhand.stats.intervals import wilson_interval
from evenhand.stats.ratings import complete_pairs, rating_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["PassAgreement", "pass_agreement", "prediction_powered_mean", "rogan_gladen", "share"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassAgreement:
    """A pass/fail judge against the humans.

    Attributes:
        n: items that both rated.
        true_pass: both pass.
        false_pass: the judge alone passes.
        false_fail: the humans alone pass.
        true_fail: both fail.
    """

    n: int
    true_pass: int
    false_pass: int
    false_fail: int
    true_fail: int

    @property
    def tpr(self) -> Estimate:
        """Share of the good ones that the judge passes (sensitivity)."""
        return share(self.true_pass, self.true_pass + self.false_fail, "the humans passed no item")

    @property
    def tnr(self) -> Estimate:
        """Share of the bad ones that the judge fails (specificity)."""
        return share(self.true_fail, self.true_fail + self.false_pass, "the humans failed no item")

    @property
    def agreement(self) -> Estimate:
        """Share of items with one and the same outcome."""
        return share(self.true_pass + self.true_fail, self.n, "no items that both rated")

    @property
    def majority_baseline(self) -> Estimate:
        """Agreement of whoever always gives the humans' more frequent outcome."""
        good = self.true_pass + self.false_fail
        return share(max(good, self.n - good), self.n, "no items that both rated")


def share(count: int, n: int, undefined: str) -> Estimate:
    """A share with Wilson's interval.

    Args:
        undefined: the reason that is given where n is 0.

    >>> found = share(0, 2, "none")
    >>> found.value, found.low, round(found.high, 4)
    (0.0, 0.0, 0.6576)
    """
    if n == 0:
        return Estimate.of_nothing(undefined, n=0)
    low, high = wilson_interval(count, n)
    return Estimate(value=count / n, low=low, high=high, n=n, method="Wilson interval")


def pass_agreement(judge: "ArrayLike", human: "ArrayLike") -> PassAgreement:
    """The four counts of a pass/fail judge.

    Args:
        judge: (n_items,) 1 for pass, 0 for fail; None or nan where missing.
        human: (n_items,) the same by the humans.
    Raises:
        InvalidInput: another number than 0 and 1.

    >>> found = pass_agreement([1, 1, 0, 0], [1, 0, 0, 1])
    >>> found.tpr.value, found.tnr.value
    (0.5, 0.5)
    """
    pairs = complete_pairs(judge, human)
    for name, values in (("judge", pairs.a), ("human", pairs.b)):
        wrong = values[(values != 0) & (values != 1)]
        if len(wrong):
            raise InvalidInput(f"pass_agreement: {name} holds {wrong[0]:g}; expected 1 for pass and 0 for fail")
    both = int((pairs.a * pairs.b).sum())
    judge_pass, human_pass = int(pairs.a.sum()), int(pairs.b.sum())
    return PassAgreement(
        n=pairs.n,
        true_pass=both,
        false_pass=judge_pass - both,
        false_fail=human_pass - both,
        true_fail=pairs.n - judge_pass - human_pass + both,
    )


def rogan_gladen(found: PassAgreement, n_pass: int, n_unlabelled: int, *, confidence: float = 0.95) -> Estimate:
    """Pass rate of an unlabelled run, corrected by TPR and TNR: (observed + TNR - 1) / (TPR + TNR - 1), in [0, 1].

    Args:
        found: the judge on the hand-graded items, a random sample of all.
        n_pass: unlabelled items that the judge passes.
        n_unlabelled: unlabelled items.
    Returns:
        With an interval that counts the sampling of the hand-graded items and of the unlabelled ones. Undefined where
        TPR + TNR <= 1: such a judge tells nothing, and the formula would divide by nothing or turn the order round.
    Source: Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71-76; interval by Lang and Reiczigel (2014), Prev. Vet.
        Med. 113, 13-22, which adds a little to both samples first. judgy 0.1.0 resamples the labelled items alone, with
        numpy's global generator, and skips resamples with TPR + TNR <= 1 without a word: (0.6176, 0.8256) on the
        example below.

    >>> labelled = PassAgreement(n=100, true_pass=56, false_pass=8, false_fail=7, true_fail=29)
    >>> round(rogan_gladen(labelled, 704, 1000).value, 7)
    0.7251429
    """
    if not 0 <= n_pass <= n_unlabelled:
        raise InvalidInput(f"rogan_gladen: {n_pass} of {n_unlabelled} passed; expected 0 <= passed <= all")
    if n_unlabelled == 0:
        return Estimate.of_nothing("no unlabelled item has a score", n=0)
    tpr, tnr = found.tpr.value, found.tnr.value
    if tpr is None or tnr is None:
        return Estimate.of_nothing(found.tpr.undefined or found.tnr.undefined or "", n=n_unlabelled)
    if tpr + tnr <= 1.0:
        why = f"TPR + TNR is {tpr + tnr:.3g}, not above 1: the judge tells nothing"
        return Estimate.of_nothing(why, n=n_unlabelled)
    value = _clip((n_pass / n_unlabelled + tnr - 1.0) / (tpr + tnr - 1.0))
    low, high = _lang_reiczigel(found, n_pass, n_unlabelled, confidence)
    return Estimate(value=value, low=low, high=high, n=n_unlabelled, method="Lang and Reiczigel", confidence=confidence)


def prediction_powered_mean(
    judge_labelled: "ArrayLike",
    human: "ArrayLike",
    judge_unlabelled: "ArrayLike",
    *,
    tuning: float | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Mean of the humans' grades over all items, from few grades and many scores (PPI++).

    The judge's mean over the unlabelled items, moved by how far judge and humans differ on the labelled ones. It needs
    no good judge: a useless one makes the interval as wide as the humans alone would.

    Args:
        judge_labelled: (n,) the judge on the hand-graded items, a random sample of all, on the humans' scale.
        human: (n,) their grades; for pass/fail 1 and 0.
        judge_unlabelled: (N,) the judge on items without a grade.
        tuning: how far the judge is trusted, 0 (not at all) to 1; None finds the value with the least variance.
    Returns:
        n counts the hand-graded items. Undefined below two of them, or below two unlabelled ones.
    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv 2311.01453; equal to `ppi_py.ppi_mean_ci`.

    >>> round(prediction_powered_mean([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0], tuning=1.0).value, 4)
    0.5
    """
    import numpy as np

    pairs = complete_pairs(judge_labelled, human)
    many = rating_vector(judge_unlabelled, name="judge_unlabelled")
    many = many[~np.isnan(many)]
    n, n_many = pairs.n, len(many)
    if n < 2 or n_many < 2:
        why = f"{n} hand-graded and {n_many} unlabelled items; expected two of each at least"
        return Estimate.of_nothing(why, n=n)
    trust = _tuning(pairs.a, pairs.b, many) if tuning is None else tuning
    rectifier = pairs.b - trust * pairs.a
    value = float(trust * many.mean() + rectifier.mean())
    error = math.sqrt(trust * trust * many.var() / n_many + rectifier.var() / n)
    if error == 0:
        return Estimate(value=value, n=n, no_interval="degenerate: judge and humans differ by the same on every item")
    half = _normal_quantile(0.5 + confidence / 2.0) * error
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        n=n,
        method="prediction-powered" + (" (PPI++)" if tuning is None else f", tuning {tuning:g}"),
        confidence=confidence,
    )


def _tuning(judge: "Floats", human: "Floats", many: "Floats") -> float:
    """cov(human, judge) / ((1 + n / N) var(judge)), held in [0, 1]."""
    import numpy as np

    variance = float(np.concatenate([judge, many]).var(ddof=1))
    if variance == 0:
        return 0.0
    covariance = float(((human - human.mean()) * (judge - judge.mean())).mean())
    return _clip(covariance / ((1.0 + len(judge) / len(many)) * variance))


def _lang_reiczigel(found: PassAgreement, n_pass: int, n_unlabelled: int, confidence: float) -> tuple[float, float]:
    """The interval, from shares pulled a little towards a half; the ends held in [0, 1]."""
    z = _normal_quantile(0.5 + confidence / 2.0)
    good, bad = found.true_pass + found.false_fail, found.true_fail + found.false_pass
    tpr, tnr = (found.true_pass + 1) / (good + 2), (found.true_fail + 1) / (bad + 2)
    n = n_unlabelled + z * z
    observed = (n_pass + z * z / 2.0) / n
    youden = tpr + tnr - 1.0
    if youden <= 0:  # only on a handful of items: above 1 as counted, below it once pulled to a half
        return 0.0, 1.0
    rate = (observed + tnr - 1.0) / youden
    shift = 2.0 * z * z * (rate * tpr * (1.0 - tpr) / (good + 2) - (1.0 - rate) * tnr * (1.0 - tnr) / (bad + 2))
    spread = math.sqrt(
        observed * (1.0 - observed) / n
        + rate * rate * tpr * (1.0 - tpr) / (good + 2)
        + (1.0 - rate) ** 2 * tnr * (1.0 - tnr) / (bad + 2)
    )
    half = z * spread / youden
    return _clip(rate + shift - half), _clip(rate + shift + half)


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


def _normal_quantile(probability: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)
