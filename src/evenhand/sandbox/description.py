"""What a sandbox holds and what it does not, measured from inside: evidence for the audit."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.sandbox.comparing import shown_value
from evenhand.sandbox.limits import CheckCall, CheckResult, Limits, SuiteJob, SuiteRun

__all__ = ["Hold", "SandboxDescription", "probe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One thing that a sandbox is to keep.

    Args:
        name: of what is kept.
        held: whether it is; None where it could not be measured.
        detail: what was seen.
    """

    name: str
    held: bool | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxDescription:
    """A sandbox as evidence.

    Args:
        kind: `bubblewrap`, `container`, `wasi`, `landlock` or `unsandboxed`.
        version: of what holds the code: bubblewrap, the engine, the runtime, the kernel's Landlock; empty for nothing.
        interpreter: path of the Python that runs candidates.
        python: its version.
        user: what the processes run as outside.
        holds: what is kept and what is not.
        limits: that the measurement was made under.
    """

    kind: str
    version: str
    interpreter: str
    python: str
    user: str
    holds: tuple[Hold, ...]
    limits: Limits

    @property
    def not_held(self) -> tuple[str, ...]:
        """Names of what is not kept, or could not be measured."""
        return tuple(hold.name for hold in self.holds if hold.held is not True)


_TREE = "memory of a whole tree"
_Reading = Callable[[object, Limits], bool]

# Name, measurement of `inside.py`, argument, and when it is held.
_MEASURED: tuple[tuple[str, str, Callable[[Limits], int], _Reading], ...] = (
    ("names of this machine's files", "files", lambda _: 0, lambda seen, _: seen == []),
    ("contents of this machine's files", "contents", lambda _: 0, lambda seen, _: seen == []),
    ("read-only root", "writable", lambda _: 0, lambda seen, _: seen == []),
    ("no network interface", "interfaces", lambda _: 0, lambda seen, _: seen in (["lo"], [])),
    ("no server of this machine", "connects", lambda _: 0, lambda seen, _: seen is False),
    ("ids of processes", "processes", lambda _: 0, lambda seen, _: isinstance(seen, list) and len(seen) <= 2),
    ("signals to other processes", "signals", lambda _: os.getpid(), lambda seen, _: seen is False),
    ("no view of processes", "proc", lambda _: 0, lambda seen, _: seen == []),
    (
        "no capability, no new privileges, calls filtered",
        "privileges",
        lambda _: 0,
        lambda seen, _: seen in ([0, 1, 2], "there is no kernel to call"),
    ),
    (
        "limits of the first process",
        "first_process",
        lambda _: 0,
        lambda seen, limits: seen in (limits.processes, 0),
    ),
    ("no user namespace", "user_namespace", lambda _: 0, lambda seen, _: seen is False),
    (
        "number of processes",
        "forks",
        lambda limits: limits.processes,
        lambda seen, limits: _at_most(seen, limits.processes),
    ),
    ("memory of a process", "memory", lambda limits: limits.memory_bytes, lambda seen, _: seen is False),
    (
        "length of a file",
        "file",
        lambda limits: limits.file_bytes,
        lambda seen, limits: _at_most(seen, limits.file_bytes),
    ),
    (
        "size of the writable folder",
        "scratch",
        lambda limits: limits.scratch_bytes,
        lambda seen, limits: _at_most(seen, limits.scratch_bytes),
    ),
    (
        "environment",
        "environment",
        lambda _: 0,
        lambda seen, _: _only(seen, "EVENHAND_SANDBOX", "HOME", "LC_CTYPE", "PWD"),
    ),
)


def probe(
    run: Callable[[SuiteJob, Limits], SuiteRun], limits: Limits, tree_bytes: int | None = None
) -> tuple[Hold, ...]:
    """Measure from inside what is kept.

    Args:
        run: runs a job in the sandbox.
        limits: that are tried to the end; none of it is left behind.
        tree_bytes: what the memory of a whole tree is held to; None: it is not, and is not tried.
    """
    code = (Path(__file__).parent / "inside.py").read_text("utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        checks = [
            CheckCall(id=name, args=[measurement, port if measurement == "connects" else argument(limits)])
            for name, measurement, argument, _ in _MEASURED
        ]
        if tree_bytes is not None:
            checks.append(CheckCall(id=_TREE, args=["tree", tree_bytes]))
        done = run(SuiteJob(key=None, code=code, entry_point="measure", checks=checks), limits)
    readings = {name: reading for name, _, _, reading in _MEASURED}
    readings[_TREE] = lambda seen, _: _at_most(seen, tree_bytes or 0)
    held = [_hold(result, readings, limits) for result in done.results]
    if tree_bytes is None:
        held.append(Hold(name=_TREE, held=False, detail="the limit is of each process"))
    return tuple(held)


def _hold(result: CheckResult, readings: Mapping[str, _Reading], limits: Limits) -> Hold:
    """One measurement read."""
    if result.status != "value":
        return Hold(name=result.id, held=None, detail=f"not measured: {result.status} {result.detail}"[:200])
    return Hold(name=result.id, held=readings[result.id](result.value, limits), detail=shown_value(result.value))


def _at_most(seen: object, limit: int) -> bool:
    return isinstance(seen, int) and seen <= limit


def _only(seen: object, *names: str) -> bool:
    return isinstance(seen, list) and set(seen) <= set(names)
