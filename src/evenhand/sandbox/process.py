"""Starting a process in a session of its own, and ending it with all that it started."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import SandboxError

__all__ = ["Ending", "end", "how_ended", "remove_tree", "signal_of", "start"]

_ENDS_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How to end what keeps a tree of its own, such as a supervisor, which killing it alone might leave behind.

    Args:
        ask: has it end all that it started, and then itself.
        then: clears up after it, however it ended.
    """

    ask: Callable[["subprocess.Popen[bytes]"], object]
    then: Callable[[], object]


class _Keeper(subprocess.Popen[bytes]):
    """A process that is asked to end."""

    ending: Ending


def signal_of(code: int) -> int | None:
    """The signal behind a return code, or None; bubblewrap reports a signal as 128 and its number.

    >>> signal_of(-9), signal_of(139), signal_of(3)
    (9, 11, None)
    """
    number = -code if code < 0 else code - 128
    return number if 0 < number < signal.NSIG else None


def how_ended(code: int) -> str:
    """Exit code or signal in words."""
    number = signal_of(code)
    return f"exit code {code}" if number is None else f"signal {number}"


def start(
    command: Sequence[str],
    *,
    user: int | None,
    env: Mapping[str, str],
    keep: Sequence[int] = (),
    folder: str = "/",
    ending: Ending | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, with pipes on all three descriptors.

    Args:
        command: what to start.
        user: uid and gid to start it under, or None for one's own.
        env: its whole environment.
        keep: descriptors that it inherits.
        folder: where it starts.
        ending: of what keeps a tree of its own; it is cleared up after also where the process does not start.
    Raises:
        SandboxError: the machine does not start it.
    """
    try:
        process = _popen(_Keeper if ending else subprocess.Popen, command, user, env, keep, folder)
    except OSError as error:
        if ending is not None:
            ending.then()
        raise SandboxError(f"sandbox: {command[0]} does not start: {error.strerror}") from error
    if isinstance(process, _Keeper):
        assert ending is not None
        process.ending = ending
    return process


def _popen(
    kind: type["subprocess.Popen[bytes]"],
    command: Sequence[str],
    user: int | None,
    env: Mapping[str, str],
    keep: Sequence[int],
    folder: str,
) -> "subprocess.Popen[bytes]":
    """A new session, own user and groups, nothing inherited but what is named."""
    return kind(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=folder,
        pass_fds=tuple(keep),
        env=dict(env),
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process's group, wait for it, and close the pipes; what keeps a tree of its own is asked first."""
    if isinstance(process, _Keeper) and process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.ending.ask(process)
            process.wait(_ENDS_S)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    if isinstance(process, _Keeper):
        process.ending.then()


def remove_tree(folder: str) -> None:
    """Remove what foreign code wrote; folders may lie deeper in each other than Python goes."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", "--", folder], check=False, timeout=60)  # noqa: S603, S607 - a folder made here
