"""A kind of sandbox without namespaces: Landlock, a filter of system calls, and limits.

It needs no namespace, so it works inside most containers. It takes rights away and gives no view of its own: names and
sizes of the machine's files and the ids of its processes can still be seen, though neither read, changed nor signalled.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evenhand.errors import SandboxError
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.command import wait_for
from evenhand.sandbox.ground import (
    COMMAND_PATH,
    MARKER,
    OWN_ID,
    Command,
    Ground,
    SandboxKind,
    no_mounts,
    runner_words,
)
from evenhand.sandbox.interpreter import Interpreter, command_trees
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import Ending, remove_tree, start
from evenhand.sandbox.seccomp import seccomp_filter
from evenhand.sandbox.staging import stage_confine, stage_filter, write_files
from evenhand.sandbox.suite import kernel_limits

__all__ = ["Landlock", "LandlockKind", "find_kind", "find_landlock"]

_OLDEST = 6  # scopes: before, what is confined could signal its supervisor
_CREATE, _TELL_VERSION = 444, 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LINKED = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Landlock:
    """A kernel's Landlock that is new enough.

    Args:
        abi: its version as the kernel counts it; scopes came with 6 (Linux 6.12).
    """

    abi: int

    def command(
        self,
        argv: Sequence[str],
        *,
        python: str,
        stage: Path,
        readable: Iterable[str],
        scratch: str,
        limits: Mapping[str, int],
    ) -> list[str]:
        """The arguments that run `argv` behind a supervisor.

        Args:
            argv: a command that lies in what is readable.
            python: the Python that runs the supervisor.
            stage: the folder with `confine.pyc` and `filter`.
            readable: trees and files that can be read and executed.
            scratch: the one folder that can be changed.
            limits: by the names of `resource`.
        """
        trees = dict.fromkeys([*readable, *(link for link in _LINKED if os.path.isdir(link))])
        words = [f"parent={os.getpid()}", f"filter={stage / 'confine.filter'}", f"write={scratch}"]
        words += [f"read={tree}" for tree in trees]
        words += [f"device={device}" for device in _DEVICES if os.path.exists(device)]
        words += [f"{name}={value}" for name, value in limits.items()]
        return [python, "-I", "-S", "-B", str(stage / "confine.pyc"), *words, "--", *argv]


@dataclass(frozen=True, slots=True, kw_only=True)
class LandlockKind:
    """Landlock as a kind of sandbox.

    Args:
        kernel: its Landlock.
        ground: with the supervisor and the filter of system calls.
        interpreter: the Python that runs candidates and the supervisor.
    """

    kernel: Landlock
    ground: Ground
    interpreter: Interpreter
    wants_id: bool = True
    forks: bool = True

    @property
    def name(self) -> SandboxKind:
        """Of the kind."""
        return "landlock"

    @property
    def version(self) -> str:
        """Of the kernel's Landlock."""
        return f"ABI {self.kernel.abi}"

    @property
    def user(self) -> str:
        """In words, what the processes run as outside."""
        return OWN_ID if self.ground.as_root else "one's own"

    def tree_bytes(self, limits: Limits) -> int | None:
        """The memory of a whole tree is not bounded."""
        return None

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner of candidates in a folder of its own."""
        staged, bounds, scratch = self.ground.runner(self.interpreter), self._bounds(limits), self._scratch({}, uid)
        argv = [self.interpreter.path, "-I", "-S", "-B", staged, *runner_words(limits, bounds)]
        command = self._confined(argv, (*self.interpreter.trees, staged), scratch, bounds)
        env, ending = _environment(scratch), _ending(scratch)
        return self.ground.channel(command, limits, user=uid, env=env, folder=scratch, ending=ending)

    def run_command(self, command: Command, limits: Limits, uid: int | None) -> CommandRun:
        """Run a command in a folder of its own."""
        scratch = self._scratch(command.contents, uid)
        words = self._confined(command.argv, command_trees(self.interpreter), scratch, self._bounds(limits))
        began = time.monotonic()
        env = {**_environment(scratch), "PATH": COMMAND_PATH}
        process = start(words, user=uid, env=env, folder=scratch, ending=_ending(scratch))
        return wait_for(process, command.stdin, limits, stop=self.ground.stop, began=began)

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """Nothing can be mounted."""
        return no_mounts(self.name, mounts)

    def _bounds(self, limits: Limits) -> dict[str, int]:
        """The limits for the kernel; where all processes of one's own id are counted, beside those that are there."""
        bounds = kernel_limits(limits)
        if not self.ground.as_root:
            bounds["RLIMIT_NPROC"] += _own_threads()
        return bounds

    def _scratch(self, contents: Mapping[str, bytes], uid: int | None) -> str:
        """A new folder for one process, with these files, which belongs to its user."""
        folder = tempfile.mkdtemp(dir=self.ground.stage)
        write_files(Path(folder), contents)
        if uid is not None:
            for place, _, files in os.walk(folder):
                for path in (place, *(os.path.join(place, name) for name in files)):
                    os.chown(path, uid, uid)
        return folder

    def _confined(
        self, argv: Sequence[str], trees: Sequence[str], scratch: str, bounds: Mapping[str, int]
    ) -> list[str]:
        """The command behind a supervisor."""
        return self.kernel.command(
            argv, python=self.interpreter.path, stage=self.ground.stage, readable=trees, scratch=scratch, limits=bounds
        )


def _environment(scratch: str) -> dict[str, str]:
    return {MARKER: "1", "HOME": scratch, "PWD": scratch}


def _ending(scratch: str) -> Ending:
    """The supervisor ends its tree at SIGTERM; what that wrote is removed afterwards."""
    return Ending(ask=subprocess.Popen.terminate, then=partial(remove_tree, scratch))


def find_kind(ground: Ground) -> LandlockKind:
    """Landlock as a kind of sandbox.

    Raises:
        SandboxError: the kernel's is not there or too old, or there is no Python.
    """
    filtering = stage_filter(ground.stage, "confine", seccomp_filter(alone=True, as_caller=not ground.as_root))
    kernel, why = find_landlock(filtered=filtering is not None)
    if kernel is None:
        raise SandboxError(why)
    interpreter = ground.python(own_id=ground.as_root)
    stage_confine(ground.stage, interpreter.path)
    return LandlockKind(kernel=kernel, ground=ground, interpreter=interpreter)


def find_landlock(*, filtered: bool) -> tuple[Landlock | None, str]:
    """A usable Landlock, or None and why there is none.

    Args:
        filtered: whether there is a filter of system calls for this machine; Landlock alone leaves UDP open.
    """
    if not sys.platform.startswith("linux"):
        return None, f"Landlock needs Linux, and this is {sys.platform}"
    if not filtered:
        return (
            None,
            "Landlock alone does not close the network, and there is no filter of system calls for this machine",
        )
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_CREATE, None, ctypes.c_size_t(0), _TELL_VERSION)
    if abi < 0:
        return None, f"the kernel has no Landlock ({os.strerror(ctypes.get_errno())})"
    if abi < _OLDEST:
        return None, f"the kernel's Landlock is version {abi}; the scopes of version {_OLDEST} (Linux 6.12) are needed"
    return Landlock(abi=abi), ""


def _own_threads() -> int:
    """How many threads this user has on the machine: without an id of its own a run is counted together with them."""
    count, user = 0, os.getuid()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == user:
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue
    return count
