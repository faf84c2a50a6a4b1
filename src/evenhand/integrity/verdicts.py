"""What an audit says on one criterion, and what several verdicts come to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.errors import InvalidInput

__all__ = ["CriterionVerdict", "Population", "TaskClass", "Word", "exit_code", "population", "worst"]

Word = Literal["pass", "fail", "insufficient evidence", "not applicable"]
TaskClass = Literal["mathematics", "code", "factual", "subjective"]
Population = Literal["verifiable", "subjective"]

CRITERION_IDS = ("C1", "C2", "C3", "C4")
_ORDER: tuple[Word, ...] = ("fail", "insufficient evidence", "pass", "not applicable")


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionVerdict:
    """The verdict on one criterion.

    Args:
        criterion: C1 to C4.
        verdict: one of the four words.
        reason: one sentence.
        evidence: the figures it rests on, as plain JSON; the criterion's own keys are always there.
        source: where the evidence comes from, and whether it was measured or only stated.
    """

    criterion: str
    verdict: Word
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    source: str

    def document(self) -> dict[str, Any]:
        """The verdict as `--json` prints it."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": dict(self.evidence),
            "source": self.source,
        }


def population(task_class: TaskClass) -> Population:
    """Which population a configuration is reported in; the criteria are about tasks with an answer to verify.

    >>> population("code"), population("subjective")
    ('verifiable', 'subjective')
    """
    return "subjective" if task_class == "subjective" else "verifiable"


def worst(words: Iterable[Word]) -> Word:
    """The word that weighs most: fail, then insufficient evidence, then pass; without any, not applicable.

    >>> worst(["pass", "insufficient evidence"])
    'insufficient evidence'
    """
    return min(words, key=_ORDER.index, default="not applicable")


def exit_code(verdicts: Mapping[str, Word], required: Sequence[str] = CRITERION_IDS) -> int:
    """1 if a required criterion fails, else 3 if evidence for one is insufficient, else 0.

    Args:
        verdicts: criterion to word.
        required: the criteria that decide.
    Raises:
        InvalidInput: a required criterion that is none of the four.

    >>> exit_code({"C1": "insufficient evidence", "C3": "fail"}), exit_code({"C1": "pass", "C3": "fail"}, ["C1"])
    (1, 0)
    """
    for name in required:
        if name not in CRITERION_IDS:
            raise InvalidInput(f"--require {name!r}: no such criterion; use {', '.join(CRITERION_IDS)}")
    found = {verdicts[name] for name in required if name in verdicts}
    return 1 if "fail" in found else 3 if "insufficient evidence" in found else 0
