"""Further texts of a candidate: what is a source, what is none, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InvalidInput
from evenhand.identity import item_hash
from evenhand.repository_text import RepositoryText
from evenhand.store.item_files.fields import field_mapping
from evenhand.store.items import Items, read_items
from evenhand.terms import Item


def items_of(folder: Path, text: str, name: str = "items.jsonl", **options: Any) -> Items:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_items(path, **options)


def refused(folder: Path, text: str, name: str = "items.jsonl", **options: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        items_of(folder, text, name, **options)
    return str(caught.value)


def folder_of(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


# --- rows ----------------------------------------------------------------------------------------------------------


def test_an_object_of_texts_is_the_sources(tmp_path: Path) -> None:
    row = '{"id": "a", "candidate": "c", "sources": {"demo": " 0:01 hello\\n", "pages": 12, "none": null}, "k": 1}\n'
    (item,) = items = items_of(tmp_path, row)
    assert item.sources == {"demo": " 0:01 hello\n", "pages": "12"}
    assert item.metadata == {"k": 1}
    assert items.notes == ()


def test_a_column_may_hold_one_source(tmp_path: Path) -> None:
    table = "id,candidate,source:demo,source: the report ,k\na,c,d,r,1\nb,c,,r,2\n"
    first, second = items = items_of(tmp_path, table, "items.csv")
    assert first.sources == {"demo": "d", "the report": "r"}
    assert second.sources == {"the report": "r"}
    assert first.metadata == {"k": "1"}
    assert [note.removeprefix(f"{tmp_path}/") for note in items.notes] == [
        "items.csv: blank sources are left out: 'demo' in 1 item"
    ]


def test_a_parquet_struct_and_column_are_sources(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'evenhand[parquet]'")
    from pyarrow import parquet

    rows = [
        {"id": "a", "candidate": "c", "sources": {"demo": "d", "report": None}, "source:x": "y"},
        {"id": "b", "candidate": "c", "sources": None, "source:x": None},
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "items.parquet")
    items = read_items(tmp_path / "items.parquet")
    assert [item.sources for item in items] == [{"demo": "d", "x": "y"}, {}]
    assert [item.metadata for item in items] == [{}, {}]
    assert items.notes == ()


def test_any_column_can_be_mapped_to_a_source(tmp_path: Path) -> None:
    row = '{"candidate": "c", "transcript": "t", "texts": {"report": "r"}}\n'
    mapping = field_mapping(["source:demo=transcript", "sources=texts"])
    (item,) = items_of(tmp_path, row, mapping=mapping)
    assert item.sources == {"demo": "t", "report": "r"}
    assert item.metadata == {}


def test_a_mapped_column_goes_before_one_of_that_name(tmp_path: Path) -> None:
    row = '{"candidate": "c", "source:demo": "own", "transcript": "mapped"}\n'
    (item,) = items_of(tmp_path, row, mapping={"source:demo": "transcript"})
    assert item.sources == {"demo": "mapped"}


@pytest.mark.parametrize("value", ['["https://h/1"]', '"wikipedia"', "3", "[]", "false"])
def test_sources_in_another_sense_stay_metadata(tmp_path: Path, value: str) -> None:
    (item,) = items = items_of(tmp_path, f'{{"candidate": "c", "sources": {value}, "k": 1}}\n')
    assert item.sources == {}
    assert list(item.metadata) == ["sources", "k"]
    assert any("'sources' is kept as metadata where it is no object of name to text" in note for note in items.notes)


def test_blank_sources_are_counted_once_however_often_items_are_read(tmp_path: Path) -> None:
    rows = "".join(f'{{"candidate": "c", "sources": {{"demo": "{text}", "x": "y"}}}}\n' for text in ("", " ", "d"))
    items = items_of(tmp_path, rows)
    assert [dict(item.sources) for _ in range(2) for item in items] == [
        {"x": "y"},
        {"x": "y"},
        {"demo": "d", "x": "y"},
    ] * 2
    assert sum("'demo' in 2 items" in note for note in items.notes) == 1


def test_a_source_changes_an_items_hash_and_an_empty_one_does_not(tmp_path: Path) -> None:
    rows = ['{"candidate": "c"}', '{"candidate": "c", "sources": {"a": " "}}', '{"candidate": "c", "sources": {}}']
    assert {item_hash(item) for item in items_of(tmp_path, "\n".join(rows))} == {item_hash(Item(id="x", candidate="c"))}
    texts = ({"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "1"})
    assert len({item_hash(Item(id="x", candidate="c", sources=sources)) for sources in texts}) == 4
    one, other = {"a": "1", "b": "2"}, {"b": "2", "a": "1"}
    assert item_hash(Item(id="x", candidate="c", sources=one)) == item_hash(Item(id="x", candidate="c", sources=other))


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ('{"demo": ["a"]}', "'sources.demo' (a source) is a list; text was expected"),
        ('{"demo": 1.5}', "write it in quotation marks"),
        ('{"demo": "a\\u0000"}', "holds a NUL"),
        ('{"candidate": "a"}', "'candidate' is a field of the item itself"),
        ('{" task": "a"}', "'task' is a field of the item itself"),
        ('{"": "a"}', "is no name for a source"),
        ('{"a\\u001b[2J": "a"}', "is no name for a source"),
        ('{"a": "x", "a ": "y"}', "the source 'a' stands here twice"),
        ('{"demo": "a"}, "source:demo": "b"', "the source 'demo' stands here twice (source:demo)"),
    ],
)
def test_a_faulty_source_is_named_by_line(tmp_path: Path, sources: str, said: str) -> None:
    message = refused(tmp_path, f'{{"candidate": "c"}}\n{{"candidate": "c", "sources": {sources}}}\n')
    assert "items.jsonl line 2: " in message
    assert said in message
    assert message.isprintable()


def test_a_column_that_names_a_field_as_a_source_is_refused(tmp_path: Path) -> None:
    assert "'context' is a field" in refused(tmp_path, "candidate,source:context\nc,x\n", "items.csv")


def test_a_mapping_to_sources_is_checked(tmp_path: Path) -> None:
    row = '{"candidate": "c", "x": ["a"]}\n'
    assert "no object of name to text" in refused(tmp_path, row, mapping={"sources": "x"})
    assert "no row has a field 'y'" in refused(tmp_path, row, mapping={"source:demo": "y"})
    with pytest.raises(InvalidInput, match="is a field of the item itself"):
        field_mapping(["source:task=x"])
    with pytest.raises(InvalidInput, match="or source:NAME"):
        field_mapping(["source:=x"])


# --- folders -------------------------------------------------------------------------------------------------------


def test_folders_with_a_candidate_each_are_items(tmp_path: Path) -> None:
    folder_of(
        tmp_path,
        {
            "bob/candidate.md": "B\n",
            "alice/Candidate.txt": "A",
            "alice/task.txt": "T",
            "alice/reference.md": "R",
            "alice/context.md": "X",
            "alice/system.txt": "model-1\n",
            "alice/demo.srt": "0:01 hello",
            "alice/design.v2.md": "D",
        },
    )
    alice, bob = items = read_items(tmp_path)
    assert alice == Item(
        id="alice",
        candidate="A",
        task="T",
        reference="R",
        context="X",
        system="model-1",
        sources={"demo": "0:01 hello", "design.v2": "D"},
    )
    assert bob == Item(id="bob", candidate="B\n")
    assert (len(items), items.notes) == (2, ())


def test_folders_without_a_candidate_are_read_file_by_file(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a/demo.md": "D", "a/task.md": "T", "b/c/candidate.md": "deep"})
    assert [item.id for item in read_items(tmp_path)] == ["a/demo.md", "a/task.md", "b/c/candidate.md"]


def test_a_candidate_at_the_top_is_one_file_among_others(tmp_path: Path) -> None:
    folder_of(tmp_path, {"candidate.md": "A", "demo.md": "D", "sub/x.md": "X"})
    assert [item.id for item in read_items(tmp_path)] == ["candidate.md", "demo.md", "sub/x.md"]


def test_a_folder_without_a_candidate_among_such_is_refused(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a/candidate.md": "A",
        "b/demo.md": "B",
        "c/x/candidate.md": "C",
        "d/candidate.pdf": "%PDF",
    }
    with pytest.raises(InvalidInput) as caught:
        read_items(folder_of(tmp_path, files))
    message = str(caught.value)
    assert "'a/candidate.md' makes its folder one item" in message
    assert "lies in 'b', 'c', 'd';" in message


def test_two_files_for_one_part_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'a/api\.md' and 'a/api\.txt' are both the api of one item"):
        read_items(folder_of(tmp_path / "1", {"a/api.md": "1", "a/api.txt": "2", "a/candidate.md": "A"}))
    with pytest.raises(InvalidInput, match="are both the candidate"):
        read_items(folder_of(tmp_path / "2", {"a/candidate.md": "1", "a/candidate.txt": "2"}))
    with pytest.raises(InvalidInput, match="'id' is a field of the item itself"):
        read_items(folder_of(tmp_path / "3", {"a/candidate.md": "1", "a/id.txt": "2"}))


def test_what_is_not_read_beside_and_inside_items_is_said(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "r",
        "a/candidate.md": "A",
        "a/img/notes.txt": "n",
        "a/demo.mp4": b"\0",
        "a/doc.md": " \n",
    }
    (item,) = items = read_items(folder_of(tmp_path, files))
    assert item == Item(id="a", candidate="A")
    notes = " ".join(items.notes)
    assert "1 files lie beside the folders that are items, and are not read: 'README.md'" in notes
    assert "'a/img/notes.txt'" in notes
    assert "files are not text: 'a/demo.mp4'" in notes
    assert "blank sources are left out: 'doc' in 1 item" in notes


def test_an_empty_candidate_in_a_folder_is_named_by_its_file(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a/candidate.md": " ", "b/candidate.md": "B"})
    with pytest.raises(InvalidInput, match=r"empty candidate in file 'a/candidate\.md'"):
        read_items(tmp_path)
    assert [item.id for item in read_items(tmp_path, skip_empty=True)] == ["b"]


def test_a_repository_can_be_the_candidate_and_have_a_demo(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a/candidate/.git/HEAD": "x",
        "a/candidate/src/m.py": "m = 1\n",
        "a/candidate/logo.png": b"\0",
        "a/demo.md": "0:01 it runs",
        "other/.git/HEAD": "x",
        "other/candidate.py": "c = 1\n",
    }
    first, second = read_items(folder_of(tmp_path, files))
    assert (first.id, first.sources) == ("a", {"demo": "0:01 it runs"})
    assert first.metadata == {"n_files": 1, "skipped": {"not text": ["logo.png"]}}
    for item, path, text in ((first, "src/m.py", "m = 1"), (second, "candidate.py", "c = 1")):
        files_of = RepositoryText.of(item.candidate)
        assert files_of is not None
        at = item.candidate.index(text)
        assert files_of.place((at, at + len(text))) == f"{path}:1"
    assert second.id == "other"


def test_a_repository_with_candidate_files_stays_one_item(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {".git/HEAD": "x", "a/candidate.py": "1\n", "b/x.py": "2\n"}
    (item,) = read_items(folder_of(tmp_path / "repo", files))
    assert item.id == "repo"


def test_settings_inside_an_item_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="inside the judged folder"):
        read_items(folder_of(tmp_path, {"a/candidate.md": "A", "a/.env": "X=1"}))
