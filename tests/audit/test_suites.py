"""Files of tasks: what cannot be used is one sentence with its place."""

import json
from pathlib import Path

import pytest

from evenhand.audit.suites import read_tasks
from evenhand.errors import InvalidInput

CHECK = {"id": "b0", "args": "[1, 'a']", "expected": "(1, 2.5)"}
TASK = {"task_id": "t1", "entry_point": "f", "visible_checks": [CHECK], "heldout_checks": [{**CHECK, "id": "h0"}]}


def read(path: Path, *rows: dict[str, object]):  # type: ignore[no-untyped-def]
    (path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_tasks(path / "tasks.jsonl")


def test_arguments_and_values_are_read_as_literals(tmp_path: Path) -> None:
    [task] = read(tmp_path, TASK)
    assert task.visible[0].args == (1, "a")
    assert task.held_out[0].expected == (1, 2.5)


def test_a_task_with_no_checks_at_all_is_read(tmp_path: Path) -> None:
    [task] = read(tmp_path, {"task_id": "t1", "entry_point": "f"})
    assert task.visible == task.held_out == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"visible_checks": [CHECK, CHECK]}, r"has the check 'b0' twice; ids must differ"),
        (
            {"visible_checks": [{**CHECK, "expected": "open('x')"}]},
            r"visible_checks\[0\]\.expected .* no Python literal",
        ),
        ({"heldout_checks": [{**CHECK, "expected": "(" * 300 + ")" * 300}]}, r"heldout_checks\[0\]\.expected"),
        ({"heldout_checks": [{**CHECK, "args": "1"}]}, r"args .* a list of arguments"),
        ({"heldout_checks": [{"id": "h"}]}, r"args is missing"),
        ({"heldout_checks": ["x"]}, r"expected an object"),
        ({"heldout_checks": "x"}, r"expected a list of checks"),
        ({"entry_point": "not a name"}, r"expected the name of a function"),
        ({"entry_point": "class"}, r"expected the name of a function"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path: Path, change: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        read(tmp_path, {**TASK, **change})
    assert "tasks.jsonl line 1" in str(caught.value)


def test_a_task_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"line 2: the task 't1' stands in .*line 1 already"):
        read(tmp_path, TASK, TASK)


@pytest.mark.parametrize("atol", ["0.1", True, -1, [1], 10**400])
def test_a_tolerance_that_is_no_number_is_refused_and_not_left_out(tmp_path, atol):
    path = tmp_path / "tasks.jsonl"
    row = {"task_id": "t", "entry_point": "f", "atol": atol, "visible_checks": [], "heldout_checks": []}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InvalidInput, match=r"atol is .*; expected a number of at least 0"):
        read_tasks(path)


@pytest.mark.parametrize("expected", ["{[1]}", "{[]: 1}", "[" * 98 + "]" * 98 + "["])
def test_a_literal_that_python_cannot_hold_is_no_literal(tmp_path, expected):
    path = tmp_path / "tasks.jsonl"
    check = {"id": "a", "args": "[1]", "expected": expected}
    path.write_text(json.dumps({"task_id": "t", "entry_point": "f", "visible_checks": [check]}) + "\n")
    with pytest.raises(InvalidInput, match="is no Python literal"):
        read_tasks(path)
