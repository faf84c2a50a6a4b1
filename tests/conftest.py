"""What tests of every folder may ask for."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that a change is told by what it changes. To look for new ones: HYPOTHESIS_SEEK=1.
settings.register_profile("same", derandomize=not os.environ.get("HYPOTHESIS_SEEK"))
settings.load_profile("same")

# The suite starts hundreds of Python processes. Where bytecode is switched off, each would compile the package anew,
# and every worker all tests. Set before xdist starts its workers, which pass it on to what they start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# As evenhand does before it loads the local runtime; here something else may load the runtime first. Without it, its
# threads spin while they wait, and take the cores from the other workers.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

ROOT = Path(__file__).resolve().parents[1]
LONG = ("test_docs_commands.py", "test_pages.py", "test_probe.py", "test_faults.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long tests first, so that no core works alone at the end."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data: EVENHAND_SHARED, or `shared` beside the repository; skips where there is none."""
    named = os.environ.get("EVENHAND_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    if not folder.is_dir():
        source = "EVENHAND_SHARED names" if named else "EVENHAND_SHARED is not set, and there is no"
        pytest.skip(f"needs the shared data folder: {source} {folder}")
    return folder


@pytest.fixture(scope="session")
def embedded_model() -> Path:
    """The weights behind `local/smollm2`, which `make test` pulls; skips where they, or the runtime, are missing."""
    pytest.importorskip("xllamacpp", reason="needs the local runtime: pip install 'evenhand[local]'")
    from evenhand.providers.weights import packaged_path

    path = packaged_path("smollm2")
    if not path.is_file():
        pytest.skip("needs the embedded model: evenhand models pull smollm2")
    return path


@pytest.fixture(scope="session")
def evenhand_process() -> Iterator[list[str]]:
    """The beginning of a command line that runs `evenhand` in a process of its own, forked from one that has imported
    the package; see warm_commands.py. Where signals or the start itself are the claim, start `python -m evenhand`.
    """
    program = str(ROOT / "tests" / "warm_commands.py")
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/socket"
        # A fork takes no threads along, so there must be none.
        one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with subprocess.Popen([sys.executable, program, socket], stdout=subprocess.PIPE, env=one_thread) as server:
            assert server.stdout is not None
            assert server.stdout.readline(), "the process that forks commands did not start"
            yield [sys.executable, "-IS", program, socket]
            server.terminate()


@pytest.fixture(scope="session")
def sandbox_here() -> None:
    """Skips, with the reason, where no sandbox works."""
    from evenhand.sandbox import available

    kind, reason = available()
    if kind is None:
        pytest.skip(f"needs a sandbox: {reason}")
