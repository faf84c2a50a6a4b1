"""What a run would send, without sending it: calls, tokens, and cost where the price is known."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from evenhand.engine.plan import plan
from evenhand.judges.protocol import Judge
from evenhand.terms import Call, Item, JudgeSpec, Usage

__all__ = ["estimate"]

# Rules of thumb, stated in the output: English text has about four characters a token, and a check, level or rating
# takes about this many tokens of reply, an evidence list about ten times that.
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_FINDING = 60


def estimate(
    spec: JudgeSpec,
    judge: Judge,
    items: Iterable[Item],
    *,
    price: Callable[[str, Usage], float | None],
    stored: Callable[[Call], bool],
) -> dict[str, Any]:
    """Calls, tokens and dollars of a run.

    Args:
        spec: the judge, with the models that are to judge.
        judge: the protocol bound to the spec.
        items: what would be judged.
        price: dollars of a usage at a model, None where unknown.
        stored: whether a call would be answered from the store.
    Returns:
        The document that `judge --dry-run --json` prints. Only first calls are counted: repairs and fresh asks cannot
        be foreseen. `cost_usd` is None where a price is unknown.
    """
    n_items = n_stored = n_calls = input_tokens = 0
    cost: float | None = 0.0
    cost_at_most: float | None = 0.0
    reply_tokens = _reply_tokens(spec)
    seen: set[str] = set()
    for task in plan(items, [model.model for model in spec.models], spec.reruns):
        if task.item.id not in seen:
            seen.add(task.item.id)
            n_items += 1
        for call in next(judge.judge(task.item, model=task.member, rerun=task.rerun)):
            if stored(call):
                n_stored += 1
                continue
            n_calls += 1
            tokens = _input_tokens(call)
            input_tokens += tokens
            cost = _plus(cost, price(call.model, _usage(tokens, min(reply_tokens, call.max_tokens))))
            cost_at_most = _plus(cost_at_most, price(call.model, _usage(2 * tokens, call.max_tokens)))
    return {
        "schema": "evenhand.estimate/1",
        "items": n_items,
        "judgements": n_items * len(spec.models) * spec.reruns,
        "calls": n_calls,
        "stored": n_stored,
        "input_tokens": input_tokens,
        "output_tokens": n_calls * reply_tokens,
        "output_tokens_at_most": n_calls * spec.max_tokens,
        "cost_usd": cost,
        "cost_usd_at_most": cost_at_most,
        "assumed": f"{CHARACTERS_PER_TOKEN} characters a token, {reply_tokens} tokens a reply, first calls only",
    }


def _reply_tokens(spec: JudgeSpec) -> int:
    if spec.protocol == "evidence":
        return 10 * TOKENS_PER_FINDING
    findings = sum(max(1, len(criterion.checks)) for criterion in spec.criteria)
    return TOKENS_PER_FINDING * max(1, findings)


def _input_tokens(call: Call) -> int:
    characters = sum(len(message.text) for message in call.messages)
    schema = 0 if call.schema is None else len(json.dumps(call.schema))
    return (characters + schema) // CHARACTERS_PER_TOKEN


def _usage(input_tokens: int, output_tokens: int) -> Usage:
    return Usage(input_tokens=input_tokens, cached_tokens=0, output_tokens=output_tokens)


def _plus(total: float | None, cost: float | None) -> float | None:
    return None if total is None or cost is None else total + cost
