"""What `study` says of judges that accept or reject: false positives, discrimination, solve accuracy, bound, excess."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.cli.output import shown
from evenhand.wording import plural

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.analysis.acceptance import Acceptance
    from evenhand.evaluate.study import Variant
    from evenhand.stats.estimates import Estimate
    from evenhand.store.grades import Grades
    from evenhand.terms import Item

__all__ = ["acceptance_columns", "accepting", "figures_of", "print_acceptance"]

_NAMES = (
    "false_positive_rate", "accepted_right", "discrimination", "solve_accuracy", "solve_accuracy_on_wrong", "bound",
    "excess",
)  # fmt: skip


def accepting(
    variants: "Sequence[Variant]", items: "Sequence[Item]", grades: "Grades", resamples: int, seed: int
) -> "tuple[Acceptance, ...]":
    """Every variant that accepts or rejects against the known truth; empty where the grades are not 0 and 1."""
    from evenhand.analysis.acceptance import Run, acceptance
    from evenhand.evaluate.study import golds, known_truth
    from evenhand.stats.resampling import Bootstrap

    truth = known_truth(grades)
    if not truth:
        return ()
    runs = [Run(spec=variant.spec, records=variant.records) for variant in variants]
    with golds(items, [variant.spec for variant in variants]) as gold:
        questions = {item.id: item.task for item in items if item.task}
        return acceptance(runs, truth, gold, Bootstrap(n_resamples=resamples, seed=seed), questions)


def figures_of(one: "Acceptance") -> "dict[str, Estimate]":
    """The figures by name, in the order of tables."""
    solving = one.solving
    own = ("accepted_right", "discrimination")
    return {name: getattr(one if name in own else solving, name) for name in _NAMES}


def acceptance_columns(found: "Sequence[Acceptance]") -> Mapping[str, dict[str, Any]]:
    """Variant to its columns of table.csv: each figure with interval, n, and why there is none."""
    columns = {}
    for one in found:
        row: dict[str, Any] = {}
        for name, figure in figures_of(one).items():
            row.update({
                name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high, f"{name}_n": figure.n,
                f"{name}_undefined": figure.undefined,
            })  # fmt: skip
        proves = one.solving.excess.value is not None
        columns[one.variant] = {**row, "proves_anchoring": one.solving.proves_anchoring if proves else None}
    return columns


def print_acceptance(found: "Sequence[Acceptance]", out: "Console") -> None:
    """One table, every figure with its interval, and what it means."""
    from evenhand.cli.validate_output import table

    if not found:
        return
    out.print()
    out.print("accepts wrong and right candidates; solves them itself", style="bold")
    heads = ["variant", "accepts wrong", "accepts right", "discrimination", "solves", "solves wrong's", "excess"]
    rows = [
        [shown(one.variant, 16), *(_cell(figures_of(one)[name]) for name in _NAMES if name != "bound")] for one in found
    ]
    for block in (heads[1:4], heads[4:]):
        places = [0, *(heads.index(head) for head in block)]
        for line in table([[heads[0], *block], *([row[place] for place in places] for row in rows)]):
            out.print(line, overflow="fold")
    for one in found:
        for line in _said(one):
            out.print(line, overflow="fold")


def _said(one: "Acceptance") -> list[str]:
    name = shown(one.variant, 40)
    lines = []
    solving = one.solving
    if solving.bound.value is None:
        lines.append(f"{name}: no bound: {solving.bound.undefined}")
    elif solving.excess.value is not None:
        proves = "proves anchoring" if solving.proves_anchoring else "does not prove anchoring"
        source = "" if one.solves_from == one.variant else f" (solves of {shown(one.solves_from, 40)})"
        lines.append(
            f"{name}: accepts {solving.false_positive_rate.value:.2f} of wrong candidates, bound "
            f"{solving.bound.value:.2f}{source}; the excess {proves}"
        )
    if one.best_of:
        last = one.best_of[-1]
        lines.append(
            f"{name}: picks of {last.k} candidates: accepted {_cell(last.accepted)}, right {_cell(last.right)}, gap "
            f"{_cell(last.gap)} questions"
        )
    if one.no_verdict or one.unknown_truth:
        lines.append(
            f"{name}: {plural(one.no_verdict, 'item')} without a verdict, {one.unknown_truth} whose truth is not known"
        )
    return lines


def _cell(figure: "Estimate") -> str:
    if figure.value is None:
        return f"- (n {figure.n})"
    interval = "" if figure.low is None or figure.high is None else f" [{figure.low:.2f}, {figure.high:.2f}]"
    return f"{figure.value:.2f}{interval} n {figure.n}"
