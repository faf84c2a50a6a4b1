"""Evidence verdicts to scores: the formula over one pool, or over a pool for each criterion."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import nan
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.scoring.criteria import CriterionScore, overall_score
from evenhand.scoring.flags import pool_flags
from evenhand.scoring.impact import Breakdown, arithmetic, score_items, weakest_over_cap
from evenhand.scoring.scales import plain_number, weight_shares
from evenhand.scoring.scored import Ends, Scored, ScoredCriterion, refuse_other_criteria
from evenhand.scoring.variants import Settings, settings
from evenhand.terms import IMPACTS, CriterionVerdict, Evidence, JudgeSpec, Verdict

__all__ = [
    "NOTHING",
    "criterion_shares",
    "evidence_scorer",
    "judge_settings",
    "pool_score",
    "scale_ends",
    "score_flags",
    "without_score",
]

NOTHING = "no evidence item counts, so there is nothing to score"
"""Why a pool without counted items has no score."""

_LONE = "one evidence item counts, and the variant divides by ln(1), which is 0"


def judge_settings(spec: JudgeSpec) -> Settings:
    """The formula settings of a judge file: `scoring` may name a `variant` and override constants.

    Raises:
        InvalidInput: as `settings` says.
    """
    overrides = {name: value for name, value in spec.scoring.items() if name != "variant"}
    return settings(spec.scoring.get("variant", "production"), overrides)


def evidence_scorer(spec: JudgeSpec) -> Callable[[Verdict], Scored]:
    """The formula over one pool, or over a pool for each criterion.

    Raises:
        InvalidInput: weights, formula settings or impacts that cannot be used.
    """
    chosen = judge_settings(spec)
    shares = criterion_shares(spec)
    if spec.layout == "pooled":
        return lambda verdict: _pooled(verdict, chosen)
    return lambda verdict: _matrix(verdict, chosen, shares)


def criterion_shares(spec: JudgeSpec) -> dict[str, Fraction]:
    """Each criterion's share, where there are criteria; the catalogue's impacts are checked on the way.

    Raises:
        InvalidInput: an impact outside the set, weights that do not sum to 1, a matrix without criteria.
    """
    for entry in spec.catalog:
        if isinstance(entry.impact, bool) or entry.impact not in IMPACTS:
            stated = ", ".join(f"{impact:+d}" for impact in IMPACTS)
            raise InvalidInput(f"catalog: {entry.id!r} has the impact {entry.impact!r}; expected one of {stated}")
    shares = weight_shares((criterion.id, criterion.weight) for criterion in spec.criteria) if spec.criteria else {}
    if spec.layout == "matrix" and not shares:
        raise InvalidInput("layout: `matrix` scores a pool per criterion, and no criterion is declared; add `criteria`")
    return shares


def _pooled(verdict: Verdict, chosen: Settings) -> Scored:
    """One pool, one score."""
    if len(verdict.criteria) != 1:
        raise InvalidInput(f"verdict: it holds {len(verdict.criteria)} pools; expected one, as the layout is `pooled`")
    made, breakdown = pool_score(verdict.criteria[0], chosen, 1.0)
    return Scored(
        score=made.score,
        exact=made.exact,
        scale=made.scale,
        criteria=(made,),
        flags=score_flags(made, breakdown),
        abstained=without_score(breakdown) if made.score is None else None,
    )


def _matrix(verdict: Verdict, chosen: Settings, shares: Mapping[str, Fraction]) -> Scored:
    """A pool per criterion, and the overall score from their rounded finals."""
    refuse_other_criteria(verdict, tuple(shares))
    pools = [pool_score(found, chosen, float(shares[found.id])) for found in verdict.criteria]
    overall = overall_score(
        tuple(CriterionScore(id=made.id, weight=shares[made.id], breakdown=steps) for made, steps in pools),
        chosen.min_span,
    )
    flags = [f"{flag}:{made.id}" for made, steps in pools for flag in score_flags(made, steps)]
    if overall.self_check == "fail":
        flags.append("self_check_failed")
    reasons = [f"criterion {made.id!r}: {without_score(steps)}" for made, steps in pools if made.score is None]
    return Scored(
        score=overall.score,
        exact=overall.exact,
        scale=scale_ends(chosen),
        criteria=tuple(made for made, _ in pools),
        flags=tuple(flags),
        abstained="; ".join(reasons) or None,
        arithmetic={"confidence": overall.confidence, "span": overall.span, "self_check": overall.self_check},
    )


def pool_score(
    found: CriterionVerdict, chosen: Settings, weight: float, *, capped: bool = False
) -> tuple[ScoredCriterion, Breakdown]:
    """One pool's score, each cell within its cap.

    Args:
        capped: the judge has kept to the cap already.
    """
    dropped = () if capped else weakest_over_cap(found.items, chosen.cap)
    kept = [item for position, item in enumerate(found.items) if position not in dropped] if dropped else found.items
    lone = chosen.normaliser == "log" and sum(item.counted for item in kept) == 1
    breakdown = _lone(kept, chosen) if lone else score_items(kept, chosen)
    steps: dict[str, Any] = {"variant": chosen.variant, **arithmetic(breakdown)}
    if lone:
        steps["normalized"] = None
    if dropped:
        steps["over_cap"] = list(dropped)
    made = ScoredCriterion(
        id=found.id,
        weight=weight,
        score=breakdown.score,
        exact=breakdown.exact,
        scale=scale_ends(chosen),
        arithmetic=steps,
    )
    return made, breakdown


def without_score(breakdown: Breakdown) -> str:
    """Why a pool has no score."""
    return _LONE if breakdown.n else NOTHING


def score_flags(made: ScoredCriterion, breakdown: Breakdown) -> tuple[str, ...]:
    """The pool's flags, and whether a cell was over its cap."""
    over = ("over_cap",) if made.arithmetic and "over_cap" in made.arithmetic else ()
    return (*pool_flags(breakdown), *over)


def scale_ends(chosen: Settings) -> Ends:
    """The formula's scale."""
    return plain_number(chosen.lowest), plain_number(chosen.highest)


def _lone(items: Sequence[Evidence], chosen: Settings) -> Breakdown:
    """A pool that `log` cannot normalise: a judge may well find one thing only, and that must not end a run."""
    made = score_items(items, replace(chosen, normaliser="sqrt"))
    undefined: dict[str, Any] = dict.fromkeys(("raw_unclamped", "raw", "exact", "score"))
    return replace(made, settings=chosen, normalized=nan, **undefined)
