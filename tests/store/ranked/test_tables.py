"""Published tables: every number with what its print says, and nothing dropped or replaced in silence."""

import contextlib
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.store.ranked.cells import cell_reader
from evenhand.store.ranked.tables import TableSettings, read_ranked_table

ROWS = "system,a,b,score\nx,1.5,2,3.5\ny,2.5,3,5.5\nz,4.5,1,5.5\n"


def written(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(folder, text, file="t.csv", **options):
    return read_ranked_table(written(folder, text, file), TableSettings(**options))


def refused(folder, text, file="t.csv", **options):
    with pytest.raises(InvalidInput) as caught:
        read(folder, text, file, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{folder}/")


def values(table, column):
    return table.columns[column].values.tolist()


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("62.50", 62.5, 2),
        ("1,234", 1234, 0),
        ("1,234,567.8", 1234567.8, 1),
        ("1\u202f234", 1234, 0),
        ("1'234", 1234, 0),
        ("64%", 64, 0),
        ("64.1 %", 64.1, 1),
        ("$1,200", 1200, 0),
        ("12 ms", 12, 0),
        ("−0.5", -0.5, 1),
        ("+3", 3, 0),
        ("71.3*", 71.3, 1),
        ("71.3†‡", 71.3, 1),
        ("71.3¹", 71.3, 1),
        ("71.3 [2]", 71.3, 1),
        ("71.3 (0.4)", 71.3, 1),
        ("**71.3**", 71.3, 1),
        ("~71.3", 71.3, 1),
        ("1.25e-3", 0.00125, 5),
        ("1.2e3", 1200, -2),
        (".5", 0.5, 1),
        ("5.", 5, 0),
        ("94/92", 93, 0),
        ("94.2/92.3", 93.25, 1),
        ("62.5 ± 0.4", 62.5, 1),
        ("62.5+/-0.4", 62.5, 1),
        ("62.5±0.4%", 62.5, 1),
        ("62.5 (±0.4)", 62.5, 1),
        ("94%/92%", 93, 0),
        ("3rd", 3, 0),
    ],
)
def test_a_number_is_read_with_its_printed_decimals(text, value, decimals):
    cell = cell_reader()(text)
    assert (cell.kind, cell.value, cell.decimals) == ("number", pytest.approx(value, rel=1e-15), decimals)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "missing"), ("n/a", "missing"), ("-", "missing"), ("—", "missing"), ("none", "missing"),
        ("None (label only)", "missing"), ("N/A†", "missing"), ("NaN", "missing"), ("null", "missing"),
        ("Infinity", "infinite"), ("-inf", "infinite"), ("∞", "infinite"), ("1e999", "infinite"),
        ("seven", "text"), ("OOM", "text"), ("62,5", "text"), ("1,23", "text"), ("0,123", "text"), ("1_000", "text"),
        ("2023-12-26", "text"), ("1.2.3", "text"), ("0x10", "text"), ("12 / x", "text"), ("=39", "text"),
        ("9" * 500, "text"), ("yes", "text"), ("٣", "text"), ("*" * 190 + "x", "text"), ("(a)" * 60 + "x", "text"),
        ("(12.3)", "text"), ("[71.3]", "text"), ("1e-999", "text"), ("±0.4", "text"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_missing_infinite_or_text(text, kind):
    assert cell_reader()(text).kind == kind


def test_a_spread_in_brackets_is_a_spread_and_other_brackets_are_a_remark():
    read_cell = cell_reader()
    assert (read_cell("62.5 (±0.4)").spread, read_cell("62.5% (+/- 0.4)").spread) == (0.4, 0.4)
    assert (read_cell("62.5 (0.4)").spread, read_cell("62.5 (0.4)").remark) == (None, "(0.4)")
    assert read_cell("_71.3_*").value == 71.3


def test_a_decimal_comma_is_read_where_it_is_asked_for():
    read_cell = cell_reader(decimal_comma=True)
    assert [read_cell(text).value for text in ("62,5", "1.234", "1.234,50")] == [62.5, 1234.0, 1234.5]
    assert read_cell("62.5").kind == "text"


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
@settings(deadline=None, max_examples=200)
def test_a_printed_number_is_read_back_exactly(number, decimals):
    text = f"{number / 10**decimals:.{decimals}f}"
    cell = cell_reader()(text)
    assert (cell.value, cell.decimals) == (float(text), decimals)
    grouped = cell_reader()(f"{number / 10**decimals:,.{decimals}f}")
    assert (grouped.value, grouped.decimals) == (float(text), decimals)


@given(st.text(max_size=40))
@settings(deadline=None, max_examples=300)
def test_no_cell_raises_or_becomes_nan(text):
    cell = cell_reader()(text)
    assert (cell.value is None) == (cell.kind in ("missing", "text"))
    assert cell.value is None or not math.isnan(cell.value)


def test_roles_are_found_and_said(tmp_path):
    table = read(tmp_path, "rank,Model,a,b,note,score\n1,x,1.5,2,ok,3.5\n2,y,2.5,3,,5.5\n", score="Score")
    assert (table.name, table.components, table.score, table.names) == ("Model", ("a", "b"), "score", ("x", "y"))
    document = table.document()
    assert {column["name"]: column["role"] for column in document["columns"]} == {
        "rank": "other", "Model": "name", "a": "component", "b": "component", "note": "other", "score": "score",
    }  # fmt: skip
    assert document["columns"][2] == {
        "name": "a", "kind": "number", "missing": 0, "text": 0, "infinite": 0, "decimals": 1, "printing": "decimals",
        "role": "component",
    }  # fmt: skip
    json.dumps(document, allow_nan=False)


def test_options_name_columns_rows_and_aliases(tmp_path):
    table = read(
        tmp_path, ROWS, score="score", name="b", columns=("A",), where="a > 2 and not b == 1", aliases={"I": "a"},
        exact=("I",), lower=("b",),
    )  # fmt: skip
    assert (table.names, table.rows, table.lines, table.components) == (("3",), (2,), (3,), ("a",))
    assert table.columns["a"].widths.tolist() == [0]
    assert table.columns["b"].lower
    assert table.find("I") == "a"
    assert table.dropped == ((2, "not a > 2 and not b == 1"), (4, "not a > 2 and not b == 1"))


def test_rows_are_numbered_where_no_column_names_them(tmp_path):
    assert read(tmp_path, "a,b\n1,2\n3,4\n").names == ("row 1", "row 2")
    assert read(tmp_path, ROWS, name="").names == ("row 1", "row 2", "row 3")


def test_paired_cells_are_their_mean_and_two_columns(tmp_path):
    table = read(tmp_path, "system,F\nx,94.2/92.3\ny,90.0/80.0\n")
    assert values(table, "F") == pytest.approx([93.25, 85])
    assert (values(table, "F_1"), values(table, "F_2")) == ([94.2, 90.0], [92.3, 80.0])
    assert table.components == ("F",)
    assert table.columns["F"].widths.tolist() == [0.05, 0.05]
    assert "2 cells such as '94.2/92.3' are read as the mean of their numbers" in table.notes[0]


def test_spreads_are_kept_beside_the_values(tmp_path):
    table = read(tmp_path, "system,a\nx,62.5 ± 0.4\ny,60.1\n")
    assert table.columns["a"].errors.tolist()[0] == 0.4
    assert np.isnan(table.columns["a"].errors[1])
    assert "'a': what stands after ± is taken for a standard error" in table.notes


def column_of(folder, *texts):
    table = read(folder, "a\n" + "\n".join(texts) + "\n", name="")
    return table.columns["a"].printing, table.columns["a"].widths.tolist()


def test_the_box_of_a_cell_follows_how_its_column_was_printed(tmp_path):
    assert column_of(tmp_path, "1.25", "1.50", "2.10") == ("decimals", [0.005] * 3)
    assert column_of(tmp_path, "78.33", "59.0", "51.67", "60.64") == ("zeros dropped", [0.005] * 4)
    assert column_of(tmp_path, "78.33", "59.0", "51.60", "60.64") == ("mixed decimals", [0.005, 0.05, 0.005, 0.005])
    assert column_of(tmp_path, "86.0", "52.0", "1.0", "7.0", "12.0") == ("whole numbers", [0.5] * 5)
    printing, widths = column_of(tmp_path, "10.70538475", "2.514790058", "14.48746967", "1335.205733", "5.123456789")
    assert printing == "significant digits"
    assert widths == pytest.approx([5e-9, 5e-10, 5e-9, 5e-7, 5e-10])


def test_what_is_missing_text_infinite_or_a_sentinel_is_named_with_its_row(tmp_path):
    rows = ["x,1,5", "y,-999,Infinity", "z,3,n/a", "w,4,OOM", "v,5,7", "u,6,8"]
    table = read(tmp_path, "system,a,b\n" + "\n".join(rows) + "\n")
    assert [math.isnan(value) for value in values(table, "b")] == [False, False, True, True, False, False]
    assert math.isinf(values(table, "b")[1])
    assert table.notes == (
        "'a': -999 probably stands for a missing value (row 2 'y': '-999'); it is counted as the number that it is",
        "'b': 1 cell(s) missing (row 3 'z': 'n/a')",
        "'b': 1 cell(s) text where a number was expected, taken as missing (row 4 'w': 'OOM')",
        "'b': 1 cell(s) infinite (row 2 'y': 'Infinity')",
    )


def test_minus_one_is_a_sentinel_only_twice_and_below_the_rest(tmp_path):
    assert read(tmp_path, "a\n5\n-1\n7\n-1\n").columns["a"].sentinels()[0] == -1
    assert read(tmp_path, "a\n5\n-1\n7\n").columns["a"].sentinels() is None
    assert read(tmp_path, "a\n5\n-1\n-7\n-1\n").columns["a"].sentinels() is None


def test_doubled_names_and_constant_columns_are_reported(tmp_path):
    table = read(tmp_path, "system,a,b\nx,1,5\nx,2,5\ny,3,5\n")
    assert table.labels == ("x (row 1)", "x (row 2)", "y")
    assert table.notes == (
        "'b': the same number (5) in every row, so that its part cannot be told",
        "the name 'x' stands in rows 1, 2",
    )


def test_rows_left_out_are_named(tmp_path):
    text = "system,a\n" + "".join(f"s{n},{n}\n" for n in range(12)) + "system,a\nbroken\n"
    table = read(tmp_path, text)
    assert table.dropped == ((14, "the header once more"), (15, "1 cells instead of 2"))
    assert table.notes == ("line 14 left out: the header once more", "line 15 left out: 1 cells instead of 2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv: the file is empty; expected a table with a header line"),
        ("system,a\n", "t.csv: holds no rows; expected a header and a row for each system"),
        ("a,b,a\n1,2,3\n", "t.csv: two columns are called 'a'; rename one of them"),
        ("1,2\n3,4\n", "t.csv line 1: the first line holds numbers ('1,2'), yet it should name the columns; put a he"),
        ('a,b\n1,"2\n3,4\n', "t.csv line 2: cannot be read as CSV (unexpected end of data); write a quote inside a"),
        ("a,b\n1,2\n3\n4\n", "t.csv line 3: 1 cells instead of 2, and so are 2 of 3 rows; give every row as many"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused_in_one_sentence(tmp_path, text, message):
    assert refused(tmp_path, text).startswith(message)


def test_unknown_columns_and_scores_without_numbers_are_refused(tmp_path):
    assert refused(tmp_path, ROWS, score="scoer") == "t.csv: no column is called 'scoer'; did you mean 'score'?"
    assert refused(tmp_path, ROWS, columns=("q",)).endswith("the columns are 'system', 'a', 'b', 'score'")
    assert "holds text ('x'); name columns of numbers" in refused(tmp_path, ROWS, columns=("system",))
    assert "holds no number in any of 2 rows" in refused(tmp_path, "system,score\nx,\ny,-\n", score="score")
    assert "leaves none of 3 rows" in refused(tmp_path, ROWS, where="a > 100")


def test_a_file_larger_than_any_table_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "big.csv"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(
        InvalidInput, match="holds 200 MB; a table of components and a composite may hold at most 17 MB"
    ):
        read_ranked_table(path)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("a == 1.5", (1,)),
        ("a = 1.5 or `system` == z", (1, 3)),
        ("a != 1.5", (2, 3)),
        ("not (a >= 2 and b < 2)", (1, 2)),
        ('system in (x, "y")', (1, 2)),
        ("system contains Z", (3,)),
        ("a is number and system is not number", (1, 2, 3)),
        ("b is not missing", (1, 2, 3)),
        ("a <> 4.5", (1, 2)),
    ],
)
def test_conditions_choose_rows(tmp_path, where, rows):
    assert read(tmp_path, ROWS, where=where).rows == rows


@pytest.mark.parametrize(
    ("where", "at"),
    [
        ("", "character 1: the condition ends too early"),
        ("a >", "character 4: the condition ends too early"),
        ("a > x", "character 5: 'x' is no number, which an order needs"),
        ("a is big", "character 6: 'big' is neither `missing` nor `number`"),
        ("a > 1 b", "character 7: 'b' follows a condition that is complete"),
        ("a ( 1", "character 3: '(' is no comparison"),
        ("(" * 60 + "a > 1", "character 51: '(' nests deeper than 50"),
        ("a > 1 and `", "character 11: '`' belongs to nothing"),
    ],
)
def test_a_broken_condition_is_refused_at_its_character(tmp_path, where, at):
    assert at in refused(tmp_path, ROWS, where=where)


# --- other forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.tsv", "system\ta\nx\t1.50\ny\t2\n"),
        ("t.csv", "system;a\nx;1.50\ny;2\n"),
        ("t.csv", b"\xef\xbb\xbfsystem,a\r\nx,1.50\r\n\r\ny,2\r\n"),
        ("t.json", '[{"system": "x", "a": 1.50}, {"system": "y", "a": 2}]'),
        ("t.jsonl", '{"system": "x", "a": 1.50}\n\n{"system": "y", "a": 2}\n'),
        ("t.json", '{"system": ["x", "y"], "a": [1.50, 2]}'),
        ("t.json", '{"columns": ["system", "a"], "data": [["x", 1.50], ["y", 2]]}'),
        ("t.json", '{"results": [{"system": "x", "a": 1.50}, {"system": "y", "a": 2}]}'),
        ("t.json", '[["system", "a"], ["x", 1.50], ["y", 2]]'),
        ("t.json", '{"x": {"a": 1.50}, "y": {"a": 2}}'),
        ("t.json", '{"results": {"x": {"a": 1.50}, "y": {"a": 2}}}'),
        ("t.json", '{"system": {"0": "x", "1": "y"}, "a": {"0": 1.50, "1": 2}}'),
        ("t.md", "# T\n\n| system | **a** |\n|:--|--:|\n| [x](http://h/(q)) | **1.50** |\n| `y` | 2[^1] |\n"),
        ("t.md", "system | a\n--- | ---\nx | 1.50\ny | 2\n"),
        ("t.html", "<table><tr><th>system<th>a<sup>†</sup><tr><td>x<td><b>1.50</b><tr><td>y<td>2</table>"),
        (
            "t.html",
            "<table><tr><td>system<td>a<tr><td>x<td><span style='display: none'>99<span>8</span></span>1.50<tr>"
            "<td>y<td><i hidden>7</i>2",
        ),
        ("noending", "<!DOCTYPE html><table><tr><td>system</td><td>a</td></tr><tr><td>x<td>1.50<tr><td>y<td>2"),
    ],
)
def test_every_form_gives_the_same_table(tmp_path, name, text):
    table = read(tmp_path, text, name)
    assert table.names == ("x", "y")
    assert values(table, "a") == [1.5, 2]
    assert table.columns["a"].decimals.tolist() == [2, 0]


def test_parquet_is_read_with_its_nulls(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'evenhand[parquet]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"system": ["x", "y"], "a": [1.5, None], "n": [3, 4]}), tmp_path / "t.parquet")
    table = read_ranked_table(tmp_path / "t.parquet")
    assert table.names == ("x", "y")
    assert values(table, "a")[0] == 1.5
    assert table.columns["a"].missing.tolist() == [False, True]
    assert values(table, "n") == [3, 4]
    assert refused(tmp_path, "no parquet", "u.parquet").startswith("u.parquet: cannot be read as Parquet (")


def test_short_floats_of_parquet_have_the_digits_that_they_hold(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'evenhand[parquet]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"system": [b"x", b"y"], "a": arrow.array([0.1, 33.3], arrow.float32()), "b": [0.25, 1.5]}
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    table = read_ranked_table(tmp_path / "t.parquet")
    assert table.names == ("x", "y")
    assert values(table, "a") == [0.1, 33.3]
    assert table.columns["a"].widths.tolist() == [0.05, 0.05]


def test_a_field_that_stands_twice_in_an_object_is_refused(tmp_path):
    text = '[{"system": "x", "a": 1, "a": 2}]'
    assert "two fields of one object are called 'a'" in refused(tmp_path, text, "t.json")
    assert "t.jsonl line 2: two fields" in refused(tmp_path, '{"a": 1}\n{"a": 1, "a": 2}\n', "t.jsonl")


def test_numbers_without_the_unit_of_their_column_are_said(tmp_path):
    table = read(tmp_path, "system,size\nx,1.5k\ny,900\nz,2k\n")
    note = "'size': 2 of 3 numbers bear 'k', the others, such as '900', no unit; all are read alike"
    assert note in table.notes


SPANS = (
    '<html><head><style>td{x:y}</style><script>document.write("<table><tr><td>9</td></tr></table>")</script></head>'
    '<body><table><thead><tr><th rowspan="2">Model</th><th colspan="2">Math</th><th rowspan="2">Avg<sup>†</sup></th>'
    "</tr><tr><th>easy</th><th>hard</th></tr></thead><tbody><tr><td>Ardea</td><td>80.5</td><td>40.5</td><td>60.5</td>"
    '</tr><tr><td rowspan="2">Bittern<br>(two runs)</td><td>70.0</td><td>30.0<script>steal()</script></td><td><b>50.0'
    '</b></td></tr><tr><td>72.0</td><td>34.0</td><td>53.0</td></tr><tr><td>Crane</td><td colspan="2">55.0</td>'
    "<td>55.0</td></tr></tbody></table></body></html>"
)


def test_spans_are_filled_in_and_scripts_and_marks_left_out(tmp_path):
    table = read(tmp_path, SPANS, "t.html", score="Avg")
    assert table.components == ("Math easy", "Math hard")
    assert (table.find("easy"), table.find("HARD")) == ("Math easy", "Math hard")
    assert values(table, "Math easy") == [80.5, 70, 72, 55]
    assert values(table, "Math hard") == [40.5, 30, 34, 55]
    assert table.names == ("Ardea", "Bittern (two runs)", "Bittern (two runs)", "Crane")
    assert table.notes == ("the name 'Bittern (two runs)' stands in rows 2, 3",)


def test_of_several_tables_the_one_with_the_score_is_read_or_the_one_named(tmp_path):
    page = "| a | b |\n|--|--|\n| 1 | 2 |\n| 1 | 2 |\n\n| c | score |\n|--|--|\n| 3 | 4 |\n"
    assert values(read(tmp_path, page, "t.md", score="score"), "c") == [3]
    assert values(read(tmp_path, page, "t.md"), "a") == [1, 1]
    table = read(tmp_path, page, "t.md", table=2)
    assert values(table, "c") == [3]
    assert table.notes[0] == "table 2 of 2 on the page (--table chooses another)"
    assert refused(tmp_path, page, "t.md", table=3) == "t.md: --table 3: the page holds 2 table(s)"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.json", "[" * 5000 + "]" * 5000, "t.json line 1: nests deeper than 200; expected a list of objects, one a"),
        ("t.json", '{"a": ' * 300 + "1" + "}" * 300, "t.json line 1: nests deeper than 200"),
        ("t.json", '[{"a": 1},\n {"a": 2,}]', "t.json line 2: is no JSON (a comma with nothing after it)"),
        ("t.json", "7", "t.json: holds JSON, but no table; expected a list of objects"),
        ("t.json", '{"a": [1, 2], "b": [1]}', "t.json: column 'a' holds 2 values and 'b' 1; give every column one"),
        ("t.json", "[1, 2]", "t.json row 1: '1' is no object; expected one a system"),
        ("t.md", "no table", "t.md: holds no Markdown table with rows"),
        ("t.md", "```\n| a |\n|---|\n| 1 |\n```\n", "t.md: holds no Markdown table with rows"),
        ("t.html", "<script>x</script>", "t.html: holds no HTML table with rows"),
        ("t.html", "<table>" * 100, "t.html: tables stand in one another more than 50 deep"),
        ("t.html", "<table>" + "<tr><td rowspan=999 colspan=999>1" * 100, "t.html: a table of more than 500,000"),
    ],
)
def test_broken_pages_and_deep_nests_are_refused_in_one_sentence(tmp_path, name, text, message):
    assert refused(tmp_path, text, name).startswith(message)


@given(st.text(alphabet="<>/tabler dh=\"'&;!-[]x1\n", max_size=200))
@settings(deadline=None, max_examples=150)
def test_no_page_crashes_the_reader(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("pages")
    for name in ("t.html", "t.md"):
        with contextlib.suppress(InvalidInput):
            read(folder, f"<table><tr><td>a<tr><td>1</table>{text}", name)


# --- the shared tables ---------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_the_shared_leaderboards_are_read_whole(shared):
    expected = {
        "city-aqi-max.csv": (2902, 4), "glue.csv": (87, 11), "mteb-en-2024-01.csv": (83, 7),
        "undp-hdi-2022.csv": (193, 4), "the-world-university-2011-2016.csv": (1201, 5),
        "jevbench-v1.3.0.csv": (52, 4), "premier-league-2023-12-26.csv": (20, 6), "gzsl-harmonic.csv": (61, 2),
    }  # fmt: skip
    for name, (n_rows, n_components) in expected.items():
        table = read_ranked_table(shared / "data/leaderboards" / name, TableSettings(score="score"))
        assert (table.n_rows, len(table.components), table.name) == (n_rows, n_components, "system"), name
        assert not np.isnan(table.columns["score"].values).any(), name


@pytest.mark.shared
def test_the_ranked_rows_of_the_published_board_are_chosen_by_their_listing(shared):
    table = read_ranked_table(
        shared / "data/leaderboards/jevbench-v1.3.0.csv", TableSettings(score="score", where="listing is number")
    )
    assert table.n_rows == 48
    assert table.components == ("intelligence", "calibration", "speed", "cost")


# --- headers as pages show them, and files that are no table -------------------------------------------------------


def test_a_header_with_arrows_and_marks_is_found_by_its_name(tmp_path):
    found = read(tmp_path, "# ▲,Model ⇅,MMLU†,Acc (↑),Overall ▼\n1,x,1.5,2,3.5\n2,y,2.5,3,5.5\n", score="overall")
    assert (found.score, found.name) == ("Overall ▼", "Model ⇅")
    assert found.components == ("MMLU†", "Acc (↑)")
    assert (found.find("MMLU"), found.find("acc")) == ("MMLU†", "Acc (↑)")
    assert found.find("MMLU†") == "MMLU†"


def test_marks_that_tell_columns_apart_do(tmp_path):
    found = read(tmp_path, "system,Acc,Acc*,F1¹,F1*\nx,1,2,3,4\ny,2,3,4,5\n")
    assert (found.find("Acc"), found.find("Acc*")) == ("Acc", "Acc*")
    with pytest.raises(InvalidInput, match="no column is called 'F1'"):
        found.find("F1")


def test_a_page_with_arrows_in_its_header_gives_the_table_with_the_score(tmp_path):
    page = "<table><tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4<tr><td>5<td>6</table>" \
        "<table><tr><th>System<th>Overall ▼<tr><td>x<td>2</table>"  # fmt: skip
    assert read(tmp_path, page, "t.html", score="Overall").score == "Overall ▼"


@pytest.mark.parametrize("cell", ["66,3", "1.071,25", "64,5 %"])
def test_numbers_with_a_decimal_comma_lead_to_the_option(tmp_path, cell):
    text = f"system;a;score\nx;{cell};{cell}\ny;50,1;50,1\n"
    assert f"--decimal-comma reads {cell!r} as a number" in refused(tmp_path, text, score="score")
    assert "--decimal-comma" in refused(tmp_path, text, columns=("a",))
    assert any("--decimal-comma" in note for note in read(tmp_path, text).notes)
    stray = read(tmp_path, f"system;a;score\nx;1.5;{cell}\ny;2.5;1.5\nz;2.5;2.5\nw;1;{cell}\nv;1;3.5\n", score="score")
    assert any(f"--decimal-comma reads {cell!r} as a number" in note for note in stray.notes)
    found = read(tmp_path, text, score="score", decimal_comma=True)
    assert found.components == ("a",)
    assert not any("--decimal-comma" in note for note in found.notes)


def test_texts_that_are_no_numbers_do_not_lead_to_the_option(tmp_path):
    assert "--decimal-comma" not in refused(tmp_path, "system,a,score\nx,1,good\ny,2,bad\n", score="score")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (
            "t.xlsx",
            b"PK\x03\x04",
            "is a spreadsheet; expected CSV, TSV, JSON, Parquet, Markdown or HTML: save its sheet",
        ),
        ("t.csv", b"PK\x03\x04..[Content_Types].xml", "is a spreadsheet"),
        ("t.csv", b"\xd0\xcf\x11\xe0", "is a spreadsheet"),
        ("t.ods", b"PK\x03\x04", "is a spreadsheet"),
        ("t.pdf", b"%PDF-1.7", "is a PDF"),
        ("t.txt", b"%PDF-1.7", "is a PDF"),
        ("t.docx", b"PK\x03\x04", "another typeset document"),
        ("t.png", b"\x89PNG", "is a picture"),
        ("t.csv.gz", b"\x1f\x8b", "is an archive"),
        ("t.csv", b"PK\x03\x04t.csv", "is an archive"),
        (
            "t.txt",
            "Model      A    B  Score\nGPT 4     70   80   75\nB         60   50   55\n",
            "set apart by blanks alone",
        ),
        ("t.csv", "Model A Score\nx 1 2\n", "set apart by blanks alone"),
        ("t.txt", "┌───┬───┐\n│ a │ b │\n", "is a drawn line"),
        ("t.txt", "+---+---+\n| a | b |\n", "is a drawn line"),
        ("t.txt", "-----  ----\na b\n", "is a drawn line"),
        ("t.tex", "\\begin{tabular}{lr}\nA & B \\\\\n", "begins a LaTeX table"),
        ("t.txt", "A & B \\\\\nx & 1 \\\\\n", "begins a LaTeX table"),
    ],
)
def test_a_file_that_is_no_readable_table_is_named_for_what_it_is(tmp_path, file, content, said):
    assert said in refused(tmp_path, content, file)


@pytest.mark.parametrize("text", ["overall score\n1.5\n2.5\n", "score\n1.5\n"])
def test_a_table_of_one_column_is_no_aligned_table(tmp_path, text):
    assert read(tmp_path, text).n_rows == text.count("\n") - 1
