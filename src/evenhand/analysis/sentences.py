"""What the figures say, in sentences: the most serious first, each with its n, and no verdict beyond the intervals."""

import math
from collections.abc import Iterator

from evenhand.analysis.validation import Validation
from evenhand.stats.design_effect import Worth
from evenhand.stats.estimates import Estimate
from evenhand.stats.length_bias import WORDING
from evenhand.wording import count, plural

__all__ = ["items_worth", "sentences_of"]

_COLLAPSED = 0.5
_MOST_DEGENERATE = 0.05
_LEAST_RELIABLE = 0.9


def sentences_of(found: Validation) -> tuple[str, ...]:
    """The sentences of a validation."""
    return tuple(
        sentence
        for part in (
            _left_out,
            _validity,
            _ceiling,
            _baselines,
            _collapse,
            _agreement,
            _noise,
            _level,
            _length,
            _checks,
            _rates,
        )
        for sentence in part(found)
    )


def _left_out(found: Validation) -> Iterator[str]:
    """What does not take part."""
    judge, grades = found.graded.judge, found.grades
    lost = judge.n - judge.counts["verdict"]
    if lost:
        kinds = ", ".join(
            f"{judge.counts[kind]} {kind}" for kind in ("abstained", "failed", "missing") if judge.counts[kind]
        )
        yield (
            f"{count(lost)} of {plural(judge.n, 'judgement')} {'has' if lost == 1 else 'have'} no score "
            f"({kinds}); no figure counts them as one."
        )
    if judge.out_of_scale:
        yield f"{plural(len(judge.out_of_scale), 'score is', 'scores are')} out of scale and left out, never averaged."
    if grades.out_of_scale:
        dropped = sum(not given for given in grades.values.values())
        yield (
            f"{count(len(grades.out_of_scale))} of {plural(grades.n_cells, 'grade')} "
            f"{'is' if len(grades.out_of_scale) == 1 else 'are'} out of scale and "
            f"left out, never averaged; an "
            f"item keeps its other grades; without any are {plural(dropped, 'item')}."
        )
    if found.graded.not_judged:
        yield f"{_items(len(found.graded.not_judged), 'graded')} without a score: no part taken."
    if found.graded.not_graded:
        yield f"{_items(len(found.graded.not_graded), 'judged')} without a usable grade: no part taken."


def _validity(found: Validation) -> Iterator[str]:
    """Does the judge order items as the humans do?"""
    rho, least = found.spearman, found.detectable_rho
    could = "" if least is None else f"; {items_worth(rho.n, found.rho_worth)} would have shown a rho of {least:.2f}"
    if rho.value is None:
        yield f"Rank agreement is undefined: {rho.undefined}."
    elif rho.low is None or rho.high is None:
        yield f"Rank agreement is {rho.value:.2f}, without an interval: {rho.no_interval}."
    elif rho.low <= 0.0 <= rho.high:
        yield (
            f"Rank agreement with the humans cannot be told from none: rho {rho.value:.2f} "
            f"[{rho.low:.2f}, {rho.high:.2f}]{could}."
        )
    elif rho.value < 0:
        yield f"The judge orders items against the humans: rho {rho.value:.2f} [{rho.low:.2f}, {rho.high:.2f}]."
    else:
        interval = f"[{rho.low:.2f}, {rho.high:.2f}]"
        yield f"The judge orders items as the humans do to rho {rho.value:.2f} {interval}, n {rho.n}."


def _ceiling(found: Validation) -> Iterator[str]:
    """The judge beside one more human."""
    ceiling, judged, less = found.ceiling.mean, found.ceiling.judge_on_same_targets, found.ceiling.judge_less_human
    if found.n_raters < 2:
        yield "There is no human ceiling: one rater has nobody to agree with."
        return
    if ceiling.value is None:
        yield f"There is no human ceiling: {ceiling.undefined}."
        return
    if judged is None or judged.value is None or less is None:
        return
    if less.low is not None and less.high is not None and less.high < 0:
        yield f"It falls short of one more human: {judged.value:.2f} against {ceiling.value:.2f} on the same targets."
    elif less.low is not None and less.low > 0:
        yield (
            f"It agrees with the humans better than they do with one another ({judged.value:.2f} against "
            f"{ceiling.value:.2f} on the same targets): noisy humans, or a judge that learned their mean."
        )
    elif less.low is not None and less.high is not None:
        half = (less.high - less.low) / 2.0 * 2.8016 / 1.96
        yield (
            f"It cannot be told from one more human ({judged.value:.2f} against {ceiling.value:.2f} on the same "
            f"targets); a difference under about {half:.2f} would not have shown."
        )


def _baselines(found: Validation) -> Iterator[str]:
    """What costs nothing."""
    length = found.length_baseline
    less = length.judge_less_length
    if length.beaten is False and less is not None and length.rho.value is not None and less.value_a is not None:
        could = "" if less.detectable is None else f" ({less.detectable:.2f} would have shown)"
        yield (
            f"It is not shown to beat the length of the text: rho {less.value_a:.2f} against {less.value_b:.2f} for "
            f"length alone{could}."
        )
    alike, majority = found.absolute.agreement, found.absolute.majority
    if alike.value is not None and majority.value is not None and alike.value <= majority.value:
        yield (
            f"It agrees with the humans on {_percent(alike)} of the grades; always answering "
            f"{found.absolute.majority_grade:g} would on {_percent(majority)}."
        )


def _collapse(found: Validation) -> Iterator[str]:
    """Does it give one score?"""
    share, human = found.absolute.mode_share, found.absolute.human_mode_share
    if share.low is not None and share.low > _COLLAPSED and share.value is not None and human.value is not None:
        yield (
            f"{_percent(share)} of its scores are {found.absolute.mode:g} (the humans' commonest grade: "
            f"{_percent(human)}): see `evenhand diagnose`."
        )


def _agreement(found: Validation) -> Iterator[str]:
    """Kappa's paradox, and raters who do not agree."""
    if found.absolute.paradox:
        yield found.absolute.paradox[0].upper() + found.absolute.paradox[1:] + "."
    alpha = found.alpha
    if alpha.value is not None and alpha.value < 0.667:
        yield (
            f"The raters agree too little to build on (alpha {alpha.value:.2f}; Krippendorff asks for 0.667): a low "
            "rho may be theirs."
        )


def _noise(found: Validation) -> Iterator[str]:
    """Rerun noise, never alone."""
    noise = found.noise
    if noise.sd.value is None:
        yield f"Rerun noise is unknown: {noise.sd.undefined}."
        return
    icc = noise.icc.value
    if icc is None:
        return
    buy = "more items buy more than more reruns" if icc >= _LEAST_RELIABLE else "reruns help"
    yield (
        f"One run has a reliability of {icc:.2f} (rerun SD {noise.sd.value:.2f}): {buy}. Validity is another matter."
    )


def _level(found: Validation) -> Iterator[str]:
    """Leniency."""
    level = found.leniency
    if level.value is None or level.low is None or level.high is None:
        return
    if level.low <= 0.0 <= level.high:
        sds = (
            ""
            if found.detectable_shift is None
            else f"; {found.detectable_shift:.2f} SDs would have shown{_of_sources(found)}"
        )
        yield f"No leniency shows: {level.value:+.2f} [{level.low:+.2f}, {level.high:+.2f}] points{sds}."
    else:
        low, high = sorted((abs(level.low), abs(level.high)))
        kind = "kinder" if level.value > 0 else "stricter"
        yield f"It is {kind} than the humans by {abs(level.value):.2f} [{low:.2f}, {high:.2f}] points."


def _of_sources(found: Validation) -> str:
    """On how many independent items that rests, where items share sources."""
    return "" if found.shift_worth is None else f" ({items_worth(found.graded.n, found.shift_worth).rstrip(',')})"


def items_worth(n: int, of_sources: Worth | None) -> str:
    """How many items, and how many independent ones they are worth.

    >>> items_worth(60, None), items_worth(4423, Worth(n=4423, n_clusters=25, effect=27.0, items=163.8))
    ('60 items', '4,423 items from 25 sources, worth 164 independent ones,')
    """
    if of_sources is None:
        return plural(n, "item")
    return (
        f"{plural(n, 'item')} from {plural(of_sources.n_clusters, 'source')}, worth "
        f"{of_sources.items:,.0f} independent ones,"
    )


def _length(found: Validation) -> Iterator[str]:
    """Length bias."""
    bias = found.length.per_doubling
    if bias.value is not None and bias.low is not None and bias.high is not None and not bias.low <= 0.0 <= bias.high:
        more = "gains" if bias.value > 0 else "loses"
        low, high = sorted((abs(bias.low), abs(bias.high)))
        yield (
            f"A text twice as long {more} {abs(bias.value):.2f} [{low:.2f}, {high:.2f}] more with the judge than with "
            f"the humans ({WORDING})."
        )
    if found.brief_but_strong:
        names = ", ".join(miss.item for miss in found.brief_but_strong[:5])
        more = f" and {len(found.brief_but_strong) - 5} more" if len(found.brief_but_strong) > 5 else ""
        yield f"Brief but strong, and missed: {names}{more}."


def _checks(found: Validation) -> Iterator[str]:
    """The check that explains most misses."""
    known = [check for check in found.checks if check.explains.value]
    if known:
        worst = max(known, key=lambda check: check.explains.value or 0.0)
        yield (
            f"The check {worst.check!r} alone explains {_percent(worst.explains)} of the {worst.explains.n} misses "
            "of a level or more."
        )


def _rates(found: Validation) -> Iterator[str]:
    """The corrected pass rate."""
    passing = found.passing
    if passing.found is not None and passing.found.tnr.value is not None and passing.found.tnr.value < 0.5:
        tnr = passing.found.tnr
        yield f"It lets bad ones pass: {passing.found.false_pass} of {tnr.n} that the humans failed."
    rate, naive = passing.corrected, passing.naive
    if rate.value is not None and rate.low is not None and rate.high is not None and naive.value is not None:
        yield (
            f"Of the larger run {100 * rate.value:.1f} % pass [{100 * rate.low:.1f}, {100 * rate.high:.1f}], not the "
            f"{100 * naive.value:.1f} % that the judge passes, if the graded items are a random sample of it."
        )
    if found.graded.clusters is not None and (passing.found is not None or found.settings.unlabelled is not None):
        yield (
            "Intervals of pass rates (TPR, TNR, PPI++, Rogan-Gladen) take items to be independent: --cluster does not "
            "widen them."
        )


def _items(n: int, what: str) -> str:
    return plural(n, f"{what} item")


def _percent(found: Estimate) -> str:
    return f"{math.floor(100 * (found.value or 0.0) + 0.5)} %"  # half up, as tables and figures round
