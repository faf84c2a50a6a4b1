"""Starting a process in a session of its own, and ending it with all that it started."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence

from evenhand.errors import SandboxError

__all__ = ["Supervisor", "end", "how_ended", "signal_of", "start"]

_ENDS_S = 10.0


class Supervisor(subprocess.Popen[bytes]):
    """A process that ends all that it started when it is asked to, and the folder in which that could write."""

    scratch: str = ""


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
    scratch: str = "",
) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, with pipes on all three descriptors.

    Args:
        command: what to start.
        user: uid and gid to start it under, or None for one's own.
        env: its whole environment.
        keep: descriptors that it inherits.
        folder: where it starts.
        scratch: of a supervisor: where it starts instead, removed when it has ended.
    Raises:
        SandboxError: the machine does not start it.
    """
    try:
        process = _popen(Supervisor if scratch else subprocess.Popen, command, user, env, keep, scratch or folder)
    except OSError as error:
        raise SandboxError(f"sandbox: {command[0]} does not start: {error.strerror}") from error
    if isinstance(process, Supervisor):
        process.scratch = scratch
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
    """Kill a process's group, wait for it, and close the pipes; a supervisor is asked first, for it knows its tree."""
    if isinstance(process, Supervisor) and process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.terminate()
            process.wait(_ENDS_S)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    if isinstance(process, Supervisor):
        _remove(process.scratch)


def _remove(folder: str) -> None:
    """Remove what foreign code wrote; folders may lie deeper in each other than Python goes."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", "--", folder], check=False, timeout=60)  # noqa: S603, S607 - a folder made here
