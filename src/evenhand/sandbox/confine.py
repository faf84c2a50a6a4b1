"""What stands around foreign code where namespaces cannot: a supervisor, and the rules that it puts on its child.

Staged as one file and run under Python 3.8 or newer without `site`, never as root. Its words are `name=value`:
`parent` (who started it), `read` (a tree that can be read and executed), `device` (a file that can be read and
written), `write` (the one folder that can be changed), `filter` (a file with the filter of system calls), any
`RLIMIT_...`; after `--` the command.

The supervisor enters a domain of Landlock's first, and its child one inside that. A signal to all then reaches the
whole tree at once, also what daemonised itself, and nothing else of the machine; and the tree cannot reach the
supervisor. It ends when the child does, at SIGTERM, or when its parent dies, and only after everything that it started
is gone.
"""

import contextlib
import ctypes
import os
import signal
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the system calls of Landlock, on every architecture
_DIES_WITH_PARENT, _SECCOMP, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 22, 36, 38  # of prctl
_EVERY_FILE_RIGHT, _EVERY_PORT_RIGHT = (1 << 16) - 1, 0b11  # bind and connect
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_DEVICES = (1 << 6) | (1 << 11) | (1 << 15)  # character, block, ioctl
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(words: "list[str]") -> "NoReturn":
    """Confine a command, wait until it and all that it started are gone, and leave as it did."""
    at = words.index("--")
    settings = [word.partition("=")[::2] for word in words[:at]]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD, signal.SIGTERM))
    _ask(_LIBC.prctl(_DIES_WITH_PARENT, int(signal.SIGTERM), 0, 0, 0))
    parent = int(dict(settings)["parent"])
    if os.getppid() != parent or 0 in (os.getuid(), os.geteuid()):
        raise SystemExit("confine: its parent is gone, or it was started as root")
    _ask(_LIBC.prctl(_SUBREAPER, 1, 0, 0, 0))
    _ask(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _enter(_rules(files=0, ports=0, scopes=_SIGNALS))
    try:
        os.kill(parent, 0)
    except PermissionError:
        pass
    else:
        raise SystemExit("confine: signals are not held, so what it starts could not be ended")
    child = os.fork()
    if child == 0:
        _run(settings, words[at + 1 :])
    os.closerange(0, 3)
    _watch(child)


def _watch(child: int) -> "NoReturn":
    """Reap until the child ends or somebody asks; then kill the tree, and leave as the child did."""
    status = None
    while status is None and signal.sigwait((signal.SIGCHLD, signal.SIGTERM)) == signal.SIGCHLD:
        status = _reaped(child)
    while True:
        with contextlib.suppress(OSError):
            os.kill(-1, signal.SIGKILL)  # all of this domain but itself
        try:
            ended, last = os.wait()
        except ChildProcessError:
            break
        status = last if ended == child and status is None else status
    status = int(signal.SIGKILL) if status is None else status
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def _reaped(child: int) -> "int | None":
    """Wait for all that has ended; how the child did, if it is among them."""
    found = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if ended == 0:
            return found
        found = status if ended == child else found


def _run(settings: "list[tuple[str, str]]", command: "list[str]") -> "NoReturn":
    """In the child: lower the limits, give everything up, and become the command."""
    import resource

    try:
        os.setsid()
        _ask(_LIBC.prctl(_DIES_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0))
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        rules = _rules(files=_EVERY_FILE_RIGHT, ports=_EVERY_PORT_RIGHT, scopes=_ABSTRACT_SOCKETS | _SIGNALS)
        for name, value in settings:
            if name == "read":
                _allow(rules, value, _EXECUTE | _READ | _LIST)
            elif name == "device":
                _allow(rules, value, _READ | _WRITE)
            elif name == "write":
                _allow(rules, value, _EVERY_FILE_RIGHT & ~_OF_DEVICES)
        with open(dict(settings)["filter"], "rb") as file:
            filtering = file.read()
        for name, value in settings:
            if name.startswith("RLIMIT_"):
                resource.setrlimit(getattr(resource, name), (int(value), int(value)))
        _enter(rules)
        _filter_calls(filtering)
    except BaseException as error:
        sys.stderr.write(f"confine: {error}\n")
        sys.stderr.flush()
        os._exit(125)
    try:
        os.execvp(command[0], command)  # noqa: S606 - what the caller wants run, confined
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _rules(*, files: int, ports: int, scopes: int) -> int:
    """A descriptor of a new set of rules that allows nothing of what it handles."""
    handled = struct.pack("=QQQ", files, ports, scopes)
    return _ask(_LIBC.syscall(_CREATE, handled, ctypes.c_size_t(len(handled)), 0))


def _allow(rules: int, path: str, rights: int) -> None:
    """Allow rights below a path; a file can have only some of them."""
    number = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _EXECUTE | _WRITE | _READ | _TRUNCATE
        _ask(_LIBC.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, number), 0))
    finally:
        os.close(number)


def _enter(rules: int) -> None:
    """Hold this process and all that it starts to the rules; there is no way back."""
    _ask(_LIBC.syscall(_RESTRICT, rules, 0))
    os.close(rules)


def _filter_calls(filtering: bytes) -> None:
    """Filter the system calls of this process and all that it starts."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    program = Program(len(filtering) // 8, filtering)
    _ask(_LIBC.prctl(_SECCOMP, 2, ctypes.byref(program), 0, 0))


def _ask(answer: int) -> int:
    """What a call gave; an error where it failed, for then nothing may go on."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
