"""Folders of items: what is read lies inside, is text, and was put there as a candidate."""

import os
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.item_files.folders import mode_for, refuse_inside
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


def named_in_bytes(folder: Path, name: bytes) -> Path:
    """A path whose name no encoding of text has."""
    path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
    try:
        path.touch()
    except OSError:
        pytest.skip("this file system takes no such name")
    path.unlink()
    return path


def test_a_name_that_is_not_utf8_is_passed_over_and_named_and_stops_nobody_elses_item(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A"})
    named_in_bytes(tmp_path, b"b\xff.txt").write_text("B")
    named_in_bytes(tmp_path, b"c\xfe").mkdir()
    items = read_items(tmp_path)
    assert [item.id for item in items] == ["a.txt"]
    (note,) = items.notes
    assert "2 names are not UTF-8" in note
    assert r"'b\udcff.txt', 'c\udcfe'" in note


def test_a_judged_repository_whose_own_name_is_not_utf8_has_an_id_that_can_be_kept(tmp_path: Path) -> None:
    root = named_in_bytes(tmp_path, b"work\xff")
    root.mkdir()
    (root / "a.py").write_text("x = 1")
    assert [item.id for item in read_items(root, repositories="whole")] == [r"work\udcff"]


def test_a_path_too_long_for_the_system_is_passed_over_and_said(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a/ok.py": "A", "b/ok.py": "B"})
    before = Path.cwd()
    os.chdir(tmp_path / "b")
    try:
        for _ in range(18):
            Path("d" * 250).mkdir()
            os.chdir("d" * 250)
        Path("f.py").write_text("deep")
    finally:
        os.chdir(before)
    items = read_items(tmp_path, repositories="each")
    deep = next(item for item in items if item.id == "b")
    assert len(deep.metadata["skipped"]["unreadable"]) == 1
    assert "1 unreadable" in deep.candidate.split("\n")[0]
    assert [item.id for item in read_items(tmp_path, repositories="none")] == ["a/ok.py", "b/ok.py"]
    assert any("1 files or folders cannot be read" in note for note in read_items(tmp_path, repositories="none").notes)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX permissions")
def test_what_may_not_be_read_in_a_repository_is_passed_over_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path / "r", {"ok.py": "A", "secret.py": "B", "closed/c.py": "C", "plain/.gitignore": "x"})
    for path, mode in (("secret.py", 0o000), ("closed", 0o000), ("plain/.gitignore", 0o000)):
        (tmp_path / "r" / path).chmod(mode)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # so that no folder above is looked at
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        (whole,) = read_items("r", repositories="whole")
        names = [item.id for item in read_items("r", repositories="none")]
        assert mode_for("r", "repository") == "whole"
    finally:
        if root:
            os.seteuid(0)
        (tmp_path / "r" / "closed").chmod(0o755)
    assert whole.metadata["skipped"]["unreadable"] == ["closed", "plain/.gitignore", "secret.py"]
    assert names == ["ok.py"]


def test_a_mapping_means_nothing_to_a_folder(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": "A"})
    assert "leave --map out" in refused(tmp_path, mapping={"candidate": "x"})
