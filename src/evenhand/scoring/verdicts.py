"""A judge's verdict to its score: built once for a judge, then called for each reply.

    evidence             the formula, half up to a whole number; over criteria from their rounded finals
    number, anchored     the rating or level itself
    checklist            the sum or share of passed weights
    several criteria     the weighted mean of the unrounded scores, on one common scale

What is shown of a checklist or a mean is rounded half up to two decimals; `exact` is the unrounded value. A criterion
that has no score (nothing applies, no evidence counts) leaves the whole record without one, with the reason.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import nan
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.scoring.checklist import Checklist
from evenhand.scoring.criteria import CriterionScore, overall_score
from evenhand.scoring.flags import pool_flags
from evenhand.scoring.impact import Breakdown, arithmetic, score_items, weakest_over_cap
from evenhand.scoring.scales import Scale, common_scale, half_up, plain_number, scale_of, scale_score, weight_shares
from evenhand.scoring.variants import Settings, settings
from evenhand.terms import IMPACTS, Criterion, CriterionVerdict, Evidence, JudgeSpec, Verdict

__all__ = ["NUMBER_LEVELS", "SCORED_PROTOCOLS", "Scored", "ScoredCriterion", "VerdictScorer", "judge_settings"]

SCORED_PROTOCOLS = ("number", "anchored", "checklist", "evidence")
"""The protocols whose verdicts this module turns into scores."""

NUMBER_LEVELS = (Decimal(1), Decimal(10))
"""The scale of a bare number whose criterion declares none."""

_DIGITS = 2
_NOTHING = "no evidence item counts, so there is nothing to score"
_LONE = "one evidence item counts, and the variant divides by ln(1), which is 0"

Ends = tuple[int | float, int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCriterion:
    """One criterion's score.

    Args:
        weight: its share of the overall score.
        score: the number shown; None if the criterion has none.
        exact: the unrounded number; None if the criterion has none.
        scale: (lowest, highest).
        arithmetic: for evidence, the formula's steps by name, and under `over_cap` the positions of items that their
            cell had no room for.
    """

    id: str
    weight: float
    score: int | float | None
    exact: float | None
    scale: Ends
    arithmetic: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A verdict's score, or why it has none.

    Args:
        score: the number shown; None if abstained.
        exact: the unrounded number; None if abstained.
        flags: short names, `name:criterion` where there are several criteria.
        abstained: the reason; None where there is a score.
        arithmetic: for evidence by criterion, `confidence`, `span` and `self_check` of all together.
    """

    score: int | float | None
    exact: float | None
    scale: Ends
    criteria: tuple[ScoredCriterion, ...]
    flags: tuple[str, ...] = ()
    abstained: str | None = None
    arithmetic: Mapping[str, Any] | None = None


def judge_settings(spec: JudgeSpec) -> Settings:
    """The formula settings of a judge file: `scoring` may name a `variant` and override constants.

    Raises:
        InvalidInput: as `settings` says.
    """
    overrides = {name: value for name, value in spec.scoring.items() if name != "variant"}
    return settings(spec.scoring.get("variant", "production"), overrides)


class VerdictScorer:
    """The score of each verdict of one judge."""

    def __init__(self, spec: JudgeSpec) -> None:
        """Check everything that does not depend on a verdict.

        Raises:
            InvalidInput: a protocol without a score here, weights, scales, levels, formula settings or catalogue
                impacts that cannot be used, each named.
        """
        self.spec = spec
        if spec.protocol not in SCORED_PROTOCOLS:
            raise InvalidInput(
                f"protocol: {spec.protocol!r} has no score of its own; expected one of {', '.join(SCORED_PROTOCOLS)}"
            )
        if spec.protocol != "evidence" and spec.scoring:
            raise InvalidInput(
                f"scoring: formula settings are for `protocol: evidence`, and this judge's is {spec.protocol!r}; "
                "take `scoring` out"
            )
        self._score = _evidence(spec) if spec.protocol == "evidence" else _Mean(spec).score

    def score(self, verdict: Verdict) -> Scored:
        """The score of one verdict, whose criteria are the judge's, in its order (one, for a pooled layout).

        Raises:
            InvalidInput: criteria, checks, levels, ratings or impacts that are not the judge's.
        """
        return self._score(verdict)


class _Mean:
    """Number, anchored and checklist: criteria on one scale, and their weighted mean."""

    def __init__(self, spec: JudgeSpec) -> None:
        make = {"number": _number, "anchored": _anchored, "checklist": _checklist}[spec.protocol]
        made = [(criterion.id, *make(criterion)) for criterion in spec.criteria]
        self._shares = weight_shares((criterion.id, criterion.weight) for criterion in spec.criteria)
        self._scale = common_scale([(name, scale) for name, scale, _ in made]).ends
        self._rows = tuple((name, float(self._shares[name]), exact) for name, _, exact in made)
        self._shown: dict[Fraction, tuple[int | float, float]] = {}

    def score(self, verdict: Verdict) -> Scored:
        """The score of one verdict, whose criteria are the judge's, in its order."""
        _refuse_other_criteria(verdict, tuple(self._shares))
        criteria, values, reasons = [], [], []
        for (name, weight, exact_of), found in zip(self._rows, verdict.criteria, strict=True):
            value = exact_of(found)
            if isinstance(value, str):
                reasons.append(value)
                shown, exact = None, None
            else:
                values.append(value)
                shown, exact = self._numbers(value)
            criteria.append(ScoredCriterion(id=name, weight=weight, score=shown, exact=exact, scale=self._scale))
        if reasons:
            reason = "; ".join(reasons)
            return Scored(score=None, exact=None, scale=self._scale, criteria=tuple(criteria), abstained=reason)
        mean = values[0] if len(values) == 1 else self._mean(values)
        shown, exact = self._numbers(mean)
        return Scored(score=shown, exact=exact, scale=self._scale, criteria=tuple(criteria))

    def _mean(self, values: list[Fraction]) -> Fraction:
        """The exact weighted mean."""
        return sum((share * value for share, value in zip(self._shares.values(), values, strict=True)), Fraction(0))

    def _numbers(self, value: Fraction) -> tuple[int | float, float]:
        """(shown, exact), remembered, since a judge has few distinct scores."""
        numbers = self._shown.get(value)
        if numbers is None:
            numbers = self._shown[value] = plain_number(half_up(value, _DIGITS)), float(value)
        return numbers


Exactly = Callable[[CriterionVerdict], Fraction | str]
"""A criterion's verdict to its exact score, or to the reason why there is none."""


def _number(criterion: Criterion) -> tuple[Scale, Exactly]:
    """A rating on the criterion's scale."""
    scale = scale_of(*(criterion.levels or NUMBER_LEVELS), what=f"criterion {criterion.id!r}", integral=True)
    return scale, lambda found: Fraction(scale_score(found.rating, scale, what=f"{criterion.id}: rating"))


def _anchored(criterion: Criterion) -> tuple[Scale, Exactly]:
    """A level among those described."""
    ends = criterion.levels
    if criterion.level_texts:
        ends = Decimal(min(criterion.level_texts)), Decimal(max(criterion.level_texts))
    if ends is None:
        raise InvalidInput(f"criterion {criterion.id!r}: it has no levels; describe each: `levels: {{1: ..., 2: ...}}`")
    scale = scale_of(*ends, what=f"criterion {criterion.id!r}", integral=True)

    def level(found: CriterionVerdict) -> Fraction:
        value = scale_score(found.level, scale, what=f"{criterion.id}: level")
        if criterion.level_texts and value not in criterion.level_texts:
            stated = ", ".join(map(str, sorted(criterion.level_texts)))
            raise InvalidInput(f"{criterion.id}: level is {value}; expected one that is described: {stated}")
        return Fraction(value)

    return scale, level


def _checklist(criterion: Criterion) -> tuple[Scale, Exactly]:
    """The criterion's checks, prepared."""
    checklist = Checklist(criterion)

    def exact(found: CriterionVerdict) -> Fraction | str:
        made = checklist.score(found.checks)
        return made.reason if made.exact is None else made.exact

    return checklist.scale, exact


def _evidence(spec: JudgeSpec) -> Callable[[Verdict], Scored]:
    """The formula over one pool, or over a pool for each criterion."""
    chosen = judge_settings(spec)
    for entry in spec.catalog:
        if isinstance(entry.impact, bool) or entry.impact not in IMPACTS:
            stated = ", ".join(f"{impact:+d}" for impact in IMPACTS)
            raise InvalidInput(f"catalog: {entry.id!r} has the impact {entry.impact!r}; expected one of {stated}")
    shares = weight_shares((criterion.id, criterion.weight) for criterion in spec.criteria) if spec.criteria else {}
    if spec.layout == "pooled":
        return lambda verdict: _pooled(verdict, chosen)
    if not shares:
        raise InvalidInput("layout: `matrix` scores a pool per criterion, and no criterion is declared; add `criteria`")
    return lambda verdict: _matrix(verdict, chosen, shares)


def _pooled(verdict: Verdict, chosen: Settings) -> Scored:
    """One pool, one score."""
    if len(verdict.criteria) != 1:
        raise InvalidInput(f"verdict: it holds {len(verdict.criteria)} pools; expected one, as the layout is `pooled`")
    made, breakdown = _pool(verdict.criteria[0], chosen, 1.0)
    return Scored(
        score=made.score,
        exact=made.exact,
        scale=made.scale,
        criteria=(made,),
        flags=_flags(made, breakdown),
        abstained=_without_score(breakdown) if made.score is None else None,
    )


def _matrix(verdict: Verdict, chosen: Settings, shares: Mapping[str, Fraction]) -> Scored:
    """A pool per criterion, and the overall score from their rounded finals."""
    _refuse_other_criteria(verdict, tuple(shares))
    pools = [_pool(found, chosen, float(shares[found.id])) for found in verdict.criteria]
    overall = overall_score(
        tuple(CriterionScore(id=made.id, weight=shares[made.id], breakdown=steps) for made, steps in pools),
        chosen.min_span,
    )
    flags = [f"{flag}:{made.id}" for made, steps in pools for flag in _flags(made, steps)]
    if overall.self_check == "fail":
        flags.append("self_check_failed")
    reasons = [f"criterion {made.id!r}: {_without_score(steps)}" for made, steps in pools if made.score is None]
    return Scored(
        score=overall.score,
        exact=overall.exact,
        scale=_ends(chosen),
        criteria=tuple(made for made, _ in pools),
        flags=tuple(flags),
        abstained="; ".join(reasons) or None,
        arithmetic={"confidence": overall.confidence, "span": overall.span, "self_check": overall.self_check},
    )


def _pool(found: CriterionVerdict, chosen: Settings, weight: float) -> tuple[ScoredCriterion, Breakdown]:
    """One pool's score, each cell within its cap."""
    dropped = weakest_over_cap(found.items, chosen.cap)
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
        scale=_ends(chosen),
        arithmetic=steps,
    )
    return made, breakdown


def _lone(items: Sequence[Evidence], chosen: Settings) -> Breakdown:
    """A pool that `log` cannot normalise: a judge may well find one thing only, and that must not end a run."""
    made = score_items(items, replace(chosen, normaliser="sqrt"))
    undefined: dict[str, Any] = dict.fromkeys(("raw_unclamped", "raw", "exact", "score"))
    return replace(made, settings=chosen, normalized=nan, **undefined)


def _without_score(breakdown: Breakdown) -> str:
    """Why a pool has no score."""
    return _LONE if breakdown.n else _NOTHING


def _flags(made: ScoredCriterion, breakdown: Breakdown) -> tuple[str, ...]:
    """The pool's flags, and whether a cell was over its cap."""
    over = ("over_cap",) if made.arithmetic and "over_cap" in made.arithmetic else ()
    return (*pool_flags(breakdown), *over)


def _ends(chosen: Settings) -> Ends:
    """The formula's scale."""
    return plain_number(chosen.lowest), plain_number(chosen.highest)


def _refuse_other_criteria(verdict: Verdict, ids: tuple[str, ...]) -> None:
    """The verdict must hold the judge's criteria, in its order."""
    came = tuple(found.id for found in verdict.criteria)
    if came != ids:
        raise InvalidInput(f"verdict: its criteria are {', '.join(came) or 'none'}; expected {', '.join(ids)}")
