"""The chat-completions wire on aiohttp and msgspec: OpenAI, and everything that speaks like it.

This is the hot path: one judgement should cost little more than a bare aiohttp loop. What was measured against that
loop (docs/providers.md has the figures): one session without cookies, headers made once, bodies by msgspec, read
straight from the stream, no per-request time-out object of aiohttp's. `trust_env` stays off because it costs two thread
hops a request; the proxy of the environment is looked up once, by `address.proxy_for`.
"""

import asyncio
from http.cookies import BaseCookie, SimpleCookie
from importlib.metadata import version
from io import BytesIO
from typing import Any, NoReturn
from urllib.parse import urlsplit

import aiohttp
import msgspec
from yarl import URL

from evenhand.errors import ProviderError
from evenhand.providers.address import endpoint_identity, request_base
from evenhand.providers.chat_faults import Place, error_fields, fault_of_status, is_filtered, quoted, without_key
from evenhand.providers.chat_wire import read_completion, reply_from, request_body, way_of_asking
from evenhand.providers.environment import Secret
from evenhand.providers.names import split_model
from evenhand.terms import Call, Profile, Reply

__all__ = ["ChatProvider"]

MAX_REPLY_BYTES = 16 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024
CONNECT_TIMEOUT_S = 30.0
_WHOLE_BODY_BYTES = 2**20  # above this aiohttp wants a stream instead of one write


class _NoCookies(aiohttp.DummyCookieJar):
    """A jar that makes no new empty jar for every request."""

    _none: BaseCookie[str] = SimpleCookie()

    def filter_cookies(self, request_url: URL) -> BaseCookie[str]:
        return self._none


class _TooLarge(Exception):
    """A body beyond the limit."""


class ChatProvider:
    """One endpoint of the chat-completions wire; see `Provider` in `base.py` for the contract.

    One instance serves every model of its endpoint, within one event loop.

    Args:
        name: the provider's name, as it stands before the first `/` or `:` of a model's name.
        base_url: what `/chat/completions` is put after; a URL that ends with it already is accepted.
        api_key: sent as a bearer token; None sends none.
        identity: for content keys; the normalised base URL unless given.
        headers: further request headers.
        proxy: URL of an HTTP proxy, or None.
        key_note: which variable the key came from, or why none is sent; shown when the endpoint rejects it.
    Raises:
        InvalidInput: the URL or the key cannot be used.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        api_key: str | Secret | None = None,
        identity: str | None = None,
        headers: dict[str, str] | None = None,
        proxy: str | None = None,
        key_note: str = "",
    ) -> None:
        self.name = name
        base, query = request_base(base_url)
        self.identity = identity or endpoint_identity(base_url)
        self.max_concurrency: int | None = None
        key = Secret.of(api_key)
        self._headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": f"evenhand/{version('evenhand')}",
            **({"Authorization": f"Bearer {key.reveal()}"} if key else {}),
            **(headers or {}),
        }
        self._url = URL(f"{base}/chat/completions{query}")
        # With a proxy the headers go with each request: aiohttp sends a session's headers to the proxy, too.
        self._extra: dict[str, Any] = {"headers": self._headers, **_proxy_arguments(proxy)} if proxy else {}
        self._place = Place(
            provider=name,
            url=endpoint_identity(base_url),
            key_note=key_note or ("the given key was sent" if key else "no key was sent"),
            key=key.reveal() if key else None,
        )
        self._session: aiohttp.ClientSession | None = None
        self._models: dict[str, str] = {}
        self._ways: dict[tuple[int, str, str], tuple[Any, dict[str, Any]]] = {}

    async def ask(self, call: Call, profile: Profile, *, timeout_s: float) -> Reply:
        """Make one attempt, without retrying; see `Provider.ask`."""
        model = self._models.get(call.model)
        if model is None:
            model = self._models[call.model] = split_model(call.model)[1]
        body: Any = request_body(call, profile, model, self._way(call, profile))
        if len(body) > _WHOLE_BODY_BYTES:
            body = BytesIO(body)
        session = self._session or self._open_session()
        # The fault is raised outside the handlers, so that no aiohttp error, which holds the request's headers and in
        # them the key, hangs on it as its cause.
        try:
            async with asyncio.timeout(timeout_s):
                response = await session.post(self._url, data=body, allow_redirects=False, **self._extra)
                status = response.status
                content = await _read(response, MAX_REPLY_BYTES if status < 300 else MAX_ERROR_BYTES)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, _TooLarge) as error:
            fault = self._transport_fault(error, timeout_s)
        else:
            if status < 300:
                return self._reply(content, response.headers, call, profile, model)
            return self._outcome_of_status(status, content, response.headers, call, profile, model)
        raise fault

    async def close(self) -> None:
        """Release the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    # --- the request -----------------------------------------------------------------------------------------------

    def _open_session(self) -> aiohttp.ClientSession:
        """The session, made in the loop that asks first; limits are the engine's, not the connector's."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=30),
            headers=None if self._extra else self._headers,
            cookie_jar=_NoCookies(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
        )
        return self._session

    def _way(self, call: Call, profile: Profile) -> dict[str, Any]:
        """The fields that ask for the schema, encoded once a schema; it is kept, so that its id stays its own."""
        if call.schema is None or profile.mode == "text":
            return {}
        key = (id(call.schema), call.schema_name, profile.mode)
        known = self._ways.get(key)
        if known is None:
            if len(self._ways) >= 256:
                self._ways.clear()
            known = self._ways[key] = (call.schema, way_of_asking(call, profile))
        return known[1]

    # --- the answer ------------------------------------------------------------------------------------------------

    def _reply(self, content: bytes, headers: Any, call: Call, profile: Profile, model: str) -> Reply:
        """The reply in a body with status 200."""
        try:
            found = reply_from(read_completion(content), tool=profile.mode == "tool")
            why = "it holds no choice with a message"
        except msgspec.DecodeError as error:
            found, why = None, str(error)
        if isinstance(found, Reply):
            return without_key(found, self._place.key)
        if found is None:
            self._refuse_body(content, headers, why)
        body = {"error": found.error}
        return self._outcome_of_status(error_fields(body).status or 502, body, headers, call, profile, model)

    def _refuse_body(self, content: bytes, headers: Any, why: str) -> NoReturn:
        """Raise for a body that is no reply: a page is a wrong address and stays one, the rest may be an accident."""
        page = content.lstrip()[:1] == b"<" or "html" in headers.get("Content-Type", "").lower()
        said = quoted(content[:MAX_ERROR_BYTES].decode("utf-8", "replace"), self._place.key)
        if page:
            message = f"answered with a page instead of JSON; check that /chat/completions follows the base URL: {said}"
        else:
            message = f"answered with a body that is no chat completion ({why}): {said}"
        raise ProviderError(
            f"{self._place.url} {message}", provider=self.name, status=200, retryable=not page, code="bad_body"
        )

    def _outcome_of_status(
        self, status: int, content: Any, headers: Any, call: Call, profile: Profile, model: str
    ) -> Reply:
        """What another status than 200 means: a withheld answer is a reply, anything else an error."""
        if 300 <= status < 400:
            target = urlsplit(headers.get("Location", "")).hostname or "another path"
            raise ProviderError(
                f"{self._place.url} redirects to {quoted(target, self._place.key)}; redirects are not followed, "
                "since a key would travel with them: give the final base URL",
                provider=self.name,
                status=status,
                code="bad_request",
            )
        fields = error_fields(content)
        if is_filtered(status, fields):
            return Reply(text="", finish="filter")
        raise fault_of_status(status, fields, headers, place=self._place, model=model, call=call, profile=profile)

    def _transport_fault(self, error: Exception, timeout_s: float) -> ProviderError:
        """The error for an exchange that did not end with a whole response."""
        code, retryable = "connect", True
        kind = type(error).__name__
        if isinstance(error, _TooLarge):
            code, retryable = "bad_body", False
            message = f"answered with more than {MAX_REPLY_BYTES // 2**20} MB; such a body is not read"
        elif isinstance(error, aiohttp.ServerTimeoutError):
            message = f"did not accept a connection within {CONNECT_TIMEOUT_S:g} s"
        elif isinstance(error, TimeoutError):
            code, message = "timeout", f"did not answer within {timeout_s:g} s"
        elif isinstance(error, (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch)):
            retryable, message = False, f"has no usable certificate ({kind}); check the base URL"
        elif isinstance(error, aiohttp.ClientConnectorDNSError):
            message = "cannot be found: its host name does not resolve; check the base URL and the network"
        elif isinstance(error, aiohttp.ClientConnectorError):
            message = f"cannot be reached ({error.os_error.strerror or kind}); is a server running there?"
        elif isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError)):
            code, message = "bad_body", f"broke off or garbled its answer ({kind})"
        elif isinstance(error, ValueError):
            code, retryable, message = "bad_request", False, f"cannot be asked ({kind})"
        else:
            code, message = "server", f"closed the connection without an answer ({kind})"
        return ProviderError(f"{self._place.url} {message}", provider=self.name, retryable=retryable, code=code)


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """A response's body, chunk by chunk, so that no endpoint can fill the memory.

    A body with an error status is cut at its limit, since only its beginning is quoted.
    """
    stream = response.content
    try:
        content = await stream.readany()
        if stream.at_eof():
            return content
        chunks, size = [content], len(content)
        while not stream.at_eof():
            chunk = await stream.readany()
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                if response.status < 300:
                    raise _TooLarge
                response.close()
                break
        return b"".join(chunks)[:limit]
    except BaseException:
        response.close()
        raise


def _proxy_arguments(proxy: str) -> dict[str, Any]:
    """A proxy's URL without its user, and the user as a header."""
    url = URL(proxy)
    user = aiohttp.encode_basic_auth(url.user, url.password or "") if url.user else None
    return {"proxy": url.with_user(None), "proxy_headers": {"Proxy-Authorization": user} if user else None}
