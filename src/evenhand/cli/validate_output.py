"""A validation for people: counts first, then every figure with its interval and n, then what to look at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.analysis.misses import evidence_words
from evenhand.analysis.sentences import sentences_of
from evenhand.cli.output import console, hanging, shown
from evenhand.report.numbers import number
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.analysis.misses import Miss
    from evenhand.analysis.validation import Validation
    from evenhand.stats.estimates import Estimate

__all__ = ["figure", "noted", "print_judges", "print_validation", "table"]

_TEXT_SHOWN = 300


def figure(name: str, found: "Estimate", digits: int = 2, *, percent: bool = False, note: str = "") -> list[str]:
    """One row of the table of figures: name, value, interval, n, note."""
    if found.value is None:
        return [name, "undefined", "", f"n {found.n}", shown(found.undefined or "")]
    without = shown(found.left_out or "")
    times, sign = (100.0, " %") if percent else (1.0, "")
    value = f"{times * found.value:.{0 if percent else digits}f}{sign}"
    if found.low is None or found.high is None:
        why = found.no_interval or "no interval"
        return [name, value, "", f"n {found.n}", "; ".join(part for part in (why, note, without) if part)]
    d = 0 if percent else digits
    interval = f"[{times * found.low:.{d}f}, {times * found.high:.{d}f}]"
    left_out = (
        f"{count(found.n_degenerate)} of {plural(found.n_resamples, 'resample')} undefined"
        if found.n_degenerate
        else ""
    )
    return [name, value, interval, f"n {found.n}", "; ".join(part for part in (left_out, note, without) if part)]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their columns lined up; the last column runs on."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]]).rstrip()
        for row in rows
    ]


def print_validation(found: "Validation", texts: Mapping[str, str]) -> None:
    """One judge, whole."""
    out = console()
    graded, grades = found.graded, found.grades
    _print(out, [f"{shown(graded.judge.name, 100)} against {shown(grades.name, 80)}"], hang=4, style="bold")
    _print(out, _heads(found), hang=9)
    out.print()
    _print(out, noted(list(_figures(found)), out.width), hang=4)
    for title, part in (
        ("reruns", _reruns(found)),
        ("checks", _checks(found)),
        ("worst misses", _misses(found.misses, texts)),
        ("brief but strong, and missed", _misses(found.brief_but_strong[: found.settings.most_misses], texts)),
    ):
        lines = list(part)
        if lines:
            out.print()
            out.print(title, style="bold")
            _print(out, lines, hang=4)
    out.print()
    _print(out, (f"- {shown(sentence)}" for sentence in sentences_of(found)), hang=2)


def _print(out: "Console", lines: "Iterable[str]", *, hang: int, style: str | None = None) -> None:
    """Lines, folded with their continuations set in."""
    for line in lines:
        for part in hanging(line, out.width, hang):
            out.print(part, style=style, overflow="fold")


def noted(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Rows of figures; a note that does not fit beside its figure stands below it."""
    for row, line in zip(rows, table(rows), strict=True):
        if len(line) <= width:
            yield line
        else:
            yield line[: len(line) - len(row[-1])].rstrip()
            yield f"    {row[-1]}"


def print_judges(found: "Sequence[Validation]") -> None:
    """Several judges, a row each."""
    out = console()
    grades = found[0].grades
    head = f"{plural(len(found), 'judge')} against {shown(grades.name, 80)} ({grades.reading})"
    _print(out, [head], hang=4, style="bold")
    rows = [["judge", "n", "rho", "interval", "kappa", "mode", "rerun SD", "lenient"]]
    for one in sorted(found, key=lambda one: -(one.spearman.value if one.spearman.value is not None else -2.0)):
        rho = one.spearman
        rows.append(
            [
                shown(one.graded.judge.name, 23), str(one.graded.n), _short(rho),
                "" if rho.low is None or rho.high is None else f"[{rho.low:.2f}, {rho.high:.2f}]",
                _short(one.absolute.weighted), _percent(one.absolute.mode_share), _short(one.noise.sd),
                _short(one.leniency),
            ]
        )  # fmt: skip
    for line in table(rows):
        out.print(line, overflow="fold")
    out.print()
    out.print("The order is that of rho alone, and no ranking: `evenhand compare` says which")
    out.print("differ. --only JUDGE shows one whole, with what is undefined (-) and why.")


def _heads(found: "Validation") -> Iterator[str]:
    """Counts, before any figure."""
    graded, grades, judge = found.graded, found.grades, found.graded.judge
    kinds = "   ".join(f"{kind} {judge.counts[kind]}" for kind in ("abstained", "failed", "missing"))
    yield f"grades   {grades.reading}; missing {grades.n_missing}, out of scale {len(grades.out_of_scale)}"
    yield f"judged   verdict {judge.counts['verdict']}   {kinds}   of {judge.n}"
    if judge.out_of_scale:
        n_out = len(judge.out_of_scale)
        yield f"         of the missing, {n_out} are scores out of scale: {_some_out(judge.out_of_scale)}"
    if grades.out_of_scale:
        yield f"         grades out of scale: {_some_out(grades.out_of_scale)}"
    runs = graded.scores.shape[1]
    each = "one score an item" if runs == 1 else f"up to {plural(runs, 'rerun')}"
    yield f"compared {plural(graded.n, 'item')} with both, {plural(found.n_raters, 'rater')}, {each}"
    for what, names in (("no score", graded.not_judged), ("no usable grade", graded.not_graded)):
        if names:
            some = ", ".join(shown(name, 40) for name in names[:5])
            yield f"         {what}: {plural(len(names), 'item')} ({some}{', ...' if len(names) > 5 else ''})"
    yield f"scales   {graded.scales.sentence}"
    over = "items" if graded.clusters is None else plural(len(set(graded.clusters)), "cluster")
    yield f"interval 95 %, {plural(found.settings.n_resamples, 'resample')} over {over}, seed {found.settings.seed}"


def _some_out(found: Sequence[Any]) -> str:
    some = "; ".join(f"{shown(one.where, 60)}: {one.value:g} by {shown(one.who, 30)}" for one in found[:5])
    return some + (f"; and {len(found) - 5} more" if len(found) > 5 else "")


def _figures(found: "Validation") -> Iterator[list[str]]:
    """The figures in their order."""
    yield figure("Spearman rho", found.spearman, note=_bonett(found))
    yield figure("Kendall tau-b", found.kendall_tau_b)
    ceiling = found.ceiling
    yield figure(
        "human ceiling",
        ceiling.mean,
        note=f"one human against the others, mean of {ceiling.n_raters}" if ceiling.n_raters else "",
    )
    if ceiling.judge_on_same_targets is not None and ceiling.mean.value is not None:
        yield figure("  judge, same targets", ceiling.judge_on_same_targets)
    if found.raters is not None:
        yield figure("  bound for any judge", found.raters.bound, note="sqrt of the reliability of the mean grade")
    if found.attenuation is not None:
        yield figure("  corrected (Pearson)", found.attenuation.corrected, note="for the noise of both")
    yield figure("alpha, ordinal", found.alpha, note="between raters")
    for label, one in (
        ("ICC agreement", found.icc.agreement_single),
        ("ICC consistency", found.icc.consistency_single),
    ):
        yield figure(label, one, note="of one rater")
    means = ", ".join(f"{shown(rater, 20)} {mean:.2f}" for rater, mean in list(found.rater_means.items())[:6])
    if len(found.rater_means) > 1:
        yield ["  rater means", "", "", "", means + (", ..." if len(found.rater_means) > 6 else "")]
    yield figure("kappa, quadratic", found.absolute.weighted, note="one run against one rater")
    yield figure("equal grades", found.absolute.agreement, percent=True)
    grade = found.absolute.majority_grade
    yield figure("  always the commonest", found.absolute.majority, percent=True,
                 note="" if grade is None else f"grade {grade:g}")  # fmt: skip
    absolute = found.absolute
    yield figure("mode share", absolute.mode_share, percent=True,
                 note=f"score {absolute.mode:g}; effective levels {absolute.effective_levels:.1f} of "
                 f"{absolute.levels_used} used")  # fmt: skip
    yield figure("  humans' mode share", absolute.human_mode_share, percent=True)
    worst = found.noise.largest_item_sd
    yield figure("rerun SD", found.noise.sd, note="" if worst is None else f"worst item {worst:.2f}")
    yield figure("  ICC of one run", found.noise.icc)
    ratio = "" if found.sd_ratio is None else f"SD ratio {found.sd_ratio:.2f}"
    yield figure("leniency", found.leniency, note=ratio)
    yield figure("length, per doubling", found.length.per_doubling, note="judge less human")
    yield figure("  length and judge", found.length.judge_length)
    yield figure("  length and humans", found.length_baseline.rho, note="the length-only baseline")
    yield from _passing(found)
    yield _cost(found)


def _bonett(found: "Validation") -> str:
    if found.bonett_wright is None:
        return ""
    low, high = found.bonett_wright
    return f"Bonett-Wright [{low:.2f}, {high:.2f}]"


def _passing(found: "Validation") -> Iterator[list[str]]:
    """Pass/fail figures, where there is a mark."""
    passing = found.passing
    if passing.found is not None:
        yield figure("TPR", passing.found.tpr, percent=True, note=f"good from {passing.mark:g}")
        yield figure("TNR", passing.found.tnr, percent=True)
        yield figure("pass/fail agreement", passing.found.agreement, percent=True)
        yield figure("  always the commoner", passing.found.majority_baseline, percent=True)
    if found.settings.unlabelled is not None:
        yield figure("larger run, as judged", passing.naive, percent=True)
        yield figure("  corrected (PPI++)", passing.corrected, percent=True, note="if the graded are a random sample")
        yield figure("  Rogan-Gladen", passing.rogan_gladen, percent=True)
        yield figure("  mean grade (PPI++)", passing.mean)


def _cost(found: "Validation") -> list[str]:
    judge = found.graded.judge
    if judge.cost_per_1000 is None:
        left = judge.n - judge.n_priced
        some = f"{count(left)} of {plural(judge.n, 'judgement')} {'has' if left == 1 else 'have'} no known cost"
        unknown = "no cost is recorded" if left == judge.n else some
        return ["cost per 1,000", "unknown", "", f"n {judge.n}", unknown]
    reruns = found.graded.scores.shape[1]
    note = "" if reruns == 1 else f"${judge.cost_per_1000 * reruns:.4f} for 1,000 items of {reruns} runs"
    return ["cost per 1,000", f"${judge.cost_per_1000:.4f}", "", f"n {judge.n}", note]


def _reruns(found: "Validation") -> Iterator[str]:
    """What more reruns would buy."""
    known = [one for one in found.more_reruns if one["reliability"] is not None]
    if known:
        yield "reliability of the mean of " + ", ".join(f"{one['reruns']}: {one['reliability']:.3f}" for one in known)
    if found.best_n_reruns is not None:
        worth = f"{found.best_n_reruns:.1f} reruns" if found.best_n_reruns > 1 else "a single run"
        ratio = found.settings.cost_ratio
        yield f"worth its money, where an item costs as much as {ratio:g} runs: {worth}; then buy items"
    noise = found.noise
    if noise.n_repeated:
        yield f"identical in all reruns: {count(noise.n_identical)} of {plural(noise.n_repeated, 'item')}"


def _checks(found: "Validation") -> Iterator[str]:
    """Each check against the humans."""
    if not found.checks:
        return
    rows = [["check", "passes", "sensitivity", "specificity", "rho", "explains misses", ""]]
    rows += [
        [
            shown(check.check, 32), f"{check.n_passed}/{check.n}", _percent(check.sensitivity),
            _percent(check.specificity), _short(check.rho), _percent(check.explains), check.explains.undefined or "",
        ]
        for check in found.checks
    ]  # fmt: skip
    yield from table(rows)


def _misses(misses: "Sequence[Miss]", texts: Mapping[str, str]) -> Iterator[str]:
    """Each miss with grades, text and the judge's own evidence."""
    for miss in misses:
        grades = ", ".join(f"{shown(rater, 20)} {grade:g}" for rater, grade in list(miss.grades.items())[:8])
        length = "" if miss.length is None else f", {miss.length} characters"
        apart = "" if miss.gap_z is None else f" ({miss.gap_z:+.1f} SDs)"
        yield f"{shown(miss.item, 60)}: judge {miss.judge:.2f}, humans {miss.human:.2f}{apart} ({grades}){length}"
        if miss.item in texts:
            yield f"    text  {shown(texts[miss.item], _TEXT_SHOWN)}"
        for one in miss.evidence[:12]:
            yield f"    {evidence_words(one, shown)}"


def _short(found: "Estimate") -> str:
    return "-" if found.value is None else f"{found.value:.2f}"


def _percent(found: "Estimate") -> str:
    return "-" if found.value is None else f"{number(100 * found.value, 0)} %"
