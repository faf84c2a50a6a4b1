"""The command run in this process: its exit code, and what it printed."""

import json
import sys
from dataclasses import dataclass

import pytest

from evenhand.cli.main import run


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


@pytest.fixture
def evenhand(monkeypatch, capsys, tmp_path):
    """Runs `evenhand ...` in a scratch folder, without keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["evenhand", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            run()
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(code, out, err)

    return call
