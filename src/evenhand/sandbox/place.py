"""Where foreign code runs: what this machine has for it, and what is staged so that the sandbox's user can read it."""

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox.bubblewrap import (
    COMMAND_PATH,
    MARKER,
    Interpreter,
    command_trees,
    find_bubblewrap,
    find_interpreter,
    readable_by_others,
)
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.command import LAUNCH, memory_files, wait_for
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import start
from evenhand.sandbox.seccomp import seccomp_filter
from evenhand.sandbox.suite import FRAME_OVERHEAD, kernel_limits

__all__ = ["Place", "remove_abandoned"]

_STAGE = "evenhand-sandbox-"
_LOCK = "held"
_ABANDONED_S = 600.0  # a folder is older than that before anybody asks whether it is held
_INSIDE = "/evenhand-runner"
_IMPORT = "from evenhand.sandbox.literal import Unreadable, decode, encode\n"
_START = "\n\nmain({name: int(value) for name, _, value in (word.partition('=') for word in sys.argv[1:])})\n"
_COMPILE = (
    "import importlib.util, marshal, sys; code = compile(open(sys.argv[1]).read(), 'runner', 'exec', optimize=2);"
    "open(sys.argv[2], 'wb').write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))"
)


def remove_abandoned(*, age_s: float = _ABANDONED_S) -> None:
    """Remove our own folders whose process was killed before it could; each is held by a lock as long as it lives."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_STAGE}*"):
            found = folder.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and (folder / _LOCK).is_file()
            if ours and time.time() - found.st_mtime > age_s and (number := _hold(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(number)


def _hold(folder: Path) -> int | None:
    """A descriptor that holds a folder until it is closed; None where somebody else does."""
    number = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


class Place:
    """A folder with the runner, and the programs to start it with.

    Args:
        interpreter: the Python to run candidates with; found where it is not named.
        stop: ends every waiting when set.
    Raises:
        SandboxError: no Python can be read by the sandbox's user.
    """

    def __init__(self, interpreter: str | None, stop: threading.Event) -> None:
        self.as_root = os.geteuid() == 0
        self._stop = stop
        remove_abandoned()
        self._stage = Path(tempfile.mkdtemp(prefix=_STAGE))
        self._held = _hold(self._stage)
        try:
            os.chmod(self._stage, 0o755)  # noqa: S103 - the sandbox's user reads the runner here
            self.bubblewrap, self.why_none = find_bubblewrap(self._stage if self.as_root else None)
            self.interpreter = self._found(interpreter)
            self._stage_runner()
            filtering = seccomp_filter()
            self.filtered = filtering is not None
            (self._stage / "seccomp").write_bytes(filtering or b"")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._stage, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def do_without(self, why: str) -> None:
        """Give bubblewrap up."""
        self.bubblewrap, self.why_none, self.filtered = None, why, False

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner: inside, or outside where there is no bubblewrap and the caller allowed that."""
        words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
        words.append(f"answer_bytes={limits.answer_bytes}")
        python = [self.interpreter.path, "-I", "-S", "-B"]
        staged = str(self._stage / "runner.pyc")
        with self._filter() as number:
            if self.bubblewrap is None:
                command = [*python, staged, *words]
            else:
                command = self.bubblewrap.command(
                    [*python, _INSIDE, *words],
                    trees=self.interpreter.trees,
                    scratch_bytes=limits.scratch_bytes,
                    files=[(staged, _INSIDE)],
                    seccomp=number,
                )
            return Channel(
                command,
                stop=self._stop,
                max_answer=limits.answer_bytes + FRAME_OVERHEAD,
                user=uid,
                env={MARKER: "unsandboxed"} if self.bubblewrap is None else {},
                keep=[] if number is None else [number],
            )

    def run_command(
        self,
        argv: Sequence[str],
        contents: Mapping[str, bytes],
        limits: Limits,
        stdin: bytes,
        mounts: Sequence[tuple[str, str]],
        uid: int | None,
    ) -> CommandRun:
        """Run a command behind the launcher that lowers the limits; arguments are checked already."""
        words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
        launch = [self.interpreter.path, "-I", "-S", "-B", "-c", LAUNCH, *words, "--", *argv]
        if self.bubblewrap is None:
            return self._run_outside(launch, contents, limits, stdin)
        with memory_files(list(contents.values())) as numbers, self._filter() as number:
            command = self.bubblewrap.command(
                launch,
                trees=command_trees(self.interpreter),
                scratch_bytes=limits.scratch_bytes,
                files=mounts,
                work=zip(numbers, contents, strict=True),
                folder="/work",
                path=COMMAND_PATH,
                proc=True,
                seccomp=number,
            )
            began = time.monotonic()
            process = start(command, user=uid, env={}, keep=[*numbers, *([] if number is None else [number])])
        return wait_for(process, stdin, limits, stop=self._stop, began=began)

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """(folder of this machine, folder inside) of what can be mounted.

        Raises:
            InvalidInput: it is not there, not absolute inside, or the sandbox's user cannot read it.
        """
        checked = []
        for inside, host in mounts.items():
            path = os.path.realpath(host)
            if not inside.startswith("/") or {"", ".", ".."} & set(inside.split("/")[1:]) or not os.path.isdir(path):
                raise InvalidInput(f"run_command: cannot mount {str(host)[:200]!r} at {inside[:200]!r}")
            if self.as_root and not readable_by_others(path):
                raise InvalidInput(
                    f"run_command: the sandbox's user cannot read {str(host)[:200]!r}; copy it to a folder that all can"
                )
            checked.append((path, inside))
        if mounts and self.bubblewrap is None:
            raise InvalidInput("run_command: nothing can be mounted without a sandbox")
        return checked

    def _run_outside(
        self, launch: Sequence[str], contents: Mapping[str, bytes], limits: Limits, stdin: bytes
    ) -> CommandRun:
        """A command with limits of resources alone, where the caller allowed that."""
        with tempfile.TemporaryDirectory(dir=self._stage) as folder:
            for name, content in contents.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            began = time.monotonic()
            env = {MARKER: "unsandboxed", "PATH": COMMAND_PATH, "HOME": folder}
            process = start(launch, user=None, env=env, folder=folder)
            return wait_for(process, stdin, limits, stop=self._stop, began=began)

    @contextlib.contextmanager
    def _filter(self) -> Iterator[int | None]:
        """A descriptor of the filter at its beginning, for one start."""
        if self.bubblewrap is None or not self.filtered:
            yield None
            return
        number = os.open(self._stage / "seccomp", os.O_RDONLY)
        try:
            yield number
        finally:
            os.close(number)

    def _found(self, named: str | None) -> Interpreter:
        """The Python to run candidates with."""
        found, why = find_interpreter(as_root=self.as_root and self.bubblewrap is not None, named=named)
        if found is None:
            raise SandboxError(f"sandbox: no Python to run candidates with: {why}")
        return found

    def _stage_runner(self) -> None:
        """Write the runner as one compiled file, by the Python that will read it."""
        here = Path(__file__).parent
        runner = (here / "runner.py").read_text("utf-8").replace(_IMPORT, "")
        program, target = self._stage / "runner.py", self._stage / "runner.pyc"
        program.write_text((here / "literal.py").read_text("utf-8") + "\n\n" + runner + _START, "utf-8")
        compiling = [self.interpreter.path, "-I", "-S", "-c", _COMPILE, str(program), str(target)]
        subprocess.run(compiling, check=True, timeout=30)  # noqa: S603 - a Python of this machine, our own program
        os.chmod(target, 0o644)
