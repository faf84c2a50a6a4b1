"""One word to a number: how a candidate stands to its reference, and which of two candidates is better.

    reference   equal 1, partly 0.5 (`scoring: {partly: ...}` sets another worth), contradicts 0; cannot_tell has none
    pairwise    a 1, tie 0.5, b 0

Both scales are 0 to 1. `equal` and `partly` need a quote that was found: without shown evidence there is no score.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from evenhand.errors import InvalidInput
from evenhand.scoring.scales import exact_number, half_up, plain_number
from evenhand.scoring.scored import Scored, ScoredCriterion, refuse_other_criteria
from evenhand.terms import Comparison, Criterion, CriterionVerdict, JudgeSpec, Verdict

__all__ = [
    "ACCEPTANCE_LABELS",
    "ACCEPTANCE_PROTOCOLS",
    "ACCEPTED",
    "LABELLED_PROTOCOLS",
    "NO_COMMITMENT",
    "NO_MAJORITY",
    "PLACES",
    "REFERENCE_LABELS",
    "REJECTED",
    "UNDECIDED",
    "label_scorer",
    "labelled_criterion",
    "swap_label",
]

ACCEPTANCE_PROTOCOLS = ("commit", "anchored_verdict", "solve_first")
"""The protocols that accept a candidate or reject it."""

LABELLED_PROTOCOLS = ("reference", "pairwise", *ACCEPTANCE_PROTOCOLS)
"""The protocols whose verdict is one word."""

ACCEPTED, REJECTED = "accepted", "rejected"
NO_COMMITMENT, NO_MAJORITY, UNDECIDED = "no_commitment", "no_majority", "undecided"
ACCEPTANCE_LABELS = (ACCEPTED, REJECTED, NO_COMMITMENT, NO_MAJORITY, UNDECIDED)
"""Accepted 1, rejected 0; the others have no score and say why."""

REFERENCE_LABELS = ("equal", "partly", "contradicts", "cannot_tell")
PLACES: tuple[Literal["first", "second", "tie"], ...] = ("first", "second", "tie")

PARTLY = Fraction(1, 2)
"""What `partly` is worth where the judge file declares nothing."""

QUOTED = ("exact", "normalized")
"""Quotes that count as found, as for checks (`judges.quotes`, which stands above this floor)."""

_PAIRWISE = {"a": Fraction(1), "tie": Fraction(1, 2), "b": Fraction(0)}
_ACCEPTANCE = {ACCEPTED: Fraction(1), REJECTED: Fraction(0)}
_WITHOUT_SCORE = (NO_COMMITMENT, NO_MAJORITY, UNDECIDED)
_SCALE = (0, 1)
_DIGITS = 2


def labelled_criterion(spec: JudgeSpec) -> Criterion:
    """The one criterion of a judge whose verdict is one word; its id is empty where none is declared.

    Raises:
        InvalidInput: several criteria, or one with levels.
    """
    if not spec.criteria:
        return Criterion(id="")
    if len(spec.criteria) > 1:
        raise InvalidInput(
            f"judge {spec.name}: `criteria` holds {len(spec.criteria)}, and {spec.protocol} gives one verdict an item; "
            "say in one `ask` what decides, or write a judge file for each"
        )
    (criterion,) = spec.criteria
    if criterion.levels is not None:
        raise InvalidInput(f"criterion {criterion.id}: {spec.protocol} is scored from 0 to 1; take `levels` out")
    return criterion


def swap_label(ab: Comparison, ba: Comparison) -> tuple[Literal["a", "b", "tie"], bool]:
    """What both orders come to, and whether they agree; where they do not, it is a tie.

    >>> swap_label(Comparison(first="a", better="first"), Comparison(first="b", better="second"))
    ('a', True)
    >>> swap_label(Comparison(first="a", better="first"), Comparison(first="b", better="first"))
    ('tie', False)
    """
    one, two = _winner(ab), _winner(ba)
    return (one, True) if one == two else ("tie", False)


def label_scorer(spec: JudgeSpec) -> Callable[[Verdict], Scored]:
    """The formula of a judge whose verdict is one word.

    Raises:
        InvalidInput: the criteria do not fit, or a formula setting that there is not.
    """
    criterion = labelled_criterion(spec)
    fixed = {"pairwise": _PAIRWISE, **dict.fromkeys(ACCEPTANCE_PROTOCOLS, _ACCEPTANCE)}
    worth = dict(fixed[spec.protocol]) if spec.protocol in fixed else _reference_worth(spec)

    def score(verdict: Verdict) -> Scored:
        refuse_other_criteria(verdict, (criterion.id,))
        value = _value(verdict.criteria[0], worth)
        abstained = value if isinstance(value, str) else None
        shown, exact = (None, None) if isinstance(value, str) else (plain_number(half_up(value, _DIGITS)), float(value))
        made = ScoredCriterion(id=criterion.id, weight=1.0, score=shown, exact=exact, scale=_SCALE)
        return Scored(score=shown, exact=exact, scale=_SCALE, criteria=(made,), abstained=abstained)

    return score


def _value(found: CriterionVerdict, worth: dict[str, Fraction]) -> Fraction | str:
    """The finding's worth, or why it has none."""
    if found.label in _WITHOUT_SCORE and ACCEPTED in worth:
        return _unscored(found)
    if found.label == "cannot_tell":
        return "cannot_tell"
    if found.label not in worth:
        raise InvalidInput(f"verdict: its label is {found.label!r}; expected one of {', '.join(worth)}")
    if found.label in ("equal", "partly") and found.quote_status not in QUOTED:
        return "absent_quote"
    return worth[found.label]


def _unscored(found: CriterionVerdict) -> str:
    """Why a judge that answers for itself gives no verdict."""
    return f"{found.label}: {found.reason}" if found.reason else str(found.label)


def _reference_worth(spec: JudgeSpec) -> dict[str, Fraction]:
    """What each word is worth; only `partly` can be set."""
    for name in spec.scoring:
        if name != "partly":
            raise InvalidInput(f"scoring: {name!r} is no setting of `protocol: reference`; it has one, `partly`")
    given = spec.scoring.get("partly", PARTLY)
    if isinstance(given, bool) or not isinstance(given, int | float | Decimal | Fraction):
        raise InvalidInput(f"scoring: partly is {given!r}; expected a number from 0 to 1")
    partly = exact_number(given)
    if not 0 <= partly <= 1:
        raise InvalidInput(f"scoring: partly is {given}; expected a number from 0 to 1")
    return {"equal": Fraction(1), "partly": partly, "contradicts": Fraction(0)}


def _winner(comparison: Comparison) -> Literal["a", "b", "tie"]:
    """The candidate in the place that was found better."""
    if comparison.better == "tie":
        return "tie"
    if comparison.better == "first":
        return comparison.first
    return "b" if comparison.first == "a" else "a"
