"""What a run is allowed, what is asked of it, and what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.errors import InvalidInput
from evenhand.sandbox.literal import MAX_BYTES

__all__ = [
    "CheckCall",
    "CheckResult",
    "CheckStatus",
    "CommandRun",
    "Limits",
    "LoadStatus",
    "SuiteJob",
    "SuiteRun",
]

FRAME_BYTES = 10_000
"""What stands around a module, or around the arguments of a check, in the frame that carries them; at most."""

_MOST = 1 << 62  # what the kernel takes for a limit
_FEWEST_FILES = 16

CheckStatus = Literal["value", "exception", "exited", "timeout", "memory", "crashed", "unreadable", "not_run"]
LoadStatus = Literal["loaded", "exception", "timeout", "memory", "crashed", "too_large", "no_entry_point"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use. Times are of a monotonic clock outside; bytes and processes are held by the kernel inside.

    Args:
        check_s: of one check, from its arguments being sent to its value being read.
        load_s: of loading the module, at every start of the process.
        suite_s: the backstop for a whole suite, starts included.
        max_timeouts: after so many the rest of the suite is not run.
        max_starts: of a process for one suite; each crash and time-out costs one.
        memory_bytes: address space of each process; a tree may use it `processes` times, unless it is bounded too.
        tree_bytes: memory of everything inside together, /tmp included, where a control group can be made
            (`Sandbox.describe` says whether), at some milliseconds a start. None: a container engine holds it to twice
            `memory_bytes` and `scratch_bytes`, the others do not.
        processes: processes and threads of the candidate together.
        file_bytes: the longest file.
        scratch_bytes: of the private /tmp, which is memory.
        open_files: descriptors of each process.
        answer_bytes: the longest returned value, as a tagged literal.
        code_bytes: the longest module that is looked at.
        output_bytes: what is kept of each output of a command.
    Raises:
        InvalidInput: a limit that is not positive, no whole number where one is counted, or beyond what can be held,
            sent or read.
    """

    check_s: float = 2.0
    load_s: float = 10.0
    suite_s: float = 120.0
    max_timeouts: int = 3
    max_starts: int = 100
    memory_bytes: int = 1 << 30
    tree_bytes: int | None = None
    processes: int = 16
    file_bytes: int = 8 << 20
    scratch_bytes: int = 16 << 20
    open_files: int = 64
    answer_bytes: int = 1_000_000
    code_bytes: int = 1_000_000
    output_bytes: int = 200_000

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if value is None and name == "tree_bytes":
                continue
            if not 0 < value < float("inf"):
                raise InvalidInput(f"Limits: {name} is {value}; it must be a positive number")
            if not name.endswith("_s") and (type(value) is not int or value > _MOST):
                raise InvalidInput(f"Limits: {name} is {value}; it must be a whole number of at most {_MOST}")
        if self.answer_bytes > MAX_BYTES:
            raise InvalidInput(f"Limits: answer_bytes is {self.answer_bytes}; at most {MAX_BYTES} can be read")
        if self.code_bytes > MAX_BYTES - FRAME_BYTES:
            most = MAX_BYTES - FRAME_BYTES
            raise InvalidInput(f"Limits: code_bytes is {self.code_bytes}; at most {most} can be sent")
        if self.open_files < _FEWEST_FILES:
            raise InvalidInput(f"Limits: open_files is {self.open_files}; Python itself needs {_FEWEST_FILES}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCall:
    """One check to run: its id and the arguments of the call, of exact builtin types."""

    id: str
    args: Sequence[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """How one check ended.

    Args:
        id: of the check.
        status: `value` came back; `exception` was raised; `exited` by SystemExit before returning; `timeout`;
            `memory` ran out; `crashed`: the process ended or its channel was tampered with; `unreadable`: a value came
            that is of no exact builtin type, too deep or too large; `not_run`, with the reason.
        value: what was returned, where the status is `value`; None otherwise, and then it says nothing.
        type_name: of the exception, or of what could not be read; the candidate's own word, bounded.
        detail: bounded text; may hold the candidate's own words.
        seconds: on the clock outside.
    """

    id: str
    status: CheckStatus
    value: object = field(default=None, repr=False)  # the text of a long int cannot be had
    type_name: str = ""
    detail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """One candidate over one suite.

    Args:
        results: one a check, in the order asked.
        load: how the module's loading ended; other than `loaded`, no check was run.
        load_detail: why it did not load.
        starts: of a process.
        seconds: on the clock outside.
        stopped: why checks at the end were not run; empty where all were.
    """

    results: tuple[CheckResult, ...]
    load: LoadStatus
    load_detail: str = ""
    starts: int = 0
    seconds: float = 0.0
    stopped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteJob:
    """One candidate to run over one suite.

    Args:
        key: whatever tells the caller which it is.
        code: a whole module.
        entry_point: the function to call.
        checks: in order.
        stop_after: asked after each result; true ends the suite, and the rest is `not_run`.
    """

    key: object
    code: str
    entry_point: str
    checks: Sequence[CheckCall]
    stop_after: Callable[[CheckResult], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """How a command ended inside the sandbox.

    Args:
        status: `exited`, `signalled` or `timeout`.
        exit_code: of the command; None where it did not exit by itself.
        signal: that ended it, or None.
        stdout: its first bytes, as many as are kept.
        stderr: likewise.
        truncated: whether it wrote more than was kept.
        seconds: on the clock outside.
    """

    status: Literal["exited", "signalled", "timeout"]
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool
    seconds: float
