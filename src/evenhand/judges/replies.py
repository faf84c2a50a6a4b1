"""What stands in the entries of a reply: declared ids, each once, with values of the declared types.

Keys that no protocol declares are passed over; they carry no verdict. docs/replies.md tells it in full.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import UnreadableReply
from evenhand.judges.parse import reply_object

__all__ = ["RatingDistribution", "by_id", "entries", "integer", "kind", "rating_distribution", "words"]

_NAMED = 5
_SHOWN = 60


def entries(text: str, top: str) -> list[dict[str, Any]]:
    """The list of objects under a reply's top key.

    Raises:
        UnreadableReply: as `reply_object`, or no list of objects.
    """
    found = reply_object(text, top)[top]
    if not isinstance(found, list):
        raise UnreadableReply(f'"{top}" is {kind(found)}; expected a list')
    for place, entry in enumerate(found, start=1):
        if not isinstance(entry, dict):
            raise UnreadableReply(f'"{top}": entry {place} is {kind(entry)}; expected an object')
    return found


def by_id(text: str, top: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """The entries by their id, which are exactly the declared ones.

    Raises:
        UnreadableReply: an id is missing, undeclared, stands twice, or is no string; each is named.

    >>> by_id('{"checks": [{"id": "a"}, {"id": "b"}]}', "checks", ["a"])
    Traceback (most recent call last):
    evenhand.errors.UnreadableReply: "checks": undeclared: "b"
    """
    found = entries(text, top)
    named = {}
    for entry in found:
        name = entry.get("id")
        if not isinstance(name, str):
            raise UnreadableReply(f'"{top}": an entry has {kind(name)} for its id; expected a string')
        named[name] = entry
    if len(named) != len(found) or len(named) != len(ids) or not all(name in named for name in ids):
        counts = Counter(entry["id"] for entry in found)
        wrong = {
            "missing": [name for name in ids if name not in named],
            "undeclared": [name for name in named if name not in ids],
            "more than once": [name for name, n in counts.items() if n > 1],
        }
        raise UnreadableReply(f'"{top}": ' + "; ".join(f"{what}: {_names(ids)}" for what, ids in wrong.items() if ids))
    return named


def words(entry: Mapping[str, Any], field: str, what: str) -> str | None:
    """A text field; None where it is missing or null.

    Raises:
        UnreadableReply: it is no string.
    """
    value = entry.get(field)
    if value is None or isinstance(value, str):
        return value
    raise UnreadableReply(f'{what}: "{field}" is {kind(value)}; expected a string')


def integer(entry: Mapping[str, Any], field: str, what: str, allowed: Collection[int], expected: str) -> int:
    """A number field that is one of the allowed integers; 8.0 is 8.

    Args:
        expected: the allowed ones in words, for the message.
    Raises:
        UnreadableReply: missing, of another type, no whole number, or not allowed.
    """
    value = entry.get(field)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value in allowed:
        return value
    raise UnreadableReply(f'{what}: "{field}" is {kind(value)}; expected {expected}')


def kind(value: object) -> str:
    """A value as a message shows it: short, and with its type where that is what is wrong."""
    if value is None:
        return "missing or null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    if isinstance(value, str):
        cut = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
        return f'the string "{cut}"'
    return "a list" if isinstance(value, list) else "an object"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingDistribution:
    """What the alternatives of one token say about a rating.

    Args:
        probabilities: level to its share of `mass`; they sum to 1. Empty where no alternative is a level.
        mean: the expected rating; nan where no alternative is a level.
        mass: the probability that fell on levels at all, of everything the endpoint listed and did not list.
    """

    probabilities: Mapping[int, float]
    mean: float
    mass: float


def rating_distribution(alternatives: Sequence[tuple[str, float]], levels: Collection[int]) -> RatingDistribution:
    """The distribution of a rating over the alternatives of the token that carries it.

    Variants of one level (with and without a leading space, or listed twice as two tokens with one text) are added up;
    other tokens are left out, and what they take is seen in `mass`. A level that takes more than one token (10, where
    the tokenizer parts digits) is seen only by its first digit: use levels of one token each.

    Args:
        alternatives: (token, natural log probability).
        levels: the integers of the scale.

    >>> found = rating_distribution([("8", -0.5), (" 8", -2.0), ("7", -2.0), ("The", -3.0)], range(1, 11))
    >>> round(found.mean, 4), round(found.mass, 4)
    (7.8457, 0.8772)
    """
    texts = {str(level): level for level in levels}
    masses: dict[int, float] = {}
    for token, logprob in alternatives:
        level = texts.get(token.strip(" \t\n\u0120\u2581"))  # the last two stand for a space in tokenizers
        if level is not None:
            masses[level] = masses.get(level, 0.0) + math.exp(logprob)
    mass = math.fsum(masses.values())
    if not mass:
        return RatingDistribution(probabilities={}, mean=math.nan, mass=0.0)
    shares = {level: masses[level] / mass for level in sorted(masses)}
    return RatingDistribution(
        probabilities=shares, mean=math.fsum(level * share for level, share in shares.items()), mass=mass
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name[:_SHOWN]}"' for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
