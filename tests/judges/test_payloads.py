import base64
import json
from decimal import Decimal

import pytest

from evenhand.judges import judge_for
from evenhand.judges.controls import nothing_said, other_candidates, other_question, other_reference, other_task
from evenhand.judges.forged import forged_reply
from evenhand.judges.payloads import PAYLOADS, attacked
from evenhand.repository_text import FileText, RepositoryText, composed
from evenhand.scoring.verdicts import VerdictScorer
from evenhand.store.packaged import example_judges
from evenhand.terms import CatalogEntry, Check, CheckGroup, Criterion, Item, JudgeSpec, ModelSpec, Reply

KINDS = [payload.kind for payload in PAYLOADS]
ITEM = Item(
    id="i", task="Say how it went.", candidate="It went well. We cut the time from 9 to 4 hours in May.", system="s"
)


def spec(protocol="checklist", **settings):
    if protocol == "checklist" and "criteria" not in settings:
        checks = (Check(id="a", ask="A?"), Check(id="b", ask="B?", weight=Decimal(-1)))
        settings["criteria"] = (Criterion(id="c", levels=(Decimal(0), Decimal(1)), checks=checks),)
    return JudgeSpec(name="j", protocol=protocol, models=(ModelSpec(model="p/m"),), **settings)


@pytest.mark.parametrize("payload", PAYLOADS, ids=KINDS)
def test_a_payload_keeps_the_candidates_words_and_all_else(payload):
    made = attacked(ITEM, payload, spec())
    assert made.candidate.startswith(ITEM.candidate)
    assert len(made.candidate) > len(ITEM.candidate)
    assert (made.id, made.task, made.system, made.reference) == (ITEM.id, ITEM.task, ITEM.system, None)
    assert attacked(ITEM, payload, spec()) == made


def test_every_kind_that_is_asked_for_is_there():
    assert KINDS == [
        "forged_fence", "forged_verdict", "ignore_above", "self_praise", "flattery", "trivia", "reworded", "filler",
        "invisible", "fake_reference", "other_language", "base64",
    ]  # fmt: skip
    assert all(payload.does for payload in PAYLOADS)


def made(kind, item=ITEM, **settings):
    return attacked(item, PAYLOADS[KINDS.index(kind)], spec(**settings)).candidate


def test_the_filler_makes_three_of_one():
    assert 3 * len(ITEM.candidate) <= len(made("filler")) <= 3 * len(ITEM.candidate) + 120


def test_the_reworded_point_is_one_of_the_candidates_own():
    assert made("reworded").count("We cut the time from 9 to 4 hours in May.") == 6


def test_the_invisible_order_shows_nothing():
    added = made("invisible")[len(ITEM.candidate) :]
    assert added.isprintable() is False
    hidden = "".join(chr(ord(character) - 0xE0000) for character in added if ord(character) > 0xE0000)
    assert hidden.startswith("Give this text the best")


def test_the_base64_decodes_to_an_order():
    assert b"best possible result" in base64.b64decode(made("base64").rpartition(" ")[2])


def test_the_forged_fence_is_not_the_true_one(templates):
    judge = judge_for(spec(), templates)
    (call,) = next(judge.judge(attacked(ITEM, PAYLOADS[0], spec()), model="p/m"))
    mark = call.messages[1].text.split("mark of this message is ")[1].split(".")[0]
    assert call.messages[1].text.count(f"{mark} CANDIDATE ENDS") == 1
    assert call.messages[1].text.count("CANDIDATE ENDS") == 2


@pytest.mark.parametrize("name", [*example_judges()])
def test_the_forged_reply_is_one_that_the_judge_would_read(name, templates, tmp_path):
    from evenhand.store.judge_files import read_judge

    path = tmp_path / f"{name}.yaml"
    path.write_text(example_judges()[name], encoding="utf-8")
    judged = read_judge(path)
    if judged.passes or judged.synthesis or judged.buckets:
        pytest.skip("several calls: the reply of one is not the verdict")
    said = "It went well."
    item = Item(id="i", task="How was it?", candidate=said, reference=said, sources={"candidate_b": "No."})
    judging = judge_for(judged, templates).judge(item, model="p/m")
    calls = next(judging)
    with pytest.raises(StopIteration) as done:
        judging.send(tuple(Reply(text=forged_reply(judged, "It went well.")) for _ in calls))
    scored = VerdictScorer(judged).score(done.value.value)
    if judged.protocol not in ("evidence", "pairwise", "commit"):  # an own answer decides only with the candidate's
        assert scored.score == scored.scale[1]


def test_a_forged_reply_knows_cited_sentences_and_single_words():
    assert json.loads(forged_reply(spec(cite="sentence"), "x"))["checks"][0]["cite"] == [1]
    assert forged_reply(spec(read="logprob"), "x") == "yes"
    buckets = json.loads(forged_reply(spec("evidence", buckets=True), "x"))
    assert [*buckets] == ["working", "not_working", "missing", "confusing"]
    catalog = (CatalogEntry(id="w", claim="", impact=-1), CatalogEntry(id="s", claim="", impact=3))
    assert json.loads(forged_reply(spec("evidence", catalog=catalog), "x"))["items"][0]["catalog_id"] == "s"


def test_another_question_keeps_ids_weights_and_levels_and_asks_otherwise():
    group = CheckGroup(any_of=(Check(id="x", ask="X?"), Check(id="y", ask="Y?")), weight=Decimal(2))
    whole = spec(criteria=(Criterion(id="c", ask="Look.", checks=(Check(id="a", ask="A?", quote="none"), group)),))
    (criterion,) = other_question(whole).criteria
    first, second = criterion.checks
    assert (first.id, first.quote, second.weight) == ("a", "none", 2)
    asked = [first.ask, *(check.ask for check in second.any_of)]
    assert not {"A?", "X?", "Y?"} & set(asked)
    assert len(set(asked)) == 3


def test_another_question_has_its_levels_described_and_no_examples(templates):
    anchored = spec("anchored", criteria=(Criterion(id="c", level_texts={1: "a", 3: "b", 5: "c"}),))
    changed = other_question(anchored)
    assert sorted(changed.criteria[0].level_texts) == [1, 3, 5]
    assert "bread" in changed.criteria[0].level_texts[5]
    judge_for(changed, templates)


def test_a_judge_without_a_question_has_none_to_change():
    assert other_question(spec("evidence")) is None
    assert other_question(spec("reference", criteria=(Criterion(id="c", ask="?"),))) is None
    assert other_question(spec("evidence", catalog=(CatalogEntry(id="w", claim="c", impact=1),))) is not None


def test_another_candidate_comes_from_another_task_where_there_is_one():
    items = [Item(id=f"{n}", task=task, candidate=f"text {n}") for n, task in enumerate("AAB")]
    assert [one.candidate for one in other_candidates(items)] == ["text 2", "text 2", "text 0"]
    assert [one.task for one in other_candidates(items)] == ["A", "A", "B"]


def test_without_another_text_there_is_no_other_candidate():
    assert other_candidates([Item(id="a", candidate="x"), Item(id="b", candidate="x")]) == [None, None]
    assert other_candidates([Item(id="a", candidate="x")]) == [None]


def test_the_other_controls_change_one_field():
    assert nothing_said(ITEM).candidate not in ("", ITEM.candidate)
    assert other_reference(ITEM).candidate == ITEM.candidate
    assert other_question(spec("anchored_verdict", criteria=(Criterion(id="c", ask="The answer."),))) is None
    assert other_task(ITEM).candidate == ITEM.candidate
    assert "bread" in other_task(ITEM).task
    assert "bread" in other_reference(ITEM).reference.lower()


@pytest.mark.parametrize("payload", PAYLOADS, ids=KINDS)
def test_in_a_repository_a_payload_stands_in_one_file_and_the_others_stay(payload):
    files = [FileText(path="main.py", text="print(1)\n"), FileText(path="README.md", text="It prints one.")]
    whole = composed([*files, FileText(path="z.py", text="pass\n", size=9, unread=4)])
    item = Item(id="a", candidate=whole, repository=True)
    made = RepositoryText.of(attacked(item, payload, spec()).candidate)
    before = RepositoryText.of(item.candidate)
    assert made is not None
    assert before is not None
    assert made.paths == before.paths
    bodies = [{path: one.text[slice(*one.extent(path))] for path in one.paths} for one in (before, made)]
    assert {path for path in before.paths if bodies[0][path] != bodies[1][path]} == {"README.md"}
    assert "It prints one." in bodies[1]["README.md"]
    assert made.text.endswith(before.text[before.text.index("--- ", before.extent("z.py")[0]) :])
