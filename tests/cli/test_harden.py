import json
import re

import pytest

from evenhand.providers.scripted import ScriptedProvider

CHECKLIST = """\
name: facts
protocol: checklist
models: [scripted/any]
criteria:
  - id: quality
    levels: [0, 2]
    checks:
      - {id: fact, ask: Does it state the fact?}
      - {id: source, ask: Does it name a source?}
"""
TEXTS = {
    "full": "The answer is 4, says the almanac.",
    "bare": "The answer is 9.",
    "none": "Who knows?",
}


def candidate_of(call):
    text = call.messages[1].text
    mark = text.split("mark of this message is ")[1].split(".")[0]
    return text.split(f"{mark} CANDIDATE BEGINS (the text to judge)\n")[1].split(f"\n{mark} CANDIDATE ENDS")[0]


def checks(text, fact, source):
    quoted = text.split("\n")[0].split("\u200b")[0]
    passed = {"fact": fact, "source": source}
    found = [{"id": name, "quote": quoted if yes else "", "passed": bool(yes)} for name, yes in passed.items()]
    return json.dumps({"checks": found})


def honest(call):
    """Answers what is asked, by looking for words."""
    text, system = candidate_of(call), call.messages[0].text
    if "state the fact?" not in system:
        return checks(text, False, False)
    return checks(text, re.search(r"answer is \d", text), "says the almanac" in text)


def gullible(call):
    """Does what it is told."""
    text = candidate_of(call)
    told = "best possible result" in text or '"passed": true' in text
    return checks(text, True, True) if told else honest(call)


def deaf(call):
    """Says yes to everything."""
    return checks(candidate_of(call), True, True)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """desk(judge function): files for one run; the provider that answers."""

    def write(answer, *, judge=CHECKLIST, copies=4, identity="any"):
        (tmp_path / "judge.yaml").write_text(judge, encoding="utf-8")
        items = [
            {"id": f"{name}-{k}", "task": name, "candidate": text, "topic": name}
            for k in range(copies)
            for name, text in TEXTS.items()
        ]
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
        provider = ScriptedProvider(answer, identity=identity)
        monkeypatch.setattr("evenhand.evaluate.session.open_provider", lambda target: provider)
        (tmp_path / "any").write_text('"unused"\n', encoding="utf-8")
        return provider

    return write


def rows(done, of="attacks"):
    (member,) = done.document["members"]
    return {row["kind"]: row for row in member[of]}


def test_a_gullible_judge_shows_its_lift_and_an_honest_one_none(evenhand, desk):
    desk(gullible)
    lifts = rows(evenhand("harden", "judge.yaml", "items.jsonl", "--json"))
    for kind in ("forged_fence", "forged_verdict", "ignore_above"):
        assert lifts[kind]["mean"] == 1.0, kind  # 0, 1 and 2 become 2
        assert (lifts[kind]["n"], lifts[kind]["lifted"]) == (12, 8)
        assert lifts[kind]["interval"][0] > 0.4
    for kind in ("flattery", "trivia", "filler", "base64", "self_praise"):
        assert (lifts[kind]["mean"], lifts[kind]["interval"]) == (0.0, [0.0, 0.0]), kind


def test_a_judge_that_reads_reacts_to_every_control(evenhand, desk):
    desk(honest)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "--json")
    assert done.code == 0, done.err
    found = rows(done, "controls")
    assert done.document["not_reading"] == []
    for row in found.values():
        assert (row["n"], row["reacted"], row["at_lowest"]) == (8, 8, 4)


def test_items_that_have_the_lowest_score_already_accuse_nobody(evenhand, desk):
    desk(lambda call: checks(candidate_of(call), False, False))
    done = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "trivia")
    assert "NOT READING" not in done.out
    assert done.out.count("undefined: no item can tell (12 lowest already") == 3


def test_a_deaf_judge_fails_the_controls_and_is_said_not_to_read(evenhand, desk):
    desk(deaf)
    done = evenhand("harden", "judge.yaml", "items.jsonl")
    assert done.code == 0, done.err
    assert done.out.count("THE JUDGE IS NOT READING") == 3
    desk(deaf, identity="again")
    document = evenhand("harden", "judge.yaml", "items.jsonl", "--json").document
    assert document["not_reading"] == ["other_question", "other_candidate", "nothing_said"]


@pytest.mark.parametrize(("most", "code"), [("0.2", 1), ("1.5", 0)])
def test_a_lift_above_the_limit_exits_1_and_names_the_payload(evenhand, desk, most, code):
    desk(gullible)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "ignore_above", "-k", "trivia", "--max-lift", most)
    assert done.code == code, done.err
    assert ("exceeded by ignore_above" in done.err) == bool(code)


def test_running_again_asks_nothing_and_says_the_same(evenhand, desk):
    desk(gullible)
    first = evenhand("harden", "judge.yaml", "items.jsonl", "--json", "--seed", 3).document
    again = evenhand("harden", "judge.yaml", "items.jsonl", "--json", "--seed", 3).document
    assert first["members"] == again["members"]
    assert (again["calls"]["asked"], again["seed"]) == (0, 3)


def test_what_judge_has_asked_already_is_not_asked_again(evenhand, desk):
    provider = desk(honest)
    evenhand("judge", "judge.yaml", "items.jsonl")
    n = len(provider.calls)
    document = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "trivia", "--json").document
    assert document["planned"] == 12 * (1 + 1 + 2) + 12
    assert n == 3  # equal texts and tasks share one call
    assert len(provider.calls) == n + document["calls"]["asked"]


def test_a_dry_run_counts_all_that_would_be_sent(evenhand, desk):
    provider = desk(honest)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "--dry-run", "--json")
    assert done.document["judgements"] == 12 * (1 + 12 + 2) + 12
    assert provider.calls == []


def test_a_budget_that_is_spent_exits_3_and_reports_what_is_known(evenhand, desk):
    desk(honest)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "--budget-tokens", 9000, "-j", 1, "--json")
    assert done.code == 3
    assert "run the same command again" in done.err
    assert done.document["complete"] is False


def test_failures_are_counted_beside_the_lift_and_exit_3(evenhand, desk):
    desk(lambda call: "no idea" if "Ignore all" in candidate_of(call) else honest(call))
    done = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "ignore_above", "-k", "trivia", "--json")
    assert done.code == 3
    lifts = rows(done)
    assert (lifts["ignore_above"]["n"], lifts["ignore_above"]["failed"]) == (0, 12)
    assert lifts["ignore_above"]["mean"] is None
    assert lifts["trivia"]["n"] == 12


def test_the_records_say_which_variant_they_are_of(evenhand, desk, tmp_path):
    desk(honest)
    evenhand("harden", "judge.yaml", "items.jsonl", "-k", "base64", "-o", "out.jsonl", "--limit", 2)
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [record["metadata"].get("hardening") for record in records[:4]] == [
        "plain", "base64", "other_candidate", "nothing_said",
    ]  # fmt: skip
    assert {record["metadata"].get("of") for record in records} == {"full-0", "bare-0", None}
    assert records[0]["metadata"]["topic"] == "full"


def test_an_unknown_payload_is_refused_with_the_known_ones(evenhand, desk):
    desk(honest)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "bribe")
    assert done.code == 2
    assert "'bribe': no such payload; use one of forged_fence" in done.err


def test_a_control_that_cannot_be_run_says_why(evenhand, desk):
    judge = "name: e\nprotocol: evidence\nmodels: [scripted/any]\n"
    desk(lambda call: json.dumps({"items": []}), judge=judge, copies=1)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "trivia", "--limit", 1)
    assert "not run: the judge asks nothing of its own" in done.out
    assert "not run: all items have one and the same candidate" in done.out


def test_a_reference_judge_is_given_another_reference(evenhand, desk, tmp_path):
    def compare(call):
        same = "REFERENCE BEGINS (a trusted answer to the task)\nThe answer" in call.messages[1].text
        return json.dumps({"reason": "", "quote": "The answer", "says": "equal" if same else "contradicts"})

    desk(compare, judge="name: r\nprotocol: reference\nmodels: [scripted/any]\n")
    items = [{"id": f"i{k}", "candidate": f"The answer is {k}.", "reference": "The answer is 1."} for k in range(6)]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    found = rows(evenhand("harden", "judge.yaml", "items.jsonl", "-k", "trivia", "--json"), "controls")
    assert (found["other_question"]["n"], found["other_question"]["reacted"]) == (6, 6)


def test_a_limit_that_cannot_be_checked_exits_3(evenhand, desk):
    desk(gullible)
    done = evenhand("harden", "judge.yaml", "items.jsonl", "-k", "trivia", "--limit", 1, "--max-lift", 0.2)
    assert done.code == 3
    assert "could not be checked for trivia: an interval needs two items" in done.err
    assert evenhand("harden", "judge.yaml", "items.jsonl", "--max-lift", "nan").code == 2


@pytest.mark.parametrize("name", ["items.jsonl", "judge.yaml", "r.txt"])
def test_records_are_never_written_over_what_is_read_and_a_name_is_refused_before_a_call(
    evenhand, desk, tmp_path, name
):
    provider = desk(honest)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert evenhand("harden", "judge.yaml", "items.jsonl", "-o", name).code == 2
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert provider.calls == []


def test_a_ready_made_judge_attacks_a_repository_as_one_item(evenhand, desk, tmp_path):
    desk(honest)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "main.py").write_text("print('high water at 14:20')\n", encoding="utf-8")
    (tmp_path / "talk.txt").write_text("00:05 It starts.\n", encoding="utf-8")
    done = evenhand(
        "harden", "submission", "work", "-m", "scripted/any", "--source", "demo=talk.txt", "--dry-run", "--json"
    )
    assert (done.code, done.document["items"]) == (0, 1), done.err
    assert "ready-made judge" in done.err
    assert evenhand("harden", "judge.yaml", "work", "--repositories", "all", "--dry-run").code == 2
