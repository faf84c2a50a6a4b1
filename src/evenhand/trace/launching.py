"""The harness as a child process: its environment, its signals, its end.

It runs in a session of its own, so that a signal reaches it once, from here, whether it was sent to this process alone
or typed at the terminal; and so that all it started can be told as well.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence

from evenhand.errors import InvalidInput

__all__ = ["harness_environment", "run_harness", "signal_name", "without_secrets"]

_PASSED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")  # the second is what older clients read
_LOOPBACK = ("127.0.0.1", "localhost")
DUMMY_KEY = "evenhand-trace"
_SECRET = re.compile(r"key|token|secret|passw|credential|authorization|cookie", re.IGNORECASE)
_SHAPES = (  # what says by its own form that it is secret: a header, a field, a user of an address, a key's beginning
    re.compile(
        r"(?P<keep>(?:key|authorization|cookie|token|secret|passw(?:or)?d|credential)s?[\"']?[ \t]*:[ \t]*)"
        r"(?P<hide>\"[^\"]*\"|'[^']*'|(?:(?:bearer|basic|token)[ \t]+)?[^\s,;}\"'][^\s,;}\"']*)",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>\b(?:bearer|basic)[ \t]+)(?P<hide>[^\s,;\"']{4,})", re.IGNORECASE),
    re.compile(r"(?P<keep>://)(?P<hide>[^/\s?#@]+)(?=@)", re.IGNORECASE),
    re.compile(r"(?P<keep>)(?P<hide>(?<![\w-])(?:sk|pk|rk|gsk|hf|ghp|gho|xai|AIza)[-_]?[A-Za-z0-9_-]{12,})"),
)
_PATIENCE = 3
_LEAST_SECRET = 8  # shorter values of the environment stand in too many other words


def harness_environment(environ: Mapping[str, str], base_url: str, *, answered_here: bool) -> dict[str, str]:
    """The child's environment: the proxy's address, and no other proxy on the way to it.

    Args:
        environ: the environment before.
        base_url: of the recording proxy.
        answered_here: replies are scripted or local, so that no key is needed; clients that refuse to start without
            one get a placeholder where none is set.

    >>> harness_environment({"NO_PROXY": "a.org"}, "http://127.0.0.1:1/t/v1", answered_here=False)["NO_PROXY"]
    'a.org,127.0.0.1,localhost'
    """
    child = {**environ, **dict.fromkeys(_ADDRESSES, base_url)}
    for name in ("NO_PROXY", "no_proxy"):
        listed = [entry for entry in environ.get(name, "").split(",") if entry]
        child[name] = ",".join([*listed, *(host for host in _LOOPBACK if host not in listed)])
    if answered_here and not environ.get("OPENAI_API_KEY"):
        child["OPENAI_API_KEY"] = DUMMY_KEY
    return child


def without_secrets(command: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """A command line as it may be kept, as text: what is secret by its name or its form becomes `***`.

    A word that is no text keeps its bytes as escapes.

    >>> without_secrets(["run", "--api-key", "abc", "--auth-token=abc", "hf_12345678"], {"HF_TOKEN": "hf_12345678"})
    ['run', '--api-key', '***', '--auth-token=***', '***']
    """
    values = [value for name, value in environ.items() if _SECRET.search(name) and len(value) >= _LEAST_SECRET]
    kept: list[str] = []
    for number, word in enumerate(command):
        before = command[number - 1] if number else ""
        word = word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        option, equals, _ = word.partition("=")
        if before.startswith("-") and "=" not in before and _SECRET.search(before) and not word.startswith("--"):
            word = "***"
        elif equals and _SECRET.search(option):
            word = f"{option}=***"
        for value in values:
            word = word.replace(value, "***")
        for shape in _SHAPES:
            word = shape.sub(r"\g<keep>***", word)
        kept.append(word)
    return kept


def signal_name(number: int) -> str:
    """The name of a signal; those for a program's own use have none of their own.

    >>> signal_name(9), signal_name(40)
    ('SIGKILL', 'signal 40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def run_harness(command: Sequence[str], environ: Mapping[str, str], *, stdout: int | None = None) -> int:
    """Run the harness to its end, passing signals on.

    Args:
        command: program and arguments; no shell.
        environ: its whole environment.
        stdout: a file descriptor that its output goes to; None for ours.
    Returns:
        Its exit code; negative is the signal that ended it.
    Raises:
        InvalidInput: it cannot be started.
    """
    program = command[0]
    if shutil.which(program, path=environ.get("PATH")) is None:
        raise InvalidInput(f"{program!r}: no such command; write the harness's command after '--'")
    try:
        process = await asyncio.create_subprocess_exec(
            *command, env=dict(environ), stdout=stdout, start_new_session=True
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"{program!r}: cannot be started ({reason}); check the command after '--'") from error
    loop = asyncio.get_running_loop()
    tell = _teller(process.pid)
    passed = [getattr(signal, name) for name in _PASSED if hasattr(signal, name)]
    installed = []
    for number in passed:
        # Outside the main thread, or on a system without signals, the child is left to the terminal.
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop.add_signal_handler(number, tell, number)
            installed.append(number)
    try:
        return await process.wait()
    finally:
        for number in installed:
            loop.remove_signal_handler(number)
        if process.returncode is None:
            _tell(process.pid, signal.SIGTERM)


def _teller(group: int) -> Callable[[int], None]:
    """Passes signals on; a harness that was asked to end twice and did not is ended the third time."""
    asked = 0

    def tell(number: int) -> None:
        nonlocal asked
        asked += number in (signal.SIGINT, signal.SIGTERM)
        _tell(group, signal.SIGKILL if asked >= _PATIENCE else number)

    return tell


def _tell(group: int, number: int) -> None:
    """Send a signal to the harness and all that it started in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
