"""What was seen of a judge, however it was seen."""

from dataclasses import dataclass

from evenhand.integrity.findings import Finding
from evenhand.integrity.judge_independence import JudgeFacts
from evenhand.integrity.solving import Judged

__all__ = ["JudgeSeen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSeen:
    """What was seen of a judge.

    Attributes:
        facts: how it comes to accept.
        judged: one entry an item, for the figures.
        findings: beside the verdict.
    """

    facts: JudgeFacts
    judged: tuple[Judged, ...] = ()
    findings: tuple[Finding, ...] = ()
