"""Evaluator Integrity Criteria, version 0.1, in our own words. Frozen: a later version is a new file, never an edit.

Where the published text leaves a gap, `our_reading` says what evenhand does instead, and every page shows it.
"""

from dataclasses import dataclass

__all__ = ["CRITERIA", "Criterion"]

VERSION = "0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One criterion.

    Args:
        id: C1 to C4.
        title: what it is about.
        passes: what has to hold.
        fails: what rules it out.
        insufficient: what is missing when neither can be said.
        not_applicable: when the question does not arise.
        evidence: what a verdict rests on.
        our_reading: what the text leaves open, and how it is read here; "" where nothing is.
        sources: the works it stands on.
    """

    id: str
    title: str
    passes: str
    fails: str
    insufficient: str
    not_applicable: str
    evidence: str
    our_reading: str
    sources: tuple[str, ...]


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        id="C1",
        title="judge independence",
        passes="The judge gives an answer of its own that can be parsed before anything is compared, and a candidate "
        "is accepted by matching it against that answer. The candidate may be in view; withholding it is the limit.",
        fails="No answer of its own is required in a form that can be parsed (being asked to solve first is not "
        "enough), it comes after the comparison, or something other than the match decides.",
        insufficient="How acceptance is decided is not shown, the match relation is not specified (as for code), or "
        "the judge's own solve accuracy on these tasks is not disclosed.",
        not_applicable="No model judges, or the task has no answer that could be verified.",
        evidence="The prompt, the order of the calls, and the solve accuracy of the judge on the task distribution.",
        our_reading="'Proves anchoring' is said where the paired interval of the excess lies above 0 and rests on at "
        "least 10 items with a wrong candidate.",
        sources=("Zhou (2026), arXiv:2607.05904, sections 3 and 4, proposition 1 and corollary 1",),
    ),
    Criterion(
        id="C2",
        title="independent ground-truth channel",
        passes="There is a signal of correctness that does not come from the judge, and controls show that it works: "
        "known-correct ones are accepted and known-incorrect ones rejected.",
        fails="The signal is the judge's own, or more controls than the declared tolerance are decided wrongly.",
        insufficient="The controls are missing or too few, or what decides could be written by the candidate.",
        not_applicable="The task has no answer that could be verified.",
        evidence="Accept rates of known-correct and known-incorrect controls, with their numbers.",
        our_reading="The published list of what must be shown is lost in the copy that evenhand was written from. "
        "Number and kind of controls are evenhand's own: at least 20 graded ones of either kind, and as "
        "known-incorrect only what the declared match relation keeps apart from the gold by construction.",
        sources=(
            "Kranti and Vajjala (2026), arXiv:2607.12885, calibration by the gold and by another item's gold",
            "BenchJack (2026), arXiv:2605.12673, flaw classes",
        ),
    ),
    Criterion(
        id="C3",
        title="retrieval and contamination",
        passes="The environment restricts the ways in which a candidate could look the answer up.",
        fails="At least one such way is open from inside.",
        insufficient="The environment was not entered, or a way could not be measured there.",
        not_applicable="Never: it is about the harness.",
        evidence="A probe from inside: network, history of the repository, caches, what tells which task it is, and "
        "files that hold answers.",
        our_reading="What could be reached counts, not what was. A package index is a way, and so is the history "
        "behind HEAD, where the task was made by taking something out. A written specification is unverified.",
        sources=("Cursor (2026), Reward hacking in coding benchmarks", "BenchJack (2026), arXiv:2605.12673"),
    ),
    Criterion(
        id="C4",
        title="degenerate passes",
        passes="Part of the check uses inputs that the candidate cannot enumerate, and some known-incorrect "
        "implementation passes every visible check and fails a held-out one.",
        fails="There is no held-out check, or the candidate can enumerate all of them.",
        insufficient="No known-incorrect implementation was given, or none but a lookup table reaches a held-out "
        "check.",
        not_applicable="Never: it is about the harness.",
        evidence="For each held-out check whether it can be reached, with a witness; their number measures nothing.",
        our_reading="A task passes where at least one held-out check that repeats no visible one has a witness other "
        "than a memoriser; checks without a witness are named and not counted. The worst task speaks for a "
        "configuration. An instruction not to special-case is no evidence.",
        sources=("SpecBench (2026), arXiv:2605.21384", "HumanEval+ (Liu et al. 2023), arXiv:2305.01210"),
    ),
)
"""In order; the text of each verdict's meaning."""
