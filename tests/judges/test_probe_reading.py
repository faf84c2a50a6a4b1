"""A run is exactly as many whole numbers as items, each on the scale, or no run."""

import json
from collections import Counter

import pytest

from evenhand.judges.probe_reading import RunFailure, ratings_of, read_run, run_of_document
from evenhand.terms import Reply

GOOD = [8, 7, 9, 6, 5, 7, 8, 7, 6, 9, 4, 7, 8, 5, 6, 7, 3, 8, 7, 2]


def cause(values, n=20):
    found = ratings_of(values, n, 1, 10)
    assert isinstance(found, RunFailure), found
    assert found.message
    return found.cause


def changed(place, value):
    return [*GOOD[:place], value, *GOOD[place + 1 :]]


@pytest.mark.shared
def test_only_runs_with_exactly_twenty_numbers_on_the_scale_count(shared):
    lines = (shared / "data/cases/cases.jsonl").read_text(encoding="utf-8").split("\n")
    (case,) = [case for case in map(json.loads, filter(None, lines)) if case["id"] == "T089"]
    given, expected = case["input"], case["expected"]
    found = {
        path.name: run_of_document(json.loads(path.read_text()), given["n_items"], *given["scale"])
        for path in sorted((shared / "data/cases" / given["folder"]).glob("run-*.json"))
    }
    assert [name for name, run in found.items() if isinstance(run, tuple)] == ["run-001.json", "run-008.json"]
    causes = Counter(run.cause for run in found.values() if isinstance(run, RunFailure))
    assert causes.total() == expected["failed"]
    assert causes == {"too_few": 1, "too_many": 1, "not_a_number": 2, "off_scale": 1, "parse_failed": 1}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (GOOD[1:], "too_few"),
        (GOOD[:-1], "too_few"),
        ([], "too_few"),
        ([*GOOD, 7], "too_many"),
        (GOOD * 2, "too_many"),
        (changed(5, None), "not_a_number"),
        (changed(5, "7"), "not_a_number"),
        (changed(5, "seven"), "not_a_number"),
        (changed(5, True), "not_a_number"),
        (changed(5, [7]), "not_a_number"),
        (changed(5, {"score": 7}), "not_a_number"),
        (changed(5, float("nan")), "not_a_number"),
        (changed(5, float("inf")), "not_a_number"),
        (changed(5, 11), "off_scale"),
        (changed(5, 0), "off_scale"),
        (changed(5, -7), "off_scale"),
        (changed(5, 10**30), "off_scale"),
        (changed(5, 10**400), "off_scale"),
        (changed(5, -(10**400)), "off_scale"),
        (changed(5, 10.5), "off_scale"),
        (changed(5, 7.5), "not_whole"),
        (changed(5, 6.999999), "not_whole"),
    ],
)
def test_nothing_is_shifted_padded_clipped_or_converted(values, wanted):
    assert cause(values) == wanted


def test_a_whole_number_written_as_a_float_is_that_number():
    assert ratings_of([7.0] * 3, 3, 1, 10) == (7, 7, 7)
    assert all(isinstance(rating, int) for rating in ratings_of([7.0] * 3, 3, 1, 10))


def test_a_permutation_cannot_be_seen():
    assert ratings_of(GOOD[::-1], 20, 1, 10) == tuple(GOOD[::-1])


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        ({"parse_failed": True}, "parse_failed"),
        ({"parse_failed": True, "scores": GOOD}, "parse_failed"),
        ({"parse_failed": "yes"}, "parse_failed"),
        ({}, "no_scores"),
        ({"scores": None}, "no_scores"),
        ({"scores": "8 7 9"}, "no_scores"),
        ({"scores": {"0": 8}}, "no_scores"),
        ({"ratings": GOOD}, "no_scores"),
        (GOOD, "no_scores"),
        (None, "no_scores"),
    ],
)
def test_a_file_without_a_list_of_scores_is_a_failed_run(document, wanted):
    assert run_of_document(document, 20, 1, 10).cause == wanted


def test_a_file_that_says_it_was_parsed_is_read():
    assert run_of_document({"parse_failed": False, "scores": GOOD}, 20, 1, 10) == tuple(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"scores": GOOD}),
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD)}\n```",
        f"Here you are:\n```json\n{json.dumps({'scores': GOOD})}\n```\nDone.",
        f'<think>A is good: [9], then {{"scores": [1]}}</think>{json.dumps({"scores": GOOD})}',
    ],
)
def test_a_list_alone_or_under_its_key_is_read_whatever_surrounds_it(text):
    assert read_run(Reply(text=text), 20, 1, 10) == tuple(GOOD)


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        (Reply(text=""), "empty"),
        (Reply(text=" \n"), "empty"),
        (Reply(text=json.dumps({"scores": GOOD})[:40], finish="length"), "truncated"),
        (Reply(text=json.dumps({"scores": GOOD}), finish="length"), "truncated"),
        (Reply(text="", finish="filter"), "filtered"),
        (Reply(text="", refusal="No."), "refused"),
        (Reply(text="I cannot rate such texts."), "refused"),
        (Reply(text="8, 7, 9"), "unreadable"),
        (Reply(text=json.dumps({"scores": GOOD})[:40]), "unreadable"),
        (Reply(text=json.dumps({"scores": GOOD}) + json.dumps({"scores": GOOD[::-1]})), "unreadable"),
        (Reply(text="[" * 50_000), "unreadable"),
        (Reply(text=json.dumps(GOOD[:19])), "too_few"),
        (Reply(text='{"scores": [NaN]}'), "unreadable"),
    ],
)
def test_every_reply_that_is_no_run_has_its_cause(reply, wanted):
    assert read_run(reply, 20, 1, 10).cause == wanted
