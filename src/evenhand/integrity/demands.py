r"""What a judge's prompt demands: an answer of its own in a form that a program can read, solving first, a judgement.

Naming a form is not yet holding a judge to it: whether replies have it is looked at apart (`steps.heeded_templates`),
so that a template which only happens to show such a mark demands nothing.
"""

import re
from collections.abc import Iterator
from typing import Literal

__all__ = [
    "FIELDS",
    "LABEL",
    "OWN_FIELDS",
    "OWN_WORD",
    "TAG",
    "Form",
    "answer_marks",
    "asks_to_judge",
    "asks_to_solve",
    "demanded_forms",
]

Form = Literal["line", "sentence", "field", "boxed", "hashes", "tag", "bare"]

_OWN = r"(?:my[ _]+own|your[ _]+own|my|your|own|judge'?s?|committed|independent|final)"
OWN_WORD = re.compile(rf"\b{_OWN}(?![a-z])", re.IGNORECASE)
"""A word by which a label says that the answer is the judge's own."""

_FOUND = r"(?:computed|calculated|expected|correct|right|true|numeric(?:al)?)"
LABEL = rf"(?:(?:{_OWN}|{_FOUND})[ _]+){{0,3}}(?:answer|result|solution)"
"""The label of an answer; whose it may be else is in `_OTHERS`."""

TAG = r"(?:my_|own_|final_)?(?:answer|solution|result)|final"

OWN_FIELDS = frozenset(
    (
        "my_answer", "own_answer", "my_own_answer", "judge_answer", "committed_answer", "commitment", "my_result",
        "independent_answer", "solved_answer", "your_answer", "own_solution", "my_solution", "judge_solution"
    )
)  # fmt: skip
FIELDS = OWN_FIELDS | {
    "answer", "final_answer", "solution", "result", "final_result", "final_solution", "computed_answer",
    "calculated_answer", "correct_answer", "expected_answer", "numeric_answer", "numerical_answer", "true_answer",
}  # fmt: skip
"""Names of fields that hold an answer; `OWN_FIELDS` say whose."""

_OTHERS = (
    r"(?:student|candidate|proposed|submitted|given|extracted|model|user|assistant|provided|predicted|their|his|her"
    r"|response|reference|gold|ground[ -]truth)"
)
_NAMES = "|".join(sorted(name.replace("_", "[ _-]?") for name in FIELDS))
_DEMANDS: tuple[tuple[Form, re.Pattern[str]], ...] = (
    ("line", re.compile(
        rf"(?P<other>\b{_OTHERS}(?:['\u2019]?s)?[ _]+)?(?:\b{LABEL}\b[`*]*[ \t]*[:=]|#{{1,6}}[ \t]*\**{LABEL}\b)",
        re.IGNORECASE)),
    ("sentence", re.compile(
        r"\banswer is[ \t]*:?[ \t]*[\"'`*]*(?:[<\[{$_\u2026]|\.\.\.|[XNY]\b|(?:answer|number)\b)", re.IGNORECASE)),
    ("field", re.compile(rf"[\"'`](?:{_NAMES})[\"'`]", re.IGNORECASE)),
    ("boxed", re.compile(r"\\+(?:boxed|fbox)\b")),
    ("hashes", re.compile(r"####")),
    ("tag", re.compile(rf"<(?:{TAG})>", re.IGNORECASE)),
)  # fmt: skip
_KEYED = re.compile(r"\b(?:json|yaml|keys?|fields?)\b", re.IGNORECASE)
_YAML = re.compile(r"\byaml\b", re.IGNORECASE)
_NAMED = re.compile(rf"\b(?:{_NAMES})\b", re.IGNORECASE)
_NEXT_WORD = re.compile(r"\s*\S*")
_SOLVE = re.compile(
    r"\b(?:solve|work out|compute|recompute|derive|calculate|determine|answer)\b[^.\n]{0,80}"
    r"\b(?:first|yourself|on your own|independently|before)\b"
    r"|\b(?:first|before)\b,?[^.\n]{0,30}\b(?:solve|work|compute|recompute|derive|calculate|answer)",
    re.IGNORECASE,
)
_JUDGE = re.compile(
    r"\b(?:grad(?:e|ing)|judg(?:e|ing|e?ment)|evaluat\w+|scor(?:e|ing)|rat(?:e|ing)|verdict|accept\w*|assess\w*|rubric"
    r"|criteri\w+|(?:in)?correct(?:ness|ly)?|right|wrong|valid|pass|fail|equivalent|agree|decide|mark)\b",
    re.IGNORECASE,
)


def demanded_forms(prompt: str) -> frozenset[Form]:
    r"""The forms of an answer that a prompt names; the texts of the item must have been taken out of it.

    >>> sorted(demanded_forms("Solve it. Then write 'My answer: ...' and the result in \\boxed{}."))
    ['boxed', 'line']
    >>> demanded_forms("The student's final answer: "), sorted(demanded_forms("Reply as YAML with the key answer."))
    (frozenset(), ['field', 'line'])
    """
    forms: set[Form] = {form for form, _ in _marks(prompt)}
    if _NAMED.search(prompt):
        if _KEYED.search(prompt):
            forms.add("field")
        if _YAML.search(prompt):
            forms.add("line")
    return frozenset(forms)


def answer_marks(text: str) -> tuple[str, ...]:
    r"""Each mark of an answer in a text, with the word behind it: what a prompt that holds the text seems to demand.

    >>> answer_marks("So it is. My answer: 5 or so")
    ('My answer: 5',)
    """
    hits = [hit for _, hit in _marks(text)]
    return tuple(dict.fromkeys(text[hit.start() : _NEXT_WORD.match(text, hit.end()).end()] for hit in hits))  # type: ignore[union-attr]


def asks_to_solve(prompt: str) -> bool:
    """Whether a prompt asks to solve the task before or beside judging.

    >>> asks_to_solve("First solve the problem yourself, then grade."), asks_to_solve("Grade the answer.")
    (True, False)
    """
    return _SOLVE.search(prompt) is not None


def asks_to_judge(prompt: str) -> bool:
    """Whether a prompt asks for a judgement, as far as its words say.

    >>> asks_to_judge("Grade the answer."), asks_to_judge("Work it out. Reply with the number alone.")
    (True, False)
    """
    return _JUDGE.search(prompt) is not None


def _marks(text: str) -> Iterator[tuple[Form, re.Match[str]]]:
    """Every mark of an answer that is not by its label another's."""
    for form, pattern in _DEMANDS:
        for hit in pattern.finditer(text):
            if not hit.groupdict().get("other"):
                yield form, hit
