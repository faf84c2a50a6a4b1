"""Local models in process: llama.cpp through xllamacpp, with continuous batching over slots.

What was measured, and why it is so (docs/local-models.md has the figures):
- A schema becomes a grammar of the request. The runtime's own `response_format` is not used: its grammar lets the model
  wrap the JSON in a Markdown fence, which costs tokens and stands first in the log probabilities.
- llama.cpp reads markup such as <|im_end|> in a message as markup, so that a candidate could end its own turn. Such
  pieces are broken up with an invisible word joiner before they are sent, and put together again in the reply.
- Log probabilities are those before the grammar masks tokens: a chosen token need not be the most probable one.
- Generation is streamed, because the callback is the only way to stop it: at a deadline, or when the run is
  interrupted, it ends with the next token, or with the next 512 tokens of a prompt.
- The runtime opens an HTTP port on the loopback address whether wanted or not; a random key keeps others out.
- OpenMP threads that spin while they wait collapse on busy cores; they are told to sleep before the library is loaded.
"""

import asyncio
import hashlib
import os
import re
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec

from evenhand.errors import InvalidInput, ProviderError, UnsupportedParameter
from evenhand.providers.gguf import GgufHeader, read_header
from evenhand.providers.llama import Gathered, load, runtime_version, schema_grammar
from evenhand.providers.tighten import tightened
from evenhand.providers.weights import Say, find, weights_sha256
from evenhand.terms import Call, Profile, Reply

__all__ = ["LocalProvider", "LocalSettings", "local_settings"]

WIRE = 3  # raised whenever the same call would reach the model as other tokens; part of the identity
_JOINER = "\u2060"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """How the runtime is set up; none of it changes what is asked.

    Args:
        slots: calls that are answered at once; each has a context of its own.
        threads: of computation, over all slots.
        context: tokens of prompt and reply together, in each slot; at most what the model was trained on.
        reuse: keep the common beginning of prompts from call to call. Turning it off costs a judgement ten times the
            time, and takes away the last source of differences in rounding between equal calls.
    """

    slots: int = 2
    threads: int = 1
    context: int = 8192
    reuse: bool = True


def local_settings(environ: Mapping[str, str] = os.environ) -> LocalSettings:
    """The settings, from EVENHAND_LOCAL_SLOTS, _THREADS, _CONTEXT and _REUSE.

    Raises:
        InvalidInput: one of them is no whole number in its range.
    """
    return LocalSettings(
        slots=_whole(environ, "EVENHAND_LOCAL_SLOTS", 2, 1, 64),
        threads=_whole(environ, "EVENHAND_LOCAL_THREADS", min(_cores(), 8), 1, 512),
        context=_whole(environ, "EVENHAND_LOCAL_CONTEXT", 8192, 256, 10_000_000),
        reuse=bool(_whole(environ, "EVENHAND_LOCAL_REUSE", 1, 0, 1)),
    )


class LocalProvider:
    """One local model; see `Provider` in `base.py` for the contract.

    Schema, JSON and text modes work; a forced tool call does not (`UnsupportedParameter("tool")`), since models this
    small ignore it. The seed is derived from member, rerun and attempt, so that a rerun draws afresh and reproducibly.

    The weights are hashed here and loaded with the first call.

    Args:
        reference: what stands behind `local/`; see `weights.find`.
        settings: of the runtime; from the environment unless given.
        say: told when something takes long.
    Raises:
        InvalidInput: the weights are not there, are no chat model's, or the extra `local` is not installed.
    """

    name = "local"

    def __init__(
        self,
        reference: str,
        *,
        settings: LocalSettings | None = None,
        environ: Mapping[str, str] = os.environ,
        say: Say = lambda _: None,
    ) -> None:
        self.path = path = find(reference, environ)
        self.settings = settings or local_settings(environ)
        self.header = read_header(path)
        if self.header.chat_template is None:
            raise InvalidInput(f"{path}: a base model without a chat template cannot judge; take an instruct model")
        self.identity = _identity(self.header, weights_sha256(path, say=say, environ=environ), runtime_version())
        self.max_concurrency: int | None = self.settings.slots
        self._markup = _any_of(self.header.control_tokens)
        self._broken = _any_of(tuple(_broken(token) for token in self.header.control_tokens))
        self._server: Any = None
        self._loading = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._running: set[threading.Event] = set()
        self._grammars: dict[bytes, str] = {}

    @property
    def context(self) -> int:
        """Tokens of prompt and reply that fit one call."""
        return min(self.settings.context, self.header.context or self.settings.context)

    async def ask(self, call: Call, profile: Profile, *, timeout_s: float) -> Reply:
        """Make one attempt, without retrying; see `Provider.ask`. Loading the weights is not on the clock."""
        if profile.mode == "tool" and call.schema is not None:
            raise UnsupportedParameter(
                "local: a forced tool call is not supported; ask with a schema", provider="local", parameter="tool"
            )
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.settings.slots, thread_name_prefix="evenhand-local")
        if self._server is None:
            await asyncio.get_running_loop().run_in_executor(self._pool, self._load)
        stop = threading.Event()
        self._running.add(stop)
        came = time.monotonic()
        began: list[float] = []

        def answer() -> Reply:
            began.append(time.monotonic())
            return self._answer(call, profile, stop)

        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.get_running_loop().run_in_executor(self._pool, answer)
        except TimeoutError:
            # The same machine would take as long again, save where most of the time went by in the queue.
            queued = not began or began[0] - came > timeout_s / 2
            raise ProviderError(
                f"local: {self.path.name} did not answer within {timeout_s:g} s; give it more time, "
                "or lower max_tokens or --max-concurrency",
                provider="local",
                code="timeout",
                retryable=queued,
            ) from None
        finally:
            stop.set()
            self._running.discard(stop)

    async def close(self) -> None:
        """Stop what is running and release the weights."""
        for stop in tuple(self._running):
            stop.set()
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)
        server, self._server = self._server, None
        if server is not None:
            del server  # its destructor joins the runtime's own thread

    # --- in the worker threads -------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Load the weights once."""
        with self._loading:
            if self._server is None:
                self._server = load(
                    self.path, slots=self.settings.slots, threads=self.settings.threads, context=self.context
                )

    def _answer(self, call: Call, profile: Profile, stop: threading.Event) -> Reply:
        """One generation, from request to reply."""
        gathered = Gathered(stop)
        try:
            self._server.handle_chat_completions(msgspec.json.encode(self._body(call, profile)).decode(), gathered.take)
        except (ValueError, RuntimeError) as error:
            raise ProviderError(
                f"local: the runtime rejects the call ({str(error)[:300]})", provider="local", code="bad_request"
            ) from error
        if gathered.fault is not None:
            raise self._fault(gathered.fault)
        reply = gathered.reply(self.path.name, self._with_markup)
        if _ungoverned(call, profile, reply):
            raise UnsupportedParameter(
                f"local: the runtime cannot turn this schema into a grammar, the reply begins {reply.text[:40]!r}",
                provider="local",
                parameter="schema",
            )
        return reply

    def _body(self, call: Call, profile: Profile) -> dict[str, Any]:
        """The request, as llama.cpp's chat completions take it."""
        bound = call.schema is not None and profile.mode != "text"
        thinks = not bound and call.logprobs is None
        body: dict[str, Any] = {
            "messages": [{"role": turn.role, "content": self._without_markup(turn.text)} for turn in call.messages],
            "max_tokens": max(call.max_tokens, 1),
            "cache_prompt": self.settings.reuse,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # calls back between the batches of a long prompt, where it can be stopped
            # Under a grammar no reasoning can be written, and what is written is the answer; where probabilities are
            # wanted, they are those of the answer's first token.
            "reasoning_format": "none" if bound else "deepseek",
            "chat_template_kwargs": {"enable_thinking": thinks},
        }
        if bound:
            body["grammar"] = self._grammar(call.schema if profile.mode == "schema" else {"type": "object"})
        if call.temperature is not None and "temperature" not in profile.omit:
            body["temperature"] = call.temperature
        if "seed" not in profile.omit:
            body["seed"] = _seed(call)
        if call.logprobs is not None and "logprobs" not in profile.omit:
            body |= {"logprobs": True, "top_logprobs": call.logprobs}
        return body

    def _without_markup(self, text: str) -> str:
        """A text in which no piece is the model's own markup."""
        return self._markup.sub(lambda piece: _broken(piece.group()), text) if self._markup else text

    def _with_markup(self, text: str) -> str:
        """The same text again, so that a quotation is the candidate's own words."""
        return self._broken.sub(lambda piece: piece.group().replace(_JOINER, "", 1), text) if self._broken else text

    def _grammar(self, schema: Mapping[str, Any] | None) -> str:
        """The grammar of a schema, tightened and made once; keys and items are spaced as `json.dumps` would."""
        spacing = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
        text = msgspec.json.encode({**tightened(schema or {}), "x-guidance": spacing})
        if text not in self._grammars:
            self._grammars[text] = schema_grammar(text.decode())
        return self._grammars[text]

    def _fault(self, fault: Mapping[str, Any]) -> ProviderError:
        """An error that came as a reply."""
        needed, held = fault.get("n_prompt_tokens"), fault.get("n_ctx")
        if needed is not None:
            return ProviderError(
                f"local: the prompt has {needed} tokens and {held} fit a slot of {self.path.name} (trained on "
                f"{self.header.context}); shorten the item, or raise EVENHAND_LOCAL_CONTEXT",
                provider="local",
                code="too_long",
            )
        status = fault.get("code")
        return ProviderError(
            f"local: {str(fault.get('message', fault))[:300]}",
            provider="local",
            status=status if isinstance(status, int) else None,
            retryable=status == 503,
            code="server" if status in (500, 503) else "bad_request",
        )


# --- helpers -------------------------------------------------------------------------------------------------------


def _identity(header: GgufHeader, weights: str, runtime: str) -> str:
    """Everything that decides which tokens answer a prompt."""
    template = hashlib.sha256((header.chat_template or "").encode()).hexdigest()
    return f"local:sha256:{weights};template:sha256:{template};xllamacpp:{runtime};wire:{WIRE}"


def _seed(call: Call) -> int:
    """31 bits from what tells calls apart: of one stream of chance for all items, their noise would move together."""
    told = (call.member, str(call.rerun), str(call.attempt), *(message.text for message in call.messages))
    text = "\0".join(told)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


def _broken(token: str) -> str:
    """A piece of markup that the tokenizer no longer takes for one."""
    return token[0] + _JOINER + token[1:]


def _any_of(pieces: tuple[str, ...]) -> re.Pattern[str] | None:
    """Any of these pieces, the longest first; None where there are none."""
    pieces = tuple(sorted(pieces, key=len, reverse=True))
    return re.compile("|".join(map(re.escape, pieces))) if pieces else None


def _ungoverned(call: Call, profile: Profile, reply: Reply) -> bool:
    """Whether the grammar was not applied: the runtime drops one that it cannot use, and says nothing."""
    if call.schema is None or profile.mode == "text" or call.schema.get("type", "object") != "object":
        return False
    return bool(reply.text) and not reply.text.startswith("{")


def _cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _whole(environ: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """A whole number of the environment."""
    text = environ.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise InvalidInput(f"{name}: {text!r} is no whole number from {least} to {most}")
    return int(text)
