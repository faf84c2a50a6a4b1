"""The wires that a harness may speak, and what is read of a request and a reply on the one that can be read.

The chat-completions wire alone is read. Others are recognised by their path, so that a harness which uses them is told
that it was seen and not understood, instead of that it made no calls.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from evenhand.json_text import too_deep_at
from evenhand.terms import Call, Message

__all__ = ["call_of", "decoded", "messages_of", "read_stream", "reply_texts", "shape_of", "wanted_tool", "wire_of"]

_WIRES = (
    ("/chat/completions", "chat"),
    ("/responses", "responses"),
    ("/completions", "completions"),
    ("/embeddings", "embeddings"),
    ("/messages", "messages"),
    ("/models", "models"),
)
_HALF = re.compile(  # an escape of half a character; whole ones, and escaped backslashes, are passed by
    r"(?P<whole>\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_BEYOND = (r"\u", "NaN", "Infinity")  # what a text must hold for Python's decoder to read more of it
_DONE = re.compile(rb"^data:[ \t]*\[DONE\]", re.MULTILINE)
_TAIL = 200  # bytes at a stream's end in which the mark stands
_LONGEST_REPLY = 2048
_ROLES = ("system", "user", "assistant")


def wire_of(path: str) -> str:
    """The wire that a path below the base URL belongs to: `chat`, the name of another, or `other`.

    >>> wire_of("/chat/completions"), wire_of("/responses"), wire_of("/models/gpt-5"), wire_of("/files")
    ('chat', 'responses', 'models', 'other')
    """
    bare = path.split("?")[0].rstrip("/")
    if bare.startswith("/models"):
        return "models"
    return next((name for ending, name in _WIRES if bare.endswith(ending)), "other")


def decoded(body: bytes) -> dict[str, Any] | None:
    r"""A body that is one JSON object of bounded depth, or None.

    What Python's own encoder writes and JSON has no place for is read too: NaN, and halves of a surrogate pair, which
    become U+FFFD since no text can hold them.

    >>> decoded(b'{"a": NaN, "b": "\\ud83d"}')
    {'a': nan, 'b': '\ufffd'}
    """
    try:
        text = body.decode("utf-8-sig")
        if too_deep_at(text) is not None:
            return None
        value = _loaded(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _loaded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        if not any(mark in text for mark in _BEYOND):
            raise
        return json.loads(_HALF.sub(lambda hit: hit["whole"] or r"\ufffd", text))


def messages_of(request: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(role, text) of each message; parts are put together, and calls of tools stand with their arguments."""
    given = request.get("messages")
    found = []
    for message in given if isinstance(given, list) else ():
        if isinstance(message, dict):
            role = message.get("role")
            text = "\n".join(_message_texts(message))
            found.append((role if isinstance(role, str) else "", text))
    return tuple(found)


def shape_of(request: Mapping[str, Any]) -> str:
    """What a request says about the form of its reply, as JSON text: `response_format`, `tools`, `functions`."""
    asked = {name: request[name] for name in ("response_format", "tools", "functions") if request.get(name)}
    return json.dumps(asked, ensure_ascii=False) if asked else ""


def reply_texts(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The answer of each choice: its text, then the arguments of the tools it calls; never reasoning."""
    choices = body.get("choices")
    texts = []
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        texts.append("\n".join(_message_texts(message)) if isinstance(message, dict) else "")
    return tuple(texts)


def read_stream(body: bytes) -> tuple[tuple[str, ...], bool]:
    """The answer of each choice of a stream of events, put together from its pieces; and whether its end is marked.

    The mark is `[DONE]`, or a reason for which every choice ended.
    """
    pieces: dict[int, list[str]] = {}
    arguments: dict[int, dict[int, list[str]]] = {}
    ended: set[int] = set()
    for event in _events(body):
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if not isinstance(delta, dict):
                continue
            number = choice.get("index")
            number = number if isinstance(number, int) else 0
            if choice.get("finish_reason"):
                ended.add(number)
            pieces.setdefault(number, []).extend(_content(delta.get("content")))
            for position, call in enumerate(_list(delta.get("tool_calls"))):
                if isinstance(call, dict):
                    at = call.get("index")
                    parts = arguments.setdefault(number, {}).setdefault(at if isinstance(at, int) else position, [])
                    parts.extend(_arguments(call))
            if isinstance(delta.get("function_call"), dict):
                whole = arguments.setdefault(number, {}).setdefault(0, [])
                whole.extend(_arguments({"function": delta["function_call"]}))
    texts = tuple(
        "\n".join(text for text in ("".join(pieces[number]), *_joined(arguments.get(number, {}))) if text)
        for number in sorted(pieces)
    )
    return texts, _DONE.search(body[-_TAIL:]) is not None or (bool(pieces) and ended >= set(pieces))


def call_of(request: Mapping[str, Any], *, model: str, rerun: int = 0) -> Call:
    """A request as evenhand's own providers take it; the model is the answerer's, not the client's.

    Args:
        request: the decoded body.
        model: `provider/model`.
        rerun: number of the choice, where several are wanted.
    """
    schema, name = _schema(request)
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    temperature = request.get("temperature")
    top = request.get("top_logprobs")
    return Call(
        model=model,
        messages=tuple(
            Message(role=role if role in _ROLES else "user", text=text)  # type: ignore[arg-type]
            for role, text in messages_of(request)
        ),
        schema=schema,
        schema_name=name,
        temperature=float(temperature) if isinstance(temperature, (int, float)) else None,
        max_tokens=limit if isinstance(limit, int) and limit > 0 else _LONGEST_REPLY,
        logprobs=top if isinstance(top, int) and top > 0 else (1 if request.get("logprobs") else None),
        rerun=rerun,
    )


def _message_texts(message: Mapping[str, Any]) -> Iterator[str]:
    """The texts of one message, in order."""
    text = "".join(_content(message.get("content")))
    if text:
        yield text
    for call in _list(message.get("tool_calls")):
        if isinstance(call, dict):
            yield from _arguments(call)
    if isinstance(message.get("function_call"), dict):
        yield from _arguments({"function": message["function_call"]})


def _content(content: object) -> Iterator[str]:
    """The pieces of a content, which is text or a list of parts."""
    if isinstance(content, str):
        yield content
    for part in _list(content):
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _arguments(call: Mapping[str, Any]) -> Iterator[str]:
    """The arguments of one call of a tool, which some servers send as an object."""
    function = call.get("function")
    given = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(given, str):
        yield given
    elif given is not None:
        yield json.dumps(given, ensure_ascii=False)


def _joined(parts: Mapping[int, Sequence[str]]) -> Iterator[str]:
    yield from ("".join(parts[number]) for number in sorted(parts))


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events; what is none is passed over."""
    begun = b""  # an event's data may stand on several lines
    for line in body.splitlines():
        if not line.strip():
            begun = b""
        elif line.startswith(b"data:"):
            data = line[5:].strip()
            event = decoded(data)
            if event is None and begun:
                event = decoded(begun + b"\n" + data)
            begun = b"" if event is not None else begun + b"\n" + data if begun else data
            if event is not None:
                yield event


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _schema(request: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """The JSON Schema that the reply must follow, and its name: of `response_format`, or of a tool."""
    form = request.get("response_format")
    if isinstance(form, dict) and form.get("type") == "json_schema" and isinstance(form.get("json_schema"), dict):
        named = form["json_schema"]
        if isinstance(named.get("schema"), dict):
            return named["schema"], str(named.get("name") or "reply")
    if isinstance(form, dict) and form.get("type") == "json_object":
        return {"type": "object"}, "reply"
    tool = wanted_tool(request)
    if tool is not None:
        parameters = tool.get("parameters")
        return parameters if isinstance(parameters, dict) else {"type": "object"}, str(tool.get("name") or "reply")
    return None, "reply"


def wanted_tool(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The function that an answerer without tools of its own calls: the named one, else the last that is offered."""
    if request.get("tool_choice") == "none":
        return None
    functions = [tool["function"] for tool in _list(request.get("tools")) if isinstance(tool, dict)
                 and isinstance(tool.get("function"), dict)]  # fmt: skip
    choice = request.get("tool_choice")
    named = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    return next((one for one in functions if one.get("name") == named), functions[-1] if functions else None)
