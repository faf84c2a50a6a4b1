"""What goes out: bodies as the `openai` package types them, headers, and nothing that was not asked for."""

import warnings
from dataclasses import replace
from types import MappingProxyType

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from evenhand.errors import InvalidInput
from evenhand.providers.chat import ChatProvider
from evenhand.terms import Message, Profile


def checked(body: dict) -> dict:
    """The body, held against the types of the openai package; no field may be unknown to it."""
    unknown = body.keys() - CompletionCreateParamsNonStreaming.__annotations__.keys()
    unknown -= {key for base in CompletionCreateParamsNonStreaming.__orig_bases__ for key in base.__annotations__}
    assert not unknown
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(body)
    return body


@pytest.fixture
def sent(ask, wire, http, completion):
    def body(**settings) -> dict:
        ask(http(completion()), **settings)
        return checked(wire.requests[-1].json)

    return body


def test_a_plain_call_sends_model_messages_temperature_and_limit(sent, call) -> None:
    body = sent(call=replace(call, schema=None))
    assert body == {
        "model": "judge-1",
        "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "“Ünïcode” {x} %s"}],
        "max_tokens": 2048,
        "temperature": 0.0,
    }


def test_schema_mode_sends_a_strict_json_schema_with_its_fields_in_order(sent, call) -> None:
    body = sent()
    asked = body["response_format"]["json_schema"]
    assert body["response_format"]["type"] == "json_schema"
    assert asked == {"name": "verdict", "strict": True, "schema": call.schema}
    assert list(asked["schema"]["properties"]) == ["reason", "passed"]


def test_tool_mode_forces_one_tool_whose_parameters_are_the_schema(sent, call) -> None:
    body = sent(profile=Profile(mode="tool"))
    assert body["tools"] == [{"type": "function", "function": {"name": "verdict", "parameters": call.schema}}]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "verdict"}}
    assert "response_format" not in body


def test_json_mode_sends_no_schema(sent) -> None:
    assert sent(profile=Profile(mode="json"))["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("mode", ["text", "schema", "tool", "json"])
def test_nothing_is_asked_for_in_text_mode_or_without_a_schema(sent, call, mode) -> None:
    asked = call if mode == "text" else replace(call, schema=None)
    assert sent(call=asked, profile=Profile(mode=mode)).keys() == {"model", "messages", "max_tokens", "temperature"}


def test_omitted_parameters_stay_out_and_the_limit_has_the_name_the_endpoint_takes(sent, call) -> None:
    profile = Profile(omit=("logprobs", "temperature"), max_tokens_field="max_completion_tokens", mode="text")
    body = sent(call=replace(call, logprobs=5), profile=profile)
    assert body.keys() == {"model", "messages", "max_completion_tokens"}


def test_no_temperature_leaves_it_to_the_endpoint(sent, call) -> None:
    assert "temperature" not in sent(call=replace(call, temperature=None))


def test_alternatives_are_asked_for_by_number(sent, call) -> None:
    body = sent(call=replace(call, logprobs=5))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)


def test_one_connection_carries_calls_of_several_schemas_modes_and_models(wire, http, completion, call) -> None:
    import asyncio

    async def run() -> None:
        async with wire(http(completion())):
            provider = ChatProvider("openai", wire.url)
            for mode in ("schema", "tool", "schema"):
                for schema in ({"type": "object"}, {"type": "object", "title": "b"}):
                    asked = replace(call, schema=schema, model=f"openai:{mode}/x:1")
                    await provider.ask(asked, Profile(mode=mode), timeout_s=5)
            await provider.close()

    asyncio.run(run())
    assert wire.connections == 1
    bodies = [checked(request.json) for request in wire.requests]
    assert [body["model"] for body in bodies] == ["schema/x:1"] * 2 + ["tool/x:1"] * 2 + ["schema/x:1"] * 2
    assert [body["response_format"]["json_schema"]["schema"].get("title") for body in bodies[:2]] == [None, "b"]
    assert [body["tools"][0]["function"]["parameters"].get("title") for body in bodies[2:4]] == [None, "b"]


def test_any_mapping_serves_as_a_schema(sent, call) -> None:
    schema = MappingProxyType({"type": "object", "properties": MappingProxyType({"a": {"enum": ("x", "y")}})})
    asked = sent(call=replace(call, schema=schema))["response_format"]["json_schema"]["schema"]
    assert asked == {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}}


def test_the_key_is_a_bearer_token_and_the_body_is_announced_as_json(ask, wire, http, completion) -> None:
    ask(http(completion()))
    request = wire.requests[0]
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.headers["authorization"] == "Bearer sk-test-1234567890"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("evenhand/")
    assert not {"cookie", "transfer-encoding"} & request.headers.keys()


def test_without_a_key_no_authorization_is_sent(ask, wire, http, completion) -> None:
    ask(http(completion()), api_key=None, headers={"X-Team": "a"})
    assert "authorization" not in wire.requests[0].headers
    assert wire.requests[0].headers["x-team"] == "a"


def test_cookies_are_neither_kept_nor_sent(ask, wire, http, completion) -> None:
    ask(http(completion(), headers=["Set-Cookie: a=b; Path=/"]), times=2)
    assert all("cookie" not in request.headers for request in wire.requests)


def test_a_text_of_five_megabytes_goes_out_whole_and_with_its_length(sent, call) -> None:
    text = "é" * 2_500_000
    body = sent(call=replace(call, messages=(Message(role="user", text=text),)))
    assert body["messages"][0]["content"] == text


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions", "/chat/completions/"])
def test_a_pasted_address_is_trimmed_to_its_base(ending) -> None:
    provider = ChatProvider("openai", f"https://API.example.com/v1{ending}")
    assert str(provider._url) == "https://api.example.com/v1/chat/completions"
    assert provider.identity == "https://api.example.com/v1"


def test_a_query_of_the_base_url_is_sent_and_kept_out_of_the_identity() -> None:
    provider = ChatProvider("azure", "https://me.example.com/openai/v1/?api-version=preview")
    assert str(provider._url) == "https://me.example.com/openai/v1/chat/completions?api-version=preview"
    assert provider.identity == "https://me.example.com/openai/v1"


def test_a_name_for_the_endpoint_replaces_its_address_in_the_identity() -> None:
    assert ChatProvider("openai", "http://10.0.0.7/v1", identity="lab").identity == "lab"


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://h/v1", "http://", "http://h:99999/v1", "http://a b/"])
def test_what_is_no_web_address_is_refused(url) -> None:
    with pytest.raises(InvalidInput, match="no web address"):
        ChatProvider("openai", url)


def test_a_password_in_the_address_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInput, match="user or password") as caught:
        ChatProvider("openai", "https://me:hunter2@example.com/v1")
    assert "hunter2" not in str(caught.value)
