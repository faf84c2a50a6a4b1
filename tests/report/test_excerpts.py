"""Marked quotations, and cuts that are stated."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.report.excerpts import Mark, pieces

MARKS = st.lists(st.tuples(st.integers(-5, 260), st.integers(-5, 260)), max_size=6)


def marks_of(pairs):
    return [Mark(number=k, start=a, end=b, kind="for") for k, (a, b) in enumerate(pairs, 1)]


@given(st.text("ab c", max_size=250), MARKS)
@settings(deadline=None, max_examples=200)
def test_the_pieces_are_the_text(text, pairs):
    marks = marks_of(pairs)
    made = pieces(text, marks)
    assert "".join(piece.text for piece in made) == text
    within = {mark.number for mark in marks if 0 <= mark.start < mark.end <= len(text)}
    assert {number for piece in made for number in piece.ends} == within


@given(st.integers(0, 6000), st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 6000)), max_size=5))
@settings(deadline=None, max_examples=100)
def test_what_is_kept_and_what_is_cut_add_up(length, pairs):
    made = pieces("x" * length, marks_of(pairs), limit=2000)
    assert sum(len(piece.text) + piece.cut for piece in made) == length
    assert sum(len(piece.text) for piece in made) <= max(2000, 0)


def test_a_quotation_far_down_is_shown_in_its_surroundings():
    text = "a" * 50_000 + "HERE" + "b" * 50_000
    made = pieces(text, [Mark(number=1, start=50_000, end=50_004, kind="for")])
    assert [piece.text for piece in made if piece.kind] == ["HERE"]
    assert [piece.cut > 0 for piece in made].count(True) == 2
