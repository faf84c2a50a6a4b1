"""A real HTTP server on loopback whose every byte is the test's, and calls to send to it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from evenhand.errors import ProviderError
from evenhand.terms import Call, Message, Profile

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "passed": {"type": "boolean"}},
    "required": ["reason", "passed"],
    "additionalProperties": False,
}


@dataclass
class Request:
    line: str
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Wire:
    """The server: `answers` are bytes to write, or coroutine functions of (request, writer); the last one repeats."""

    answers: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    connections: int = 0
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                request = await _request(reader)
                self.requests.append(request)
                answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                elif await answer(request, writer) == "close":
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def __call__(self, *answers):
        self.answers = list(answers)
        tasks = set()

        def accept(reader, writer):
            task = asyncio.ensure_future(self.serve(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)


async def _request(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (row.partition(":") for row in rest if row)}
    return Request(line, headers, await reader.readexactly(int(headers.get("content-length", 0))))


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def http():
    """Bytes of an HTTP response."""

    def response(body=b"", status=200, headers=(), content_type="application/json", length=None) -> bytes:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        rows = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}", *headers]
        rows.append(f"Content-Length: {len(body) if length is None else length}")
        return "\r\n".join([*rows, "", ""]).encode() + body

    return response


@pytest.fixture
def completion():
    """A body in the shape of a chat completion; keyword arguments replace parts of message, choice or body."""

    def body(content='{"reason": "r", "passed": true}', *, message=None, choice=None, **more) -> dict:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1767225600,
            "model": "judge-1-2026",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, "refusal": None, **(message or {})},
                    "logprobs": None,
                    "finish_reason": "stop",
                    **(choice or {}),
                }
            ],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            **more,
        }

    return body


@pytest.fixture
def call() -> Call:
    return Call(
        model="openai/judge-1",
        messages=(Message(role="system", text="Judge."), Message(role="user", text="“Ünïcode” {x} %s")),
        schema=SCHEMA,
        schema_name="verdict",
    )


@pytest.fixture
def ask(wire, call):
    """Ask once over the wire, with a server that gives these answers."""
    from evenhand.providers.chat import ChatProvider

    default = call

    def once(*answers, call=None, profile=None, timeout_s=10.0, api_key="sk-test-1234567890", times=1, **settings):
        async def run():
            async with wire(*answers):
                provider = ChatProvider("openai", wire.url, api_key=api_key, **settings)
                try:
                    for _ in range(times):
                        reply = await provider.ask(call or default, profile or Profile(), timeout_s=timeout_s)
                    return reply
                finally:
                    await provider.close()

        return asyncio.run(run())

    return once


@pytest.fixture
def refused(ask) -> Callable[..., ProviderError]:
    """The error of a call that fails."""

    def error(*answers, **settings) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            ask(*answers, **settings)
        return caught.value

    return error


Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[object]]
