"""Real sandboxes for the tests of this folder; where a kind does not work they are skipped by name, with the reason."""

from collections.abc import Iterator

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
