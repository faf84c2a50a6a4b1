"""Short texts as they are compared: width, case, articles, punctuation and quotation marks set aside."""

import re
import unicodedata

__all__ = ["plain_text"]

_ARTICLES = frozenset(("a", "an", "the"))
# Signs that change what is meant: 5 and -5, 5 and 5%, Paris and Paris?; and all of mathematics, money, and pictures.
_KEPT = "-%#@&/*?"
_CATEGORIES = ("Sm", "Sc", "So")
_SEPARATING = re.compile(
    r"[^\W_]++(?:(?:[.']|(?<=[0-9]),(?=[0-9]))[^\W_]++)*+|(?<!\w)!(?=\w)|(?<=[0-9])!|\^|[^\w\s!^.,;:'\"()\[\]{}]"
)


def plain_text(text: str) -> str:
    """The words and meaningful signs of a cleaned text, folded, without English articles, one blank between words.

    Accents stay: where they are all that differs, the answer is left to a model.

    >>> plain_text('The  "Eiffel Tower".'), plain_text("C++"), plain_text("A"), plain_text("U.S.A.")
    ('eiffel tower', 'c++', 'a', 'usa')
    """
    folded = unicodedata.normalize("NFKC", text.casefold())
    runs: list[list[str]] = []
    last_end = -1
    for found in _SEPARATING.finditer(folded):
        piece = _joined(found.group())
        if not piece[0].isalnum() and not _means(piece):
            continue
        if found.start() == last_end and not (piece[0].isalnum() and runs[-1][-1][0].isalnum()):
            runs[-1].append(piece)
        else:
            runs.append([piece])
        last_end = found.end()
    pieces = ["".join(run) for run in runs]
    words = [piece for piece in pieces if piece not in _ARTICLES]
    return " ".join(words or pieces)


def _means(sign: str) -> bool:
    return sign in _KEPT or sign in "!^" or unicodedata.category(sign) in _CATEGORIES


def _joined(word: str) -> str:
    """`u.s.a` and `o'brien` without their marks; figures keep theirs."""
    return word if any(char.isdigit() for char in word) else word.replace(".", "").replace("'", "")
