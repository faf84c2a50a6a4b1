"""Ready-made judges, drafts and repositories through the command, with given replies, and `rescore --check` on each."""

import json

import pytest
import yaml

from evenhand.store.packaged import example_judge


def found(claim, quote, criterion, impact, perspective="sme"):
    return {"claim": claim, "quote": quote, "criterion": criterion, "perspective": perspective, "impact": impact}


CODE = [
    found("It prints one fixed time.", "print('next high water: 14:20')", "problem_fit", -5),
    found("It says what it is for.", "prints the next high water", "problem_fit", 2),
    found("An import is unused.", "import sys", "craft", -1),
    found("It is short.", "import sys\nprint(", "craft", 1, "end_user"),
    found("No table is read.", "next high water", "depth", -3),
    found("No harbour can be named.", "Reads tide tables", "depth", -2, "end_user"),
    found("Nothing is new.", "# Tide clock", "innovation", -1),
    found("The idea is useful.", "Reads tide tables", "innovation", 2, "requester"),
    found("It seems whole.", "Tide clock", "completeness", 5),
]
ADVICE = "Keep the clear purpose. Read the table instead of printing a fixed time (main.py:2), and test it."
FILES = {
    "README.md": "# Tide clock\nReads tide tables and prints the next high water.\n",
    "main.py": "import sys\nprint('next high water: 14:20')\n",
}


@pytest.fixture
def desk(tmp_path, evenhand):
    """desk(judge, items, replies, more arguments): judges, checks the records again, and gives back both."""

    def run(judge, items, replies, *more, code=0, out="r.jsonl"):
        (tmp_path / "model.jsonl").write_text("\n".join(map(json.dumps, replies)))
        done = evenhand("judge", judge, items, "-m", "scripted/model.jsonl", "-j", 1, "-o", out, *more)
        assert done.code == code, done.err + done.out
        records = [json.loads(line) for line in (tmp_path / out).read_text().splitlines()]
        checked = evenhand("rescore", out, "--check")
        assert checked.code == 0, checked.out + checked.err
        return records, done

    return run


def submitted(tmp_path, name, more=()):
    for path, text in {**FILES, **dict(more)}.items():
        (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name / path).write_text(text)
    return name


def test_a_submission_without_a_demo_leaves_what_needs_one_to_a_person(desk, tmp_path):
    replies = [{"items": CODE}, {"marks": []}, ADVICE]
    ((record,), done) = desk("submission", submitted(tmp_path, "tide"), replies)
    assert "ready-made judge" in done.err
    assert record["item"] == "tide"
    assert record["status"] == "verdict"
    assert "person_must_decide:completeness" in record["flags"]
    assert "pass_left_out:demo" in record["flags"]
    assert "person   must decide completeness for 1: without the source" in done.out
    by_id = {criterion["id"]: criterion for criterion in record["criteria"]}
    assert by_id["completeness"]["score"] is None
    assert by_id["completeness"]["weight"] == 0
    assert [item["dropped"] for item in by_id["completeness"]["items"]] == ["needs_source"]
    assert by_id["problem_fit"]["weight"] == pytest.approx(0.30 / 0.85)
    places = {item["claim"]: item.get("place") for one in record["criteria"] for item in one["items"]}
    assert places["It prints one fixed time."] == "main.py:2"
    assert places["It is short."] == "main.py:1-2"
    assert places["Nothing is new."] == "README.md:1"
    assert record["feedback"] == ADVICE
    assert "main.py:2" in done.out
    assert "feedback" in done.out


def test_a_demo_is_read_and_its_times_are_cited(desk, tmp_path):
    (tmp_path / "talk.txt").write_text("00:05 The clock starts.\n00:31 It shows a time of last year.\n")
    shown = [
        found("It shows an old time.", "It shows a time of last year", "completeness", -3),
        found("It starts.", "00:05 The clock starts", "completeness", 1),
    ]
    replies = [
        {"items": CODE[:8]},
        {"items": shown},
        {"marks": []},
        "See 00:31 and 02:00, and util.py:9, for what to mend.",
    ]
    ((record,), _) = desk("submission", submitted(tmp_path, "tide"), replies, "--source", "demo=talk.txt")
    items = {item["claim"]: item for one in record["criteria"] for item in one["items"]}
    assert items["It shows an old time."]["place"] == "demo 00:31"
    assert items["It starts."]["place"] == "demo 00:05"
    assert not any(flag.startswith(("person_must", "pass_left_out")) for flag in record["flags"])
    assert "feedback_places_unknown:2" in record["flags"]


@pytest.mark.shared
def test_t047_a_score_in_the_submission_moves_nothing_and_is_flagged(desk, tmp_path, shared):
    lines = (shared / "data" / "cases" / "cases.jsonl").read_text("utf-8").split("\n")
    case = next(one for one in map(json.loads, filter(None, lines)) if one["id"] == "T047")
    replies = [{"items": CODE}, {"marks": []}, ADVICE] * 2
    plain, _ = desk("submission", submitted(tmp_path, "a/tide"), replies, out="a.jsonl")
    own, _ = desk("submission", submitted(tmp_path, "b/tide", case["input"]["folder_description"]["files"]), replies)
    assert plain[0]["score"] == own[0]["score"] is not None
    assert "self_review" not in plain[0]["flags"]
    assert own[0]["flags"][0] == "self_review"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (["{}", "[]", "no"], "unreadable"),
        (["", ""], "empty"),
        (["I'm sorry, but I can't help with that."], "refusal"),
        (["<think>Let me see what the author should do first."] * 3, "unreadable"),
    ],
)
def test_feedback_that_cannot_be_had_leaves_the_verdict_and_is_counted_by_its_cause(desk, tmp_path, said, code):
    replies = [{"items": CODE}, {"marks": []}, *said]
    ((record,), done) = desk("submission", submitted(tmp_path, "tide"), replies)
    assert record["status"] == "verdict"
    assert "feedback" not in record
    assert f"feedback_failed:{code}" in record["flags"]
    assert f"feedback_failed:{code} 1" in done.out
    assert f"feedback could not be had: {code}" in done.out


def test_reasoning_is_no_feedback(desk, tmp_path):
    advice = "<think>I would give it a 3 of 10.</think>\nRead the tide table instead."
    ((record,), _) = desk("submission", submitted(tmp_path, "tide"), [{"items": CODE}, {"marks": []}, advice])
    assert record["feedback"] == "Read the tide table instead."


def test_feedback_is_bounded_to_800_words(desk, tmp_path):
    long = "Mend the fixed time first. " * 400
    ((record,), _) = desk("submission", submitted(tmp_path, "tide"), [{"items": CODE}, {"marks": []}, long])
    assert len(record["feedback"].split()) <= 800
    assert record["feedback"].endswith("first.")
    assert "feedback_cut" in record["flags"]


def bucketed(claim, quote, value):
    return {"claim": claim, "quote": quote, "value": value}


def test_drafts_show_the_running_score_and_what_the_next_version_resolved(desk, tmp_path, evenhand):
    (tmp_path / "draft-v1.md").write_text("We tried it. It went well. Limits are unknown.")
    (tmp_path / "draft-v2.md").write_text("We tried it on 12 people. Limits are unknown.")
    one = {
        "working": [bucketed("It says it was tried.", "We tried it", 2)],
        "not_working": [bucketed("The result is vague.", "It went well", 3)],
        "missing": [bucketed("No limits are given.", "Limits are unknown", 2)],
        "confusing": [],
    }
    two = {
        "working": [bucketed("It says with how many.", "on 12 people", 3)],
        "not_working": [],
        "missing": [bucketed("no limits are given", "Limits are unknown", 2)],
        "confusing": [],
    }
    (first,), done = desk("draft-readiness", "draft-v1.md", [one], out="v1.jsonl")
    assert first["criteria"][0]["arithmetic"]["buckets"][0]["net_impact"] == 2
    assert done.out.index("Working (1, score so far") < done.out.index("Not working (1") < done.out.index("Missing (1")
    (second,), done = desk("draft-readiness", "draft-v2.md", [two], "--since", "v1.jsonl")
    assert "draft-v2.md after draft-v1.md, pass 2" in done.out
    assert "resolved (1)\n  The result is vague." in done.out
    assert "remaining (1)\n  no limits are given" in done.out
    assert f"delta {second['score'] - first['score']:+g}" in done.out
    (tmp_path / "model.jsonl").write_text(json.dumps(two))
    told = evenhand(
        "judge", "draft-readiness", "draft-v2.md", "-m", "scripted/model.jsonl", "--since", "v1.jsonl", "--json"
    )
    assert told.document["drafts"][0]["n_resolved"] == 1
    assert told.document["records"][0]["score"] == second["score"]


def test_hidden_scores_are_nowhere_in_the_table(desk, tmp_path, evenhand):
    _, done = desk("submission", submitted(tmp_path, "tide"), [{"items": CODE}, {"marks": []}, ADVICE], "--hide-scores")
    assert "scores   hidden" in done.out
    assert "mode " not in done.out
    assert "█" not in done.out
    assert "- It prints one fixed time. [main.py:2]" in done.out
    refused = evenhand("judge", "submission", "tide", "-m", "scripted/model.jsonl", "--hide-scores", "--json")
    assert refused.code == 2


def test_a_hidden_score_is_not_told_by_a_flag(desk, tmp_path):
    judge = yaml.safe_load(example_judge("evidence"))
    judge["detectors"] = [{"id": "vague", "regex": "went well", "claim": "It is vague.", "impact": -1}]
    judge["breakers"] = [{"finding": "vague", "cap": 30}]
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump(judge))
    (tmp_path / "draft.md").write_text("We tried it. It went well.")
    items = [{"claim": "It was tried.", "quote": "We tried it", "impact": 3}]
    ((record,), done) = desk("judge.yaml", "draft.md", [{"items": items}], "--hide-scores")
    (flag,) = [flag for flag in record["flags"] if flag.startswith("capped_from:")]
    assert flag not in done.out
    assert "capped_from 1" in done.out


def test_an_interview_answer_may_be_brief(desk, tmp_path):
    (tmp_path / "i.jsonl").write_text(json.dumps({"id": "a", "candidate": "I cut builds from 9 to 2 minutes."}))
    yes = {"situation": "builds", "own_part": "I cut", "outcome": "2 minutes", "measured": "from 9 to 2"}
    checks = [{"id": name, "quote": quote, "passed": True} for name, quote in yes.items()]
    checks += [
        {"id": "learned", "quote": "", "passed": False},
        {"id": "brief_but_complete", "quote": "", "passed": True},
    ]
    ((record,), _) = desk("interview-answer", "i.jsonl", [{"checks": checks}])
    assert record["score"] == 5
    assert "feedback" not in record


def test_judges_are_listed_and_copied(evenhand, tmp_path):
    listed = evenhand("judge", "--list")
    assert listed.code == 0
    rows = {line.split()[0]: line.split()[1] for line in listed.out.splitlines()}
    assert rows["submission"] == "evidence"
    assert rows["interview-answer"] == "checklist"
    assert {"draft-readiness", "evidence", "number"} <= set(rows)
    assert all(len(line.split()) > 5 for line in listed.out.splitlines())
    assert evenhand("init", "submission").code == 0
    assert (tmp_path / "submission.yaml").read_text() == example_judge("submission")
    again = evenhand("init", "submission")
    assert again.code == 2
    assert "--force" in again.err
    assert evenhand("init", "submission", "--force").code == 0
    assert evenhand("init", "evidence", "-o", "mine.yaml").code == 0
    assert "What would a +5 look like" in (tmp_path / "mine.yaml").read_text()
    assert evenhand("init").out == listed.out


def test_an_unknown_judge_is_answered_with_what_was_meant(evenhand, tmp_path):
    wrong = evenhand("init", "submision")
    assert wrong.code == 2
    assert "did you mean submission?" in wrong.err
    (tmp_path / "i.jsonl").write_text(json.dumps({"id": "a", "candidate": "x"}))
    wrong = evenhand("judge", "draft-redy", "i.jsonl")
    assert wrong.code == 2
    assert "no such judge file" in wrong.err
    assert "did you mean draft-readiness?" in wrong.err


def test_settings_of_the_current_folder_inside_the_judged_one_are_refused(evenhand, tmp_path):
    submitted(tmp_path, "tide")
    (tmp_path / ".env").write_text("X=1")
    refused = evenhand("judge", "submission", ".", "-m", "scripted/model.jsonl", "--store", "/dev/null/x.db")
    assert refused.code == 2
    assert "inside the judged folder" in refused.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"criteria": [{"id": "a", "needs": "demo"}, {"id": "b"}]}, "no pass reads"),
        ({"criteria": [{"id": "a", "needs": "demo"}], "passes": [{"name": "d", "source": "demo"}]}, "only criterion"),
        ({"folder": "repo"}, "files"),
        ({"feedback": "yes please"}, "feedback"),
    ],
)
def test_what_could_not_take_effect_is_refused(evenhand, tmp_path, change, words):
    judge = {"name": "j", "protocol": "evidence", "models": ["scripted/model.jsonl"], **change}
    (tmp_path / "j.yaml").write_text(yaml.safe_dump(judge))
    (tmp_path / "i.jsonl").write_text(json.dumps({"id": "a", "candidate": "x"}))
    refused = evenhand("judge", "j.yaml", "i.jsonl")
    assert refused.code == 2
    assert words in refused.err


def test_a_large_repository_is_read_by_features_and_checked_again(desk, tmp_path):
    (tmp_path / "j.yaml").write_text("name: j\nprotocol: evidence\nfolder: repository\ninventory: {max_tokens: 1000}\n")
    big = "".join(f"value_{n} = {n}\n" for n in range(900))
    name = submitted(tmp_path, "big", {"src/values.py": big})
    features = [{"name": "clock", "files": ["main.py"]}, {"name": "values", "files": ["src/values.py"]}]
    items = [{"claim": "It prints a fixed time.", "quote": "14:20", "impact": -3}]
    values = [{"claim": "Values are written out.", "quote": "value_7 = 7", "impact": -2}]
    ((record,), _) = desk("j.yaml", name, [{"features": features}, {"items": items}, {"items": values}])
    assert record["flags"][:2] == ["features:2", "files_unread:1"]
    assert [item["place"] for item in record["criteria"][0]["items"]] == ["main.py:2", "src/values.py:8"]


@pytest.mark.parametrize("order", [("--list", "--json"), ("--json", "--list")])
def test_the_list_of_ready_made_judges_is_json_where_that_is_asked_for(evenhand, order):
    done = evenhand("judge", *order)
    assert done.code == 0
    assert done.document["schema"] == "evenhand.judges/1"
    about = {judge["name"]: (judge["protocol"], judge["about"]) for judge in done.document["judges"]}
    assert about["draft-readiness"] == ("evidence", "Is a draft ready?")
    assert "draft-readiness" in evenhand("judge", "--list").out


@pytest.mark.parametrize(("field", "value"), [("member", "openai/gpt-9"), ("rerun", 1)])
def test_a_reply_is_nobody_elses_and_no_other_reruns(desk, evenhand, tmp_path, field, value):
    replies = [{"items": CODE}, {"marks": []}, ADVICE]
    ((record,), _) = desk("submission", submitted(tmp_path, "tide"), replies)
    (tmp_path / "forged.jsonl").write_text(json.dumps({**record, field: value}) + "\n")
    done = evenhand("rescore", "forged.jsonl", "--check")
    assert done.code == 2
    assert f"changed {field}" in done.err
