import pytest

from evenhand.errors import InvalidInput
from evenhand.judges import PROTOCOLS, judge_for
from evenhand.terms import Check, Criterion, Example, JudgeSpec, ModelSpec


def spec(protocol, **settings):
    return JudgeSpec(name="reg", protocol=protocol, models=(ModelSpec(model="p/m"),), **settings)


def test_each_protocol_states_its_name_and_version():
    names = ("number", "anchored", "checklist", "evidence", "reference", "pairwise")
    names += ("commit", "anchored_verdict", "solve_first")
    assert {name: judge.version for name, judge in PROTOCOLS.items()} == dict.fromkeys(names, 1)
    assert all(judge.protocol == name for name, judge in PROTOCOLS.items())


def test_an_unknown_protocol_is_refused_with_the_nearest_one(templates):
    with pytest.raises(InvalidInput, match=r"use one of number, .*, reference, pairwise, .*; did you mean 'checklist'"):
        judge_for(spec("check-list"), templates)


@pytest.mark.parametrize("protocol", ["number", "anchored", "checklist"])
def test_a_judge_without_criteria_is_refused(protocol, templates):
    with pytest.raises(InvalidInput, match="`criteria` is empty"):
        judge_for(spec(protocol), templates)


@pytest.mark.parametrize("protocol", ["number", "checklist"])
def test_the_same_criterion_twice_is_refused(protocol, templates):
    checks = {"checks": (Check(id="k", ask="?"),)} if protocol == "checklist" else {}
    with pytest.raises(InvalidInput, match="'c' stands 2 times in `criteria`"):
        judge_for(spec(protocol, criteria=(Criterion(id="c", **checks), Criterion(id="c"))), templates)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (
            {"criteria": (Criterion(id="c", checks=(Check(id="k", ask="?"),)),)},
            "`checks` belongs to the protocol checklist",
        ),
        ({"criteria": (Criterion(id="c", level_texts={1: "a", 2: "b"}),)}, "described levels belongs"),
        ({"examples": (Example(candidate="x", level=1),)}, "`examples` belongs to the protocol anchored"),
        ({"perspectives": ("user",)}, "`perspectives` belongs to the protocol evidence"),
        ({"layout": "matrix"}, "`layout: matrix` belongs to the protocol evidence"),
    ],
)
def test_a_setting_of_another_protocol_is_refused_rather_than_passed_over(settings, named, templates):
    with pytest.raises(InvalidInput, match=named):
        judge_for(spec("number", **{"criteria": (Criterion(id="c"),), **settings}), templates)
