"""What is kept of the calls that pass: one JSON line a call, in a spool that nobody sees before it is whole.

No header is ever handed to this module, so that neither a key nor a cookie can be kept; the query of a URL, where some
endpoints want their key, is not kept either. Bodies that cannot be read leave their size and hash alone.
"""

import hashlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

from evenhand.errors import InvalidInput, StoreError
from evenhand.keys import content_key, tagged
from evenhand.trace.wire import decoded, reply_texts, stream_texts

__all__ = ["LINE_SCHEMA", "Exchange", "Recorder"]

LINE_SCHEMA = "evenhand.traced_call/1"


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One call while it passes.

    Args:
        number: 0, 1, ...: in the order in which the calls came.
        wire: see `trace.wire.wire_of`.
        path: below the base URL, without a query.
        request: the body as it came.
        began: tick of the trace's counter at which it came; the reply's end has one too. Of two calls the second can
            rest on the first only if it began after the first had ended.
        in_flight: how many other calls were in flight when it came.
        reply: the body that the client was given, up to the bound.
        reply_size: bytes of that body, kept or not.
        fault: why there is no reply, or not all of it.
    """

    number: int
    method: str
    wire: str
    path: str
    began: int
    started_ms: float
    in_flight: int
    request: bytes = b""
    status: int | None = None
    streamed: bool = False
    reply: bytearray = field(default_factory=bytearray)
    reply_size: int = 0
    fault: str | None = None


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
        self._places: dict[int, tuple[int, int]] = {}
        self._spool: BinaryIO = tempfile.TemporaryFile(prefix="evenhand-trace-")  # noqa: SIM115  # closed by close()
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
        line = msgspec.json.encode(self._line(exchange, self._tick())) + b"\n"
        try:
            place = self._spool.tell()
            self._spool.write(line)
            self._places[exchange.number] = (place, len(line))
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
        if self._full is not None:
            raise StoreError(
                f"trace: a call could not be kept in the temporary folder ({self._full.strerror}); free some space"
            )
        for number in sorted(self._places):
            place, length = self._places[number]
            self._spool.seek(place)
            yield self._spool.read(length)

    def close(self) -> None:
        """Forget everything."""
        self._spool.close()

    def _tick(self) -> int:
        self._ticks += 1
        return self._ticks - 1

    def _now(self) -> float:
        return round((time.monotonic() - self._zero) * 1000, 3)

    def _line(self, exchange: Exchange, ended: int) -> Mapping[str, Any]:
        """The line of one call."""
        request = decoded(exchange.request) if exchange.wire == "chat" else None
        cut = exchange.reply_size > len(exchange.reply)
        return {
            "schema": LINE_SCHEMA,
            "number": exchange.number,
            "method": exchange.method,
            "path": exchange.path,
            "wire": exchange.wire,
            "readable": request is not None,
            "model": request.get("model") if request and isinstance(request.get("model"), str) else None,
            "request_hash": _request_hash(request, exchange.request),
            "request_bytes": len(exchange.request),
            "request": request,
            "status": exchange.status,
            "streamed": exchange.streamed,
            "reply": list(_texts(exchange)) if request is not None else [],
            "reply_hash": _hash(bytes(exchange.reply)) if exchange.reply and not cut else None,
            "reply_bytes": exchange.reply_size,
            "cut": cut,
            "fault": exchange.fault,
            "began": exchange.began,
            "ended": ended,
            "started_ms": exchange.started_ms,
            "ended_ms": self._now(),
            "in_flight": exchange.in_flight,
        }


def _texts(exchange: Exchange) -> tuple[str, ...]:
    """The answers of a reply that succeeded."""
    if exchange.status != 200 or not exchange.reply:
        return ()
    if exchange.streamed:
        return stream_texts(bytes(exchange.reply))
    body = decoded(bytes(exchange.reply))
    return reply_texts(body) if body is not None else ()


def _request_hash(request: Mapping[str, Any] | None, body: bytes) -> str:
    """The content key of a request, however its JSON was spaced; of the bytes where it has no canonical form."""
    try:
        return _hash(body) if request is None else content_key(request)
    except InvalidInput:
        return _hash(body)


def _hash(body: bytes) -> str:
    return tagged(hashlib.sha256(body).digest())
