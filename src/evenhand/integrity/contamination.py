"""C3: by which ways could a candidate look the answer up, from what a probe saw inside the environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.integrity.verdicts import CriterionVerdict, Word, worst
from evenhand.wording import plural

__all__ = ["PATHS", "EnvironmentFacts", "Observation", "contamination_verdict"]

State = Literal["open", "closed", "not measured"]

PATHS: Mapping[str, str] = {
    "network route": "a route out of the machine",
    "dns": "names of other machines are resolved",
    "package index": "a package index answers",
    "history ahead of HEAD": "commits that HEAD does not contain, by branch or remote branch",
    "history behind HEAD": "commits before HEAD",
    "tag": "tags on commits that HEAD does not contain",
    "FETCH_HEAD": "FETCH_HEAD or ORIG_HEAD names a commit that HEAD does not contain",
    "stash": "a stash",
    "reflog": "the reflog names commits that HEAD does not contain",
    "dangling object": "objects that nothing points at",
    "packed object": "packs that hold commits HEAD does not contain",
    "message search": "a message in the history has a number of the task's text in it",
    "package cache": "a package manager's cache, or an installed copy, holds the upstream project",
    "task provenance": "the environment or a path says which task it is",
    "answer-like file": "a file that looks like an answer, or holds one",
}
"""Every way that is looked at, in order, with what an open one means."""

INFORMATION = ("task provenance",)
"""Open ways that are no answer themselves; they count where one could look further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One thing that the probe saw, or could not.

    Args:
        path: the way, a key of `PATHS`.
        state: open, closed, or not measured.
        detail: what was seen, or which tool was missing; foreign text.
    """

    path: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentFacts:
    """What is known of the environment.

    Args:
        source: where it is known from, in words.
        entered: the probe ran inside to its end.
        specified: only a written specification was given.
        observations: what the probe saw.
        failure: why the probe did not come to its end; "" where it did.
        details: further figures, as plain JSON.
        steps: the facts of each step by its name, where candidates work in several; observations are then theirs alone.
    """

    source: str
    entered: bool = False
    specified: bool = False
    observations: Sequence[Observation] = ()
    failure: str = ""
    details: Mapping[str, Any] | None = None
    steps: Mapping[str, "EnvironmentFacts"] = field(default_factory=dict)


def contamination_verdict(facts: EnvironmentFacts) -> CriterionVerdict:
    """The verdict on C3: it is about what could be reached, whatever the task's class.

    Returns:
        `fail` where a way is open, even if others could not be measured; `insufficient evidence` where the environment
        was not entered or a way was not measured; `pass` where every way was measured and is closed. Of several steps
        the worst verdict counts, whose steps are named.
    """
    if facts.steps:
        return _verdict_of_steps(facts)
    states = {path: _state(facts.observations, path) for path in PATHS}
    word, reason = _word(facts, states)
    return CriterionVerdict(
        criterion="C3", verdict=word, reason=reason, evidence=_evidence(facts, states), source=facts.source
    )


def _state(observations: Sequence[Observation], path: str) -> State:
    """Open if it was seen open once; closed if all that was seen of it is closed."""
    seen = {one.state for one in observations if one.path == path}
    if "open" in seen:
        return "open"
    return "closed" if seen == {"closed"} else "not measured"


def _word(facts: EnvironmentFacts, states: Mapping[str, State]) -> tuple[Word, str]:
    ways = [path for path, state in states.items() if state == "open" and path not in INFORMATION]
    if ways:
        return "fail", f"open from inside: {', '.join(ways)}"
    if facts.specified and not facts.entered:
        return "insufficient evidence", "the environment is described in writing only, which nobody verified"
    if not facts.observations:
        return "insufficient evidence", facts.failure or "no environment is described, so that none was entered"
    unknown = [path for path, state in states.items() if state == "not measured"]
    if unknown or facts.failure:
        before = f"{facts.failure}; " if facts.failure else ""
        return "insufficient evidence", f"{before}not measured: {', '.join(unknown) or 'what came after'}"
    told = [path for path, state in states.items() if state == "open"]
    also = f"; {', '.join(told)} is open, with nowhere to look further" if told else ""
    return "pass", f"all {len(states)} ways were looked at from inside, and none leads to an answer{also}"


def _evidence(facts: EnvironmentFacts, states: Mapping[str, State]) -> dict[str, Any]:
    return {
        "entered": facts.entered,
        "verified": facts.entered,
        "paths": {
            path: {
                "state": state,
                "means": PATHS[path],
                "seen": [
                    one.detail for one in facts.observations if (one.path, one.state) == (path, state) and one.detail
                ],
            }
            for path, state in states.items()
        },
        "failure": facts.failure or None,
        **(facts.details or {}),
    }


# --- several steps -------------------------------------------------------------------------------------------------

_STEPS_NAMED = 3
_WEIGHT: Sequence[State] = ("open", "not measured", "closed")


def _verdict_of_steps(facts: EnvironmentFacts) -> CriterionVerdict:
    """The worst of the steps' verdicts; each stands in the evidence."""
    verdicts = {name: contamination_verdict(one) for name, one in facts.steps.items()}
    word = worst(one.verdict for one in verdicts.values())
    reasons = [f"{name}: {one.reason}" for name, one in verdicts.items() if one.verdict == word]
    more = f"; and so in {plural(len(reasons) - _STEPS_NAMED, 'more step')}" if len(reasons) > _STEPS_NAMED else ""
    return CriterionVerdict(
        criterion="C3",
        verdict=word,
        reason="; ".join(reasons[:_STEPS_NAMED]) + more,
        evidence=_evidence_of_steps(facts, verdicts),
        source=facts.source,
    )


def _evidence_of_steps(facts: EnvironmentFacts, verdicts: Mapping[str, CriterionVerdict]) -> dict[str, Any]:
    """The evidence of all steps joined, what was seen with its step's name before it; then that of each."""
    found = {name: one.evidence for name, one in verdicts.items()}
    failures = [f"{name}: {one['failure']}" for name, one in found.items() if one["failure"]]
    entered = all(one["entered"] for one in found.values())
    return {
        "entered": entered,
        "verified": entered,
        "paths": {path: _joined(path, {name: one["paths"][path] for name, one in found.items()}) for path in PATHS},
        "failure": "; ".join(failures) or None,
        **(facts.details or {}),
        "steps": [
            {"step": name, "verdict": one.verdict, "reason": one.reason, **one.evidence}
            for name, one in verdicts.items()
        ],
    }


def _joined(path: str, by_step: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """One way over all steps: open where one is, closed where all are."""
    state = min((one["state"] for one in by_step.values()), key=_WEIGHT.index)
    seen = [f"{name}: {what}" for name, one in by_step.items() if one["state"] == state for what in one["seen"]]
    return {"state": state, "means": PATHS[path], "seen": seen}
