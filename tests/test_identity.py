"""What makes an item or a judge the same."""

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest

from evenhand.identity import decimal_text, item_hash, judge_hash
from evenhand.terms import (
    Breaker,
    CatalogEntry,
    Check,
    CheckGroup,
    Commit,
    Criterion,
    Detector,
    Escalation,
    Example,
    Item,
    JudgeSpec,
    ModelSpec,
    Pass,
    Synthesis,
)

ITEM = Item(id="a", candidate="c", task="t", reference="r", context="x", system="s", metadata={"n": 1})
CHECK = Check(id="q", ask="Is it?")
CRITERION = Criterion(
    id="k", weight=Decimal(1), levels=(Decimal(0), Decimal(2)), checks=(CHECK, CheckGroup(any_of=(CHECK,)))
)
JUDGE = JudgeSpec(
    name="j",
    protocol="checklist",
    models=(ModelSpec(model="openai/x"),),
    criteria=(CRITERION,),
    scoring={"scale": Decimal(8)},
    perspectives=("p",),
    catalog=(CatalogEntry(id="e", claim="c", impact=1),),
    examples=(Example(candidate="c", level=1),),
)
OTHER_ITEMS = {
    "candidate": "d",
    "task": None,
    "reference": "q",
    "context": "y",
    "system": None,
    "sources": {"demo": "d"},
    "repository": True,
}
DETECTOR = Detector(id="d", kind="regex", what="x", claim="c", impact=-1)
OTHER_JUDGES = {
    "protocol": "number",
    "temperature": None,
    "max_tokens": 1,
    "criteria": (replace(CRITERION, weight=None),),
    "scoring": {"scale": Decimal(6)},
    "layout": "matrix",
    "perspectives": (),
    "catalog": (),
    "examples": (Example(candidate="c", level=2),),
    "pool": True,
    "escalate": Escalation(to=(ModelSpec(model="openai/y"),)),
    "read": "logprob",
    "cite": "sentence",
    "passes": (Pass(name="one"),),
    "synthesis": Synthesis(),
    "detectors": (DETECTOR,),
    "breakers": (Breaker(finding="e", fail=True),),
    "counter_bias": "soft",
    "near_duplicate": 0.9,
    "buckets": True,
    "feedback": True,
    "inventory": 50_000,
    "commit": Commit(match={"kind": "number"}),
}


def test_an_items_hash_has_a_published_value() -> None:
    assert item_hash(Item(id="a", candidate="é", task="t")) == (
        "sha256:e3c4c6a7c150aff30c095a73b5212b026ba99c62fd1a1e15319d1f927b414fdc"
    )


@pytest.mark.parametrize("name", [field.name for field in fields(Item)])
def test_an_items_hash_covers_what_it_says_and_nothing_else(name: str) -> None:
    other = replace(ITEM, **{name: OTHER_ITEMS.get(name, "other" if name == "id" else {"n": 2})})  # type: ignore[arg-type]
    assert (item_hash(other) != item_hash(ITEM)) == (name in OTHER_ITEMS)


@pytest.mark.parametrize("name", [field.name for field in fields(JudgeSpec)])
def test_a_judges_hash_covers_what_can_change_a_score_and_nothing_else(name: str) -> None:
    same = {"name": "other", "models": (), "reruns": 3, "folder": "repository"}
    other = replace(JUDGE, **{name: {**OTHER_JUDGES, **same}[name]})  # type: ignore[arg-type]
    assert (judge_hash(other) == judge_hash(JUDGE)) == (name in same)


def test_a_judges_hash_of_the_first_release_has_a_published_value() -> None:
    assert judge_hash(JUDGE) == ("sha256:d0c79bd2c928d7d1f5a60a465daca371827b6133ad5aa2580d28104ad35c3c3c")


@pytest.mark.parametrize(
    ("name", "one", "changed"),
    [
        ("escalate", Escalation(to=(ModelSpec(model="o/y"),)), {"to": (ModelSpec(model="o/z"),)}),
        ("escalate", Escalation(to=(ModelSpec(model="o/y"),)), {"low": 0.1}),
        ("escalate", Escalation(to=(ModelSpec(model="o/y"),)), {"high": 0.9}),
        ("escalate", Escalation(to=(ModelSpec(model="o/y"),)), {"on": "unsure"}),
        ("passes", (Pass(name="a"),), {"name": "b"}),
        ("passes", (Pass(name="a"),), {"source": "demo"}),
        ("passes", (Pass(name="a"),), {"ask": "Is it?"}),
        ("passes", (Pass(name="a"),), {"optional": True}),
        ("commit", Commit(match={"kind": "number"}), {"mode": "visible"}),
        ("commit", Commit(match={"kind": "number"}), {"commitments": 3}),
        ("commit", Commit(match={"kind": "number"}), {"match": {"kind": "expression"}}),
        ("commit", Commit(match={"kind": "number"}), {"match": {"kind": "number", "tolerance": 0}}),
        ("commit", Commit(match={"kind": "number"}), {"match": {"kind": "number", "percent": "points"}}),
        ("synthesis", Synthesis(), {"contradicted_impact": -5}),
        ("synthesis", Synthesis(), {"unbacked_impact": -1}),
        *(
            ("detectors", (DETECTOR,), {name: value})
            for name, value in {
                "id": "z",
                "kind": "command",
                "what": "y",
                "claim": "z",
                "impact": -5,
                "fires_on": "absent",
                "criterion": "k",
                "perspective": "p",
                "source": "demo",
                "timeout_s": 1.0,
            }.items()
        ),
        ("breakers", (Breaker(finding="e"),), {"finding": "z"}),
        ("breakers", (Breaker(finding="e"),), {"cap": Decimal(60)}),
        ("breakers", (Breaker(finding="e"),), {"fail": True}),
    ],
)
def test_a_judges_hash_covers_every_part_of_its_pipeline(name: str, one: Any, changed: dict[str, Any]) -> None:
    part = one[0] if isinstance(one, tuple) else one
    other = replace(part, **changed)
    made: dict[str, Any] = {name: (other,) if isinstance(one, tuple) else other, "read": "logprob"}
    before: dict[str, Any] = {name: one, "read": "logprob"}
    assert judge_hash(replace(JUDGE, **made)) != judge_hash(replace(JUDGE, **before))


def test_where_a_second_model_is_reached_is_no_part_of_the_hash() -> None:
    near = Escalation(to=(ModelSpec(model="o/y", base_url="http://127.0.0.1:1/v1", api_key_env="KEY"),))
    far = Escalation(to=(ModelSpec(model="o/y"),))
    assert judge_hash(replace(JUDGE, escalate=near)) == judge_hash(replace(JUDGE, escalate=far))


@pytest.mark.parametrize("name", [field.name for field in fields(Check)])
def test_a_judges_hash_covers_every_part_of_a_check(name: str) -> None:
    changed = {"id": "z", "ask": "Was it?", "weight": Decimal(2), "quote": "none", "na": True}[name]
    check = replace(CHECK, **{name: changed})  # type: ignore[arg-type]
    hashes = {
        judge_hash(replace(JUDGE, criteria=(replace(CRITERION, checks=checks),)))
        for checks in ((CHECK,), (check,), (CheckGroup(any_of=(CHECK,)),), (CheckGroup(any_of=(check,)),))
    }
    assert len(hashes) == 4


def test_equal_numbers_give_equal_hashes() -> None:
    criterion = replace(CRITERION, weight=Decimal("1.00"), levels=(Decimal("-0"), Decimal("2.0")))
    assert judge_hash(replace(JUDGE, criteria=(criterion,))) == judge_hash(JUDGE)
    for scale in (8, 8.0, Decimal("8.0"), Decimal("8E0")):
        assert judge_hash(replace(JUDGE, scoring={"scale": scale})) == judge_hash(JUDGE)


def test_the_order_of_settings_does_not_matter() -> None:
    one = replace(JUDGE, scoring={"cap": 5, "scale": 8})
    assert judge_hash(one) == judge_hash(replace(JUDGE, scoring={"scale": 8, "cap": 5}))


@pytest.mark.parametrize(
    ("number", "text"), [("0.10", "0.1"), ("100", "100"), ("1E+2", "100"), ("-0.0", "0"), ("1." + "0" * 40 + "1", None)]
)
def test_a_decimal_is_written_in_one_way(number: str, text: str | None) -> None:
    assert decimal_text(Decimal(number)) == (text or number)
