import json

import pytest

from evenhand.store.items import read_items


@pytest.fixture
def one(tmp_path):
    """Reads a file of one row."""

    def read(row, **how):
        path = tmp_path / "items.jsonl"
        path.write_text(json.dumps(row), encoding="utf-8")
        (item,) = read_items(path, **how)
        return item

    return read


def test_two_candidates_in_a_row_are_a_pair(one):
    item = one({"id": "p", "task": "t", "candidate_a": "A.", "candidate_b": "B.", "preferred": "a"})
    assert (item.candidate, item.sources) == ("A.", {"candidate_b": "B."})
    assert item.metadata == {"preferred": "a"}


@pytest.mark.parametrize("stem", ["output", "answer", "response"])
def test_usual_names_make_a_pair_too(one, stem):
    item = one({"id": "p", f"{stem}_a": "A.", f"{stem}_b": "B."})
    assert (item.candidate, item.sources) == ("A.", {"candidate_b": "B."})


def test_the_systems_of_a_pair_are_kept(one):
    item = one({"id": "p", "candidate_a": "A.", "candidate_b": "B.", "system_a": "x", "system_b": "y"})
    assert (item.system, item.metadata) == ("x", {"system_b": "y"})


def test_a_row_with_a_candidate_is_as_it_was_whatever_stands_beside_it(one):
    item = one({"id": "p", "candidate": "C.", "candidate_a": "A.", "candidate_b": "B.", "system_a": "x"})
    assert (item.candidate, item.sources, item.system) == ("C.", {}, None)
    assert item.metadata == {"candidate_a": "A.", "candidate_b": "B.", "system_a": "x"}


def test_a_mapping_picks_one_of_two_or_names_both(one):
    row = {"id": "p", "candidate_a": "A.", "candidate_b": "B."}
    alone = one(row, mapping={"candidate": "candidate_b"})
    assert (alone.candidate, alone.sources) == ("B.", {})
    both = one({"id": "p", "left": "L.", "right": "R."}, mapping={"candidate": "left", "source:candidate_b": "right"})
    assert (both.candidate, both.sources) == ("L.", {"candidate_b": "R."})
