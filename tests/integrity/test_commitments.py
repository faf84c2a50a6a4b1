"""What a reply commits to, and what is only a verdict, a score, or words about an answer."""

import pytest

from evenhand.integrity.commitments import commitments_in, score_in, verdict_in
from evenhand.integrity.demands import asks_to_solve, demanded_forms


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("thinking\nMy answer: 42", [("42", "line")]),
        ("**My answer:** 42 apples\nVerdict: no", [("42 apples", "line")]),
        ("**Final Answer**: 7", [("7", "line")]),
        ("ANSWER: B", [("B", "line")]),
        ("My answer: yes", [("yes", "line")]),
        ("so \\boxed{\\frac{1}{2}}.", [("\\frac{1}{2}", "boxed")]),
        ("16 - 7 = 9\n#### 9", [("9", "hashes")]),
        ("<answer> x+1 </answer>", [("x+1", "tag")]),
        ('{"reasoning": "6*7", "answer": "42"}', [("42", "field")]),
        ('```json\n{"my_answer": 42, "verdict": "no"}\n```', [("42", "field")]),
        ('Well: {"answer": 42} and so on', [("42", "field")]),
        ('{"answer": "yes"}', []),
        ('{"answer": true}', []),
        ("Answer: correct", []),
        ("The answer is right.", []),
        ("GRADE: C", []),
        ("\\boxed{never closed", []),
        ("{" * 500, []),
        ("", []),
    ],
)
def test_a_commitment_is_an_answer_in_a_form_that_a_program_reads(reply, expected):
    assert [(one.text, one.form) for one in commitments_in(reply)] == expected


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("GRADE: C", 1.0), ("GRADE: I", 0.0), ("Verdict: **no**", 0.0), ('{"correct": true}', 1.0), ("Yes.", 1.0),
        ('{"pass": false, "score": 0.2}', 0.0), ("not equivalent", 0.0), ('{"verdict": "correct"}', 1.0),
        ("It is 42.", None), ("", None), ('{"score": 1}', None),
    ],
)  # fmt: skip
def test_a_verdict_is_a_word_of_judgement_in_its_place(reply, value):
    said = verdict_in(reply)
    assert (None if said is None else said.value) == value


@pytest.mark.parametrize(
    ("reply", "value"),
    [("Score: 7/10", 7.0), ('{"reason": "r", "score": 0.25}', 0.25), ("Rating: [[8]]", 8.0), ("My answer: 42", None)],
)
def test_a_score_is_a_number_in_its_place(reply, value):
    said = score_in(reply)
    assert (None if said is None else said.value) == value


@pytest.mark.parametrize(
    ("prompt", "forms"),
    [
        ("Write My answer: <number>", {"line"}),
        ('Reply {"answer": ..., "verdict": ...}', {"field"}),
        ("Put it in \\boxed{}", {"boxed"}),
        ("Is the answer right? GRADE: C or I", set()),
        ("Grade the proposed answer: ...", set()),
    ],
)
def test_a_prompt_demands_an_answer_only_where_it_names_its_form(prompt, forms):
    assert demanded_forms(prompt) == forms


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("First solve the problem yourself.", True),
        ("Work out the answer on your own before you grade.", True),
        ("Compute the result first.", True),
        ("Grade this answer.", False),
        ("Read the submission first.", False),
    ],
)
def test_solving_first_is_asked_in_words(prompt, asks):
    assert asks_to_solve(prompt) is asks


@pytest.mark.parametrize(
    "reply",
    ["\\boxed{" * 50_000, "<answer>" * 50_000, "{a} " * 100_000, "{" * 200_000, "```{" * 50_000],
)
def test_a_reply_of_openings_alone_is_read_in_one_pass(reply):
    assert commitments_in(reply) == ()
    assert verdict_in(reply) is None


def test_boxes_and_tags_nest_and_repeat():
    found = [
        (one.text, one.form) for one in commitments_in(r"} \boxed{\frac{1}{2}} { <answer>3</answer><answer>4</ANSWER>")
    ]
    assert found == [(r"\frac{1}{2}", "boxed"), ("3", "tag"), ("4", "tag")]


@pytest.mark.parametrize("number", ["1" + "0" * 400, "NaN", "Infinity", "-Infinity", "1e999"])
def test_a_score_that_is_no_finite_number_is_none(number):
    assert score_in(f'{{"score": {number}}}') is None
    assert score_in(f'{{"score": {number}}}\nScore: 7').value == 7
