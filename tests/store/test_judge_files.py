"""Judge files: what is read is exactly what is written, and every fault is one sentence with line and field."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.identity import judge_hash, rubric_document
from evenhand.keys import canonical_json
from evenhand.matching.rules import ANSWER_KINDS
from evenhand.store.judge_files import PROTOCOLS, judge_document, judge_from_document, judge_from_rubric, read_judge
from evenhand.store.judge_keys import commit
from evenhand.store.packaged import example_judge, example_judges, templates
from evenhand.terms import Check, CheckGroup, Commit, Criterion, JudgeSpec, ModelSpec

HEAD = "protocol: checklist\nmodels: [openai/x]\n"
CHECKLIST = HEAD + "criteria:\n  - id: a\n    checks:\n      - {id: q, ask: Is it?}\n"
NUMBER = "protocol: number\ncriteria: [{id: o}]\n"


def judge(folder: Path, text: str | bytes, name: str = "judge.yaml") -> JudgeSpec:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_judge(path)


def refused(folder: Path, text: str | bytes, name: str = "judge.yaml") -> str:
    with pytest.raises(InvalidInput) as caught:
        judge(folder, text, name)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{folder}/")


# --- what is read --------------------------------------------------------------------------------------------------


def test_every_key_of_a_checklist_is_read(tmp_path: Path) -> None:
    text = """
name: specificity
protocol: checklist
models:
  - openai/a
  - {model: "other:b", base_url: "http://127.0.0.1:1/v1", api_key_env: MY_KEY, family: llama}
  - openai/c
reruns: 3
temperature: 0.7
max_tokens: 99
criteria:
  - id: s
    weight: 1
    ask: How specific?
    levels: [1, 5]
    map: share
    checks:
      - {id: q, ask: Is it?, weight: -0.5, quote: none, na: true}
      - id: g
        weight: 2
        any_of: [{id: r, ask: Or?}]
"""
    check = Check(id="q", ask="Is it?", weight=Decimal("-0.5"), quote="none", na=True)
    group = CheckGroup(any_of=(Check(id="r", ask="Or?"),), id="g", weight=Decimal(2))
    assert judge(tmp_path, text) == JudgeSpec(
        name="specificity",
        protocol="checklist",
        models=(
            ModelSpec(model="openai/a"),
            ModelSpec(model="other/b", base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY", family="llama"),
            ModelSpec(model="openai/c"),
        ),
        reruns=3,
        temperature=0.7,
        max_tokens=99,
        criteria=(
            Criterion(
                id="s",
                weight=Decimal(1),
                ask="How specific?",
                levels=(Decimal(1), Decimal(5)),
                map="share",
                checks=(check, group),
            ),
        ),
    )


def test_the_name_is_the_files_where_none_is_given(tmp_path: Path) -> None:
    assert judge(tmp_path, NUMBER, "strict.v2.yaml").name == "strict.v2"


def test_a_silent_file_has_the_documented_defaults(tmp_path: Path) -> None:
    spec = judge(tmp_path, NUMBER)
    assert (spec.reruns, spec.temperature, spec.max_tokens, spec.models, spec.layout) == (1, 0.0, 2048, (), "pooled")
    assert spec.criteria == (Criterion(id="o", levels=(Decimal(1), Decimal(10))),)


def test_a_checklists_default_levels_reach_from_nothing_to_all_positive_weights(tmp_path: Path) -> None:
    text = CHECKLIST + "      - {id: r, ask: b, weight: 0.2}\n      - {id: s, ask: c, weight: -3}\n"
    assert judge(tmp_path, text).criteria[0].levels == (Decimal(0), Decimal("1.2"))


def test_null_temperature_leaves_the_parameter_out(tmp_path: Path) -> None:
    assert judge(tmp_path, NUMBER + "temperature: null\n").temperature is None


def test_described_levels_are_read_in_order(tmp_path: Path) -> None:
    text = "protocol: anchored\ncriteria:\n  - id: a\n    ask: x\n    levels: {3: good, 1: bad, -1: harmful}\n"
    (criterion,) = judge(tmp_path, text).criteria
    assert list(criterion.level_texts.items()) == [(-1, "harmful"), (1, "bad"), (3, "good")]
    assert criterion.levels == (Decimal(-1), Decimal(3))


@pytest.mark.parametrize(
    ("rest", "layout"),
    [
        ("", "pooled"),
        ("criteria: [{id: a}]\n", "pooled"),
        ("criteria: [{id: a}, {id: b}]\n", "matrix"),
        ("criteria: [{id: a}]\nperspectives: [p]\n", "matrix"),
        ("criteria: [{id: a}, {id: b}]\nlayout: pooled\n", "pooled"),
    ],
)
def test_several_criteria_or_perspectives_mean_a_matrix(tmp_path: Path, rest: str, layout: str) -> None:
    assert judge(tmp_path, "protocol: evidence\n" + rest).layout == layout


def test_formula_settings_are_exact_numbers_and_words(tmp_path: Path) -> None:
    spec = judge(tmp_path, "protocol: evidence\nscoring: {scale: 0.1, variant: log}\n")
    assert spec.scoring == {"scale": Decimal("0.1"), "variant": "log"}


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "012", "0x1F", "1_000", "12:30", "1e3", ".inf", "2026-01-02", "=", "true"]
)
def test_words_that_yaml_would_turn_into_something_else_stay_text(tmp_path: Path, word: str) -> None:
    spec = judge(
        tmp_path, HEAD + f"name: {word}\ncriteria:\n  - id: {word}\n    checks: [{{id: {word}, ask: {word}}}]\n"
    )
    (criterion,) = spec.criteria
    assert (spec.name, criterion.id, criterion.checks) == (word, word, (Check(id=word, ask=word),))


def test_weights_are_exact_decimals(tmp_path: Path) -> None:
    weights = ["0.1"] * 9 + ["0.10"]
    criteria = "".join(f"  - {{id: c{n}, weight: {weight}}}\n" for n, weight in enumerate(weights))
    spec = judge(tmp_path, f"protocol: number\ncriteria:\n{criteria}")
    assert sum(criterion.weight or 0 for criterion in spec.criteria) == 1


def test_json_says_the_same_as_yaml(tmp_path: Path) -> None:
    document = {"protocol": "number", "criteria": [{"id": "a", "weight": 0.1}, {"id": "b", "weight": 0.9}]}
    spec = judge(tmp_path, json.dumps(document, indent="\t"), "j.json")
    assert [criterion.weight for criterion in spec.criteria] == [Decimal("0.1"), Decimal("0.9")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_understood(tmp_path: Path, encoding: str) -> None:
    assert judge(tmp_path, (NUMBER + "name: é\n").encode(encoding)).name == "é"


# --- what is refused -----------------------------------------------------------------------------------------------


def test_weights_that_do_not_sum_to_one_are_added_up(tmp_path: Path) -> None:
    text = "protocol: number\ncriteria:\n  - id: a\n    weight: 0.4\n  - id: b\n    weight: 0.4\n"
    assert refused(tmp_path, text) == (
        "judge.yaml line 4: criteria[0].weight: 0.4 + 0.4 = 0.8; weights over criteria must sum to exactly 1: "
        "change them, or leave them all out for equal shares"
    )


def test_a_sum_that_is_one_only_when_rounded_is_refused(tmp_path: Path) -> None:
    third = "0.333333333333333333333333333333"
    criteria = "".join(f"  - {{id: c{n}, weight: {third}}}\n" for n in range(3))
    assert "= 0.999999999999999999999999999999;" in refused(tmp_path, f"protocol: number\ncriteria:\n{criteria}")


def test_a_check_without_a_question_is_named(tmp_path: Path) -> None:
    message = refused(tmp_path, HEAD + "criteria:\n  - id: a\n    checks:\n      - {id: q, ask: x}\n      - {id: r}\n")
    assert message.startswith(
        "judge.yaml line 7: criteria[0].checks[1].ask: is missing; the check 'r' needs a question"
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (NUMBER + "temprature: 1\n", 3, "unknown key 'temprature'; did you mean 'temperature'?"),
        (NUMBER + "rubric: x\n", 3, "unknown key 'rubric'; it is called 'criteria' here"),
        (NUMBER + "<<: {reruns: 2}\n", 3, "merge keys"),
        (NUMBER + "protocol: evidence\n", 3, "'protocol' stands in line 1 already"),
        (NUMBER + "models: [gpt-5]\n", 3, "'gpt-5' names no provider; write provider/model, such as openai/gpt-5"),
        (NUMBER + "models: [openai/]\n", 3, "names no provider"),
        (NUMBER + "models: [openai/x, 'openai:x']\n", 3, "write `reruns`"),
        (NUMBER + "models: openai/x\n", 3, "models: expected a list; came 'openai/x'"),
        (NUMBER + "models: [{name: openai/x}]\n", 3, "it is called 'model' here"),
        (NUMBER + "models: [{base_url: 'http://h'}]\n", 3, "models[0].model: is missing"),
        (NUMBER + "models: [{model: a/b, base_url: h}]\n", 3, "expected an address"),
        (NUMBER + "models: [{model: a/b, base_url: 'http://u:p@h/v1'}]\n", 3, "user name or password"),
        (NUMBER + "reruns: 0\n", 3, "reruns: expected a whole number of 1 or more; came 0"),
        (NUMBER + "reruns: 1.5\n", 3, "reruns: expected a whole number; came '1.5'"),
        (NUMBER + "reruns: yes\n", 3, "came 'yes'"),
        (NUMBER + "temperature: 3\n", 3, "expected a number from 0 to 2"),
        (NUMBER + "temperature: .nan\n", 3, "expected a number"),
        (NUMBER + "temperature: '0.5'\n", 3, "take the quotation marks away"),
        (NUMBER + "max_tokens: 0\n", 3, "1 or more"),
        (NUMBER + "scoring: {scale: 8}\n", 3, "scoring: is read by the protocols evidence and reference only"),
        (NUMBER + "examples: []\n", 3, "anchored only"),
        (NUMBER + "name: ''\n", 3, "came an empty one"),
        (NUMBER + "name: [a]\n", 3, "expected text; came a list"),
        ("models: []\n", 1, "protocol: is missing; write one of number, anchored"),
        ("protocol: check list\n", 1, "did you mean 'checklist'?"),
        ("protocol: number\n", 1, "needs at least one criterion"),
        ("protocol: number\ncriteria: []\n", 1, "needs at least one criterion"),
        ("protocol: number\ncriteria:\n  - ask: x\n", 3, "criteria[0].id: is missing"),
        ("protocol: number\ncriteria:\n  - {id: a}\n  - {id: a}\n", 4, "the criterion id 'a' stands in line 3 already"),
        ("protocol: number\ncriteria:\n  - {id: a, weight: 1}\n  - {id: b}\n", 4, "weight: is missing, while other"),
        ("protocol: number\ncriteria:\n  - {id: a, weight: 0.5}\n", 3, "0.5; weights over criteria"),
        ("protocol: number\ncriteria:\n  - {id: a, weight: 1_000}\n", 3, "came '1_000'"),
        ("protocol: number\ncriteria:\n  - {id: a, weight: 1:30}\n", 3, "came '1:30'"),
        ("protocol: number\ncriteria:\n  - {id: a, weight: 010}\n", 3, "came '010'"),
        ("protocol: number\ncriteria:\n  - {id: a, weight: -1}\n", 3, "0 or more"),
        ("protocol: number\ncriteria:\n  - {id: a, levels: [1, 2, 3]}\n", 3, "came a list of 3"),
        ("protocol: number\ncriteria:\n  - {id: a, levels: [5, 1]}\n", 3, "came [5, 1]"),
        ("protocol: number\ncriteria:\n  - {id: a, checks: []}\n", 3, "read by the protocol checklist only"),
        ("protocol: anchored\ncriteria:\n  - {id: a, levels: {1: x}}\n", 3, "at least two levels"),
        ("protocol: anchored\ncriteria:\n  - {id: a, levels: {1: x, 1.5: y}}\n", 3, "came '1.5'"),
        ("protocol: anchored\ncriteria:\n  - {id: a, levels: {1: x, 2: }}\n", 3, "levels.'2': expected text"),
        (HEAD + "criteria:\n  - {id: a}\n", 4, "checks: is missing or empty"),
        (CHECKLIST + "      - {id: q, ask: y}\n", 7, "the check id 'q' stands in line 6 already"),
        (CHECKLIST + "      - any_of: [{id: q, ask: y}]\n", 7, "the check id 'q' stands in line 6 already"),
        (CHECKLIST + "  - id: b\n    checks: [{id: q, ask: y}]\n", 8, "the check id 'q' stands in line 6 already"),
        (CHECKLIST + "      - any_of: []\n", 7, "a group needs at least one check"),
        (CHECKLIST + "      - any_of: [{id: r, ask: y, weight: 2}]\n", 7, "beside any_of"),
        (CHECKLIST + "      - {id: r, question: y}\n", 7, "it is called 'ask' here"),
        (CHECKLIST + "      - {id: r, ask: Is it, or not?}\n", 7, "put a text that holds a comma in quotation marks"),
        (CHECKLIST + "      - {id: r, ask: y, quote: maybe}\n", 7, "expected required or none; came 'maybe'"),
        (CHECKLIST + "      - {id: r, ask: y, na: 1}\n", 7, "expected true or false; came '1'"),
        (CHECKLIST + "      - just text\n", 7, "expected a mapping with id, ask"),
        ("protocol: evidence\nlayout: matrix\n", 2, "a matrix has a pool per criterion"),
        ("protocol: evidence\nlayout: grid\n", 2, "expected pooled or matrix"),
        ("protocol: evidence\ncriteria: [{id: a, levels: [1, 5]}]\n", 2, "the formula's own scale"),
        ("protocol: evidence\nperspectives: [a, a]\n", 2, "stands here twice"),
        ("protocol: evidence\nscoring: [1]\n", 2, "expected a mapping of formula settings"),
        ("protocol: evidence\ncatalog: [{id: a, claim: c}]\n", 2, "catalog[0].impact: is missing"),
        ("protocol: evidence\ncatalog:\n  - {id: a, claim: c, impact: 1.5}\n", 3, "expected a whole number"),
        (
            "protocol: evidence\ncatalog:\n  - {id: a, claim: c, impact: 1}\n  - {id: a, claim: d, impact: 1}\n",
            4,
            "twice",
        ),
        (
            "protocol: anchored\ncriteria: [{id: a}]\nexamples:\n  - {candidate: x}\n",
            4,
            "examples[0].level: is missing",
        ),
        ("- a\n", 1, "expected a mapping with name, protocol"),
        ("just text\n", 1, "expected a mapping"),
        ("a: b: c\n", 1, "put a text that holds ': ' in quotation marks"),
        ("protocol: number\ncriteria:\n\t- id: a\n", 3, "indent with spaces, not with tabs"),
        ("protocol: number\nname: 'x\n", 3, "what began in line 2 does not end"),
        ("protocol: number\n---\nprotocol: number\n", 2, "one document a file"),
        ("name: @x\n", 1, "begins with this character"),
        ("name: x\n\x01\n", 2, "control character"),
        ("name: !!python/object/apply:os.system ['true']\n", 1, "the tag"),
        ("name: !secret x\n", 1, "the tag"),
        ("name: &a [*a]\n", 1, "nested deeper"),
        ("? [a]\n: b\n", 1, "a key is a list or a mapping"),
        ("name: " + "[" * 2000 + "\n", 1, "nesting"),
    ],
)
def test_a_fault_is_named_by_line_and_field(tmp_path: Path, text: str, line: int, said: str) -> None:
    message = refused(tmp_path, text)
    assert message.startswith(f"judge.yaml line {line}")
    assert said in message


def test_a_key_in_the_wrong_place_is_never_shown(tmp_path: Path) -> None:
    message = refused(tmp_path, NUMBER + "models: [{model: a/b, api_key_env: sk-verysecret-123}]\n")
    assert "name of an environment variable" in message
    assert "verysecret" not in message


def test_aliases_cannot_blow_a_document_up(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "aliases count each time" in refused(tmp_path, "\n".join(lines))


def test_an_alias_may_save_typing(tmp_path: Path) -> None:
    text = "protocol: number\ncriteria:\n  - {id: a, levels: &five [1, 5]}\n  - {id: b, levels: *five}\n"
    assert {criterion.levels for criterion in judge(tmp_path, text).criteria} == {(Decimal(1), Decimal(5))}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"protocol": "number", "criteria": [{"id": "a", "weight": 0.5}]}', "criteria[0].weight: 0.5; weights"),
        ('{"protocol": "number", "criteria": [{"id": "a", "weight": "1"}]}', "take the quotation marks away"),
        ('{"protocol": "number", "protocol": "x"}', "'protocol' stands twice"),
        ('{"protocol": "number",}', "line 1, column 22: broken JSON (a comma with nothing after it)"),
        ('{"protocol": "number", "criteria": [{"id": "a\\u0000"}]}', "NUL"),
        ('{"protocol": "number", "criteria": [{"id": "a\\ud800"}]}', "surrogate"),
        ("[" * 5000, "nested too deep"),
        ("", "broken JSON"),
    ],
)
def test_a_fault_in_json_is_named_by_field(tmp_path: Path, text: str, said: str) -> None:
    message = refused(tmp_path, text, "j.json")
    assert message.startswith("j.json")
    assert said in message


def test_files_that_are_none(tmp_path: Path) -> None:
    assert "the file is empty" in refused(tmp_path, "")
    assert "the file is empty" in refused(tmp_path, "# only a comment\n")
    message = refused(tmp_path, b"name: caf\xe9\n")
    assert "byte offset 9 (0xe9)" in message
    assert "--encoding" not in message
    assert "NUL" in refused(tmp_path, b"name: a\0b\n")
    with pytest.raises(InvalidInput, match="no such file"):
        read_judge(tmp_path / "none.yaml")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_judge(tmp_path)


# --- documents and examples ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(example_judges()))
def test_an_example_is_read_and_survives_its_document(tmp_path: Path, name: str) -> None:
    spec = judge(tmp_path, example_judge(name), f"{name}.yaml")
    assert spec.name == name
    document: Any = json.loads(canonical_json(judge_document(spec)))
    assert judge_from_document(document) == spec
    stored: Any = json.loads(canonical_json(rubric_document(spec)))
    again = judge_from_rubric(stored)
    assert judge_hash(again) == judge_hash(spec)
    assert (again.criteria, again.layout, again.scoring) == (spec.criteria, spec.layout, spec.scoring)


def test_a_judge_file_and_its_json_document_are_one_judge(tmp_path: Path) -> None:
    spec = judge(tmp_path, example_judge("checklist"), "checklist.yaml")
    text = json.dumps(judge_document(spec)).replace('"1"', "1").replace('"5"', "5")
    assert judge(tmp_path, text, "j.json") == spec


def test_the_protocols_offered_are_those_that_there_are() -> None:
    from evenhand.judges import PROTOCOLS as JUDGES

    assert sorted(PROTOCOLS) == sorted(JUDGES)


def test_there_is_an_example_of_each_protocol() -> None:
    assert list(example_judges()) == [
        "anchored",
        "anchored-verdict",
        "checklist",
        "commit",
        "draft-readiness",
        "evidence",
        "evidence-catalog",
        "evidence-matrix",
        "evidence-passes",
        "interview-answer",
        "number",
        "pairwise",
        "reference",
        "solve-first",
        "submission",
    ]
    with pytest.raises(InvalidInput, match="there are anchored, anchored-verdict"):
        example_judge("none")


def test_templates_are_given_as_text() -> None:
    found = templates()
    assert found
    assert all(isinstance(text, str) and text for text in found.values())


names = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=8).map(str.strip).filter(bool)
texts = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1).map(str.strip).filter(bool)
decimals = st.decimals(min_value=Decimal("-100"), max_value=Decimal("100"), places=6)


@st.composite
def judges(draw: st.DrawFn) -> JudgeSpec:
    """Checklist judges of every shape."""
    ids = iter(draw(st.lists(names, min_size=12, max_size=12, unique=True)))
    checks = st.builds(
        lambda ask, weight, quote, na: Check(id=next(ids), ask=ask, weight=weight, quote=quote, na=na),
        texts,
        decimals,
        st.sampled_from(["required", "none"]),
        st.booleans(),
    )
    plain = st.builds(lambda ask: Check(id=next(ids), ask=ask), texts)
    groups = st.builds(lambda check, weight: CheckGroup(any_of=(check,), weight=weight), plain, decimals)
    criterion = Criterion(
        id=draw(names),
        ask=draw(st.just("") | texts),
        levels=(Decimal(0), draw(decimals.filter(lambda number: number > 0))),
        map=draw(st.sampled_from(["count", "share"])),
        checks=tuple(draw(st.lists(checks | groups, min_size=1, max_size=4))),
    )
    return JudgeSpec(name=draw(texts), protocol="checklist", models=(), criteria=(criterion,))


@given(judges())
@settings(deadline=None, max_examples=60)
def test_any_judge_survives_its_document(spec: JudgeSpec) -> None:
    document: Any = json.loads(canonical_json(judge_document(spec)))
    assert judge_from_document(document) == spec


# --- a judge that answers for itself -------------------------------------------------------------------------------

COMMIT = "protocol: commit\nanswer: number\n"


def test_a_judge_that_commits_reads_its_settings_and_survives_the_store(tmp_path: Path) -> None:
    text = f"{COMMIT}mode: visible\ncommitments: 3\n"
    text += "tolerance: {decimals: 2, relative: 0.10}\nmatch: {percent: points, repeats: true}\n"
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    spec = read_judge(path)
    assert spec.commit == Commit(
        mode="visible",
        match={"kind": "number", "tolerance": {"decimals": 2, "relative": "0.1"}, "percent": "points", "repeats": True},
        commitments=3,
    )
    assert judge_from_document(judge_document(spec)).commit == spec.commit
    assert judge_hash(judge_from_rubric(rubric_document(spec))) == judge_hash(spec)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("protocol: commit\n", "answer: is missing; `protocol: commit` needs the kind of answer: number"),
        (f"{COMMIT}mode: hidden\n", "expected blind or visible; came 'hidden'"),
        (f"{COMMIT}commitments: 0\n", "expected a whole number of 1 or more"),
        (f"{COMMIT}commitments: 1000\n", "expected a whole number from 1 to 25; came 1000"),
        (f"{COMMIT}match: {{tolerance: 1}}\n", "has a key of its own"),
        (f"{COMMIT}options: [A]\n", "it is called 'choices' here"),
        ("protocol: commit\nanswer: essay\n", "expected number, expression"),
        ("protocol: anchored_verdict\nanswer: number\n", "is read by the protocol commit only"),
    ],
)
def test_what_a_judge_that_commits_cannot_use_is_refused_by_place(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(said)):
        read_judge(path)


def test_the_kinds_of_answers_are_those_that_are_matched() -> None:
    assert commit._KINDS == ANSWER_KINDS
