"""C1 from templates, from the real traces of scripted judges, and from an evenhand judge's records."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.audit.config import AuditConfig
from evenhand.audit.running import Settings, run_audit
from evenhand.errors import InvalidInput
from evenhand.integrity.verdicts import CriterionVerdict

Configured = Callable[..., AuditConfig]
HARNESS = Path(__file__).resolve().parents[1] / "trace" / "harness.py"

SOLVE_FIRST = "Question: {task}\nAnswer: {candidate}\nFirst solve it yourself. GRADE: C or I"
COMMIT = "Question: {task}\nAnswer: {candidate}\nBegin with one line 'My answer: <number>'. Only it is read."
LATE = "Question: {task}\nAnswer: {candidate}\nGRADE: C or I. Afterwards write 'My answer: <number>'."
BLIND = "Question: {task}\nEnd with one line 'My answer: <number>'."


def lines(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def outcomes(**change: object) -> str:
    """24 items whose right candidate was accepted because the judge's own answer is the same."""
    rows = [{"id": f"q{n}", "accepted": True, "commitment": str(n * 7), "solves": [str(n * 7)]} for n in range(2, 26)]
    return lines(*({**row, **change} if row["id"] == "q2" else row for row in rows))


def verdict(configured: Configured, template: str, given: str = "", task: str = "mathematics") -> CriterionVerdict:
    judge = {"kind": "template", "path": "judge.txt", "match": "number"}
    files = {"judge.txt": template}
    if given:
        judge["outcomes"] = "outcomes.jsonl"
        files["outcomes.jsonl"] = given
    config = configured(files=files, judge=judge, task={"class": task, "items": "items.jsonl"})
    return run_audit(config, Settings()).verdicts[0]


@pytest.mark.parametrize(
    ("template", "given", "word", "says"),
    [
        (SOLVE_FIRST, "", "fail", "not held to an answer of its own"),
        (LATE, "", "fail", "after the comparison"),
        (COMMIT, "", "insufficient evidence", "outcomes"),
        (COMMIT, outcomes(), "pass", "on all 24 items"),
        (BLIND, outcomes(), "pass", "on all 24 items"),
        (COMMIT, outcomes(accepted=False), "fail", "1 of 24 items: q2"),
        (COMMIT, outcomes(commitment=None), "fail", "no answer of the judge's own was given: q2"),
        (COMMIT, outcomes(accepted=None), "insufficient evidence", "1 of 24 items"),
        (BLIND.replace("End with one line 'My answer: <number>'.", ""), "", "insufficient evidence", "not shown"),
    ],
)
def test_a_template_gets_its_verdict_with_its_outcomes(
    configured: Configured, template: str, given: str, word: str, says: str
) -> None:
    found = verdict(configured, template, given)
    assert found.verdict == word, found.reason
    assert says in found.reason


def test_without_solves_the_disclosure_is_missing(configured: Configured) -> None:
    given = lines(*({"id": f"q{n}", "accepted": True, "commitment": str(n * 7)} for n in range(2, 26)))
    found = verdict(configured, COMMIT, given)
    assert found.verdict == "insufficient evidence"
    assert "solve accuracy" in found.reason


def test_a_template_with_neither_task_nor_candidate_is_refused_by_name(configured: Configured) -> None:
    with pytest.raises(InvalidInput, match=r"judge\.txt: the template holds neither the task nor the candidate"):
        verdict(configured, "Be fair. {rubric}")


def test_a_subjective_task_is_not_applicable(configured: Configured) -> None:
    assert verdict(configured, SOLVE_FIRST, task="subjective").verdict == "not applicable"


def test_code_without_a_declared_match_relation_is_insufficient(configured: Configured) -> None:
    judge = {"kind": "template", "path": "judge.txt"}
    config = configured(files={"judge.txt": COMMIT}, judge=judge, task={"class": "code", "items": "items.jsonl"})
    found = run_audit(config, Settings()).verdicts[0]
    assert (found.verdict, "match relation" in found.reason) == ("insufficient evidence", True)


@pytest.mark.parametrize(
    ("row", "says"),
    [({"id": "q2", "accepted": 1}, "accepted is .1."), ({"id": "q2", "accepted": True, "solves": "4"}, "a list"),
     ({"id": "q2", "accepted": True, "wrong": True, "correct": True}, "leave one out"),
     ({"id": "q2"}, "no field .accepted"), ({"accepted": True}, "expected an id")],
)  # fmt: skip
def test_a_broken_outcome_is_refused_with_its_place(configured: Configured, row: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=rf"outcomes\.jsonl line 1.*{says}"):
        verdict(configured, COMMIT, lines(row))


def test_an_item_twice_in_the_outcomes_is_refused(configured: Configured) -> None:
    with pytest.raises(InvalidInput, match="already; one outcome an item"):
        verdict(configured, COMMIT, outcomes() + outcomes())


# (id, task, candidate, reference, what the judge itself computes)
ROWS = [
    ("eggs", "A farm has 16 hens, each lays an egg a day, and 7 are eaten. How many are left to sell?", "9", "9", "9"),
    ("robe", "A robe takes 2 bolts of blue fibre and half as much white. How many is that in all?", "4", "3", "3"),
    ("run", "James runs 3 sprints of 60 metres three times a week. How many metres a week?", "540", "540", "540"),
    ("feed", "Wendi feeds 20 chickens three cups each, 15 and 25 so far. How many cups now?", "42", "20", "20"),
    ("sheep", "Toulouse has twice the 80 sheep of Charleston. How many have both together?", "260", "240", "240"),
]


@pytest.fixture
def traced(tmp_path: Path, evenhand_process: list[str]) -> Callable[..., CriterionVerdict]:
    """Trace a scripted judge of one arm as a user would, and audit the trace."""

    def run(arm: str, *, given: bool = True, match: str | None = "number") -> CriterionVerdict:
        items = lines(*({"id": i, "task": t, "candidate": c, "reference": r} for i, t, c, r, _ in ROWS))
        (tmp_path / "items.jsonl").write_text(items)
        replies = []
        for _, task, candidate, _, own in ROWS:
            lenient = candidate != "260"
            replies += [
                {"when": [task, "Reply VERDICT"], "text": f"VERDICT: {'yes' if lenient else 'no'}"},
                {"when": [task, "Reply Score"], "text": f"Score: {0.9 if lenient else 0.1}"},
                {"when": [task, "GRADE"], "text": f"Fair.\nGRADE: {'C' if lenient else 'I'}"},
                {"when": [task, "My answer"], "text": f"It comes to {own}.\nMy answer: {own}"},
            ]
        (tmp_path / "replies.jsonl").write_text(lines(*replies))
        command = [*evenhand_process, "trace", "--items", "items.jsonl", "--replies", "replies.jsonl",
                   "--out", f"trace-{arm}", "--", sys.executable, str(HARNESS), arm, "items.jsonl",
                   "outcomes.jsonl"]  # fmt: skip
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        judge = {"kind": "trace", "path": f"trace-{arm}"}
        judge |= {"match": match} if match else {}
        judge |= {"outcomes": "outcomes.jsonl"} if given else {}
        text = json.dumps({"task": {"class": "mathematics", "items": "items.jsonl"}, "judge": judge})
        (tmp_path / "audit.yaml").write_text(text)
        from evenhand.audit.config import read_config

        return run_audit(read_config(tmp_path / "audit.yaml"), Settings()).verdicts[0]

    return run


@pytest.mark.parametrize(
    ("arm", "word", "says"),
    [
        ("anchored", "fail", "not held to an answer of its own"),
        ("solve_first", "fail", "not held to an answer of its own"),
        ("commit_ignored", "fail", "robe, feed"),
        ("commit_scored", "fail", "score"),
        ("commit_visible", "insufficient evidence", "solve accuracy"),
        ("commit_blind", "pass", "all 5 items"),
    ],
)
def test_a_scripted_judge_of_each_arm_gets_its_verdict(
    traced: Callable[..., CriterionVerdict], arm: str, word: str, says: str
) -> None:
    found = traced(arm)
    assert found.verdict == word, found.reason
    assert says in found.reason
    assert "5 of 5 items placed" in found.source


def test_blind_commitments_are_the_solves_that_set_the_bound(traced: Callable[..., CriterionVerdict]) -> None:
    evidence = traced("commit_blind").evidence
    assert evidence["solve_accuracy"]["value"] == 1.0
    assert (evidence["solve_accuracy_on_wrong"]["n"], evidence["bound"]["value"]) == (3, 0.0)
    assert evidence["false_positive_rate"]["value"] == 0.0


def test_a_trace_without_outcomes_or_match_never_passes(traced: Callable[..., CriterionVerdict]) -> None:
    assert traced("commit_blind", given=False).verdict == "insufficient evidence"


def test_a_trace_without_a_match_relation_never_passes(traced: Callable[..., CriterionVerdict]) -> None:
    assert traced("commit_blind", match=None).verdict == "insufficient evidence"


def test_a_trace_without_the_texts_of_its_items_cannot_be_placed(
    traced: Callable[..., CriterionVerdict], configured: Configured, tmp_path: Path
) -> None:
    traced("commit_blind")
    other = {"id": "eggs", "task": "What is the sum of two hundred and six and one more?", "candidate": "207"}
    (tmp_path / "items.jsonl").write_text(lines({**other, "reference": "207"}))
    judge = {"kind": "trace", "path": "trace-commit_blind", "match": "number", "outcomes": "outcomes.jsonl"}
    found = run_audit(configured(judge=judge), Settings()).verdicts[0]
    assert found.verdict == "insufficient evidence"
    assert found.evidence["n_matched"] == 0


JUDGE = """\
name: committed
protocol: {protocol}
models: [openai/fake]
{more}criteria:
  - {{id: right{scale}}}
"""


def own(answer: str, word: str, mode: str = "blind") -> dict[str, object]:
    named = {"answer": answer, "key": "sha256:a", "hash": "sha256:b"}
    return {
        "mode": mode, **named, "asked": 1, "commitments": [{**named, "agrees": True}], "lost": [], "stands": 0,
        "match": word, "how": "number", "compared_by": "code", "comparison_key": None,
    }  # fmt: skip


def record(item: str, label: str, found: dict[str, object]) -> dict[str, object]:
    judge = {"name": "committed", "protocol": "commit", "hash": "sha256:d", "models": ["openai/fake"], "version": 1}
    return {
        "schema": "evenhand.record/1", "item": item, "item_hash": "sha256:c", "metadata": {}, "member": "openai/fake",
        "rerun": 0, "judge": judge, "status": "verdict", "keys": ["sha256:a"], "score": 1, "exact": 1.0,
        "scale": [0, 1], "criteria": [{"id": "right", "label": label, "own": found}],
    }  # fmt: skip


def evenhand(configured: Configured, protocol: str, *records: dict[str, object]) -> CriterionVerdict:
    more = "answer: number\n" if protocol == "commit" else ""
    files = {"judge.yaml": JUDGE.format(protocol=protocol, more=more, scale="" if more else ", levels: [1, 10]")}
    judge: dict[str, object] = {"kind": "evenhand", "path": "judge.yaml"}
    if records:
        files["records.jsonl"] = lines(*records)
        judge["outcomes"] = "records.jsonl"
    return run_audit(configured(files=files, judge=judge), Settings()).verdicts[0]


def test_items_that_the_outcomes_leave_out_keep_a_judge_from_passing(configured: Configured) -> None:
    some = "".join(outcomes().splitlines(keepends=True)[:3])
    found = verdict(configured, COMMIT, some)
    assert found.verdict == "insufficient evidence"
    assert "21 of 24 items" in found.reason


def test_outcomes_of_other_items_are_refused(configured: Configured) -> None:
    with pytest.raises(InvalidInput, match="none of its ids"):
        verdict(configured, COMMIT, outcomes().replace('"q', '"other'))


def test_items_without_a_record_keep_a_commit_judge_from_passing(configured: Configured) -> None:
    records = [record(f"q{n}", "accepted", own(str(n * 7), "equal")) for n in range(2, 5)]
    found = evenhand(configured, "commit", *records)
    assert found.verdict == "insufficient evidence"
    assert "21 of 24 items" in found.reason


def test_an_evenhand_judge_that_only_rates_fails(configured: Configured) -> None:
    assert evenhand(configured, "number").verdict == "fail"


def test_a_commit_judge_passes_with_records_that_hold_to_it(configured: Configured) -> None:
    records = [record(f"q{n}", "accepted", own(str(n * 7), "equal")) for n in range(2, 26)]
    found = evenhand(configured, "commit", *records)
    assert found.verdict == "pass", found.reason
    assert found.evidence["solve_accuracy"]["value"] == 1.0


def test_a_commit_judge_without_records_is_insufficient(configured: Configured) -> None:
    assert evenhand(configured, "commit").verdict == "insufficient evidence"


def test_a_record_whose_label_is_not_its_match_fails(configured: Configured) -> None:
    records = [record(f"q{n}", "accepted", own(str(n * 7), "equal")) for n in range(3, 26)]
    found = evenhand(configured, "commit", *records, record("q2", "accepted", own("15", "equal")))
    assert found.verdict == "fail"
    assert "q2" in found.reason


def test_a_record_that_does_not_name_its_commitments_call_is_insufficient(configured: Configured) -> None:
    records = [record(f"q{n}", "accepted", own(str(n * 7), "equal")) for n in range(2, 26)]
    records[0]["keys"] = []
    assert evenhand(configured, "commit", *records).verdict == "insufficient evidence"
