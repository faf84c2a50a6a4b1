"""A user's own function in a process of its own, asked one control after the other, each with its own time."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from evenhand.integrity.channel import Got

__all__ = ["CallableProcess"]

_MOST_ANSWER = 1 << 20


class CallableProcess:
    """Asks a function of a file whether it accepts; the process is started anew after it was lost.

    Args:
        file: a Python file of the user's, trusted.
        function: its name; called with the candidate and the item, it returns True or False.
        folder: where it runs.
        timeout_s: for each answer.
    """

    def __init__(self, file: str, function: str, *, folder: Path, timeout_s: float) -> None:
        worker = str(Path(__file__).with_name("callable_worker.py"))
        self._command = [sys.executable, worker, file, function]
        self._folder = folder
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._left = b""
        self._asked = 0

    @property
    def is_lost(self) -> bool:
        """Whether the process did not outlive the last answer."""
        return self._process is None

    def ask(self, candidate: str, item: Mapping[str, Any]) -> tuple[Got, str]:
        """What the function says to a candidate, and in which words."""
        process = self._started()
        self._asked += 1
        request = {"number": self._asked, "candidate": candidate, "item": item}
        until = time.monotonic() + self._timeout_s
        try:
            sent = _sent(process, json.dumps(request, default=str).encode() + b"\n", until)
            answer = self._line(process, until) if sent else None
        except BrokenPipeError:
            answer = b""
        if answer is None:
            self.close()
            return "not graded", f"no verdict within {self._timeout_s:g} s"
        if not answer:
            code = process.wait()
            self.close()
            return "not graded", f"the process ended with exit code {code}"
        number, said = _said(answer)
        if number != self._asked:
            self.close()  # a process that was forked answers as well: nobody knows any more which answer is whose
            return "not graded", "answered out of turn"
        return said

    def close(self) -> None:
        """End the process and all that it started."""
        process, self._process, self._left = self._process, None, b""
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        process.wait()

    def __enter__(self) -> "CallableProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own code
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd=self._folder, start_new_session=True,
            )  # fmt: skip
        return self._process

    def _line(self, process: "subprocess.Popen[bytes]", until: float) -> bytes | None:
        """The next line; empty where the process ended, None where its time did."""
        assert process.stdout is not None
        while b"\n" not in self._left and len(self._left) < _MOST_ANSWER:
            left = until - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                return None
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                return b""
            self._left += data
        line, _, self._left = self._left.partition(b"\n")
        return line


def _sent(process: "subprocess.Popen[bytes]", line: bytes, until: float) -> bool:
    """Whether all of a line could be written in time: a function that never reads would keep us waiting for ever."""
    assert process.stdin is not None
    left, pipe = memoryview(line), process.stdin.fileno()
    os.set_blocking(pipe, False)
    while left:
        remaining = until - time.monotonic()
        if remaining <= 0 or not select.select([], [pipe], [], remaining)[1]:
            return False
        left = left[os.write(pipe, left) :]
    return True


def _said(answer: bytes) -> tuple[object, tuple[Got, str]]:
    """The number of the question that a line answers, and the answer in the words of a control."""
    try:
        found = json.loads(answer)
        number = found["number"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None, ("not graded", "")
    if "value" in found:
        return number, (("accepted" if found["value"] else "rejected"), f"returned {found['value']}")
    return number, ("not graded", str(found.get("failed")))
