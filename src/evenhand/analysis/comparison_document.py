"""A comparison as `--json` prints it."""

from collections.abc import Mapping
from typing import Any

from evenhand.analysis.comparison import Compared, Comparison
from evenhand.analysis.judge_pairs import Pair
from evenhand.stats.differences import Difference

__all__ = ["comparison_document"]


def comparison_document(found: Comparison) -> dict[str, Any]:
    """All judges and pairs."""
    return {
        "figure": found.pairs[0].figure,
        "n_items": found.n_items,
        "n_shared": found.n_shared,
        "n_raters": found.n_raters,
        "pass_at": found.mark,
        "scales": [scales.sentence for scales in found.scales],
        "bootstrap": {
            "resamples": found.bootstrap.n_resamples,
            "seed": found.bootstrap.seed,
            "over": "items" if found.bootstrap.clusters is None else "clusters",
        },
        "judges": [_judge(one) for one in found.judges],
        "pairs": [_pair(pair, simultaneous=len(found.pairs) > 1) for pair in found.pairs],
        "ranking": None if found.ranking is None else list(found.ranking),
        "why_no_ranking": found.why_no_ranking,
        "told_apart": [{"better": better, "worse": worse} for better, worse in found.told_apart],
    }


def _judge(one: Compared) -> Mapping[str, Any]:
    return {
        "judge": one.name,
        "counts": dict(one.counts),
        "spearman": one.rho.document(),
        "mean": one.mean.document(),
        "mean_on_shared": one.mean_on_shared,
        "worst_case": one.worst,
        "best_case": one.best,
        "n_lost": one.n_lost,
        "cost_per_1000": one.cost_per_1000,
    }


def _pair(pair: Pair, *, simultaneous: bool) -> Mapping[str, Any]:
    return {
        "a": pair.a,
        "b": pair.b,
        "figure": pair.figure,
        **_difference(pair.difference),
        "simultaneous": simultaneous,
        "mean_difference": None if pair.mean_difference is None else _difference(pair.mean_difference),
        "n_identical": pair.n_identical,
        "n_moved": pair.n_moved,
        "moved": [
            {"item": one.item, "a": one.a, "b": one.b, "human": one.human, "nearer": one.nearer} for one in pair.moved
        ],
        "flips": None if pair.flips is None else {"a_alone_passes": pair.flips[0], "b_alone_passes": pair.flips[1]},
        "mcnemar_p": pair.mcnemar,
        "wilcoxon_p": pair.wilcoxon,
        "extra_cost_per_1000": pair.extra_cost_per_1000,
    }


def _difference(found: Difference) -> dict[str, Any]:
    """A difference with the interval that holds together with the others'."""
    alone = found.difference
    return {
        "difference": alone.value,
        "low": found.low,
        "high": found.high,
        "n": alone.n,
        "undefined": alone.undefined,
        "no_interval": alone.no_interval,
        "detectable": found.detectable,
        "value_a": found.value_a,
        "value_b": found.value_b,
        "alone": [alone.low, alone.high],
    }
