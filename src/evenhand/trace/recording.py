"""What is kept of the calls that pass: one JSON line a call, in a spool that nobody sees before it is whole.

No header is ever handed to this module, so that neither a key nor a cookie can be kept; the query of a URL, where some
endpoints want their key, is not kept either. Bodies that cannot be read leave their size and hash alone.

While the harness runs, bodies are put aside as they came and its calls wait for nothing else; they are read once it has
ended. Streams alone are read at once, since their events take many times the room of their text.
"""

import hashlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import msgspec

from evenhand.errors import InvalidInput, StoreError
from evenhand.keys import content_key, tagged
from evenhand.trace.codings import plain
from evenhand.trace.wire import decoded, read_stream, reply_texts

__all__ = ["LINE_SCHEMA", "Exchange", "Recorder"]

LINE_SCHEMA = "evenhand.traced_call/1"
_BUFFER = 1 << 18
_MOST_READ = 32 * 1024 * 1024  # bytes that a coded body may come to


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One call while it passes.

    Args:
        number: 0, 1, ...: in the order in which the calls came.
        wire: see `trace.wire.wire_of`.
        path: below the base URL, without a query.
        request, request_coding: the body as it came, and the Content-Encoding that it came with.
        began: tick of the trace's counter at which it came; the reply's end has one too. Of two calls the second can
            rest on the first only if it began after the first had ended.
        in_flight: how many other calls were in flight when it came.
        reply, reply_coding: the body that the client was given, up to the bound, and its Content-Encoding.
        reply_size: bytes of that body, kept or not.
        fault: why there is no reply, or not all of it, or why it cannot be read.
    """

    number: int
    method: str
    wire: str
    path: str
    began: int
    started_ms: float
    in_flight: int
    request: bytes = b""
    request_coding: str = ""
    status: int | None = None
    streamed: bool = False
    reply: bytearray = field(default_factory=bytearray)
    reply_size: int = 0
    reply_coding: str = ""
    fault: str | None = None
    ended: int = 0
    ended_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a call lies in the spool: its line, or its request and reply, one behind the other."""

    at: int
    line: int = 0
    exchange: Exchange | None = None
    request: int = 0
    reply: int = 0


class Recorder:
    """Numbers the calls and keeps them.

    Args:
        most_reply: bytes of one reply that are kept; what is beyond is passed on and counted.
    """

    def __init__(self, *, most_reply: int = 16 * 1024 * 1024) -> None:
        self.n_calls = 0
        self.most_reply = most_reply
        self._ticks = 0
        self._open: dict[int, Exchange] = {}
        self._places: dict[int, _Place] = {}
        self._size = 0
        self._spool: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115  # closed by close()
            prefix="evenhand-trace-", buffering=_BUFFER
        )
        self._full: OSError | None = None
        self._zero = time.monotonic()

    def begin(self, *, method: str, wire: str, path: str) -> Exchange:
        """Note that a call came."""
        exchange = Exchange(
            number=self.n_calls,
            method=method,
            wire=wire,
            path=path,
            began=self._tick(),
            started_ms=self._now(),
            in_flight=len(self._open),
        )
        self.n_calls += 1
        self._open[exchange.number] = exchange
        return exchange

    def piece(self, exchange: Exchange, data: bytes) -> None:
        """Keep a piece of the reply, within the bound."""
        exchange.reply_size += len(data)
        exchange.reply += data[: max(self.most_reply - len(exchange.reply), 0)]

    def end(self, exchange: Exchange) -> None:
        """Keep a call that has ended, whatever became of it. A full disk is told by `lines`, not to the harness."""
        if self._open.pop(exchange.number, None) is None:
            return
        exchange.ended, exchange.ended_ms = self._tick(), self._now()
        at = self._size
        if exchange.streamed:
            line = self._encoded(exchange, exchange.request, bytes(exchange.reply))
            self._put(line)
            self._places[exchange.number] = _Place(at=at, line=len(line))
            return
        request, reply = exchange.request, exchange.reply
        self._put(request)
        self._put(reply)
        exchange.request, exchange.reply = b"", bytearray()
        self._places[exchange.number] = _Place(at=at, exchange=exchange, request=len(request), reply=len(reply))

    def _put(self, data: bytes | bytearray) -> None:
        """Append to the spool."""
        try:
            self._spool.write(data)
            self._size += len(data)
        except OSError as error:
            self._full = error

    def end_all(self) -> None:
        """Keep what is still in flight, as unfinished."""
        for exchange in tuple(self._open.values()):
            exchange.fault = exchange.fault or "the harness ended before the reply did"
            self.end(exchange)

    def lines(self) -> Iterator[bytes]:
        """The lines of all calls that have ended, by number.

        Raises:
            StoreError: a line could not be kept.
        """
        try:
            self._spool.flush()
        except OSError as error:
            self._full = self._full or error
        if self._full is not None:
            raise StoreError(
                f"trace: a call could not be kept in the temporary folder ({self._full.strerror}); free some space"
            )
        for number in sorted(self._places):
            place = self._places[number]
            self._spool.seek(place.at)
            if place.exchange is None:
                yield self._spool.read(place.line)
            else:
                request = self._spool.read(place.request)
                yield self._encoded(place.exchange, request, self._spool.read(place.reply))

    def close(self) -> None:
        """Forget everything."""
        self._spool.close()

    def _tick(self) -> int:
        self._ticks += 1
        return self._ticks - 1

    def _now(self) -> float:
        return round((time.monotonic() - self._zero) * 1000, 3)

    def _encoded(self, exchange: Exchange, sent: bytes, came: bytes) -> bytes:
        """The line of one call, with its line break.

        Args:
            sent: the request's body.
            came: what is kept of the reply's.
        """
        request, unread = _request(exchange, sent)
        texts, lacks = _texts(exchange, came) if request is not None else ((), None)
        cut = exchange.reply_size > len(came)
        if cut and texts:
            lacks = f"only the first {len(came):,} bytes of the reply are kept"
        return msgspec.json.encode({
            "schema": LINE_SCHEMA,
            "number": exchange.number,
            "method": exchange.method,
            "path": exchange.path,
            "wire": exchange.wire,
            "readable": request is not None,
            "model": request.get("model") if request and isinstance(request.get("model"), str) else None,
            "request_hash": _request_hash(request, sent),
            "request_bytes": len(sent),
            "request": request,
            "status": exchange.status,
            "streamed": exchange.streamed,
            "reply": list(texts),
            "reply_hash": _hash(came) if came and not cut else None,
            "reply_bytes": exchange.reply_size,
            "cut": cut,
            "fault": exchange.fault or unread or lacks,
            "began": exchange.began,
            "ended": exchange.ended,
            "started_ms": exchange.started_ms,
            "ended_ms": exchange.ended_ms,
            "in_flight": exchange.in_flight,
        }) + b"\n"  # fmt: skip


def _request(exchange: Exchange, sent: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """A request that can be read, or why a body cannot."""
    if exchange.wire != "chat" or not sent:
        return None, None
    body = plain(sent, exchange.request_coding, most=_MOST_READ)
    request = decoded(body) if body is not None else None
    if request is not None:
        return request, None
    what = "no JSON object" if body is not None else f"not readable in its coding {exchange.request_coding[:40]!r}"
    return None, f"the request's body is {what}"


def _texts(exchange: Exchange, came: bytes) -> tuple[tuple[str, ...], str | None]:
    """The answers of a reply that succeeded, and what it lacks; its content type is not relied on."""
    if exchange.status is None or not 200 <= exchange.status < 300 or not came:
        return (), None
    body = plain(came, exchange.reply_coding, most=_MOST_READ)
    if body is None:
        return (), f"the reply's body is not readable in its coding {exchange.reply_coding[:40]!r}"
    whole = decoded(body)
    if whole is not None:
        texts = reply_texts(whole)
        return texts, None if texts else "the reply holds no choices"
    texts, ended = read_stream(body)
    if not texts:
        return (), "the reply is not of the chat-completions wire"
    return texts, None if ended else "the stream of the reply ended without a mark of its end"


def _request_hash(request: Mapping[str, Any] | None, body: bytes) -> str:
    """The content key of a request, however its JSON was spaced; of the bytes where it has no canonical form."""
    try:
        return _hash(body) if request is None else content_key(request)
    except InvalidInput:
        return _hash(body)


def _hash(body: bytes) -> str:
    return tagged(hashlib.sha256(body).digest())
