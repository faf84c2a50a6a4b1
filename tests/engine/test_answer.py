import asyncio

import pytest

from evenhand.engine.answer import Stopped
from evenhand.engine.budget import Budget
from evenhand.engine.retry import RetryPolicy
from evenhand.errors import BudgetSpent, ProviderError, QuotaExhausted, UnsupportedParameter
from evenhand.terms import Profile, Reply, Usage


def burst(retry_after_s=None):
    return ProviderError(
        "slow down", provider="fake", status=429, retryable=True, retry_after_s=retry_after_s, code="rate_limit"
    )


def test_a_stored_reply_is_never_asked_again(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes")

    async def twice():
        answers = kit.answers(provider, cache)
        return await answers.answer(kit.call()), await answers.answer(kit.call())

    first, second = asyncio.run(twice())
    assert first == second
    assert len(provider.calls) == 1
    assert first.key.startswith("sha256:")
    assert len(first.key) == len("sha256:") + 64


def test_equal_calls_in_flight_share_one_ask(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes", latency_s=0.02)

    async def ten():
        answers = kit.answers(provider, cache)
        await answers.answer(kit.call("settles how to ask"))
        return answers, await asyncio.gather(*(answers.answer(kit.call()) for _ in range(10)))

    answers, replies = asyncio.run(ten())
    assert len(provider.calls) == 2
    assert len(set(replies)) == 1
    assert answers.tally.shared == 9


def test_a_fault_of_a_shared_call_reaches_every_waiter(kit, cache):
    provider = kit.Provider(
        lambda call, profile: (
            "yes" if call.messages[0].text == "settle" else ProviderError("no", provider="fake", status=400)
        ),
        latency_s=0.01,
    )

    async def three():
        answers = kit.answers(provider, cache)
        await answers.answer(kit.call("settle"))
        return await asyncio.gather(*(answers.answer(kit.call()) for _ in range(3)), return_exceptions=True)

    assert all(isinstance(result, ProviderError) for result in asyncio.run(three()))


@pytest.mark.parametrize(
    "change", [{"rerun": 1}, {"attempt": 1}, {"member": "b"}, {"temperature": 0.5}, {"max_tokens": 9}]
)
def test_whatever_can_change_a_reply_is_part_of_its_key(kit, cache, change):
    provider = kit.Provider(lambda call, profile: "yes")

    async def both():
        answers = kit.answers(provider, cache)
        return await answers.answer(kit.call()), await answers.answer(kit.call(**change))

    first, second = asyncio.run(both())
    assert first.key != second.key
    assert len(provider.calls) == 2


def test_nobody_sees_a_reply_before_it_is_durable_but_its_slot_is_free(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes")

    async def held_back():
        cache.durable.clear()
        answers = kit.answers(provider, cache, max_concurrency=1)
        answers.endpoints[kit.MODEL].profile = Profile()
        tasks = [asyncio.create_task(answers.answer(kit.call(str(n)))) for n in range(3)]
        await asyncio.sleep(0.05)
        seen = sum(task.done() for task in tasks)
        sent = len(provider.calls)
        cache.durable.set()
        await asyncio.gather(*tasks)
        return seen, sent

    assert asyncio.run(held_back()) == (0, 3)


def test_a_rejected_way_of_asking_is_met_once_and_remembered(kit, cache):
    def no_schema(call, profile):
        if profile.mode != "json":
            return UnsupportedParameter("no", provider="fake", parameter=profile.mode, status=400)
        return "yes"

    provider = kit.Provider(no_schema)

    async def many():
        answers = kit.answers(provider, cache)
        await asyncio.gather(*(answers.answer(kit.call(str(n))) for n in range(20)))

    asyncio.run(many())
    assert [profile.mode for _, profile in provider.calls[:3]] == ["schema", "tool", "json"]
    assert len(provider.calls) == 22
    assert cache.profiles["fake:here", kit.MODEL] == Profile(mode="json")
    assert cache.faults == ["unsupported", "unsupported"]

    later = kit.Provider(no_schema)
    asyncio.run(kit.answers(later, cache).answer(kit.call("new")))
    assert [profile.mode for _, profile in later.calls] == ["json"]


def test_parameters_that_an_endpoint_rejects_are_left_out(kit, cache):
    def reasoning_model(call, profile):
        if "temperature" not in profile.omit:
            return UnsupportedParameter("no", provider="fake", parameter="temperature", status=400)
        if profile.max_tokens_field == "max_tokens":
            return UnsupportedParameter("no", provider="fake", parameter="max_tokens", status=400)
        return "yes"

    asyncio.run(kit.answers(kit.Provider(reasoning_model), cache).answer(kit.call()))
    assert cache.profiles["fake:here", kit.MODEL] == Profile(
        omit=("temperature",), max_tokens_field="max_completion_tokens"
    )


def test_what_has_no_other_way_is_an_error_not_a_loop(kit, cache):
    provider = kit.Provider(lambda call, profile: UnsupportedParameter("no", provider="fake", parameter="logprobs"))
    with pytest.raises(ProviderError, match="does not take logprobs"):
        asyncio.run(kit.answers(provider, cache).answer(kit.call()))
    assert len(provider.calls) == 1


def test_bursts_are_retried_and_counted(kit, cache):
    outcomes = iter([burst(), burst(0.0), "yes"])
    provider = kit.Provider(lambda call, profile: next(outcomes))

    async def run():
        answers = kit.answers(provider, cache)
        await answers.answer(kit.call())
        return answers

    answers = asyncio.run(run())
    assert cache.faults == ["rate_limit", "rate_limit"]
    assert answers.tally.asked == 3
    assert answers.tally.faults == {"rate_limit": 2}
    assert cache.puts[0]["attempts"] == 3
    assert answers.endpoints[kit.MODEL].limit.limit < 64


def test_exhausted_quota_is_not_retried(kit, cache):
    provider = kit.Provider(lambda call, profile: QuotaExhausted("pay first", provider="fake", status=429))
    with pytest.raises(QuotaExhausted):
        asyncio.run(kit.answers(provider, cache).answer(kit.call()))
    assert len(provider.calls) == 1


def test_patience_ends_and_says_what_was_last_met(kit, cache):
    provider = kit.Provider(lambda call, profile: burst())
    with pytest.raises(ProviderError, match="slow down") as caught:
        asyncio.run(
            kit.answers(provider, cache, policy=RetryPolicy(max_attempts=3, first_wait_s=0.001)).answer(kit.call())
        )
    assert len(provider.calls) == 3
    assert caught.value.call_key.startswith("sha256:")


def test_concurrency_stays_within_its_limit(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes", latency_s=0.005)

    async def many():
        answers = kit.answers(provider, cache, max_concurrency=4)
        await asyncio.gather(*(answers.answer(kit.call(str(n))) for n in range(40)))

    asyncio.run(many())
    assert provider.most_in_flight == 4


def test_a_token_budget_stops_before_it_is_exceeded(kit, cache):
    provider = kit.Provider(
        lambda call, profile: Reply(text="yes", usage=Usage(input_tokens=60, cached_tokens=0, output_tokens=40))
    )
    budget = Budget(tokens=1000)

    async def many():
        answers = kit.answers(provider, cache, budget=budget)
        return await asyncio.gather(
            *(answers.answer(kit.call(f"{n:03d}", max_tokens=40)) for n in range(30)), return_exceptions=True
        )

    results = asyncio.run(many())
    done = [result for result in results if isinstance(result, Reply)]
    assert budget.spent_tokens == 100 * len(done) <= 1000
    assert len(done) >= 7
    assert all(isinstance(result, BudgetSpent) for result in results if not isinstance(result, Reply))
    assert len(provider.calls) == len(done)


def test_a_budget_holds_even_where_a_tokenizer_takes_a_token_for_each_byte(kit, cache):
    def as_digits(call, profile):
        text = call.messages[0].text
        return Reply(text="yes", usage=Usage(input_tokens=len(text), cached_tokens=0, output_tokens=40))

    budget = Budget(tokens=3000)

    async def many():
        answers = kit.answers(kit.Provider(as_digits), cache, budget=budget)
        calls = [kit.call(str(n) * 1000, max_tokens=40) for n in range(4)]
        return await asyncio.gather(*map(answers.answer, calls), return_exceptions=True)

    asyncio.run(many())
    assert 0 < budget.spent_tokens <= 3000


def test_a_dollar_budget_counts_dollars(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes")
    budget = Budget(usd=0.05)

    async def many():
        answers = kit.answers(
            provider, cache, budget=budget, price=lambda usage: 0.01 if usage.output_tokens == 5 else 0.02
        )
        return await asyncio.gather(
            *(answers.answer(kit.call(str(n), max_tokens=40)) for n in range(9)), return_exceptions=True
        )

    done = [result for result in asyncio.run(many()) if isinstance(result, Reply)]
    assert len(done) == 4
    assert budget.spent_usd == pytest.approx(0.04)


def test_refused_attempts_cost_nothing_of_the_budget(kit, cache):
    outcomes = iter([burst(0.0), burst(0.0), "yes"])
    budget = Budget(tokens=100_000)
    asyncio.run(
        kit.answers(kit.Provider(lambda call, profile: next(outcomes)), cache, budget=budget).answer(kit.call())
    )
    assert budget.spent_tokens == 15


def test_a_stop_lets_what_is_in_flight_arrive_and_sends_nothing_more(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes", latency_s=0.03)

    async def stopped():
        answers = kit.answers(provider, cache, max_concurrency=2)
        answers.endpoints[kit.MODEL].profile = Profile()
        tasks = [asyncio.create_task(answers.answer(kit.call(str(n)))) for n in range(6)]
        await asyncio.sleep(0.01)
        answers.stop()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = asyncio.run(stopped())
    assert sum(isinstance(result, Reply) for result in results) == 2
    assert sum(isinstance(result, Stopped) for result in results) == 4
    assert len(cache.puts) == 2


def test_waiting_for_a_turn_is_not_counted_against_the_deadline(kit, cache):
    given = []

    class Timed(kit.Provider):
        async def ask(self, call, profile, *, timeout_s):
            given.append(timeout_s)
            return await super().ask(call, profile, timeout_s=timeout_s)

    async def many():
        patience = RetryPolicy(attempt_timeout_s=0.2, call_deadline_s=0.2)
        answers = kit.answers(
            Timed(lambda call, profile: "yes", latency_s=0.03), cache, max_concurrency=1, policy=patience
        )
        await asyncio.gather(*(answers.answer(kit.call(str(n))) for n in range(12)))

    asyncio.run(many())
    assert given == [0.2] * 12


def test_attempts_and_the_waits_between_them_use_a_calls_deadline_up(kit, cache):
    outcomes = iter([burst(0.1), "yes"])
    given = []

    class Timed(kit.Provider):
        async def ask(self, call, profile, *, timeout_s):
            given.append(timeout_s)
            return await super().ask(call, profile, timeout_s=timeout_s)

    provider = Timed(lambda call, profile: next(outcomes), latency_s=0.05)
    asyncio.run(kit.answers(provider, cache, policy=RetryPolicy(call_deadline_s=5.0)).answer(kit.call()))
    assert given[0] == 5.0
    assert given[1] <= 5.0 - 0.05 - 0.1


def test_a_stop_ends_the_wait_for_a_rate(kit, cache):
    provider = kit.Provider(lambda call, profile: "yes")

    async def stopped():
        answers = kit.answers(provider, cache, tokens_per_minute=10)
        answers.endpoints[kit.MODEL].profile = Profile()
        tasks = [asyncio.create_task(answers.answer(kit.call(str(n), max_tokens=1000))) for n in range(3)]
        await asyncio.sleep(0.02)
        answers.stop()
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5.0)

    results = asyncio.run(stopped())
    assert sum(isinstance(result, Stopped) for result in results) == 2


def test_a_stop_ends_the_wait_between_attempts(kit, cache):
    provider = kit.Provider(lambda call, profile: burst(60.0))

    async def stopped():
        answers = kit.answers(provider, cache, policy=RetryPolicy())
        task = asyncio.create_task(answers.answer(kit.call()))
        await asyncio.sleep(0.02)
        answers.stop()
        with pytest.raises(Stopped):
            await asyncio.wait_for(task, 1.0)

    asyncio.run(stopped())


def test_a_record_rests_on_what_the_store_holds_where_another_process_was_first(kit, cache):
    def meanwhile(call, profile):
        cache.replies[answers.key(call)] = Reply(text="theirs", key="sha256:theirs")
        return "ours"

    async def race():
        answers.endpoints[kit.MODEL].profile = Profile()
        return await answers.answer(kit.call())

    answers = kit.answers(kit.Provider(meanwhile), cache)
    assert asyncio.run(race()).text == "theirs"


def test_a_cut_gives_up_what_is_in_flight_and_keeps_what_has_arrived(kit, cache):
    class Uneven(kit.Provider):
        async def ask(self, call, profile, *, timeout_s):
            if call.messages[0].text == "slow":
                await asyncio.sleep(3600)
            return await super().ask(call, profile, timeout_s=timeout_s)

    async def cut():
        answers = kit.answers(Uneven(lambda call, profile: "yes"), cache, max_concurrency=4)
        answers.endpoints[kit.MODEL].profile = Profile()
        cache.durable.clear()  # the quick one has arrived and is on its way to the disk
        texts = ("quick", "slow", "slow", "slow")
        tasks = [asyncio.create_task(answers.answer(kit.call(text))) for text in texts]
        await asyncio.sleep(0.02)
        answers.cut_off()
        answers.cut_off()
        cache.durable.set()
        return answers, await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5.0)

    answers, (quick, *slow) = asyncio.run(cut())
    assert quick.text == "yes"
    assert len(cache.replies) == 1
    assert all(isinstance(result, Stopped) for result in slow)
    assert answers.tally.in_flight == 0


def test_a_providers_own_timeout_is_not_taken_for_a_cut(kit, cache):
    class TimesOut(kit.Provider):
        async def ask(self, call, profile, *, timeout_s):
            raise TimeoutError

    async def ask():
        answers = kit.answers(TimesOut(lambda call, profile: "yes"), cache)
        await answers.answer(kit.call())

    with pytest.raises(TimeoutError):
        asyncio.run(ask())
