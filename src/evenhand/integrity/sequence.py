"""From a recorded trace and a harness's outcomes to what is known of the judge, item by item.

The order of calls says what can rest on what: a call rests on another's reply only if it began after that one ended. Of
an item's calls, the first whose reply holds an answer in a demanded form is the commitment; a later one with the
candidate in view is the comparison. Acceptance happens outside the wire and is known from the outcomes alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.integrity.acceptance import decided
from evenhand.integrity.commitments import Commitment
from evenhand.integrity.demands import Form
from evenhand.integrity.making import only_repeat_candidates, templates_of_makers, unplaced_as_made
from evenhand.integrity.placing import placed_calls, texts_of
from evenhand.integrity.shared_calls import assigned
from evenhand.integrity.steps import (
    Step,
    commitment_of,
    earlier_verdict,
    heeded_templates,
    holds,
    is_making,
    judgement,
    steps_of,
    without_retried,
)
from evenhand.integrity.trace_evidence import ARMS, Arm, MatchWord, TracedItem, TraceEvidence
from evenhand.terms import Item, TracedCall

__all__ = ["trace_evidence"]


def trace_evidence(
    items: Sequence[Item],
    calls: Sequence[TracedCall],
    outcomes: Mapping[str, bool | None] | None = None,
    match: MatchWord | None = None,
    *,
    match_words: str = "",
) -> TraceEvidence:
    """What a trace shows.

    Args:
        items: ids distinct; at least one.
        calls: of one run over these items.
        outcomes: item to whether the harness accepted its candidate; None for one on which it abstained. Items that it
            does not name have no outcome; None: no outcomes were given.
        match: decides whether two answers are the same; None leaves acceptance unchecked.
        match_words: the match relation in words.
    Returns:
        An item whose calls cannot be told is `unplaced` with the reason, and nothing is said of its judge.
    """
    texts = {item.id: texts_of(item) for item in items}
    placed = placed_calls(tuple(texts.values()), calls)
    found, notes, lost = assigned(tuple(texts.values()), placed)
    steps = without_retried(steps_of(texts, found))
    heeded = heeded_templates(steps)

    def read(heeded: frozenset[int]) -> list[TracedItem]:
        return [
            _with_outcome(
                _judged(item, steps[item.id], heeded, match)
                if steps.get(item.id) and item.id not in lost
                else TracedItem(item=item.id, arm="unplaced", reason=lost.get(item.id, _NOWHERE)),
                item,
                outcomes,
                match,
            )
            for item in items
        ]

    traced = read(heeded)
    if only_repeat_candidates(traced):
        made = templates_of_makers(traced, steps)
        traced = read(heeded - made) if made else unplaced_as_made(traced)
    given = decided(traced, has_match=match is not None)
    return _whole(items, calls, given, notes, outcomes, match_words if match is not None else "")


_SIGHT = {
    True: "with the candidate in view",
    False: "without the candidate in view",
    None: "with the candidate perhaps in view",
}
_FORMS: Mapping[Form, str] = {
    "line": "a labelled answer",
    "sentence": "an answer in a sentence",
    "field": "an answer in a field",
    "boxed": "a boxed answer",
    "hashes": "an answer after ####",
    "tag": "a tagged answer",
    "bare": "an answer and nothing else",
}
_SILENT = (
    "call {} has the candidate in view and asks for no judgement, and its reply holds neither a verdict nor an answer "
    "in a form that is read"
)
_NOWHERE = "none of its texts stands in a request that was answered"


def _judged(item: Item, steps: Sequence[Step], heeded: frozenset[int], match: MatchWord | None) -> TracedItem:
    """What the calls of one item show, without its outcome."""
    numbers = tuple(dict.fromkeys(step.call.number for step in steps))
    committing = [step for step in steps if step.view.template in heeded and not is_making(item, step)]
    made = len([step for step in steps if is_making(item, step)])
    if not committing:
        return _uncommitted(item, [step for step in steps if not is_making(item, step)], numbers, made)
    step, commitment = commitment_of(committing, match)
    view = step.view
    if view.reference:
        return TracedItem(
            item=item.id,
            arm="anchored",
            reason=f"in call {step.call.number} the reference is in view, so that the answer is not the judge's own",
            calls=numbers,
            candidate_in_view=view.candidate,
            reference_in_view=True,
        )
    late = earlier_verdict(steps, step, commitment)
    later = [one for one in steps if one.call.began > step.call.ended and one.view.candidate is not False]
    seen: Arm = "commit_blind" if view.candidate is False else "commit_visible"
    said, score = judgement([step, *later], after=commitment.at if commitment else -1)
    base = TracedItem(
        item=item.id,
        arm=seen,
        reason=(
            f"call {step.call.number} is answered with {_form_words(commitment)} {_SIGHT[view.candidate]}, before any "
            "comparison"
        ),
        calls=numbers,
        commitment=None if commitment is None else commitment.text,
        commitment_call=step.call.number,
        commitment_hash=step.call.request_hash,
        form=None if commitment is None else commitment.form,
        required=bool(step.demanded),
        candidate_in_view=view.candidate,
        reference_in_view=view.reference,
        precedes=None if commitment is None else not late,
        compared=bool(later),
        comparison_has_commitment=holds(item, later[-1], step, commitment) if later and commitment else None,
        said=said,
        score=score,
    )
    return replace(base, arm="solve_first", reason=late) if late else base


def _uncommitted(item: Item, steps: Sequence[Step], numbers: tuple[int, ...], made: int) -> TracedItem:
    """An item without any answer of the judge's own."""
    judging = [step for step in steps if step.view.candidate is not False]
    if not judging:
        why = "the candidate stands in none of its requests, and no reply holds an answer that can be read"
        if made:
            why = "its calls are those that made the candidate; no call judges it"
        return TracedItem(item=item.id, arm="unplaced", reason=why, calls=numbers)
    if not any(step.judge or step.solve or step.demanded or step.judged_at() is not None for step in judging):
        return TracedItem(item=item.id, arm="unplaced", reason=_SILENT.format(judging[0].call.number), calls=numbers)
    said, score = judgement(judging, after=-1)
    asked = next((step for step in judging if step.solve), None)
    return TracedItem(
        item=item.id,
        arm="solve_first" if asked else "anchored",
        reason=(
            f"call {asked.call.number} has the candidate in view and asks to solve first, and no answer in a form that "
            "can be read is demanded and given"
            if asked
            else f"call {judging[0].call.number} has the candidate in view, and no answer of the judge's own in a form "
            "that is read (label, field, box, tag) is demanded and given"
        ),
        calls=numbers,
        candidate_in_view=True if any(step.view.candidate for step in judging) else None,
        reference_in_view=any(step.view.reference for step in judging),
        said=said,
        score=score,
    )


def _form_words(commitment: Commitment | None) -> str:
    if commitment is None:
        return "no answer that can be read, though one is demanded,"
    return _FORMS[commitment.form]


def _with_outcome(
    one: TracedItem, item: Item, outcomes: Mapping[str, bool | None] | None, match: MatchWord | None
) -> TracedItem:
    """The same with acceptance, its match, and whether the judge's own answer is right."""
    accepted = (outcomes or {}).get(item.id)
    if match is None or one.commitment is None:
        return replace(one, accepted=accepted)
    solved = match(one.commitment, item.reference) if item.reference else "undecided"
    return replace(
        one,
        accepted=accepted,
        matched=match(item.candidate, one.commitment),
        solved=None if solved == "undecided" else solved == "equal",
    )


def _whole(
    items: Sequence[Item],
    calls: Sequence[TracedCall],
    given: "tuple[tuple[TracedItem, ...], Mapping[str, object]]",
    notes: Sequence[str],
    outcomes: Mapping[str, bool | None] | None,
    match_words: str,
) -> TraceEvidence:
    """The evidence over all items."""
    traced, facts = given
    readable = [call for call in calls if call.readable]
    wires = Counter(call.wire for call in calls if not call.readable and call.wire != "models")
    arms = Counter(one.arm for one in traced)
    placed = [one for one in traced if one.arm != "unplaced"]
    failed = sum(1 for call in readable if not call.replies)
    return TraceEvidence(
        n_items=len(items),
        n_placed=len(placed),
        n_calls=len(calls),
        n_readable=len(readable),
        n_failed=failed,
        unreadable_wires=dict(sorted(wires.items())),
        models=tuple(dict.fromkeys(call.model for call in readable if call.model)),
        arm=min((one.arm for one in placed), key=ARMS.index, default="unplaced"),
        arms={arm: arms[arm] for arm in ARMS if arms[arm]},
        unplaced="" if placed else _why_unplaced(calls, readable, traced),
        items=traced,
        match=match_words,
        n_outcomes=sum(1 for item in items if item.id in (outcomes or {})),
        notes=(*notes, *_notes(calls, wires, failed, items, outcomes)),
        **facts,  # type: ignore[arg-type]
    )


def _why_unplaced(calls: Sequence[TracedCall], readable: Sequence[TracedCall], traced: Sequence[TracedItem]) -> str:
    """One sentence on why nothing could be placed."""
    if not calls:
        return "no calls were seen: the harness does not use OPENAI_BASE_URL, or asked no model"
    if not readable:
        wires = ", ".join(sorted({call.path for call in calls}))
        return f"{len(calls)} calls were seen and none can be read: {wires}; only /chat/completions is read"
    if all(not call.replies for call in readable):
        return f"none of the {len(readable)} calls was answered"
    if all(one.reason == _NOWHERE for one in traced):
        return f"the trace cannot be placed: no item's text stands in any of the {len(readable)} requests"
    return next(one.reason for one in traced if one.reason != _NOWHERE)


def _notes(
    calls: Sequence[TracedCall],
    wires: Mapping[str, int],
    failed: int,
    items: Sequence[Item],
    outcomes: Mapping[str, bool | None] | None,
) -> list[str]:
    """What else a reader must know."""
    notes = [f"{n} calls on the wire {name} were seen and cannot be read" for name, n in sorted(wires.items())]
    if failed:
        notes.append(f"{failed} calls were not answered")
    cut = sum(1 for call in calls if call.replies and call.fault)
    if cut:
        notes.append(f"{cut} replies are not whole")
    if outcomes is not None:
        known = {item.id for item in items}
        strangers = [name for name in outcomes if name not in known]
        if strangers:
            notes.append(f"{len(strangers)} outcomes are of items that are not in the items file")
    return notes
