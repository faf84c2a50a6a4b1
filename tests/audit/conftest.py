"""Evaluators of the tests: items with golds, and configurations beside them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.audit.config import AuditConfig, read_config

Configured = Callable[..., AuditConfig]


@pytest.fixture
def configured(tmp_path: Path) -> Configured:
    """Write a configuration over 24 arithmetic items, and read it; parts are given as mappings."""
    rows = [
        {"id": f"q{n}", "task": f"{n} * 7?", "candidate": str(n * 7), "reference": str(n * 7)} for n in range(2, 26)
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def made(files: Mapping[str, str] | None = None, **parts: Any) -> AuditConfig:
        for name, text in (files or {}).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        whole = {"task": {"class": "mathematics", "items": "items.jsonl"}, "judge": {"kind": "none", "match": "number"}}
        path = tmp_path / "audit.yaml"
        path.write_text(json.dumps({**whole, **parts}))
        return read_config(path)

    return made
