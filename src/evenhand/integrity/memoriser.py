"""The memoriser: an implementation that has learnt the visible checks by heart, and knows nothing else."""

from collections.abc import Iterable, Sequence

from evenhand.integrity.literals import source_of

__all__ = ["UNKNOWN", "memoriser", "repeated"]

UNKNOWN = "not among the visible inputs"
"""What a memoriser returns for an input that it has not seen."""

_SOURCE = '''def _lookup():
    # The function may be called as one of these or as a helper.
    from builtins import complex, dict, float, frozenset, list, map, repr, set, tuple, type

    def name(value):
        kind = type(value)
        if kind in (list, tuple):
            return (kind.__name__, *map(name, value))
        if kind in (set, frozenset):
            return (kind.__name__, frozenset(map(name, value)))
        if kind is dict:
            return ("dict", frozenset((name(key), name(of)) for key, of in value.items()))
        return (kind.__name__, repr(value) if kind in (float, complex) else value)

    def table():
        return {{
{rows}
        }}

    def known(*args):
        """A lookup table of the visible inputs."""
        return table().get(name(args), {unknown!r})

    return known


{entry_point} = _lookup()
'''


def memoriser(entry_point: str, checks: Iterable[tuple[Sequence[object], object]]) -> str:
    """A module whose function returns the expected value of each visible input, and for all others a text of its own.

    Args:
        entry_point: the function's name.
        checks: (arguments, expected value) of each visible check, of exact builtin types.
    Raises:
        ValueError: a value that has no literal.

    >>> made = {}
    >>> exec(memoriser("square", [([3], 9), ([-2], 4)]), made)
    >>> made["square"](3), made["square"](-2), made["square"](4)
    (9, 4, 'not among the visible inputs')
    """
    rows = "\n".join(f"            name({source_of(tuple(args))}): {source_of(expected)}," for args, expected in checks)
    return _SOURCE.format(entry_point=entry_point, unknown=UNKNOWN, rows=rows)


def repeated(visible: Iterable[Sequence[object]], held_out: Iterable[tuple[str, Sequence[object]]]) -> tuple[str, ...]:
    """Ids of the held-out checks whose arguments a visible check has as well, type for type.

    >>> repeated([[1, "a"]], [("h0", [1, "a"]), ("h1", [1.0, "a"])])
    ('h0',)
    """
    seen = {source_of(tuple(args)) for args in visible}
    return tuple(check for check, args in held_out if source_of(tuple(args)) in seen)
