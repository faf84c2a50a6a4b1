"""One traced run: proxy up, harness through, calls kept; then what is asked again, while the keys are still at hand."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.trace.files import write_trace
from evenhand.trace.launching import harness_environment, run_harness, signal_name, without_secrets
from evenhand.trace.proxy import Answerer, Forward, Proxy
from evenhand.trace.recording import Recorder

__all__ = ["Afterwards", "TracedRun", "trace"]

Afterwards = Callable[[Proxy, Path], Awaitable[None]]
"""What is done between the harness's end and the proxy's; it is given the proxy and the folder of the trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRun:
    """What became of a harness behind the proxy.

    Args:
        exit_code: of the harness; None where a signal ended it.
        ended_by: that signal's name, `signal 40` where it has none.
        n_calls: all calls, readable or not.
        strangers: requests that were refused, since they had no token or another host.
        about: what `trace.json` holds.
    """

    exit_code: int | None
    ended_by: str | None
    n_calls: int
    strangers: int
    about: Mapping[str, Any]


async def trace(
    command: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    *,
    to: Forward | Answerer,
    stdout: int | None = None,
    keep_headers: bool = False,
    afterwards: Afterwards | None = None,
) -> TracedRun:
    """Run a harness behind the proxy and keep its calls, however it ends.

    Args:
        command: the harness.
        environ: the environment before; see `harness_environment`.
        folder: where the trace is put, from `new_folder`.
        to: where its calls go.
        stdout: a file descriptor for the harness's output; None for ours.
        keep_headers: hold headers in memory for `afterwards`; they are never written.
        afterwards: see `Afterwards`.
    Raises:
        InvalidInput: the harness cannot be started.
        StoreError: the trace cannot be kept.
    """
    recorder = Recorder()
    began = time.time()
    try:
        async with Proxy(recorder, to=to, keep_headers=keep_headers) as proxy:
            answered_here = isinstance(to, Answerer)
            child = harness_environment(environ, proxy.base_url, answered_here=answered_here)
            ended = await run_harness(command, child, stdout=stdout)
            proxy.open = False  # what the harness left running must not ask on behind the trace
            recorder.end_all()
            exit_code, ended_by = (ended, None) if ended >= 0 else (None, signal_name(-ended))
            about = {
                "command": without_secrets(command, environ),
                "exit_code": exit_code,
                "ended_by": ended_by,
                "answered_by": to.name if isinstance(to, Answerer) else without_secrets([to.base], environ)[0],
                "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
                "duration_s": round(time.time() - began, 3),
                "strangers": proxy.strangers,
            }
            whole = write_trace(folder, about, recorder.lines())
            if afterwards is not None:
                await afterwards(proxy, folder)
    finally:
        recorder.close()
    return TracedRun(
        exit_code=exit_code,
        ended_by=ended_by,
        n_calls=recorder.n_calls,
        strangers=proxy.strangers,
        about=whole,
    )
