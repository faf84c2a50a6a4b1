"""Records on disk: whole or not there, and equal when they are read back."""

import csv
import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput, StoreError
from evenhand.store.record_tables import spreadsheet_safe
from evenhand.store.records import RecordWriter, read_records, record_line
from evenhand.terms import Record, Usage

KEY = "sha256:" + "0" * 64
VERDICT = Record(
    item="007",
    item_hash=KEY,
    metadata={"n": [1, {"m": None}], "big": 12345678901234567891, "é": "\u2028"},
    judge={"name": "j", "hash": KEY, "protocol": "checklist", "protocol_version": 1, "models": ["openai/x"]},
    member="openai/x",
    rerun=0,
    status="verdict",
    score=0.7,
    exact=0.7,
    scale=(0, 1),
    criteria=(
        {
            "id": "spec",
            "weight": 1,
            "score": 0.7,
            "exact": 0.7,
            "scale": [0, 1],
            "checks": [
                {"id": "q", "passed": None, "quote": "", "quote_status": "absent", "span": None, "counted": True}
            ],
        },
    ),
    candidate_chars=12,
    usage=Usage(input_tokens=900, output_tokens=100),
    cost_usd=0.00012,
    keys=(KEY,),
    flags=("span",),
)
FAILED = replace(
    VERDICT,
    item="=cmd|' /C calc'!A0",
    status="failed",
    score=None,
    exact=None,
    scale=None,
    criteria=(),
    cost_usd=None,
    flags=(),
    cause={"code": "unreadable", "message": "+1 reply\nno JSON", "raw_key": KEY},
)
ABSTAINED = replace(FAILED, item="a", status="abstained", cause=None, reason="refusal", text="@I cannot")
RECORDS = [VERDICT, FAILED, ABSTAINED]


def written(path: Path, records: Iterable[Record]) -> Path:
    with RecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return path


def refused(folder: Path, *lines: str | bytes) -> str:
    path = folder / "r.jsonl"
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    with pytest.raises(InvalidInput) as caught:
        list(read_records(path))
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{folder}/")


def document(**changes: Any) -> str:
    plain: dict[str, Any] = {**json.loads(record_line(VERDICT)), **changes}
    return json.dumps({name: value for name, value in plain.items() if value != "absent"})


@pytest.mark.parametrize("name", ["r.jsonl", "r.parquet", "R.JSONL", "r.ndjson"])
def test_records_come_back_equal(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    assert list(read_records(written(tmp_path / name, RECORDS))) == RECORDS
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_record_is_one_line_in_one_order(tmp_path: Path) -> None:
    lines = written(tmp_path / "r.jsonl", RECORDS).read_bytes().split(b"\n")
    assert len(lines) == 4
    assert lines[3] == b""
    orders = {tuple(json.loads(line)) for line in lines[:3]}
    assert len(orders) == 1
    assert next(iter(orders))[:2] == ("schema", "item")


def test_an_unknown_cost_is_null_and_never_zero() -> None:
    assert json.loads(record_line(FAILED))["cost_usd"] is None


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_that_json_does_not_have_are_refused_not_lost(number: float) -> None:
    with pytest.raises(InvalidInput, match="exact of item '007'"):
        record_line(replace(VERDICT, exact=number))
    with pytest.raises(InvalidInput, match="score of item '007'"):
        record_line(replace(VERDICT, criteria=({"id": "spec", "score": number},)))


def test_a_csv_has_a_column_for_each_criterion_and_runs_no_formula(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", [FAILED, VERDICT, ABSTAINED])
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["status"] for row in rows] == ["failed", "verdict", "abstained"]
    assert rows[1]["item"] == "007"
    assert (rows[1]["score"], rows[1]["criterion.spec"], rows[1]["cost_usd"]) == ("0.7", "0.7", "0.00012")
    assert (rows[0]["score"], rows[0]["criterion.spec"], rows[0]["cost_usd"]) == ("", "", "")
    assert (rows[0]["item"], rows[0]["cause_message"]) == ("'=cmd|' /C calc'!A0", "'+1 reply\nno JSON")
    with pytest.raises(InvalidInput, match="only a part of each record"):
        list(read_records(path))


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd", "-cmd", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1", "-1+1", "+-1", "-", "--1"]
)
def test_what_a_spreadsheet_would_run_is_made_text(text: str) -> None:
    assert spreadsheet_safe(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=b", "-5", "+5", "-0.25", "007", "1e3", "plain"])
def test_numbers_and_plain_text_stay_as_they_are(text: str) -> None:
    assert spreadsheet_safe(text) == text


def test_many_records_keep_their_order_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    records = [replace(VERDICT, item=str(n)) for n in range(2500)]
    path = written(tmp_path / "r.parquet", records)
    assert [record.item for record in read_records(path)] == [str(n) for n in range(2500)]


# --- whole or untouched --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_the_target_is_untouched_until_the_end(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"r{suffix}"
    path.write_text("before")
    with RecordWriter(path) as writer:
        writer.write(VERDICT)
        assert path.read_text() == "before"
    assert path.read_bytes() != b"before"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_the_target_and_the_folder_as_they_were(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("before")

    def records_until_something_breaks() -> Iterator[Record]:
        yield VERDICT
        raise error

    with pytest.raises(error):
        written(path, records_until_something_breaks())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_abandoned_file_never_appears(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "r.csv") as writer:
        writer.write(VERDICT)
        writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_linked_target_is_written_where_the_link_points(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    written(tmp_path / "link.jsonl", RECORDS)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len(list(read_records(tmp_path / "real.jsonl"))) == 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("r.txt", "records are written to .jsonl, .csv or .parquet"),
        ("r", "records are written to"),
        ("no/such/r.jsonl", "cannot be written"),
        ("folder.jsonl", "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_named_before_anything_is_judged(
    tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(InvalidInput, match=said):
        RecordWriter(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").symlink_to("/dev/full")
    with pytest.raises(StoreError, match="No space left"):
        written(tmp_path / "r.jsonl", RECORDS)
    assert Path("/dev/full").is_char_device()


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").symlink_to(os.devnull)
    written(tmp_path / "r.jsonl", RECORDS)
    assert Path(os.devnull).is_char_device()


# --- reading -------------------------------------------------------------------------------------------------------


def test_a_record_without_its_optional_fields_has_their_defaults(tmp_path: Path) -> None:
    optional = ("panel", "candidate_chars", "usage", "cost_usd", "keys", "flags", "reason", "text", "cause")
    (tmp_path / "r.jsonl").write_text(document(**dict.fromkeys(optional, "absent")))
    (record,) = read_records(tmp_path / "r.jsonl")
    assert (record.cost_usd, record.usage, record.keys) == (None, Usage(), ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (document(schema="evenhand.record/2"), "the schema 'evenhand.record/2'; this version of evenhand reads"),
        (document(schema="absent"), "no schema"),
        (document(extra=1), "the field 'extra' is unknown"),
        (document(item="absent"), "the field 'item' is missing"),
        (document(item=7), "item: Expected `str`, got `int`"),
        (document(status="ok"), "status: Invalid enum value 'ok'"),
        (document(rerun="0"), "rerun: Expected `int`, got `str`"),
        (document(score=None), "status is 'verdict', yet score is null"),
        (document(status="failed"), "yet score is 0.7"),
        (document(status="failed", score=None), "a cause stands in failed records"),
        (document(cause={"code": "x"}), "a cause stands in failed records"),
        (document(usage={"input_tokens": "9"}), "usage.input_tokens: Expected"),
        ("[]", "expected a record"),
        ('{"schema": ', "column 12: broken JSON"),
        (document()[:-1] + ', "exact": NaN}', "NaN is no JSON number"),
    ],
)
def test_what_is_no_record_is_named_by_line(tmp_path: Path, line: str, said: str) -> None:
    message = refused(tmp_path, document(), "", line)
    assert message.startswith("r.jsonl line 3")
    assert said in message


def test_files_without_records_are_refused(tmp_path: Path) -> None:
    assert "holds no records" in refused(tmp_path, "")
    with pytest.raises(InvalidInput, match="no such file"):
        list(read_records(tmp_path / "none.jsonl"))


def test_another_parquet_file_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.table({"a": [1]}), tmp_path / "r.parquet")
    with pytest.raises(InvalidInput, match="no column 'record'"):
        list(read_records(tmp_path / "r.parquet"))


texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(texts, plain, max_size=4), texts, st.lists(texts, max_size=3))
@settings(deadline=None, max_examples=80)
def test_any_record_comes_back_equal(
    tmp_path_factory: pytest.TempPathFactory, metadata: dict[str, Any], item: str, flags: list[str]
) -> None:
    record = replace(VERDICT, metadata=metadata, item=item, flags=tuple(flags))
    path = written(tmp_path_factory.mktemp("records") / "r.jsonl", [record])
    assert list(read_records(path)) == [record]


CHECK = {"id": "q", "passed": True, "quote": "w", "quote_status": "exact", "span": [0, 1], "counted": True}
ITEM = {"claim": "c", "impact": 3, "quote": "w", "quote_status": "exact", "span": [0, 1], "counted": True}
MEMBER = {"member": "m", "status": "verdict", "calls": 1, "score": 1, "exact": 1.0}
PANEL = {"rule": "majority", "size": 1, "members": [MEMBER], "dissent": []}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"judge": {}}, "judge: Object missing required field `name`"),
        ({"judge": {"name": "j", "hash": KEY, "protocol": "number", "models": "m"}}, "judge.models: Expected `array`"),
        ({"criteria": [{}]}, "criteria[0]: Object missing required field `id`"),
        ({"criteria": [{"id": "c", "score": "9"}]}, "criteria[0].score: Expected `int | float | null`"),
        ({"criteria": [{"id": "c", "scale": [1]}]}, "criteria[0].scale: Expected `array` of length 2"),
        ({"criteria": [{"id": "c", "checks": [1]}]}, "criteria[0].checks[0]: Expected `object`"),
        ({"criteria": [{"id": "c", "checks": [{**CHECK, "quote": None}]}]}, "criteria[0].checks[0].quote: Expected"),
        ({"criteria": [{"id": "c", "items": [{**ITEM, "impact": 4}]}]}, "criteria[0].items[0].impact: Invalid enum"),
        ({"criteria": [{"id": "c", "items": [{**ITEM, "span": [1]}]}]}, "criteria[0].items[0].span: Expected `array`"),
        ({"criteria": [{"id": "c", "arithmetic": {"over_cap": 1}}]}, "criteria[0].arithmetic.over_cap: Expected"),
        ({"criteria": [{"id": "c", "arithmetic": {"buckets": [1]}}]}, "criteria[0].arithmetic.buckets[0]: Expected"),
        ({"criteria": [{"id": "c", "label": "a", "orders": []}]}, "criteria[0].orders: Expected `array` of length 2"),
        ({"member": None}, "member: Expected a member or a panel"),
        ({"panel": {**PANEL, "members": [{"member": "m", "status": "failed"}]}}, "panel.members[0]: Object missing"),
        ({"panel": {**PANEL, "dissent": ["m"]}}, "panel.dissent[0]: Expected `object`"),
        ({"panel": {**PANEL, "escalation": {"escalated": 1}}}, "panel.escalation.escalated: Expected `bool`"),
    ],
)
def test_an_inner_part_that_no_judge_writes_is_named_by_its_place(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    assert refused(tmp_path, document(**changes)).startswith(f"r.jsonl line 1: {said}")


def test_a_pair_without_a_label_of_pairs_is_refused(tmp_path: Path) -> None:
    orders = [{"first": "a", "better": "first"}, {"first": "b", "better": "tie"}]
    line = document(criteria=[{"id": "c", "label": "equal", "orders": orders}])
    assert "criteria[0].label: Expected a, b or tie" in refused(tmp_path, line)


def test_a_failure_names_its_cause(tmp_path: Path) -> None:
    line = document(status="failed", score=None, exact=None, cause={"code": 1, "message": "m"})
    assert "cause.code: Expected `str`, got `int`" in refused(tmp_path, line)
