"""Starting a process in a session of its own, and ending it with all that it started."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from evenhand.errors import SandboxError

__all__ = ["end", "how_ended", "signal_of", "start"]


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
    command: Sequence[str], *, user: int | None, env: Mapping[str, str], keep: Sequence[int] = (), folder: str = "/"
) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, with pipes on all three descriptors.

    Args:
        command: what to start.
        user: uid and gid to start it under, or None for one's own.
        env: its whole environment.
        keep: descriptors that it inherits.
        folder: where it starts.
    Raises:
        SandboxError: the machine does not start it.
    """
    try:
        return _popen(command, user, env, keep, folder)
    except OSError as error:
        raise SandboxError(f"sandbox: {command[0]} does not start: {error.strerror}") from error


def _popen(
    command: Sequence[str], user: int | None, env: Mapping[str, str], keep: Sequence[int], folder: str
) -> "subprocess.Popen[bytes]":
    """A new session, own user and groups, nothing inherited but what is named."""
    return subprocess.Popen(  # noqa: S603 - the command is built here, and foreign code stays inside
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
    """Kill a process's group, wait for it, and close the pipes."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
