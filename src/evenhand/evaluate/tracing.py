"""Where a traced harness's calls go, and what its trace shows: the proxy meets providers and the analysis here."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from evenhand.errors import InvalidInput, UnsupportedParameter
from evenhand.integrity.sequence import trace_evidence
from evenhand.integrity.swaps import Swap, SwapReplies
from evenhand.integrity.trace_evidence import Matched, MatchWord, TraceEvidence
from evenhand.matching.matches import match
from evenhand.matching.rules import ANSWER_KINDS, AnswerKind, Expressions, MatchRule
from evenhand.providers.address import proxy_for, request_base
from evenhand.providers.base import Provider
from evenhand.providers.open import open_provider, resolve
from evenhand.terms import Call, Item, ModelSpec, Profile, Reply, ReplyMode, TracedCall
from evenhand.trace.proxy import Answerer, Forward, Proxy
from evenhand.trace.wire import decoded, reply_texts

__all__ = ["answered_by", "ask_swaps", "evidence_of", "forward_to", "kind_of", "match_word"]

_OPENAI = "https://api.openai.com/v1"
_MODES: tuple[ReplyMode, ...] = ("schema", "json", "text")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def forward_to(base_url: str | None, environ: Mapping[str, str]) -> Forward:
    """The endpoint that the harness would have asked.

    Args:
        base_url: of the command line; else OPENAI_BASE_URL, else OPENAI_API_BASE, else OpenAI's own address.
        environ: the environment before the trace.
    Raises:
        InvalidInput: it is no web address, or holds a user or password.
    """
    url = base_url or environ.get("OPENAI_BASE_URL") or environ.get("OPENAI_API_BASE") or _OPENAI
    base, query = request_base(url)
    return Forward(base=base, query=query, proxy=proxy_for(url, environ))


def answered_by(model: str, *, timeout_s: float) -> tuple[Answerer, Callable[[], Awaitable[None]]]:
    """A model on this machine that answers in place of an endpoint, and what releases it.

    Raises:
        InvalidInput: a model that is reached over the network, which `--base-url` is for; weights that are not there.
    """
    target = resolve(ModelSpec(model=model), base_url=None, environ={}, dotenv={}, need_key=False)
    if target.wire not in ("local", "scripted"):
        raise InvalidInput(
            f"--model {model}: only a model in this process can answer, such as local/smollm2; name another endpoint "
            "with --base-url, and the harness's own key goes there"
        )
    provider = open_provider(target)

    async def answer(call: Call) -> Reply:
        return await _asked(provider, call, timeout_s)

    return Answerer(name=model, answer=answer, model=model), provider.close


async def _asked(provider: Provider, call: Call, timeout_s: float) -> Reply:
    """One answer, in the strictest mode that the provider has for this schema."""
    for mode in _MODES:
        try:
            return await provider.ask(call, Profile(mode=mode), timeout_s=timeout_s)
        except UnsupportedParameter as error:
            if mode == "text":
                raise
            fault = error
    raise fault


def kind_of(items: Sequence[Item]) -> AnswerKind | None:
    """The answer kind that all references have: numbers, or single letters; None where it must be said.

    >>> kind_of([Item(id="a", candidate="x", reference="1,200")]), kind_of([Item(id="a", candidate="x")])
    ('number', None)
    """
    references = [item.reference.strip() for item in items if item.reference]
    if not references:
        return None
    if all(reference in _LETTERS for reference in references):
        return "choice"
    rule = MatchRule(kind="number")
    if all(match(reference, reference, rule).verdict == "equal" for reference in references):
        return "number"
    return None


def match_word(kind: str, same: Expressions | None = None) -> tuple[MatchWord, str]:
    """The match relation of an answer kind, and the same in words.

    Args:
        same: the comparer of formulas; without one they are undecided.
    Raises:
        InvalidInput: no such kind.
    """
    if kind not in ANSWER_KINDS:
        raise InvalidInput(f"--match {kind[:40]!r}: no such answer kind; use one of {', '.join(ANSWER_KINDS)}")
    rule = MatchRule(kind=kind)

    def word(candidate: str, answer: str) -> Matched:
        return match(candidate, answer, rule, expressions=same).verdict

    return word, kind


def evidence_of(
    items: Sequence[Item], calls: Sequence[TracedCall], outcomes: Mapping[str, bool | None] | None, kind: str | None,
    same: Expressions | None = None,
) -> TraceEvidence:  # fmt: skip
    """What a trace shows; without a kind nothing is matched, and without a comparer no formula."""
    if kind is None:
        return trace_evidence(items, calls, outcomes)
    word, words = match_word(kind, same)
    return trace_evidence(items, calls, outcomes, word, match_words=words)


async def ask_swaps(proxy: Proxy, plan: Sequence[Swap], *, in_flight: int = 4) -> list[SwapReplies]:
    """Ask each request again, unchanged and with another candidate, as the harness asked it."""
    turns = asyncio.Semaphore(in_flight)

    async def ask(swap: Swap, request: Mapping[str, Any]) -> str | None:
        async with turns:
            body = await proxy.ask_again(swap.call, msgspec.json.encode(request))
        texts = reply_texts(decoded(body) or {}) if body is not None else ()
        return texts[0] if texts else None

    async def both(swap: Swap) -> SwapReplies:
        unchanged, swapped = await asyncio.gather(ask(swap, swap.unchanged), ask(swap, swap.swapped))
        return SwapReplies(swap=swap, unchanged=unchanged, swapped=swapped)

    return list(await asyncio.gather(*(both(swap) for swap in plan)))
