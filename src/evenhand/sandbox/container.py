"""A kind of sandbox: a container engine, for where bubblewrap is not there or cannot work and an engine can."""

import itertools
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evenhand.errors import SandboxError
from evenhand.sandbox.bundle import Run
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.command import wait_for
from evenhand.sandbox.engine import ENGINES, Engine, find_engine
from evenhand.sandbox.ground import COMMAND_PATH, MARKER, Command, Ground, SandboxKind, runner_words
from evenhand.sandbox.groups import tree_bytes
from evenhand.sandbox.interpreter import Interpreter, command_trees
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import Ending, start
from evenhand.sandbox.seccomp import seccomp_profile
from evenhand.sandbox.staging import stage_guarded, write_files
from evenhand.sandbox.suite import kernel_limits
from evenhand.sandbox.uids import any_free_uid

__all__ = ["ContainerKind", "find_kinds"]

_NAME = "evenhand-sandbox-"
_RUNNER, _LAUNCHER, _GIVEN = "/evenhand-runner", "/evenhand-launcher", "/evenhand-given"
_LINKS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")
_FOLDERS = ("dev", "proc", "etc")
_WRITABLE = ("tmp", "work")
_OF_CLIENT = ("PATH", "HOME", "USER", "TMPDIR", "LANG", "XDG_", "DOCKER_", "CONTAINER", "PODMAN_", "STORAGE_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerKind:
    """An engine as a kind of sandbox.

    Args:
        engine: what starts containers.
        ground: with the guard and the runner.
        interpreter: the Python that runs candidates.
        root: the root folder of each container.
        runner_path: the runner with the guard, compiled.
        launcher_path: what runs commands, compiled.
        profile: the filter of system calls, or None where there is none for this machine.
    """

    engine: Engine
    ground: Ground
    interpreter: Interpreter
    root: Path
    runner_path: str
    launcher_path: str
    profile: Path | None
    wants_id: bool = True
    forks: bool = True
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def name(self) -> SandboxKind:
        """Of the kind."""
        return "container"

    @property
    def version(self) -> str:
        """Of the engine."""
        return f"{self.engine.name} {self.engine.version}".strip()

    @property
    def user(self) -> str:
        """In words, what the processes run as outside."""
        return "an id that belongs to nobody"

    def tree_bytes(self, limits: Limits) -> int | None:
        """What the engine's group holds a whole tree to, where it makes one."""
        return tree_bytes(limits) if self.engine.grouped else None

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner of candidates."""
        argv = [
            self.interpreter.path,
            "-I",
            "-S",
            "-B",
            _RUNNER,
            *runner_words(limits, self._bounds(limits)),
            "guarded=1",
        ]
        trees = [*self._same(self.interpreter.trees), (self.runner_path, _RUNNER)]
        run = self._run(argv, trees, limits, uid, cwd="/tmp", env={})  # noqa: S108 - the container's own
        command = self.engine.command(run)
        return self.ground.channel(
            command, limits, user=None, env=_of_client(), folder=str(run.folder), ending=self._ending(run)
        )

    def run_command(self, command: Command, limits: Limits, uid: int | None) -> CommandRun:
        """Run a command behind a launcher that copies its files and lowers the limits."""
        given = Path(tempfile.mkdtemp(dir=self.ground.stage))
        os.chmod(given, 0o755)  # noqa: S103 - the container's user reads it
        (given / "files").mkdir()
        write_files(given / "files", command.contents)
        (given / "stdin").write_bytes(command.stdin)
        bounds = [f"{name}={value}" for name, value in self._bounds(limits).items()]
        argv = [self.interpreter.path, "-I", "-S", "-B", _LAUNCHER, _GIVEN, *bounds, "--", *command.argv]
        trees = [*self._same(command_trees(self.interpreter)), (self.launcher_path, _LAUNCHER), (str(given), _GIVEN)]
        run = self._run(argv, [*trees, *command.mounts], limits, uid, cwd="/work", env={"PATH": COMMAND_PATH})
        if command.mounts:
            run = replace(run, root=_root(run.folder, self.interpreter))
            for _, inside in command.mounts:
                _place(run.root / inside[1:], folder=True)
        ending = self._ending(run, given)
        began = time.monotonic()
        process = start(self.engine.command(run), user=None, env=_of_client(), folder=str(run.folder), ending=ending)
        return wait_for(process, None, limits, stop=self.ground.stop, began=began)

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """What can be mounted, checked."""
        return self.ground.mounts(mounts)

    def _bounds(self, limits: Limits) -> dict[str, int]:
        """The limits for the kernel; gVisor's has no message queues, and refuses to bound them."""
        bounds = kernel_limits(limits)
        if self.engine.name == "runsc":
            del bounds["RLIMIT_MSGQUEUE"]
        return bounds

    def _same(self, trees: Sequence[str]) -> list[tuple[str, str]]:
        """Trees at their own places."""
        return [(os.path.realpath(tree), tree) for tree in trees]

    def _run(
        self,
        argv: Sequence[str],
        mounts: Sequence[tuple[str, str]],
        limits: Limits,
        uid: int | None,
        *,
        cwd: str,
        env: Mapping[str, str],
    ) -> Run:
        """One container of a new name."""
        name = f"{_NAME}{os.getpid()}-{next(self._numbers)}-{secrets.token_hex(4)}"
        folder = self.ground.stage / name
        folder.mkdir(mode=0o700)
        return Run(
            name=name,
            folder=folder,
            root=self.root,
            argv=argv,
            env={MARKER: "1", "HOME": "/tmp", "PWD": cwd, **env},  # noqa: S108 - the container's own
            cwd=cwd,
            uid=any_free_uid() if uid is None else uid,
            mounts=mounts,
            scratch_bytes=limits.scratch_bytes,
            tree_bytes=tree_bytes(limits),
            processes=limits.processes + 1,
            profile=self.profile,
        )

    def _ending(self, run: Run, *folders: Path) -> Ending:
        """The container ends when its input does; what is left of it is removed afterwards."""

        def then() -> None:
            self.engine.remove(run)
            for folder in (run.folder, *folders):
                shutil.rmtree(folder, ignore_errors=True)

        return Ending(ask=_close_input, then=then)


def _of_client() -> dict[str, str]:
    """What an engine's client finds its daemon and its settings by, and no secret of ours."""
    return {name: text for name, text in os.environ.items() if name.startswith(_OF_CLIENT)}


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    """Let nobody hold the container's input any more."""
    assert process.stdin is not None
    process.stdin.close()


def find_kinds(ground: Ground) -> Iterator[ContainerKind]:
    """The container engines that are there, or the one that was asked for, in the order in which they are tried.

    Raises:
        SandboxError: at the end, with the reason of each that is not.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxError(f"containers of this machine's Python need Linux, and this is {sys.platform}")
    names = ENGINES if ground.engine is None else (ground.engine,)
    there = [name for name in names if shutil.which(name)]
    if not there:
        raise SandboxError(f"no container engine is installed ({', '.join(names)})")
    interpreter = ground.python(own_id=True)
    staged = stage_guarded(ground.stage, interpreter.path)
    root, profile, reasons = _root(ground.stage, interpreter), _profile(ground.stage), []
    for name in there:
        try:
            engine = find_engine(name, ground).prepared(root)
        except SandboxError as error:
            reasons.append(str(error))
            continue
        yield ContainerKind(
            engine=engine,
            ground=ground,
            interpreter=interpreter,
            root=root,
            runner_path=staged[0],
            launcher_path=staged[1],
            profile=profile,
        )
    if reasons:
        raise SandboxError("; ".join(reasons))


def _root(stage: Path, interpreter: Interpreter) -> Path:
    """The root folder: empty, but for the places at which something is mounted, and the usual links."""
    root = stage / "root"
    root.mkdir(mode=0o755)
    for name in _FOLDERS:
        (root / name).mkdir()
    for name in _WRITABLE:  # some engines give a folder in memory the mode of what it covers
        (root / name).mkdir()
        os.chmod(root / name, 0o1777)  # noqa: S103 - in memory, and the container's own
    for link in _LINKS:
        if os.path.islink(link):
            (root / link[1:]).symlink_to(os.readlink(link))
    for tree in (*interpreter.trees, *command_trees(interpreter)):
        _place(root / tree[1:], folder=os.path.isdir(tree))
    for name, folder in ((_RUNNER, False), (_LAUNCHER, False), (_GIVEN, True)):
        _place(root / name[1:], folder=folder)
    return root


def _place(path: Path, *, folder: bool) -> None:
    """Something to mount at."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if folder:
        path.mkdir(exist_ok=True)
    else:
        path.touch()


def _profile(stage: Path) -> Path | None:
    """The filter of system calls in the engines' form."""
    profile = seccomp_profile()
    if profile is None:
        return None
    path = stage / "seccomp.json"
    path.write_text(json.dumps(profile), "utf-8")
    return path
