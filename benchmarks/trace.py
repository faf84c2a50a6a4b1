"""What the recording proxy adds to a call, beside the same calls made directly in the same run.

    python benchmarks/trace.py [--n 2000] [--in-flight 1 8] [--answers-after-ms 0 50]

Endpoint, proxy and client each have a process of their own, as in use. Direct and traced calls are made in turn, in
blocks, so that a busy moment of the machine falls on both. The figure is the difference of the medians, with the
interval of a bootstrap over blocks; beside it the processor time of the proxy's process, which a busy machine does not
stretch as much. An endpoint that answers at once keeps client, proxy and endpoint busy all the time, so that several
calls in flight queue for the processors, with the proxy and without it; one that takes its time, as a model does, shows
what a call waits for the proxy. Run by hand; nothing here is part of the test suite.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import time
from multiprocessing.connection import Connection
from pathlib import Path

import aiohttp
import numpy as np
from aiohttp import web

BLOCKS = 20
REPLY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "My answer: 42"}}]}
BODY = {"model": "m", "messages": [{"role": "user", "content": "A question of ordinary length. " * 60}]}


def endpoint(told: Connection, after_ms: float) -> None:
    """A server that answers after a time."""

    async def serve() -> None:
        async def answer(request: web.BaseRequest) -> web.Response:
            await request.content.read()
            if after_ms:
                await asyncio.sleep(after_ms / 1000)
            return web.json_response(REPLY)

        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        told.send(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
        await asyncio.Event().wait()

    asyncio.run(serve())


def proxy(told: Connection, base: str) -> None:
    """The proxy before it."""
    from evenhand.trace.proxy import Forward, Proxy
    from evenhand.trace.recording import Recorder

    async def serve() -> None:
        async with Proxy(Recorder(), to=Forward(base=base)) as recording:
            told.send(recording.base_url)
            await asyncio.Event().wait()

    asyncio.run(serve())


def started(target: object, *arguments: object) -> tuple[multiprocessing.Process, str]:
    """A process and the address that it tells."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=target, args=(there, *arguments), daemon=True)  # type: ignore[arg-type]
    process.start()
    return process, here.recv()


async def block(session: aiohttp.ClientSession, base: str, n: int, in_flight: int) -> list[float]:
    """Milliseconds of each of n calls."""
    left, spent = iter(range(n)), []
    data = json.dumps(BODY).encode()

    async def worker() -> None:
        for _ in left:
            began = time.perf_counter()
            async with session.post(
                f"{base}/chat/completions", data=data, headers={"Content-Type": "application/json"}
            ) as reply:
                await reply.read()
            spent.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return spent


def processor_ms(process: multiprocessing.Process) -> float:
    """Processor time of a process so far, in milliseconds; nan where the system does not tell."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


async def measured(
    direct: str, traced: str, n: int, in_flight: int, after_ms: float, recording: multiprocessing.Process
) -> None:
    each = max(n // BLOCKS, 1)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for base in (direct, traced):
            await block(session, base, each, in_flight)
        spent = processor_ms(recording)
        pairs = [
            (await block(session, direct, each, in_flight), await block(session, traced, each, in_flight))
            for _ in range(BLOCKS)
        ]
    spent = (processor_ms(recording) - spent) / (each * BLOCKS)
    without, behind = (statistics.median([ms for pair in pairs for ms in pair[k]]) for k in (0, 1))
    differences = np.array([statistics.median(b) - statistics.median(a) for a, b in pairs])
    draws = np.random.default_rng(7).choice(differences, (2000, len(differences))).mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    print(
        f"{in_flight:3} in flight  answers after {after_ms:g} ms  direct {without:.2f} ms  "
        f"behind the proxy {behind:.2f} ms  "
        f"added {differences.mean():.2f} ms (95 % {low:.2f} to {high:.2f}), processor {spent:.2f} ms, "
        f"n {each * BLOCKS}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--answers-after-ms", type=float, nargs="+", default=[0.0])
    given = parser.parse_args()
    for after_ms in given.answers_after_ms:
        server, direct = started(endpoint, after_ms)
        recording, traced = started(proxy, direct)
        try:
            for in_flight in given.in_flight:
                asyncio.run(measured(direct, traced, given.n, in_flight, after_ms, recording))
        finally:
            server.terminate()
            recording.terminate()


if __name__ == "__main__":
    main()
