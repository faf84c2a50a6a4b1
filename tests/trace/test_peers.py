"""Other projects' judges, from their packages, run behind the proxy against scripted replies.

`make peers` installs them into environments of their own and runs this. EVENHAND_PEERS_PYTHON names the interpreters of
those environments, divided as PATH is (the packages do not agree on one version of the OpenAI client); the first that
has a package is taken. EVENHAND_PEERS_PROMPTFOO names promptfoo's program. What is missing is skipped by its name.
What their verdicts mean is in docs/trace-study.md.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).with_name("peers")
QUIET = {
    "DO_NOT_TRACK": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "LOGFIRE_IGNORE_NO_CONFIG": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
    "PYTHONWARNINGS": "ignore",
}
# name: (package, script with its arguments, words of its prompt, what accepts, what rejects, reference in view)
GRADED = ({"reason": "fine", "pass": True, "score": 1.0}, {"reason": "no", "pass": False, "score": 0.0})
JUDGES = {
    "inspect-ai model_graded_qa": (
        "inspect_ai", ["inspect_model_graded.py"], "meet the criterion", "Fine.\n\nGRADE: C", "No.\n\nGRADE: I", True),
    "deepeval GEval": (
        "deepeval", ["deepeval_geval.py"], "You are an evaluator", {"reason": "fine", "score": 9},
        {"reason": "no", "score": 1}, False),
    "ragas AnswerAccuracy": (
        "ragas", ["ragas_judges.py", "accuracy"], "rating", {"rating": 4}, {"rating": 0}, True),
    "ragas AspectCritic": (
        "ragas", ["ragas_judges.py", "critic"], "Criteria Definition", {"reason": "fine", "verdict": 1},
        {"reason": "no", "verdict": 0}, False),
    "pydantic-evals LLMJudge": (
        "pydantic_evals", ["pydantic_llm_judge.py", "openai-chat:gpt-4o"], "rubric", *GRADED, False),
    "promptfoo llm-rubric": ("promptfoo", ["promptfoo_rubric.py"], "rubric", *GRADED, False),
}  # fmt: skip


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """The Python that has a package; skips where none is named or has it."""
    for name, value in {**QUIET, "PROMPTFOO_CONFIG_DIR": str(tmp_path / "promptfoo")}.items():
        monkeypatch.setenv(name, value)

    def of(package):
        if package == "promptfoo":
            if not os.environ.get("EVENHAND_PEERS_PROMPTFOO"):
                pytest.skip("needs promptfoo: EVENHAND_PEERS_PROMPTFOO is not set (make peers)")
            monkeypatch.setenv("PROMPTFOO", os.environ["EVENHAND_PEERS_PROMPTFOO"])
            return sys.executable
        named = [path for path in os.environ.get("EVENHAND_PEERS_PYTHON", "").split(os.pathsep) if path]
        if not named:
            pytest.skip(f"needs {package}: EVENHAND_PEERS_PYTHON is not set (make peers)")
        has = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
        found = next((path for path in named if subprocess.run([path, "-c", has]).returncode == 0), None)
        return found or pytest.skip(f"needs {package}: none of EVENHAND_PEERS_PYTHON has it (make peers)")

    return of


@pytest.fixture
def script(items, replies):
    """Replies by which a judge accepts every candidate but 260, however often and in whatever order it asks."""

    def write(words, accepting, rejecting):
        rows = [json.loads(line) for line in items.read_text().splitlines()]
        replies.write_text("".join(
            json.dumps({"when": [row["task"], words], "text": rejecting if row["candidate"] == "260" else accepting})
            + "\n" for row in rows
        ))  # fmt: skip
        return rows

    return write


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGES)
def test_the_judge_of_a_peer_is_traced_and_its_arm_told(name, interpreter, script, evenhand, items, replies, tmp_path):
    package, arguments, words, accepting, rejecting, has_reference = JUDGES[name]
    python = interpreter(package)
    rows = script(words, accepting, rejecting)
    outcomes = tmp_path / "outcomes.jsonl"
    done = evenhand("trace", "--items", items, "--replies", replies, "--outcomes", outcomes, "--json", "--",
                    python, PEERS / arguments[0], *arguments[1:], items, outcomes)  # fmt: skip
    assert done.code == 0, done.err[-3000:]
    evidence = done.document["evidence"]
    assert evidence["n_failed"] == 0
    assert evidence["n_calls"] == (16 if arguments[-1] == "accuracy" else 8)
    assert evidence["arms"] == {"anchored": 8}
    assert {one["reference_in_view"] for one in evidence["items"]} == {has_reference}
    assert {one["item"]: one["accepted"] for one in evidence["items"]} == {
        row["id"]: row["candidate"] != "260" for row in rows
    }


@pytest.mark.slow
def test_a_peer_on_another_wire_is_seen_and_not_read(interpreter, script, evenhand, items, replies, tmp_path):
    python = interpreter("pydantic_evals")
    script("rubric", *GRADED)
    done = evenhand("trace", "--items", items, "--replies", replies, "--json", "--", python,
                    PEERS / "pydantic_llm_judge.py", "openai:gpt-4o", items, tmp_path / "outcomes.jsonl")  # fmt: skip
    assert done.code == 3
    evidence = done.document["evidence"]
    assert evidence["unreadable_wires"] == {"responses": evidence["n_calls"]}
    assert "/responses" in evidence["unplaced"]
