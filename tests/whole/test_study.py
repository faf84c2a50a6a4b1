"""`evenhand study` as its user runs it, over HTTP, and what its records are good for afterwards."""

import csv
import json

import pytest

VARIANT = """\
name: {name}
protocol: number
models: [openai/fake-judge]
temperature: 0.7
criteria:
  - {{id: quality, ask: "{ask}", levels: [1, 5]}}
"""


def rating(level):
    return json.dumps({"criteria": [{"id": "quality", "reason": "so", "rating": level}]})


@pytest.mark.parametrize("endpoint", [{"replies": [rating(level) for level in (1, 3, 2, 5, 4, 4, 2)]}], indirect=True)
def test_the_records_of_a_study_are_validated_and_compared_without_a_further_call(desk, endpoint):
    for name, ask in (("bare", "How good is it?"), ("strict", "How good is it? Be strict.")):
        (desk.folder / f"{name}.yaml").write_text(VARIANT.format(name=name, ask=ask))
    items = (json.dumps({"id": f"i{k:05d}", "candidate": f"Answer {k}."}) for k in range(12))
    (desk.folder / "items.jsonl").write_text("\n".join(items) + "\n")
    grades = "".join(f"i{k:05d},{1 + k % 5},{1 + (k + k % 2) % 5}\n" for k in range(12))
    (desk.folder / "grades.csv").write_text("item,anna,ben\n" + grades)
    graded = ("--grades", "grades.csv", "--scale", "1:5", "--resamples", 199)
    done = desk.run("study", "bare.yaml", "strict.yaml", "items.jsonl", *graded, "--reruns", 2, "-j", 1,
                    "--base-url", endpoint.base_url, "-o", "study")  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = endpoint.stats()["calls"]
    assert asked == 48
    assert {path.name for path in (desk.folder / "study").iterdir()} == {
        "records.jsonl", "table.csv", "study.json", "report.html",
    }  # fmt: skip
    with (desk.folder / "study/table.csv").open() as stream:
        table = {row["variant"]: row for row in csv.DictReader(stream)}
    found = desk.run("validate", "study/records.jsonl", *graded, "--only", "strict", "--json")
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    assert (document["n_items"], document["reruns"], document["counts"]["verdict"]) == (12, 2, 24)
    assert document["spearman"]["value"] == pytest.approx(float(table["strict"]["rho"]), abs=1e-12)
    assert document["rerun_sd"]["value"] == pytest.approx(float(table["strict"]["rerun_sd"]), abs=1e-12)
    compared = desk.run("compare", "study/records.jsonl", *graded, "--json")
    (pair,) = json.loads(compared.stdout)["pairs"]
    assert {"a", "b", "difference", "low", "high", "detectable"} <= pair.keys()
    assert pair["difference"] == pytest.approx(float(table["bare"]["rho"]) - float(table["strict"]["rho"]), abs=1e-12)
    assert endpoint.stats()["calls"] == asked
