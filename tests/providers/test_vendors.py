"""Anthropic and Google over their own wires, against a server whose bodies the vendors' own types have accepted."""

import asyncio
import json
from dataclasses import replace

import pytest

pytest.importorskip("pydantic_ai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

from evenhand.errors import InvalidInput, ProviderError, QuotaExhausted, UnsupportedParameter
from evenhand.providers.vendors import VendorProvider
from evenhand.terms import Call, Message, Profile

KEY = "sk-secret-of-this-test"
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "passed": {"type": "boolean"}},
    "required": ["reason", "passed"],
    "additionalProperties": False,
}
MESSAGES = (
    Message(role="system", text="Rubric."),
    Message(role="user", text="First."),
    Message(role="assistant", text="Not JSON."),
    Message(role="user", text="Again, “in” JSON."),
)
CLAUDE = Call(model="anthropic/claude-sonnet-4-6", messages=MESSAGES, schema=SCHEMA, schema_name="verdict")
GEMINI = replace(CLAUDE, model="google/gemini-2.5-flash")
TEXT = '{"reason": "é", "passed": true}'


def claude(*blocks, stop_reason="end_turn", **more):
    """A body of Anthropic's messages, checked by Anthropic's own type."""
    from anthropic.types import Message as AnthropicMessage

    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6-20260101",
        "content": list(blocks) or [{"type": "text", "text": TEXT}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 70,
            "cache_creation_input_tokens": 20,
            "output_tokens": 30,
        },
        **more,
    }
    AnthropicMessage.model_validate(body)
    return body


def gemini(*parts, finish="STOP", candidate=None, **more):
    """A body of Google's content generation, checked by Google's own type, which refuses unknown fields."""
    from google.genai.types import GenerateContentResponse

    body = {
        "candidates": [
            {
                "index": 0,
                "finishReason": finish,
                "content": {"role": "model", "parts": list(parts) or [{"text": TEXT}]},
                **(candidate or {}),
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 70,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 10,
            "totalTokenCount": 130,
        },
        "modelVersion": "gemini-2.5-flash-001",
        **more,
    }
    GenerateContentResponse.model_validate(body)
    return body


@pytest.fixture
def ask(wire):
    def once(answer, call, profile=None, *, timeout_s=20.0, key=KEY):
        async def run():
            async with wire(answer):
                vendor = call.model.partition("/")[0]
                address = wire.url.removesuffix("/v1")
                provider = VendorProvider(vendor, api_key=key, base_url=address, key_note="TEST_KEY was sent")
                try:
                    return await provider.ask(call, profile or Profile(), timeout_s=timeout_s)
                finally:
                    await provider.close()

        return asyncio.run(run())

    return once


@pytest.fixture
def refused(ask, wire):
    """The error of a call that fails; it holds the key nowhere, and the server was asked once at most."""

    def error(answer, call, profile=None, **settings):
        with pytest.raises(ProviderError) as caught:
            ask(answer, call, profile, **settings)
        assert len(wire.requests) <= 1
        chain, fault = [], caught.value
        while fault is not None:
            chain.append(repr(fault) + str(fault))
            fault = fault.__cause__ or fault.__context__
        assert KEY not in "".join(chain)
        return caught.value

    return error


BOTH = pytest.mark.parametrize(("call", "body"), [(CLAUDE, claude), (GEMINI, gemini)], ids=["anthropic", "google"])


@BOTH
def test_text_finish_and_model_come_through(ask, http, call, body) -> None:
    reply = ask(http(body()), call)
    assert (reply.text, reply.finish, reply.refusal, reply.reasoning) == (TEXT, "stop", None, None)
    assert reply.model.startswith(call.model.partition("/")[2])


@BOTH
def test_a_reply_that_repeats_the_key_is_kept_without_it(ask, http, call, body) -> None:
    echo = json.loads(json.dumps(body()).replace(json.dumps(TEXT)[1:-1], f"you sent {KEY}"))
    assert ask(http(echo), call).text == "you sent [key]"


@BOTH
def test_cached_tokens_are_part_of_the_input(ask, http, call, body) -> None:
    usage = ask(http(body()), call).usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (100, 70, 30)
    assert usage.reasoning_tokens == (10 if call is GEMINI else None)


@BOTH
def test_a_tool_call_becomes_its_arguments(ask, http, call, body) -> None:
    arguments = json.loads(TEXT)
    if call is CLAUDE:
        part = {"type": "tool_use", "id": "t1", "name": "verdict", "input": arguments}
        answer = body(part, stop_reason="tool_use")
    else:
        answer = body({"functionCall": {"name": "verdict", "args": arguments}})
    reply = ask(http(answer), call, Profile(mode="tool"))
    assert (reply.text, reply.finish) == (TEXT, "stop")


@BOTH
def test_two_tool_calls_are_no_json(ask, http, call, body) -> None:
    if call is CLAUDE:
        parts = [{"type": "tool_use", "id": i, "name": "verdict", "input": {"passed": True}} for i in "ab"]
    else:
        parts = [{"functionCall": {"name": "verdict", "args": {"passed": True}}} for _ in "ab"]
    with pytest.raises(ValueError, match="Extra data"):
        json.loads(ask(http(body(*parts)), call, Profile(mode="tool")).text)


@BOTH
def test_reasoning_is_kept_apart_from_the_text(ask, http, call, body) -> None:
    if call is CLAUDE:
        parts = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": TEXT}]
    else:
        parts = [{"text": "Hm.", "thought": True}, {"text": TEXT}]
    reply = ask(http(body(*parts)), call)
    assert (reply.text, reply.reasoning) == (TEXT, "Hm.")


@pytest.mark.parametrize(
    ("call", "answer", "finish"),
    [
        (CLAUDE, claude(stop_reason="max_tokens"), "length"),
        (CLAUDE, claude(stop_reason="stop_sequence"), "stop"),
        (GEMINI, gemini(finish="MAX_TOKENS"), "length"),
        (GEMINI, gemini(finish="SAFETY"), "filter"),
        (GEMINI, gemini(finish="RECITATION"), "filter"),
        (GEMINI, gemini(finish="PROHIBITED_CONTENT"), "filter"),
        (GEMINI, gemini(finish="OTHER"), "other"),
        (GEMINI, gemini(candidates=None, promptFeedback={"blockReason": "SAFETY"}), "filter"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_finish_reason_has_one_meaning(ask, http, call, answer, finish) -> None:
    assert ask(http(answer), call).finish == finish


def test_a_refusal_is_its_own_text_and_never_a_verdict(ask, http) -> None:
    details = {"type": "refusal", "category": None, "explanation": "I will not."}
    reply = ask(http(claude({"type": "text", "text": TEXT}, stop_reason="refusal", stop_details=details)), CLAUDE)
    assert (reply.text, reply.refusal) == ("", "I will not.")
    plain = ask(http(claude({"type": "text", "text": "No."}, stop_reason="refusal")), CLAUDE)
    assert (plain.text, plain.refusal) == ("", "No.")


def test_google_log_probabilities_come_with_alternatives(ask, http, wire) -> None:
    result = {
        "chosenCandidates": [{"token": "yes", "logProbability": -0.1}],
        "topCandidates": [
            {"candidates": [{"token": "yes", "logProbability": -0.1}, {"token": "no", "logProbability": -2.5}]}
        ],
    }
    reply = ask(http(gemini(candidate={"logprobsResult": result})), replace(GEMINI, logprobs=2))
    assert reply.logprobs[0].alternatives == (("yes", -0.1), ("no", -2.5))
    config = wire.requests[0].json["generationConfig"]
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 2)


def test_missing_usage_is_unknown_and_not_nothing(ask, http) -> None:
    usage = ask(http(gemini(usageMetadata=None)), GEMINI).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (None, None, None)


# --- what is sent --------------------------------------------------------------------------------------------------


def test_anthropic_is_sent_the_turns_with_the_rubric_cached(ask, http, wire) -> None:
    ask(http(claude()), CLAUDE)
    request = wire.requests[0]
    body = request.json
    assert request.line.startswith("POST /v1/messages")
    assert body["model"] == "claude-sonnet-4-6"
    assert (body["max_tokens"], body["temperature"]) == (2048, 0.0)
    assert [block["text"] for block in body["system"]] == ["Rubric."]
    assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
    turns = [(turn["role"], turn["content"][0]["text"]) for turn in body["messages"]]
    assert turns == [("user", "First."), ("assistant", "Not JSON."), ("user", "Again, “in” JSON.")]
    asked = body["output_config"]["format"]
    assert asked["type"] == "json_schema"
    assert list(asked["schema"]["properties"]) == ["reason", "passed"]


def test_google_is_sent_the_turns(ask, http, wire) -> None:
    ask(http(gemini()), GEMINI)
    request = wire.requests[0]
    body = request.json
    assert "/models/gemini-2.5-flash:generateContent" in request.line
    assert body["systemInstruction"]["parts"] == [{"text": "Rubric."}]
    assert [(turn["role"], turn["parts"][0]["text"]) for turn in body["contents"]] == [
        ("user", "First."),
        ("model", "Not JSON."),
        ("user", "Again, “in” JSON."),
    ]
    config = body["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"]) == (0.0, 2048)
    assert config["responseMimeType"] == "application/json"
    assert list(config["responseJsonSchema"]["properties"]) == ["reason", "passed"]


@BOTH
def test_a_tool_is_forced(ask, http, wire, call, body) -> None:
    ask(http(body()), call, Profile(mode="tool"))
    sent = wire.requests[0].json
    if call is CLAUDE:
        assert sent["tool_choice"]["type"] in ("any", "tool")
        assert sent["tools"][0]["name"] == "verdict"
        assert "output_config" not in sent
    else:
        assert sent["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"
        assert sent["tools"][0]["functionDeclarations"][0]["name"] == "verdict"


@BOTH
def test_text_mode_asks_for_no_form(ask, http, wire, call, body) -> None:
    ask(http(body()), call, Profile(mode="text"))
    sent = json.dumps(wire.requests[0].json)
    assert not any(name in sent for name in ("output_config", "tools", "responseMimeType", "responseJsonSchema"))


def test_google_json_mode_adds_no_words_to_the_prompt(ask, http, wire) -> None:
    ask(http(gemini()), GEMINI, Profile(mode="json"))
    sent = wire.requests[0].json
    assert sent["generationConfig"]["responseMimeType"] == "application/json"
    assert "responseJsonSchema" not in sent["generationConfig"]
    assert sent["systemInstruction"]["parts"] == [{"text": "Rubric."}]


@BOTH
@pytest.mark.parametrize("how", ["omitted", "none"])
def test_a_temperature_may_be_left_out(ask, http, wire, call, body, how) -> None:
    if how == "omitted":
        ask(http(body()), call, Profile(omit=("temperature",)))
    else:
        ask(http(body()), replace(call, temperature=None))
    assert "temperature" not in json.dumps(wire.requests[0].json)


@BOTH
def test_the_environment_changes_neither_address_nor_headers(ask, http, wire, call, body, monkeypatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: sk-other")
    ask(http(body()), call)
    headers = wire.requests[0].headers
    assert KEY in (headers.get("x-goog-api-key"), headers.get("authorization", "").removeprefix("Bearer "))
    assert "sk-other" not in str(headers)


@BOTH
def test_without_a_key_none_of_the_environment_is_sent(ask, http, wire, call, body, monkeypatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-other")
    ask(http(body()), call, key=None)
    assert "sk-other" not in str(wire.requests[0].headers)


# --- what goes wrong -----------------------------------------------------------------------------------------------


def fault_body(call, kind, message, details=()):
    if call is CLAUDE:
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"code": 0, "status": kind, "message": message, "details": list(details)}}


@pytest.mark.parametrize(
    ("call", "status", "kind", "message", "code", "retryable"),
    [
        (CLAUDE, 429, "rate_limit_error", "slow down", "rate_limit", True),
        (CLAUDE, 500, "api_error", "oops", "server", True),
        (CLAUDE, 503, "api_error", "oops", "server", True),
        (CLAUDE, 529, "overloaded_error", "Overloaded", "server", True),
        (CLAUDE, 401, "authentication_error", "invalid x-api-key", "auth", False),
        (CLAUDE, 403, "permission_error", "no", "auth", False),
        (CLAUDE, 404, "not_found_error", "model: claude-x", "not_found", False),
        (CLAUDE, 400, "invalid_request_error", "prompt is too long: 9 > 8", "too_long", False),
        (CLAUDE, 400, "invalid_request_error", "messages: must not be empty", "bad_request", False),
        (CLAUDE, 400, "invalid_request_error", "Your credit balance is too low", "quota", False),
        (CLAUDE, 402, "billing_error", "pay", "quota", False),
        (GEMINI, 429, "RESOURCE_EXHAUSTED", "slow down", "rate_limit", True),
        (GEMINI, 500, "INTERNAL", "oops", "server", True),
        (GEMINI, 503, "UNAVAILABLE", "The model is overloaded.", "server", True),
        (GEMINI, 403, "PERMISSION_DENIED", "no", "auth", False),
        (GEMINI, 404, "NOT_FOUND", "models/x is not found", "not_found", False),
        (GEMINI, 400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum", "too_long", False),
        (GEMINI, 400, "INVALID_ARGUMENT", "contents is not specified", "bad_request", False),
    ],
)
def test_each_fault_has_its_code(refused, http, call, status, kind, message, code, retryable) -> None:
    fault = refused(http(fault_body(call, kind, message), status=status), call)
    assert (fault.code, fault.retryable, fault.status) == (code, retryable, status)
    assert message[:20] in str(fault)
    assert "\n" not in str(fault)


def test_a_key_that_is_no_key_at_google_is_an_auth_fault(refused, http) -> None:
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    fault = refused(http(fault_body(GEMINI, "INVALID_ARGUMENT", "API key not valid", [reason]), status=400), GEMINI)
    assert fault.code == "auth"
    assert "TEST_KEY was sent" in str(fault)


def test_a_spent_day_at_google_is_quota_and_a_burst_is_not(refused, http) -> None:
    def limit(period):
        return {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": f"GenerateRequestsPer{period}PerProjectPerModel"}],
        }

    day = refused(http(fault_body(GEMINI, "RESOURCE_EXHAUSTED", "quota", [limit("Day")]), status=429), GEMINI)
    assert isinstance(day, QuotaExhausted)


@BOTH
def test_retry_after_is_passed_on(refused, http, call, body) -> None:
    answer = http(fault_body(call, "rate_limit_error", "slow"), status=429, headers=["Retry-After: 7"])
    assert refused(answer, call).retry_after_s == 7


@pytest.mark.parametrize(
    ("call", "profile", "message", "parameter"),
    [
        (CLAUDE, Profile(), "output_config.format: Extra inputs are not permitted", "schema"),
        (CLAUDE, Profile(mode="tool"), "Thinking may not be enabled when tool_choice forces tool use.", "tool"),
        (CLAUDE, Profile(), "temperature: is deprecated for this model", "temperature"),
        (GEMINI, Profile(), "Unknown name response_json_schema", "schema"),
        (GEMINI, Profile(mode="tool"), "Function calling is not enabled for this model", "tool"),
        (GEMINI, Profile(mode="json"), "JSON mode is not enabled for this model", "json"),
    ],
)
def test_a_rejected_way_of_asking_is_named(refused, http, call, profile, message, parameter) -> None:
    kind = "invalid_request_error" if call is CLAUDE else "INVALID_ARGUMENT"
    fault = refused(http(fault_body(call, kind, message), status=400), call, profile)
    assert isinstance(fault, UnsupportedParameter)
    assert fault.parameter == parameter


def test_what_the_wire_has_no_place_for_is_refused_before_sending(refused, wire, http) -> None:
    assert refused(http(claude()), CLAUDE, Profile(mode="json")).parameter == "json"
    assert refused(http(claude()), replace(CLAUDE, logprobs=2)).parameter == "logprobs"
    assert refused(http(claude()), replace(CLAUDE, model="anthropic/claude-opus-5")).parameter == "temperature"
    assert refused(http(claude()), replace(CLAUDE, model="anthropic/unheard-of")).parameter == "schema"
    assert wire.requests == []


@BOTH
def test_a_body_that_is_no_reply_is_bad_and_tried_again(refused, http, wire, call, body) -> None:
    for answer in (http(b"<html>hello</html>", content_type="text/html"), http(b'{"id": ')):
        wire.requests.clear()
        fault = refused(answer, call)
        assert (fault.code, fault.retryable) == ("bad_body", True)


@BOTH
def test_a_server_that_never_answers_meets_the_deadline(refused, call, body) -> None:
    async def silence(request, writer):
        await asyncio.sleep(30)

    fault = refused(silence, call, timeout_s=0.3)
    assert (fault.code, fault.retryable) == ("timeout", True)


@BOTH
def test_a_server_that_closes_is_a_connection_fault(refused, call, body) -> None:
    async def close(request, writer):
        return "close"

    fault = refused(close, call)
    assert (fault.code, fault.retryable) == ("connect", True)


@BOTH
def test_a_redirect_is_not_followed(refused, http, wire, call, body) -> None:
    fault = refused(http(b"", status=302, headers=["Location: http://127.0.0.1:9/elsewhere"]), call)
    assert not fault.retryable
    assert len(wire.requests) == 1


def test_only_the_two_vendors_have_a_wire_here() -> None:
    with pytest.raises(InvalidInput, match="anthropic or google"):
        VendorProvider("openai")


@pytest.mark.parametrize("content", [None, [7]])
def test_a_reply_of_another_shape_is_bad_and_says_what_to_look_at(refused, http, content) -> None:
    fault = refused(http({"id": "x", "object": "chat.completion", "content": content}), CLAUDE)
    assert (fault.code, fault.retryable) == ("bad_body", True)
    assert "does this address speak another wire?" in str(fault)
