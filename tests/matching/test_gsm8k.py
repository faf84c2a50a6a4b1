"""Four models' answers to GSM8K questions, labelled by number: the matcher agrees on each."""

import json
from pathlib import Path

import pytest

from evenhand.matching.matches import match, no_answer_in
from evenhand.matching.rules import MatchRule

pytestmark = pytest.mark.shared
RULE = MatchRule(kind="number")


@pytest.mark.parametrize("field", ["answer", "solution"])
def test_the_matcher_agrees_with_every_label(shared: Path, field: str) -> None:
    """`answer` is what stands behind the last `A:`, missing where there was none; `solution` is the whole text."""
    lines = (shared / "data" / "integrity" / "gsm8k_candidates.jsonl").read_text("utf-8").splitlines()
    items = [json.loads(line) for line in lines]
    assert not [item["id"] for item in items if no_answer_in(item["gold_answer"], RULE)]
    rated = [(item, candidate) for item in items for candidate in item["candidates"]]
    differing = [
        (item["id"], candidate["model"])
        for item, candidate in rated
        if (match(candidate[field] or "", item["gold_answer"], RULE).verdict == "equal")
        != candidate["label_recomputed"]
    ]
    assert (len(rated), differing) == (857 * 4, [])
