"""The shared cases of quoting, read where they lie."""

import json
from pathlib import Path

import pytest

from evenhand.judges.quotes import QuotedText, QuoteMatch


@pytest.fixture(scope="module")
def cases(shared: Path):
    path = shared / "data" / "cases" / "cases.jsonl"
    if not path.is_file():
        pytest.skip(f"needs the shared cases: there is no {path}")
    every = map(json.loads, path.read_text("utf-8").splitlines())
    return {case["id"]: case for case in every if case["area"] == "quote"}


def matches(case, *, fuzzy: float | None = None) -> list[QuoteMatch]:
    text = QuotedText(case["input"]["candidate"])
    return [text.find(quote, fuzzy=fuzzy) for quote in case["input"].get("variants") or [case["input"]["quote"]]]


@pytest.mark.shared
def test_an_ellipsis_shows_the_negation_it_swallowed(cases):
    (match,) = matches(cases["T029"])
    assert match.status == "elided"
    assert match.gap == cases["T029"]["expected"]["gap_text"]


@pytest.mark.shared
def test_letters_that_grow_when_folded_move_no_span(cases):
    case = cases["T031"]
    (match,) = matches(case)
    assert (match.status, list(match.span)) == (case["expected"]["status"], case["expected"]["span"])
    assert case["input"]["candidate"][slice(*match.span)] == case["expected"]["span_text"]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["T033", "T035"])
def test_variants_have_the_statuses_stated(cases, name):
    statuses = [match.status for match in matches(cases[name])]
    for status, allowed in zip(statuses, cases[name]["expected"]["variant_status"], strict=True):
        assert status in allowed.split(" or ")


@pytest.mark.shared
def test_a_slip_of_the_backslash_is_found_again(cases):
    candidate = cases["T037"]["input"]["item"]["candidate"]
    reply = cases["T037"]["input"]["replies"][0]["message"]["content"]
    checks = json.loads(reply.replace("\\(", "\\\\(").replace("\\)", "\\\\)"))["checks"]
    found = [QuotedText(candidate).find(check["quote"]).status for check in checks if check["passed"]]
    assert len(found) == cases["T037"]["expected"]["score"]
    assert set(found) <= {"exact", "normalized"}


@pytest.mark.shared
@pytest.mark.parametrize("fuzzy", [None, 0.1, 0.5, 0.8, 0.9, 0.95, 0.98])
def test_a_changed_number_or_negation_stays_unaccepted_at_any_likeness(cases, fuzzy):
    statuses = [match.status for match in matches(cases["T039"], fuzzy=fuzzy)]
    for status, allowed in zip(statuses, cases["T039"]["expected"]["variant_status"], strict=True):
        assert status in allowed.split(" or ")
