import pytest

from evenhand.errors import UnreadableReply
from evenhand.judges.asking import Read, ask, total_usage
from evenhand.terms import Abstention, Call, Failure, Message, Reply, Usage

CALL = Call(model="p/m", messages=(Message(role="system", text="s"), Message(role="user", text="u")), max_tokens=100)
SAID = Usage(input_tokens=10, output_tokens=5)

GOOD = Reply(text="good", usage=SAID)
BAD = Reply(text="bad", usage=SAID)
EMPTY = Reply(text=" \n", usage=SAID)
CUT = Reply(text="goo", finish="length", usage=Usage(input_tokens=10, output_tokens=100, reasoning_tokens=98))


def read(text):
    if text != "good":
        raise UnreadableReply(f"it says {text}")
    return text


def play(*replies):
    """The outcome and the calls, where the replies are used up exactly."""
    asking = ask(CALL, read, lambda problem: f"wrong: {problem}")
    calls = list(next(asking))
    for number, reply in enumerate(replies):
        keyed = Reply(
            text=reply.text, finish=reply.finish, refusal=reply.refusal, usage=reply.usage, key=f"key-{number}"
        )
        try:
            calls += asking.send((keyed,))
        except StopIteration as done:
            assert number == len(replies) - 1, "replies were left over"
            return done.value, calls
    raise AssertionError(f"asked once more: {calls[-1]}")


def attempts(calls):
    return [call.attempt for call in calls]


def test_a_readable_reply_takes_one_call():
    assert play(GOOD) == (Read(value="good", keys=("key-0",), usage=SAID), [CALL])


def test_an_unreadable_reply_gets_a_repair_turn_that_says_what_is_wrong():
    found, calls = play(BAD, GOOD)
    assert found == Read(value="good", keys=("key-0", "key-1"), usage=Usage(input_tokens=20, output_tokens=10))
    assert calls[1].messages == (
        *CALL.messages,
        Message(role="assistant", text="bad"),
        Message(role="user", text="wrong: it says bad"),
    )
    assert attempts(calls) == [0, 0]


def test_after_the_repair_turn_comes_one_fresh_ask_of_the_original():
    found, calls = play(BAD, BAD, GOOD)
    assert isinstance(found, Read)
    assert calls[2].messages == CALL.messages
    assert attempts(calls) == [0, 0, 1]


def test_a_fresh_ask_begins_at_the_attempt_that_the_call_had():
    asking = ask(Call(model="p/m", messages=CALL.messages, attempt=4), read, str)
    next(asking)
    asking.send((BAD,))
    assert asking.send((BAD,))[0].attempt == 5


def test_three_unreadable_replies_are_a_failure_that_keeps_the_last_one():
    found, _ = play(BAD, BAD, BAD)
    assert found == Failure(
        code="unreadable",
        message="it says bad",
        raw_key="key-2",
        keys=("key-0", "key-1", "key-2"),
        usage=Usage(input_tokens=30, output_tokens=15),
    )


def test_a_cut_reply_is_asked_once_more_with_four_times_the_limit():
    found, calls = play(CUT, GOOD)
    assert isinstance(found, Read)
    assert [call.max_tokens for call in calls] == [100, 400]
    assert attempts(calls) == [0, 0]


def test_a_reply_cut_twice_is_a_failure_that_names_truncation_and_reasoning():
    found, calls = play(CUT, CUT)
    assert isinstance(found, Failure)
    assert (found.code, found.raw_key, len(calls)) == ("truncated", "key-1", 2)
    assert "truncated at 400 tokens" in found.message
    assert "98 of them spent on reasoning" in found.message


def test_a_cut_reply_is_not_read_even_where_it_could_be():
    found, _ = play(Reply(text="good", finish="length"), Reply(text="good", finish="length"))
    assert isinstance(found, Failure)


def test_a_cut_repair_turn_is_lengthened_and_stays_a_repair_turn():
    found, calls = play(BAD, CUT, BAD, GOOD)
    assert isinstance(found, Read)
    assert [call.max_tokens for call in calls] == [100, 100, 400, 400]
    assert calls[2].messages == calls[1].messages
    assert attempts(calls) == [0, 0, 0, 1]


def test_four_calls_are_the_most():
    found, calls = play(CUT, BAD, BAD, BAD)
    assert isinstance(found, Failure)
    assert (found.code, len(calls)) == ("unreadable", 4)
    found, calls = play(BAD, BAD, CUT, BAD)
    assert isinstance(found, Failure)
    assert len(calls) == 4


def test_an_empty_reply_is_asked_afresh_without_a_repair_turn():
    found, calls = play(EMPTY, GOOD)
    assert isinstance(found, Read)
    assert calls[1].messages == CALL.messages
    assert attempts(calls) == [0, 1]


def test_two_empty_replies_are_a_failure_of_their_own():
    found, _ = play(EMPTY, EMPTY)
    assert isinstance(found, Failure)
    assert (found.code, found.raw_key) == ("empty", "key-1")


def test_an_unreadable_reply_to_a_fresh_ask_still_gets_its_repair_turn():
    found, calls = play(EMPTY, BAD, GOOD)
    assert isinstance(found, Read)
    assert attempts(calls) == [0, 1, 1]
    assert calls[2].messages[2].text == "bad"


def test_an_empty_repair_turn_is_followed_by_the_fresh_ask():
    found, calls = play(BAD, EMPTY, GOOD)
    assert isinstance(found, Read)
    assert attempts(calls) == [0, 0, 1]


@pytest.mark.parametrize("text", ["", "good", '{"checks": []}'])
def test_a_filtered_reply_is_a_failure_at_once(text):
    found, calls = play(Reply(text=text, finish="filter"))
    assert isinstance(found, Failure)
    assert (found.code, len(calls)) == ("filtered", 1)


def test_a_refusal_in_its_own_field_is_an_abstention_with_the_text():
    found, calls = play(Reply(text="", refusal="I will not.", usage=SAID))
    assert found == Abstention(reason="refusal", text="I will not.", keys=("key-0",), usage=SAID)
    assert len(calls) == 1


def test_a_refusal_in_prose_is_an_abstention_with_the_text():
    found, calls = play(Reply(text="I'm sorry, but I can't help with that."))
    assert isinstance(found, Abstention)
    assert found.text == "I'm sorry, but I can't help with that."
    assert len(calls) == 1


def test_a_readable_reply_is_never_searched_for_a_refusal():
    text = "I'm sorry, but I can't help with that."
    asking = ask(CALL, str, str)
    next(asking)
    with pytest.raises(StopIteration) as done:
        asking.send((Reply(text=text),))
    assert done.value.value.value == text


def test_what_a_model_is_shown_again_is_bounded_and_can_be_sent():
    _, calls = play(Reply(text="\ud800" + "x" * 100_000), GOOD)
    shown = calls[1].messages[2].text
    assert len(shown) == 4_000
    calls[1].messages[3].text.encode()
    shown.encode()


def test_a_sum_is_unknown_only_where_nobody_reported():
    replies = [Reply(text="", usage=Usage(input_tokens=3)), Reply(text="", usage=Usage(output_tokens=2))]
    assert total_usage(replies) == Usage(input_tokens=3, output_tokens=2)
