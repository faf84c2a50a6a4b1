"""Foreign text can hide nothing."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.report.visible import code_block, code_span, markup, plain

TEXTS = st.text(st.characters(codec=None), max_size=40)


@given(TEXTS)
@settings(deadline=None, max_examples=200)
def test_html_text_holds_no_tag_of_its_own_and_no_character_that_is_not_seen(text):
    made = str(markup(text))
    made.encode()
    bare = re.sub(r'<i class="hidden">[^<]*</i>', "", made)
    assert not set(bare) & set("<>\"'\x00\x1b\u202e\u200b\ufeff")
    assert all(unicodedata.category(character) != "Cc" for character in bare if character not in "\t\n")


@given(TEXTS)
@settings(deadline=None, max_examples=200)
def test_plain_text_is_one_line_that_xml_can_hold(text):
    made = plain(text)
    made.encode()
    assert all(
        character in "\t\n\r"
        or " " <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character > "\uffff"
        for character in made
    )
    assert not set(made) & set("\n\r\t\x1b\x85\u2028")


@given(TEXTS)
@settings(deadline=None, max_examples=200)
def test_a_code_span_cannot_be_left(text):
    made = code_span(text)
    if made:
        fence = re.match("`+", made)[0]
        inside = made[len(fence) : -len(fence)]
        assert made.endswith(fence)
        assert all(len(run) != len(fence) for run in re.findall("`+", inside))
        assert not inside.startswith("`")
        assert not inside.endswith("`")


@given(TEXTS)
@settings(deadline=None, max_examples=200)
def test_a_bar_in_a_table_is_escaped(text):
    assert not re.search(r"(?<!\\)\|", code_span(text, table=True))


def test_a_block_cannot_be_left_by_a_fence_inside():
    assert code_block("a\n```\n# b").splitlines()[0] == "````text"


@pytest.mark.parametrize("text", ["\U0001f468\u200d\U0001f469", "क्\u200dष", "tab\tline\nend"])
def test_joiners_and_line_breaks_stay(text):
    assert str(markup(text)) == text
