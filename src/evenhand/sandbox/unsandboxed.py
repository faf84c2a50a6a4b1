"""No sandbox: limits of resources alone, which protect nothing, where the caller allowed that."""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.sandbox.channel import Channel
from evenhand.sandbox.command import LAUNCH, wait_for
from evenhand.sandbox.ground import COMMAND_PATH, MARKER, Command, Ground, SandboxKind, no_mounts, runner_words
from evenhand.sandbox.interpreter import Interpreter
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.process import start
from evenhand.sandbox.staging import write_files
from evenhand.sandbox.suite import kernel_limits

__all__ = ["UnsandboxedKind", "find_kind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsandboxedKind:
    """Nothing holds the code.

    Args:
        ground: with the runner.
        interpreter: the Python that runs candidates.
    """

    ground: Ground
    interpreter: Interpreter
    wants_id: bool = False
    forks: bool = True
    version: str = ""
    user: str = "one's own"

    @property
    def name(self) -> SandboxKind:
        """Of the kind."""
        return "unsandboxed"

    def tree_bytes(self, limits: Limits) -> int | None:
        """The memory of a whole tree is not bounded."""
        return None

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner of candidates."""
        python = [self.interpreter.path, "-I", "-S", "-B", self.ground.runner(self.interpreter)]
        return self.ground.channel([*python, *runner_words(limits)], limits, user=None, env={MARKER: self.name})

    def run_command(self, command: Command, limits: Limits, uid: int | None) -> CommandRun:
        """Run a command in a folder of its own, behind the launcher that lowers the limits."""
        words = [f"{name}={value}" for name, value in kernel_limits(limits).items()]
        launch = [self.interpreter.path, "-I", "-S", "-B", "-c", LAUNCH, *words, "--", *command.argv]
        with tempfile.TemporaryDirectory(dir=self.ground.stage) as folder:
            write_files(Path(folder), command.contents)
            began = time.monotonic()
            env = {MARKER: self.name, "PATH": COMMAND_PATH, "HOME": folder}
            process = start(launch, user=None, env=env, folder=folder)
            return wait_for(process, command.stdin, limits, stop=self.ground.stop, began=began)

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """Nothing can be mounted."""
        return no_mounts(self.name, mounts)


def find_kind(ground: Ground) -> UnsandboxedKind:
    """It is always there.

    Raises:
        SandboxError: there is no Python.
    """
    return UnsandboxedKind(ground=ground, interpreter=ground.python(own_id=False))
