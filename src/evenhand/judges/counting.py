"""Which items of an evidence pipeline count: quoted words that stand in their source, each once, a few in each cell.

In this order, each item with the reason why it does not count in `dropped`:

    absent_quote   its quote does not stand in the source that its pass read
    duplicate      within its cell (criterion, perspective, pass) it repeats another one
    over_cap       its cell is full: the strongest by absolute impact stay, then the first
    duplicate      over all cells it repeats another one

Cells are freed of repetition before they are cut, so that the same point in five wordings does not push others out; and
they are cut before items are compared across cells, so that what its cell had no room for stands for nothing else.
"""

from collections.abc import Sequence
from dataclasses import replace

from evenhand.judges.duplicates import DUPLICATE, merge_near_duplicates
from evenhand.scoring.impact import weakest_over_cap
from evenhand.terms import Evidence

__all__ = ["ABSENT_QUOTE", "NOT_ASKED", "OVER_CAP", "counted_items", "counting_flags"]

ABSENT_QUOTE = "absent_quote"
OVER_CAP = "over_cap"
NOT_ASKED = "not_asked"
"""The item was reported under a criterion that the call did not ask about."""

_FLAGS = (("over_cap", OVER_CAP), ("duplicates", DUPLICATE), ("not_asked", NOT_ASKED))


def counted_items(items: Sequence[Evidence], *, cap: int, likeness: float | None) -> list[Evidence]:
    """The items in their order, with those marked that do not count.

    Args:
        items: as the passes found them.
        cap: most items of a cell; an item that names only one of criterion and perspective is in none.
        likeness: from which two claims are the same; None leaves out only what is repeated word for word in its cell.
    """
    made = [item if item.counted or item.dropped else replace(item, dropped=ABSENT_QUOTE) for item in items]
    if likeness is None:
        made = _without_repeated(made)
    else:
        made = list(merge_near_duplicates(made, likeness, within_cells=True))
    for place in weakest_over_cap(made, cap):
        made[place] = replace(made[place], counted=False, dropped=OVER_CAP)
    return made if likeness is None else list(merge_near_duplicates(made, likeness))


def counting_flags(items: Sequence[Evidence]) -> tuple[str, ...]:
    """What was left out, as `name:number`.

    >>> counting_flags([Evidence(claim="", impact=1, counted=False, dropped="over_cap")])
    ('over_cap:1',)
    """
    reasons = [item.dropped for item in items]
    return tuple(f"{flag}:{reasons.count(reason)}" for flag, reason in _FLAGS if reason in reasons)


def _without_repeated(items: Sequence[Evidence]) -> list[Evidence]:
    """The same claim with the same quote, or a catalogue entry, counts once in its cell."""
    seen: set[tuple[object, ...]] = set()
    made = []
    for item in items:
        what = (item.claim, item.quote, item.impact) if item.catalog_id is None else (item.catalog_id,)
        key = (item.criterion, item.perspective, item.pass_name, *what)
        again = item.counted and key in seen
        if item.counted:
            seen.add(key)
        made.append(replace(item, counted=False, dropped=DUPLICATE) if again else item)
    return made
