"""The key goes into one header and nowhere else: no message, no cause, no attribute of an error, no repr, no log."""

import asyncio
import dataclasses
import json
import logging
import pickle
import traceback

import pytest

from evenhand.errors import InvalidInput, ProviderError
from evenhand.providers.chat import ChatProvider
from evenhand.providers.environment import Secret
from evenhand.providers.open import Target, resolve
from evenhand.terms import ModelSpec, Profile

KEY = "sk-proj-Zq9+/=\\\"'x7"


def everything_in(error: BaseException) -> str:
    """Whatever a log, a traceback or a curious handler could print of an error and of all that hangs on it."""
    texts, seen, queue = [], set(), [error]
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        texts += [str(one), repr(one), repr(one.args), repr(vars(one)), *traceback.format_exception(one)]
        queue += [one.__cause__, one.__context__]
    return "\n".join(texts)


async def echo(request, writer) -> None:
    """A server that repeats the request's headers in its error, as some debugging gateways do."""
    text = f"you sent {request.headers['authorization']} and it broke"
    body = json.dumps({"error": {"message": text, "code": None}}).encode()
    status = request.json["model"]
    writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()


async def hang_up(request, writer) -> str:
    return "close"


async def garbage(request, writer) -> str:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n")
    await writer.drain()
    return "close"


async def never(request, writer) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize("status", ["200", "307", "400", "401", "402", "403", "404", "413", "422", "429", "500"])
def test_an_endpoint_that_repeats_the_key_does_not_get_it_into_a_message(refused, call, caplog, status) -> None:
    caplog.set_level(logging.DEBUG)
    error = refused(echo, call=dataclasses.replace(call, model=f"openai/{status}"), api_key=KEY)
    assert KEY not in everything_in(error)
    assert "Zq9" not in everything_in(error)
    assert KEY not in caplog.text


def test_a_reply_that_repeats_the_key_is_kept_without_it(ask, http, completion) -> None:
    verdict = json.dumps({"quote": f"Bearer {KEY}"})
    message = {"reasoning": f"they sent {KEY}", "refusal": KEY}
    reply = ask(http(completion(verdict, message=message, model=KEY)), api_key=KEY)
    assert "Zq9" not in repr(reply)
    assert reply.text == '{"quote": "Bearer [key]"}'


def test_a_key_that_is_a_word_may_stand_in_a_reply(ask, http, completion) -> None:
    said = '{"quote": "an EMPTY lm-studio"}'
    assert [ask(http(completion(said)), api_key=key).text for key in ("EMPTY", "lm-studio")] == [said, said]


@pytest.mark.parametrize("answer", [hang_up, garbage, never])
def test_a_broken_exchange_does_not_carry_the_request_with_it(refused, caplog, answer) -> None:
    caplog.set_level(logging.DEBUG)
    error = refused(answer, api_key=KEY, timeout_s=0.3)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "Zq9" not in everything_in(error) + caplog.text


def test_a_key_at_the_cut_of_a_quotation_leaves_no_part_of_itself(refused, http) -> None:
    for before in range(150, 200, 7):
        error = refused(http({"error": {"message": "y" * before + KEY}}, status=500), api_key=KEY)
        assert "Zq9" not in str(error)


def test_a_rejected_key_is_named_by_its_variable(refused, http) -> None:
    note = "OPENAI_API_KEY of the environment was sent"
    error = refused(
        http({"error": {"message": "bad key sk-***x7", "code": "invalid_api_key"}}, status=401), key_note=note
    )
    assert str(error).endswith(f"rejected the key with status 401 (invalid_api_key); {note}")


def test_an_endpoint_that_wants_a_key_is_told_apart_from_one_that_rejects_it(refused, http) -> None:
    assert "wants a key" in str(refused(http(b"", status=401), api_key=None))


def test_nothing_prints_a_key() -> None:
    secret = Secret(KEY)
    provider = ChatProvider("openai", "https://example.com/v1", api_key=KEY)
    target = resolve(ModelSpec(model="openai/m"), base_url=None, environ={"OPENAI_API_KEY": KEY}, dotenv={})
    for thing in (secret, provider, provider._place, target, [secret], {"k": secret}):
        assert KEY not in f"{thing} {thing!r} {thing!s:>5}"
    assert target.key == secret
    assert isinstance(target, Target)


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret(KEY))


@pytest.mark.parametrize("key", ["", " ", "two\nlines", "tab\t", "sk-ключ", "trailing ", "nul\0", "sk-“quoted”"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key) -> None:
    with pytest.raises(InvalidInput) as caught:
        Secret(key, "OPENAI_API_KEY in .env")
    assert "OPENAI_API_KEY in .env" in str(caught.value)
    assert not key.strip() or key not in everything_in(caught.value)


def test_a_proxy_sees_its_own_user_and_never_the_key(wire, call) -> None:
    async def run() -> ProviderError:
        async def refuse(request, writer) -> str:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return "close"

        async with wire(refuse):
            proxy = wire.url.removesuffix("/v1").replace("//", "//me:pass@")
            provider = ChatProvider("openai", "https://api.example.com/v1", api_key=KEY, proxy=proxy)
            with pytest.raises(ProviderError) as caught:
                await provider.ask(call, Profile(), timeout_s=5)
            await provider.close()
            return caught.value

    error = asyncio.run(run())
    assert wire.requests[0].line == "CONNECT api.example.com:443 HTTP/1.1"
    assert wire.requests[0].headers["proxy-authorization"].startswith("Basic ")
    assert "authorization" not in wire.requests[0].headers
    assert "Zq9" not in everything_in(error)
