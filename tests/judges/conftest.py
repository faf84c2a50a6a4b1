"""Judges driven by hand: build one, play replies to it, see what it asked and what came of it."""

import json
from decimal import Decimal
from importlib import resources

import pytest

from evenhand.judges import judge_for
from evenhand.terms import Check, Criterion, Item, JudgeSpec, ModelSpec, Reply


@pytest.fixture(scope="session")
def templates():
    """The templates that ship with the package."""
    folder = resources.files("evenhand.judges") / "templates"
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".md")}


@pytest.fixture(scope="session")
def make(templates):
    """make(protocol, criteria..., settings): a judge."""

    def build(protocol, *criteria, **settings):
        spec = JudgeSpec(
            name="under-test",
            protocol=protocol,
            models=(ModelSpec(model="openai/fake-judge"),),
            criteria=criteria,
            **settings,
        )
        return judge_for(spec, templates)

    return build


@pytest.fixture(scope="session")
def play():
    """play(judge, item, replies): the outcome and the calls; the last reply repeats, as with a fake endpoint."""

    def run(judge, item, replies, **how):
        if isinstance(item, str):
            item = Item(id="item-under-test", candidate=item)
        replies = [heard(reply) for reply in ([replies] if isinstance(replies, (str, dict, Reply)) else replies)]
        judging = judge.judge(item, model="openai/fake-judge", **how)
        calls = list(next(judging))
        while True:
            number = len(calls)
            assert number < 10, "a judge that asks for ever"
            try:
                calls += judging.send((with_key(replies[min(number, len(replies)) - 1], number),))
            except StopIteration as done:
                return done.value, calls

    return run


def heard(reply):
    """A reply, from its text or its JSON."""
    if isinstance(reply, Reply):
        return reply
    return Reply(text=reply if isinstance(reply, str) else json.dumps(reply))


def with_key(reply, number):
    """The reply as the engine hands it in, with the key of its call."""
    return Reply(**{name: getattr(reply, name) for name in reply.__slots__ if name != "key"}, key=f"key-{number}")


@pytest.fixture(scope="session")
def four_checks(make):
    """A checklist of four checks on levels 0-4."""
    asks = {
        "figure": "Does the text compare two figures?",
        "outcome": "Does the text state an outcome?",
        "action": "Does the text say what the writer did?",
        "reflection": "Does the text say what the writer would do differently?",
    }
    checks = tuple(Check(id=name, ask=ask) for name, ask in asks.items())
    return make("checklist", Criterion(id="answer", levels=(Decimal(0), Decimal(4)), checks=checks))


@pytest.fixture(scope="session")
def one_number(make):
    """A bare number from 1 to 10."""
    return make("number", Criterion(id="overall", levels=(Decimal(1), Decimal(10))))
