"""What evenhand costs beyond the HTTP call itself, beside a bare aiohttp loop in the same run.

    python benchmarks/overhead.py [--n 2000] [--in-flight 64] [--latency-ms 50] [--bench FOLDER] [--protocol evidence]

FOLDER may hold a faster endpoint (mockserver.c, modes.tsv) with its own bare loop (floor_aiohttp.py, common.py); it is
looked for in $EVENHAND_SHARED/bench and ../shared/bench. Without it the endpoint of the tests and floor.py serve. The
endpoint and the clients are kept on different cores. Processor time
is that of the whole client process with its start-up taken out: (time of n items - time of 20 items) / (n - 20).
Run by hand; nothing here is part of the test suite.
"""

import argparse
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
FEW = 20
JUDGE = """\
name: overhead
protocol: checklist
models: [openai/judge-1]
criteria:
  - id: fact
    levels: [0, 1]
    checks:
      - {id: CHECK, ask: The answer states the requested fact correctly and stays on the topic of the question.}
"""
EVIDENCE = """\
name: overhead
protocol: evidence
models: [openai/judge-1]
"""


class Spent(NamedTuple):
    """Of one client process: processor seconds, wall seconds, peak memory in MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float


class OwnStand:
    """The endpoint of the tests, and the bare loop beside this file."""

    check = "fact"

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.port = 0

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the endpoint on a core of its own."""
        program = [sys.executable, str(HERE.parent / "tests" / "whole" / "fake_endpoint.py")]
        server = subprocess.Popen([*_pin(1), *program], stdout=subprocess.PIPE, preexec_fn=_many_files)
        assert server.stdout is not None
        self.port = int(server.stdout.readline())
        return server

    def reset(self, latency_ms: int) -> None:
        """Set the latency and forget what was asked."""
        self._send("/_set", json.dumps({"latency_s": latency_ms / 1000}).encode())

    @property
    def base_url(self) -> str:
        """Where checklists are answered."""
        return f"http://127.0.0.1:{self.port}/v1"

    def write_items(self, n: int, path: Path) -> None:
        """Items as JSONL: a question of about 300 characters, an answer of about 900."""
        words = [
            "tram",
            "lemon",
            "attic",
            "pilot",
            "hinge",
            "basil",
            "canoe",
            "flute",
            "ridge",
            "sonar",
            "velvet",
            "otter",
        ]
        with path.open("w") as stream:
            for k in range(n):
                chosen = [words[(k * 7 + j * j) % len(words)] for j in range(180)]
                task = f"Question ITEM-{k}: what links {' '.join(chosen[:40])}?"
                row = {"id": str(k), "task": task, "candidate": f"The answer is {' '.join(chosen[40:])}."}
                stream.write(json.dumps(row) + "\n")

    def floor(self, items: Path, n: int, in_flight: int, run: str) -> list[str]:
        """The command of the bare loop."""
        how = ["--base", self.base_url, "--items", str(items), "--in-flight", str(in_flight)]
        return [sys.executable, str(HERE / "floor.py"), *how]

    def _send(self, path: str, data: bytes | None) -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data=data).read()


class GivenStand(OwnStand):
    """A compiled endpoint with its own bare loop, in a folder that was given or found."""

    check = "states_fact"

    def __init__(self, scratch: Path, folder: Path, protocol: str) -> None:
        super().__init__(scratch)
        self.protocol = protocol
        self.folder = folder

    def start(self) -> "subprocess.Popen[bytes]":
        """Compile the endpoint and start it on a core of its own."""
        binary = self.scratch / "mockserver"
        subprocess.run(["cc", "-O2", "-o", str(binary), str(self.folder / "mockserver.c")], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        program = [*_pin(1), str(binary), str(self.port), str(self.folder / "modes.tsv")]
        server = subprocess.Popen(program, preexec_fn=_many_files)
        for _ in range(100):
            try:
                self._send("/_stats", None)
                return server
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the endpoint did not start")

    def reset(self, latency_ms: int) -> None:
        """Set the latency and forget what was asked."""
        self._send(f"/_set?latency={latency_ms}", b"")

    @property
    def base_url(self) -> str:
        """Where checklists are answered."""
        return f"http://127.0.0.1:{self.port}/{self.protocol}/v1"

    def write_items(self, n: int, path: Path) -> None:
        """The folder's own items."""
        program = (
            f"import sys, json; sys.path.insert(0, {str(self.folder)!r}); sys.argv = ['x']; from common import items\n"
            f"for it in items({n}): print(json.dumps({{'id': str(it['id']), 'task': it['q'], 'candidate': it['a']}}))"
        )
        with path.open("wb") as stream:
            subprocess.run([sys.executable, "-c", program], stdout=stream, check=True)

    def floor(self, items: Path, n: int, in_flight: int, run: str) -> list[str]:
        """The command of the folder's bare loop."""
        (self.scratch / run).mkdir()
        how = ["--base", f"http://127.0.0.1:{self.port}/raw/v1", "--n", str(n), "--conc", str(in_flight)]
        return [sys.executable, str(self.folder / "floor_aiohttp.py"), *how, "--run", str(self.scratch / run)]


def main() -> None:
    """Compare, and print ratios."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = _bench_folder(arguments.bench)
        if folder is None and arguments.protocol != "checklist":
            raise SystemExit(
                "--protocol evidence: the endpoint of this repository answers checklists only; give --bench"
            )
        stand = OwnStand(Path(name)) if folder is None else GivenStand(Path(name), folder, arguments.protocol)
        print(f"endpoint and floor of {'this repository' if folder is None else folder}")
        server = stand.start()
        try:
            _compare(arguments, stand)
        finally:
            server.kill()
            server.communicate()


def _compare(arguments: argparse.Namespace, stand: OwnStand) -> None:
    floors, ours = [], []
    for repeat in range(arguments.repeats):
        few, many = (_floor(arguments, stand, n, repeat) for n in (FEW, arguments.n))
        floors.append(_per_item(arguments.n, few, many))
        few, many = (_evenhand(arguments, stand, n, repeat) for n in (FEW, arguments.n))
        ours.append(_per_item(arguments.n, few, many))
        _row(f"floor {repeat + 1}", floors[-1])
        _row(f"evenhand {repeat + 1}", ours[-1])
    cpu = [mine.cpu_s / floor.cpu_s for mine, floor in zip(ours, floors, strict=True)]
    wall = [mine.wall_s / floor.wall_s for mine, floor in zip(ours, floors, strict=True)]
    print(f"processor time  {statistics.median(cpu):.2f} times the floor (of {len(cpu)}: {_list(cpu)})")
    print(f"wall time       {statistics.median(wall):.2f} times the floor (of {len(wall)}: {_list(wall)})")
    print(f"peak memory     {max(mine.peak_mb for mine in ours):.0f} MB")
    store = stand.scratch / f"store-{arguments.n}-0"
    kept = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    kept += (stand.scratch / f"records-{arguments.n}-0.jsonl").stat().st_size
    print(f"kept on disk    {kept / arguments.n:.0f} bytes a judgement, records included")


def _per_item(n: int, few: Spent, many: Spent) -> Spent:
    """Time an item, start-up taken out; peak memory of the large run."""
    return Spent((many.cpu_s - few.cpu_s) / (n - FEW), (many.wall_s - few.wall_s) / (n - FEW), many.peak_mb)


def _items(stand: OwnStand, n: int) -> Path:
    """The file of items; never as a whole in this process, since a child's peak of memory begins at its parent's."""
    path = stand.scratch / f"items-{n}.jsonl"
    if not path.exists():
        stand.write_items(n, path)
    return path


def _floor(arguments: argparse.Namespace, stand: OwnStand, n: int, repeat: int) -> Spent:
    return _timed(arguments, stand, stand.floor(_items(stand, n), n, arguments.in_flight, f"floor-{n}-{repeat}"))


def _evenhand(arguments: argparse.Namespace, stand: OwnStand, n: int, repeat: int) -> Spent:
    judge = stand.scratch / "judge.yaml"
    judge.write_text(EVIDENCE if arguments.protocol == "evidence" else JUDGE.replace("CHECK", stand.check))
    records = stand.scratch / f"records-{n}-{repeat}.jsonl"
    program = [sys.executable, "-m", "evenhand", "judge", str(judge), str(_items(stand, n)), "-o", str(records)]
    program += ["--base-url", stand.base_url, "--max-concurrency", str(arguments.in_flight)]
    program += ["--store", str(stand.scratch / f"store-{n}-{repeat}" / "evenhand.db")]
    spent = _timed(arguments, stand, program)
    n_records = sum(1 for _ in records.open())
    if n_records != n:
        raise SystemExit(f"{n_records} records of {n}")
    return spent


def _timed(arguments: argparse.Namespace, stand: OwnStand, program: list[str]) -> Spent:
    """Run a client on its own core, against freshly reset counters."""
    stand.reset(arguments.latency_ms)
    began = time.perf_counter()
    child = subprocess.Popen([*_pin(0), *program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    errors = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - began
    if status:
        raise SystemExit(f"{' '.join(program)}\nended with {status}: {errors.decode()[-2000:]}")
    return Spent(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1024)


def _pin(core: int) -> list[str]:
    """The prefix that keeps a process on one core, where that can be done."""
    return ["taskset", "-c", str(core)] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []


def _many_files() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _bench_folder(given: Path | None) -> Path | None:
    """The folder that was given, or found; None where there is none."""
    shared = Path(os.environ.get("EVENHAND_SHARED", HERE.parents[1] / "shared"))
    folder = given or shared / "bench"
    if (folder / "mockserver.c").exists() and shutil.which("cc"):
        return folder
    if given is not None:
        raise SystemExit(f"{given}: no mockserver.c there, or no C compiler")
    return None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--latency-ms", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--protocol", choices=("checklist", "evidence"), default="checklist")
    return parser.parse_args()


def _row(name: str, spent: Spent) -> None:
    print(
        f"{name:12}  {spent.cpu_s * 1000:.3f} ms processor  {spent.wall_s * 1000:.3f} ms wall  {spent.peak_mb:.0f} MB"
    )
    sys.stdout.flush()


def _list(values: list[float]) -> str:
    return json.dumps([round(value, 2) for value in values])


if __name__ == "__main__":
    main()
