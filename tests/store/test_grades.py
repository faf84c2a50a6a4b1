import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.store.grades import read_grades


@pytest.fixture
def table(tmp_path):
    def write(text, name="grades.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_long_wide_and_raters_in_rows_say_the_same(table):
    long = read_grades(table("item,rater,grade\na,r1,3\na,r2,4\nb,r1,5\nb,r2,\n"))
    wide = read_grades(table("item,r1,r2\na,3,4\nb,5,\n"))
    turned = read_grades(table("rater,a,b\nr1,3,5\nr2,4,\n"))
    for found in (long, wide, turned):
        assert found.values == {"a": {"r1": 3.0, "r2": 4.0}, "b": {"r1": 5.0}}
        assert (found.items, found.raters) == (("a", "b"), ("r1", "r2"))
        assert (found.n_cells, found.n_missing) == (4, 1)
    assert long.reading == "long: 2 items, 2 raters"
    assert wide.reading == "wide: 2 items, 2 raters"
    assert turned.reading == "raters in rows: 2 items, 2 raters"


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_other_forms_of_file_are_read_alike(table, tmp_path, ending):
    rows = [{"item": "007", "anna": 3, "ben": None}, {"item": "8", "anna": 2.5, "ben": 4}]
    path = tmp_path / f"grades.{ending}"
    if ending == "parquet":
        pa = pytest.importorskip("pyarrow", reason="needs evenhand[parquet]")
        from pyarrow.parquet import write_table

        write_table(pa.Table.from_pylist(rows), path)
    elif ending == "json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_grades(path).values == {"007": {"anna": 3.0}, "8": {"anna": 2.5, "ben": 4.0}}


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 8), st.integers(0, 3)), st.one_of(st.none(), st.integers(-3, 9)), min_size=1
    )
)
@settings(deadline=None, max_examples=40)
def test_every_cell_is_a_grade_missing_or_out_of_scale(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("grades") / "g.csv"
    lines = [f"i{item},r{rater},{'' if grade is None else grade}" for (item, rater), grade in cells.items()]
    path.write_text("item,rater,grade\n" + "\n".join(lines) + "\n")
    found = read_grades(path, scale=(1, 5))
    n_grades = sum(map(len, found.values.values()))
    assert n_grades + found.n_missing + len(found.out_of_scale) == found.n_cells == len(cells)
    assert all(1 <= grade <= 5 for given in found.values.values() for grade in given.values())


def test_what_is_out_of_scale_is_named_with_its_place(table):
    found = read_grades(table("item,r1\na,0\nb,3\n"), scale=(1, 4))
    (out,) = found.out_of_scale
    assert (out.item, out.who, out.value) == ("a", "r1", 0.0)
    assert out.where.endswith("grades.csv line 2")
    assert found.values == {"a": {}, "b": {"r1": 3.0}}


def test_one_criterion_is_taken_and_the_choice_is_asked_for(table):
    path = table("item,rater,grade,criterion\na,r1,3,clear\na,r1,5,true\n")
    assert read_grades(path, criterion="true").values == {"a": {"r1": 5.0}}
    with pytest.raises(InvalidInput, match=r"more than one criterion.*--criterion"):
        read_grades(path)
    with pytest.raises(InvalidInput, match="no grade of it; criteria are 'clear', 'true'"):
        read_grades(path, criterion="kind")


def test_raters_clusters_and_the_id_are_chosen_by_column(table):
    path = table("qid,doc,source,anna,ben,words\nq1,d1,s,1,2,many\nq1,d2,s,2,3,few\n")
    found = read_grades(path, item=("qid", "doc"), raters=("anna", "ben"), cluster="source")
    assert found.items == ("q1 / d1", "q1 / d2")
    assert found.clusters == {"q1 / d1": "s", "q1 / d2": "s"}
    assert found.raters == ("anna", "ben")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x,a,b\nr1,3,4\n", "no column 'item'.*rows or columns are items.*--item"),
        ("3,4,2\n2,2,1\n", "no column 'item'"),
        ("item,r1\na,good\n", r"grades.csv line 2: column 'r1' holds 'good'; expected a number"),
        ("item,r1,notes\na,3,good\n", "expected a number.*; if 'notes' is no rater, name those that are with --rater"),
        ('item,r1\na,"3,5"\n', "decimal comma"),
        ("item,r1\na,inf\n", "holds 'inf'"),
        ("item,r1\na,1e999\n", r"holds '1e999' \(beyond 1e100\); expected a number"),
        ("item,r1\na," + "1" * 5000 + "\n", r"holds '1{59}…' \(beyond 1e100\)"),
        ("item,r1\na,3\na,4\n", "line 3: a second grade of item 'a' by 'r1', after .* line 2"),
        ("item,rater,grade\na,r1,3\na,r1,3\n", "a second grade"),
        ("item,rater,grade\n,r1,3\n", "column 'item' holds nothing"),
        ("item\na\n", "no column holds grades"),
        ("item,r1\n", "holds no rows"),
        ("", "empty"),
        ("item,r1\na,3,4\n", "3 cells"),
    ],
)
def test_what_cannot_be_read_is_named(table, text, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        read_grades(table(text))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 5000, "[1e999]", '{"of": 1e999}'])
@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_a_number_beyond_every_float_is_said_to_be_one_by_line_and_column(table, form, number):
    first, second = '{"item": "a", "r1": 3}', f'{{"item": "b", "r1": {number}}}'
    text = f"{first}\n{second}\n" if form == "jsonl" else f"[{first},\n{second}]"
    start = second.index(number) + 1 + next(k for k, letter in enumerate(number) if letter in "-1")
    with pytest.raises(InvalidInput) as caught:
        read_grades(table(text, name=f"g.{form}"))
    message = str(caught.value)
    assert f"g.{form} line 2, column {start}: " in message
    assert "is beyond the largest number, about 1.8e308" in message
    assert "the last good item stands in line 1" in message
    assert "$" not in message


def test_a_whole_number_too_large_for_a_float_is_refused_by_its_place(table):
    with pytest.raises(InvalidInput, match=r"g\.jsonl line 1: column 'r1' holds '1{59}…' \(beyond 1e100\)"):
        read_grades(table('{"item": "a", "r1": ' + "1" * 400 + "}\n", name="g.jsonl"))


def test_bytes_beside_the_grades_matter_only_where_they_are_taken_for_one(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.table({"item": ["a", "b"], "anna": [3, 4], "image": [b"\xff", b"\x00"]}), tmp_path / "g.parquet")
    assert read_grades(tmp_path / "g.parquet", raters=("anna",)).values == {"a": {"anna": 3.0}, "b": {"anna": 4.0}}
    with pytest.raises(InvalidInput, match=r"row 1: column 'image' holds .* name those that are with --rater"):
        read_grades(tmp_path / "g.parquet")
    with pytest.raises(InvalidInput, match="expected an id"):
        read_grades(tmp_path / "g.parquet", item=("image",), raters=("anna",))


@pytest.mark.parametrize("first", ["", "id", "item_id"])
def test_row_numbers_and_a_second_id_are_no_raters(table, first):
    header, item = (f"{first},item", "item") if first != "item_id" else ("id,item_id", "item_id")
    found = read_grades(table(f"{header},r1,r2\n1,a,3,3\n2,b,4,5\n3,c,2,2\n"), item=(item,))
    assert (found.raters, found.reading) == (("r1", "r2"), "wide: 3 items, 2 raters")
    assert read_grades(table(f"{header},r1,r2\n1,a,3,3\n2,b,4,5\n3,c,2,2\n"), item=(item,), raters=("r2",)).raters == (
        "r2",
    )


def test_a_long_file_without_a_grade_is_no_wide_one(table):
    with pytest.raises(InvalidInput, match="a column 'rater', yet none called 'grade'"):
        read_grades(table("rater,item,marks\nr1,a,3\nr1,b,4\n"))


def test_an_item_has_one_source(table):
    with pytest.raises(InvalidInput, match="an item has one source"):
        read_grades(table("item,rater,grade,q\na,r1,3,x\na,r2,3,y\n"), cluster="q")


def test_names_that_are_no_grades_are_refused(table):
    with pytest.raises(InvalidInput, match="--rater 'cara': no such column"):
        read_grades(table("item,anna\na,3\n"), raters=("cara",))
    with pytest.raises(InvalidInput, match="no grade by the raters asked for"):
        read_grades(table("item,rater,grade\na,anna,3\n"), raters=("cara",))
    with pytest.raises(InvalidInput, match="tables are read from"):
        read_grades(table("item,r1\na,3\n", name="grades.txt"))
