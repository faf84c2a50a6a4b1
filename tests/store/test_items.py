"""Items as people bring them: what is read is exactly what stands there, and what cannot be judged is named by line."""

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.store.item_files.fields import field_mapping
from evenhand.store.items import read_items


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path | str, **options: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_items(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- fields --------------------------------------------------------------------------------------------------------


def test_every_field_and_the_rest_as_metadata(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "task": "t",
        "candidate": "c",
        "reference": "r",
        "context": "x",
        "system": "s",
        "n": [1, {"m": 2}],
    }
    (item,) = read_items(written(tmp_path, "i.jsonl", json.dumps(row)))
    assert (item.id, item.task, item.candidate, item.reference, item.context, item.system) == (
        "a",
        "t",
        "c",
        "r",
        "x",
        "s",
    )
    assert item.metadata == {"n": [1, {"m": 2}]}


@pytest.mark.parametrize("alias", ["input", "question", "prompt"])
@pytest.mark.parametrize("answer", ["output", "answer", "response"])
@pytest.mark.parametrize("gold", ["expected", "target", "ground_truth"])
def test_usual_names_are_understood(tmp_path: Path, alias: str, answer: str, gold: str) -> None:
    row = {"id": "a", alias: "t", answer: "c", gold: "r"}
    (item,) = read_items(written(tmp_path, "i.jsonl", json.dumps(row)))
    assert (item.task, item.candidate, item.reference, item.metadata) == ("t", "c", "r", {})


def test_a_mapping_names_the_column_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "key,essay,candidate\n1,text,other\n")
    (item,) = read_items(path, mapping={"id": "key", "candidate": "essay"})
    assert (item.id, item.candidate, item.metadata) == ("1", "text", {"candidate": "other"})


def test_the_canonical_name_wins_over_an_alias_and_this_is_said(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, "i.jsonl", '{"id": "a", "candidate": "c", "answer": "gold"}'))
    assert [(item.candidate, item.metadata) for item in items] == [("c", {"answer": "gold"})]
    assert any("'answer' is kept as metadata" in note for note in items.notes)


def test_two_aliases_of_one_field_are_refused_naming_both(tmp_path: Path) -> None:
    path = written(tmp_path, "i.jsonl", '{"id": "a", "output": "c", "answer": "d"}')
    message = refused(path)
    assert "line 1" in message
    assert "'output' and 'answer'" in message
    assert "--map candidate=output" in message
    (item,) = read_items(path, mapping={"candidate": "answer"})
    assert item.candidate == "d"


def test_map_arguments_are_checked() -> None:
    assert field_mapping(["candidate=a=b", "id=key"]) == {"candidate": "a=b", "id": "key"}
    for bad, said in (
        ("candidate", "expected field=column"),
        ("candidat=x", "did you mean 'candidate'"),
        ("id=", "expected field=column"),
    ):
        with pytest.raises(InvalidInput, match=said):
            field_mapping([bad])
    with pytest.raises(InvalidInput, match="cannot be both"):
        field_mapping(["id=x", "candidate=x"])


def test_a_mapping_to_no_column_is_refused(tmp_path: Path) -> None:
    message = refused(written(tmp_path, "i.csv", "id,candidate\n1,a\n"), mapping={"reference": "gold"})
    assert "'gold'" in message
    assert "'id', 'candidate'" in message


# --- ids are text --------------------------------------------------------------------------------------------------


def test_no_id_is_parsed_rounded_or_lower_cased(tmp_path: Path) -> None:
    ids = [
        "007",
        "7",
        "07",
        "1e3",
        "1000",
        "12345678901234567890",
        "12345678901234567891",
        "TRUE",
        "true",
        "1.0",
        "NaN",
    ]
    lines = "".join(f"{item_id},text\n" for item_id in ids)
    items = read_items(written(tmp_path, "i.csv", f"id,candidate\n{lines}"))
    assert [item.id for item in items] == ids


def test_numeric_json_ids_are_their_own_digits(tmp_path: Path) -> None:
    path = written(
        tmp_path, "i.jsonl", '{"id": 12345678901234567891, "candidate": "a"}\n{"id": -7, "candidate": "b"}\n'
    )
    assert [item.id for item in read_items(path)] == ["12345678901234567891", "-7"]


@pytest.mark.parametrize("written_id", ["1.0", "1e3", "true", "[1]", "{}"])
def test_an_id_that_is_no_text_is_refused(tmp_path: Path, written_id: str) -> None:
    assert "line 1" in refused(written(tmp_path, "i.jsonl", f'{{"id": {written_id}, "candidate": "a"}}'))


def test_spaces_around_ids_are_stripped_and_said(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, "i.csv", "id,candidate\n a ,x\n"))
    assert [item.id for item in items] == ["a"]
    assert any("' a ' in line 2" in note for note in items.notes)


def test_doubled_ids_are_named_by_both_lines(tmp_path: Path) -> None:
    lines = ['{"id": "a", "candidate": "x"}', "", '{"id": "b", "candidate": "x"}', '{"id": " a", "candidate": "x"}']
    message = refused(written(tmp_path, "i.jsonl", "\n".join(lines)))
    assert "'a' in line 1 and line 4" in message


def test_rows_without_any_id_are_numbered_and_this_is_said(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, "i.csv", "ID,candidate\nx,a\ny,b\n"))
    assert [item.id for item in items] == ["row-1", "row-2"]
    assert any("--map id=" in note and "'ID'" in note for note in items.notes)


def test_ids_in_some_rows_only_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "i.jsonl", '{"id": "a", "candidate": "x"}\n{"candidate": "y"}\n')
    assert "no id in line 2" in refused(path)


# --- candidates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["NA", "None", "null", "nan", "N/A", "-", "  x  ", "0", "\u2028x", "a\fb", "=1+1"])
def test_a_candidate_is_kept_to_the_last_character(tmp_path: Path, text: str) -> None:
    table = read_items(written(tmp_path, "i.csv", f'id,candidate\n1,"{text}"\n'))
    lines = read_items(written(tmp_path, "i.jsonl", json.dumps({"id": "1", "candidate": text}, ensure_ascii=False)))
    assert [item.candidate for item in table] == [text]
    assert [item.candidate for item in lines] == [text]


@pytest.mark.parametrize("blank", ["", "   ", "\n", "\u200b", " \ufeff\u00ad "])
def test_an_empty_candidate_is_refused_by_line_with_the_way_out(tmp_path: Path, blank: str) -> None:
    rows = [{"id": "a", "candidate": "x"}, {"id": "b", "candidate": blank}, {"id": "c"}, {"id": "d", "candidate": None}]
    message = refused(written(tmp_path, "i.jsonl", "\n".join(map(json.dumps, rows))))
    assert "line 2 (id 'b'), line 3 (id 'c'), line 4 (id 'd')" in message
    assert "--skip-empty" in message


def test_ten_empty_candidates_are_named_and_all_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"{n},\n" for n in range(25))
    message = refused(written(tmp_path, "i.csv", f"id,candidate\n{rows}99,x\n"))
    assert "line 11 " in message
    assert "line 12 " not in message
    assert "15 more (25 in all)" in message


def test_empty_candidates_can_be_left_out_and_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id,candidate\n1,a\n2,\n3,c\n4,d\n")
    items = read_items(path, skip_empty=True)
    assert [item.id for item in items] == ["1", "3", "4"]
    assert len(items) == 3
    assert any("line 3 (id '2')" in note for note in items.notes)
    assert [item.id for item in read_items(path, skip_empty=True, limit=2)] == ["1", "3"]


def test_a_file_of_empty_candidates_has_nothing_to_judge(tmp_path: Path) -> None:
    assert "no item to judge" in refused(written(tmp_path, "i.csv", "id,candidate\n1,\n"), skip_empty=True)


def test_a_file_without_a_candidate_column_says_what_it_has(tmp_path: Path) -> None:
    message = refused(written(tmp_path, "i.csv", "id,text\n1,a\n"))
    assert "'id', 'text'" in message
    assert "--map candidate=" in message


def test_a_candidate_of_five_megabytes_is_read_whole(tmp_path: Path) -> None:
    text = "word " * 1_000_000
    for path in (
        written(tmp_path, "i.jsonl", json.dumps({"id": "a", "candidate": text})),
        written(tmp_path, "i.csv", f'id,candidate\na,"{text}"\n'),
        written(tmp_path, "i.json", json.dumps([{"id": "a", "candidate": text}])),
    ):
        (item,) = read_items(path)
        assert item.candidate == text


def test_an_integer_answer_is_its_digits_and_a_float_is_refused(tmp_path: Path) -> None:
    (item,) = read_items(written(tmp_path, "i.jsonl", '{"id": "a", "answer": 42}'))
    assert item.candidate == "42"
    assert "1.1" in refused(written(tmp_path, "i.jsonl", '{"id": "a", "answer": 1.10}'))


# --- JSONL and JSON ------------------------------------------------------------------------------------------------


def test_a_broken_line_is_named_by_its_line_its_column_and_the_last_good_item(tmp_path: Path) -> None:
    good = '{"id": "a", "candidate": "x"}\n\n{"id": "b", "candidate": "y"}\n'
    message = refused(written(tmp_path, "i.jsonl", good + '{"id": "c", "candidate": "oops}\n{"id": "d"}\n'))
    assert "i.jsonl line 4, column 26" in message
    assert "the last good item is 'b' in line 3" in message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": 1, "n": NaN, "candidate": "NaN"}', "column 16: broken JSON (NaN is no JSON number"),
        ('{"id": 1, "n": -Infinity, "candidate": "x"}', "-Infinity is no JSON number"),
        ('{"id": 1, "candidate": "\\ud83d x"}', "column 25: broken JSON (a lone surrogate"),
        ('{"id": 1, "candidate": "x \\ude00"}', "a lone surrogate"),
        ('{"id": 1, "candidate": "a", "candidate": "b"}', "'candidate' stands twice"),
        ('{"id": 1, "m": {"k": 1, "k": 2}, "candidate": "a"}', "'k' stands twice"),
        ('{"id": 1, "candidate": "a\\u0000b"}', "NUL"),
        ('{"id": 1, "candidate": "a"} trailing', "Extra data"),
        ('"only text"', "expected a JSON object"),
        ('[{"id": 1, "candidate": "a"}]', "ends in .json"),
        ('{"id": 1, "candidate": ["a"]}', "a list"),
        ("[" * 5000, "column 201: broken JSON (nested too deep)"),
        ('{"id": 1, "candidate": "a", "m": ' + "[" * 200 + "]" * 200 + "}", "nested too deep"),
        ('{"id": ' + "1" * 5000 + ', "candidate": "a"}', "beyond the largest number"),
    ],
)
def test_what_is_no_item_is_refused_by_line(tmp_path: Path, line: str, said: str) -> None:
    message = refused(written(tmp_path, "i.jsonl", f'{{"id": "ok", "candidate": "x"}}\n{line}\n'))
    assert "i.jsonl line 2" in message
    assert said in message


def test_a_pair_of_surrogates_is_a_character(tmp_path: Path) -> None:
    (item,) = read_items(written(tmp_path, "i.jsonl", '{"id": "a", "candidate": "\\ud83d\\ude00"}'))
    assert item.candidate == "😀"


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    texts = ["a\u2028b", "a\u0085b", "a\u2029b", "a\x1cb", "a\x0bb"]
    lines = [json.dumps({"id": str(n), "candidate": text}, ensure_ascii=False) for n, text in enumerate(texts)]
    assert [item.candidate for item in read_items(written(tmp_path, "i.jsonl", "\r\n".join(lines)))] == texts


def test_a_json_list_and_an_object_with_items_are_read_alike(tmp_path: Path) -> None:
    rows = [{"id": "a", "candidate": "x"}, {"id": "b", "candidate": "x"}]
    for document in (rows, {"version": 1, "items": rows}):
        items = read_items(written(tmp_path, "i.json", json.dumps(document, indent=2)))
        assert [item.id for item in items] == ["a", "b"]
    assert any("'version' is left out" in note for note in items.notes)


def test_rows_of_a_json_list_are_named_by_the_line_they_begin_on(tmp_path: Path) -> None:
    text = '[\n{"id": "a", "candidate": "x"},\n\n{"id": "a",\n "candidate": "x"},\n{"id": "b", "candidate": ""}]'
    assert "line 2 and line 4" in refused(written(tmp_path, "i.json", text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": 1}\n{"id": 2}', "ends in .jsonl"),
        ("", "empty"),
        ("[]", "holds no items"),
        ('{"rows": []}', "'rows'"),
        ('[{"id": 1, "candidate": "a",}]', "line 1, column 28: broken JSON (a comma with nothing after it)"),
        ("12", "expected a JSON list"),
        ('{"items": {"a": 1}}', "expected a JSON list"),
    ],
)
def test_a_json_file_of_another_shape_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(written(tmp_path, "i.json", text))


# --- encodings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["i.jsonl", "i.json", "i.csv"])
def test_a_byte_order_mark_is_understood(tmp_path: Path, encoding: str, name: str) -> None:
    texts = {
        "i.jsonl": '{"id": "1", "candidate": "é\u2028😀"}\n',
        "i.json": '[{"id": "1", "candidate": "é\u2028😀"}]',
        "i.csv": "id,candidate\n1,é\u2028😀\n",
    }
    (item,) = read_items(written(tmp_path, name, texts[name].encode(encoding)))
    assert (item.id, item.candidate) == ("1", "é\u2028😀")


def test_bytes_that_are_not_utf8_are_named_with_offset_line_guess_and_way_out(tmp_path: Path) -> None:
    data = 'id,candidate\n1,"ok"\n2,"caf\xe9 \x96 5"\n'.encode("latin-1")
    path = written(tmp_path, "i.csv", data)
    message = refused(path)
    assert f"i.csv line 3: byte offset {data.index(0xE9)} (0xe9)" in message
    assert "--encoding cp1252" in message
    assert [item.candidate for item in read_items(path, encoding="cp1252")] == ["ok", "café – 5"]


@given(st.binary(min_size=1, max_size=8), st.integers(min_value=0, max_value=2_100_000))
@settings(deadline=None, max_examples=20)
def test_the_first_bad_byte_is_found_wherever_it_stands(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("bad") / "i.jsonl"
    padding = ("é" * (at // 2) + "a" * (at % 2)).encode()
    path.write_bytes(padding + b"\xff" + tail)
    assert f"byte offset {len(padding)} (0xff)" in refused(path)


def test_utf16_without_its_mark_is_guessed(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id,candidate\n1,text\n".encode("utf-16-le"))
    assert "--encoding utf-16-le" in refused(path)
    assert [item.candidate for item in read_items(path, encoding="utf-16-le")] == ["text"]


@pytest.mark.parametrize("name", ["i.csv", "i.jsonl"])
def test_a_nul_byte_is_named_by_line(tmp_path: Path, name: str) -> None:
    assert "line 3: a NUL byte" in refused(written(tmp_path, name, b"id,candidate\n1,a\n2,b\x00c\n" + b"3,d\n" * 500))


@pytest.mark.parametrize("encoding", ["rot13", "no-such", "zlib"])
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, encoding: str) -> None:
    assert "no such text encoding" in refused(written(tmp_path, "i.csv", "id,candidate\n1,a\n"), encoding=encoding)


def test_a_mark_that_contradicts_the_option_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id,candidate\n1,a\n".encode("utf-8-sig"))
    assert "leave --encoding out" in refused(path, encoding="cp1252")


# --- CSV -----------------------------------------------------------------------------------------------------------


def test_cells_may_hold_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", 'id,candidate\r\n1,"a, ""b""\r\nc"\r\n\r\n2,5" screen\r\n')
    assert [item.candidate for item in read_items(path)] == ['a, "b"\r\nc', '5" screen']


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id,candidate\n1,a\n2,"oops\n3,fine\n4,"x"\n', "line 3: a double quote opens here and closes in line 5"),
        ('id,candidate\n1,a\n2,"oops\n3,fine\n', "line 3: a double quote opens here and is not closed"),
        ('id,note,candidate\n1,"a\nb","oops\n2,c,fine\n', "line 3: a double quote opens here and is not closed"),
        ('id,candidate\n1,"a"b\n', "line 2: a double quote opens here and closes in line 2"),
        ("id,candidate\n1,a,b\n", "line 2: 3 cells, but the header names 2 columns"),
        ("id,candidate\n1,a\n2\n", "line 3: 1 cells, but the header names 2 columns"),
        ('id,candidate\n1,"a\n2,b"\n3,"x",y\n', "line 4: 3 cells"),
        ("id,candidate,id\n1,a,2\n", "columns 1 and 3 are both called 'id'"),
        ("", "the file is empty"),
        ("id,candidate\n", "holds no items"),
    ],
)
def test_a_broken_table_is_named_where_it_breaks(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(written(tmp_path, "i.csv", text))


@pytest.mark.parametrize(("delimiter", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_accepted_and_said(tmp_path: Path, delimiter: str, word: str) -> None:
    text = f"id{delimiter}candidate\n1{delimiter}a, b\n"
    items = read_items(written(tmp_path, "i.csv", text))
    assert [item.candidate for item in items] == ["a, b"]
    assert any(word in note for note in items.notes)


def test_a_column_without_a_name_is_called_by_its_position(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, "i.csv", ",id,candidate\n0,1,a\n"))
    assert [item.metadata for item in items] == [{"column_1": "0"}]
    assert any("column_1" in note for note in items.notes)


# --- Parquet -------------------------------------------------------------------------------------------------------


def test_parquet_rows_are_items(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from datetime import datetime
    from decimal import Decimal

    from pyarrow.parquet import write_table

    table = pa.table(
        {
            "id": pa.array([2**63 - 1, 7]),
            "response": ["a", "NaN"],
            "score": [0.5, float("nan")],
            "at": [datetime(2026, 1, 2), None],
            "price": [Decimal("1.10"), None],
        }
    )
    write_table(table, tmp_path / "i.parquet")
    items = list(read_items(tmp_path / "i.parquet"))
    assert [(item.id, item.candidate) for item in items] == [("9223372036854775807", "a"), ("7", "NaN")]
    assert items[0].metadata == {"score": 0.5, "at": "2026-01-02T00:00:00", "price": "1.10"}
    assert items[1].metadata == {"score": "nan", "at": None, "price": None}


def test_parquet_faults_are_named_by_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.table({"id": ["a", "b"], "candidate": ["x", None]}), tmp_path / "empty.parquet")
    assert "row 2 (id 'b')" in refused(tmp_path / "empty.parquet")
    write_table(pa.table({"id": [1.5], "candidate": ["x"]}), tmp_path / "float.parquet")
    assert "row 1: 'id'" in refused(tmp_path / "float.parquet")
    write_table(pa.table({"id": ["a"], "candidate": ["x"], "blob": [b"\xff"]}), tmp_path / "blob.parquet")
    assert "column 'blob' holds bytes" in refused(tmp_path / "blob.parquet")
    assert "cannot be read as Parquet" in refused(written(tmp_path, "no.parquet", "PAR1 not really"))


# --- sources -------------------------------------------------------------------------------------------------------


def test_standard_input_is_jsonl_and_can_be_walked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO(b'{"id": "a", "candidate": "x"}\n{"id": "b", "candidate": "y"}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    items = read_items("-")
    assert [item.id for item in items] == ["a", "b"]
    assert [item.id for item in items] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.jsonl", "no such file"),
        ("none.csv", "no such file"),
        ("none.parquet", "no such file"),
        ("none", "no such"),
    ],
)
def test_a_missing_file_is_one_sentence(tmp_path: Path, name: str, said: str) -> None:
    assert said in refused(tmp_path / name)


def test_an_empty_file_holds_no_items(tmp_path: Path) -> None:
    assert "holds no items" in refused(written(tmp_path, "i.jsonl", ""))
    assert "holds no items" in refused(written(tmp_path, "i.jsonl", "\n\n"))


def test_an_unknown_ending_is_refused_with_the_way_out(tmp_path: Path) -> None:
    assert "folder" in refused(written(tmp_path, "essay.docx", "x"))


def test_the_whole_file_is_checked_even_under_a_limit(tmp_path: Path) -> None:
    path = written(tmp_path, "i.csv", "id,candidate\n1,a\n2,b\n3,\n")
    assert "line 4" in refused(path, limit=1)
    assert "expected 1 or more" in refused(path, limit=0)
    good = written(tmp_path, "g.csv", "id,candidate\n1,a\n2,b\n")
    assert len(read_items(good, limit=1)) == 1
    assert [item.id for item in read_items(good, limit=1)] == ["1"]
    assert len(read_items(good, limit=9)) == 2


def test_a_file_that_changes_under_a_run_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "i.jsonl", '{"id": "a", "candidate": "x"}\n')
    items = read_items(path)
    written(tmp_path, "i.jsonl", '{"id": "a", "candidate": "other"}\n')
    with pytest.raises(InvalidInput, match="has changed"):
        list(items)


def test_control_characters_of_a_file_reach_no_message(tmp_path: Path) -> None:
    message = refused(written(tmp_path, "i.csv", "id,te\x1b[31mxt\n1,\x1b[31m\n"))
    assert "\x1b" not in message


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        ),
        min_size=1,
        max_size=6,
    )
)
@settings(deadline=None, max_examples=60)
def test_any_text_survives_jsonl_and_csv(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    import csv

    folder = tmp_path_factory.mktemp("texts")
    rows = [{"id": str(n), "candidate": f"x{candidate}", "note": note} for n, (candidate, note) in enumerate(texts)]
    (folder / "i.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8", newline=""
    )
    with (folder / "i.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "candidate", "note"], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    for name in ("i.jsonl", "i.csv"):
        found = [{"id": item.id, "candidate": item.candidate, **item.metadata} for item in read_items(folder / name)]
        assert found == rows
