"""The Python that runs candidates: one that the sandbox's user can read, and what it needs to be seen."""

import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Interpreter", "command_trees", "find_interpreter", "readable_by_others"]


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
