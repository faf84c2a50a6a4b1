"""What is read from judges' prompts in the forms in which they are written."""

import pytest

from evenhand.errors import InvalidInput
from evenhand.integrity.templates import read_template


@pytest.mark.parametrize(
    "text",
    [
        "{question} {answer}",
        "{{ question }} {{ answer }}",
        "$question ${answer}",
        "<<question>> <<answer>>",
        "[[question]] [[answer]]",
        "{{item.question}} {{item.answer | trim}}",
    ],
)
def test_placeholders_are_found_in_every_way_of_writing(text: str) -> None:
    found = read_template(text)
    assert (found.has_task, found.has_candidate, found.has_reference) == (True, True, False)


def test_a_template_with_neither_task_nor_candidate_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"neither the task nor the candidate \(placeholders: rubric\)"):
        read_template("Follow {rubric}.")
    with pytest.raises(InvalidInput, match="placeholders: none"):
        read_template("Say something nice.")


@pytest.mark.parametrize(
    "demand",
    [
        "Begin with a line 'My answer: ...'.",
        "First write YOUR ANSWER: <number>",
        'Reply with JSON: {{"own_answer": "...", "verdict": true}}',
        "Put your own result in \\boxed{{}}.",
        "Write it between <my_answer> and </my_answer>.",
        "ANSWER: <your number>",
    ],
)
def test_a_demanded_commitment_is_found(demand: str) -> None:
    assert read_template("{task}\n{candidate}\n" + demand).commitment


@pytest.mark.parametrize(
    "demand",
    [
        "Solve the problem first, then say whether it is correct.",
        "Work it out yourself before you grade.",
        "Think step by step. GRADE: C or I",
        "Score it from 1 to 10.",
        "",
    ],
)
def test_being_told_to_solve_first_is_no_commitment(demand: str) -> None:
    assert not read_template("Question: {task}\nAnswer: {candidate}\n" + demand).commitment


def test_a_form_in_braces_is_no_placeholder() -> None:
    found = read_template('{task:.80}\nReply with {answer: string, score: int} or {"answer": 1}.')
    assert found.placeholders == ("task",)


def test_solving_first_is_quoted() -> None:
    assert read_template("{task} {candidate} First solve it.").solve_first == "First solve"
    assert read_template("{task} {candidate}").solve_first == ""


def test_the_order_of_commitment_and_verdict_is_read() -> None:
    before = read_template("{task} {candidate}\nMy answer: ...\nGRADE: C or I")
    after = read_template("{task} {candidate}\nGRADE: C or I\nMy answer: ...")
    alone = read_template("{task} {candidate}\nMy answer: ...")
    assert (before.commitment_first, after.commitment_first, alone.commitment_first) == (True, False, None)
