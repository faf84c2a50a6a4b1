"""A diagnosis to a page: counts first, the verdict, then distribution, judges, criteria and time."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.report.caveats import Caveat
from evenhand.report.charts import Axis, Part, Scores, axis_of, distribution, drift, level_shares
from evenhand.report.numbers import alike, number, percent, percents
from evenhand.report.trust_pages import Section, Table, TrustContent, file_name
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.analysis.diagnosis import Diagnosis
    from evenhand.analysis.score_groups import ScoreGroup
    from evenhand.report.chart_kit import Figure
    from evenhand.stats.collapse import Spread

__all__ = ["diagnosis_content"]

_VERDICTS = {"collapsed": "COLLAPSED", "not_collapsed": "not collapsed", "cannot_tell": "cannot tell"}


def diagnosis_content(found: "Diagnosis", *, draw: bool = True) -> TrustContent:
    """The page of a diagnosis.

    Args:
        draw: with figures, which need the extra `figures`.
    """
    sections = [_distribution(found, draw=draw)]
    for heading, column, groups in (
        ("Judges", "judge", _worst_first(found.by_judge)),
        ("Criteria", "criterion", found.by_criterion),
    ):
        if len(groups) > 1:
            sections.append(_groups(found, heading, column, groups, draw=draw))
    if found.by_period:
        sections.append(_periods(found, draw=draw))
    if found.series.changes:
        sections.append(_changes(found, draw=draw))
    scale = found.scale
    guess = "" if scale.declared else ", a guess from the scores"
    return TrustContent(
        title="Can these scores be told apart?",
        source=f"{file_name(found.source)}: {plural(found.group.counts['rows'], 'row')}, scale {number(scale.low)} to "
        f"{number(scale.high)} ({plural(scale.n_levels, 'level')}{guess})",
        caveats=tuple(sorted(_caveats(found), key=lambda one: not one.serious)),
        sentences=(found.sentence,),
        sections=tuple(sections),
    )


def _caveats(found: "Diagnosis") -> Iterator[Caveat]:
    """What became of the rows that are in no figure, and what looks wrong."""
    counts = found.group.counts
    for kind, words in (
        ("failed", "failed; a failure is no score and is in no figure"),
        ("suspicious", "have nothing but zeros and no error: failures, most likely"),
        ("out_of_scale", "are off the scale and in no figure; nothing is rescaled"),
        ("text", "hold text instead of a number"),
        ("infinite", "are infinite"),
        ("missing", "hold no score"),
        ("abstained", "abstained"),
    ):
        if counts.get(kind):
            fate = "; they are counted (--keep-zeros)" if kind == "suspicious" and found.zeros_kept else ""
            share = percent(counts[kind] / max(counts["rows"], 1))
            text = f"{count(counts[kind])} of {plural(counts['rows'], 'row')} ({share}) {words}{fate}."
            yield Caveat(serious=kind not in ("missing", "abstained"), text=text)
    if found.lonely_zeros:
        yield Caveat(serious=True, text=f"{plural(found.lonely_zeros, 'score')} of 0 stand apart from all others: "
                     "failures written as 0? They are counted.")  # fmt: skip
    for group in found.by_judge:
        if group.verdict.verdict == "collapsed" and len(found.by_judge) > 1:
            spread = group.on_levels
            yield Caveat(serious=True, text=f"{group.name} has collapsed: {percent(spread.mode_share.value)} of its "
                         f"{plural(spread.n, 'score')} are {number(spread.mode)}.")  # fmt: skip
    yield from (Caveat(serious=True, text=fault) for fault in found.faults)
    yield from (Caveat(serious=False, text=note) for note in found.notes)


def _scores(group: "ScoreGroup") -> Scores:
    return Scores(label=group.name, levels=group.on_levels.levels, counts=group.on_levels.counts)


def _axis(found: "Diagnosis", *sets: Scores) -> Axis:
    return axis_of(found.scale.low, found.scale.high, found.scale.step, *sets)


def _distribution(found: "Diagnosis", *, draw: bool) -> Section:
    scores = _scores(found.group)
    spread = found.group.on_levels
    notes = [_spread_words(spread)]
    if found.group.rounded is not None:
        notes.append("Scores have decimals; they are drawn rounded to the scale's levels.")
    figures: tuple[Figure, ...] = ()
    if draw:
        axis = _axis(found, scores)
        figures = (distribution("distribution", "Distribution of all scores", [scores], axis, notes),)
    return Section(heading="Distribution", figures=figures, tables=(_figures(found),))


def _spread_words(spread: "Spread") -> str:
    share = spread.mode_share
    if spread.mode is None or share.low is None:
        return f"undefined: {share.undefined}"
    return (
        f"Mode {number(spread.mode)}: {percent(share.value)} of {count(spread.n)}, 95 % interval "
        f"{_ends(share.low, share.high)}; {number(spread.effective_levels)} effective levels"
    )


def _figures(found: "Diagnosis") -> Table:
    """All figures of all scores."""
    spread = found.group.on_levels
    share = spread.mode_share
    wide = spread.simultaneous
    rows = [
        ("mode", number(spread.mode), "", ""),
        ("mode share", percent(share.value), _ends(share.low, share.high), share.undefined or "Wilson"),
        ("", "", "" if wide is None else _ends(*wide), "Goodman, as the mode was picked from the data"),
        ("two commonest", percent(spread.top_two_share), "", ""),
        ("levels used", f"{spread.levels_used} of {found.scale.n_levels}", "", ""),
        ("effective levels", number(spread.effective_levels), "", "exp of the entropy"),
        ("equal pairs", percent(spread.tied_pairs), "", ""),
        ("largest possible rho", number(spread.rho_ceiling, 3), "", "with untied grades"),
        ("mean, SD", f"{number(spread.mean)}, {number(spread.sd)}", "", ""),
    ]
    rows += [
        (f"multiples of {number(heap.step)}", percent(heap.share.value), _ends(heap.share.low, heap.share.high),
         f"{percent(heap.expected)} of the scale's numbers are")
        for heap in found.heaping
    ]  # fmt: skip
    for other in found.group.comparators:
        rows.append(
            (f"SD of {other.who}", _times(other.sd_ratio), "", f"of these scores', on {plural(other.n_items, 'item')}")
        )
        rows.append(("their effective levels", _times(other.level_ratio), "", "of these scores'"))
    return Table(head=("", "#value", "#95 % interval", ""), rows=tuple(rows), note=f"n {plural(spread.n, 'score')}")


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else " to ".join(percents((low, high)))


def _times(ratio: float) -> str:
    return "infinite" if ratio == float("inf") else f"{number(ratio)} times"


def _worst_first(groups: "Sequence[ScoreGroup]") -> "list[ScoreGroup]":
    return sorted(groups, key=lambda group: group.verdict.verdict != "collapsed")


def _groups(found: "Diagnosis", heading: str, column: str, groups: "Sequence[ScoreGroup]", *, draw: bool) -> Section:
    figures: tuple[Figure, ...] = ()
    if draw:
        sets = [_scores(group) for group in groups]
        notes = ["Collapsed ones first, then by mode share."] if column == "judge" else []
        axis = _axis(found, *sets)
        figures = (level_shares(f"levels-by-{column}", f"Which levels each {column} uses", sets, axis, notes),)
    return Section(heading=heading, figures=figures, tables=(_group_table(column, groups),))


def _group_table(column: str, groups: "Sequence[ScoreGroup]") -> Table:
    rows = []
    for group in groups:
        spread = group.on_levels
        lost = group.counts["failed"] + group.counts["suspicious"]
        share = spread.mode_share
        mode = "" if spread.mode is None else number(spread.mode)
        ends = _ends(share.low, share.high)
        said = _VERDICTS[group.verdict.verdict]
        size = (count(spread.n), count(lost), mode, percent(share.value), ends, number(spread.effective_levels))
        rows.append((group.name, said, *size))
    head = (column, "verdict", "#n", "#failed", "#mode", "#share", "#95 % interval", "#levels")
    return Table(head=head, rows=tuple(rows), note="failed: failed rows and all-zero rows; levels: effective ones")


def _periods(found: "Diagnosis", *, draw: bool) -> Section:
    unit = found.period_unit or "period"
    figures: tuple[Figure, ...] = ()
    if draw:
        parts = [_part(group.name, group.on_levels) for group in found.by_period]
        axis = _axis(found, *(part.scores for part in parts))
        what = "equal parts of the rows" if unit == "rows" else unit
        notes = [
            _drift_words(found),
            f"n {plural(sum(part.scores.n for part in parts), 'score')} in {plural(len(parts), 'period')}",
        ]
        figures = (drift("drift", f"Scores by {what}", parts, axis, notes),)
    return Section(heading="Over time", figures=figures, tables=(_group_table(unit, found.by_period),))


def _part(label: str, spread: "Spread") -> Part:
    scores = Scores(label=label, levels=spread.levels, counts=spread.counts)
    return Part(scores=scores, mean=spread.mean, sd=spread.sd)


def _drift_words(found: "Diagnosis") -> str:
    """Whether the periods differ."""
    test = found.series.drift
    if test is None:
        return ""
    if test.undefined is not None or test.chi2_p is None:
        return f"Drift undefined: {test.undefined}"
    p = "p < .001" if test.chi2_p < 0.001 else f"p = {number(test.chi2_p, 3)}"
    seen = "first and last period could show no change of the mode's share"
    if test.detectable is not None:
        seen = f"smallest change of the mode's share that first and last could show: {percent(test.detectable)}"
    return f"Chi-square between periods: {p}, Cramer's V {number(test.cramers_v)}; {seen}"


def _changes(found: "Diagnosis", *, draw: bool) -> Section:
    """Where the scores change."""
    rows = []
    for place, change in enumerate(found.series.changes):
        before, after = found.series.segments[place], found.series.segments[place + 1]
        rows.append(
            (count(change.after_row), count(change.after_line), change.at or "", percent(change.point.distance),
             " to ".join(alike((change.point.mean_before, change.point.mean_after))),
             f"{number(before.spread.mode)} to {number(after.spread.mode)}")
        )  # fmt: skip
    figures: tuple[Figure, ...] = ()
    if draw:
        parts = [_part(str(place), segment.spread) for place, segment in enumerate(found.series.segments, start=1)]
        axis = _axis(found, *(part.scores for part in parts))
        notes = [f"n {count(found.series.n)} scores, {plural(len(rows), 'change point')} (p < .01 after Bonferroni)"]
        figures = (drift("changes", "Where the scores change", parts, axis, notes, proportional=True, when="scores"),)
    head = ("#after row", "#line", "at", "#scores that move", "mean", "mode")
    note = "Rows that share items or sources make this too sure; the items may have changed, not the judge."
    return Section(heading="Changes", figures=figures, tables=(Table(head=head, rows=tuple(rows), note=note),))
