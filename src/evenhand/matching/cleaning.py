"""A text as it is read, whatever it was typed with: invisible marks, widths, minus signs, Markdown, LaTeX dress.

Every function takes linear time: patterns have no alternatives that could be tried twice over the same characters.
"""

import re
import unicodedata

__all__ = ["cleaned", "shortened", "unmarked", "unstruck", "unwrapped_latex"]

_KEPT_CONTROLS = "\n\t"
_SPACES = dict.fromkeys(map(ord, "\u2007\u2009\u202f\u00a0\u2008\u200a"), "\u2009")  # may group digits, unlike a blank
_DASHES = dict.fromkeys(map(ord, "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d\u207b\u2796\u02d7\u2043"), "-")
_LONG_MINUS = re.compile("(?:(?<=^)|(?<=[\\s:(=$]))[\u2014\u2015](?=[$]?[.]?[0-9])", re.MULTILINE)  # `\u20145`
_QUOTES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"'),
}
_RAISED = dict(zip(map(ord, "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"), "0123456789", strict=True))
_RAISED_RUN = re.compile("[\u207b]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]++")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e\u2189]")
_MARKDOWN = re.compile(
    r"(?<![\w)\]}*])(?:\*\*++|__++)|(?:\*\*++|__++)(?![\w({\[\\*-])|`++|~~|(?<!\S)[*_](?=\S)|(?<=\S)[*_](?![\w*{(\\])"
)
_LINE_MARKS = re.compile(r"^[ \t]*+(?:#{1,6}[ \t]++|>[ \t]++|\*[ \t]++(?=\S)|[-+][ \t]++(?=[A-Za-z]))", re.MULTILINE)


def cleaned(text: str) -> str:
    r"""The text without invisible characters, in one width, with one minus sign and one kind of digits.

    Powers written with raised digits become `^{2}`, and fractions of one character ` 1/2`, so that neither melts into
    the digits before it. Thin and no-break spaces become one thin space, which may group digits.

    >>> cleaned("\u200f\uff11\uff12 \u2212 3\u00bd + 10\u00b2")
    '12 - 3 1/2 + 10^{2}'
    """
    if text.isascii() and not _CONTROL.search(text):
        return text
    text = _RAISED_RUN.sub(lambda run: f"^{{{run.group().replace(chr(0x207B), '-').translate(_RAISED)}}}", text)
    text = _VULGAR.sub(lambda one: f" {unicodedata.normalize('NFKC', one.group()).replace(chr(0x2044), '/')}", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_SPACES).translate(_DASHES).translate(_QUOTES)
    text = _LONG_MINUS.sub("-", text)
    text = "\u2009".join(unicodedata.normalize("NFKC", part) for part in text.split("\u2009"))
    if text.isascii() and text.isprintable():
        return text
    return "".join(_one(char) for char in text)


def _one(char: str) -> str:
    if char < "\x7f":
        return char if char >= " " or char in _KEPT_CONTROLS else " "  # `5\x006` is no 56
    category = unicodedata.category(char)
    if category == "Cc":
        return " "
    if category in ("Cf", "Cs", "Co", "Cn"):
        return ""
    if category == "Nd":
        return str(unicodedata.digit(char))
    return " " if category in ("Zl", "Zp") else char


_STRUCK = re.compile(
    r"~~(?=\S)[^~\n]*+(?<=\S)~~|\\(?:sout|st|cancel|bcancel|xcancel)(?![A-Za-z])\s*+\{[^{}]*+\}"
    r"|<(s|del|strike)>[^<]*+</\1>|(?:\w[\u0335-\u0338]++\s?)++",
    re.IGNORECASE,
)


def unstruck(text: str) -> str:
    r"""The text without what its author crossed out: `~~5~~`, `<del>5</del>`, `\cancel{5}`, overlaid strokes.

    >>> unstruck("~~5~~ 6"), unstruck(r"\cancel{5} 6"), unstruck("a~~b")
    ('  6', '  6', 'a~~b')
    """
    return _STRUCK.sub(" ", text)


def unmarked(text: str) -> str:
    """The text without Markdown's bold, italics, code marks, headings, quotes and list marks; LaTeX is left alone.

    >>> unmarked("**Final answer:** `58`.")
    'Final answer: 58.'
    """
    return _LINE_MARKS.sub("", _MARKDOWN.sub("", text))


_WORDED = re.compile(r"\\(?:text(?:bf|it|rm|tt|normal)?|mathrm|mathbf|mathit|mbox|operatorname)\s*+\{([^{}]*+)\}")
_SMALL = {
    "\\left": "", "\\right": "", "\\!": "", "\\,": "\u2009", "\\;": " ", "\\:": " ", "\\ ": " ", "~": " ",
    "\\quad": " ", "\\qquad": " ", "\\$": "$", "\\%": "%", "\\#": "#", "\\&": "&", "{,}": ",", "{.}": ".",
    "^{\\circ}": "\u00b0", "^\\circ": "\u00b0", "\\degree": "\u00b0", "\\displaystyle": "", "\\limits": "",
}  # fmt: skip
_SMALL_ONE = re.compile("|".join(re.escape(k) + ("(?![A-Za-z])" if k[-1].isalpha() else "") for k in _SMALL))
_DRESSED = re.compile(r"[\\${}~]|[ \t]{2}")
_DELIMITERS = re.compile(r"\\[()\[\]]|\$\$")


def unwrapped_latex(text: str) -> str:
    r"""The text without LaTeX's spacing, sizing, upright words and delimiters; its mathematics is left alone.

    A dollar sign stays only where it may be money: before a digit, and not closing a pair.

    >>> unwrapped_latex(r"$5\text{ cm}$"), unwrapped_latex(r"\$1{,}200"), unwrapped_latex("$5 to $6")
    ('5 cm', '$1,200', '$5 to $6')
    """
    if not _DRESSED.search(text):
        return text.strip()
    text = _WORDED.sub(lambda words: f" {words[1].strip()} ", text)
    text = _SMALL_ONE.sub(lambda found: _SMALL[found.group()], text)
    return _BLANKS.sub(" ", _without_dollar_pairs(_DELIMITERS.sub(" ", text))).strip()


_BLANKS = re.compile(r"[ \t]{2,}+")
_DOLLAR = re.compile(r"\$")


def _without_dollar_pairs(text: str) -> str:
    places = [found.start() for found in _DOLLAR.finditer(text)]
    dropped, at = set(), 0
    while at + 1 < len(places):
        first, second = places[at], places[at + 1]
        if text[second + 1 : second + 2].isdigit() and not text[first + 1 : first + 2].isalpha():
            at += 1  # "$5 to $6": money twice, no formula
            continue
        dropped |= {first, second}
        at += 2
    return "".join(char for place, char in enumerate(text) if place not in dropped) if dropped else text


def shortened(text: str) -> str:
    """At most 60 characters of a text, for a reason."""
    text = " ".join(text[:200].split())
    return text if len(text) <= 60 else f"{text[:57]}..."
