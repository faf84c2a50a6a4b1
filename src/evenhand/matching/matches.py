"""Whether a candidate's answer is the gold answer.

    number       exactly, in one unit, within the declared tolerance; a formula goes to the comparer of formulas
    expression   plain numbers exactly, then notation, then the comparer
    choice       labels of the declared options
    short_text   words without case, articles and punctuation; else a model has to be asked
    set          values in any order, or in the order of a tuple
    code_output  exactly, or number by number within the declared tolerance

Both sides are read in the same way, so a match is symmetric, save in two things: a form that is required (`stated`,
`boxed`) is required of the candidate alone, and the gold alone can say that a refusal is right.
"""

from dataclasses import replace

from evenhand.matching.answers import NoAnswer, Unreadable
from evenhand.matching.cleaning import cleaned
from evenhand.matching.comparing import same_answer
from evenhand.matching.hedging import is_refusal
from evenhand.matching.outputs import same_output
from evenhand.matching.readings import Answer, answer
from evenhand.matching.rules import Expressions, Match, MatchRule

__all__ = ["match", "no_answer_in"]


def match(candidate: str, gold: str, rule: MatchRule, *, expressions: Expressions | None = None) -> Match:
    """Whether the candidate's answer is the gold answer under a rule.

    Args:
        candidate: any text; its answer is read from where the rule says.
        gold: the answer that is right, read in the same way; check it once with `no_answer_in`.
        rule: what counts as the same answer.
        expressions: compares two formulas; None leaves those that need it undecided.
    Returns:
        The verdict with its reason. `no_answer` also where the gold has none (`how` is then `gold`), and for a refusal
        against itself unless the rule says that a refusal can be right. `undecided` for short texts that differ, and
        where the comparer is missing or gave up.
    Never raises on any text, and takes time linear in it, save what `expressions` does.

        >>> match("So it is 1,200 in all.", "$1200", MatchRule(kind="number")).verdict
        'equal'
        >>> match("the answer is 5 or 6", "5", MatchRule(kind="number")).verdict
        'no_answer'
    """
    if rule.kind == "code_output":
        return _outputs(candidate, gold, rule)
    if rule.refusal_is_answer and is_refusal(cleaned(gold)):
        return _refused(candidate, rule)
    given, right = answer(candidate, rule), answer(gold, _of_gold(rule))
    if isinstance(given, NoAnswer):
        return Match(verdict="no_answer", how=f"{rule.kind}: nothing read", reason=f"the candidate {given.reason}")
    if isinstance(right, NoAnswer):
        return Match(verdict="no_answer", how="gold", reason=f"the gold answer {right.reason}")
    if isinstance(given, Unreadable) or isinstance(right, Unreadable):
        return _unreadable(given, right, rule)
    found = same_answer(given, right, rule, expressions)
    return Match(verdict=found.verdict, how=f"{found.how}, read from {given.where}", reason=found.reason)


def no_answer_in(text: str, rule: MatchRule) -> str | None:
    """Half a sentence on why a text, as a gold answer, would equal nothing under a rule; None where it is an answer.

    >>> no_answer_in("5 or 6", MatchRule(kind="number")), no_answer_in("5", MatchRule(kind="number"))
    ("leaves open which answer it gives ('or')", None)
    """
    if rule.kind == "code_output" or (rule.refusal_is_answer and is_refusal(cleaned(text))):
        return None
    found = answer(text, _of_gold(rule))
    return found.reason if isinstance(found, NoAnswer | Unreadable) else None


def _of_gold(rule: MatchRule) -> MatchRule:
    """The gold may stand bare: a form that is required is required of candidates."""
    return replace(rule, read="final") if rule.read in ("stated", "boxed") else rule


def _unreadable(given: Answer | Unreadable, right: Answer | Unreadable, rule: MatchRule) -> Match:
    if isinstance(given, Unreadable) and isinstance(right, Unreadable) and given.same and given.same == right.same:
        return Match(verdict="equal", how=f"{rule.kind}: the same text", reason="the answers are the same text")
    who, one = ("candidate", given) if isinstance(given, Unreadable) else ("gold answer", right)
    assert isinstance(one, Unreadable)
    return Match(verdict="unequal", how=f"{rule.kind}: not readable", reason=f"the {who} {one.reason}")


def _refused(candidate: str, rule: MatchRule) -> Match:
    """Against a gold that is a refusal, and may be one."""
    same = is_refusal(cleaned(candidate))
    return Match(
        verdict="equal" if same else "unequal",
        how=f"{rule.kind}: refusal",
        reason=f"the gold answer is that there is none, and the candidate {'says so' if same else 'gives one'}",
    )


def _outputs(candidate: str, gold: str, rule: MatchRule) -> Match:
    same, reason = same_output(candidate, gold, rule.tolerance)
    if not same and not candidate.strip():
        return Match(verdict="no_answer", how="code_output: exact", reason="the candidate printed nothing")
    how = "code_output: exact" if rule.tolerance is None else "code_output: number by number"
    return Match(verdict="equal" if same else "unequal", how=how, reason=reason)
