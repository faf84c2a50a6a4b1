"""A validation as `--json` prints it; the keys are those that others rely on, and more stand beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from evenhand.analysis.graded import Graded
from evenhand.analysis.sentences import sentences_of
from evenhand.analysis.validation import Validation
from evenhand.stats.attenuation import Attenuation
from evenhand.stats.ceiling import HumanCeiling, PairwiseAgreement
from evenhand.stats.estimates import Estimate
from evenhand.stats.length_bias import WORDING, LengthBias
from evenhand.wording import count, plural

__all__ = ["counts", "validation_document"]

_NAMED = 10


def validation_document(found: Validation, texts: Mapping[str, str] | None = None) -> dict[str, Any]:
    """As `--json` prints it; `texts` are those of the worst misses, by item."""
    known = texts or {}
    return {
        "judge": found.graded.judge.name,
        "n_items": found.graded.n,
        "n_raters": found.n_raters,
        "reruns": found.graded.scores.shape[1],
        "counts": counts(found),
        "scales": {
            "judge": found.graded.scales.judge,
            "human": found.graded.scales.human,
            "same": found.graded.scales.same,
            "taken": found.graded.scales.sentence,
        },
        "spearman": {**found.spearman.document(), "bonett_wright": found.bonett_wright},
        "kendall_tau_b": found.kendall_tau_b.document(),
        "ceiling": _ceiling_document(found.ceiling, found.graded.raters, found.raters),
        "attenuation": None if found.attenuation is None else _attenuation_document(found.attenuation),
        "alpha": found.alpha.document(),
        "fleiss_kappa": found.fleiss.document(),
        "icc": {label: one.document() for label, one in found.icc.by_label().items()},
        "rater_means": dict(found.rater_means),
        **found.absolute.document(),
        "rerun_sd": found.noise.sd.document(),
        "rerun_noise": _noise_document(found),
        "leniency": found.leniency.document(),
        "sd_ratio": found.sd_ratio,
        "length_bias": _length_document(found.length),
        "worst_misses": [miss.document(known.get(miss.item)) for miss in found.misses],
        "brief_but_strong": [miss.document(known.get(miss.item)) for miss in found.brief_but_strong],
        "checks": [check.document() for check in found.checks],
        "cost": _cost_document(found.graded),
        "passing": found.passing.document(),
        "baselines": _baseline_document(found),
        "detectable": {
            "rho": found.detectable_rho,
            "mean_difference_in_sds": found.detectable_shift,
            "alpha": 0.05,
            "power": 0.8,
            "rho_worth": None if found.rho_worth is None else asdict(found.rho_worth),
            "mean_difference_worth": None if found.shift_worth is None else asdict(found.shift_worth),
        },
        "sentences": list(sentences_of(found)),
    }


def counts(found: Validation) -> dict[str, Any]:
    """How many of everything, and by name what does not take part."""
    judge, grades, graded = found.graded.judge, found.grades, found.graded
    return {
        "judgements": judge.n,
        **judge.counts,
        "scores_out_of_scale": len(judge.out_of_scale),
        "grades": sum(len(given) for given in grades.values.values()),
        "grades_missing": grades.n_missing,
        "grades_out_of_scale": len(grades.out_of_scale),
        "items_judged": len(judge.scores),
        "items_graded": sum(bool(given) for given in grades.values.values()),
        "graded_not_judged": len(graded.not_judged),
        "judged_not_graded": len(graded.not_graded),
        "named": {
            "graded_not_judged": list(graded.not_judged[:_NAMED]),
            "judged_not_graded": list(graded.not_graded[:_NAMED]),
            "scores_out_of_scale": [_out(one) for one in judge.out_of_scale[:_NAMED]],
            "grades_out_of_scale": [_out(one) for one in grades.out_of_scale[:_NAMED]],
        },
    }


def _out(one: Any) -> Mapping[str, Any]:
    return {"where": one.where, "item": one.item, "who": one.who, "value": one.value}


def _ceiling_document(
    found: HumanCeiling, raters: Sequence[str], pairwise: PairwiseAgreement | None
) -> Mapping[str, Any]:
    """The mean over raters, the judge on the same targets, and each rater."""
    judged = found.judge_on_same_targets
    less = found.judge_less_human
    return {
        **found.mean.document(),
        "judge_on_same_targets": None if judged is None else judged.document(),
        "judge_less_human": None if less is None else less.document(),
        "n_raters": found.n_raters,
        "raters": [
            {
                "rater": raters[one.rater],
                "human": one.human.document(),
                "judge": None if one.judge is None else one.judge.document(),
            }
            for one in found.raters
        ],
        "mean_pairwise_rho": None if pairwise is None else pairwise.mean.document(),
        "bound": None if pairwise is None else pairwise.bound.document(),
    }


def _attenuation_document(found: Attenuation) -> Mapping[str, Any]:
    return {
        one.name: value.document() if isinstance(value, Estimate) else value
        for one in fields(found)
        if not isinstance(value := getattr(found, one.name), tuple)
    }


def _noise_document(found: Validation) -> Mapping[str, Any]:
    noise = found.noise
    return {
        "icc": noise.icc.document(),
        "within_variance": noise.within,
        "between_variance": noise.between,
        "n_scores": noise.n_scores,
        "n_repeated": noise.n_repeated,
        "n_identical": noise.n_identical,
        "mean_item_sd": noise.mean_item_sd,
        "largest_item_sd": noise.largest_item_sd,
        "more_reruns": list(found.more_reruns),
        "best_n_reruns": found.best_n_reruns,
        "cost_ratio": found.settings.cost_ratio,
    }


def _length_document(found: LengthBias) -> Mapping[str, Any]:
    return {
        "per_doubling": found.per_doubling.document(),
        "partial": found.partial.document(),
        "judge_length": found.judge_length.document(),
        "human_length": found.human_length.document(),
        "means": WORDING,
    }


def _cost_document(graded: Graded) -> Mapping[str, Any]:
    judge = graded.judge
    unknown = judge.n - judge.n_priced
    per_1000 = judge.cost_per_1000
    return {
        "per_1000_judgements": per_1000,
        "per_1000_items": None if per_1000 is None else per_1000 * graded.scores.shape[1],
        "undefined": None
        if per_1000 is not None
        else f"the cost of {count(unknown)} of {plural(judge.n, 'judgement')} is not known",
    }


def _baseline_document(found: Validation) -> Mapping[str, Any]:
    length = found.length_baseline
    less = length.judge_less_length
    return {
        "majority": found.absolute.majority_document(),
        "length": {
            "rho": length.rho.document(),
            "judge_less_length": None if less is None else less.difference.document(),
            "detectable": None if less is None else less.detectable,
            "beaten": length.beaten,
        },
    }
