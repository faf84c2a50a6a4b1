"""What a run is to judge: items by members by reruns, in the order in which records are written."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evenhand.terms import Item

__all__ = ["Task", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item for one member and rerun; `index` is its place in the records."""

    index: int
    item: Item
    member: str
    rerun: int


def plan(items: Iterable[Item], members: Sequence[str], n_reruns: int) -> Iterator[Task]:
    """Tasks, lazily: all members and reruns of an item before the next one.

    Args:
        items: in the order of the file.
        members: model names.
        n_reruns: at least 1.
    """
    index = 0
    for item in items:
        for member in members:
            for rerun in range(n_reruns):
                yield Task(index=index, item=item, member=member, rerun=rerun)
                index += 1
