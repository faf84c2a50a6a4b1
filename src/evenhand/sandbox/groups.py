"""Control groups: a bound on the memory of everything inside a sandbox together.

Limits of resources are of each process; a group is of all of them. (The number of processes needs no group: its limit
is counted for the sandbox alone. In a group it would count what has ended and waits to be reaped.) Groups can be made
as root: below evenhand's own group where each controller has a tree (version 1), else at the top, where the controllers
are given on (version 2).
"""

import contextlib
import json
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from evenhand.sandbox.limits import Limits

__all__ = ["Gate", "Group", "Groups", "can_group", "own_groups", "remove_empty_groups", "tree_bytes"]

_MOUNT = Path("/sys/fs/cgroup")
_TREE_TIMES = 2
_OF_ENGINES = ("memory", "pids")
_ABANDONED_S = 600.0
_EMPTIES_S = 2.0
_TOLD_S = 20.0
_NAME = "evenhand-sandbox-"


def tree_bytes(limits: Limits) -> int:
    """What a whole tree may use where its memory is bounded without being asked for."""
    return limits.tree_bytes or _TREE_TIMES * limits.memory_bytes + limits.scratch_bytes


def can_group(*names: str) -> bool:
    """Whether groups can be made that bound what these controllers do; memory where none is named."""
    names = names or ("memory",)
    if (_MOUNT / "cgroup.controllers").is_file():
        given = (_MOUNT / "cgroup.subtree_control").read_text("utf-8").split()
        return os.access(_MOUNT, os.W_OK) and all(name in given for name in names)
    return len(_bases(*names)) == len(names) and all(os.access(base, os.W_OK) for base in _bases(*names))


def _bases(*wanted: str) -> list[Path]:
    """The folders in which groups are made: one where the controllers share a tree, else one for each."""
    if (_MOUNT / "cgroup.controllers").is_file():
        return [_MOUNT]
    found = []
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text("utf-8").splitlines():
            _, names, path = line.split(":", 2)
            base = _MOUNT / names / path.lstrip("/")
            if names in wanted and (base / "tasks").is_file():
                found.append(base)
    return found


class Group:
    """A group that bounds memory; made when the first process is put in.

    Args:
        name: of its folder.
        base: the group that it lies in.
    """

    def __init__(self, name: str, base: Path) -> None:
        self._folder = base / name
        self._memory = 0

    def take(self, process: int, memory: int) -> None:
        """Put a process in, and with it all that it will start.

        Args:
            process: its id.
            memory: bytes of all together, swapped out ones included where the kernel counts them.
        Raises:
            OSError: the kernel does not.
        """
        if self._memory != memory or not self._folder.is_dir():
            self._make(memory)
        (self._folder / "cgroup.procs").write_text(str(process), "ascii")

    def _make(self, memory: int) -> None:
        """Make it where it is not there, and set its bounds: those of its version."""
        if not self._folder.is_dir():
            self._folder.mkdir()
            self._memory = 0
        names = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
        if 0 < self._memory < memory:
            names.reverse()  # memory alone may never be given more than memory and swap together
        for name, bound in [*((name, memory) for name in names), ("memory.max", memory), ("memory.swap.max", 0)]:
            if (self._folder / name).is_file():
                (self._folder / name).write_text(str(bound), "ascii")
        self._memory = memory

    def attempt(self) -> None:
        """Make it and remove it, to see whether that can be done.

        Raises:
            OSError: it cannot.
        """
        self._make(1 << 30)
        self._folder.rmdir()

    def remove(self) -> None:
        """Remove it once all in it have ended; what does not end in time is left to `remove_empty_groups`."""
        until = time.monotonic() + _EMPTIES_S
        while self._folder.is_dir():
            try:
                self._folder.rmdir()
            except OSError:
                if time.monotonic() > until:
                    return
                time.sleep(0.01)


class Groups:
    """One group for each user id, used again for each of its runs."""

    def __init__(self) -> None:
        (self._base,) = _bases("memory")
        self._of: dict[int, Group] = {}

    @classmethod
    def found(cls, closing: contextlib.ExitStack) -> Self | None:
        """Groups that are removed when a sandbox is closed; None where none can be made, tried by making one."""
        if not can_group():
            return None
        remove_empty_groups()
        groups = cls()
        try:
            groups.of(0).attempt()
        except OSError:
            return None
        closing.callback(groups.close)
        return groups

    def of(self, uid: int) -> Group:
        """The group of a user id."""
        return self._of.setdefault(uid, Group(f"{_NAME}{os.getpid()}-{uid}", self._base))

    def close(self) -> None:
        """Remove them all."""
        while self._of:
            self._of.popitem()[1].remove()


class Gate:
    """Bubblewrap waits at it with its first process made, until that is in its group.

    Args:
        group: to put it in.
        memory: bytes of all together.
    """

    def __init__(self, group: Group, memory: int) -> None:
        self._group, self._memory = group, memory
        self._told, self._tells = os.pipe()
        self._waits, self._opens = os.pipe()

    @property
    def keep(self) -> list[int]:
        """The descriptors that bubblewrap inherits."""
        return [self._tells, self._waits]

    @property
    def words(self) -> list[str]:
        """What bubblewrap is told of it."""
        return ["--info-fd", str(self._tells), "--block-fd", str(self._waits)]

    def open(self) -> None:
        """Let it go on, in its group; where it tells nothing, it has failed, and says so itself.

        Raises:
            OSError: it cannot be put in its group, and does not go on.
        """
        os.close(self._tells)
        os.close(self._waits)
        self._tells = self._waits = -1
        process = self._first_process()
        if process is not None:
            self._group.take(process, self._memory)
            os.write(self._opens, b"1")

    def close(self) -> None:
        """Close what is open."""
        for number in (self._told, self._tells, self._waits, self._opens):
            if number >= 0:
                os.close(number)

    def _first_process(self) -> int | None:
        """The id of the first process, as bubblewrap tells it."""
        told, until = b"", time.monotonic() + _TOLD_S
        poll = select.poll()
        poll.register(self._told, select.POLLIN)
        while not told.rstrip().endswith(b"}"):
            if not poll.poll(max(0, 1000 * (until - time.monotonic()))):
                return None
            part = os.read(self._told, 4096)
            if not part:
                return None
            told += part
        number = json.loads(told)["child-pid"]
        assert isinstance(number, int)
        return number


def remove_empty_groups(*, age_s: float = _ABANDONED_S) -> None:
    """Remove groups of ours in which nothing runs and whose evenhand is gone; a young one may be about to be used."""
    for base in own_groups():
        with contextlib.suppress(OSError):
            for group in base.glob(f"{_NAME}*"):
                if _abandoned(group.name) and time.time() - group.stat().st_mtime > age_s:
                    with contextlib.suppress(OSError):
                        group.rmdir()  # which the kernel refuses where anything is in it


def _abandoned(name: str) -> bool:
    """Whether the process that a group's name holds is gone."""
    process = name.removeprefix(_NAME).partition("-")[0]
    return process.isdecimal() and not Path(f"/proc/{process}").exists()


def own_groups() -> Iterator[Path]:
    """The folders in which engines and evenhand itself make groups."""
    yield from dict.fromkeys([*_bases(*_OF_ENGINES), _MOUNT])
