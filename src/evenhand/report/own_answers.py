"""What a judge committed to, as a page shows it: every answer of its own, which one stands, and how it was compared."""

from collections.abc import Mapping
from typing import Any

from evenhand.report.model import Finding
from evenhand.wording import plural

__all__ = ["own_answers"]

_MOST_CHARACTERS = 300
_MATCHES = {
    "equal": "the candidate gives the same answer",
    "unequal": "the candidate gives another answer",
    "no_answer": "the candidate gives no answer, or several",
    "undecided": "whether the candidate gives the same answer is open",
}
_IN_VIEW = {"blind": "the candidate out of sight", "visible": "the candidate in view"}


def own_answers(own: Mapping[str, Any] | None, *, hide_scores: bool) -> list[Finding]:
    """One finding an answer, then what was lost.

    Args:
        own: what the record holds; None for judges that do not answer for themselves.
        hide_scores: leaves the comparison out, which is the verdict.
    """
    if not own:
        return []
    found = [_answer(own, place, hide_scores=hide_scores) for place in range(len(own["commitments"]))]
    if own["lost"]:
        lost = f"{plural(len(own['lost']), 'commitment')} of {own['asked']} could not be read"
        found.append(Finding(name=lost, outcome="", kind="aside", notes=(", ".join(map(str, own["lost"])),)))
    return found


def _answer(own: Mapping[str, Any], place: int, *, hide_scores: bool) -> Finding:
    one = own["commitments"][place]
    stands = place == own["stands"]
    notes = [f"given with {_IN_VIEW[own['mode']]}", f"call {one['key']}", f"commitment {one['hash']}"]
    if stands and own["match"] and not hide_scores:
        who = "a model asked" if own["compared_by"] == "model" else own.get("how", "")
        notes.insert(0, f"{_MATCHES[own['match']]} ({who})")
    if not one["agrees"]:
        notes.insert(0, "not the answer that the judge stands by")
    return Finding(
        name=_bounded(str(one["answer"])),  # foreign text: the name is shown as such
        outcome="the judge's own answer" if stands else "a further answer of the judge's own",
        kind="for" if stands else "aside",
        notes=tuple(notes),
    )


def _bounded(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}... ({len(text)} characters)"
