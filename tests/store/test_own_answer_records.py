"""Records of a judge that answers for itself: they read back equal, and a stranger's that could mislead is refused."""

import json

import pytest

from evenhand.errors import EvenhandError
from evenhand.store.records import RecordWriter, read_records
from evenhand.terms import Record

KEY = "sha256:" + "1" * 64
ANSWER = {"answer": "18", "key": KEY, "hash": KEY, "agrees": True}
OWN = {
    "mode": "blind", "answer": "18", "key": KEY, "hash": KEY, "match": "equal", "how": "exact", "compared_by": "code",
    "asked": 1, "stands": 0, "lost": [], "commitments": [ANSWER],
}  # fmt: skip
ENTRY = {"id": "", "weight": 1.0, "score": 1, "exact": 1.0, "scale": [0, 1], "label": "accepted", "own": OWN}
JUDGE = {"name": "j", "hash": KEY, "protocol": "commit", "protocol_version": 1, "models": ["p/m"]}


def written(folder, own):
    record = Record(
        item="i", item_hash=KEY, metadata={}, judge=JUDGE, member="p/m", rerun=0, status="verdict", score=1, exact=1.0,
        scale=(0, 1), criteria=({**ENTRY, "own": own},), keys=(KEY,),
    )  # fmt: skip
    path = folder / "r.jsonl"
    with RecordWriter(path) as writer:
        writer.write(record)
    return path


def test_an_own_answer_reads_back_as_it_was_written(tmp_path):
    (record,) = read_records(written(tmp_path, OWN))
    assert json.loads(json.dumps(record.criteria[0]["own"])) == OWN


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"stands": 1}, "own.stands"),
        ({"stands": -1}, "own.stands"),
        ({"match": "close enough"}, "own.match"),
        ({"mode": "both"}, "own.mode"),
        ({"commitments": [{"answer": 18}]}, "own.commitments"),
        ({"lost": "all"}, "own.lost"),
    ],
)
def test_an_own_answer_of_another_shape_is_refused_with_its_place(changed, where, tmp_path):
    with pytest.raises(EvenhandError, match=where):
        list(read_records(written(tmp_path, {**OWN, **changed})))
