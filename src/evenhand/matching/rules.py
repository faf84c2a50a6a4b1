"""What counts as the same answer, declared once, and what a comparison gave."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from evenhand.errors import InvalidInput

__all__ = [
    "ANSWER_KINDS",
    "AnswerKind",
    "Expressions",
    "Match",
    "MatchRule",
    "MatchVerdict",
    "Percent",
    "Reading",
    "Tolerance",
]

AnswerKind = Literal["number", "expression", "choice", "short_text", "set", "code_output"]
MatchVerdict = Literal["equal", "unequal", "no_answer", "undecided"]
Reading = Literal["final", "stated", "boxed", "whole"]
Percent = Literal["hundredth", "distinct", "points"]

ANSWER_KINDS: tuple[AnswerKind, ...] = ("number", "expression", "choice", "short_text", "set", "code_output")
_TOLERANT = ("number", "expression", "set", "code_output")


class Expressions(Protocol):
    """Compares two formulas in LaTeX, in both orders; `sandbox.math_worker.MathWorker.same` is one."""

    def __call__(self, first: str, second: str, /, *, positive: bool = False) -> bool | None:
        """Whether they are worth the same, with every symbol positive where `positive`; None if it gave up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far two numbers may be apart; within any one of the declared bounds is within the tolerance.

    Every bound is symmetric in the two numbers, and a larger one accepts all that a smaller one does.

    Args:
        absolute: at most this far apart, at least 0.
        relative: at most this share of the larger magnitude apart, from 0 to below 1.
        decimals: at most half a unit of this decimal place apart, as after rounding to it.
        significant: at most half a unit of this significant digit of the larger magnitude apart, at least 1.
    """

    absolute: Fraction | None = None
    relative: Fraction | None = None
    decimals: int | None = None
    significant: int | None = None

    def __post_init__(self) -> None:
        if not self._bounds():
            raise InvalidInput("a tolerance needs one of absolute, relative, decimals, significant")
        if self.absolute is not None and self.absolute < 0:
            raise InvalidInput(f"absolute is {self.absolute}; expected a number of at least 0")
        if self.relative is not None and not 0 <= self.relative < 1:
            raise InvalidInput(f"relative is {self.relative}; expected a number from 0 to below 1")
        if self.decimals is not None and not 0 <= self.decimals <= 100:
            raise InvalidInput(f"decimals is {self.decimals}; expected a whole number from 0 to 100")
        if self.significant is not None and not 1 <= self.significant <= 100:
            raise InvalidInput(f"significant is {self.significant}; expected a whole number from 1 to 100")

    def _bounds(self) -> list[Fraction | int]:
        every = (self.absolute, self.relative, self.decimals, self.significant)
        return [bound for bound in every if bound is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRule:
    r"""What counts as the same answer.

    Args:
        kind: what sort of thing an answer is.
        read: where the answer stands in a text. `final`: the stated answer (`\boxed`, `Answer:`, `####` and the like),
            else the whole text if it is an answer, else the one number, option or formula of its last clause.
            `stated`: a statement is required. `boxed`: a box is required. `whole`: the text is the answer itself.
        tolerance: how far numbers may be apart; None compares exactly. For number, expression, set, code_output.
        choices: the labels that may be chosen, for choice; empty means single letters from A to Z.
        choice_texts: what each label stands for, in the same order; empty where not known.
        percent: `hundredth`: 50% is 0.5 and not 50. `distinct`: 50% equals percentages alone. `points`: 50% is 50.
        decimal_comma: whether `1,5` is one and a half, and `1.500` fifteen hundred.
        repeats: for set, whether the number of times that an element is listed counts.
        positive: for expression, whether every symbol stands for a positive number.
        refusal_is_answer: whether `unknown` and the like are the right answer where the gold says so.
    """

    kind: AnswerKind
    read: Reading = "final"
    tolerance: Tolerance | None = None
    choices: tuple[str, ...] = ()
    choice_texts: tuple[str, ...] = ()
    percent: Percent = "hundredth"
    decimal_comma: bool = False
    repeats: bool = False
    positive: bool = False
    refusal_is_answer: bool = False

    def __post_init__(self) -> None:
        if self.tolerance is not None and self.kind not in _TOLERANT:
            raise InvalidInput(
                f"tolerance does not apply to kind {self.kind}; leave it out, or use {', '.join(_TOLERANT)}"
            )
        if self.choices and self.kind != "choice":
            raise InvalidInput(f"choices do not apply to kind {self.kind}; leave them out, or use kind choice")
        labels = [label.casefold() for label in self.choices]
        if len(set(labels)) < len(labels) or not all(labels):
            raise InvalidInput(f"choices are {', '.join(self.choices)}; expected labels that differ and are not empty")
        if self.choice_texts and len(self.choice_texts) != len(self.choices):
            raise InvalidInput(f"{len(self.choice_texts)} choice texts stand beside {len(self.choices)} choices")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a comparison gave.

    Args:
        verdict: `equal`; `unequal`; `no_answer` (nothing is answered, or more than one thing); `undecided` (a model has
            to be asked whether two short texts are the same answer, or the comparer of expressions is missing or gave
            up).
        how: which comparison decided, and where the candidate's answer was read from: `exact number of the last box`.
        reason: one sentence for a reader.
    """

    verdict: MatchVerdict
    how: str
    reason: str
