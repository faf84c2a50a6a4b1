"""What a model can do, found by asking it: a handful of tiny real calls.

Each way of asking for a schema is tried by itself, since an endpoint may accept a parameter and ignore it: a mode
counts only if the reply holds exactly the fields asked for. What the engine finds from a first error, this finds
beforehand, and shows it.
"""

import json
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.errors import ProviderError, UnsupportedParameter
from evenhand.providers.base import Provider
from evenhand.terms import Call, Message, Profile, Reply, ReplyMode, Usage

__all__ = ["CheckResult", "Finding", "check_model"]

Answer = Literal["yes", "ignored", "no", "failed"]

MODES: tuple[ReplyMode, ...] = ("schema", "tool", "json", "text")
_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 40}, "even": {"type": "boolean"}},
    "required": ["word", "even"],
    "additionalProperties": False,
}
_PROMPT = (
    Message(role="system", text="You answer in JSON only, without any other text."),
    Message(
        role="user",
        text='Is the number four even? Reply with one JSON object with exactly two fields: "word", the number as a '
        'word, and "even", true or false.',
    ),
)
_MAX_TOKENS = 512
_FIRST_TRIES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was tried.

    Args:
        asked: `schema`, `tool`, `json`, `text`, `temperature`, `logprobs` or `max_tokens`.
        answer: `yes`; `ignored` (accepted, and nothing came of it); `no` (rejected); `failed` (not found out).
        note: what came, where it is not `yes`.
    """

    asked: str
    answer: Answer
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What was found of one model.

    Args:
        profile: how the engine would ask it; None if no way works.
        findings: one for each thing tried, in order.
        usage: tokens of all the calls.
        calls: how many were answered.
        reports: the model's name as the endpoint reports it.
        context: tokens that fit one call, where the provider knows (local models).
    """

    model: str
    identity: str
    profile: Profile | None
    findings: tuple[Finding, ...]
    usage: Usage
    calls: int
    reports: str | None = None
    context: int | None = None


async def check_model(provider: Provider, model: str, *, timeout_s: float = 120.0) -> CheckResult:
    """Find how a model can be asked.

    Args:
        provider: its endpoint.
        model: `provider/model`.
        timeout_s: of each call, in seconds.
    Raises:
        ProviderError: the endpoint cannot be asked at all: no connection, a rejected key, no such model, no quota.
    """
    session = _Session(provider, model, timeout_s)
    profile = await session.basics()
    findings = [await session.limit(profile), await session.temperature(profile)]
    modes = {mode: await session.mode(replace(profile, mode=mode)) for mode in MODES}
    findings += modes.values()
    findings.append(await session.logprobs(profile))
    best = next((mode for mode in MODES if modes[mode].answer == "yes"), None)
    context = getattr(provider, "context", None)
    rejected = tuple(
        found.asked for found in findings if found.asked in ("temperature", "logprobs") and found.answer == "no"
    )
    return CheckResult(
        model=model,
        identity=provider.identity,
        profile=None if best is None else replace(profile, mode=best, omit=rejected),
        findings=tuple(findings),
        usage=session.usage,
        calls=session.calls,
        reports=session.reports,
        context=context if isinstance(context, int) else None,
    )


class _Session:
    """The calls of one check, and what they cost."""

    def __init__(self, provider: Provider, model: str, timeout_s: float) -> None:
        self._provider, self._model, self._timeout_s = provider, model, timeout_s
        self.usage, self.calls = Usage(), 0
        self.reports: str | None = None
        self._refused: dict[str, str] = {}

    async def basics(self) -> Profile:
        """The plainest call, with whatever has to be left out for it to be taken."""
        profile = Profile(mode="text")
        for _ in range(_FIRST_TRIES):
            try:
                await self._ask(Call(model=self._model, messages=_PROMPT, max_tokens=_MAX_TOKENS), profile)
            except UnsupportedParameter as rejected:
                self._refused[rejected.parameter] = str(rejected)
                if rejected.parameter == "max_tokens":
                    profile = replace(profile, max_tokens_field="max_completion_tokens")
                else:
                    profile = replace(profile, omit=(*profile.omit, rejected.parameter))
            else:
                break
        return profile

    async def limit(self, profile: Profile) -> Finding:
        """Whether the limit of a reply holds, and whether reaching it is reported."""
        long = Message(role="user", text="Write down the numbers from one to five hundred, in words.")
        # Temperature 0, or chance may end the reply of a small model before the limit.
        call = Call(model=self._model, messages=(long,), max_tokens=16)
        reply = await self._try(call, profile)
        if isinstance(reply, Finding):
            return replace(reply, asked="max_tokens")
        if reply.finish == "length":
            return Finding(asked="max_tokens", answer="yes", note=f"as {profile.max_tokens_field}")
        return Finding(asked="max_tokens", answer="ignored", note=f"a limit of 16 ended with {reply.finish!r}")

    async def temperature(self, profile: Profile) -> Finding:
        """Whether temperature 0 is accepted; whether it is heeded cannot be told from a few calls."""
        if "temperature" in profile.omit:
            return Finding(asked="temperature", answer="no", note=self._refused.get("temperature", ""))
        return Finding(asked="temperature", answer="yes", note="0 is accepted")

    async def mode(self, profile: Profile) -> Finding:
        """Whether one way of asking for a schema brings exactly its fields."""
        call = Call(model=self._model, messages=_PROMPT, schema=_SCHEMA, max_tokens=_MAX_TOKENS)
        reply = await self._try(call, profile)
        if isinstance(reply, Finding):
            return replace(reply, asked=profile.mode)
        wrong = _wrong(reply.text if profile.mode != "text" else _unfenced(reply.text))
        return Finding(asked=profile.mode, answer="ignored" if wrong else "yes", note=wrong)

    async def logprobs(self, profile: Profile) -> Finding:
        """Whether tokens come with their alternatives."""
        call = Call(model=self._model, messages=_PROMPT, max_tokens=16, logprobs=2)
        reply = await self._try(call, replace(profile, mode="text"))
        if isinstance(reply, Finding):
            return replace(reply, asked="logprobs")
        if any(len(token.alternatives) > 1 for token in reply.logprobs):
            return Finding(asked="logprobs", answer="yes")
        return Finding(asked="logprobs", answer="ignored", note="accepted, but none came")

    async def _try(self, call: Call, profile: Profile) -> Reply | Finding:
        """One call; a rejection is a finding, and so is a fault that concerns this call alone."""
        try:
            return await self._ask(call, profile)
        except UnsupportedParameter as rejected:
            return Finding(asked="", answer="no", note=str(rejected))
        except ProviderError as fault:
            if fault.code in ("auth", "quota", "not_found"):
                raise
            return Finding(asked="", answer="failed", note=str(fault))

    async def _ask(self, call: Call, profile: Profile) -> Reply:
        reply = await self._provider.ask(call, profile, timeout_s=self._timeout_s)
        self.calls += 1
        self.reports = reply.model or self.reports
        self.usage = _added(self.usage, reply.usage)
        return reply


def _wrong(text: str) -> str:
    """What is wrong with a reply to the test question; empty if nothing is. Whether four is even is not the matter."""
    try:
        value = json.loads(text)
    except ValueError:
        return f"the reply is no JSON: {text[:80]!r}"
    if not isinstance(value, dict) or set(value) != {"word", "even"}:
        return f"the reply has other fields than asked for: {text[:80]!r}"
    if not isinstance(value["word"], str) or not isinstance(value["even"], bool):
        return f"a field has another type than asked for: {text[:80]!r}"
    return ""


def _unfenced(text: str) -> str:
    """What stands in a Markdown fence, or the text."""
    _, opened, rest = text.partition("```")
    return rest.removeprefix("json").partition("```")[0] if opened else text


def _added(one: Usage, other: Usage) -> Usage:
    """Two usages as one; unknown where either is."""

    def both(a: int | None, b: int | None) -> int | None:
        return None if b is None else (a or 0) + b

    return Usage(
        input_tokens=both(one.input_tokens, other.input_tokens),
        cached_tokens=both(one.cached_tokens, other.cached_tokens),
        output_tokens=both(one.output_tokens, other.output_tokens),
        reasoning_tokens=both(one.reasoning_tokens, other.reasoning_tokens),
    )
