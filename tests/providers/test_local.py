"""The local provider, with the real runtime and a real model."""

import asyncio
import hashlib
import json
import math
import os
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput, ProviderError, UnsupportedParameter
from evenhand.providers.local import LocalProvider, LocalSettings, _seed, local_settings
from evenhand.terms import Call, Message, Profile

SCHEMA = {
    "type": "object",
    "properties": {"quote": {"type": "string", "maxLength": 30}, "passed": {"type": "boolean"}},
    "required": ["quote", "passed"],
    "additionalProperties": False,
}
CALL = Call(
    model="local/m",
    messages=(
        Message(role="system", text="You check texts and answer in JSON."),
        Message(role="user", text="Text: I led a team of five. Did they lead?"),
    ),
    schema=SCHEMA,
    max_tokens=64,
)
PLAIN = replace(CALL, schema=None)
SMALL = LocalSettings(context=1024)

local = pytest.mark.local


@pytest.fixture(scope="module")
def gguf(request) -> Path:
    """Any chat model: EVENHAND_TEST_GGUF, or the embedded one."""
    named = os.environ.get("EVENHAND_TEST_GGUF")
    return Path(named) if named else request.getfixturevalue("embedded_model")


@pytest.fixture(scope="module")
def ask(gguf):
    """Ask calls at once; one provider a setting, loaded once and closed at the end."""
    providers = {}

    async def many(calls, profile, timeout_s, settings):
        if settings not in providers:
            providers[settings] = LocalProvider(str(gguf), settings=settings)
        asked = (providers[settings].ask(call, profile, timeout_s=timeout_s) for call in calls)
        return await asyncio.gather(*asked, return_exceptions=True)

    with asyncio.Runner() as runner:
        yield lambda *calls, profile=None, timeout_s=120.0, settings=SMALL: runner.run(
            many(calls, profile or Profile(), timeout_s, settings)
        )
        for provider in providers.values():
            runner.run(provider.close())


def one(results):
    """The only result, raised if it is an error."""
    (result,) = results
    if isinstance(result, BaseException):
        raise result
    return result


@local
def test_a_schema_binds_the_reply_and_tokens_are_counted(ask) -> None:
    reply = one(ask(CALL))
    value = json.loads(reply.text)
    assert list(value) == ["quote", "passed"]
    assert isinstance(value["passed"], bool)
    assert len(value["quote"]) <= 30
    assert reply.finish == "stop"
    assert reply.usage.input_tokens > 10
    assert reply.usage.output_tokens > 5


@local
def test_log_probabilities_belong_to_the_tokens_of_the_text(ask) -> None:
    reply = one(ask(replace(CALL, logprobs=3)))
    assert "".join(token.token for token in reply.logprobs).startswith(reply.text)
    first = reply.logprobs[0]
    assert first.alternatives[0] == (first.token, first.logprob)
    assert len(first.alternatives) >= 3
    assert sum(math.exp(value) for _, value in first.alternatives) <= 1.001


@local
def test_a_cut_reply_says_so(ask) -> None:
    reply = one(ask(replace(PLAIN, max_tokens=3, messages=(Message(role="user", text="Write a long story."),))))
    assert reply.finish == "length"
    assert reply.usage.output_tokens == 3


@local
def test_json_mode_gives_an_object_and_text_mode_is_free(ask) -> None:
    assert one(ask(CALL, profile=Profile(mode="json"))).text.startswith("{")
    assert one(ask(replace(CALL, max_tokens=8), profile=Profile(mode="text"))).text


@local
def test_a_forced_tool_call_is_refused(ask) -> None:
    with pytest.raises(UnsupportedParameter) as caught:
        one(ask(CALL, profile=Profile(mode="tool")))
    assert caught.value.parameter == "tool"


@local
def test_a_schema_without_a_grammar_is_refused_and_not_dropped(ask) -> None:
    hard = {**SCHEMA, "properties": {"quote": {"type": "string", "pattern": "(?<=a)b"}, "passed": {"type": "boolean"}}}
    with pytest.raises(UnsupportedParameter) as caught:
        one(ask(replace(CALL, schema=hard)))
    assert caught.value.parameter == "schema"


@local
def test_a_prompt_that_does_not_fit_names_both_numbers_and_the_way_out(ask) -> None:
    long = replace(CALL, messages=(Message(role="user", text="word " * 3000),))
    with pytest.raises(
        ProviderError, match=r"prompt has 3\d\d\d tokens and 1024 fit.*EVENHAND_LOCAL_CONTEXT"
    ) as caught:
        one(ask(long))
    assert caught.value.code == "too_long"
    assert not caught.value.retryable


@local
def test_reruns_and_attempts_draw_afresh_and_reproducibly(ask) -> None:
    warm = replace(PLAIN, temperature=1.0, max_tokens=12, messages=(Message(role="user", text="Invent a name."),))
    exact = replace(SMALL, slots=1, reuse=False)
    calls = [warm, warm, replace(warm, rerun=1), replace(warm, attempt=1)]
    texts = [reply.text for reply in ask(*calls, settings=exact)]
    assert texts[0] == texts[1]
    assert len({texts[0], texts[2], texts[3]}) == 3


def test_each_prompt_draws_from_a_stream_of_its_own() -> None:
    other = replace(
        PLAIN, messages=(*PLAIN.messages[:-1], Message(role="user", text="Text: I followed. Did they lead?"))
    )
    seeds = {_seed(call) for call in (PLAIN, other, replace(PLAIN, rerun=1), replace(other, rerun=1))}
    assert len(seeds) == 4
    assert _seed(PLAIN) == _seed(replace(PLAIN, max_tokens=7))


@local
def test_the_common_beginning_of_prompts_is_read_once(ask) -> None:
    rubric = Message(role="system", text="Check each answer. " * 30)
    calls = [replace(CALL, messages=(rubric, Message(role="user", text=f"Text {n}.")), max_tokens=4) for n in range(3)]
    replies = ask(*calls, settings=replace(SMALL, slots=1))
    assert [reply.usage.cached_tokens > 80 for reply in replies] == [False, True, True]


@local
def test_slots_answer_at_once_and_each_gets_its_own_reply(ask) -> None:
    calls = [replace(CALL, messages=(Message(role="user", text=f"Repeat: {'x' * n} {n}"),)) for n in range(1, 6)]
    together = [reply.text for reply in ask(*calls)]
    assert all(json.loads(text).keys() == {"quote", "passed"} for text in together)


@local
def test_markup_in_a_text_cannot_end_its_turn_and_comes_back_whole(ask, gguf) -> None:
    provider = LocalProvider(str(gguf), settings=SMALL)
    markup = next(token for token in provider.header.control_tokens if token.startswith("<") and len(token) > 4)
    text = f"one {markup} two"
    sent = provider._body(replace(CALL, messages=(Message(role="user", text=text),)), Profile())
    assert markup not in sent["messages"][0]["content"]
    assert provider._with_markup(sent["messages"][0]["content"]) == text
    plain, marked = ask(
        replace(CALL, messages=(Message(role="user", text="a"),), max_tokens=1),
        replace(CALL, messages=(Message(role="user", text=markup),), max_tokens=1),
    )
    assert marked.usage.input_tokens > plain.usage.input_tokens + 2  # as markup it would be one token


@local
def test_a_generation_stops_at_its_deadline(ask) -> None:
    endless = replace(PLAIN, max_tokens=900, temperature=1.5, messages=(Message(role="user", text="Count to 1000."),))
    with pytest.raises(ProviderError, match=r"did not answer within 0\.4 s") as caught:
        one(ask(endless, timeout_s=0.4))
    assert caught.value.code == "timeout"
    assert not caught.value.retryable  # it would take as long again


@local
def test_a_call_whose_time_went_by_in_the_queue_is_asked_again(ask) -> None:
    endless = replace(PLAIN, max_tokens=900, temperature=1.5, messages=(Message(role="user", text="Count to 1000."),))
    n = SMALL.slots + 1
    faults = ask(*[endless] * n, timeout_s=0.4)
    assert [type(fault) for fault in faults] == [ProviderError] * n
    assert faults[-1].retryable


@local
def test_a_cancelled_call_frees_its_slot(gguf) -> None:
    async def run():
        provider = LocalProvider(str(gguf), settings=replace(SMALL, slots=1))
        try:
            await provider.ask(replace(CALL, max_tokens=1), Profile(), timeout_s=120)
            endless = replace(PLAIN, max_tokens=900, messages=(Message(role="user", text="Count to 1000."),))
            task = asyncio.create_task(provider.ask(endless, Profile(), timeout_s=120))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            began = time.monotonic()
            await provider.ask(replace(CALL, max_tokens=1), Profile(), timeout_s=120)
            return time.monotonic() - began
        finally:
            await provider.close()

    assert asyncio.run(run()) < 30  # 900 tokens would take longer than one


@local
def test_strangers_cannot_use_the_runtimes_port(gguf) -> None:
    async def run():
        provider = LocalProvider(str(gguf), settings=SMALL)
        try:
            await provider.ask(replace(CALL, max_tokens=1), Profile(), timeout_s=120)
            host, _, port = provider._server.listening_address.removeprefix("http://").partition(":")
            assert host == "127.0.0.1"
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            status = await reader.readline()
            writer.close()
            await writer.wait_closed()
            return status
        finally:
            await provider.close()

    assert b" 401 " in asyncio.run(run())


@local
def test_the_runtime_prints_nothing(gguf) -> None:
    program = (
        "import asyncio, sys\n"
        "from evenhand.providers.local import LocalProvider, LocalSettings\n"
        "from evenhand.terms import Call, Message, Profile\n"
        "async def run():\n"
        "    provider = LocalProvider(sys.argv[1], settings=LocalSettings(context=512))\n"
        "    call = Call(model='local/m', messages=(Message(role='user', text='Hi'),), max_tokens=2)\n"
        "    await provider.ask(call, Profile(), timeout_s=120)\n"
        "    await provider.close()\n"
        "asyncio.run(run())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(gguf)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@local
def test_a_file_that_ends_early_is_an_input_error_with_the_runtimes_reason(gguf, tmp_path) -> None:
    cut = tmp_path / "cut.gguf"
    with gguf.open("rb") as source:
        cut.write_bytes(source.read(gguf.stat().st_size // 2))
    environ = {**os.environ, "EVENHAND_MODELS": str(tmp_path)}

    async def run():
        provider = LocalProvider(str(cut), settings=SMALL, environ=environ)
        try:
            await provider.ask(CALL, Profile(), timeout_s=60)
        finally:
            await provider.close()

    with pytest.raises(InvalidInput, match=r"cut\.gguf: the runtime cannot load it \(.*(corrupt|incomplete|bounds)"):
        asyncio.run(run())


@local
def test_the_identity_names_weights_template_and_runtime(gguf) -> None:
    identity = LocalProvider(str(gguf)).identity
    assert f"sha256:{hashlib.sha256(gguf.read_bytes()).hexdigest()}" in identity
    assert "template:sha256:" in identity
    assert "xllamacpp:" in identity


# --- without a model -----------------------------------------------------------------------------------------------


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def test_a_base_model_without_a_chat_template_is_refused(tmp_path) -> None:
    pytest.importorskip("xllamacpp")
    fields = string("general.architecture") + struct.pack("<I", 8) + string("llama")
    path = tmp_path / "base.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + fields)
    with pytest.raises(InvalidInput, match="base model without a chat template"):
        LocalProvider(str(path), environ={"EVENHAND_MODELS": str(tmp_path)})


def test_settings_come_from_the_environment() -> None:
    named = {"EVENHAND_LOCAL_SLOTS": "3", "EVENHAND_LOCAL_THREADS": "5", "EVENHAND_LOCAL_CONTEXT": "4096"}
    assert local_settings(named) == LocalSettings(slots=3, threads=5, context=4096)
    assert not local_settings({"EVENHAND_LOCAL_REUSE": "0"}).reuse


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "65", "²"])
def test_a_setting_out_of_range_names_it(value) -> None:
    with pytest.raises(InvalidInput, match=r"EVENHAND_LOCAL_SLOTS: .* whole number from 1 to 64"):
        local_settings({"EVENHAND_LOCAL_SLOTS": value})
