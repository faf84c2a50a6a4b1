"""Many modules of our own in few sandboxes: a fork for each, for mutants that we made from code that was there before.

The forks of one worker share its sandbox, its /tmp and its process ids, one after the other; foreign code gets a
sandbox of its own instead (`Sandbox.run_suites`). A timer of the kernel ends what takes too long.
"""

import collections
import os
import queue
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from evenhand.sandbox.channel import Broken, Channel, Ended, Late
from evenhand.sandbox.limits import CheckCall, CheckResult, CheckStatus, Limits, LoadStatus, SuiteJob, SuiteRun
from evenhand.sandbox.suite import await_ready, check_result, checked_job, load_status, run_job, unrun

__all__ = ["TrustedPool", "in_order"]

_BACKSTOP_S = 2.0


class TrustedPool:
    """Fork servers, each in a sandbox; for code that we made ourselves.

    Args:
        starts: what starts a sandbox, one for each worker.
        limits: of every job; `check_s` also limits loading.
        forks: whether a process can be forked inside; where none can, each job has a sandbox of its own.
    """

    def __init__(self, starts: Sequence[Callable[[], Channel]], limits: Limits, *, forks: bool = True) -> None:
        # A sandbox dies with the thread that started it, so these threads live as long as the pool.
        self._threads = ThreadPoolExecutor(len(starts), thread_name_prefix="sandbox-pool")
        self._workers = len(starts)
        self._servers: queue.SimpleQueue[_Server] = queue.SimpleQueue()
        self._all = [_Server(start, limits, forks=forks) for start in starts]
        for server in self._all:
            self._servers.put(server)

    def close(self) -> None:
        """Kill the servers."""
        for server in self._all:
            server.closing = True  # its thread leaves after the check that it is at; nobody else may close its pipes
        self._threads.shutdown(cancel_futures=True)
        for server in self._all:
            server.close()

    def run_job(self, job: SuiteJob) -> SuiteRun:
        """One module over one suite, in a fork of a waiting server."""
        return self._threads.submit(self._run, job).result()

    def _run(self, job: SuiteJob) -> SuiteRun:
        """The same, in a thread of the pool."""
        checked_job(job)
        server = self._servers.get()
        try:
            return server.run(job)
        except BaseException:
            server.close()
            raise
        finally:
            self._servers.put(server)

    def run_suites(self, jobs: Iterable[SuiteJob]) -> Iterator[tuple[SuiteJob, SuiteRun]]:
        """Many modules, in the order of the jobs."""
        return in_order(jobs, self._run, self._threads, 4 * self._workers)


def in_order(
    jobs: Iterable[SuiteJob], run: Callable[[SuiteJob], SuiteRun], threads: ThreadPoolExecutor, ahead: int
) -> Iterator[tuple[SuiteJob, SuiteRun]]:
    """Run jobs in threads, a few ahead, and yield them in their order."""
    waiting: collections.deque[tuple[SuiteJob, Future[SuiteRun]]] = collections.deque()
    try:
        for job in jobs:
            waiting.append((job, threads.submit(run, job)))
            if len(waiting) >= ahead:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:
        for _, future in waiting:
            future.cancel()


class _Server:
    """One fork server and the module that its present fork has loaded."""

    def __init__(self, start: Callable[[], Channel], limits: Limits, *, forks: bool) -> None:
        self._start, self._limits, self._forks = start, limits, forks
        self._channel: Channel | None = None
        self.closing = False

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def run(self, job: SuiteJob) -> SuiteRun:
        """One job, with a new fork after each that was lost."""
        if not self._forks:
            return run_job(job, self._limits, self._start)
        began, starts, timeouts, loaded, stopped = time.monotonic(), 0, 0, False, ""
        results: list[CheckResult] = []
        for number, check in enumerate(job.checks):
            if not loaded:
                status, detail = self._load(job)
                starts += 1
                if status != "loaded" and not results:
                    return unrun(job, status, detail, starts=starts, seconds=time.monotonic() - began)
                stopped = "" if status == "loaded" else f"the module did not load again: {status}"
                loaded = not stopped
            if not loaded:
                break
            result, loaded = self._ask(number, check)
            results.append(result)
            timeouts += result.status == "timeout"
            stopped = self._why_stop(job, result, timeouts, starts, began)
            if stopped:
                break
        if loaded:
            self._leave()
        rest = [CheckResult(id=check.id, status="not_run", detail=stopped) for check in job.checks[len(results) :]]
        seconds = time.monotonic() - began
        reason = stopped if rest else ""
        return SuiteRun(results=(*results, *rest), load="loaded", starts=starts, seconds=seconds, stopped=reason)

    def _why_stop(self, job: SuiteJob, result: CheckResult, timeouts: int, starts: int, began: float) -> str:
        """Why the rest of a suite is not run; empty to go on."""
        if job.stop_after is not None and job.stop_after(result):
            return "the caller asked for no more"
        if self.closing:
            return "the pool was closed"
        if timeouts >= self._limits.max_timeouts:
            return f"{timeouts} checks had timed out"
        if time.monotonic() - began >= self._limits.suite_s:
            return f"the whole suite took {self._limits.suite_s:g} s"
        return f"the process had been lost {starts} times" if starts >= self._limits.max_starts else ""

    def _exchange(self, frame: tuple[object, ...]) -> tuple[object, ...]:
        """The answer to a frame; ("ended", wait status) where the fork is gone, and the server with it if need be."""
        try:
            if self._channel is None:
                self._channel = self._start()
                await_ready(self._channel)
                self._channel.tell(("fork", self._limits.check_s), time.monotonic() + _BACKSTOP_S)
            answer = self._channel.ask(frame, time.monotonic() + self._limits.check_s + _BACKSTOP_S)
        except Late:
            answer = ("ended", int(signal.SIGALRM))
        except (Ended, Broken):
            answer = ("ended", 1 << 8)
        else:
            return answer
        self.close()
        return answer

    def _load(self, job: SuiteJob) -> tuple[LoadStatus, str]:
        """Have a fork load the module."""
        answer = self._exchange(("load", job.code, job.entry_point))
        ended = _ended(answer)
        if ended is not None:
            return ("timeout" if ended[0] == "timeout" else "crashed"), ended[1]
        status, detail = load_status(answer)
        if status != "loaded":
            self._leave()
        return status, detail

    def _ask(self, number: int, check: CheckCall) -> tuple[CheckResult, bool]:
        """One check, and whether the fork is still there."""
        began = time.monotonic()
        answer = self._exchange(("call", number, list(check.args)))
        seconds = time.monotonic() - began
        ended = _ended(answer)
        if ended is not None:
            return CheckResult(id=check.id, status=ended[0], detail=ended[1], seconds=seconds), False
        result = check_result(check, number, answer, seconds)
        if result is None:
            self.close()
            return CheckResult(
                id=check.id, status="crashed", detail="an answer of another form", seconds=seconds
            ), False
        return result, True

    def _leave(self) -> None:
        """Have the fork end, and the server make the next."""
        if _ended(self._exchange(("bye",))) is None:
            self.close()


def _ended(answer: tuple[object, ...]) -> tuple[CheckStatus, str] | None:
    """How a fork ended, where the answer says that it did."""
    if len(answer) != 2 or answer[0] != "ended" or not isinstance(answer[1], int):
        return None
    if os.WIFSIGNALED(answer[1]):
        number = os.WTERMSIG(answer[1])
        if number == signal.SIGALRM:
            return "timeout", "no value within the time limit"
        return "crashed", f"ended before returning: signal {number}"
    return "crashed", f"ended before returning: exit code {os.waitstatus_to_exitcode(answer[1])}"
