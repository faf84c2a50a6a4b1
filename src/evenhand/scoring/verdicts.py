"""A judge's verdict to its score: built once for a judge, then called for each reply.

    evidence             the formula, half up to a whole number; over criteria from their rounded finals
    number, anchored     the rating or level itself
    checklist            the sum or share of passed weights
    reference, pairwise  what the one word is worth, from 0 to 1
    commit and baselines accepted 1, rejected 0
    several criteria     the weighted mean of the unrounded scores, on one common scale

What is shown of a checklist or a mean is rounded half up to two decimals; `exact` is the unrounded value. A criterion
that has no score (nothing applies, no evidence counts) leaves the whole record without one, with the reason.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from evenhand.errors import InvalidInput
from evenhand.scoring.checklist import Checklist
from evenhand.scoring.evidence_pools import evidence_scorer
from evenhand.scoring.labels import LABELLED_PROTOCOLS, label_scorer
from evenhand.scoring.pipeline import is_pipeline, pipeline_scorer
from evenhand.scoring.scales import Scale, common_scale, half_up, plain_number, scale_of, scale_score, weight_shares
from evenhand.scoring.scored import Scored, ScoredCriterion, refuse_other_criteria
from evenhand.terms import Criterion, CriterionVerdict, JudgeSpec, Verdict

__all__ = ["NUMBER_LEVELS", "SCORED_PROTOCOLS", "VerdictScorer"]

SCORED_PROTOCOLS = ("number", "anchored", "checklist", "evidence", *LABELLED_PROTOCOLS)
"""The protocols whose verdicts this module turns into scores."""

NUMBER_LEVELS = (Decimal(1), Decimal(10))
"""The scale of a bare number whose criterion declares none."""

_DIGITS = 2


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
        if spec.protocol not in ("evidence", "reference") and spec.scoring:
            raise InvalidInput(
                "scoring: formula settings are for `protocol: evidence` and `protocol: reference`, and this judge's is "
                f"{spec.protocol!r}; take `scoring` out"
            )
        if spec.protocol == "evidence":
            self._score = pipeline_scorer(spec) if is_pipeline(spec) else evidence_scorer(spec)
        elif spec.protocol in LABELLED_PROTOCOLS:
            self._score = label_scorer(spec)
        else:
            self._score = _Mean(spec).score

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
        refuse_other_criteria(verdict, tuple(self._shares))
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
