r"""What a judge's prompt template shows and demands, read from its text.

    found = read_template("Question: {question}\nAnswer: {answer}\nGrade it C or I.")
    found.has_candidate, found.commitment           True, ""

A template can show that no answer of the judge's own is demanded. It cannot show how acceptance is decided.
"""

import re
from dataclasses import dataclass
from typing import Literal

from evenhand.errors import InvalidInput

__all__ = ["TemplateReading", "read_template"]

Role = Literal["task", "candidate", "reference"]

_TASK = ("task", "question", "input", "problem", "prompt", "instruction", "instructions", "query", "statement")
_CANDIDATE = (
    "candidate", "answer", "response", "output", "completion", "submission", "prediction", "actual_output", "generated",
    "solution", "student_answer", "assistant_answer", "model_answer", "result",
)  # fmt: skip
_REFERENCE = (
    "reference", "criterion", "target", "gold", "ground_truth", "expected", "expected_output", "expected_answer",
    "reference_answer", "correct_answer", "ideal", "label",
)  # fmt: skip
_ROLES: dict[Role, frozenset[str]] = {
    "task": frozenset((*_TASK, "user_input")),
    "candidate": frozenset(_CANDIDATE),
    "reference": frozenset(_REFERENCE),
}
_PLACEHOLDER = re.compile(
    r"\{\{-?\s*([A-Za-z_][\w.]*)[^{}]*\}\}|(?<!\{)\{([A-Za-z_][\w.]*)(?:![rsa])?(?::[^\s{}]*)?\}(?!\})|\$\{?([A-Za-z_]\w*)\}?|"
    r"<<([A-Za-z_]\w*)>>|\[\[([A-Za-z_]\w*)\]\]"
)
# A form in which the judge's own answer has to stand: a labelled line, a tag, a box, a field.
_OWN = r"(?:my|your|own|your own|my own|final|committed|independent|solved)"
_COMMITMENT = re.compile(
    rf"\b(?:{_OWN}[ _-]+)(?:final[ _-]+)?(?:answer|solution|result)\b[\"'`*]*\s*[:=]"
    rf"|[\"'`]?\b(?:my|own|committed|judge|solved)_(?:answer|solution)\b[\"'`]?"
    r"|\\boxed\b|\\fbox\b"
    r"|<(?:my_|own_|final_)?answer>|####\s*[<\[{]"
    r"|^\s*(?:ANSWER|COMMITMENT|SOLUTION)\s*:\s*(?:[<\[$_…]|\.\.\.|\{(?!\w+\}))",
    re.IGNORECASE | re.MULTILINE,
)
_VERDICT = re.compile(
    r"\b(?:grade|score|verdict|rating|judg(?:e)?ment|decision)\b\s*[\"'`*]*\s*[:=]"
    r"|[\"'`](?:grade|score|verdict|rating|correct|is_correct|accepted|reason)[\"'`]"
    r"|\b(?:correct|right) or (?:incorrect|wrong)\b|\bC or I\b|\byes or no\b|\btrue or false\b"
    r"|\bfrom (?:0|1) to (?:1|5|10|100)\b|\b(?:grade|score|rate) (?:it|the|this)\b",
    re.IGNORECASE,
)
_SOLVE_FIRST = re.compile(
    r"\b(?:solve|work out|compute|recompute|derive|answer)\b[^.\n]{0,60}"
    r"\b(?:first|yourself|on your own|independently)\b"
    r"|\bfirst,?\s+(?:solve|work|compute|derive|answer)\b",
    re.IGNORECASE,
)
# Something that tells the judge where foreign text begins and ends.
_FENCE = re.compile(r"```|~~~|<[A-Za-z_]+>\s*$|\[BEGIN|BEGIN |-{3,}|={3,}|\*{3,}|\"{3}|#{3,}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReading:
    """What was found in a template.

    Attributes:
        placeholders: names, in order.
        has_task: it holds the task.
        has_candidate: it holds the candidate.
        has_reference: it holds a reference.
        commitment: the words that demand an answer of the judge's own in a fixed form; "" where there are none.
        verdict: the words that demand a verdict or a score; "" where there are none.
        commitment_first: the one is demanded before the other; None where either is missing.
        solve_first: the words that ask to solve first; "" where there are none.
        fenced: whether the candidate stands between marks that set it apart; None without a candidate.
    """

    placeholders: tuple[str, ...]
    has_task: bool
    has_candidate: bool
    has_reference: bool
    commitment: str
    verdict: str
    commitment_first: bool | None
    solve_first: str
    fenced: bool | None


def read_template(text: str) -> TemplateReading:
    """Read a template; placeholders are `{name}`, `{{ name }}`, `$name`, `${name}`, `<<name>>` or `[[name]]`.

    Raises:
        InvalidInput: it has neither task nor candidate in it.
    """
    found = [(next(filter(None, hit.groups())), hit.start()) for hit in _PLACEHOLDER.finditer(text)]
    names = tuple(dict.fromkeys(name for name, _ in found))
    places = {role: [at for name, at in found if _role(name) == role] for role in _ROLES}
    if not places["task"] and not places["candidate"]:
        came = ", ".join(names[:12]) or "none"
        raise InvalidInput(
            "the template holds neither the task nor the candidate (placeholders: "
            f"{came}); mark them as {{task}} and {{candidate}}"
        )
    bare = _PLACEHOLDER.sub(lambda hit: " " * len(hit[0]), text)
    commitment, verdict = _COMMITMENT.search(text), _VERDICT.search(bare)
    solve = _SOLVE_FIRST.search(bare)
    both = commitment is not None and verdict is not None
    return TemplateReading(
        placeholders=names,
        has_task=bool(places["task"]),
        has_candidate=bool(places["candidate"]),
        has_reference=bool(places["reference"]),
        commitment=commitment[0].strip() if commitment else "",
        verdict=verdict[0].strip() if verdict else "",
        commitment_first=_first(commitment, verdict) if both else None,
        solve_first=solve[0].strip() if solve else "",
        fenced=_fenced(text, places["candidate"][0]) if places["candidate"] else None,
    )


def _first(commitment: "re.Match[str] | None", verdict: "re.Match[str] | None") -> bool:
    assert commitment is not None
    assert verdict is not None
    return commitment.start() < verdict.start()


def _role(name: str) -> Role | None:
    """The role of a placeholder, by its last part."""
    last = name.rpartition(".")[2].casefold()
    return next((role for role, names in _ROLES.items() if last in names), None)


def _fenced(text: str, at: int) -> bool:
    """Whether the line before, or the start of the line, sets the candidate apart."""
    before = text[max(at - 80, 0) : at].rstrip(" \t")
    return _FENCE.search("\n".join(before.split("\n")[-2:])) is not None
