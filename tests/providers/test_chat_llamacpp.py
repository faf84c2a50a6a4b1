"""The chat-completions provider against a real server of that wire: llama.cpp's own, inside xllamacpp."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import ProviderError
from evenhand.providers.chat import ChatProvider
from evenhand.providers.check import check_model
from evenhand.terms import Call, Message, Profile

pytestmark = pytest.mark.local

KEY = "sk-of-this-test-only"
SCHEMA = {
    "type": "object",
    "properties": {"quote": {"type": "string", "maxLength": 20}, "passed": {"type": "boolean"}},
    "required": ["quote", "passed"],
    "additionalProperties": False,
}
CALL = Call(
    model="llamacpp/m",
    messages=(
        Message(role="system", text="You check texts and answer in JSON."),
        Message(role="user", text="Text: I led a team of five. Did they lead?"),
    ),
    schema=SCHEMA,
    max_tokens=64,
)


@pytest.fixture(scope="module")
def server(request):
    """The server's address; its key is KEY."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    xllamacpp = pytest.importorskip("xllamacpp")
    named = os.environ.get("EVENHAND_TEST_GGUF")
    options = xllamacpp.CommonParams()
    options.model.path = str(Path(named) if named else request.getfixturevalue("embedded_model"))
    options.n_ctx, options.n_parallel, options.verbosity, options.warmup = 2048, 2, 0, False
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.port, options.api_keys, options.cache_ram_mib = 0, [KEY], 0
    running = xllamacpp.Server(options)
    yield f"{running.listening_address}/v1"
    del running


@pytest.fixture
def ask(server):
    def once(call=CALL, profile=None, key=KEY):
        async def run():
            provider = ChatProvider("llamacpp", server, api_key=key)
            try:
                return await provider.ask(call, profile or Profile(), timeout_s=120)
            finally:
                await provider.close()

        return asyncio.run(run())

    return once


@pytest.mark.parametrize("mode", ["schema", "json"])
def test_a_reply_is_json_and_counted(ask, mode) -> None:
    reply = ask(profile=Profile(mode=mode))
    assert json.loads(reply.text) if reply.finish == "stop" else reply.text.startswith("{")
    assert reply.usage.input_tokens > 10
    assert reply.usage.output_tokens > 2


def test_a_schema_is_kept(ask) -> None:
    assert list(json.loads(ask().text)) == ["quote", "passed"]


def test_a_repeated_prompt_is_reported_as_cached(ask) -> None:
    ask()
    assert ask().usage.cached_tokens > 10


def test_a_tool_call_or_what_came_instead_is_read_as_text(ask) -> None:
    """Small models ignore a forced tool call; the text then is theirs, and no verdict is made of it here."""
    assert isinstance(ask(replace(CALL, max_tokens=24), Profile(mode="tool")).text, str)


def test_log_probabilities_come_with_alternatives(ask) -> None:
    reply = ask(replace(CALL, schema=None, logprobs=2, max_tokens=3))
    assert len(reply.logprobs) == 3
    assert all(len(token.alternatives) >= 2 for token in reply.logprobs)


def test_a_cut_reply_says_so(ask) -> None:
    assert ask(replace(CALL, schema=None, max_tokens=2)).finish == "length"


@pytest.mark.parametrize("key", [None, "sk-wrong"])
def test_a_wrong_or_missing_key_is_an_auth_fault(ask, key) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(key=key)
    assert caught.value.code == "auth"
    assert not caught.value.retryable


def test_a_prompt_that_does_not_fit_is_too_long(ask) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(replace(CALL, messages=(Message(role="user", text="word " * 3000),)))
    assert caught.value.code == "too_long"


def test_the_check_finds_how_this_server_can_be_asked(server) -> None:
    async def run():
        provider = ChatProvider("llamacpp", server, api_key=KEY)
        try:
            return await check_model(provider, "llamacpp/m")
        finally:
            await provider.close()

    result = asyncio.run(run())
    found = {finding.asked: finding.answer for finding in result.findings}
    assert found["schema"] == "yes"
    assert found["logprobs"] == "yes"
    assert found["max_tokens"] == "yes"
    assert result.profile.mode == "schema"
    assert result.usage.input_tokens > 100
