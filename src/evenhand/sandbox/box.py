"""The sandbox: what is there to run foreign code in, and running it."""

import contextlib
import functools
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox.command import checked_files
from evenhand.sandbox.description import Hold, SandboxDescription, probe
from evenhand.sandbox.engine import ENGINES
from evenhand.sandbox.ground import Command, Kind, SandboxKind
from evenhand.sandbox.interpreter import Interpreter
from evenhand.sandbox.limits import CheckCall, CommandRun, Limits, SuiteJob, SuiteRun
from evenhand.sandbox.place import FINDERS, Place
from evenhand.sandbox.pool import TrustedPool, in_order
from evenhand.sandbox.suite import await_ready, checked_job, run_job
from evenhand.sandbox.uids import ClaimedUid

__all__ = ["Sandbox", "available"]


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

    Bubblewrap is tried first, then a container engine, WebAssembly and Landlock: `describe` says what it holds. As root
    each run has a user id of its own that belongs to nobody; otherwise it is mostly one's own id.
    Use it as a context manager: it owns a folder with the runner, and closing it ends what still runs.

    Args:
        allow_unsandboxed: where no sandbox works, run with limits of resources alone, which protects nothing.
        interpreter: the Python to run candidates with; found where it is not named.
        kind: the only kind to try; `unsandboxed` needs `allow_unsandboxed` as well.
        engine: the container engine to use (`crun`, `runc`, `podman`, `docker` or `runsc`), and then the only kind.
    Raises:
        InvalidInput: an engine of another name, or one beside another kind.
        SandboxError: no sandbox works here, with every reason.
    """

    def __init__(
        self,
        *,
        allow_unsandboxed: bool = False,
        interpreter: str | None = None,
        kind: SandboxKind | None = None,
        engine: str | None = None,
    ) -> None:
        kind = _checked(kind, engine)
        self._stop = threading.Event()
        self._uids: queue.SimpleQueue[ClaimedUid] = queue.SimpleQueue()
        self._claimed: list[ClaimedUid] = []
        self._place = Place(interpreter, self._stop, engine)
        try:
            self._kind = self._found(kind, allow_unsandboxed=allow_unsandboxed)
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
        """End what runs, give the user ids back, and remove the folder."""
        self._stop.set()
        while self._claimed:
            self._claimed.pop().close()
        self._place.close()

    @property
    def kind(self) -> SandboxKind:
        """What holds the code."""
        return self._kind.name

    @property
    def interpreter(self) -> Interpreter:
        """The Python that runs candidates; not always the one that runs evenhand."""
        return self._kind.interpreter

    def describe(self, limits: Limits | None = None) -> SandboxDescription:
        """What is held and what is not, measured from inside under these limits."""
        limits = limits or Limits()
        held = self.kind != "unsandboxed"
        if not held:
            detail = f"unsandboxed: {self._place.why_none}"
            holds: tuple[Hold, ...] = (Hold(name="everything", held=False, detail=detail),)
        else:
            holds = probe(self.run_job, limits, self._kind.tree_bytes(limits))
        return SandboxDescription(
            kind=self.kind,
            version=self._kind.version,
            interpreter=self.interpreter.path,
            python=self.interpreter.version,
            user=self._kind.user,
            holds=holds,
            limits=limits,
        )

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
            SandboxError: the sandbox did not start, or was closed meanwhile.
        """
        return self.run_job(SuiteJob(key=None, code=code, entry_point=entry_point, checks=checks), limits)

    def run_job(self, job: SuiteJob, limits: Limits | None = None) -> SuiteRun:
        """`run_suite` for a job, which can also say when to stop."""
        limits = limits or Limits()
        checked_job(job)
        with self._uid() as uid:
            return run_job(job, limits, lambda: self._kind.runner(limits, uid))

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
        threads = ThreadPoolExecutor(slots, thread_name_prefix="sandbox")
        try:
            yield from in_order(jobs, lambda job: self.run_job(job, limits), threads, 4 * slots)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)  # what still runs ends by its limits, or with the sandbox

    @contextlib.contextmanager
    def trusted_pool(self, limits: Limits | None = None, *, workers: int = 2) -> Iterator[TrustedPool]:
        """Fork servers for modules that we made ourselves, several times as fast; never for foreign code.

        Where nothing can be forked (wasi), each module has a sandbox of its own, as fast as any other.

        Args:
            limits: of every job.
            workers: sandboxes at the same time.
        """
        limits = limits or Limits()
        if workers < 1:
            raise InvalidInput(f"trusted_pool: workers is {workers}; at least 1 is needed")
        with contextlib.ExitStack() as stack:
            uids = [stack.enter_context(self._uid()) for _ in range(workers)]
            pool = TrustedPool(
                [functools.partial(self._kind.runner, limits, uid) for uid in uids], limits, forks=self._kind.forks
            )
            stack.callback(pool.close)
            yield pool

    def run_command(
        self,
        argv: Sequence[str],
        files: Mapping[str, bytes | str] | None = None,
        limits: Limits | None = None,
        stdin: bytes = b"",
        *,
        mounts: Mapping[str, str | Path] | None = None,
    ) -> CommandRun:
        """Run a command over the system's programs, in a writable folder of its own, which Landlock cannot call /work.

        Args:
            argv: looked up on the usual PATH.
            files: name below the working folder /work to content; the command may write over them.
            limits: `suite_s` is its time; of each output the first `output_bytes` are kept.
            stdin: what it can read.
            mounts: folder inside to folder of this machine, read-only; bubblewrap and container engines can.
        Raises:
            InvalidInput: no command, a file name that leads out, or a mount that is not there, not readable or cannot
                be made.
            SandboxError: the sandbox did not start, or is one where no command can be run (wasi).
        """
        contents = checked_files(files or {})
        if not argv or any("\0" in word for word in argv):
            raise InvalidInput("run_command: the command is empty or holds a null byte")
        folders = self._kind.checked_mounts(mounts or {})
        command = Command(argv=argv, contents=contents, stdin=stdin, mounts=folders)
        with self._uid() as uid:
            return self._kind.run_command(command, limits or Limits(), uid)

    @contextlib.contextmanager
    def _uid(self) -> Iterator[int | None]:
        """As root, a user id for one run."""
        if self._stop.is_set():
            raise SandboxError("sandbox: it is closed")
        if not self._place.wants_id:
            yield None
            return
        try:
            claimed = self._uids.get_nowait()
        except queue.Empty:
            claimed = ClaimedUid()
            self._claimed.append(claimed)
        try:
            yield claimed.uid
        finally:
            self._uids.put(claimed)

    def _found(self, only: SandboxKind | None, *, allow_unsandboxed: bool) -> Kind:
        """The first kind that works, tried by starting it, so that what cannot work is said before anything is run."""
        if only is not None:
            self._place.refuse(f"{only} alone was asked for")
        for name in FINDERS:
            wanted = only in (None, name) if name != "unsandboxed" else allow_unsandboxed
            if wanted and self._place.open(name, self._attempt if name != "unsandboxed" else lambda _: None):
                assert self._place.kind is not None
                return self._place.kind
        raise SandboxError(
            f"sandbox: none works here: {self._place.why_none}; install bubblewrap (the extra `sandbox`), "
            "or allow running unsandboxed, which protects nothing"
        )

    def _attempt(self, kind: Kind) -> None:
        """Start a sandbox of a kind, and end it."""
        with self._uid() as uid:
            channel = kind.runner(Limits(), uid)
            await_ready(channel)
            channel.close()


def _checked(kind: SandboxKind | None, engine: str | None) -> SandboxKind | None:
    """The only kind to try."""
    if engine is None:
        return kind
    if engine not in ENGINES or kind not in (None, "container"):
        known = ", ".join(ENGINES)
        raise InvalidInput(
            f"Sandbox: the engine {engine[:80]!r} with kind {kind}; known are {known}, of kind container"
        )
    return "container"
