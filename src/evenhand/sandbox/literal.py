"""Tagged literals: how a value crosses from untrusted code, without pickle, eval or any import.

A value is a tag of one byte and what belongs to it. Numbers and lengths are hexadecimal text that ends with `;`.

    N T F            None, True, False
    i 1f;            an int of any size            f 0x1.8p+1;   a float, exactly; also inf, -inf, nan
    c f... f...      a complex of two floats       s 5;hello     text in UTF-8, lone surrogates kept
    b 3;...          bytes                         a 3;...       a bytearray
    l 2;.. ..        a list of two                 t  a tuple    e  a set    z  a frozenset    d  a dict of pairs

Only exact builtin types are written: a subclass can carry an `__eq__` that says yes to everything, so its value is not
a value. Both sides bound depth, size and count before they allocate. Reading never calls anything of the writer's.

This file also runs inside the sandbox, under whatever Python 3.8 or newer is there, and so imports nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "Unreadable", "decode", "encode"]

MAX_BYTES = 4_000_000
MAX_DEPTH = 100
MAX_NODES = 400_000
_SAME_HASH = 64

_CONTAINERS: "dict[type, bytes]" = {list: b"l", tuple: b"t", set: b"e", frozenset: b"z"}


class Unreadable(ValueError):
    """A value that cannot cross, or bytes that are no value.

    Args:
        message: what was met and what was expected.
        type_name: the name of the type that cannot cross; empty where it is not a matter of type.
    """

    def __init__(self, message: str, type_name: str = "") -> None:
        super().__init__(message)
        self.type_name = type_name


def encode(value: object, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The tagged literal of a value.

    Args:
        value: None, bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset and dict, exactly.
        max_bytes: the longest literal.
    Raises:
        Unreadable: another type, a subclass, deeper than `MAX_DEPTH`, or longer than `max_bytes`.

    >>> encode([1, (True, "a")])
    b'l2;i1;t2;Ts1;a'
    """
    parts: "list[bytes]" = []  # noqa: UP037 - Python 3.8 reads this
    room = [max_bytes, MAX_NODES]
    _write(value, parts, room, 0)
    return b"".join(parts)


def decode(data: bytes) -> object:
    """The value of a tagged literal; of the exact builtin types, whoever wrote it.

    Raises:
        Unreadable: the bytes are no literal, go on after it, or go beyond a limit.

    >>> decode(b'd1;s1;ai-ff;')
    {'a': -255}
    """
    if len(data) > MAX_BYTES:
        raise Unreadable(f"a literal of {len(data)} bytes; at most {MAX_BYTES} are read")
    room = [MAX_NODES]
    value, end = _read(data, 0, room, 0)
    if end != len(data):
        raise Unreadable("bytes after the end of a literal")
    return value


def _write(value: "Any", parts: "list[bytes]", room: "list[int]", depth: int) -> None:
    """Append a value's literal, counting its bytes down."""
    kind = type(value)
    if depth > MAX_DEPTH:
        raise Unreadable(f"nested deeper than {MAX_DEPTH}")
    if kind in _CONTAINERS or kind is dict:
        _spend(_CONTAINERS.get(kind, b"d") + b"%x;" % len(value), parts, room)
        for member in value:
            _write(member, parts, room, depth + 1)
            if kind is dict:
                _write(value[member], parts, room, depth + 1)
    else:
        _spend(_scalar(value, kind, room[0]), parts, room)


def _spend(part: bytes, parts: "list[bytes]", room: "list[int]") -> None:
    """Append what fits."""
    room[0] -= len(part)
    room[1] -= 1
    if room[0] < 0 or room[1] < 0:
        raise Unreadable("larger than a literal may be")
    parts.append(part)


def _scalar(value: "Any", kind: type, room: int) -> bytes:
    """The literal of a value that holds no others."""
    if value is None:
        return b"N"
    if kind is bool:
        return b"T" if value else b"F"
    if kind is int:
        if int.bit_length(value) > 4 * room:
            raise Unreadable("larger than a literal may be")
        return b"i%x;" % value  # hexadecimal: decimal text of a long int is refused by newer Pythons
    if kind is float:
        return b"f" + float.hex(value).encode() + b";"
    if kind is complex:
        return b"c" + _scalar(value.real, float, room) + _scalar(value.imag, float, room)
    if kind is str or kind is bytes or kind is bytearray:
        if len(value) > room:
            raise Unreadable("larger than a literal may be")
        raw: bytes = value.encode("utf-8", "surrogatepass") if kind is str else bytes(value)
        return (b"s" if kind is str else b"b" if kind is bytes else b"a") + b"%x;" % len(raw) + raw
    name = type.__dict__["__name__"].__get__(kind)  # a metaclass can make `kind.__name__` run its own code
    raise Unreadable(f"a value of type {name[:80]}; only exact builtin types are read", name[:80])


def _read(data: bytes, at: int, room: "list[int]", depth: int) -> "tuple[object, int]":
    """The value that starts at a place, and the place after it."""
    room[0] -= 1
    if depth > MAX_DEPTH or room[0] < 0:
        raise Unreadable("a literal nested too deep, or of too many parts")
    tag = data[at : at + 1]
    if tag in (b"N", b"T", b"F"):
        return {b"N": None, b"T": True, b"F": False}[tag], at + 1
    if tag == b"c":
        real, at = _read(data, at + 1, room, depth + 1)
        imaginary, at = _read(data, at, room, depth + 1)
        if type(real) is not float or type(imaginary) is not float:
            raise Unreadable("a complex number of parts that are no floats")
        return complex(real, imaginary), at
    if not tag or tag not in b"ifsbaltezd":
        raise Unreadable(f"no tag of a literal at byte {at}")
    end = data.find(b";", at)
    if end < 0:
        raise Unreadable("a literal that breaks off")
    text, at = data[at + 1 : end], end + 1
    if tag == b"i":
        return _whole(text, signed=True), at
    if tag == b"f":
        return _float(text), at
    size = _whole(text, signed=False)
    if size > len(data) - at:  # each member takes a byte at least
        raise Unreadable("a literal that breaks off")
    if tag in b"sba":
        return _text(tag, data[at : at + size]), at + size
    members = []
    for _ in range(2 * size if tag == b"d" else size):
        member, at = _read(data, at, room, depth + 1)
        members.append(member)
    return _container(tag, members), at


def _whole(text: bytes, signed: bool) -> int:
    """An int from hexadecimal text, and nothing that `int` would also take (spaces, underscores, a plus)."""
    digits = text[1:] if signed and text[:1] == b"-" else text
    if not digits or digits.strip(b"0123456789abcdef"):
        raise Unreadable("a number that is not hexadecimal")
    return int(text, 16)


def _float(text: bytes) -> float:
    """A float from `float.hex`."""
    try:
        return float.fromhex(text.decode("ascii"))
    except (ValueError, OverflowError) as error:
        raise Unreadable("a float that is not hexadecimal") from error


def _text(tag: bytes, raw: bytes) -> object:
    """Text, bytes or a bytearray."""
    if tag != b"s":
        return raw if tag == b"b" else bytearray(raw)
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Unreadable("text that is not UTF-8") from error


def _container(tag: bytes, members: "list[object]") -> object:
    """A container of members that are read."""
    if tag == b"l":
        return members
    if tag == b"t":
        return tuple(members)
    keys = members[::2] if tag == b"d" else members
    try:
        hashes = sorted(map(hash, keys))
    except TypeError as error:
        raise Unreadable("a set or a dict with a member that cannot be hashed") from error
    # Keys made to collide cost the reader quadratic time.
    if any(hashes[n] == hashes[n + _SAME_HASH] for n in range(len(hashes) - _SAME_HASH)):
        raise Unreadable("a set or a dict with many members of one hash")
    if tag == b"d":
        return dict(zip(keys, members[1::2]))  # noqa: B905 - no strict before Python 3.10
    return set(keys) if tag == b"e" else frozenset(keys)
