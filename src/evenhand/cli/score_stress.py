"""`evenhand score --stress`: what padding, repetition and a single strong item do to a score."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from evenhand.cli.output import shown

if TYPE_CHECKING:
    from evenhand.scoring.stress import Reach, Stress
    from evenhand.scoring.variants import Settings
    from evenhand.terms import Evidence

__all__ = ["LIKENESS", "stress_document", "stress_lines", "stress_of"]

LIKENESS = 0.9
"""From which two claims under one criterion are near-identical."""


def stress_of(
    items: Sequence["Evidence"], weights: Mapping[str, Decimal | None] | None, chosen: "Settings"
) -> "Stress":
    """The score of items under stress, near-identical claims told apart first."""
    from evenhand.judges.duplicates import merge_near_duplicates
    from evenhand.scoring.stress import stressed

    distinct = [item for item in merge_near_duplicates(items, LIKENESS) if item.counted]
    return stressed(items, weights, chosen, distinct=distinct)


def stress_document(stress: "Stress") -> dict[str, Any]:
    """What `--json` prints under `stress`."""
    strongest = stress.strongest
    return {
        "at_caps": {f"{padding.impact:+d}": padding.score for padding in stress.padded} or None,
        "places": stress.places if stress.padded else None,
        "without_duplicates": stress.without_duplicates,
        "duplicates": stress.duplicates,
        "likeness": LIKENESS,
        "without_strongest": stress.without_strongest,
        "strongest": None if strongest is None else {"claim": strongest.claim, "impact": strongest.impact},
        "to_target": [
            {
                "criterion": reach.id,
                "target": reach.target,
                "items": reach.items,
                "room": reach.room,
                "within_caps": reach.within_caps,
            }
            for reach in stress.reach
        ],
    }


def stress_lines(stress: "Stress") -> list[str]:
    """The same for people."""
    strongest = stress.strongest
    taken = "" if strongest is None else f" ({strongest.impact:+d} {shown(strongest.claim, 40)})"
    padded = ", ".join(f"{_figure(padding.score)} with {padding.impact:+d} items" for padding in stress.padded)
    caps = f"{padded}, {stress.places} added" if padded else "no cap holds: items name no criterion and perspective"
    lines = [
        "under stress",
        f"  as it is               {_figure(stress.score)}",
        f"  at the caps            {caps}",
        f"  without duplicates     {_figure(stress.without_duplicates)}, {stress.duplicates} left out "
        f"(likeness {LIKENESS:g})",
        f"  without the strongest  {_figure(stress.without_strongest)}{taken}",
    ]
    return lines + [f"  +1 items to {reach.target:<11g}{_reach(reach)}" for reach in stress.reach]


def _reach(reach: "Reach") -> str:
    name = "" if reach.id is None else f"{shown(reach.id, 30)}: "
    if reach.items is None:
        return f"{name}no number of them suffices"
    room = ""
    if reach.room is not None:
        held = "which its cells hold" if reach.within_caps else "which its cells do not hold"
        room = f", {held} ({reach.room} free)"
    return f"{name}{reach.items:,}{room}"


def _figure(score: int | None) -> str:
    return "none" if score is None else str(score)
