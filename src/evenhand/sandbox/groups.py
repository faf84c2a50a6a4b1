"""Control groups: whether an engine can make them here, and removing those that a killed one left."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["can_group", "own_groups", "remove_empty_groups"]

_MOUNT = Path("/sys/fs/cgroup")
_NEEDED = ("memory", "pids")
_ABANDONED_S = 600.0


def can_group() -> bool:
    """Whether groups that bound memory and processes can be made below one's own."""
    unified = _MOUNT / "cgroup.controllers"
    if unified.is_file():
        held = unified.read_text("utf-8").split()
        return os.access(_MOUNT, os.W_OK) and all(name in held for name in _NEEDED)
    return all(os.access(_MOUNT / name, os.W_OK) and (_MOUNT / name / "tasks").is_file() for name in _NEEDED)


def remove_empty_groups(prefix: str, *, age_s: float = _ABANDONED_S) -> None:
    """Remove groups of our name in which nothing runs, left by a killed engine; a young one may be about to start."""
    for base in own_groups():
        with contextlib.suppress(OSError):
            for group in base.glob(f"{prefix}*"):
                if time.time() - group.stat().st_mtime > age_s:
                    with contextlib.suppress(OSError):
                        group.rmdir()  # which the kernel refuses where anything is in it


def own_groups() -> Iterator[Path]:
    """The folders of the groups that this process is in."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            _, names, path = line.split(":", 2)
            yield _MOUNT / names.removeprefix("name=") / path.lstrip("/")
    yield _MOUNT
