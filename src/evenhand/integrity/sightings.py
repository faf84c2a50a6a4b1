"""Whether candidate and reference are in view of a call, decided over calls that were made from one template.

A long text is seen or it is not. A short one, `42`, may stand in the template by chance: it counts as seen only where
it stands more often than in a request of the same template whose item has other texts there. Where an item alone cannot
tell (the candidate equals the reference or what the judge answered before, or there is no such other request), it goes
by what its template does for the items that can.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.integrity.placing import ItemTexts, PlacedCall, Role, occurrences

__all__ = ["InView", "Shown", "in_view"]

_LIKENESS = 0.6  # shared words, from which two requests are of one template
_ENOUGH = 50
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One call of one item.

    Args:
        told: what the judge had answered on this item before, normalised: a request may repeat it.
    """

    item: ItemTexts
    placed: PlacedCall
    told: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class InView:
    """What one call had in view; None where it cannot be told.

    Args:
        template: number of its template, 0, 1, ...
    """

    candidate: bool | None
    reference: bool | None
    template: int


def in_view(shown: Sequence[Shown]) -> list[InView]:
    """What each call had in view.

    Args:
        shown: calls, in any order.
    """
    templates = _templates([one.placed.rest for one in shown])
    seen: dict[Role, list[bool | None]] = {"candidate": [], "reference": []}
    for role, found in seen.items():
        found.extend(_alone(role, number, shown, templates) for number in range(len(shown)))
    for role, found in seen.items():
        for template in set(templates):
            members = [number for number, own in enumerate(templates) if own == template]
            _settle(role, members, found, shown)
    return [
        InView(candidate=candidate, reference=reference, template=template)
        for candidate, reference, template in zip(seen["candidate"], seen["reference"], templates, strict=True)
    ]


def _templates(rests: Sequence[str]) -> list[int]:
    """The template of each request: the first whose words it mostly shares."""
    known: list[frozenset[str]] = []
    found = []
    for rest in rests:
        words = frozenset(_WORD.findall(rest))
        number = next((k for k, other in enumerate(known) if _likeness(words, other) >= _LIKENESS), None)
        if number is None:
            number = len(known)
            known.append(words)
        found.append(number)
    return found


def _likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words among all words; 1 where there are none."""
    return len(a & b) / len(a | b) if a or b else 1.0


def _alone(role: Role, number: int, shown: Sequence[Shown], templates: Sequence[int]) -> bool | None:
    """What one call tells by itself."""
    item, told = shown[number].item, shown[number].told
    sight = shown[number].placed.sights[item.id][role]
    other: Role = "reference" if role == "candidate" else "candidate"
    if not item.texts[role]:
        return False
    if sight.how in ("whole", "fragments"):
        # One text in the place of two: which of them it stands for cannot be told here.
        return None if item.texts[role] == item.texts[other] and sight.count < 2 else True
    if not sight.short:
        return False
    if sight.short in (item.texts[other], item.answers.get(other)) or sight.short in told:
        return None
    background = _background(sight.short, number, shown, templates)
    if background is None:
        return None if sight.count else False
    return sight.count > background


def _background(short: str, number: int, shown: Sequence[Shown], templates: Sequence[int]) -> int | None:
    """How often a short text stands in the template itself: the least over items that have other texts."""
    counts = (
        occurrences(short, one.placed.whole)
        for k, one in enumerate(shown)
        if templates[k] == templates[number]
        and one.item.id != shown[number].item.id
        and short not in (*one.item.texts.values(), *one.item.answers.values(), *one.told)
    )
    # A minimum needs no more; all of them would make this quadratic.
    return min(islice(counts, _ENOUGH), default=None)


def _settle(
    role: Role,
    members: Sequence[int],
    found: list[bool | None],
    shown: Sequence[Shown],
) -> None:
    """Let the calls of one template that can tell decide for short texts and for those that cannot."""
    told = [bool(found[number]) for number in members if found[number] is not None and shown[number].item.texts[role]]
    if not told:
        return
    usual = sum(told) * 2 >= len(told)
    for number in members:
        if found[number] is None or shown[number].placed.sights[shown[number].item.id][role].short:
            found[number] = usual and bool(shown[number].item.texts[role])
