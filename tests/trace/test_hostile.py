"""The proxy between a client and an endpoint that keep to nothing, byte by byte over real sockets."""

import asyncio
import contextlib
import gzip
import json
import zlib

import pytest
import zstandard

from evenhand.trace.proxy import Forward, Proxy
from evenhand.trace.recording import Recorder

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "What is 6 times 7?"}]}'
REPLY = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "42"}}]}'
_WAIT_S = 30


def reply(body=REPLY, head="", kind="application/json", status="200 OK"):
    named = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{head}Content-Length: {len(body)}\r\n\r\n"
    return named.encode() + body


def event(text):
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


def chunked(*pieces, kind="text/event-stream"):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


class Endpoint:
    """Reads whole requests, keeps their bytes, and answers.

    Args:
        answer: a request's body to the bytes of its reply; None answers nothing and waits until the client has left.
        ends: whether it ends the connection after a reply.
    """

    def __init__(self, answer, *, ends=False):
        self.seen = []
        self.left = asyncio.Event()
        self._answer, self._ends = answer, ends

    async def serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
                self.seen.append((head, body))
                answer = self._answer(body)
                if answer is None:
                    await reader.read(1)
                    self.left.set()
                    return
                writer.write(answer)
                await writer.drain()
                if self._ends:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@pytest.fixture
def between():
    """Run a client between proxy and endpoint; what it found, what the endpoint got, and what was recorded."""

    def run(client, answer=None, *, ends=False, **settings):
        async def both():
            given = reply() if answer is None else answer
            endpoint = Endpoint(given if callable(given) else lambda _: given, ends=ends)
            server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
            base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            recorder = Recorder()
            try:
                async with Proxy(recorder, to=Forward(base=base), **settings) as proxy:
                    found = await asyncio.wait_for(client(proxy, endpoint), _WAIT_S)
                lines = [json.loads(line) for line in recorder.lines()]
            finally:
                recorder.close()
                server.close()
            return found, endpoint.seen, lines, proxy

        return asyncio.run(both())

    return run


@contextlib.asynccontextmanager
async def connected(proxy):
    """(host, target, reader, writer) of a connection of its own."""
    host, _, path = proxy.base_url.removeprefix("http://").partition("/")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    try:
        yield host, f"/{path}/chat/completions", reader, writer
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def asked(host, target, *head, body=BODY, version="1.1", length=True):
    lines = [f"POST {target} HTTP/{version}", f"Host: {host}", "Content-Type: application/json", *head]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def sends(make, *head, **more):
    """A client that sends one request, made by `make(host, target)` or with these headers, and reads to the end."""

    async def client(proxy, _):
        async with connected(proxy) as (host, target, reader, writer):
            writer.write(make(host, target) if make else asked(host, target, *head, "Connection: close", **more))
            found = await reader.read()
            return found

    return client


SMUGGLED = {
    "two lengths": ("Content-Length: 5",),
    "a length twice": (f"Content-Length: {len(BODY)}",),
    "a length and chunks": ("Transfer-Encoding: chunked",),
    "a space before the colon": ("X-A : b",),
    "a line end inside": ("X-A: a\rX-B: b",),
    "a folded line": ("X-A: a\r\n b",),
    "a null byte": ("X-A: a\0b",),
    "a second host": ("Host: evil.example",),
}


@pytest.mark.parametrize("how", SMUGGLED)
def test_what_two_servers_could_read_differently_reaches_no_endpoint(how, between):
    found, seen, lines, _ = between(sends(None, *SMUGGLED[how]))
    assert found.split()[1] == b"400"
    assert (seen, lines) == ([], [])


@pytest.mark.parametrize("chunks", ["xchunked", "chunked, identity"])
def test_a_transfer_coding_that_is_not_known_reaches_no_endpoint(chunks, between):
    found, seen, _, _ = between(sends(None, f"Transfer-Encoding: {chunks}", length=False))
    assert found.split()[1] == b"400"
    assert seen == []


@pytest.mark.parametrize("host", ["evil.example:{port}", "evil.example", "127.0.0.1", "[::1]:{port}", ""])
def test_a_name_that_was_bound_to_loopback_is_refused(host, between):
    def make(own, target):
        return asked(host.format(port=own.partition(":")[2]), target, "Connection: close")

    found, seen, lines, proxy = between(sends(make))
    assert found.split()[1] == b"404"
    assert (seen, lines, proxy.strangers) == ([], [], 1)


def test_a_whole_url_as_target_must_name_this_server_too(between):
    def make(own, target):
        return asked(own, f"http://evil.example{target}", "Connection: close")

    found, seen, _, proxy = between(sends(make))
    assert (found.split()[1], seen, proxy.strangers) == (b"404", [], 1)
    found, seen, lines, _ = between(sends(lambda own, target: asked(own, f"http://{own}{target}", "Connection: close")))
    assert (found.split()[1], len(seen), lines[0]["reply"]) == (b"200", 1, ["42"])


def test_a_client_of_http_1_0_is_answered_and_its_connection_ended(between):
    async def client(proxy, _):
        async with connected(proxy) as (host, target, reader, writer):
            writer.write(asked(host, target, version="1.0"))
            found = await reader.read()  # to the end, which the server makes
            return found

    found, _, lines, _ = between(client)
    assert found.startswith(b"HTTP/1.0 200")
    assert found.endswith(REPLY)
    assert lines[0]["reply"] == ["42"]


def test_a_connection_is_used_again_and_requests_in_a_row_are_answered_in_order(between):
    async def client(proxy, _):
        async with connected(proxy) as (host, target, reader, writer):
            bodies = [BODY.replace(b"6", str(k).encode()) for k in range(4)]
            writer.write(b"".join(asked(host, target, body=body) for body in bodies[:3]))  # without waiting for replies
            writer.write(asked(host, target, "Connection: close", body=bodies[3]))
            found = await reader.read()
            return found.count(REPLY)

    found, seen, lines, _ = between(client)
    assert found == 4
    assert [json.loads(body)["messages"][0]["content"][8] for _, body in seen] == list("0123")
    assert [line["number"] for line in lines] == [0, 1, 2, 3]
    assert all(line["in_flight"] == 0 for line in lines)


def test_a_client_that_waits_to_be_told_to_go_on_is_told(between):
    async def client(proxy, _):
        async with connected(proxy) as (host, target, reader, writer):
            writer.write(asked(host, target, "Expect: 100-continue", "Connection: close")[: -len(BODY)])
            told = await reader.readuntil(b"\r\n\r\n")
            writer.write(BODY)
            found = await reader.read()
            return told, found

    (told, found), seen, lines, _ = between(client)
    assert told == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert found.startswith(b"HTTP/1.1 200")
    assert b"expect" not in seen[0][0].lower()
    assert lines[0]["reply"] == ["42"]


def test_a_body_of_a_hundred_megabytes_is_refused_before_it_is_sent(between):
    async def client(proxy, _):
        async with connected(proxy) as (host, target, reader, writer):
            lines = [f"POST {target} HTTP/1.1", f"Host: {host}", f"Content-Length: {100 << 20}", "Expect: 100-continue"]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            found = await reader.readuntil(b"}}")
            return found

    found, seen, lines, _ = between(client)
    assert found.startswith(b"HTTP/1.1 413")
    assert seen == []
    assert "larger than 33,554,432 bytes" in lines[0]["fault"]


def test_a_body_that_comes_byte_by_byte_is_waited_for(between):
    async def client(proxy, _):
        async with connected(proxy) as (host, target, reader, writer):
            whole = asked(host, target, "Connection: close")
            for at in range(0, len(whole), 20):
                writer.write(whole[at : at + 20])
                await writer.drain()
                await asyncio.sleep(0.001)
            found = await reader.read()
            return found

    found, seen, lines, _ = between(client)
    assert found.startswith(b"HTTP/1.1 200")
    assert seen[0][1] == BODY
    assert lines[0]["reply"] == ["42"]


def packed_zstd(body):
    return zstandard.ZstdCompressor().compress(body)


CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": lambda body: zlib.compress(body)[2:-4],  # without its frame, as some send it
    "zstd": packed_zstd,
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
    "identity": bytes,
}


@pytest.mark.parametrize("coding", CODINGS)
def test_coded_bodies_pass_as_they_are_both_ways_and_are_read(coding, between):
    sent, came = CODINGS[coding](BODY), CODINGS[coding](REPLY)
    found, seen, lines, _ = between(
        sends(None, f"Content-Encoding: {coding}", "Accept-Encoding: br", body=sent),
        reply(came, head=f"Content-Encoding: {coding}\r\n"),
    )
    assert found.partition(b"\r\n\r\n")[2] == came
    assert f"content-encoding: {coding}".lower().encode() in found.lower()
    head, body = seen[0]
    assert body == sent
    assert f"content-encoding: {coding}".lower().encode() in head.lower()
    assert b"accept-encoding" not in head.lower()  # so that an endpoint that asks first sends what can be read
    assert (lines[0]["request"], lines[0]["reply"]) == (json.loads(BODY), ["42"])


@pytest.mark.parametrize("coding", ["br", "x-own", "gzip"])
def test_a_coding_that_cannot_be_read_passes_and_is_said(coding, between):
    odd = b"\x0b\x02\x80abc\x03"
    found, seen, lines, _ = between(
        sends(None, f"Content-Encoding: {coding}", body=odd), reply(odd, head=f"Content-Encoding: {coding}\r\n")
    )
    assert found.endswith(odd)
    assert seen[0][1] == odd
    assert (lines[0]["readable"], lines[0]["reply"]) == (False, [])
    assert f"not readable in its coding '{coding}'" in lines[0]["fault"]
    _, _, lines, _ = between(sends(None), reply(odd, head=f"Content-Encoding: {coding}\r\n"))
    assert (lines[0]["readable"], lines[0]["reply"]) == (True, [])
    assert "the reply's body is not readable" in lines[0]["fault"]


def test_a_small_body_that_unpacks_to_gigabytes_passes_small(between):
    bomb = gzip.compress(b" " * (70 << 20), compresslevel=1)
    found, seen, lines, _ = between(
        sends(None, "Content-Encoding: gzip", body=bomb), reply(bomb, head="Content-Encoding: gzip\r\n")
    )
    assert found.endswith(bomb)
    assert seen[0][1] == bomb
    assert (lines[0]["reply_bytes"], lines[0]["readable"]) == (len(bomb), False)


def test_an_endpoint_is_left_when_the_client_leaves(between):
    async def client(proxy, endpoint):
        async with connected(proxy) as (host, target, _, writer):
            writer.write(asked(host, target))
            while not endpoint.seen:
                await asyncio.sleep(0.01)
        await endpoint.left.wait()  # while the proxy is still up

    _, seen, lines, _ = between(client, lambda _: None)
    assert len(seen) == 1
    assert (lines[0]["fault"], lines[0]["status"]) == ("the client went away before the reply had ended", None)
    assert lines[0]["request"] == json.loads(BODY)


@pytest.mark.parametrize(
    ("answer", "ends", "kept", "fault"),
    [
        (chunked(event("My answer: 4")), True, ["My answer: 4"], "broke off"),
        (reply(event("My answer: 4"), kind="text/event-stream"), False, ["My answer: 4"], "without a mark of its end"),
        (chunked(event("4")[:-9]) + b"0\r\n\r\n", False, [], "not of the chat-completions wire"),
        (chunked(event("4"), event("2"), b"data: [DONE]\n\n") + b"0\r\n\r\n", False, ["42"], None),
        (reply(event("4") + event("2") + b"data: [DONE]\n\n"), False, ["42"], None),  # said to be JSON
        (reply(kind="text/event-stream"), False, ["42"], None),  # said to be a stream
        (reply(kind="/;;"), False, ["42"], None),
        (reply(b"<html>busy</html>", kind="text/html"), False, [], "not of the chat-completions wire"),
        (reply(b'{"error": "none"}'), False, [], "holds no choices"),
        (reply(b"\xef\xbb\xbf" + REPLY), False, ["42"], None),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + reply(), False, ["42"], None),
        (b"SSH-2.0-Open\r\n\r\n", True, [], "no reply that can be read"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", True, [], "no reply that can be read"),
    ],
)  # fmt: skip
def test_a_reply_is_read_by_what_it_is_and_what_it_lacks_is_said(answer, ends, kept, fault, between):
    _, _, lines, _ = between(sends(None), answer, ends=ends)
    assert lines[0]["reply"] == kept
    assert lines[0]["fault"] is None if fault is None else fault in lines[0]["fault"]


def test_an_endpoint_that_hangs_up_without_a_reply_is_said(between):
    found, _, lines, _ = between(sends(None), b"", ends=True)
    assert found.startswith(b"HTTP/1.1 502")
    assert "closed the connection without a reply" in lines[0]["fault"]


def test_an_event_of_megabytes_passes_and_is_read(between):
    long = "a" * (3 << 20)
    found, _, lines, _ = between(sends(None), chunked(event(long), event("b"), b"data: [DONE]\n\n") + b"0\r\n\r\n")
    assert lines[0]["reply"] == [long + "b"]
    assert found.count(b"a") > len(long)


def test_an_event_whose_data_stands_on_two_lines_is_read(between):
    body = b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "42"}}]}\n\ndata: [DONE]\n\n'
    _, _, lines, _ = between(sends(None), reply(body, kind="text/event-stream"))
    assert (lines[0]["reply"], lines[0]["fault"]) == (["42"], None)


@pytest.mark.parametrize(
    "body",
    [
        BODY[:-1] + b', "temperature": NaN}',
        BODY.replace(b"7?", b"7 \\ud83d?"),
        b"\xef\xbb\xbf" + BODY,
        BODY[:-1] + b', "seed": 123456789012345678901234567890}',
    ],
)
def test_a_body_as_some_clients_write_it_is_read_and_passes_as_it_is(body, between):
    _, seen, lines, _ = between(sends(None, body=body))
    assert seen[0][1] == body
    assert lines[0]["readable"] is True
    assert "What is 6 times 7" in lines[0]["request"]["messages"][0]["content"]


@pytest.mark.parametrize("body", [b"[1]", BODY.replace(b"What", b"\xff"), BODY[:-1] + b', "x": ' + b"[" * 9000])
def test_a_body_that_is_none_of_this_wire_passes_and_is_said(body, between):
    _, seen, lines, _ = between(sends(None, body=body))
    assert seen[0][1] == body
    assert (lines[0]["readable"], lines[0]["fault"]) == (False, "the request's body is no JSON object")


def test_no_header_that_may_hold_a_key_is_kept_and_those_between_two_machines_go_no_further(between):
    names = ("Authorization", "api-key", "x-api-key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization", "X-Custom")
    came = reply(head="Set-Cookie: s=SECRET\r\nX-Between: SECRET\r\nConnection: x-between\r\n")
    found, seen, lines, _ = between(sends(None, *(f"{name}: SECRET-{name}" for name in names)), came)
    sent = seen[0][0].lower()
    assert all(f"secret-{name}".lower().encode() in sent for name in names if name != "Proxy-Authorization")
    assert b"proxy-authorization" not in sent
    assert b"x-between" not in found.lower()
    assert b"Set-Cookie: s=SECRET" in found
    assert "SECRET" not in json.dumps(lines)


def test_eight_clients_at_once_get_each_its_own_reply(between):
    async def one(proxy, number):
        async with connected(proxy) as (host, target, reader, writer):
            body = BODY.replace(b"6 times", b"%d plus" % number)
            writer.write(asked(host, target, "Connection: close", body=body))
            return (await reader.read()).endswith(b"for %d plus" % number)

    async def client(proxy, _):
        return await asyncio.gather(*(one(proxy, number) for number in range(8)))

    found, seen, lines, _ = between(client, lambda body: reply(b"for " + body.partition(b"is ")[2][:6]))
    assert found == [True] * 8
    assert len(seen) == 8
    assert {line["request"]["messages"][0]["content"][8] for line in lines} == set("01234567")


def test_what_comes_after_the_harness_has_ended_is_refused_and_not_counted(between):
    async def client(proxy, endpoint):
        before = await sends(None)(proxy, endpoint)
        proxy.open = False
        return before, await sends(None)(proxy, endpoint)

    (before, after), seen, lines, _ = between(client)
    assert (before.split()[1], after.split()[1]) == (b"200", b"503")
    assert (len(seen), len(lines)) == (1, 1)
