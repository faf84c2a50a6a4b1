"""Model names and the table of known providers."""

import re

import pytest

from evenhand.errors import InvalidInput
from evenhand.providers.address import endpoint_identity
from evenhand.providers.names import known, parse_model, providers


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("openai/gpt-5.4-mini", ("openai", "gpt-5.4-mini")),
        ("openai:gpt-5.4-mini", ("openai", "gpt-5.4-mini")),
        ("openrouter/meta-llama/llama-3.3-70b:free", ("openrouter", "meta-llama/llama-3.3-70b:free")),
        ("ollama:qwen3:8b", ("ollama", "qwen3:8b")),
        ("openai:ft/x", ("openai", "ft/x")),
        ("local//srv/models/a b.gguf", ("local", "/srv/models/a b.gguf")),
        ("scripted/replies.jsonl", ("scripted", "replies.jsonl")),
        ("openai-compatible/x", ("openai-compatible", "x")),
    ],
)
def test_only_the_first_slash_or_colon_splits(name, parts) -> None:
    assert parse_model(name) == parts


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gpt-5.4-mini", "names no provider; write provider/model, for instance openai/gpt-5.4-mini"),
        ("", "names no provider"),
        ("openai/", "names no model behind 'openai'"),
        ("/x", "the provider '' is unknown"),
        ("opnai/x", "'opnai' is unknown; did you mean 'openai'? known are openai, anthropic"),
        ("OpenAI/x", "did you mean 'openai'?"),
        ("gemini/x", "did you mean 'google'?"),
        ("claude/x", "did you mean 'anthropic'?"),
        ("lm-studio:x", "did you mean 'lmstudio'?"),
        ("zzz/x", "'zzz' is unknown; known are openai, anthropic"),
        (" openai/x", "white space"),
        ("openai/x\n", "white space"),
        ("openai/\x1b[2Jx", "unprintable"),
    ],
)
def test_other_names_are_refused_with_the_way_out(name, says) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_model(name)
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", sorted(providers()))
def test_each_known_provider_is_described_whole(name) -> None:
    entry = known(name)
    assert re.fullmatch(r"[a-z-]+", name)
    for url in filter(None, (entry.base_url, *entry.hosts)):
        assert endpoint_identity(url) == url
        assert url.startswith("https://") or not entry.key_needed
    if entry.wire in ("chat", "vendor"):
        assert entry.base_url_env
        assert entry.key_env
    if entry.prices:
        from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

        assert find_provider_by_id(get_snapshot().providers, entry.prices).id == entry.prices
    assert not set(entry.also) & providers().keys()


def test_no_two_providers_share_a_variable_for_their_key_or_address() -> None:
    names = [name for entry in providers().values() for name in (*entry.key_env, entry.base_url_env) if name]
    assert len(names) == len(set(names))
