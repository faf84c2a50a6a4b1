"""Canonical JSON, and content keys that name their algorithm.

A key is `sha256:` and 64 hexadecimal digits: the SHA-256 of the canonical JSON of what it names, so that anyone can
check it with the tools of their system. Canonical JSON is UTF-8 without white space, object keys sorted by code point,
numbers that are integers written without a fraction, no NaN and no infinity.

Test vector (`tests/test_keys.py` holds it and more):
    {"b": [1, 2.5, true, null], "a": "é"}  ->  {"a":"é","b":[1,2.5,true,null]}
    sha256:765eba2332445d01d77fc90ce4d844deaf366b706ae75c1f1a29f17dcbaacf6e
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from evenhand.errors import InvalidInput

__all__ = ["ALGORITHM", "bare", "canonical_json", "content_key", "hashed", "tagged"]

ALGORITHM = "sha256"

_encode = msgspec.json.Encoder(order="deterministic").encode


def canonical_json(value: object) -> bytes:
    """The one byte string that stands for a JSON value.

    Args:
        value: None, booleans, integers, finite floats, Decimals, Fractions, strings, and mappings with string keys,
            lists and tuples of these. A Decimal or Fraction is written as text, since a float would lose digits.
    Returns:
        UTF-8 JSON without white space, keys sorted; 1.0 is written as 1, up to 2**53.
    Raises:
        InvalidInput: NaN, an infinity, a lone surrogate, a key that is no string, or a type JSON does not have.

    >>> canonical_json({"b": [1.0, 2.5, True, None], "a": "é"}).decode()
    '{"a":"é","b":[1,2.5,true,null]}'
    """
    try:
        return _encode(_plain(value))
    except UnicodeEncodeError as error:
        raise InvalidInput("canonical_json: a string holds a lone surrogate, which UTF-8 cannot write") from error


def content_key(value: object) -> str:
    """The tagged content key of a JSON value.

    >>> content_key({"b": 1, "a": 2}) == content_key({"a": 2, "b": 1.0})
    True
    """
    return hashed(canonical_json(value))


def hashed(document: bytes) -> str:
    """The tagged content key of bytes that are canonical JSON already."""
    return tagged(hashlib.sha256(document).digest())


def tagged(digest: bytes) -> str:
    """The printed form of a 32-byte digest."""
    return f"{ALGORITHM}:{digest.hex()}"


def bare(key: str) -> bytes:
    """The 32 bytes behind a key, with or without its tag.

    Raises:
        InvalidInput: another algorithm's tag, or not 64 hexadecimal digits.
    """
    algorithm, _, digits = key.rpartition(":")
    if algorithm not in ("", ALGORITHM):
        raise InvalidInput(f"bare: the key names the algorithm {algorithm!r}; this version reads {ALGORITHM!r}")
    try:
        digest = bytes.fromhex(digits)
    except ValueError:
        digest = b""
    if len(digest) != 32:
        raise InvalidInput(f"bare: {key!r} is no content key; expected {ALGORITHM}: and 64 hexadecimal digits")
    return digest


def _plain(value: object) -> object:
    """The same value in the types that the encoder writes in one way only."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"canonical_json: {value} is no JSON number; leave the field out or use null")
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, (Decimal, Fraction)):
        return str(value)
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise InvalidInput(f"canonical_json: the key {name!r} is no string")
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(inner) for inner in value]
    raise InvalidInput(f"canonical_json: {type(value).__name__} has no JSON form")
