"""From a model's name to the provider that answers it."""

import asyncio
import dataclasses
import sys

import pytest

from evenhand.errors import InvalidInput
from evenhand.providers.chat import ChatProvider
from evenhand.providers.open import open_provider, price, resolve
from evenhand.providers.scripted import ScriptedProvider
from evenhand.terms import ModelSpec, Profile, Usage


def target(model, *, base_url=None, environ=None, **spec):
    return resolve(ModelSpec(model=model, **spec), base_url=base_url, environ=environ or {}, dotenv={})


def test_a_target_is_frozen_and_knows_wire_model_and_identity() -> None:
    got = target("openai:judge/1", base_url="HTTP://127.0.0.1:8090/v1/")
    assert (got.wire, got.provider, got.model) == ("chat", "openai", "judge/1")
    assert got.identity == "http://127.0.0.1:8090/v1"
    with pytest.raises(dataclasses.FrozenInstanceError):
        got.model = "other"


def test_a_chat_target_opens_without_a_loop_and_asks_with_its_key(wire, http, completion, call) -> None:
    async def run() -> None:
        async with wire(http(completion("ok"))):
            environ = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": wire.url}
            provider = open_provider(target("openai/judge-1", environ=environ))
            assert isinstance(provider, ChatProvider)
            assert provider.identity == wire.url
            assert (await provider.ask(call, Profile(), timeout_s=5)).text == "ok"
            await provider.close()

    asyncio.run(run())
    assert wire.requests[0].headers["authorization"] == "Bearer sk-1"


def test_a_base_url_of_the_command_line_moves_every_model_on_the_network_and_no_other() -> None:
    for model in ("openai/x", "ollama/x", "anthropic/x", "google/x"):
        assert target(model, base_url="http://127.0.0.1:9/v1").base_url == "http://127.0.0.1:9/v1"
    for model in ("local/smollm2", "scripted/x.jsonl"):
        assert target(model, base_url="http://127.0.0.1:9/v1").base_url is None


@pytest.mark.parametrize("model", ["local/smollm2", "scripted/x.jsonl"])
@pytest.mark.parametrize("spec", [{"base_url": "http://h"}, {"api_key_env": "A"}])
def test_an_address_for_what_runs_in_this_process_is_refused(model, spec) -> None:
    with pytest.raises(InvalidInput, match="runs in this process"):
        resolve(ModelSpec(model=model, **spec), base_url=None, environ={}, dotenv={})


def test_a_script_is_opened_from_its_file(tmp_path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('"a"\n', encoding="utf-8")
    provider = open_provider(target(f"scripted/{path}"))
    assert isinstance(provider, ScriptedProvider)
    assert provider.identity.startswith("scripted:sha256:")


@pytest.mark.parametrize("missing", ["pydantic_ai", "anthropic"])
def test_a_missing_extra_is_named_with_the_command_that_brings_it(monkeypatch, missing) -> None:
    for name in list(sys.modules):
        if name.startswith(missing) or name == "evenhand.providers.vendors":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InvalidInput, match=r"pip install 'evenhand\[vendors\]'"):
        open_provider(target("anthropic/x", base_url="http://127.0.0.1:9"))


@pytest.mark.parametrize("model", ["anthropic/x", "google/x"])
def test_a_vendor_with_a_wire_of_its_own_opens_at_the_given_address(model) -> None:
    provider = open_provider(target(model, base_url="http://127.0.0.1:9/"))
    assert (provider.name, provider.identity) == (model.partition("/")[0], "http://127.0.0.1:9")


def test_a_local_model_whose_weights_are_not_there_is_an_input_error(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        open_provider(target(f"local/{tmp_path}/none.gguf"))


@pytest.mark.parametrize("model", ["openai/x", "anthropic/x"])
def test_a_password_in_an_address_is_refused_before_anything_opens(model) -> None:
    with pytest.raises(InvalidInput, match="user or password"):
        target(model, base_url="https://me:hunter2@example.com/v1")


def test_a_price_belongs_to_the_vendors_own_address() -> None:
    usage = Usage(input_tokens=10**6, output_tokens=10**6)
    own = target("openai/gpt-4o-mini", environ={"OPENAI_API_KEY": "sk-1"})
    assert price(own, usage) == pytest.approx(0.75)
    assert price(target("openai/gpt-4o-mini", base_url="http://127.0.0.1:8090/v1"), usage) is None
    assert price(target("local/smollm2"), usage) is None


def test_a_target_behind_another_address_does_not_load_the_price_list() -> None:
    import subprocess

    code = (
        "import sys; from evenhand.providers.open import *; from evenhand.terms import *\n"
        "t = resolve(ModelSpec(model='openai/m'), base_url='http://127.0.0.1:1/v1', environ={}, dotenv={})\n"
        "open_provider(t); assert price(t, Usage(input_tokens=1, output_tokens=1)) is None\n"
        "heavy = {'genai_prices', 'pydantic', 'pydantic_ai', 'xllamacpp', 'numpy'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
