"""Tables of scores from other systems: what is no score is counted and named, or the file is refused."""

import json
import math
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.store.records import RecordWriter
from evenhand.store.scores.columns import ScoreColumns
from evenhand.store.scores.tables import read_scores
from evenhand.store.scores.values import read_times
from evenhand.terms import Record

KEY = "sha256:" + "0" * 64
TEN_MORE = "\n".join(f"z{k},5" for k in range(10))


def written(folder, text, name="s.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder, text, name="s.csv", **columns):
    return read_scores(written(folder, text, name), ScoreColumns(**columns))


def refused(folder, text, name="s.csv", **columns):
    with pytest.raises(InvalidInput) as caught:
        read(folder, text, name, **columns)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{folder}/")


def test_columns_are_found_by_their_usual_names(tmp_path):
    table = read(tmp_path, "Item ID;Judge;Rating;Timestamp;gold\na;x;7,5;2026-01-02;3\nb;y;8;2026-01-03;\n")
    assert table.value.tolist() == [7.5, 8.0]
    assert table.columns == ScoreColumns(
        score=("Rating",), item=("Item ID",), judge="Judge", time="Timestamp", human="gold"
    )
    assert table.columns.unused == ()
    assert table.item.names == ("a", "b")
    assert [str(time)[:10] for time in table.time] == ["2026-01-02", "2026-01-03"]
    assert table.human[0] == 3
    assert math.isnan(table.human[1])
    assert table.notes == ("the columns are separated by semicolons",)


def test_columns_that_play_no_role_are_told_apart(tmp_path):
    table = read(tmp_path, "model,answer,points,when\nx,a,7,2026-01-02\n", judge="model")
    assert table.columns.named() == ("points", "model")
    assert table.columns.unused == ("answer", "when")


def test_a_byte_order_mark_crlf_and_quoted_line_breaks_change_nothing(tmp_path):
    table = read(tmp_path, b'\xef\xbb\xbfitem,score\r\n"a\r\nb",7\r\nc,8\r\n')
    assert table.item.names == ("a\r\nb", "c")
    assert table.value.tolist() == [7, 8]
    assert table.line.tolist() == [2, 4]


def test_what_is_no_score_is_counted_by_kind_with_its_line(tmp_path):
    table = read(tmp_path, f"item,score\na,seven\nb,\nc,inf\nd,NaN\nitem,score\ne,7,8\nf,1e999\ng,1_0\n{TEN_MORE}\n")
    assert table.counts() == {"scored": 10, "failed": 0, "abstained": 0, "missing": 2, "text": 2, "infinite": 2}
    assert [fault.sentence("s.csv") for fault in table.faults] == [
        "s.csv: 1 x the header once more (line 6: 'item')",
        "s.csv: 1 x another number of cells (line 7: 3 instead of 2)",
        "s.csv, column 'score': 2 x text where a number was expected (line 2: 'seven'; line 9: '1_0')",
        "s.csv, column 'score': 2 x a number that is infinite or beyond 1e15 (line 4: 'inf'; line 8: '1e999')",
    ]
    assert np.isnan(table.score).sum() == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.csv: the file is empty; expected a header line with column names"),
        ("item,score\n", "s.csv: holds no rows of scores; expected a header and a row for each score"),
        ("a,score,a\n1,2,3\n", "s.csv line 1: two columns are called 'a'; rename one of them"),
        ("7\n8\n", "s.csv line 1: the first line holds numbers ('7'), yet it should name the columns; put a header"),
        ("item,score\na,7\n\"b,8\nc,9\n", "s.csv: cannot be read as CSV from a row between lines 2 and 4 on"),
        ("item,score\na,good\nb,bad\nc,7\n", "s.csv line 2: column 'score' holds 'good', and text in 2 of 3 rows"),
        ('item,score\na,"7,5"\nb,"8,5"\n', "(a decimal comma? write 7.5, or separate the columns by semicolons)"),
        ("item,x,y\na,1,2\n", "s.csv: no column can be told to be the score; name it with --score (repeat it for"),
        ("item,score\na\nb\nc\nd,7\n", "3 of 4 rows cannot be read, the first in line 2 (another number of cells: 1"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_what_it_was_taken_for_is_refused_in_one_sentence(tmp_path, text, message):
    assert message in refused(tmp_path, text)


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    assert refused(tmp_path, "item,score\na,7\n", judge="who") == (
        "s.csv: --judge 'who': no such column; it has 'item', 'score'"
    )


def test_an_empty_name_turns_an_alias_off(tmp_path):
    assert read(tmp_path, "item,judge,score\na,x,7\n", judge="").judge is None


def test_json_lines_give_what_the_same_csv_gives(tmp_path):
    rows = [{"item": "a", "score": 7, "judge": "x"}, {"item": "b", "score": "8.5"}, {"item": "c", "score": None}]
    table = read(tmp_path, "\n".join(map(json.dumps, rows)), "s.jsonl")
    same = read(tmp_path, "item,score,judge\na,7,x\nb,8.5,\nc,,\n")
    assert np.array_equal(table.value, same.value, equal_nan=True)
    assert table.status.tolist() == same.status.tolist()
    assert table.judge.codes.tolist() == same.judge.codes.tolist() == [0, -1, -1]


def test_a_field_inside_another_is_named_with_a_dot(tmp_path):
    table = read(tmp_path, '{"r": {"score": 7}}\n{"r": 3}\n', "s.jsonl", score=("r.score",))
    assert table.counts()["scored"] == table.counts()["missing"] == 1


def test_a_torn_last_line_is_counted_and_the_rest_is_read(tmp_path):
    table = read(tmp_path, '{"score": 7}\n{"score": NaN}\n{"score": 8}\n{"sco', "s.jsonl")
    assert table.value[[0, 2]].tolist() == [7, 8]
    assert table.counts()["missing"] == 1
    assert table.faults[0].sentence("s").startswith("s: 1 x broken JSON (line 4: ")


def test_a_json_list_is_read_as_its_entries(tmp_path):
    assert read(tmp_path, '[{"score": 7},\n {"score": 8}]', "s.json").value.tolist() == [7, 8]


def test_parquet_gives_what_the_same_csv_gives(tmp_path):
    csv = pytest.importorskip("pyarrow.csv")
    parquet = pytest.importorskip("pyarrow.parquet")
    text = "item,judge,score,time,human\na,x,7,2026-01-02T03:04:05,1\nb,,8.5,2026-01-02T03:04:06,\nc,y,,,3\n"
    path = written(tmp_path, text)
    parquet.write_table(csv.read_csv(path), tmp_path / "s.parquet")
    table, same = read_scores(tmp_path / "s.parquet"), read_scores(path)
    assert np.array_equal(table.value, same.value, equal_nan=True)
    assert np.array_equal(table.human, same.human, equal_nan=True)
    assert np.array_equal(table.time, same.time, equal_nan=True)
    assert table.judge.names == same.judge.names == ("x", "y")
    assert table.judge.codes.tolist() == same.judge.codes.tolist()
    assert table.status.tolist() == same.status.tolist()


def test_a_failed_row_keeps_its_number_and_has_no_score(tmp_path):
    table = read(tmp_path, "score,error\n0,parse_error\n7,\n8,none\n")
    assert table.counts()["failed"] == 1
    assert table.value.tolist() == [0, 7, 8]
    assert math.isnan(table.score[0])


def test_pass_and_fail_are_one_and_nothing(tmp_path):
    assert read(tmp_path, "score\npass\nFail\npass\n").value.tolist() == [1, 0, 1]
    assert read(tmp_path, '{"score": true}\n{"score": false}\n', "s.jsonl").value.tolist() == [1, 0]


def test_several_score_columns_are_several_criteria(tmp_path):
    table = read(tmp_path, "a,b,item\n1,2,x\n3,,y\n", score=("a", "b"))
    assert table.criterion.names == ("a", "b")
    assert table.criterion.codes.tolist() == [0, 0, 1, 1]
    assert table.row.tolist() == [0, 1, 0, 1]
    assert (table.n, table.n_rows) == (4, 2)


def test_several_item_columns_name_an_item_together(tmp_path):
    table = read(tmp_path, "score,q,s\n1,x,1\n2,x,2\n3,x,1\n", item=("q", "s"))
    assert table.item.names == ("x / 1", "x / 2")
    assert table.item.codes.tolist() == [0, 1, 0]


def test_words_of_a_status_column_that_nobody_knows_are_said(tmp_path):
    table = read(tmp_path, "score,status\n1,ok\n2,queued\n3,timeout\n4,refused\n")
    assert table.counts() == {"scored": 2, "failed": 1, "abstained": 1, "missing": 0, "text": 0, "infinite": 0}
    assert table.notes == ("column 'status': not understood, and taken as scored: 'queued'",)


def test_a_text_that_is_no_time_is_counted(tmp_path):
    table = read(tmp_path, "score,time\n1,2026-01-02\n2,soon\n3,\n")
    assert np.isnat(table.time).tolist() == [False, True, True]
    assert table.faults[0].n == 1


@settings(deadline=None, max_examples=60)
@given(st.lists(st.datetimes(min_value=datetime(1900, 1, 1)), min_size=1, max_size=20))
def test_times_read_at_once_equal_those_read_one_by_one(times):
    texts = [time.replace(microsecond=0).isoformat() for time in times]
    assert read_times(texts).tolist() == [time.replace(microsecond=0) for time in times]
    exact = [time.isoformat(timespec="microseconds") + "Z" for time in times]
    assert read_times(exact).tolist() == times


@pytest.mark.parametrize("text", ["2026-02-30T00:00:00", "2026-13-01T00:00:00", "0000-01-01T00:00:00"])
def test_a_day_that_never_was_is_no_time(text):
    assert np.isnat(read_times([text, "2026-01-01T00:00:00"])).tolist() == [True, False]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=30))
def test_numbers_come_back_as_they_were_written(tmp_path_factory, numbers):
    folder = tmp_path_factory.mktemp("n")
    assert read(folder, "score\n" + "\n".join(map(repr, numbers)) + "\n").value.tolist() == numbers


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_in_one_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("b") / "s.csv"
    path.write_bytes(b"score\n" + data)
    try:
        table = read_scores(path)
    except InvalidInput as error:
        said = str(error)
    else:
        said = "" if sum(table.counts().values()) == table.n else "counts do not add up\n"
    assert "\n" not in said


def record(item, score, criteria=(), **changes):
    plain = Record(
        item=item, item_hash=KEY, metadata={}, member="m", rerun=0, status="verdict", score=score, exact=score,
        judge={"name": "j", "hash": KEY, "protocol": "number", "protocol_version": 1, "models": ["m"]},
        scale=(1, 5), criteria=criteria,
    )  # fmt: skip
    return replace(plain, **changes)


def test_records_are_known_by_their_schema(tmp_path):
    parts = ({"id": "a", "score": 1, "exact": 1.0}, {"id": "b", "score": 5, "exact": 5.0})
    cause = {"code": "empty", "message": "no text", "raw_key": None}
    failed = record("y", None, status="failed", scale=None, exact=None, cause=cause)
    with RecordWriter(tmp_path / "r.jsonl") as writer:
        writer.write(record("x", 3.0, parts))
        writer.write(failed)
    table = read_scores(tmp_path / "r.jsonl")
    assert table.is_records
    assert table.criterion.names == ("overall", "a", "b")
    assert table.overall == 0
    assert table.value[:3].tolist() == [3, 1, 5]
    assert (table.scale, table.counts()["failed"], table.judge.names) == ((1, 5), 1, ("j",))
    assert table.line.tolist() == [1, 1, 1, 2]


def test_a_panel_and_its_members_are_different_judges(tmp_path):
    with RecordWriter(tmp_path / "r.jsonl") as writer:
        writer.write(record("x", 3.0))
        writer.write(record("x", 4.0, member=None, panel={"rule": "mean", "size": 1, "members": []}))
    assert read_scores(tmp_path / "r.jsonl").judge.names == ("j (m)", "j")


def test_parquet_scores_in_lists_or_structs_are_refused_by_row(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    for cells in ([[1], [2], [3]], [{"v": 1}, {"v": 2}, None]):
        write_table(pa.table({"item": ["a", "b", "c"], "score": pa.array(cells)}), tmp_path / "s.parquet")
        with pytest.raises(InvalidInput, match=r"s\.parquet row 1: column 'score' holds"):
            read_scores(tmp_path / "s.parquet")


def test_a_compressed_table_is_named_so(tmp_path):
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 whatever follows")
    with pytest.raises(InvalidInput, match="the file is compressed with gzip; unpack it first"):
        read_scores(path)


def test_a_number_beyond_every_float_costs_its_line_and_is_called_so(tmp_path):
    lines = [*(f'{{"item": "i{k}", "score": {k}}}' for k in range(9)), '{"item": "j", "score": ' + "1" * 5000 + "}"]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    (fault,) = read_scores(tmp_path / "s.jsonl").faults
    assert "line 10: '1" in fault.sentence("s")
    assert "beyond the largest number" in fault.sentence("s")
