"""A Report to one HTML file: no script, nothing from the network, below 2 MB, under a strict content security policy.

Whatever a template prints goes through `visible.markup`, so that no template can forget to escape. Foreign text stands
between tags only, never in an attribute: attributes hold what is made here.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from evenhand.report.figures import distribution
from evenhand.report.model import ItemView, Report
from evenhand.report.numbers import interval, percent
from evenhand.report.templating import digest, environment, template_text
from evenhand.report.visible import markup, plain
from evenhand.wording import count, plural

__all__ = ["MOST_BYTES", "page", "report_page", "stylesheet"]

MOST_BYTES = 2_000_000
"""No page is larger; a report shows fewer items in full instead, and says so."""

_RESERVE = 20_000
_INDEX_ROW = 250  # of an item's line in the list above, without its id


def report_page(report: Report) -> str:
    """The page of a report.

    >>> from evenhand.report.model import Report
    >>> empty = Report(title="<b>", source="r.jsonl", hide_scores=False, caveats=(), groups=(), judges=(), items=(),
    ...     n_items=0)
    >>> "<title>&lt;b&gt;</title>" in report_page(empty)
    True
    """
    frame = _render("report.html", report=report, items=[], cut="")
    while report.unreached and _size(frame) > MOST_BYTES // 2:
        report = replace(report, unreached=report.unreached[: len(report.unreached) // 2])
        frame = _render("report.html", report=report, items=[], cut="")
    while report.drafts and _size(frame) > MOST_BYTES // 2:
        report = replace(report, drafts=report.drafts[: len(report.drafts) // 2])
        frame = _render("report.html", report=report, items=[], cut="")
    left = MOST_BYTES - _RESERVE - _size(page(report.title, frame))
    items = []
    for item in report.items:
        html = _render("item.html", item=item, hide_scores=report.hide_scores)
        left -= _size(html) + _size(markup(item.id)) + _INDEX_ROW
        if left < 0:
            break
        items.append(html)
    body = _render("report.html", report=report, items=items, cut=_cut(len(items), report.items))
    return page(report.title, body)


def page(title: str, body: Markup) -> str:
    """A whole HTML document around a body, with the stylesheet and the policy; every later page goes through here."""
    style = stylesheet()
    policy = f"default-src 'none'; style-src '{digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    head = escape(plain(title, 200))  # a title holds text only: no marks
    return str(_render("page.html", title=head, policy=policy, style=Markup(style), body=body))  # noqa: S704  # our own file


@cache
def stylesheet() -> str:
    """The one stylesheet of all pages."""
    return template_text("style.css")


def _cut(n: int, items: tuple[ItemView, ...]) -> str:
    if n == len(items):
        return ""
    return (
        f"{count(n)} of these {plural(len(items), 'item')} are in full: a page holds "
        f"{MOST_BYTES // 1_000_000} MB at most. The others are in the figures."
    )


def _size(text: str) -> int:
    return len(text.encode())


def _render(name: str, **values: Any) -> Markup:
    return Markup(_environment().get_template(name).render(values))  # noqa: S704  # escaped by the template


@cache
def _environment() -> Environment:
    return environment(count=count, percent=percent, interval=interval, plural=plural, distribution=distribution)
