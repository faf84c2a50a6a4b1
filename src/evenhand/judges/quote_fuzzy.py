"""Quotations that are nearly there: a typing error is forgiven, another number or a lost "not" never.

Likeness alone would accept both: one digit in sixty characters is 98 % alike. So an alignment is a proposal, and its
words decide: the same numbers in the same order, the same negations, no word turned round by a prefix, and the
quotation's first and last word at the span's two ends (else a span could begin just after the "not").

Only windows of the candidate around verbatim parts of the quotation are aligned, so the cost stays linear in the
candidate; a quotation of which no part is verbatim is not found.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from rapidfuzz.fuzz import partial_ratio_alignment, ratio

from evenhand.judges.quote_cuts import NEGATING_PREFIXES, NEGATING_SUFFIXES
from evenhand.judges.quote_text import fold

__all__ = ["FUZZY_LIMIT", "NEGATIONS", "NUMBER_WORDS", "fuzzy_spans"]

FUZZY_LIMIT = 4_000
"""The longest quotation, in folded characters, that is aligned; a longer one is not looked for."""


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(text).text.split())


NEGATIONS = _words(
    """
    not no never none nobody nothing nowhere neither nor without hardly scarcely barely rarely seldom unlikely
    fail fails failed lack lacks lacked except unless only
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends weder ohne kaum
    ne n pas non jamais rien aucun aucune personne sans guère ni
    nunca jamás nada nadie ningún ninguno ninguna sin tampoco
    não nem nenhum nenhuma ninguém sem
    mai niente nulla nessuno nessuna senza né
    niet geen nooit niemand niets zonder
    inte ingen inget inga aldrig utan ikke aldri uten uden ei eivät
    nie nigdy nikt bez nikdy žádný не нет ни никогда без нельзя değil yok hiç
    لا لم لن ليس ما بدون नहीं न मत बिना
    """
)
"""Words whose coming or going turns a sentence round, in the languages most judged; folded."""

NUMBER_WORDS = _words(
    """
    zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand
    million billion half third quarter double twice triple once
    null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend halb doppelt
    zéro deux trois quatre cinq sept huit neuf dix onze douze vingt cent mille demi
    dos tres cuatro cinco seis siete ocho nueve diez veinte cien mil medio
    """
)
"""Numbers in words; folded."""

_CONTRACTIONS = _words(
    "cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt hadnt"
)
# Prefixes that make two like-looking words opposites.
_OPPOSITES = (
    *(("in", "de"), ("in", "ex"), ("in", "out"), ("im", "ex"), ("ac", "de"), ("ap", "de")),
    *(("over", "under"), ("up", "down"), ("pre", "post"), ("hyper", "hypo"), ("maxi", "mini")),
)

_WORDLESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_WORDLESS}]|(?:(?![{_WORDLESS}])[^\W_]|[\u0300-\u036f])+(?:'[^\W_]+)*")
_NUMBER = re.compile(r"(?:(?<![^\W_])[-+\u00b1])?\d+(?:[.,:/'^ ]\d+)*(?: ?[%\u2030])?")
_WORDLESS_NEGATION = re.compile("[不没沒無无非未否勿莫別别]|ない|なか|なく|ませ|ずに|안|못|없|않|ไม่|មិន|မ")
_SEEDS, _PLACES_PER_SEED, _WINDOWS = 24, 16, 24
_ALIKE = 70.0  # per cent from which two words are spellings of one


def fuzzy_spans(quote: str, text: str, threshold: float) -> Iterator[tuple[int, int]]:
    """Stretches of whole words that say nearly the same, the likest first.

    Args:
        quote: folded.
        text: the folded candidate.
        threshold: smallest accepted ratio, in (0, 1]: 2 * matching characters / all characters of both.
    """
    if len(quote) > FUZZY_LIMIT:
        return
    cutoff = 100 * threshold
    proposals = []
    for window in _windows(quote, text):
        found = partial_ratio_alignment(quote, text[slice(*window)], score_cutoff=0.8 * cutoff)
        if found is not None:
            near = (window[0] + found.dest_start, window[0] + found.dest_end)
            proposals.append((-found.score, window, near))
    spans = {span for _, window, near in sorted(proposals)[:8] for span in _word_spans(quote, text, window, near)}
    refused: list[tuple[int, int]] = []  # what overlaps a likelier stretch that says something else is part of it
    for score, span in sorted((-ratio(quote, text[slice(*span)]), span) for span in spans):
        if -score < cutoff:
            return
        if any(span[0] < end and start < span[1] for start, end in refused):
            continue
        if _says_same(quote, text[slice(*span)]):
            yield span
        else:
            refused.append(span)


def _windows(quote: str, text: str) -> list[tuple[int, int]]:
    """Stretches of the text where verbatim parts of the quotation stand at their place, those with most parts first."""
    length = max(3, min(12, len(quote) // 6))
    slack = len(quote) // 4 + 16
    votes: Counter[int] = Counter()
    for offset in range(0, len(quote) - length + 1, max(length, len(quote) // _SEEDS)):
        for place in islice(_places(text, quote[offset : offset + length]), _PLACES_PER_SEED):
            votes[(place - offset) // slack] += 1
    origins = [number * slack for number, _ in votes.most_common(_WINDOWS)]
    return [(max(0, origin - slack), origin + len(quote) + 2 * slack) for origin in origins]


def _places(text: str, seed: str) -> Iterator[int]:
    place = text.find(seed)
    while place >= 0:
        yield place
        place = text.find(seed, place + 1)


def _word_spans(quote: str, text: str, window: tuple[int, int], near: tuple[int, int]) -> list[tuple[int, int]]:
    """Stretches near an alignment that begin and end with the quotation's first and last word."""
    quoted = list(_WORD.finditer(quote))
    if not quoted:
        return []
    # signs before the first and after the last word, which the span takes in where the text has them too
    lead, tail = quote[: quoted[0].start()], quote[quoted[-1].end() :]
    starts, ends = [], []
    for word in _WORD.finditer(text, *window):
        if ratio(word.group(), quoted[0].group()) >= _ALIKE:
            start = word.start() - len(lead)
            starts.append(start if start >= 0 and text.startswith(lead, start) else word.start())
        if ratio(word.group(), quoted[-1].group()) >= _ALIKE:
            ends.append(word.end() + len(tail) * text.startswith(tail, word.end()))
    starts = sorted(starts, key=lambda start: abs(start - near[0]))[:4]
    ends = sorted(ends, key=lambda end: abs(end - near[1]))[:4]
    return [(start, end) for start in starts for end in ends if start < end]


def _says_same(quote: str, span: str) -> bool:
    """Whether two like-looking stretches agree in numbers and negations."""
    return (
        _numbers(quote) == _numbers(span)
        and _negations(quote) == _negations(span)
        and _number_words(quote) == _number_words(span)
        and not _turned_round(quote, span)
    )


def _numbers(text: str) -> list[str]:
    """Numbers with sign and per cent, every other numeric character, and what they are compared with, in order."""
    others = [char for char in text if char in "<=>\u2260\u2248~" or (char.isnumeric() and not char.isdecimal())]
    return [found.replace(" ", "") for found in _NUMBER.findall(text)] + others


def _negations(text: str) -> list[str]:
    """Negating words in order; contractions count as "not"."""
    words = ["not" if word.endswith("n't") or word in _CONTRACTIONS else word for word in _WORD.findall(text)]
    return [word for word in words if word in NEGATIONS] + _WORDLESS_NEGATION.findall(text)


def _number_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word in NUMBER_WORDS]


def _turned_round(quote: str, span: str) -> bool:
    """Whether a word of one, with a negating prefix or suffix or an opposite prefix, stands for one of the other."""
    ours, theirs = Counter(_WORD.findall(quote)), Counter(_WORD.findall(span))
    left, right = list(ours - theirs), list(theirs - ours)
    return any(_are_opposites(a, b) or _are_opposites(b, a) for a in left[:200] for b in right[:200])


def _are_opposites(word: str, other: str) -> bool:
    """unable, able; painless, pain; increase, decrease; with typing errors."""
    if any(word.startswith(prefix) and _are_alike(word[len(prefix) :], other) for prefix in NEGATING_PREFIXES):
        return True
    if any(suffix in word and _are_alike(word[: word.rindex(suffix)], other) for suffix in NEGATING_SUFFIXES):
        return True
    if any(word.endswith(one) and word[: -len(one)] + two == other for one, two in (("ful", "less"), ("voll", "los"))):
        return True
    return any(
        {word[: len(one)], other[: len(two)]} == {one, two} and _are_alike(word[len(one) :], other[len(two) :])
        for pair in _OPPOSITES
        for one, two in (pair, pair[::-1])
    )


def _are_alike(word: str, other: str) -> bool:
    return len(word) > 2 and ratio(word, other) >= 80
