"""Replies that evenhand gives itself, in the form of the chat-completions wire: whole, or as a stream of events.

    completion(request, replies)    the body of a reply
    events(request, replies)        the same as server-sent events, for a client that asked for a stream

A request that offers tools is answered by a call of one where the reply is a JSON object, since harnesses that read
their verdict from a tool's arguments would otherwise find none.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from evenhand.terms import Reply, TokenChoice
from evenhand.trace.wire import decoded, wanted_tool

__all__ = ["completion", "error_body", "events"]

_FINISH = {"stop": "stop", "length": "length", "filter": "content_filter", "other": "stop"}
_ID = "chatcmpl-evenhand"


def completion(request: Mapping[str, Any], replies: Sequence[Reply]) -> bytes:
    """The body of a reply with one choice a reply."""
    choices = [_choice(request, number, reply) for number, reply in enumerate(replies)]
    return msgspec.json.encode(_frame(request, "chat.completion", choices, usage=_usage(replies)))


def events(request: Mapping[str, Any], replies: Sequence[Reply]) -> Iterator[bytes]:
    """The same as server-sent events: each choice's text in one piece, its end, and the closing mark."""
    for number, reply in enumerate(replies):
        choice = _choice(request, number, reply)
        message = choice.pop("message")
        for position, call in enumerate(message.get("tool_calls") or ()):
            call["index"] = position
        reason = choice.pop("finish_reason")
        yield _event(_frame(request, "chat.completion.chunk", [{**choice, "delta": message, "finish_reason": None}]))
        last = {"index": number, "delta": {}, "finish_reason": reason}
        yield _event(_frame(request, "chat.completion.chunk", [last]))
    options = request.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield _event(_frame(request, "chat.completion.chunk", [], usage=_usage(replies)))
    yield b"data: [DONE]\n\n"


def error_body(message: str, code: str) -> bytes:
    """An error as clients of this wire read it."""
    return msgspec.json.encode({"error": {"message": message, "type": "evenhand_trace", "code": code}})


def _frame(request: Mapping[str, Any], kind: str, choices: Sequence[Any], **more: Any) -> dict[str, Any]:
    """What stands around the choices; the time is left at 0, so that equal runs give equal bytes."""
    model = request.get("model")
    return {
        "id": _ID,
        "object": kind,
        "created": 0,
        "model": model if isinstance(model, str) else "",
        "choices": choices,
        **more,
    }


def _choice(request: Mapping[str, Any], number: int, reply: Reply) -> dict[str, Any]:
    """One choice, its answer as text or as a call of a tool."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    finish = _FINISH[reply.finish]
    tool = wanted_tool(request)
    if tool is not None and decoded(reply.text.encode()) is not None:
        function = {"name": tool.get("name", ""), "arguments": reply.text}
        message |= {"content": None, "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}
        finish = "tool_calls"
    logprobs = {"content": [_token(token) for token in reply.logprobs], "refusal": None} if reply.logprobs else None
    return {"index": number, "message": message, "logprobs": logprobs, "finish_reason": finish}


def _token(token: TokenChoice) -> dict[str, Any]:
    """One token with its alternatives, as this wire writes them."""
    others = [{"token": name, "logprob": value, "bytes": None} for name, value in token.alternatives]
    return {"token": token.token, "logprob": token.logprob, "bytes": None, "top_logprobs": others}


def _usage(replies: Sequence[Reply]) -> dict[str, int]:
    """Tokens of all choices; 0 where the answerer does not count, since clients add them up."""
    asked = max((reply.usage.input_tokens or 0 for reply in replies), default=0)
    written = sum(reply.usage.output_tokens or 0 for reply in replies)
    return {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(body) + b"\n\n"
