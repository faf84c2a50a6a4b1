"""Which controls are known to be incorrect, and which are left as probes."""

from fractions import Fraction
from typing import Any

import pytest

from evenhand.audit.controls import Relation, controls_for, kept_apart
from evenhand.audit.items import AuditItem
from evenhand.audit.match_rules import Matchers
from evenhand.matching.rules import MatchRule, Tolerance

NUMBER = MatchRule(kind="number")


def items(*golds: str, **row: object) -> list[AuditItem]:
    return [AuditItem(id=f"q{n}", task="t", gold=gold, row=row) for n, gold in enumerate(golds)]


def made(golds: list[AuditItem], relation: Relation, *, plants: bool = False) -> dict[tuple[str, str], str | None]:
    return {(one.item.id, one.kind): one.expected for one in controls_for(golds, relation, most=25, plants=plants)}


def of_numbers(**parts: object) -> Relation:
    return Relation(task_class="mathematics", rule=NUMBER, **parts)  # type: ignore[arg-type]


def test_the_gold_is_known_correct_and_another_items_gold_known_incorrect() -> None:
    found = made(items("12", "30"), of_numbers())
    assert found["q0", "gold"] == "accept"
    assert found["q0", "other_gold"] == "reject"
    assert found["q0", "numeric_neighbour"] == "reject"
    assert found["q0", "empty"] == "reject"
    assert found["q0", "truncated"] == "reject"


@pytest.mark.parametrize(("read", "form"), [("boxed", "\\boxed{{{}}}"), ("stated", "Answer: {}")])
def test_controls_have_the_form_that_the_relation_requires(read: Any, form: str) -> None:
    rule = MatchRule(kind="number", read=read)
    with Matchers() as matchers:
        relation = Relation(task_class="mathematics", rule=rule, matching=matchers.of(rule))
        found = {one.kind: one for one in controls_for(items("12", "12.0", "30"), relation, most=1, plants=False)}
        every = {one.kind: one for one in controls_for(items("12", "12.0", "30"), relation, most=3, plants=False)
                 if one.item.id == "q0"}  # fmt: skip
        assert matchers.of(rule)(found["gold"].candidate, "12").verdict == "equal"
    assert found["gold"].candidate == form.format("12")
    assert (found["empty"].candidate, found["refusal"].expected) == ("", "reject")
    assert every["other_gold"].candidate == form.format("30")  # 12.0 is the same answer
    assert every["superset"].expected == "reject"


def test_golds_that_are_the_same_answer_are_not_swapped() -> None:
    assert ("q0", "other_gold") not in made(items("12", "12.0", "12"), of_numbers())
    found = made(items("12", "12.0", "7"), of_numbers())
    assert found["q0", "other_gold"] == "reject"


def test_a_neighbour_within_the_tolerance_is_a_probe() -> None:
    wide = Relation(task_class="mathematics", rule=MatchRule(kind="number", tolerance=Tolerance(absolute=Fraction(2))))
    assert made(items("100", "500"), wide)["q0", "numeric_neighbour"] is None


def test_without_the_matchers_word_a_superset_is_a_probe_and_with_it_known_incorrect() -> None:
    assert made(items("12", "30"), of_numbers())["q0", "superset"] is None
    with Matchers() as matchers:
        found = made(items("12", "30"), of_numbers(matching=matchers.of(NUMBER)))
    assert found["q0", "superset"] == found["q0", "hedged"] == "reject"


def test_without_a_declared_relation_all_but_the_gold_are_probes() -> None:
    found = made(items("12", "30"), Relation(task_class="factual"))
    assert {kind: word for (item, kind), word in found.items() if word} == {"gold": "accept"}


def test_a_planted_reward_needs_a_folder_to_be_planted_in() -> None:
    assert ("q0", "planted_reward") not in made(items("12", "30"), of_numbers())
    assert made(items("12", "30"), of_numbers(), plants=True)["q0", "planted_reward"] == "reject"


@pytest.mark.parametrize(
    ("candidate", "gold", "kind", "apart"),
    [
        ("43", "42", "number", True), ("42.0", "42", "number", False), ("42,", "42", "number", False),
        ("forty-three", "42", "number", False), ("", "42", "number", True), ("B", "A", "choice", True),
        ("a", "A", "choice", False), ("Berlin", "Paris", "short_text", False),
    ],
)  # fmt: skip
def test_only_what_differs_by_construction_is_kept_apart(candidate: str, gold: str, kind: str, apart: bool) -> None:
    rule = MatchRule(kind=kind)  # type: ignore[arg-type]
    assert bool(kept_apart(candidate, gold, Relation(task_class="factual", rule=rule))) is apart


def test_programs_without_the_function_are_known_incorrect_only_where_something_is_declared() -> None:
    golds = items("def f(x):\n    return x\n", "def g(x):\n    return 1\n", entry_point="f")
    by_tests = made(golds, Relation(task_class="code", by_tests=True))
    assert {by_tests["q0", kind] for kind in ("exception", "early_exit", "refusal", "empty", "other_gold")} == {
        "reject"
    }
    undeclared = made(golds, Relation(task_class="code"))
    assert {word for (_, kind), word in undeclared.items() if kind != "gold"} == {None}


def test_items_without_a_gold_make_no_control() -> None:
    assert made(items("", " "), of_numbers()) == {}
