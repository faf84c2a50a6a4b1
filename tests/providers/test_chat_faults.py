"""What goes wrong on the wire, each as the error that says whether trying again can help."""

import asyncio
import gzip
import socket
from dataclasses import replace

import pytest

from evenhand.errors import ProviderError, QuotaExhausted, UnsupportedParameter
from evenhand.providers.chat import ChatProvider
from evenhand.terms import Profile

KEY = "sk-test-1234567890"


# --- statuses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (403, "auth", False),
        (404, "not_found", False),
        (405, "bad_request", False),
        (408, "server", True),
        (409, "server", True),
        (413, "too_long", False),
        (422, "bad_request", False),
        (425, "server", True),
        (429, "rate_limit", True),
        (500, "server", True),
        (502, "server", True),
        (503, "server", True),
        (529, "server", True),
    ],
)
@pytest.mark.parametrize("body", [{"error": {"message": "it broke", "type": "t", "param": None, "code": None}}, b""])
def test_each_status_has_its_code_and_says_whether_waiting_helps(refused, http, status, code, retryable, body) -> None:
    error = refused(http(body, status=status))
    assert (error.status, error.code, error.retryable, error.provider) == (status, code, retryable, "openai")
    assert type(error) is ProviderError
    assert str(status) in str(error)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, b"no money"),
        (429, {"error": {"message": "x", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}}),
        (429, {"error": {"message": "x", "type": "insufficient_quota"}}),
        (400, {"error": {"message": "x", "code": "billing_hard_limit_reached"}}),
        (403, {"error": {"message": "x", "code": "billing_not_active"}}),
        (
            429,
            [
                {
                    "error": {
                        "code": 429,
                        "status": "RESOURCE_EXHAUSTED",
                        "message": "x",
                        "details": [
                            {"@type": "QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}
                        ],
                    }
                }
            ],
        ),
    ],
)
def test_a_spent_account_is_not_a_burst(refused, http, status, body) -> None:
    error = refused(http(body, status=status))
    assert isinstance(error, QuotaExhausted)
    assert (error.retryable, error.code) == (False, "quota")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([], None),
        (["Retry-After: 7"], 7.0),
        (["Retry-After: 0.25"], 0.25),
        (["Retry-After: -3"], None),
        (["Retry-After: nan"], None),
        (["Retry-After: soon"], None),
        (["retry-after-ms: 1500", "Retry-After: 2"], 1.5),
        (["Date: Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2015 07:28:30 GMT"], 30.0),
        (["Retry-After: Wed, 21 Oct 2015 07:28:30 GMT"], 0.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_that_an_endpoint_asks_for_is_read_in_seconds(refused, http, status, headers, seconds) -> None:
    assert refused(http(b"{}", status=status, headers=headers)).retry_after_s == seconds


@pytest.mark.parametrize(
    "error",
    [
        {"message": "too long", "code": "context_length_exceeded", "param": "messages"},
        {"message": "too long", "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8},
    ],
)
def test_a_prompt_that_does_not_fit_is_too_long(refused, http, error) -> None:
    got = refused(http({"error": error}, status=400))
    assert (got.code, got.retryable) == ("too_long", False)


def test_an_error_inside_a_status_200_is_the_error_it_names(refused, http) -> None:
    burst = refused(http({"error": {"code": 429, "message": "slow down"}}))
    assert (burst.status, burst.code, burst.retryable) == (429, "rate_limit", True)
    upstream = refused(http({"error": {"message": "upstream died"}, "choices": []}))
    assert (upstream.code, upstream.retryable) == ("server", True)


def test_an_error_inside_a_choice_is_an_error(refused, http, completion) -> None:
    error = refused(http(completion("half", choice={"finish_reason": "error", "error": {"code": 502, "message": "x"}})))
    assert (error.status, error.code) == (502, "server")


# --- ways of asking that an endpoint does not take -----------------------------------------------------------------


def body(message="no", **fields) -> dict:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}}


OPENAI_LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)


@pytest.mark.parametrize(
    ("mode", "status", "answer", "parameter"),
    [
        # structured: the parameter stands in a field
        ("schema", 400, body(param="response_format"), "schema"),
        ("schema", 400, body(param="response_format.json_schema.schema", code="invalid_json_schema"), "schema"),
        ("json", 400, body(param="response_format"), "json"),
        ("tool", 400, body(param="tools[0].function"), "tool"),
        ("tool", 422, body(param="tool_choice"), "tool"),
        ("text", 400, body(param="temperature", code="unsupported_value"), "temperature"),
        ("text", 400, body(param="top_logprobs", code="unsupported_parameter"), "logprobs"),
        ("schema", 400, body(OPENAI_LIMIT, param="max_tokens", code="unsupported_parameter"), "max_tokens"),
        ("schema", 422, {"detail": [{"loc": ["body", "response_format", "type"], "msg": "x", "type": "e"}]}, "schema"),
        ("schema", 422, {"object": "error", "message": {"detail": [{"loc": ["body", "response_format"]}]}}, "schema"),
        # unstructured: the body names it
        ("schema", 400, body("'response_format' of type 'json_schema' is not supported with this model"), "schema"),
        ("schema", 501, {"error": "json_schema is not available"}, "schema"),
        ("json", 400, b"json_object: not here", "json"),
        ("tool", 400, {"message": "tools param requires a template", "code": 400}, "tool"),
        ("text", 400, body("`temperature` does not support 0 with this model"), "temperature"),
        ("text", 400, {"error": {"message": "logprobs are off", "code": "400"}}, "logprobs"),
        ("text", 400, {"error": {"message": OPENAI_LIMIT, "code": "400"}}, "max_tokens"),
    ],
)
def test_a_rejected_way_of_asking_is_named_in_our_word(refused, http, call, mode, status, answer, parameter) -> None:
    error = refused(http(answer, status=status), call=replace(call, logprobs=3), profile=Profile(mode=mode))
    assert isinstance(error, UnsupportedParameter)
    assert (error.parameter, error.code, error.status) == (parameter, "unsupported", status)


@pytest.mark.parametrize(
    ("mode", "status", "answer"),
    [
        ("text", 400, body("response_format is not supported")),  # was not sent
        ("schema", 400, body("tools are not supported")),
        ("schema", 400, body("the temperatures_list is wrong")),  # another word
        ("schema", 400, body("response_format", param="messages")),  # a field names another parameter
        ("schema", 400, body("temperature is above 2", param="temperature", code="decimal_above_max_value")),
        ("schema", 400, body("max_tokens is too large: 99", param="max_tokens", code="invalid_value")),
        ("schema", 500, body("json_schema", param="response_format")),  # a fault of the server's
    ],
)
def test_other_errors_do_not_change_the_way_of_asking(refused, http, mode, status, answer) -> None:
    assert not isinstance(refused(http(answer, status=status), profile=Profile(mode=mode)), UnsupportedParameter)


def test_what_was_left_out_already_is_not_reported_again(refused, http) -> None:
    profile = Profile(omit=("temperature",), max_tokens_field="max_completion_tokens", mode="text")
    for answer in (body(param="temperature", code="unsupported_value"), body(OPENAI_LIMIT)):
        assert refused(http(answer, status=400), profile=profile).code == "bad_request"


# --- nasty servers -------------------------------------------------------------------------------------------------


async def never(request, writer) -> None:
    await asyncio.sleep(60)


async def one_byte_a_while(request, writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        writer.write(b" ")
        await asyncio.sleep(0.02)


async def hang_up(request, writer) -> str:
    return "close"


def cut(answer: bytes):
    async def half(request, writer) -> str:
        writer.write(answer)
        await writer.drain()
        return "close"

    return half


@pytest.mark.parametrize("answer", [never, one_byte_a_while])
def test_the_deadline_holds_over_the_whole_exchange(refused, answer) -> None:
    error = refused(answer, timeout_s=0.2)
    assert (error.code, error.retryable) == ("timeout", True)
    assert "0.2 s" in str(error)


def test_a_reply_within_the_deadline_leaves_no_timer_behind(ask, http, completion) -> None:
    assert ask(http(completion("x")), timeout_s=0.5, times=3).text == "x"


def test_a_server_that_hangs_up_unanswered_may_be_asked_again(refused) -> None:
    error = refused(hang_up)
    assert (error.code, error.retryable) == ("server", True)


def test_a_reply_cut_by_a_closed_connection_may_be_asked_again(refused, http) -> None:
    error = refused(cut(http(b'{"choices": [', length=500)))
    assert (error.code, error.retryable) == ("bad_body", True)


@pytest.mark.parametrize(
    "content",
    [
        b'{"choices": [{"message": {"content": "ab',
        b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": {"content": NaN}}]}',
        b'{"choices": []}',
        b'{"choices": [{"finish_reason": "stop"}]}',
        b"{}",
        b"[]",
        b"null",
        b"",
        b"data: {}\n\ndata: [DONE]\n",
    ],
)
def test_a_body_that_is_no_completion_is_no_reply(refused, http, content) -> None:
    error = refused(http(content))
    assert (error.code, error.retryable, error.status) == ("bad_body", True, 200)


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json"])
def test_a_page_in_place_of_a_reply_points_at_the_base_url(refused, http, kind) -> None:
    error = refused(http(b"\n<!doctype html><title>Sign in</title>", content_type=kind))
    assert (error.code, error.retryable) == ("bad_body", False)
    assert "base URL" in str(error)


def test_bytes_that_are_no_http_are_a_bad_body(refused) -> None:
    assert refused(cut(b"SSH-2.0-OpenSSH_9\r\n\r\n")).code == "bad_body"


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_without_end_is_dropped_at_its_limit(refused, http, packed) -> None:
    content = b" " * (17 * 2**20)
    answer = http(gzip.compress(content), headers=["Content-Encoding: gzip"]) if packed else http(content)
    error = refused(answer)
    assert (error.code, error.retryable) == ("bad_body", False)
    assert "16 MB" in str(error)


def test_a_large_error_body_is_read_in_part_and_quoted_in_little(refused, http) -> None:
    error = refused(http(b"x" * 5_000_000, status=500))
    assert error.retryable
    assert len(str(error)) < 300


def test_what_a_server_says_cannot_steer_a_terminal(refused, http) -> None:
    error = refused(http({"error": {"message": "a\x1b[2Jb\r\n\u202ec"}}, status=500))
    assert str(error).isprintable()


def test_after_any_fault_the_next_call_goes_through(wire, http, completion, call) -> None:
    async def run() -> list[str]:
        answers = [never, hang_up, cut(http(b"{", length=9)), http(b"x" * 10**6, status=500), http(completion("ok"))]
        async with wire(*answers):
            provider = ChatProvider("openai", wire.url)
            codes = []
            for _ in answers[:-1]:
                with pytest.raises(ProviderError) as caught:
                    await provider.ask(call, Profile(), timeout_s=0.2)
                codes.append(caught.value.code)
            assert (await provider.ask(call, Profile(), timeout_s=5)).text == "ok"
            await provider.close()
            return codes

    assert asyncio.run(run()) == ["timeout", "server", "bad_body", "server"]


def test_a_cancelled_call_is_cancelled_and_leaves_the_provider_usable(wire, http, completion, call) -> None:
    async def run() -> str:
        async with wire(never, http(completion("ok"))):
            provider = ChatProvider("openai", wire.url)
            task = asyncio.create_task(provider.ask(call, Profile(), timeout_s=30))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            text = (await provider.ask(call, Profile(), timeout_s=5)).text
            await provider.close()
            return text

    assert asyncio.run(run()) == "ok"


def fault_at(url: str, call) -> ProviderError:
    async def run() -> ProviderError:
        provider = ChatProvider("openai", url, api_key=KEY)
        try:
            with pytest.raises(ProviderError) as caught:
                await provider.ask(call, Profile(), timeout_s=5)
        finally:
            await provider.close()
        return caught.value

    return asyncio.run(run())


def test_a_port_where_nothing_listens_asks_whether_a_server_runs(call) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = fault_at(f"http://127.0.0.1:{port}/v1", call)
    assert (error.code, error.retryable) == ("connect", True)
    assert "is a server running" in str(error)


def test_a_server_without_tls_behind_https_is_a_matter_of_the_address(call) -> None:
    async def run() -> ProviderError:
        async def plain(reader, writer) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
            provider = ChatProvider("openai", f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", api_key=KEY)
            with pytest.raises(ProviderError) as caught:
                await provider.ask(call, Profile(), timeout_s=5)
            await provider.close()
            return caught.value

    error = asyncio.run(run())
    assert (error.code, error.retryable) == ("connect", False)


def test_a_redirect_is_not_followed_so_that_no_key_travels(refused, wire, http) -> None:
    error = refused(http(b"", status=307, headers=["Location: https://elsewhere.example/v1/chat/completions?k=1"]))
    assert (error.code, error.retryable, error.status) == ("bad_request", False, 307)
    assert "elsewhere.example" in str(error)
    assert len(wire.requests) == 1
