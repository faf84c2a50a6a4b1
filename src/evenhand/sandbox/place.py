"""Where foreign code runs: what this machine has for it, and what is staged so that the sandbox's user can read it."""

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

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
from evenhand.sandbox.command import LAUNCH, memory_files, wait_for
from evenhand.sandbox.landlock import Landlock, find_landlock, own_threads
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import start
from evenhand.sandbox.seccomp import seccomp_filter
from evenhand.sandbox.staging import hold, new_stage, stage_confine, stage_runner, write_files
from evenhand.sandbox.suite import FRAME_OVERHEAD, kernel_limits

__all__ = ["Place", "SandboxKind"]

SandboxKind = Literal["bubblewrap", "landlock", "unsandboxed"]

_INSIDE = "/evenhand-runner"


class Place:
    """A folder with the runner, and the programs to start it with.

    Args:
        interpreter: the Python to run candidates with; found where it is not named.
        stop: ends every waiting when set.
        only: the one kind of sandbox to look for; each in its order where it is None.
    Raises:
        SandboxError: no Python can be read by the sandbox's user.
    """

    def __init__(self, interpreter: str | None, stop: threading.Event, only: SandboxKind | None = None) -> None:
        self.as_root = os.geteuid() == 0
        self._stop = stop
        self._stage = new_stage()
        self._held = hold(self._stage)
        try:
            self._confining = self._stage_filter("confine", alone=True)
            self._filtered = self._stage_filter("bubblewrap", alone=False)
            self.bubblewrap, self.landlock, self.why_none = self._kinds(only)
            self.interpreter = self._found(interpreter)
            stage_runner(self._stage, self.interpreter.path)
            if self.kind == "landlock":
                stage_confine(self._stage, self.interpreter.path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._stage, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    @property
    def kind(self) -> SandboxKind:
        """The first kind that was not given up."""
        if self.bubblewrap is not None:
            return "bubblewrap"
        return "unsandboxed" if self.landlock is None else "landlock"

    @property
    def version(self) -> str:
        """Of what holds the code; empty for nothing."""
        if self.bubblewrap is not None:
            return self.bubblewrap.version
        return "" if self.landlock is None else f"ABI {self.landlock.abi}"

    def do_without(self, why: str) -> None:
        """Give the present kind up."""
        self.why_none = "; ".join(filter(None, (self.why_none, why)))
        if self.bubblewrap is not None:
            self.bubblewrap = None
        else:
            self.landlock = None
        if self.kind == "landlock":
            stage_confine(self._stage, self.interpreter.path)

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner: inside, or outside where there is no sandbox and the caller allowed that."""
        bounds = self._bounds(limits)
        words = [f"{name}={value}" for name, value in bounds.items()]
        words.append(f"answer_bytes={limits.answer_bytes}")
        python = [self.interpreter.path, "-I", "-S", "-B"]
        staged = str(self._stage / "runner.pyc")
        scratch = ""
        with self._filter() as number:
            if self.bubblewrap is not None:
                command = self.bubblewrap.command(
                    [*python, _INSIDE, *words],
                    trees=self.interpreter.trees,
                    scratch_bytes=limits.scratch_bytes,
                    files=[(staged, _INSIDE)],
                    seccomp=number,
                )
            elif self.landlock is not None:
                scratch = self._scratch({}, uid)
                trees = (*self.interpreter.trees, staged)
                command = self._confined([*python, staged, *words], trees, scratch, bounds)
            else:
                command = [*python, staged, *words]
            return Channel(
                command,
                stop=self._stop,
                max_answer=limits.answer_bytes + FRAME_OVERHEAD,
                user=uid,
                env=self._environment(scratch),
                keep=[] if number is None else [number],
                scratch=scratch,
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
        if self.landlock is not None and self.bubblewrap is None:
            scratch = self._scratch(contents, uid)
            command = self._confined(argv, command_trees(self.interpreter), scratch, self._bounds(limits))
            began = time.monotonic()
            env = {**self._environment(scratch), "PATH": COMMAND_PATH}
            process = start(command, user=uid, env=env, scratch=scratch)
            return wait_for(process, stdin, limits, stop=self._stop, began=began)
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
            InvalidInput: it is not there, not absolute inside, or the sandbox's user cannot read it; or nothing can
                be mounted here.
        """
        if mounts and self.bubblewrap is None:
            raise InvalidInput(f"run_command: mounting needs bubblewrap, and this sandbox is {self.kind}")
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

    def _run_outside(
        self, launch: Sequence[str], contents: Mapping[str, bytes], limits: Limits, stdin: bytes
    ) -> CommandRun:
        """A command with limits of resources alone, where the caller allowed that."""
        with tempfile.TemporaryDirectory(dir=self._stage) as folder:
            write_files(Path(folder), contents)
            began = time.monotonic()
            env = {MARKER: "unsandboxed", "PATH": COMMAND_PATH, "HOME": folder}
            process = start(launch, user=None, env=env, folder=folder)
            return wait_for(process, stdin, limits, stop=self._stop, began=began)

    @contextlib.contextmanager
    def _filter(self) -> Iterator[int | None]:
        """A descriptor of the filter at its beginning, for one start."""
        if self.bubblewrap is None or not self._filtered:
            yield None
            return
        number = os.open(self._stage / "bubblewrap.filter", os.O_RDONLY)
        try:
            yield number
        finally:
            os.close(number)

    def _found(self, named: str | None) -> Interpreter:
        """The Python to run candidates with."""
        found, why = find_interpreter(as_root=self.as_root and self.kind != "unsandboxed", named=named)
        if found is None:
            raise SandboxError(f"sandbox: no Python to run candidates with: {why}")
        return found

    def _kinds(self, only: SandboxKind | None) -> tuple[Bubblewrap | None, Landlock | None, str]:
        """What this machine has, and why it has not the rest."""
        bubblewrap, no_bubblewrap = find_bubblewrap(self._stage if self.as_root else None)
        landlock, no_landlock = find_landlock(filtered=self._confining)
        if only not in (None, "bubblewrap"):
            bubblewrap, no_bubblewrap = None, ""
        if only not in (None, "landlock"):
            landlock, no_landlock = None, ""
        asked = "" if only is None else f"{only} alone was asked for"
        return bubblewrap, landlock, "; ".join(filter(None, (asked, no_bubblewrap, no_landlock)))

    def _stage_filter(self, name: str, *, alone: bool) -> bool:
        """Write a filter of system calls; whether there is one for this machine."""
        program = seccomp_filter(alone=alone, as_caller=alone and not self.as_root)
        path = self._stage / f"{name}.filter"
        path.write_bytes(program or b"")
        os.chmod(path, 0o644)
        return program is not None

    def _bounds(self, limits: Limits) -> dict[str, int]:
        """The limits for the kernel; where all processes of one's own id are counted, beside those that are there."""
        bounds = kernel_limits(limits)
        if self.kind == "landlock" and not self.as_root:
            bounds["RLIMIT_NPROC"] += own_threads()
        return bounds

    def _environment(self, scratch: str) -> dict[str, str]:
        """The names that code gets beside those that bubblewrap sets."""
        if self.kind == "landlock":
            return {MARKER: "1", "HOME": scratch, "PWD": scratch}
        return {MARKER: "unsandboxed"} if self.kind == "unsandboxed" else {}

    def _scratch(self, contents: Mapping[str, bytes], uid: int | None) -> str:
        """A new folder for one process, with these files, which belongs to its user."""
        folder = tempfile.mkdtemp(dir=self._stage)
        write_files(Path(folder), contents)
        if uid is not None:
            for place, _, files in os.walk(folder):
                for path in (place, *(os.path.join(place, name) for name in files)):
                    os.chown(path, uid, uid)
        return folder

    def _confined(
        self, argv: Sequence[str], trees: Sequence[str], scratch: str, bounds: Mapping[str, int]
    ) -> list[str]:
        """The command behind a supervisor of Landlock's."""
        assert self.landlock is not None
        return self.landlock.command(
            argv, python=self.interpreter.path, stage=self._stage, readable=trees, scratch=scratch, limits=bounds
        )
