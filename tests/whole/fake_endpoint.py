"""A chat-completions endpoint on loopback that a test can make misbehave; run as a process of its own.

    python fake_endpoint.py '{"latency_s": 0.01, "p429": 0.05}'      prints its port, then serves until killed

Settings: `latency_s`; `p429`, `p500`, `cut` (shares of calls, decided by hash of item, attempt and seed, so that equal
runs meet equal faults); `seed`; `retry_after`; `behaviour` (see `nasty`); `reply` (a fixed text);
`replies` (texts in turn); `finish`; `tokens` (where log probabilities are asked for: `[token, share]` of every
alternative, a list for each token of the reply).
The right verdict for item N is pass unless N is divisible by 3. GET /_stats tells what was asked and answered.
"""

import asyncio
import hashlib
import json
import math
import re
import sys
from collections import defaultdict

SETTINGS = {"latency_s": 0.0, "p429": 0.0, "p500": 0.0, "cut": 0.0, "seed": 1, "retry_after": "0", "behaviour": ""}
CALLS = defaultdict(list)
BODIES = []
STATE = {"in_flight": 0, "most": 0, "keys": set()}


def chance(item, attempt):
    digest = hashlib.sha256(f"{SETTINGS['seed']}:{item}:{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def verdict_text(item):
    passed = item % 3 != 0
    return json.dumps({"checks": [{"id": "fact", "quote": "The answer is" if passed else "", "passed": passed}]})


def token_logprobs(tokens):
    """What stands under `logprobs`: each token is the first of its alternatives."""
    content = []
    for own in tokens:
        listed = [{"token": token, "logprob": math.log(share)} for token, share in own]
        content.append({**listed[0], "top_logprobs": listed})
    return {"content": content}


def answer_in_tokens(body):
    """The reply to a call that asks for log probabilities, as long as it allows."""
    tokens = SETTINGS["tokens"][: json.loads(body)["max_tokens"]]
    document = json.loads(completion("".join(own[0][0] for own in tokens), "length"))
    document["choices"][0]["logprobs"] = token_logprobs(tokens)
    document["usage"]["completion_tokens"] = len(tokens)
    return response(200, json.dumps(document).encode())


def completion(text, finish="stop", usage=True):
    document = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake-judge",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
    }
    if usage:
        document["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return json.dumps(document).encode()


def response(status, body, headers=()):
    head = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


def decide(item):
    """What this call gets: its kind, and the bytes."""
    attempt = len(CALLS[item])
    roll = chance(item, attempt)
    if roll < SETTINGS["p429"]:
        return "429", response(
            429, b'{"error": {"code": "rate_limit_exceeded"}}', [f"Retry-After: {SETTINGS['retry_after']}"]
        )
    roll -= SETTINGS["p429"]
    if roll < SETTINGS["p500"]:
        return "500", response(500, b'{"error": {"message": "broken"}}')
    roll -= SETTINGS["p500"]
    in_turn = SETTINGS.get("replies")
    text = in_turn[attempt % len(in_turn)] if in_turn else SETTINGS.get("reply") or verdict_text(item)
    if roll < SETTINGS["cut"]:
        return "cut", response(200, completion(text[: len(text) // 2]))
    return "ok", response(200, completion(text, SETTINGS.get("finish", "stop")))


async def nasty(behaviour, writer):
    """One misbehaving answer."""
    good = response(200, completion(verdict_text(1)))
    if behaviour == "silent":
        await asyncio.sleep(3600)
    elif behaviour == "slow":
        for byte in good:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.1)
    elif behaviour == "closes":
        writer.write(good[: len(good) // 2])
    elif behaviour == "html":
        writer.write(response(200, b"<html><body>Gateway says hello</body></html>"))
    elif behaviour == "huge":
        writer.write(response(200, completion("x" * 10_000_000)))
    elif behaviour == "endless":
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(1000):
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()
    elif behaviour == "bad_utf8":
        writer.write(response(200, completion("PLACE").replace(b"PLACE", b"\xff\xfe\xfa")))
    elif behaviour == "quota":
        writer.write(response(429, b'{"error": {"code": "insufficient_quota", "message": "pay first"}}'))
    elif behaviour == "unauthorized":
        writer.write(response(401, b'{"error": {"message": "bad key"}}'))
    await writer.drain()
    writer.close()


async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            match = re.search(r"content-length: *(\d+)", head, re.I)
            body = await reader.readexactly(int(match[1])) if match else b""
            path = head.split(" ")[1]
            if path == "/_calls":
                writer.write(response(200, str(sum(map(len, CALLS.values()))).encode()))
            elif path == "/_stats":
                writer.write(response(200, json.dumps(stats()).encode()))
            elif path == "/_set":
                SETTINGS.update(json.loads(body))
                if "keep" not in SETTINGS:
                    CALLS.clear()
                    BODIES.clear()
                    STATE["most"] = 0
                writer.write(response(200, b"{}"))
            elif SETTINGS["behaviour"]:
                CALLS[-1].append(SETTINGS["behaviour"])
                await nasty(SETTINGS["behaviour"], writer)
                return
            else:
                await answer(head, body, writer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def answer(head, body, writer):
    numbers = re.findall(rb"ITEM-(\d+)", body)
    item = int(numbers[-1]) if numbers else 1
    kind, data = decide(item)
    if kind == "ok" and SETTINGS.get("tokens") and b'"logprobs":true' in body.replace(b" ", b""):
        data = answer_in_tokens(body)
    STATE["in_flight"] += 1
    STATE["most"] = max(STATE["most"], STATE["in_flight"])
    found = re.search(r"authorization: *(.*)", head, re.I)
    STATE["keys"].add(found[1].strip() if found else "")
    if len(BODIES) < 50:
        BODIES.append(body.decode())
    await asyncio.sleep(SETTINGS["latency_s"])
    STATE["in_flight"] -= 1
    CALLS[item].append(kind)
    writer.write(data)


def stats():
    kinds = [kind for calls in CALLS.values() for kind in calls]
    return {
        "calls": len(kinds),
        "kinds": {kind: kinds.count(kind) for kind in set(kinds)},
        "repeat_ok": sum(max(0, calls.count("ok") - 1) for calls in CALLS.values()),
        "items": {str(item): calls for item, calls in CALLS.items()},
        "most_in_flight": STATE["most"],
        "authorization": sorted(STATE["keys"]),
        "bodies": BODIES,
    }


async def main():
    SETTINGS.update(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**25)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
