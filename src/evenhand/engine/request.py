"""What a call's key hashes: everything that can change the reply, and nothing else.

The canonical request is what `keys.canonical_json` would write of the same fields; it is built from structs whose
fields stand in sorted order because this runs once a call, and walking the schema anew would cost more than the hash.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from evenhand.errors import InvalidInput
from evenhand.keys import canonical_json
from evenhand.terms import Call, Message, Profile

__all__ = ["Requester", "asked_otherwise", "messages_of"]

# Raised if the canonical request ever gets another form, so that old keys cannot meet new requests.
REQUEST_VERSION = 1


class _Request(msgspec.Struct, frozen=True, gc=False):
    """Field names in sorted order: that is what makes the encoding canonical."""

    attempt: int
    endpoint: str
    logprobs: int | None
    max_tokens: int
    member: str
    messages: tuple[Message, ...]
    model: str
    profile: msgspec.Raw
    rerun: int
    schema: msgspec.Raw
    schema_name: str
    temperature: int | float | None
    version: int = REQUEST_VERSION


class _Stored(msgspec.Struct):
    """The part of a stored request that a replay compares: what the judge decides."""

    messages: tuple[Message, ...]
    schema: msgspec.Raw
    temperature: int | float | None
    max_tokens: int
    member: str
    rerun: int


_encode = msgspec.json.Encoder(order=None).encode
_decode = msgspec.json.Decoder(_Stored).decode
_NULL = msgspec.Raw(b"null")


class Requester:
    """Turns calls to one endpoint into canonical requests and keys.

    Args:
        endpoint: identity of the endpoint, without credentials.
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._schemas: dict[int, tuple[Mapping[str, Any], msgspec.Raw]] = {}
        self._profiles: dict[Profile, msgspec.Raw] = {}

    def request(self, call: Call, profile: Profile) -> tuple[bytes, bytes]:
        """The canonical request of a call, and its key's 32 bytes.

        Raises:
            InvalidInput: a text with a lone surrogate, or a temperature that is no number.
        """
        try:
            request = _encode(
                _Request(
                    attempt=call.attempt,
                    endpoint=self.endpoint,
                    logprobs=call.logprobs,
                    max_tokens=call.max_tokens,
                    member=call.member,
                    messages=call.messages,
                    model=call.model,
                    profile=self._profile(profile),
                    rerun=call.rerun,
                    schema=_NULL if call.schema is None else self._schema(call.schema),
                    schema_name=call.schema_name,
                    temperature=_number(call.temperature),
                )
            )
        except UnicodeEncodeError as error:
            raise InvalidInput("a message holds a lone surrogate, which UTF-8 cannot carry; mend the item") from error
        return request, hashlib.sha256(request).digest()

    def _schema(self, schema: Mapping[str, Any]) -> msgspec.Raw:
        """Canonical JSON of a schema, kept by identity: a judge uses one schema object for all its calls."""
        kept = self._schemas.get(id(schema))
        if kept is None or kept[0] is not schema:
            kept = self._schemas[id(schema)] = (schema, msgspec.Raw(canonical_json(schema)))
        return kept[1]

    def _profile(self, profile: Profile) -> msgspec.Raw:
        raw = self._profiles.get(profile)
        if raw is None:
            fields = {"max_tokens_field": profile.max_tokens_field, "mode": profile.mode, "omit": profile.omit}
            raw = self._profiles[profile] = msgspec.Raw(canonical_json(fields))
        return raw


def messages_of(request: bytes) -> tuple[Message, ...]:
    """The messages of a stored canonical request."""
    return _decode(request).messages


def asked_otherwise(request: bytes, call: Call) -> str | None:
    """In what a call differs from a stored request that is said to answer it: `member`, `rerun`, `wording`, `schema`,
    `temperature` or `max_tokens`; None where the reply is one to this call. The attempt is the record's to say.
    """
    stored = _decode(request)
    if stored.member != call.member:
        return "member"
    if stored.rerun != call.rerun:
        return "rerun"
    if stored.messages != call.messages:
        return "wording"
    if bytes(stored.schema) != (b"null" if call.schema is None else canonical_json(call.schema)):
        return "schema"
    if stored.temperature != _number(call.temperature):
        return "temperature"
    return "max_tokens" if stored.max_tokens != call.max_tokens else None


def _number(value: float | None) -> int | float | None:
    """A temperature as canonical JSON writes it: 0, not 0.0."""
    if value is None:
        return None
    if not math.isfinite(value):
        raise InvalidInput(f"temperature {value} is no number; expected 0 to 2")
    return int(value) if float(value).is_integer() else value
