"""Laws that hold for any text: symmetry, answers equal to themselves, tolerances that only add, and linear time."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.matching.cleaning import cleaned, unmarked, unwrapped_latex
from evenhand.matching.matches import match, no_answer_in
from evenhand.matching.rules import ANSWER_KINDS, AnswerKind, MatchRule, Tolerance
from evenhand.matching.texts import plain_text

ALPHABET = st.sampled_from(
    [
        *"0123456789.,-+/%$ ()[]{}\\^_='\"ABCabcxe:;\n*`#\u2212\u200f\x00\u00bd\u00b2\u2009\u0663",
        *("\\boxed{", "}", "\\frac", "\\text{", "\\sqrt(", "answer is ", "Answer: ", " or ", " and ", "\\pm ", "####"),
        *("...", "cm", "thousand"),
    ]
)  # fmt: skip
TEXTS = st.lists(ALPHABET, max_size=12).map("".join)
KINDS = st.sampled_from(ANSWER_KINDS)
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.tuples(st.integers(-99, 99), st.integers(1, 99)).map(lambda pair: f"{pair[0]}/{pair[1]}"),
)
quick = settings(deadline=None, max_examples=150)


@quick
@given(TEXTS, TEXTS, KINDS)
def test_a_match_is_symmetric(one: str, two: str, kind: AnswerKind) -> None:
    rule = MatchRule(kind=kind)
    there, back = match(one, two, rule), match(two, one, rule)
    assert there.verdict == back.verdict or (kind == "code_output" and "equal" not in (there.verdict, back.verdict))


@quick
@given(TEXTS, KINDS)
def test_every_answer_equals_itself(text: str, kind: AnswerKind) -> None:
    rule = MatchRule(kind=kind)
    if no_answer_in(text, rule) is None:
        assert match(text, text, rule).verdict == "equal"


@quick
@given(NUMBERS, NUMBERS, st.integers(0, 6), st.integers(1, 6))
def test_a_larger_tolerance_accepts_all_that_a_smaller_one_does(one: str, two: str, places: int, figures: int) -> None:
    bounds = [
        (Tolerance(absolute=Fraction(1, 10 ** (places + 1))), Tolerance(absolute=Fraction(1, 10**places))),
        (Tolerance(relative=Fraction(1, 10 ** (places + 2))), Tolerance(relative=Fraction(1, 10 ** (places + 1)))),
        (Tolerance(decimals=places + 1), Tolerance(decimals=places)),
        (Tolerance(significant=figures + 1), Tolerance(significant=figures)),
    ]
    exact = match(one, two, MatchRule(kind="number")).verdict
    for smaller, larger in bounds:
        first, second = (
            match(one, two, MatchRule(kind="number", tolerance=bound)).verdict for bound in (smaller, larger)
        )
        assert [exact, first, second] == sorted([exact, first, second], key=["unequal", "equal"].index)


@quick
@given(NUMBERS, NUMBERS)
def test_numbers_are_equal_where_their_fractions_are(one: str, two: str) -> None:
    same = Fraction(one) == Fraction(two)
    assert match(one, two, MatchRule(kind="number")).verdict == ("equal" if same else "unequal")


@quick
@given(st.one_of(TEXTS, st.text(max_size=20)))
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once = cleaned(text)
    assert cleaned(once) == once
    assert plain_text(plain_text(once)) == plain_text(once)


@quick
@given(st.text(max_size=30), st.text(max_size=30), KINDS)
def test_no_text_raises(one: str, two: str, kind: AnswerKind) -> None:
    assert match(one, two, MatchRule(kind=kind)).verdict in ("equal", "unequal", "no_answer", "undecided")


LONG = 250_000  # characters
HOSTILE = {
    "digits": "9" * LONG,
    "groups": "1," * (LONG // 2),
    "numbers": "1 " * (LONG // 2),
    "fractions": "1/" * (LONG // 2),
    "words": "a" * LONG,
    "blanks": " " * LONG + "5",
    "open boxes": "\\boxed{" * (LONG // 7),
    "boxes": "\\boxed{5}" * (LONG // 9),
    "bare boxes": "\\boxed" * (LONG // 6),
    "markers": "answer is " * (LONG // 10),
    "lines of markers": "A:\n" * (LONG // 3),
    "brackets": "(" * LONG,
    "nested sets": "{" * (LONG // 2) + "}" * (LONG // 2),
    "roots": "\\sqrt(" * (LONG // 6),
    "stars": "*" * LONG,
    "dollars": "$" * LONG,
    "texts": "\\text{" * (LONG // 6),
    "plus-minus": "\\pm" * (LONG // 3),
    "null": "\x00" * LONG,
    "right to left": "\u200f5" * (LONG // 4),
    "raised": "\u00b2" * (LONG // 4),
    "ors": "A or " * (LONG // 5),
    "options": "option A " * (LONG // 9),
    "minus": "- " * (LONG // 2),
    "towers": "10^{" * 1000 + "10" + "}" * 1000,
    "powers": "1e999999999",
    "apostrophes": "a'" * (LONG // 2),
}


@pytest.mark.parametrize("kind", ANSWER_KINDS)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_read_without_an_error(name: str, kind: AnswerKind) -> None:
    """Linear time shows as this file ending in seconds; a text that is tried over and over would take minutes."""
    text = HOSTILE[name] if kind == "number" else HOSTILE[name][:50_000]
    assert match(text, "5", MatchRule(kind=kind)).verdict in ("equal", "unequal", "no_answer", "undecided")


@given(TEXTS)
@quick
def test_markdown_and_latex_dress_come_off_without_an_error(text: str) -> None:
    assert len(unwrapped_latex(unmarked(text))) <= 2 * len(text) + 2
