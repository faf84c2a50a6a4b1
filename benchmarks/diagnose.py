"""A million logged scores, diagnosed: seconds, processor seconds and peak memory, beside what one would use instead.

    python benchmarks/diagnose.py
    python benchmarks/diagnose.py --rows 100000 --runs 1

Each way is a process of its own, imports included, on the same file: `evenhand diagnose --json`; pandas (where it is
installed), reading the table and counting each judge's scores, which is a small part of the same answer; and a bare
loop of the standard library's CSV reader, which is the floor for anything that reads the file in Python. The best of
the runs is printed, since other work on the machine can only add.
"""

import argparse
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

OURS = "import sys; sys.argv = ['evenhand', 'diagnose', PATH, '--json']; from evenhand.cli.main import run; run()"
PANDAS = """
import pandas as pd
frame = pd.read_csv(PATH, parse_dates=['timestamp'])
shares = frame.groupby('judge').score.value_counts(normalize=True)
print(shares.groupby('judge').max(), frame.groupby(frame.timestamp.dt.date).score.mean())
"""
FLOOR = """
import csv
with open(PATH, newline='') as stream:
    n = sum(1 for _ in csv.reader(stream))
print(n)
"""


def write_log(path: Path, n: int) -> None:
    """A log of twelve judges, one of them collapsed, an answer every seven seconds."""
    rng = np.random.default_rng(7)
    judges = rng.integers(0, 12, n)
    scores = np.clip(np.round(rng.normal(7.0, 1.8, n)), 1, 10).astype(int)
    scores[judges == 3] = 7 + (rng.random(int((judges == 3).sum())) < 0.1)
    times = np.datetime64("2026-01-01T00:00:00") + np.arange(n) * np.timedelta64(7, "s")
    with path.open("w", encoding="utf-8") as stream:
        stream.write("item,judge,timestamp,score,human\n")
        for row in range(n):
            stream.write(f"item-{row // 12},judge_{judges[row]},{times[row]},{scores[row]},{row // 12 % 5 + 1}\n")


def measured(code: str, path: Path) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak MB of one process."""
    began = time.perf_counter()
    child = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", f"PATH = {str(path)!r}\n{code}"])
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"failed with status {status}: {code}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    settings = parser.parse_args()
    ways = {"evenhand diagnose": OURS, "csv reader alone": FLOOR}
    if find_spec("pandas") is None:
        print("pandas is not installed; it is left out")
    else:
        ways["pandas value_counts"] = PANDAS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        write_log(path, settings.rows)
        print(f"{settings.rows:,} rows, {path.stat().st_size / 1e6:.0f} MB, best of {settings.runs}")
        results = {}
        silent = os.open(os.devnull, os.O_WRONLY)
        stdout = os.dup(1)
        for name, code in ways.items():
            os.dup2(silent, 1)
            results[name] = tuple(
                min(column) for column in zip(*(measured(code, path) for _ in range(settings.runs)), strict=True)
            )
            os.dup2(stdout, 1)
    print(f"{'':<20} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'cpu ratio':>10}")
    for name, (wall, cpu, peak) in results.items():
        print(f"{name:<20} {wall:8.2f} {cpu:8.2f} {peak:8.0f} {cpu / results['evenhand diagnose'][1]:10.2f}")


if __name__ == "__main__":
    main()
