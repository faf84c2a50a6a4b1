"""What each kind of sandbox stands on, and what each has to be able to do; a kind is one file that imports this one."""

import contextlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.interpreter import Interpreter, find_interpreter, readable_by_others
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import Ending
from evenhand.sandbox.staging import stage_runner
from evenhand.sandbox.suite import FRAME_OVERHEAD, kernel_limits

__all__ = ["COMMAND_PATH", "MARKER", "OWN_ID", "Command", "Ground", "Kind", "SandboxKind", "no_mounts", "runner_words"]

SandboxKind = Literal["bubblewrap", "container", "wasi", "landlock", "unsandboxed"]

MARKER = "EVENHAND_SANDBOX"
COMMAND_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
OWN_ID = "an id of its own that belongs to nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to run, checked already.

    Args:
        argv: looked up on `COMMAND_PATH`.
        contents: name below the working folder to content.
        stdin: what it can read.
        mounts: (folder of this machine, folder inside), read-only.
    """

    argv: Sequence[str]
    contents: Mapping[str, bytes]
    stdin: bytes
    mounts: Sequence[tuple[str, str]] = ()


class Kind(Protocol):
    """One way to hold foreign code, found on this machine.

    Its finder takes a `Ground` and raises SandboxError with the reason where the kind cannot work here.
    """

    @property
    def name(self) -> SandboxKind:
        """Of the kind."""

    @property
    def version(self) -> str:
        """Of what holds the code; empty for nothing."""

    @property
    def interpreter(self) -> Interpreter:
        """The Python that runs candidates."""

    @property
    def wants_id(self) -> bool:
        """Whether each run is to have a user id of its own, which root alone can give."""

    @property
    def user(self) -> str:
        """In words, what the processes run as outside."""

    @property
    def forks(self) -> bool:
        """Whether a process can be forked inside, as a pool wants it."""

    def tree_bytes(self, limits: Limits) -> int | None:
        """What the memory of a whole tree is held to; None where it is not."""

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner of candidates; its channel answers `("ready",)` first."""

    def run_command(self, command: Command, limits: Limits, uid: int | None) -> CommandRun:
        """Run a command to its end, or to its limit of time."""

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """(folder of this machine, folder inside) of what can be mounted.

        Raises:
            InvalidInput: something cannot.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A folder that the sandbox's user can read, and what was asked for.

    Args:
        stage: the folder, removed with the sandbox.
        stop: ends every waiting when set.
        as_root: whether evenhand runs as root; code then runs under an id to which root's folders are closed.
        named: the Python that the caller wants, or None.
        engine: the container engine that the caller wants, or None.
        closing: what is done when the sandbox is closed, before the folder goes.
    """

    stage: Path
    stop: threading.Event
    as_root: bool
    named: str | None
    engine: str | None = None
    closing: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _staged: dict[str, str] = field(default_factory=dict)

    def python(self, *, own_id: bool) -> Interpreter:
        """The Python to run candidates with.

        Args:
            own_id: whether it runs under another id than evenhand.
        Raises:
            SandboxError: none can be read by the sandbox's user.
        """
        found, why = find_interpreter(as_root=own_id, named=self.named)
        if found is None:
            raise SandboxError(f"no Python to run candidates with: {why}")
        return found

    def runner(self, python: Interpreter) -> str:
        """Path of the runner, compiled by the Python that will read it."""
        if python.path not in self._staged:
            self._staged[python.path] = stage_runner(self.stage, python.path)
        return self._staged[python.path]

    def channel(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        user: int | None,
        env: Mapping[str, str],
        keep: Sequence[int] = (),
        folder: str = "/",
        ending: Ending | None = None,
    ) -> Channel:
        """Start what runs the runner."""
        return Channel(
            command,
            stop=self.stop,
            max_answer=limits.answer_bytes + FRAME_OVERHEAD,
            user=user,
            env=env,
            keep=keep,
            folder=folder,
            ending=ending,
        )

    def mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """(folder of this machine, folder inside), for a kind that can mount.

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
        return checked


def no_mounts(kind: SandboxKind, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
    """Nothing, for a kind that cannot mount.

    Raises:
        InvalidInput: something was to be mounted.
    """
    if mounts:
        raise InvalidInput(f"run_command: mounting needs bubblewrap or a container engine, and this sandbox is {kind}")
    return []


def runner_words(limits: Limits, bounds: Mapping[str, int] | None = None) -> list[str]:
    """What the runner is told: the limits for the kernel, and the longest answer."""
    bounds = kernel_limits(limits) if bounds is None else bounds
    return [*(f"{name}={value}" for name, value in bounds.items()), f"answer_bytes={limits.answer_bytes}"]
