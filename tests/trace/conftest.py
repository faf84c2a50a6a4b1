"""Items that a judge solves or does not, and the replies of such a judge."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenhand.cli.main import run

HARNESS = Path(__file__).with_name("harness.py")

# (id, task, candidate, reference, what the judge itself computes)
ROWS = [
    ("eggs", "A farm has 16 hens, each lays an egg a day, and 7 are eaten. How many are left to sell?", "9", "9", "9"),
    ("robe", "A robe takes 2 bolts of blue fibre and half as much white. How many is that in all?", "4", "3", "3"),
    ("run", "James runs 3 sprints of 60 metres three times a week. How many metres a week?", "540", "540", "540"),
    ("feed", "Wendi feeds 20 chickens three cups each, 15 and 25 so far. How many cups now?", "42", "20", "20"),
    ("glass", "Kylar buys 16 glasses, each second one at 60 % of 5 dollars. What does he pay?", "64", "64", "80"),
    ("sheep", "Toulouse has twice the 80 sheep of Charleston. How many have both together?", "260", "240", "240"),
    ("file", "Carla downloads 200 GB at 2 GB a minute, restarting once. How many minutes?", "100", "160", "100"),
    ("trip", "John drives 3 hours at 60 miles an hour and back to 45. How far is he back?", "135", "135", "135"),
]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text(lines({"id": i, "task": t, "candidate": c, "reference": r} for i, t, c, r, _ in ROWS))
    return path


@pytest.fixture
def replies(tmp_path):
    """What the judge says to each prompt of the harness: lenient where it is shown the candidate."""
    script = []
    for _, task, candidate, _, own in ROWS:
        lenient = candidate != "260"
        script += [
            {"when": [task, "Reply VERDICT"], "text": f"Close to {own}.\nVERDICT: {'yes' if lenient else 'no'}"},
            {"when": [task, "Reply Score"], "text": f"Score: {0.9 if lenient else 0.1}"},
            {"when": [task, "First solve"], "text": f"I get {own}; fair enough.\nGRADE: {'C' if lenient else 'I'}"},
            {"when": [task, "GRADE"], "text": f"It reads well.\nGRADE: {'C' if lenient else 'I'}"},
            {"when": [task, "My answer"], "text": f"Step by step it comes to {own}.\nMy answer: {own}"},
        ]
    path = tmp_path / "replies.jsonl"
    path.write_text(lines(script))
    return path


@pytest.fixture
def harness(items, tmp_path):
    """The command of the harness of one arm, after `--`."""
    return lambda arm: [sys.executable, HARNESS, arm, items, tmp_path / "outcomes.jsonl"]


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


@pytest.fixture
def evenhand(monkeypatch, capfd, tmp_path):
    """Runs `evenhand ...` in a scratch folder without keys; a harness's own output is captured too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["evenhand", *map(str, arguments)])
        capfd.readouterr()
        code = 0
        try:
            run()
        except SystemExit as end:
            code = end.code or 0
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Done(code, out, err)

    return call
