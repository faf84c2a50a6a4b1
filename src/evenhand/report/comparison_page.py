"""A comparison, and a study of several judges, to a page: the ranking that intervals allow, then differences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.report.acceptance_tables import acceptance_section
from evenhand.report.caveats import Caveat
from evenhand.report.chart_kit import NO_FIGURES
from evenhand.report.chart_rows import DifferenceRow, Panel, Row, agreement, paired_differences, study_table
from evenhand.report.charts import axis_for, distribution
from evenhand.report.numbers import UNKNOWN, cost, number, percent
from evenhand.report.trust_pages import Section, Table, TrustContent, estimate_cells, file_name
from evenhand.report.validation_page import agreement_rows, score_table, scores_of
from evenhand.stats.estimates import Estimate
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.analysis.acceptance import Acceptance
    from evenhand.analysis.comparison import Comparison
    from evenhand.analysis.judge_pairs import Pair
    from evenhand.analysis.validation import Validation
    from evenhand.report.chart_kit import Figure

__all__ = ["comparison_content", "study_content"]

_MOST_MOVED = 60


def comparison_content(
    found: "Comparison", *, grades: str | None = None, plans: Sequence[Mapping[str, Any]] = (), draw: bool = True
) -> TrustContent:
    """The page of a comparison.

    Args:
        grades: what the judges are held against; None where means are compared.
        plans: documents of `--plan`.
        draw: with figures, which need the extra `figures`.
    """
    names = [one.name for one in found.judges]
    over = "items" if found.bootstrap.clusters is None else plural(len(set(found.bootstrap.clusters)), "cluster")
    return TrustContent(
        title=f"Which of {plural(len(names), 'judge')} is better?",
        source=f"{'mean scores alone' if grades is None else f'against {file_name(grades)}'}; "
        f"{plural(found.n_items, 'item')}, "
        f"{count(found.n_shared)} with a score by every judge. Intervals: {count(found.bootstrap.n_resamples)} "
        f"resamples over {over}, seed {found.bootstrap.seed}. "
        f"Scales: {'; '.join(dict.fromkeys(one.sentence for one in found.scales))}",
        caveats=tuple(_caveats(found)),
        sentences=_sentences(found),
        sections=tuple(_sections(found, plans, draw=draw)),
    )


def study_content(
    validations: "Sequence[Validation]",
    comparison: "Comparison | None",
    accepted: "Sequence[Acceptance]" = (),
    *,
    draw: bool = True,
) -> TrustContent:
    """The page of a study: all variants in one table and one figure, then how they differ.

    Args:
        validations: one a variant, in the order of the study.
        comparison: of them; None with one variant.
        accepted: what variants accept that accept or reject, where the truth is known.
    """
    grades = validations[0].grades
    names = [one.graded.judge.name for one in validations]
    sections = [_study(validations, names, draw=draw)]
    if draw:
        sections.append(_before_after(validations))
    accepting = acceptance_section(accepted)
    sections += [] if accepting is None else [accepting]
    ceiling = []
    if draw:
        rows, notes = agreement_rows(validations, [])
        ceiling = [agreement("agreement", "Agreement with the human ceiling", rows, notes, what="Spearman rho")]
    sections.append(Section(heading="Human ceiling", figures=tuple(ceiling), tables=(_ceiling_table(validations),)))
    caveats: list[Caveat] = [*_lost(validations)]
    if not draw:
        caveats.append(Caveat(serious=False, text=f"This page has tables alone: {NO_FIGURES}."))
    sentences: tuple[str, ...] = ()
    if comparison is not None:
        sections += _sections(comparison, (), draw=draw)[1:]
        caveats += _caveats(comparison)
        sentences = _sentences(comparison)
    return TrustContent(
        title=f"{plural(len(names), 'variant')} on one graded set",
        source=f"against {file_name(grades.name)}: {grades.reading}",
        caveats=tuple(dict.fromkeys(caveats)),
        sentences=sentences or (f"One variant: rho {number(validations[0].spearman.value)}.",),
        sections=tuple(sections),
    )


def _lost(validations: "Sequence[Validation]") -> Iterator[Caveat]:
    for one in validations:
        judge = one.graded.judge
        lost = judge.n - judge.counts["verdict"]
        if lost:
            kinds = f"failed {judge.counts['failed']}, abstained {judge.counts['abstained']}"
            text = (
                f"{judge.name}: {count(lost)} of {plural(judge.n, 'judgement')} "
                f"{'has' if lost == 1 else 'have'} no score ({kinds})."
            )
            yield Caveat(serious=True, text=text)


def _caveats(found: "Comparison") -> Iterator[Caveat]:
    for one in found.judges:
        if one.n_lost:
            case = ""
            if one.worst is not None and one.best is not None:
                case = f"; its mean is {number(one.worst)} with all at the lowest, {number(one.best)} at the highest"
            items = plural(found.n_items, "item")
            yield Caveat(serious=True, text=f"{one.name}: {count(one.n_lost)} of {items} have no score{case}.")
        if found.n_raters and one.rho.value is None:
            yield Caveat(serious=True, text=f"{one.name}: rho is undefined: {one.rho.undefined}.")


def _sentences(found: "Comparison") -> tuple[str, ...]:
    if found.ranking is not None:
        return (f"The intervals allow a ranking: {' > '.join(found.ranking)}.",)
    apart = "; ".join(f"{better} beats {worse}" for better, worse in found.told_apart[:8])
    told = f"Told apart: {apart}." if apart else "No two judges are told apart."
    return (f"No plain ranking: {found.why_no_ranking}.", told)


def _sections(found: "Comparison", plans: Sequence[Mapping[str, Any]], *, draw: bool) -> list[Section]:
    spearman = found.pairs[0].figure == "spearman" if found.pairs else bool(found.n_raters)
    sections = [_judges(found, draw=draw, spearman=spearman), _differences(found, draw=draw, spearman=spearman)]
    moved = _moved(found)
    if moved.rows:
        sections.append(Section(heading="Items that moved", tables=(moved,)))
    if plans:
        sections.append(Section(heading="Plan", tables=tuple(_plan(one) for one in plans[:12])))
    return sections


def _judges(found: "Comparison", *, draw: bool, spearman: bool) -> Section:
    rows = []
    for one in found.judges:
        value, interval, n, why = estimate_cells(one.rho)
        lost = sum(times for kind, times in one.counts.items() if kind != "verdict")
        rows.append((one.name, count(one.counts["verdict"]), count(lost), value if spearman else "",
                     interval if spearman else "", n if spearman else "", number(one.mean.value),
                     cost(one.cost_per_1000), why if spearman else ""))  # fmt: skip
    head = ("judge", "#verdicts", "#lost", "#rho", "#95 % interval", "#n", "#mean", "#per 1,000", "")
    drawn: list[Figure] = []
    if draw and spearman:
        judged = [Row(label=one.name, found=one.rho) for one in found.judges]
        sizes = list(dict.fromkeys((found.n_shared, found.n_items)))
        n = " to ".join([*map(count, sizes[:-1]), plural(sizes[-1], "item")])
        notes = [f"n {n}; overlapping intervals say nothing about a pair"]
        drawn = [agreement("judges", "Each judge with the humans", judged, notes, what="Spearman rho with the humans")]
    return Section(heading="Judges", figures=tuple(drawn), tables=(Table(head=head, rows=tuple(rows)),))


def _differences(found: "Comparison", *, draw: bool, spearman: bool) -> Section:
    what = "difference of rho" if spearman else "difference of means"
    rows = tuple(_pair_row(pair) for pair in found.pairs)
    head = ("first", "second", "#difference", "#interval, all at once", "#n", "#detectable", "")
    drawn: list[Figure] = []
    if draw:
        sizes = sorted({pair.difference.difference.n for pair in found.pairs})
        n = f"n {count(sizes[0])} to {count(sizes[-1])}" if len(sizes) > 1 else f"n {count(sizes[0]) if sizes else 0}"
        differences = [
            DifferenceRow(label=f"{pair.a} − {pair.b}", found=pair.difference.difference, low=pair.difference.low,
                          high=pair.difference.high, detectable=pair.difference.detectable)
            for pair in found.pairs
        ]  # fmt: skip
        drawn = [paired_differences("differences", f"Differences between judges: {what[14:]}", differences,
                                    [f"{n} items that both judged"], what=f"{what}, first less second")]  # fmt: skip
    return Section(heading="Differences", figures=tuple(drawn), tables=(Table(head=head, rows=rows),), wide=True)


def _pair_row(pair: "Pair") -> tuple[str, ...]:
    one = pair.difference
    value = one.difference.value
    within = "" if one.low is None or one.high is None else f"{one.low:+.3f} to {one.high:+.3f}"
    return (
        pair.a, pair.b, "undefined" if value is None else f"{value:+.3f}", within, count(one.difference.n),
        "" if one.detectable is None else number(one.detectable, 3), "; ".join(pair.remarks),
    )  # fmt: skip


def _moved(found: "Comparison") -> Table:
    rows = [
        (one.item, pair.a, number(one.a), pair.b, number(one.b), "" if one.human is None else number(one.human),
         one.nearer or "")
        for pair in found.pairs
        for one in pair.moved
    ]  # fmt: skip
    left = len(rows) - _MOST_MOVED
    return Table(
        head=("item", "first", "#score", "second", "#score", "#humans", "nearer"),
        rows=tuple(rows[:_MOST_MOVED]),
        note=f"The first {_MOST_MOVED} of {count(len(rows))}: --json has all." if left > 0 else "",
    )


def _plan(one: Mapping[str, Any]) -> Table:
    names = ("items",) if one.get("n_sources") is None else ("items", "sources")
    rows = tuple(
        (str(row["raters"]), str(row["reruns"]), *("unknown" if row[k] is None else count(row[k]) for k in names))
        for row in one.get("rows", ())
    )
    name = f"To find a difference of {number(one['wanted'])} between {one['a']} and {one['b']} in four of five studies"
    unknown = "; ".join(one.get("unknown", ()))
    notes = [str(one.get("undefined") or ""), f"Unknown: {unknown}." if unknown else ""]
    if one.get("n_sources") is not None:
        notes.append(
            f"The pilot's items come from {plural(one['n_sources'], 'source')}: sources must grow with the items, and "
            "with fewer than some twenty no interval holds."
        )
    head = ("#raters", "#reruns", *(f"#{k}" for k in names))
    return Table(head=head, rows=rows, name=name, note=" ".join(note for note in notes if note))


def _study(validations: "Sequence[Validation]", names: Sequence[str], *, draw: bool) -> Section:
    """All variants in one table and one figure."""
    ceiling = validations[0].ceiling.mean
    drawn: list[Figure] = []
    if draw:
        panels = [
            Panel(title="rho", values=[one.spearman for one in validations]),
            Panel(title="mode share", values=[one.absolute.mode_share for one in validations], percent=True),
            Panel(title="rerun SD", values=[one.noise.sd for one in validations]),
            Panel(title="$ per 1,000", values=[_price(one) for one in validations], without=UNKNOWN),
        ]
        notes = [f"n {_sizes(validations)} items; rho: with the mean of all humans.",
                 _stated_ceiling(ceiling)]  # fmt: skip
        drawn = [study_table("study", "The study in one figure", names, panels, notes)]
    rows = []
    for one in validations:
        value, interval, n, why = estimate_cells(one.spearman)
        share, within, _, _ = estimate_cells(one.absolute.mode_share, share=True)
        rows.append((one.graded.judge.name, n, value, interval, share, within, number(one.noise.sd.value),
                     number(one.leniency.value), cost(_price(one).value), why))  # fmt: skip
    head = ("variant", "#n", "#rho", "#95 % interval", "#mode share", "#95 % interval", "#rerun SD", "#leniency",
            "#cost of 1,000 items", "")  # fmt: skip
    return Section(heading="The study", figures=tuple(drawn), tables=(Table(head=head, rows=tuple(rows)),), wide=True)


def _stated_ceiling(ceiling: Estimate) -> str:
    """What one human reaches, or why that is not known."""
    from evenhand.report.chart_kit import stated

    return stated("Human ceiling (leave-one-out)", ceiling) + "."


def _sizes(validations: "Sequence[Validation]") -> str:
    sizes = sorted({one.graded.n for one in validations})
    return count(sizes[0]) + (f" to {count(sizes[-1])}" if len(sizes) > 1 else "")


def _price(one: "Validation") -> Estimate:
    """Dollars for 1,000 items with all their reruns."""
    judge = one.graded.judge
    if judge.cost_per_1000 is None:
        return Estimate.of_nothing("the price is not known", n=judge.n, unit="judgements")
    return Estimate(value=judge.cost_per_1000 * one.graded.scores.shape[1], n=judge.n, unit="judgements",
                    no_interval="a price is counted, not estimated")  # fmt: skip


def _before_after(validations: "Sequence[Validation]") -> Section:
    """The first variant's scores beside those of the variant with the highest rho."""
    best = max(validations, key=lambda one: -2.0 if one.spearman.value is None else one.spearman.value)
    first = validations[0]
    chosen = [first] if best is first else [first, best]
    if best is first and len(validations) > 1:
        chosen.append(validations[-1])
    sets = [scores_of(one) for one in chosen]
    repeated = max(one.graded.scores.shape[1] for one in chosen) > 1
    scales = [one.graded.judge.scale or one.graded.scales.judge for one in chosen]
    known = [scale for scale in scales if scale is not None]
    scale = (min(one[0] for one in known), max(one[1] for one in known)) if known else None
    notes = [
        "; ".join(f"{one.graded.judge.name}: mode share {percent(one.absolute.mode_share.value)}" for one in chosen)
    ]
    figure = distribution(
        "before-after", "Distribution before and after", sets, axis_for(scale, *sets), notes, repeated=repeated
    )
    return Section(heading="Distribution", figures=(figure,), tables=(score_table(validations),))


def _ceiling_table(validations: "Sequence[Validation]") -> Table:
    rows = []
    for one in validations:
        same = one.ceiling.judge_on_same_targets
        judged = same or Estimate.of_nothing("there is no ceiling", n=one.graded.n)
        rows.append((one.graded.judge.name, *estimate_cells(judged)[:3], *estimate_cells(one.ceiling.mean)[:2],
                     one.ceiling.mean.undefined or judged.undefined or ""))  # fmt: skip
    head = ("variant", "#rho, same targets", "#95 % interval", "#n", "#one human", "#95 % interval", "")
    return Table(head=head, rows=tuple(rows), note="targets: the mean of the other humans, each human left out in turn")
