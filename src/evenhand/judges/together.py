"""Several asks at once: each repairs and asks afresh by itself, and all calls of a turn go out together.

The replies that were heard are kept in the order of the calls, since that is the order in which a stored record is
replayed. The first ask that ends without a value ends them all: what its siblings would still have asked is not spent.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TypeVar

from evenhand.judges.asking import Asking, Read, total_usage
from evenhand.terms import Abstention, Call, Failure, Reply

__all__ = ["each", "resting_on", "together"]

T = TypeVar("T")
Ended = Abstention | Failure


def together(
    askings: Sequence[Asking[T]], heard: list[Reply]
) -> Generator[tuple[Call, ...], tuple[Reply, ...], list[T] | Abstention | Failure]:
    """Ask several things, for use with `yield from`.

    Args:
        askings: generators of `asking.ask`, each one call at a time.
        heard: takes every reply, in the order of the calls.
    Returns:
        The values in the order of the askings, or the first outcome that ends the item.
    """
    values: list[T | None] = [None] * len(askings)
    turns = {place: next(asking) for place, asking in enumerate(askings)}
    while turns:
        replies = yield tuple(call for calls in turns.values() for call in calls)
        heard.extend(replies)
        following: dict[int, tuple[Call, ...]] = {}
        ended: Abstention | Failure | None = None
        for place, reply in zip(turns, replies, strict=True):
            try:
                following[place] = askings[place].send((reply,))
            except StopIteration as done:
                found: Read[T] | Abstention | Failure = done.value
                if isinstance(found, Read):
                    values[place] = found.value
                elif ended is None:
                    ended = found
        if ended is not None:
            for place in following:
                askings[place].close()
            return ended
        turns = following
    return [value for value in values if value is not None]


def each(
    askings: Sequence[Asking[T]], heard: list[Reply]
) -> Generator[tuple[Call, ...], tuple[Reply, ...], list[Read[T] | Abstention | Failure]]:
    """Ask several things of which none rests on another; one that comes to nothing costs its siblings nothing.

    Args:
        askings: generators of `asking.ask`, each one call at a time.
        heard: takes every reply, in the order of the calls.
    Returns:
        How each ended, in the order of the askings.
    """
    outcomes: dict[int, Read[T] | Abstention | Failure] = {}
    turns = {place: next(asking) for place, asking in enumerate(askings)}
    while turns:
        replies = yield tuple(call for calls in turns.values() for call in calls)
        heard.extend(replies)
        following: dict[int, tuple[Call, ...]] = {}
        for place, reply in zip(turns, replies, strict=True):
            try:
                following[place] = askings[place].send((reply,))
            except StopIteration as done:
                outcomes[place] = done.value
        turns = following
    return [outcomes[place] for place in range(len(askings))]


def resting_on(outcome: Ended, heard: Sequence[Reply]) -> Ended:
    """The outcome with the keys and usage of everything that was heard."""
    return replace(outcome, keys=tuple([reply.key for reply in heard]), usage=total_usage(heard))
