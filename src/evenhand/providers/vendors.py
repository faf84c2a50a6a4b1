"""Vendors whose wire is their own, Anthropic and Google, by way of pydantic-ai and the vendors' own libraries.

pydantic-ai is used at its lowest level, one `Model.request` an ask: no agent, no retries of its own (`max_retries` is
0; the engine retries), no settings from the environment (address and key are always given), no redirects (a key goes to
one host only). What pydantic-ai would leave out with a warning is raised as `UnsupportedParameter` instead, so that the
content key of a call names what was really sent.
"""

import asyncio
import json
import os
import ssl
from collections.abc import Mapping
from typing import Any, Literal, cast

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from evenhand.errors import InvalidInput, UnsupportedParameter
from evenhand.providers.address import endpoint_identity, proxy_for
from evenhand.providers.chat_faults import without_key
from evenhand.providers.names import known, split_model
from evenhand.providers.vendor_faults import MISSHAPEN, fault_of
from evenhand.terms import Call, Profile, Reply, TokenChoice, Usage

__all__ = ["VendorProvider"]

_NO_KEY = "none"  # the vendors' libraries insist on a key; an endpoint that needs none ignores this one
_FINISH: Mapping[str | None, Literal["stop", "length", "filter", "other"]] = {
    "stop": "stop",
    "tool_call": "stop",
    "length": "length",
    "content_filter": "filter",
}


class VendorProvider:
    """One vendor's endpoint; see `Provider` in `base.py` for the contract.

    Schema, tool and text modes exist at both; JSON mode only at Google; log probabilities only at Google.

    Args:
        name: `anthropic` or `google`.
        api_key: None sends a placeholder, for endpoints that need none.
        base_url: the vendor's own unless given.
        key_note: which variable the key came from; shown when the endpoint rejects it.
        identity: for content keys; the normalised base URL unless given.
    Raises:
        InvalidInput: another vendor, or an address that is none.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        key_note: str = "",
        identity: str | None = None,
    ) -> None:
        if name not in ("anthropic", "google"):
            raise InvalidInput(f"{name}: no vendor wire of that name; use anthropic or google")
        self.name = name
        self.base_url = (base_url or known(name).base_url or "").rstrip("/")
        self.place = endpoint_identity(self.base_url)
        self.identity = identity or self.place
        self.max_concurrency: int | None = None
        self._key = api_key
        self._key_note = key_note
        self._client: httpx2.AsyncClient | None = None
        self._models: dict[str, Model] = {}

    async def ask(self, call: Call, profile: Profile, *, timeout_s: float) -> Reply:
        """Make one attempt, without retrying; see `Provider.ask`."""
        model = self._model(split_model(call.model)[1])
        self._refuse_what_would_be_dropped(model, call, profile)
        messages, parameters = _messages(call), _parameters(call, profile)
        settings = _settings(self.name, call, profile, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                response = await model.request(messages, settings, parameters)
        except (AgentRunError, UserError, TimeoutError, httpx2.HTTPError, ValueError, *MISSHAPEN) as error:
            fault = fault_of(
                error,
                self.name,
                call,
                profile,
                key=self._key,
                url=self.place,
                note=self._key_note,
                limit_s=timeout_s,
            )
        else:
            return without_key(_reply(response), self._key)
        raise fault  # outside the handler: the library's errors hold requests, and these hold the key

    async def close(self) -> None:
        """Release the connections."""
        client, self._client = self._client, None
        self._models.clear()
        if client is not None:
            await client.aclose()

    def _model(self, name: str) -> Model:
        """The library's object for one model, over the one HTTP client."""
        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(600.0, connect=30.0),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
                follow_redirects=False,
                trust_env=False,
                proxy=proxy_for(self.base_url, os.environ),
                verify=ssl.create_default_context(),  # the system's certificates, and SSL_CERT_FILE
            )
        if name not in self._models:
            key = self._key or _NO_KEY
            if self.name == "anthropic":
                client = AsyncAnthropic(api_key=key, base_url=self.base_url, http_client=self._client, max_retries=0)
                # The library adds headers from ANTHROPIC_CUSTOM_HEADERS, whatever host it speaks to.
                client._custom_headers = {}
                self._models[name] = AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
            else:
                provider = GoogleProvider(api_key=key, base_url=self.base_url, http_client=self._client)
                self._models[name] = GoogleModel(name, provider=provider)
        return self._models[name]

    def _refuse_what_would_be_dropped(self, model: Model, call: Call, profile: Profile) -> None:
        """Say so beforehand where the wire has no place for something asked for."""
        refused = None
        if call.schema is not None and profile.mode == "json" and self.name == "anthropic":
            refused = "json"
        elif call.logprobs is not None and "logprobs" not in profile.omit and self.name == "anthropic":
            refused = "logprobs"
        elif (
            call.temperature is not None
            and "temperature" not in profile.omit
            and model.profile.get("anthropic_disallows_sampling_settings", False)
        ):
            refused = "temperature"
        if refused is not None:
            raise UnsupportedParameter(
                f"{call.model}: {refused} cannot be asked for at this model", provider=self.name, parameter=refused
            )


# --- the request ---------------------------------------------------------------------------------------------------


def _messages(call: Call) -> list[ModelMessage]:
    """The turns, as the library holds them."""
    turns: list[ModelMessage] = []
    for message in call.messages:
        if message.role == "assistant":
            turns.append(ModelResponse(parts=[TextPart(content=message.text)]))
            continue
        part: SystemPromptPart | UserPromptPart = (
            SystemPromptPart(content=message.text) if message.role == "system" else UserPromptPart(content=message.text)
        )
        if turns and isinstance(turns[-1], ModelRequest):
            turns[-1] = ModelRequest(parts=[*turns[-1].parts, part])
        else:
            turns.append(ModelRequest(parts=[part]))
    return turns


def _parameters(call: Call, profile: Profile) -> ModelRequestParameters:
    """How the schema is asked for."""
    schema = dict(call.schema or {})
    if call.schema is None or profile.mode == "text":
        return ModelRequestParameters(output_mode="text", allow_text_output=True)
    if profile.mode == "tool":
        tool = ToolDefinition(
            name=call.schema_name, description="Give the reply.", parameters_json_schema=schema, kind="output"
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    reply = OutputObjectDefinition(json_schema=schema, name=call.schema_name)
    if profile.mode == "json":
        # The prompt says already what is wanted; the library's own sentence is left out.
        return ModelRequestParameters(output_mode="prompted", output_object=reply, prompted_output_template=False)
    return ModelRequestParameters(output_mode="native", output_object=reply, allow_text_output=True)


def _settings(vendor: str, call: Call, profile: Profile, timeout_s: float) -> ModelSettings:
    """The settings of one request."""
    settings: dict[str, Any] = {"max_tokens": call.max_tokens, "timeout": timeout_s}
    if call.temperature is not None and "temperature" not in profile.omit:
        settings["temperature"] = call.temperature
    if vendor == "anthropic":
        # The rubric stands first and is the same for every item: read from the vendor's cache from the second item on.
        settings["anthropic_cache_instructions"] = True
    else:
        settings["max_retries"] = 0  # Anthropic's client has it already; setting it again would make a fresh one
        if call.logprobs is not None and "logprobs" not in profile.omit:
            settings |= {"google_logprobs": True, "google_top_logprobs": call.logprobs}
    return cast(ModelSettings, settings)


# --- the reply -----------------------------------------------------------------------------------------------------


def _reply(response: ModelResponse) -> Reply:
    """The library's response, as a reply: a tool's arguments or the text, never the reasoning."""
    details = response.provider_details or {}
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    tools = [_arguments(part) for part in response.parts if isinstance(part, ToolCallPart)]
    reasoning = "".join(part.content for part in response.parts if isinstance(part, ThinkingPart))
    reason = details.get("finish_reason")
    refused = reason == "refusal"
    refusal = None
    if refused:
        refusal = details.get("refusal") or text or "the model refused (stop_reason: refusal)"
    elif blocked := details.get("block_reason_message"):
        text = text or str(blocked)
    return Reply(
        # Two tool calls are two verdicts: kept side by side, they cannot be read as one.
        text="" if refused else "\n".join(tools) or text,
        finish="stop" if refused else _finish(reason, response.finish_reason),
        refusal=refusal,
        reasoning=reasoning or None,
        usage=_usage(response),
        logprobs=_logprobs(details.get("logprobs")),
        model=response.model_name,
    )


def _finish(reason: object, mapped: str | None) -> Literal["stop", "length", "filter", "other"]:
    """The finish reason; the vendor's own word decides where the library's is coarser."""
    if reason in ("model_context_window_exceeded", "max_tokens", "MAX_TOKENS"):
        return "length"
    return _FINISH.get(mapped, "other")


def _arguments(part: ToolCallPart) -> str:
    """A tool call's arguments as JSON text."""
    if isinstance(part.args, str):
        return part.args
    return json.dumps(part.args or {}, ensure_ascii=False)


def _usage(response: ModelResponse) -> Usage:
    """Tokens; the library writes 0 where the vendor says nothing, which a prompt never has."""
    usage = response.usage
    if not usage.input_tokens:
        return Usage()
    reasoning = usage.details.get("thoughts_tokens", usage.details.get("reasoning_tokens"))
    return Usage(
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cache_read_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=reasoning,
    )


def _logprobs(result: Mapping[str, Any] | None) -> tuple[TokenChoice, ...]:
    """Google's log probabilities: chosen tokens in one list, alternatives in another."""
    if not result:
        return ()
    chosen = result.get("chosen_candidates") or ()
    tops = result.get("top_candidates") or [None] * len(chosen)
    return tuple(_token(pick, top) for pick, top in zip(chosen, tops, strict=False))


def _token(pick: Mapping[str, Any], top: Mapping[str, Any] | None) -> TokenChoice:
    """One token with its alternatives, the chosen one first."""
    first = (str(pick.get("token") or ""), float(pick.get("log_probability") or 0.0))
    others = (
        (str(one.get("token") or ""), float(one.get("log_probability") or 0.0))
        for one in (top or {}).get("candidates") or ()
    )
    return TokenChoice(
        token=first[0], logprob=first[1], alternatives=(first, *(pair for pair in others if pair[0] != first[0]))
    )
