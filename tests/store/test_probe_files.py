"""Items of a probe and runs made elsewhere, as files hold them."""

import json
import os

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.probe_files import probe_domain, probe_domains, read_probe_items, read_runs

GOOD = {"name": "prose", "scale_min": 1, "scale_max": 10, "items": ["one", "two"]}


def written(folder, document, name="items.json"):
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("domain", ["business-idea", "code-readability", "headline", "prose"])
def test_each_domain_ships_twenty_different_items_on_one_to_ten(domain):
    found = probe_domain(domain)
    assert len(set(found.items)) == 20
    assert (found.scale_min, found.scale_max) == (1, 10)
    assert found.name == domain.replace("-", " ")
    assert domain in probe_domains()


def test_an_unknown_domain_names_those_that_ship():
    with pytest.raises(InvalidInput, match=r"--domain 'poetry'.*headline, prose.*--items FILE"):
        probe_domain("poetry")


def test_own_items_are_read_in_the_same_form(tmp_path):
    found = read_probe_items(written(tmp_path, GOOD))
    assert (found.name, found.scale_min, found.scale_max, found.items) == ("prose", 1, 10, ("one", "two"))
    yaml = "name: prose\nscale_min: 0\nscale_max: 4\nitems: [one, two]\n"
    assert read_probe_items(written(tmp_path, yaml, "items.yaml")).scale_max == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": ["one"]}, "1 item; expected 2 to 1000"),
        ({"items": ["one", "one"]}, "the same text as"),
        ({"items": ["one", ""]}, "empty"),
        ({"items": ["one", None]}, "expected text"),
        ({"items": ["one", {"text": "two"}]}, "expected text"),
        ({"items": "one"}, "expected a list"),
        ({"scale_max": 1}, "runs from 1 to 1"),
        ({"scale_max": 10.5}, "whole number"),
        ({"scale_min": "1"}, "whole number"),
        ({"name": "two\nlines"}, "one line"),
        ({"name": "x" * 200}, "one line"),
        ({"name": None}, "name: missing"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"title": "x"}, "name"),
    ],
)
def test_items_that_cannot_be_used_are_refused_by_place(tmp_path, change, message):
    path = written(tmp_path, {**GOOD, **change})
    with pytest.raises(InvalidInput, match=message) as refused:
        read_probe_items(path)
    assert str(refused.value).startswith(str(path))


def test_runs_come_in_the_order_of_their_names_and_other_files_are_left_alone(tmp_path):
    for name in ("run-002.json", "run-001.json", "notes.json", "run.json"):
        written(tmp_path, {"scores": [len(name)]}, name)
    assert [run.name for run in read_runs(tmp_path)] == ["run-001.json", "run-002.json"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"scores": [1, 2', "no JSON"),
        ("", "no JSON"),
        ('{"scores": [1], "scores": [2]}', "twice"),
        ("[" * 100_000, "too deeply"),
        ('{"scores": [' + "9" * 5000 + "]}", "digits"),
    ],
)
def test_a_broken_run_is_one_that_could_not_be_read(tmp_path, text, problem):
    written(tmp_path, text, "run-001.json")
    (run,) = read_runs(tmp_path)
    assert run.document is None
    assert problem in run.problem


def test_bytes_folders_pipes_and_huge_files_are_no_runs(tmp_path):
    (tmp_path / "run-001.json").write_bytes(b'{"scores": ["\xff"]}')
    (tmp_path / "run-002.json").mkdir()
    os.mkfifo(tmp_path / "run-003.json")
    (tmp_path / "run-004.json").symlink_to("nowhere")
    (tmp_path / "run-005.json").write_text(" " * (1 << 21))
    assert all(run.document is None and run.problem for run in read_runs(tmp_path))


def test_a_folder_without_runs_and_no_folder_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="holds no run"):
        read_runs(tmp_path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_runs(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_runs(written(tmp_path, GOOD))
