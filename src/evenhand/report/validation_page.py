"""A validation to a page: what must be known first, the sentences, then agreement, ceiling, noise and misses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.analysis.misses import evidence_words
from evenhand.analysis.sentences import sentences_of
from evenhand.report.caveats import Caveat
from evenhand.report.chart_items import Reruns, judge_against_humans, rerun_spread
from evenhand.report.chart_kit import stated
from evenhand.report.chart_rows import Row, agreement
from evenhand.report.charts import Scores, axis_for, distribution, level_shares
from evenhand.report.numbers import alike, cost, number, percent, percents
from evenhand.report.trust_pages import Case, Section, Table, TrustContent, estimate_cells, file_name
from evenhand.stats.estimates import Estimate
from evenhand.wording import count, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenhand.analysis.misses import Miss
    from evenhand.analysis.validation import Validation
    from evenhand.report.chart_kit import Figure

__all__ = ["agreement_rows", "score_table", "scores_of", "validation_content", "validations_content"]

_HEAD = ("", "#value", "#95 % interval", "#n", "")
_MOST_RATERS = 20


def validation_content(
    found: "Validation", texts: Mapping[str, str] | None = None, *, draw: bool = True
) -> TrustContent:
    """The page of one judge.

    Args:
        texts: of the misses, by item.
        draw: with figures, which need the extra `figures`.
    """
    known = texts or {}
    sections = [
        _agreement(found, draw=draw),
        _ceiling(found, draw=draw),
        _level(found, draw=draw),
        _noise(found, draw=draw),
        _length(found),
        *_passing(found),
        *_checks(found),
        *_misses("Worst misses", found.misses, known),
        *_misses("Brief but strong, and missed", found.brief_but_strong, known),
    ]
    return TrustContent(
        title=f"Can {found.graded.judge.name} be trusted?",
        source=_source(found),
        caveats=tuple(_caveats(found)),
        sentences=sentences_of(found),
        sections=tuple(sections),
    )


def validations_content(found: "Sequence[Validation]", *, draw: bool = True) -> TrustContent:
    """Several judges against the same grades, a row each."""
    ordered = sorted(found, key=lambda one: -(one.spearman.value if one.spearman.value is not None else -2.0))
    figures: list[Figure] = []
    shares: list[Figure] = []
    if draw:
        notes = [f"{_many(ordered)}; order by rho is no ranking: `evenhand compare` says which differ."]
        rows, said = agreement_rows(ordered, notes)
        figures = [agreement("agreement", _title(ordered[0]), rows, said, what=_axis_title(ordered))]
        shares = [_levels(ordered)]
    sections = [
        Section(heading="Judges", figures=tuple(figures), tables=(_judge_table(ordered),)),
        Section(heading="Scores", figures=tuple(shares), tables=(score_table(ordered),)),
    ]
    grades = ordered[0].grades
    caveats = [caveat for one in ordered for caveat in _caveats(one, who=f"{one.graded.judge.name}: ")]
    return TrustContent(
        title=f"{plural(len(found), 'judge')} against the humans",
        source=f"{file_name(grades.name)}: {grades.reading}",
        caveats=tuple(sorted(caveats, key=lambda one: not one.serious)),
        sentences=("The order is that of rho alone, not a ranking.", "--only JUDGE shows one of them whole."),
        sections=tuple(sections),
    )


def _axis_title(found: "Sequence[Validation]") -> str:
    ceiling = any(one.ceiling.mean.value is not None for one in found)
    return "Spearman rho with the mean of the other humans" if ceiling else "Spearman rho with the humans"


def _levels(found: "Sequence[Validation]") -> "Figure":
    """Which scores each judge gives, below those of the humans."""
    widest = _widest(found)
    humans = _counted("humans, each grade", widest.graded.grades)
    sets = [humans, *(scores_of(one) for one in found)]
    return level_shares(
        "levels",
        "Which scores each judge gives",
        sets,
        axis_for(found[0].graded.scales.judge, *sets),
        _whose_items(found, widest),
        what="score or grade",
    )


def _widest(found: "Sequence[Validation]") -> "Validation":
    """The validation with the most items: its humans stand for all."""
    return max(found, key=lambda one: one.graded.n)


def _whose_items(found: "Sequence[Validation]", widest: "Validation") -> list[str]:
    """Whose items the humans' grades are of, where judges judged different ones."""
    if len({one.graded.items for one in found}) == 1:
        return []
    return [f"Humans: grades of the {plural(widest.graded.n, 'item')} that {widest.graded.judge.name} judged."]


def score_table(found: "Sequence[Validation]") -> Table:
    """Mode share and effective levels of each judge, and of the humans."""
    widest = _widest(found)
    rows = [("humans", *estimate_cells(widest.absolute.human_mode_share, share=True)[:3], "", "")]
    for one in found:
        level = one.absolute
        cells = estimate_cells(level.mode_share, share=True)
        rows.append((one.graded.judge.name, *cells[:3], number(level.mode), number(level.effective_levels)))
    head = ("", "#mode share", "#95 % interval", "#n", "#mode", "#effective levels")
    return Table(head=head, rows=tuple(rows), note=" ".join(["n: items.", *_whose_items(found, widest)]))


def agreement_rows(found: "Sequence[Validation]", notes: Sequence[str]) -> tuple[list[Row], list[str]]:
    """Rows and notes of the agreement chart: on the ceiling's targets where there is one, else all humans' mean."""
    like = [one.ceiling.mean.value is not None and one.ceiling.judge_on_same_targets is not None for one in found]
    if any(like):
        rows = [
            Row(
                label=one.graded.judge.name,
                found=one.ceiling.judge_on_same_targets or Estimate.of_nothing("not given", n=one.graded.n),
                ceiling=one.ceiling.mean,
            )
            for one in found
        ]
        return rows, [*notes, "Judge and human face the same targets: the mean of the other humans."]
    why = found[0].ceiling.mean.undefined or "there is one rater"
    return [Row(label=one.graded.judge.name, found=one.spearman) for one in found], [
        *notes,
        f"No human ceiling: {why}.",
    ]


def scores_of(found: "Validation", label: str | None = None) -> Scores:
    """The judge's scores over all items and reruns, counted."""
    return _counted(found.graded.judge.name if label is None else label, found.graded.scores)


def _counted(label: str, values: "NDArray[np.float64]") -> Scores:
    import numpy as np

    levels, counts = np.unique(np.round(values[~np.isnan(values)], 6), return_counts=True)
    return Scores(label=label, levels=tuple(levels.tolist()), counts=tuple(counts.tolist()))


def _many(found: "Sequence[Validation]") -> str:
    sizes = sorted({one.graded.n for one in found})
    return f"n {count(sizes[0])}" + (f" to {count(sizes[-1])}" if len(sizes) > 1 else "") + " items"


def _source(found: "Validation") -> str:
    graded, grades = found.graded, found.grades
    over = "items" if graded.clusters is None else plural(len(set(graded.clusters)), "cluster")
    return (
        f"against {file_name(grades.name)}: {grades.reading}; {plural(graded.n, 'item')} with both, up to "
        f"{plural(graded.scores.shape[1], 'rerun')}. Intervals: {count(found.settings.n_resamples)} resamples "
        f"over {over}, seed {found.settings.seed}. Scales: {graded.scales.sentence}."
    )


def _caveats(found: "Validation", *, who: str = "") -> Iterator[Caveat]:
    """What takes no part, and what is undefined."""
    judge, graded, grades = found.graded.judge, found.graded, found.grades
    for kind in ("failed", "missing", "abstained"):
        if judge.counts[kind]:
            text = f"{who}{count(judge.counts[kind])} of {plural(judge.n, 'judgement')} {kind}: no score, in no figure."
            yield Caveat(serious=kind == "failed", text=text)
    for n, words in (
        (len(judge.out_of_scale), ("score", "out of scale and left out")),
        (len(grades.out_of_scale), ("grade", "out of scale and left out")),
        (len(graded.not_judged), ("graded item", "without a score: no part taken")),
        (len(graded.not_graded), ("judged item", "without a usable grade: no part taken")),
    ):
        if n:
            yield Caveat(serious=True, text=f"{who}{plural(n, words[0])} {words[1]}.")
    if found.spearman.value is None:
        yield Caveat(serious=True, text=f"{who}Spearman rho is undefined: {found.spearman.undefined}.")


def _row(name: str, found: Estimate, note: str = "", **how: Any) -> tuple[str, ...]:
    value, interval, n, why = estimate_cells(found, **how)
    return name, value, interval, n, "; ".join(part for part in (note, why) if part)


def _agreement(found: "Validation", *, draw: bool) -> Section:
    graded = found.graded
    figures: list[Figure] = []
    if draw:
        scales = graded.scales
        figures = [
            judge_against_humans(
                "judge-against-humans", "Judge against humans", graded.human_mean, graded.judge_mean,
                [stated("Spearman rho", found.spearman)], human_scale=scales.human, judge_scale=scales.judge,
                same=scales.same is True,
            )
        ]  # fmt: skip
    bonett = ""
    if found.bonett_wright is not None:
        bonett = f"Bonett-Wright {' to '.join(alike(found.bonett_wright))}"
    rows = [
        _row("Spearman rho", found.spearman, bonett),
        _row("Kendall tau-b", found.kendall_tau_b),
        _row("weighted kappa", found.absolute.weighted, "quadratic; one run, one rater"),
        _row("equal grades", found.absolute.agreement, share=True),
        _row("always the commonest", found.absolute.majority, "baseline", share=True),
        _row("text length alone", found.length_baseline.rho, "baseline: rho of length"),
    ]
    return Section(heading="Agreement", figures=tuple(figures),
                   tables=(Table(head=_HEAD, rows=tuple(rows), note=_detectable(found)),))  # fmt: skip


def _detectable(found: "Validation") -> str:
    parts = []
    if found.detectable_rho is not None:
        parts.append(f"a rho of {number(found.detectable_rho)}")
    if found.detectable_shift is not None:
        parts.append(f"a mean difference of {number(found.detectable_shift)} SD")
    if not parts:
        return ""
    if found.rho_worth is None or found.shift_worth is None:
        return f"The smallest that this n shows with power .8: {', '.join(parts)}."
    return (
        f"The smallest that this n shows with power .8: {', '.join(parts)}; {plural(found.graded.n, 'item')} from "
        f"{plural(found.rho_worth.n_clusters, 'source is', 'sources are')} worth "
        f"{count(round(found.rho_worth.items))} independent ones "
        f"for rho, {count(round(found.shift_worth.items))} for the mean."
    )


def _ceiling(found: "Validation", *, draw: bool) -> Section:
    ceiling, raters = found.ceiling, found.graded.raters
    over = f", over {ceiling.n_raters}" if ceiling.n_raters else ""
    rows = [_row("one human, mean", ceiling.mean, f"against the others{over}")]
    if ceiling.judge_on_same_targets is not None:
        rows.append(_row("judge, same targets", ceiling.judge_on_same_targets))
    if ceiling.judge_less_human is not None:
        rows.append(_row("judge less human", ceiling.judge_less_human, "paired"))
    if found.raters is not None:
        rows.append(_row("bound for any judge", found.raters.bound, "with the mean of all humans"))
    rows += [
        _row("alpha, ordinal", found.alpha, "between raters"),
        _row("ICC, agreement", found.icc.agreement_single, "of one rater"),
        _row("ICC, consistency", found.icc.consistency_single, "of one rater"),
    ]
    if found.attenuation is not None:
        rows.append(_row("corrected (Pearson)", found.attenuation.corrected, "for the noise of both"))
    drawn: list[Figure] = []
    if draw:
        judged, notes = agreement_rows([found], [])
        humans = [
            Row(label=raters[one.rater], found=one.human, human=True, ceiling=ceiling.mean)
            for one in ceiling.raters[:_MOST_RATERS]
            if ceiling.mean.value is not None
        ]
        if humans:
            notes = [stated("Ceiling", ceiling.mean), *notes]
        if len(ceiling.raters) > _MOST_RATERS and humans:
            notes.append(f"The first {_MOST_RATERS} of {len(ceiling.raters)} humans.")
        what = "Spearman rho with the mean of the other humans" if humans else "Spearman rho with the humans"
        drawn = [agreement("agreement", _title(found), [*judged, *humans], notes, what=what)]
    return Section(heading="Human ceiling", figures=tuple(drawn), tables=(Table(head=_HEAD, rows=tuple(rows)),))


def _title(found: "Validation") -> str:
    defined = found.ceiling.mean.value is not None
    return "Agreement with the human ceiling" if defined else "Agreement with the humans"


def _level(found: "Validation", *, draw: bool) -> Section:
    graded, absolute = found.graded, found.absolute
    moved = graded.on_human_scale(graded.scores)
    note = "" if found.sd_ratio is None else f"SD ratio {number(found.sd_ratio)}"
    rows = [
        _row("judge's mode share", absolute.mode_share, f"score {number(absolute.mode)}", share=True),
        _row("humans' mode share", absolute.human_mode_share, share=True),
        ("levels", f"{absolute.levels_used}", "", count(absolute.n_scores),
         f"{number(absolute.effective_levels)} effective"),
        _row("leniency", found.leniency, note),
    ]  # fmt: skip
    drawn: list[Figure] = []
    if draw:
        humans = _counted("humans, each grade", graded.grades)
        judge = _counted("judge, each run", graded.scores if moved is None else moved)
        sets = [judge, humans] if moved is not None else [judge]
        scale = graded.scales.human if moved is not None else graded.scales.judge
        notes = [stated("Leniency", found.leniency)]
        repeated = max(graded.scores.shape[1], graded.grades.shape[1]) > 1
        if moved is not None and graded.scales.same is not True:
            notes.append("The judge's scores are moved linearly onto the humans' scale.")
        drawn = [distribution("distribution", "Distribution of scores and grades", sets,
                              axis_for(scale, *sets), notes,
                              repeated=repeated)]  # fmt: skip
    return Section(heading="Level and spread", figures=tuple(drawn), tables=(Table(head=_HEAD, rows=tuple(rows)),))


def _noise(found: "Validation", *, draw: bool) -> Section:
    noise, graded = found.noise, found.graded
    worst = "" if noise.largest_item_sd is None else f"worst item {number(noise.largest_item_sd)}"
    rows = [_row("rerun SD", noise.sd, worst), _row("ICC of one run", noise.icc)]
    tables = [Table(head=_HEAD, rows=tuple(rows), note=_best(found))]
    known = [one for one in found.more_reruns if one["reliability"] is not None]
    if known:
        more = tuple((str(one["reruns"]), number(one["reliability"], 3)) for one in known)
        tables.append(Table(head=("#mean of runs", "#reliability"), rows=more, name="What more reruns buy"))
    drawn: list[Figure] = []
    if draw and graded.scores.shape[1] > 1:
        drawn = [rerun_spread("reruns", "How far reruns of an item lie apart", list(_reruns(found)),
                              [stated("Rerun SD", noise.sd)], scale=graded.scales.judge)]  # fmt: skip
    return Section(heading="Rerun noise", figures=tuple(drawn), tables=tuple(tables))


def _reruns(found: "Validation") -> Iterator[Reruns]:
    """Each item's runs, with the humans' mean where both are on one scale."""
    import numpy as np

    graded = found.graded
    human = graded.human_mean if graded.scales.same is True else None
    for row, item in enumerate(graded.items):
        scores = graded.scores[row][~np.isnan(graded.scores[row])]
        yield Reruns(item=item, scores=tuple(scores.tolist()), human=None if human is None else float(human[row]))


def _best(found: "Validation") -> str:
    if found.best_n_reruns is None:
        return ""
    ratio = found.settings.cost_ratio
    return (
        f"Worth their money where an item costs {number(ratio)} runs: {number(found.best_n_reruns, 1)} reruns an item."
    )


def _length(found: "Validation") -> Section:
    judge = found.graded.judge
    rows = [
        _row("per doubling of length", found.length.per_doubling, "judge less human"),
        _row("length and judge", found.length.judge_length, "rho"),
        _row("length and humans", found.length_baseline.rho, "rho"),
        ("cost per 1,000", cost(judge.cost_per_1000), "", count(judge.n), "judgements"),
    ]
    return Section(heading="Length and cost", tables=(Table(head=_HEAD, rows=tuple(rows)),))


def _passing(found: "Validation") -> Iterable[Section]:
    passing = found.passing
    rows = []
    if passing.found is not None:
        mark = "" if passing.mark is None else f"good from {number(passing.mark)}"
        rows += [
            _row("TPR", passing.found.tpr, mark, share=True),
            _row("TNR", passing.found.tnr, share=True),
            _row("agreement", passing.found.agreement, share=True),
            _row("always the commoner", passing.found.majority_baseline, "baseline", share=True),
        ]
    if found.settings.unlabelled is not None:
        rows += [
            _row("larger run, as judged", passing.naive, share=True),
            _row("corrected (PPI++)", passing.corrected, "if the graded are a random sample", share=True),
            _row("Rogan-Gladen", passing.rogan_gladen, share=True),
        ]
    return [Section(heading="Pass and fail", tables=(Table(head=_HEAD, rows=tuple(rows)),))] if rows else []


def _checks(found: "Validation") -> Iterable[Section]:
    if not found.checks:
        return []
    rows = tuple(
        (one.check, f"{one.n_passed}/{one.n}", _share(one.sensitivity), _share(one.specificity),
         number(one.rho.value) if one.rho.value is not None else "undefined", _share(one.explains),
         one.explains.undefined or "")
        for one in found.checks
    )  # fmt: skip
    head = ("check", "#passes", "#sensitivity", "#specificity", "#rho", "#explains misses", "")
    return [Section(heading="Checks", tables=(Table(head=head, rows=rows),))]


def _share(found: Estimate) -> str:
    if found.value is None:
        return "undefined"
    if found.low is None or found.high is None:
        return percent(found.value)
    value, low, high = percents((found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def _misses(heading: str, misses: "Sequence[Miss]", texts: Mapping[str, str]) -> Iterable[Section]:
    if not misses:
        return []
    if not any(one.item in texts or one.evidence for one in misses):
        return [Section(heading=heading, tables=(_bare(misses),))]
    cases = tuple(
        Case(
            title=_miss(one), text=texts.get(one.item), points=tuple(evidence_words(part) for part in one.evidence[:12])
        )
        for one in misses
    )
    return [Section(heading=heading, cases=cases)]


def _bare(misses: "Sequence[Miss]") -> Table:
    """Misses of which nothing but numbers is known."""
    rows = tuple(
        (
            one.item, number(one.judge), number(one.human), "" if one.gap_z is None else f"{one.gap_z:+.1f}",
            ", ".join(f"{rater} {number(grade)}" for rater, grade in list(one.grades.items())[:8]),
            "" if one.length is None else count(one.length),
        )
        for one in misses
    )  # fmt: skip
    return Table(
        head=("item", "#judge", "#humans", "#SDs apart", "grades", "#characters"),
        rows=rows,
        note="Their texts are not at hand: name the store with --store, or the items with --items.",
    )


def _miss(one: "Miss") -> str:
    apart = "" if one.gap_z is None else f", {one.gap_z:+.1f} SDs"
    grades = ", ".join(f"{rater} {number(grade)}" for rater, grade in list(one.grades.items())[:8])
    length = "" if one.length is None else f"; {count(one.length)} characters"
    return f"{one.item}: judge {number(one.judge)}, humans {number(one.human)}{apart} ({grades}){length}"


def _judge_table(found: "Sequence[Validation]") -> Table:
    rows = []
    for one in found:
        value, interval, n, _ = estimate_cells(one.spearman)
        share = one.absolute.mode_share.value
        rows.append(
            (one.graded.judge.name, n, value, interval, number(one.kendall_tau_b.value),
             number(one.absolute.weighted.value), percent(share), number(one.noise.sd.value),
             number(one.leniency.value))
        )  # fmt: skip
    head = ("judge", "#n", "#rho", "#95 % interval", "#tau-b", "#kappa", "#mode share", "#rerun SD", "#leniency")
    return Table(head=head, rows=tuple(rows), note="rho: with the mean of all humans")
