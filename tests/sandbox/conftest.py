"""Real sandboxes for the tests of this folder; where a kind does not work they are skipped by name, with the reason."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.errors import SandboxError
from evenhand.sandbox import Sandbox, SandboxKind


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """The first kind of sandbox, bubblewrap."""
    yield from opened("bubblewrap")


@pytest.fixture(scope="session")
def confined() -> Iterator[Sandbox]:
    """The second kind, Landlock."""
    yield from opened("landlock")


@pytest.fixture(params=["bubblewrap", "landlock"])
def each(request: pytest.FixtureRequest) -> Sandbox:
    """Either kind, for what both hold."""
    found = request.getfixturevalue("box" if request.param == "bubblewrap" else "confined")
    assert isinstance(found, Sandbox)
    return found


def opened(kind: SandboxKind) -> Iterator[Sandbox]:
    """A sandbox of a kind until the tests are over."""
    try:
        found = Sandbox(kind=kind)
    except SandboxError as error:
        pytest.skip(f"needs a sandbox: {error}")
    with found:
        yield found


@pytest.fixture(scope="session")
def running() -> Callable[[str], list[str]]:
    """Processes of this machine whose command line holds a word."""
    return with_word


@pytest.fixture(scope="session")
def gone() -> Callable[[str, float], bool]:
    """Whether no process holds a word, now or within so many seconds."""

    def ended(word: str, within_s: float) -> bool:
        until = time.monotonic() + within_s
        while (left := with_word(word)) and time.monotonic() < until:
            time.sleep(0.05)
        return not left

    return ended


def with_word(word: str) -> list[str]:
    """Ids of the processes whose command line holds it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if word in (process / "cmdline").read_text("utf-8", "replace"):
                found.append(process.name)
        except OSError:
            continue
    return found
