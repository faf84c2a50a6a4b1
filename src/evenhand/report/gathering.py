"""One walk over the records: sums over all of them, and the few that a page shows in full."""

from collections.abc import Iterable
from dataclasses import dataclass, field

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
    """

    groups: dict[tuple[str, str, str | None], GroupTally] = field(default_factory=dict)
    items: dict[ItemKey, list[Record]] = field(default_factory=dict)
    item_keys: set[int] = field(default_factory=set)
    unreached: list[Record] = field(default_factory=list)
    n_unreached: int = 0
    n: int = 0

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
        _keep(made, record, items_shown)
    return made


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
