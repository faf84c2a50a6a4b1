"""C2: is there a signal of correctness besides the judge, and do controls show that it works.

A control is known-correct, known-incorrect, or a probe: something whose right verdict nobody can derive from the
declared match relation. Probes are reported and decide nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.errors import InvalidInput
from evenhand.integrity.shares import Share
from evenhand.integrity.verdicts import CriterionVerdict, TaskClass, Word
from evenhand.wording import count, plural

__all__ = ["FEWEST_CONTROLS", "ChannelFacts", "ControlResult", "channel_verdict"]

FEWEST_CONTROLS = 20
"""Graded controls of either kind; evenhand's own reading of a list that is lost."""

Expected = Literal["accept", "reject"]
Got = Literal["accepted", "rejected", "not graded"]
Feedback = Literal["held_out", "exposed", "unknown"]

_EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """What the channel said to one control.

    Args:
        item: id of the item.
        control: its kind, such as `gold`, `other_gold` or `empty`.
        expected: what has to come; None for a probe.
        got: what came; `not graded` where the channel crashed, ran out of time or said nothing that can be read.
        why: why `expected` is known, or why it is not.
        detail: what the channel said, or how it failed.
        candidate: the text that was given, for the report.
    """

    item: str
    control: str
    expected: Expected | None
    got: Got
    why: str = ""
    detail: str = ""
    candidate: str = ""

    @property
    def is_wrong(self) -> bool:
        """A known control decided the wrong way."""
        return (self.expected, self.got) in (("accept", "rejected"), ("reject", "accepted"))

    def document(self) -> dict[str, Any]:
        """As the evidence lists it."""
        return {
            "item": self.item, "control": self.control, "expected": self.expected, "got": self.got,
            "why": self.why, "detail": self.detail, "candidate": self.candidate,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFacts:
    """What is known of the channel.

    Args:
        kind: command, python, tests, matcher or records; "" where none is described.
        source: where the evidence comes from, in words.
        independent: whether it is independent of the judge; None where nobody said.
        independence_is_stated: it is the configuration's own word, and not so by construction.
        tolerance: the largest share of controls of either kind that may be decided wrongly.
        feedback: whether the signal was held out from optimisation. Recorded; no verdict depends on it.
        controls: what came of the controls.
        writable: places from which the candidate could decide the outcome; they void the evidence.
        missing: why controls could not be made at all; "" where they could.
        details: further figures, as plain JSON.
    """

    kind: str
    source: str
    independent: bool | None = None
    independence_is_stated: bool = True
    tolerance: float = 0.0
    feedback: Feedback = "unknown"
    controls: Sequence[ControlResult] = ()
    writable: Sequence[str] = ()
    missing: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance < 1.0:
            raise InvalidInput(f"channel: tolerance {self.tolerance:g} is no share; expected 0 or more and below 1")


def channel_verdict(facts: ChannelFacts, task_class: TaskClass) -> CriterionVerdict:
    """The verdict on C2.

    Returns:
        `fail` where the channel is the judge's own or decides controls wrongly beyond the tolerance, however few they
        are; `insufficient evidence` without a channel, with fewer than `FEWEST_CONTROLS` graded controls of either
        kind, or where the candidate could write what decides; else `pass`.
    """
    word, reason = _word(facts, task_class)
    return CriterionVerdict(criterion="C2", verdict=word, reason=reason, evidence=_evidence(facts), source=facts.source)


def _word(facts: ChannelFacts, task_class: TaskClass) -> tuple[Word, str]:
    if task_class == "subjective":
        return "not applicable", "a subjective task has no ground truth"
    if not facts.kind:
        return "insufficient evidence", "no channel is described besides the judge"
    broken = _broken(facts)
    if broken:
        return "fail", broken
    missing = _missing(facts)
    if missing:
        return "insufficient evidence", missing
    correct, incorrect = _share(facts, "accept"), _share(facts, "reject")
    within = (
        f", within the declared tolerance of {facts.tolerance:g}" if any(c.is_wrong for c in facts.controls) else ""
    )
    return "pass", (
        f"{count(correct.successes)} of {plural(correct.n, 'known-correct control')} "
        f"{'was' if correct.successes == 1 else 'were'} accepted and "
        f"{incorrect.n - incorrect.successes} of {incorrect.n} known-incorrect ones rejected{within}"
        f"{_lost(correct.failed, incorrect.failed)}"
    )


def _lost(correct: int, incorrect: int) -> str:
    """What a pass does not rest on."""
    return f"; {correct} and {incorrect} more could not be graded" if correct or incorrect else ""


def _broken(facts: ChannelFacts) -> str:
    if facts.independent is False:
        return "the channel is the judge's own, not independent of it"
    found = []
    correct, incorrect = _share(facts, "accept"), _share(facts, "reject")
    refused, let_in = correct.n - correct.successes, incorrect.successes
    if correct.n and refused / correct.n > facts.tolerance:
        found.append(
            f"{count(refused)} of {plural(correct.n, 'known-correct control')} "
            f"{'was' if refused == 1 else 'were'} rejected "
            f"({_kinds(facts, 'accept')})"
        )
    if incorrect.n and let_in / incorrect.n > facts.tolerance:
        found.append(
            f"{count(let_in)} of {plural(incorrect.n, 'known-incorrect control')} "
            f"{'was' if let_in == 1 else 'were'} accepted "
            f"({_kinds(facts, 'reject')})"
        )
    return f"{' and '.join(found)}, beyond the declared tolerance of {facts.tolerance:g}" if found else ""


def _missing(facts: ChannelFacts) -> str:
    """All that is missing, so that it can be mended at once; "" where nothing is."""
    found = []
    if facts.writable:
        places = f"{', '.join(facts.writable[:3])}{_more(facts.writable, 3)}"
        found.append(f"the candidate could write what decides, which voids the controls: {places}")
    if facts.independent is None:
        found.append("nobody says whether the channel is independent of the judge: independent_of_judge")
    correct, incorrect = _share(facts, "accept"), _share(facts, "reject")
    if min(correct.n, incorrect.n) < FEWEST_CONTROLS:
        why = f"; {facts.missing}" if facts.missing else ""
        found.append(
            f"{correct.n} known-correct and "
            f"{plural(incorrect.n, 'known-incorrect control')} were graded "
            f"({correct.failed} and {incorrect.failed} could not be); at least {FEWEST_CONTROLS} of either are "
            f"needed{why}"
        )
    return "; ".join(found)


def _evidence(facts: ChannelFacts) -> dict[str, Any]:
    correct, incorrect = _share(facts, "accept"), _share(facts, "reject")
    wrong = [control for control in facts.controls if control.is_wrong]
    ungraded = [control for control in facts.controls if control.got == "not graded"]
    ungraded.sort(key=lambda control: control.detail.startswith("not asked"))  # what was heard tells more
    return {
        "kind": facts.kind or None,
        "independent_of_judge": facts.independent,
        "independence": "stated by the configuration" if facts.independence_is_stated else "by construction",
        "tolerance": facts.tolerance,
        "feedback": facts.feedback,
        "fewest_controls": FEWEST_CONTROLS,
        "known_correct_accepted": correct.document(),
        "known_incorrect_accepted": incorrect.document(),
        "by_control": [_by_control(facts, *key) for key in _control_keys(facts.controls)],
        "an_always_pass_channel_would_show": _blind(correct, incorrect, accepts=True),
        "an_always_fail_channel_would_show": _blind(correct, incorrect, accepts=False),
        "wrongly_decided": [control.document() for control in wrong[:_EXAMPLES]],
        "n_wrongly_decided": len(wrong),
        "not_graded": [control.document() for control in ungraded[:_EXAMPLES]],
        "n_not_graded": len(ungraded),
        "writable": list(facts.writable),
        "missing": facts.missing or None,
        **facts.details,
    }


def _share(facts: ChannelFacts, expected: Expected | None, control: str | None = None) -> Share:
    """Share accepted of the controls of one expectation, and of one kind."""
    return _accepted(
        one for one in facts.controls if one.expected == expected and (control is None or one.control == control)
    )


def _accepted(controls: Iterable[ControlResult]) -> Share:
    got = [control.got for control in controls]
    failed = got.count("not graded")
    return Share(successes=got.count("accepted"), n=len(got) - failed, failed=failed)


def _control_keys(controls: Sequence[ControlResult]) -> list[tuple[str, Expected | None]]:
    return list(dict.fromkeys((control.control, control.expected) for control in controls))


def _by_control(facts: ChannelFacts, control: str, expected: Expected | None) -> dict[str, Any]:
    role = {"accept": "known correct", "reject": "known incorrect", None: "probe"}[expected]
    return {"control": control, "role": role, "accepted": _share(facts, expected, control).document()}


def _blind(correct: Share, incorrect: Share, *, accepts: bool) -> dict[str, Any]:
    """What a channel that looks at nothing would have shown on the same controls."""
    return {
        "known_correct_accepted": Share(successes=correct.n if accepts else 0, n=correct.n).document(),
        "known_incorrect_accepted": Share(successes=incorrect.n if accepts else 0, n=incorrect.n).document(),
    }


def _kinds(facts: ChannelFacts, expected: Expected) -> str:
    """Which kinds were decided wrongly, and how often."""
    kinds = [one.control for one in facts.controls if one.expected == expected and one.is_wrong]
    return ", ".join(f"{kind} {kinds.count(kind)}" for kind in dict.fromkeys(kinds))


def _more(found: Sequence[str], shown: int) -> str:
    return f" and {len(found) - shown} more" if len(found) > shown else ""
