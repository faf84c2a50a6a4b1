"""A quotation to its place in the candidate: are these the candidate's words, and where do they stand?

    exact       character for character
    normalized  after folding: case, white space, quotation marks, dashes, invisible characters, Unicode form
    elided      in pieces, with an ellipsis for what was left out; the gap is kept, since it may hold a "not"
    fuzzy       nearly, at or above a stated ratio, and only where the caller asks for it
    absent      not there

Spans are [start, end) in code points of the original candidate. Most quotations are exact, so that path is one
`str.find`; the folded candidate is made when one is not, and kept for the next. Everything is linear in the texts.
docs/quotes.md states every rule.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from evenhand.errors import InvalidInput
from evenhand.judges.quote_cuts import is_cut
from evenhand.judges.quote_text import Folded, fold, fold_chars, is_variation_selector, is_wordless
from evenhand.terms import QuoteStatus

__all__ = ["ABSENT", "COUNTED", "GAP_LIMIT", "QuoteMatch", "QuotedText", "counts", "find_quote"]

COUNTED: frozenset[QuoteStatus] = frozenset({"exact", "normalized"})
"""Statuses under which the candidate supports a check or an item by itself."""

GAP_LIMIT = 200
"""The most code points that one ellipsis may leave out."""

MIN_PIECE_WORDS = 3
"""The fewest words of each piece around an ellipsis; two characters count as a word where a script sets no spaces."""

MAX_PIECES = 8
"""The most pieces of one elided quotation; more is absent."""

_MAX_PLACES = 5_000  # of one piece that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteMatch:
    """Where a quotation stands.

    Args:
        span: [start, end) in code points of the candidate; over all pieces where it is elided; None where absent.
        gap: what the ellipses left out, joined by ` … ` where there are several; None unless elided.
    """

    status: QuoteStatus
    span: tuple[int, int] | None = None
    gap: str | None = None


ABSENT = QuoteMatch(status="absent")


def counts(status: QuoteStatus, *, fuzzy: bool = False) -> bool:
    """Whether a quotation of this status supports what it is offered for.

    Args:
        fuzzy: whether the judge asked for fuzzy quotations to count.

    Example:
        >>> [status for status in ("exact", "normalized", "fuzzy", "elided", "absent") if counts(status)]
        ['exact', 'normalized']
    """
    return status in COUNTED or (fuzzy and status == "fuzzy")


def find_quote(quote: str, candidate: str, *, fuzzy: float | None = None) -> QuoteMatch:
    """Look up one quotation; `QuotedText` is for several in the same candidate.

    Example:
        >>> find_quote("the loss  fell", "In May the loss fell.")
        QuoteMatch(status='normalized', span=(7, 20), gap=None)
    """
    return QuotedText(candidate).find(quote, fuzzy=fuzzy)


class QuotedText:
    """A candidate in which quotations are looked up."""

    __slots__ = ("_folded", "_rejoined", "candidate")

    def __init__(self, candidate: str) -> None:
        self.candidate = candidate
        self._folded: Folded | None = None
        self._rejoined: Folded | None = None

    def find(self, quote: str, *, fuzzy: float | None = None) -> QuoteMatch:
        """The first place where the candidate says this.

        Args:
            quote: as the model gave it. Empty, blank, of one character, or of punctuation alone it is absent, unless
                it is the whole candidate.
            fuzzy: the smallest ratio of likeness in (0, 1] that is accepted as `fuzzy`; None looks for no likeness.
        Raises:
            InvalidInput: `fuzzy` is not in (0, 1].

        Example:
            >>> text = QuotedText("The tenant is not allowed to sublet; the rent fell by 37 %.")
            >>> text.find("the rent fell by 37 %").status, text.find("the rent fell by 3").status
            ('exact', 'absent')
            >>> text.find("The tenant is … allowed to sublet").gap
            'not'
        """
        if fuzzy is not None and not 0 < fuzzy <= 1:
            raise InvalidInput(f"find: fuzzy is {fuzzy!r}; give a ratio above 0 and up to 1, or None")
        if _says_nothing(quote):
            return self._whole(quote)
        for start in _uncut(self.candidate, quote):
            return QuoteMatch(status="exact", span=(start, start + len(quote)))
        plain = fold(quote).text.strip(" ")
        bare = _undressed(plain)
        return (
            self._normalized(dict.fromkeys([plain, bare, *_unescaped(quote, self.candidate)]))
            or self._rejoined_at_line_ends(quote)
            or self._elided(bare)
            or self._fuzzy(bare, fuzzy)
            or ABSENT
        )

    def _whole(self, quote: str) -> QuoteMatch:
        """A quotation too slight to be looked for: found only if it is all that the candidate says."""
        said = self.candidate.strip()
        if all(map(_is_nothing, said)):
            return ABSENT
        start = self.candidate.index(said)
        span = (start, start + len(said))
        if quote.strip() == said:
            return QuoteMatch(status="exact", span=span)
        if len(said) < 1000 and fold(quote).text.strip() == fold(said).text.strip():
            return QuoteMatch(status="normalized", span=span)
        return ABSENT

    def _normalized(self, forms: Iterable[str]) -> QuoteMatch | None:
        """The first folded form of the quotation that stands in the folded candidate."""
        folded = self._folding()
        return next(filter(None, (self._at(folded, form) for form in forms)), None)

    def _rejoined_at_line_ends(self, quote: str) -> QuoteMatch | None:
        """The same where the candidate breaks words at line ends: "ques-", next line "tionnaire"."""
        if not _LINE_END_HYPHEN.search(self.candidate):
            return None
        if self._rejoined is None:
            self._rejoined = fold(self.candidate, rejoin=True)
        return self._at(self._rejoined, _undressed(fold(quote, rejoin=True).text))

    def _at(self, folded: Folded, form: str) -> QuoteMatch | None:
        """The first place of a folded quotation."""
        for start in () if _says_nothing(form) else _uncut(folded, form):
            return QuoteMatch(status="normalized", span=self._span(folded, start, start + len(form)))
        return None

    def _elided(self, form: str) -> QuoteMatch | None:
        """All pieces in order, each pair with a short gap between them."""
        pieces = [piece.strip(" ") for piece in _ELLIPSES.split(form, maxsplit=MAX_PIECES)]
        if not 2 <= len(pieces) <= MAX_PIECES or not all(map(_has_words, pieces)):
            return None
        folded = self._folding()
        chain = _chain(folded, pieces)
        if not chain:
            return None
        spans = [self._span(folded, start, end) for start, end in chain]
        gaps = [self.candidate[left[1] : right[0]].strip() for left, right in pairwise(spans)]
        return QuoteMatch(status="elided", span=(spans[0][0], spans[-1][1]), gap=" … ".join(gaps))

    def _fuzzy(self, form: str, threshold: float | None) -> QuoteMatch | None:
        """The likest stretch that says the same."""
        if threshold is None or not _has_words(form):
            return None
        from evenhand.judges.quote_fuzzy import fuzzy_spans  # here, since few judges ask for it and rapidfuzz is large

        folded = self._folding()
        for start, end in fuzzy_spans(form, folded.text, threshold):
            if _is_whole(folded, start, end):
                return QuoteMatch(status="fuzzy", span=self._span(folded, start, end))
        return None

    def _folding(self) -> Folded:
        if self._folded is None:
            self._folded = fold(self.candidate)
        return self._folded

    def _span(self, folded: Folded, start: int, end: int) -> tuple[int, int]:
        """The original characters of a folded stretch, without white space and invisible ones after its end."""
        first, last = folded.starts[start], folded.starts[end]
        while last > first + 1 and _is_nothing(self.candidate[last - 1]):
            last -= 1
        return first, last


# --- places --------------------------------------------------------------------------------------------------------


def _uncut(text: str | Folded, quote: str) -> Iterator[int]:
    """Places of a quotation that cut nothing, in order.

    A text that repeats itself can hold as many places as it has characters, each as long as the quotation; the search
    gives up, and finds nothing, before that costs more than a few passes over the text.
    """
    within = text if isinstance(text, str) else text.text
    allowance = 4 * len(within) + 1_000_000
    start = within.find(quote)
    while start >= 0 and allowance > 0:
        if _is_whole(text, start, start + len(quote)):
            yield start
        allowance -= len(quote) + 64
        start = within.find(quote, start + 1)


def _is_whole(text: str | Folded, start: int, end: int) -> bool:
    """Whether a stretch begins and ends where a quotation may."""
    if isinstance(text, Folded):
        if not (text.is_between(start) and text.is_between(end)):
            return False
        text = text.text
    length = end - start
    return not (is_cut(text, start, length=length, opening=True) or is_cut(text, end, length=length, opening=False))


def _chain(folded: Folded, pieces: list[str]) -> list[tuple[int, int]]:
    """The pieces one after another, each within GAP_LIMIT of the one before; the first such chain, or none."""
    layers: list[list[tuple[int, int]]] = []  # (start, number of its predecessor in the layer before)
    for number, piece in enumerate(pieces):
        places = list(islice(_uncut(folded, piece), _MAX_PLACES))
        layers.append(
            _linked(folded, layers[-1], len(pieces[number - 1]), places) if number else [(place, 0) for place in places]
        )
        if not layers[-1]:
            return []
    chain: list[tuple[int, int]] = []
    position = 0
    for piece, layer in zip(reversed(pieces), reversed(layers), strict=True):
        start, position = layer[position]
        chain.append((start, start + len(piece)))
    return chain[::-1]


def _linked(folded: Folded, before: list[tuple[int, int]], length: int, places: list[int]) -> list[tuple[int, int]]:
    """Places that some place before reaches, with the nearest such one; both lists are in order, so one pass."""
    linked = []
    nearest = -1
    for place in places:
        while nearest + 1 < len(before) and before[nearest + 1][0] + length <= place:
            nearest += 1
        if nearest >= 0 and folded.starts[place] - folded.starts[before[nearest][0] + length] <= GAP_LIMIT:
            linked.append((place, nearest))
    return linked


# --- forms of a quotation -----------------------------------------------------------------------------------------

_ELLIPSIS = r"(?:\[\.{3,}\]|\(\.{3,}\)|\.{3,}|\. \. \.(?: \.)*)"
_ELLIPSES = re.compile(rf"{_ELLIPSIS}(?: ?{_ELLIPSIS})*")
_LINE_END_HYPHEN = re.compile(r"[-\u00ad\u2010\u2011][ \t]*[\n\r]")
_LEADING = re.compile(rf" *{_ELLIPSIS} *")
# What JSON made of a backslash that the model forgot to double (\frac, \theta), and of one doubled once too often.
_UNDOUBLED = str.maketrans({"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"})
_DOUBLED = re.compile(r"""\\([nrt"'/\\])""")


def _unescaped(quote: str, candidate: str) -> Iterator[str]:
    """The quotation, folded, as it would be without a slip in escaping."""
    if "\\" in candidate and (undoubled := quote.translate(_UNDOUBLED)) != quote:
        yield _undressed(fold(undoubled).text)
    if "\\" in quote:
        single = _DOUBLED.sub(lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1]), quote)
        yield _undressed(fold(single).text)


def _undressed(form: str) -> str:
    """A folded quotation without the ellipses and the quotation marks that a model sets around it."""
    for _ in range(3):
        form = _without_ellipses(form.strip(" "))
        if len(form) < 3 or form[0] not in "'\"" or form[-1] not in "'\"":
            break
        form = form[1:-1]
    return form


def _without_ellipses(form: str) -> str:
    """Leading and trailing ellipses only say that the text goes on."""
    if leading := _LEADING.match(form):
        form = form[leading.end() :]
    tail = form[-100:]  # an ellipsis is short; searching all of a long quotation for one at its end is not
    for found in _ELLIPSES.finditer(tail):
        if found.end() == len(tail):
            form = form[: len(form) - len(tail) + found.start()]
    return form.strip(" ")


def _has_words(piece: str) -> bool:
    """At least MIN_PIECE_WORDS words with a letter or digit; in scripts without spaces, two characters make one."""
    halves = 0
    for word in piece.split(" "):
        spaced = False
        for char in word:
            if char.isalnum():
                wordless = is_wordless(char)
                halves += 1 if wordless else 2 * (not spaced)
                spaced = spaced or not wordless
            if halves >= 2 * MIN_PIECE_WORDS:
                return True
            if spaced and char.isascii():
                break
    return False


def _says_nothing(quote: str) -> bool:
    """Fewer than two visible characters, or punctuation alone: such a quotation stands in every text."""
    if quote[:2].isascii() and len(quote) > 1 and quote[:2].isalnum():
        return False
    visible = (char for char in quote if not (_is_nothing(char) or _is_attached(char)))
    if len(list(islice(visible, 2))) < 2:
        return True
    return not any(map(str.isalnum, quote[:20])) and all(
        unicodedata.category(char).startswith("P") or _is_nothing(char) or _is_attached(char) for char in set(quote)
    )


def _is_nothing(char: str) -> bool:
    """White space, a soft hyphen, an invisible character that stands for itself."""
    return char.isspace() or (not char.isascii() and not fold_chars(char) and not is_variation_selector(char))


def _is_attached(char: str) -> bool:
    """What is part of the character before it."""
    return not char.isascii() and (
        unicodedata.category(char).startswith("M") or "\U0001f3fb" <= char <= "\U0001f3ff" or not fold_chars(char)
    )
