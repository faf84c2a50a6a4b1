"""Whether the candidate in view moves a judge's own answer: the same request with another item's candidate in it.

Sampling alone moves answers too, so each request is also asked again unchanged. It is a disclosure; no verdict rests on
it.
"""

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.integrity.commitments import commitments_in
from evenhand.integrity.trace_evidence import MatchWord, SwapDisclosure, TraceEvidence
from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Item

__all__ = ["Swap", "SwapReplies", "disclosed", "swap_plan"]

_LONG = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """One item's commit request, as it was and with another candidate.

    Args:
        call: number of the recorded call.
        other: id of the item whose candidate is put in.
    """

    item: str
    call: int
    other: str
    unchanged: Mapping[str, Any]
    swapped: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapReplies:
    """What came back; None where nothing did."""

    swap: Swap
    unchanged: str | None
    swapped: str | None


def swap_plan(
    items: Sequence[Item],
    evidence: TraceEvidence,
    requests: Mapping[int, Mapping[str, Any]],
    *,
    n: int,
    seed: int,
) -> tuple[Swap, ...]:
    """Which requests are asked again.

    Args:
        items: as they were traced.
        evidence: what the trace shows; only commitments made with the candidate in view can be moved by it.
        requests: call number to the request's body.
        n: how many items at most.
        seed: of the draw.
    Returns:
        Fewer than `n` where fewer items have their candidate's text in the request as it stands.
    """
    known = {item.id: item for item in items}
    able = [one for one in evidence.items if one.commitment is not None and one.candidate_in_view is not False]
    import numpy as np

    rng = np.random.default_rng(seed)
    plan: list[Swap] = []
    for one in (able[k] for k in rng.permutation(len(able))):
        if len(plan) == n:
            break
        request = requests.get(one.commitment_call if one.commitment_call is not None else -1)
        others = [item for item in items if item.candidate.strip() != known[one.item].candidate.strip()]
        if request is None or not others:
            continue
        other = others[rng.integers(len(others))]
        plain = {name: value for name, value in request.items() if name not in ("stream", "stream_options")}
        swapped = _with_candidate(plain, known[one.item], other.candidate)
        if swapped is not None:
            assert one.commitment_call is not None
            plan.append(Swap(item=one.item, call=one.commitment_call, other=other.id, unchanged=plain, swapped=swapped))
    return tuple(plan)


def disclosed(
    replies: Sequence[SwapReplies], evidence: TraceEvidence, match: MatchWord, *, seed: int
) -> SwapDisclosure:
    """What the swap moved.

    Args:
        replies: of the plan.
        evidence: whose commitments are the ones to compare with.
        match: whether two answers are the same; `undecided` counts as moved only where the texts differ.
        seed: that the plan was drawn with.
    """
    before = {one.item: one for one in evidence.items}
    told: list[str] = []
    moved: list[str] = []
    chance = unreadable = 0
    for reply in replies:
        own = before[reply.swap.item]
        again, swapped = (_answer(text, own.form) for text in (reply.unchanged, reply.swapped))
        if again is None or swapped is None or own.commitment is None:
            unreadable += 1
            continue
        told.append(reply.swap.item)
        if not _same(swapped, own.commitment, match):
            moved.append(reply.swap.item)
        chance += not _same(again, own.commitment, match)
    low, high = wilson_interval(len(moved), len(told)) if told else (None, None)
    return SwapDisclosure(
        n=len(told),
        moved=len(moved),
        moved_unswapped=chance,
        low=low,
        high=high,
        unreadable=unreadable,
        items=tuple(told),
        moved_items=tuple(moved),
        seed=seed,
    )


def _answer(reply: str | None, form: str | None) -> str | None:
    """The commitment in a reply, in the form in which it was made before."""
    if reply is None:
        return None
    if form == "bare":
        return reply.strip() or None
    return next((one.text for one in reversed(commitments_in(reply)) if one.form == form), None)


def _same(answer: str, before: str, match: MatchWord) -> bool:
    word = match(answer, before)
    return answer.strip() == before.strip() if word in ("undecided", "no_answer") else word == "equal"


def _with_candidate(request: Mapping[str, Any], item: Item, other: str) -> dict[str, Any] | None:
    """The request with another candidate; None where the own one does not stand in it as it is, or not surely."""
    changed: dict[str, Any] = copy.deepcopy(dict(request))
    messages = changed.get("messages")
    n = 0
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            message["content"], k = _replaced(content, item, other)
            n += k
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                part["text"], k = _replaced(part["text"], item, other)
                n += k
    sure = n == 1 or (n > 1 and len(item.candidate) >= _LONG)
    return changed if sure else None


def _replaced(text: str, item: Item, other: str) -> tuple[str, int]:
    """A text with the candidate replaced outside of the task, and how often."""
    pieces = text.split(item.task) if item.task else [text]
    own = item.candidate.strip()
    total = 0
    for before, after in ((own, other.strip()), (_escaped(own), _escaped(other.strip()))):
        pattern = _pattern(before)
        for number, piece in enumerate(pieces):
            pieces[number], k = pattern.subn(after.replace("\\", r"\\"), piece)
            total += k
        if total:
            break
    return (item.task or "").join(pieces), total


def _pattern(text: str) -> re.Pattern[str]:
    """A long text anywhere, a short one as a word of its own."""
    if len(text) >= _LONG:
        return re.compile(re.escape(text))
    before = r"(?<!\w)(?<!\d[.,])" if text[:1].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if text[-1:].isalnum() else ""
    return re.compile(before + re.escape(text) + after)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
