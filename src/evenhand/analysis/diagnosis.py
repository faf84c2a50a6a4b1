"""`evenhand diagnose`: what a log of scores says about the judge that made it, and what it cannot say.

    diagnosis(table, DiagnosisSettings(scale=(1, 10)))      everything a report, a page or `--json` shows

Counts come first, then the spread of all scores, then the same by judge, criterion and period, since pooling hides a
collapsed judge. Nothing random is used: the same table gives the same figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analysis.score_cells import Cells, sorted_out
from evenhand.analysis.score_comparators import OtherJudges, human_comparator, human_scale, item_numbers
from evenhand.analysis.score_drift import Periods, Series, periods_of, series_of
from evenhand.analysis.score_groups import ScoreGroup, score_group, splits
from evenhand.stats.collapse import Heaping, Spread, heaping
from evenhand.stats.collapse_verdict import Comparator
from evenhand.stats.score_levels import ScoreScale
from evenhand.store.scores.table import ScoreTable
from evenhand.wording import count, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenhand.store.scores.rows import Names

__all__ = ["Diagnosis", "DiagnosisSettings", "diagnosis"]

_MOST_BINS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisSettings:
    """What a user may set.

    Attributes:
        scale: ends of the scores' scale; else what the file declares, else a usual one around the scores.
        human_scale: ends of the humans' scale; else the scores' own where the grades fit.
        period: see `periods_of`.
        keep_zeros: count rows whose scores are all zero.
    """

    scale: tuple[float, float] | None = None
    human_scale: tuple[float, float] | None = None
    period: str = "auto"
    keep_zeros: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found.

    Attributes:
        source: the file.
        columns: role to the columns that play it.
        unused: the other columns.
        scale: the scores' scale.
        human_scale: the humans', where there are any.
        group: all scores together.
        by_judge, by_criterion, by_period: the same apart; judges with the largest mode share first.
        off_scale: the spread with the scores off the scale among them; None where there are none.
        heaping: round numbers among the scores, where the scale is fine enough to have any.
        period_unit: what `by_period` goes by.
        series: of all rows in the order of time.
        judge_series: of each judge, where there are several.
        lonely_zeros: zeros that stand apart from all other scores, and are counted all the same.
        failed_zeros: scores of failed rows that are written as 0.
        zeros_kept: whether all-zero rows are counted.
        faults: sentences on what was no score, with file and line.
        notes: sentences on how the file was read.
        sentence: the end of it, for people.
    """

    source: str
    columns: Mapping[str, Any]
    unused: tuple[str, ...]
    scale: ScoreScale
    human_scale: ScoreScale | None
    group: ScoreGroup
    by_judge: tuple[ScoreGroup, ...]
    by_criterion: tuple[ScoreGroup, ...]
    by_period: tuple[ScoreGroup, ...]
    off_scale: Spread | None
    heaping: tuple[Heaping, ...]
    period_unit: str | None
    series: Series
    judge_series: Mapping[str, Series]
    lonely_zeros: int
    failed_zeros: int
    zeros_kept: bool
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    sentence: str

    def document(self) -> dict[str, Any]:
        """Everything a page needs, as `--json` prints it."""
        return {
            "schema": "evenhand.diagnosis/1",
            "source": self.source,
            "columns": self.columns,
            "unused_columns": list(self.unused),
            "scale": _scale_document(self.scale),
            "human_scale": None if self.human_scale is None else _scale_document(self.human_scale),
            **self.group.document(),
            "with_out_of_scale": None if self.off_scale is None else self.off_scale.document(),
            "heaping": [one.document() for one in self.heaping],
            "lonely_zeros": self.lonely_zeros,
            "failed_zeros": self.failed_zeros,
            "zeros_kept": self.zeros_kept,
            "by_judge": {group.name: group.document() for group in self.by_judge},
            "by_criterion": {group.name: group.document() for group in self.by_criterion},
            "by_period": {group.name: group.document() for group in self.by_period},
            "period_unit": self.period_unit,
            "change_points": [change.document() for change in self.series.changes],
            "series": self.series.document(),
            "judge_series": {name: one.document() for name, one in self.judge_series.items()},
            "faults": list(self.faults),
            "notes": list(self.notes),
            "sentence": self.sentence,
        }


def _scale_document(scale: ScoreScale) -> dict[str, Any]:
    """A scale as `--json` prints it."""
    return {
        "low": scale.low, "high": scale.high, "step": scale.step, "n_levels": scale.n_levels,
        "declared": scale.declared, "rounded": scale.decimals,
    }  # fmt: skip


def diagnosis(table: ScoreTable, settings: DiagnosisSettings | None = None) -> Diagnosis:
    """Look at a table of scores.

    Args:
        table: as `read_scores` gives it. Where one criterion sums the others up, the figures of all scores and of each
            judge are its, and `by_criterion` has every one.
    Raises:
        InvalidInput: a scale whose ends are not in order; periods that the table cannot have.
    """
    import numpy as np

    chosen = settings or DiagnosisSettings()
    whole = table
    if table.overall is not None and table.criterion is not None:
        table = table.where(table.criterion.codes == table.overall)
    cells = sorted_out(table, chosen.scale, keep_zeros=chosen.keep_zeros)
    everything = np.arange(table.n)
    humans = human_scale(cells, chosen.human_scale)
    items = item_numbers(cells)
    periods = periods_of(cells, chosen.period)
    group = score_group(cells, everything, "", _beside(human_comparator(cells, everything, humans, items)))
    by_judge = _by_judge(cells, humans, items)
    series, judge_series = series_of(cells, periods)
    off = cells.spread(np.flatnonzero(cells.number)) if cells.off_scale.any() else None
    used = np.bincount(cells.codes[cells.used], minlength=len(cells.levels))
    return Diagnosis(
        source=table.source, columns=_roles(table), unused=table.columns.unused, scale=cells.scale,
        human_scale=humans, group=group, by_judge=by_judge, by_criterion=_by_criterion(whole, chosen),
        by_period=_by_period(cells, periods),
        off_scale=off, heaping=heaping(cells.levels[used > 0], used[used > 0], cells.scale.low, cells.scale.high),
        period_unit=None if periods is None else periods.unit, series=series, judge_series=judge_series,
        lonely_zeros=cells.lonely_zeros, failed_zeros=cells.n_failed_zeros(), zeros_kept=cells.zeros_kept,
        faults=tuple(fault.sentence(table.source, table.unit) for fault in table.faults),
        notes=(*table.notes, *_repeats(cells)),
        sentence=_sentence(group, by_judge),
    )  # fmt: skip


def _repeats(cells: Cells) -> tuple[str, ...]:
    """That judges scored an item more than once, where nothing says that these are reruns."""
    import numpy as np

    table = cells.table
    if table.item is None or table.rerun is not None or table.is_records:
        return ()
    parts = [table.item.codes, *(names.codes for names in (table.judge, table.criterion) if names is not None)]
    key = np.zeros(table.n, np.int64)
    for codes in parts:
        key = key * (int(codes.max(initial=0)) + 2) + codes + 1
    used = key[cells.used]
    small = int(used.max(initial=0)) <= _MOST_BINS
    n = len(used) - (np.count_nonzero(np.bincount(used)) if small else len(np.unique(used)))
    if n == 0:
        return ()
    who = "its judge" if table.judge is not None else "the file"
    return (
        f"{count(int(n))} of {plural(len(used), 'score')} {'is' if int(n) == 1 else 'are'} not the first "
        f"that {who} gives to an item: name a "
        f"rerun column with --rerun, "
        "or the further columns that make an item (--item A --item B)",
    )


def _beside(*comparators: Comparator | None) -> tuple[Comparator, ...]:
    """Those that are there."""
    return tuple(comparator for comparator in comparators if comparator is not None)


def _roles(table: ScoreTable) -> dict[str, Any]:
    """Which columns were read as what."""
    from dataclasses import asdict

    return {role: names for role, names in asdict(table.columns).items() if names and role != "unused"}


def _groups(cells: Cells, names: "Names | None") -> "list[tuple[int, str, NDArray[np.int64]]]":
    """Number, name and cells of each name that has any."""
    if names is None:
        return []
    parts = splits(names.codes, len(names.names))
    return [(code, names.names[code], part) for code, part in enumerate(parts) if len(part)]


def _by_judge(cells: Cells, humans: ScoreScale | None, items: "NDArray[np.int64]") -> tuple[ScoreGroup, ...]:
    """Each judge beside the humans and the other judges; the largest mode share first."""
    groups = _groups(cells, cells.table.judge)
    others = OtherJudges(cells, items) if cells.table.item is not None and len(groups) > 1 else None
    found = [
        score_group(
            cells, part, name,
            _beside(human_comparator(cells, part, humans, items), None if others is None else others.of(code)),
        )
        for code, name, part in groups
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda group: -(group.on_levels.mode_share.value or -1.0)))


def _by_criterion(table: ScoreTable, settings: DiagnosisSettings) -> tuple[ScoreGroup, ...]:
    """Each criterion, on a scale of its own where none is declared."""
    if table.criterion is None or len(table.criterion.names) < 2:
        return ()
    cells = sorted_out(table, settings.scale, keep_zeros=settings.keep_zeros)
    humans = human_scale(cells, settings.human_scale)
    items = item_numbers(cells)
    return tuple(
        score_group(cells, part, name, _beside(human_comparator(cells, part, humans, items)))
        for _, name, part in _groups(cells, table.criterion)
    )


def _by_period(cells: Cells, periods: Periods | None) -> tuple[ScoreGroup, ...]:
    """Each period, in order."""
    if periods is None:
        return ()
    parts = splits(periods.codes, len(periods.labels))
    return tuple(score_group(cells, part, label) for label, part in zip(periods.labels, parts, strict=True))


def _sentence(group: ScoreGroup, by_judge: tuple[ScoreGroup, ...]) -> str:
    """The verdict in words."""
    if len(by_judge) < 2:
        return f"{_said(group)}: {'; '.join(group.verdict.reasons)}"
    parts = {
        verdict: [one for one in by_judge if one.verdict.verdict == verdict]
        for verdict in ("collapsed", "not_collapsed", "cannot_tell")
    }
    names = ", ".join(one.name for one in parts["collapsed"])
    collapsed = f"{len(parts['collapsed'])} collapsed ({names})" if names else "none collapsed for sure"
    return (
        f"of {plural(len(by_judge), 'judge')} {collapsed}, {len(parts['not_collapsed'])} did not, "
        f"{len(parts['cannot_tell'])} "
        f"cannot be told; all scores pooled: {_said(group)}: {'; '.join(group.verdict.reasons)}"
    )


def _said(group: ScoreGroup) -> str:
    """A verdict as people say it."""
    return group.verdict.verdict.replace("_", " ")
