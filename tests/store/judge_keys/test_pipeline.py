"""The keys around a reply: panels, escalation, passes, detectors, breakers; read as written, or refused with reason."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InvalidInput
from evenhand.identity import judge_hash, rubric_document
from evenhand.keys import canonical_json
from evenhand.store.judge_files import judge_document, judge_from_document, judge_from_rubric, read_judge
from evenhand.terms import Breaker, Detector, Escalation, JudgeSpec, ModelSpec, Pass, Synthesis

CHECKS = "criteria: [{id: a, checks: [{id: q, ask: Is it?}]}]\n"
CHECKLIST = "protocol: checklist\n" + CHECKS
EVIDENCE = "protocol: evidence\n"
MATRIX = EVIDENCE + "criteria: [{id: a}, {id: b}]\nperspectives: [user, expert]\n"
CATALOG = EVIDENCE + "catalog: [{id: leak, claim: It leaks., impact: -5}]\n"
DETECTOR = "detectors: [{id: d, regex: x, claim: c, impact: -1"


def judge(folder: Path, text: str, name: str = "judge.yaml") -> JudgeSpec:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_judge(path)


def refused(folder: Path, text: str, name: str = "judge.yaml") -> str:
    with pytest.raises(InvalidInput) as caught:
        judge(folder, text, name)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{folder}/")


def survives(spec: JudgeSpec) -> None:
    """A judge's document and its rubric give the same judge again."""
    document: Any = json.loads(canonical_json(judge_document(spec)))
    assert judge_from_document(document) == spec
    rubric: Any = json.loads(canonical_json(rubric_document(spec)))
    again = judge_from_rubric(rubric)
    assert judge_hash(again) == judge_hash(spec)
    assert again.detectors == spec.detectors
    assert again.passes == spec.passes


# --- what is read --------------------------------------------------------------------------------------------------


def test_every_key_of_an_evidence_pipeline_is_read(tmp_path: Path) -> None:
    text = r"""
name: j
protocol: evidence
models: [openai/a, openai/b]
criteria: [{id: a}, {id: b}]
perspectives: [user]
pool: true
cite: sentence
passes:
  - {name: code, ask: What does it do?}
  - {name: demo, source: demo, optional: true}
synthesis: {contradicted_impact: -5, unbacked_impact: -1}
detectors:
  - {id: r, regex: ' x\s+', claim: c, impact: -1, criterion: a, perspective: user, source: demo, timeout_s: 0.5}
  - {id: c, command: "make test", claim: c, impact: -3, criterion: b}
  - {id: p, python: "my_pkg.checks:Sizes.add_up", claim: c, impact: +2, fires_on: success, criterion: b}
  - {id: j, kind: json, what: "out.json:/a/0=1", claim: c, impact: 5, fires_on: absent, criterion: b}
breakers: [{finding: r, cap: 39.5}, {finding: c, fail: yes}]
counter_bias: auto
near_duplicate: 0.85
"""
    spec = judge(tmp_path, text)
    assert (spec.pool, spec.cite, spec.counter_bias, spec.near_duplicate) == (True, "sentence", "auto", 0.85)
    assert spec.passes == (Pass(name="code", ask="What does it do?"), Pass(name="demo", source="demo", optional=True))
    assert spec.synthesis == Synthesis(contradicted_impact=-5, unbacked_impact=-1)
    assert spec.detectors == (
        Detector(
            id="r",
            kind="regex",
            what=r" x\s+",
            claim="c",
            impact=-1,
            criterion="a",
            perspective="user",
            source="demo",
            timeout_s=0.5,
        ),
        Detector(id="c", kind="command", what="make test", claim="c", impact=-3, fires_on="failure", criterion="b"),
        Detector(
            id="p",
            kind="python",
            what="my_pkg.checks:Sizes.add_up",
            claim="c",
            impact=2,
            fires_on="success",
            criterion="b",
        ),
        Detector(id="j", kind="json", what="out.json:/a/0=1", claim="c", impact=5, fires_on="absent", criterion="b"),
    )
    assert spec.breakers == (Breaker(finding="r", cap=Decimal("39.5")), Breaker(finding="c", fail=True))
    survives(spec)


def test_every_key_of_an_escalation_is_read(tmp_path: Path) -> None:
    models = "models: [openai/a]\nread: logprob\n"
    to = "{model: openai/b, base_url: 'http://127.0.0.1:1/v1', family: f}"
    text = f"{CHECKLIST}{models}escalate: {{to: [{to}], low: 0.1, high: 0.75, on: unsure}}\n"
    spec = judge(tmp_path, text)
    model = ModelSpec(model="openai/b", base_url="http://127.0.0.1:1/v1", family="f")
    assert spec.escalate == Escalation(to=(model,), low=0.1, high=0.75, on="unsure")
    survives(spec)


def test_an_escalations_silence_has_the_documented_defaults(tmp_path: Path) -> None:
    spec = judge(tmp_path, CHECKLIST + "read: logprob\nescalate: {to: [openai/b]}\n")
    assert spec.escalate == Escalation(to=(ModelSpec(model="openai/b"),), low=0.2, high=0.8, on="both")


@pytest.mark.parametrize("word", ["off", "'off'", '"off"', "soft", "full", "auto"])
def test_a_dial_that_is_off_is_no_false(tmp_path: Path, word: str) -> None:
    assert judge(tmp_path, f"{EVIDENCE}counter_bias: {word}\n").counter_bias == word.strip("'\"")


def test_a_key_called_on_is_no_true(tmp_path: Path) -> None:
    text = CHECKLIST + "reruns: 2\nescalate:\n  to: [openai/b]\n  on: disagreement\n"
    found = judge(tmp_path, text).escalate
    assert found is not None
    assert found.on == "disagreement"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", Synthesis()),
        ("on", Synthesis()),
        ("false", None),
        ("{}", Synthesis()),
        ("{unbacked_impact: -2}", Synthesis(unbacked_impact=-2)),
        ("{contradicted_impact: -1, unbacked_impact: 0}", Synthesis(contradicted_impact=-1)),
    ],
)
def test_synthesis_is_a_switch_or_a_table(tmp_path: Path, written: str, meant: Synthesis | None) -> None:
    spec = judge(tmp_path, f"{EVIDENCE}synthesis: {written}\n")
    assert spec.synthesis == meant
    survives(spec)


def test_buckets_need_nothing_else(tmp_path: Path) -> None:
    spec = judge(tmp_path, EVIDENCE + "buckets: true\n")
    assert spec.buckets
    survives(spec)


def test_a_block_of_text_is_a_pattern_without_its_line_end(tmp_path: Path) -> None:
    text = EVIDENCE + "detectors:\n  - id: d\n    claim: c\n    impact: -1\n    regex: |\n      a: 'b' # c\n"
    (detector,) = judge(tmp_path, text).detectors
    assert detector.what == "a: 'b' # c"


def test_a_breaker_may_name_a_catalogue_entry(tmp_path: Path) -> None:
    assert judge(tmp_path, CATALOG + "breakers: [{finding: leak, cap: 0}]\n").breakers == (
        Breaker(finding="leak", cap=Decimal(0)),
    )


def test_a_cap_lies_on_the_formulas_own_scale(tmp_path: Path) -> None:
    ten = CATALOG + "scoring: {centre: 5, scale: 0.8, highest: 10}\n"
    assert judge(tmp_path, ten + "breakers: [{finding: leak, cap: 4}]\n").breakers[0].cap == 4
    assert "from 0 to below 10; came 40" in refused(tmp_path, ten + "breakers: [{finding: leak, cap: 40}]\n")


@pytest.mark.parametrize("protocol", ["reference", "pairwise"])
def test_a_comparison_needs_no_criterion(tmp_path: Path, protocol: str) -> None:
    spec = judge(tmp_path, f"protocol: {protocol}\n")
    assert (spec.protocol, spec.criteria) == (protocol, ())
    survives(spec)


@pytest.mark.parametrize("name", ["pool", "synthesis", "buckets"])
def test_what_is_switched_off_leaves_the_hash(tmp_path: Path, name: str) -> None:
    assert judge_hash(judge(tmp_path, f"{EVIDENCE}{name}: false\n")) == judge_hash(judge(tmp_path, EVIDENCE))


@pytest.mark.parametrize(
    ("text", "published"),
    [
        (EVIDENCE, "sha256:f8f73a359833af83d2cef9e1889763429ba8385d7d01b50c711f176dfe19c0c5"),
        (CHECKLIST, "sha256:0a8853fe40afca98cb0698417331e30dae74c68e2f5e066bcb00877a924feae1"),
        (MATRIX, "sha256:cc1712f04130c6e61ab3144a67cab1259caec815343719b7c72f007537b7c1b5"),
        (CATALOG, "sha256:e192997a5b44be7e141469a3ae72c057b5ca2aeb1fdd73f6d3f3e023c73d89d4"),
    ],
)
def test_a_file_of_the_first_release_keeps_its_hash(tmp_path: Path, text: str, published: str) -> None:
    assert judge_hash(judge(tmp_path, text)) == published
    silent = "synthesis: false\npool: false\ncounter_bias: off\nnear_duplicate: null\n" if "evid" in text else ""
    assert judge_hash(judge(tmp_path, text + silent)) == published


# --- panels --------------------------------------------------------------------------------------------------------


def test_whether_members_can_decide_is_left_to_the_run(tmp_path: Path) -> None:
    for rest in ("models: [o/a, o/b]\n", "models: [o/a]\nescalate: {to: [o/b]}\n"):
        survives(judge(tmp_path, CHECKLIST + rest))


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (CHECKLIST + "pool: true\n", 3, "pool: is read by the protocol evidence only, and this judge's is checklist"),
        (CHECKLIST + "detectors: []\n", 3, "read by the protocol evidence only"),
        (EVIDENCE + "read: logprob\n", 2, "read by the protocol checklist only"),
        (EVIDENCE + "escalate: {to: [a/b]}\n", 2, "read by the protocols checklist and anchored only"),
        ("protocol: number\ncriteria: [{id: a}]\ncite: sentence\n", 3, "protocols checklist, anchored and evidence"),
        (CHECKLIST + "read: logprobs\n", 3, "expected json or logprob; came 'logprobs'; did you mean 'logprob'?"),
        (CHECKLIST + "cite: sentences\n", 3, "did you mean 'sentence'?"),
        (CHECKLIST + "read: logprob\ncite: sentence\n", 4, "cites nothing"),
        (EVIDENCE + "circuit_breakers: []\n", 2, "it is called 'breakers' here"),
        (EVIDENCE + "counterbias: off\n", 2, "did you mean 'counter_bias'?"),
        (EVIDENCE + "counter_bias: false\n", 2, 'write "off"'),
        (EVIDENCE + "counter_bias: strong\n", 2, "expected off, soft, full or auto; came 'strong'"),
        (EVIDENCE + "pool: 1\n", 2, "expected true or false; came '1'"),
        (EVIDENCE + "near_duplicate: 90\n", 2, "above 0 and at most 1, such as 0.9; came 90"),
        (EVIDENCE + "near_duplicate: 0\n", 2, "above 0"),
        (EVIDENCE + "near_duplicate: true\n", 2, "expected a number"),
        (EVIDENCE + "synthesis: maybe\n", 2, "expected true or false"),
        (EVIDENCE + "synthesis: {contradicted_impact: 3}\n", 2, "cannot speak for the candidate"),
        (
            EVIDENCE + "synthesis: {contradicted_impact: 0}\n",
            2,
            "expected one of +5, +3, +2, +1, -1, -2, -3, -5; came 0",
        ),
        (EVIDENCE + "synthesis: {unbacked_impact: -4}\n", 2, "came -4"),
        (EVIDENCE + "synthesis: {unbaked_impact: -4}\n", 2, "did you mean 'unbacked_impact'?"),
        # passes
        (EVIDENCE + "passes: []\n", 2, "name at least one pass"),
        (EVIDENCE + "passes: [{ask: x}]\n", 2, "passes[0].name: is missing"),
        (EVIDENCE + "passes:\n  - {name: a}\n  - {name: a}\n", 4, "the pass 'a' stands here twice"),
        (EVIDENCE + "passes: [{name: a, source: reference}]\n", 2, "'reference' is not under judgement"),
        (EVIDENCE + "passes: [{name: a, optional: true}]\n", 2, "every item has a candidate"),
        (EVIDENCE + "passes: [{name: a, prompt: x}]\n", 2, "it is called 'ask' here"),
        # catalogue and detectors
        (EVIDENCE + "catalog: [{id: a, claim: c, impact: 4}]\n", 2, "catalog[0].impact: expected one of +5"),
        (EVIDENCE + DETECTOR + ", impacts: 2}]\n", 2, "did you mean 'impact'?"),
        (EVIDENCE + "detectors: [{id: d, regex: x, impact: -1}]\n", 2, "detectors[0].claim: is missing"),
        (EVIDENCE + "detectors: [{id: d, claim: x, impact: -1}]\n", 2, "kind: is missing; write one of regex: ..."),
        (EVIDENCE + "detectors: [{id: d, kind: regex, claim: x, impact: -1}]\n", 2, "what: is missing"),
        (EVIDENCE + "detectors: [{id: d, what: x, claim: x, impact: -1}]\n", 2, "kind: is missing"),
        (EVIDENCE + DETECTOR + ", command: make}]\n", 2, "came regex and command: keep one"),
        (EVIDENCE + DETECTOR + ", kind: regex, what: x}]\n", 2, "came regex and kind and what"),
        (EVIDENCE + "detectors: [{id: d, kind: rgx, what: x, claim: x, impact: -1}]\n", 2, "did you mean 'regex'?"),
        (EVIDENCE + "detectors: [{id: d, regex: x, claim: x, impact: -4}]\n", 2, "impact: expected one of"),
        (EVIDENCE + "detectors: [{id: d, regex: x, claim: x, impact: 0}]\n", 2, "came 0"),
        (EVIDENCE + "detectors: [{id: d, regex: '(a', claim: x, impact: 1}]\n", 2, "no regular expression"),
        (EVIDENCE + 'detectors: [{id: d, command: "a \'b", claim: x, impact: 1}]\n', 2, "no command line"),
        (EVIDENCE + "detectors: [{id: d, python: my_checks, claim: x, impact: 1}]\n", 2, "expected module:function"),
        (EVIDENCE + "detectors: [{id: d, python: 'os:system(1)', claim: x, impact: 1}]\n", 2, "module:function"),
        (EVIDENCE + "detectors: [{id: d, json: r.json, claim: x, impact: 1}]\n", 2, "expected FILE:POINTER=VALUE"),
        (EVIDENCE + DETECTOR + ", fires_on: failure}]\n", 2, "expected found or absent; came 'failure'"),
        (
            EVIDENCE + "detectors: [{id: d, command: x, claim: x, impact: 1, fires_on: found}]\n",
            2,
            "failure or success",
        ),
        (EVIDENCE + DETECTOR + ", timeout_s: 0}]\n", 2, "expected seconds above 0"),
        (EVIDENCE + DETECTOR + ", timeout: 5}]\n", 2, "it is called 'timeout_s' here"),
        (EVIDENCE + DETECTOR + ", source: task}]\n", 2, "not under judgement"),
        (EVIDENCE + DETECTOR + ", criterion: a}]\n", 2, "no criterion 'a' is declared in this file; declared: none"),
        (MATRIX + DETECTOR + "}]\n", 4, "criterion: is missing; say which criterion the finding belongs to: a, b"),
        (MATRIX + DETECTOR + ", criterion: c}]\n", 4, "declared: 'a', 'b'"),
        (MATRIX + DETECTOR + ", criterion: a, perspective: users}]\n", 4, "did you mean 'user'?"),
        (EVIDENCE + DETECTOR + ", perspective: user}]\n", 2, "no perspective 'user' is declared"),
        (
            EVIDENCE
            + "detectors:\n  - {id: d, regex: x, claim: x, impact: 1}\n  - {id: d, regex: y, claim: y, impact: 1}\n",
            4,
            "the id 'd' stands in detectors already",
        ),
        (CATALOG + "detectors: [{id: leak, regex: x, claim: x, impact: 1}]\n", 3, "stands in the catalog already"),
        # breakers
        (CATALOG + "breakers: [{cap: 40}]\n", 3, "breakers[0].finding: is missing"),
        (CATALOG + "breakers: [{finding: leek, cap: 40}]\n", 3, "did you mean 'leak'?"),
        (EVIDENCE + "breakers: [{finding: x, cap: 40}]\n", 2, "no catalogue entry or detector 'x' is declared"),
        (CATALOG + "breakers: [{finding: leak}]\n", 3, "either cap: NUMBER or fail: true; came neither"),
        (CATALOG + "breakers: [{finding: leak, fail: false}]\n", 3, "came neither"),
        (CATALOG + "breakers: [{finding: leak, cap: 1, fail: true}]\n", 3, "came both"),
        (CATALOG + "breakers: [{finding: leak, cap: 100}]\n", 3, "from 0 to below 100; came 100"),
        (CATALOG + "breakers: [{finding: leak, cap: -1}]\n", 3, "came -1"),
        (CATALOG + "breakers:\n  - {finding: leak, cap: 1}\n  - {finding: leak, fail: true}\n", 5, "a breaker already"),
        # escalation
        (CHECKLIST + "read: logprob\nescalate: {low: 0.1}\n", 4, "escalate.to: is missing or empty"),
        (CHECKLIST + "read: logprob\nescalate: {to: []}\n", 4, "escalate.to: is missing or empty"),
        (CHECKLIST + "read: logprob\nescalate: {to: [b]}\n", 4, "names no provider"),
        (CHECKLIST + "models: [o/a]\nread: logprob\nescalate: {to: ['o:a']}\n", 5, "judges already"),
        (CHECKLIST + "read: logprob\nescalate: {to: [o/a], low: 0.8, high: 0.2}\n", 4, "expected low below high"),
        (CHECKLIST + "read: logprob\nescalate: {to: [o/a], low: 20}\n", 4, "a probability from 0 to 1; came 20"),
        (CHECKLIST + "read: logprob\nescalate: {to: [o/a], on: both sides}\n", 4, "unsure, disagreement or both"),
        (CHECKLIST + "escalate: {to: [o/a], on: unsure}\n", 3, "set read: logprob"),
        (CHECKLIST + "escalate: {to: [o/a], low: 0.1}\n", 3, "escalate.low: bounds the probability of a check"),
        (
            CHECKLIST + "read: logprob\nreruns: 2\nescalate: {to: [o/a], on: disagreement, high: 0.9}\n",
            5,
            "escalate.high: bounds",
        ),
        (
            "protocol: checklist\ncriteria: [{id: a, checks: [{id: q, ask: x, na: true}]}]\nread: logprob\n",
            3,
            "the check 'q' may be not applicable",
        ),
        (
            "protocol: checklist\ncriteria: [{id: a, checks: [any_of: [{id: q, ask: x, na: true}]]}]\nread: logprob\n",
            3,
            "the check 'q' may be not applicable",
        ),
        # buckets
        (CATALOG + "buckets: true\n", 2, "one pool, and catalog would part them"),
        (EVIDENCE + "perspectives: [p]\ncriteria: [{id: a}]\nbuckets: true\n", 2, "and perspectives would part them"),
        (EVIDENCE + "criteria: [{id: a}, {id: b}]\nbuckets: true\n", 3, "a matrix (several criteria mean one)"),
    ],
)
def test_a_fault_is_named_by_line_and_field(tmp_path: Path, text: str, line: int, said: str) -> None:
    message = refused(tmp_path, text)
    assert message.startswith(f"judge.yaml line {line}:")
    assert said in message


def test_a_dial_that_a_program_wrote_as_false_is_explained(tmp_path: Path) -> None:
    message = refused(tmp_path, '{"protocol": "evidence", "counter_bias": false}', "j.json")
    assert message.startswith("j.json: counter_bias: expected off, soft, full or auto")
    assert 'write "off"' in message
