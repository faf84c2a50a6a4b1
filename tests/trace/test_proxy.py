"""The proxy between a client and a real endpoint: what passes, what is refused, what is kept."""

import asyncio
import json

import aiohttp
import pytest
from aiohttp import web

from evenhand.errors import InvalidInput
from evenhand.terms import Reply
from evenhand.trace.proxy import Answerer, Forward, Proxy
from evenhand.trace.recording import Recorder

BODY = {"model": "m", "messages": [{"role": "user", "content": "What is 6 times 7?"}]}


def completion(text):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


@pytest.fixture
def endpoint():
    """Run a client against the proxy in front of a handler; the recorded lines come back with what the client found."""

    def run(handler, client, **settings):
        async def both():
            seen = []

            async def keep(request):
                seen.append(request)
                return await handler(request)

            server = web.Server(keep, max_field_size=settings.pop("fields", 8190))
            runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            base = f"http://127.0.0.1:{runner.addresses[0][1]}/api/v9"
            recorder = Recorder(most_reply=settings.pop("most_reply", 1 << 24))
            try:
                to = settings.pop("to", None) or Forward(base=base, query=settings.pop("query", ""))
                async with Proxy(recorder, to=to, **settings) as proxy:
                    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
                        found = await client(session, proxy)
                    await asyncio.sleep(0.05)
                lines = [json.loads(line) for line in recorder.lines()]
            finally:
                recorder.close()
                await runner.cleanup()
            return found, seen, lines, proxy

        return asyncio.run(both())

    return run


async def answer(request):
    await request.read()
    return web.json_response(completion("42"), headers={"Set-Cookie": "s=1", "X-Kept": "yes"})


async def ask(session, proxy, path="/chat/completions", **more):
    more.setdefault("json", BODY)
    async with session.post(proxy.base_url + path, **more) as reply:
        return reply.status, await reply.read(), reply.headers


def test_a_call_reaches_the_endpoint_with_the_clients_own_headers_and_no_others(endpoint):
    headers = {"Authorization": "Bearer sk-own", "X-Mine": "1", "Accept": "application/json"}
    found, seen, lines, _ = endpoint(answer, lambda session, proxy: ask(session, proxy, headers=headers))
    (request,) = seen
    assert request.path == "/api/v9/chat/completions"
    assert request.headers["Authorization"] == "Bearer sk-own"
    assert request.headers["X-Mine"] == "1"
    assert {name.lower() for name in request.headers} <= {
        "host", "authorization", "x-mine", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
    }  # fmt: skip
    assert request.headers["User-Agent"].startswith("Python/")  # the client's, not one of ours
    status, body, reply_headers = found
    assert (status, json.loads(body), reply_headers["X-Kept"]) == (200, completion("42"), "yes")
    (line,) = lines
    assert (line["reply"], line["status"], line["request"]) == (["42"], 200, BODY)
    kept = json.dumps(lines)
    assert "sk-own" not in kept
    assert "s=1" not in kept


def test_without_a_key_of_the_clients_none_is_sent(endpoint):
    _, seen, _, _ = endpoint(answer, ask)
    assert "Authorization" not in seen[0].headers


def test_the_hash_of_a_request_does_not_hang_on_its_spacing(endpoint):
    async def twice(session, proxy):
        await ask(session, proxy)
        await ask(session, proxy, json=None, data=json.dumps(dict(reversed(BODY.items())), indent=3))

    _, _, lines, _ = endpoint(answer, twice)
    assert lines[0]["request_hash"] == lines[1]["request_hash"]


def test_the_query_of_the_base_url_and_of_the_request_go_on_and_are_not_kept(endpoint):
    _, seen, lines, _ = endpoint(
        answer, lambda s, p: ask(s, p, "/chat/completions?api-key=geheim"), query="?api-version=3"
    )
    assert seen[0].query_string == "api-version=3&api-key=geheim"
    assert "geheim" not in json.dumps(lines)
    assert lines[0]["path"] == "/chat/completions"


def test_a_stream_is_passed_on_piece_by_piece_and_recorded_whole(endpoint):
    gate = asyncio.Event()

    async def stream(request):
        await request.read()
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        for number, text in enumerate(("The ", "answer ", "is 42")):
            if number:
                await asyncio.wait_for(gate.wait(), 20)  # only once the client has seen the piece before
                gate.clear()
            event = {"choices": [{"index": 0, "delta": {"content": text}}]}
            await reply.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        await reply.write(b"data: [DONE]\n\n")
        return reply

    async def client(session, proxy):
        pieces = []
        async with session.post(proxy.base_url + "/chat/completions", json={**BODY, "stream": True}) as reply:
            async for piece in reply.content.iter_any():
                pieces.append(piece)
                gate.set()
        return pieces

    pieces, _, lines, _ = endpoint(stream, client)
    assert len(pieces) >= 3
    assert (lines[0]["reply"], lines[0]["streamed"]) == (["The answer is 42"], True)


def test_a_reply_beyond_the_bound_is_passed_on_whole_and_kept_in_part(endpoint):
    async def long(request):
        return web.Response(body=b"x" * 50_000)

    (status, body, _), _, lines, _ = endpoint(long, ask, most_reply=1000)
    assert (status, len(body)) == (200, 50_000)
    assert (lines[0]["cut"], lines[0]["reply_bytes"], lines[0]["reply"]) == (True, 50_000, [])
    assert lines[0]["reply_hash"] is None


@pytest.mark.parametrize("chunked", [False, True])
def test_a_request_beyond_the_bound_is_refused_and_said(endpoint, chunked):
    async def pieces():
        for _ in range(20):
            yield b"x" * 1000

    data = pieces() if chunked else b"x" * 20_000
    (status, _, _), seen, lines, _ = endpoint(answer, lambda s, p: ask(s, p, json=None, data=data), most_request=10_000)
    assert (status, seen) == (413, [])
    assert "larger than 10,000 bytes" in lines[0]["fault"]


def test_a_stranger_without_the_token_or_with_another_host_is_refused_and_counted(endpoint):
    async def client(session, proxy):
        root = proxy.base_url.rsplit("/", 2)[0]
        found = []
        for url, headers in (
            (f"{root}/v1/chat/completions", {}),
            (f"{root}/{'x' * 32}/v1/chat/completions", {}),
            (f"{proxy.base_url}/chat/completions", {"Host": "evil.example"}),
        ):
            async with session.post(url, json=BODY, headers=headers) as reply:
                found.append(reply.status)
        return found

    found, seen, lines, proxy = endpoint(answer, client)
    assert found == [404, 404, 404]
    assert (seen, lines, proxy.strangers) == ([], [], 3)


def test_the_proxy_listens_on_loopback_alone_at_another_place_each_time(endpoint):
    async def place(session, proxy):
        return proxy.base_url

    first, second = (endpoint(answer, place)[0] for _ in range(2))
    assert first.startswith("http://127.0.0.1:")
    assert first.split("/")[3] != second.split("/")[3]
    assert len(first.split("/")[3]) >= 32


def test_a_redirect_is_handed_back_so_that_no_key_goes_elsewhere(endpoint):
    async def away(request):
        return web.Response(status=307, headers={"Location": "http://elsewhere.invalid/"})

    async def client(session, proxy):
        url = proxy.base_url + "/chat/completions"
        async with session.post(url, json=BODY, allow_redirects=False) as reply:
            return reply.status

    status, _, lines, _ = endpoint(away, client)
    assert status == 307
    assert "redirects" in lines[0]["fault"]


def test_an_error_of_the_endpoint_is_passed_on_and_no_reply_is_made_of_it(endpoint):
    async def busy(request):
        return web.json_response({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "3"})

    (status, body, headers), _, lines, _ = endpoint(busy, ask)
    assert (status, headers["Retry-After"], json.loads(body)) == (429, "3", {"error": {"message": "slow down"}})
    assert (lines[0]["status"], lines[0]["reply"]) == (429, [])


def test_an_endpoint_that_is_not_there_is_said_and_not_hidden(endpoint):
    (status, _, _), _, lines, _ = endpoint(answer, ask, to=Forward(base="http://127.0.0.1:9/v1"))
    assert status == 502
    assert "could not be reached" in lines[0]["fault"]


def test_a_reply_that_breaks_off_breaks_off_for_the_client_too(endpoint):
    async def broken(request):
        reply = web.StreamResponse(headers={"Content-Length": "1000"})
        await reply.prepare(request)
        await reply.write(b"half")
        request.transport.close()
        return reply

    async def client(session, proxy):
        with pytest.raises(aiohttp.ClientError):
            await ask(session, proxy)

    _, _, lines, _ = endpoint(broken, client)
    assert "broke off" in lines[0]["fault"]


def test_calls_in_flight_at_once_are_marked_by_their_ticks(endpoint):
    async def slow(request):
        await request.read()
        await asyncio.sleep(0.05)
        return web.json_response(completion("42"))

    async def client(session, proxy):
        await asyncio.gather(*(ask(session, proxy) for _ in range(3)))
        await ask(session, proxy)

    _, _, lines, _ = endpoint(slow, client)
    assert [line["in_flight"] for line in lines] == [0, 1, 2, 0]
    assert lines[3]["began"] > max(line["ended"] for line in lines[:3]) > lines[2]["began"]


def test_a_compressed_reply_passes_as_it_is_and_is_read(endpoint):
    async def packed(request):
        reply = web.json_response(completion("42"))
        reply.enable_compression(web.ContentCoding.gzip)
        return reply

    (_, body, headers), _, lines, _ = endpoint(packed, ask)
    assert json.loads(body) == completion("42")
    assert headers["Content-Encoding"] == "gzip"
    assert lines[0]["reply"] == ["42"]


def answering(reply):
    async def own(call):
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Answerer(name="script", answer=own, model="scripted/x")


def test_a_request_with_tools_is_answered_by_a_call_of_the_wanted_one(endpoint):
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("first", "last")]
    choice = {"type": "function", "function": {"name": "first"}}
    (_, body, _), _, lines, _ = endpoint(
        answer, lambda s, p: ask(s, p, json={**BODY, "tools": tools, "tool_choice": choice}),
        to=answering(Reply(text='{"answer": 42}')),
    )  # fmt: skip
    message = json.loads(body)["choices"][0]["message"]
    assert message["tool_calls"][0]["function"] == {"name": "first", "arguments": '{"answer": 42}'}
    assert lines[0]["reply"] == ['{"answer": 42}']


def test_several_choices_are_each_answered(endpoint):
    (_, body, _), _, lines, _ = endpoint(
        answer, lambda s, p: ask(s, p, json={**BODY, "n": 3}), to=answering(Reply(text="42"))
    )
    assert [choice["index"] for choice in json.loads(body)["choices"]] == [0, 1, 2]
    assert lines[0]["reply"] == ["42"] * 3


def test_a_script_without_a_reply_is_an_error_that_the_harness_sees(endpoint):
    (status, body, _), _, lines, _ = endpoint(answer, ask, to=answering(InvalidInput("no line answers this")))
    assert (status, lines[0]["fault"]) == (400, "no line answers this")
    assert "no line answers this" in body.decode()


@pytest.mark.local
def test_the_embedded_model_answers_a_harness(embedded_model, endpoint):
    from evenhand.evaluate.tracing import answered_by

    to, close = answered_by("local/smollm2", timeout_s=120)

    async def client(session, proxy):
        try:
            return await ask(session, proxy, json={**BODY, "max_tokens": 8})
        finally:
            await close()

    (status, body, _), _, lines, _ = endpoint(answer, client, to=to)
    assert status == 200
    assert lines[0]["reply"][0] == json.loads(body)["choices"][0]["message"]["content"] != ""


def test_a_path_and_a_query_go_on_as_they_were_escaped(endpoint):
    from yarl import URL

    async def client(session, proxy):
        url = URL(proxy.base_url + "/models/org%2Fname%20x%3Fy?a=b%26c%3Dd%20e", encoded=True)
        async with session.get(url) as reply:
            return reply.status

    status, seen, lines, _ = endpoint(answer, client)
    assert status == 200
    assert seen[0].raw_path == "/api/v9/models/org%2Fname%20x%3Fy?a=b%26c%3Dd%20e"
    assert lines[0]["path"] == "/models/org%2Fname%20x%3Fy"


@pytest.mark.parametrize("after", ["beta/models", "@other.example/models", ":80/models"])
def test_what_goes_on_behind_the_base_url_without_a_slash_is_refused(endpoint, after):
    # Behind a base URL without a path, `@other.example` would send the client's key to another host.
    found, seen, lines, proxy = endpoint(answer, lambda session, proxy: ask(session, proxy, after))
    assert (found[0], seen, lines, proxy.strangers) == (404, [], [], 1)


def test_a_long_token_passes(endpoint):
    headers = {"Authorization": "Bearer " + "a" * 30_000}
    found, _, lines, _ = endpoint(answer, lambda session, proxy: ask(session, proxy, headers=headers), fields=1 << 16)
    assert found[0] == 200
    assert len(lines) == 1
