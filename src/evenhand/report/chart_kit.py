"""What every chart shares: the look, safe text, and one specification that gives the page, SVG and PNG.

    chart_figure(...)             layers of a chart, their rows and their words: a Figure
    inline_svg(figure, "f1")      for a page: no script, no reference to anywhere, coloured by the stylesheet
    svg_file(figure)              the same on white; png_file(figure) as pixels

A chart's text comes from files and models. It is shortened, its hidden characters are shown, and it enters a
specification as data only: never as the name of a field, and never where Vega would read an expression. What Vega draws
is taken apart and put together again from the few elements and attributes that a chart needs.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from unicodedata import east_asian_width
from xml.etree import ElementTree as ET

from markupsafe import Markup

from evenhand.errors import InvalidInput
from evenhand.report.numbers import alike, number
from evenhand.report.visible import plain
from evenhand.stats.estimates import Estimate
from evenhand.wording import count

__all__ = [
    "AGAINST",
    "AMBER",
    "BLUE",
    "COLOURS",
    "INK",
    "LINE",
    "NO_FIGURES",
    "PAPER",
    "SERIES",
    "SOFT",
    "WIDTH",
    "Figure",
    "altair",
    "chart_figure",
    "empty_figure",
    "inline_svg",
    "labels",
    "number_axis",
    "percent_axis",
    "png_file",
    "stated",
    "svg_file",
    "wrapped",
]

NO_FIGURES = 'figures need the extra "figures"; install it with: pip install "evenhand[figures]"'

INK, SOFT, LINE, PAPER = "#1b1e23", "#5a616b", "#d9dad5", "#fdfdfb"
BLUE, AGAINST, GREEN, AMBER = "#0072b2", "#d55e00", "#009e73", "#e69f00"  # Okabe and Ito (2008)
SERIES = (BLUE, AMBER, GREEN)
COLOURS = (INK, SOFT, LINE, PAPER, BLUE, AGAINST, GREEN, AMBER)
"""All that a chart is drawn with; the stylesheet says for each what it is on dark paper."""

WIDTH = 480
"""Pixels across, labels included: a column of a page, so that text is legible there without being enlarged."""

_FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"  # the first comes with the renderer
_SIZE = 12
_LINE_CHARACTERS = 83
_TITLE_CHARACTERS = 54
_MOST_TEXT = 200
_SCALE = 2.0
_SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = frozenset({"svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath"})
_ATTRIBUTES = frozenset(
    {"width", "height", "viewBox", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "transform", "display"}
    | {"fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-miterlimit"}
    | {"opacity", "text-anchor", "font-family", "font-size", "font-weight", "font-style", "id", "clip-path"}
)
_CLIP = re.compile(r"url\(#(\w+)\)")

_CONFIG: Mapping[str, Any] = {
    "aria": False,
    "background": "transparent",
    "font": _FONT,
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": SOFT, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE,
        "labelFontSize": _SIZE, "titleFontSize": _SIZE, "titleFontWeight": "normal", "labelLimit": 190,
        "labelOverlap": "greedy", "labelSeparation": 4,
    },
    "legend": {
        "labelColor": INK, "titleColor": SOFT, "labelFontSize": _SIZE, "titleFontSize": _SIZE,
        "titleFontWeight": "normal", "labelLimit": 340,
    },
    "title": {
        "anchor": "start", "frame": "bounds", "fontSize": 15, "fontWeight": 600, "color": INK,
        "subtitleColor": SOFT, "subtitleFontSize": _SIZE, "subtitlePadding": 5, "offset": 12, "lineHeight": 18,
        "subtitleLineHeight": 16,
    },
    "text": {"fontSize": _SIZE, "color": INK},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figure:
    """One chart, not drawn yet.

    Attributes:
        name: of its file: lower-case letters, digits and dashes.
        title: what is shown.
        notes: lines below the title: n, interval, and what was left out.
        spec: the whole Vega-Lite specification, with its data.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    spec: Mapping[str, Any]


def altair() -> Any:
    """The library that makes specifications.

    Raises:
        InvalidInput: the extra `figures` is not installed.
    """
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        raise InvalidInput(NO_FIGURES)
    import altair as library

    return library


def chart_figure(
    name: str, title: str, notes: Sequence[str], chart: Any, rows: Iterable[Mapping[str, Any]], *, fit: bool = True
) -> Figure:
    """A chart with its words and data.

    Args:
        chart: made with Altair, of the data set `rows`.
        rows: what is drawn; every text among them is made safe here, so that no chart can forget to.
        fit: make it `WIDTH` wide altogether; charts side by side have widths of their own.
    """
    words, below = plain(title, _MOST_TEXT), tuple(plain(note, 2 * _MOST_TEXT) for note in notes if note)
    spec: dict[str, Any] = chart.to_dict(validate=False)  # a test checks it, which takes most of the time
    spec["title"] = {
        "text": wrapped(words, _TITLE_CHARACTERS) or [""],
        "subtitle": [line for note in below for line in wrapped(note, _LINE_CHARACTERS)],
    }
    spec["datasets"] = {"rows": [{key: _safe(value) for key, value in row.items()} for row in rows]}
    spec["config"] = dict(_CONFIG)
    if fit:
        spec |= {"width": WIDTH, "autosize": {"type": "fit-x", "contains": "padding"}}
    return Figure(name=name, title=words, notes=below, spec=spec)


def empty_figure(name: str, title: str, reason: str, notes: Sequence[str] = ()) -> Figure:
    """What stands where there is nothing to draw: the reason, as large as a figure's text."""
    alt = altair()
    lines = textwrap.wrap(plain(f"undefined: {reason}", _MOST_TEXT), 60)
    rows = [{"line": line, "place": place} for place, line in enumerate(lines)]
    chart = (
        alt.Chart(alt.Data(name="rows"))
        .mark_text(align="left", fontStyle="italic", color=AGAINST, x=4)
        .encode(y=alt.Y("place:O", axis=None), text="line:N")
        .properties(height=alt.Step(18))
    )
    return chart_figure(name, title, notes, chart, rows)


def labels(names: Iterable[str], limit: int = 26) -> list[str]:
    """Short names for an axis, cut in the middle where cutting the end would make them equal.

    Those that are equal all the same are numbered, since equal ones would be one row.

    >>> labels(["a", "a", "bbbb"], 3), labels(["judge of essays", "judge of poems"], 9)
    (['a', 'a (2)', 'bb…'], ['judg…says', 'judg…oems'])
    """
    given = [plain(name, _MOST_TEXT).strip() or "(no name)" for name in names]
    starts = Counter(name[: limit - 1] for name in set(given))
    found: list[str] = []
    taken: set[str] = set()
    for name in given:
        short = plain(name, limit)
        if len(name) > limit and starts[name[: limit - 1]] > 1:
            short = f"{name[: limit // 2]}…{name[limit // 2 + 1 - limit :]}"
        label, turn = short, 1
        while label in taken:
            turn += 1
            label = f"{short} ({turn})"
        taken.add(label)
        found.append(label)
    return found


def wrapped(text: str, most: int) -> list[str]:
    """Lines no wider than so many small letters, since a figure cuts off what is wider than it; a long word is cut.

    >>> wrapped("one two three", 8), wrapped("ONE TWO", 8), wrapped("aaaaa", 2)
    (['one two', 'three'], ['ONE', 'TWO'], ['aa', 'aa', 'a'])
    """
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if _letters(longer) <= most:
            line = longer
            continue
        lines += [line] if line else []
        line = ""
        for letter in word:
            if line and _letters(line + letter) > most:
                lines.append(line)
                line = ""
            line += letter
    return [*lines, line] if line else lines


def _letters(text: str) -> float:
    """How wide a text is, in small letters: a capital is about a third wider, Chinese and Japanese signs twice."""
    return sum(2.0 if east_asian_width(sign) in "WF" else 1.35 if sign.isupper() else 1.0 for sign in text)


def stated(what: str, found: Estimate, *, digits: int = 2) -> str:
    """A figure in words: value, interval and n, or why there is none.

    >>> stated("rho", Estimate(value=0.5, low=0.25, high=0.7, n=60))
    'rho 0.50, 95 % interval 0.25 to 0.70, n 60 items'
    """
    size = f"n {count(found.n)} {found.unit}"
    if found.value is None:
        return f"{what} undefined: {found.undefined} ({size})"
    if found.low is None or found.high is None:
        return f"{what} {number(found.value, digits)}, no interval: {found.no_interval or 'not made'}; {size}"
    value, low, high = alike((found.value, found.low, found.high), digits)
    return f"{what} {value}, {100 * found.confidence:g} % interval {low} to {high}, {size}"


def number_axis(title: str | None, **more: Any) -> Any:
    """An axis of numbers, without exponents."""
    return altair().Axis(title=title, **{"format": ",.3~f", **more})


def percent_axis(title: str, **more: Any) -> Any:
    """An axis of shares."""
    return altair().Axis(title=title, format="~%", tickCount=5, **more)


def inline_svg(figure: Figure, prefix: str) -> Markup:
    """The figure for a page.

    Args:
        prefix: unique in the page; ids begin with it.
    """
    root = _drawn(figure)
    _rename(root, prefix)
    title = ET.Element(f"{{{_SVG}}}title", {"id": f"{prefix}-title"})
    title.text = ". ".join((figure.title, *figure.notes))
    root.insert(0, title)
    root.attrib |= {"class": "chart", "role": "img", "aria-labelledby": f"{prefix}-title"}
    return Markup(_text(root))  # noqa: S704  # put together above from elements and attributes that are listed


def svg_file(figure: Figure) -> str:
    """The figure as a file of its own, on white."""
    root = _drawn(figure)
    sheet = {"width": root.attrib["width"], "height": root.attrib["height"], "fill": "#ffffff"}
    root.insert(0, ET.Element(f"{{{_SVG}}}rect", sheet))
    return _text(root) + "\n"


def png_file(figure: Figure) -> bytes:
    """The figure as pixels, two for each of the SVG's."""
    import vl_convert

    drawn: bytes = vl_convert.svg_to_png(svg_file(figure), scale=_SCALE, ppi=72)
    return drawn


def _safe(value: Any) -> Any:
    return plain(value, _MOST_TEXT) if isinstance(value, str) else value


def _drawn(figure: Figure) -> ET.Element:
    """What Vega draws, reduced to what a chart needs; nothing is fetched from anywhere."""
    altair()
    import vl_convert

    text = vl_convert.vegalite_to_svg(dict(figure.spec), allowed_base_urls=[])
    root = _kept(ET.fromstring(text))  # noqa: S314  # drawn by the line above: no entities, no document type
    assert root is not None
    return root


def _kept(element: ET.Element) -> ET.Element | None:
    """An element with its listed attributes and children; None for one that is not listed."""
    tag = element.tag.rpartition("}")[2]
    if tag not in _ELEMENTS:
        return None
    attributes = {key: value for key, value in element.attrib.items() if key in _ATTRIBUTES}
    clip = attributes.get("clip-path")
    if clip is not None and not _CLIP.fullmatch(clip):
        del attributes["clip-path"]
    made = ET.Element(f"{{{_SVG}}}{tag}", attributes)
    made.text = element.text
    for child in element:
        kept = _kept(child)
        if kept is not None and not _blank(kept):
            made.append(kept)
    return made


def _blank(element: ET.Element) -> bool:
    """Whether nothing of it is ever seen: Vega leaves empty paths and groups behind."""
    tag = element.tag.rpartition("}")[2]
    if tag == "path":
        return element.get("d", "") in ("", "M0,0h0v0h0Z")
    return tag == "g" and len(element) == 0


def _rename(root: ET.Element, prefix: str) -> None:
    """Ids that no other figure of the page has."""
    for element in root.iter():
        if "id" in element.attrib:
            element.set("id", f"{prefix}-{element.attrib['id']}")
        if "clip-path" in element.attrib:
            element.set("clip-path", _CLIP.sub(rf"url(#{prefix}-\1)", element.attrib["clip-path"]))


def _text(root: ET.Element) -> str:
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")
