"""A judge's own answer on a page: shown in full where it may be, as text and nothing else."""

import re

import pytest

from evenhand.report.figures import distribution
from evenhand.report.markdown import report_markdown
from evenhand.report.pages import report_page
from evenhand.report.tallies import _WORDS, Bar


def committed(record, answer="18", match="equal", **more):
    key = "sha256:" + "1" * 64
    one = {"answer": answer, "key": key, "hash": "sha256:" + "2" * 64, "agrees": True}
    other = {**one, "answer": "the other one", "agrees": False}
    own = {
        "mode": "blind", "answer": answer, "key": key, "hash": one["hash"], "match": match, "how": "exact number",
        "compared_by": "code", "asked": 4, "stands": 0, "lost": ["unreadable", "none_given"],
        "commitments": [one, other], **more,
    }  # fmt: skip
    score = int(match == "equal")
    entry = {"id": "", "weight": 1.0, "score": score, "exact": float(score), "scale": [0, 1], "own": own}
    entry |= {"label": "accepted" if score else "rejected", "reason": "the numbers are equal"}
    return record(score=score, exact=float(score), criteria=(entry,), flags=("commitments_lost:2",))


def test_a_page_shows_every_own_answer_with_its_call_and_what_was_lost(record, report):
    made = report([committed(record)])
    for text in (report_page(made), report_markdown(made)):
        for words in ("own answer", "the other one", "unreadable, none_given", "commitments of the judge could not"):
            assert words in text
    page = report_page(made)
    assert "the candidate gives the same answer (exact number)" in page
    assert "commitment sha256:2222" in page
    assert "given with the candidate out of sight" in page


def test_a_hostile_answer_is_shown_and_never_run_and_a_long_one_is_cut(record, report, hostile):
    page = report_page(report([committed(record, answer=hostile + "9" * 2_000)]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "9" * 400 not in page
    assert "\x1b" not in page


def test_where_scores_are_hidden_the_comparison_is_too(record, report):
    shown = [report_page(report([committed(record, match=word)], hide_scores=True)) for word in ("equal", "unequal")]
    assert shown[0] == shown[1]
    assert "own answer" in shown[0]


@pytest.mark.parametrize("word", [word for words in _WORDS for word in words])
def test_the_chart_of_words_has_room_for_each_word_of_a_verdict(word):
    drawn = distribution([Bar(label=word, n=1, share=1.0, low=0.2, high=1.0)], 1, name="x")
    end = float(re.search(r'class="label" x="([0-9.]+)"', drawn)[1])
    assert end >= 7.5 * len(word)  # its text ends there and grows to the left, at under 7.5 a letter
