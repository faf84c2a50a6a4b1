"""What a reader must know before any number: counted from the records, most serious first.

A flag has a sentence here or is shown by its name; none is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.report.numbers import interval, percent
from evenhand.report.tallies import GroupTally
from evenhand.stats.intervals import wilson_interval
from evenhand.wording import count, plural

__all__ = ["Caveat", "caveats", "flag_texts", "tells_score"]

FEW = 30
"""Below so many scores a distribution says little."""

_MODE = 0.5

FLAGS = {
    "fail": (True, "a circuit breaker forced the lowest score"),
    "breaker": (True, "a fatal finding tripped a circuit breaker"),
    "capped_from": (True, "a circuit breaker lowered the score"),
    "breaker_minority": (True, "too few members of the panel found something fatal, so that it tripped nothing"),
    "detector_left_out": (True, "the item lacks the source that a detector looks at, so the detector was left out"),
    "criterion_out": (
        True,
        "too little evidence, or a source that it needs is missing: the criterion was taken out, and where there is a "
        "score its weight went to the others",
    ),
    "untested_model": (
        True,
        "the model's rating habits were never probed, so the prompt leans by default; `evenhand probe MODEL` finds out",
    ),
    "same_family": (True, "the judge is of the candidate's own model family, and judges tend to favour their kin"),
    "shared_family": (True, "members of the panel share a model family, so their agreement counts for less"),
    "members_without_verdict": (True, "a member of the panel gave no verdict"),
    "self_check_failed": (True, "the criteria's scores hardly differ: the judge may not tell them apart"),
    "against_sign": (True, "an item moved the score against its own sign, as the published formula allows"),
    "one_sided": (False, "more than twice as many items on one side as on the other"),
    "below_item_floor": (True, "fewer items than the floor: the score leans to the middle of the scale"),
    "impossible_totals": (True, "no items can have these totals"),
    "off_scale": (True, "the formula carried the score beyond its scale"),
    "over_cap": (False, "more items than a cell holds; the weakest were left out"),
    "escalated": (False, "the first judge was unsure, so a second one decided"),
    "repeated": (False, "items that repeat another one word for word were counted once"),
    "duplicates": (False, "items that say the same as another were counted once"),
    "unsupported": (True, "items whose quotation does not support them were dropped"),
    "contradictions": (True, "pairs of items contradict each other: a person should look"),
    "unbacked": (True, "claims that their own source does not back: a person should look"),
    "quotes_not_asked": (False, "no quotation was asked for, so none was checked"),
    "person_must_decide": (True, "a person must decide: the criterion needs a source that the item lacks"),
    "pass_left_out": (True, "the item lacks an optional source, so that pass was left out"),
    "self_review": (True, "the submission brings a score or review of itself, which moved nothing"),
    "repository_cut": (True, "the repository is larger than what was read: files were cut or left out"),
    "features": (False, "the repository was read feature by feature, by an inventory of its features"),
    "files_unread": (True, "files that the inventory put under no feature were not read"),
    "feedback_cut": (False, "the feedback was longer than 800 words and was cut"),
    "feedback_places_unknown": (True, "places that the feedback cites and no finding has"),
    "feedback_failed": (True, "the feedback could not be had; the verdict does not rest on it"),
    "inconsistent_swap": (True, "the two orders of a pair disagree, so that it counts as a tie"),
    "commitments_lost": (True, "commitments of the judge could not be read, and the others decided without them"),
    "candidate_without_answer": (True, "the candidate gives no answer or several, so that it was rejected"),
    "counter_bias": (False, "how far the prompt leans against a model's leniency"),
    "not_asked": (False, "something was reported or left unquoted that was not asked for"),
}
"""Flag to (serious, sentence); what stands behind a colon names the criterion or finding, or is a number of items."""


_VERDICTS = frozenset({"fail", "inconsistent_swap", "candidate_without_answer"})
"""Flags that tell a score or the word of a verdict."""


def tells_score(flag: str) -> bool:
    """Whether a flag must not be shown where scores are hidden."""
    return flag.partition(":")[0] in _VERDICTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Caveat:
    """One sentence; `serious` ones come first."""

    serious: bool
    text: str


def _flag_text(flag: str) -> str:
    """A flag as a sentence, or its bare name where none is known."""
    name, _, more = flag.partition(":")
    known = FLAGS.get(name)
    if known is None:
        return flag
    return f"{known[1]} ({more})" if more else known[1]


def flag_texts(flags: Iterable[str]) -> tuple[str, ...]:
    """One record's flags as sentences; what one flag says of several criteria or findings is said once."""
    named: dict[str, list[str]] = {}
    for flag in flags:
        name, _, more = flag.partition(":")
        named.setdefault(name if name in FLAGS else flag, []).append(more)
    return tuple(
        _flag_text(f"{name}:{', '.join(filter(None, mores))}" if name in FLAGS and any(mores) else name)
        for name, mores in named.items()
    )


def caveats(
    groups: Sequence[GroupTally], more: Sequence[Caveat] = (), *, hide_scores: bool = False
) -> tuple[Caveat, ...]:
    """All that applies, serious ones first; `more` is what was found beyond the groups."""
    several = len(groups) > 1
    made = [caveat for group in groups for caveat in _of_group(group, several, hide_scores)]
    made += [*more, *_flags(groups, hide_scores), *_of_all(groups)]
    return tuple(sorted(made, key=lambda caveat: not caveat.serious))


def _of_group(group: GroupTally, several: bool, hide_scores: bool) -> Iterable[Caveat]:
    sums = group.sums
    who = f"{group.member or 'panel'}: " if several else ""
    if sums.failed:
        causes = ", ".join(f"{code} {count(n)}" for code, n in sorted(sums.causes.items()))
        share = percent(sums.failed / sums.n)
        yield Caveat(
            serious=True,
            text=f"{who}{plural(sums.failed, 'record')} of {count(sums.n)} failed ({share}): {causes}. A failure is "
            "no score; it is in no figure below.",
        )
    if sums.abstained:
        yield Caveat(
            serious=2 * sums.abstained > sums.n,
            text=f"{who}{plural(sums.abstained, 'record')} of {count(sums.n)} abstained, and "
            f"{'has' if sums.abstained == 1 else 'have'} no score.",
        )
    if sums.quotes_offered:
        bounds = interval(wilson_interval(sums.quotes_absent, sums.quotes_offered))
        yield Caveat(
            serious=sums.quotes_absent > 0,
            text=f"{who}{count(sums.quotes_absent)} of {plural(sums.quotes_offered, 'quotation')} "
            f"{'does' if sums.quotes_offered == 1 else 'do'} not stand in the text: "
            f"{percent(sums.quotes_absent / sums.quotes_offered)} fabricated (95 % interval {bounds}).",
        )
    yield from _of_scores(group, who)
    if sums.pairs is not None and not hide_scores:
        yield from _of_places(sums.pairs.places(), who)
    if group.reruns:
        yield Caveat(
            serious=False,
            text=f"{who or 'Judge: '}{plural(group.reruns + 1, 'verdict was', 'verdicts were')} asked for "
            f"each item; intervals count each as one "
            "more, and are too narrow by as much as reruns of one item agree.",
        )


def _of_places(places: tuple[int, int], who: str) -> Iterable[Caveat]:
    """Whether a judge of pairs prefers a place, where the place alone decided."""
    first, n = places[0], sum(places)
    bounds = wilson_interval(first, n)
    if n and not bounds[0] <= 0.5 <= bounds[1]:
        yield Caveat(
            serious=True,
            text=f"{who}where the place alone decided, it was the first in {count(first)} of {plural(n, 'pair')} "
            f"({percent(first / n)}, 95 % interval {interval(bounds)}); one half is no preference.",
        )


def _of_scores(group: GroupTally, who: str) -> Iterable[Caveat]:
    """Whether the scores tell candidates apart."""
    n = group.sums.scores.total()
    top = max(group.sums.scores.values(), default=0)
    if n >= 5 and top / n >= _MODE:
        bounds = interval(wilson_interval(top, n))
        yield Caveat(
            serious=True,
            text=f"{who}{count(top)} of {plural(n, 'score')} {'is' if top == 1 else 'are'} one and the "
            f"same: mode share {percent(top / n)} "
            f"(95 % interval {bounds}). Such a judge hardly tells candidates apart.",
        )


def _of_all(groups: Sequence[GroupTally]) -> Iterable[Caveat]:
    """What is said once for all raters."""
    sizes = sorted(n for group in groups if 0 < (n := group.sums.scores.total()) < FEW)
    if sizes:
        stood = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
        each = " for a rater" if len(groups) > 1 else ""
        yield Caveat(serious=False, text=f"Few scores ({stood}{each}): every share below is uncertain.")
    members = [group for group in groups if group.member is not None] or groups
    unpriced = sum(group.sums.cost_unknown for group in members)
    if unpriced:
        n = sum(group.sums.n for group in members)
        yield Caveat(serious=False, text=f"The price of {count(unpriced)} of {plural(n, 'record')} is unknown.")


def _flags(groups: Sequence[GroupTally], hide_scores: bool) -> Iterable[Caveat]:
    """One sentence a flag, with how many records have it."""
    counts: Counter[str] = Counter()
    n = sum(group.sums.n for group in groups)
    for group in groups:
        for flag, times in group.sums.flags.items():
            name, _, more = flag.partition(":")
            if hide_scores and tells_score(flag):
                continue
            counts[name if name == "capped_from" or more.isdigit() else flag] += times
    by_name: dict[str, dict[str, int]] = {}
    for flag, times in sorted(counts.items()):
        name = flag.partition(":")[0]
        by_name.setdefault(name if name in FLAGS else flag, {})[flag] = times
    for name, found in by_name.items():
        known = FLAGS.get(name)
        yield Caveat(serious=known is None or known[0], text=f"{_counted(found, n)}{'' if known else ' (flag)'}.")


def _counted(found: Mapping[str, int], n: int) -> str:
    """One flag, with how many records have it; where it names several criteria or findings, with how many have each."""
    if len(found) == 1:
        [(flag, times)] = found.items()
        return f"{count(times)} of {plural(n, 'record')}: {_flag_text(flag)}"
    each = ", ".join(f"{flag.partition(':')[2] or 'the whole'} in {count(times)}" for flag, times in found.items())
    name = next(iter(found)).partition(":")[0]
    return f"Of {plural(n, 'record')}: {_flag_text(f'{name}:{each}')}"
