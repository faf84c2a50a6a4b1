"""What comes back: bodies that the `openai` package accepts, and the odd forms that servers really send."""

import json
from dataclasses import replace

import pytest
from openai.types.chat import ChatCompletion

from evenhand.terms import Profile, TokenChoice, Usage


@pytest.fixture
def reply(ask, http):
    """The reply to a body; `typed` bodies are held against the types of the openai package first."""

    def read(body, *, typed=True, **settings):
        if typed:
            ChatCompletion.model_validate(body, strict=True)
        return ask(http(body), **settings)

    return read


def test_text_usage_model_and_finish_are_read(reply, completion) -> None:
    got = reply(completion("yes"))
    assert (got.text, got.finish, got.model, got.refusal, got.reasoning) == ("yes", "stop", "judge-1-2026", None, None)
    assert got.usage == Usage(input_tokens=100, cached_tokens=64, output_tokens=20, reasoning_tokens=5)
    assert (got.key, got.logprobs) == ("", ())


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "filter"), ("tool_calls", "stop")],
)
def test_finish_reasons_have_one_word_each(reply, completion, reason, finish) -> None:
    assert reply(completion("x", choice={"finish_reason": reason})).finish == finish


@pytest.mark.parametrize("reason", [None, "weird"])
def test_an_unknown_finish_reason_is_other(reply, completion, reason) -> None:
    assert reply(completion("x", choice={"finish_reason": reason}), typed=False).finish == "other"


def tool_call(arguments, name="verdict") -> dict:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_the_arguments_of_a_tool_call_are_the_answer_and_text_beside_them_is_not(reply, completion) -> None:
    message = {"tool_calls": [tool_call('{"a": 1}')]}
    body = completion("Let me call the tool.", message=message, choice={"finish_reason": "tool_calls"})
    assert reply(body, profile=Profile(mode="tool")).text == '{"a": 1}'


def test_a_model_that_ignored_the_forced_tool_is_read_by_its_text(reply, completion) -> None:
    assert reply(completion('{"a": 2}'), profile=Profile(mode="tool")).text == '{"a": 2}'


def test_two_tool_calls_stay_two_answers(reply, completion) -> None:
    message = {"tool_calls": [tool_call('{"a": 1}'), tool_call('{"a": 2}')]}
    assert reply(completion(None, message=message), profile=Profile(mode="tool")).text == '{"a": 1}\n{"a": 2}'


def test_arguments_given_as_an_object_become_their_text(reply, completion) -> None:
    message = {"tool_calls": [tool_call({"a": [1, True]})]}
    got = reply(completion(None, message=message), typed=False, profile=Profile(mode="tool"))
    assert json.loads(got.text) == {"a": [1, True]}


def test_a_refusal_of_its_own_is_kept_apart_from_empty_content(reply, completion) -> None:
    got = reply(completion(None, message={"refusal": "I can't help with evaluating this text."}))
    assert (got.text, got.refusal) == ("", "I can't help with evaluating this text.")


def test_an_empty_refusal_is_none(reply, completion) -> None:
    assert reply(completion("x", message={"refusal": ""})).refusal is None


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_has_its_own_field_under_either_name(reply, completion, field) -> None:
    got = reply(completion("x", message={field: "hm"}))
    assert (got.text, got.reasoning) == ("x", "hm")


def test_reasoning_in_another_shape_is_left_out(reply, completion) -> None:
    assert reply(completion("x", message={"reasoning": {"summary": 1}})).reasoning is None


def test_listed_content_is_joined_and_its_thinking_set_apart(reply, completion) -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": '{"a":'},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": " 1}"},
    ]
    got = reply(completion(parts), typed=False)
    assert (got.text, got.reasoning) == ('{"a": 1}', "hm")


def test_a_listed_refusal_is_a_refusal(reply, completion) -> None:
    assert reply(completion([{"type": "refusal", "refusal": "no"}]), typed=False).refusal == "no"


def test_missing_usage_is_unknown_not_zero(reply, completion) -> None:
    body = completion("x")
    del body["usage"]
    assert reply(body).usage == Usage()


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "many"}, {"prompt_tokens": -1}, "odd", {"prompt_tokens": []}],
)
def test_odd_usage_is_unknown_and_the_answer_is_not_lost(reply, completion, usage) -> None:
    got = reply(completion("x", usage=usage), typed=False)
    assert (got.text, got.usage) == ("x", Usage())


def test_whole_numbers_with_a_fraction_are_counts(reply, completion) -> None:
    usage = {"prompt_tokens": 12.0, "completion_tokens": 3, "prompt_tokens_details": None}
    assert reply(completion("x", usage=usage), typed=False).usage == Usage(input_tokens=12, output_tokens=3)


def test_unknown_fields_and_oddly_typed_ones_beside_the_answer_do_no_harm(reply, completion) -> None:
    body = completion("x", model=7, extra={"deep": [1]}, choice={"logprobs": "none", "extra": 1})
    got = reply(body, typed=False)
    assert (got.text, got.model, got.logprobs) == ("x", None, ())


def test_the_chosen_token_comes_first_among_its_alternatives(reply, completion, call) -> None:
    tokens = [
        {
            "token": "8",
            "logprob": -0.8,
            "bytes": None,
            "top_logprobs": [
                {"token": "7", "logprob": -2.1, "bytes": None},
                {"token": "8", "logprob": -0.8, "bytes": None},
                {"token": "8", "logprob": -4.0, "bytes": None},
            ],
        },
        {
            "token": "!",
            "logprob": -9.5,
            "bytes": None,
            "top_logprobs": [{"token": "a", "logprob": -0.1, "bytes": None}],
        },
    ]
    body = completion("8!", choice={"logprobs": {"content": tokens, "refusal": None}})
    assert reply(body, call=replace(call, logprobs=3)).logprobs == (
        TokenChoice(token="8", logprob=-0.8, alternatives=(("8", -0.8), ("7", -2.1), ("8", -4.0))),
        TokenChoice(token="!", logprob=-9.5, alternatives=(("!", -9.5), ("a", -0.1))),
    )


def test_a_chunked_reply_that_comes_byte_by_byte_is_read_whole(ask, completion) -> None:
    body = json.dumps(completion("“ä”"), ensure_ascii=False).encode()

    async def drip(request, writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for byte in body:
            writer.write(b"1\r\n" + bytes([byte]) + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    assert ask(drip).text == "“ä”"


def test_a_compressed_reply_is_unpacked(ask, http, completion) -> None:
    import gzip

    body = gzip.compress(json.dumps(completion("packed")).encode())
    assert ask(http(body, headers=["Content-Encoding: gzip"])).text == "packed"


def test_a_reply_of_ten_megabytes_is_read(reply, completion) -> None:
    text = "long " * 2_000_000
    assert reply(completion(text)).text == text


def test_a_content_filter_that_comes_as_an_error_is_a_withheld_reply(ask, http) -> None:
    error = {"message": "filtered", "code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}
    got = ask(http({"error": error}, status=400))
    assert (got.text, got.finish) == ("", "filter")


def test_a_moderated_input_is_a_withheld_reply(ask, http) -> None:
    error = {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"], "flagged_input": "..."}}
    assert ask(http({"error": error}, status=403)).finish == "filter"
