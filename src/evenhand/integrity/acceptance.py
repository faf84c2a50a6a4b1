"""How acceptance came about, by the harness's outcomes: the match with the commitment, a score, or something else."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.integrity.trace_evidence import TracedItem

__all__ = ["decided"]

_COMMITTED = ("commit_blind", "commit_visible")


def decided(items: Sequence[TracedItem], *, has_match: bool) -> tuple[tuple[TracedItem, ...], dict[str, Any]]:
    """Name the items on which the match did not decide, and what the whole trace says about it.

    Args:
        items: with outcomes and matches, their arms as the calls alone show them.
        has_match: whether a match relation was given at all.
    Returns:
        The items with their final arms; fields of `TraceEvidence`.
    """
    committed = [one for one in items if one.arm in _COMMITTED]
    checked = [one for one in committed if has_match and one.accepted is not None and _expected(one) is not None]
    differing = [one for one in checked if one.accepted is not _expected(one)]
    scored = [one for one in committed if one.score is not None]
    separates = _separates(scored)
    decides = _score_decides(scored, separates, differing, checked)
    suspect = bool(scored) and len(scored) * 2 >= len(committed) and decides is not False
    loose = {one.item for one in checked if one.accepted and one.commitment is None}
    facts = {
        "n_matched": len(checked),
        "disagreements": tuple(one.item for one in differing),
        "accepted_without_commitment": tuple(one.item for one in committed if one.item in loose),
        "undecided": tuple(
            one.item for one in committed if has_match and one.accepted is not None and _expected(one) is None
        ),
        "n_scored": len(scored),
        "score_decides": decides,
    }
    ids = {one.item for one in differing}
    return tuple(_renamed(one, ids, suspect, decides) for one in items), facts


def _expected(one: TracedItem) -> bool | None:
    """Whether the match would accept; None where it is undecided and the model was not asked either."""
    if one.commitment is None:
        return False
    if one.matched == "undecided":
        # Short texts may be told apart by a model that is asked for sameness alone, with the commitment before it.
        return one.said if one.comparison_has_commitment and one.score is None else None
    return None if one.matched is None else one.matched == "equal"


def _separates(scored: Sequence[TracedItem]) -> bool | None:
    """Whether every accepted item has a higher score than every rejected one; None without both."""
    accepted = [one.score for one in scored if one.accepted is True and one.score is not None]
    rejected = [one.score for one in scored if one.accepted is False and one.score is not None]
    return min(accepted) > max(rejected) if accepted and rejected else None


def _score_decides(
    scored: Sequence[TracedItem], separates: bool | None, differing: Sequence[TracedItem], checked: Sequence[TracedItem]
) -> bool | None:
    """Whether the score and not the match decides; None where the outcomes do not say."""
    if not scored or separates is None or not checked:
        return None
    if not separates:
        return False
    return True if differing else None


def _renamed(one: TracedItem, differing: set[str], suspect: bool, decides: bool | None) -> TracedItem:
    """An item whose acceptance is not, or is not known to be, what the match gives."""
    if one.arm not in _COMMITTED:
        return one
    if suspect and one.score is not None:
        why = {
            True: "a score follows the answer and decides: it separates accepted from rejected, the match does not",
            None: "a score follows the answer, and the outcomes do not show that the match decides and not the score",
        }[decides]
        return replace(one, arm="commit_scored", reason=why)
    if one.item in differing:
        verb = "accepted" if one.accepted else "rejected"
        against = "no answer that can be read" if one.commitment is None else f"a match that says {one.matched}"
        return replace(one, arm="commit_ignored", reason=f"the candidate was {verb} against {against}")
    return one
