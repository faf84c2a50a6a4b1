"""What an endpoint's error status and body mean: which error of the tree, and whether to try again.

Decided from structured fields: status, `error.code`, `error.type`, `error.param`, the locations of a validation error.
Only where an endpoint sends none that names a parameter is the body's text looked at, and only for the names of
parameters that this request carried: that reads which parameter is named, not what is said about it.
Messages quote at most 200 characters of a body, with the key taken out and nothing unprintable left in.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

from evenhand.errors import ProviderError, QuotaExhausted, UnsupportedParameter
from evenhand.terms import Call, Profile, Reply

__all__ = [
    "ErrorFields",
    "Place",
    "error_fields",
    "fault_of_status",
    "is_filtered",
    "quoted",
    "retry_after_s",
    "scrubbed",
    "without_key",
]

QUOTED_CHARS = 200

# Below this a key is a word (`EMPTY`, `lm-studio`) that a reply may well hold, and guards nothing.
_SHORTEST_SECRET = 16

_QUOTA_CODES = {
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_credits",
    "billing_hard_limit_reached",
    "billing_not_active",
    "quota_exceeded",
    "daily_limit_exceeded",
    "payment_required",
    "credit_limit_exceeded",
}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_FILTER_CODES = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
_REJECTED_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
_RETRYABLE = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a call went, for messages.

    Args:
        provider: the provider's name.
        url: the endpoint, normalised.
        key_note: which variable the key came from, or why none was sent.
        key: the key itself, so that it can be taken out of what a message quotes.
    """

    provider: str
    url: str
    key_note: str
    key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFields:
    """What an error body says in fields: codes in lower case, the parameters named, the message."""

    codes: frozenset[str]
    parameters: tuple[str, ...]
    message: str
    moderated: bool = False
    status: int | None = None


# --- reading the body ----------------------------------------------------------------------------------------------


def error_fields(body: bytes | Any) -> ErrorFields:
    """The fields of an error body in any of the forms in use; a body that is no JSON is its own message."""
    if isinstance(body, bytes):
        text = body.decode("utf-8", "replace")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            return ErrorFields(codes=frozenset(), parameters=(), message=text)
    codes: set[str] = set()
    parameters: list[str] = []
    messages: list[str] = []
    moderated, status = False, None
    for part in _parts(body):
        for name in ("code", "type", "status"):
            value = part.get(name)
            if isinstance(value, str):
                codes.add(value.lower())
            elif isinstance(value, int) and name != "type" and 400 <= value <= 599:
                status = value
        parameters += [value for value in (part.get("param"), _location(part.get("loc"))) if isinstance(value, str)]
        messages += [value for value in (part.get("message"), part.get("msg")) if isinstance(value, str)]
        moderated = moderated or bool(isinstance(part.get("reasons"), list) and part["reasons"])
        if "perday" in str(part.get("quotaId", "")).lower():
            codes.add("daily_limit_exceeded")
    message = "; ".join(messages) or (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False))
    return ErrorFields(
        codes=frozenset(codes), parameters=tuple(parameters), message=message, moderated=moderated, status=status
    )


def _parts(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects of an error body that may hold fields, outermost first."""
    if isinstance(value, list):
        for inner in value[:20]:
            yield from _parts(inner, depth)
    elif isinstance(value, str) and depth:
        yield {"message": value}
    elif isinstance(value, dict) and depth < 6:
        yield value
        for name in ("error", "detail", "details", "innererror", "metadata", "violations", "message"):
            if isinstance(value.get(name), (dict, list)) or (name in ("error", "detail") and name in value):
                yield from _parts(value[name], depth + 1)


def _location(loc: Any) -> str | None:
    """The field that a validation error points at: ["body", "response_format", ...]."""
    if not isinstance(loc, list):
        return None
    return ".".join(str(step) for step in loc if step != "body") or None


def is_filtered(status: int, fields: ErrorFields) -> bool:
    """Whether the endpoint withheld the answer by its content policy, which is an outcome and not a fault."""
    return status in (400, 403, 422) and (bool(fields.codes & _FILTER_CODES) or (fields.moderated and status == 403))


# --- the error -----------------------------------------------------------------------------------------------------


def fault_of_status(
    status: int,
    fields: ErrorFields,
    headers: Mapping[str, str],
    *,
    place: Place,
    model: str,
    call: Call,
    profile: Profile,
) -> ProviderError:
    """The error that a status and an error body amount to.

    Args:
        status: HTTP status, or the one a gateway put into the body of a 200.
        fields: the body.
        headers: of the response; keys looked up as `Retry-After`, `Date`.
        place: where the call went.
        model: the model's name without its provider.
        call: what was asked, which says which parameters can be at fault.
        profile: how it was asked.
    """
    said = f"{place.url} answered {status}: {quoted(fields.message, place.key)}"
    provider = place.provider
    if status == 402 or fields.codes & _QUOTA_CODES:
        return QuotaExhausted(
            f"{said}; the account has no credit or its limit is spent: raise it, then run again to go on",
            provider=provider,
            status=status,
        )
    if status in (401, 403):
        # The body is not quoted: endpoints repeat parts of the key they rejected.
        why = "rejected the key" if place.key else "wants a key"
        codes = ", ".join(sorted(code for code in fields.codes if re.fullmatch(r"[a-z_]{1,60}", code)))
        return ProviderError(
            f"{place.url} {why} with status {status}{f' ({codes})' if codes else ''}; {place.key_note}",
            provider=provider,
            status=status,
            code="auth",
        )
    if status in (400, 404, 415, 422, 501):
        parameter = _rejected(fields, call, profile)
        if parameter is not None:
            return UnsupportedParameter(said, provider=provider, parameter=parameter, status=status)
    if status == 413 or fields.codes & _TOO_LONG_CODES:
        return ProviderError(
            f"{said}; shorten the item or take a model that reads more",
            provider=provider,
            status=status,
            code="too_long",
        )
    if status == 404:
        return ProviderError(
            f"{said}; check the model's name {model!r} and the base URL",
            provider=provider,
            status=status,
            code="not_found",
        )
    if status in _RETRYABLE or status >= 500:
        return ProviderError(
            said,
            provider=provider,
            status=status,
            retryable=True,
            retry_after_s=retry_after_s(headers),
            code="rate_limit" if status == 429 else "server",
        )
    return ProviderError(said, provider=provider, status=status, code="bad_request")


def _rejected(fields: ErrorFields, call: Call, profile: Profile) -> str | None:
    """The parameter, in evenhand's word for it, that the endpoint names as the one it does not take."""
    sent = _sent(call, profile)
    if any(code.endswith(("_max_value", "_min_value")) or code == "invalid_type" for code in fields.codes):
        return None  # the parameter is known, only its value is not: leaving it out would hide the mistake
    if fields.parameters:
        for named in fields.parameters:
            top = re.split(r"[.\[]", named, maxsplit=1)[0]
            for parameter, names in sent.items():
                if top in names and (parameter != "max_tokens" or _wants_other_limit(fields)):
                    return parameter
        return None
    for parameter, names in sent.items():
        if parameter == "max_tokens":
            if _wants_other_limit(fields):
                return parameter
        elif any(_names(fields.message, name) for name in names):
            return parameter
    return None


def _sent(call: Call, profile: Profile) -> dict[str, tuple[str, ...]]:
    """The parameters of this request that could be left out or put otherwise, with their names on the wire."""
    sent: dict[str, tuple[str, ...]] = {}
    if profile.max_tokens_field == "max_tokens":
        sent["max_tokens"] = ("max_tokens",)
    if call.temperature is not None and "temperature" not in profile.omit:
        sent["temperature"] = ("temperature",)
    if call.logprobs is not None and "logprobs" not in profile.omit:
        sent["logprobs"] = ("logprobs", "top_logprobs")
    if call.schema is not None and profile.mode == "schema":
        sent["schema"] = ("response_format", "json_schema")
    elif call.schema is not None and profile.mode == "tool":
        sent["tool"] = ("tools", "tool_choice")
    elif call.schema is not None and profile.mode == "json":
        sent["json"] = ("response_format", "json_object")
    return sent


def _wants_other_limit(fields: ErrorFields) -> bool:
    """Whether `max_tokens` itself is rejected; a limit that is merely too large names no other field."""
    return bool(fields.codes & _REJECTED_CODES and "max_tokens" in fields.parameters) or _names(
        fields.message, "max_completion_tokens"
    )


def _names(text: str, name: str) -> bool:
    """Whether a text holds a parameter's name as a word of its own."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long the endpoint asks us to wait, in seconds: `Retry-After-Ms`, or `Retry-After` in seconds or as a date.

    A date is read against the endpoint's own `Date`, so that a wrong clock on either side does not matter.
    """
    for name, unit in (("Retry-After-Ms", 1000.0), ("Retry-After", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    until, now = _date(headers.get("Retry-After")), _date(headers.get("Date")) or datetime.now(UTC)
    return None if until is None else max((until - now).total_seconds(), 0.0)


def _date(text: str | None) -> datetime | None:
    """An HTTP date; None if it is none."""
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


# --- quoting -------------------------------------------------------------------------------------------------------


def scrubbed(text: str, key: str | None) -> str:
    """A text without the key, and without whatever follows `Bearer`."""
    if key and len(key) >= 4:
        for form in _written(key):
            text = text.replace(form, "[key]")
    return re.sub(r"(?i)\b(bearer)\s+[^\s\"',}]+", r"\1 [key]", text)


def without_key(reply: Reply, key: str | None) -> Reply:
    """A reply without the key, should an endpoint repeat it there: replies are kept, and a key is kept nowhere."""
    if not key or len(key) < _SHORTEST_SECRET:
        return reply
    texts: dict[str, Any] = {}
    for name in ("text", "refusal", "reasoning", "model"):
        text = clean = getattr(reply, name) or ""
        for form in _written(key):
            clean = clean.replace(form, "[key]")
        if clean != text:
            texts[name] = clean
    return replace(reply, **texts) if texts else reply


@lru_cache(maxsize=16)  # for each reply again
def _written(key: str) -> frozenset[str]:
    """A key as it stands in plain text and in JSON."""
    return frozenset({key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]})


def quoted(text: str, key: str | None) -> str:
    r"""At most 200 characters of foreign text for a message: scrubbed first, then cut, nothing unprintable left.

    >>> quoted("no such model for sk-1234\x1b[0m", "sk-1234")
    'no such model for [key] [0m'
    """
    text = scrubbed(text, key)  # before cutting, or a part of the key could stay at the cut
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if not text:
        return "(nothing)"
    return text if len(text) <= QUOTED_CHARS else text[: QUOTED_CHARS - 1] + "…"
