r"""Foreign text that can hide nothing: control, direction and invisible characters are shown by their code.

    markup(text)      for HTML: escaped, each such character as a small mark
    plain(text)       for titles, XML and one-line places: as \x1b, \u202e
    code_span(text)   for Markdown: as code, where nothing is a link, a mention or a tag

Zero-width joiners stay, since scripts and emoji need them; line breaks and tabs stay in `markup`.
"""

import re

from markupsafe import Markup, escape

__all__ = ["code_block", "code_span", "markup", "plain"]

# Control characters but tab and line feed; format characters but the two joiners; separators that break lines;
# surrogates; and the code points that are no characters, which XML refuses as well.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
_MARKED = re.compile(f"[{_HIDDEN}]")
_LINE = re.compile(f"[{_HIDDEN}\t\n]")


def markup(text: str) -> Markup:
    r"""Foreign text as HTML; a Windows line end is a line end.

    >>> print(markup("<b>\x1b[31m"))
    &lt;b&gt;<i class="hidden">\x1b</i>[31m
    """
    escaped = str(escape(text.replace("\r\n", "\n")))
    # Escaping touches none of the hidden characters, and their codes hold nothing to escape.
    return Markup(_MARKED.sub(lambda found: f'<i class="hidden">{_name(found[0])}</i>', escaped))  # noqa: S704


def plain(text: str, limit: int | None = None) -> str:
    r"""Foreign text on one line, without a character that is not seen.

    >>> plain("a\nb\x00"), plain("abcdef", 4)
    ('a\\nb\\x00', 'abc…')
    """
    cut = text if limit is None else text[: limit + 1]
    safe = _LINE.sub(lambda found: _name(found[0]), cut)
    return safe if limit is None or len(safe) <= limit else safe[: max(limit - 1, 0)] + "…"


def code_span(text: str, limit: int | None = None, *, table: bool = False) -> str:
    r"""Foreign text as a Markdown code span: its fence is longer than any inside.

    Args:
        table: it stands in a table, where a bar would end the cell.

    >>> print(code_span("a|b `c`"), code_span("a|b", table=True))
    `` a|b `c` `` `a\|b`
    """
    safe = plain(text, limit)
    safe = safe.replace("|", "\\|") if table else safe
    if not safe.strip():
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", safe)), default=0))
    pad = " " if safe[0] in "` " or safe[-1] in "` " else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def code_block(text: str) -> str:
    """Foreign text as a Markdown code block, line breaks kept."""
    safe = "\n".join(plain(line) for line in text.replace("\r\n", "\n").split("\n"))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", safe)), default=0))
    return f"{fence}text\n{safe}\n{fence}"


def _name(character: str) -> str:
    return character.encode("unicode_escape").decode()
