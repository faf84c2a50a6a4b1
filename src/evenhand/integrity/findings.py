"""The eight flaw classes of agent benchmarks as findings beside the four verdicts, which they never change."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.integrity.channel import ControlResult
from evenhand.integrity.checker_source import dangerous_calls
from evenhand.integrity.templates import TemplateReading
from evenhand.wording import count, plural

__all__ = [
    "FLAWS", "Finding", "Sight", "channel_findings", "code_findings", "sight_findings",
    "step_sights", "template_findings",
]  # fmt: skip

FLAWS: Mapping[str, str] = {
    "V1": "no isolation between the candidate and the evaluator",
    "V2": "answers are shipped with the test",
    "V3": "untrusted input is executed",
    "V4": "a judge reads unmarked foreign text",
    "V5": "weak matching of text",
    "V6": "gaps in the logic of the evaluation",
    "V7": "output of untrusted code is trusted",
    "V8": "permissions that are not needed",
}
"""The classes, as the literature numbers them. Source: BenchJack (2026), arXiv:2605.12673."""

_WEAK = {"superset": "an answer with more in it", "hedged": "an answer that names two", "truncated": "half an answer"}
_GAPS = {"empty": "an empty answer", "refusal": "a refusal", "exception": "an answer that raises an exception"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One flaw that was seen.

    Args:
        flaw: V1 to V8.
        what: one sentence.
        where: where it was seen; foreign text.
        n: how often.
    """

    flaw: str
    what: str
    where: tuple[str, ...] = ()
    n: int = 1

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "flaw": self.flaw, "title": FLAWS[self.flaw], "what": self.what, "where": list(self.where), "n": self.n,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a probe saw that bears on isolation rather than on retrieval.

    Args:
        what: `writable evaluator`, `plantable reward`, `verifier state`, `runs as root`, `network`, `answer`;
            `readable evaluator`, which says nothing before something was verified; `earlier step`, a file of the
            checker or a reward that is readable after a step.
        where: the path or address; foreign text.
    """

    what: str
    where: str = ""


_SIGHTS = {
    "earlier step": ("V1", "in a later step the checker's files or an earlier step's reward can be read, so that "
                     "one can retry until it is right"),
    "writable evaluator": ("V1", "files that the evaluator runs can be written by the candidate"),
    "plantable reward": ("V7", "a file that decides the score can be written by the candidate"),
    "verifier state": ("V7", "state of an earlier verification can be read, which invites trying until it is right"),
    "runs as root": ("V8", "the candidate runs as root"),
    "network": ("V8", "the candidate has a network"),
    "answer": ("V2", "files that look like answers can be read"),
}  # fmt: skip


def sight_findings(sights: Sequence[Sight]) -> list[Finding]:
    """Findings from what a probe saw, one for each kind."""
    found = []
    for what, (flaw, sentence) in _SIGHTS.items():
        where = tuple(dict.fromkeys(sight.where for sight in sights if sight.what == what))
        if where:
            found.append(Finding(flaw=flaw, what=sentence, where=tuple(filter(None, where)), n=len(where)))
    return found


def step_sights(steps: Sequence[tuple[str, Sequence[Sight]]]) -> list[Sight]:
    """What the probes of several steps saw, each place with its step's name before it.

    Before the first step nothing has been verified yet. After it, what a verification left or uses is an earlier
    step's.

    >>> seen = [Sight(what="readable evaluator", where="/check.py")]
    >>> [sight.what for sight in step_sights([("fix", seen), ("review", seen)])]
    ['readable evaluator', 'earlier step']
    """
    return [
        Sight(
            what="earlier step" if number and sight.what in ("verifier state", "readable evaluator") else sight.what,
            where=f"{name}: {sight.where}" if sight.where else name,
        )
        for number, (name, sights) in enumerate(steps)
        for sight in sights
    ]


def channel_findings(controls: Sequence[ControlResult]) -> list[Finding]:
    """Findings from controls and probes that were accepted, and from what could not be graded."""
    found = []
    for flaw, kinds in (("V5", _WEAK), ("V6", _GAPS)):
        for kind, words in kinds.items():
            got = [one for one in controls if one.control == kind and one.got == "accepted"]
            if got:
                n = sum(one.control == kind for one in controls)
                what = f"{words} is accepted on {count(len(got))} of {plural(n, 'item')}"
                found.append(Finding(flaw=flaw, what=what, where=_items(got), n=len(got)))
    for kind, what in _TRUSTED.items():
        taken = [one for one in controls if one.control == kind and one.got == "accepted"]
        if taken:
            found.append(Finding(flaw="V7", what=what, where=_items(taken), n=len(taken)))
    planted = [one for one in controls if one.control == "planted_reward" and one.got == "accepted"]
    if planted:
        what = "a wrong candidate that leaves a reward file behind is accepted"
        found.append(Finding(flaw="V7", what=what, where=_items(planted), n=len(planted)))
    lost = [one for one in controls if one.got == "not graded"]
    if lost:
        what = (
            f"{count(len(lost))} of {plural(len(controls), 'control')} could not be graded; make sure "
            f"that none of them is a score"
        )
        found.append(Finding(flaw="V6", what=what, where=_items(lost), n=len(lost)))
    return found


_TRUSTED = {
    "early_exit": "a program that exits with 0 before it returned anything is accepted",
    "always_equal": "an object that claims to equal everything is accepted",
}
_MOST_WHERE = 8


def _items(controls: Sequence[ControlResult]) -> tuple[str, ...]:
    """The first items of some controls, each once."""
    return tuple(dict.fromkeys(one.item for one in controls))[:_MOST_WHERE]


def template_findings(reading: TemplateReading, name: str) -> list[Finding]:
    """V4 where the candidate stands in the prompt without marks around it."""
    if reading.fenced is not False:
        return []
    what = "the candidate stands in the prompt without marks that set it apart from the instructions"
    return [Finding(flaw="V4", what=what, where=(name,))]


def code_findings(source: str, name: str) -> list[Finding]:
    """V3 for each call in a checker's Python source that executes what it is given; none where it cannot be parsed.

    >>> [found.where for found in code_findings("def f(x): return eval(x)", "check.py")]
    [('check.py line 1: eval',)]
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    where = tuple(f"{name} line {line}: {what}" for line, what in sorted(dangerous_calls(tree)))
    if not where:
        return []
    return [Finding(flaw="V3", what="the checker calls what can execute its input", where=where, n=len(where))]
