"""Can this judge be trusted? One judge against hand grades, in the order in which a reader needs it.

    validate(graded, grades, settings)      every figure, each with its interval and n, or the reason why there is none
    validation_document(found)              the same as `--json` prints it (validation_document.py)

Counts come first; then rank agreement, the human ceiling on the same targets, agreement between raters, absolute
agreement, collapse, rerun noise, leniency, length bias, misses, checks, cost, pass rates. Next to what looks like "no
difference" stands the smallest one that this n could have shown, and baselines that any judge must beat.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.analysis.absolute import AbsoluteAgreement, absolute_agreement
from evenhand.analysis.checks import CheckAgreement, check_agreement
from evenhand.analysis.graded import Graded, grade_matrix
from evenhand.analysis.misses import Miss, brief_but_strong, worst_misses
from evenhand.analysis.passing import Passing, passing
from evenhand.stats.alpha import fleiss_kappa, krippendorff_alpha
from evenhand.stats.attenuation import Attenuation, attenuation
from evenhand.stats.baselines import LengthBaseline, length_baseline
from evenhand.stats.ceiling import ONE_RATER, HumanCeiling, PairwiseAgreement, human_ceiling, pairwise_agreement
from evenhand.stats.design_effect import Worth, rho_influence, worth
from evenhand.stats.estimates import Estimate
from evenhand.stats.icc import IntraclassCorrelations, intraclass_correlations
from evenhand.stats.length_bias import LengthBias, length_bias
from evenhand.stats.leniency import leniency, sd_ratio
from evenhand.stats.one_way import spearman_brown
from evenhand.stats.planning import detectable_rho, detectable_shift
from evenhand.stats.rank import bonett_wright_interval, kendall_tau_b, spearman
from evenhand.stats.reruns import RerunNoise, best_n_reruns, rerun_noise
from evenhand.stats.resampling import Bootstrap
from evenhand.store.grades import Grades
from evenhand.terms import JudgeSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Validation", "ValidationSettings", "validate"]

_MORE_RERUNS = (1, 2, 3, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationSettings:
    """How a judge is validated.

    Args:
        n_resamples: of each bootstrap.
        seed: of all of them.
        confidence: of all intervals.
        pass_at: grade, on the humans' scale, from which an item passes; None finds pass/fail judges by their 0 and 1.
        unlabelled: the judge's scores of a larger run without grades, for the corrected rate.
        cost_ratio: what one more graded item costs over one more run, for items or reruns.
        most_misses: how many of the worst misses to give.
        specs: judges by hash, for what one check would have changed.
        criterion: the one criterion that is validated.
    """

    n_resamples: int = 1999
    seed: int = 7
    confidence: float = 0.95
    pass_at: float | None = None
    unlabelled: Sequence[float] | None = None
    cost_ratio: float = 10.0
    most_misses: int = 10
    specs: Mapping[str, JudgeSpec] | None = None
    criterion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Validation:
    """Everything that is known about one judge from hand grades.

    `rho_worth` and `shift_worth` say how many independent items the clustered ones are worth; what they could have
    shown (`detectable_rho`, `detectable_shift`) rests on that. Both are None without clusters.
    """

    graded: Graded
    grades: Grades
    n_raters: int
    spearman: Estimate
    bonett_wright: tuple[float, float] | None
    kendall_tau_b: Estimate
    ceiling: HumanCeiling
    raters: PairwiseAgreement | None
    attenuation: Attenuation | None
    alpha: Estimate
    fleiss: Estimate
    icc: IntraclassCorrelations
    rater_means: Mapping[str, float]
    absolute: AbsoluteAgreement
    noise: RerunNoise
    more_reruns: tuple[Mapping[str, Any], ...]
    best_n_reruns: float | None
    leniency: Estimate
    sd_ratio: float | None
    length: LengthBias
    length_baseline: LengthBaseline
    misses: tuple[Miss, ...]
    brief_but_strong: tuple[Miss, ...]
    checks: tuple[CheckAgreement, ...]
    passing: Passing
    rho_worth: Worth | None
    shift_worth: Worth | None
    detectable_rho: float | None
    detectable_shift: float | None
    settings: ValidationSettings


def validate(graded: Graded, grades: Grades, settings: ValidationSettings | None = None) -> Validation:
    """Every figure for one judge.

    Args:
        graded: its scores beside the grades.
        grades: all grades: agreement between raters rests on every graded item, judged or not.
        settings: how.
    """
    chosen = settings or ValidationSettings()
    bootstrap = Bootstrap(
        n_resamples=chosen.n_resamples, seed=chosen.seed, confidence=chosen.confidence, clusters=graded.clusters
    )
    judge, human = graded.judge_mean, graded.human_mean
    rho = spearman(judge, human, bootstrap=bootstrap)
    moved = graded.on_human_scale(judge)
    everyone, own = _all_grades(graded, grades, bootstrap)
    noise = rerun_noise(graded.scores, bootstrap=bootstrap)
    n_raters = _n_raters(everyone)
    several = n_raters > 1
    of_rho, of_shift = _worth(graded, judge if moved is None else moved)
    return Validation(
        graded=graded,
        grades=grades,
        n_raters=n_raters,
        spearman=rho,
        bonett_wright=_bonett_wright(rho, graded, of_rho, chosen.confidence),
        kendall_tau_b=kendall_tau_b(judge, human, bootstrap=bootstrap),
        ceiling=human_ceiling(graded.grades, judge, bootstrap=bootstrap, names=graded.raters),
        raters=pairwise_agreement(everyone, bootstrap=own, names=grades.raters) if several else None,
        attenuation=attenuation(graded.scores, graded.grades, bootstrap=bootstrap) if several else None,
        alpha=krippendorff_alpha(everyone, bootstrap=own)
        if several
        else Estimate.of_nothing(ONE_RATER, n=len(everyone)),
        fleiss=fleiss_kappa(everyone) if several else Estimate.of_nothing(ONE_RATER, n=len(everyone)),
        icc=intraclass_correlations(everyone, bootstrap=own),
        rater_means=_rater_means(grades),
        absolute=absolute_agreement(graded, bootstrap=bootstrap),
        noise=noise,
        more_reruns=_more_reruns(noise),
        best_n_reruns=_best(noise, chosen.cost_ratio),
        leniency=_leniency(graded, moved, bootstrap, chosen.confidence),
        sd_ratio=None if moved is None else sd_ratio(moved, human),
        length=length_bias(
            judge if moved is None else moved,
            human,
            graded.lengths,
            common_scale=moved is not None,
            bootstrap=bootstrap,
            confidence=chosen.confidence,
        ),
        length_baseline=length_baseline(judge, human, graded.lengths, bootstrap=bootstrap),
        misses=worst_misses(graded, most=chosen.most_misses),
        brief_but_strong=brief_but_strong(graded),
        checks=check_agreement(
            graded, high_from=_high_from(graded, chosen), specs=chosen.specs, criterion=chosen.criterion
        ),
        passing=passing(
            graded, pass_at=chosen.pass_at, unlabelled=chosen.unlabelled, bootstrap=bootstrap,
            confidence=chosen.confidence,
        ),
        rho_worth=of_rho,
        shift_worth=of_shift,
        detectable_rho=_detectable(detectable_rho, graded, of_rho),
        detectable_shift=_detectable(detectable_shift, graded, of_shift),
        settings=chosen,
    )  # fmt: skip


def _worth(graded: Graded, judge: "Floats") -> tuple[Worth | None, Worth | None]:
    """What the items are worth for rho and for a mean difference; None where they are not clustered."""
    if graded.clusters is None:
        return None, None
    human = graded.human_mean
    return worth(rho_influence(judge, human), graded.clusters), worth(judge - human, graded.clusters)


def _detectable(figure: Callable[[float], float | None], graded: Graded, of_sources: Worth | None) -> float | None:
    """The smallest effect that would show; None where items share sources and nobody knows what they are worth."""
    if graded.clusters is None:
        return figure(graded.n)
    return None if of_sources is None else figure(of_sources.items)


def _all_grades(graded: Graded, grades: Grades, bootstrap: Bootstrap) -> "tuple[Floats, Bootstrap]":
    """All graded items' grades, and the bootstrap for them: their clusters where all of them are known."""
    items = [item for item in grades.items if grades.values.get(item)]
    clusters = None
    if graded.clusters is not None:
        known = {**graded.judge.clusters, **grades.clusters}
        clusters = tuple(known.get(item, f"\0{item}") for item in items)
    return grade_matrix(grades, items), replace(bootstrap, clusters=clusters)


def _n_raters(everyone: "Floats") -> int:
    """Raters with a usable grade."""
    import numpy as np

    return int((~np.isnan(everyone)).any(axis=0).sum())


def _bonett_wright(
    rho: Estimate, graded: Graded, of_sources: Worth | None, confidence: float
) -> tuple[float, float] | None:
    """The cross-check of rho's interval, of clustered items for what they are worth; None where it is not defined."""
    if rho.value is None or (graded.clusters is not None and of_sources is None):
        return None
    n = rho.n if of_sources is None else int(of_sources.items)
    low, high = bonett_wright_interval(rho.value, n, confidence=confidence)
    return None if low != low else (low, high)


def _rater_means(grades: Grades) -> Mapping[str, float]:
    """Each rater's mean grade: the gap between agreement and consistency is their leniency."""
    found: dict[str, list[float]] = {rater: [] for rater in grades.raters}
    for by_rater in grades.values.values():
        for rater, grade in by_rater.items():
            found[rater].append(grade)
    return {rater: sum(given) / len(given) for rater, given in found.items() if given}


def _leniency(graded: Graded, moved: "Floats | None", bootstrap: Bootstrap, confidence: float) -> Estimate:
    """Mean of judge less human, on the humans' scale."""
    if moved is None:
        return Estimate.of_nothing(graded.scales.sentence, n=graded.n)
    return leniency(moved, graded.human_mean, bootstrap=bootstrap, confidence=confidence)


def _more_reruns(noise: RerunNoise) -> tuple[Mapping[str, Any], ...]:
    """Reliability of the mean of so many runs."""
    if noise.icc.value is None:
        return ()
    found = [(k, spearman_brown(min(noise.icc.value, 1.0), k)) for k in _MORE_RERUNS]
    return tuple({"reruns": k, "reliability": None if r != r else r} for k, r in found)


def _best(noise: RerunNoise, cost_ratio: float) -> float | None:
    """Reruns an item that are worth their money."""
    if noise.between is None or noise.within is None:
        return None
    return best_n_reruns(noise.between, noise.within, cost_ratio=cost_ratio)


def _high_from(graded: Graded, settings: ValidationSettings) -> float:
    """The grade from which an item counts as high: the pass mark, or the middle of the scale."""
    if settings.pass_at is not None:
        return settings.pass_at
    human = graded.human_mean
    low, high = graded.scales.human or (float(human.min()), float(human.max()))
    return (low + high) / 2.0
