"""Counted nouns, in one place for every sentence that a person reads."""

__all__ = ["count", "none_of", "plural"]


def count(n: int | None) -> str:
    """A whole number with its thousands apart.

    >>> count(1234567), count(None)
    ('1,234,567', 'unknown')
    """
    return "unknown" if n is None else f"{n:,}"


def plural(n: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> plural(1, "record"), plural(2000, "record"), plural(0, "reply", "replies")
    ('1 record', '2,000 records', '0 replies')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def none_of(n: int, one: str, many: str = "", *, of: str = "the") -> str:
    """That nothing of several has something, or the one that there is; a verb in the singular follows.

    >>> none_of(1200, "item"), none_of(1, "item", of="its")
    ('none of the 1,200 items', 'not even its one item')
    """
    return f"not even {of} one {one}" if n == 1 else f"none of {of} {plural(n, one, many)}"
