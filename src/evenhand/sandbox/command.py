"""Any command inside the sandbox: its output bounded, its whole tree gone at the end."""

import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath

from evenhand.errors import InvalidInput
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import end, signal_of

__all__ = ["LAUNCH", "checked_files", "memory_files", "wait_for"]

_SLICE_S = 0.25
_CHUNK = 1 << 16
_TAIL_S = 1.0

# Lowers the limits and runs the command. Inside it is the first process, which stays: it closes its memory to the
# others (4 is PR_SET_DUMPABLE; without it /proc/1/mem would let the command take it over), reaps them, and leaves as
# the command did, a signal as 128 and its number.
LAUNCH = (
    "import os, resource, sys\n"
    "at = sys.argv.index('--')\n"
    "for name, _, value in (word.partition('=') for word in sys.argv[1:at]):\n"
    "    resource.setrlimit(getattr(resource, name), (int(value), int(value)))\n"
    "command, inside = sys.argv[at + 1:], os.environ['EVENHAND_SANDBOX'] == '1'\n"
    "if inside:\n"
    "    import ctypes\n"
    "    if ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) != 0 or os.getpid() != 1:\n"
    "        sys.exit('the first process could not be closed to the others')\n"
    "child = os.fork() if inside else 0\n"
    "if child == 0:\n"
    "    try:\n"
    "        os.execvp(command[0], command)\n"
    "    except OSError as error:\n"
    "        sys.stderr.write('%s: %s\\n' % (command[0], error.strerror))\n"
    "        sys.stderr.flush()\n"
    "        os._exit(127 if isinstance(error, FileNotFoundError) else 126)\n"
    "os.closerange(0, 3)\n"
    "while True:\n"
    "    ended, status = os.wait()\n"
    "    if ended == child:\n"
    "        os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))\n"
)


def checked_files(files: Mapping[str, bytes | str]) -> dict[str, bytes]:
    """Files for the working folder, as bytes.

    Raises:
        InvalidInput: a name that is absolute, empty, or leads out of the folder.
    """
    for name in files:
        path = PurePosixPath(name)
        if not name or "\0" in name or path.is_absolute() or ".." in path.parts or not path.parts:
            raise InvalidInput(f"run_command: the file name {name[:80]!r} does not stay in the working folder")
    return {
        str(PurePosixPath(name)): text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        for name, text in files.items()
    }


@contextmanager
def memory_files(contents: list[bytes]) -> Iterator[list[int]]:
    """Descriptors that read these bytes from their beginning, closed at the end."""
    numbers: list[int] = []
    try:
        for content in contents:
            number = os.memfd_create("evenhand", os.MFD_CLOEXEC)
            numbers.append(number)
            with open(number, "wb", closefd=False) as file:
                file.write(content)
            os.lseek(number, 0, os.SEEK_SET)
        yield numbers
    finally:
        for number in numbers:
            os.close(number)


def wait_for(
    process: "subprocess.Popen[bytes]", stdin: bytes | None, limits: Limits, *, stop: threading.Event, began: float
) -> CommandRun:
    """Feed a started command, keep the first bytes of what it writes, and end its tree.

    Where there is no input to feed, its pipe is held open: something may live as long as it is. The command has ended
    when its first process has: what it left behind in the background is killed, though it may hold the pipes.
    """
    flow = _Flow(process, stdin, limits.output_bytes)
    until = began + limits.suite_s
    try:
        while process.poll() is None and time.monotonic() < until and not stop.is_set():
            flow.turn(min(_SLICE_S, max(0.0, until - time.monotonic())))
        code = process.poll()
        if code is not None:
            flow.drain(min(until, time.monotonic() + _TAIL_S))
    finally:
        end(process)
    number = None if code is None else signal_of(code)
    return CommandRun(
        status="timeout" if code is None else "exited" if number is None else "signalled",
        exit_code=code if number is None else None,
        signal=number,
        stdout=bytes(flow.kept[0]),
        stderr=bytes(flow.kept[1]),
        truncated=flow.truncated,
        seconds=time.monotonic() - began,
    )


class _Flow:
    """The three pipes of a process."""

    def __init__(self, process: "subprocess.Popen[bytes]", stdin: bytes | None, output_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin, self._left, self._output_bytes = process.stdin, memoryview(stdin or b""), output_bytes
        self._outputs = {process.stdout.fileno(): 0, process.stderr.fileno(): 1}
        self.kept = (bytearray(), bytearray())
        self.truncated = False
        self._poll = select.poll()
        for number in (*self._outputs, process.stdin.fileno()):
            os.set_blocking(number, False)
        for number in self._outputs:
            self._poll.register(number, select.POLLIN)
        if stdin:
            self._poll.register(process.stdin.fileno(), select.POLLOUT)
        elif stdin is not None:
            process.stdin.close()

    def turn(self, seconds: float) -> bool:
        """Move what can be moved; whether anything was."""
        if not self._outputs and not self._left:
            time.sleep(min(seconds, 0.01))
            return False
        ready = self._poll.poll(1000 * seconds)
        for number, _ in ready:
            if number in self._outputs:
                self._read(number)
            else:
                self._write(number)
        return bool(ready)

    def drain(self, until: float) -> None:
        """Read what is still in the pipes."""
        while self._outputs and time.monotonic() < until and self.turn(0):
            continue

    def _read(self, number: int) -> None:
        """Take a piece; keep what there is room for."""
        try:
            piece = os.read(number, _CHUNK)
        except BlockingIOError:
            return
        if not piece:
            self._poll.unregister(number)
            del self._outputs[number]
            return
        kept = self.kept[self._outputs[number]]
        room = self._output_bytes - len(kept)
        kept += piece[:room]
        self.truncated |= len(piece) > room

    def _write(self, number: int) -> None:
        """Give a piece, until all is given or nobody takes it."""
        try:
            self._left = self._left[os.write(number, self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = self._left[:0]
        if not self._left:
            self._poll.unregister(number)
            self._stdin.close()
