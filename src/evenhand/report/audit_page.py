"""Audits to one HTML file: the verdicts first, each with its reason; its evidence opens behind it, without a script."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from evenhand.integrity.criteria_v0_1 import CRITERIA, VERSION
from evenhand.report.audit_tables import evidence_tables, findings_table, matcher_table
from evenhand.report.pages import MOST_BYTES, stylesheet
from evenhand.report.templating import digest, environment, template_text
from evenhand.report.visible import plain
from evenhand.wording import plural

__all__ = ["audit_page"]

_MARKS = {"pass": "✓", "fail": "✗", "insufficient evidence": "?", "not applicable": "–"}
_CLASSES = {"pass": "pass", "fail": "fail", "insufficient evidence": "open", "not applicable": "none"}
_WORDS = tuple(_MARKS)


def audit_page(documents: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]] = ()) -> str:
    """The page of one audit, or of several with their counts by population.

    Args:
        documents: as `Audit.document()` gives them.
        broken: configurations that could not be audited, each with `config` and `reason`.
    """
    most = 300
    while True:
        text = _page(documents, broken, most)
        if len(text.encode()) <= MOST_BYTES or most < 2:
            return text
        most //= 2


def _page(documents: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]], most: int) -> str:
    style = f"{stylesheet()}\n{template_text('audit.css')}"
    policy = f"default-src 'none'; style-src '{digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    one = documents[0] if len(documents) == 1 and not broken else None
    title = f"Audit of {one['name']}" if one else f"Audit of {plural(len(documents), 'configuration')}"
    body = _environment().get_template("audit.html").render(
        title=title, documents=documents, one=one, version=VERSION, criteria=CRITERIA, most=most, broken=broken,
        populations=() if one else _populations(documents),
    )  # fmt: skip
    head = escape(plain(title, 200))
    frame = _environment().get_template("page.html")
    return frame.render(title=head, policy=policy, style=Markup(style), body=Markup(body))  # noqa: S704  # escaped there


def _populations(documents: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, list[tuple[str, list[int]]]]]:
    """Population, size, and each criterion's count of every word."""
    found = []
    for name in ("verifiable", "subjective"):
        its = [document for document in documents if document["population"] == name]
        rows = [
            (
                criterion.id,
                [sum(document["criteria"][criterion.id]["verdict"] == word for document in its) for word in _WORDS],
            )
            for criterion in CRITERIA
        ]
        found.append((name, len(its), rows))
    return found


def _short(text: str, limit: int = 400) -> str:
    return text if len(text) <= limit else f"{text[:limit]} …"


@cache
def _environment() -> Environment:
    return environment(
        plural=plural, short=_short, marks=_MARKS, classes=_CLASSES, words=_WORDS, tables=evidence_tables,
        findings_table=findings_table, matcher_table=matcher_table,
    )  # fmt: skip
