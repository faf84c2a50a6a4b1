r"""Where the texts of an item stand in the requests of a harness.

A request seldom holds a text letter by letter: it is re-wrapped, escaped for JSON or HTML, or cut. So white space is
made one space, the request is read once as it stands and once unescaped, and a long text that is not there as a whole
is looked for by fragments of six words that no other item has. The longest texts are taken out first, so that an answer
`42` is not found inside a task that mentions 42; what is left of the request is its template. A short text counts as
present only if it stands there more often than in the requests of items that have another text in its place
(`integrity.sightings`).
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.integrity.commitments import commitments_in
from evenhand.terms import Item, TracedCall

__all__ = [
    "Found",
    "ItemTexts",
    "PlacedCall",
    "Role",
    "Sight",
    "normalised",
    "occurrences",
    "placed_calls",
    "short_sights",
    "texts_of",
]

Role = Literal["task", "candidate", "reference"]
Found = Literal["whole", "fragments", "short", "absent"]

_ROLES: tuple[Role, ...] = ("task", "candidate", "reference")
_LONG = 24  # code points from which a text stands for itself
_FRAGMENT_WORDS = 6
_FEWEST_FRAGMENTS = 3
_SHARE = 0.5  # of the fragments
_KEYS = 8  # rare words of a text by which a request may be about it
_FEWEST_KEYS = 2  # of them, that a request must hold
_MASK = "\ue000"  # a private character, which ends words as a space does
_PLAIN = str.maketrans(  # what typography makes of quotes and dashes
    dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_END_WORDS = 8  # of a candidate's beginning or end, which show that it was cut
_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": " ", "t": " ", "r": " ", "b": " ", "f": " "}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTexts:
    """The texts of one item as they are looked for: normalised, "" where there is none.

    Args:
        answers: the final answer that a long text ends in, where it can be read: a harness may show that alone.
    """

    id: str
    texts: Mapping[Role, str]
    answers: Mapping[Role, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """How one text of an item stands in one request.

    Args:
        how: as a whole, by fragments, as a short text, or not.
        count: of a short text, how often it stands in what is left of the request.
        short: the short text that was counted; "" where a long one was found.
    """

    how: Found
    count: int = 0
    short: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCall:
    """One readable request, and the items whose texts are in it.

    Args:
        items: ids, in item order; several where they cannot be told apart by their texts.
        several: the request holds the tasks of more than one item.
        sights: of each of `items`.
        rest: the messages by others than the assistant, less the item's texts: the template, as far as it is known.
        whole: all messages, normalised, less the long texts.
    """

    call: TracedCall
    items: tuple[str, ...]
    several: bool
    sights: Mapping[str, Mapping[Role, Sight]]
    rest: str
    whole: str


def normalised(text: str) -> str:
    r"""A text with one form for equal and for compatible characters, and one space for any white space.

    >>> normalised(" a\n\n b\u00a0c "), normalised("\u201c\uff14\uff12\u201d \u2013 it\u2019s")
    ('a b c', '"42" - it\'s')
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_PLAIN).split())


def texts_of(item: Item) -> ItemTexts:
    """What is looked for of an item."""
    raw: dict[Role, str] = {
        "task": item.task or item.context or "",
        "candidate": item.candidate,
        "reference": item.reference or "",
    }
    answers: dict[Role, str] = {}
    for role in ("candidate", "reference"):
        found = commitments_in(raw[role])
        answers[role] = normalised(found[-1].text) if found else ""
    return ItemTexts(id=item.id, texts={role: normalised(text) for role, text in raw.items()}, answers=answers)


def occurrences(short: str, text: str) -> int:
    """How often a short text stands in another as words of its own; 42 does not stand in 3.42 or in 42,000.

    >>> occurrences("42", "42, 3.42, 42,000, (42) and 42."), occurrences("", "a")
    (3, 0)
    """
    if not short or short not in text:
        return 0
    before = r"(?<![\w])(?<!\d[.,])" if short[0].isalnum() else ""
    after = r"(?![\w])(?![.,]\d)" if short[-1].isalnum() else ""
    return len(re.findall(before + re.escape(short) + after, text))


def short_sights(item: ItemTexts, text: str) -> dict[Role, Sight]:
    """How the short texts of an item stand in what is left of a request; long ones were looked for before."""
    return {role: _short_sight(item, role, text) for role in _ROLES}


def placed_calls(items: Sequence[ItemTexts], calls: Iterable[TracedCall]) -> tuple[PlacedCall, ...]:
    """Place each readable request that was answered; the others are left out.

    Args:
        items: in the order of the items file, ids distinct.
        calls: of the trace.
    """
    index = _Index(items)
    return tuple(_placed(call, index) for call in calls if call.readable and call.replies)


@dataclass(slots=True)
class _View:
    """A request in one reading, from which texts are taken out as they are found."""

    text: str
    own: str  # the part that is not the assistant's
    taken: int = 0
    sights: dict[tuple[int, Role], Sight] = field(default_factory=dict)

    def take(self, needle: str) -> int:
        """Take a text out wherever it stands; how often it did."""
        n = self.text.count(needle)
        if n:
            self.taken += n * len(needle)
            self.text = self.text.replace(needle, _MASK)
            self.own = self.own.replace(needle, _MASK)
        return n

    def sight(self, number: int, role: Role, index: "_Index") -> Sight:
        """How a text stands in the request; the short ones are looked for once the long ones are taken out."""
        if (number, role) not in self.sights:
            self.sights[number, role] = _short_sight(index.items[number], role, self.text)
        return self.sights[number, role]


class _Index:
    """The items, and which of them a request may be about, by rare words."""

    def __init__(self, items: Sequence[ItemTexts]) -> None:
        self.items = items
        every = [set(_WORD.findall(text)) for item in items for text in item.texts.values()]
        spread = Counter(word for words in every for word in words)
        self._by_word: dict[str, list[int]] = {}
        self._always: set[int] = set()
        for number, item in enumerate(items):
            long = [text for text in item.texts.values() if len(text) >= _LONG]
            keys = {
                word
                for text in long
                for word in sorted(dict.fromkeys(_WORD.findall(text)), key=spread.__getitem__)[:_KEYS]
            }
            if len(keys) < _FEWEST_KEYS:
                self._always.add(number)
            for word in keys:
                self._by_word.setdefault(word, []).append(number)
        self.fragments = self._own_fragments()

    def about(self, views: Iterable[_View]) -> list[int]:
        """Items that a request may be about, in item order."""
        words = {word for view in views for word in _WORD.findall(view.text)}
        shared = Counter(number for word in words for number in self._by_word.get(word, ()))
        return sorted(self._always.union(number for number, n in shared.items() if n >= _FEWEST_KEYS))

    def _own_fragments(self) -> dict[tuple[int, Role], tuple[str, ...]]:
        """The fragments of long texts that no other text has."""
        cut = {
            (number, role): _fragments(text)
            for number, item in enumerate(self.items)
            for role, text in item.texts.items()
            if len(text) >= _LONG
        }
        holders = Counter(fragment for fragments in cut.values() for fragment in set(fragments))
        own = {key: tuple(one for one in fragments if holders[one] == 1) for key, fragments in cut.items()}
        return {key: fragments for key, fragments in own.items() if len(fragments) >= _FEWEST_FRAGMENTS}


def _fragments(text: str) -> list[str]:
    """A text in pieces of six words."""
    words = text.split(" ")
    return [" ".join(words[at : at + _FRAGMENT_WORDS]) for at in range(0, len(words) - _FRAGMENT_WORDS + 1, 6)]


def _placed(call: TracedCall, index: _Index) -> PlacedCall:
    """One request, in the reading in which most of it is explained."""
    views = [_view(call, unescape=False), _view(call, unescape=True)]
    about = index.about(views)
    for view in views:
        _take_long(view, about, index)
    view = max(views, key=lambda one: one.taken)
    members, several = _members(view, about, index)
    sights = {index.items[k].id: {role: view.sight(k, role, index) for role in _ROLES} for k in members}
    for k in members:
        own = sights[index.items[k].id]
        if own["candidate"].how == "absent" and _has_end(index.items[k].texts["candidate"], view.text):
            own["candidate"] = Sight(how="fragments", count=1)
    return PlacedCall(
        call=call,
        items=tuple(index.items[number].id for number in members),
        several=several,
        sights=sights,
        rest=view.own,
        whole=view.text,
    )


def _view(call: TracedCall, *, unescape: bool) -> _View:
    """The messages in one reading."""
    read = [(role, normalised(_unescaped(text) if unescape else text)) for role, text in call.messages]
    return _View(
        text=_MASK.join(text for _, text in read), own=_MASK.join(text for role, text in read if role != "assistant")
    )


def _unescaped(text: str) -> str:
    """A text without the escapes of JSON and HTML."""

    def plain(hit: re.Match[str]) -> str:
        return chr(int(hit[1], 16)) if hit[1] else _ESCAPED.get(hit[2], hit[2])

    return html.unescape(_ESCAPE.sub(plain, text))


def _take_long(view: _View, about: Sequence[int], index: _Index) -> None:
    """Find the long texts, the longest first, and take them out."""
    wanted: dict[str, list[tuple[int, Role]]] = {}
    for number in about:
        for role, text in index.items[number].texts.items():
            if len(text) >= _LONG:
                wanted.setdefault(text, []).append((number, role))
    for text in sorted(wanted, key=len, reverse=True):
        n = view.take(text)
        if n:
            for key in wanted[text]:
                view.sights[key] = Sight(how="whole", count=n)
    for text in sorted(wanted, key=len, reverse=True):
        for key in wanted[text]:
            own = index.fragments.get(key, ())
            if key not in view.sights and own:
                there = [fragment for fragment in own if fragment in view.text]
                if len(there) >= max(_SHARE * len(own), 1):
                    for fragment in there:
                        view.take(fragment)
                    view.sights[key] = Sight(how="fragments", count=1)


def _has_end(text: str, request: str) -> bool:
    """Whether a long text's beginning or end stands in a request, which a harness may have cut."""
    words = text.split(" ")
    if len(words) <= _END_WORDS:
        return False
    ends = (" ".join(words[:_END_WORDS]), " ".join(words[-_END_WORDS:]))
    return any(len(end) >= _LONG and end in request for end in ends)


def _short_sight(item: ItemTexts, role: Role, text: str) -> Sight:
    """A short text, or the answer that a long one ends in."""
    short = item.texts[role] if len(item.texts[role]) < _LONG else item.answers.get(role, "")
    n = occurrences(short, text) if len(short) < _LONG else text.count(short)
    return Sight(how="short" if n else "absent", count=n, short=short)


def _members(view: _View, about: Sequence[int], index: _Index) -> tuple[list[int], bool]:
    """Which items a request is about, and whether it holds the tasks of several."""

    def there(number: int, role: Role, *kinds: Found) -> bool:
        return view.sight(number, role, index).how in kinds

    long: tuple[Found, ...] = ("whole", "fragments")
    by_task = [number for number in about if there(number, "task", *long)]
    if not by_task:
        by_task = [number for number in about if len(index.items[number].texts["task"]) < _LONG
                   and there(number, "task", "short")]  # fmt: skip
    if by_task:
        tasks = {index.items[number].texts["task"] for number in by_task}
        if len(tasks) > 1:
            most = max(by_task, key=lambda number: len(index.items[number].texts["task"]))
            if all(there(number, "task", *long) for number in by_task):
                return by_task, True
            by_task = [number for number in by_task if index.items[number].texts["task"] ==
                       index.items[most].texts["task"]]  # fmt: skip
        return _narrowed(by_task, view, index), False
    by_candidate = [number for number in about if there(number, "candidate", *long)]
    return by_candidate, len({index.items[number].texts["candidate"] for number in by_candidate}) > 1


def _narrowed(same_task: list[int], view: _View, index: _Index) -> list[int]:
    """Of items with one task, those whose candidate is in the request; all where none is."""
    for kinds in (("whole",), ("fragments",), ("short",)):
        found = [number for number in same_task if view.sight(number, "candidate", index).how in kinds]
        if found:
            return found
    return same_task
