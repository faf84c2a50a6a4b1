"""How texts lie in the store: JSON, or whatever bytes a hash names, in zstandard frames with a checksum.

A reply is JSON in which fields that say nothing are left out; its key and its usage have columns of their own. JSON has
no infinity, so a log probability of minus infinity, which local runtimes report for impossible tokens, is written null.
"""

import math
from typing import Literal

import msgspec
import zstandard

from evenhand.errors import StoreError
from evenhand.keys import tagged
from evenhand.terms import Reply, TokenChoice, Usage

__all__ = ["Unpacker", "compressor", "reply_json"]

# Level 1 makes judging requests (3 kB, 8 kB, 40 kB) within 1.5, 1 and 4 % as small as level 3, in 0.8, 0.6 and 0.6 of
# the time; a dictionary of one whole request would halve them again, and would be one page that can spoil them all.
_LEVEL = 1

_INT64 = 2**63


class _Choice(msgspec.Struct, array_like=True, frozen=True):
    """A token with its alternatives; null stands for minus infinity."""

    token: str
    logprob: float | None
    alternatives: tuple[tuple[str, float | None], ...] = ()


class _Stored(msgspec.Struct, omit_defaults=True, frozen=True, forbid_unknown_fields=True):
    """A reply without its key and usage, which have columns of their own."""

    text: str
    finish: Literal["stop", "length", "filter", "other"] = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    logprobs: tuple[_Choice, ...] = ()
    model: str | None = None


def compressor() -> zstandard.ZstdCompressor:
    """A compressor of the store's level; each thread needs its own."""
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)


def reply_json(key: bytes, reply: Reply) -> bytes:
    """A reply as JSON, without its key and usage.

    Raises:
        StoreError: it holds what would not come back as it is: half a surrogate pair, a log probability that is no
            number, a token count beyond 64 bits.
    """
    usage = reply.usage
    for count in (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens):
        if count is not None and not -_INT64 <= count < _INT64:
            raise StoreError(f"the reply {tagged(key)} counts {count} tokens, which no endpoint can have meant")
    try:
        return msgspec.json.encode(
            _Stored(
                text=reply.text,
                finish=reply.finish,
                refusal=reply.refusal,
                reasoning=reply.reasoning,
                logprobs=tuple([_choice(key, choice) for choice in reply.logprobs]),
                model=reply.model,
            )
        )
    except UnicodeEncodeError as error:
        raise StoreError(f"the reply {tagged(key)} holds half a surrogate pair, which UTF-8 cannot write") from error


class Unpacker:
    """Reads frames back; one thread at a time.

    Args:
        where: the store's path, for messages.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._decode = msgspec.json.Decoder(_Stored).decode

    def text(self, key: bytes, frame: bytes, what: str) -> bytes:
        """What a frame holds.

        Raises:
            StoreError: the frame is damaged; names `what` and the key.
        """
        try:
            return self._decompress(frame)
        except (zstandard.ZstdError, MemoryError, TypeError) as error:
            raise StoreError(f"{self._where}: the {what} {tagged(key)} is damaged ({error})") from error

    def reply(self, key: bytes, frame: bytes, usage: Usage) -> Reply:
        """A reply from its frame.

        Raises:
            StoreError: the frame is damaged; names the key.
        """
        text = self.text(key, frame, "reply")
        try:
            stored = self._decode(text)
        except msgspec.MsgspecError as error:
            raise StoreError(f"{self._where}: the reply {tagged(key)} is damaged ({error})") from error
        return Reply(
            text=stored.text,
            finish=stored.finish,
            refusal=stored.refusal,
            reasoning=stored.reasoning,
            usage=usage,
            logprobs=tuple([_token_choice(choice) for choice in stored.logprobs]),
            model=stored.model,
            key=tagged(key),
        )


def _choice(key: bytes, choice: TokenChoice) -> _Choice:
    """A token as it is written."""
    return _Choice(
        choice.token,
        _written(key, choice.logprob),
        tuple([(token, _written(key, logprob)) for token, logprob in choice.alternatives]),
    )


def _written(key: bytes, logprob: float) -> float | None:
    """A log probability as it is written."""
    if math.isfinite(logprob):
        return float(logprob)
    if logprob == -math.inf:
        return None
    raise StoreError(f"the reply {tagged(key)} has the log probability {logprob}; it is at most 0")


def _token_choice(choice: _Choice) -> TokenChoice:
    """A token as it was."""
    return TokenChoice(
        token=choice.token,
        logprob=_read(choice.logprob),
        alternatives=tuple([(token, _read(logprob)) for token, logprob in choice.alternatives]),
    )


def _read(logprob: float | None) -> float:
    """A log probability as it was."""
    return -math.inf if logprob is None else logprob
