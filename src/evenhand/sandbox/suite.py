"""One candidate over one suite: a process that is asked one check at a time, and started anew after it is lost."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox.channel import Broken, Channel, Ended, Late
from evenhand.sandbox.limits import CheckCall, CheckResult, CheckStatus, Limits, LoadStatus, SuiteJob, SuiteRun
from evenhand.sandbox.literal import Unreadable, encode

__all__ = [
    "FRAME_OVERHEAD",
    "START_S",
    "await_ready",
    "check_result",
    "checked_job",
    "kernel_limits",
    "load_status",
    "run_job",
    "unrun",
]

START_S = 20.0
_NAME = 1000
FRAME_OVERHEAD = 1000
_CAUGHT: tuple[CheckStatus, ...] = ("exception", "exited", "memory", "unreadable")


def kernel_limits(limits: Limits) -> dict[str, int]:
    """What the runner lowers before it reads foreign code, by the names of `resource`."""
    return {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CPU": math.ceil(limits.suite_s) + 1,
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 0,
    }


def checked_job(job: SuiteJob) -> None:
    """Refuse what cannot be asked.

    Raises:
        InvalidInput: two checks of one id, arguments that are not of exact builtin types, or anything too large to be
            sent.
    """
    if len(job.entry_point) > _NAME:
        raise InvalidInput(f"run_suite: the entry point is a name of {len(job.entry_point)} characters, over {_NAME}")
    seen = set()
    for check in job.checks:
        if check.id in seen:
            raise InvalidInput(f"run_suite: two checks have the id {check.id[:80]!r}; ids must differ")
        seen.add(check.id)
        try:
            encode(("call", len(job.checks), list(check.args)))  # as the frame that carries them
        except Unreadable as error:
            raise InvalidInput(
                f"run_suite: the arguments of check {check.id[:80]!r} cannot be sent: {error}"
            ) from error


def run_job(job: SuiteJob, limits: Limits, start: Callable[[], Channel]) -> SuiteRun:
    """Run the checks in order, each answered or given up by its own limit.

    Args:
        job: checked already.
        limits: of times and sizes.
        start: starts the sandbox; its channel answers `("ready",)` first.
    Raises:
        SandboxError: the sandbox itself did not start, or was closed.
    """
    began = time.monotonic()
    size = len(job.code.encode("utf-8", "surrogatepass"))
    if size > limits.code_bytes:
        detail = f"the module has {size} bytes; at most {limits.code_bytes} are looked at"
        return unrun(job, "too_large", detail, starts=0, seconds=0.0)
    course = _Course(job=job, limits=limits, start=start, until=began + limits.suite_s)
    try:
        course.run()
    finally:
        course.close()
    seconds = time.monotonic() - began
    if course.load != "loaded":
        return unrun(job, course.load, course.load_detail, starts=course.starts, seconds=seconds)
    left = job.checks[len(course.results) :]
    rest = [CheckResult(id=check.id, status="not_run", detail=course.stopped) for check in left]
    return SuiteRun(
        results=(*course.results, *rest),
        load="loaded",
        starts=course.starts,
        seconds=seconds,
        stopped=course.stopped if rest else "",
    )


def unrun(job: SuiteJob, load: LoadStatus, detail: str, *, starts: int, seconds: float) -> SuiteRun:
    """A run without a loaded module."""
    reason = f"the module did not load: {load}"
    results = tuple(CheckResult(id=check.id, status="not_run", detail=reason) for check in job.checks)
    return SuiteRun(results=results, load=load, load_detail=detail, starts=starts, seconds=seconds, stopped=reason)


@dataclass(slots=True, kw_only=True)
class _Course:
    """The state of one suite on its way."""

    job: SuiteJob
    limits: Limits
    start: Callable[[], Channel]
    until: float
    channel: Channel | None = None
    starts: int = 0
    timeouts: int = 0
    results: list[CheckResult] = field(default_factory=list)
    load: LoadStatus = "loaded"
    load_detail: str = ""
    stopped: str = ""

    def run(self) -> None:
        """Ask one check after the other until the end or a reason to stop."""
        for number, check in enumerate(self.job.checks):
            if not self._may_go_on() or not self._loaded():
                return
            result = self._ask(number, check)
            self.results.append(result)
            self.timeouts += result.status == "timeout"
            if self.job.stop_after is not None and self.job.stop_after(result):
                self.stopped = "the caller asked for no more"
                return
        if not self.job.checks:
            self._loaded()

    def close(self) -> None:
        """Kill what runs."""
        if self.channel is not None:
            self.channel.close()
            self.channel = None

    def _may_go_on(self) -> bool:
        """Whether a limit of the whole suite is left."""
        if self.timeouts >= self.limits.max_timeouts:
            self.stopped = f"{self.timeouts} checks had timed out"
        elif time.monotonic() >= self.until:
            self.stopped = f"the whole suite took {self.limits.suite_s:g} s"
        elif self.channel is None and self.starts >= self.limits.max_starts:
            self.stopped = f"the process had been lost {self.starts} times"
        return not self.stopped

    def _loaded(self) -> bool:
        """Whether a process with the module loaded waits; starts one where none does."""
        if self.channel is not None:
            return True
        self.channel = self.start()
        self.starts += 1
        await_ready(self.channel)
        status, detail = self._load(self.channel)
        if status == "loaded":
            return True
        self.close()
        if self.starts == 1:
            self.load, self.load_detail = status, detail
        self.stopped = f"the module did not load again: {status}"
        return False

    def _load(self, channel: Channel) -> tuple[LoadStatus, str]:
        """Have the module loaded."""
        until = min(self.until, time.monotonic() + self.limits.load_s)
        try:
            answer = channel.ask(("load", self.job.code, self.job.entry_point), until)
        except Late:
            return "timeout", f"loading took more than {self.limits.load_s:g} s"
        except (Ended, Broken) as error:
            return "crashed", str(error)
        return load_status(answer)

    def _ask(self, number: int, check: CheckCall) -> CheckResult:
        """One check; a process that did not answer in order is killed."""
        assert self.channel is not None
        began = time.monotonic()
        until = min(self.until, began + self.limits.check_s)
        try:
            answer = self.channel.ask(("call", number, list(check.args)), until)
        except Late:
            return self._lost(check, began, "timeout", "no value within the time limit")
        except Ended as error:
            return self._lost(check, began, "crashed", f"ended before returning: {error}")
        except Broken as error:
            return self._lost(check, began, "crashed", f"the channel was tampered with: {error}")
        result = check_result(check, number, answer, time.monotonic() - began)
        if result is None:
            return self._lost(check, began, "crashed", "the channel was tampered with: an answer of another form")
        return result

    def _lost(self, check: CheckCall, began: float, status: CheckStatus, detail: str) -> CheckResult:
        """The result of a check whose process has to go."""
        self.close()
        return CheckResult(id=check.id, status=status, detail=detail, seconds=time.monotonic() - began)


def load_status(answer: tuple[object, ...]) -> tuple[LoadStatus, str]:
    """What the answer to a load says, and its detail."""
    if answer == ("loaded",):
        return "loaded", ""
    if len(answer) != 3 or answer[0] != "failed" or not all(type(part) is str for part in answer):
        return "crashed", "an answer of another form"
    kind, detail = str(answer[1])[:80], f"{str(answer[1])[:80]}: {str(answer[2])[:300]}"
    if kind == "NoEntryPoint":
        return "no_entry_point", str(answer[2])[:300]
    return ("memory" if kind == "MemoryError" else "exception"), detail


def check_result(check: CheckCall, number: int, answer: tuple[object, ...], seconds: float) -> CheckResult | None:
    """What the answer to a call says, or None where it is no answer to that call."""
    if len(answer) == 3 and answer[0] == "value" and _same(answer[1], number):
        return CheckResult(id=check.id, status="value", value=answer[2], seconds=seconds)
    status = next((status for status in _CAUGHT if status == answer[0]), None)
    if status is None or len(answer) != 4 or not _same(answer[1], number):
        return None
    if not (isinstance(answer[2], str) and isinstance(answer[3], str)):
        return None
    said = f"exited before returning: {answer[3]}" if status == "exited" else answer[3]
    return CheckResult(id=check.id, status=status, type_name=answer[2][:80], detail=said[:300], seconds=seconds)


def _same(found: object, number: int) -> bool:
    return type(found) is int and found == number


def await_ready(channel: Channel) -> None:
    """Wait for the runner's first frame.

    Raises:
        SandboxError: it did not come; nothing foreign has run by then.
    """
    try:
        if channel.read(time.monotonic() + START_S) == ("ready",):
            return
        reason = "it answered something else"
    except Late:
        reason = f"it did not answer within {START_S:g} s"
    except (Ended, Broken) as error:
        reason = str(error)
    complaint = channel.complaint()
    channel.close()
    raise SandboxError(f"sandbox: it did not start ({reason}){': ' + complaint if complaint else ''}")
