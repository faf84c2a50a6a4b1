"""The sandbox: what is there to run foreign code in, and running it."""

import contextlib
import functools
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox.bubblewrap import (
    COMMAND_PATH,
    MARKER,
    Bubblewrap,
    Interpreter,
    command_trees,
    find_bubblewrap,
    find_interpreter,
    readable_by_others,
)
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.command import LAUNCH, checked_files, memory_files, wait_for
from evenhand.sandbox.limits import CheckCall, CommandRun, Limits, SuiteJob, SuiteRun
from evenhand.sandbox.pool import TrustedPool, in_order
from evenhand.sandbox.process import start
from evenhand.sandbox.seccomp import seccomp_filter
from evenhand.sandbox.suite import FRAME_OVERHEAD, await_ready, checked_job, kernel_limits, run_job
from evenhand.sandbox.uids import ClaimedUid

__all__ = ["Sandbox", "SandboxKind", "available"]

SandboxKind = Literal["bubblewrap", "unsandboxed"]

_INSIDE = "/evenhand-runner"
_IMPORT = "from evenhand.sandbox.literal import Unreadable, decode, encode\n"
_START = "\n\nmain({name: int(value) for name, _, value in (word.partition('=') for word in sys.argv[1:])})\n"
_COMPILE = (
    "import importlib.util, marshal, sys; code = compile(open(sys.argv[1]).read(), 'runner', 'exec', optimize=2);"
    "open(sys.argv[2], 'wb').write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))"
)


def available() -> tuple[SandboxKind | None, str]:
    """Which kind of sandbox works here, tried by starting one; None, and why, where none does.

    Returns:
        (kind, reason): the reason is empty where there is a kind.
    """
    try:
        with Sandbox() as box:
            return box.kind, ""
    except SandboxError as error:
        return None, str(error)


class Sandbox:
    """Runs foreign code where it can reach nothing, and reads what comes back as data.

    As root each run has a user id of its own that belongs to nobody; otherwise it is one's own id inside a namespace.
    Use it as a context manager: it owns a folder with the runner, and closing it kills what still runs.

    Args:
        allow_unsandboxed: where no sandbox works, run with limits of resources alone, which protects nothing.
        interpreter: the Python to run candidates with; found where it is not named.
    Raises:
        SandboxError: no sandbox works here, with every reason.
    """

    def __init__(self, *, allow_unsandboxed: bool = False, interpreter: str | None = None) -> None:
        self._stop = threading.Event()
        self._uids: queue.SimpleQueue[ClaimedUid] = queue.SimpleQueue()
        self._claimed: list[ClaimedUid] = []
        self._as_root = os.geteuid() == 0
        self._stage = Path(tempfile.mkdtemp(prefix="evenhand-sandbox-"))
        self._bubblewrap: Bubblewrap | None = None
        self.kind: SandboxKind = "bubblewrap"
        self.why_unsandboxed = ""
        try:
            self._set_up(interpreter)
            self._try(allow_unsandboxed)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill what runs, give the user ids back, and remove the folder."""
        self._stop.set()
        for claimed in self._claimed:
            claimed.close()
        self._claimed.clear()
        shutil.rmtree(self._stage, ignore_errors=True)

    def run_suite(
        self, code: str, entry_point: str, checks: Sequence[CheckCall], limits: Limits | None = None
    ) -> SuiteRun:
        """Call one function of one module with the arguments of each check, in one process as long as it lives.

        Args:
            code: a whole module, never trusted.
            entry_point: the function's name.
            checks: in order; the process is given one's arguments at a time.
            limits: the defaults where not given.
        Raises:
            InvalidInput: ids that repeat, or arguments that are not of exact builtin types.
            SandboxError: the sandbox did not start.
        """
        return self.run_job(SuiteJob(key=None, code=code, entry_point=entry_point, checks=checks), limits)

    def run_job(self, job: SuiteJob, limits: Limits | None = None) -> SuiteRun:
        """`run_suite` for a job, which can also say when to stop."""
        limits = limits or Limits()
        checked_job(job)
        claimed = self._claim()
        try:
            return run_job(job, limits, lambda: self._runner(limits, claimed))
        finally:
            if claimed is not None:
                self._uids.put(claimed)

    def run_suites(
        self, jobs: Iterable[SuiteJob], limits: Limits | None = None, *, slots: int = 2
    ) -> Iterator[tuple[SuiteJob, SuiteRun]]:
        """Run many jobs, some at the same time, each with a process and a sandbox of its own.

        Args:
            jobs: taken from as they are needed, a few ahead.
            limits: of each.
            slots: how many run at the same time.
        Returns:
            Jobs and their runs, in the order of the jobs.
        Raises:
            InvalidInput, SandboxError: as `run_suite`, at the job's turn; later jobs are then not run.
        """
        if slots < 1:
            raise InvalidInput(f"run_suites: slots is {slots}; at least 1 is needed")
        return in_order(jobs, lambda job: self.run_job(job, limits), slots)

    @contextlib.contextmanager
    def trusted_pool(self, limits: Limits | None = None, *, workers: int = 2) -> Iterator[TrustedPool]:
        """Fork servers for modules that we made ourselves, several times as fast; never for foreign code.

        Args:
            limits: of every job.
            workers: sandboxes at the same time.
        """
        limits = limits or Limits()
        claimed = [self._claim() for _ in range(workers)]
        pool = TrustedPool([functools.partial(self._runner, limits, one) for one in claimed], limits)
        try:
            yield pool
        finally:
            pool.close()
            for one in claimed:
                if one is not None:
                    self._uids.put(one)

    def run_command(
        self,
        argv: Sequence[str],
        files: Mapping[str, bytes | str] | None = None,
        limits: Limits | None = None,
        stdin: bytes = b"",
        *,
        mounts: Mapping[str, str | Path] | None = None,
    ) -> CommandRun:
        """Run a command over the system's programs, in a writable folder of its own.

        Args:
            argv: looked up on the usual PATH.
            files: name below the working folder /work to content; the command may write over them.
            limits: `suite_s` is its time; of its outputs the first `output_bytes` are kept.
            stdin: what it can read.
            mounts: folder inside to folder of this machine, read-only.
        Raises:
            InvalidInput: no command, a file name that leads out, or a mount that is not there or not absolute.
            SandboxError: the sandbox did not start.
        """
        limits = limits or Limits()
        contents = checked_files(files or {})
        if not argv or any("\0" in word for word in argv):
            raise InvalidInput("run_command: the command is empty or holds a null byte")
        folders = self._checked_mounts(mounts or {})
        claimed = self._claim()
        try:
            if self._bubblewrap is None:
                return self._run_outside(argv, contents, limits, stdin)
            return self._run_inside(self._bubblewrap, argv, contents, limits, stdin, folders, claimed)
        finally:
            if claimed is not None:
                self._uids.put(claimed)

    def _run_inside(
        self,
        bubblewrap: Bubblewrap,
        argv: Sequence[str],
        contents: Mapping[str, bytes],
        limits: Limits,
        stdin: bytes,
        folders: list[tuple[str, str]],
        claimed: ClaimedUid | None,
    ) -> CommandRun:
        """A command in bubblewrap, behind the launcher that lowers the limits."""
        words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
        with memory_files(list(contents.values())) as numbers, self._filter() as number:
            command = bubblewrap.command(
                [self.interpreter.path, "-I", "-S", "-B", "-c", LAUNCH, *words, "--", *argv],
                trees=command_trees(self.interpreter),
                scratch_bytes=limits.scratch_bytes,
                files=folders,
                work=zip(numbers, contents, strict=True),
                folder="/work",
                path=COMMAND_PATH,
                seccomp=number,
            )
            began = time.monotonic()
            user = claimed.uid if claimed else None
            keep = [*numbers, *([] if number is None else [number])]
            process = start(command, user=user, env={}, keep=keep)
        return wait_for(process, stdin, limits, stop=self._stop, began=began)

    def _run_outside(
        self, argv: Sequence[str], contents: Mapping[str, bytes], limits: Limits, stdin: bytes
    ) -> CommandRun:
        """A command with limits of resources alone, where the caller allowed that."""
        with tempfile.TemporaryDirectory(dir=self._stage) as folder:
            for name, content in contents.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
            began = time.monotonic()
            env = {MARKER: "unsandboxed", "PATH": COMMAND_PATH, "HOME": folder}
            launch = [self.interpreter.path, "-I", "-S", "-B", "-c", LAUNCH, *words, "--", *argv]
            process = start(launch, user=None, env=env, folder=folder)
            return wait_for(process, stdin, limits, stop=self._stop, began=began)

    def _checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """(folder of this machine, folder inside) of what can be mounted."""
        checked = []
        for inside, host in mounts.items():
            path = os.path.realpath(host)
            if not inside.startswith("/") or ".." in inside.split("/") or not os.path.isdir(path):
                raise InvalidInput(f"run_command: cannot mount {str(host)[:200]!r} at {inside[:200]!r}")
            if self._as_root and not readable_by_others(path):
                raise InvalidInput(
                    f"run_command: the sandbox's user cannot read {str(host)[:200]!r}; copy it to a folder that all can"
                )
            checked.append((path, inside))
        if mounts and self._bubblewrap is None:
            raise InvalidInput("run_command: nothing can be mounted without a sandbox")
        return checked

    def _claim(self) -> ClaimedUid | None:
        """A user id for one run, as root."""
        if self._stop.is_set():
            raise SandboxError("sandbox: it is closed")
        if not self._as_root or self._bubblewrap is None:
            return None
        try:
            return self._uids.get_nowait()
        except queue.Empty:
            claimed = ClaimedUid()
            self._claimed.append(claimed)
            return claimed

    def _runner(self, limits: Limits, claimed: ClaimedUid | None) -> Channel:
        """Start the runner, inside or, where that was allowed, outside."""
        words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
        words.append(f"answer_bytes={limits.answer_bytes}")
        python = [self.interpreter.path, "-I", "-S", "-B"]
        staged = str(self._stage / "runner.pyc")
        with self._filter() as number:
            if self._bubblewrap is None:
                command = [*python, staged, *words]
            else:
                command = self._bubblewrap.command(
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
                user=claimed.uid if claimed else None,
                env={MARKER: "unsandboxed"} if self._bubblewrap is None else {},
                keep=[] if number is None else [number],
            )

    @contextlib.contextmanager
    def _filter(self) -> Iterator[int | None]:
        """A descriptor of the filter at its beginning, for one start."""
        if self._bubblewrap is None or not self.filtered:
            yield None
            return
        number = os.open(self._stage / "seccomp", os.O_RDONLY)
        try:
            yield number
        finally:
            os.close(number)

    def _set_up(self, interpreter: str | None) -> None:
        """Find bubblewrap and a Python, and stage the runner."""
        os.chmod(self._stage, 0o755)  # noqa: S103 - the sandbox's user reads the runner here
        self._bubblewrap, why = find_bubblewrap(self._stage if self._as_root else None)
        found, why_not = find_interpreter(as_root=self._as_root and self._bubblewrap is not None, named=interpreter)
        if found is None:
            raise SandboxError(f"sandbox: no Python to run candidates with: {why_not}")
        self.interpreter: Interpreter = found
        self.why_unsandboxed = why
        program_of_filter = seccomp_filter()
        self.filtered = program_of_filter is not None
        (self._stage / "seccomp").write_bytes(program_of_filter or b"")
        here = Path(__file__).parent
        runner = (here / "runner.py").read_text("utf-8").replace(_IMPORT, "")
        program = self._stage / "runner.py"
        program.write_text((here / "literal.py").read_text("utf-8") + "\n\n" + runner + _START, "utf-8")
        target = self._stage / "runner.pyc"
        compiling = [found.path, "-I", "-S", "-c", _COMPILE, str(program), str(target)]
        subprocess.run(compiling, check=True, timeout=30)  # noqa: S603 - a Python of this machine, our own program
        os.chmod(target, 0o644)

    def _try(self, allow_unsandboxed: bool) -> None:
        """Start one sandbox, so that what cannot work is said before anything is run."""
        if self._bubblewrap is not None:
            claimed = self._claim()
            try:
                await_ready(channel := self._runner(Limits(), claimed))
                channel.close()
                return
            except (SandboxError, OSError) as error:
                self.why_unsandboxed = str(error)
            finally:
                if claimed is not None:
                    self._uids.put(claimed)
        self._bubblewrap = None
        self.kind = "unsandboxed"
        if not allow_unsandboxed:
            raise SandboxError(
                f"sandbox: none works here: {self.why_unsandboxed}; install bubblewrap (the extra `sandbox`), "
                "or allow running unsandboxed, which protects nothing"
            )
