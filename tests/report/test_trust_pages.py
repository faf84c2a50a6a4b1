"""Pages of diagnose, validate, compare, study and probe: nothing runs, nothing is fetched, warnings stand first."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from evenhand.report import trust_pages
from evenhand.report.caveats import Caveat
from evenhand.report.charts import Scores, axis_of, distribution
from evenhand.report.pages import MOST_BYTES, stylesheet
from evenhand.report.trust_pages import Case, Section, Table, TrustContent, estimate_cells, trust_markdown, trust_page
from evenhand.stats.estimates import Estimate

pytest.importorskip("altair", reason="charts need the extra `figures`")
pytest.importorskip("vl_convert", reason="charts need the extra `figures`")

HOSTILE = (
    '<script src="http://evil.example/x.js">alert(1)</script>"\'><img onerror=x src=//evil.example>\u202e\x1b[31m|`'
)


class Structure(HTMLParser):
    """Tags and attributes; complains where tags do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in {"meta", "link", "br", "img"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def content(text, *, n_cases=1, long=1):
    """A page with foreign text everywhere, and two figures with clips of their own."""
    scores = Scores(label=text, levels=(6, 7, 8), counts=(3, 30, 7))
    figures = tuple(distribution(name, text, [scores], axis_of(1, 10, 1), [text]) for name in ("one", "two"))
    table = Table(head=("who", "#value"), rows=((text, "1"),), note=text, name=text)
    cases = tuple(Case(title=text, text=text * long, points=(text,)) for _ in range(n_cases))
    return TrustContent(
        title=text,
        source=text,
        caveats=(Caveat(serious=True, text=text),),
        sentences=(text,),
        sections=(Section(heading="Judges", figures=figures, tables=(table,), sentences=(text,), cases=cases),),
    )


def test_a_page_runs_nothing_and_fetches_nothing():
    page = trust_page(content(HOSTILE))
    found = Structure(page)
    assert not set(found.tags) & {"script", "iframe", "object", "embed", "foreignobject", "image", "img", "a", "use"}
    for tag, name, value in found.attributes:
        assert not name.startswith("on")
        assert name not in ("style", "src", "xlink:href")
        if name == "href":
            assert (tag, value) == ("link", "data:,")
        if value and "url(" in value:
            assert re.fullmatch(r"url\(#c\d+-\w+\)", value)
    digest = base64.b64encode(hashlib.sha256(stylesheet().encode()).digest()).decode()
    policy = next(value for tag, name, value in found.attributes if tag == "meta" and "default-src" in (value or ""))
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert "<style>" in page
    assert page.count("<style") == 1


def test_ids_of_a_page_are_unique():
    ids = [value for _, name, value in Structure(trust_page(content("a"))).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_what_is_serious_stands_before_the_figures():
    page = trust_page(content("JUDGE"))
    assert page.index('class="caveats"') < page.index('class="said"') < page.index("<svg") < page.index("<table")


def test_a_page_stays_below_its_size_and_says_what_was_cut():
    page = trust_page(content("x" * 3000, n_cases=1500))
    assert len(page.encode()) <= MOST_BYTES
    assert "tables and items were cut" in page


def test_foreign_text_is_code_in_markdown():
    text = trust_markdown(content(HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text
    outside = re.sub(r"(`+).*?\1", "", text, flags=re.S)
    assert "<script" not in outside
    assert "evil" not in outside


def test_a_figure_has_its_interval_and_n_or_its_reason():
    assert estimate_cells(Estimate(value=0.5, low=0.4, high=0.6, n=60)) == ("0.5", "0.4 to 0.6", "60", "")
    assert estimate_cells(Estimate.of_nothing("one rater", n=3)) == ("undefined", "", "3", "one rater")
    lost = Estimate(value=0.5, low=0.4, high=0.6, n=60, n_resamples=999, n_degenerate=4)
    assert estimate_cells(lost)[3] == "4 of 999 resamples undefined"


def test_two_figures_of_one_name_are_refused():
    made = content("a")
    twice = Section(heading="x", figures=made.sections[0].figures)
    with pytest.raises(AssertionError):
        trust_pages.figures_of(TrustContent(title="", source="", caveats=(), sentences=(), sections=(twice, twice)))
