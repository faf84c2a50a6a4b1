"""Running a user's own command: its output bounded, its whole tree ended when its time is over."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evenhand.errors import InvalidInput
from evenhand.store.text_files import quoted

__all__ = ["Ran", "run_command"]

MOST_OUTPUT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended.

    Args:
        code: its exit code; negative for a signal; None where it ran out of time.
        output: the first and the last bytes of what it printed, as text.
        complaint: the same of what it printed on the other stream.
        cut: it printed more than is kept.
    """

    code: int | None
    output: str
    complaint: str
    cut: bool = False


def run_command(
    words: Sequence[str], *, stdin: bytes, folder: Path, timeout_s: float, environment: Mapping[str, str] | None = None
) -> Ran:
    """Run trusted code as the user.

    Args:
        words: the command; no shell reads them.
        stdin: what it is given.
        folder: where it runs.
        timeout_s: after which it and all that it started are killed.
        environment: names set beside the user's own.
    Raises:
        InvalidInput: it cannot be started.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command
                list(words),
                stdin=given,
                stdout=out,
                stderr=err,
                cwd=folder,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            raise InvalidInput(
                f"{quoted(words[0])}: cannot be started ({error.strerror}); check the command and its path"
            ) from error
        try:
            code: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        texts = [_text(stream) for stream in (out, err)]
    return Ran(code=code, output=texts[0][0], complaint=texts[1][0], cut=texts[0][1])


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill what the command left running in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(stream: BinaryIO) -> tuple[str, bool]:
    """What was printed; of too much its beginning, and its end, where the verdict stands."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if size <= MOST_OUTPUT:
        return stream.read(MOST_OUTPUT).decode("utf-8", "replace"), False
    first = stream.read(MOST_OUTPUT // 2)
    stream.seek(size - MOST_OUTPUT // 2)
    last = stream.read(MOST_OUTPUT // 2)
    return f"{first.decode('utf-8', 'replace')}\n{last.decode('utf-8', 'replace')}", True
