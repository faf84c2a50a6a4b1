"""The page: one file, no script, no request, nothing executed, and what must stand above the numbers does."""

import base64
import hashlib
import http.server
import re
import threading
from html.parser import HTMLParser

import pytest

from evenhand.report.pages import MOST_BYTES, page, report_page, stylesheet
from evenhand.terms import Item

VOID = {"meta", "link", "br", "img", "hr", "input"}
INLINE_SVG = {"rect", "path"}


class Structure(HTMLParser):
    """Tags, attributes and text of a page; complains where tags do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def hostile_report(record, report, hostile):
    """Hostile text wherever candidates, models or files can bring it."""
    candidate = f"It works, {hostile} says the almanac."
    item = Item(id=hostile, candidate=candidate, task=hostile)
    judge = {"name": hostile, "hash": hostile, "protocol": hostile, "protocol_version": 1, "models": [hostile]}
    common = {
        "item": hostile,
        "candidate": candidate,
        "metadata": {hostile: hostile},
        "judge": judge,
        "member": hostile,
    }
    verdict = record(quote=hostile, check=hostile, flags=(hostile,), **common)
    evidence = {
        "id": hostile,
        "weight": 1.0,
        "score": 55,
        "exact": 55.0,
        "scale": [0, 100],
        "arithmetic": {"variant": hostile, "net_impact": 3},
        "items": [
            {"claim": hostile, "quote": hostile, "impact": 3, "criterion": hostile, "perspective": hostile,
             "quote_status": "exact", "span": [10, 10 + len(hostile)], "counted": True, "merged": [hostile],
             "note": hostile, "pass": hostile}
        ],
    }  # fmt: skip
    pool = record(**{**common, "rerun": 1, "criteria": (evidence,)})
    failed = record(status="failed", cause={"code": "unreadable", "message": hostile, "raw_key": None}, **common)
    abstained = record(status="abstained", reason=hostile, text=hostile, **common)
    panel = {"rule": hostile, "size": 2, "members": [{"member": hostile, "status": hostile}],
             "dissent": [{"member": hostile, "criterion": hostile, "check": hostile, "said": hostile}]}  # fmt: skip
    combined = record(**{**common, "member": None, "panel": panel})
    return report([verdict, pool, failed, abstained, combined], [item], title=hostile)


def test_hostile_text_makes_no_tag_and_no_attribute(hostile_report):
    made = report_page(hostile_report)
    structure = Structure(made)
    assert not set(structure.tags) & {"script", "img", "iframe", "object", "textarea", "base", "form"}
    assert not [(tag, name) for tag, name, _ in structure.attributes if name.startswith("on") or name == "style"]
    links = [value for _, name, value in structure.attributes if name in ("href", "src", "action", "data")]
    assert all(link.startswith("#item-") or link == "data:," for link in links)
    assert not set(made) & set("\x00\x1b\u202e\u200b\ufffe")


def test_a_page_has_no_attribute_with_foreign_text(hostile_report):
    values = [value for _, _, value in Structure(report_page(hostile_report)).attributes if value]
    assert not [value for value in values if "EXECUTED" in value or "evil" in value]


def test_the_policy_allows_the_stylesheet_and_nothing_else():
    made = page("t", "")
    digest = base64.b64encode(hashlib.sha256(stylesheet().encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in made
    assert re.search("<style>(.*?)</style>", made, re.S)[1] == stylesheet()
    assert not re.search(r"url\(|@import|@font-face", stylesheet())


def test_a_browser_applies_the_stylesheet_asks_for_nothing_and_runs_nothing(hostile_report, browser, hostile):
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body if self.path == "/page" else b"")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here = f"http://127.0.0.1:{server.server_address[1]}"
        body = report_page(hostile_report).replace("http://evil.invalid", here).encode()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            dom = browser(f"{here}/page")
        finally:
            server.shutdown()
            thread.join()
    assert asked == ["/page"]
    assert re.search(r"<title>(.*?)</title>", dom, re.S)[1] != "EXECUTED"
    assert "<script" not in dom
    assert "<img" not in dom


def test_the_browser_would_have_run_it(browser, tmp_path):
    """The test above can fail: the same text, unescaped, does run."""
    (tmp_path / "page.html").write_text("<html><title>t</title><script>document.title='EXECUTED'</script></html>")
    assert "<title>EXECUTED</title>" in browser((tmp_path / "page.html").as_uri())


def test_caveats_stand_above_all_numbers(record, report):
    records = [record(item=f"i{k}", quote="invented") for k in range(6)]
    records.append(record(item="f", status="failed", cause={"code": "provider", "message": "gone", "raw_key": None}))
    records.append(record(item="o", flags=("same_family", "criterion_out:depth", "untested_model", "some_new_flag")))
    made = report_page(report(records))
    above = made[: made.index("Verdicts, abstentions, failures")]
    for said in (
        "6 of 7 quotations do not stand in the text: 86",
        "1 record of 8 failed (13",
        "6 of 7 scores are one and the same",
        "own model family",
        "taken out, and where there is a score its weight went to the others (depth)",
        "never probed, so the prompt leans by default; `evenhand probe MODEL` finds out",
        "some_new_flag",
    ):
        assert said.replace(" %", "\u202f%") in above, said
    assert above.index("Warning") < above.index("Note")


def test_one_record_has_and_two_have(record, report):
    def made(names):
        records = [record(item=name, status="abstained", reason="refusal") for name in names]
        return report_page(report([*records, *(record(item=f"v{name}", quote="invented") for name in names)]))

    assert "1 record of 2 abstained, and has no score." in made("a")
    assert "1 of 1 quotation does not stand in the text" in made("a")
    assert "2 records of 4 abstained, and have no score." in made("ab")
    assert "2 of 2 quotations do not stand in the text" in made("ab")


def test_criteria_taken_out_share_a_line_and_no_weight_went_anywhere_without_a_score(record, report):
    entry = {"id": "depth", "weight": 0.0, "score": None, "items": [], "arithmetic": {"taken_out": True}}
    flags = ("criterion_out:depth", "criterion_out:craft")
    some = record(item="o", flags=flags, status="abstained", reason="few", criteria=(entry,), score=None, exact=None)
    made = report_page(report([some, record(item="p", flags=flags[:1], criteria=(entry,))]))
    above, below = made.split("Verdicts, abstentions, failures", 1)
    assert above.count("the criterion was taken out") == 1
    assert "Of 2 records: too little evidence" in above
    assert "went to the others (craft in 1, depth in 2)" in above
    assert below.count("went to the others (depth, craft)") == 1
    assert below.count("its weight went to the other criteria") == 1
    assert below.count("is missing</") + below.count("is missing;") == 2


def test_the_three_counts_add_up(record, report):
    records = [
        record(item="v"),
        record(item="a", status="abstained", reason="refusal", text="I would rather not."),
        record(item="f", status="failed", cause={"code": "empty", "message": "no words", "raw_key": None}),
    ]
    (group,) = report(records).groups
    assert (group.verdict, group.abstained, group.failed, group.n) == (1, 1, 1, 3)
    made = report_page(report(records))
    assert "I would rather not." in made
    assert "empty: no words" in made


def test_each_bar_stands_in_the_table_with_its_interval(record, report):
    made = report_page(report([record(item="a"), record(item="b", quote="invented"), record(item="c")]))
    assert "n = 3 scores; 0 failed and 0 abstained" in made
    figure, table = made[made.index("<svg") : made.index("</svg>")], made[made.index("</svg>") :]
    assert figure.count('class="bar"') == figure.count('class="whisker"') == 2
    assert "67\u202f%" in table
    assert "21\u202f% to 94\u202f%" in table.replace("93.9", "94")


def test_quotes_are_marked_in_the_candidate(record, report):
    made = report_page(report([record()], [Item(id="a", candidate="It works, says the almanac.")]))
    assert '<mark class="for">says the almanac<span class="ref">1</span></mark>.' in made


def test_a_candidate_that_is_not_at_hand_is_said_to_be_missing(record, report):
    made = report_page(report([record()]))
    assert "the text is not available: there is no store" in made


def test_another_text_under_the_same_id_is_not_shown_for_the_judged_one(record, report):
    made = report_page(report([record()], [Item(id="a", candidate="Another text.")]))
    assert "Another text." not in made
    assert "another text under this id" in made


def test_hidden_scores_are_nowhere_in_the_page(record, report):
    entry = {"id": "c", "weight": 0.37, "score": 73, "exact": 73.31, "scale": [0, 100], "level": 73,
             "arithmetic": {"net_impact": 73}, "items": [
                 {"claim": "fine", "quote": "", "impact": 5, "quote_status": "absent", "counted": False,
                  "criterion": None, "perspective": None, "span": None}]}  # fmt: skip
    panel = {"rule": "median", "size": 1, "members": [{"member": "m", "status": "verdict", "score": 73}],
             "dissent": [{"member": "m", "said": 73.31}]}  # fmt: skip
    made = record(
        score=73, exact=73.31, scale=(0, 100), criteria=(entry,), flags=("capped_from:73",), metadata={"grade": 73},
        member=None, panel=panel,
    )  # fmt: skip
    text = report_page(report([made], hide_scores=True))
    body = text[text.index("<body>") :]
    assert not re.search(r"73|0\.37|\+5", body)
    assert "weakness" not in body
    assert "strength" in body
    assert "73" in report_page(report([made]))


def test_a_long_run_shows_its_first_items_and_states_the_cut(record, report):
    made = report([record(item=f"i{k}") for k in range(70)], items_shown=3)
    assert [item.id for item in made.items] == ["i0", "i1", "i2"]
    text = report_page(made)
    assert "The first 3 of 70 items are shown in full" in text
    assert made.groups[0].n == 70


def test_a_page_stays_below_its_limit_and_says_what_it_left_out(record, report):
    candidate = "x&" * 3_900
    items = [Item(id=f"i{k}", candidate=f"{k} {candidate}") for k in range(400)]
    records = [record(item=item.id, candidate=item.candidate, quote="x&") for item in items]
    made = report_page(report(records, items, items_shown=400))
    assert len(made.encode()) <= MOST_BYTES
    assert re.search(r"\d+ of these 400 items are in full", made)


def test_failures_full_of_control_characters_do_not_blow_the_page_up(record, report):
    records = [record(item=f"{k}\x1b" * 50, status="abstained", reason="r", text="\x00" * 9_000) for k in range(60)]
    made = report_page(report(records, items_shown=60))
    assert len(made.encode()) <= MOST_BYTES
    assert "60 records, of which the first" in made


def test_the_list_of_many_small_items_counts_as_well(record, report):
    made = report([record(item=f"i{k}" * 40, keys=()) for k in range(2_500)], items_shown=2_500)
    assert len(report_page(made).encode()) <= MOST_BYTES


def test_members_and_panel_are_never_mixed(record, report):
    panel = {"rule": "majority", "size": 2, "members": [], "dissent": []}
    records = [record(), record(member="openai/y"), record(member=None, panel=panel)]
    groups = report(records).groups
    assert [(group.who, group.n) for group in groups] == [("panel", 1), ("openai/x", 1), ("openai/y", 1)]
    assert report(records).items[0].records[0].who == "panel"


def test_equal_records_give_equal_pages(record, report):
    assert report_page(report([record()])) == report_page(report([record()]))
