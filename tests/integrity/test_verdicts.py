"""Words, populations, exit codes, and the frozen text of the criteria."""

import hashlib

import pytest

from evenhand.errors import InvalidInput
from evenhand.integrity import criteria_v0_1
from evenhand.integrity.verdicts import CriterionVerdict, Word, exit_code, population, worst


def test_the_text_of_version_0_1_is_frozen() -> None:
    """A later version is a new file: whoever changes a word here changes what published verdicts meant."""
    text = "\n".join(str(criterion) for criterion in criteria_v0_1.CRITERIA)
    assert criteria_v0_1.VERSION == "0.1"
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "5f1e8d66904759f497bebb3a0472ebd3ef86b5643a31bd1156293657f1c53593"
    )


def test_there_are_four_criteria_with_sources() -> None:
    assert [criterion.id for criterion in criteria_v0_1.CRITERIA] == ["C1", "C2", "C3", "C4"]
    assert all(criterion.sources and criterion.our_reading for criterion in criteria_v0_1.CRITERIA)


@pytest.mark.parametrize(
    ("words", "required", "code"),
    [
        ({"C1": "pass", "C2": "pass", "C3": "pass", "C4": "pass"}, None, 0),
        ({"C1": "not applicable", "C2": "not applicable", "C3": "pass", "C4": "pass"}, None, 0),
        ({"C1": "insufficient evidence", "C2": "fail", "C3": "pass", "C4": "pass"}, None, 1),
        ({"C1": "insufficient evidence", "C2": "pass", "C3": "pass", "C4": "pass"}, None, 3),
        ({"C1": "pass", "C2": "pass", "C3": "fail", "C4": "fail"}, ["C1", "C2"], 0),
        ({"C1": "pass", "C2": "insufficient evidence", "C3": "fail", "C4": "fail"}, ["C1", "C2"], 3),
    ],
)
def test_a_fail_exits_1_before_insufficient_evidence_exits_3(
    words: dict[str, Word], required: list[str] | None, code: int
) -> None:
    assert (exit_code(words) if required is None else exit_code(words, required)) == code


def test_a_criterion_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInput, match="C5"):
        exit_code({}, ["C5"])


def test_the_worst_word_is_the_fail() -> None:
    assert worst(["pass", "not applicable", "fail", "insufficient evidence"]) == "fail"
    assert worst(["pass", "not applicable"]) == "pass"
    assert worst([]) == "not applicable"


def test_subjective_tasks_are_a_population_of_their_own() -> None:
    assert {population(task) for task in ("mathematics", "code", "factual")} == {"verifiable"}
    assert population("subjective") == "subjective"


def test_a_verdict_prints_its_four_parts() -> None:
    found = CriterionVerdict(criterion="C1", verdict="pass", reason="r", evidence={"n": 1}, source="s").document()
    assert found == {"verdict": "pass", "reason": "r", "evidence": {"n": 1}, "source": "s"}
