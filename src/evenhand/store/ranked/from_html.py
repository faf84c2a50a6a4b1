"""Tables of an HTML page: rowspan and colspan filled in, scripts and styles left out, nothing executed or fetched.

The standard parser takes time in the square of a page's length where comments, quotes or declarations never end (140 s
for 400 kB of `<!--`, measured). So it is given whole tags and text only, which one pass finds (`_whole_tags`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from evenhand.errors import InvalidInput
from evenhand.store.ranked.grids import MOST_CELLS

__all__ = ["HtmlTable", "html_tables"]

_SILENT = ("head", "object", "select", "sup")
_INLINE = ("span", "div", "small", "i", "b", "a", "em", "strong", "p", "button", "label", "u", "code", "ul", "ol")
_RAW = ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript", "template", "svg")
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9:-]*+)[^<>]*+>")
_QUOTED_TAG = re.compile(r"""</?([a-zA-Z][a-zA-Z0-9:-]*+)(?:[^<>"']|"[^"]*+"|'[^']*+')*+>""")
_WINDOW = 1000  # how far a tag whose quotes hold < or > is followed
_BREAKS = ("br", "p", "div", "li")
_WIDEST = 1000
_DEEPEST = 50


@dataclass(slots=True, kw_only=True)
class _Cell:
    """A cell as it is written: its text, how far it reaches, and whether it is a heading."""

    text: str = ""
    rows: int = 1
    columns: int = 1
    is_heading: bool = False


@dataclass(slots=True, kw_only=True)
class HtmlTable:
    """One table: (line, cells) by row, and the number of rows that make up its header."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    n_header: int = 0


@dataclass(slots=True, kw_only=True)
class _Open:
    """A table that has not ended yet."""

    rows: list[tuple[int, list[_Cell]]] = field(default_factory=list)
    in_head: bool = False
    n_head: int = 0
    cell: _Cell | None = None


class _Reader(HTMLParser):
    """Collects tables; a table inside a cell is one of its own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.done: list[_Open] = []
        self.open: list[_Open] = []
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, row or cell."""
        if tag in _SILENT or tag in self.silent or (tag in _INLINE and _is_hidden(dict(attrs))):
            self.silent.append(tag)
        elif tag == "table":
            if len(self.open) >= _DEEPEST:
                raise InvalidInput(f"tables stand in one another more than {_DEEPEST} deep")
            self.open.append(_Open())
        elif self.open:
            self._inside(self.open[-1], tag, dict(attrs))

    def _inside(self, table: _Open, tag: str, attrs: dict[str, str | None]) -> None:
        """A tag within a table."""
        if tag in ("thead", "tbody", "tfoot"):
            table.in_head, table.cell = tag == "thead", None
        elif tag == "tr":
            table.rows.append((self.getpos()[0], []))
            table.cell, self.silent = None, []
            table.n_head += table.in_head
        elif tag in ("td", "th"):
            if not table.rows:
                table.rows.append((self.getpos()[0], []))
            self.silent = []
            table.cell = _Cell(rows=_span(attrs, "rowspan"), columns=_span(attrs, "colspan"), is_heading=tag == "th")
            table.rows[-1][1].append(table.cell)
        elif tag in _BREAKS and table.cell is not None:
            table.cell.text += " "

    def handle_endtag(self, tag: str) -> None:
        """End what is open."""
        if self.silent and tag == self.silent[-1]:
            self.silent.pop()
        elif tag == "table" and self.open:
            self.done.append(self.open.pop())
        elif self.open and tag in ("td", "th", "tr"):
            self.open[-1].cell = None
        elif self.open and tag == "thead":
            self.open[-1].in_head = False

    def handle_data(self, data: str) -> None:
        """Text of the cell that is open, unless a script or a footnote mark is."""
        if not self.silent and self.open and (cell := self.open[-1].cell) is not None:
            cell.text += data


def _is_hidden(attrs: dict[str, str | None]) -> bool:
    """Whether a reader of the page sees nothing of an element, such as a key to sort by before the number."""
    style = (attrs.get("style") or "").casefold().replace(" ", "")
    return "hidden" in attrs or "display:none" in style or "visibility:hidden" in style


def _span(attrs: dict[str, str | None], name: str) -> int:
    """How many rows or columns a cell reaches over."""
    text = (attrs.get(name) or "").strip()
    return min(max(int(text), 1), _WIDEST) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def html_tables(text: str, name: str) -> list[HtmlTable]:
    """Every table of a page, in the order in which they end.

    Args:
        name: how messages name the file.
    Raises:
        InvalidInput: tables nested too deeply, or more cells than any table has.

    >>> page = "<table><tr><th>a<sup>1</sup></th><th>b</th></tr><tr><td colspan=2>5<script>x()</script></td></tr>"
    >>> [table.rows for table in html_tables(page, "page.html")]
    [[(1, ['a', 'b']), (1, ['5', '5'])]]
    """
    reader = _Reader()
    try:
        reader.feed("".join(_whole_tags(text)))
        reader.close()
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}; save the one table alone") from error
    reader.done.extend(reversed(reader.open))  # a page cut short
    return [_filled(table, name) for table in reader.done if table.rows]


def _whole_tags(text: str) -> Iterator[str]:
    """The page without comments, declarations and what scripts and styles hold; a stray `<` is text.

    Line breaks stay, so that a row keeps its line.
    """
    at = 0
    while (start := text.find("<", at)) >= 0:
        yield text[at:start]
        if text.startswith("<!--", start):
            end, after = text.find("-->", start + 4), 3
        elif text.startswith(("<!", "<?"), start):
            end, after = text.find(">", start), 1
        elif (tag := _tag(text, start)) is None:
            yield "&lt;"
            at = start + 1
            continue
        else:
            name, at = tag[1].lower(), tag.end()
            if name not in _RAW or text[start + 1] == "/":
                yield tag.group()
                continue
            closing = re.compile(f"</{name}", re.IGNORECASE).search(text, at)
            start, end, after = at, -1 if closing is None else text.find(">", closing.start()), 1
        if end < 0:
            return
        yield "\n" * text.count("\n", start, end)
        at = end + after
    yield text[at:]


def _tag(text: str, start: int) -> re.Match[str] | None:
    """The tag that begins here; quotes in it may hold `<` and `>`."""
    plain = _TAG.match(text, start)
    if plain and not (plain.group().count('"') % 2 or plain.group().count("'") % 2):
        return plain
    return _QUOTED_TAG.match(text, start, start + _WINDOW) or plain


def _filled(table: _Open, name: str) -> HtmlTable:
    """A table whose spans are filled in: each cell stands in every place that it covers."""
    grid: list[dict[int, str]] = [{} for _ in table.rows]
    n_cells = 0
    for row, (_, cells) in enumerate(table.rows):
        column = 0
        for cell in cells:
            while column in grid[row]:
                column += 1
            n_cells += cell.columns * min(cell.rows, len(grid) - row)
            if n_cells > MOST_CELLS:
                raise InvalidInput(f"{name}: a table of more than {MOST_CELLS:,} cells; save the part that counts")
            _place(grid, row, column, cell)
            column += cell.columns
    width = max((max(cells, default=-1) + 1 for cells in grid), default=0)
    rows = [
        (line, [cells.get(column, "") for column in range(max(cells, default=-1) + 1)])
        for (line, _), cells in zip(table.rows, grid, strict=True)
    ]
    return HtmlTable(rows=rows, n_header=min(_n_header(table, width), len(rows)))


def _place(grid: list[dict[int, str]], row: int, column: int, cell: _Cell) -> None:
    """Write a cell into every place that it covers."""
    text = " ".join(cell.text.split())
    for down in range(row, min(row + cell.rows, len(grid))):
        for right in range(column, column + cell.columns):
            grid[down].setdefault(right, text)


def _n_header(table: _Open, width: int) -> int:
    """How many rows make up the header: those of `thead`, else those of headings only, else the first."""
    if table.n_head:
        return table.n_head
    n = 0
    for _, cells in table.rows:
        if not cells or not all(cell.is_heading for cell in cells):
            break
        n += 1
    return n or (1 if width else 0)
