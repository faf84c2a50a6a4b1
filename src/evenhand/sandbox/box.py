"""The sandbox: what is there to run foreign code in, and running it."""

import collections
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox.bubblewrap import MARKER, Bubblewrap, Interpreter, find_bubblewrap, find_interpreter
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.limits import CheckCall, Limits, SuiteJob, SuiteRun
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
        waiting: collections.deque[tuple[SuiteJob, Future[SuiteRun]]] = collections.deque()
        with ThreadPoolExecutor(slots, thread_name_prefix="sandbox") as threads:
            try:
                for job in jobs:
                    waiting.append((job, threads.submit(self.run_job, job, limits)))
                    if len(waiting) >= 4 * slots:
                        first, run = waiting.popleft()
                        yield first, run.result()
                while waiting:
                    first, run = waiting.popleft()
                    yield first, run.result()
            finally:
                for _, run in waiting:
                    run.cancel()

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
        python = self.interpreter.path
        if self._bubblewrap is None:
            command = [python, "-I", "-S", "-B", str(self._stage / "runner.pyc"), *words]
            env = {MARKER: "unsandboxed"}
        else:
            command = self._bubblewrap.command(
                [python, "-I", "-S", "-B", _INSIDE, *words],
                trees=self.interpreter.trees,
                scratch_bytes=limits.scratch_bytes,
                files=[(str(self._stage / "runner.pyc"), _INSIDE)],
            )
            env = {}
        return Channel(
            command,
            stop=self._stop,
            max_answer=limits.answer_bytes + FRAME_OVERHEAD,
            user=claimed.uid if claimed else None,
            env=env,
        )

    def _set_up(self, interpreter: str | None) -> None:
        """Find bubblewrap and a Python, and stage the runner."""
        os.chmod(self._stage, 0o755)  # noqa: S103 - the sandbox's user reads the runner here
        self._bubblewrap, why = find_bubblewrap(self._stage if self._as_root else None)
        found, why_not = find_interpreter(as_root=self._as_root and self._bubblewrap is not None, named=interpreter)
        if found is None:
            raise SandboxError(f"sandbox: no Python to run candidates with: {why_not}")
        self.interpreter: Interpreter = found
        self.why_unsandboxed = why
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
