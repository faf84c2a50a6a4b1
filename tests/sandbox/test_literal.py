import collections
import enum
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.sandbox import literal
from evenhand.sandbox.literal import MAX_BYTES, Unreadable, decode, encode

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(1 << 200), max_value=1 << 200),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(st.characters()),
    st.binary(),
)
HASHABLE = st.recursive(SCALARS, lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner)), max_leaves=8)
VALUES = st.recursive(
    st.one_of(HASHABLE, st.sets(HASHABLE), st.binary().map(bytearray)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(HASHABLE, inner)),
    max_leaves=12,
)


def same(one: object, other: object) -> bool:
    """Equal, and of the same types all the way down, 0.0 and -0.0 apart."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))  # type: ignore[arg-type]
    return one == other


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    assert same(decode(encode(value)), value)


def test_numbers_that_text_loses_come_back_exactly() -> None:
    for value in (10**6000, -(1 << 100_000), math.inf, -math.inf, -0.0, 5e-324, 0.1):
        assert same(decode(encode(value)), value)
    assert math.isnan(decode(encode(math.nan)))  # type: ignore[arg-type]
    assert decode(encode("\ud800\0")) == "\ud800\0"


class Yes(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Liar(type):
    __name__ = "int"  # type: ignore[assignment]


class Lying(metaclass=Liar):
    pass


Colour = enum.IntEnum("Colour", ["RED"])


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Yes(3), "Yes"),
        ([1, {"a": (Yes(3),)}], "Yes"),
        (Colour.RED, "Colour"),
        (collections.Counter("ab"), "Counter"),
        (collections.OrderedDict(), "OrderedDict"),
        (range(3), "range"),
        (iter([1]), "list_iterator"),
        (Lying(), "Lying"),
        (len, "builtin_function_or_method"),
        (int, "type"),
        (Ellipsis, "ellipsis"),
    ],
)
def test_what_is_of_no_exact_builtin_type_does_not_cross_and_is_named(value: object, name: str) -> None:
    with pytest.raises(Unreadable) as caught:
        encode(value)
    assert caught.value.type_name == name


def test_a_value_that_holds_itself_ends() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(Unreadable, match="deeper"):
        encode(value)


def test_a_small_value_that_unfolds_to_a_huge_one_is_refused_before_it_is_written() -> None:
    value: list[object] = ["x" * 100]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(Unreadable, match="larger"):
        encode(value)


@pytest.mark.parametrize("value", ["x" * 2000, b"x" * 2000, 1 << 20000, [1] * 2000, "é" * 600], ids=type)
def test_a_value_longer_than_allowed_is_refused(value: object) -> None:
    with pytest.raises(Unreadable, match="larger"):
        encode(value, max_bytes=1000)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"x", b"i", b"i;", b"i1", b"i 1;", b"i1_0;", b"i+1;", b"i--1;", b"i0x1;", b"iG;", b"N N", b"NN"),
        *(b"f;", b"fx;", b"f0x1p99999999;", b"cNN", b"c", b"s3;ab", b"s-1;", b"s1;\xff", b"s;", b"sffffffffff;"),
        *(b"l2;N", b"lfffffffff;", b"l1;", b"d1;N", b"d1;l0;N", b"e1;l0;", b"z1;d0;", b"t", b"\x80", b"csos\nsystem\n"),
    ],
)
def test_bytes_that_are_no_literal_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(data)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text("NTFifcsbaltezd0123;-", max_size=40).map(str.encode)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = decode(data)
    except Unreadable:
        return
    encode(value)


def test_what_would_exhaust_the_reader_is_refused() -> None:
    with pytest.raises(Unreadable, match="deep"):
        decode(b"l1;" * 200_000 + b"N")
    with pytest.raises(Unreadable, match="parts"):
        decode(b"l%x;" % 500_000 + b"N" * 500_000)
    with pytest.raises(Unreadable, match="at most"):
        decode(b"s%x;" % MAX_BYTES + b"x" * MAX_BYTES)
    modulus = (1 << 61) - 1
    colliding = [n * modulus for n in range(1, 3000)]
    with pytest.raises(Unreadable, match="one hash"):
        decode(b"e%x;" % len(colliding) + b"".join(map(encode, colliding)))


def test_the_file_that_goes_inside_imports_nothing_when_it_runs() -> None:
    assert literal.TYPE_CHECKING is False
