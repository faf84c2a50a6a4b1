"""Panels, kin and escalation as their user meets them: the command, with models whose replies are given."""

import json
import math

import pytest

JUDGE = """\
name: facts
protocol: checklist
models: [{models}]
criteria:
  - id: quality
    levels: [0, 2]
    checks:
      - {{id: fact, ask: Does it state the fact?}}
      - {{id: source, ask: Does it name a source?}}
{more}"""
BOTH, FACT, NONE = (True, True), (True, False), (False, False)


def said(fact, source):
    return {
        "checks": [
            {"id": "fact", "quote": "The answer is" if fact else "", "passed": fact},
            {"id": "source", "quote": "says the almanac" if source else "", "passed": source},
        ]
    }


@pytest.fixture
def desk(tmp_path):
    """Writes a judge file, items, and for each model by name what it says of each item."""

    def write(more="", items=None, first=None, **models):
        names = list(models) if first is None else first
        listed = ", ".join(f"scripted/{name}.jsonl" for name in names)
        (tmp_path / "judge.yaml").write_text(JUDGE.format(models=listed, more=more))
        n = max(map(len, models.values()))
        items = items or [{"id": f"i{k}", "candidate": f"The answer is {k}, says the almanac."} for k in range(n)]
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
        for name, answers in models.items():
            # The name stands in each reply, since a script with the same replies is the same endpoint.
            replies = [answer if isinstance(answer, str) else {**said(*answer), "by": name} for answer in answers]
            (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, replies)))
        return tmp_path

    return write


@pytest.fixture
def judge(evenhand):
    def call(*more):
        return evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, *more)

    return call


def read(folder, name="r.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_a_combined_record_follows_its_members(judge, desk):
    folder = desk(a=[BOTH, FACT], b=[BOTH, NONE], c=[FACT, FACT])
    assert judge("-o", "r.jsonl").code == 0
    records = read(folder)
    names = ["scripted/a.jsonl", "scripted/b.jsonl", "scripted/c.jsonl", None]
    assert [(r["item"], r["member"]) for r in records] == [(item, name) for item in ("i0", "i1") for name in names]
    panel = records[3]
    assert (panel["status"], panel["score"], panel["panel"]["rule"], panel["panel"]["size"]) == (
        "verdict",
        2,
        "majority",
        3,
    )
    assert panel["panel"]["dissent"] == [
        {"member": "scripted/c.jsonl", "criterion": "quality", "check": "source", "said": "no"}
    ]
    assert panel["criteria"][0]["checks"][1]["votes"] == {"no": 1, "yes": 2}
    assert panel["keys"] == [key for record in records[:3] for key in record["keys"]]


def test_members_records_are_the_same_with_and_without_a_panel(judge, desk):
    folder = desk(a=[BOTH, FACT], b=[BOTH, NONE], c=[FACT, FACT])
    judge("-o", "r.jsonl")
    judge("-o", "apart.jsonl", "--no-panel")
    assert [record for record in read(folder) if record["member"] is not None] == read(folder, "apart.jsonl")


def test_models_of_the_command_line_stand_beside_each_other_unless_they_are_called_a_panel(judge, desk):
    folder = desk(a=[BOTH, FACT], b=[BOTH, NONE], c=[FACT, FACT])
    judge("-o", "r.jsonl")
    (folder / "judge.yaml").write_text(JUDGE.format(models="scripted/a.jsonl", more=""))
    three = [part for name in "abc" for part in ("-m", f"scripted/{name}.jsonl")]
    judge("-o", "again.jsonl", "--panel", *three)
    assert (folder / "again.jsonl").read_bytes() == (folder / "r.jsonl").read_bytes()
    assert judge("-o", "apart.jsonl", *three).code == 0
    assert [record["member"] for record in read(folder, "apart.jsonl")][:3] == three[1::2]
    assert judge("-o", "two.jsonl", *three[:4]).code == 0


def test_running_again_gives_the_same_bytes_without_a_call(judge, desk):
    folder = desk(a=[BOTH, FACT], b=[BOTH, NONE], c=[FACT, FACT])
    judge("-o", "r.jsonl", "--reruns", 2)
    done = judge("-o", "again.jsonl", "--reruns", 2, "--json")
    assert done.document["summary"]["calls"]["asked"] == 0
    assert (folder / "again.jsonl").read_bytes() == (folder / "r.jsonl").read_bytes()


def test_the_summary_never_mixes_members_and_panel(judge, desk):
    desk(a=[BOTH, FACT], b=[BOTH, NONE], c=[FACT, FACT])
    summary = judge("--json").document["summary"]
    assert (summary["n"], summary["planned"]) == (6, 6)
    assert [member["n"] for member in summary["members"]] == [2, 2, 2]
    assert (summary["panel"]["n"], summary["panel"]["dissent"]) == (2, 2)
    assert summary["panel"]["scores"] == {"1": 1, "2": 1}


def test_quotes_are_told_of_members_and_not_of_what_they_decided(judge, desk):
    items = [{"id": "i0", "candidate": "Nothing of the kind."}]
    desk(items=items, a=[BOTH], b=[BOTH], c=[BOTH])
    members, panel = judge().out.split("\npanel    ")
    assert members.count("2 of 2 fabricated") == 3
    assert "\nquotes " not in panel


def test_a_member_that_cannot_be_read_counts_and_decides_nothing(judge, desk):
    folder = desk(a=[BOTH], b=[FACT], c=["no JSON at all"])
    assert judge("-o", "r.jsonl", "--max-failed", 1).code == 0
    panel = read(folder)[3]
    assert (panel["status"], panel["score"]) == ("abstained", None)
    assert panel["reason"] == "criterion 'quality': no strict majority on source (1 no, 1 yes, 1 without a verdict)"
    assert panel["panel"]["members"][2] == {
        "member": "scripted/c.jsonl", "status": "failed", "calls": 3, "code": "unreadable",
    }  # fmt: skip
    assert panel["flags"] == ["members_without_verdict"]
    assert judge("-o", "r.jsonl").code == 3


@pytest.mark.parametrize("models", [{"a": [BOTH, FACT], "b": [BOTH, NONE], "c": [FACT, "no JSON"]}])
def test_combined_records_are_recomputed_from_the_store_alone(evenhand, judge, desk, models):
    folder = desk(**models)
    judge("-o", "r.jsonl", "--max-failed", 9)
    assert evenhand("rescore", "r.jsonl", "--check").code == 0
    combined = [line for line in (folder / "r.jsonl").read_text().splitlines() if '"member":null' in line]
    (folder / "combined.jsonl").write_text("\n".join(combined))
    assert evenhand("rescore", "combined.jsonl", "--check").code == 0
    forged = combined[0].replace('"score":2', '"score":1')
    (folder / "forged.jsonl").write_text(forged)
    assert evenhand("rescore", "forged.jsonl", "--check").code == 1


def test_two_models_that_must_decide_by_majority_are_refused_with_the_way_out(judge, desk):
    folder = desk(a=[BOTH], b=[BOTH])
    done = judge("-o", "r.jsonl")
    assert done.code == 2
    assert "a panel of two" in done.err
    assert "--no-panel" in done.err
    assert not (folder / ".evenhand").exists()
    assert judge("-o", "r.jsonl", "--no-panel").code == 0


# --- kin ------------------------------------------------------------------------------------------------------------


def candidates(*systems):
    return [
        {"id": f"i{k}", "candidate": f"The answer is {k}, says the almanac.", "system": system}
        for k, system in enumerate(systems)
    ]


def test_a_model_may_not_judge_its_own_candidate_unless_allowed(judge, desk):
    folder = desk(a=[BOTH, BOTH], items=candidates("human", "scripted/a.jsonl"))
    done = judge("-o", "r.jsonl")
    assert done.code == 2
    assert "--allow-self-judging" in done.err
    assert not (folder / ".evenhand").exists()
    assert judge("-o", "r.jsonl", "--allow-self-judging").code == 0


def test_candidates_of_the_judges_family_are_flagged_and_said(judge, desk):
    folder = desk(**{"gpt-5": [BOTH, BOTH, BOTH]}, items=candidates("human", "openai/gpt-4o", None))
    done = judge("-o", "r.jsonl")
    assert done.code == 0
    assert "judges 1 of 2 candidates of its own family (gpt)" in done.err
    assert [record["flags"] for record in read(folder)] == [[], ["same_family"], []]


def test_a_panel_of_one_family_is_reported(evenhand, judge, desk):
    folder = desk(**{"gpt-5": [BOTH], "gpt-4o": [BOTH], "other": [BOTH]}, items=candidates("openai/gpt-3.5"))
    done = judge("-o", "r.jsonl")
    assert "are of one family (gpt)" in done.err
    assert read(folder)[3]["flags"] == ["shared_family", "same_family"]
    assert evenhand("rescore", "r.jsonl", "--check").code == 0


# --- escalation -----------------------------------------------------------------------------------------------------

ESCALATE = "escalate: {to: [scripted/strong.jsonl], on: disagreement}\n"


def test_only_what_the_first_judges_disagree_on_goes_to_the_second(evenhand, judge, desk):
    folder = desk(
        ESCALATE, first=["a", "b", "c"], a=[BOTH, FACT, NONE], b=[BOTH, NONE, NONE], c=[BOTH, FACT, NONE], strong=[NONE]
    )
    done = judge("-o", "r.jsonl")
    assert done.code == 0, done.err
    records = read(folder)
    assert [(r["item"], r["member"]) for r in records if r["member"] in (None, "scripted/strong.jsonl")] == [
        ("i0", None), ("i1", "scripted/strong.jsonl"), ("i1", None), ("i2", None),
    ]  # fmt: skip
    kept, escalated, _ = [record for record in records if record["member"] is None]
    assert kept["panel"]["escalation"]["escalated"] is False
    assert escalated["panel"]["escalation"]["because"] == ["disagreement:fact"]
    assert (escalated["score"], escalated["panel"]["size"], escalated["flags"]) == (0, 1, ["escalated"])
    assert escalated["judge"]["escalate_to"] == ["scripted/strong.jsonl"]
    assert evenhand("rescore", "r.jsonl", "--check").code == 0
    assert judge("-o", "again.jsonl").code == 0
    assert (folder / "again.jsonl").read_bytes() == (folder / "r.jsonl").read_bytes()


def test_the_saving_is_reported_against_asking_everybody(judge, desk):
    desk(
        ESCALATE, first=["a", "b", "c"], a=[BOTH, FACT, NONE], b=[BOTH, NONE, NONE], c=[BOTH, FACT, NONE], strong=[NONE]
    )
    escalation = judge("--json").document["summary"]["panel"]["escalation"]
    assert (escalation["n"], escalation["escalated"]) == (3, 1)
    saved = escalation["saved"]
    assert (saved["judgements"], saved["calls"], saved["estimated_from"]) == (2, 2, 1)
    assert saved["cost_usd"] is None


def test_what_no_escalated_item_tells_is_not_guessed(judge, desk):
    desk(ESCALATE, first=["a", "b", "c"], a=[BOTH], b=[BOTH], c=[BOTH], strong=[NONE])
    done = judge()
    assert "escalated 0 of 1" in done.out
    assert "no escalated one tells" in done.out


def test_a_second_judge_that_fails_is_not_replaced_by_the_first(judge, desk):
    folder = desk(ESCALATE, first=["a", "b", "c"], a=[FACT], b=[FACT], c=[NONE], strong=["no JSON"])
    judge("-o", "r.jsonl", "--max-failed", 1)
    combined = read(folder)[-1]
    assert (combined["status"], combined["score"]) == ("abstained", None)


def test_disagreement_between_reruns_escalates_every_rerun(judge, desk):
    folder = desk(ESCALATE + "reruns: 2\n", first=["a"], a=[FACT, NONE], strong=[BOTH], items=candidates(None))
    assert judge("-o", "r.jsonl").code == 0
    assert [(r["member"], r["rerun"], r["score"]) for r in read(folder)] == [
        ("scripted/a.jsonl", 0, 1), ("scripted/a.jsonl", 1, 0),
        ("scripted/strong.jsonl", 0, 2), ("scripted/strong.jsonl", 1, 2),
        (None, 0, 2), (None, 1, 2),
    ]  # fmt: skip


def test_a_dry_run_says_what_escalation_could_add(judge, desk):
    desk(ESCALATE, first=["a", "b", "c"], a=[BOTH, FACT], b=[BOTH, NONE], c=[BOTH, FACT], strong=[NONE])
    document = judge("--dry-run", "--json").document
    assert (document["calls"], document["if_all_escalated"]["calls"]) == (6, 2)


def test_no_panel_cannot_escalate(judge, desk):
    desk(ESCALATE, first=["a", "b", "c"], a=[BOTH], b=[BOTH], c=[BOTH], strong=[NONE])
    assert judge("--no-panel").code == 2


# --- reruns ---------------------------------------------------------------------------------------------------------


def test_the_closing_table_shows_rerun_noise_or_that_it_is_undefined(judge, desk):
    desk(a=[BOTH, FACT, BOTH, BOTH], items=candidates(None, None))
    assert "reruns   SD undefined" in judge().out
    done = judge("--reruns", 2)
    assert "reruns   SD" in done.out
    assert "over 2 items" in done.out


def test_a_check_read_from_one_token_escalates_where_its_probability_is_between_the_bounds(evenhand, tmp_path):
    def token(yes):
        alternatives = [["yes", math.log(yes)], ["no", math.log(1 - yes)]]
        first = max(alternatives, key=lambda pair: pair[1])
        choice = {"token": first[0], "logprob": first[1], "alternatives": alternatives}
        return {"text": first[0], "logprobs": [choice]}

    (tmp_path / "judge.yaml").write_text(
        "protocol: checklist\nread: logprob\nmodels: [scripted/cheap.jsonl]\nescalate: {to: [scripted/strong.jsonl]}\n"
        "criteria: [{id: c, levels: [0, 1], checks: [{id: x, ask: Is it?, quote: none}]}]\n"
    )
    (tmp_path / "items.jsonl").write_text('{"id": "a", "candidate": "A."}\n{"id": "b", "candidate": "B."}\n')
    (tmp_path / "cheap.jsonl").write_text("\n".join(json.dumps(token(yes)) for yes in (0.95, 0.6)))
    (tmp_path / "strong.jsonl").write_text(json.dumps(token(0.03)))
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "r.jsonl")
    assert done.code == 0, done.err
    combined = [record for record in read(tmp_path) if record["member"] is None]
    assert [(r["item"], r["score"], r["panel"]["escalation"]["because"]) for r in combined] == [
        ("a", 1, []), ("b", 0, ["unsure:x"]),
    ]  # fmt: skip
    assert evenhand("rescore", "r.jsonl", "--check").code == 0
