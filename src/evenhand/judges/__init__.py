"""Judge protocols, pure: what to ask, and how to read the reply. They open no file and call nobody."""

import difflib
from collections.abc import Mapping

from evenhand.errors import InvalidInput
from evenhand.judges.anchored import AnchoredJudge
from evenhand.judges.checklist import ChecklistJudge
from evenhand.judges.commit import CommitJudge
from evenhand.judges.commit_baselines import AnchoredVerdictJudge, SolveFirstJudge
from evenhand.judges.evidence import EvidenceJudge
from evenhand.judges.evidence_passes import EvidencePipeline
from evenhand.judges.number import NumberJudge
from evenhand.judges.pairwise import PairwiseJudge
from evenhand.judges.protocol import Judge
from evenhand.judges.reference import ReferenceJudge
from evenhand.scoring.pipeline import is_pipeline
from evenhand.terms import JudgeSpec

__all__ = ["PROTOCOLS", "judge_for"]

PROTOCOLS: Mapping[str, type[Judge]] = {
    judge.protocol: judge
    for judge in (
        NumberJudge,
        AnchoredJudge,
        ChecklistJudge,
        EvidenceJudge,
        ReferenceJudge,
        PairwiseJudge,
        CommitJudge,
        AnchoredVerdictJudge,
        SolveFirstJudge,
    )
}
"""Every protocol by its name in judge files."""


def judge_for(spec: JudgeSpec, templates: Mapping[str, str]) -> Judge:
    """The judge of a judge file.

    Args:
        spec: the judge file.
        templates: prompt templates by file name, as they lie in `judges/templates`.
    Raises:
        InvalidInput: the protocol is unknown, or the spec does not fit it.
    """
    judge = PROTOCOLS.get(spec.protocol)
    if judge is None:
        near = difflib.get_close_matches(spec.protocol, PROTOCOLS, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidInput(
            f"judge {spec.name}: the protocol {spec.protocol!r} is unknown; use one of {', '.join(PROTOCOLS)}{meant}"
        )
    if is_pipeline(spec):
        return EvidencePipeline(spec, templates)
    return judge(spec, templates)
