"""One draft after the other: what was resolved since the last pass, what is new, and by how much the score moved.

Passes belong together by their slug: the metadata field `slug`, or the item's id without its version and its ending
(`essay@2`, `essay-v2.md` and `essay_v3.txt` are all `essay`). Passes of one slug accumulate: the last one before this
that has findings is what is compared, and the scores of all stand in a row. A pass that failed has none: nothing was
found resolved by it, and nothing new.

Two findings are the same one if they have one sign and nearly the same claim: rapidfuzz's `token_sort_ratio` at or
above a stated likeness, the same numbers in both, each finding matched once, the likest first. A judge words the same
finding differently from pass to pass, so "resolved" means "not reported again", and a person may look.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.terms import Record

__all__ = ["LIKENESS", "DraftChange", "draft_changes", "slug_of"]

LIKENESS = 0.8
"""From which likeness (0 to 1) two claims are the same finding."""

# Bounded, since an id may be of any length and each place in it is tried.
_VERSION = re.compile(r"(?:@[^/]{0,99}|[-_. ]v(?:er(?:sion)?)?[-_. ]?\d[\w.]{0,99})$", re.IGNORECASE)
_ENDING = re.compile(r"\.[A-Za-z]{1,8}$")
_NUMBER = re.compile(r"\d+")


Matched = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_NOTHING: Matched = ((), (), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftChange:
    """One pass beside the one before it.

    Args:
        item: id of this pass; `earlier` is that of the pass it is compared with.
        scores: of all passes, this one last; None for a pass without a verdict.
        delta: this score minus the one before; None where one of them has none.
        comparable: whether one judge file and one member made both; if not, the delta also holds what that changed.
        resolved: findings against the draft that are not reported again.
        remaining: those that are.
        new: findings against the draft that were not reported before.
        lost: findings for the draft that are not reported again; `gained` are new ones.
    """

    slug: str
    item: str
    earlier: str
    scores: tuple[float | None, ...]
    delta: float | None
    comparable: bool
    resolved: tuple[str, ...]
    remaining: tuple[str, ...]
    new: tuple[str, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As `--json` prints it, with the counts beside the findings."""
        lists = {name: list(getattr(self, name)) for name in ("resolved", "remaining", "new", "lost", "gained")}
        return {
            "slug": self.slug,
            "item": self.item,
            "earlier": self.earlier,
            "n_passes": len(self.scores),
            "scores": list(self.scores),
            "delta": self.delta,
            "comparable": self.comparable,
            **{f"n_{name}": len(claims) for name, claims in lists.items()},
            **lists,
        }


def slug_of(record: Record) -> str:
    """What the passes over one draft have in common.

    >>> def named(item, **metadata):
    ...     head = {"item_hash": "", "judge": {}, "member": "m", "rerun": 0, "status": "failed"}
    ...     return slug_of(Record(item=item, metadata=metadata, **head))
    >>> named("essay@2"), named("draft-v2.md"), named("x", slug="essay"), named("notes/a.md")
    ('essay', 'draft', 'essay', 'notes/a')
    """
    slug = record.metadata.get("slug")
    if isinstance(slug, str) and slug.strip():
        return slug.strip()
    stem = _ENDING.sub("", record.item) or record.item
    return _VERSION.sub("", stem) or record.item


def draft_changes(
    earlier: Iterable[Record], now: Iterable[Record], *, likeness: float = LIKENESS
) -> tuple[DraftChange, ...]:
    """Each pass of now beside the last earlier one of its slug; a slug without an earlier pass is left out.

    Args:
        earlier: records in the order in which they were made; the last of a slug is the one before.
        now: records of this run. Where an item has a panel's record, that one speaks for it, else its first.
        likeness: from which two claims are the same finding, above 0 and up to 1.
    """
    before: dict[str, list[Record]] = {}
    for record in _speaking(earlier):
        before.setdefault(slug_of(record), []).append(record)
    found = []
    for record in _speaking(now):
        passes = before.setdefault(slug_of(record), [])
        if passes:
            found.append(_change(passes, record, likeness))
        passes.append(record)
    return tuple(found)


def _speaking(records: Iterable[Record]) -> list[Record]:
    """One record an item and text, in their order: a panel's own, else the first that is there."""
    chosen: dict[tuple[str, str], Record] = {}
    for record in records:
        key = (record.item, record.item_hash)
        if key not in chosen or (record.member is None and chosen[key].member is not None):
            chosen[key] = record
    return list(chosen.values())


def _change(passes: Sequence[Record], now: Record, likeness: float) -> DraftChange:
    last = next((one for one in reversed(passes) if one.criteria), passes[-1])
    against = praised = _NOTHING
    if last.criteria and now.criteria:
        against = _matched(_claims(last, sign=-1), _claims(now, sign=-1), likeness)
        praised = _matched(_claims(last, sign=1), _claims(now, sign=1), likeness)
    both = last.score is not None and now.score is not None
    return DraftChange(
        slug=slug_of(now),
        item=now.item,
        earlier=last.item,
        scores=tuple(one.score for one in (*passes, now)),
        delta=now.score - last.score if both and now.score is not None and last.score is not None else None,
        comparable=(last.judge.get("hash"), last.member) == (now.judge.get("hash"), now.member),
        resolved=against[0],
        remaining=against[1],
        new=against[2],
        lost=praised[0],
        gained=praised[2],
    )


def _claims(record: Record, *, sign: int) -> list[str]:
    """The claims that count, of one sign."""
    items: list[Mapping[str, Any]] = [item for criterion in record.criteria for item in criterion.get("items", ())]
    return [str(item["claim"]) for item in items if item.get("counted") and item["impact"] * sign > 0]


def _matched(before: Sequence[str], now: Sequence[str], likeness: float) -> Matched:
    """Claims of before alone, of both (as worded now), and of now alone."""
    from rapidfuzz import fuzz, utils  # here, since it is large and only `--since` needs it

    pairs = []
    for one, old in enumerate(before):
        for other, new in enumerate(now):
            ratio = fuzz.token_sort_ratio(old, new, processor=utils.default_process, score_cutoff=100 * likeness)
            if ratio and _NUMBER.findall(old) == _NUMBER.findall(new):
                pairs.append((-ratio, one, other))
    old_left, new_left, both = set(range(len(before))), set(range(len(now))), set()
    for _, one, other in sorted(pairs):
        if one in old_left and other in new_left:
            old_left.discard(one)
            new_left.discard(other)
            both.add(other)
    return (
        tuple(before[place] for place in sorted(old_left)),
        tuple(now[place] for place in sorted(both)),
        tuple(now[place] for place in sorted(new_left)),
    )
