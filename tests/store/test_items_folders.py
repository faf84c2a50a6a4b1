"""Folders of items: what is read lies inside, is text, and was put there as a candidate."""

import os
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.item_folders import refuse_inside
from evenhand.store.items import read_items


def folder_of(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def refused(path: Path, **options: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_items(path, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_each_text_file_is_an_item_named_by_its_path(tmp_path: Path) -> None:
    folder_of(tmp_path, {"b.txt": "B", "a/x.md": "A\r\n", "a/b/c": "C", "z.json": '{"id": 1}'})
    items = read_items(tmp_path)
    assert [(item.id, item.candidate) for item in items] == [
        ("a/b/c", "C"),
        ("a/x.md", "A\r\n"),
        ("b.txt", "B"),
        ("z.json", '{"id": 1}'),
    ]
    assert len(items) == 4


def test_links_are_not_followed_and_are_named(tmp_path: Path) -> None:
    folder_of(tmp_path / "in", {"a.txt": "A"})
    folder_of(tmp_path, {"secret.txt": "secret"})
    (tmp_path / "in" / "out.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "in" / "loop").symlink_to(".")
    (tmp_path / "in" / "self").symlink_to("self")
    items = read_items(tmp_path / "in")
    assert [item.candidate for item in items] == ["A"]
    assert any("3 links are not followed: 'loop', 'out.txt', 'self'" in note for note in items.notes)


def test_the_folder_itself_may_be_a_link_since_the_caller_named_it(tmp_path: Path) -> None:
    folder_of(tmp_path / "real", {"a.txt": "A"})
    (tmp_path / "link").symlink_to("real")
    assert [item.id for item in read_items(tmp_path / "link")] == ["a.txt"]


def test_a_file_swapped_for_a_link_after_the_check_is_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "in", {"a.txt": "A"})
    folder_of(tmp_path, {"secret.txt": "secret"})
    items = read_items(tmp_path / "in")
    (tmp_path / "in" / "a.txt").unlink()
    (tmp_path / "in" / "a.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(InvalidInput, match="links are not followed"):
        list(items)


def test_binary_and_hidden_files_are_counted_and_passed_over(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A", "b.txt": b"x\0y", "c.pdf": "%PDF", ".hidden": "h", ".d/x": "x"})
    items = read_items(tmp_path)
    assert [item.id for item in items] == ["a.txt"]
    assert any("2 files are not text: 'b.txt', 'c.pdf'" in note for note in items.notes)
    assert any("2 hidden names" in note for note in items.notes)


def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A"})
    os.mkfifo(tmp_path / "pipe")
    items = read_items(tmp_path)
    assert len(items) == 1
    assert any("neither files nor folders: 'pipe'" in note for note in items.notes)


def test_text_in_another_encoding_is_refused_by_file(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A", "b.txt": b"caf\xe9"})
    message = refused(tmp_path)
    assert "b.txt line 1: byte offset 3 (0xe9)" in message
    assert "--encoding cp1252" in message
    assert [item.candidate for item in read_items(tmp_path, encoding="cp1252")] == ["A", "café"]


def test_an_empty_file_is_an_empty_candidate(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A", "b.txt": " \n"})
    assert "empty candidate in file 'b.txt'" in refused(tmp_path)
    assert [item.id for item in read_items(tmp_path, skip_empty=True)] == ["a.txt"]


def test_a_folder_without_text_holds_no_items(tmp_path: Path) -> None:
    assert "holds no items" in refused(tmp_path)


@pytest.mark.parametrize("name", [".env", "deep/er/.env", ".ENV", ".evenhand/evenhand.db", "x/.evenhand/evenhand.db"])
def test_settings_and_stores_that_candidates_bring_are_refused(tmp_path: Path, name: str) -> None:
    folder_of(tmp_path, {"a.txt": "A", name: "OPENAI_BASE_URL=http://elsewhere"})
    message = refused(tmp_path)
    assert "inside the judged folder" in message
    assert "elsewhere" not in message


def test_a_linked_setting_or_store_is_refused_as_well(tmp_path: Path) -> None:
    folder_of(tmp_path / "in", {"a.txt": "A"})
    (tmp_path / "in" / ".env").symlink_to(tmp_path / "other")
    assert "inside the judged folder" in refused(tmp_path / "in")


def test_a_path_inside_the_judged_folder_is_refused_by_its_real_place(tmp_path: Path) -> None:
    folder_of(tmp_path / "in", {"a.txt": "A"})
    (tmp_path / "link").symlink_to("in")
    for path in (tmp_path / "in" / "s.db", tmp_path / "link" / "s.db", tmp_path / "x" / ".." / "in" / "s.db"):
        with pytest.raises(InvalidInput, match="the store lies inside"):
            refuse_inside(tmp_path / "in", path, "the store")
    (tmp_path / "in" / "out.db").symlink_to(tmp_path / "s.db")
    with pytest.raises(InvalidInput, match="the store lies inside"):
        refuse_inside(tmp_path / "in", tmp_path / "in" / "out.db", "the store")
    refuse_inside(tmp_path / "in", tmp_path / "s.db", "the store")
    refuse_inside(tmp_path / "in" / "a.txt", tmp_path / "in" / "s.db", "the store")


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert "is not UTF-8" in refused(tmp_path)


def test_a_mapping_means_nothing_to_a_folder(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A"})
    assert "leave --map out" in refused(tmp_path, mapping={"candidate": "x"})
