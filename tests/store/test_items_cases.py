"""The shared cases on item files, each as stated there; the kinds behind them are tested in test_items.py."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.items import read_items

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    return shared / "data" / "cases"


def case(cases: Path, name: str) -> dict[str, Any]:
    lines = (cases / "cases.jsonl").read_text("utf-8").split("\n")
    return next(found for line in lines if line and (found := json.loads(line))["id"] == name)


def refused(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_items(path)
    return str(caught.value)


def test_t055_line_separators_are_text(cases: Path) -> None:
    stated = case(cases, "T055")
    items = list(read_items(cases / stated["input"]["file"]))
    assert len(items) == stated["expected"]["n_items"]
    assert [item.candidate for item in items] == stated["expected"]["candidates"]


def test_t057_words_for_nothing_are_text(cases: Path) -> None:
    stated = case(cases, "T057")
    path = cases / stated["input"]["file"]
    assert "line 6 (id 'n5')" in refused(path)
    items = list(read_items(path, skip_empty=True))
    assert len(items) == stated["expected"]["n_items"]
    assert [item.candidate for item in items] == ["NA", "None", "null", "nan", "N/A", "-"]


def test_t059_a_spreadsheets_encoding_is_named(cases: Path) -> None:
    stated = case(cases, "T059")
    path = cases / stated["input"]["file"]
    message = refused(path)
    assert f"byte offset {stated['expected']['first_bad_byte_offset']} (0x96)" in message
    assert "--encoding cp1252" in message
    assert next(iter(read_items(path, encoding="cp1252"))).candidate == stated["expected"]["text_if_decoded"]


def test_t061_a_broken_line_has_the_files_number(cases: Path) -> None:
    stated = case(cases, "T061")
    message = refused(cases / stated["input"]["file"])
    assert f"line {stated['expected']['line']}, column" in message
    assert "'b'" in message


def test_t063_ids_are_text(cases: Path) -> None:
    stated = case(cases, "T063")
    items = list(read_items(cases / stated["input"]["items"]))
    grades = (cases / stated["input"]["grades"]).read_text("utf-8").splitlines()[1:]
    assert len(items) == stated["expected"]["n_items"]
    assert len({line.split(",")[0] for line in grades} & {item.id for item in items}) == stated["expected"]["matched"]


def test_t065_empty_texts_are_refused_by_line(cases: Path, tmp_path: Path) -> None:
    stated = case(cases, "T065")
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in stated["input"]["items"]), "utf-8")
    message = refused(path)
    assert all(f"line {line} " in message for line in stated["expected"]["lines"])
    assert "--skip-empty" in message


def test_t043_a_long_text_is_read_whole(cases: Path, tmp_path: Path) -> None:
    stated = case(cases, "T043")
    text = (cases / stated["input"]["items_file"]).read_text("utf-8")
    (tmp_path / "long.txt").write_text(text, "utf-8")
    (item,) = read_items(tmp_path)
    assert item.candidate == text
    assert len(item.candidate) == stated["expected"]["candidate_characters"]


def test_t049_links_are_never_followed(cases: Path, tmp_path: Path) -> None:
    stated = case(cases, "T049")
    repository = tmp_path / "repository"
    subprocess.run(["sh", cases / stated["input"]["build"], repository], check=True)
    for items in (read_items(repository), read_items(repository, repositories="none")):
        found = list(items)
        assert not any("top secret" in item.candidate for item in found)
        assert any("links" in note and "3" in note and "src/loop" in note for note in items.notes)
    assert sorted(item.id for item in found) == sorted(stated["expected"]["files_read"])


def test_the_shared_answers_are_read(shared: Path) -> None:
    assert len(read_items(shared / "data" / "texts" / "llmbar" / "items.jsonl")) == 838
