"""The wire against a real server that is not ours: llama.cpp's, inside xllamacpp, with a real small model."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput, ProviderError
from evenhand.providers.chat import ChatProvider
from evenhand.terms import Message, Profile

pytestmark = pytest.mark.local
KEY = "sk-llama-server-1"


@pytest.fixture(scope="module")
def address():
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # two spinning threads collapse on busy cores
    xllamacpp = pytest.importorskip("xllamacpp")
    from evenhand.providers.weights import find

    try:
        path = Path(os.environ["EVENHAND_TEST_GGUF"]) if "EVENHAND_TEST_GGUF" in os.environ else find("smollm2")
    except InvalidInput as error:
        pytest.skip(f"needs a local model: {error}")
    options = xllamacpp.CommonParams()
    options.model.path = str(path)
    options.n_ctx, options.n_parallel, options.verbosity, options.warmup = 1024, 2, 0, False
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.hostnames, options.port, options.api_keys = ["127.0.0.1"], 0, [KEY]
    server = xllamacpp.Server(options)
    yield server.listening_address
    del server


@pytest.fixture
def short(call):
    schema = {
        **call.schema,
        "properties": {"reason": {"type": "string", "maxLength": 20}, "passed": {"type": "boolean"}},
    }
    question = (Message(role="system", text="Answer in JSON."), Message(role="user", text="Is water wet?"))
    return replace(call, model="llamacpp/any", messages=question, schema=schema, max_tokens=80)


def outcome(address, call, *, mode="schema", key=KEY):
    async def run():
        provider = ChatProvider("llamacpp", address + "/v1", api_key=key)
        try:
            return await provider.ask(call, Profile(mode=mode), timeout_s=120)
        except ProviderError as error:
            return error
        finally:
            await provider.close()

    return asyncio.run(run())


def test_a_schema_shapes_the_reply_and_usage_and_alternatives_come_back(address, short) -> None:
    reply = outcome(address, replace(short, logprobs=3))
    assert reply.finish == "stop"
    value = json.loads(reply.text)
    assert value.keys() == {"reason", "passed"}
    assert isinstance(value["passed"], bool)
    assert reply.usage.input_tokens > 5
    assert reply.usage.output_tokens >= len(reply.logprobs) > 5
    for token in reply.logprobs:
        assert token.alternatives[0] == (token.token, token.logprob)
        assert 3 <= len(token.alternatives) <= 4


@pytest.mark.parametrize("mode", ["tool", "json", "text"])
def test_every_way_of_asking_gets_a_reply_with_text(address, short, mode) -> None:
    reply = outcome(address, short, mode=mode)
    assert reply.text.strip()
    assert reply.finish in ("stop", "length")


def test_a_limit_that_is_reached_is_a_truncation(address, short) -> None:
    assert outcome(address, replace(short, max_tokens=3)).finish == "length"


def test_a_prompt_beyond_the_context_is_too_long(address, short) -> None:
    error = outcome(address, replace(short, messages=(Message(role="user", text="a b c " * 2000),)))
    assert (error.code, error.retryable, error.status) == ("too_long", False, 400)


@pytest.mark.parametrize(("key", "says"), [("sk-wrong-key-1", "rejected the key"), (None, "wants a key")])
def test_a_wrong_and_a_missing_key_are_told_apart(address, short, key, says) -> None:
    error = outcome(address, short, key=key)
    assert (error.code, error.status) == ("auth", 401)
    assert says in str(error)
    assert "sk-wrong" not in str(error)
