"""The keys of a judge file that say how a judge answers for itself, and what counts as the same answer.

    answer: number                 the kind of answer
    mode: blind                    or visible
    tolerance: {decimals: 2}       how far numbers may be apart
    choices: [A, B, C, D]          the labels, for `answer: choice`
    match: {percent: points}       further settings of the match relation
    commitments: 3                 answers asked for, of which more than half must agree

What the settings of the match relation mean, and whether they fit together, is checked where the judge is made.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

from evenhand.identity import decimal_text
from evenhand.store.documents import Value
from evenhand.terms import Commit

__all__ = ["COMMIT_KEYS", "COMMIT_ONLY_FOR", "COMMIT_USUAL", "commit_of"]

COMMIT_KEYS = ("answer", "mode", "tolerance", "choices", "match", "commitments")
COMMIT_ONLY_FOR: Mapping[str, tuple[str, ...]] = dict.fromkeys(COMMIT_KEYS, ("commit",))
"""The keys read here, each with the protocols that read it."""

COMMIT_USUAL = {
    "answer_kind": "answer",
    "answer_type": "answer",
    "options": "choices",
    "matching": "match",
    "matcher": "match",
    "votes": "commitments",
    "n_commitments": "commitments",
}

_KINDS = ("number", "expression", "choice", "short_text", "set", "code_output")
# More would be a habit, not a measurement; each costs a call.
_MOST = 25


def commit_of(document: Value, entries: Mapping[str, Value]) -> Commit:
    """How a judge answers for itself.

    Args:
        document: the whole file, which is named where a key is missing.
        entries: its values by key.
    Raises:
        InvalidInput: with line and field.
    """
    if "answer" not in entries:
        document.refuse(f"is missing; `protocol: commit` needs the kind of answer: {', '.join(_KINDS)}", "answer")
    match: dict[str, Any] = {"kind": entries["answer"].choice(*_KINDS)}
    if "tolerance" in entries:
        match["tolerance"] = _tolerance(entries["tolerance"])
    if "choices" in entries:
        match["choices"] = [value.text() for value in entries["choices"].items()]
    if "match" in entries:
        match.update(_further(entries["match"]))
    mode = entries["mode"].choice("blind", "visible") if "mode" in entries else "blind"
    return Commit(
        mode=cast("Literal['blind', 'visible']", mode),
        match=match,
        commitments=_commitments(entries["commitments"]) if "commitments" in entries else 1,
    )


def _commitments(value: Value) -> int:
    number = value.whole(1)
    if number > _MOST:
        value.refuse(f"expected a whole number from 1 to {_MOST}; came {number}")
    return number


def _tolerance(value: Value) -> Any:
    """A number, or bounds by name."""
    if value.kind == "mapping":
        return {name: _number(inner) for name, inner in value.pairs}
    return _number(value)


def _number(value: Value) -> int | str:
    """A number exactly: a whole one as such, another as text."""
    number = value.number()
    return int(number) if number == int(number) else decimal_text(number)


def _further(value: Value) -> dict[str, Any]:
    """Settings without a key of their own."""
    if value.kind != "mapping":
        value.refuse(f"expected a mapping of settings, such as {{percent: points}}; came {value.came()}")
    for name, inner in value.pairs:
        if name in ("answer", "kind", "tolerance", "choices"):
            inner.refuse("has a key of its own: write it beside `match`, not under it")
    return {name: _plain(inner) for name, inner in value.pairs}


def _plain(value: Value) -> Any:
    """A setting: truths, numbers, words, or a list of words."""
    if value.kind == "list":
        return [inner.text() for inner in value.elements]
    if value.kind == "scalar" and not value.is_quoted and value.written.lower() in ("true", "false"):
        return value.truth()
    return _number(value) if value.is_number() else value.text()
