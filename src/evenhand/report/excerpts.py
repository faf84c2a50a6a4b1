"""A candidate's text with its quotations marked, cut to what a page has room for, the cut stated."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Mark", "Piece", "pieces"]

_AROUND = 300
_HEAD = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One quotation in the text.

    Args:
        number: shown beside it; the same in the table of findings.
        start, end: [start, end) in code points.
        kind: `for`, `against`, or `aside` for one that does not count.
    """

    number: int
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text with the same marks throughout.

    Args:
        kind: of its first mark; empty where it has none.
        ends: numbers of the marks that end with it.
        cut: characters left out in its place, where it stands for a gap.
    """

    text: str = ""
    kind: str = ""
    ends: tuple[int, ...] = field(default=())
    cut: int = 0


def pieces(text: str, marks: Sequence[Mark], limit: int = 8_000) -> tuple[Piece, ...]:
    """The text in pieces; a text above the limit keeps its beginning and what stands around the quotations.

    >>> [(p.text, p.kind, p.ends) for p in pieces("one two", [Mark(number=1, start=4, end=7, kind="for")])]
    [('one ', '', ()), ('two', 'for', (1,))]
    """
    marks = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    made: list[Piece] = []
    at = 0
    for start, end in _ranges(len(text), marks, limit):
        if start > at:
            made.append(Piece(cut=start - at))
        made += _between(text, start, end, marks)
        at = end
    return (*made, Piece(cut=len(text) - at)) if at < len(text) else tuple(made)


def _ranges(length: int, marks: Sequence[Mark], limit: int) -> list[tuple[int, int]]:
    """What is kept, in order, without overlaps, at most `limit` long together."""
    if length <= limit:
        return [(0, length)]
    wanted = [(0, min(_HEAD, limit))]
    left = limit - wanted[0][1]
    for mark in marks:
        for place in {mark.start, mark.end}:
            window = max(0, place - _AROUND), min(length, place + _AROUND)
            if any(start <= window[0] and window[1] <= end for start, end in wanted):
                continue
            if left < window[1] - window[0]:
                break
            wanted.append(window)
            left -= window[1] - window[0]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(wanted):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _between(text: str, start: int, end: int, marks: Sequence[Mark]) -> list[Piece]:
    """One kept stretch, split where a mark begins or ends."""
    near = [mark for mark in marks if mark.start < end and mark.end > start]
    edges = sorted({start, end, *(edge for mark in near for edge in (mark.start, mark.end) if start < edge < end)})
    made = []
    for left, right in pairwise(edges):
        over = [mark for mark in near if mark.start <= left and mark.end >= right]
        kind = over[0].kind if over else ""
        ends = tuple(mark.number for mark in near if mark.end == right)
        made.append(Piece(text=text[left:right], kind=kind, ends=ends))
    return made
