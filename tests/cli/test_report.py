"""`evenhand report`, from a run judged with scripted replies to the page."""

import json
import xml.etree.ElementTree as ET

import pytest

JUDGE = """\
name: facts
protocol: checklist
models: [scripted/said.jsonl]
criteria:
  - id: quality
    levels: [0, 1]
    checks:
      - {id: fact, ask: Does it state the fact?}
"""


def said(passed, quote):
    return json.dumps({"checks": [{"id": "fact", "quote": quote, "passed": passed}]})


@pytest.fixture
def judged(evenhand, tmp_path):
    """Four items: a quoted yes, a fabricated yes, a no, and a failure with its reply (the last reply repeats)."""
    (tmp_path / "judge.yaml").write_text(JUDGE)
    items = [{"id": f"i{k}", "candidate": f"The answer is {k}, says <b>the almanac</b>."} for k in range(4)]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    broken = json.dumps("no JSON <script>alert(1)</script>")
    replies = [said(True, "the almanac"), said(True, "my aunt"), said(False, ""), broken]
    (tmp_path / "said.jsonl").write_text("\n".join(replies))
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "r.jsonl", "--max-failed", 9)
    assert done.code == 0, done.err
    return tmp_path


def test_three_forms_are_written_at_once(evenhand, judged):
    done = evenhand("report", "r.jsonl", "-o", "r.html", "-o", "r.md", "-o", "r.xml")
    assert (done.code, done.err) == (0, "")
    page = (judged / "r.html").read_text()
    assert '&lt;b&gt;<mark class="for">the almanac' in page
    assert "Does it state the fact?" in page
    assert "no JSON &lt;script&gt;" in page
    assert "passed       fact 1 = 1" in page
    assert "# `facts`" in (judged / "r.md").read_text()
    root = ET.parse(judged / "r.xml").getroot()
    assert (root.get("tests"), root.get("errors"), root.get("failures")) == ("4", "1", "0")


def test_what_the_page_says_first_is_printed(evenhand, judged):
    out = evenhand("report", "r.jsonl", "-o", "r.html").out
    assert "1 of 2 quotations do not stand in the text" in out.replace("\n", "")
    assert "verdicts 3   abstained 0   failed 1   of 4" in out


def test_the_candidates_may_come_from_the_items_file(evenhand, judged, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (judged / ".evenhand").rename(elsewhere / "store")
    evenhand("report", "r.jsonl", "-o", "without.html")
    evenhand("report", "r.jsonl", "-o", "items.html", "--items", "items.jsonl")
    evenhand("report", "r.jsonl", "-o", "store.html", "--store", elsewhere / "store" / "evenhand.db")
    without, items, store = ((judged / f"{name}.html").read_text() for name in ("without", "items", "store"))
    assert "the text is not available: there is no store" in without
    assert "the judge is not in the store" in without
    assert '<mark class="for">the almanac' in items
    assert '<mark class="for">the almanac' in store
    assert "the judge is not in the store" not in store


def test_a_mark_is_a_gate(evenhand, judged):
    done = evenhand("report", "r.jsonl", "-o", "r.xml", "--pass-at", 1)
    assert (done.code, "2 of 4" in done.err) == (1, True)
    assert ET.parse(judged / "r.xml").getroot().get("failures") == "2"
    done = evenhand("report", "r.jsonl", "-o", "r.xml", "--pass-at", 0)
    assert done.code == 3
    assert "1 of 4 records failed" in done.err


def test_json_is_one_document(evenhand, judged):
    document = evenhand("report", "r.jsonl", "-o", "r.html", "--json").document
    assert document["schema"] == "evenhand.report/1"
    assert document["written"] == [{"path": "r.html", "form": "html"}]
    assert document["groups"][0]["failed"] == 1


def test_hidden_scores_are_in_no_form(evenhand, judged):
    done = evenhand("report", "r.jsonl", "-o", "r.md", "--hide-scores", "--json")
    assert done.document["items"][0]["records"][0]["score"] == ""
    assert done.document["groups"][0]["bars"] == []


def test_the_title_is_free_and_escaped(evenhand, judged):
    evenhand("report", "r.jsonl", "-o", "r.html", "--title", "<i>May</i>")
    assert "<title>&lt;i&gt;May&lt;/i&gt;</title>" in (judged / "r.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("r.jsonl", "-o", "r.pdf"), "the form is chosen by the ending"),
        (("none.jsonl", "-o", "r.html"), "none.jsonl"),
        (("r.jsonl", "-o", "nowhere/r.html"), "nowhere"),
        (("r.jsonl", "--store", "none.db"), "none.db"),
        (("r.jsonl", "--pass-at", "7"), "the scale of record 'i0' is 0 to 1"),
        (("r.jsonl", "--pass-at", "nan"), "--pass-at nan"),
        (("judge.yaml", "-o", "r.html"), "judge.yaml line 1"),
    ],
)
def test_a_mistake_is_one_sentence(evenhand, judged, arguments, said):
    done = evenhand("report", *arguments)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (judged / "r.html").exists()


def test_records_are_never_overwritten_by_their_page(evenhand, judged):
    (judged / "r.jsonl").rename(judged / "r.xml")
    before = (judged / "r.xml").read_bytes()
    assert evenhand("report", "r.xml", "-o", "r.xml").code == 2
    assert (judged / "r.xml").read_bytes() == before
