"""What a verdict's score is made of: the terms that every protocol's formula gives back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.terms import Verdict

__all__ = ["Ends", "Scored", "ScoredCriterion", "refuse_other_criteria"]

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


def refuse_other_criteria(verdict: Verdict, ids: tuple[str, ...]) -> None:
    """The verdict must hold the judge's criteria, in its order."""
    came = tuple(found.id for found in verdict.criteria)
    if came != ids:
        raise InvalidInput(f"verdict: its criteria are {', '.join(came) or 'none'}; expected {', '.join(ids)}")
