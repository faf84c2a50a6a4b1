import csv
import gc
import json

import pytest

from evenhand.store.packaged import example_judge, example_judges

CHECKLIST = """\
name: facts
protocol: checklist
models: [scripted/replies.jsonl]
criteria:
  - id: quality
    levels: [0, 2]
    checks:
      - {id: fact, ask: Does it state the fact?}
      - {id: source, ask: Does it name a source?}
"""
EVIDENCE = """\
name: weighing
protocol: evidence
models: [scripted/replies.jsonl]
criteria:
  - {id: clarity, ask: How clear is it?, weight: 0.6}
  - {id: depth, ask: How deep is it?, weight: 0.4}
"""


def checks(fact, source):
    return {
        "checks": [
            {"id": "fact", "quote": "The answer is" if fact else "", "passed": fact},
            {"id": "source", "quote": "says the almanac" if source else "", "passed": source},
        ]
    }


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Writes a judge file, items and the replies of a scripted model."""

    def write(judge=CHECKLIST, items=None, replies=None):
        items = items or [{"id": f"i{k}", "candidate": f"The answer is {k}, says the almanac."} for k in range(4)]
        replies = replies or [checks(True, True), checks(True, False), checks(False, False), checks(True, True)]
        (tmp_path / "judge.yaml").write_text(judge, encoding="utf-8")
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
        (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
        return tmp_path

    return write


def test_records_hold_what_the_design_says(evenhand, desk):
    desk()
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "--json")
    assert done.code == 0, done.err
    first = done.document["records"][0]
    assert first["schema"] == "evenhand.record/1"
    assert (first["item"], first["status"], first["score"], first["exact"]) == ("i0", "verdict", 2, 2.0)
    assert first["judge"]["protocol"] == "checklist"
    assert first["judge"]["models"] == [first["member"]] == ["scripted/replies.jsonl"]
    check = first["criteria"][0]["checks"][0]
    assert check == {
        "id": "fact",
        "passed": True,
        "quote": "The answer is",
        "quote_status": "exact",
        "span": [0, 13],
        "counted": True,
    }
    assert first["cost_usd"] is None
    assert len(first["keys"]) == 1


def test_the_pace_of_garbage_collection_is_given_back(evenhand, desk):
    before = gc.get_threshold(), gc.get_freeze_count()
    desk()
    assert evenhand("judge", "judge.yaml", "items.jsonl").code == 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_the_summary_counts_and_the_scores_are_arithmetic(evenhand, desk):
    desk()
    summary = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "--json").document["summary"]
    assert (summary["n"], summary["verdict"], summary["abstained"], summary["failed"]) == (4, 4, 0, 0)
    assert summary["scores"] == {"0": 1, "1": 1, "2": 2}
    assert (summary["mode"], summary["mode_share"]) == (2, 0.5)
    assert summary["calls"] == {"asked": 4, "stored": 0, "shared": 0, "faults": {}}
    assert summary["complete"] is True


def test_stdout_holds_one_json_document_and_nothing_else(evenhand, desk):
    desk()
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--json", "-o", "out.jsonl")
    assert done.document["records_path"] == "out.jsonl"
    assert "records" not in done.document


def test_running_again_asks_nothing_and_gives_the_same_records(evenhand, desk):
    folder = desk()
    evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "a.jsonl")
    again = evenhand("judge", "judge.yaml", "items.jsonl", "-j", 1, "-o", "b.jsonl", "--json")
    assert again.document["summary"]["calls"] == {"asked": 0, "stored": 4, "shared": 0, "faults": {}}
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


@pytest.mark.parametrize("change", ["item", "question", "rerun", "temperature"])
def test_whatever_changes_a_reply_is_asked_again(evenhand, desk, change):
    desk()
    evenhand("judge", "judge.yaml", "items.jsonl")
    extra = []
    if change == "item":
        desk(items=[{"id": "i0", "candidate": "Another text altogether."}])
    elif change == "question":
        desk(judge=CHECKLIST.replace("the fact", "the plain fact"))
    elif change == "rerun":
        extra = ["--reruns", "2"]
    else:
        extra = ["--temperature", "0.5"]
    asked = evenhand("judge", "judge.yaml", "items.jsonl", *extra, "--json").document["summary"]["calls"]["asked"]
    assert asked == {"item": 1, "question": 4, "rerun": 4, "temperature": 4}[change]


def test_reruns_and_models_give_a_record_each(evenhand, desk):
    folder = desk()
    (folder / "other.jsonl").write_text(json.dumps(checks(True, False)))
    done = evenhand(
        "judge", "judge.yaml", "items.jsonl", "--reruns", 2, "--json", "--no-panel",
        "--model", "scripted/replies.jsonl", "--model", "scripted/other.jsonl",
    )  # fmt: skip
    records = done.document["records"]
    assert [(r["item"], r["member"], r["rerun"]) for r in records[:4]] == [
        ("i0", "scripted/replies.jsonl", 0), ("i0", "scripted/replies.jsonl", 1),
        ("i0", "scripted/other.jsonl", 0), ("i0", "scripted/other.jsonl", 1),
    ]  # fmt: skip
    assert len(records) == 16
    assert [member["n"] for member in done.document["summary"]["members"]] == [8, 8]


def test_a_dry_run_counts_and_sends_nothing(evenhand, desk):
    folder = desk()
    evenhand("judge", "judge.yaml", "items.jsonl", "--limit", 1)
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--reruns", 2, "--dry-run", "--json").document
    assert (done["items"], done["judgements"], done["calls"], done["stored"]) == (4, 8, 7, 1)
    assert done["calls_at_most"] == 8 * 4 - 1
    assert done["input_tokens"] > 0
    assert done["cost_usd"] is None
    assert evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run").out.endswith("nothing was sent\n")
    assert not list(folder.glob("out*"))


def test_a_dry_run_needs_no_key_and_prices_what_has_a_price(evenhand, desk):
    desk()
    done = evenhand("judge", "judge.yaml", "items.jsonl", "-m", "openai/gpt-4o-mini", "--dry-run", "--json")
    assert done.code == 0, done.err
    assert 0 < done.document["cost_usd"] < done.document["cost_usd_at_most"]


def test_a_dry_run_makes_no_store(evenhand, desk):
    folder = desk()
    evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run")
    assert not (folder / ".evenhand").exists()


def test_failures_beyond_what_is_allowed_exit_3(evenhand, desk):
    desk(replies=["nothing of use"])
    assert evenhand("judge", "judge.yaml", "items.jsonl").code == 3
    assert evenhand("judge", "judge.yaml", "items.jsonl", "--max-failed", 4).code == 0


def test_abstentions_alone_exit_0(evenhand, desk):
    desk(replies=[{"text": "", "refusal": "I will not judge this."}])
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--json")
    assert done.code == 0
    assert {(r["status"], r["text"]) for r in done.document["records"]} == {("abstained", "I will not judge this.")}


def test_a_fabricated_quote_does_not_count_and_is_counted(evenhand, desk):
    invented = checks(True, True)
    invented["checks"][1]["quote"] = "says the royal society"
    desk(replies=[invented], items=[{"id": "a", "candidate": "The answer is 4, says the almanac."}])
    document = evenhand("judge", "judge.yaml", "items.jsonl", "--json").document
    assert document["records"][0]["score"] == 1
    assert document["records"][0]["criteria"][0]["checks"][1]["counted"] is False
    assert (document["summary"]["fabricated_quotes"], document["summary"]["quotes_offered"]) == (1, 2)


def test_a_table_opened_in_a_spreadsheet_runs_nothing(evenhand, desk):
    folder = desk(items=[{"id": "=1+1", "candidate": "The answer is 4."}])
    assert evenhand("judge", "judge.yaml", "items.jsonl", "-o", "out.csv").code == 0
    (row,) = csv.DictReader((folder / "out.csv").read_text(encoding="utf-8").splitlines())
    assert row["item"] == "'=1+1"


def test_the_closing_table_fits_eighty_columns_and_shows_no_control_characters(evenhand, desk):
    hostile = CHECKLIST.replace(
        "name: facts", 'name: "a\\e[31mred\\a name that goes on and on and on and on and on and on and on"'
    )
    desk(judge=hostile)
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert "\x1b" not in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines()), done.out


def evidence(*items):
    return {
        "items": [
            {"claim": f"claim {k}", "quote": quote, "criterion": criterion, "impact": impact}
            for k, (criterion, quote, impact) in enumerate(items)
        ]
    }


@pytest.fixture
def weighed(evenhand, desk):
    desk(
        judge=EVIDENCE,
        items=[{"id": "a", "candidate": "It is clear at first. It is deep at last. It wanders in between."}],
        replies=[
            evidence(
                ("clarity", "clear at first", 5), ("clarity", "wanders in between", -2),
                ("depth", "deep at last", 3), ("depth", "not in the text at all", 5),
            )
        ],
    )  # fmt: skip
    assert evenhand("judge", "judge.yaml", "items.jsonl", "-o", "out.jsonl").code == 0


def test_rescore_changes_the_score_without_a_call(evenhand, weighed, tmp_path):
    (tmp_path / "replies.jsonl").unlink()
    done = evenhand("rescore", "out.jsonl", "--set", "scale=20", "--json").document
    before, after = json.loads((tmp_path / "out.jsonl").read_text()), done["records"][0]
    assert after["score"] > before["score"]
    assert after["keys"] == before["keys"]
    assert after["judge"]["hash"] != before["judge"]["hash"]
    assert done["moved"] == {"up": 1}


def test_rescore_under_a_variant_is_what_the_formula_says(evenhand, weighed):
    record = evenhand("rescore", "out.jsonl", "--variant", "no-density", "--json").document["records"][0]
    clarity, depth = record["criteria"]
    assert (clarity["score"], depth["score"]) == (67, 74)  # 50 + 8 * 3 / sqrt(2) and 50 + 8 * 3
    assert record["score"] == 70  # .6 * 67 + .4 * 74 = 69.8


def test_a_check_recomputes_every_record(evenhand, weighed, tmp_path):
    assert evenhand("rescore", "out.jsonl", "--check").code == 0
    record = json.loads((tmp_path / "out.jsonl").read_text())
    record["score"] = 99
    (tmp_path / "forged.jsonl").write_text(json.dumps(record))
    done = evenhand("rescore", "forged.jsonl", "--check")
    assert done.code == 1
    assert "score" in done.err


def test_a_missing_reply_is_named_and_exits_2(evenhand, weighed, tmp_path):
    record = json.loads((tmp_path / "out.jsonl").read_text())
    record["keys"] = ["sha256:" + "0" * 64]
    (tmp_path / "lost.jsonl").write_text(json.dumps(record))
    done = evenhand("rescore", "lost.jsonl", "--check")
    assert done.code == 2
    assert "sha256:" + "0" * 64 in done.err


def test_changed_wording_never_meets_an_old_reply(evenhand, weighed, tmp_path):
    (tmp_path / "other.yaml").write_text(EVIDENCE.replace("How clear", "How very clear"))
    done = evenhand("rescore", "out.jsonl", "--judge", "other.yaml")
    assert done.code == 2
    assert "asks something else" in done.err


@pytest.mark.parametrize("change", ["temperature: 1", "max_tokens: 4000"])
def test_other_parameters_never_meet_an_old_reply(evenhand, weighed, tmp_path, change):
    (tmp_path / "other.yaml").write_text(f"{EVIDENCE}{change}\n")
    done = evenhand("rescore", "out.jsonl", "--judge", "other.yaml")
    assert done.code == 2
    assert f"changed {change.split(':')[0]} needs new replies" in done.err


def test_changed_weights_meet_the_old_replies(evenhand, weighed, tmp_path):
    (tmp_path / "other.yaml").write_text(EVIDENCE.replace("0.6", "0.5").replace("0.4", "0.5"))
    done = evenhand("rescore", "out.jsonl", "--judge", "other.yaml", "--json")
    assert done.code == 0, done.err
    assert [criterion["weight"] for criterion in done.document["records"][0]["criteria"]] == [0.5, 0.5]


BAD = {
    "a judge file that is not there": (["nowhere.yaml", "items.jsonl"], "nowhere.yaml"),
    "items that are not there": (["judge.yaml", "nowhere.jsonl"], "nowhere.jsonl"),
    "a model without a provider": (["judge.yaml", "items.jsonl", "--model", "gpt"], "gpt"),
    "an unknown provider": (["judge.yaml", "items.jsonl", "--model", "opnai/gpt"], "openai"),
    "an unset key": (["judge.yaml", "items.jsonl", "--model", "openai/gpt-5.4-mini"], "OPENAI_API_KEY"),
    "a model named twice": (["judge.yaml", "items.jsonl", "-m", "a/b", "-m", "a/b"], "--reruns"),
    "a model named twice in two forms": (["judge.yaml", "items.jsonl", "-m", "openai/b", "-m", "openai:b"], "--reruns"),
    "records in place of the items": (["judge.yaml", "items.jsonl", "-o", "items.jsonl"], "name another file"),
    "a mapping without a column": (["judge.yaml", "items.jsonl", "--map", "candidate"], "FIELD=COLUMN"),
    "a field mapped twice": (["judge.yaml", "items.jsonl", "--map", "task=a", "--map", "task=b"], "mapped to"),
    "dollars without a price": (["judge.yaml", "items.jsonl", "--budget-usd", "1"], "--budget-tokens"),
    "an output of no known kind": (["judge.yaml", "items.jsonl", "-o", "out.docx"], ".jsonl"),
    "an output in no folder": (["judge.yaml", "items.jsonl", "-o", "no/such/out.jsonl"], "no/such"),
    "a store that is a folder": (["judge.yaml", "items.jsonl", "--store", "."], "it is a folder"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_calls_get_one_sentence_and_exit_2(evenhand, desk, name):
    folder = desk()
    arguments, says = BAD[name]
    before = {path.name for path in folder.iterdir()}
    done = evenhand("judge", *arguments)
    assert done.code == 2, done.err
    assert says in done.err
    assert done.out == ""
    assert len([line for line in done.err.splitlines() if line.startswith("error: ")]) == 1
    assert {path.name for path in folder.iterdir()} - before <= {".evenhand"}


SCALES = """\
name: scales
protocol: number
models: [scripted/replies.jsonl]
criteria:
  - {id: a, levels: [1, 10]}
  - {id: b, levels: [1, 5]}
"""
BAD_JUDGES = {
    "an unknown key": (CHECKLIST + "criterions: []\n", ["line 10", "criterions", "criteria"]),
    "weights that miss 1": (EVIDENCE.replace("0.6", "0.4"), ["0.4", "0.8", "1"]),
    "a check without a question": (CHECKLIST.replace(", ask: Does it state the fact?", ""), ["line 8", "ask"]),
    "levels out of reach": (CHECKLIST.replace("[0, 2]", "[0, 5]"), ["judge.yaml", "5", "2", "map: share"]),
    "an empty file": ("", ["judge.yaml"]),
    "a stray tab": ("name: x\n\tprotocol: number\n", ["line 2"]),
    "no protocol": ("name: x\n", ["protocol"]),
    "two scales": (SCALES, ["judge.yaml", "1..10", "1..5"]),
    "an unknown protocol": (CHECKLIST.replace("checklist", "checklists"), ["checklist"]),
}


@pytest.mark.parametrize("name", BAD_JUDGES)
def test_bad_judge_files_are_named_by_line_and_field(evenhand, desk, name):
    text, says = BAD_JUDGES[name]
    desk(judge=text)
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert done.code == 2, done.err
    for part in says:
        assert part in done.err
    assert evenhand("judge", "judge.yaml", "items.jsonl", "--dry-run").err == done.err


BAD_ITEMS = {
    "empty": (b"", "items.jsonl"),
    "a duplicate id": (b'{"id": "a", "candidate": "x"}\n{"id": "a", "candidate": "y"}\n', "line 2"),
    "an empty candidate": (b'{"id": "a", "candidate": "x"}\n{"id": "b", "candidate": " "}\n', "line 2"),
    "a NUL": (b'{"id": "a", "candidate": "x"}\n{"id": "b", "candidate": "y\x00"}\n', "line 2"),
    "bytes that are no UTF-8": (b'{"id": "a", "candidate": "caf\xe9"}\n', "--encoding"),
}


@pytest.mark.parametrize("name", BAD_ITEMS)
def test_bad_items_are_named_by_line(evenhand, desk, tmp_path, name):
    desk()
    content, says = BAD_ITEMS[name]
    (tmp_path / "items.jsonl").write_bytes(content)
    done = evenhand("judge", "judge.yaml", "items.jsonl")
    assert done.code == 2, done.err
    assert says in done.err


def test_a_byte_order_mark_and_a_huge_candidate_are_no_trouble(evenhand, desk, tmp_path):
    text = "The answer is 4, says the almanac. " * 150_000
    desk(items=[{"id": "a", "candidate": text}])
    plain = (tmp_path / "items.jsonl").read_bytes()
    (tmp_path / "items.jsonl").write_bytes(b"\xef\xbb\xbf" + plain)
    done = evenhand("judge", "judge.yaml", "items.jsonl", "--json")
    assert done.code == 0, done.err
    assert done.document["records"][0]["candidate_chars"] == len(text)


def test_a_store_inside_a_judged_folder_is_refused(evenhand, desk, tmp_path):
    desk()
    (tmp_path / "entries").mkdir()
    (tmp_path / "entries" / "a.txt").write_text("The answer is 4.")
    done = evenhand("judge", "judge.yaml", "entries", "--store", "entries/e.db")
    assert done.code == 2
    assert "inside" in done.err
    assert evenhand("judge", "judge.yaml", "entries").code == 0


@pytest.mark.parametrize("where", ["entries", "entries/deep", "entries/.hidden", "entries/node_modules/x"])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_dotenv_inside_a_judged_folder_is_refused_wherever_the_command_runs(
    evenhand, desk, tmp_path, monkeypatch, where, dry
):
    desk()
    here = tmp_path / where
    here.mkdir(parents=True)
    (tmp_path / "entries" / "a.txt").write_text("The answer is 4.")
    monkeypatch.chdir(here)
    command = ("judge", tmp_path / "judge.yaml", tmp_path / "entries", "--store", tmp_path / "e.db", *dry)
    linked = tmp_path / "settings"
    linked.write_text("OPENAI_BASE_URL=http://evil.example/v1\n")
    for bring in (lambda name: name.write_text(linked.read_text()), lambda name: name.symlink_to(linked)):
        bring(here / ".env")
        done = evenhand(*command)
        assert done.code == 2
        assert ".env" in done.err
        assert "inside the judged folder" in done.err
        assert "evil" not in done.err
        (here / ".env").unlink()
    assert not (tmp_path / "e.db").exists()


def test_a_dotenv_that_links_into_a_judged_folder_is_refused(evenhand, desk, tmp_path):
    desk()
    (tmp_path / "entries").mkdir()
    (tmp_path / "entries" / "a.txt").write_text("OPENAI_BASE_URL=http://evil.example/v1\n")
    (tmp_path / ".env").symlink_to(tmp_path / "entries" / "a.txt")
    done = evenhand("judge", "judge.yaml", "entries")
    assert done.code == 2
    assert ".env that would be read lies inside the judged folder" in done.err
    (tmp_path / ".env").unlink()
    (tmp_path / ".env").write_text("")
    assert evenhand("judge", "judge.yaml", "entries").code == 0


def test_records_inside_a_judged_folder_are_refused_since_the_next_run_would_judge_them(evenhand, desk, tmp_path):
    desk()
    (tmp_path / "entries").mkdir()
    (tmp_path / "entries" / "a.txt").write_text("The answer is 4.")
    done = evenhand("judge", "judge.yaml", "entries", "-o", "entries/records.jsonl")
    assert done.code == 2
    assert "name a file elsewhere" in done.err


def test_a_models_name_is_the_same_with_either_separator(evenhand, desk):
    desk()
    evenhand("judge", "judge.yaml", "items.jsonl")
    again = evenhand("judge", "judge.yaml", "items.jsonl", "-m", "scripted:replies.jsonl", "--json").document
    assert again["summary"]["calls"]["asked"] == 0
    assert again["records"][0]["member"] == "scripted/replies.jsonl"


@pytest.mark.parametrize("name", sorted(example_judges()))
def test_every_judge_that_ships_can_be_put_to_work(evenhand, desk, tmp_path, name):
    other = {"candidate_a": "It is clear.", "candidate_b": "It is not."}
    one = {"candidate": "It is clear.", "reference": "It is clear."}
    desk(items=[{"id": "a", "task": "Is it clear?", **(other if name == "pairwise" else one)}])
    (tmp_path / "shipped.yaml").write_text(example_judge(name), encoding="utf-8")
    done = evenhand("judge", "shipped.yaml", "items.jsonl", "--dry-run", "--json")
    assert done.code == 0, done.err
    assert done.document["judgements"] >= 1
