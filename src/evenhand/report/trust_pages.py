"""Pages on whether a judge can be trusted: what must be known first, a clear sentence, then figures with tables.

trust_page(content)         one HTML file, through `pages.page`: no script, nothing fetched
trust_markdown(content)     the same without figures
diagnosis_page.py, validation_page.py, comparison_page.py, probe_page.py      findings to a `TrustContent`
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from evenhand.report.caveats import Caveat
from evenhand.report.chart_kit import Figure, inline_svg
from evenhand.report.numbers import alike, number, percent, percents
from evenhand.report.pages import MOST_BYTES, page
from evenhand.report.templating import environment
from evenhand.report.visible import code_span
from evenhand.stats.estimates import Estimate
from evenhand.wording import count, plural

__all__ = [
    "Case",
    "Section",
    "Table",
    "TrustContent",
    "estimate_cells",
    "figures_of",
    "file_name",
    "rows_of",
    "trust_markdown",
    "trust_page",
]

_MOST_ROWS = 400
_MOST_TEXT = 4000
_MOST_CELL = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; columns whose heads begin with `#` hold numbers.

    Args:
        head: names of the columns.
        rows: as long as the head; foreign text is escaped where it is printed.
        note: below it.
        name: caption; "" where the section says enough.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    name: str = ""

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Head and whether it is a column of numbers."""
        return [(head.removeprefix("#"), head.startswith("#")) for head in self.head]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One item that a person should read.

    Args:
        title: its id and numbers.
        text: as it was judged; None where it is not at hand.
        points: the judge's own evidence, a line each.
    """

    title: str
    text: str | None
    points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A figure with its table, or either alone.

    Args:
        figures: one below the other; empty where figures are not asked for.
        sentences: above them.
        wide: set the tables below the figures, not beside them.
    """

    heading: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    sentences: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustContent:
    """All of a page.

    Args:
        title: what was looked at.
        source: from which file, and how it was read.
        caveats: what must be known before any number, serious ones first.
        sentences: what it comes to.
    """

    title: str
    source: str
    caveats: tuple[Caveat, ...]
    sentences: tuple[str, ...]
    sections: tuple[Section, ...]


def trust_page(content: TrustContent) -> str:
    """The page: below 2 MB, with fewer cases and rows where it would be larger, which it says."""
    drawn = {figure.name: inline_svg(figure, f"c{place}") for place, figure in enumerate(figures_of(content), start=1)}
    cut, most = "", _MOST_ROWS
    while True:
        text = page(content.title, _render(content, drawn, cut, most))
        if len(text.encode()) <= MOST_BYTES or most < 2:
            return text
        most //= 2
        content = replace(content, sections=tuple(_shorter(section) for section in content.sections))
        cut = f"A page holds {MOST_BYTES // 1_000_000} MB at most: tables and items were cut. --json has all."


def trust_markdown(content: TrustContent) -> str:
    """The same in Markdown, foreign text as code; figures are left out, their tables are there."""
    lines = [f"# {code_span(content.title, 200)}", "", code_span(content.source, 400), ""]
    lines += [f"- **{'warning' if one.serious else 'note'}** {code_span(one.text)}" for one in content.caveats]
    lines += ["", *(f"> {code_span(sentence)}\n" for sentence in content.sentences)]
    for section in content.sections:
        lines += ["", f"## {_words(section.heading)}", "", *(code_span(sentence) for sentence in section.sentences)]
        for table in section.tables:
            lines += ["", *_markdown_table(table)]
        for case in section.cases:
            lines += ["", f"- {code_span(case.title, 300)}", *(f"  - {code_span(point, 300)}" for point in case.points)]
            if case.text:
                lines.append(f"  - text: {code_span(case.text, 500)}")
    return "\n".join(lines) + "\n"


def figures_of(content: TrustContent) -> list[Figure]:
    """All figures, each name once."""
    found = [figure for section in content.sections for figure in section.figures]
    names = [figure.name for figure in found]
    assert len(set(names)) == len(names), names
    return found


def estimate_cells(found: Estimate, *, digits: int = 2, share: bool = False) -> tuple[str, str, str, str]:
    """Value, interval, n, and what has to be said beside them.

    >>> estimate_cells(Estimate.of_nothing("one rater", n=3))
    ('undefined', '', '3', 'one rater')
    """
    n = count(found.n) if found.unit == "items" else f"{count(found.n)} {found.unit}"
    if found.value is None:
        return "undefined", "", n, found.undefined or ""
    if found.low is None or found.high is None:
        value = percent(found.value) if share else number(found.value, digits)
        return value, "", n, "; ".join(part for part in (found.no_interval, found.left_out) if part)
    figures = (found.value, found.low, found.high)
    value, *ends = percents(figures) if share else alike(figures, digits)
    lost = found.n_degenerate
    notes = (f"{count(lost)} of {plural(found.n_resamples, 'resample')} undefined" if lost else "", found.left_out)
    return value, " to ".join(ends), n, "; ".join(part for part in notes if part)


def _shorter(section: Section) -> Section:
    """Half of its cases."""
    return replace(section, cases=section.cases[: len(section.cases) // 2])


def _markdown_table(table: Table) -> list[str]:
    name = [f"**{_words(table.name)}**", ""] if table.name else []
    head = "| " + " | ".join(head or " " for head, _ in table.columns) + " |"
    rule = "|" + "|".join("--:" if numbers else "---" for _, numbers in table.columns) + "|"
    rows = ["| " + " | ".join(code_span(cell, _MOST_CELL, table=True) for cell in row) + " |" for row in table.rows]
    return [*name, head, rule, *rows, *(["", code_span(table.note)] if table.note else [])]


def _words(text: str) -> str:
    """Plain words as they are; a heading that names a model or a judge may hold anything, and is code then."""
    return text if re.fullmatch(r"[A-Za-z0-9 ,.:'-]*", text) else code_span(text, 200)


def _render(content: TrustContent, drawn: dict[str, Markup], cut: str, most: int) -> Markup:
    template = _environment().get_template("trust.html")
    return Markup(template.render(content=content, drawn=drawn, cut=cut, most=most))  # noqa: S704  # escaped there


@cache
def _environment() -> Environment:
    return environment(plural=plural, short=_short)


def _short(text: str, limit: int = _MOST_TEXT) -> str:
    return text if len(text) <= limit else f"{text[:limit]} …"


def rows_of(pairs: Sequence[tuple[str, Estimate]], **how: Any) -> tuple[tuple[str, ...], ...]:
    """A row an estimate."""
    return tuple((name, *estimate_cells(found, **how)) for name, found in pairs)


def file_name(path: str) -> str:
    """A file without the folders of the machine it lies on, for pages that are passed on.

    >>> file_name("/srv/team/log.csv")
    'log.csv'
    """
    return path.replace("\\", "/").rpartition("/")[2] or path
