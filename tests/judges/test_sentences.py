import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.judges.sentences import LONGEST, sentence_spans


def split(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("What?! No!! Well… yes.", ["What?!", "No!!", "Well… yes."]),
        ("Dr. Ada and Mrs. Lee met at 5 p.m. on Monday.", ["Dr. Ada and Mrs. Lee met at 5 p.m. on Monday."]),
        ("We left at 5 p.m. It rained.", ["We left at 5 p.m.", "It rained."]),
        (
            "Fruit, e.g. apples, i.e. food. Pears etc. were out.",
            ["Fruit, e.g. apples, i.e. food.", "Pears etc. were out."],
        ),
        ("J. R. Hall wrote it. So did I. We know.", ["J. R. Hall wrote it.", "So did I.", "We know."]),
        ("Did he? No. He left. See No. 5 and fig. 3.", ["Did he?", "No.", "He left.", "See No. 5 and fig. 3."]),
        ("It fell by 3.5 % to 1,000.25. Then v1.2.3 came.", ["It fell by 3.5 % to 1,000.25.", "Then v1.2.3 came."]),
        (
            "See https://a.example/b.c?d=e.f for more. Or mail x@y.example.",
            ["See https://a.example/b.c?d=e.f for more.", "Or mail x@y.example."],
        ),
        (
            "She said “Go away.” Then she left. (Really.) Yes.",
            ["She said “Go away.”", "Then she left.", "(Really.)", "Yes."],
        ),
        ('"Why?" he asked. "Stop!" she cried.', ['"Why?" he asked.', '"Stop!" she cried.']),
        ("A fact.[3] Another one.[12] End", ["A fact.[3]", "Another one.[12]", "End"]),
        ("i went home. then i slept.", ["i went home.", "then i slept."]),
        ("1. First\n2. Second one. With more.\na) third", ["1. First", "2. Second one.", "With more.", "a) third"]),
        ("- one\n- two\n* three", ["- one", "- two", "* three"]),
        ("Title\n\nText that follows", ["Title", "Text that follows"]),
        ("Name: Ada\nrole: engineer", ["Name: Ada", "role: engineer"]),
        (
            "A line that an editor wrapped because it was too\nlong for its window. And more.",
            ["A line that an editor wrapped because it was too\nlong for its window.", "And more."],
        ),
        (
            "```python\nx = a. b\nif x: pass. go\n```\nSo. Done.",
            ["```python", "x = a. b", "if x: pass. go", "```", "So.", "Done."],
        ),
        ("Here: ```\nx = a. b\ny()```\nSo. Done.", ["Here: ```", "x = a. b", "y()```", "So.", "Done."]),
        ("| a. b | c |\n|---|---|\n| d | e |", ["| a. b | c |", "|---|---|", "| d | e |"]),
        ("これは文です。次の文！「はい。」と言った", ["これは文です。", "次の文！", "「はい。」", "と言った"]),
        ("यह है। वह था। अंत", ["यह है।", "वह था।", "अंत"]),
        ("هل هذا؟ نعم.", ["هل هذا؟", "نعم."]),
        ("one\r\ntwo\rthree\u2028four\x85five", ["one", "two", "three", "four", "five"]),
    ],
)
def test_a_text_falls_into_its_sentences(text, sentences):
    assert split(text) == sentences


texts = st.text(
    st.one_of(
        st.sampled_from(list("aAbI1.!?…。」\"')]([-*|`# \t\n\r\u2028\u00a0é")), st.characters(exclude_categories=["Cs"])
    ),
    max_size=300,
)


@settings(deadline=None, max_examples=400)
@given(texts)
@example("```\n" * 5)
@example("a." * 1000)
@example("x" * 2000 + ". y")
@example("e.g. " * 200)
def test_every_character_that_is_no_space_stands_in_exactly_one_sentence(text):
    spans = sentence_spans(text)
    before = 0
    for start, end in spans:
        assert before <= start < end <= len(text)
        assert not text[before:start].strip()
        assert text[start:end] == text[start:end].strip()
        assert end - start <= LONGEST
        before = end
    assert not text[before:].strip()


@settings(deadline=None, max_examples=200)
@given(texts, texts)
def test_what_follows_a_blank_line_changes_nothing_before_it(first, second):
    first = first.replace("`", "").replace("~", "")
    joined = sentence_spans(first + "\n\n" + second)
    offset = len(first) + 2
    assert joined == sentence_spans(first) + [(start + offset, end + offset) for start, end in sentence_spans(second)]


@pytest.mark.parametrize(
    "piece", [".", '." ', "a. ", "\n", "a\n", "[1]", ".[1", "e.g.", "```\n", "。", "a. b", ".  \n"]
)
def test_repetition_costs_no_more_than_its_length(piece):
    # Not timed: a splitter that looks at a run twice would not come back from a million characters.
    text = piece * (200_000 // len(piece))
    assert sum(end - start for start, end in sentence_spans(text)) <= len(text)
