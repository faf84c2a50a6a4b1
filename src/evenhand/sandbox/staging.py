"""The folder of a sandbox: what is staged there so that the sandbox's user can read it, and removing what was left."""

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

__all__ = [
    "LONE_IMPORT",
    "hold",
    "new_stage",
    "remove_abandoned",
    "stage_confine",
    "stage_filter",
    "stage_guarded",
    "stage_runner",
    "stage_wasi_host",
    "wasi_runner",
    "write_files",
]

_STAGE = "evenhand-sandbox-"
_LOCK = "held"
_ABANDONED_S = 600.0  # a folder is older than that before anybody asks whether it is held
LONE_IMPORT = "from evenhand.sandbox.literal import Unreadable, decode, encode\n"
_START = "\n\nmain({name: int(value) for name, _, value in (word.partition('=') for word in sys.argv[1:])})\n"
_CONFINE = "\n\nmain(sys.argv[1:])\n"
_COMPILE = (
    "import importlib.util, marshal, sys; code = compile(open(sys.argv[1]).read(), 'runner', 'exec', optimize=2);"
    "open(sys.argv[2], 'wb').write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))"
)


def remove_abandoned(*, age_s: float = _ABANDONED_S) -> None:
    """Remove our own folders whose process was killed before it could; each is held by a lock as long as it lives."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_STAGE}*"):
            found = folder.lstat()
            ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and (folder / _LOCK).is_file()
            if ours and time.time() - found.st_mtime > age_s and (number := hold(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(number)


def hold(folder: Path) -> int | None:
    """A descriptor that holds a folder until it is closed; None where somebody else does."""
    number = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


def new_stage() -> Path:
    """A new folder that others can read."""
    remove_abandoned()
    stage = Path(tempfile.mkdtemp(prefix=_STAGE))
    os.chmod(stage, 0o755)  # noqa: S103 - the sandbox's user reads its programs here
    return stage


def stage_runner(stage: Path, python: str) -> str:
    """Write the runner with its literals; its path."""
    here = Path(__file__).parent
    runner = (here / "runner.py").read_text("utf-8").replace(LONE_IMPORT, "")
    text = (here / "literal.py").read_text("utf-8") + "\n\n" + runner + _START
    return _compile(stage / "runner.py", text, python)


def stage_guarded(stage: Path, python: str) -> tuple[str, str]:
    """Write the runner, and what runs a command, as the first process of a container; their paths."""
    here = Path(__file__).parent
    guard, literal, runner = ((here / f"{name}.py").read_text("utf-8") for name in ("guard", "literal", "runner"))
    text = "\n\n".join([guard, literal, runner.replace(LONE_IMPORT, ""), "lower(sys.argv[1:])\nguard()", _START])
    launching = f"{guard}\n\nlaunch(sys.argv[1:])\n"
    return _compile(stage / "guarded.py", text, python), _compile(stage / "launch.py", launching, python)


def stage_wasi_host(stage: Path) -> str:
    """Write the process that runs a Python of WebAssembly; its path."""
    program = stage / "wasi_host.py"
    program.write_text(
        Path(__file__).with_name("wasi_host.py").read_text("utf-8") + "\n\nmain(sys.argv[1:])\n", "utf-8"
    )
    return str(program)


def wasi_runner() -> str:
    """The runner with its literals, as source, for a Python without descriptors to move and limits to set."""
    here = Path(__file__).parent
    runner = (here / "runner.py").read_text("utf-8").replace(LONE_IMPORT, "")
    return (here / "literal.py").read_text("utf-8") + "\n\n" + runner + "\n\nmain_without_system(int(sys.argv[1]))\n"


def stage_confine(stage: Path, python: str) -> None:
    """Write the supervisor of Landlock's."""
    _compile(stage / "confine.py", Path(__file__).with_name("confine.py").read_text("utf-8") + _CONFINE, python)


def _compile(program: Path, text: str, python: str) -> str:
    """Write a program as one compiled file, by the Python that will read it; its path."""
    target = program.with_suffix(".pyc")
    program.write_text(text, "utf-8")
    command = [python, "-I", "-S", "-c", _COMPILE, str(program), str(target)]
    subprocess.run(command, check=True, timeout=30)  # noqa: S603 - a Python of this machine, our own program
    os.chmod(target, 0o644)
    return str(target)


def stage_filter(stage: Path, name: str, program: bytes | None) -> Path | None:
    """Write a filter of system calls; None where there is none for this machine."""
    if program is None:
        return None
    path = stage / f"{name}.filter"
    path.write_bytes(program)
    os.chmod(path, 0o644)
    return path


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Files below a folder that nobody else writes to yet."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
