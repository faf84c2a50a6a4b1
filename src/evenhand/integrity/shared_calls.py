"""Which call belongs to which item, where texts alone leave it open.

Items with one task and several candidates look alike to a blind request, and a bare comparison (`are 42 and 41 the
same?`) names no task at all. Such calls are given out by order where order is sure, and otherwise their items are left
unplaced with the reason: a wrong guess would pair a commitment with another item's candidate.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from evenhand.integrity.commitments import commitments_in
from evenhand.integrity.placing import ItemTexts, PlacedCall, normalised, occurrences, short_sights

__all__ = ["assigned"]

_FEWEST_CALLS = 3  # in which an item must stand beside others to be taken for an example
_SHORT_REPLY = 80  # code points up to which a reply may be an answer and nothing else

Assigned = tuple[dict[str, list[PlacedCall]], list[str], dict[str, str]]


def assigned(items: Sequence[ItemTexts], placed: Sequence[PlacedCall]) -> Assigned:
    """Give every call to its item.

    Args:
        items: in the order of the items file.
        placed: from `placed_calls`.
    Returns:
        item to its calls; notes; item to why it is lost.
    """
    found: dict[str, list[PlacedCall]] = {item.id: [] for item in items}
    lost: dict[str, str] = {}
    shared: dict[tuple[str, ...], list[PlacedCall]] = defaultdict(list)
    examples = _examples(placed)
    for one in placed:
        about = [item for item in one.items if item not in examples] if one.several else []
        if len(about) == 1:
            found[about[0]].append(replace(one, items=(about[0],), several=False))
        elif one.several:
            for item in one.items:
                lost[item] = f"call {one.call.number} holds the texts of several items at once"
        elif len(one.items) == 1:
            found[one.items[0]].append(one)
        elif one.items:
            shared[one.items].append(one)
    notes: list[str] = []
    for members, calls in shared.items():
        _give_out(members, calls, found, notes, lost)
    texts = {item.id: item for item in items}
    n_continued = sum(_continued(one, texts, found) for one in placed if not one.items)
    if n_continued:
        notes.append(f"{n_continued} calls name no task and were placed by the commitment and the candidate in them")
    return {item: own for item, own in found.items() if own}, notes, lost


def _examples(placed: Sequence[PlacedCall]) -> frozenset[str]:
    """Items whose task stands in most of the calls with several tasks: the template shows them as examples."""
    several = [one for one in placed if one.several]
    often = Counter(item for one in several for item in one.items)
    least = max(_FEWEST_CALLS, len(several) * 0.8)
    return frozenset(item for item, n in often.items() if n >= least)


def _give_out(
    members: tuple[str, ...],
    calls: Sequence[PlacedCall],
    found: Mapping[str, list[PlacedCall]],
    notes: list[str],
    lost: dict[str, str],
) -> None:
    """Give calls that fit several items to them: one for all, or one each in order."""
    each, over = divmod(len(calls), len(members))
    if len(calls) == 1 or len({call.call.replies for call in calls}) == 1:
        for item in members:
            found[item].extend(calls[:1] if len(calls) == 1 or over or not each else calls[:each])
    elif over == 0 and not _overlap(calls):
        for number, call in enumerate(calls):
            found[members[number // each]].append(call)
        notes.append(f"calls for {len(members)} items with one task were given to them in order ({members[0]}, ...)")
    else:
        numbers = ", ".join(str(call.call.number) for call in calls[:4])
        for item in members:
            lost[item] = (
                f"calls {numbers}{' and more' if len(calls) > 4 else ''} fit {len(members)} items with one task, and "
                "were not made one after the other; give them distinct tasks, or run the harness without concurrency"
            )


def _overlap(calls: Sequence[PlacedCall]) -> bool:
    """Whether any of the calls was made while another was in flight."""
    ordered = sorted(calls, key=lambda one: one.call.began)
    return any(later.call.began < earlier.call.ended for earlier, later in pairwise(ordered))


def _continued(one: PlacedCall, texts: Mapping[str, ItemTexts], found: Mapping[str, list[PlacedCall]]) -> bool:
    """Place a call without a task by an earlier reply of its item; False where none fits, or more than one."""
    fits = []
    for item, own in found.items():
        earlier = [other for other in own if other.call.ended < one.call.began]
        if _goes_on(one, earlier) or _compares(one, earlier, texts[item]):
            fits.append((len(own), item))
    if not fits:
        return False
    fewest = min(n for n, _ in fits)
    least = [item for n, item in fits if n == fewest]
    if len(least) > 1:
        return False
    found[least[0]].append(replace(one, items=(least[0],), sights={least[0]: short_sights(texts[least[0]], one.whole)}))
    return True


def _goes_on(one: PlacedCall, earlier: Sequence[PlacedCall]) -> bool:
    """Whether a call continues a conversation: an earlier reply of the item stands in it as the assistant's."""
    replies = {normalised(reply) for other in earlier for reply in other.call.replies}
    return any(role == "assistant" and normalised(text) in replies for role, text in one.call.messages)


def _compares(one: PlacedCall, earlier: Sequence[PlacedCall], item: ItemTexts) -> bool:
    """Whether a call holds both an answer that was given on the item before and its candidate."""
    replies = [reply for other in earlier for reply in other.call.replies]
    answers = {normalised(answer.text) for reply in replies for answer in commitments_in(reply)}
    answers |= {normalised(reply) for reply in replies if len(reply) <= _SHORT_REPLY}
    candidate = item.answers.get("candidate") or item.texts["candidate"]
    shown = occurrences(candidate, one.whole)
    # One and the same text stands twice where it is both.
    return any(occurrences(answer, one.whole) > (answer == candidate) and shown for answer in answers)
