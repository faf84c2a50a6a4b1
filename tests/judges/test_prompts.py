import re
from decimal import Decimal

import pytest

from evenhand.errors import InvalidInput
from evenhand.judges import judge_for
from evenhand.judges.prompts import Fence, ItemPrompt, Template
from evenhand.terms import CatalogEntry, Check, Criterion, Example, Item, JudgeSpec, ModelSpec

BRACES = (
    "Dump: {{ 7*7 }} {{candidate}} {{fence}} {item} {candidate} {% if x %} ${HOME} %s %(a)s {0} \\1 \\g<0> 🐙\r\n\tend"
)


def spec(protocol="checklist", *criteria, **settings):
    return JudgeSpec(name="prompts", protocol=protocol, models=(ModelSpec(model="p/m"),), criteria=criteria, **settings)


def check_spec(ask="Does it?"):
    return spec("checklist", Criterion(id="c", levels=(Decimal(0), Decimal(1)), checks=(Check(id="k", ask=ask),)))


def asked(judge, item):
    return next(judge.judge(item, model="p/m"))[0]


def test_braces_in_candidate_and_question_reach_the_model_character_for_character(templates):
    item = Item(id="i", candidate=BRACES, task=BRACES + "t", reference=BRACES + "r", context=BRACES + "c")
    call = asked(judge_for(check_spec(ask=BRACES), templates), item)
    system, user = (message.text for message in call.messages)
    assert BRACES in system
    assert "49" not in system + user
    for text in (item.candidate, item.task, item.reference, item.context):
        assert f"\n{text}\n" in user


def test_the_system_message_is_the_same_for_every_item_and_the_candidate_comes_last(templates):
    judge = judge_for(check_spec(), templates)
    first = asked(judge, Item(id="1", candidate="one candidate", task="one task", reference="ref", context="con"))
    second = asked(judge, Item(id="2", candidate="another"))
    assert first.messages[0] == second.messages[0]
    assert [message.role for message in first.messages] == ["system", "user"]
    user = first.messages[1].text
    assert user.index("one task") < user.index("ref") < user.index("con") < user.index("one candidate")
    assert len(user) - user.index("one candidate") < 100


def test_neither_id_nor_system_nor_metadata_reaches_the_prompt(templates):
    item = Item(id="ID-SECRET", candidate="text", system="SYSTEM-SECRET", metadata={"k": "META-SECRET"})
    assert "SECRET" not in str(asked(judge_for(check_spec(), templates), item).messages)


def test_a_field_that_the_item_lacks_leaves_no_trace(templates):
    judge = judge_for(check_spec(), templates)
    user = asked(judge, Item(id="i", candidate="text", task="")).messages[1].text
    assert "TASK" not in user
    assert "REFERENCE" not in user
    assert "CONTEXT" not in user


def test_every_part_stands_between_lines_with_one_mark(templates):
    item = Item(id="i", candidate="can", task="tas", reference="ref", context="con")
    user = asked(judge_for(check_spec(), templates), item).messages[1].text
    mark = re.search(r"mark of this message is (\w+)", user)[1]
    for text in ("can", "tas", "ref", "con"):
        assert re.search(rf"^{mark} \w+ BEGINS.*\n{text}\n{mark} \w+ ENDS$", user, re.MULTILINE)


def test_marks_are_reproducible_and_differ_by_judge_and_by_each_text():
    texts = ["task", None, "context", "candidate"]
    others = [
        ["tas", None, "kcontext", "candidate"],
        ["task", "", "context", "candidate"],
        ["task", "context", None, "candidate"],
    ]
    marks = {Fence(b"judge").mark(texts), Fence(b"judge").mark(texts), Fence(b"other").mark(texts)}
    marks |= {Fence(b"judge").mark(other) for other in others}
    assert len(marks) == 5


def test_a_text_that_holds_its_own_mark_gets_another(monkeypatch):
    from evenhand.judges import prompts

    marks = iter(["held", "held", "free"])  # chance would need some 2**55 texts to show this
    monkeypatch.setattr(prompts, "_letters", lambda digest: next(marks))
    assert Fence(b"judge").mark([None, "a text with held in it"]) == "free"


def test_equal_material_gives_equal_calls(templates):
    item = Item(id="i", candidate="text")
    one, two = (asked(judge_for(check_spec(), templates), item) for _ in range(2))
    assert one == two


def test_prompts_hold_no_number_but_those_of_the_rubric(templates):
    judges = {
        "checklist": check_spec(),
        "number": spec("number", Criterion(id="c", levels=(Decimal(3), Decimal(7)))),
        "anchored": spec(
            "anchored",
            Criterion(id="c", ask="How?", level_texts={3: "low", 7: "high"}),
            examples=(Example(candidate="graded", level=7, reason="so"),),
        ),
        "evidence": spec("evidence"),
        "matrix": spec("evidence", Criterion(id="c"), Criterion(id="d"), layout="matrix", perspectives=("p",)),
        "catalogue": spec("evidence", catalog=(CatalogEntry(id="k", claim="It leaks.", impact=-5),)),
    }
    permitted = {"number": set("37"), "anchored": set("37"), "evidence": set("1235"), "matrix": set("1235")}
    for name, own in judges.items():
        call = asked(judge_for(own, templates), Item(id="i", candidate="text", task="t", reference="r", context="c"))
        digits = set(re.findall(r"\d", "".join(message.text for message in call.messages)))
        assert digits == permitted.get(name, set()), name


def test_the_skeleton_of_the_reply_cannot_be_read_as_one(templates, make, play):
    judge = judge_for(check_spec(), templates)
    skeleton = asked(judge, Item(id="i", candidate="text")).messages[0].text.rsplit("\n", 1)[1]
    assert skeleton.startswith('{"checks"')
    outcome, _ = play(judge, "text", skeleton)
    assert outcome.code == "unreadable"


def test_a_placeholder_that_nobody_fills_is_refused():
    with pytest.raises(InvalidInput, match=r"template t\.md: the placeholder \{\{b\}\} is unknown; use a"):
        Template("{{a}} {{b}}", name="t.md", known=["a"])


def test_an_item_template_without_candidate_or_fence_is_refused():
    with pytest.raises(InvalidInput, match="is missing; it needs both"):
        ItemPrompt("{{fence}} {{task}}", name="item.md", fence=Fence(b""))


def test_a_missing_template_is_named(templates):
    with pytest.raises(InvalidInput, match=r"the prompt template quoting\.md is missing"):
        judge_for(check_spec(), {name: text for name, text in templates.items() if name != "quoting.md"})
