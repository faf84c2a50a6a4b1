"""What `evenhand diagnose` shows to people: counts, the distribution, judges, periods, and a sentence at the end."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.cli.output import console, hanging, shown
from evenhand.report import numbers
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.analysis.diagnosis import Diagnosis
    from evenhand.analysis.score_drift import Segment, Series
    from evenhand.analysis.score_groups import ScoreGroup
    from evenhand.stats.collapse import Spread
    from evenhand.stats.collapse_verdict import Comparator
    from evenhand.stats.score_levels import ScoreScale

__all__ = ["diagnosis_lines", "print_diagnosis"]

_BAR = 40
_MOST_BARS = 21
_MOST_GROUPS = 12
_MOST_CHANGES = 4
_NAMED = 5
_FEWEST_ROWS = 40


def print_diagnosis(found: "Diagnosis", *, show_all: bool = False) -> None:
    """All of it, on stdout."""
    out = console()
    for line in diagnosis_lines(found, show_all=show_all):
        for part in hanging(line, out.width, 11 if line.startswith("collapsed") else 9):
            out.print(part, overflow="fold", style="bold" if line.startswith("verdict") else None)


def diagnosis_lines(found: "Diagnosis", *, show_all: bool = False) -> Iterator[str]:
    """The lines, in the order in which they should be read."""
    yield shown(found.source, 200)
    yield from _counts(found)
    yield ""
    yield from _histogram(found.group.on_levels, found.scale)
    yield ""
    yield from _figures(found)
    most = None if show_all else _MOST_GROUPS
    if len(found.by_judge) > 1:
        yield ""
        yield from _judge_table(_worst_first(found.by_judge), most)
    if found.by_criterion:
        yield ""
        yield from _table("criterion", found.by_criterion, most)
    if found.by_period:
        yield ""
        yield from _table(found.period_unit or "period", found.by_period, most)
    yield from _drift(found)
    yield ""
    yield from _verdict(found)


# --- counts --------------------------------------------------------------------------------------------------------


def _counts(found: "Diagnosis") -> Iterator[str]:
    """How many rows there are, what became of them, and how they were read."""
    counts = found.group.counts
    n = found.group.spread.n
    parts = [f"failed {count(counts['failed'])}"]
    parts += [f"{name} {count(counts[name])}" for name in ("abstained", "missing", "text", "infinite") if counts[name]]
    off = counts["out_of_scale"]
    yield f"rows     {count(counts['rows'])}: {', '.join(parts)}; scores in the figures below: {count(n)}"
    if counts["suspicious"]:
        fate = "counted (--keep-zeros)" if found.zeros_kept else "left out (--keep-zeros counts them)"
        zeros = counts["suspicious"]
        yield (
            f"zeros    {plural(zeros, 'row has', 'rows have')} nothing but zeros and no error: failures, "
            f"most likely; {fate}"
        )
    if found.lonely_zeros:
        yield (
            f"zeros    {plural(found.lonely_zeros, 'score is', 'scores are')} 0 and hardly any are next to "
            f"it: failures written as 0? "
            "They are counted; a --scale that begins above 0 leaves them out"
        )
    if found.failed_zeros:
        yield f"zeros    failed rows hold {plural(found.failed_zeros, 'score')} written as 0, which are not counted"
    declared = "" if found.scale.declared else " (a guess from the scores; name it with --scale)"
    yield f"scale    {_x(found.scale.low)} to {_x(found.scale.high)}, {plural(found.scale.n_levels, 'level')}{declared}"
    if counts["out_of_scale"]:
        pooled = found.off_scale
        with_them = "" if pooled is None else f" (with them: {_mode(pooled)} of {count(pooled.n)})"
        yield (
            f"off it   {plural(off, 'score is', 'scores are')} not on the scale and not in the figures; "
            f"nothing is rescaled{with_them}"
        )
    yield "columns  " + "; ".join(f"{role} = {_names(names)}" for role, names in found.columns.items())
    if found.unused:
        some = ", ".join(shown(name, 40) for name in found.unused[:8]) + (", ..." if len(found.unused) > 8 else "")
        lacking = [f"--{role}" for role in ("judge", "item", "time", "human") if role not in found.columns]
        way_out = f" (say what they are with {', '.join(lacking)})" if lacking else ""
        yield f"not used {some}{way_out}"
    yield from (f"note     {shown(note, 300)}" for note in (*found.faults, *found.notes))


def _names(names: object) -> str:
    """One column or several."""
    return shown(", ".join(names) if isinstance(names, tuple) else str(names), 120)


# --- the distribution ----------------------------------------------------------------------------------------------


def _histogram(spread: "Spread", scale: "ScoreScale") -> Iterator[str]:
    """A bar a level of the scale, also where nothing is; where there are many, a bar for each of twenty equal bins."""
    counts = dict(zip(spread.levels, spread.counts, strict=True))
    levels = [round(scale.low + place * scale.step, 9) for place in range(min(scale.n_levels, _MOST_BARS + 1))]
    rows = [(_x(level), counts.get(level, 0)) for level in levels]
    if len(rows) > _MOST_BARS or not set(counts) <= set(levels):
        rows = _bins(spread) if len(counts) > _MOST_BARS else [(_x(level), times) for level, times in counts.items()]
    width = max((len(label) for label, _ in rows), default=0)
    top = max((times for _, times in rows), default=1)
    for label, times in rows if spread.n else ():
        bar = "█" * max(1, round(_BAR * times / top)) if times else ""
        yield f"{label:>{width}} │{bar:<{_BAR}} {count(times):>9} {_percent(times / spread.n):>7}"


def _bins(spread: "Spread") -> list[tuple[str, int]]:
    """Twenty equal bins, each with its lower and upper end."""
    low, high, n = spread.levels[0], spread.levels[-1], 20
    width = (high - low) / n
    counts = [0] * n
    for level, times in zip(spread.levels, spread.counts, strict=True):
        counts[min(int((level - low) / width), n - 1)] += times
    return [(f"{_x(low + k * width)}..{_x(low + (k + 1) * width)}", times) for k, times in enumerate(counts)]


def _figures(found: "Diagnosis") -> Iterator[str]:
    """The figures of all scores together."""
    spread, rounded = found.group.spread, found.group.rounded
    if spread.mode_share.value is None or spread.simultaneous is None:
        yield f"mode     undefined: {spread.mode_share.undefined}"
        return
    low, high = spread.simultaneous
    yield f"mode     {_mode(spread)} of {count(spread.n)}; simultaneous {_percent(low)} to {_percent(high)}"
    if rounded is not None:
        yield f"rounded  {_mode(rounded)}: many decimals hide a collapse, so the verdict rests on the rounded scores"
    shown_ = rounded or spread
    yield (
        f"levels   {shown_.levels_used} of {found.scale.n_levels} used, {_x(shown_.effective_levels)} in effect; "
        f"the two commonest hold {_percent(shown_.top_two_share)}"
    )
    if shown_.tied_pairs is not None:
        yield f"ties     {_percent(shown_.tied_pairs)} of pairs are equal; {_ceiling(shown_)}"
    for heap in found.heaping:
        value = heap.share.value or 0.0
        yield (
            f"heaping  {_percent(value)} are multiples of {_x(heap.step)} ({_percent(heap.expected)} of the scale's "
            "numbers are)"
        )
    yield from (f"beside   {_beside(one)}" for one in found.group.comparators)


def _ceiling(spread: "Spread") -> str:
    """What the ties allow at best."""
    if spread.rho_ceiling is None:
        return "no rank correlation is defined"
    return f"at best rho {_x(spread.rho_ceiling, 3)} and tau-b {_x(spread.tau_ceiling, 3)} with untied grades"


def _beside(other: "Comparator") -> str:
    """A comparator with both ratios."""
    judges = f" (median of {other.n_raters})" if other.n_raters > 1 else ""
    return (
        f"{other.who}{judges}, {plural(other.n_items, 'item')}: SD {_times(other.sd_ratio)}, "
        f"effective levels {_times(other.level_ratio)} of these scores'"
    )


def _times(ratio: float) -> str:
    """A ratio, or that there is nothing to divide by."""
    return "infinitely many times" if ratio == float("inf") else f"{_x(ratio)} times"


# --- groups --------------------------------------------------------------------------------------------------------


def _worst_first(groups: "Sequence[ScoreGroup]") -> "list[ScoreGroup]":
    """Collapsed judges before the others, and else the largest mode share first."""
    return sorted(groups, key=lambda group: group.verdict.verdict != "collapsed")


def _judge_table(groups: "Sequence[ScoreGroup]", most: int | None) -> Iterator[str]:
    """A line a judge, 79 characters wide."""
    yield f"{'judge':<22} {_HEAD} {'others':>6} verdict"
    for group in groups[:most]:
        widest = max((other.ratio for other in group.comparators), default=None)
        others = "-" if widest is None else "inf" if widest == float("inf") else f"{_x(widest, 1)}x"
        yield f"{_row(group)} {others:>6} {_VERDICTS[group.verdict.verdict]}"
    yield from _more(groups, most)
    yield "lost: failed, abstained, all-zero rows. levels: in effect, exp(entropy). others:"
    yield "how many times as much others spread on the same items; at 2 a judge that is"
    yield "concentrated has collapsed. verdict: COLLAPSED, no, ? (cannot be told)"


def _table(what: str, groups: "Sequence[ScoreGroup]", most: int | None) -> Iterator[str]:
    """A line a criterion or period."""
    yield f"{what:<22} {_HEAD} {'mean':>6}"
    for group in groups[:most]:
        yield f"{_row(group)} {'-' if group.spread.mean is None else _x(group.spread.mean):>6}"
    yield from _more(groups, most)


_HEAD = f"{'n':>6} {'lost':>5} {'mode':>4} {'share, 95 %':>14} {'levels':>6}"
_VERDICTS = {"collapsed": "COLLAPSED", "not_collapsed": "no", "cannot_tell": "?"}


def _row(group: "ScoreGroup") -> str:
    """A group's figures."""
    spread = group.on_levels
    lost = group.counts["failed"] + group.counts["abstained"] + group.counts["suspicious"]
    name = f"{shown(group.name, 22):<22} {count(spread.n):>6} {count(lost):>5}"
    if spread.mode is None:
        return f"{name} {'-':>4} {'undefined':>14} {'-':>6}"
    share = spread.mode_share
    low, high = (_whole(bound) for bound in (share.low, share.high))
    return f"{name} {_x(spread.mode):>4} {f'{_whole(share.value)} % {low}-{high}':>14} {_x(spread.effective_levels):>6}"


def _whole(share: float | None) -> str:
    """A share in whole percent, for a narrow column; only all is 100."""
    hundred = _x(None if share is None else 100 * share, 0)
    return "99" if hundred == "100" and share != 1 else hundred


def _more(groups: "Sequence[ScoreGroup]", most: int | None) -> Iterator[str]:
    """How many are not shown."""
    if most is not None and len(groups) > most:
        yield f"... and {len(groups) - most} more (--all)"


# --- drift ---------------------------------------------------------------------------------------------------------


def _drift(found: "Diagnosis") -> Iterator[str]:
    """Tests between periods, and where the scores change."""
    yield from _between_periods(found)
    if found.series.sorted_by_score:
        yield "changes  not looked for: the rows are sorted by score and have no times"
        return
    if found.series.n < _FEWEST_ROWS:
        yield f"changes  not looked for: {plural(found.series.n, 'row')} with a score, fewer than {_FEWEST_ROWS}"
    elif not found.series.changes:
        yield f"changes  no row of {count(found.series.n)} after which the scores are distributed otherwise"
    yield from _changes(found.series)
    moved = [name for name, one in found.judge_series.items() if one.changes]
    if moved:
        yield (
            f"         {count(len(moved))} of {plural(len(found.judge_series), 'judge')} "
            f"{'changes' if len(moved) == 1 else 'change'} somewhere{_list(moved)}"
        )
    if found.series.changes or moved:
        yield "         (rows that share items make this too sure; it may be the items that change)"


def _between_periods(found: "Diagnosis") -> Iterator[str]:
    """Tests between periods."""
    drift = found.series.drift
    if drift is None:
        return
    yield ""
    if drift.undefined is not None or drift.chi2_p is None:
        yield f"drift    undefined: {drift.undefined}"
        return
    yield (
        f"drift    {_p(drift.chi2_p)}, chi-square between {plural(drift.n_periods, 'period')}; Cramer's V "
        f"{_x(drift.cramers_v)}"
    )
    seen = "any change" if drift.detectable is None else f"less than {_points(drift.detectable)}"
    yield (
        f"         the commonest score, first to last: {_points(drift.mode_change or 0.0)}; {seen} could go unseen "
        f"in so many rows; 10 points need {count(drift.needed.get('0.1'))} rows in each"
    )
    sure = [n for n, one in found.judge_series.items() if one.p_adjusted is not None and one.p_adjusted < 0.01]
    if len(found.judge_series) > 1:
        yield (
            f"         {count(len(sure))} of {plural(len(found.judge_series), 'judge')} "
            f"{'differs' if len(sure) == 1 else 'differ'} between "
            f"periods (Holm .01){_list(sure)}"
        )


def _points(change: float) -> str:
    """A change of a share in percentage points."""
    return f"{_x(100 * change, 1)} points"


def _changes(series: "Series") -> Iterator[str]:
    """The change points that move most, in order."""
    largest = sorted(series.changes, key=lambda change: -change.point.distance)[:_MOST_CHANGES]
    for place, change in enumerate(series.changes):
        if change not in largest:
            continue
        before, after = series.segments[place], series.segments[place + 1]
        at = "" if change.at is None else f", {change.at}"
        yield (
            f"changes  after row {count(change.after_row)} (line {count(change.after_line)}{at}) "
            f"{_percent(change.point.distance)} of scores move:"
        )
        yield f"         {_side(before)}; then {_side(after)}"
    if len(series.changes) > len(largest):
        yield f"         and {len(series.changes) - len(largest)} smaller changes (--json has all)"


def _side(segment: "Segment") -> str:
    """One side of a change."""
    spread, off = segment.spread, segment.out_of_scale
    lost = f", {count(off)} off the scale" if off else ""
    return (
        f"{_x(spread.mode)} at {_percent(spread.mode_share.value)} of {count(spread.n)}, mean {_x(spread.mean)}{lost}"
    )


def _list(names: Sequence[str]) -> str:
    """A few names."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f": {', '.join(shown(name, 30) for name in names[:_NAMED])}{more}" if names else ""


# --- the end -------------------------------------------------------------------------------------------------------


def _verdict(found: "Diagnosis") -> Iterator[str]:
    """What it comes to, in a sentence or two."""
    if len(found.by_judge) > 1:
        for group in _worst_first(found.by_judge):
            if group.verdict.verdict == "collapsed":
                spread = group.on_levels
                why = "; ".join(group.verdict.reasons)
                yield (
                    f"collapsed  {shown(group.name, 40)}: {_percent(spread.mode_share.value)} of its {count(spread.n)} "
                    f"scores are {_x(spread.mode)}; {why}"
                )
    yield f"verdict  {shown(found.sentence, 2000)}"


# --- numbers -------------------------------------------------------------------------------------------------------


def _mode(spread: "Spread") -> str:
    """The mode with its share and interval."""
    return f"{_x(spread.mode)}: {_share(spread)}"


def _share(spread: "Spread") -> str:
    """The mode's share with its interval."""
    share = spread.mode_share
    return f"{_percent(share.value)} ({_percent(share.low)} to {_percent(share.high)})"


def _percent(share: float | None) -> str:
    """A share, with plain spaces."""
    return numbers.percent_text(share)


def _p(value: float) -> str:
    """A p-value."""
    return "p < .001" if value < 0.001 else f"p = {numbers.number(value, 3).lstrip('0') or '0'}"


def _x(value: float | None, digits: int = 2) -> str:
    """A number."""
    return numbers.number(value, digits)
