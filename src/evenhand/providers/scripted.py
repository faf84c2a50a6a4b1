"""A provider whose replies are given beforehand: for tests, dry runs, and judges replayed from a file.

    ScriptedProvider(["first reply", Reply(text="second"), ProviderError(...)])    the k-th call gets the k-th
    ScriptedProvider(lambda call: ...)                                             each call gets what it asks for
    scripted/replies.jsonl                                                         as a model's name, one reply a line

Calls are numbered in the order in which they are asked; with several in flight that order is the engine's, so replies
that depend on the item are better given as a function. The last reply repeats.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.terms import Call, Profile, Reply, TokenChoice, Usage

__all__ = ["Script", "ScriptedProvider"]

Script = Callable[[Call], Reply | str | Exception]


class ScriptedProvider:
    """Answers calls from a script, and keeps them for a look; see `Provider` for the contract.

    Args:
        replies: a function of the call, or a sequence whose last element repeats. A string is the reply's text, an
            exception is raised.
        identity: for content keys; two scripts with different replies need different ones.
    Attributes:
        calls: every call asked so far, with the profile it was asked by.
    Raises:
        InvalidInput: an empty sequence.

    >>> import asyncio
    >>> from evenhand.terms import Message
    >>> provider = ScriptedProvider(["yes", "no"])
    >>> call = Call(model="scripted/x", messages=(Message(role="user", text="?"),))
    >>> [asyncio.run(provider.ask(call, Profile(), timeout_s=1)).text for _ in range(3)]
    ['yes', 'no', 'no']
    """

    name = "scripted"
    max_concurrency: int | None = None

    def __init__(
        self, replies: Script | Sequence[Reply | str | Exception], *, identity: str = "scripted", name: str = "scripted"
    ) -> None:
        if not callable(replies) and not replies:
            raise InvalidInput("ScriptedProvider: no replies; give at least one, or a function of the call")
        self.name = name
        self.identity = identity
        self.calls: list[tuple[Call, Profile]] = []
        self._replies = replies

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedProvider":
        """Replies from a JSONL file, one a line; its identity is the SHA-256 of the file.

        A line is a JSON string, which is the reply's text; an object with `text`, which holds the fields of a `Reply`;
        or any other object, which is itself the reply's text as it stands.

        Raises:
            InvalidInput: no such file, no line in it, or a line that is none of these.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidInput(f"scripted/{path}: cannot be read ({error.strerror}); name a JSONL file") from error
        lines = [(number, line) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
        if not lines:
            raise InvalidInput(f"{path}: holds no reply; write one JSON string or object a line")
        replies = [_reply_of_line(line, f"{path}:{number}") for number, line in lines]
        return cls(replies, identity=f"scripted:sha256:{hashlib.sha256(content).hexdigest()}")

    async def ask(self, call: Call, profile: Profile, *, timeout_s: float) -> Reply:
        """The next reply of the script; see `Provider.ask`."""
        number = len(self.calls)
        self.calls.append((call, profile))
        given = self._replies
        reply = given(call) if callable(given) else given[min(number, len(given) - 1)]
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply) if isinstance(reply, str) else reply

    async def close(self) -> None:
        """Nothing is held."""


class _TokenLine(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


class _ReplyLine(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a `Reply` as a line may give them."""

    text: str
    finish: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    usage: dict[str, int] = {}
    logprobs: tuple[_TokenLine, ...] = ()
    model: str | None = None


def _reply_of_line(line: bytes, where: str) -> Reply | str:
    """One line of a script."""
    try:
        value: Any = msgspec.json.decode(line)
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and "text" not in value:
            return line.strip().decode()
        given = msgspec.json.decode(line, type=_ReplyLine)
        if given.finish not in ("stop", "length", "filter", "other"):
            raise msgspec.ValidationError(f"finish {given.finish!r} is none of stop, length, filter, other")
        fields = msgspec.structs.asdict(given)
        tokens = tuple(TokenChoice(**msgspec.structs.asdict(token)) for token in given.logprobs)
        return Reply(**{**fields, "usage": Usage(**given.usage), "logprobs": tokens})
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
        raise InvalidInput(f"{where}: no reply ({error}); expected a JSON string, or an object with 'text'") from error
