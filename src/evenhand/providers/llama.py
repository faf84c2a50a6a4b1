"""The llama.cpp runtime, as xllamacpp wraps it: loading a model, grammars, and the pieces of a streamed reply."""

import os
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from evenhand.errors import InvalidInput, ProviderError, UnsupportedParameter
from evenhand.terms import Reply, TokenChoice, Usage

__all__ = ["Gathered", "load", "runtime_version", "schema_grammar"]

_BATCH = 128  # tokens of a prompt between two chances to stop; 512 would save 6 % of its CPU time
_EXTRA = 'local models need the extra "local"; install it with: pip install "evenhand[local]"'
_PROBE = """
import sys
import xllamacpp as x
p = x.CommonParams()
p.model.path, p.n_ctx, p.n_parallel, p.verbosity, p.port, p.warmup = sys.argv[1], 256, 1, 1, 0, False
try:
    x.Server(p)
except Exception:
    sys.exit(1)
"""


def runtime_version() -> str:
    """The runtime's version, without loading it.

    Raises:
        InvalidInput: it is not installed.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("xllamacpp")
    except PackageNotFoundError as error:
        raise InvalidInput(_EXTRA) from error


def load(path: Path, *, slots: int, threads: int, context: int) -> Any:
    """A loaded model, which can be called from several threads at once.

    Args:
        slots: calls answered at once.
        threads: of computation, over all slots.
        context: tokens of each slot.
    Raises:
        InvalidInput: the runtime is missing or cannot load the file; llama.cpp's own reason is quoted.
    """
    runtime = _runtime()
    options = runtime.CommonParams()
    options.model.path = str(path)
    options.n_parallel, options.n_ctx = slots, slots * context
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
    options.n_batch = options.n_ubatch = _BATCH
    options.cache_ram_mib = 0  # its default keeps up to 8 GiB of old prompts
    options.verbosity, options.warmup, options.ui = 0, False, False
    options.hostnames, options.port, options.api_keys = ["127.0.0.1"], 0, [secrets.token_urlsafe(32)]
    try:
        return runtime.Server(options)
    except (RuntimeError, ValueError) as error:
        raise InvalidInput(
            f"{path}: the runtime cannot load it ({_why_not(path)}); fetch the file again, "
            "or lower EVENHAND_LOCAL_CONTEXT if memory is short"
        ) from error


def schema_grammar(schema: str) -> str:
    """The grammar of a JSON schema, given as JSON.

    Raises:
        UnsupportedParameter: the runtime finds none.
    """
    try:
        return str(_runtime().json_schema_to_grammar(schema))
    except (ValueError, RuntimeError) as error:
        raise UnsupportedParameter(
            f"local: the schema has no grammar ({str(error)[:200]})", provider="local", parameter="schema"
        ) from error


class Gathered:
    """What one generation sends, piece by piece; `take` runs in the worker thread and must not raise."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self.fault: Mapping[str, Any] | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._tokens: list[TokenChoice] = []
        self._finish: str | None = None
        self._usage = Usage()

    def take(self, chunk: str) -> bool:
        """Keep one chunk; True stops the generation."""
        try:
            self._keep(msgspec.json.decode(chunk))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self.fault = {"message": f"an unreadable piece of a reply ({error})", "code": 500}
        return self._stop.is_set() or self.fault is not None

    def _keep(self, chunk: Mapping[str, Any]) -> None:
        if "error" in chunk:
            self.fault = chunk["error"] if isinstance(chunk["error"], dict) else {"message": str(chunk["error"])}
            return
        for choice in chunk.get("choices", ()):
            delta = choice.get("delta") or {}
            self._text.append(delta.get("content") or "")
            self._reasoning.append(delta.get("reasoning_content") or "")
            self._tokens += [_token(token) for token in (choice.get("logprobs") or {}).get("content") or ()]
            self._finish = choice.get("finish_reason") or self._finish
        if usage := chunk.get("usage"):
            self._usage = Usage(
                input_tokens=usage.get("prompt_tokens"),
                cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
                output_tokens=usage.get("completion_tokens"),
            )

    def reply(self, model: str, restored: Callable[[str], str]) -> Reply:
        """The whole, once the generation has ended by itself."""
        if self._finish is None:
            raise ProviderError("local: the generation was stopped", provider="local", code="timeout", retryable=True)
        return Reply(
            text=restored("".join(self._text)),
            finish="stop" if self._finish == "stop" else "length" if self._finish == "length" else "other",
            reasoning="".join(self._reasoning) or None,
            usage=self._usage,
            logprobs=tuple(self._tokens),
            model=model,
        )


def _runtime() -> Any:
    """The runtime's module."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read once, when the library is loaded
    try:
        import xllamacpp
    except ModuleNotFoundError as error:
        raise InvalidInput(_EXTRA) from error
    except ImportError as error:
        raise InvalidInput(f"local models: xllamacpp does not load on this system ({error})") from error
    return xllamacpp


def _why_not(path: Path) -> str:
    """What llama.cpp says while it fails to load a file; asked in a process of its own, since it says so on stderr."""
    try:
        done = subprocess.run(  # noqa: S603 (our own interpreter)
            [sys.executable, "-c", _PROBE, str(path)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        return "no reason found"
    lines = [re.sub(r"^[\d.]+ E\s+", "", line).strip() for line in done.stderr.splitlines() if " E " in line]
    if done.returncode == 0:
        return "it loads with a small context, so memory is short"
    return lines[0][:300] if lines else "no reason found"


def _token(token: Mapping[str, Any]) -> TokenChoice:
    """One token with its alternatives, the chosen one first."""
    chosen = (token["token"], float(token["logprob"]))
    others = ((other["token"], float(other["logprob"])) for other in token.get("top_logprobs") or ())
    return TokenChoice(
        token=chosen[0], logprob=chosen[1], alternatives=(chosen, *(pair for pair in others if pair[0] != chosen[0]))
    )
