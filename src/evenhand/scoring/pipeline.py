"""The score of an evidence pipeline: pools with a floor, the four buckets' running score, and circuit breakers.

The judge has marked what counts (quotations, caps, duplicates, synthesis); here is arithmetic alone. A judge file that
uses none of the pipeline's keys is scored by `evidence_pools` as ever.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.scoring.breakers import broken, refuse_breakers, tripped
from evenhand.scoring.criteria import CriterionScore, overall_score
from evenhand.scoring.evidence_pools import (
    criterion_shares,
    judge_settings,
    pool_score,
    scale_ends,
    score_flags,
    without_score,
)
from evenhand.scoring.floors import KeptWeights, kept_weights
from evenhand.scoring.impact import Breakdown
from evenhand.scoring.scored import Scored, ScoredCriterion, refuse_other_criteria
from evenhand.scoring.variants import Settings
from evenhand.terms import CriterionVerdict, Evidence, JudgeSpec, Verdict

__all__ = ["BUCKETS", "is_pipeline", "pipeline_scorer"]

BUCKETS = ("working", "not_working", "missing", "confusing")
"""The four buckets of a draft's readiness, in the order in which they are reported."""


def is_pipeline(spec: JudgeSpec) -> bool:
    """Whether a judge uses more than the one-pass form of evidence."""
    return spec.protocol == "evidence" and (
        spec.buckets
        or spec.feedback
        or spec.inventory is not None
        or any(criterion.needs for criterion in spec.criteria)
        or bool(spec.passes or spec.detectors or spec.breakers)
        or spec.synthesis is not None
        or spec.near_duplicate is not None
        or spec.counter_bias != "off"
    )


def pipeline_scorer(spec: JudgeSpec) -> Callable[[Verdict], Scored]:
    """The score of each verdict of one pipeline.

    Raises:
        InvalidInput: weights, formula settings, impacts or breakers that cannot be used.
    """
    chosen, shares = judge_settings(spec), criterion_shares(spec)
    refuse_breakers(spec)

    def score(verdict: Verdict) -> Scored:
        if not shares and len(verdict.criteria) != 1:
            raise InvalidInput(
                f"verdict: it holds {len(verdict.criteria)} pools; expected one, as there is no criterion"
            )
        if shares:
            refuse_other_criteria(verdict, tuple(shares))
        scored = _scored(verdict, shares or {verdict.criteria[0].id: Fraction(1)}, chosen, buckets=spec.buckets)
        items = [item for found in verdict.criteria for item in found.items]
        return broken(scored, tripped(spec.breakers, items))

    return score


def _scored(verdict: Verdict, shares: Mapping[str, Fraction], chosen: Settings, *, buckets: bool) -> Scored:
    """All pools, those below the floor taken out."""
    counts = {found.id: sum(item.counted for item in found.items) for found in verdict.criteria}
    kept = kept_weights(shares, counts, chosen.item_floor)
    pools = [pool_score(found, chosen, float(kept.shares[found.id]), capped=True) for found in verdict.criteria]
    if buckets:
        items = verdict.criteria[0].items
        pools = [(_with(made, buckets=_running(items, chosen)), steps) for made, steps in pools]
    made = tuple(_taken_out(part, shares) if part.id in kept.out else part for part, _ in pools)
    flags = [f"criterion_out:{name}" for name in kept.out] + _pool_flags(pools, kept)
    reason = kept.reason or _unscored(pools, kept)
    if reason is not None:
        return Scored(
            score=None,
            exact=None,
            scale=scale_ends(chosen),
            criteria=made,
            flags=tuple(flags),
            abstained=reason,
        )
    overall = overall_score(
        tuple(
            CriterionScore(id=part.id, weight=kept.shares[part.id], breakdown=steps)
            for part, steps in pools
            if part.id not in kept.out
        ),
        chosen.min_span,
    )
    if overall.self_check == "fail":
        flags.append("self_check_failed")
    return Scored(
        score=overall.score,
        exact=overall.exact,
        scale=scale_ends(chosen),
        criteria=made,
        flags=tuple(flags),
        arithmetic={"confidence": overall.confidence, "span": overall.span, "self_check": overall.self_check},
    )


def _unscored(pools: Sequence[tuple[ScoredCriterion, Breakdown]], kept: KeptWeights) -> str | None:
    """Why a pool that stays in has no score all the same; None where each has one."""
    reasons = [
        without_score(steps) if len(pools) == 1 else f"criterion {made.id!r}: {without_score(steps)}"
        for made, steps in pools
        if made.id not in kept.out and made.score is None
    ]
    return "; ".join(reasons) or None


def _pool_flags(pools: Sequence[tuple[ScoredCriterion, Breakdown]], kept: KeptWeights) -> list[str]:
    """What a reader should know of each pool; a single pool needs no name."""
    return [
        flag if len(pools) == 1 else f"{flag}:{made.id}"
        for made, steps in pools
        if made.id not in kept.out
        for flag in score_flags(made, steps)
    ]


def _taken_out(made: ScoredCriterion, shares: Mapping[str, Fraction]) -> ScoredCriterion:
    """A criterion that is not scored; its steps stay, with the weight it was declared with."""
    return _with(replace(made, weight=0.0, score=None, exact=None), taken_out=True, weight=float(shares[made.id]))


def _with(made: ScoredCriterion, **more: Any) -> ScoredCriterion:
    """The criterion with further steps of its arithmetic."""
    return replace(made, arithmetic={**(made.arithmetic or {}), **more})


def _running(items: Sequence[Evidence], chosen: Settings) -> list[dict[str, Any]]:
    """The score of the pool after each bucket, in their order: what was found so far."""
    running = []
    for place, bucket in enumerate(BUCKETS, start=1):
        found = tuple(item for item in items if item.bucket in BUCKETS[:place])
        _, so_far = pool_score(CriterionVerdict(id=bucket, items=found), chosen, 1.0, capped=True)
        running.append(
            {
                "bucket": bucket,
                "items": sum(item.counted for item in items if item.bucket == bucket),
                "net_impact": so_far.net,
                "total_items": so_far.n,
                "score": so_far.score,
            }
        )
    return running
