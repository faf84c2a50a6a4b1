"""A process that searches patterns and calls the user's callables, so that one which does not end can be ended.

Python's `re` has no deadline, and a pattern that is harmless on ordinary text can take ages on a text made for it.
"""

import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from evenhand.detectors.commands import end_group, without_secrets

__all__ = ["Helper"]

_WORKER = Path(__file__).with_name("worker.py")
_CHUNK = 65_536
_LONGEST_ANSWER = 65_536


class Helper:
    """Started with the first question, started again after a deadline; one question at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any] | str:
        """The answer, or why there is none.

        Args:
            request: as `worker.py` says.
            timeout_s: deadline in seconds; a new process's start is on top of it.
        """
        with self._lock:
            fresh = self._process is None
            process = self._started()
            line = json.dumps(request).encode() + b"\n"
            try:
                answer = _exchange(process, line, timeout_s + (10.0 if fresh else 0.0))
            except OSError as error:
                answer = f"its process ended ({error.strerror})"
            if isinstance(answer, str):
                self.close()
                return answer
        found: dict[str, Any] = json.loads(answer)
        return str(found["fault"]) if "fault" in found else found

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            end_group(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _closed(pipe)

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - this package's own program
                [sys.executable, "-I", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=without_secrets(),
                start_new_session=True,
                bufsize=0,
            )
        return self._process


def _exchange(process: "subprocess.Popen[bytes]", line: bytes, timeout_s: float) -> bytes | str:
    """One line there, one back; neither direction waits longer than the deadline."""
    assert process.stdin is not None
    assert process.stdout is not None
    to, back = process.stdin.fileno(), process.stdout.fileno()
    ends = time.monotonic() + timeout_s
    rest, answer = memoryview(line), bytearray()
    os.set_blocking(to, False)
    while b"\n" not in answer:
        left = ends - time.monotonic()
        ready, writable, _ = select.select([back], [to] if rest else [], [], max(0.0, left))
        if not ready and not writable:
            return f"it took longer than {timeout_s:g} s and was ended"
        if writable:
            rest = rest[os.write(to, rest[:_CHUNK]) :]
        if ready:
            piece = os.read(back, _CHUNK)
            answer += piece
            if not piece or len(answer) > _LONGEST_ANSWER:
                return "its process ended without an answer"
    return bytes(answer)


def _closed(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:  # a broken pipe has nothing left to write
        return
