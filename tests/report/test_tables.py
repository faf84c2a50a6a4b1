"""What verdicts come to beyond their scores: pairs, words, drafts, feedback, bare numbers, what escalation saved."""

import dataclasses
import re

import pytest

from evenhand.identity import item_hash
from evenhand.report.junit import report_junit
from evenhand.report.markdown import report_markdown
from evenhand.report.pages import report_page
from evenhand.terms import Item, Usage


def head(protocol, name="j", models=("openai/x",), **more):
    return {"name": name, "hash": f"sha256:{name}", "protocol": protocol, "models": list(models), **more}


def entry(score, **more):
    return {"id": "c", "weight": 1.0, "score": score, "exact": score, "scale": [0, 1], **more}


def pair(record, item, better, systems=("x", "y"), reason="So.", **more):
    label = {("first", "second"): "a", ("second", "first"): "b"}.get(better, "tie")
    orders = [{"first": side, "better": said, "reason": reason} for side, said in zip("ab", better, strict=True)]
    score = {"a": 1.0, "tie": 0.5, "b": 0.0}[label]
    return record(
        item=item,
        judge=head("pairwise"),
        metadata={"system": systems[0], "system_b": systems[1]},
        score=score,
        exact=score,
        criteria=(entry(score, label=label, orders=orders),),
        **more,
    )


def evidence(record, item, items, buckets=None, **more):
    steps = {"net_impact": 0, **({"buckets": buckets} if buckets else {})}
    found = {
        "id": "c",
        "weight": 1.0,
        "score": 50,
        "exact": 50.0,
        "scale": [0, 100],
        "arithmetic": steps,
        "items": items,
    }
    return record(**{
        "item": item,
        "item_hash": f"sha256:{item}",
        "judge": head("evidence", "shown"),
        "score": 50,
        "exact": 50.0,
        "scale": (0, 100),
        "criteria": (found,),
    } | more)  # fmt: skip


def finding(claim, impact, bucket):
    return {"claim": claim, "impact": impact, "quote": "", "quote_status": "absent", "counted": True, "bucket": bucket}


def steps(*nets_and_scores):
    names = ("working", "not_working", "missing", "confusing")
    return [
        {"bucket": name, "items": 1, "net_impact": net, "total_items": n, "score": score}
        for n, (name, (net, score)) in enumerate(zip(names, nets_and_scores, strict=True), 1)
    ]


def number(record, item, rating, **more):
    return record(**{
        "item": item,
        "item_hash": f"sha256:{item}",
        "judge": head("number", "bare"),
        "score": rating,
        "exact": float(rating),
        "scale": (0, 100),
        "criteria": ({**entry(rating), "scale": [0, 100], "rating": rating},),
    } | more)  # fmt: skip


PLACED = [("first", "first")] * 6


def test_pairs_show_words_swaps_the_preferred_place_and_strengths(record, report):
    pytest.importorskip("choix")
    said = [("first", "second"), ("second", "first"), *PLACED]
    made = report([pair(record, f"p{k}", better) for k, better in enumerate(said)])
    (group,) = made.groups
    assert [(bar.label, bar.n) for bar in group.labels] == [("b", 1), ("tie", 6), ("a", 1)]
    orders, rates, strengths = group.tables
    assert orders.rows[0][:3] == ("inconsistent swaps", "6", "8")
    assert orders.rows[1][1:3] == ("6", "6")
    assert rates.rows[0][:3] == ("x", "y", "8")
    assert "to" in rates.rows[0][4]
    assert [row[0] for row in strengths.rows] == ["x", "y"]
    assert strengths.notes[0].startswith("Log scale, mean 0; 500 resamples of 8 items")
    assert any("the place alone decided, it was the first in 6 of 6 pairs" in one.text for one in made.caveats)
    page = report_page(made)
    assert page.index("the place alone decided") < page.index("Verdicts by word") < page.index("Win rates")
    assert "a is better" in page
    hidden = report([pair(record, f"p{k}", better) for k, better in enumerate(said)], hide_scores=True)
    assert [table.name for table in hidden.groups[0].tables] == ["Both orders"]
    assert hidden.groups[0].labels == ()
    shown = report_page(hidden) + report_markdown(hidden)
    assert not [word for word in ("is better", "label: ", "Verdicts by word") if word in shown]


def test_a_panels_hidden_abstention_does_not_tell_what_its_members_said(record, report):
    why = "criterion 'c': no strict majority on level (1 1, 1 2, 1 3)"
    records = [record(member=None, status="abstained", score=None, exact=None, criteria=(), reason=why)]
    told = (report_markdown(report(records)), report_markdown(report(records, hide_scores=True)))
    assert ["no strict majority on level" in text for text in told] == [True, True]
    assert ["1 1, 1 2, 1 3" in text for text in told] == [True, False]
    text = report_junit(records, title="t", pass_at=None, hide_scores=True)
    assert "no strict majority on level" in text
    assert "1 1, 1 2, 1 3" not in text


def test_the_second_candidate_of_a_pair_is_shown(record, report):
    item = Item(id="p", candidate="It works, says the almanac.", sources={"candidate_b": "It does not."})
    made = report([pair(record, "p", ("first", "second"), item_hash=item_hash(item))], [item])
    assert [text.name for text in made.items[0].texts] == ["candidate", "candidate_b"]


def test_a_reference_shows_how_often_each_relation_was_found(record, report):
    words = [("equal", 1.0), ("equal", 1.0), ("contradicts", 0.0)]
    records = [
        record(item=f"r{k}", judge=head("reference"), score=n, exact=n, criteria=(entry(n, label=word),))
        for k, (word, n) in enumerate(words)
    ]
    unknown = record(item="r9", judge=head("reference"), status="abstained", reason="cannot_tell")
    unknown = dataclasses.replace(unknown, criteria=(entry(None, label="cannot_tell"),))
    made = report([*records, unknown])
    counts = {bar.label: bar.n for bar in made.groups[0].labels}
    assert counts == {"cannot_tell": 1, "contradicts": 1, "partly": 0, "equal": 2}
    assert re.search(r"\| equal \| 2 \| 50\s%", report_markdown(made))
    assert "share of 4 verdicts" in report_page(made)


FIRST = [finding("The aim is clear.", 3, "working"), finding("No table is read.", -5, "not_working")]
SECOND = [finding("The aim is clear.", 3, "working"), finding("No harbour is named.", -2, "missing")]


def test_a_draft_shows_its_running_score_and_what_the_next_pass_resolved(record, report):
    running = steps((3, 68), (-2, 41), (-2, 41), (-2, 41))
    records = [
        evidence(record, "essay-v1.md", FIRST, running),
        evidence(record, "essay-v2.md", SECOND, running, score=60, exact=60.0),
    ]
    made = report(records)
    (draft,) = made.drafts
    assert (draft.slug, dict(draft.facts)["scores"], dict(draft.facts)["delta"]) == ("essay", "50 → 60", "+10")
    lists = {name.split(" (")[0].split(":")[0]: claims for name, claims in draft.lists}
    assert lists["resolved"] == ("No table is read.",)
    assert lists["new"] == ("No harbour is named.",)
    (table,) = made.items[0].records[0].tables
    assert table.rows[1] == ("Not working", "1", "-2", "41")
    hidden = report(records, hide_scores=True)
    assert hidden.items[0].records[0].tables[0].rows[1] == ("Not working", "1")
    assert "delta" not in dict(hidden.drafts[0].facts)


def test_passes_of_different_models_are_said_before_the_numbers(record, report):
    running = steps((3, 68), (-2, 41), (-2, 41), (-2, 41))
    other = evidence(record, "essay-v2.md", SECOND, running, member="openai/y")
    page = report_page(report([evidence(record, "essay-v1.md", FIRST, running), other]))
    assert page.index("another judge file or model made that one") < page.index("Draft by draft")


def test_bare_numbers_on_the_same_items_are_a_caveat_with_n_and_interval(record, report):
    records = [evidence(record, f"i{k}", []) for k in range(4)] + [number(record, f"i{k}", 90) for k in range(5)]
    made = report(records)
    (caveat,) = [one for one in made.caveats if "bare numbers" in one.text]
    assert caveat.serious
    assert "lie 40 points of 100 apart on average (95 % interval 40 to 40), n = 4 items: more than 12" in caveat.text
    assert made.divergences.rows[0][3:] == ("4", "1", "40", "40 to 40")
    page = report_page(made)
    assert page.index("lie 40 points") < page.index("How the scores are spread") < page.index("Points apart")
    assert "40" not in "".join(one.text for one in report(records, hide_scores=True).caveats)
    assert report(records[:4]).divergences is None


def test_numbers_of_other_items_are_not_compared(record, report):
    made = report([evidence(record, "a", []), number(record, "b", 90)])
    assert made.divergences is None
    assert not any("bare numbers" in one.text for one in made.caveats)


def test_what_escalation_saved_stands_beside_the_panels_figures(record, report):
    judge = head("checklist", models=["openai/x"], escalate_to=["openai/y"])
    used = {"usage": Usage(input_tokens=100, output_tokens=20), "cost_usd": 0.5}
    records = []
    for k, escalated in enumerate((True, False, False)):
        document = {
            "rule": "majority", "size": 1, "members": [], "dissent": [],
            "escalation": {"escalated": escalated, "because": [], "first": ["openai/x"], "to": ["openai/y"]},
        }  # fmt: skip
        members = ["openai/x"] + ["openai/y"] * escalated
        records += [record(item=f"i{k}", judge=judge, member=member, **used) for member in members]
        records.append(record(item=f"i{k}", judge=judge, member=None, panel=document))
    facts = dict(report(records).groups[0].facts)
    assert facts["escalated"].startswith("1 of 3 (33")
    assert facts["saved"] == "2 judgements: about 2 calls, 240 tokens, $1.00, at the mean of 1 escalated ones"


def outside_code(text):
    text = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.M | re.S)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_hostile_text_is_text_in_every_new_place(record, report, hostile):
    running = steps((3, 68), (-2, 41), (-2, 41), (-2, 41))
    evil = [finding(hostile, 3, "working"), finding(f"{hostile} no", -5, "not_working")]
    named = {"judge": {**head("evidence", "shown"), "name": hostile}, "feedback": hostile}
    bare = {**head("number", "bare"), "name": hostile}
    records = [
        evidence(record, "d-v1", evil, running, metadata={"slug": hostile}, **named),
        evidence(record, "d-v2", [], running, metadata={"slug": hostile}, **named),
        number(record, "d-v1", 90, judge=bare, feedback=hostile),
        *[pair(record, f"p{k}", better, (hostile, f"{hostile}2"), hostile) for k, better in enumerate(PLACED)],
        record(item="odd", judge=head("reference"), criteria=(entry(1.0, label=hostile),), member="openai/z"),
    ]
    made = report(records)
    page = report_page(made)
    assert not re.search(r"<(?:script|img|svg onload|a href=.?javascript)", page)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "{{ 7*7 }}" in page
    assert page.count("Feedback to the author") == 3
    markdown = report_markdown(made)
    left = outside_code(markdown)
    assert not re.search(r"<script|<img|<svg|javascript|onerror", left)
    for table in re.findall(r"(?:^\|.*\n)+", markdown, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_many_systems_and_drafts_are_cut_and_the_cut_is_stated(record, report):
    running = steps((3, 68), (-2, 41), (-2, 41), (-2, 41))
    long = [finding(f"{place} {'x' * 600}", -2, "missing") for place in range(10)]
    drafts = [
        evidence(record, f"{k}/d-v{v}", long[:: 3 - v], running, item_hash=f"sha256:{k}-{v}")
        for k in range(40)
        for v in (1, 2)
    ]
    pairs = [pair(record, f"p{k}", ("first", "second"), (f"s{k}{'y' * 9_000}", f"s{k + 1}")) for k in range(40)]
    page = report_page(report(drafts + pairs, items_shown=30))
    assert len(page.encode()) < 2_000_000
    assert "The first 30 of 40 are shown." in page
    assert re.search(r"The first 100 of [\d,]+ rows are shown.", page)
    assert "y" * 600 not in page.split("Item by item")[0]
