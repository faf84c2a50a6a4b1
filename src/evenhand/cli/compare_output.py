"""A comparison for people: the judges, the pairs with their intervals, what moved, and a plan."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evenhand.cli.output import console, hanging, shown
from evenhand.cli.validate_output import table
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.analysis.comparison import Comparison
    from evenhand.analysis.judge_pairs import Pair
    from evenhand.analysis.plans import Plan

__all__ = ["print_comparison"]

_PAIRS_SHOWN = 40
_MOVED_OF_PAIRS = 10
_MOVED_SHOWN = 3


def print_comparison(found: "Comparison", plans: "Sequence[Plan]", grades: str | None) -> None:
    """Everything, in one page of a terminal."""
    out = console()
    against = "by mean score" if grades is None else f"against {shown(grades, 120)}"
    for part in hanging(f"{plural(len(found.judges), 'judge')} {against}", out.width, 4):
        out.print(part, style="bold", overflow="fold")
    for line in _lines(found, plans):
        for part in hanging(line, out.width, 4):
            out.print(part, overflow="fold")


def _lines(found: "Comparison", plans: "Sequence[Plan]") -> Iterator[str]:
    over = "items" if found.bootstrap.clusters is None else plural(len(set(found.bootstrap.clusters)), "cluster")
    yield f"items    {count(found.n_items)}, of which every judge has {count(found.n_shared)}"
    yield f"interval 95 %, {plural(found.bootstrap.n_resamples, 'resample')} over {over}, seed {found.bootstrap.seed}"
    for sentence in dict.fromkeys(scales.sentence for scales in found.scales):
        yield f"scales   {sentence}"
    yield ""
    yield from table(list(_judges(found)))
    yield from _cases(found)
    yield ""
    yield from _pairs(found)
    yield ""
    if found.ranking is not None:
        yield "ranking  " + " > ".join(shown(name, 40) for name in found.ranking)
    else:
        yield f"no plain ranking: {shown(found.why_no_ranking or '', 600)}"
    if len(found.pairs) <= _MOVED_OF_PAIRS:
        for pair in found.pairs:
            yield from _moved(pair, len(pair.moved) if len(found.pairs) == 1 else _MOVED_SHOWN)
    for plan in plans:
        yield from _plan(plan)


def _judges(found: "Comparison") -> Iterator[list[str]]:
    """A row a judge; what was lost stands beside every mean."""
    yield ["judge", "verdict", "lost", "rho", "interval", "mean", "shared", "$/1,000"]
    for one in found.judges:
        rho = one.rho
        lost = sum(count for kind, count in one.counts.items() if kind != "verdict")
        yield [
            shown(one.name, 20), str(one.counts["verdict"]), str(lost),
            "-" if rho.value is None else f"{rho.value:.2f}",
            "" if rho.low is None or rho.high is None else f"[{rho.low:.2f}, {rho.high:.2f}]",
            "-" if one.mean.value is None else f"{one.mean.value:.2f}",
            "-" if one.mean_on_shared is None else f"{one.mean_on_shared:.2f}",
            "unknown" if one.cost_per_1000 is None else f"{one.cost_per_1000:.4f}",
        ]  # fmt: skip


def _cases(found: "Comparison") -> Iterator[str]:
    """What lost judgements could make of each mean, and why a rho is undefined."""
    for one in found.judges:
        if one.n_lost and one.worst is not None and one.best is not None:
            yield (
                f"{shown(one.name, 30)}: {count(one.n_lost)} of {plural(found.n_items, 'item')} without a "
                f"score; its mean would be "
                f"{one.worst:.2f} with all of them at the lowest, {one.best:.2f} at the highest"
            )
        if one.rho.value is None and found.n_raters:
            yield f"{shown(one.name, 30)}: rho undefined: {shown(one.rho.undefined or '')}"


def _pairs(found: "Comparison") -> Iterator[str]:
    """A row a pair: the difference with its interval, and what would have shown."""
    figure = "rho" if found.pairs[0].figure == "spearman" else "means"
    together = "" if len(found.pairs) == 1 else ", intervals hold for all pairs at once"
    yield f"differences of {figure}, first less second{together}"
    rows = [["first", "second", "diff", "interval", "n", "detectable"]]
    for pair in found.pairs[:_PAIRS_SHOWN]:
        one = pair.difference
        rows.append(
            [
                shown(pair.a, 18), shown(pair.b, 18),
                "-" if one.difference.value is None else f"{one.difference.value:+.3f}",
                "" if one.low is None or one.high is None else f"[{one.low:+.3f}, {one.high:+.3f}]",
                str(one.difference.n), "-" if one.detectable is None else f"{one.detectable:.3f}",
            ]
        )  # fmt: skip
    yield from table(rows)
    for pair in found.pairs[:_PAIRS_SHOWN]:
        if pair.remarks:
            yield f"{shown(pair.a, 24)} / {shown(pair.b, 24)}: {shown('; '.join(pair.remarks))}"
    if len(found.pairs) > _PAIRS_SHOWN:
        yield f"and {plural(len(found.pairs) - _PAIRS_SHOWN, 'more pair')} (--json has all)"


def _moved(pair: "Pair", most: int) -> Iterator[str]:
    """The items that two judges see differently."""
    if not pair.moved:
        return
    yield ""
    yield f"furthest apart, {shown(pair.a, 30)} and {shown(pair.b, 30)} ({pair.n_moved} by a level or more)"
    for one in pair.moved[:most]:
        human = "" if one.human is None else f", humans {one.human:.2f}"
        nearer = "" if one.nearer is None else f": nearer is {shown(one.nearer, 30)}"
        yield f"  {shown(one.item, 40)}: {one.a:.2f} and {one.b:.2f}{human}{nearer}"


def _plan(plan: "Plan") -> Iterator[str]:
    """What a wanted difference needs."""
    yield ""
    yield (
        f"to find a difference of {plan.wanted:g} between {shown(plan.a, 30)} and {shown(plan.b, 30)} in four of five "
        f"studies (pilot: {plural(plan.n_items, 'item')}, {plural(plan.n_raters, 'rater')}, "
        f"{plural(plan.n_reruns, 'rerun')})"
    )
    if plan.why is not None:
        yield f"  cannot be planned: {plan.why}"
    names = ["items"] if plan.n_sources is None else ["items", "sources"]
    rows = [["  raters", "reruns", *names]]
    rows += [
        [f"  {row['raters']}", str(row["reruns"]), *(f"{row[name]:,}" for name in names)]
        for row in plan.rows
        if row["items"] is not None
    ]
    if len(rows) > 1:
        yield from table(rows)
        if plan.n_sources is not None:
            yield (
                f"  the pilot's items come from {plural(plan.n_sources, 'source')}: sources must grow with "
                f"the items, and with "
                "fewer than some twenty no interval holds"
            )
    unknown = sum(row["items"] is None for row in plan.rows)
    if unknown:
        yield f"  {plural(unknown, 'combination')} cannot be told ({'; '.join(plan.unknown)})"
    if plan.items_for_rho is not None:
        yield f"  the better judge's rho is known to +-0.1 from {plural(plan.items_for_rho, 'item')} on"
