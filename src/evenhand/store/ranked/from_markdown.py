"""Pipe tables of a Markdown document: emphasis, links and inline HTML taken off, code fences passed over."""

import re
from collections.abc import Iterator

__all__ = ["markdown_tables"]

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_PIPE = re.compile(r"(?<!\\)\|")
_IMAGE = re.compile(r"!\[[^\]\[]*\]\([^()\s]*(?:\s[^()]*)?\)")
_LINK = re.compile(r"\[([^\]\[]+)\](?:\([^()\s]*(?:\([^()]*\))?[^()]*\)|\[[^\]\[]*\])")
_NOTE = re.compile(r"\[\^[^\]\[]{1,20}\]|<sup>[^<>]{0,20}</sup>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>|<!--.*?-->")
_EMPHASIS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.+?)(?<=\S)\1")
_LONGEST = 5000
_SINGLE = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_]+?)(?<=\S)\1(?![\w*])")


def markdown_tables(text: str) -> list[list[tuple[int, list[str]]]]:
    r"""Every pipe table: (line, cells) by row, the header first.

    >>> markdown_tables("x\n\n| a | **b** |\n|---|--:|\n| [A](http://x) | 1\\|2 |\n")
    [[(3, ['a', 'b']), (5, ['A', '1|2'])]]
    """
    found: list[list[tuple[int, list[str]]]] = []
    lines = list(_outside_fences(text))
    place = 0
    while place + 1 < len(lines):
        number, line = lines[place]
        below = lines[place + 1][1]
        if "|" not in line or ("|" not in below and "-" not in below) or not _RULE.fullmatch(below):
            place += 1
            continue
        header = _cells(line)
        if len(header) != len(_cells(below)):
            place += 1
            continue
        table, place = [(number, header)], place + 2
        while place < len(lines) and "|" in lines[place][1]:
            table.append((lines[place][0], _cells(lines[place][1])))
            place += 1
        found.append(table)
    return found


def _outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; what stands in a code fence is no table."""
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            yield number, ""
        elif mark:
            fence = mark[1]
            yield number, ""
        else:
            yield number, line.rstrip("\r")


def _cells(line: str) -> list[str]:
    """The cells of one row, without the marks that Markdown takes for form."""
    bare = line.strip()
    bare = bare.removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    return [_plain(cell) for cell in _PIPE.split(bare)]


def _plain(cell: str) -> str:
    """A cell's text as a reader sees it."""
    import html

    if len(cell) > _LONGEST:
        return cell.strip()
    text = _LINK.sub(r"\1", _IMAGE.sub("", _NOTE.sub("", cell.strip())))
    for pattern in (_EMPHASIS, _SINGLE):
        text = pattern.sub(r"\2", text)
    return " ".join(html.unescape(_TAG.sub(" ", text)).replace("\\|", "|").split())
