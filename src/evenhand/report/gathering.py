"""One walk over the records: sums over all of them, and the few that a page shows in full."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from evenhand.analysis.divergence import NaiveAgainstEvidence
from evenhand.analysis.drafts import DraftChange, draft_changes
from evenhand.report.tallies import GroupTally
from evenhand.terms import Record

__all__ = ["Gathered", "gather"]

ItemKey = tuple[str, str]

_MOST_UNREACHED = 200


@dataclass(slots=True)
class Gathered:
    """What the walk found.

    Args:
        groups: by judge and member, panels first, then in order of appearance.
        items: the first items with all their records.
        item_keys: of every item, so that they are counted.
        unreached: the first records without a verdict.
        naive: scores of `number` and `evidence` judges, to be compared.
        passes: by judge, records with buckets, and those that failed before they had any.
    """

    groups: dict[tuple[str, str, str | None], GroupTally] = field(default_factory=dict)
    items: dict[ItemKey, list[Record]] = field(default_factory=dict)
    item_keys: set[int] = field(default_factory=set)
    unreached: list[Record] = field(default_factory=list)
    n_unreached: int = 0
    n: int = 0
    naive: NaiveAgainstEvidence = field(default_factory=NaiveAgainstEvidence)
    passes: dict[str, list[Record]] = field(default_factory=dict)

    def drafts(self) -> tuple[DraftChange, ...]:
        """Each pass over a draft beside the one before, in the order of the records."""
        return tuple(
            change
            for records in self.passes.values()
            if any(map(_has_buckets, records))
            for change in draft_changes((), records)
        )

    @property
    def hashes(self) -> set[str]:
        """Content hashes of the items that are shown."""
        return {key for _, key in self.items}

    def tallies(self) -> tuple[GroupTally, ...]:
        """The groups, a judge's panel before its members."""
        return tuple(sorted(self.groups.values(), key=lambda group: group.member is not None))


def gather(records: Iterable[Record], *, items_shown: int) -> Gathered:
    """Walk over the records once; at most `items_shown` items are kept."""
    made = Gathered()
    for record in records:
        made.n += 1
        name = str(record.judge.get("name")), str(record.judge.get("hash")), record.member
        if name not in made.groups:
            made.groups[name] = GroupTally(record)
        made.groups[name].add(record)
        made.naive.add(record)
        if _has_buckets(record) or (record.judge.get("protocol") == "evidence" and not record.criteria):
            made.passes.setdefault(name[0], []).append(record)
        _keep(made, record, items_shown)
    return made


def _has_buckets(record: Record) -> bool:
    return any((entry.get("arithmetic") or {}).get("buckets") for entry in record.criteria)


def _keep(made: Gathered, record: Record, items_shown: int) -> None:
    key = record.item, record.item_hash
    made.item_keys.add(hash(key))
    if key in made.items:
        made.items[key].append(record)
    elif len(made.items) < items_shown:
        made.items[key] = [record]
    if record.status != "verdict":
        made.n_unreached += 1
        if len(made.unreached) < min(items_shown, _MOST_UNREACHED):
            made.unreached.append(record)
