"""What a run would send, without sending it: calls, tokens, and cost where the price is known."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evenhand.engine.plan import plan
from evenhand.judges.protocol import Judge
from evenhand.terms import Call, Item, JudgeSpec, Usage

__all__ = ["estimate", "estimate_calls"]

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
        items: what would be judged; walked twice if the judge escalates.
        price: dollars of a usage at a model, None where unknown.
        stored: whether a call would be answered from the store.
    Returns:
        The document that `judge --dry-run --json` prints; `if_all_escalated` is what an escalation would add if every
        item were escalated. Only first calls are counted: repairs and fresh asks cannot be foreseen. `cost_usd` is None
        where a price is unknown.
    """
    first = _Count(_reply_tokens(spec), price, stored)
    n_items = first.count(spec, judge, items, [model.model for model in spec.models])
    document = {
        "schema": "evenhand.estimate/1",
        "items": n_items,
        "judgements": n_items * len(spec.models) * spec.reruns,
        **first.document(),
        "assumed": f"{CHARACTERS_PER_TOKEN} characters a token, {first.reply_tokens} tokens a reply, first calls only",
    }
    if spec.escalate is not None:
        second = _Count(first.reply_tokens, price, stored)
        second.count(spec, judge, items, [model.model for model in spec.escalate.to])
        document["if_all_escalated"] = second.document()
    return document


def estimate_calls(
    calls: Iterable[Call],
    *,
    reply_tokens: int,
    price: Callable[[str, Usage], float | None],
    stored: Callable[[Call], bool],
) -> dict[str, Any]:
    """Calls, tokens and dollars of first calls that are known already; `reply_tokens` is what a reply usually takes."""
    count = _Count(reply_tokens, price, stored)
    for call in calls:
        count.add(call)
    return count.document()


class _Count:
    """First calls of some members, added up."""

    def __init__(
        self, reply_tokens: int, price: Callable[[str, Usage], float | None], stored: Callable[[Call], bool]
    ) -> None:
        self.reply_tokens = reply_tokens
        self._price = price
        self._stored = stored
        self._n_stored = self._n_calls = self._input_tokens = self._output_tokens_at_most = 0
        self._cost: float | None = 0.0
        self._cost_at_most: float | None = 0.0

    def count(self, spec: JudgeSpec, judge: Judge, items: Iterable[Item], members: Sequence[str]) -> int:
        """Count everything that these members would be asked first; how many items there are."""
        n_items = 0
        for item in items:
            n_items += 1
            for task in plan([item], members, spec.reruns):
                for call in next(judge.judge(item, model=task.member, rerun=task.rerun), ()):
                    self.add(call)
        return n_items

    def document(self) -> dict[str, Any]:
        """The sums."""
        return {
            "calls": self._n_calls,
            "stored": self._n_stored,
            "input_tokens": self._input_tokens,
            "output_tokens": self._n_calls * self.reply_tokens,
            "output_tokens_at_most": self._output_tokens_at_most,
            "cost_usd": self._cost,
            "cost_usd_at_most": self._cost_at_most,
        }

    def add(self, call: Call) -> None:
        """Count one call."""
        if self._stored(call):
            self._n_stored += 1
            return
        self._n_calls += 1
        tokens = _input_tokens(call)
        self._input_tokens += tokens
        self._output_tokens_at_most += call.max_tokens
        usual, most = _usage(tokens, min(self.reply_tokens, call.max_tokens)), _usage(2 * tokens, call.max_tokens)
        self._cost = _plus(self._cost, self._price(call.model, usual))
        self._cost_at_most = _plus(self._cost_at_most, self._price(call.model, most))


def _reply_tokens(spec: JudgeSpec) -> int:
    if spec.read == "logprob":
        return 1
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
