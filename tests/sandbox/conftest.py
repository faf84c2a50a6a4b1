"""One real sandbox for the tests of this folder; where none works they are skipped by name, with the reason."""

from collections.abc import Iterator

import pytest

from evenhand.errors import SandboxError
from evenhand.sandbox import Sandbox


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """The sandbox of this machine."""
    try:
        opened = Sandbox()
    except SandboxError as error:
        pytest.skip(f"needs a sandbox: {error}")
    with opened:
        yield opened
