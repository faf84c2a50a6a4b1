"""Laws of quote checking, over random texts."""

import random
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.judges.quote_cuts import is_cut
from evenhand.judges.quote_text import fold, fold_chars
from evenhand.judges.quotes import QuotedText, _says_nothing, find_quote

LAW = settings(max_examples=150, deadline=None)

ALPHABET = (
    "aabcdeinotuAI 0123456789.,:;-'\"()%\n\r\t ...."
    "éßİıﬁﬃ“”‘’«»–—−…½²①Ⅳ\u00a0\u2009\u202f\u00ad\u200b\u200d\ufe0f\u0301\u0323\u0307\u0345가각\u1100\u1161\u11a8日本語ไทย👍🏽👩ﷺｆ３𝟑\u2062\ud83d"
)
texts = st.text(st.sampled_from(ALPHABET), max_size=60) | st.text(max_size=40)
words = st.text(st.sampled_from("abcdefghilmnoprstuvéöñß"), min_size=2, max_size=8)
sentences = st.lists(words | st.integers(10, 9999).map(str), min_size=4, max_size=12)


@LAW
@given(texts)
def test_every_folded_character_knows_where_it_came_from(text):
    folded = fold(text)
    starts = list(folded.starts)
    assert len(starts) == len(folded.text) + 1
    assert starts == sorted(starts)
    assert starts[-1] == len(text)


@LAW
@given(texts, st.data())
def test_any_stretch_that_cuts_nothing_is_exact(text, data):
    places = range(len(text) + 1)
    whole = [p for p in places if not any(is_cut(text, p, length=0, opening=opening) for opening in (True, False))]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(whole), st.sampled_from(whole))))
    quote = text[start:end]
    if _says_nothing(quote):
        return  # absent, or the whole candidate
    match = find_quote(quote, text)
    assert match.status == "exact"
    assert match.span is not None
    assert text[slice(*match.span)] == quote
    assert match.span[0] <= start


@LAW
@given(texts, texts)
def test_a_span_lies_within_the_candidate_and_splits_no_character(quote, text):
    match = QuotedText(text).find(quote, fuzzy=0.6)
    assert (match.span is None) == (match.status == "absent")
    assert (match.gap is None) == (match.status != "elided")
    if match.span is None or match.span == (0, len(text)):
        return
    start, end = match.span
    assert 0 <= start < end <= len(text)
    if not _says_nothing(quote):
        assert start == 0 or not unicodedata.category(text[start]).startswith("M") or not fold_chars(text[:start])
        assert end == len(text) or not unicodedata.combining(text[end])
    if match.status == "exact":
        assert text[start:end] in (quote, quote.strip())


def in_another_writing(text: str, rng: random.Random) -> str:
    """The same words with soft hyphens, other spaces, line ends, letter case, composition and typographic marks."""
    swaps = {
        " ": [" ", "  ", "\r\n", "\u00a0", "\u2009 ", "\n\t"],
        "-": ["-", "‐", "‑", "–", "−"],
        "'": ["'", "’", "‘", "\u2032"],
    }
    written = (rng.choice(swaps.get(char, [char, char.upper(), char + "\u00ad", "\u200b" + char])) for char in text)
    return unicodedata.normalize(rng.choice(["NFC", "NFD"]), "".join(written))


@LAW
@given(sentences, st.integers(0, 10**6), st.data())
def test_another_writing_of_whole_words_is_found_where_it_folds_to_the_same(sentence, seed, data):
    first = data.draw(st.integers(0, len(sentence) - 2))
    last = data.draw(st.integers(first + 1, len(sentence) - 1))
    joint = data.draw(st.sampled_from([" ", " - ", "-", " '"]))
    quote = joint.join(sentence[first : last + 1])
    plain = ". ".join([*sentence[:first], quote, *sentence[last + 1 :]])
    candidate = in_another_writing(plain, random.Random(seed))
    match = find_quote(quote, candidate)
    assert match.status in ("exact", "normalized")
    assert match.span is not None
    assert fold(candidate[slice(*match.span)]).text == fold(quote).text


@LAW
@given(sentences, st.integers(10, 10**9), st.data())
def test_a_changed_digit_is_never_found(sentence, number, data):
    sentence = [word for word in sentence if not word.isdigit()]
    place = data.draw(st.integers(0, len(sentence)))
    candidate = " ".join([*sentence[:place], str(number), *sentence[place:]])
    digits = str(number)
    at = data.draw(st.integers(0, len(digits) - 1))
    digit = data.draw(st.sampled_from([other for other in "0123456789" if other != digits[at]]))
    changed = digits[:at] + digit + digits[at + 1 :]
    quote = " ".join([*sentence[:place], changed, *sentence[place:]])
    assert find_quote(quote, candidate, fuzzy=data.draw(st.floats(0.01, 1))).status == "absent"


def same_character(char: str) -> str:
    """The code point that canonical equivalence puts in a character's place; itself where there is none."""
    composed = unicodedata.normalize("NFC", char)
    return composed if len(composed) == 1 else char


def test_two_code_points_of_one_character_fold_alike():
    for code in range(0x110000):
        char = chr(code)
        if (other := same_character(char)) != char:
            assert fold_chars(char) == fold_chars(other), hex(code)


def test_no_character_folds_to_another_number():
    for code in range(0x110000):
        char = chr(code)
        if not (unicodedata.decomposition(char) or char.isnumeric()):
            continue
        form = fold_chars(char)
        # U+FA05 is 6D1E by canonical equivalence, but Unicode 15.1 gives a value (0) to the latter's entry alone.
        value = unicodedata.numeric(same_character(char), None)
        if value is None:
            assert not any(part.isnumeric() for part in form), hex(code)
        elif form != char:
            assert unicodedata.numeric(form) == value or form == char.casefold(), hex(code)


def test_no_character_folds_to_more_than_a_few():
    every = (chr(code) for code in range(0x30000))
    assert max(len(fold_chars(char)) for char in every if unicodedata.decomposition(char)) <= 12
