"""The command as its user runs it: a process of its own, against an endpoint that is a process of its own."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

JUDGE = """\
name: facts
protocol: checklist
models: [openai/fake-judge]
criteria:
  - id: quality
    levels: [0, 1]
    checks:
      - {id: fact, ask: Does it state the fact?}
"""


class Endpoint:
    """A running fake endpoint."""

    def __init__(self, **settings):
        program = [sys.executable, str(Path(__file__).with_name("fake_endpoint.py")), json.dumps(settings)]
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def set(self, **settings):
        """Change settings and forget what was asked so far."""
        self._send("/_set", json.dumps(settings).encode())

    def stats(self):
        return self._send("/_stats", None)

    def n_calls(self):
        """How often it was asked so far; costs little, for tests that wait for it."""
        return self._send("/_calls", None)

    def _send(self, path, data):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data=data, timeout=10) as answer:
            return json.load(answer)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Desk:
    """A scratch folder with a judge file and items, and the command to run there."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = program
        (folder / "judge.yaml").write_text(JUDGE)

    def items(self, n, name="items.jsonl"):
        lines = [
            json.dumps({"id": f"i{k:05d}", "task": f"ITEM-{k}: what is it?", "candidate": f"The answer is {k}."})
            for k in range(n)
        ]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def start(self, *arguments, **environment):
        """An interpreter of its own from its beginning, to which a test may send signals."""
        return self._started([sys.executable, "-m", "evenhand", *map(str, arguments)], environment)

    def start_quickly(self, *arguments, **environment):
        """As `run` starts it; it can be killed, but gets no other signal."""
        return self._started([*self.program, *map(str, arguments)], environment)

    def _started(self, command, environment):
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._environment(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments, **environment):
        """Run to the end; a traceback is never right."""
        done = subprocess.run(
            [*self.program, *map(str, arguments)],
            cwd=self.folder,
            env=self._environment(environment),
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def judge(self, endpoint, *arguments, **environment):
        """`evenhand judge judge.yaml items.jsonl` against an endpoint."""
        return self.run(
            "judge", "judge.yaml", "items.jsonl", "--base-url", endpoint.base_url, *arguments, **environment
        )

    def records(self, name="records.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def _environment(self, changes):
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
        return {**kept, "COLUMNS": "80", **changes}


@pytest.fixture
def desk(tmp_path, evenhand_process):
    return Desk(tmp_path, evenhand_process)


@pytest.fixture
def endpoint(request):
    made = Endpoint(**getattr(request, "param", {}))
    yield made
    made.close()


@pytest.fixture
def endpoints():
    made = []

    def start(**settings):
        made.append(Endpoint(**settings))
        return made[-1]

    yield start
    for one in made:
        one.close()
