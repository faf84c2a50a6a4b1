"""What evenhand costs beyond the HTTP call itself, beside a bare aiohttp loop in the same run.

    python benchmarks/overhead.py [--n 2000] [--in-flight 64] [--latency-ms 50] [--bench FOLDER]

FOLDER holds a fake endpoint (mockserver.c, modes.tsv) and the bare loop (floor_aiohttp.py, common.py); it is looked for
in $EVENHAND_SHARED/bench and ../shared/bench. The endpoint and the clients are kept on different cores. Processor time
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

FEW = 20
with socket.socket() as _free:
    _free.bind(("127.0.0.1", 0))
    PORT = _free.getsockname()[1]
JUDGE = """\
name: overhead
protocol: checklist
models: [openai/judge-1]
criteria:
  - id: fact
    levels: [0, 1]
    checks:
      - {id: states_fact, ask: The answer states the requested fact correctly and stays on the topic of the question.}
"""


class Spent(NamedTuple):
    """Of one client process: processor seconds, wall seconds, peak memory in MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def main() -> None:
    arguments = _arguments()
    bench = _bench_folder(arguments.bench)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        server = _start_server(bench, scratch)
        try:
            _compare(arguments, bench, scratch)
        finally:
            server.terminate()
            server.wait()


def _compare(arguments: argparse.Namespace, bench: Path, scratch: Path) -> None:
    floors, ours = [], []
    for repeat in range(arguments.repeats):
        floors.append(_per_item(arguments, lambda n, repeat=repeat: _floor(arguments, bench, scratch, n, repeat)))
        ours.append(_per_item(arguments, lambda n, repeat=repeat: _evenhand(arguments, bench, scratch, n, repeat)))
        _row(f"floor {repeat + 1}", floors[-1])
        _row(f"evenhand {repeat + 1}", ours[-1])
    cpu = [mine.cpu_s / floor.cpu_s for mine, floor in zip(ours, floors, strict=True)]
    wall = [mine.wall_s / floor.wall_s for mine, floor in zip(ours, floors, strict=True)]
    print(f"processor time  {statistics.median(cpu):.2f} times the floor (of {len(cpu)}: {_list(cpu)})")
    print(f"wall time       {statistics.median(wall):.2f} times the floor (of {len(wall)}: {_list(wall)})")
    print(f"peak memory     {max(mine.peak_mb for mine in ours):.0f} MB")
    store = scratch / f"store-{arguments.n}-0"
    kept = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    kept += (scratch / f"records-{arguments.n}-0.jsonl").stat().st_size
    print(f"kept on disk    {kept / arguments.n:.0f} bytes a judgement, records included")


def _per_item(arguments: argparse.Namespace, run: object) -> Spent:
    """Time an item, start-up taken out; wall time of the large run, peak memory of the large run."""
    few, many = run(FEW), run(arguments.n)  # type: ignore[operator]
    return Spent(
        (many.cpu_s - few.cpu_s) / (arguments.n - FEW), (many.wall_s - few.wall_s) / (arguments.n - FEW), many.peak_mb
    )


def _floor(arguments: argparse.Namespace, bench: Path, scratch: Path, n: int, repeat: int) -> Spent:
    run = scratch / f"floor-{n}-{repeat}"
    run.mkdir()
    program = [sys.executable, str(bench / "floor_aiohttp.py"), "--base", f"http://127.0.0.1:{PORT}/raw/v1"]
    return _timed(arguments, [*program, "--n", str(n), "--conc", str(arguments.in_flight), "--run", str(run)])


def _evenhand(arguments: argparse.Namespace, bench: Path, scratch: Path, n: int, repeat: int) -> Spent:
    items, judge = scratch / f"items-{n}.jsonl", scratch / "judge.yaml"
    if not items.exists():
        _write_items(bench, items, n)
        judge.write_text(JUDGE)
    records = scratch / f"records-{n}-{repeat}.jsonl"
    program = [sys.executable, "-m", "evenhand", "judge", str(judge), str(items), "-o", str(records)]
    program += ["--base-url", f"http://127.0.0.1:{PORT}/checklist/v1", "--max-concurrency", str(arguments.in_flight)]
    program += ["--store", str(scratch / f"store-{n}-{repeat}" / "evenhand.db")]
    spent = _timed(arguments, program)
    n_records = sum(1 for _ in records.open())
    if n_records != n:
        raise SystemExit(f"{n_records} records of {n}")
    return spent


def _timed(arguments: argparse.Namespace, program: list[str]) -> Spent:
    """Run a client on its own core, against freshly reset counters."""
    urllib.request.urlopen(f"http://127.0.0.1:{PORT}/_set?latency={arguments.latency_ms}", data=b"").read()
    if shutil.which("taskset"):
        program = ["taskset", "-c", "0", *program]
    began = time.perf_counter()
    child = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    errors = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall_s = time.perf_counter() - began
    if status:
        raise SystemExit(f"{' '.join(program)}\nended with {status}: {errors.decode()[-2000:]}")
    return Spent(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1024)


def _write_items(bench: Path, path: Path, n: int) -> None:
    program = (
        f"import sys, json; sys.path.insert(0, {str(bench)!r}); sys.argv = ['x']; from common import items\n"
        f"for it in items({n}): print(json.dumps({{'id': str(it['id']), 'task': it['q'], 'candidate': it['a']}}))"
    )
    path.write_bytes(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)


def _start_server(bench: Path, scratch: Path) -> "subprocess.Popen[bytes]":
    """Compile the fake endpoint and start it on a core of its own."""
    binary = scratch / "mockserver"
    subprocess.run(["cc", "-O2", "-o", str(binary), str(bench / "mockserver.c")], check=True)
    pin = ["taskset", "-c", "1"] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []
    server = subprocess.Popen([*pin, str(binary), str(PORT), str(bench / "modes.tsv")], preexec_fn=_many_files)
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/_stats").read()
            return server
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the fake endpoint did not start")


def _many_files() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _bench_folder(given: Path | None) -> Path:
    shared = Path(os.environ.get("EVENHAND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    folder = given or shared / "bench"
    if not (folder / "mockserver.c").exists():
        raise SystemExit(f"{folder}: no mockserver.c there; name the folder with --bench")
    return folder


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--latency-ms", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bench", type=Path)
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
