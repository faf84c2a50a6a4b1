"""Near-duplicate evidence counts once: padding with the same point in other words moves no score.

Two items say the same if they stand under one criterion, have one sign, and

    quote one span of one source, or
    make nearly the same claim: likeness at or above the threshold, and the same numbers

Likeness is rapidfuzz's `ratio` (2 * common characters / all characters, as a longest common subsequence) of the claims
in lower case, without punctuation, their words sorted. "Test 1 fails" and "test 2 fails" differ in a number and are
two findings. Findings with a declared id (catalogue entries, and detectors among themselves) are the same if their id
is. Where sentences are cited by number, the span is that of all of them: [1, 4] and [1] are two places.

Items are grouped around leaders, strongest first and equal ones in the order of their words, so that grouping does not
depend on the order in which items came, and each item is a near-duplicate of its group's leader itself, not of a
chain. The strongest of a group stays, then the first; a detector's finding stays before any model's.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidInput
from evenhand.terms import Evidence

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DUPLICATE", "merge_near_duplicates", "origin"]

DUPLICATE = "duplicate"
"""Why an item that another one stands for does not count."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")

# Up to so many items all pairs are compared one by one, which needs no arrays.
_FEW = 64

# The signature of a claim: so many classes of characters, and so many of each that are told apart.
_CLASSES, _DEPTH = 32, 12
_WORDS = _CLASSES * _DEPTH // 64

# After how many leaders the claims that are taken or passed are left out of the arrays.
_REST_EVERY = 256


def merge_near_duplicates(
    items: Sequence[Evidence], likeness: float, *, within_cells: bool = False
) -> tuple[Evidence, ...]:
    """The items in their order, those that repeat another one marked as not counting.

    Args:
        items: those that do not count already take no part, and stay as they are.
        likeness: of two claims, above 0 and up to 1, from which they are the same; 0.9 is a good beginning.
        within_cells: only items of one perspective and pass are compared.
    Returns:
        As many items: a duplicate has `counted` false and `dropped` "duplicate"; the one that stands for it lists where
        it came from in `merged`, in the order of the items.
    Raises:
        InvalidInput: likeness is out of its range.

    >>> found = [Evidence(claim="It names no owner.", impact=-2), Evidence(claim="it names no owner", impact=-3)]
    >>> [item.counted for item in merge_near_duplicates(found, 0.9)]
    [False, True]
    """
    if not 0 < likeness <= 1:
        raise InvalidInput(
            f"merge_near_duplicates: likeness is {likeness!r}; expected above 0 and at most 1, such as 0.9"
        )
    blocks: dict[Hashable, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        if item.counted:
            blocks[_block(item, within_cells=within_cells)].append(position)
    made = list(items)
    for key, positions in blocks.items():
        if len(positions) > 1:
            declared = isinstance(key, tuple) and key[2] is not None
            for group in [positions] if declared else _groups(items, positions, likeness):
                _merge(made, group)
    return tuple(made)


def origin(item: Evidence) -> str:
    """Where an item came from, as `merged` lists it: `pass/perspective`, with the source where no pass is named.

    >>> origin(Evidence(claim="", impact=1, pass_name="demo", perspective="sme"))
    'demo/sme'
    """
    reading = item.detector or item.pass_name or item.source or "candidate"
    return reading if item.perspective is None else f"{reading}/{item.perspective}"


def _block(item: Evidence, *, within_cells: bool) -> Hashable:
    """Items in different blocks are never compared; the third part is the id of a declared finding."""
    cell = (item.perspective, item.pass_name, item.source) if within_cells else ()
    return (item.criterion, item.impact > 0, item.catalog_id, *cell)


def _merge(made: list[Evidence], group: Sequence[int]) -> None:
    """Keep the strongest of a group, a detector's finding before others; mark the rest."""
    if len(group) == 1:
        return
    kept = min(group, key=lambda place: (made[place].detector is None, -abs(made[place].impact), place))
    others = [place for place in sorted(group) if place != kept]
    merged = [name for place in others for name in (*made[place].merged, origin(made[place]))]
    made[kept] = replace(made[kept], merged=(*made[kept].merged, *merged))
    for place in others:
        made[place] = replace(made[place], counted=False, dropped=DUPLICATE, merged=())


# --- groups ---------------------------------------------------------------------------------------------------------


class _Claims:
    """The claims of one block, in the order in which leaders are chosen."""

    def __init__(self, items: Sequence[Evidence], positions: Sequence[int]) -> None:
        texts = {position: _folded(items[position].claim) for position in positions}
        self.order = sorted(positions, key=lambda position: _rank(items[position], texts[position]))
        self.texts = [texts[position] for position in self.order]
        self.numbers = [tuple(sorted(_NUMBER.findall(text))) for text in self.texts]
        self.spans = [_span(items[position]) for position in self.order]
        self._detectors = [items[position].detector for position in self.order]

    def are_apart(self, one: int, other: int) -> bool:
        """Whether two places hold findings of different detectors, which are never the same."""
        first, second = self._detectors[one], self._detectors[other]
        return first is not None and second is not None and first != second


def _groups(items: Sequence[Evidence], positions: Sequence[int], likeness: float) -> list[list[int]]:
    """Positions grouped around leaders."""
    claims = _Claims(items, positions)
    search = _few(claims, likeness) if len(positions) <= _FEW else _Many(claims, likeness).near
    by_span: dict[Hashable, list[int]] = defaultdict(list)
    for place, span in enumerate(claims.spans):
        if span is not None:
            by_span[span].append(place)
    taken = [False] * len(claims.order)
    groups = []
    for leader in range(len(claims.order)):
        if taken[leader]:
            continue
        taken[leader] = True
        span = claims.spans[leader]
        near = [place for place in search(leader, taken) if not taken[place]]
        near += [place for place in (by_span[span] if span is not None else ()) if not taken[place]]
        near = [place for place in near if not claims.are_apart(leader, place)]
        for place in near:
            taken[place] = True
        groups.append([claims.order[place] for place in dict.fromkeys([leader, *near])])
    return groups


def _rank(item: Evidence, text: str) -> tuple[Any, ...]:
    """Strongest first; equal ones by what they say, so that the order of the items does not matter."""
    return (item.detector is None, -abs(item.impact), text, item.quote, item.source or "", item.span or ())


def _span(item: Evidence) -> Hashable | None:
    """The quoted place; None where nothing was found. A span is that of the first of several passages."""
    if item.span is None:
        return None
    cited = item.sentences or (0,)
    several = cited if cited[-1] - cited[0] >= len(cited) else None
    return (item.source, item.span[0], item.span[1], several)


def _folded(claim: str) -> str:
    """A claim in lower case, its words sorted, without punctuation; the claim itself where it has no word."""
    return " ".join(sorted(_WORD.findall(claim.casefold()))) or claim.strip()


def _few(claims: _Claims, likeness: float) -> Callable[[int, Sequence[bool]], list[int]]:
    """Compares a leader with each later claim, one by one."""
    from rapidfuzz import fuzz  # here, since few judges look for duplicates

    texts, numbers, cutoff = claims.texts, claims.numbers, 100 * likeness

    def near(leader: int, taken: Sequence[bool]) -> list[int]:
        one = texts[leader]
        return [
            place
            for place in range(leader + 1, len(texts) if one else 0)
            # Below its cutoff the ratio is given as 0.
            if not taken[place]
            and numbers[place] == numbers[leader]
            and fuzz.ratio(one, texts[place], score_cutoff=cutoff) > 0
        ]

    return near


class _Many:
    """Compares a leader with all later claims at once: first by signature, then those that are left by ratio.

    A signature counts the characters of each class in unary, so that the bits in which two differ are the counts by
    which they differ. Taking out or putting in one character changes one count by one, and a ratio of at least t allows
    (1 - t) * (length + length) such steps: a claim whose signature differs in more bits is not alike. Classes that
    share characters, and counts beyond the depth, only hide differences, so the test lets through all that are alike.
    """

    def __init__(self, claims: _Claims, likeness: float) -> None:
        import numpy as np

        self._claims = claims
        self._likeness = likeness
        self._places = np.arange(len(claims.texts))
        self._lengths = np.array([len(text) for text in claims.texts], dtype=np.float32)
        self._signatures = _signatures(claims.texts)

    def near(self, leader: int, taken: Sequence[bool]) -> list[int]:
        """Later claims that are alike and not taken."""
        if leader % _REST_EVERY == 0:
            self._rest(leader, taken)
        at = int(self._places.searchsorted(leader))
        texts, numbers = self._claims.texts, self._claims.numbers
        chosen = [place for place in self._possible(at) if not taken[place] and numbers[place] == numbers[leader]]
        if not chosen or not texts[leader]:
            return []
        from rapidfuzz import fuzz, process

        ratios = process.cdist(
            [texts[leader]], [texts[place] for place in chosen], scorer=fuzz.ratio, score_cutoff=100 * self._likeness
        )
        return [place for place, ratio in zip(chosen, ratios[0].tolist(), strict=True) if ratio > 0]

    def _possible(self, at: int) -> list[int]:
        """Places after the one held at `at` that the signature lets through."""
        import numpy as np

        differing = np.bitwise_count(self._signatures[0, at + 1 :] ^ self._signatures[0, at]).astype(np.uint16)
        for row in self._signatures[1:]:
            differing += np.bitwise_count(row[at + 1 :] ^ row[at])
        lengths = self._lengths[at + 1 :]
        steps = np.float32(1 - self._likeness) * (lengths + self._lengths[at]) + np.float32(1e-3)
        possible = (differing <= steps) & (np.abs(lengths - self._lengths[at]) <= steps)
        found: list[int] = self._places[at + 1 :][possible].tolist()
        return found

    def _rest(self, leader: int, taken: Sequence[bool]) -> None:
        """Hold only what is still to be looked at."""
        import numpy as np

        held = np.array([place >= leader and (place == leader or not taken[place]) for place in self._places.tolist()])
        self._places, self._lengths = self._places[held], self._lengths[held]
        self._signatures = np.ascontiguousarray(self._signatures[:, held])


def _signatures(texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """(words, claims) counts of characters by class, in unary."""
    import numpy as np

    unary = [(1 << count) - 1 for count in range(_DEPTH + 1)]
    rows = bytearray()
    for text in texts:
        counts = [0] * _CLASSES
        for character, count in Counter(text).items():
            counts[ord(character) % _CLASSES] += count
        signature = 0
        for count in counts:
            signature = signature << _DEPTH | unary[min(count, _DEPTH)]
        rows += signature.to_bytes(8 * _WORDS, "little")
    return np.ascontiguousarray(np.frombuffer(bytes(rows), dtype="<u8").reshape(len(texts), _WORDS).T)
