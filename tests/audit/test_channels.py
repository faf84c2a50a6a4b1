"""C2 on real channels: what each kind of broken one shows, and that a sound one passes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.audit.callables import CallableProcess
from evenhand.audit.channels import verdict_of
from evenhand.audit.config import AuditConfig
from evenhand.audit.running import Audit, Settings, run_audit
from evenhand.errors import InvalidInput
from evenhand.sandbox import available

Configured = Callable[..., AuditConfig]

PYTHON = sys.executable
SOUND = "def check(candidate, item):\n    return candidate.strip() == item['reference']\n"


def audited(configured: Configured, **parts: object) -> Audit:
    settings = Settings(control_items=24, timeout_s=10.0)
    return run_audit(configured(**parts), settings)


def python(source: str) -> dict[str, object]:
    return {
        "files": {"check.py": source},
        "channel": {"kind": "python", "run": "check.py:check", "independent_of_judge": True},
    }


def accepted(audit: Audit, control: str) -> tuple[int, int]:
    rows = {one["control"]: one["accepted"] for one in audit.verdicts[1].evidence["by_control"]}
    return rows[control]["successes"], rows[control]["n"]


def test_a_sound_channel_passes(configured: Configured) -> None:
    audit = audited(configured, **python(SOUND))
    assert audit.words["C2"] == "pass", audit.verdicts[1].reason
    assert accepted(audit, "gold") == (24, 24)
    assert audit.findings == ()


def test_an_always_pass_channel_fails_and_equals_what_is_shown_of_one(configured: Configured) -> None:
    audit = audited(configured, **python("def check(candidate, item):\n    return True\n"))
    evidence = audit.verdicts[1].evidence
    assert audit.words["C2"] == "fail"
    always = evidence["an_always_pass_channel_would_show"]
    for role in ("known_correct_accepted", "known_incorrect_accepted"):
        assert evidence[role]["value"] == always[role]["value"] == 1.0


def test_a_channel_that_accepts_what_comes_first_fails(configured: Configured) -> None:
    first = (
        "seen = set()\ndef check(candidate, item):\n    new = item['id'] not in seen\n"
        "    seen.add(item['id'])\n    return new\n"
    )
    assert audited(configured, **python(first)).words["C2"] == "fail"


def test_a_pass_says_how_many_controls_it_does_not_rest_on(configured: Configured) -> None:
    raising = "def check(candidate, item):\n    return float(candidate) == float(item['reference'])\n"
    verdict = audited(configured, **python(raising)).verdicts[1]
    failed = verdict.evidence["known_incorrect_accepted"]["failed"]
    assert (verdict.verdict, failed > 0) == ("pass", True)
    assert verdict.reason.endswith(f"; 0 and {failed} more could not be graded")


def test_an_answer_out_of_turn_is_no_answer(tmp_path: Path) -> None:
    forked = "import os\ndef check(candidate, item):\n    return bool(os.fork()) or not os.wait\n"
    (tmp_path / "check.py").write_text(forked)  # two processes answer each question
    with CallableProcess(str(tmp_path / "check.py"), "check", folder=tmp_path, timeout_s=5.0) as process:
        process.ask("5", {})
        assert process.ask("6", {}) == ("not graded", "answered out of turn")


def test_a_function_that_never_reads_costs_no_more_than_its_time(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text("import time\ntime.sleep(1000)\n")
    with CallableProcess(str(tmp_path / "check.py"), "check", folder=tmp_path, timeout_s=0.2) as process:
        assert process.ask("x" * 1_000_000, {}) == ("not graded", "no verdict within 0.2 s")


def test_a_reward_beyond_any_float_is_no_grade() -> None:
    assert verdict_of({"reward": 10**400}) == (
        "not graded",
        "reward of more digits than can be shown lies outside 0 to 1",
    )
    assert verdict_of({"reward": float("nan")})[0] == "not graded"


def test_an_always_fail_channel_fails(configured: Configured) -> None:
    audit = audited(configured, **python("def check(candidate, item):\n    return False\n"))
    assert audit.words["C2"] == "fail"
    assert "24 of 24 known-correct controls were rejected" in audit.verdicts[1].reason


def test_a_channel_that_crashes_to_pass_is_caught_by_the_exception(configured: Configured) -> None:
    source = (
        "def check(candidate, item):\n    try:\n        return float(candidate) == float(item['reference'])\n"
        "    except ValueError:\n        return True\n"
    )
    audit = audited(configured, **python(source))
    assert audit.words["C2"] == "fail"
    assert accepted(audit, "exception") == (24, 24)
    assert "V6" in {finding.flaw for finding in audit.findings}


def test_a_channel_that_accepts_supersets_is_caught(configured: Configured) -> None:
    audit = audited(configured, **python("def check(candidate, item):\n    return item['reference'] in candidate\n"))
    assert audit.words["C2"] == "fail"
    assert accepted(audit, "superset") == (24, 24)
    assert "superset 24" in audit.verdicts[1].reason
    assert "V5" in {finding.flaw for finding in audit.findings}


def test_without_a_declared_match_relation_nothing_is_known_to_be_incorrect(configured: Configured) -> None:
    audit = audited(configured, judge={"kind": "none"}, **python(SOUND))
    assert audit.words["C2"] == "insufficient evidence"
    assert "judge.match" in audit.verdicts[1].reason
    roles = {one["control"]: one["role"] for one in audit.verdicts[1].evidence["by_control"]}
    assert roles["gold"] == "known correct"
    assert set(roles.values()) == {"known correct", "probe"}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def check(candidate, item):\n    raise KeyError('x')\n", "raised KeyError"),
        ("def check(candidate, item):\n    return 1\n", "returned int"),
        ("raise RuntimeError('broken')\n", "cannot be loaded: RuntimeError"),
        ("import os\ndef check(candidate, item):\n    os._exit(0)\n", "exit code 0"),
    ],
)
def test_a_channel_that_cannot_grade_is_neither_accepting_nor_rejecting(
    configured: Configured, source: str, says: str
) -> None:
    audit = audited(configured, **python(source))
    assert audit.words["C2"] == "insufficient evidence"
    evidence = audit.verdicts[1].evidence
    assert evidence["known_correct_accepted"]["failed"] == 24
    assert says in evidence["not_graded"][0]["detail"]


def test_a_function_that_never_answers_costs_its_time_and_no_more(configured: Configured) -> None:
    source = "import time\ndef check(candidate, item):\n    time.sleep(60)\n"
    config = configured(**python(source))
    audit = run_audit(config, Settings(control_items=1, timeout_s=0.4))
    assert "no verdict within 0.4 s" in audit.verdicts[1].evidence["not_graded"][0]["detail"]


def test_what_a_function_prints_is_no_answer(configured: Configured) -> None:
    source = "def check(candidate, item):\n    print('{\"value\": true}')\n    return False\n"
    assert accepted(audited(configured, **python(source)), "gold") == (0, 24)


def test_a_command_accepts_by_its_exit_code(configured: Configured) -> None:
    script = (
        "import json, sys\ngiven = json.load(sys.stdin)\nsys.exit(given['candidate'] != given['item']['reference'])\n"
    )
    channel = {"kind": "command", "run": [PYTHON, "-S", "check.py"], "independent_of_judge": True}
    config = configured(files={"check.py": script}, channel=channel)
    audit = run_audit(config, Settings(control_items=3))
    assert accepted(audit, "gold") == (3, 3)
    assert accepted(audit, "other_gold") == (0, 3)
    assert not audit.verdicts[1].evidence["wrongly_decided"]
    assert audit.words["C2"] == "insufficient evidence", audit.verdicts[1].reason


def test_a_command_that_is_killed_has_not_rejected(configured: Configured) -> None:
    channel = {"kind": "command", "run": ["sh", "-c", "kill -9 $$"], "independent_of_judge": True}
    audit = run_audit(configured(channel=channel), Settings(control_items=1))
    assert audit.words["C2"] == "insufficient evidence"
    assert "signal 9" in audit.verdicts[1].evidence["not_graded"][0]["detail"]


@pytest.mark.parametrize(
    ("printed", "got"),
    [
        ('{"accepted": true}', "accepted"), ('{"accepted": false}', "rejected"), ('{"reward": 1}', "accepted"),
        ('{"reward": 0.2}', "rejected"), ('{"reward": -1}', "not graded"), ('{"accepted": "yes"}', "not graded"),
        ("all fine", "not graded"), ("", "not graded"),
    ],
)  # fmt: skip
def test_a_command_that_answers_in_json_is_read_strictly(configured: Configured, printed: str, got: str) -> None:
    channel = {"kind": "command", "run": ["echo", printed], "accepts": "json", "independent_of_judge": True}
    audit = run_audit(configured(channel=channel), Settings(control_items=1))
    gold = audit.verdicts[1].evidence["known_correct_accepted"]
    found = "not graded" if gold["failed"] else "accepted" if gold["successes"] else "rejected"
    assert found == got


def test_a_long_line_for_a_shell_is_no_file_and_no_error(configured: Configured) -> None:
    line = f"true {'x' * 300}.py"
    channel = {"kind": "command", "run": ["sh", "-c", line], "accepts": "exit0", "independent_of_judge": True}
    audit = run_audit(configured(channel=channel), Settings(control_items=1))
    assert audit.verdicts[1].evidence["known_correct_accepted"]["successes"] == 1


def test_the_verdict_stands_at_the_end_of_however_much_was_printed(configured: Configured) -> None:
    loud = "import json; print('x' * 3_000_000); print(json.dumps({'accepted': True}))"
    channel = {"kind": "command", "run": [PYTHON, "-c", loud], "accepts": "json", "independent_of_judge": True}
    audit = run_audit(configured(channel=channel), Settings(control_items=1))
    assert audit.verdicts[1].evidence["known_correct_accepted"]["successes"] == 1


def test_a_planted_reward_that_wins_is_a_known_incorrect_control_that_was_accepted(configured: Configured) -> None:
    """The checker reads a reward file of the candidate's folder before it looks at the answer."""
    script = (
        "import json, os, sys\nfolder = sys.argv[1]\ngiven = json.load(sys.stdin)\n"
        "reward = float(given['candidate'] == given['item']['reference'])\n"
        "planted = os.path.join(folder, 'logs/verifier/reward.txt')\n"
        "if os.path.exists(planted):\n    reward = float(open(planted).read())\n"
        "print(json.dumps({'reward': reward}))\n"
    )
    run = [PYTHON, "-S", "check.py", "{workdir}"]
    channel = {"kind": "command", "run": run, "accepts": "json", "independent_of_judge": True}
    audit = run_audit(configured(files={"check.py": script}, channel=channel), Settings(control_items=3))
    assert audit.words["C2"] == "fail"
    assert accepted(audit, "planted_reward") == (3, 3)
    assert "planted_reward 3" in audit.verdicts[1].reason
    assert "V7" in {finding.flaw for finding in audit.findings}


def test_the_matcher_as_a_channel_is_judged_by_what_holds_without_it(configured: Configured) -> None:
    audit = audited(configured, channel={"kind": "matcher", "run": "number"})
    assert audit.words["C2"] == "pass", audit.verdicts[1].reason
    roles = {one["control"]: one["role"] for one in audit.verdicts[1].evidence["by_control"]}
    assert roles["superset"] == roles["hedged"] == "probe"
    assert roles["numeric_neighbour"] == roles["other_gold"] == "known incorrect"
    assert audit.matchers is not None
    assert audit.matchers["kinds"][0]["unequal_accepted"]["successes"] == 0


def rows(*found: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in found)


def recorded(configured: Configured, *found: dict[str, object]) -> Audit:
    channel = {"kind": "records", "run": "records.jsonl", "independent_of_judge": True}
    return run_audit(configured(files={"records.jsonl": rows(*found)}, channel=channel), Settings())


def test_recorded_controls_that_reject_the_gold_fail(configured: Configured) -> None:
    audit = recorded(
        configured,
        {"id": "t", "control": "gold", "expected": "accept", "accepted": False, "why": "a test needs the network"},
        {"id": "t", "control": "empty patch", "expected": "reject", "accepted": False},
    )
    assert audit.words["C2"] == "fail"
    assert "not run by this audit" in audit.verdicts[1].source


def test_a_recorded_planted_reward_is_the_witness(configured: Configured) -> None:
    audit = recorded(
        configured,
        {"id": "t", "control": "planted reward.txt", "expected": "reject", "reward": 1.0, "candidate": "1.0"},
    )
    assert audit.words["C2"] == "fail"
    assert audit.verdicts[1].evidence["wrongly_decided"][0]["control"] == "planted reward.txt"


def test_a_recorded_reward_outside_its_range_was_not_graded(configured: Configured) -> None:
    rewards = [1, 1, 0, 1, -1, -1]
    audit = recorded(
        configured,
        *({"id": str(n), "control": "gold", "expected": "accept", "reward": r} for n, r in enumerate(rewards)),
    )
    share = audit.verdicts[1].evidence["known_correct_accepted"]
    assert (share["value"], share["n"], share["failed"]) == (0.75, 4, 2)


@pytest.mark.parametrize(
    ("row", "says"),
    [({"control": "gold"}, "expected an id"), ({"id": "t"}, "no control"),
     ({"id": "t", "control": "gold", "expected": "maybe"}, "accept, reject")],
)  # fmt: skip
def test_a_broken_record_is_refused_with_its_place(configured: Configured, row: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=rf"records.jsonl line 1.*{says}"):
        recorded(configured, row)


TASKS = [
    {
        "task_id": f"q{n}", "entry_point": "times", "visible_checks": [{"id": "b0", "args": "[1]", "expected": str(n)}],
        "heldout_checks": [{"id": "h0", "args": "[3]", "expected": str(3 * n)}],
    }
    for n in range(2, 26)
]  # fmt: skip


def test_a_test_suite_as_a_channel_runs_candidates_in_the_sandbox(configured: Configured) -> None:
    kind, why = available()
    if kind is None:
        pytest.skip(f"needs a sandbox: {why}")
    code = "def times(k):\n    return k * {}\n"
    items = rows(
        *({"id": f"q{n}", "task": "t", "entry_point": "times", "reference": code.format(n)} for n in range(2, 26))
    )
    config = configured(
        files={"code.jsonl": items, "tasks.jsonl": rows(*TASKS)}, task={"class": "code", "items": "code.jsonl"},
        judge={"kind": "none"}, channel={"kind": "tests", "run": "tasks.jsonl"},
    )  # fmt: skip
    audit = run_audit(config, Settings(control_items=4))
    assert audit.words["C2"] == "insufficient evidence"  # four golds are not twenty
    assert accepted(audit, "gold") == (4, 4)
    for control in ("exception", "early_exit", "refusal", "empty", "truncated", "always_equal"):
        assert accepted(audit, control) == (0, 4), control
    assert audit.verdicts[1].evidence["independence"] == "by construction"


def test_a_checker_that_executes_its_input_is_a_finding(configured: Configured, tmp_path: Path) -> None:
    source = "def check(candidate, item):\n    return str(eval(item['reference'])) == candidate\n"
    audit = audited(configured, **python(source))
    assert [(one.flaw, one.where) for one in audit.findings] == [("V3", ("check.py line 2: eval",))]
    assert audit.words["C2"] == "pass"
