"""The evidence pipeline as its user meets it: the command, with given replies, and `rescore --check` on the records."""

import json

import pytest

JUDGE = """\
name: submission
protocol: evidence
models: [scripted/model.jsonl]
layout: matrix
perspectives: [user, adversary]
criteria:
  - {id: fit, weight: 0.4, ask: Does it solve the problem?}
  - {id: craft, weight: 0.4}
  - {id: depth, weight: 0.2}
passes:
  - {name: code, source: candidate, ask: Look at the code.}
  - {name: show, source: demo, optional: true}
near_duplicate: 0.9
synthesis: {contradicted_impact: -3}
"""
CODE = "The parser reads every row. It has no tests. Errors name their line. The cache is never emptied."
DEMO = "00:10 The parser stops at row nine. 00:20 The import ends with a crash."


def item(claim, quote, criterion, impact, perspective="user"):
    return {"claim": claim, "quote": quote, "criterion": criterion, "perspective": perspective, "impact": impact}


CODE_ITEMS = [
    item("It reads every row.", "The parser reads every row", "fit", 3),
    item("There are no tests.", "It has no tests", "craft", -3),
    item("Errors name lines.", "Errors name their line", "craft", 2),
    item("errors name lines", "Errors name their line", "craft", 2, "adversary"),
    item("The cache grows.", "The cache is never emptied", "depth", -2),
    item("It is quick.", "very quick indeed", "depth", 5),
]
DEMO_ITEMS = [
    item("The import crashes.", "The import ends with a crash", "fit", -5),
    item("It stops at row nine.", "The parser stops at row nine", "fit", -2, "adversary"),
]
NO_MORE = {"items": []}
PLAIN = "name: plain\nprotocol: number\nmodels: [scripted/model.jsonl]\ncriteria: [{id: q, ask: How good is it?}]\n"
MARKS = [{"reason": "The demo shows otherwise.", "mark": "contradicts", "item": 1, "other": 6}]


@pytest.fixture
def desk(tmp_path, evenhand):
    """desk(replies, items, judge, more arguments): runs judge and rescore --check, and gives back the records."""

    def run(replies, items=None, judge=JUDGE, *more, code=0):
        (tmp_path / "judge.yaml").write_text(judge)
        items = items or [{"id": "a", "task": "Parse.", "candidate": CODE, "sources": {"demo": DEMO}}]
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
        (tmp_path / "model.jsonl").write_text("\n".join(map(json.dumps, replies)))
        done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "r.jsonl", *more)
        assert done.code == code, done.err
        if code:
            return done
        checked = evenhand("rescore", "r.jsonl", "--check")
        assert checked.code == 0, checked.out + checked.err
        return [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]

    return run


def by_claim(record):
    return {found["claim"]: found for criterion in record["criteria"] for found in criterion["items"]}


def test_passes_merge_refute_and_take_out_and_the_record_can_be_computed_again(desk):
    (record,) = desk([{"items": CODE_ITEMS}, {"items": DEMO_ITEMS}, NO_MORE, NO_MORE, {"marks": MARKS}])
    assert len(record["keys"]) == 5
    found = by_claim(record)
    assert found["It is quick."]["dropped"] == "absent_quote"
    assert found["errors name lines"]["dropped"] == "duplicate"
    assert found["Errors name lines."]["merged"] == ["code/adversary"]
    assert found["The import crashes."]["source"] == "demo"
    assert found["The import crashes."]["quote_status"] == "exact"
    assert found["It reads every row."]["dropped"] == "contradicted"
    assert found["It reads every row."]["review"] is True
    assert found["Contradicted: It reads every row."]["impact"] == -3
    # depth has one counted item: a fifth of the weight is taken out, and goes half and half to the other two.
    assert [criterion["weight"] for criterion in record["criteria"]] == [0.5, 0.5, 0.0]
    assert record["criteria"][2]["score"] is None
    assert record["criteria"][2]["arithmetic"]["weight"] == 0.2
    assert record["flags"][:4] == ["duplicates:1", "contradictions:1", "criterion_out:depth", "one_sided:fit"]
    # fit: -5 -2 -3 over sqrt(3); craft: -3 +2 over sqrt(2)
    assert [criterion["score"] for criterion in record["criteria"]] == [14, 46, None]
    assert record["score"] == 30
    assert record["status"] == "verdict"


def test_a_criterion_that_falls_short_is_asked_about_once_more_by_name(desk):
    more = {
        "items": [
            item("It is shallow.", "The cache is never emptied", "depth", -1, "adversary"),
            item("It has no tests at all.", "It has no tests", "craft", -5),
            item("Lines are named.", "Errors name their line", "depth", 2),
        ]
    }
    shown = {"items": [item("The import is slow.", "The import ends", "depth", -1)]}
    (record,) = desk([{"items": CODE_ITEMS}, {"items": DEMO_ITEMS}, more, shown, {"marks": []}])
    found = by_claim(record)
    assert found["Lines are named."]["counted"] is True
    assert (found["The import is slow."]["counted"], found["The import is slow."]["source"]) == (True, "demo")
    assert found["It is shallow."]["dropped"] == "duplicate"
    assert found["It has no tests at all."]["dropped"] == "not_asked"
    assert [criterion["weight"] for criterion in record["criteria"]] == [0.4, 0.4, 0.2]


def test_silence_on_more_than_a_quarter_of_the_weight_never_pays(desk):
    only = {"items": [item("It reads rows.", "The parser reads every row", "fit", 5)] * 1}
    (record,) = desk([only, NO_MORE, NO_MORE, NO_MORE, {"marks": []}])
    assert record["status"] == "abstained"
    assert record["score"] is None
    assert record["reason"].startswith("fewer than 2 items count for 'fit' (1), 'craft' (0), 'depth' (0)")
    assert record["criteria"][0]["items"]


def test_an_item_without_an_optional_source_is_judged_without_that_pass(desk):
    items = [{"id": "a", "candidate": CODE}]
    (record,) = desk([{"items": CODE_ITEMS}, {"items": []}, {"marks": []}], items)
    assert record["flags"][0] == "pass_left_out:show"


@pytest.mark.parametrize(("judge", "meant"), [(JUDGE, "did you mean 'demo'?"), (PLAIN, "in judge plain\n")])
def test_a_source_that_nothing_reads_is_said_before_anything_is_sent(evenhand, tmp_path, judge, meant):
    (tmp_path / "judge.yaml").write_text(judge)
    sources = {"demoo": DEMO, **({"demo": DEMO} if judge is not PLAIN else {})}
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "a", "candidate": CODE, "sources": sources}))
    (tmp_path / "model.jsonl").write_text('"none"')
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run")
    assert done.code == 0, done.err
    assert "warning: the source 'demoo' is read by nothing in judge" in done.err
    assert meant in done.err
    assert "the source 'demo' " not in done.err


def test_the_closing_table_says_why_items_abstained_unless_scores_are_hidden(evenhand, tmp_path):
    (tmp_path / "judge.yaml").write_text(JUDGE.replace(", optional: true", ""))
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "a", "candidate": CODE}))
    (tmp_path / "model.jsonl").write_text('"none"')
    why = "abstain  missing_source"
    assert f"{why} (1), such as a: the pass 'show' reads" in evenhand("judge", "judge.yaml", "items.jsonl").out
    hidden = evenhand("judge", "judge.yaml", "items.jsonl", "--hide-scores").out
    assert f"{why} 1\n" in hidden
    assert "such as" not in hidden


def test_an_estimate_says_what_comes_on_top_of_the_first_calls(evenhand, tmp_path):
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "a", "candidate": CODE}))
    (tmp_path / "model.jsonl").write_text('"none"')
    (tmp_path / "judge.yaml").write_text(JUDGE + "feedback: true\n")
    later = "a second question for criteria with too little evidence, the synthesis, feedback"
    document = evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run", "--json").document
    assert f"first calls only; what follows them comes on top: {later}; at most: every reply" in document["assumed"]
    # one reading, the second question, the synthesis and the feedback, each with a repair, a longer and a fresh reply
    assert (document["calls"], document["calls_at_most"]) == (1, 16)
    assert document["output_tokens_at_most"] == 4 * 13 * 2048
    (tmp_path / "judge.yaml").write_text(PLAIN)
    document = evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run", "--json").document
    assert "first calls only; at most" in document["assumed"]
    assert (document["calls_at_most"], document["output_tokens_at_most"]) == (4, 13 * 2048)
    assert all(len(line) < 80 for line in evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run").out.splitlines())


@pytest.mark.parametrize(
    ("reply", "way_out"),
    [
        ("none", "--retry-failed asks afresh what was unreadable\n"),
        ("", "--retry-failed asks afresh what was empty\n"),
        ({"text": "{", "finish": "length"}, "for what was truncated set a higher `max_tokens` in the judge"),
    ],
)
def test_a_failure_by_a_reply_names_a_way_out(evenhand, tmp_path, reply, way_out):
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "a", "candidate": CODE}))
    (tmp_path / "model.jsonl").write_text(json.dumps(reply))
    (tmp_path / "judge.yaml").write_text(PLAIN)
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert done.code == 3
    assert f"1 of 1 judgement failed; --max-failed allows 0; {way_out}" in done.err


def test_an_item_without_a_required_source_abstains_and_nothing_is_sent(desk):
    judge = JUDGE.replace(", optional: true", "")
    (record,) = desk([{"items": []}], [{"id": "a", "candidate": CODE}], judge, "--retry-failed")
    assert (record["status"], record["reason"]) == ("abstained", "missing_source")
    assert "the pass 'show' reads the source 'demo'" in record["text"]
    assert record["keys"] == []


def test_an_unreadable_synthesis_fails_the_record(desk):
    replies = [{"items": CODE_ITEMS}, {"items": DEMO_ITEMS}, NO_MORE, NO_MORE, *[{"marks": [{"mark": "x"}]}] * 3]
    (record,) = desk(replies, None, JUDGE, "--max-failed", 1)
    assert (record["status"], record["cause"]["code"]) == ("failed", "unreadable")
    assert len(record["keys"]) == 7


DETECTORS = """\
detectors:
  - {id: untested, regex: "no tests", claim: It says it has no tests., impact: -3, criterion: craft}
  - {id: exits, command: "PYTHON -c 'raise SystemExit(COUNT)'", claim: The build fails., impact: -5, criterion: fit}
breakers:
  - {finding: exits, BREAK}
"""


def with_detectors(tmp_path, count, break_):
    program = tmp_path / "run.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran.txt\nexit {count}\n")
    program.chmod(0o755)
    text = DETECTORS.replace("PYTHON -c 'raise SystemExit(COUNT)'", str(program)).replace("BREAK", break_)
    return JUDGE + text


REPLIES = [{"items": CODE_ITEMS}, {"items": DEMO_ITEMS}, NO_MORE, NO_MORE, {"marks": []}]


def test_findings_join_the_pool_and_rescore_does_not_run_them_again(desk, tmp_path):
    (record,) = desk(REPLIES, None, with_detectors(tmp_path, 1, "cap: 10"), "--reruns", 1)
    assert (tmp_path / "ran.txt").read_text() == "ran\n"
    found = by_claim(record)
    assert found["The build fails."]["detector"] == "exits"
    assert found["It says it has no tests."]["quote"] == "no tests"
    assert record["score"] == 10
    assert record["flags"][:2] == ["duplicates:1", "breaker:exits"]
    assert any(flag.startswith("capped_from:") for flag in record["flags"])


def test_a_breaker_can_force_a_fail(desk, tmp_path):
    (record,) = desk(REPLIES, None, with_detectors(tmp_path, 1, "fail: true"))
    assert record["score"] == 0
    assert "fail" in record["flags"]


def test_a_detector_that_does_not_fire_leaves_no_trace(desk, tmp_path):
    (record,) = desk(REPLIES, None, with_detectors(tmp_path, 0, "fail: true"))
    assert "The build fails." not in by_claim(record)
    assert not any(flag.startswith("breaker") for flag in record["flags"])


def test_a_detector_that_does_not_work_fails_the_item_and_asks_nothing(desk, tmp_path):
    (record,) = desk(REPLIES, None, with_detectors(tmp_path, 127, "fail: true"), "--max-failed", 1)
    assert record["cause"]["code"] == "detector"
    assert record["keys"] == []


def test_a_panel_of_pipelines_is_computed_again_from_its_own_record(desk, tmp_path):
    judge = with_detectors(tmp_path, 1, "cap: 10").replace(
        "[scripted/model.jsonl]", "[scripted/model.jsonl, scripted/other.jsonl]"
    )
    (tmp_path / "other.jsonl").write_text("\n".join(json.dumps({**reply, "by": "other"}) for reply in REPLIES))
    for pool in ("", "pool: true\n"):
        records = desk(REPLIES, None, judge + pool)
        assert [record["member"] is None for record in records] == [False, False, True]
        assert records[2]["score"] == 10
    assert (tmp_path / "ran.txt").read_text() == "ran\n" * 2


MEMBERS = ("model", "second", "third")
FATAL = """\
catalog:
  - {id: leak, claim: A key is shown., impact: -5}
  - {id: neat, claim: It is neat., impact: 3}
  - {id: quick, claim: It is quick., impact: 5}
breakers: [{finding: leak, cap: 20}]
"""
PANEL = """\
name: submission
protocol: evidence
models: [scripted/model.jsonl, scripted/second.jsonl, scripted/third.jsonl]
passes: [{name: code}, {name: show, source: demo, optional: true}]
scoring: {item_floor: 0}
"""
QUOTES = {"leak": "It has no tests", "neat": "Errors name their line", "quick": "The parser reads every row"}


def members_say(folder, *said):
    """Scripts of the panel's members: what each reports by catalogue id; a string is its whole reply."""
    for name, ids in zip(MEMBERS, said, strict=True):
        reply = ids if isinstance(ids, str) else {"items": [catalogued(one) for one in ids], "by": name}
        (folder / f"{name}.jsonl").write_text("\n".join([json.dumps(reply)] * 3))
    return json.loads((folder / "model.jsonl").read_text().splitlines()[0])


def catalogued(name):
    return {"claim": f"It is {name}.", "quote": QUOTES[name], "catalog_id": name}


@pytest.mark.parametrize(
    ("said", "score", "flags"),
    [
        ((["leak", "quick"], ["leak", "quick", "neat"], ["quick", "neat"]), 20, ["breaker:leak"]),
        ((["leak", "quick"], ["quick", "neat"], ["quick", "neat"]), 85, ["breaker_minority:leak"]),
        ((["leak", "quick"], ["leak"], "no JSON"), 20, ["members_without_verdict", "breaker:leak"]),
    ],
)
def test_a_fatal_finding_stands_in_the_panels_record(desk, tmp_path, said, score, flags):
    first = members_say(tmp_path, *said)
    items = [{"id": "a", "candidate": CODE}]
    records = desk([first] * 3, items, PANEL + FATAL, "--max-failed", 1)
    panel = records[-1]
    assert (panel["member"], panel["score"]) == (None, score)
    assert [flag for flag in panel["flags"] if flag in flags] == flags
    assert "pass_left_out:show" in panel["flags"]


def test_a_pool_of_members_counts_their_items_once_and_follows_one_fatal_finding(desk, tmp_path):
    first = members_say(tmp_path, ["leak", "neat"], ["neat", "quick"], ["quick"])
    items = [{"id": "a", "candidate": CODE}]
    records = desk([first] * 3, items, PANEL + FATAL + "pool: true\n")
    panel = records[-1]
    assert (panel["panel"]["rule"], panel["score"]) == ("pool", 20)
    counted = [found for found in panel["criteria"][0]["items"] if found["counted"]]
    # -5 +3 +5 over sqrt(3): each once, whoever found it.
    assert [(found["catalog_id"], found["pass"]) for found in counted] == [
        ("leak", "scripted/model.jsonl: code"),
        ("neat", "scripted/model.jsonl: code"),
        ("quick", "scripted/second.jsonl: code"),
    ]
    assert counted[1]["merged"] == ["scripted/second.jsonl: code"]
    assert panel["criteria"][0]["arithmetic"]["net_impact"] == 3
    assert panel["flags"][:3] == ["pass_left_out:show", "breaker:leak", "capped_from:61"]


def test_a_changed_impact_of_a_detector_is_rescored_without_running_it(desk, evenhand, tmp_path):
    judge = with_detectors(tmp_path, 1, "cap: 90")
    (before,) = desk(REPLIES, None, judge)
    (tmp_path / "milder.yaml").write_text(judge.replace("impact: -5", "impact: -1"))
    done = evenhand("rescore", "r.jsonl", "--judge", "milder.yaml", "-o", "milder.jsonl")
    assert done.code == 0, done.err
    after = json.loads((tmp_path / "milder.jsonl").read_text())
    assert by_claim(after)["The build fails."]["impact"] == -1
    assert after["score"] > before["score"]
    assert (tmp_path / "ran.txt").read_text() == "ran\n"


def test_a_detector_that_never_ran_cannot_be_rescored(desk, evenhand, tmp_path):
    desk(REPLIES)
    (tmp_path / "more.yaml").write_text(with_detectors(tmp_path, 1, "cap: 90"))
    done = evenhand("rescore", "r.jsonl", "--judge", "more.yaml")
    assert done.code == 2
    assert "was not run on these items" in done.err


DRAFT = """\
name: draft
protocol: evidence
models: [scripted/model.jsonl]
buckets: true
"""


def test_four_buckets_make_one_pool_with_a_running_score(desk):
    reply = {
        "working": [{"claim": "The parser is named.", "quote": "The parser reads", "value": 3}],
        "not_working": [{"claim": "The cache grows.", "quote": "The cache is never emptied", "value": 2}],
        "missing": [
            {"claim": "No licence.", "quote": "", "value": 1},
            {"claim": "No date.", "quote": "dated never", "value": 5},
        ],
        "confusing": [{"claim": "Which line?", "quote": "their line", "value": 3}],
    }
    (record,) = desk([reply], None, DRAFT)
    assert [found["impact"] for found in record["criteria"][0]["items"]] == [3, -2, -1, -5, -3]
    assert [found["counted"] for found in record["criteria"][0]["items"]] == [True, True, True, False, True]
    running = record["criteria"][0]["arithmetic"]["buckets"]
    assert [(step["bucket"], step["net_impact"], step["total_items"]) for step in running] == [
        ("working", 3, 1),
        ("not_working", 1, 2),
        ("missing", 0, 3),
        ("confusing", -3, 4),
    ]
    assert running[-1]["score"] == record["score"]
    assert record["criteria"][0]["items"][0]["bucket"] == "working"


@pytest.mark.parametrize("judge", [DRAFT, DRAFT.replace("buckets: true", "near_duplicate: 0.9")])
def test_one_item_under_a_logarithm_abstains_and_does_not_end_the_run(desk, judge):
    """ln(1) is 0: one judgement without a score, whatever stands after it."""
    judge += "scoring: {variant: log, item_floor: 1}\n"
    one = {"claim": "The parser is named.", "quote": "The parser reads"}
    if "buckets" in judge:
        reply = {"working": [{**one, "value": 3}], "not_working": [], "missing": [], "confusing": []}
    else:
        reply = {"items": [{**one, "impact": 3}]}
    (record,) = desk([reply], None, judge)
    assert (record["status"], record["score"]) == ("abstained", None)
    assert record["reason"] == "one evidence item counts, and the variant divides by ln(1), which is 0"


def test_a_running_score_by_logarithms_has_none_after_one_item(desk):
    both = [{"claim": "The parser is named.", "quote": "The parser reads", "value": 3}]
    reply = {"working": both, "not_working": [], "missing": [{**both[0], "quote": ""}], "confusing": []}
    (record,) = desk([reply], None, DRAFT + "scoring: {variant: log}\n")
    assert [step["score"] for step in record["criteria"][0]["arithmetic"]["buckets"]] == [None, None, 50, 50]
    assert record["score"] == 50


AUTO = """\
name: lean
protocol: evidence
models: [scripted/model.jsonl]
counter_bias: auto
"""
TWO = [
    {
        "items": [
            {"claim": "It reads rows.", "quote": "The parser reads every row", "impact": 3},
            {"claim": "No tests.", "quote": "It has no tests", "impact": -2},
        ]
    }
]


def test_a_model_that_was_never_probed_is_judged_with_softly_and_flagged(desk):
    (record,) = desk(TWO, None, AUTO)
    assert record["flags"][:2] == ["counter_bias:soft", "untested_model"]


@pytest.mark.parametrize(
    ("regime", "dial"), [("INFLATION_LIKELY", "full"), ("CALIBRATED", "off"), ("AMBIGUOUS", "soft")]
)
def test_the_dial_follows_the_models_regime(desk, evenhand, tmp_path, regime, dial):
    desk(TWO, None, AUTO)
    probe(tmp_path, regime)
    (record,) = desk(TWO, None, AUTO)
    assert record["flags"][0] == f"counter_bias:{dial}"
    assert "untested_model" not in record["flags"]
    assert evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run", "--json").document["calls"] == 0


def test_a_model_that_picks_a_number_is_refused_without_anyway(desk, tmp_path):
    desk(TWO, None, AUTO)
    probe(tmp_path, "PICKS_A_NUMBER")
    done = desk(TWO, None, AUTO, code=2)
    assert "its last probe found PICKS_A_NUMBER" in done.err
    (record,) = desk(TWO, None, AUTO, "--anyway")
    assert record["flags"][0] == "counter_bias:soft"


def probe(folder, regime):
    """Keep a regime for the scripted model, as the probe will."""
    from evenhand.providers.open import open_provider, resolve
    from evenhand.store.database.sql import open_store
    from evenhand.terms import ModelSpec

    target = resolve(ModelSpec(model="scripted/model.jsonl"), base_url=None, environ={}, dotenv={}, need_key=False)
    with open_store(folder / ".evenhand" / "evenhand.db") as store:
        store.regimes.keep(
            model="scripted/model.jsonl", endpoint=open_provider(target).identity, regime=regime, document={}
        )
