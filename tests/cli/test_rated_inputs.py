"""What `diagnose`, `validate` and `compare` read: one file is one thing to all three."""

import json

import pytest

ROWS = [("a", 3), ("b", "Infinity"), ("c", "1e999"), ("d", 4), ("e", 5), ("f", "NaN"), ("g", "-Infinity"), ("h", 2)]
GRADES = "item,anna\n" + "".join(f"{name},{k % 5 + 1}\n" for k, name in enumerate("abcdefgh"))


@pytest.fixture
def infinite(tmp_path):
    """The same scores as CSV, JSONL, a JSON list and Parquet; three of them are infinite and one is missing."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "g.csv").write_text(GRADES)
    objects = [f'{{"item": "{name}", "score": {score}}}' for name, score in ROWS]
    (tmp_path / "s.csv").write_text("item,score\n" + "".join(f"{name},{score}\n" for name, score in ROWS))
    (tmp_path / "s.jsonl").write_text("\n".join(objects) + "\n")
    (tmp_path / "s.json").write_text("[" + ",\n".join(objects) + "]")
    columns = {"item": [name for name, _ in ROWS], "score": [float(score) for _, score in ROWS]}
    parquet.write_table(pa.table(columns), tmp_path / "s.parquet")


@pytest.mark.parametrize("name", ["s.csv", "s.jsonl", "s.json", "s.parquet"])
def test_an_infinite_score_is_no_score_to_anybody_and_is_named_by_its_place(infinite, evenhand, name):
    found = evenhand("diagnose", name, "--scale", "1:5", "--json").document
    assert (found["n"], found["counts"]["infinite"], found["counts"]["missing"]) == (4, 3, 1)
    assert "3 x a number that is infinite" in found["faults"][0]
    done = evenhand("validate", name, "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    assert done.code == 0, done.err
    assert (done.document["n_items"], done.document["counts"]["missing"]) == (4, 4)
    assert found["faults"][0] in done.err
    done = evenhand("compare", name, name, "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    assert [one["counts"]["verdict"] for one in done.document["judges"]] == [4, 4]


def test_a_torn_line_is_counted_by_diagnose_and_validate_alike(tmp_path, evenhand):
    lines = [json.dumps({"item": f"i{k}", "score": k % 5 + 1}) for k in range(30)]
    (tmp_path / "s.jsonl").write_text("\n".join([*lines[:12], '{"item": "torn", "sc', *lines[12:]]) + "\n")
    (tmp_path / "g.csv").write_text("item,anna\n" + "".join(f"i{k},{k % 4 + 1}\n" for k in range(30)))
    (fault,) = evenhand("diagnose", "s.jsonl", "--json").document["faults"]
    assert "line 13" in fault
    done = evenhand("validate", "s.jsonl", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    assert done.document["n_items"] == 30
    assert fault in done.err


def test_a_table_is_told_by_how_it_begins_whatever_its_ending(tmp_path, evenhand):
    (tmp_path / "s.txt").write_text("item;score\n" + "".join(f"i{k};{k % 5 + 1},0\n" for k in range(30)))
    (tmp_path / "g.csv").write_text("item,anna\n" + "".join(f"i{k},{k % 4 + 1}\n" for k in range(30)))
    assert evenhand("diagnose", "s.txt", "--json").document["n"] == 30
    done = evenhand("validate", "s.txt", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    assert done.document["n_items"] == 30


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_sources_and_lengths_stand_beside_the_scores(tmp_path, evenhand, form):
    rows = [{"item": f"i{k}", "score": k % 5 + 1, "query": k // 3, "output": "x" * (k + 1)} for k in range(30)]
    cells = "\n".join(",".join(map(str, row.values())) for row in rows)
    text = f"item,score,query,output\n{cells}\n" if form == "csv" else "\n".join(map(json.dumps, rows))
    (tmp_path / f"s.{form}").write_text(text)
    (tmp_path / "g.csv").write_text("item,anna\n" + "".join(f"i{k},{k % 4 + 1}\n" for k in range(30)))
    options = ("validate", f"s.{form}", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    found = evenhand(*options, "--cluster", "query").document
    assert found["length_bias"]["judge_length"]["n"] == 30
    assert "10 clusters" in found["spearman"]["interval"]["method"]
    assert "--length 'size': no such column" in evenhand(*options, "--length", "size").err


def test_grades_in_json_may_hold_nan_and_no_infinity(tmp_path, evenhand):
    (tmp_path / "s.csv").write_text("item,score\n" + "".join(f"i{k},{k % 5 + 1}\n" for k in range(9)))
    for word, name in (("NaN", "nan"), ("Infinity", "inf")):
        lines = [f'{{"item": "i{k}", "anna": {word if k == 4 else k % 4 + 1}}}' for k in range(9)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        (tmp_path / f"{name}.json").write_text("[" + ",\n".join(lines) + "]")
    for form in ("jsonl", "json"):
        options = ("--scale", "1:5", "--resamples", 99, "--json")
        done = evenhand("validate", "s.csv", "--grades", f"nan.{form}", *options)
        assert (done.document["n_items"], done.document["counts"]["grades_missing"]) == (8, 1)
        done = evenhand("validate", "s.csv", "--grades", f"inf.{form}", *options)
        assert done.code == 2
        assert f"inf.{form} line 5: column 'anna' holds 'Infinity'" in done.err


@pytest.mark.parametrize("column", ["item", "score"])
@pytest.mark.parametrize("command", ["diagnose", "validate"])
def test_bytes_in_a_column_that_is_used_are_refused_in_one_sentence(tmp_path, evenhand, column, command):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    names, scores = [f"i{k}" for k in range(9)], [str(k % 5 + 1) for k in range(9)]
    columns = {"item": names, "score": scores, "note": [b"\xff"] * 9}
    columns[column] = [value.encode() for value in columns[column]]
    parquet.write_table(pa.table(columns), tmp_path / "s.parquet")
    (tmp_path / "g.csv").write_text("item,anna\n" + "".join(f"i{k},{k % 4 + 1}\n" for k in range(9)))
    options = () if command == "diagnose" else ("--grades", "g.csv", "--scale", "1:5")
    done = evenhand(command, "s.parquet", *options)
    assert done.code == 2
    assert f"s.parquet row 1: column '{column}' holds bytes, which has no text form" in done.err


@pytest.mark.parametrize("name", ["output", "text", "answer", "length"])
def test_bytes_in_a_column_that_nobody_named_are_passed_over_with_a_word(tmp_path, evenhand, name):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"item": list("abcdefgh"), "score": [1, 2, 3, 4, 5, 4, 3, 2], name: [b"\xff\x00"] * 8}
    parquet.write_table(pa.table(columns), tmp_path / "s.parquet")
    (tmp_path / "g.csv").write_text(GRADES)
    asked = ("validate", "s.parquet", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    done = evenhand(*asked)
    assert (done.code, done.document["n_items"]) == (0, 8), done.err
    assert f"s.parquet: column '{name}' holds no text and is passed over" in done.err
    assert evenhand("compare", "s.parquet", "s.parquet", "-g", "g.csv", "--scale", "1:5", "--resamples", 99).code == 0
    assert evenhand("diagnose", "s.parquet", "--json").document["n"] == 8
    for option in ("--length", "--cluster", "--score"):
        refused = evenhand(*asked, option, name)
        assert (refused.code, f"column '{name}' holds bytes" in refused.err) == (2, True), option


def test_words_under_a_usual_name_of_lengths_are_no_lengths_unless_named_so(tmp_path, evenhand):
    rows = "".join(f"{name},{k % 5 + 1},{'brief' if k else 12},{'x' * (k + 1)}\n" for k, name in enumerate("abcdefgh"))
    (tmp_path / "s.csv").write_text("item,score,length,text\n" + rows)
    (tmp_path / "g.csv").write_text(GRADES)
    asked = ("validate", "s.csv", "--grades", "g.csv", "--scale", "1:5", "--resamples", 99, "--json")
    done = evenhand(*asked)
    assert done.code == 0, done.err
    assert "line 3: column 'length' holds 'brief'" in done.err
    assert "'length' is not taken for a length" in done.err
    assert done.document["length_bias"]["judge_length"]["n"] == 8
    assert evenhand(*asked, "--length", "length").code == 2
