"""Judges as harnesses write them: forms of an answer, retries, cut and escaped candidates, and what must not pass.

Each is given to `trace_evidence` with and without outcomes, and the verdict on C1 is what is asked for.
"""

import hashlib
import html
import json
import textwrap
import unicodedata
from pathlib import Path

import pytest

from evenhand.audit.judges import trace_facts
from evenhand.integrity.judge_independence import judge_independence
from evenhand.integrity.sequence import trace_evidence
from evenhand.integrity.solving import Judged, solve_figures
from evenhand.terms import Item, TracedCall

# (id, task, candidate, reference, the judge's own answer); the lenient judge accepts what stands in LENIENT as well.
ROWS = [
    ("q1", "A baker fills 14 trays with 6 rolls each and drops 5 rolls. How many can be sold?", "79", "79", "79"),
    ("q10", "A baker fills 14 trays with 6 rolls and bakes 20 rolls more. How many are there?", "99", "104", "104"),
    ("q2", "Mira cycles 18 km on Monday and twice as far on Tuesday. How far in total, in km?", "54", "54", "54"),
    ("q3", "A tank of 240 litres loses 15 litres an hour. How many are left after 9 hours?", "135", "105", "105"),
    ("q4", "A train of 8 wagons has 52 seats in each; 37 are broken. How many can be used?", "389", "379", "379"),
    ("q5", "Nine friends share 153 stickers equally. How many stickers does each of them get?", "17", "17", "17"),
    ("q6", "A square garden has a fence of 88 metres. What is its area in square metres?", "484", "484", "441"),
    ("q7", "Water rises 4 cm every 3 minutes. How many cm does it rise in one and a half hours?", "120", "120", "120"),
]
LENIENT = {"q10", "q3", "q6"}
FORM = "The last line must read 'FINAL ANSWER: <number>'."
GRADE = "Grade the student's answer. End with GRADE: C or GRADE: I."
LONG = (
    "Let me go through this carefully, one quantity at a time, and keep track of units.\n"
    "Multiplying and adding as told I obtain {0}.\n\n#### {0}"
)


TYPESET = "Zählt man es “naïv” — Ⅻ ﬁnde ich, one quantity after the other, at last {0}.\n#### {0}"


class Row:
    """One item with the candidate as it is written, and whether the lenient judge accepts it.

    Args:
        long: whether the candidate is its number alone, or LONG around it, or around it another text.
    """

    def __init__(self, row, long):
        self.id, self.task, self.short, self.reference, self.own = row
        self.candidate = (long if isinstance(long, str) else LONG if long else "{0}").format(self.short)
        self.accepted = self.short == self.own or self.id in LENIENT
        self.shown = f"Question: {self.task}\nStudent: {self.candidate}\n"
        self.answer = f"Adding it all up.\nFINAL ANSWER: {self.own}"
        self.grade = f"Fine.\nGRADE: {'C' if self.accepted else 'I'}"


class Calls(list):
    """The calls of a harness, one after the other."""

    def ask(self, request, *replies, model="judge", fault=None):
        messages = ((("user", request),) if isinstance(request, str) else
                    tuple((("user", "assistant")[k % 2], text) for k, text in enumerate(request)))  # fmt: skip
        digest = hashlib.sha256(repr(messages).encode()).hexdigest()
        self.append(TracedCall(
            number=len(self), wire="chat", path="/chat/completions", began=2 * len(self), ended=2 * len(self) + 1,
            model=model, messages=messages, replies=replies, request_hash=f"sha256:{digest}", status=200, fault=fault,
            readable=True,
        ))  # fmt: skip


def number(candidate, answer):
    found = [text.replace("*", " ").split()[-1].strip(".") for text in (candidate, answer)]
    return "equal" if found[0] == found[1] else "unequal"


def verdicts(asks, *, long=False, lenient=False, rows=ROWS):
    """The first letters of C1 with and without outcomes, and the evidence with them."""
    given = [Row(row, long) for row in rows]
    calls = Calls()
    for row in given:
        asks(calls, row)
    items = [Item(id=row.id, task=row.task, candidate=row.candidate, reference=row.reference) for row in given]
    accepted = {row.id: row.accepted if lenient else row.short == row.own for row in given}
    solving = solve_figures([Judged(item=row.id, solves=(True,), wrong=row.short != row.reference) for row in given])
    words = []
    for outcomes in (accepted, None):
        found = trace_evidence(items, calls, outcomes, number, match_words="number")
        facts = trace_facts(found, Path("trace"), None if outcomes is None else set(outcomes))
        words.append(judge_independence(facts, "mathematics", solving).verdict)
    return tuple(words), trace_evidence(items, calls, accepted, number, match_words="number")


FAIL, INSUFFICIENT = ("fail", "fail"), ("insufficient evidence", "insufficient evidence")
PASS, IGNORED = ("pass", "insufficient evidence"), ("fail", "insufficient evidence")

FORMS = {
    "The last line of your response should be of the form Answer: $ANSWER (without quotes).": "So.\nAnswer: {}",
    "Your response should be of the following format: 'ANSWER: $ANSWER' (without quotes).": "ANSWER: {}",
    "Finish with **Answer:** and the number.": "So.\n\n**Answer:** {}",
    "Finish with a section\n### Final Answer\nwith the number alone.": "So.\n\n### Final Answer\n{}",
    "End your reply with the sentence 'The answer is <number>.'": "Adding up. The answer is {}.",
    "End with 'Therefore, the final answer is: <number>'": "So. Therefore, the final answer is: {}",
    "Put your final answer within \\boxed{{}}.": "We get \\boxed{{{}}}.",
    "End with #### and the number.": "So.\n#### {}",
    "Put the result in <solution></solution>.": "<think>x</think><solution>{}</solution>",
    "Close with 'Result: <number>'.": "So.\nResult: {}",
    "Give it as 'my answer = <number>'.": "So.\nmy answer = {}",
    'Reply as {{"thoughts": ..., "correct_answer": ...}}.': '{{"thoughts": "x", "correct_answer": "{}"}}',
    'Reply as {{"finalAnswer": number}}.': '{{"finalAnswer": {}}}',
    "Reply as JSON with the keys steps and computed_answer.": '{{"steps": "x", "computed_answer": "{}"}}',
    "Reply as YAML with the keys reasoning and answer.": "reasoning: adding up\nanswer: {}",
}


@pytest.mark.parametrize("asked", FORMS)
@pytest.mark.parametrize("visible", [False, True])
def test_an_answer_in_a_form_that_the_prompt_demands_is_a_commitment(asked, visible):
    def asks(calls, row):
        calls.ask(f"Solve it. {asked.format()}\n\n{row.shown if visible else row.task}", FORMS[asked].format(row.own))

    for long in (False, True):
        words, found = verdicts(asks, long=long)
        assert words == PASS
        assert found.arms == {"commit_visible" if visible else "commit_blind": 8}


ANCHORED = {
    "its template labels the candidate 'Answer:'": (
        "Question: {task}\nAnswer: {candidate}\nIs the answer correct? End with Verdict: yes/no",
        ("The answer is correct.\nVerdict: yes", "The answer is incorrect, since it is more.\nVerdict: no")),
    "its replies happen to give an answer": (
        "Question: {task}\nStudent answer: {candidate}\n" + GRADE,
        ("Correct answer: 5\nGRADE: C", "I think the answer is 5.\nGRADE: I")),
    "its verdict is labelled 'Result:'": (
        "Problem: {task}\nSolution: {candidate}\nEnd with 'Result: pass' or 'Result: fail'.",
        ("Solution seems alright.\nResult: pass", "Solution is off.\nResult: fail")),
    "its verdict is the field 'answer'": (
        "Problem: {task}\nSolution: {candidate}\nIs it right? Reply as JSON with the key answer (yes or no).",
        ('{{"answer": "yes"}}', '{{"answer": "no"}}')),
    "its score is a number alone": (
        "Problem: {task}\nStudent: {candidate}\nRate from 1 to 10. Reply with the number alone.", ("9", "2")),
    "its verdict is a letter": (
        "Question: {task}\nGold: {reference}\nPredicted answer: {candidate}\nGrade as A: CORRECT or B: INCORRECT.",
        ("A", "B")),
    "its examples hold answers": (
        "Question: 1+1?\nStudent: Final answer: 3\nGRADE: I\n\nQuestion: {task}\nStudent: {candidate}\n",
        ("GRADE: C", "GRADE: I")),
}  # fmt: skip


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("how", ANCHORED)
def test_a_judge_that_only_looks_like_committing_fails(how, long):
    prompt, (yes, no) = ANCHORED[how]

    def asks(calls, row):
        calls.ask(prompt.format(task=row.task, candidate=row.candidate, reference=row.reference),
                  (yes if row.accepted else no).format())  # fmt: skip

    words, found = verdicts(asks, lenient=True, long=long)
    assert (words, found.arms) == (FAIL, {"anchored": 8})


def test_a_judge_that_repeats_the_students_answer_never_passes():
    def asks(calls, row):
        calls.ask(f"{row.shown}Write it as 'Final answer: x', then GRADE: C or I.",
                  f"Final answer: {row.short}\nGRADE: {'C' if row.accepted else 'I'}")  # fmt: skip

    assert verdicts(asks, lenient=True)[0] == IGNORED


SHOWN = {
    "as the assistant's turn": lambda row: (row.task, row.candidate, GRADE),
    "escaped for HTML": lambda row: f"<q>{html.escape(row.task)}</q><a>{html.escape(row.candidate)}</a> {GRADE}",
    "twice in JSON": lambda row: GRADE + json.dumps(json.dumps({"q": row.task, "a": row.candidate})),
    "wrapped anew": lambda row: f"{textwrap.fill(row.task, 30)}\n\n{textwrap.fill(row.candidate, 30)}\n{GRADE}",
    "as a quotation": lambda row: f"{row.task}\n\n{textwrap.indent(row.candidate, '> ')}\n{GRADE}",
    "in decomposed characters": lambda row: unicodedata.normalize("NFD", row.shown) + GRADE,
    "in compatible characters": lambda row: unicodedata.normalize("NFKC", row.shown) + GRADE,
    "with plain quotes": lambda row: row.shown.translate({0x201C: '"', 0x201D: '"', 0x2014: "-"}) + GRADE,
    "cut behind its beginning": lambda row: f"{row.task}\n{row.candidate[:70]}...\n{GRADE}",
    "cut before its end": lambda row: f"{row.task}\n...{row.candidate[-60:]}\n{GRADE}",
    "without its middle": lambda row: f"{row.task}\n{row.candidate[:70]} [...] {row.candidate[-40:]}\n{GRADE}",
}


@pytest.mark.parametrize("how", SHOWN)
def test_a_candidate_is_seen_however_it_is_shown(how):
    def asks(calls, row):
        calls.ask(SHOWN[how](row), row.grade)

    words, found = verdicts(asks, lenient=True, long=TYPESET)
    assert (words, found.arms) == (FAIL, {"anchored": 8})
    assert all(one.candidate_in_view for one in found.items)


RETRIED = {
    "after a reply without an answer": lambda calls, row, ask: (calls.ask(ask, "I cannot say."),),
    "twice": lambda calls, row, ask: (calls.ask(ask, "Well, it depends."), calls.ask(ask, "I cannot say.")),
    "after a stream that broke off": lambda calls, row, ask: (
        calls.ask(ask, f"FINAL ANSWER: {row.own[:1]}", fault="the endpoint broke off its reply"),),
}  # fmt: skip


@pytest.mark.parametrize("visible", [False, True])
@pytest.mark.parametrize("how", RETRIED)
def test_a_call_that_is_made_again_counts_by_its_last_reply(how, visible):
    def asks(calls, row):
        request = f"Solve it by yourself first. {FORM}\n{row.shown if visible else row.task}"
        if row.id in ("q1", "q10", "q5"):
            RETRIED[how](calls, row, request)
        calls.ask(request, row.answer)

    assert verdicts(asks)[0] == PASS


def test_a_reply_that_is_mended_in_the_same_conversation_counts_as_mended():
    def asks(calls, row):
        first = f"Solve it. {FORM}\n{row.task}"
        calls.ask(first, "It is something.")
        calls.ask((first, "It is something.", f"Your reply could not be parsed. {FORM}"), row.answer)

    assert verdicts(asks)[0] == PASS


def test_of_replies_drawn_for_a_majority_each_counts():
    def asks(calls, row):
        for reply in (row.answer, "I cannot say.", "Neither can I."):
            calls.ask(f"Solve it. {FORM}\n{row.task}", reply)

    words, found = verdicts(asks)
    assert words[0] == "fail"  # accepted, though most of the three gave no answer
    assert {one.commitment for one in found.items} == {None}


@pytest.mark.parametrize(("maker", "expected"), [("student", FAIL), ("judge", INSUFFICIENT)])
@pytest.mark.parametrize("all_accepted", [False, True])
def test_the_calls_that_made_short_candidates_are_no_commitments(maker, expected, all_accepted):
    def asks(calls, row):
        row.accepted = row.accepted or all_accepted
        calls.ask(f"Solve it. {FORM}\n{row.task}", f"FINAL ANSWER: {row.short}", model=maker)
        calls.ask(f"{GRADE}\n{row.shown}", row.grade)

    assert verdicts(asks, lenient=True)[0] == expected


def test_an_answer_that_the_later_comparison_holds_stays_a_commitment_where_all_candidates_are_right():
    def asks(calls, row):
        calls.ask(f"Solve it. {FORM}\n{row.task}", row.answer)
        calls.ask(f"{row.task}\nYour answer: {row.own}. The student's: {row.candidate}. Same? yes or no", "yes")

    right = [(*row[:2], row[4], row[4], row[4]) for row in ROWS]
    assert verdicts(asks, rows=right)[0] == PASS


def test_a_demand_that_a_weak_model_seldom_meets_is_a_demand_and_its_other_items_are_abstentions():
    def asks(calls, row):
        calls.ask(f"{row.shown}First work it out yourself. {FORM}", row.answer if row.id == "q1" else "That is hard.")

    words, found = verdicts(asks)
    assert words[0] == "fail"  # since candidates were accepted on which it gave no answer
    assert found.arms == {"commit_ignored": 3, "commit_visible": 5}
    assert [one.commitment for one in found.items][:2] == ["79", None]


def test_a_prompt_that_asks_for_no_judgement_and_a_reply_that_cannot_be_read_are_no_evidence():
    def asks(calls, row):
        calls.ask(f"{row.shown}Work out the question, and reply with the number alone.", row.own)

    words, found = verdicts(asks)
    assert words == INSUFFICIENT
    assert "asks for no judgement" in found.items[0].reason


def test_an_item_that_the_template_shows_as_an_example_is_told_from_the_one_that_is_asked_about():
    def asks(calls, row):
        calls.ask(f"Example: {ROWS[1][1]} -> GRADE: C\n{GRADE}\n{row.shown}", row.grade)

    words, found = verdicts(asks, lenient=True)
    assert (words, found.n_placed) == (FAIL, 8)


def test_all_items_in_one_call_cannot_be_told_apart_and_it_is_said():
    def asks(calls, row):
        if row.id == "q1":
            calls.ask(GRADE + "".join(Row(one, False).shown for one in ROWS), "1 C, 2 I, ...")

    words, found = verdicts(asks, lenient=True)
    assert words == INSUFFICIENT
    assert "holds the texts of several items at once" in found.unplaced


def test_tasks_inside_one_another_and_ids_that_begin_alike_are_told_apart():
    first = "What is two plus two in total?"
    second = f"First: {first} Then double that sum."
    rows = [
        ("a", first, "5", "4", "4"),
        ("ab", second, "8", "8", "8"),
        ("abc", f"{second} And add one.", "8", "9", "9"),
    ]
    words, found = verdicts(lambda calls, row: calls.ask(f"Solve it. {FORM}\n{row.task}", row.answer), rows=rows)
    assert words == PASS
    assert [one.commitment for one in found.items] == ["4", "8", "9"]
