"""How feedback is bounded, in scripts with and without spaces."""

import pytest

from evenhand.judges.asking import Read
from evenhand.judges.feedback import MOST_WORDS, FeedbackPrompt, bounded
from evenhand.terms import Evidence, Item, JudgeSpec, Reply


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Mend the fixed time first. ", 5),
        ("保留清晰的目的。", 8),
        ("表を読んでください。", 10),
        ("请读 main.py:2 吧。", 5),
    ],
)
def test_feedback_ends_at_a_sentence_within_the_bound_in_every_script(sentence, words):
    text, cut = bounded(sentence * 1_000)
    assert cut
    assert text == (sentence * (MOST_WORDS // words)).strip()
    assert bounded(sentence) == (sentence.strip(), False)


def test_advice_without_spaces_is_read(templates):
    spec = JudgeSpec(name="under-test", protocol="evidence", models=())
    found = [Evidence(claim="c", impact=1)]
    asking = FeedbackPrompt(spec, templates).asking(found, Item(id="a", candidate="x"), model="m", rerun=0, attempt=0)
    next(asking)
    with pytest.raises(StopIteration) as done:
        asking.send((Reply(text="请读取表格而不是打印固定的时间。"),))
    assert isinstance(done.value.value, Read)
