"""User ids that belong to nobody, one for each sandbox that runs at the same time.

The kernel counts processes per user id, in older versions over the whole machine, and does not count root's at all. A
shared id such as `nobody` would let strangers' processes eat a candidate's; a listed one would reach someone's files.
"""

import fcntl
import os
import secrets
import stat
import tempfile
from pathlib import Path

from evenhand.errors import SandboxError

__all__ = ["ClaimedUid", "any_free_uid", "free_range"]

_FIRST, _LAST, _COUNT = 200_000, 500_000, 1024


def free_range(passwd: str, subuid: str, subgid: str = "", group: str = "") -> range:
    r"""A range of ids that no account has and nobody may map.

    Args:
        passwd: text of /etc/passwd.
        subuid: of /etc/subuid.
        subgid: of /etc/subgid.
        group: of /etc/group.
    Raises:
        SandboxError: there is none between 200000 and 500000.

    >>> free_range("root:x:0:0::/root:/bin/sh", "ann:100000:65536\nbob:165536:65536")
    range(231744, 232768)
    """
    taken = [(int(f[2]), 1) for f in _fields(passwd) + _fields(group) if len(f) > 2 and f[2].isdecimal()]
    taken += [(int(f[1]), int(f[2])) for f in _fields(subuid) + _fields(subgid) if len(f) == 3 and f[1].isdecimal()]
    for first in range(_FIRST, _LAST, _COUNT):
        if not any(first < start + count and start < first + _COUNT for start, count in taken):
            return range(first, first + _COUNT)
    raise SandboxError("sandbox: every user id from 200000 to 500000 stands in /etc/passwd or /etc/subuid")


def _fields(text: str) -> list[list[str]]:
    """The lines of a colon-separated file."""
    return [line.split(":") for line in text.splitlines() if line and not line.startswith("#")]


def any_free_uid() -> int:
    """An id that belongs to nobody; without root nothing can be claimed, and 1024 make a meeting unlikely."""
    return secrets.choice(free_range(*_texts()))


class ClaimedUid:
    """An id that no other sandbox on this machine has as long as this object is open."""

    def __init__(self) -> None:
        folder = _lock_folder()
        for uid in free_range(*_texts()):
            descriptor = os.open(folder / str(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                continue
            self.uid, self._descriptor = uid, descriptor
            return
        raise SandboxError(f"sandbox: all {_COUNT} user ids are in use by other sandboxes")

    def close(self) -> None:
        """Give it back."""
        os.close(self._descriptor)


def _texts() -> list[str]:
    """What `free_range` reads."""
    return [_text(Path("/etc") / name) for name in ("passwd", "subuid", "subgid", "group")]


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def _lock_folder() -> Path:
    """A folder of root's own; a planted one is refused."""
    folder = Path(tempfile.gettempdir()) / "evenhand-sandbox-uids"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise SandboxError(f"sandbox: {folder} belongs to somebody else or can be written by others; remove it")
    return folder
