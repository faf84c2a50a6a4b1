"""A scripted judge of each arm, run as a real process behind the real proxy, is told from its trace and outcomes."""

import json
import sys

import pytest

WRONG = {"robe", "feed", "sheep", "file"}
EXPECTED = {
    "anchored": {"anchored": 8},
    "solve_first": {"solve_first": 8},
    "commit_visible": {"commit_visible": 8},
    "commit_blind": {"commit_blind": 8},
    # Accepts wrong candidates that the judge's own answer does not match, and a right one that it does not match.
    "commit_ignored": {"commit_ignored": 3, "commit_blind": 5},
    "commit_scored": {"commit_scored": 8},
}


@pytest.fixture
def traced(evenhand, items, replies, harness, tmp_path):
    def run(arm, *options, outcomes=True):
        given = ["--outcomes", tmp_path / "outcomes.jsonl"] if outcomes else []
        return evenhand("trace", "--items", items, "--replies", replies, "--out", tmp_path / "out", "--json", *given,
                        *options, "--", *harness(arm))  # fmt: skip

    return run


@pytest.mark.parametrize("arm", EXPECTED)
def test_a_scripted_judge_of_each_arm_is_told_from_its_trace_and_outcomes(arm, traced):
    done = traced(arm)
    assert done.code == 0
    evidence = done.document["evidence"]
    assert evidence["arm"] == arm
    assert evidence["arms"] == EXPECTED[arm]
    assert (evidence["n_placed"], evidence["n_outcomes"], evidence["match"]) == (8, 8, "number")
    assert evidence["n_calls"] == (16 if arm in ("commit_ignored", "commit_scored") else 8)


@pytest.mark.parametrize("arm", ["commit_visible", "commit_blind"])
def test_a_judge_that_commits_and_matches_agrees_on_every_item(arm, traced):
    evidence = traced(arm).document["evidence"]
    assert (evidence["n_matched"], evidence["disagreements"], evidence["n_scored"]) == (8, [], 0)
    seen = {one["candidate_in_view"] for one in evidence["items"]}
    assert seen == {arm == "commit_visible"}
    assert all(one["precedes"] and one["required"] and one["reference_in_view"] is False for one in evidence["items"])
    assert [one["solved"] for one in evidence["items"]] == [True, True, True, True, False, True, False, True]


def test_an_ignored_commitment_is_shown_with_the_items_on_which_it_was(traced):
    evidence = traced("commit_ignored").document["evidence"]
    assert evidence["disagreements"] == ["robe", "feed", "glass"]
    assert evidence["n_matched"] == 8
    assert all(one["compared"] and one["comparison_has_commitment"] for one in evidence["items"])
    assert evidence["score_decides"] is None


def test_a_score_that_decides_is_told_from_one_that_only_follows(traced):
    evidence = traced("commit_scored").document["evidence"]
    assert (evidence["score_decides"], evidence["n_scored"]) == (True, 8)


@pytest.mark.parametrize("arm", EXPECTED)
def test_without_outcomes_no_trace_says_that_the_match_decides(arm, traced):
    evidence = traced(arm, outcomes=False).document["evidence"]
    assert (evidence["n_outcomes"], evidence["n_matched"], evidence["disagreements"]) == (0, 0, [])
    assert evidence["arm"] == {"commit_ignored": "commit_blind"}.get(arm, arm)


def test_without_outcomes_the_summary_says_what_is_missing(evenhand, items, replies, harness, tmp_path):
    done = evenhand("trace", "--items", items, "--replies", replies, "--", *harness("commit_blind"))
    assert done.code == 0
    assert "insufficient evidence at best" in " ".join(done.out.split())
    assert (tmp_path / ".evenhand/traces/0001/calls.jsonl").is_file()


def test_the_summary_fits_80_columns(evenhand, items, replies, harness, tmp_path):
    done = evenhand("trace", "--items", items, "--replies", replies, "--outcomes", tmp_path / "outcomes.jsonl", "--",
                    *harness("commit_ignored"))  # fmt: skip
    assert max(map(len, done.out.splitlines())) < 80
    assert "differs on robe, feed, glass" in " ".join(done.out.split())


def test_the_trace_on_disk_is_read_back_as_it_was_seen(traced, tmp_path):
    from evenhand.evaluate.tracing import evidence_of
    from evenhand.integrity.trace_evidence import TraceEvidence
    from evenhand.store.items import read_items
    from evenhand.store.outcomes import read_outcomes
    from evenhand.trace.files import read_calls, read_trace

    document = traced("commit_scored").document
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == ["calls.jsonl", "evidence.json", "trace.json"]
    assert read_trace(out) == document["trace"]
    stored = TraceEvidence.read(json.loads((out / "evidence.json").read_text()))
    again = evidence_of(
        list(read_items(tmp_path / "items.jsonl")), read_calls(out),
        read_outcomes(tmp_path / "outcomes.jsonl").accepted, "number",
    )  # fmt: skip
    assert again == stored == TraceEvidence.read(document["evidence"])


def test_a_swap_moves_an_anchored_commitment_and_not_an_independent_one(traced, tmp_path):
    evidence = traced("commit_visible", "--swap", 3, "--seed", 5).document["evidence"]
    swap = evidence["swap"]
    assert (swap["n"], swap["moved"], swap["moved_unswapped"], swap["unreadable"], swap["seed"]) == (3, 0, 0, 0, 5)
    assert swap["low"] == 0
    assert 0 < swap["high"] < 1
    assert evidence["n_calls"] == 8  # what was asked again is no call of the harness


def test_a_swap_that_moves_the_commitment_is_disclosed(traced, replies, items):
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    # This judge repeats whatever it is shown.
    replies.write_text("".join(
        json.dumps({"when": [row["task"], f"Proposed answer: {other['candidate']}\n"],
                    "text": f"My answer: {other['candidate']}"}) + "\n"
        for row in rows for other in rows
    ))  # fmt: skip
    evidence = traced("commit_visible", "--swap", 8).document["evidence"]
    assert (evidence["swap"]["n"], evidence["swap"]["moved"], evidence["swap"]["moved_unswapped"]) == (8, 8, 0)


FORMULAS = """import json, os, sys, urllib.request
with open("outcomes.jsonl", "w") as out:
    for item in map(json.loads, open("items.jsonl").read().splitlines()):
        text = f"Question: {item['task']}\\n\\nWork it out and end with one line\\nMy answer: <formula>"
        body = json.dumps({"model": "j", "messages": [{"role": "user", "content": text}]}).encode()
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).close()
        out.write(json.dumps({"id": item["id"], "accepted": item["id"] == "product"}) + "\\n")
"""


def test_formulas_of_a_trace_are_compared_as_formulas(evenhand, tmp_path):
    pytest.importorskip("math_verify", reason="needs the extra math")
    rows = [
        {"id": "product", "task": "Multiply x by its successor, and write the product of both.", "candidate": "x^2 + x",
         "reference": "x^2+x", "own": "x(x+1)"},
        {"id": "square", "task": "Square the sum of x and one, and write what comes out.", "candidate": "x^2 + 1",
         "reference": "x^2+2x+1", "own": "(x+1)^2"},
    ]  # fmt: skip
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    script = [{"when": [row["task"]], "text": f"It is so.\nMy answer: {row['own']}"} for row in rows]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in script))
    (tmp_path / "formulas.py").write_text(FORMULAS)
    done = evenhand("trace", "--items", "items.jsonl", "--replies", "replies.jsonl", "--outcomes", "outcomes.jsonl",
                    "--match", "expression", "--json", "--", sys.executable, "formulas.py")  # fmt: skip
    evidence = done.document["evidence"]
    assert (evidence["n_matched"], evidence["disagreements"], evidence["undecided"]) == (2, [], [])
    assert [one["solved"] for one in evidence["items"]] == [True, True]


def test_the_summary_says_that_nothing_could_be_swapped_and_that_a_reference_was_in_view(
    evenhand, items, replies, tmp_path
):
    import sys

    script = tmp_path / "shows.py"
    script.write_text(
        "import json, os, urllib.request\n"
        "for item in map(json.loads, open('items.jsonl')):\n"
        "    text = '{task}\\nProposed: {candidate}\\nGold: {reference}\\nGrade it. GRADE: C or I'.format(**item)\n"
        "    body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': text}]}).encode()\n"
        "    urllib.request.urlopen(urllib.request.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions', body,\n"
        "                                                  {'Content-Type': 'application/json'})).read()\n"
    )
    done = evenhand("trace", "--items", items, "--replies", replies, "--swap", 2, "--", sys.executable, script)
    said = " ".join(done.out.split())
    assert "nothing could be asked again" in said
    assert "reference in view on 8 of 8 items" in said
