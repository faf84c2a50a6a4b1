"""What a judge needs of its items, looked at before anything is sent: a reference, a second candidate, its sources."""

import difflib
from collections.abc import Callable, Iterable, Iterator

from evenhand.errors import InvalidInput
from evenhand.judges.pairwise import SOURCE_B
from evenhand.terms import Item, JudgeSpec
from evenhand.wording import count, plural

__all__ = ["Needs"]

_WAY_OUT = {
    "reference": "--map reference=COLUMN names the one that holds it",
    "pairwise": "write candidate_a and candidate_b, or name columns with --map candidate=COLUMN "
    f"--map source:{SOURCE_B}=COLUMN",
    "commit": "--map task=COLUMN names the one that holds it",
}
_WHAT = {"reference": "reference", "pairwise": "second candidate", "commit": "task"}
_HAS: dict[str, Callable[[Item], bool]] = {
    "reference": lambda item: bool(item.reference and not item.reference.isspace()),
    "pairwise": lambda item: item.text_of(SOURCE_B) is not None,
    "commit": lambda item: bool(item.task and not item.task.isspace()),
}
_SOURCES_NAMED = 5


class Needs:
    """Looks at items as they pass by, so that they are read no further time.

    Args:
        spec: the judge.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._has = _HAS.get(spec.protocol)
        self._reads = {*(one.source for one in spec.passes), *(one.source for one in spec.detectors)}
        self._unread: set[str] = set()
        self._n = self._lacking = 0

    def seen(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, each looked at.

        Raises:
            InvalidInput: an item is a pair, and the judge would pass over its second candidate in silence.
        """
        for item in items:
            self._n += 1
            self._lacking += self._has is not None and not self._has(item)
            if (
                self._spec.protocol not in ("pairwise", "reference")
                and SOURCE_B in item.sources
                and SOURCE_B not in self._reads
            ):
                raise InvalidInput(
                    f"judge {self._spec.name}: the item {item.id!r} holds two candidates, and `protocol: "
                    f"{self._spec.protocol}` reads one: use `protocol: pairwise`, or name the one to judge with --map "
                    "candidate=COLUMN"
                )
            self._unread.update(name for name in item.sources if name not in self._reads and name != SOURCE_B)
            yield item

    def notes(self) -> tuple[str, ...]:
        """Sentences on sources that nobody will read and on items that will abstain, once all were seen.

        Raises:
            InvalidInput: every item lacks what the protocol compares.
        """
        protocol = self._spec.protocol
        unread = tuple(self._unread_note(name) for name in sorted(self._unread)[:_SOURCES_NAMED])
        if not self._lacking:
            return unread
        if self._lacking == self._n:
            raise InvalidInput(
                f"judge {self._spec.name}: no item has a {_WHAT[protocol]}, which `protocol: {protocol}` needs: "
                f"{_WAY_OUT[protocol]}"
            )
        lacking = (
            f"{count(self._lacking)} of {plural(self._n, 'item')} "
            f"{'has' if self._lacking == 1 else 'have'} no {_WHAT[protocol]}"
        )
        return (*unread, f"{lacking} and will abstain; nothing is asked about them")

    def _unread_note(self, name: str) -> str:
        """A name that no pass has is most often a slip of the pen, and the pass that wanted it is left out."""
        near = difflib.get_close_matches(name, sorted(self._reads), n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return f"the source {name!r} is read by nothing in judge {self._spec.name}{meant}"
