import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInput
from evenhand.keys import bare, canonical_json, content_key

# The published vectors: a value, its canonical JSON, its key. Anyone can check them with a system's own tool:
# printf '%s' '{"a":"é","b":[1,2.5,true,null]}' | sha256sum
VECTORS = [
    (
        {"b": [1, 2.5, True, None], "a": "é"},
        '{"a":"é","b":[1,2.5,true,null]}',
        "sha256:765eba2332445d01d77fc90ce4d844deaf366b706ae75c1f1a29f17dcbaacf6e",
    ),
    ({}, "{}", "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    ("", '""', "sha256:12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126"),
]


@pytest.mark.parametrize(("value", "text", "key"), VECTORS)
def test_published_vectors(value, text, key):
    assert canonical_json(value).decode() == text
    assert content_key(value) == key


def test_keys_are_the_same_in_another_process_with_another_hash_seed():
    program = "from evenhand.keys import content_key; print(content_key({'b': [1, 2.5, True, None], 'a': 'é'}))"
    for seed in ("0", "1", "4711"):
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == VECTORS[0][2]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=12,
)


@given(JSON)
@settings(deadline=None, max_examples=200)
def test_reading_back_and_writing_again_changes_nothing(value):
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 9), min_size=2))
@settings(deadline=None, max_examples=100)
def test_the_order_of_keys_does_not_matter(value):
    assert content_key(value) == content_key(dict(reversed(value.items())))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(InvalidInput, match="no JSON number"):
        canonical_json(value)


@pytest.mark.parametrize("value", [{1: "a"}, {"a": {2: 1}}, b"bytes", object(), "\ud800", {"\udfff": 1}])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(InvalidInput):
        canonical_json(value)


def test_exact_numbers_are_written_as_text():
    assert canonical_json([Decimal("0.10"), Fraction(1, 3)]) == b'["0.10","1/3"]'


def test_a_key_serves_with_and_without_its_tag():
    key = content_key({})
    assert bare(key) == bare(key.removeprefix("sha256:"))
    assert len(bare(key)) == 32


@pytest.mark.parametrize("key", ["md5:" + "0" * 64, "sha256:12", "sha256:" + "g" * 64, ""])
def test_another_algorithm_or_a_broken_key_is_refused(key):
    with pytest.raises(InvalidInput):
        bare(key)
