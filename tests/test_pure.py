"""Which folders touch nothing outside: no file, clock, network, process, terminal, or randomness of their own.

What they compute can then be checked by hand, and recomputed later from stored records.
"""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "evenhand"

GROUND = ("errors", "terms", "keys", "json_text", "wording", "identity", "repository_text")
PURE = (*GROUND, "scoring", "stats", "composite", "matching", "judges", "integrity")
# Records are handed to analysis, endpoints and the store's cache to the engine, which alone needs clock and chance.
INDOORS = ("analysis", "engine", "evaluate")
# The front door of the library says where the store and `.env` are; it opens neither itself.
FRONT_DOOR = {"pathlib"}

OUTSIDE_MODULES = {
    *("socket", "ssl", "http", "urllib", "aiohttp", "requests", "httpx", "httpx2", "websockets", "openai", "anthropic"),
    *("sqlite3", "sqlalchemy", "pyarrow", "shelve", "dbm"),
    *("subprocess", "multiprocessing", "ctypes"),
    *("pathlib", "shutil", "tempfile", "glob", "io", "mmap", "fcntl", "platformdirs", "dotenv"),
    *("rich", "typer", "click", "readline", "curses"),
    *("xllamacpp", "pydantic_ai", "huggingface_hub"),
}
CLOCK_AND_CHANCE = {"time", "random", "secrets", "uuid", "asyncio", "threading", "os", "sys", "logging", "signal"}
OUTSIDE_CALLS = {"open", "print", "input", "eval", "exec", "compile", "breakpoint"}
CLOCK_CALLS = {"now", "utcnow", "today"}


def files(parts: tuple[str, ...]) -> list[Path]:
    """The modules of some folders or files, as far as they are there yet."""
    return [path for name in parts for path in (*PACKAGE.glob(f"{name}.py"), *sorted(PACKAGE.glob(f"{name}/**/*.py")))]


def touches(source: str, forbidden_modules: set[str], *, clock: bool) -> list[str]:
    """`line: what` for everything in a source that reaches outside."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found += [f"{node.lineno}: imports {name}" for name in names if name.split(".")[0] in forbidden_modules]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            last = called.rpartition(".")[2]
            if called in OUTSIDE_CALLS or (clock and last in CLOCK_CALLS and "." in called):
                found.append(f"{node.lineno}: calls {called}")
            elif clock and chance(called, node):
                found.append(f"{node.lineno}: draws from {called}, which nobody passed in")
    return found


def chance(called: str, call: ast.Call) -> bool:
    """Whether a call draws from numpy's global generator, or seeds a generator from the system."""
    if ".random." not in f".{called}" or called.split(".")[0] not in ("np", "numpy"):
        return False
    name = called.rpartition(".")[2]
    return name not in ("Generator", "PCG64", "SeedSequence", "default_rng") or (
        name == "default_rng" and not call.args
    )


@pytest.mark.parametrize("path", files(PURE), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pure_code_touches_nothing_outside(path: Path) -> None:
    assert not touches(path.read_text("utf-8"), OUTSIDE_MODULES | CLOCK_AND_CHANCE, clock=True)


@pytest.mark.parametrize("path", files(INDOORS), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_engine_analysis_and_evaluate_leave_the_outside_to_providers_and_store(path: Path) -> None:
    allowed = FRONT_DOOR if path.name == "session.py" else set()
    assert not touches(path.read_text("utf-8"), OUTSIDE_MODULES - allowed, clock=False)


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "from pathlib import Path",
        "def f():\n    import aiohttp",
        "import urllib.request as u",
        "open('x')",
        "import time",
        "from datetime import datetime\ndatetime.now()",
        "import numpy as np\nnp.random.rand(3)",
        "import numpy as np\nnp.random.default_rng()",
    ],
)
def test_what_reaches_outside_is_seen(source: str) -> None:
    assert touches(source, OUTSIDE_MODULES | CLOCK_AND_CHANCE, clock=True)


@pytest.mark.parametrize(
    "source", ["import numpy as np\ndef f(rng: np.random.Generator): return rng.random()", "np.random.default_rng(7)"]
)
def test_a_generator_that_is_passed_in_is_no_outside(source: str) -> None:
    assert not touches(source, OUTSIDE_MODULES | CLOCK_AND_CHANCE, clock=True)
