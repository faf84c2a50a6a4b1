"""How long a repository of 5,000 files takes to walk and to become a candidate.

    python benchmarks/repositories.py [FILES]

Measured: `read_items` (which reads it once, to check) and one iteration (which reads it again, as a run does), in wall
and processor time, with a warm file cache. Every tenth file is ignored, every twentieth is no text, and every fifth
folder has ignore rules of its own. The bound is 5 s for both together.
"""

import sys
import tempfile
import time
from pathlib import Path

from evenhand.store.items import read_items

LINES = "def f(x):\n    return x + 1\n\n\n" * 40


def build(root: Path, n_files: int) -> None:
    """A repository of so many files, fifty a folder."""
    (root / ".git").mkdir(parents=True)
    (root / ".gitignore").write_text("*.log\nbuild/\n!keep.log\n" + "".join(f"gen_{n}_*.py\n" for n in range(100)))
    for number in range(n_files):
        folder = root / f"pkg{number // 500}" / f"mod{number // 50}"
        if number % 50 == 0:
            folder.mkdir(parents=True)
            if number % 250 == 0:
                (folder / ".gitignore").write_text("*.tmp\n")
        kind = "log" if number % 10 == 0 else "py"
        text = b"\0" * 2_000 if number % 20 == 1 else LINES.encode()
        (folder / f"f{number}.{kind}").write_bytes(text)


def main() -> None:
    """Build, read, print."""
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "repository"
        build(root, n_files)
        for chars in (400_000, 40_000_000):
            wall, processor = time.perf_counter(), time.process_time()
            (item,) = read_items(root, repository_chars=chars)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            shown = item.metadata["n_files"]
            print(
                f"{n_files:,} files, bound {chars:,} characters: {wall:.2f} s wall, {processor:.2f} s processor; "
                f"{shown:,} files shown, {len(item.candidate):,} characters"
            )


if __name__ == "__main__":
    main()
