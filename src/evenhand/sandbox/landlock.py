"""The second kind of sandbox: Landlock, a filter of system calls, and limits, for where bubblewrap cannot work.

It needs no namespace, so it works inside most containers. It takes rights away and gives no view of its own: names and
sizes of the machine's files and the ids of its processes can still be seen, though neither read, changed nor signalled.
"""

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Landlock", "find_landlock", "own_threads"]

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


def own_threads() -> int:
    """How many threads this user has on the machine: without an id of its own a run is counted together with them."""
    count, user = 0, os.getuid()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == user:
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue
    return count
