"""Names in a rule: which function one stands for, which was perhaps meant, and how a message shows it."""

import difflib
import re
from collections.abc import Iterable

from evenhand.composite.rule.functions import ALIASES, FUNCTIONS, SUGAR

__all__ = ["FUNCTION_NAMES", "function_named", "meant", "safe_name", "weighed"]

FUNCTION_NAMES = (*FUNCTIONS, *SUGAR, *ALIASES, "if", "missing")


def function_named(name: str) -> str | None:
    """The canonical name of a function, in any case; None for none."""
    lowered = name.lower()
    canonical = ALIASES.get(lowered, lowered)
    return canonical if canonical in FUNCTIONS or canonical in SUGAR or canonical in ("if", "missing") else None


def weighed(name: str) -> str:
    """How weights are written, for names such as `weighted_mean`; "" for other names."""
    found = re.fullmatch(r"(?:weighted_?|w_?)(\w+?)|(\w+?)_?(?:weighted|w)", name.lower())
    word = (found[1] or found[2]).strip("_") if found else name.lower()
    plain = "mean" if word == "weighted" else function_named(word)
    if plain is None or plain not in FUNCTIONS or not FUNCTIONS[plain].weighted:
        return ""
    first = "2, a: 2, b: 1" if plain == "power" else "a: 2, b: 1"
    return f"a weight stands behind a colon: {plain}({first})"


def meant(name: str, known: Iterable[str]) -> str:
    """The known name that was perhaps meant, or what there is."""
    names = list(known)
    lowered = {candidate.lower(): candidate for candidate in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{safe_name(lowered[close[0]])}`?"
    inside = [candidate for candidate in names if name.lower() in candidate.lower()] if len(name) > 2 else []
    if inside:
        return f"did you mean `{safe_name(inside[0])}`?"
    if not names:
        return "there are none"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"there are {', '.join(f'`{safe_name(candidate)}`' for candidate in names[:8])}{more}"


def safe_name(name: str) -> str:
    """A name for a message: what does not print becomes `?`, and it ends after 60 characters."""
    return "".join(character if character.isprintable() else "?" for character in name[:60])
