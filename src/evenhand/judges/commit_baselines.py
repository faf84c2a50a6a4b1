"""Two baselines for `commit`: the candidate is in view, the model says whether it is correct, and that decides.

    anchored_verdict    is the candidate's answer correct?
    solve_first         solve the task first, then say whether it is; nothing of the solution has to be parseable

Both let the shown answer anchor the judge. They ship to be measured against `commit`, not to be judged with.
"""

from collections.abc import Mapping

from evenhand.judges.asking import Read, ask
from evenhand.judges.commit_answers import read_verdict
from evenhand.judges.commit_prompts import CandidatePrompt
from evenhand.judges.fit import refuse_unused
from evenhand.judges.protocol import Judging
from evenhand.scoring.labels import ACCEPTED, REJECTED, labelled_criterion
from evenhand.terms import CriterionVerdict, Item, JudgeSpec, Verdict

__all__ = ["AnchoredVerdictJudge", "SolveFirstJudge"]


class AnchoredVerdictJudge:
    """Grades the shown candidate."""

    protocol = "anchored_verdict"
    version = 1

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        refuse_unused(spec)
        criterion = labelled_criterion(spec)
        self._id = criterion.id
        self._prompt = CandidatePrompt(spec, templates, criterion.ask)

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item; its reference is not shown."""
        call = self._prompt.call(item, model=model, rerun=rerun, attempt=first_attempt)
        found = yield from ask(call, read_verdict, self._prompt.repair)
        if not isinstance(found, Read):
            return found
        is_correct, reason = found.value
        verdict = CriterionVerdict(id=self._id, label=ACCEPTED if is_correct else REJECTED, reason=reason)
        return Verdict(criteria=(verdict,), keys=found.keys, usage=found.usage)


class SolveFirstJudge(AnchoredVerdictJudge):
    """Is told to solve first, and is held to nothing."""

    protocol = "solve_first"
