import json

import pytest

from evenhand.errors import UnreadableReply
from evenhand.judges.parse import MAX_CHARS, is_refusal, objects, prose, reply_object

YES = '{"checks": [{"id": "a", "quote": "x", "passed": true}]}'
NO = YES.replace("true", "false")
READ = json.loads(YES)


def unreadable(text):
    with pytest.raises(UnreadableReply) as refused:
        reply_object(text, "checks")
    return str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        YES,
        f"\n\n  {YES}\n",
        f"\ufeff{YES}",
        f"Here is my verdict: {YES} I hope it helps.",
        f"```json\n{YES}\n```",
        f"````\n{YES}\n````\n",
        f"~~~json\n{YES}\n~~~",
        f"[{YES}]",
        f"{YES}</s>",
        f"In short {{yes}}: {YES}",
        f'The set {{"a", "b"}} is named. {YES}',
        f"{YES}\n{YES}",
        json.dumps(READ, indent=4),
        json.dumps({"thoughts": "none", **READ}),
    ],
)
def test_the_object_is_read_whatever_stands_around_it(text):
    assert reply_object(text, "checks")["checks"] == READ["checks"]


@pytest.mark.parametrize(
    "quote",
    [
        "```bash\nmake\n```",
        "}",
        '"}]}',
        "<think>",
        "</think>",
        '</think>{"checks": []}',
        "assistantfinal{",
        "\\",
        "{{ 7*7 }}",
    ],
)
@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<think>Hm.</think>\n{}", "So: {} Done."])
def test_what_a_quote_holds_is_never_taken_for_markup(quote, around):
    found = {"checks": [{"id": "a", "quote": quote, "passed": True}]}
    assert reply_object(around.replace("{}", json.dumps(found)), "checks") == found


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{NO}</think>{YES}",
        f"<thinking>\n{NO}\n</thinking>\n\n```json\n{YES}\n```",
        f"<THINK>{NO}</THINK>{YES}",
        f"Let me see. {NO} No.\n</think>\n{YES}",
        f"<think>one</think><think>{NO}</think>{YES}",
        f"<think>It says </think> and {NO} there.</think>{YES}",
        f'<think>unbalanced {{"a: [</think>{YES}',
        f"[THINK]{NO}[/THINK]{YES}",
        f"◁think▷{NO}◁/think▷{YES}",
        f"<|channel|>analysis<|message|>{NO}<|end|><|start|>assistant<|channel|>final<|message|>{YES}<|return|>",
        f"<|channel|>analysis<|message|>{NO}<|end|><|channel|>final <|constrain|>json<|message|>{YES}",
        f"analysisWe could say {NO}? No.assistantfinal{YES}",
        f"<seed:think>{NO}</seed:think>{YES}",
        f"{YES}\n<think>Was that right? {NO}",
    ],
)
def test_reasoning_is_never_read_as_the_verdict(text):
    assert reply_object(text, "checks") == READ


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{YES}",
        f"<think>{YES}</think>",
        f"<think>{YES}</think> I cannot decide.",
        f"Sure. <think>{YES}",
        f"analysisWe could say {YES}",
        f"<|channel|>analysis<|message|>{YES}",
        f"<think>{YES}</think><think>{NO}",
    ],
)
def test_a_reply_of_reasoning_alone_has_no_verdict(text):
    unreadable(text)


@pytest.mark.parametrize(
    "text", [f"{YES} {NO}", f"{NO}<think>Hm.</think>{YES}", f"```\n{YES}\n```\n```\n{NO}\n```", f"[{YES}, {NO}]"]
)
def test_two_different_verdicts_are_none(text):
    assert "two different verdicts" in unreadable(text)


def test_a_cut_correction_after_a_verdict_spoils_it_and_a_cut_draft_before_does_not():
    assert "cut off" in unreadable(f"{YES} No, rather {NO[:-3]}")
    assert "malformed" in unreadable(f"{YES} No, rather {NO.replace('false', 'no')}")
    assert reply_object(f"{NO[:-3]} Again: {YES}", "checks") == READ


@pytest.mark.parametrize("end", range(1, len(YES)))
def test_cut_json_is_never_completed(end):
    unreadable(YES[:end])
    unreadable(f"```json\n{YES[:end]}")


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "-0", "-0.0", "9" * 30, "9" * 6000, "+3", "08", ".5"]
)
@pytest.mark.parametrize("around", ["{}", "Result: {}", "```json\n{}\n```", "<think>x</think>{}", "{}\n{}"])
def test_numbers_that_are_none_are_refused_on_every_path(number, around):
    unreadable(around.replace("{}", '{"checks": [{"id": "a", "n": ' + number + "}]}"))


@pytest.mark.parametrize("around", ["{}", "Result: {}"])
def test_a_repeated_key_is_refused_on_every_path(around):
    twice = '{"checks": [{"id": "a", "passed": false, "passed": true}]}'
    assert '"passed" stands twice' in unreadable(around.replace("{}", twice))
    assert '"checks" stands twice' in unreadable(around.replace("{}", '{"checks": [], "checks": [1]}'))


@pytest.mark.parametrize(
    "text", ["", "null", "true", "7", '"text"', "[]", "{}", '{"a": 1}', '{"reply": ' + YES + "}", json.dumps(YES)]
)
def test_another_document_is_not_searched_for_something_like_a_verdict(text):
    unreadable(text)


def test_the_schema_itself_is_named_with_the_way_out():
    schema = {"type": "object", "properties": {"checks": {"type": "array"}}, "required": ["checks"]}
    for text in (json.dumps(schema), f"```json\n{json.dumps(schema)}\n```", json.dumps(schema["properties"])):
        said = unreadable(text)
        assert "schema itself" in said
        assert "another model" in said


@pytest.mark.parametrize("half", ["\\ud83d", "\\uDE00 x", "\ud83d"])
def test_half_a_surrogate_pair_is_refused(half):
    assert "surrogate" in unreadable('{"checks": [{"quote": "' + half + '"}]}')


def test_a_whole_surrogate_pair_is_one_character():
    assert reply_object('{"checks": ["\\ud83d\\ude00"]}', "checks") == {"checks": ["\U0001f600"]}


def test_line_breaks_inside_strings_are_taken_as_they_stand():
    assert reply_object('{"checks": ["two\nlines"]}', "checks") == {"checks": ["two\nlines"]}


def test_an_escape_that_json_lacks_is_not_repaired_but_explained():
    assert "backslash twice" in unreadable('{"checks": [{"quote": "the map \\(x\\) is"}]}')


@pytest.mark.parametrize(
    "text",
    [
        '{"checks":' * 100_000,
        '{"checks":' + "[" * 200_000 + "]" * 200_000 + "}",
        '{"a":"{' * 100_000,
        '{"<think>":1}' * 20_000,
        "</think>" * 100_000,
        "<think>" * 100_000,
        '{"' + '\\"' * 400_000,
        ("{" + " " * 1000) * 900,
        '{"a":1}<think></think>' * 40_000,
        YES * 2 + "x" * (10 * MAX_CHARS),
    ],
)
def test_monstrous_replies_are_refused_without_trouble(text):
    assert len(unreadable(text)) < 300


def test_top_level_objects_are_found_past_prose():
    text = 'a {b} {"c": {"d": "}"}} e {"f"'
    assert [text[start:end] for start, end in objects(text)] == ['{"c": {"d": "}"}}', '{"f"']


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with this request.",
        "Sorry, I cannot help with evaluating this text.",
        "I cannot evaluate this content.",
        "Unfortunately, I am unable to comply.",
        "<think>Policy?</think>I won't engage with this.",
    ],
)
def test_prose_that_declines_is_a_refusal(text):
    assert is_refusal(text)


@pytest.mark.parametrize("flood", [" ", "\n", "{ ", "!", "sorry , "])
def test_looking_for_a_refusal_takes_linear_time(flood):
    assert not is_refusal(flood * (MAX_CHARS // len(flood)) + "x")  # quadratic, this would take hours


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The candidate says: I'm sorry, but I can't help with that.",
        "I cannot find a quote for the second check, so it fails.",
        "I'm sorry for the delay. The answer names a situation.",
        YES.replace("x", "I'm sorry, but I can't help with that."),
        "I can't help with that, but here: " + YES,
        "I can't help with that: " + YES[:-4],
        "I can help with that.",
    ],
)
def test_anything_else_is_no_refusal(text):
    assert not is_refusal(text)


@pytest.mark.parametrize(
    "text",
    ["<think>Where to begin?", "Half a pair: \ud83d.", "I'm sorry, but I can't help with that.", "x" * 1_000_001],
)
def test_what_is_no_prose_is_unreadable(text):
    with pytest.raises(UnreadableReply):
        prose(text)
