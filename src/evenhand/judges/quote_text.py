"""A text folded for comparison, with the way back: which original character each folded one came from.

Two writings of the same words fold to the same string: letter case, runs of white space and line ends, quotation
marks, dashes, invisible characters, and Unicode's forms of one letter (composed or not, full-width, ligature). What
would change a value or a reading does not fold: superscripts, subscripts, fractions, circled and Roman numerals, the
letter-like signs, accents. docs/quotes.md lists each class.

Folding has two steps. The first maps each character by itself and is remembered; the second looks at neighbours
(white space, quotation marks after a digit, order of combining marks) and only touches the places that need it.
"""

import re
import unicodedata
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

__all__ = ["Folded", "fold", "fold_chars", "is_variation_selector", "is_wordless", "joins_pictures"]

LINE_BREAKS = frozenset("\n\r\x0b\x0c\x85\u2028\u2029")
SINGLE_MARKS = "'`\u00b4\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u275b\u275c"
DOUBLE_MARKS = (
    '"\u02ba\u02ee\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u275d\u275e\u301d\u301e\u301f'
    "\u300c\u300d\u300e\u300f"
)
DASHES = "-\u02d7\u05be\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\ufe58"

# Single characters that are another sign's typographic form.
SIGNS = {
    **dict.fromkeys(SINGLE_MARKS, "'"),
    **dict.fromkeys(DOUBLE_MARKS, '"'),
    **dict.fromkeys(DASHES, "-"),
    "\u2025": "..",
    "\u2026": "...",
    "\u22ef": "...",
    "\u203c": "!!",
    "\u2044": "/",
    "\u2215": "/",
    "\u2236": ":",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2a7d": "<=",
    "\u2a7e": ">=",
    "\u2103": "°c",
    "\u2109": "°f",
    "\u0130": "i",  # its own case folding is i + combining dot, which no reader types
}

# Format characters that are seen, or that mean something: signs written around digits, and the invisible operators
# of mathematics (folding "2<invisible times>3" away would make it 23).
_SEEN_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u2061\u2062\u2063\u2064"
    "\ufff9\ufffa\ufffb\U000110bd\U000110cd"
)
_UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")

# Compatibility forms that are the same character in another dress. Never <super>, <sub>, <fraction>, <circle>.
_SAME_CHARACTER = frozenset(
    ("<wide>", "<narrow>", "<small>", "<vertical>", "<initial>", "<medial>", "<final>", "<isolated>", "<font>")
)
_LONGEST_EXPANSION = 4  # two Arabic phrases in one code point expand to 8 and 18; they stay as they are
_REMEMBERED = 50_000

# Scripts written without spaces between words, and Hangul, whose particles attach to the word.
_WORDLESS = re.compile(
    "[\u0e00-\u0eff\u0f00-\u109f\u1100-\u11ff\u1780-\u17ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u2fdf\u3005-\u3007"
    "\u3040-\u31ff\u3400-\u9fff\ua960-\ua97f\ua980-\ua9df\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and its way back.

    Args:
        original: what was folded.
        text: the folded characters.
        starts: for each of them the index of the original character it came from, and at the end the original length;
            never falling. Several folded characters of one original share its index.
    """

    original: str
    text: str
    starts: Sequence[int]

    def is_between(self, index: int) -> bool:
        """Whether `index` lies between two original characters: not inside one such as a ligature or a joined emoji."""
        if isinstance(self.starts, range) or index == 0 or index == len(self.text):
            return True
        start = self.starts[index]
        return start != self.starts[index - 1] and not joins_pictures(self.original, start)


def fold(text: str, *, rejoin: bool = False) -> Folded:
    r"""The text as it is compared.

    Args:
        text: any string, lone surrogates and combining floods included; linear in its length.
        rejoin: also take words together that a hyphen, or a soft one, has cut at a line end.

    Example:
        >>> fold("The \ufb01rst\u00a0 \u201cstep\u201d\r\nwas re\u00adpeated").text
        "the first'step'was repeated"
        >>> fold("10\u00b2 and \u00bd").text
        '10² and ½'
    """
    mapped, starts = _mapped(text)
    if not mapped.isascii():
        for pattern, edit in _rare_edits(mapped, rejoin=rejoin):
            mapped, starts = _edited(mapped, starts, pattern, edit)
    mapped, starts = _edited(_quotation_marks(mapped), starts, _CONTEXT, partial(_in_context, rejoin=rejoin))
    return Folded(text, mapped.replace("\n", " "), starts)


def fold_chars(text: str) -> str:
    """Each character folded by itself, for looking at a few characters around a place."""
    if text.isascii():
        return text.translate(_ASCII)
    return "".join(map(_FORMS.__getitem__, text)).replace("\n", " ").replace("\u00ad", "")


def joins_pictures(text: str, index: int) -> bool:
    """Whether a zero-width joiner of an original text at this place makes one emoji of two."""
    joined = "\u200d" in text[max(0, index - 1) : index + 1]
    return joined and any(unicodedata.category(char) == "So" for char in text[index : index + 2].strip("\u200d")[:1])


def is_variation_selector(char: str) -> bool:
    """Whether a character chooses the look of the one before it, and so belongs to it."""
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def is_wordless(char: str) -> bool:
    """Whether a letter's script sets no spaces between words (Chinese, Thai), or joins particles to them (Korean)."""
    return _WORDLESS.match(char) is not None


# --- each character by itself --------------------------------------------------------------------------------------


class _Forms(dict[str, str]):
    """Folded form of each character met so far."""

    def __missing__(self, char: str) -> str:
        form = _form(char)
        if len(self) < _REMEMBERED:
            self[char] = form
        return form


def _form(char: str) -> str:
    """A character's folded form: nothing for an invisible one, several characters for a ligature."""
    if char.isspace():
        return "\n" if char in LINE_BREAKS else " "
    if char == "\u00ad":
        return char  # stays until its neighbours are known: at a line end it is a hyphen
    if _is_unseen(char):
        return ""
    if char in SIGNS:
        return SIGNS[char]
    return unicodedata.normalize("NFD", _decomposed(char).casefold())


def _is_unseen(char: str) -> bool:
    """Zero-width characters, directional marks, variation selectors, fillers."""
    if char in _UNSEEN_LETTERS or is_variation_selector(char):
        return True
    return unicodedata.category(char) == "Cf" and char not in _SEEN_FORMATS


def _decomposed(char: str) -> str:
    """Canonical decomposition, and of the compatibility ones those that keep reading and value."""
    form = unicodedata.decomposition(char)
    if not form.startswith("<") or "\u2100" <= char <= "\u214f":  # a double-struck R is a set of numbers, not an R
        parts = unicodedata.normalize("NFD", char)
        # Another code point for one character (a CJK compatibility ideograph, a Greek grave accent) is that character.
        return _FORMS[parts] if len(parts) == 1 and parts != char else parts
    tag, *points = form.split()
    parts = "".join(chr(int(point, 16)) for point in points)
    if tag in _SAME_CHARACTER or (tag in ("<compat>", "<square>") and _is_spelling(char, parts, tag)):
        return "".join(map(_FORMS.__getitem__, parts)) if len(parts) <= _LONGEST_EXPANSION else char
    return char


def _is_spelling(char: str, parts: str, tag: str) -> bool:
    """Whether letters stand for letters: ﬁ and ㎏ do; ⑴, Ⅳ, ㎡ (its 2 is a superscript) and № do not."""
    return parts.isalpha() and not any(map(str.isnumeric, char + parts)) and (tag == "<square>" or char.isalpha())


_FORMS = _Forms()
_ASCII_WITH_BREAKS = {code: _form(chr(code)) for code in range(128)}
_ASCII = {code: form.replace("\n", " ") for code, form in _ASCII_WITH_BREAKS.items()}


def _mapped(text: str) -> tuple[str, Sequence[int]]:
    """Every character's form, joined, and the original index of each."""
    if text.isascii():
        return text.translate(_ASCII_WITH_BREAKS), range(len(text) + 1)
    forms = list(map(_FORMS.__getitem__, text))
    mapped = "".join(forms)
    if len(mapped) == len(text) and all(forms) and max(map(len, forms)) == 1:
        return mapped, range(len(text) + 1)
    starts = array("I", [index for index, form in enumerate(forms) for _ in form])
    starts.append(len(text))
    return mapped, starts


# --- characters among their neighbours -----------------------------------------------------------------------------

# A letter, and the places whose neighbours matter. Each run is taken whole at its first character, so that none is
# tried twice; each alternative starts with a literal, since only then the search skips quickly to the next one.
_LETTER = r"[^\W\d_]"
_CONTEXT = re.compile(
    r"-(?:(?<=L-)[ \n]+(?=L)"  # a hyphen that ends a line is still one hyphen
    r"|(?<=L-)-{1,2}(?=L)|(?<![^ \n]-)-{1,2}(?=[ \n]|$))"  # a dash typed as hyphens
    r"| (?:[ \n]+|(?=[\"']|\.\.\.))|\n(?:[ \n]+|(?=[\"']|\.\.\.))"  # white space, also beside marks
    r"|'(?:'[ \n]*|[ \n]+)|\"[ \n]+"
    r"|\.(?<!\.\.)\.\.+[ \n]+".replace("L", _LETTER)
)
_SOFT_HYPHEN = re.compile("\u00ad+")
_SOFT_HYPHEN_AND_BREAK = re.compile(rf"\u00ad+(?:[ ]*\n[ ]*(?={_LETTER}))?")
_DOUBLE_AFTER_DIGIT = re.compile(r"\d[ \n]*\"")
_KEPT = "\x1e"  # white space by itself, so no folded text holds it


def _quotation_marks(text: str) -> str:
    """One mark for all kinds, save that after a digit double stays double: 6" is not 6'."""
    if '"' not in text:
        return text
    kept = _DOUBLE_AFTER_DIGIT.sub(lambda found: found.group()[:-1] + _KEPT, text)
    return kept.replace('"', "'").replace(_KEPT, '"')


def _in_context(found: re.Match[str], *, rejoin: bool) -> str:
    """What stands for a place that `_CONTEXT` found; never longer than it."""
    run, text = found.group(), found.string
    if run[0] == "-":
        return "" if rejoin and run.count("\n") == 1 else "-"
    if run[0] == ".":
        return run.rstrip(" \n")
    if run[0] in " \n":
        follows = text[found.end() : found.end() + 3]
        return "" if follows == "..." or follows[:1] in ("'", '"') else " "
    if run[:2] == "''" and text[max(found.start() - 1, 0) : found.start()].isdigit():
        return '"'
    return run[0]


def _rare_edits(text: str, *, rejoin: bool) -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
    """Edits that few texts need: soft hyphens, the dot of a decomposed İ, the order of several combining marks."""
    edits: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = []
    if "\u00ad" in text:
        edits.append((_SOFT_HYPHEN_AND_BREAK if rejoin else _SOFT_HYPHEN, lambda _found: ""))
    if "i\u0307" in text:
        edits.append((re.compile("i\u0307"), lambda _found: "i"))
    if marks := "".join(sorted(filter(unicodedata.combining, set(text)))):
        # of this text's marks only: a class of all 900 is ten times slower
        in_order = re.compile(f"[{marks}][{marks}]+")
        edits.append((in_order, lambda found: "".join(sorted(found.group(), key=unicodedata.combining))))
    return edits


def _edited(
    text: str, starts: Sequence[int], pattern: re.Pattern[str], edit: Callable[[re.Match[str]], str]
) -> tuple[str, Sequence[int]]:
    """The text with each found place replaced by `edit`, and the original index of every character left.

    A replacement's characters stand where the first ones of the place stood; the rest of it is dropped.
    """
    kept = bytearray(b"\1") * len(starts)

    def replaced(found: re.Match[str]) -> str:
        replacement = edit(found)
        first, end = found.start() + len(replacement), found.end()
        if first < end:
            kept[first:end] = bytes(end - first)
        return replacement

    edited = pattern.sub(replaced, text)
    return edited, starts if len(edited) == len(text) else array("I", compress(starts, kept))
