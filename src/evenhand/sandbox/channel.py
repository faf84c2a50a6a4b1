"""A process and the frames that go to it and come back, with a deadline on the clock outside.

The other end is not trusted: lengths are bounded before a byte is kept, what comes unasked is tampering, and whatever
was sent is decoded as data.
"""

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

from evenhand.errors import SandboxError
from evenhand.sandbox.literal import Unreadable, decode, encode
from evenhand.sandbox.process import Ending, end, how_ended, start

__all__ = ["Broken", "Channel", "Ended", "Late"]

_SLICE_S = 0.25
_CHUNK = 1 << 16
_ERROR_BYTES = 4000


class Late(Exception):
    """Nothing complete came before the deadline."""


class Ended(Exception):
    """The process is gone; the message names exit code or signal."""


class Broken(Exception):
    """What came is no frame that was asked for."""


class Channel:
    """A started process that answers frames on its standard output.

    Args:
        command: what to start.
        stop: ends every waiting when set.
        max_answer: bytes of the longest frame that is read.
        user: uid and gid to start it under, or None for one's own.
        env: its whole environment.
        keep: descriptors that it inherits.
        folder: where it starts.
        ending: of what keeps a tree of its own, as `process.start`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        stop: threading.Event,
        max_answer: int,
        user: int | None,
        env: Mapping[str, str],
        keep: Sequence[int] = (),
        folder: str = "/",
        ending: Ending | None = None,
    ) -> None:
        self._stop = stop
        self._max_answer = max_answer
        self._process = start(command, user=user, env=env, keep=keep, folder=folder, ending=ending)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def ask(self, frame: tuple[object, ...], until: float) -> tuple[object, ...]:
        """Send a frame and read the one that answers it.

        Raises:
            Late, Ended, Broken: no answer came, for that reason.
            SandboxError: the caller does not want the run any more.
        """
        if self._readable(0):
            raise Broken("it wrote to its channel before it was asked") if _has_data(self._out) else self._ended()
        self.tell(frame, until)
        return self.read(until)

    def tell(self, frame: tuple[object, ...], until: float) -> None:
        """Send a frame that has no answer.

        Raises:
            Late, Ended: it was not taken, for that reason.
        """
        body = encode(frame)
        self._send(len(body).to_bytes(4, "big") + body, until)

    def read(self, until: float) -> tuple[object, ...]:
        """Read a frame.

        Raises:
            Late, Ended, Broken: none came, for that reason.
        """
        size = int.from_bytes(self._exactly(4, until), "big")
        if size > self._max_answer:
            raise Broken(f"a frame of {size} bytes; at most {self._max_answer} are read")
        try:
            frame = decode(self._exactly(size, until))
        except Unreadable as error:
            raise Broken(str(error)) from error
        if type(frame) is not tuple or not frame or type(frame[0]) is not str:
            raise Broken("a frame of another form")
        return frame

    def close(self) -> None:
        """Kill the whole tree and wait for it."""
        end(self._process)

    def complaint(self) -> str:
        """What the launcher itself wrote to its standard error, bounded; for a start that failed."""
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self._process.stderr.fileno(), _ERROR_BYTES).decode("utf-8", "replace").strip()
        return ""

    def _send(self, data: bytes, until: float) -> None:
        """Write all of it, or raise."""
        view = memoryview(data)
        while view:
            self._wait(self._in, select.POLLOUT, until)
            try:
                view = view[os.write(self._in, view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def _exactly(self, size: int, until: float) -> bytes:
        """That many bytes, or raise."""
        parts = []
        while size:
            self._wait(self._out, select.POLLIN, until)
            try:
                part = os.read(self._out, min(size, _CHUNK))
            except BlockingIOError:
                continue
            if not part:
                raise self._ended()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, number: int, events: int, until: float) -> None:
        """Return once the descriptor is ready."""
        poll = select.poll()
        poll.register(number, events)
        while True:
            left = until - time.monotonic()
            if self._stop.is_set():
                raise SandboxError("sandbox: it was closed while a run was under way")
            if left <= 0:
                raise Late
            if poll.poll(1000 * min(left, _SLICE_S)):
                return

    def _readable(self, timeout_ms: int) -> bool:
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        return bool(poll.poll(timeout_ms))

    def _ended(self) -> Ended:
        """How the process ended; it is given a moment, since its output can close first."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return Ended("it closed its channel and went on")
        return Ended(how_ended(code))


def _has_data(number: int) -> bool:
    """Whether a readable descriptor holds a byte, and not just its end; the byte is lost."""
    try:
        return bool(os.read(number, 1))
    except BlockingIOError:
        return False
