"""The chat-completions wire: what a request's body is, and how a reply's body becomes a `Reply`.

Reading is lenient about everything that bears no verdict (unknown fields, null or listed content, missing or odd usage,
reasoning under either of its names) and strict about the rest: a body that is no JSON, is not UTF-8 or holds no choice
is no reply.
Source: the chat-completions reference and the types of the `openai` package, which the tests hold both bodies against.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from evenhand.terms import Call, Profile, Reply, TokenChoice, Usage

__all__ = ["Completion", "ErrorInReply", "read_completion", "reply_from", "request_body", "way_of_asking"]

_FINISH: Mapping[str, Literal["stop", "length", "filter", "other"]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
}


class _Function(msgspec.Struct):
    arguments: Any = None


class _ToolCall(msgspec.Struct):
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: str | list[Any] | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    tool_calls: list[_ToolCall] | None = None


class _Alternative(msgspec.Struct):
    token: str
    logprob: float | None = None


class _Token(msgspec.Struct):
    token: str
    logprob: float | None = None
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    error: Any = None


class _InputDetails(msgspec.Struct):
    cached_tokens: int | float | None = None


class _OutputDetails(msgspec.Struct):
    reasoning_tokens: int | float | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | float | None = None
    completion_tokens: int | float | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class Completion(msgspec.Struct):
    """The body of a reply; `error` is what some gateways send with status 200."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


class _BareChoice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    error: Any = None


class _BareCompletion(msgspec.Struct):
    choices: list[_BareChoice] | None = None
    error: Any = None


class ErrorInReply(msgspec.Struct):
    """What a body with status 200 holds in place of a choice; a value and no exception, since it may repeat the key."""

    error: Any


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Completion).decode
_decode_bare = msgspec.json.Decoder(_BareCompletion).decode


# --- the request ---------------------------------------------------------------------------------------------------


def request_body(call: Call, profile: Profile, model: str, way: Mapping[str, Any]) -> bytes:
    """The request's JSON.

    Args:
        call: what to ask.
        profile: which parameters are left out, and under which name the limit goes.
        model: the model's name without its provider.
        way: the fields that ask for the schema, from `way_of_asking`.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.text} for message in call.messages],
        profile.max_tokens_field: call.max_tokens,
    }
    omit = profile.omit
    if call.temperature is not None and "temperature" not in omit:
        body["temperature"] = call.temperature
    if call.logprobs is not None and "logprobs" not in omit:
        body["logprobs"] = True
        body["top_logprobs"] = call.logprobs
    body.update(way)
    return _encode(body)


def way_of_asking(call: Call, profile: Profile) -> dict[str, Any]:
    """The fields by which a schema is asked for in the profile's mode; none without a schema or in `text` mode."""
    if call.schema is None or profile.mode == "text":
        return {}
    if profile.mode == "json":
        return {"response_format": {"type": "json_object"}}
    schema, name = msgspec.Raw(_encode(_plain(call.schema))), call.schema_name
    if profile.mode == "schema":
        return {"response_format": {"type": "json_schema", "json_schema": _named(name, strict=True, schema=schema)}}
    tool = {"type": "function", "function": _named(name, parameters=schema)}
    return {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": name}}}


def _named(name: str, **fields: Any) -> dict[str, Any]:
    """Fields under a name, the name first."""
    return {"name": name, **fields}


def _plain(value: Any) -> Any:
    """Mappings and sequences of any kind as the dictionaries and lists that the encoder knows, in their own order."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(inner) for inner in value]
    return value


# --- the reply -----------------------------------------------------------------------------------------------------


def read_completion(content: bytes) -> Completion:
    """A reply's body, decoded.

    A body whose usage, log probabilities or model name have an unexpected type is read without them: they are then
    unknown, and the answer is not lost.

    Raises:
        msgspec.DecodeError: no JSON, cut, not UTF-8, or not in the shape of a completion.
    """
    try:
        return _decode(content)
    except msgspec.ValidationError:
        bare = _decode_bare(content)
        choices = [
            _Choice(message=choice.message, finish_reason=choice.finish_reason, error=choice.error)
            for choice in bare.choices or ()
        ]
        return Completion(choices=choices or None, error=bare.error)


def reply_from(completion: Completion, *, tool: bool) -> Reply | ErrorInReply | None:
    """The reply that a body holds, the error that stands in its place, or None where there is neither.

    Args:
        completion: the decoded body.
        tool: whether a tool call was forced; its arguments are then the answer, and text beside them is chatter.
    """
    choice = completion.choices[0] if completion.choices else None
    if choice is None or choice.message is None or choice.finish_reason == "error":
        error = completion.error if choice is None or choice.error is None else choice.error
        return None if error is None else ErrorInReply(error)
    message = choice.message
    text, thought = _texts(message.content)
    if message.tool_calls and (tool or not text):
        text = _arguments(message.tool_calls)
    return Reply(
        text=text,
        finish=_FINISH.get(choice.finish_reason or "", "other"),
        refusal=message.refusal or _refusal_part(message.content),
        reasoning=_first_text(message.reasoning_content, message.reasoning, thought),
        usage=_usage(completion.usage),
        logprobs=_token_choices(choice.logprobs),
        model=completion.model,
    )


def _texts(content: str | list[Any] | None) -> tuple[str, str | None]:
    """Answer and reasoning of a message's content, which is text, or a list of parts."""
    if content is None or isinstance(content, str):
        return content or "", None
    answer, thought = [], []
    for part in content:
        if isinstance(part, str):
            answer.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in ("text", "output_text") and isinstance(part.get("text"), str):
                answer.append(part["text"])
            elif kind in ("thinking", "reasoning"):
                inner = part.get("thinking") or part.get("text")
                thought.append(_texts(inner)[0] if isinstance(inner, (str, list)) else "")
    return "".join(answer), "".join(thought) or None


def _refusal_part(content: str | list[Any] | None) -> str | None:
    """The text of a part of type `refusal`."""
    if isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and part.get("type") == "refusal" and isinstance(part.get("refusal"), str):
                return part["refusal"] or None
    return None


def _arguments(calls: Sequence[_ToolCall]) -> str:
    """The arguments of all tool calls, one a line: two calls are two answers, and whoever reads them sees both."""
    texts = []
    for call in calls:
        arguments = call.function.arguments if call.function else None
        if arguments is not None:  # some servers send the object itself instead of its text
            texts.append(arguments if isinstance(arguments, str) else _encode(arguments).decode())
    return "\n".join(texts)


def _first_text(*values: Any) -> str | None:
    """The first value that is a text with something in it."""
    return next((value for value in values if value and isinstance(value, str)), None)


def _usage(usage: _Usage | None) -> Usage:
    """The tokens as the endpoint counted them."""
    if usage is None:
        return _NO_USAGE
    inputs, outputs = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input_tokens=_count(usage.prompt_tokens),
        cached_tokens=_count(inputs.cached_tokens) if inputs else None,
        output_tokens=_count(usage.completion_tokens),
        reasoning_tokens=_count(outputs.reasoning_tokens) if outputs else None,
    )


_NO_USAGE = Usage()


def _count(value: int | float | None) -> int | None:
    """A number of tokens; what cannot be one is unknown."""
    return None if value is None or value < 0 else int(value)


def _token_choices(logprobs: _Logprobs | None) -> tuple[TokenChoice, ...]:
    """Each token with its alternatives, the chosen one first; tokens without a probability are left out."""
    if logprobs is None or not logprobs.content:
        return ()
    choices = []
    for chosen in logprobs.content:
        if chosen.logprob is None:
            continue
        others = [(other.token, other.logprob) for other in chosen.top_logprobs or () if other.logprob is not None]
        own = next((other for other in others if other[0] == chosen.token), None)
        if own is not None:
            others.remove(own)
        alternatives = ((chosen.token, chosen.logprob), *others)
        choices.append(TokenChoice(token=chosen.token, logprob=chosen.logprob, alternatives=alternatives))
    return tuple(choices)
