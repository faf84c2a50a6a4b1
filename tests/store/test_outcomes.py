"""A harness's outcomes are read strictly, and alike whoever asks for them."""

import json
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.outcomes import Outcome, read_outcomes


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


ROWS = ({"id": "q1", "accepted": True}, {"id": 2, "accepted": None, "score": 0.4}, {"item": " q3 ", "accepted": False})


def test_acceptance_is_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read_outcomes(written(tmp_path / "outcomes.jsonl", *ROWS))
    assert found.accepted == {"q1": True, "2": None, "q3": False}
    assert list(found.accepted) == ["q1", "2", "q3"]


def test_all_that_is_known_of_an_item_is_read(tmp_path: Path) -> None:
    row = {"id": "q", "accepted": True, "commitment": 18, "correct": False, "solves": [18, "20"], "solved": [True]}
    assert read_outcomes(written(tmp_path / "o.jsonl", row)).items == {
        "q": Outcome(accepted=True, commitment="18", wrong=True, solves=("18", "20"), solved=(True,))
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.json", json.dumps(list(ROWS[:2]))),
        ("o.csv", "id,accepted\nq1,True\n2,\n"),
        ("o.tsv", "id\taccepted\nq1\ttrue\n2\t\n"),
        ("o.ndjson", '{"id": "q1", "accepted": true}\n\n{"id": 2, "accepted": null}\n'),
        ("outcomes", '{"id": "q1", "accepted": true}\n{"id": 2, "accepted": null}\n'),
    ],
)
def test_every_format_of_tables_says_the_same_and_another_ending_is_lines(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_outcomes(tmp_path / name).accepted == {"q1": True, "2": None}


def test_parquet_says_the_same(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist([{"id": "q1", "accepted": True}, {"id": "2", "accepted": None}]),
                        tmp_path / "o.parquet")  # fmt: skip
    assert read_outcomes(tmp_path / "o.parquet").accepted == {"q1": True, "2": None}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "q"}, "has no field 'accepted'; write true, false, or null"),
        ({"id": "q", "accept": True}, "has no field 'accepted'"),
        ({"accepted": True}, "expected an id in every row"),
        ({"id": "", "accepted": True}, "expected an id in every row"),
        (
            {"id": "q", "accepted": 0.8},
            r"accepted is .?0\.8.?; expected .*: apply the harness.s own cut",
        ),
        ({"id": "q", "accepted": "true"}, "accepted is 'true'; expected true, false or null"),
        ({"id": "q", "accepted": True, "solves": "18"}, "solves is '18'; expected a list"),
        ({"id": "q", "accepted": True, "solved": "yes"}, "solved is 'yes'; expected true or false"),
        ({"id": "q", "accepted": True, "wrong": True, "correct": True}, "both correct and wrong are true"),
        ({"id": "first", "accepted": True}, r"the id 'first' stands in .*outcomes\.jsonl line 1 already"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_with_its_place(tmp_path: Path, row: object, says: str) -> None:
    path = written(tmp_path / "outcomes.jsonl", {"id": "first", "accepted": True}, row)
    with pytest.raises(InvalidInput, match=rf"outcomes\.jsonl line 2: .*{says}"):
        read_outcomes(path)


@pytest.mark.parametrize("text", ["", "\n", '{"id": "q", "accepted": NaN}\n', '{"id": "q", "accepted": tru\n', "[]\n"])
def test_what_is_empty_or_broken_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "outcomes.jsonl").write_text(text)
    with pytest.raises(InvalidInput, match=r"outcomes\.jsonl"):
        read_outcomes(tmp_path / "outcomes.jsonl")


def test_a_cell_that_is_no_truth_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("id,accepted\nq1,0.8\n")
    with pytest.raises(InvalidInput, match=r"o\.csv line 2: accepted is '0\.8'"):
        read_outcomes(tmp_path / "o.csv")
