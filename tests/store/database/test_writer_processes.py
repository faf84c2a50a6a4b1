"""Several processes on one store, and processes killed at random moments: what was acknowledged is there afterwards."""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evenhand.store.database.sql import open_store

CHILD = """
import asyncio, hashlib, os, sys
from pathlib import Path
from evenhand.store.database.sql import open_store
from evenhand.terms import Reply

path, name, n_replies, start = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store = open_store(path)
print("ready", flush=True)
sys.stdin.readline()

async def put(n):
    request = b"%d %s" % (n, b"what was asked " * 100)
    kept = await store.replies.put(key=hashlib.sha256(request).digest(), endpoint="e", model="m", request=request,
        reply=Reply(text=f"{name} {n}"), latency_ms=1.0, attempts=1, cost_usd=None)
    os.write(1, b"%d %s\\n" % (n, kept.text.encode()))  # whole, or killed before it; print writes in pieces

async def worker(numbers):
    for n in numbers:
        await put(n)

async def main():
    numbers = iter(range(start, start + n_replies))
    await asyncio.gather(*(worker(numbers) for _ in range(64)))

asyncio.run(main())
store.close()
"""


def key(n: int) -> bytes:
    return hashlib.sha256(b"%d %s" % (n, b"what was asked " * 100)).digest()


def child(path: Path, name: str, n_replies: int, start: int = 0) -> "subprocess.Popen[str]":
    started = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), name, str(n_replies), str(start)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def go(started: "subprocess.Popen[str]") -> None:
    assert started.stdin is not None
    started.stdin.write("go\n")
    started.stdin.flush()


def heard(started: "subprocess.Popen[str]") -> dict[int, str]:
    """What a child was told is durable: number to the reply that stands."""
    lines = started.communicate(timeout=120)[0].splitlines(keepends=True)
    whole = [line.split(maxsplit=1) for line in lines if line.endswith("\n")]
    return {int(n): text.rstrip("\n") for n, text in whole}


@pytest.mark.parametrize("starts", [(0, 1500), (0, 0)], ids=["different keys", "the same keys"])
def test_two_processes_lose_nothing_and_agree(tmp_path: Path, starts: tuple[int, int]) -> None:
    path = tmp_path / "evenhand.db"
    children = [child(path, name, 1500, start) for name, start in zip("ab", starts, strict=True)]
    for started in children:
        go(started)
    told = [heard(started) for started in children]
    assert [started.returncode for started in children] == [0, 0]
    with open_store(path) as store:
        assert store.verify().replies == len({n for answers in told for n in answers}) == 1500 + starts[1]
        for answers in told:
            assert len(answers) == 1500
            for n, text in answers.items():
                reply = store.replies.get(key(n))
                assert reply is not None
                assert reply.text == text
        assert sum(run.replies for run in store.runs()) == 1500 + starts[1]


ZYGOTE = """
import os, random, signal, sys, time
rng = random.Random(2026)
path = sys.argv[1]
for n in range(20):
    pid = os.fork()  # the imports are done; no thread runs yet
    if not pid:
        sys.argv = ["child", path, f"run{n}", "100000", str(400 * rng.randrange(3))]
        go, goes = os.pipe()
        os.write(goes, b"go\\n")
        sys.stdin = os.fdopen(go)
        exec(CHILD)
    time.sleep(rng.uniform(0.01, 0.25))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print("dead", flush=True)
    sys.stdin.readline()
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    imports = CHILD[: CHILD.index("path, name")]
    told: dict[int, str] = {}
    kills = 0
    with subprocess.Popen(
        [sys.executable, "-c", f"{imports}\nCHILD = {CHILD!r}\n{ZYGOTE}", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as zygote:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        for line in zygote.stdout:
            n, _, text = line.rstrip("\n").partition(" ")
            if n.isdecimal():
                told[int(n)] = text
            if "dead" not in line:
                continue
            kills += 1
            with open_store(path) as store:
                assert store.verify().replies >= len(told)
                for number, answer in told.items():
                    reply = store.replies.get(key(number))
                    assert reply is not None, number
                    assert reply.text == answer
            zygote.stdin.write("next\n")
            zygote.stdin.flush()
        zygote.stdin.close()
    assert (zygote.returncode, kills) == (0, 20)
    assert len(told) > 100


@pytest.mark.slow
def test_a_killed_neighbour_does_not_stop_the_other(tmp_path: Path) -> None:
    path = tmp_path / "evenhand.db"
    survivor, victim = child(path, "a", 3000), child(path, "b", 100_000)
    go(survivor)
    go(victim)
    time.sleep(0.15)
    victim.kill()
    lost = heard(victim)
    answers = heard(survivor)
    assert survivor.returncode == 0
    assert len(answers) == 3000
    with open_store(path) as store:
        store.verify()
        for number, text in {**lost, **answers}.items():
            reply = store.replies.get(key(number))
            assert reply is not None
            assert reply.text == text
