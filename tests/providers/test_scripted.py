"""The scripted provider: replies in order, by function, or from a file."""

import asyncio

import pytest

from evenhand.errors import InvalidInput, ProviderError
from evenhand.providers.scripted import ScriptedProvider
from evenhand.terms import Profile, Reply, TokenChoice, Usage


def asked(provider, call, times=1) -> list:
    async def run() -> list:
        return [await provider.ask(call, Profile(mode="json"), timeout_s=1) for _ in range(times)]

    return asyncio.run(run())


def test_the_kth_call_gets_the_kth_reply_and_the_last_repeats(call) -> None:
    provider = ScriptedProvider(["a", Reply(text="b", finish="length")])
    assert asked(provider, call, 3) == [
        Reply(text="a"),
        Reply(text="b", finish="length"),
        Reply(text="b", finish="length"),
    ]
    assert provider.calls == [(call, Profile(mode="json"))] * 3


def test_a_function_answers_by_the_call(call) -> None:
    provider = ScriptedProvider(lambda asked: f"{asked.schema_name}:{asked.rerun}")
    assert asked(provider, call)[0].text == "verdict:0"


def test_an_exception_is_raised(call) -> None:
    provider = ScriptedProvider([ProviderError("down", provider="scripted", retryable=True), "up"])
    with pytest.raises(ProviderError, match="down"):
        asked(provider, call)
    assert asked(provider, call)[0].text == "up"


def test_a_script_without_replies_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no replies"):
        ScriptedProvider([])


def test_a_file_gives_texts_replies_and_plain_objects(tmp_path, call) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(
        '"plain \\u00e9"\n\n'
        '{"text": "t", "finish": "length", "refusal": "no", "reasoning": "hm", "usage": {"input_tokens": 3},'
        ' "logprobs": [{"token": "a", "logprob": -0.5, "alternatives": [["a", -0.5]]}]}\n'
        '{"checks": [ ]}\n',
        encoding="utf-8",
    )
    provider = ScriptedProvider.from_file(path)
    choice = TokenChoice(token="a", logprob=-0.5, alternatives=(("a", -0.5),))
    full = Reply(
        text="t", finish="length", refusal="no", reasoning="hm", usage=Usage(input_tokens=3), logprobs=(choice,)
    )
    assert asked(provider, call, 4) == [
        Reply(text="plain é"),
        full,
        Reply(text='{"checks": [ ]}'),
        Reply(text='{"checks": [ ]}'),
    ]


def test_two_files_have_two_identities_and_one_file_has_one(tmp_path) -> None:
    for name, text in (("a", '"x"'), ("b", '"y"'), ("c", '"x"')):
        (tmp_path / name).write_text(text, encoding="utf-8")
    a, b, c = (ScriptedProvider.from_file(tmp_path / name).identity for name in "abc")
    assert a == c != b


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "holds no reply"),
        (b"\n \n", "holds no reply"),
        (b'"a"\n7\n', ":2: no reply"),
        (b'{"text": 1}', ":1: no reply"),
        (b'{"text": "a", "finish": "sudden"}', "finish 'sudden'"),
        (b'{"text": "a", "tokens": 1}', "unknown field `tokens`"),
        (b'{"text": "a", "usage": {"tokens": 1}}', ":1: no reply"),
        (b'{"text": ', ":1: no reply"),
        (b'"\xff"', ":1: no reply"),
    ],
)
def test_a_line_that_is_no_reply_is_named(tmp_path, content, says) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        ScriptedProvider.from_file(path)
    assert says in str(caught.value)


def test_a_script_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        ScriptedProvider.from_file(tmp_path / "none.jsonl")
