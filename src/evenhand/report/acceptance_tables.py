"""The part of a study's page on judges that accept or reject candidates whose truth is known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.report.trust_pages import Section, Table, estimate_cells

if TYPE_CHECKING:
    from evenhand.analysis.acceptance import Acceptance
    from evenhand.stats.estimates import Estimate

__all__ = ["acceptance_section"]

_PICKS = ("variant", "#k", "#questions", "#accepted", "#95 % interval", "#right", "#95 % interval", "#gap",
          "#95 % interval")  # fmt: skip
_PICKS_NOTE = (
    "Best of k: one of the first k candidates of each question is picked, an accepted one if there is any. The gap is "
    "the share of picks that the judge accepts minus the share that is right."
)
_HEAD = ("variant", "figure", "#value", "#95 % interval", "#n", "")
_NOTE = (
    "A judge that answers for itself and accepts on a match accepts a wrong candidate only where its own answer is "
    "wrong too: its false-positive rate is at most the bound, 1 - its solve accuracy on the wrong ones. An excess "
    "whose whole interval lies above 0 proves that the shown answer anchored it. Solves are blind commitments by the "
    "same model with the same settings. An item counts as accepted if most reruns accept it."
)


def acceptance_section(found: "Sequence[Acceptance]") -> Section | None:
    """One table with every figure of every variant; None where no variant accepts or rejects."""
    if not found:
        return None
    rows = [row for one in found for row in _rows(one)]
    table = Table(head=_HEAD, rows=tuple(rows), note=_NOTE)
    picks = [row for one in found for row in _picks(one)]
    tables = (table, Table(head=_PICKS, rows=tuple(picks), note=_PICKS_NOTE)) if picks else (table,)
    return Section(heading="Accepting and solving", tables=tables, wide=True)


def _picks(one: "Acceptance") -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for best in one.best_of:
        cells = [estimate_cells(figure) for figure in (best.accepted, best.right, best.gap)]
        rows.append((one.variant, str(best.k), cells[0][2], *(part for cell in cells for part in cell[:2])))
    return rows


def _rows(one: "Acceptance") -> list[tuple[str, ...]]:
    solving = one.solving
    source = f"solves of {one.solves_from}" if one.solves_from else ""
    excess = "proves anchoring" if solving.proves_anchoring else ""
    figures: list[tuple[str, Estimate, str]] = [
        ("accepts wrong (false-positive rate)", solving.false_positive_rate, ""),
        ("accepts right", one.accepted_right, ""),
        ("discrimination", one.discrimination, ""),
        ("solve accuracy", solving.solve_accuracy, source),
        ("solve accuracy where the candidate is wrong", solving.solve_accuracy_on_wrong, source),
        ("bound", solving.bound, ""),
        ("excess over the bound", solving.excess, excess),
    ]
    counts = f"{one.no_verdict} without a verdict, {one.unknown_truth} of unknown truth"
    rows: list[tuple[str, ...]] = []
    for place, (name, figure, note) in enumerate(figures):
        value, interval, n, why = estimate_cells(figure)
        first = f"{one.variant} ({counts})" if place == 0 else one.variant
        rows.append((first, name, value, interval, n, "; ".join(part for part in (note, why) if part)))
    return rows
