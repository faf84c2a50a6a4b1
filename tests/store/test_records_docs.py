"""The examples on the pages about files are what they say: items, a judge, a record."""

import json
import re
from dataclasses import fields
from pathlib import Path

from evenhand.store.items import read_items
from evenhand.store.judge_files import read_judge
from evenhand.store.records import read_records, record_line
from evenhand.terms import Record


def example(page: Path, language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    assert found is not None
    return found[1]


def test_the_example_item_and_judge_can_be_read(root: Path, tmp_path: Path) -> None:
    page = root / "docs" / "files.md"
    (tmp_path / "items.jsonl").write_text(example(page, "json"), "utf-8")
    (tmp_path / "judge.yaml").write_text(example(page, "yaml"), "utf-8")
    assert [item.id for item in read_items(tmp_path / "items.jsonl")] == ["q-007"]
    assert read_judge(tmp_path / "judge.yaml").name == "interview-specificity"


def test_the_example_record_is_one_and_is_written_the_same(root: Path, tmp_path: Path) -> None:
    line = example(root / "docs" / "records.md", "json")
    (tmp_path / "r.jsonl").write_text(line, "utf-8")
    (record,) = read_records(tmp_path / "r.jsonl")
    assert record_line(record).decode() == line
    candidate = "I moved the backup to 03:30, and failures fell from 9 to 0."
    check = record.criteria[0]["checks"][0]
    assert candidate[slice(*check["span"])] == check["quote"]
    assert record.candidate_chars == len(candidate)


def test_every_field_of_a_record_is_described(root: Path) -> None:
    page = (root / "docs" / "records.md").read_text("utf-8")
    described = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert {field.name for field in fields(Record)} <= set(described)
    only_if_set = {"feedback"}
    shown = set(json.loads(example(root / "docs" / "records.md", "json")))
    assert shown == {field.name for field in fields(Record)} - only_if_set
