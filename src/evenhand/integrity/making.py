"""Calls that made the candidates on the same wire before they were judged, and are no answer of the judge's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.integrity.steps import Step
from evenhand.integrity.trace_evidence import TracedItem

__all__ = ["only_repeat_candidates", "templates_of_makers", "unplaced_as_made"]

_MADE = (
    "the answer before the comparison is the candidate itself on every item, and the comparison does not hold it: it "
    "may be the call that made the candidate"
)


def only_repeat_candidates(traced: Sequence[TracedItem]) -> bool:
    """Whether every blind answer is the candidate itself, and a later call judges without being told that answer."""
    blind = [one for one in traced if one.arm == "commit_blind" and one.commitment is not None]
    return len(blind) > 1 and all(
        one.matched == "equal"
        and one.compared
        and not one.comparison_has_commitment
        and (one.said is not None or one.score is not None)
        for one in blind
    )


def templates_of_makers(traced: Sequence[TracedItem], steps: Mapping[str, Sequence[Step]]) -> frozenset[int]:
    """Templates of the calls that gave such answers, where the verdicts are all another model's; none where not."""
    own, judging, templates = set(), set(), set()
    for one in traced:
        for step in steps.get(one.item, ()):
            if step.call.number == one.commitment_call:
                own.add(step.call.model)
                templates.add(step.view.template)
            elif step.view.candidate is not False and step.judged_at() is not None:
                judging.add(step.call.model)
    return frozenset() if own & judging else frozenset(templates)


def unplaced_as_made(traced: Sequence[TracedItem]) -> list[TracedItem]:
    """The items without such answers, of whose judge nothing can be said then."""
    return [
        TracedItem(item=one.item, arm="unplaced", reason=_MADE, calls=one.calls, accepted=one.accepted)
        if one.arm == "commit_blind"
        else replace(one)
        for one in traced
    ]
