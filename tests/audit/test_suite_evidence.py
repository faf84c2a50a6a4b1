"""C4 of a configuration, from its files to its verdict, in the real sandbox."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.audit.config import AuditConfig, SuitesConfig
from evenhand.audit.running import Settings, run_audit
from evenhand.audit.suite_evidence import joined_tasks
from evenhand.errors import InvalidInput
from evenhand.integrity.verdicts import CriterionVerdict
from evenhand.sandbox import available

Configured = Callable[..., AuditConfig]

VISIBLE = [{"id": "b0", "args": "[2]", "expected": "4"}]
HELD_OUT = [{"id": "h0", "args": "[-3]", "expected": "9"}, {"id": "h1", "args": "[0]", "expected": "0"}]
DOUBLE = "def square(x):\n    return 2 * x\n"  # right for 2 and 0
SQUARE = "def square(x):\n    return x * x\n"


@pytest.fixture(autouse=True)
def sandbox() -> None:
    kind, why = available()
    if kind is None:
        pytest.skip(f"needs a sandbox: {why}")


def task(name: str = "square", **parts: object) -> dict[str, object]:
    return {"task_id": name, "entry_point": "square", "visible_checks": VISIBLE, "heldout_checks": HELD_OUT, **parts}


def verdict(
    configured: Configured, *tasks: dict[str, object], wrong: tuple[str, ...] = (), generate: bool = False,
    taken: str = "worst",
) -> CriterionVerdict:  # fmt: skip
    rows = [{"task_id": one["task_id"], "candidate_id": f"c{n}", "code": code}
            for one in tasks for n, code in enumerate(wrong)]  # fmt: skip
    files = {
        "tasks.jsonl": "".join(json.dumps(one) + "\n" for one in tasks),
        "wrong.jsonl": "".join(json.dumps(one) + "\n" for one in rows),
    }
    suites: dict[str, object] = {"visible": "tasks.jsonl", "held_out": "tasks.jsonl"}
    if wrong:
        suites["incorrect"] = [{"path": "wrong.jsonl", "kind": "llm"}]
    config = configured(files=files, task={"class": "code"}, judge={"kind": "none"}, suites=suites)
    settings = Settings(generate=generate, taken="most" if taken == "most" else "worst")
    return run_audit(config, settings).verdicts[3]


def test_a_given_implementation_that_reaches_a_check_passes_with_its_witness(configured: Configured) -> None:
    found = verdict(configured, task(), wrong=(DOUBLE, SQUARE))
    assert found.verdict == "pass", found.reason
    assert (found.evidence["held_out"], found.evidence["reachable"]) == (2, 1)
    assert found.evidence["by_kind"] == {"llm": 1}
    assert found.evidence["witnesses"] == {"square": {"h0": {"llm": "c0"}}}
    assert found.evidence["unreachable"] == {"square": ["h1"]}


def test_no_known_incorrect_implementation_is_insufficient(configured: Configured) -> None:
    assert verdict(configured, task()).verdict == "insufficient evidence"
    assert "not even the one implementation" in verdict(configured, task(), wrong=(SQUARE,)).reason


def test_a_lookup_table_alone_is_insufficient(configured: Configured) -> None:
    found = verdict(configured, task(), generate=True)
    assert found.verdict == "insufficient evidence"
    assert found.evidence["by_kind"] == {"memoriser": 2}
    assert "only memorisers" in found.reason


def test_mutants_that_are_made_here_can_be_witnesses(configured: Configured) -> None:
    found = verdict(configured, task(prompt="", canonical_solution=SQUARE), generate=True)
    assert found.verdict == "pass", found.reason
    assert found.evidence["by_kind"]["mutant"] > 0


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"heldout_checks": []}, "no held-out check"),
        ({"visible_checks": [], "heldout_checks": []}, "no check at all"),
        ({"heldout_checks": [{"id": "h0", "args": "[2]", "expected": "4"}]}, "repeats a visible one"),
    ],
)
def test_what_can_be_enumerated_fails(configured: Configured, parts: dict[str, object], says: str) -> None:
    found = verdict(configured, task(**parts), wrong=(DOUBLE,))
    assert found.verdict == "fail"
    assert says in found.reason


def test_the_worst_task_speaks_unless_most_is_asked_for(configured: Configured) -> None:
    tasks = [task("a"), task("b"), task("c", heldout_checks=[])]
    assert verdict(configured, *tasks, wrong=(DOUBLE,)).verdict == "fail"
    assert verdict(configured, *tasks, wrong=(DOUBLE,), taken="most").verdict == "pass"


def test_suites_in_two_files_are_joined_by_task(configured: Configured, tmp_path: Path) -> None:
    files = {
        "visible.jsonl": json.dumps({"task_id": "square", "entry_point": "square", "checks": VISIBLE}) + "\n",
        "hidden.jsonl": json.dumps({"task_id": "square", "entry_point": "square", "tests": HELD_OUT}) + "\n",
        "wrong.py": DOUBLE,
    }
    suites = {"visible": "visible.jsonl", "held_out": "hidden.jsonl", "incorrect": [{"path": "wrong.py"}]}
    config = configured(files=files, task={"class": "code"}, judge={"kind": "none"}, suites=suites)
    found = run_audit(config, Settings(generate=False)).verdicts[3]
    assert (found.verdict, found.evidence["held_out"]) == ("pass", 2)


def test_duplicate_ids_and_values_that_are_no_literals_are_refused(configured: Configured) -> None:
    with pytest.raises(InvalidInput, match=r"tasks\.jsonl line 2: the task 'square' stands in"):
        verdict(configured, task(), task())
    with pytest.raises(InvalidInput, match=r"visible_checks\[0\]\.expected"):
        verdict(configured, task(visible_checks=[{"id": "b", "args": "[1]", "expected": "object()"}]))


@pytest.mark.parametrize(
    ("visible", "held_out", "joined"),
    [
        (None, "poly_root", "poly_root"),
        ("mine", None, "mine"),
        (None, None, "equal"),
        ("mine", "yours", "mine and yours"),
    ],
)
def test_the_comparison_of_a_task_counts_in_whichever_file_it_stands(tmp_path, visible, held_out, joined):
    paths = {}
    for name, comparison in (("visible", visible), ("held_out", held_out)):
        row = {"task_id": "t", "entry_point": "f", "checks": [{"id": name, "args": "[1]", "expected": "1"}]}
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text(json.dumps({**row, "comparison": comparison}))
    (task,) = joined_tasks(SuitesConfig(**paths))
    assert task.comparison == joined
