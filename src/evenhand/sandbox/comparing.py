"""Whether a returned value is the expected one, and its text; the parent's side, over decoded data."""

__all__ = ["equal_values", "shown_value"]


def equal_values(
    value: object, expected: object, *, absolute: float = 1e-6, relative: float = 1e-7, lists_as_tuples: bool = False
) -> bool:
    """Equality of data, with a tolerance for floats through lists and tuples.

    Args:
        value: what came back.
        expected: what should have.
        absolute: tolerance of a float, in its own unit.
        relative: tolerance of a float, as a share of the expected one.
        lists_as_tuples: whether a list and a tuple of equal members are equal, as in suites that were kept as JSON.
    Returns:
        True where `==` holds; or, through lists and tuples of one length, floats (or an int beside a
        float) lie within `absolute + relative * |expected|`. A bool is never near a float, nan is near nothing.

    >>> equal_values([0.1 + 0.2, (1, "a")], [0.3, (1, "a")])
    True
    >>> equal_values((1, 2), [1, 2]), equal_values((1, 2), [1, 2], lists_as_tuples=True)
    (False, True)
    """
    if value == expected:
        return True
    if isinstance(value, list | tuple) and isinstance(expected, list | tuple):
        alike = lists_as_tuples or type(value) is type(expected)
        return (
            alike
            and len(value) == len(expected)
            and all(
                equal_values(one, other, absolute=absolute, relative=relative, lists_as_tuples=lists_as_tuples)
                for one, other in zip(value, expected, strict=True)
            )
        )
    if isinstance(value, float | int) and isinstance(expected, float | int) and float in (type(value), type(expected)):
        return bool not in (type(value), type(expected)) and _near(value, expected, absolute, relative)
    return False


def _near(value: float, expected: float, absolute: float, relative: float) -> bool:
    """|value - expected| <= absolute + relative * |expected|; false where an int is beyond any float."""
    try:
        return abs(value - expected) <= absolute + relative * abs(expected) < float("inf")
    except OverflowError:
        return False


def shown_value(value: object, length: int = 200) -> str:
    """A bounded text of a returned value, whatever it is; escaped as `repr` escapes.

    >>> shown_value([1, "a"]), shown_value(10**9999), shown_value("abc", 3)
    ("[1, 'a']", 'a value of type int that is too long to print', "'ab…")
    """
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python prints
        return f"a value of type {type(value).__name__} that is too long to print"
    return text if len(text) <= length else text[:length] + "…"
