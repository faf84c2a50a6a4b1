"""Evidence scored criterion by criterion, and the overall score from the criteria's rounded finals.

overall    = half up(sum of weight * rounded final), in exact arithmetic, as published
confidence = the smallest of the criteria's
self-check = highest minus lowest final, at least `min_span`: a judge that gives all criteria the same has not looked
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from evenhand.errors import InvalidInput
from evenhand.scoring.impact import Breakdown, score_items
from evenhand.scoring.scales import exact_number, half_up, weight_shares
from evenhand.scoring.variants import Settings
from evenhand.terms import Evidence

__all__ = ["CriterionScore", "Overall", "overall_score", "score_criteria"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionScore:
    """One criterion's pool, and its exact share of the overall score."""

    id: str
    weight: Fraction
    breakdown: Breakdown


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The scores of all criteria together.

    Args:
        criteria: in the order of the weights.
        score: from the rounded finals, half up; None if a criterion is empty.
        exact: from the unrounded finals; None if a criterion is empty.
        confidence: the smallest of the criteria's; 0 if one is empty.
        span: highest minus lowest rounded final; None if a criterion is empty or there is only one.
        self_check: whether span reaches `min_span`; None where span is.
        empty: ids of the criteria without items.
    """

    criteria: tuple[CriterionScore, ...]
    score: int | None
    exact: float | None
    confidence: float
    span: int | None
    self_check: Literal["pass", "fail"] | None
    empty: tuple[str, ...]


def score_criteria(
    items: Sequence[Evidence], weights: Mapping[str, Decimal | Fraction | None], settings: Settings
) -> Overall:
    """A pool for each criterion, and the overall score.

    Args:
        items: each naming a criterion in `weights`.
        weights: criterion id to weight, summing to exactly 1; None for all means equal shares.
        settings: used for each pool.
    Returns:
        No overall score where a criterion is empty: nothing was found is not the centre of the scale, and leaving the
        criterion out would change what the weights mean.
    Raises:
        InvalidInput: weights as `weight_shares` says, an item without a criterion or with an undeclared one, or what
            `score_items` refuses, with the criterion named.

    >>> from evenhand.scoring.variants import settings
    >>> found = [Evidence(claim="", impact=3, criterion=name) for name in "aab"]
    >>> score_criteria(found, {"a": Decimal("0.5"), "b": Decimal("0.5")}, settings()).score
    72
    """
    shares = weight_shares(weights.items())
    pools: dict[str, list[Evidence]] = {name: [] for name in shares}
    for position, item in enumerate(items):
        if item.criterion is None or item.criterion not in pools:
            raise InvalidInput(
                f"score_criteria: items[{position}] names the criterion {item.criterion!r}; "
                f"expected one of {', '.join(map(repr, pools))}"
            )
        pools[item.criterion].append(item)
    return overall_score(
        tuple(
            CriterionScore(id=name, weight=shares[name], breakdown=_named(name, pools[name], settings))
            for name in shares
        ),
        settings.min_span,
    )


def overall_score(criteria: tuple[CriterionScore, ...], min_span: Decimal) -> Overall:
    """The overall score of criteria that are scored already."""
    finals = [made.breakdown.score for made in criteria if made.breakdown.score is not None]
    empty = tuple(made.id for made in criteria if made.breakdown.score is None)
    span = max(finals) - min(finals) if len(finals) > 1 and not empty else None
    return Overall(
        criteria=criteria,
        score=None if empty else int(half_up(_weighted(criteria, "score"))),
        exact=None if empty else float(_weighted(criteria, "exact")),
        confidence=min(made.breakdown.confidence for made in criteria),
        span=span,
        self_check=None if span is None else "pass" if span >= min_span else "fail",
        empty=empty,
    )


def _weighted(criteria: Sequence[CriterionScore], field: Literal["score", "exact"]) -> Fraction:
    """Sum of weight * value, exactly."""
    return sum((made.weight * exact_number(getattr(made.breakdown, field)) for made in criteria), Fraction(0))


def _named(name: str, items: Sequence[Evidence], settings: Settings) -> Breakdown:
    """The criterion's pool; what is refused names the criterion."""
    try:
        return score_items(items, settings)
    except InvalidInput as error:
        raise InvalidInput(f"criterion {name!r}: {error}") from error
