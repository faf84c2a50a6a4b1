"""What runs inside the sandbox, next to the candidate: it loads a module and calls one function, when told to.

Nothing that it sends is trusted: the candidate runs in this very process and can send whatever this file could. It
holds nothing worth stealing: one check's arguments at a time, no expected value, no nonce. The parent compares.

Frames both ways are four bytes of length, most significant first, and a tagged literal (`literal.py`):

    parent   ("load", source, entry point), ("call", number, arguments), ("fork", seconds a call may take), ("bye",)
    runner   ("ready",), ("loaded",), ("failed", type, message), ("value", number, value),
             ("exception" | "exited" | "memory" | "unreadable", number, type, message),
             from the fork server alone ("ended", wait status)

Limits are set before any foreign code is read, and a process without privileges cannot raise them again. The file runs
under Python 3.8 or newer without `site`.
"""

import os
import sys

from evenhand.sandbox.literal import Unreadable, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["main", "main_without_system"]

_MESSAGE = 300
_POOL_ENDS = 9
_MOST_DESCRIPTORS = 4096
_OFTEN_IMPORTED = ("collections", "functools", "heapq", "itertools", "math", "re", "string", "typing")


def main(limits: "dict[str, int]") -> None:
    """Take the pipes away from the candidate, set the limits, and serve frames until told to stop.

    Args:
        limits: name of a limit of `resource` to its value; `answer_bytes` is the longest answer; `guarded` is there
            where a guard has set them before it started this.
    """
    marker = os.environ.get("EVENHAND_SANDBOX")
    if marker not in ("1", "unsandboxed"):
        raise SystemExit("this file runs foreign code and starts inside the sandbox only")
    answer_bytes = limits.pop("answer_bytes")
    if not limits.pop("guarded", 0):
        _set_limits(limits)
    requests, answers = _take_pipes()
    _send(answers, ("ready",))
    _serve(requests, answers, answer_bytes)
    os._exit(0)


def main_without_system(answer_bytes: int) -> None:
    """Serve where there is no system, as under WebAssembly: limits are held outside, and no descriptor can be moved.

    What is printed goes nowhere; what is written to descriptor 1 goes to the parent, who takes it for tampering.
    """
    import io

    class Nowhere(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: "Any") -> int:
            return len(data)

    sys.stdin = io.StringIO()
    nowhere = io.TextIOWrapper(io.BufferedWriter(Nowhere()), "utf-8", "backslashreplace")
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = nowhere  # type: ignore[misc]
    _send(1, ("ready",))
    _serve(0, 1, answer_bytes)
    os._exit(0)


def _set_limits(limits: "dict[str, int]") -> None:
    """Lower the limits of this process, of all that it starts, and of the sandbox's first process.

    The first process has the same rights as the code inside; without limits of its own it would be a way around ours.
    """
    import resource

    processes = [0, 1] if os.environ["EVENHAND_SANDBOX"] == "1" and os.getppid() == 1 else [0]
    for process in processes:
        for name, value in limits.items():
            resource.prlimit(process, getattr(resource, name), (value, value))


def _take_pipes() -> "tuple[int, int]":
    """Move the pipes away from 0 and 1, so that what a candidate prints goes nowhere and costs nothing."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    requests, answers = os.dup(0), os.dup(1)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    low, high = sorted((requests, answers))
    for first, last in ((3, low), (low + 1, high), (high + 1, _MOST_DESCRIPTORS)):
        os.closerange(first, last)
    return requests, answers


def _serve(requests: int, answers: int, answer_bytes: int) -> None:
    """Answer frames until "bye", or until the parent is gone."""
    function = None
    while True:
        frame = _receive(requests)
        if frame is None or frame[0] == "bye":
            return
        if frame[0] == "load":
            function, answer = _load(frame[1], frame[2])
            _send(answers, answer)
        elif frame[0] == "call":
            _send_bytes(answers, _written(frame[1], _call(function, frame[1], frame[2]), answer_bytes))
        elif frame[0] == "fork":
            _fork_server(requests, answers, answer_bytes, frame[1])


def _load(source: str, entry_point: str) -> "tuple[Any, tuple[Any, ...]]":
    """The function that a module's source defines under a name, and what to say about it."""
    import builtins

    # A function is called as from the top of its module: our own frames take nothing of its recursion.
    sys.setrecursionlimit(sys.getrecursionlimit() + _depth() - 1)
    module = type(sys)("candidate")
    # Without `site` these would be missing, and a candidate that leaves would fail for another reason than its own.
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]
    sys.modules["candidate"] = module
    try:
        exec(compile(source, "candidate.py", "exec"), module.__dict__)  # noqa: S102 - this is the inside
        function = module.__dict__.get(entry_point)
    except BaseException as error:
        return None, ("failed", *_named(error))
    if not callable(function):
        return None, ("failed", "NoEntryPoint", "the module defines no function of that name")
    return function, ("loaded",)


def _depth() -> int:
    """How many frames stand above who asks, that one's own among them."""
    frame: Any = sys._getframe(1)
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _call(function: "Any", number: int, arguments: "list[Any]") -> "tuple[Any, ...]":
    """One check: the frame that tells how it ended."""
    try:
        return ("value", number, function(*arguments))
    except MemoryError as error:
        return ("memory", number, *_named(error))
    except (SystemExit, KeyboardInterrupt) as error:
        return ("exited", number, *_named(error))
    except BaseException as error:
        return ("exception", number, *_named(error))


def _named(error: BaseException) -> "tuple[str, str]":
    """Type and message of an exception; the message runs the candidate's code and may fail in any way."""
    try:
        message = str.__getitem__(str(error), slice(_MESSAGE))  # of a subclass too, whatever its own does
    except BaseException:
        message = ""
    return type.__dict__["__name__"].__get__(type(error))[:80], message


def _written(number: int, answer: "tuple[Any, ...]", answer_bytes: int) -> bytes:
    """The literal of how a check ended; where the value cannot cross, of that."""
    try:
        return encode(answer, max_bytes=answer_bytes)
    except Unreadable as error:
        return encode(("unreadable", number, error.type_name, str(error)))
    except MemoryError:
        return encode(("memory", number, "MemoryError", "while the value was written"))
    except BaseException:
        return encode(("unreadable", number, "", "the value changed while it was written"))


def _fork_server(requests: int, answers: int, answer_bytes: int, seconds: float) -> None:
    """Serve each module from a fork of this process, for code that is our own: the forks share /tmp and each other.

    The kernel's timer ends a call that takes too long, wherever it hangs.
    """
    import signal

    def allow(left: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, left)

    # Loaded here, once: a fork that loads `signal` or `typing` for itself spends more on that than on the whole job.
    for name in _OFTEN_IMPORTED:
        __import__(name)
    while True:
        process = os.fork()
        if process == 0:
            try:
                _serve_one(requests, answers, answer_bytes, seconds, allow)
            finally:
                os._exit(1)
        _, status = os.waitpid(process, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _POOL_ENDS:
            return
        _send(answers, ("ended", status))


def _serve_one(
    requests: int, answers: int, answer_bytes: int, seconds: float, allow: "Callable[[float], None]"
) -> None:
    """In a fork: one module and its checks; leaves with 0, or so that the pool ends where the parent is gone."""
    function = None
    while True:
        frame = _receive(requests)
        if frame is None or frame[0] == "bye":
            os._exit(_POOL_ENDS if frame is None else 0)
        allow(seconds)
        if frame[0] == "load":
            function, answer = _load(frame[1], frame[2])
            allow(0)
            _send(answers, answer)
        else:
            data = _written(frame[1], _call(function, frame[1], frame[2]), answer_bytes)
            allow(0)  # before sending: half a frame would be taken for tampering
            _send_bytes(answers, data)


def _receive(requests: int) -> "tuple[Any, ...] | None":
    """The next frame of the parent, or None at the end."""
    head = _exactly(requests, 4)
    body = head and _exactly(requests, int.from_bytes(head, "big"))
    frame: "tuple[Any, ...] | None" = decode(body) if body else None  # type: ignore[assignment]  # noqa: UP037
    return frame


def _exactly(requests: int, size: int) -> bytes:
    """That many bytes, or none at the end."""
    parts = []
    while size:
        part = os.read(requests, min(size, 1 << 16))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(answers: int, frame: "tuple[Any, ...]") -> None:
    """Send a frame."""
    _send_bytes(answers, encode(frame))


def _send_bytes(answers: int, data: bytes) -> None:
    """Send a literal as a frame."""
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(answers, data) :]
