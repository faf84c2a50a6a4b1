"""The recording proxy: loopback only, a random port and path, bodies bounded, streams passed on as they come.

    async with Proxy(recorder, forward=Forward(base="https://api.openai.com/v1")) as proxy:
        proxy.base_url      what the harness is told, `http://127.0.0.1:PORT/TOKEN/v1`

Nothing is added to a request: no key, no header. What goes between two machines only (RFC 9110, section 7.6.1) is not
passed on, and no coding of the reply is asked for, since the reply is read afterwards; bodies that are coded all the
same pass as they are, both ways. A redirect is handed back unfollowed: following it could take a key to another host.
Where the client leaves, the endpoint is left too, as it would be without us.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from evenhand.errors import EvenhandError
from evenhand.terms import Call, Reply
from evenhand.trace.answers import completion, error_body, events
from evenhand.trace.codings import plain
from evenhand.trace.recording import Exchange, Recorder
from evenhand.trace.wire import call_of, decoded, wire_of

__all__ = ["Answer", "Answerer", "Forward", "Proxy"]

Answer = Callable[[Call], Awaitable[Reply]]

_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer")
) | {"transfer-encoding", "upgrade", "host", "content-length", "accept-encoding", "expect"}
_CONNECT_TIMEOUT_S = 30.0
_MOST_CHOICES = 128
_MOST_READ = 32 * 1024 * 1024
_AT_ONCE = 1 << 20
_LINE_BYTES = 1 << 17  # of the longest header: some tokens are longer than the 8 KiB that servers take by themselves
_OWN_HEADERS = ("User-Agent", "Content-Type", "Accept", "Accept-Encoding")  # that the client library would add
_QUIET = logging.getLogger("evenhand.trace.proxy")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False  # what is wrong with a request is told to who sent it, not to the terminal of its harness


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """The endpoint that calls are passed on to.

    Args:
        base: its base URL without a query.
        query: what its base URL had behind `?`, with the mark; put after every path.
        proxy: URL of an HTTP proxy on the way, or None.
    """

    base: str
    query: str = ""
    proxy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Whoever answers in place of an endpoint.

    Args:
        name: how it is called in the trace.
        answer: a call to its reply; an `EvenhandError` becomes an error that the harness sees.
        model: `provider/model`, the model of every call.
    """

    name: str
    answer: Answer
    model: str


class Proxy:
    """Serves one harness; use it with `async with`.

    Args:
        recorder: told of every call.
        to: where the calls go.
        most_request: bytes of a request's body; a larger one is refused with 413.
        keep_headers: keep each call's headers in memory until the end, for calls that are asked again.
    Attributes:
        base_url: what the harness is told.
        strangers: requests without the token or to another host, which were refused.
        open: whether calls are taken; afterwards they are refused and not recorded.
        headers: number of a call to its headers, where they are kept.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        to: Forward | Answerer,
        most_request: int = 32 * 1024 * 1024,
        keep_headers: bool = False,
    ) -> None:
        self.base_url = ""
        self.strangers = 0
        self.open = True
        self.headers: dict[int, Mapping[str, str]] = {}
        self._recorder = recorder
        self._to = to
        self._most_request = most_request
        self._keep_headers = keep_headers
        self._token = secrets.token_urlsafe(24)
        self._hosts: frozenset[str] = frozenset()
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.ServerRunner | None = None

    async def __aenter__(self) -> "Proxy":
        server = web.Server(
            self._serve,
            handler_cancellation=True,
            access_log=None,
            logger=_QUIET,
            max_line_size=_LINE_BYTES,
            max_field_size=_LINE_BYTES,
            auto_decompress=False,
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self._hosts = frozenset((f"127.0.0.1:{port}", f"localhost:{port}"))
        self.base_url = f"http://127.0.0.1:{port}/{self._token}/v1"
        if isinstance(self._to, Forward):
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S)
            self._session = aiohttp.ClientSession(
                timeout=timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                connector=aiohttp.TCPConnector(limit=0),
                max_line_size=_LINE_BYTES,
                max_field_size=_LINE_BYTES,
                auto_decompress=False,
                skip_auto_headers=_OWN_HEADERS,
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()
        self._recorder.end_all()

    async def ask_again(self, number: int, body: bytes) -> bytes | None:
        """Send a changed body with the headers of an earlier call; the reply's body, None where it failed."""
        if isinstance(self._to, Answerer):
            request = decoded(body)
            try:
                return None if request is None else completion(request, [await self._reply(request, 0)])
            except EvenhandError:
                return None
        assert self._session is not None
        if number not in self.headers:
            return None
        headers = {name: value for name, value in self.headers[number].items() if name.lower() != "content-encoding"}
        try:
            async with self._session.post(
                self._url("/chat/completions", ""), data=body, headers=headers, proxy=self._to.proxy,
                allow_redirects=False,
            ) as response:  # fmt: skip
                content = plain(await response.read(), response.headers.get("Content-Encoding", ""), most=_MOST_READ)
                return content if response.status == 200 else None
        except (aiohttp.ClientError, TimeoutError):
            return None

    # --- one request ----------------------------------------------------------------------------------------------

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """Refuse a stranger; record everyone else."""
        prefix, raw = f"/{self._token}/v1", request.rel_url.raw_path
        known = secrets.compare_digest(raw[: len(prefix)].encode(), prefix.encode()) and raw[len(prefix) :][:1] in "/"
        if not known or not self._is_addressed(request):
            self.strangers += 1
            return _refusal(404, "not found")
        if not self.open:
            return _refusal(503, "evenhand trace: the harness has ended")
        path = raw[len(prefix) :] or "/"  # as it came: unescaped, it would be another path
        exchange = self._recorder.begin(method=request.method, wire=wire_of(path), path=path)
        try:
            return await self._answered(request, exchange)
        except (ConnectionError, asyncio.CancelledError) as error:
            exchange.fault = exchange.fault or "the client went away before the reply had ended"
            if isinstance(error, asyncio.CancelledError):
                raise
            return web.Response(status=499)
        finally:
            # What is written to the client goes first; keeping the call costs it no time.
            asyncio.get_running_loop().call_soon(self._recorder.end, exchange)

    def _is_addressed(self, request: web.BaseRequest) -> bool:
        """Whether a request names this server, in its Host and, where its target is a whole URL, there too."""
        named = [request.headers.get("Host", "")]
        if not request.raw_path.startswith("/"):
            named.append(request.raw_path.partition("://")[2].partition("/")[0])
        return all(host.lower() in self._hosts for host in named)

    async def _answered(self, request: web.BaseRequest, exchange: Exchange) -> web.StreamResponse:
        """The reply, passed on or made here."""
        body = await self._body(request)
        if body is None:
            exchange.fault = f"the request is larger than {self._most_request:,} bytes"
            return self._made(exchange, 413, error_body(f"evenhand trace: {exchange.fault}", "too_large"))
        exchange.request, exchange.request_coding = body, request.headers.get("Content-Encoding", "")
        if isinstance(self._to, Answerer):
            return await self._own(request, exchange, self._to)
        if self._keep_headers:
            self.headers[exchange.number] = _passed(request.headers)
        return await self._passed_on(request, exchange, self._to)

    async def _body(self, request: web.BaseRequest) -> bytes | None:
        """The request's body within the bound, else None."""
        if (request.content_length or 0) > self._most_request:
            return None
        if request.headers.get("Expect", "").lower() == "100-continue" and request.version >= (1, 1):
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        body = bytearray()
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > self._most_request:
                return None
        return bytes(body)

    async def _passed_on(self, request: web.BaseRequest, exchange: Exchange, to: Forward) -> web.StreamResponse:
        """Ask the endpoint, and hand its reply on as it comes."""
        assert self._session is not None
        try:
            response = await self._session.request(
                request.method,
                self._url(exchange.path, request.rel_url.raw_query_string),
                data=exchange.request or None,
                headers=_passed(request.headers),
                proxy=to.proxy,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            exchange.fault = _unanswered(error)
            return self._made(exchange, 502, error_body(f"evenhand trace: {exchange.fault}", "unreachable"))
        async with response:
            exchange.status, exchange.reply_coding = response.status, response.headers.get("Content-Encoding", "")
            exchange.streamed = response.content_type == "text/event-stream"
            if 300 <= response.status < 400 and response.status != 304:
                exchange.fault = "the endpoint redirects elsewhere, which is not followed"
            return await self._handed_on(request, exchange, response)

    async def _handed_on(
        self, request: web.BaseRequest, exchange: Exchange, response: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """The reply's bytes: a short one that comes at once as a whole, all others piece by piece as they come."""
        if not exchange.streamed and 0 < (response.content_length or 0) <= _AT_ONCE:
            return await self._whole(request, exchange, response)
        answer = web.StreamResponse(status=response.status, reason=response.reason, headers=_passed(response.headers))
        if response.content_length is not None:
            answer.content_length = response.content_length
        await answer.prepare(request)
        try:
            async for chunk in response.content.iter_any():
                self._recorder.piece(exchange, chunk)
                await answer.write(chunk)
        except (aiohttp.ClientPayloadError, TimeoutError) as error:
            _break_off(request, exchange, error)
            return answer
        await answer.write_eof()
        return answer

    async def _whole(
        self, request: web.BaseRequest, exchange: Exchange, response: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """A reply in one write: head and body apart would cost the client a second packet."""
        try:
            body = await response.read()
        except (aiohttp.ClientPayloadError, TimeoutError) as error:
            _break_off(request, exchange, error)
            return web.Response(status=502)
        self._recorder.piece(exchange, body)
        return web.Response(
            status=response.status, reason=response.reason, headers=_passed(response.headers), body=body
        )

    def _url(self, path: str, query: str) -> URL:
        """Where a path below the base URL goes."""
        assert isinstance(self._to, Forward)
        own = self._to.query.removeprefix("?")
        joined = "&".join(part for part in (own, query) if part)
        return URL(f"{self._to.base}{path.rstrip('/')}{'?' if joined else ''}{joined}", encoded=True)

    # --- replies made here ----------------------------------------------------------------------------------------

    async def _own(self, request: web.BaseRequest, exchange: Exchange, to: Answerer) -> web.StreamResponse:
        """Answer in place of an endpoint."""
        if exchange.wire == "models":
            return self._made(exchange, 200, b'{"object":"list","data":[]}')
        body = plain(exchange.request, exchange.request_coding, most=_MOST_READ)
        asked = decoded(body) if body is not None and exchange.wire == "chat" and request.method == "POST" else None
        if asked is None:
            what = "no JSON object" if exchange.wire == "chat" else f"the wire {exchange.path}"
            exchange.fault = f"{to.name} cannot answer {what[:100]}"
            return self._made(exchange, 400, error_body(f"evenhand trace: {exchange.fault}", "unreadable"))
        n = asked.get("n")
        try:
            replies = [await self._reply(asked, k) for k in range(min(n, _MOST_CHOICES) if isinstance(n, int) else 1)]
        except EvenhandError as error:
            exchange.fault = str(error)
            return self._made(exchange, 400, error_body(f"evenhand trace: {error}", "no_reply"))
        if not asked.get("stream"):
            return self._made(exchange, 200, completion(asked, replies))
        exchange.status, exchange.streamed = 200, True
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await answer.prepare(request)
        for event in events(asked, replies):
            self._recorder.piece(exchange, event)
            await answer.write(event)
        await answer.write_eof()
        return answer

    async def _reply(self, asked: Mapping[str, Any], choice: int) -> Reply:
        """One choice."""
        assert isinstance(self._to, Answerer)
        return await self._to.answer(call_of(asked, model=self._to.model, rerun=choice))

    def _made(self, exchange: Exchange, status: int, body: bytes) -> web.Response:
        """A whole reply made here."""
        exchange.status = status
        self._recorder.piece(exchange, body)
        return web.Response(status=status, body=body, content_type="application/json")


def _passed(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The headers that go from one side to the other."""
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    passed: CIMultiDict[str] = CIMultiDict()
    for name, value in headers.items():
        if name.lower() not in _HOP and name.lower() not in named:
            passed.add(name, value)
    return passed


def _break_off(request: web.BaseRequest, exchange: Exchange, error: Exception) -> None:
    """End the client's connection where the endpoint ended ours, as it would have been without us."""
    exchange.fault = f"the endpoint broke off its reply ({type(error).__name__})"
    if request.transport is not None:
        request.transport.close()


def _unanswered(error: Exception) -> str:
    """Why an endpoint gave no reply."""
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the endpoint closed the connection without a reply"
    if isinstance(error, aiohttp.ClientResponseError):
        return "what the endpoint sent is no reply that can be read"
    return f"the endpoint could not be reached ({type(error).__name__})"


def _refusal(status: int, message: str) -> web.Response:
    """What a stranger is told, or who comes too late."""
    return web.Response(status=status, body=error_body(message, "not_found"), content_type="application/json")
