import asyncio
import threading

import pytest

from evenhand.engine.drive import drive, judge_item
from evenhand.errors import ProviderError
from evenhand.terms import Failure, Usage, Verdict


def asks(kit, *rounds):
    """A protocol that makes the given rounds of calls and returns all replies' texts as flags."""
    texts, keys = [], []
    for texts_of_round in rounds:
        replies = yield tuple(kit.call(text) for text in texts_of_round)
        texts.extend(reply.text for reply in replies)
        keys.extend(reply.key for reply in replies)
    return Verdict(criteria=(), keys=tuple(keys), flags=tuple(texts))


def test_replies_come_back_in_the_order_of_the_calls(kit, cache):
    provider = kit.Provider(lambda call, profile: call.messages[0].text.upper())
    outcome, cost = asyncio.run(drive(kit.answers(provider, cache), asks(kit, ["a"], ["b", "c", "d"])))
    assert outcome.flags == ("A", "B", "C", "D")
    assert cost is None


def test_cost_is_the_sum_over_the_replies_it_rests_on(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes")
    answers = kit.answers(provider, cache, price=lambda usage: 0.25)
    assert asyncio.run(drive(answers, asks(kit, ["a"], ["b", "c"])))[1] == 0.75


def test_a_provider_fault_becomes_a_failure_that_keeps_what_was_answered(kit, cache):
    def second_fails(call, profile):
        return "yes" if call.messages[0].text == "a" else ProviderError("gone", provider="fake", status=400)

    outcome, _ = asyncio.run(drive(kit.answers(kit.Provider(second_fails), cache), asks(kit, ["a"], ["b"])))
    assert isinstance(outcome, Failure)
    assert (outcome.code, outcome.message) == ("provider", "gone")
    assert len(outcome.keys) == 1
    assert outcome.usage == Usage(input_tokens=10, cached_tokens=0, output_tokens=5)


def test_a_deadline_has_a_code_of_its_own(kit, cache):
    late = ProviderError("too late", provider="fake", code="timeout")
    outcome, _ = asyncio.run(drive(kit.answers(kit.Provider(lambda call, profile: late), cache), asks(kit, ["a"])))
    assert outcome.code == "deadline"


def test_a_protocol_may_catch_a_fault(kit, cache):
    def careful():
        try:
            yield (kit.call("a"),)
        except ProviderError:
            return Verdict(criteria=(), flags=("caught",))

    fault = ProviderError("gone", provider="fake", status=400)
    outcome, _ = asyncio.run(drive(kit.answers(kit.Provider(lambda call, profile: fault), cache), careful()))
    assert outcome.flags == ("caught",)


def unreadable_unless(good):
    """A protocol whose reply must be `good`, with one fresh ask as the protocols make it."""

    def start(kit):
        def judging(first_attempt):
            for attempt in (first_attempt, first_attempt + 1):
                (reply,) = yield (kit.call("a", attempt=attempt),)
                if reply.text == good:
                    return Verdict(criteria=(), keys=(reply.key,))
            return Failure(code="unreadable", message="no", raw_key=reply.key)

        return judging

    return start


def run_item(kit, cache, provider, **how):
    answers = kit.answers(provider, cache, keep_fresh=how.get("retry_failed", False))
    return asyncio.run(judge_item(answers, unreadable_unless("good")(kit), retried=cache.any_retried(), **how))[0]


def test_an_unreadable_outcome_is_replayed_until_a_retry_asks_it_afresh(kit, cache):
    bad = kit.Provider(lambda call, profile: "bad")
    assert isinstance(run_item(kit, cache, bad), Failure)
    assert len(bad.calls) == 2
    assert isinstance(run_item(kit, cache, bad), Failure)
    assert len(bad.calls) == 2

    good = kit.Provider(lambda call, profile: "good")
    assert isinstance(run_item(kit, cache, good), Failure)
    assert good.calls == []
    assert isinstance(run_item(kit, cache, good, retry_failed=True), Verdict)
    assert len(good.calls) == 1

    silent = kit.Provider(lambda call, profile: "never asked")
    assert isinstance(run_item(kit, cache, silent), Verdict)
    assert silent.calls == []


def test_a_retry_does_not_ask_twice_what_it_has_just_asked(kit, cache):
    bad = kit.Provider(lambda call, profile: "bad")
    assert isinstance(run_item(kit, cache, bad, retry_failed=True), Failure)
    assert len(bad.calls) == 2


def test_a_slow_step_of_one_judge_holds_up_no_other_call(kit, cache):
    """The first judge's step ends only after the second judge has been answered."""
    answered = threading.Event()

    def slow():
        yield (kit.call("a"),)
        assert answered.wait(timeout=30)
        return Verdict(criteria=(), flags=("slow",))

    def quick():
        yield (kit.call("b"),)
        yield (kit.call("c"),)
        answered.set()
        return Verdict(criteria=(), flags=("quick",))

    async def both():
        answers = kit.answers(kit.Provider(lambda call, profile: "yes"), cache)
        return await asyncio.gather(drive(answers, slow(), slow=True), drive(answers, quick()))

    assert [outcome.flags for outcome, _ in asyncio.run(both())] == [("slow",), ("quick",)]


def test_a_slow_judge_may_fail_and_may_be_given_up(kit, cache):
    def faulty():
        yield (kit.call("a"),)
        raise ProviderError("gone", provider="fake", status=400)

    started, go_on = threading.Event(), threading.Event()

    def hanging():
        yield (kit.call("a"),)
        started.set()
        go_on.wait(timeout=30)
        return Verdict(criteria=())

    async def given_up():
        answers = kit.answers(kit.Provider(lambda call, profile: "yes"), cache)
        assert isinstance((await drive(answers, faulty(), slow=True))[0], Failure)
        task = asyncio.create_task(drive(answers, hanging(), slow=True))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(given_up())
