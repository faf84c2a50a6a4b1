"""Container engines: what is asked of each, and the command line that starts it.

`crun`, `runc` and `runsc` (gVisor, a kernel of its own) run a bundle that we write: a folder with a `config.json`. They
need root, no image and no daemon. `podman` runs the same root folder; `docker` wants an image, which is made of that
folder, and lets evenhand run without root, since its daemon has it.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evenhand.errors import SandboxError
from evenhand.sandbox.bundle import Run, bundle_config
from evenhand.sandbox.ground import Ground
from evenhand.sandbox.groups import can_group, remove_empty_groups

if TYPE_CHECKING:
    import tarfile

__all__ = ["ENGINES", "Docker", "Engine", "Podman", "Runtime", "find_engine"]

ENGINES = ("crun", "runc", "podman", "docker", "runsc")
"""In the order in which they are tried: the fastest first."""

_IMAGE = "evenhand-sandbox"
_REMOVED_S = 20.0
# Of gVisor: its network has no way out, and what is written to the root goes to memory, or nowhere.
_GVISOR = ("--network=none", "--ignore-cgroups", "--platform=ptrace", "--oci-seccomp")


class Engine(Protocol):
    """What starts containers."""

    @property
    def name(self) -> str:
        """Of the program."""

    @property
    def version(self) -> str:
        """As it says."""

    @property
    def grouped(self) -> bool:
        """Whether it can bound memory and processes of everything inside together."""

    def prepared(self, root: Path) -> "Engine":
        """With whatever is needed once, from the root folder.

        Raises:
            SandboxError: it cannot be had.
        """

    def command(self, run: Run) -> list[str]:
        """The command line that runs a container and ends with it, with its input and output."""

    def remove(self, run: Run) -> None:
        """Remove what is left of a container whose client was killed; nothing where nothing is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """`crun`, `runc` or `runsc`, with a bundle of our own.

    Args:
        path: of the executable.
        version: as it says.
        state: a folder for what it remembers of running containers.
        grouped: whether control groups can be made.
    """

    path: str
    version: str
    state: Path
    grouped: bool

    @property
    def name(self) -> str:
        """Of the program."""
        return os.path.basename(self.path)

    def prepared(self, root: Path) -> Engine:
        """Nothing is needed."""
        return self

    def command(self, run: Run) -> list[str]:
        """Write the bundle; the command line that runs it."""
        config = bundle_config(run, grouped=self.grouped, proc=self.name != "crun")
        (run.folder / "config.json").write_text(json.dumps(config), "utf-8")
        return [*self._base(), "run", "--bundle", str(run.folder), run.name]

    def remove(self, run: Run) -> None:
        """Have it kill and forget the container."""
        if (self.state / run.name).exists() or list(self.state.glob(f"{run.name}*")):
            _quietly([*self._base(), "delete", "--force", run.name])

    def _base(self) -> list[str]:
        """The program and what holds for each of its commands."""
        more: tuple[str, ...] = _GVISOR if self.name == "runsc" else ()
        if self.name == "crun" and not self.grouped:
            more = ("--cgroup-manager=disabled",)
        return [self.path, "--root", str(self.state), *more]


@dataclass(frozen=True, slots=True, kw_only=True)
class Podman:
    """`podman`, with storage of its own, so that nothing of the user's is touched.

    Args:
        path: of the executable.
        version: as it says.
        state: a folder for its storage.
        runtime: what it is to run containers with.
        grouped: whether control groups can be made.
    """

    path: str
    version: str
    state: Path
    runtime: str
    grouped: bool
    name: str = "podman"

    def prepared(self, root: Path) -> Engine:
        """Nothing is needed."""
        return self

    def command(self, run: Run) -> list[str]:
        """The command line that runs the root folder."""
        words = ["run", *([] if self.grouped else ["--cgroups=disabled"]), "--read-only-tmpfs=false", "--passwd=false"]
        words += ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"]
        return [*self._base(), *words, *_flags(run, grouped=self.grouped), "--rootfs", str(run.root), *run.argv]

    def remove(self, run: Run) -> None:
        """Have it kill and forget the container."""
        _quietly([*self._base(), "rm", "--force", "--ignore", "--time", "0", run.name])

    def _base(self) -> list[str]:
        """The program and what holds for each of its commands."""
        folders = [f"--{name}={self.state / folder}" for name, folder in _PODMAN_FOLDERS.items()]
        more = ["--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=none"]
        return [self.path, *folders, *more, f"--runtime={self.runtime}"]


_PODMAN_FOLDERS = {"root": "root", "runroot": "run", "tmpdir": "tmp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Docker:
    """`docker`, with an image of empty folders.

    Args:
        path: of the executable.
        version: of the daemon.
        image: its name, once there is one.
    """

    path: str
    version: str
    image: str = ""
    name: str = "docker"
    grouped: bool = True

    def prepared(self, root: Path) -> Engine:
        """With its image, made where it is not there; what is mounted where is told at each start."""
        import tarfile

        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(root, arcname=".", filter=_of_nobody)
        image = f"{_IMAGE}:{hashlib.sha256(packed.getvalue()).hexdigest()[:12]}"
        if _version_of([self.path, "image", "inspect", image]) is None:
            try:
                command = [self.path, "import", "-", image]
                subprocess.run(command, input=packed.getvalue(), capture_output=True, timeout=60, check=True)  # noqa: S603
            except (OSError, subprocess.SubprocessError) as error:
                raise SandboxError(f"docker: no image could be made of an empty folder ({error})") from error
        return replace(self, image=image)

    def command(self, run: Run) -> list[str]:
        """The command line that runs the image."""
        flags = _flags(run, grouped=True)
        return [self.path, "run", *flags, "--memory-swap", str(run.tree_bytes), self.image, *run.argv]

    def remove(self, run: Run) -> None:
        """Have it kill and forget the container."""
        _quietly([self.path, "rm", "--force", run.name])


def _flags(run: Run, *, grouped: bool) -> list[str]:
    """What docker and podman are told alike."""
    flags = ["--rm", "--interactive", "--name", run.name, "--network", "none", "--read-only", "--cap-drop", "ALL"]
    flags += ["--security-opt", "no-new-privileges", "--ipc", "none", "--hostname", "sandbox"]
    if run.profile is not None:
        flags += ["--security-opt", f"seccomp={run.profile}"]
    if grouped:
        flags += ["--pids-limit", str(run.processes), "--memory", str(run.tree_bytes)]
    flags += ["--user", f"{run.uid}:{run.uid}", "--workdir", run.cwd, "--entrypoint", ""]
    for folder in run.writable:
        flags += ["--tmpfs", f"{folder}:rw,exec,nosuid,nodev,size={run.scratch_bytes},mode=1777"]
    for host, inside in run.mounts:
        flags += ["--volume", f"{host}:{inside}:ro"]
    for name, value in run.env.items():
        flags += ["--env", f"{name}={value}"]
    return flags


def _of_nobody(member: "tarfile.TarInfo") -> "tarfile.TarInfo":
    """The same on every machine."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def _quietly(command: Sequence[str]) -> None:
    """Run a command for what it does."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_REMOVED_S, check=False)  # noqa: S603


def _version_of(command: Sequence[str]) -> str | None:
    """The first number with dots that a program prints, or None where it fails."""
    try:
        ran = subprocess.run(command, capture_output=True, timeout=20, check=True, text=True)  # noqa: S603 - found by us
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    words = [word.strip(",+") for word in ran.stdout.split()]
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


def find_engine(name: str, ground: Ground) -> Engine:
    """An engine whose program is there.

    Args:
        name: one of `ENGINES`.
        ground: whose folder it keeps its state in.
    Raises:
        SandboxError: it cannot be used.
    """
    return _FINDERS[name](name, ground)


def _runtime(name: str, ground: Ground) -> Engine:
    """A runtime that runs a bundle."""
    path = _program(name)
    if not ground.as_root:
        raise SandboxError(f"{name} needs root where it is used without podman or docker")
    version = _version_of([path, "--version"])
    if version is None:
        raise SandboxError(f"{path} does not start")
    remove_empty_groups()
    state = ground.stage / f"state-{name}"
    state.mkdir(mode=0o700, exist_ok=True)
    return Runtime(path=path, version=version, state=state, grouped=name != "runsc" and can_group("memory", "pids"))


def _podman(name: str, ground: Ground) -> Engine:
    """Podman."""
    path = _program(name)
    version = _version_of([path, "--version"])
    runtime = shutil.which("runc") or shutil.which("crun")
    if version is None or runtime is None:
        raise SandboxError(f"{path} does not start" if version is None else "podman has neither crun nor runc")
    state = ground.stage / "state-podman"
    state.mkdir(mode=0o700, exist_ok=True)
    return Podman(
        path=path, version=version, state=state, runtime=runtime, grouped=ground.as_root and can_group("memory", "pids")
    )


def _docker(name: str, ground: Ground) -> Engine:
    """Docker, where its daemon answers."""
    path = _program(name)
    version = _version_of([path, "version", "--format", "{{.Server.Version}}"])
    if not version:
        raise SandboxError("docker is installed, and its daemon does not answer")
    return Docker(path=path, version=version)


def _program(name: str) -> str:
    """Path of an engine that is there."""
    path = shutil.which(name)
    assert path is not None
    return path


_FINDERS: dict[str, Callable[[str, Ground], Engine]] = {
    "crun": _runtime,
    "runc": _runtime,
    "podman": _podman,
    "docker": _docker,
    "runsc": _runtime,
}
