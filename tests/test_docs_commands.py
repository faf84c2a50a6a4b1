"""Every command that the documents show can be typed: they are run, page by page, in a scratch copy.

A command is a line that begins with `$ ` inside a fence marked `console` or `sh`; lines beginning with `> ` go on with
it, as does a line after a backslash; all others are output and not compared. A comment on the line before the fence
speaks for the whole fence: `<!-- run: no (the reason) -->`, or `<!-- run: exit 1 -->` where that is what happens.
`make` is not run here: CI runs `make test` and `make demo` themselves. Commands of one page share a folder, in order.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
FENCE = re.compile(r"(?:<!-- run: (?P<how>.+?) -->[ \t]*\n)?^```(?:console|sh)[ \t]*\n(?P<body>.*?)^```", re.M | re.S)
NEEDS_SANDBOX = re.compile(r"\baudit reach\b")
NEEDS_WEIGHTS = re.compile(r"\blocal[/:]smollm2\b|\bmodels (?:pull|check)\b")


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command of a page: the line it stands on, its text, and the exit code it announces (None: not run)."""

    line: int
    text: str
    exit_code: int | None


def commands(page: str) -> list[Command]:
    """The commands of a page, in order."""
    found = []
    for fence in FENCE.finditer(page):
        how = fence["how"] or "exit 0"
        code = re.fullmatch(r"exit (\d+)", how)
        assert code or re.fullmatch(r"no \(.{8,}\)", how), f"not understood, or without a reason: run: {how}"
        first = page[: fence.start("body")].count("\n") + 1
        lines = fence["body"].split("\n")
        for number, line in enumerate(lines):
            if line.startswith("$ "):
                text = continued(lines[number:])
                if not text.startswith("make"):
                    found.append(Command(line=first + number, text=text, exit_code=int(code[1]) if code else None))
    return found


def continued(lines: list[str]) -> str:
    """A command with the lines that go on with it."""
    taken = [lines[0].removeprefix("$ ")]
    for line in lines[1:]:
        if not (line.startswith("> ") or taken[-1].endswith("\\")):
            break
        taken.append(line.removeprefix("> "))
    return "\n".join(taken)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of what a reader of the documents has in the folder."""
    for name in ("README.md", "examples", "docs"):
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        if source.exists():
            copy(source, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="session")
def evenhand_on_the_path(tmp_path_factory: pytest.TempPathFactory, evenhand_process: list[str]) -> Path:
    """A folder with the command in it. That it is installed under this name is held by tests/test_repository.py."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "evenhand"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(evenhand_process)} "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if any(c.exit_code is not None for c in commands(p.read_text("utf-8")))],
    ids=lambda p: p.name,
)
def test_the_commands_of_the_page_run(
    page: Path, scratch: Path, evenhand_on_the_path: Path, request: pytest.FixtureRequest
) -> None:
    keys = {name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))}
    environment = {name: value for name, value in os.environ.items() if name not in keys}
    folders = (evenhand_on_the_path, Path(sys.executable).parent, environment["PATH"])
    environment["PATH"] = os.pathsep.join(map(str, folders))
    for command in commands(page.read_text("utf-8")):
        if command.exit_code is None:
            continue
        if NEEDS_WEIGHTS.search(command.text):
            request.getfixturevalue("embedded_model")  # skips, with its reason, where the weights cannot be had
        if NEEDS_SANDBOX.search(command.text):
            request.getfixturevalue("sandbox_here")
        done = subprocess.run(
            ["bash", "-c", command.text], cwd=scratch, env=environment, capture_output=True, text=True, timeout=600
        )
        where = f"{page.relative_to(ROOT)}:{command.line}: $ {command.text}"
        assert done.returncode == command.exit_code, f"{where}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_a_page_is_read_as_its_reader_would() -> None:
    page = """
```console
$ evenhand score evidence.json
score 62
$ cat > a.txt <<'END'
> line
> END
```
<!-- run: exit 1 -->
```sh
$ evenhand judge a.yaml \\
    items.jsonl
$ make test
```
<!-- run: no (needs a key of yours) -->
```console
$ evenhand judge a.yaml items.jsonl --model openai/x
```
```python
$ not a command
```
"""
    assert commands(page) == [
        Command(line=3, text="evenhand score evidence.json", exit_code=0),
        Command(line=5, text="cat > a.txt <<'END'\nline\nEND", exit_code=0),
        Command(line=11, text="evenhand judge a.yaml \\\n    items.jsonl", exit_code=1),
        Command(line=17, text="evenhand judge a.yaml items.jsonl --model openai/x", exit_code=None),
    ]


def test_a_command_that_is_not_run_gives_its_reason() -> None:
    with pytest.raises(AssertionError, match="without a reason"):
        commands("<!-- run: no -->\n```sh\n$ true\n```\n")
