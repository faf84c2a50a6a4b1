"""Ask until a reply can be read, at most four times, and say why where none can.

What comes back, and what follows:

    withheld by the endpoint      Failure `filtered`, at once
    refused                       Abstention with the text, at once
    cut off                       once more with four times the limit, for the whole ask; then Failure `truncated`
    empty                         one fresh ask; then Failure `empty`
    unreadable                    one repair turn, which says what is wrong; then one fresh ask; then `unreadable`

A fresh ask has the next attempt number, so that it never shares a stored reply; the repair turn keeps the number, as
its messages differ anyway. Cut JSON is never completed, and nothing is read from a reply that was cut off.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from evenhand.errors import UnreadableReply
from evenhand.judges.parse import is_refusal
from evenhand.terms import Abstention, Call, Failure, FailureCode, Message, Reply, Usage

__all__ = ["LARGER", "MOST_CALLS", "Asking", "Read", "ask", "named", "total_usage"]

LARGER = 4
"""How many times larger the limit is for a reply that was cut off."""

MOST_CALLS = 4
"""Calls of one ask at most: the first, one with the larger limit, one repair turn, and one fresh ask."""

# How much of its unreadable reply a model is shown again, and of a refusal is kept, in characters.
_SHOWN_AGAIN = 4_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Generic[T]):
    """A value read from a reply, with the keys and the usage of all calls that led to it."""

    value: T
    keys: tuple[str, ...]
    usage: Usage


Asking = Generator[tuple[Call, ...], tuple[Reply, ...], Read[T] | Abstention | Failure]


def ask(call: Call, read: Callable[[str], T], repair: Callable[[str], str]) -> Asking[T]:
    """Ask, and ask again as the module says; for use with `yield from`.

    Args:
        call: the first call.
        read: a reply's text to the value; raises UnreadableReply.
        repair: what is wrong with a reply to the message that tells the model so.
    Returns:
        What was read, or the Abstention or Failure that the item ends with.
    """
    heard: list[Reply] = []
    turn, lengthened, repaired, afresh = call, False, False, False
    while True:
        (reply,) = yield (turn,)
        heard.append(reply)
        if reply.finish == "filter":
            return _failure("filtered", "the endpoint withheld the reply: its content filter stopped it", heard)
        if reply.refusal:
            return _refusal(reply.refusal, heard)
        if reply.finish == "length":
            if lengthened:
                return _failure("truncated", _truncation(call, heard), heard)
            lengthened = True
            call = replace(call, max_tokens=call.max_tokens * LARGER)
            turn = replace(turn, max_tokens=call.max_tokens)
            continue
        try:
            if not reply.text.strip():
                raise UnreadableReply("the reply is empty", code="empty")
            return Read(value=read(reply.text), keys=_keys(heard), usage=total_usage(heard))
        except UnreadableReply as error:
            problem, empty = str(error), error.code == "empty"
        if is_refusal(reply.text):
            return _refusal(reply.text, heard)
        if not empty and not repaired:
            repaired = True
            turn = _repair_turn(turn, reply, repair(problem))
        elif not afresh:
            afresh = True
            turn = call = replace(call, attempt=call.attempt + 1)
        else:
            return _failure("empty" if empty else "unreadable", problem, heard)


def named(what: str, asking: Asking[T]) -> Asking[T]:
    """The same ask, whose Failure says first what was asked; an empty name leaves the message as it is."""
    outcome = yield from asking
    return replace(outcome, message=f"{what}: {outcome.message}") if what and isinstance(outcome, Failure) else outcome


def total_usage(replies: Sequence[Reply]) -> Usage:
    """Tokens of several replies; a figure is None only where no reply reported it.

    >>> total_usage([Reply(text="", usage=Usage(input_tokens=3)), Reply(text="")]).input_tokens
    3
    """
    if len(replies) == 1:
        return replies[0].usage
    usages = [reply.usage for reply in replies]
    return Usage(
        input_tokens=_sum([usage.input_tokens for usage in usages]),
        cached_tokens=_sum([usage.cached_tokens for usage in usages]),
        output_tokens=_sum([usage.output_tokens for usage in usages]),
        reasoning_tokens=_sum([usage.reasoning_tokens for usage in usages]),
    )


def _repair_turn(turn: Call, reply: Reply, words: str) -> Call:
    """The same call, continued by the reply and by what is wrong with it."""
    # Half a surrogate pair could not be sent; it is shown as a question mark.
    said = reply.text[:_SHOWN_AGAIN].encode("utf-8", "replace").decode("utf-8")
    told = words.encode("utf-8", "replace").decode("utf-8")
    added = (Message(role="assistant", text=said), Message(role="user", text=told))
    return replace(turn, messages=(*turn.messages, *added))


def _truncation(call: Call, heard: Sequence[Reply]) -> str:
    """Why a cut reply is no verdict, with the reasoning that may have used the limit up."""
    reasoning = heard[-1].usage.reasoning_tokens
    spent = f", {reasoning} of them spent on reasoning" if reasoning else ""
    return (
        f"the reply was truncated at {call.max_tokens} tokens{spent}, also after the limit was raised to "
        f"{LARGER} times max_tokens; set max_tokens higher, or have the model reason less"
    )


def _refusal(text: str, heard: Sequence[Reply]) -> Abstention:
    kept = text[:_SHOWN_AGAIN].encode("utf-8", "replace").decode("utf-8")
    return Abstention(reason="refusal", text=kept, keys=_keys(heard), usage=total_usage(heard))


def _failure(code: FailureCode, message: str, heard: Sequence[Reply]) -> Failure:
    usage = total_usage(heard)
    return Failure(code=code, message=message, raw_key=heard[-1].key or None, keys=_keys(heard), usage=usage)


def _keys(heard: Sequence[Reply]) -> tuple[str, ...]:
    return tuple([reply.key for reply in heard])


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
