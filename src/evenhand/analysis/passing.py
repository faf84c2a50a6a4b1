"""Pass/fail: how often the judge agrees, and what share of a larger run really passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analysis.graded import Graded
from evenhand.stats.estimates import Estimate
from evenhand.stats.pass_rates import PassAgreement, pass_agreement, prediction_powered_mean, rogan_gladen, share
from evenhand.stats.resampling import Bootstrap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Passing", "passing"]

_NO_MARK = "no pass mark: neither are scores and grades 0 or 1, nor is --pass-at given"
_NO_RUN = "no larger run without grades: name it with --unlabelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """Pass/fail figures.

    Attributes:
        mark: the grade from which an item passes, on the humans' scale; None where there is none.
        found: the four counts; None without a mark.
        naive: share that the judge passes in the larger run.
        corrected: that share by prediction-powered inference.
        rogan_gladen: the same by Rogan and Gladen's formula.
        mean: mean grade of the larger run by prediction-powered inference, also without a mark.
    """

    mark: float | None
    found: PassAgreement | None
    naive: Estimate
    corrected: Estimate
    rogan_gladen: Estimate
    mean: Estimate

    def document(self) -> Mapping[str, Any]:
        """As `--json` prints it."""
        found = self.found
        nothing = Estimate.of_nothing(_NO_MARK, n=0)
        return {
            "pass_at": self.mark,
            "table": None
            if found is None
            else {
                "true_pass": found.true_pass,
                "false_pass": found.false_pass,
                "false_fail": found.false_fail,
                "true_fail": found.true_fail,
            },
            "tpr": (nothing if found is None else found.tpr).document(),
            "tnr": (nothing if found is None else found.tnr).document(),
            "agreement": (nothing if found is None else found.agreement).document(),
            "majority_baseline": (nothing if found is None else found.majority_baseline).document(),
            "naive_rate": self.naive.document(),
            "corrected_rate": self.corrected.document(),
            "rogan_gladen": self.rogan_gladen.document(),
            "corrected_mean": self.mean.document(),
        }


def passing(
    graded: Graded,
    *,
    pass_at: float | None,
    unlabelled: Sequence[float] | None,
    bootstrap: Bootstrap,
    confidence: float,
) -> Passing:
    """Pass/fail agreement and corrected rates.

    Args:
        pass_at: grade from which an item passes; None where 0 and 1 say it themselves.
        unlabelled: the judge's scores without grades, on the judge's scale.
    """
    import numpy as np

    judge, human = graded.judge_mean, graded.human_mean
    moved = graded.on_human_scale(judge)
    mark = pass_at if pass_at is not None else _binary(graded)
    many = None if unlabelled is None else graded.on_human_scale(np.asarray(unlabelled, dtype=np.float64))
    found = naive = corrected = formula = None
    if mark is not None and moved is not None:
        ours, theirs = (moved >= mark).astype(float), (human >= mark).astype(float)
        found = pass_agreement(ours, theirs)
        if many is not None:
            n_pass, n = int((many >= mark).sum()), len(many)
            naive = share(n_pass, n, "the larger run has no score")
            formula = rogan_gladen(found, n_pass, n, confidence=confidence)
            corrected = prediction_powered_mean(ours, theirs, (many >= mark).astype(float), confidence=confidence)
    why = _NO_RUN if unlabelled is None else _NO_MARK if mark is None else graded.scales.sentence
    nothing = Estimate.of_nothing(why, n=0)
    mean = None
    if many is not None and moved is not None:
        mean = prediction_powered_mean(moved, human, many, confidence=confidence)
    return Passing(
        mark=mark,
        found=found,
        naive=naive or nothing,
        corrected=corrected or nothing,
        rogan_gladen=formula or nothing,
        mean=mean
        or Estimate.of_nothing(_NO_RUN if many is None and unlabelled is None else graded.scales.sentence, n=0),
    )


def _binary(graded: Graded) -> float | None:
    """One half, where scores and grades are 0 or 1: half of the raters suffice for a pass."""
    import numpy as np

    scores, grades = graded.scores, graded.grades
    every = np.concatenate([scores[~np.isnan(scores)], grades[~np.isnan(grades)]])
    return 0.5 if graded.scales.same and ((every == 0) | (every == 1)).all() else None
