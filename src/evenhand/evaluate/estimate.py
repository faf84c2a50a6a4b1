"""What a run would send, without sending it: calls, tokens, and cost where the price is known."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evenhand.engine.plan import plan
from evenhand.evaluate.upper_bound import Question, input_tokens, questions_at_most
from evenhand.judges.asking import MOST_CALLS
from evenhand.judges.inventory import CHARACTERS_PER_TOKEN, MOST_FEATURES
from evenhand.judges.protocol import Judge
from evenhand.keys import bare, content_key
from evenhand.scoring.pipeline import is_pipeline
from evenhand.terms import Call, Item, JudgeSpec, Usage

__all__ = ["estimate", "estimate_calls"]

# A rule of thumb, stated in the output: a check, level or rating takes about this many tokens of reply, an evidence
# list about ten times that, and an answer that is worked out five times.
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
        item were escalated. Only first calls are counted, and beside them, `..._at_most`, all there can be. `cost_usd`
        is None where a price is unknown.
    """
    first = _Count(_reply_tokens(spec), price, stored)
    n_items = first.count(spec, judge, items, [model.model for model in spec.models])
    document = {
        "schema": "evenhand.estimate/1",
        "items": n_items,
        "judgements": n_items * len(spec.models) * spec.reruns,
        **first.document(),
        "assumed": f"{CHARACTERS_PER_TOKEN} characters a token, {first.reply_tokens} tokens a reply, {_left_out(spec)}",
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
    """Calls, tokens and dollars of calls that are asked once each; `reply_tokens` is what a reply usually takes."""
    count = _Count(reply_tokens, price, stored)
    for call in calls:
        count.add_once(call)
    return count.document()


class _Count:
    """The calls of some members, added up: first ones, and all there can be at most."""

    def __init__(
        self, reply_tokens: int, price: Callable[[str, Usage], float | None], stored: Callable[[Call], bool]
    ) -> None:
        self.reply_tokens = reply_tokens
        self._price = price
        self._stored = stored
        self._n_stored = self._n_shared = self._n_calls = self._input_tokens = 0
        self._commitments: set[bytes] = set()
        self._calls_at_most = self._input_tokens_at_most = self._output_tokens_at_most = 0
        self._cost: float | None = 0.0
        self._cost_at_most: float | None = 0.0

    def count(self, spec: JudgeSpec, judge: Judge, items: Iterable[Item], members: Sequence[str]) -> int:
        """Count everything that these members would be asked; how many items there are."""
        n_items = 0
        for item in items:
            n_items += 1
            for task in plan([item], members, spec.reruns):
                calls = next(judge.judge(item, model=task.member, rerun=task.rerun), ())
                shared = [self._is_shared(call) for call in calls]
                answered = [not twice and self._add(call) for call, twice in zip(calls, shared, strict=True)]
                for place, question in enumerate(questions_at_most(spec, item, calls, rerun=task.rerun)):
                    if place < len(shared) and shared[place]:
                        continue
                    self._add_at_most(question, task.member, answered=place < len(answered) and answered[place])
        return n_items

    def add_once(self, call: Call) -> None:
        """Count a call that is never asked again."""
        answered = self._add(call)
        question = Question(input_tokens=input_tokens(call), max_tokens=call.max_tokens, once=True)
        self._add_at_most(question, call.model, answered=answered)

    def document(self) -> dict[str, Any]:
        """The sums."""
        return {
            "calls": self._n_calls,
            "stored": self._n_stored,
            **({"shared": self._n_shared} if self._n_shared else {}),
            "calls_at_most": self._calls_at_most,
            "input_tokens": self._input_tokens,
            "input_tokens_at_most": self._input_tokens_at_most,
            "output_tokens": self._n_calls * self.reply_tokens,
            "output_tokens_at_most": self._output_tokens_at_most,
            "cost_usd": self._cost,
            "cost_usd_at_most": self._cost_at_most,
        }

    def _is_shared(self, call: Call) -> bool:
        """Whether a commitment was counted before: candidates of one question share it, with all that follows it."""
        if call.schema_name != "commitment":
            return False
        said = [message.text for message in call.messages]
        key = bare(content_key({"model": call.model, "said": said, "rerun": call.rerun}))
        if key in self._commitments:
            self._n_shared += 1
            return True
        self._commitments.add(key)
        return False

    def _add(self, call: Call) -> bool:
        """Count a first call; whether the store answers it."""
        if self._stored(call):
            self._n_stored += 1
            return True
        tokens = input_tokens(call)
        self._n_calls += 1
        self._input_tokens += tokens
        usage = _usage(tokens, min(self.reply_tokens, call.max_tokens))
        self._cost = _plus(self._cost, self._price(call.model, usage))
        return False

    def _add_at_most(self, question: Question, model: str, *, answered: bool) -> None:
        """Count a question with all that it may take, without the first call where the store answers that."""
        tokens_in = question.input_at_most - 2 * question.input_tokens * answered
        tokens_out = question.output_at_most - question.max_tokens * answered
        self._calls_at_most += question.calls - answered
        self._input_tokens_at_most += tokens_in
        self._output_tokens_at_most += tokens_out
        self._cost_at_most = _plus(self._cost_at_most, self._price(model, _usage(tokens_in, tokens_out)))


def _left_out(spec: JudgeSpec) -> str:
    """What the expected figures leave out, since it depends on what the first calls bring, and what bounds it."""
    most = (
        f"at most: every reply cut off, repaired and asked afresh ({MOST_CALLS} calls a question), twice the tokens in"
    )
    if spec.read == "logprob":
        return "first calls only, and no others follow"
    if not is_pipeline(spec):
        return f"first calls only; {most}"
    later = [
        *([f"the readings of up to {MOST_FEATURES} features"] if spec.inventory is not None else []),
        "a second question for criteria with too little evidence",
        *(["the synthesis"] if spec.synthesis is not None else []),
        *(["feedback"] if spec.feedback else []),
    ]
    return (
        f"first calls only; what follows them comes on top: {', '.join(later)}; {most}, all of these, and what they "
        "repeat of earlier replies as long as replies can be"
    )


def _reply_tokens(spec: JudgeSpec) -> int:
    if spec.read == "logprob":
        return 1
    if spec.protocol in ("commit", "solve_first"):  # the way to the answer is written first
        return 5 * TOKENS_PER_FINDING
    if spec.protocol == "evidence":
        return 10 * TOKENS_PER_FINDING
    findings = sum(max(1, len(criterion.checks)) for criterion in spec.criteria)
    return TOKENS_PER_FINDING * max(1, findings)


def _usage(input_tokens: int, output_tokens: int) -> Usage:
    return Usage(input_tokens=input_tokens, cached_tokens=0, output_tokens=output_tokens)


def _plus(total: float | None, cost: float | None) -> float | None:
    return None if total is None or cost is None else total + cost
