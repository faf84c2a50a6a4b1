"""A text into sentences, by rules alone: every character that is no white space stands in exactly one sentence.

A sentence ends
- at `.`, `!`, `?` or an ellipsis, with the quotation marks and brackets that close behind it, before white space;
  not after an abbreviation, an initial or the number of a list item, and not where a small letter follows a mark
  that may stand within a sentence (`"Why?" he asked`, `and so on... but`);
- at the full stops of scripts that set no space behind them;
- at a line break, unless the line was long and the next goes on with a small letter, as in wrapped prose;
- lines of code between fences and rows of tables stay whole; a sentence longer than `LONGEST` is parted at a space.

No rule is right for every text. What a rule misses only makes a sentence longer or shorter; nothing is ever lost,
doubled or reordered. Everything is linear in the text.
"""

import re
from collections.abc import Iterator

__all__ = ["LONGEST", "sentence_spans"]

LONGEST = 600
"""The most code points of one sentence; a longer one is parted, so that a citation still points at something."""

Span = tuple[int, int]

# Line ends of every system, and what Unicode adds to them.
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CLOSERS = "\"'\u201d\u2019\u00bb\u203a)\\]}\u300d\u300f\u3011\uff09*_`"
# Possessive, and without a condition on what follows, so that no run of marks is looked at twice.
_END = re.compile(
    rf"(?P<spaced>[.!?\u2026\u203c-\u2049\u061f\u06d4\u0964\u0965\u1362]++)(?:[{_CLOSERS}]|\[\d{{1,3}}\])*+"
    rf"|(?P<unspaced>[\u3002\uff01\uff1f\uff61][\u3002\uff01\uff1f\uff61!?]*+)[{_CLOSERS}]*+"
)
_SPACE = re.compile(r"\s*")
_WORD_BEFORE = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*\Z")
_WORD_CHARS = 24  # how far back an abbreviation is looked for
_ITEM = re.compile(
    r"[-*+\u2022\u2013\u2014\u25aa\u25cf\u00b7>#|$]|```|~~~|[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)\]]\s"
)
_NUMBER_OF_ITEM = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})")
_FENCE = re.compile(r"```|~~~")
_WRAPPED = 40  # a line shorter than this was ended, not wrapped


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the end of a sentence.
_LEADING = _words(
    "mr mrs ms mx dr prof st gen rep sen gov capt lt col sgt rev hon vs cf e.g i.e approx ca resp incl excl esp "
    "z.b d.h bzw ggf vgl mme mlle"
)
# No end before a number.
_BEFORE_NUMBER = _words("no nos nr fig figs eq eqs vol p pp ch sec art para app tab v ver")
# The end only where no small letter and no figure follows.
_TRAILING = _words(
    "etc inc ltd co corp jr sr al a.m p.m u.s u.k u.n e.u ph.d m.d b.a m.a b.sc m.sc jan feb mar apr jun jul aug sep "
    "sept oct nov dec est dept univ avg min max ed eds usw"
)


def sentence_spans(text: str) -> list[Span]:
    r"""The sentences of a text as [start, end) in code points: rising, disjoint, none with white space at its ends.

    >>> text = 'Dr. Lee paid 3.50 in May. "Why?" he asked.\n- one\n- two'
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Lee paid 3.50 in May.', '"Why?" he asked.', '- one', '- two']
    """
    found: list[Span] = []
    for start, end, whole in _blocks(text):
        for span in [(start, end)] if whole else _in_block(text, start, end):
            found.extend(_parted(text, *span))
    return found


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Runs of lines that are read as one, and whether they stay whole."""
    begin = last = end = -1
    fenced = False
    for line in _LINE.finditer(text):
        start, stop = _trimmed(text, line.start(), line.end())
        if start == stop:
            continue
        whole = fenced or text[start] == "|" or _FENCE.match(text, start) is not None
        fenced ^= len(_FENCE.findall(text, start, stop)) % 2 == 1  # some stand at a line's end
        if begin >= 0 and (whole or not _goes_on(text, last, end, start)):
            yield begin, end, False
            begin = -1
        if whole:
            yield start, stop, True
            continue
        begin, last, end = begin if begin >= 0 else start, start, stop
    if begin >= 0:
        yield begin, end, False


def _goes_on(text: str, start: int, end: int, following: int) -> bool:
    """Whether the line at `following` goes on with the one before it: wrapped prose, with one line break between."""
    if end - start < _WRAPPED or not text[following].islower() or _ITEM.match(text, following):
        return False
    return len(_BREAK.findall(text, end, following)) == 1


def _in_block(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences of one block."""
    begin = start
    for mark in _END.finditer(text, start, end):
        stop = mark.end()
        if stop >= end:
            break
        if mark["spaced"] and not text[stop].isspace():
            continue
        after = _SPACE.match(text, stop)
        following = after.end() if after else stop
        if mark["spaced"] and not _ends(text, begin, mark, text[following : following + 1]):
            continue
        yield begin, stop
        begin = following
    if begin < end:
        yield begin, end


def _ends(text: str, begin: int, mark: re.Match[str], following: str) -> bool:
    """Whether a mark before white space ends the sentence that began at `begin`."""
    closed = mark.end() > mark.end("spaced")
    if mark["spaced"] != ".":
        return not (following.islower() and (closed or "." in mark["spaced"] or "\u2026" in mark["spaced"]))
    dot = mark.start()
    if dot - begin <= 6 and _NUMBER_OF_ITEM.fullmatch(text, begin, dot):
        return False
    word = _WORD_BEFORE.search(text[max(begin, dot - _WORD_CHARS) : dot])
    if word is None:
        return not (closed and following.islower())
    name = word.group()
    if len(name) == 1 and name.isupper() and name != "I":
        return False
    name = name.casefold()
    if name in _LEADING or (name in _BEFORE_NUMBER and following.isdigit()):
        return False
    if name in _TRAILING or closed:
        return not (following.islower() or (name in _TRAILING and following.isdigit()))
    return True


def _parted(text: str, start: int, end: int) -> Iterator[Span]:
    """A sentence in pieces of at most `LONGEST`, parted at the last space of each, or where there is none, anywhere."""
    while end - start > LONGEST:
        cut = next((place for place in range(start + LONGEST, start, -1) if text[place].isspace()), start + LONGEST)
        yield _trimmed(text, start, cut)
        after = _SPACE.match(text, cut)
        start = after.end() if after else cut
    yield start, end


def _trimmed(text: str, start: int, end: int) -> Span:
    """A span without the white space at its ends."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, max(start, start + len(piece.strip()))
