"""Python source for values of exact builtin types: what a lookup table is written with, and when two inputs are one."""

import math

__all__ = ["source_of"]


def source_of(value: object) -> str:
    """Source whose evaluation gives the value back, type for type; equal sources mean the same input.

    Members of sets are in the order of their source, so that the order of hashing does not tell them apart. `1`, `1.0`
    and `True` differ, as do `0.0` and `-0.0`.

    Args:
        value: None, bool, int, float, complex, str, bytes, bytearray, or a list, tuple, set, frozenset or dict
            of these.
    Raises:
        ValueError: a value of another type.

    >>> source_of([1, 1.0, float("inf"), {"b", "a"}, (), {1: -0.0}])
    "[1, 1.0, float('inf'), {'a', 'b'}, (), {1: -0.0}]"
    """
    kind = type(value)
    if value is None or kind in (bool, str, bytes, bytearray):
        return repr(value)
    if kind is int:
        return _int(value)  # type: ignore[arg-type]
    if kind is float:
        return _float(value)  # type: ignore[arg-type]
    if kind is complex:
        return f"complex({_float(value.real)}, {_float(value.imag)})"  # type: ignore[attr-defined]
    return _container(value)


def _int(value: int) -> str:
    return repr(value) if -(10**4000) < value < 10**4000 else hex(value)


def _float(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float('{value!r}')"


def _container(value: object) -> str:
    if type(value) is list:
        return f"[{', '.join(map(source_of, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(source_of, value))}{',' if len(value) == 1 else ''})"
    if type(value) is set:
        return f"{{{', '.join(sorted(map(source_of, value)))}}}" if value else "set()"
    if type(value) is frozenset:
        return f"frozenset({_container(set(value))})"
    if type(value) is dict:
        return f"{{{', '.join(f'{source_of(key)}: {source_of(of)}' for key, of in value.items())}}}"
    raise ValueError(f"a value of type {type(value).__name__} has no literal")
