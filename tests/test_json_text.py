"""What a JSON text's faults are called, whichever Python reads it."""

import json

import pytest

from evenhand.json_text import DEEPEST, broken_at, too_deep_at


def fault(text: str) -> tuple[int, str]:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    return broken_at(caught.value)


@pytest.mark.parametrize(
    ("text", "position"), [("[1,]", 2), ('{"a":1,}', 6), ('{"a":1 , }', 7), ("[1,\n ]", 2), ('{"a": [1,\t]}', 8)]
)
def test_a_comma_too_many_is_named_where_it_stands(text: str, position: int) -> None:
    assert fault(text) == (position, "a comma with nothing after it")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1,}", (3, "Expecting value")),
        ("[,]", (1, "Expecting value")),
        ("", (0, "Expecting value")),
        ('{"a" 1}', (5, "Expecting ':' delimiter")),
        ("[1] 2", (4, "Extra data")),
    ],
)
def test_other_faults_keep_the_decoders_words(text: str, expected: tuple[int, str]) -> None:
    assert fault(text) == expected


@pytest.mark.parametrize(
    "text", ['[[{"a":' * 66 + "[[" + "1]" * 2, "[]" * 5000, '"' + "[" * 5000, '["\\"' + "[" * 5000]
)
def test_what_is_deep_enough_for_anyone_passes(text: str) -> None:
    assert too_deep_at(text) is None


def test_depth_is_counted_outside_of_strings_and_down_again() -> None:
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert too_deep_at(deep + deep) is None
    assert too_deep_at(f'["[", {deep}]') == 6 + DEEPEST - 1
    json.loads(deep)
