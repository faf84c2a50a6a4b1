"""What keeping a judgement costs: processor time per reply, bytes on the disk, beside a bare sqlite3 loop.

    python benchmarks/store.py [--n 10000] [--rounds 3]

The bare loop writes the same texts uncompressed, 64 rows a commit, with the same guarantees (WAL, synchronous FULL) and
on one thread. Times are processor time of the whole process, the smallest of the rounds; compare ratios, not
microseconds, between machines. The candidates have 1,200 characters, the requests about 2 kB, the replies 0.5 kB.
"""

import argparse
import asyncio
import hashlib
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from evenhand.store.database.sql import Store, open_store
from evenhand.store.database.tables import replies
from evenhand.terms import Reply, Usage

CHECKS = ("situation", "actions", "outcome", "number", "reflection")
SYSTEM = "You answer yes/no checks about one candidate, each with a verbatim quotation. " + " ".join(
    f"Check {check!r}: does the answer state its {check} plainly, in its own words, and with support?"
    for check in CHECKS
)
SCHEMA = {
    "type": "object",
    "properties": {"checks": {"type": "array", "items": {"properties": {"id": {"enum": CHECKS}, "quote": {}}}}},
}


def words() -> list[str]:
    """A vocabulary whose use follows Zipf's law, so that texts compress about as prose does."""
    rng = random.Random(7)
    return ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(2, 9))) for _ in range(4000)]


def made(n: int) -> tuple[list[bytes], list[bytes], Reply]:
    """Requests, items, and a reply."""
    rng = random.Random(11)
    vocabulary = words()
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    requests, items = [], []
    for number in range(n):
        candidate = " ".join(rng.choices(vocabulary, weights, k=260))[:1200]
        user = f"<candidate {rng.randbytes(8).hex()}>\n{candidate}\n</candidate>"
        messages = [{"role": "system", "text": SYSTEM}, {"role": "user", "text": user}]
        call = {"attempt": 0, "messages": messages, "model": "openai/judge", "n": number, "schema": SCHEMA}
        requests.append(msgspec.json.encode(call))
        items.append(msgspec.json.encode({"candidate": candidate}))
    checks = [{"id": check, "quote": candidate[50 * i : 50 * i + 60], "passed": True} for i, check in enumerate(CHECKS)]
    text = msgspec.json.encode({"checks": checks}).decode()
    return requests, items, Reply(text=text, usage=Usage(input_tokens=800, output_tokens=120), model="judge-1")


def microseconds(n: int, work: Callable[[], object]) -> float:
    """Processor time of the whole process, per piece."""
    began = time.process_time()
    work()
    return (time.process_time() - began) / n * 1e6


def bare(path: Path, requests: list[bytes], keys: list[bytes], text: bytes) -> None:
    """The least that keeps the same texts."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE replies (key BLOB UNIQUE, request BLOB, reply BLOB)")
    for start in range(0, len(keys), 64):
        rows = [(key, request, text) for key, request in zip(keys[start:], requests[start : start + 64], strict=False)]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO replies VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    connection.close()


async def in_flight(n: int, width: int, latency_s: float, step: Callable[[int], Coroutine[Any, Any, None]]) -> None:
    """Run n steps, so many at once, each after waiting as for an endpoint."""
    numbers = iter(range(n))

    async def worker() -> None:
        for number in numbers:
            if latency_s:
                await asyncio.sleep(latency_s)
            await step(number)

    await asyncio.gather(*(worker() for _ in range(width)))


def putting(store: Store, requests: list[bytes], keys: list[bytes], reply: Reply) -> Callable[[int], Any]:
    """One put."""

    async def step(number: int) -> None:
        await store.replies.put(
            key=keys[number],
            endpoint="http://127.0.0.1:8801/v1",
            model="openai/judge",
            request=requests[number],
            reply=reply,
            latency_ms=50.0,
            attempts=1,
            cost_usd=0.001,
        )

    return step


async def nothing(number: int) -> None:
    """What is subtracted: the loop without the store."""


def measured(folder: Path, n: int, requests: list[bytes], items: list[bytes], reply: Reply) -> dict[str, float]:
    """One round of everything, in microseconds of processor time a piece."""
    keys = [hashlib.sha256(request).digest() for request in requests]
    item_keys = [hashlib.sha256(item).hexdigest() for item in items]
    found: dict[str, float] = {}
    found["bare sqlite3 loop, 64 a commit"] = microseconds(
        n, lambda: bare(folder / "bare.db", requests, keys, reply.text.encode())
    )
    for name, width, latency_s in (("put, 64 in flight at 50 ms", 64, 0.05), ("put, 256 at full speed", 256, 0.0)):
        idle = microseconds(n, lambda: asyncio.run(in_flight(n, width, latency_s, nothing)))  # noqa: B023
        with open_store(folder / f"{width}.db") as store:
            step = putting(store, requests, keys, reply)
            found[name] = microseconds(n, lambda: asyncio.run(in_flight(n, width, latency_s, step))) - idle  # noqa: B023
    with open_store(folder / "64.db") as store:
        get = store.replies.get
        found["get, not there"] = microseconds(n, lambda: [get(os.urandom(32)) for _ in range(n)])
        found["get, there"] = microseconds(n, lambda: [get(key) for key in keys])
        query = select(replies.c.reply).where(replies.c.key == bindparam("key"))
        with store._reader._connection.engine.connect() as core:
            found["not there, through Core"] = microseconds(
                n, lambda: [core.execute(query, {"key": os.urandom(32)}).first() for _ in range(n)]
            )
        size = folder / "64.db"
        found["bytes kept a reply"] = size.stat().st_size / n

        def keep() -> None:
            for key, item in zip(item_keys, items, strict=True):
                store.items.keep(key, item)
            store.close()

        found["item kept and durable"] = microseconds(n, keep)
        found["bytes kept a judgement, item included"] = size.stat().st_size / n
    found["bytes of the bare loop"] = (folder / "bare.db").stat().st_size / n
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    requests, items, reply = made(arguments.n)
    print(f"{arguments.n} judgements, requests of {sum(map(len, requests)) / len(requests):.0f} bytes, ", end="")
    print(f"replies of {len(reply.text)}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    rounds = []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(measured(Path(folder), arguments.n, requests, items, reply))
    best = {name: min(round_[name] for round_ in rounds) for name in rounds[0]}
    floor = best["bare sqlite3 loop, 64 a commit"]
    for name, value in best.items():
        unit, ratio = ("bytes", "") if "bytes" in name else ("us", f"{value / floor:6.2f} x bare")
        print(f"{name:40s} {value:8.1f} {unit:6s}{ratio}")
    code = "import time; t = time.process_time(); import evenhand.store.database.sql; print(time.process_time() - t)"
    imports = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)
    ]
    print(f"{'import of evenhand.store.database.sql':40s} {min(float(done.stdout) for done in imports) * 1e3:8.1f} ms")
    print(f"{'peak memory of this benchmark':40s} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.1f} MB")


if __name__ == "__main__":
    main()
