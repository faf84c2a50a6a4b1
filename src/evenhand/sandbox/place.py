"""Where foreign code runs: a staged folder, and the first kind of sandbox that works on this machine."""

import os
import shutil
import threading
from collections.abc import Callable, Iterable

from evenhand.errors import SandboxError
from evenhand.sandbox import bubblewrap, container, landlock, unsandboxed, wasi
from evenhand.sandbox.ground import Ground, Kind, SandboxKind
from evenhand.sandbox.staging import hold, new_stage

__all__ = ["FINDERS", "Place"]

FINDERS: dict[SandboxKind, Callable[[Ground], Iterable[Kind]]] = {
    "bubblewrap": lambda ground: [bubblewrap.find_kind(ground)],
    "container": container.find_kinds,
    "wasi": lambda ground: [wasi.find_kind(ground)],
    "landlock": lambda ground: [landlock.find_kind(ground)],
    "unsandboxed": lambda ground: [unsandboxed.find_kind(ground)],
}
"""What finds each kind, in the order in which they are tried."""


class Place:
    """A folder that the sandbox's user can read, and the kind that was opened in it.

    Args:
        interpreter: the Python to run candidates with; found where it is not named.
        stop: ends every waiting when set.
        engine: the container engine to use; the first that works where it is not named.
    """

    def __init__(self, interpreter: str | None, stop: threading.Event, engine: str | None = None) -> None:
        self._stage = new_stage()
        self._held = hold(self._stage)
        self._reasons: list[str] = []
        as_root = os.geteuid() == 0
        self._ground = Ground(stage=self._stage, stop=stop, as_root=as_root, named=interpreter, engine=engine)
        self.kind: Kind | None = None

    @property
    def wants_id(self) -> bool:
        """Whether each run is to have, and can be given, a user id of its own."""
        return self.kind is not None and self.kind.wants_id and self._ground.as_root

    @property
    def why_none(self) -> str:
        """Why the kinds that were tried cannot be used."""
        return "; ".join(dict.fromkeys(self._reasons))

    def open(self, name: SandboxKind, attempt: Callable[[Kind], None]) -> bool:
        """Take a kind where it is there and an attempt to use it succeeds; whether it did, else the reason is kept."""
        try:
            for kind in FINDERS[name](self._ground):
                self.kind = kind
                try:
                    attempt(kind)
                except (SandboxError, OSError) as error:
                    self.refuse(f"{name} ({kind.version}): {error}")
                    self.kind = None
                else:
                    return True
        except (SandboxError, OSError) as error:
            self.refuse(str(error))
        return False

    def refuse(self, reason: str) -> None:
        """Keep one more reason."""
        self._reasons.append(reason)

    def close(self) -> None:
        """Do what the kinds left to be done, and remove the folder."""
        self._ground.closing.close()
        shutil.rmtree(self._stage, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None
