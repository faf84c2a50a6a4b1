"""What every command prints with: tables for people on stdout, one JSON document for machines, the rest on stderr.

Text of candidates, models and files goes through `shown` first, so that no control sequence reaches a terminal.
"""

import re
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "hanging", "json_text", "say", "shown", "warn", "write_text"]

_BIDI = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)}
# JSON escapes controls below U+0020 by itself; the rest that `shown` makes visible is left to us.
_OBEYED = re.compile(f"[\x80-\x9f\u2028\u2029{''.join(sorted(_BIDI))}]")


def shown(text: str, limit: int | None = None) -> str:
    r"""Untrusted text made safe for one line of a terminal: control, escape and direction characters become visible.

    >>> shown("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    safe = "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") or character in _BIDI
        else character
        for character in (text if limit is None else text[: limit + 1])
    )
    return safe if limit is None or len(safe) <= limit else safe[: max(limit - 1, 0)] + "…"


def console(*, stderr: bool = False) -> "Console":
    """A rich console that wraps at the terminal's width (80 where there is none) and interprets no markup."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            """Where nobody reads on, end as every other command does; rich would exit 1."""
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 80
    return Pipe(stderr=stderr, markup=False, highlight=False, emoji=False, width=width, soft_wrap=False)


def hanging(text: str, width: int, hang: int) -> list[str]:
    """A line folded to a width, its continuations set in by `hang`; a line that fits stays as it is.

    >>> hanging("verdict  no score has half of all", 20, 9)
    ['verdict  no score', '         has half of', '         all']
    """
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent=" " * hang, break_on_hyphens=False) or [""]


def json_text(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """The one JSON document of `--json`, indented by two, with a final line break.

    What a terminal would obey stands in it as JSON's own escapes, which change nothing for whoever parses it.
    """
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
    return text if text.isascii() else _OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def say(text: str) -> None:
    """Progress and notes, on stderr."""
    print(text, file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """A warning, on stderr."""
    say(f"warning: {text}")


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing; a link is followed, and a device such as /dev/null is written to.

    Raises:
        InvalidInput: the folder does not exist or cannot be written.
        StoreError: the disk is full.
    """
    from evenhand.store.text_files import Replacement

    with Replacement(path) as replacement:
        replacement.write(text.encode())
