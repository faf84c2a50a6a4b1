"""Drive a judge's generator to its outcome: answer its calls, throw provider faults in, collect what it rests on."""

import asyncio
import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from evenhand.engine.answer import Answers
from evenhand.errors import InvalidInput, ProviderError
from evenhand.judges.protocol import Judging
from evenhand.terms import Call, Failure, FailureCode, Outcome, Reply, Usage

__all__ = ["FATAL_CODES", "drive", "judge_item", "sum_usage"]

# Codes that every further item would meet as well: the run stops with their own message.
# `unsupported` is a need of the judge that the endpoint cannot meet: log probabilities.
FATAL_CODES = frozenset({"auth", "not_found", "quota", "unsupported"})

T = TypeVar("T")

_ASK_AFRESH = frozenset({"unreadable", "truncated", "empty"})

# One ask uses two attempt numbers at most: the first, and one fresh ask.
_ATTEMPTS_PER_ASK = 2


async def judge_item(
    answers: Answers,
    start: Callable[[int], Judging],
    *,
    retried: bool = False,
    retry_failed: bool = False,
    slow: bool = False,
) -> tuple[Outcome, float | None]:
    """One item's outcome, and what the replies it rests on cost in dollars (None if any price is unknown).

    Args:
        answers: answers the calls.
        start: makes the item's generator, beginning at the attempt number given.
        retried: whether the store may hold attempts that an earlier `--retry-failed` gave up.
        retry_failed: ask afresh what the store answers with an unreadable outcome.
        slow: whether the judge's own steps may take long, as comparing formulas does; they run in threads then, so
            that the calls of other items go on meanwhile.
    Raises:
        ProviderError: a fault that every further item would meet.
        BudgetSpent, StoreError, Stopped: as `Answers.answer`.
    """
    if not retried and not retry_failed:
        return await drive(answers, start(0), slow=slow)
    first_calls = next(start(0), ())
    if not first_calls:  # a judge may come to its outcome without a call: an item lacks what must be read
        return await drive(answers, start(0), slow=slow)
    key = answers.key(first_calls[0])
    first_attempt = 0 if key is None else answers.cache.first_attempt(key)
    outcome, cost_usd = await drive(answers, start(first_attempt), slow=slow)
    if key is None or not retry_failed or not _unreadable_before(answers, outcome):
        return outcome, cost_usd
    first_attempt += _ATTEMPTS_PER_ASK
    await answers.cache.retry_from([key], first_attempt)
    return await drive(answers, start(first_attempt), slow=slow)


async def drive(
    answers: Answers, judging: Generator[tuple[Call, ...], tuple[Reply, ...], T], *, slow: bool = False
) -> tuple[T | Failure, float | None]:
    """Run a generator to its end; a provider fault that it does not catch becomes its Failure."""
    seen: list[Reply] = []
    costs: list[float | None] = []
    try:
        calls = next(judging)
        while True:
            try:
                replies = await _answer_all(answers, calls)
            except ProviderError as error:
                if error.code in FATAL_CODES:
                    raise
                calls = judging.throw(error)
            else:
                seen.extend(replies)
                costs.extend(
                    answers.endpoints[call.model].price(reply.usage) for call, reply in zip(calls, replies, strict=True)
                )
                calls = await asyncio.to_thread(_sent, judging, replies) if slow else judging.send(replies)
    except StopIteration as done:
        outcome: T = done.value
        return outcome, _total(costs)
    except _Ended as done:
        outcome = done.outcome
        return outcome, _total(costs)
    except ProviderError as error:
        if error.code in FATAL_CODES:
            raise
        return _failure(error, seen), _total(costs)
    finally:
        with contextlib.suppress(ValueError):  # cancelled while a thread is at it: it is dropped when that has ended
            judging.close()


class _Ended(Exception):
    """A generator's end: a thread cannot hand on a StopIteration."""

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome


def _sent(judging: Generator[tuple[Call, ...], tuple[Reply, ...], Any], replies: tuple[Reply, ...]) -> tuple[Call, ...]:
    try:
        return judging.send(replies)
    except StopIteration as done:
        raise _Ended(done.value) from None


def sum_usage(replies: Sequence[Reply]) -> Usage:
    """Tokens of several replies; a sum is None where no reply reported the figure."""
    return Usage(
        input_tokens=_sum([reply.usage.input_tokens for reply in replies]),
        cached_tokens=_sum([reply.usage.cached_tokens for reply in replies]),
        output_tokens=_sum([reply.usage.output_tokens for reply in replies]),
        reasoning_tokens=_sum([reply.usage.reasoning_tokens for reply in replies]),
    )


async def _answer_all(answers: Answers, calls: tuple[Call, ...]) -> tuple[Reply, ...]:
    """Replies in the order of the calls; the first fault is raised once all have ended."""
    if not calls:
        raise InvalidInput("a judge yielded no calls; a protocol yields at least one call at a time")
    if len(calls) == 1:
        return (await answers.answer(calls[0]),)
    results = await asyncio.gather(*map(answers.answer, calls), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return tuple(result for result in results if isinstance(result, Reply))


def _unreadable_before(answers: Answers, outcome: Outcome) -> bool:
    """Whether an earlier run left this unreadable; what this run asked itself is not asked again at once."""
    return isinstance(outcome, Failure) and outcome.code in _ASK_AFRESH and outcome.raw_key not in answers.tally.fresh


def _failure(error: ProviderError, seen: Sequence[Reply]) -> Failure:
    code: FailureCode = "deadline" if error.code == "timeout" else "provider"
    keys = tuple(reply.key for reply in seen)
    return Failure(code=code, message=str(error), keys=keys, usage=sum_usage(seen))


def _total(costs: Sequence[float | None]) -> float | None:
    """Dollars, or None where one price is unknown or nothing was answered: never 0 for want of knowing."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
