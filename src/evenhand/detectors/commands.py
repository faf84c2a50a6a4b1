"""The user's own commands: no shell, a deadline, bounded output, and the whole process group ended at the end.

The text stands on standard input, and `{file}` in the command line becomes the path of a file that holds it. The item's
id is in the variable EVENHAND_ITEM. Variables that look like secrets are not handed on: a command may run what a
candidate wrote. There is no sandbox here; do not name a command that trusts the text.
"""

import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

__all__ = ["MOST_OUTPUT", "command_status", "end_group", "without_secrets"]

MOST_OUTPUT = 65_536
"""How many bytes of a command's output are kept, for the message of a fault; the rest is read and thrown away."""

_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_CHUNK = 65_536
_CANNOT_START = (126, 127)
_SHOWN = 200


def command_status(command: str, text: str, item_id: str, timeout_s: float) -> int | str:
    """A command's exit status, or why it has none: it cannot start, is killed by a signal, or passes its deadline.

    Args:
        command: a command line; quotes and backslashes as in a shell, and nothing else of it.
        text: what it looks at.
        item_id: for EVENHAND_ITEM.
        timeout_s: deadline in seconds.
    """
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        file = Path(folder) / "text.txt"
        file.write_bytes(text.encode("utf-8", "replace"))
        words = [word.replace("{file}", str(file)) for word in shlex.split(command)]
        if not words:
            return "the command is empty"
        with file.open("rb") as standard_input:
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                    words,
                    stdin=standard_input,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={**without_secrets(), "EVENHAND_ITEM": item_id.replace("\0", "")},
                    start_new_session=True,
                    bufsize=0,
                )
            except (OSError, ValueError) as error:
                return f"{words[0]} cannot be started ({getattr(error, 'strerror', None) or error})"
        return _status(process, words[0], timeout_s)


def without_secrets(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without variables whose names say that they hold a secret.

    >>> without_secrets({"HOME": "/h", "OPENAI_API_KEY": "sk-1", "GITHUB_TOKEN": "t"})
    {'HOME': '/h'}
    """
    known = os.environ if environ is None else environ
    return {name: value for name, value in known.items() if not any(part in name.upper() for part in _SECRET)}


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process with everything that it started in its session, and wait for it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):  # no groups here, or gone already
        process.kill()
    process.wait()


def _status(process: "subprocess.Popen[bytes]", name: str, timeout_s: float) -> int | str:
    """Read and wait until the process ends or its time is up."""
    assert process.stdout is not None
    output = bytearray()
    in_time = _drain(process, output, time.monotonic() + timeout_s)
    # The group is ended before its leader is waited for, so that its number cannot be another's yet.
    status = _exit_status(process) if in_time else None
    end_group(process)
    process.stdout.close()
    if status is None:
        return f"{name} took longer than {timeout_s:g} s and was ended"
    if status < 0:
        return f"{name} was ended by signal {-status}{_said(output)}"
    if status in _CANNOT_START:
        return f"{name} ended with {status}, which says that a command cannot be started{_said(output)}"
    return status


def _drain(process: "subprocess.Popen[bytes]", output: bytearray, ends: float) -> bool:
    """Read until the process has ended; False if it has not by then. Whoever keeps the pipe open is not waited for."""
    assert process.stdout is not None
    pipe, is_open = process.stdout.fileno(), True
    while (left := ends - time.monotonic()) > 0:
        if is_open and select.select([pipe], [], [], min(left, 0.05))[0]:
            piece = os.read(pipe, _CHUNK)
            output += piece[: MOST_OUTPUT - len(output)]
            is_open = bool(piece)
            if piece:
                continue
        if _exit_status(process) is not None:
            return True
        if not is_open:
            time.sleep(min(left, 0.005))
    return False


def _exit_status(process: "subprocess.Popen[bytes]") -> int | None:
    """How a process ended, where possible without collecting it; None while it runs."""
    if not hasattr(os, "waitid"):
        return process.poll()
    found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _said(output: bytearray) -> str:
    """The end of what it printed, for a message."""
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return f"; it said: {lines[-1][:_SHOWN]}" if lines else ""
