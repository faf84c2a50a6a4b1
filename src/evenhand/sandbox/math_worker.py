"""Comparing formulas with math-verify in a process that can be ended.

An algebra system may go on for ever, and its own time limit works in the main thread alone. So the pair goes to a
process over pipes as a line of JSON; one that is not answered in time is given up, and the process is killed and
started afresh. Numbers never come here: `matching` compares them exactly.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evenhand.errors import InvalidInput
from evenhand.sandbox.process import end, start

__all__ = ["MathWorker"]

_CHILD = Path(__file__).with_name("math_child.py")
_CHUNK = 65_536
_LONGEST_ANSWER = 65_536
_REMEMBERED = 10_000
_LONGEST_FORMULA = 10_000


class MathWorker:
    """One process that compares formulas; started with the first pair, started again after one that it gave up.

    Use it as a context manager, or call `close`. Its `same` is what `matching.matches.match` takes as `expressions`.
    """

    def __init__(self, *, timeout_s: float = 5.0, memory_mb: int = 1_024, start_timeout_s: float = 60.0) -> None:
        """Set the limits; nothing is started yet.

        Args:
            timeout_s: for one pair in both orders, in seconds of wall time.
            memory_mb: address space of the process, in MiB; under 256 the libraries do not load.
            start_timeout_s: for loading the libraries.

        Raises:
            InvalidInput: a limit is none, or math-verify is not installed.
        """
        if not timeout_s > 0 or memory_mb < 256 or not start_timeout_s > 0:
            limits = f"timeout_s {timeout_s}, memory_mb {memory_mb}, start_timeout_s {start_timeout_s}"
            raise InvalidInput(f"limits are {limits}; expected times above 0 and at least 256 MiB")
        if find_spec("math_verify") is None:
            raise InvalidInput("comparing formulas needs math-verify; install the extra: pip install 'evenhand[math]'")
        self._timeout_s, self._memory_mb, self._start_timeout_s = timeout_s, memory_mb, start_timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._known: OrderedDict[tuple[str, str, bool], bool | None] = OrderedDict()
        self._lock = threading.Lock()
        self.asked = 0
        self.gave_up: list[str] = []
        """Why pairs were given up, the latest hundred."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def same(self, first: str, second: str, /, *, positive: bool = False) -> bool | None:
        """Whether two formulas in LaTeX are worth the same, in both orders.

        Args:
            first: a formula without delimiters.
            second: another.
            positive: whether every symbol stands for a positive number.

        Returns:
            None where it was given up: too slow, too large, or not readable; `gave_up` says why.
        """
        key = (min(first, second), max(first, second), positive)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._asked(*key)
                if len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
            return self._known[key]

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            end(process)

    def _asked(self, first: str, second: str, positive: bool) -> bool | None:
        if max(len(first), len(second)) > _LONGEST_FORMULA:
            return self._note(f"a formula has more than {_LONGEST_FORMULA:,} characters")
        self.asked += 1
        line = json.dumps({"first": first, "second": second, "positive": positive}).encode() + b"\n"
        answer: dict[str, Any] | str
        try:
            answer = _exchange(self._started(), line, self._timeout_s)
        except OSError as error:
            answer = f"its process ended ({error.strerror})"
        if isinstance(answer, str):
            self.close()
            return self._note(answer)
        same = answer.get("same")
        return same if isinstance(same, bool) else self._note(str(answer.get("why", "")))

    def _note(self, reason: str) -> bool | None:
        """Keep why a pair was given up, which is no answer."""
        self.gave_up = [*self.gave_up[-99:], reason]
        return None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self.close()
            environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}  # no keys, no settings of the caller
            command = [sys.executable, "-I", str(_CHILD), str(self._memory_mb << 20), str(self._timeout_s)]
            self._process = start(command, user=None, env=environment)
            ready = _exchange(self._process, b"", self._start_timeout_s)
            if isinstance(ready, str):
                self.close()
                raise OSError(0, f"it did not start: {ready}")
        return self._process


def _exchange(process: "subprocess.Popen[bytes]", line: bytes, timeout_s: float) -> dict[str, Any] | str:
    """One line there, one back, or why not; what it writes on stderr is dropped."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    to, back, noise = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
    ends, rest, answer, listening = time.monotonic() + timeout_s, memoryview(line), bytearray(), [back, noise]
    os.set_blocking(to, False)
    while b"\n" not in answer:
        ready, writable, _ = select.select(listening, [to] if rest else [], [], max(0.0, ends - time.monotonic()))
        if not ready and not writable:
            return f"it took longer than {timeout_s:g} s"
        if writable:
            rest = rest[os.write(to, rest[:_CHUNK]) :]
        if noise in ready and not os.read(noise, _CHUNK):
            listening.remove(noise)
        if back in ready:
            piece = os.read(back, _CHUNK)
            answer += piece
            if not piece or len(answer) > _LONGEST_ANSWER:
                return "its process ended without an answer"
    with contextlib.suppress(ValueError):
        found = json.loads(answer)
        if isinstance(found, dict):
            return found
    return "it answered no JSON object"
