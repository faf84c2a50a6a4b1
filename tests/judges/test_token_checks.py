"""`read: logprob`, driven by hand, and with a real model."""

import asyncio
import math
import os
from decimal import Decimal
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput
from evenhand.terms import (
    Abstention,
    Check,
    CheckGroup,
    Criterion,
    Failure,
    Item,
    Profile,
    Reply,
    TokenChoice,
    Usage,
    Verdict,
)

ITEM = Item(id="item-under-test", task="Tell what you did.", candidate="We changed the filter {x} and wrote it up.")


def answer(*alternatives, key="k", **fields):
    """A reply of one token, with (token, probability) alternatives."""
    listed = tuple((token, math.log(p)) for token, p in alternatives)
    token, logprob = listed[0]
    choice = TokenChoice(token=token, logprob=logprob, alternatives=listed)
    usage = Usage(input_tokens=100, output_tokens=1)
    return Reply(**{"text": token, "finish": "length", "logprobs": (choice,), "usage": usage, "key": key, **fields})


YES = answer(("Yes", 0.6), ("No", 0.2), ("The", 0.1), key="yes")
NO = answer((" No", 0.7), ("yes", 0.1), key="no")


@pytest.fixture
def three(make):
    """Three checks of two criteria."""
    action = Check(id="action", ask="Does it say what was done?")
    routes = CheckGroup(any_of=(Check(id="figure", ask="Is there a figure?"), Check(id="short", ask="?", quote="none")))
    return make(
        "checklist",
        Criterion(id="a", levels=(Decimal(0), Decimal(1)), checks=(action,)),
        Criterion(id="b", ask="The outcome.", levels=(Decimal(0), Decimal(1)), checks=(routes,)),
        read="logprob",
    )


def outcome(judge, *replies, **how):
    judging = judge.judge(ITEM, model="openai/fake-judge", **how)
    calls = next(judging)
    with pytest.raises(StopIteration) as ended:
        judging.send(replies)
    return ended.value.value, calls


def test_all_checks_go_out_together_and_ask_for_one_token(three):
    _, calls = outcome(three, YES, YES, YES, rerun=2, first_attempt=4)
    assert len(calls) == 3
    for call in calls:
        assert (call.schema, call.max_tokens, call.logprobs, call.temperature) == (None, 1, 20, 0)
        assert (call.rerun, call.attempt, call.member) == (2, 4, "openai/fake-judge")


def test_calls_share_everything_but_the_question_at_their_end(three):
    _, calls = outcome(three, YES, YES, YES)
    system, user = zip(*(call.messages for call in calls), strict=True)
    assert len(set(system)) == 1
    assert "Is there a figure?" not in system[0].text
    texts = [message.text for message in user]
    common = texts[0][: next(place for place, pair in enumerate(zip(*texts, strict=False)) if len(set(pair)) > 1)]
    assert ITEM.candidate in common
    assert "The question about the candidate:" in common
    endings = [text[len(common) :] for text in texts]
    assert "Does it say what was done?" in endings[0]
    assert "The outcome.\nIs there a figure?" in endings[1]
    assert not any("item-under-test" in message.text for message in user)


def test_prompts_show_no_digits_but_those_of_rubric_and_item(three):
    _, calls = outcome(three, YES, YES, YES)
    assert not any(character.isdigit() for call in calls for message in call.messages for character in message.text)


def test_probabilities_decide_and_are_kept_with_their_mass(three):
    found, _ = outcome(three, YES, NO, YES)
    assert isinstance(found, Verdict)
    checks = [check for criterion in found.criteria for check in criterion.checks]
    assert [(check.id, check.passed, check.counted) for check in checks] == [
        ("action", True, True),
        ("figure", False, True),
        ("short", True, True),
    ]
    assert [(check.probability, check.mass) for check in checks] == [(0.75, 0.8), (0.125, 0.8), (0.75, 0.8)]
    assert {(check.quote, check.quote_status, check.span) for check in checks} == {("", "absent", None)}
    assert found.keys == ("yes", "no", "yes")
    assert (found.usage.input_tokens, found.usage.output_tokens) == (300, 3)


def test_a_verdict_says_that_quotes_were_not_asked(three, make):
    assert outcome(three, YES, YES, YES)[0].flags == ("quotes_not_asked",)
    plain = make("checklist", Criterion(id="a", checks=(Check(id="c", ask="?", quote="none"),)), read="logprob")
    assert outcome(plain, YES)[0].flags == ()


def test_exactly_a_half_abstains(three):
    found, _ = outcome(three, YES, answer(("yes", 0.3), ("no", 0.3), key="even"), NO)
    assert isinstance(found, Abstention)
    assert 'check "figure" is undecided' in found.reason
    assert found.keys == ("yes", "even", "no")


def test_too_little_mass_is_unreadable_and_says_where_it_went(three):
    found, _ = outcome(three, YES, NO, answer(("The", 0.7), ("yes", 0.02), ("no", 0.03), key="prose"))
    assert isinstance(found, Failure)
    assert (found.code, found.raw_key, found.keys) == ("unreadable", "prose", ("yes", "no", "prose"))
    assert 'check "short": yes and no together had 0.050' in found.message
    assert '"The" alone had 0.700' in found.message
    assert "0.1 is needed" in found.message
    assert "read: json" in found.message


@pytest.mark.parametrize(
    ("reply", "code", "said"),
    [
        (Reply(text="Yes", key="r"), "unreadable", "returns no log probabilities; use `read: json`"),
        (Reply(text="", finish="length", usage=Usage(reasoning_tokens=1), key="r"), "empty", "no first token came"),
        (Reply(text="", finish="filter", key="r"), "filtered", "withheld"),
    ],
)
def test_a_reply_without_a_token_to_read_is_a_failure(reply, code, said, three):
    found, _ = outcome(three, reply, YES, YES)
    assert isinstance(found, Failure)
    assert (found.code, found.raw_key) == (code, "r")
    assert said in found.message


def test_a_refusal_abstains(three):
    found, _ = outcome(three, YES, Reply(text="", refusal="I will not.", key="r"), YES)
    assert isinstance(found, Abstention)
    assert (found.reason, found.text) == ("refusal", "I will not.")


def test_what_one_token_cannot_say_is_refused(make):
    may_not_apply = Criterion(id="a", checks=(Check(id="c", ask="?", na=True),))
    with pytest.raises(InvalidInput, match=r"na: true.*read: json"):
        make("checklist", may_not_apply, read="logprob")
    plain = Criterion(id="a", checks=(Check(id="c", ask="?"),))
    with pytest.raises(InvalidInput, match="nothing is cited"):
        make("checklist", plain, read="logprob", cite="sentence")
    with pytest.raises(InvalidInput, match="`read: logprob` belongs to the protocol checklist"):
        make("number", Criterion(id="a"), read="logprob")
    with pytest.raises(InvalidInput, match="`cite: sentence` belongs to the protocols"):
        make("number", Criterion(id="a"), cite="sentence")


@pytest.mark.local
def test_a_real_model_is_read_from_its_first_token(make, request):
    from evenhand.providers.local import LocalProvider, LocalSettings

    named = os.environ.get("EVENHAND_TEST_GGUF")
    path = Path(named) if named else request.getfixturevalue("embedded_model")
    checks = (Check(id="filter", ask="Does the text mention a filter?"), Check(id="cat", ask="Does it mention a cat?"))
    judge = make("checklist", Criterion(id="a", checks=checks), read="logprob")
    judging = judge.judge(ITEM, model="local/m")
    calls = next(judging)

    async def ask():
        provider = LocalProvider(str(path), settings=LocalSettings(slots=1, threads=1, context=1024))
        try:
            return [await provider.ask(call, Profile(), timeout_s=120) for call in calls]
        finally:
            await provider.close()

    replies = asyncio.run(ask())
    assert [reply.usage.output_tokens for reply in replies] == [1, 1]
    assert all(len(reply.logprobs[0].alternatives) >= 20 for reply in replies)
    # The second question is asked of the slot that holds the item: all but the last lines are read from its cache.
    assert replies[1].usage.cached_tokens > 0.7 * replies[1].usage.input_tokens
    with pytest.raises(StopIteration) as ended:
        judging.send(tuple(replies))
    found = ended.value.value
    assert isinstance(found, Verdict | Failure)
    if isinstance(found, Verdict):
        assert all(0 <= check.probability <= 1 for check in found.criteria[0].checks)
    else:
        assert "together had" in found.message
