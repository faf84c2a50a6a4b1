"""JUnit: a failed record is an error, an abstention skipped, a score below the mark a failure."""

import re
import xml.etree.ElementTree as ET

import pytest

from evenhand.errors import InvalidInput
from evenhand.report.junit import deciding, report_junit


def suites(records, pass_at=None, hide_scores=False):
    return ET.fromstring(report_junit(records, title="t", pass_at=pass_at, hide_scores=hide_scores))


@pytest.fixture
def records(record):
    return [
        record(item="good"),
        record(item="poor", quote="invented"),
        record(item="broken", status="failed", cause={"code": "truncated", "message": "cut", "raw_key": None}),
        record(item="silent", status="abstained", reason="refusal"),
    ]


def test_without_a_mark_every_verdict_passes(records):
    root = suites(records)
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "0",
        "errors": "1",
        "skipped": "1",
    }
    assert [case.find("error").get("type") for case in root.iter("testcase") if case.find("error") is not None] == [
        "truncated"
    ]


def test_a_score_below_the_mark_is_a_failure(records):
    root = suites(records, pass_at=0.5)
    assert root.get("failures") == "1"
    (failure,) = root.iter("failure")
    assert failure.get("message") == "0 is below 0.5"


def test_hidden_scores_are_not_in_the_xml(records):
    text = report_junit(records, title="t", pass_at=0.5, hide_scores=True)
    assert "below the mark" in text
    assert "score 1" not in text
    assert "0.5" not in text


def test_a_mark_outside_the_scale_is_refused(records):
    with pytest.raises(InvalidInput, match="--pass-at 60: the scale of record 'good' is 0 to 1"):
        suites(records, pass_at=60)


def test_text_that_xml_cannot_hold_is_shown_by_its_code(record, hostile):
    made = report_junit(
        [
            record(item=hostile, member=hostile),
            record(item=hostile, status="failed", cause={"code": hostile, "message": hostile, "raw_key": None}),
            record(item=hostile, status="abstained", reason=hostile),
        ],
        title=hostile,
        pass_at=None,
        hide_scores=False,
    )
    root = ET.fromstring(made)
    assert "\\x00" in next(root.iter("error")).get("message")
    assert not re.search(r"<script|<img|[\x00-\x08\x0b-\x1f]", made)


def test_a_panel_decides_and_not_its_members(record):
    panel = {"rule": "majority", "size": 2, "members": [], "dissent": []}
    records = [record(), record(member="openai/y"), record(member=None, panel=panel)]
    assert [one.member for one in deciding(records)] == [None]
    assert len(deciding(records[:2])) == 2
