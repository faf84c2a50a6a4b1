"""What a probe asks, and how one token's alternatives become a rating's distribution; the other end held by hand."""

import json
import math
import re
from dataclasses import replace

import pytest

from evenhand.errors import InvalidInput
from evenhand.judges.probe import Probe, RatingShares
from evenhand.judges.probe_reading import RunFailure
from evenhand.terms import ProbeItems, Reply, TokenChoice

ITEMS = ProbeItems(name="prose", scale_min=1, scale_max=10, items=("one text", "another {{text}}", "a third"))


@pytest.fixture(scope="module")
def probe(templates):
    return lambda items=ITEMS, **settings: Probe(items, templates, **settings)


def tokens(*alternatives):
    """A reply whose k-th token has these alternatives (token, probability); the first was chosen."""
    choices = []
    for own in alternatives:
        pairs = tuple((token, math.log(share)) for token, share in own)
        choices.append(TokenChoice(token=pairs[0][0], logprob=pairs[0][1], alternatives=pairs))
    return Reply(text="".join(choice.token for choice in choices), finish="length", logprobs=tuple(choices))


def played(asking, *replies):
    """The outcome, and every call made."""
    calls, left = list(next(asking)), list(replies)
    while True:
        try:
            calls += asking.send((left.pop(0),))
        except StopIteration as done:
            assert not left, "replies that nobody asked for"
            return done.value, calls


def test_all_items_go_into_one_call_at_the_published_temperature(probe):
    (call,) = next(probe().together(model="p/m", rerun=4))
    user = call.messages[1].text
    mark = re.search(r"mark of this message is (\w+)", user)[1]
    for letter, text in zip("ABC", ITEMS.items, strict=True):
        assert f"{mark} TEXT {letter} BEGINS\n{text}\n{mark} TEXT {letter} ENDS" in user
    assert (call.temperature, call.rerun, call.member, call.logprobs) == (0.7, 4, "p/m", None)
    scores = call.schema["properties"]["scores"]
    assert (scores["minItems"], scores["maxItems"]) == (3, 3)
    assert scores["items"]["enum"] == list(range(1, 11))


def test_the_prompt_holds_no_number_but_the_scale_and_the_count(probe):
    for asking in (probe().together(model="p/m", rerun=0), probe().share(0, model="p/m")):
        (call,) = next(asking)
        text = "".join(message.text for message in call.messages)
        assert set(re.findall(r"\d+", text)) <= {"1", "10", "3"}


def test_the_turned_scale_says_that_the_lowest_is_best(probe):
    (plain,) = next(probe().together(model="p/m", rerun=0))
    (turned,) = next(probe(best="low").together(model="p/m", rerun=0))
    assert "The highest number is the best" in plain.messages[0].text
    assert "The lowest number is the best" in turned.messages[0].text
    assert plain.messages[1] != turned.messages[1], "marks differ with what is asked"


def test_a_run_is_read_once_and_never_repaired(probe):
    run, calls = played(probe().together(model="p/m", rerun=0), Reply(text=json.dumps({"scores": [3, 9, 7]})))
    assert (run, len(calls)) == ((3, 9, 7), 1)
    failure, calls = played(probe().together(model="p/m", rerun=0), Reply(text=json.dumps({"scores": [3, 9]})))
    assert (failure.cause, len(calls)) == ("too_few", 1)


def test_one_token_gives_the_whole_distribution_where_ten_is_a_token(probe):
    found, calls = played(
        probe(temperature=1.0).share(0, model="p/m"),
        tokens([("8", 0.5), (" 8", 0.1), ("10", 0.2), ("1", 0.1), ("I", 0.1)]),
    )
    assert found.shares == pytest.approx({1: 0.1 / 0.9, 8: 0.6 / 0.9, 10: 0.2 / 0.9})
    assert found.mass == pytest.approx(0.9)
    (call,) = calls
    assert (call.max_tokens, call.logprobs, call.temperature) == (1, 20, 0.0)
    assert not found.parted


def test_a_split_ten_takes_its_share_from_the_second_token(probe):
    found, calls = played(
        probe(temperature=1.0).share(0, model="p/m"),
        tokens([("1", 0.6), ("7", 0.4)]),
        tokens([("1", 0.6), ("7", 0.4)], [("0", 0.75), ("", 0.2), ("5", 0.05)]),
    )
    # Of the 1s three quarters are 10, a fifth ends there, and a twentieth is 15, which leaves the scale.
    assert found.shares == pytest.approx({1: 0.12 / 0.97, 7: 0.4 / 0.97, 10: 0.45 / 0.97})
    assert found.parted
    assert calls[1].max_tokens == 2
    assert calls[1].messages == calls[0].messages


def test_where_one_is_not_the_first_choice_it_is_given_and_the_next_token_read(probe):
    found, calls = played(
        probe(temperature=1.0).share(0, model="p/m"),
        tokens([("7", 0.6), ("1", 0.4)]),
        tokens([("0", 0.5), ("<|im_end|>", 0.5)]),
    )
    assert found.shares == pytest.approx({1: 0.2, 7: 0.6, 10: 0.2})
    assert (calls[1].messages[-1].role, calls[1].messages[-1].text, calls[1].max_tokens) == ("assistant", "1", 1)


@pytest.mark.parametrize(
    "second", [tokens([("7", 0.6), ("8", 0.4)]), tokens([("The", 0.9), ("0", 0.1)]), Reply(text="")]
)
def test_an_endpoint_that_begins_a_new_turn_does_not_make_ten_a_one(probe, second):
    found, _ = played(probe().share(0, model="p/m"), tokens([("7", 0.6), ("1", 0.4)]), second)
    assert isinstance(found, RunFailure)
    assert found.cause == "two_digits"
    assert "1 and 10 cannot be told apart" in found.message


def test_a_first_digit_of_next_to_no_share_is_not_worth_a_second_call(probe):
    found, calls = played(probe().share(0, model="p/m"), tokens([("7", 0.99), ("1", 0.004)]))
    assert (found.parted, len(calls)) == (False, 1)


def test_no_ten_no_digit_trap(probe):
    nine = replace(ITEMS, scale_max=9)
    found, calls = played(probe(nine, temperature=1.0).share(0, model="p/m"), tokens([("1", 0.9), ("9", 0.1)]))
    assert found.shares == pytest.approx({1: 0.9, 9: 0.1})
    assert len(calls) == 1


def test_the_temperature_acts_on_each_token_by_itself(probe):
    found, _ = played(
        probe(temperature=0.5).share(0, model="p/m"),
        tokens([("1", 0.6), ("7", 0.3), (" 7", 0.1)]),
        tokens([("1", 0.6), ("7", 0.4)], [("0", 0.8), (".", 0.2)]),
    )
    one, seven = 0.6**2, 0.3**2 + 0.1**2
    zero = 0.8**2 / (0.8**2 + 0.2**2)
    total = one + seven
    assert found.shares == pytest.approx({1: one * (1 - zero) / total, 7: seven / total, 10: one * zero / total})
    assert found.mass == pytest.approx(1.0)


def test_the_reply_is_begun_for_a_model_that_writes_prose(probe):
    prose = tokens([("The", 0.9), ("1", 0.03)])
    found, calls = played(
        probe(temperature=1.0).share(0, model="p/m"),
        prose,
        tokens([("1", 0.5), ("9", 0.5)]),
        tokens([("1", 0.5), ("9", 0.5)], [("0", 1.0)]),
    )
    assert found.shares == pytest.approx({9: 0.5, 10: 0.5})
    assert found.begun
    assert calls[1].messages[-1].text == calls[2].messages[-1].text == '{"rating": '
    failure, _ = played(probe().share(0, model="p/m"), prose, prose)
    assert failure.cause == "unreadable"
    assert "'The' alone 0.900" in failure.message


def test_where_no_token_comes_there_is_no_distribution(probe):
    assert played(probe().share(0, model="p/m"), Reply(text=""), Reply(text=""))[0].cause == "empty"
    assert played(probe().share(0, model="p/m"), Reply(text="", finish="filter"))[0].cause == "filtered"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("7", (7,)), (" 10", (10,)), ("7/10", (7,)), ("7.", (7,)), ("**8**", (8,)), ("10\n", (10,))],
)
def test_a_sampled_single_reply_is_read_by_its_leading_number(probe, text, wanted):
    assert played(probe().alone(0, model="p/m", rerun=0), Reply(text=text))[0] == wanted


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("11", "off_scale"),
        ("0", "off_scale"),
        ("99999", "off_scale"),
        ("Seven", "unreadable"),
        ("", "empty"),
        ("-7", "unreadable"),
    ],
)
def test_a_sampled_single_reply_off_the_scale_or_without_a_number_fails(probe, text, cause):
    assert played(probe().alone(0, model="p/m", rerun=0), Reply(text=text))[0].cause == cause


def test_samples_are_asked_as_their_distribution_was(probe):
    (share,) = next(probe().share(1, model="p/m"))
    (alone,) = next(probe().alone(1, model="p/m", rerun=2))
    assert alone.messages == share.messages
    assert (alone.temperature, alone.logprobs) == (0.7, share.logprobs)
    (begun,) = next(probe().alone(1, model="p/m", rerun=2, begun=True))
    assert begun.messages[-1].text == '{"rating": '


def test_no_two_samples_share_a_rerun_number_and_with_it_a_local_models_seed(probe):
    numbers = [next(probe().alone(k, model="p/m", rerun=rerun))[0].rerun for k in range(3) for rerun in range(4)]
    assert len(set(numbers)) == 12


def test_scales_that_one_or_two_tokens_cannot_carry_are_refused(probe):
    with pytest.raises(InvalidInput, match="from 0 to 100"):
        probe(replace(ITEMS, scale_min=0, scale_max=100)).refuse_long_levels()
    probe(replace(ITEMS, scale_min=0)).refuse_long_levels()


def test_a_large_scale_is_named_by_its_ends(probe):
    (call,) = next(probe(replace(ITEMS, scale_min=0, scale_max=100)).together(model="p/m", rerun=0))
    assert call.schema["properties"]["scores"]["items"] == {"type": "integer", "minimum": 0, "maximum": 100}


def test_a_scale_from_two_to_ten_reads_a_one_as_the_beginning_of_ten(probe):
    two = replace(ITEMS, scale_min=2)
    found, _ = played(
        probe(two, temperature=1.0).share(0, model="p/m"),
        tokens([("1", 0.9), ("9", 0.1)]),
        tokens([("1", 0.9), ("9", 0.1)], [("0", 0.5), ("", 0.5)]),
    )
    assert isinstance(found, RatingShares)
    assert found.shares == pytest.approx({9: 0.1 / 0.55, 10: 0.45 / 0.55})
