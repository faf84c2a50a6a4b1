"""What pydantic-ai raises, in evenhand's own tree.

Its categories decide (it reads the vendors' error types); only which parameter a 400 complains about has to be looked
for in the vendor's sentence, since neither vendor names it in a field. The key is taken out of whatever is quoted.
"""

import re
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)

from evenhand.errors import ProviderError, QuotaExhausted, UnsupportedParameter
from evenhand.providers.chat_faults import quoted
from evenhand.terms import Call, Profile

__all__ = ["MISSHAPEN", "fault_of"]

# What the libraries stumble over in a body that is JSON and no reply of this vendor: they take its fields for granted.
MISSHAPEN = (TypeError, AttributeError, LookupError, AssertionError)

# The names under which a rejected way of asking turns up in the vendors' sentences.
_NAMES = {
    "schema": (
        "output_config",
        "output_format",
        "response_schema",
        "response_json_schema",
        "responseJsonSchema",
        "responseSchema",
        "json_schema",
        "response_mime_type",
        "responseMimeType",
    ),
    "tool": (
        "tools",
        "tool_choice",
        "function_declarations",
        "functionDeclarations",
        "function_calling_config",
        "functionCallingConfig",
        "Function calling",
    ),
    "json": ("response_mime_type", "responseMimeType", "JSON mode"),
    "temperature": ("temperature",),
    "logprobs": ("logprobs", "response_logprobs", "responseLogprobs", "Logprobs"),
}


def fault_of(
    error: BaseException,
    provider: str,
    call: Call,
    profile: Profile,
    *,
    key: str | None,
    url: str,
    note: str,
    limit_s: float,
) -> ProviderError:
    """The fault that an attempt ended in.

    Args:
        error: what the library raised.
        key: the key, so that it can be taken out of what is quoted.
        url: the endpoint, for messages.
        note: which variable the key came from.
        limit_s: the attempt's deadline, in seconds.
    """
    status = _status(error)
    said = quoted(_said(error), key)
    place = f"{call.model} at {url}"

    def fault(sentence: str, code: str, *, retryable: bool = False) -> ProviderError:
        wait = getattr(error, "retry_after", None)
        return ProviderError(
            f"{place}: {sentence}", provider=provider, status=status, code=code, retryable=retryable, retry_after_s=wait
        )

    if isinstance(error, (TimeoutError, ModelTimeoutError)):
        return fault(f"no whole reply within {limit_s:g} s", "timeout", retryable=True)
    if isinstance(error, ModelQuotaExceededError) or _is_spent(error):
        return QuotaExhausted(
            f"{place}: no credit or quota is left ({said}); add credit, or wait for the new period",
            provider=provider,
            status=status,
        )
    if isinstance(error, ModelRateLimitError):
        return fault(f"too many requests ({said})", "rate_limit", retryable=True)
    if isinstance(error, ModelContextWindowExceededError):
        return fault(f"the prompt does not fit the model ({said}); shorten the item", "too_long")
    if isinstance(error, ModelAuthenticationError):
        return fault(f"the key was rejected ({said}){f'; {note}' if note else ''}; check it", "auth")
    if isinstance(error, ModelNotFoundError):
        return fault(f"no such model or path ({said}); check the model's name and the base URL", "not_found")
    if isinstance(error, (ModelUnavailableError, ModelServerError)):
        return fault(f"the endpoint failed ({said})", "server", retryable=True)
    if isinstance(error, ModelConnectionError):
        return fault(f"the connection failed ({said})", "connect", retryable=True)
    return _rejection(error, provider, call, profile, status, place, said)


def _rejection(
    error: BaseException, provider: str, call: Call, profile: Profile, status: int | None, place: str, said: str
) -> ProviderError:
    """What remains: a rejected way of asking, a rejected request, or a body that is no reply."""
    parameter = _rejected(error, call, profile, status)
    if parameter is not None:
        return UnsupportedParameter(
            f"{place}: {parameter} is not supported ({said})", provider=provider, parameter=parameter, status=status
        )
    if status is not None and 300 <= status < 400:
        return ProviderError(
            f"{place}: it redirects elsewhere, where no key is sent; check the base URL",
            provider=provider,
            status=status,
            code="bad_request",
        )
    if status is not None and status in (408, 409, 425):
        return ProviderError(
            f"{place}: try again ({said})", provider=provider, status=status, code="server", retryable=True
        )
    if status is not None or isinstance(error, UserError):
        return ProviderError(
            f"{place}: the request was rejected ({said})", provider=provider, status=status, code="bad_request"
        )
    if isinstance(error, MISSHAPEN):
        said = "its fields are others; does this address speak another wire?"
    return ProviderError(
        f"{place}: the reply is no {provider} reply ({said})", provider=provider, code="bad_body", retryable=True
    )


def _rejected(error: BaseException, call: Call, profile: Profile, status: int | None) -> str | None:
    """Which parameter of this request the library or the vendor does not take."""
    asked = call.schema is not None and profile.mode != "text"
    if isinstance(error, UserError):  # raised before anything is sent: the model has no such mode
        return profile.mode if asked else None
    if status not in (400, 422):
        return None
    candidates = [name for name in ("temperature", "logprobs") if name not in profile.omit]
    if call.temperature is None and "temperature" in candidates:
        candidates.remove("temperature")
    if call.logprobs is None and "logprobs" in candidates:
        candidates.remove("logprobs")
    text = _said(error)
    for parameter in ([profile.mode] if asked else []) + candidates:
        if any(re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9])", text) for name in _NAMES[parameter]):
            return parameter
    return None


def _status(error: BaseException) -> int | None:
    """The HTTP status; for what is no error to pydantic-ai, such as a redirect, that of the vendor's own exception."""
    if isinstance(error, ModelHTTPError):
        return error.status_code
    cause = error.__cause__
    status = getattr(cause, "status_code", getattr(cause, "code", None))
    return status if isinstance(status, int) and status >= 300 else None


def _is_spent(error: BaseException) -> bool:
    """Google answers 429 for bursts and for a spent day alike; the quota's own id tells which."""
    if not isinstance(error, ModelRateLimitError):
        return False
    return any("PerDay" in str(violation.get("quotaId", "")) for violation in _violations(getattr(error, "body", None)))


def _violations(body: Any) -> list[dict[str, Any]]:
    """The quota violations of a Google error body."""
    inner = body.get("error", body) if isinstance(body, dict) else {}
    found: list[dict[str, Any]] = []
    for detail in inner.get("details") or () if isinstance(inner, dict) else ():
        if isinstance(detail, dict):
            found += [violation for violation in detail.get("violations") or () if isinstance(violation, dict)]
    return found


def _said(error: BaseException) -> str:
    """The vendor's own sentence where the body has one, else the library's."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("message"), str):
        return str(inner["message"])
    if isinstance(error, ModelAPIError) and isinstance(error, ModelHTTPError):
        return f"HTTP {error.status_code}"
    return str(error) or type(error).__name__
