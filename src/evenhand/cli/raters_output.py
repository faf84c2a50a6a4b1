"""Hand grades without a judge, for people: in the terminal and as a page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evenhand.cli.output import console, hanging, shown
from evenhand.cli.validate_output import figure, noted
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.analysis.raters import RaterAgreement
    from evenhand.report.trust_pages import TrustContent
    from evenhand.stats.estimates import Estimate

__all__ = ["print_raters", "raters_content"]

_NAMED = 12


def print_raters(found: "RaterAgreement") -> None:
    """All of it, on stdout."""
    out = console()
    for line in _lines(found, out.width):
        out.print(line, overflow="fold")


def _over(found: "RaterAgreement") -> str:
    """What the resamples draw."""
    clusters = found.bootstrap.clusters
    return "items" if clusters is None else plural(len(set(clusters)), "cluster")


def _lines(found: "RaterAgreement", width: int) -> Iterator[str]:
    grades = found.grades
    over = _over(found)
    yield from hanging(f"the raters of {shown(grades.name, 200)}", width, 4)
    yield f"grades   {grades.reading}; missing {grades.n_missing}, out of scale {len(grades.out_of_scale)}"
    yield f"interval 95 %, {plural(found.bootstrap.n_resamples, 'resample')} over {over}, seed {found.bootstrap.seed}"
    yield ""
    rows = [figure(name, one, note=note) for name, one, note in _figures(found)]
    for line in noted(rows, width):
        yield from hanging(line, width, 4)
    means = ", ".join(f"{shown(rater, 20)} {mean:.2f}" for rater, mean in list(found.rater_means.items())[:_NAMED])
    yield from hanging(f"rater means  {means}{', ...' if len(found.rater_means) > _NAMED else ''}", width, 13)
    yield ""
    for sentence in found.sentences():
        yield from hanging(f"- {shown(sentence)}", width, 2)


def _figures(found: "RaterAgreement") -> "Iterator[tuple[str, Estimate, str]]":
    """Name, figure and note of each row."""
    yield "human ceiling", found.ceiling.mean, f"one against the others, mean of {found.ceiling.n_raters}"
    for one in found.ceiling.raters[:_NAMED]:
        yield f"  {shown(found.grades.raters[one.rater], 20)}", one.human, ""
    if found.pairwise is not None:
        yield "  bound for any judge", found.pairwise.bound, "sqrt of the reliability of the mean grade"
        yield "two raters, mean rho", found.pairwise.mean, ""
    yield "alpha, ordinal", found.alpha, ""
    yield "ICC agreement", found.icc.agreement_single, "of one rater"
    yield "ICC consistency", found.icc.consistency_single, "of one rater"


def raters_content(found: "RaterAgreement") -> "TrustContent":
    """The page."""
    from evenhand.report.caveats import Caveat
    from evenhand.report.trust_pages import Section, Table, TrustContent, estimate_cells

    grades = found.grades
    rows = []
    for name, one, note in _figures(found):
        value, interval, n, why = estimate_cells(one)
        rows.append((name.strip(), value, interval, n, why or note))
    n_out = len(grades.out_of_scale)
    table = Table(head=("", "#value", "#95 % interval", "#n", ""), rows=tuple(rows))
    means = tuple((rater, f"{mean:.2f}") for rater, mean in found.rater_means.items())
    left_out = Caveat(serious=True, text=f"{plural(n_out, 'grade')} out of scale and left out.")
    return TrustContent(
        title="How well do the raters agree?",
        source=f"{grades.name}: {grades.reading}. Intervals: {plural(found.bootstrap.n_resamples, 'resample')} "
        f"over {_over(found)}, seed {found.bootstrap.seed}.",
        caveats=(left_out,) if n_out else (),
        sentences=tuple(found.sentences()),
        sections=(
            Section(heading="Agreement between raters", tables=(table,)),
            Section(heading="Leniency", tables=(Table(head=("rater", "#mean grade"), rows=means),)),
        ),
    )
