"""One judge's scores on all its items, from records or another system's table: what every comparison starts from.

A judgement without a verdict is counted by kind and takes part in no figure; a score that the scale does not have is
named and left out. Panels are not mixed with their members: a combined record is a judge of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand.errors import InvalidInput
from evenhand.store.grades import OutOfScale
from evenhand.store.scores.columns import listed
from evenhand.terms import Record
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.store.scores.table import ScoreTable

__all__ = ["COUNTS", "JudgeRatings", "ratings_of_records", "ratings_of_table"]

COUNTS = ("verdict", "abstained", "failed", "missing")
"""What a judgement came to; the four add up to all (`missing`: a table's cell without a number)."""

Scale = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRatings:
    """One judge's scores.

    Args:
        name: of the judge; with the member where several models judged.
        scores: item to its verdicts' scores before rounding, in the order of the reruns; every item stands here, also
            one without any.
        shown: the same as they are shown, rounded.
        counts: judgements by kind, as in COUNTS.
        out_of_scale: scores that the scale does not have; counted among `missing`.
        scale: (lowest, highest), where it is known.
        lengths: characters of the candidates, where known.
        clusters: item to its source, where a column was named.
        records: item to its records with a verdict, for checks and evidence; empty for tables.
        n_priced: judgements with a known cost.
        cost_usd: what these cost together.
    """

    name: str
    scores: Mapping[str, tuple[float, ...]]
    shown: Mapping[str, tuple[float, ...]]
    counts: Mapping[str, int]
    out_of_scale: tuple[OutOfScale, ...] = ()
    scale: Scale | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    records: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    n_priced: int = 0
    cost_usd: float = 0.0
    is_panel: bool = False

    @property
    def n(self) -> int:
        """Judgements, of whatever kind."""
        return sum(self.counts.values())

    @property
    def n_reruns(self) -> int:
        """The most scores that one item has."""
        return max((len(scores) for scores in self.scores.values()), default=0)

    @property
    def cost_per_1000(self) -> float | None:
        """Dollars for 1,000 judgements; None unless every judgement's cost is known."""
        return 1000.0 * self.cost_usd / self.n if self.n and self.n_priced == self.n else None


@dataclass(slots=True)
class _Gathered:
    """A judge's ratings while they come."""

    name: str
    scores: dict[str, list[float]] = field(default_factory=dict)
    shown: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    out_of_scale: list[OutOfScale] = field(default_factory=list)
    scale: Scale | None = None
    lengths: dict[str, int] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    records: dict[str, list[Record]] = field(default_factory=dict)
    n_priced: int = 0
    cost_usd: float = 0.0
    is_panel: bool = False

    def ratings(self, name: str) -> JudgeRatings:
        """What was gathered."""
        return JudgeRatings(
            name=name,
            scores={item: tuple(found) for item, found in self.scores.items()},
            shown={item: tuple(found) for item, found in self.shown.items()},
            counts=self.counts,
            out_of_scale=tuple(self.out_of_scale),
            scale=self.scale,
            lengths=self.lengths,
            clusters=self.clusters,
            records={item: tuple(found) for item, found in self.records.items()},
            n_priced=self.n_priced,
            cost_usd=self.cost_usd,
            is_panel=self.is_panel,
        )


def ratings_of_records(
    records: Iterable[Record], *, criterion: str | None = None, cluster: str | None = None
) -> list[JudgeRatings]:
    """Each judge's ratings, members and panels apart, in the order in which they first come.

    Args:
        criterion: take this criterion's scores instead of the whole.
        cluster: a field of the metadata that names each item's source.
    Raises:
        InvalidInput: no record has the criterion, or one judgement stands twice.
    """
    found: dict[tuple[str, str, str | None], _Gathered] = {}
    seen: set[tuple[str, str, str | None, str, int]] = set()
    criteria: dict[str, None] = {}
    for record in records:
        key = (str(record.judge.get("name")), str(record.judge.get("hash")), record.member)
        whole = (*key, record.item, record.rerun)
        if whole in seen:
            raise InvalidInput(
                f"the record of item {record.item!r}, rerun {record.rerun}, by {key[2] or 'the panel'} stands twice; "
                "leave one out"
            )
        seen.add(whole)
        criteria.update(dict.fromkeys(str(one.get("id")) for one in record.criteria))
        _add_record(found.setdefault(key, _Gathered(name=key[0])), record, criterion, cluster)
    if criterion is not None and criterion not in criteria:
        known = ", ".join(map(repr, criteria)) or "none"
        raise InvalidInput(f"--criterion {criterion!r}: no record has it; criteria are {known}")
    return [gathered.ratings(name) for gathered, name in zip(found.values(), _names(list(found)), strict=True)]


def _add_record(gathered: _Gathered, record: Record, criterion: str | None, cluster: str | None) -> None:
    """Count one record."""
    gathered.is_panel = record.member is None
    scores, shown = gathered.scores.setdefault(record.item, []), gathered.shown.setdefault(record.item, [])
    gathered.lengths.setdefault(record.item, record.candidate_chars)
    if cluster is not None and record.metadata.get(cluster) is not None:
        gathered.clusters.setdefault(record.item, str(record.metadata[cluster]))
    if record.cost_usd is not None:
        gathered.n_priced += 1
        gathered.cost_usd += record.cost_usd
    score, exact, scale = _chosen(record, criterion)
    status = "missing" if record.status == "verdict" and score is None else record.status
    gathered.counts[status] += 1
    if status != "verdict" or score is None:
        return
    scores.append(score if exact is None else exact)
    shown.append(score)
    gathered.records.setdefault(record.item, []).append(record)
    if scale is not None:
        gathered.scale = gathered.scale or scale


def _chosen(record: Record, criterion: str | None) -> tuple[float | None, float | None, Scale | None]:
    """Score, unrounded score and scale of a record, or of one of its criteria."""
    if criterion is None:
        scale = None if record.scale is None else (float(record.scale[0]), float(record.scale[1]))
        return record.score, record.exact, scale
    for one in record.criteria:
        if one.get("id") == criterion:
            bounds = one.get("scale")
            scale = None if bounds is None else (float(bounds[0]), float(bounds[1]))
            return one.get("score"), one.get("exact"), scale
    return None, None, None


def _names(keys: Sequence[tuple[str, str, str | None]]) -> list[str]:
    """The judge's name, with the member or hash where names alone do not tell them apart."""
    names = [key[0] for key in keys]
    if len(set(names)) == len(keys):
        return names
    with_member = [f"{name} by {member or 'the panel'}" for name, _, member in keys]
    if len(set(with_member)) == len(keys):
        return with_member
    return [f"{name} ({key[1].removeprefix('sha256:')[:8]})" for name, key in zip(with_member, keys, strict=True)]


def ratings_of_table(
    table: "ScoreTable",
    *,
    scale: Scale | None = None,
    columns_are_judges: bool = False,
    clusters: Mapping[str, str] | None = None,
    lengths: Mapping[str, int] | None = None,
    name: str = "the judge",
) -> list[JudgeRatings]:
    """Each judge's ratings from a table of any system.

    Args:
        scale: what a score can be; None takes every number.
        columns_are_judges: whether each of several score columns is a judge of its own.
        clusters: item to its source.
        lengths: item to the characters of its text.
        name: of the judge where the table names none.
    Raises:
        InvalidInput: no item column, several criteria, one rerun twice, or most scores outside the scale.
    """
    if table.item is None:
        others = f"; it also has {listed(table.columns.unused)}" if table.columns.unused else ""
        raise InvalidInput(f"{table.source}: no column can be told to be the item; name it with --item{others}")
    found: dict[str, _Gathered] = {}
    places: dict[tuple[str, str, str], int] = {}
    judges = table.criterion if columns_are_judges else table.judge
    scores = table.score.tolist()
    for at, status in enumerate(table.status.tolist()):
        item = _name(table.item, at)
        line = int(table.line[at])
        if item is None:
            raise InvalidInput(f"{table.source} {table.unit} {line}: no item is named; expected an id in every row")
        judge = (None if judges is None else _name(judges, at)) or name
        rerun = None if table.rerun is None else _name(table.rerun, at)
        if rerun is not None:
            first = places.setdefault((judge, item, rerun), line)
            if first != line:
                raise InvalidInput(
                    f"{table.source} {table.unit} {line}: item {item!r}, rerun {rerun!r} by {judge!r} stands in "
                    f"{table.unit} {first} already; leave one out"
                )
        gathered = found.setdefault(judge, _Gathered(name=judge, scale=scale))
        _add_cell(gathered, item, scores[at], status, f"{table.source} {table.unit} {line}")
    for gathered in found.values():
        gathered.clusters.update(clusters or {})
        gathered.lengths.update({item: n for item, n in (lengths or {}).items() if item in gathered.scores})
        _refuse_other_scale(gathered, table.source)
    if table.rerun is None:
        _refuse_doubles(found, table.source)
    return [gathered.ratings(gathered.name) for gathered in found.values()]


def _add_cell(gathered: _Gathered, item: str, score: float, status: int, where: str) -> None:
    """Count one cell; statuses are those of `store.scores.tables.STATUSES`."""
    scores, shown = gathered.scores.setdefault(item, []), gathered.shown.setdefault(item, [])
    kind = {0: "verdict", 1: "failed", 2: "abstained"}.get(status, "missing")
    if kind == "verdict" and gathered.scale is not None and not gathered.scale[0] <= score <= gathered.scale[1]:
        gathered.out_of_scale.append(OutOfScale(where=where, item=item, who=gathered.name, value=score))
        kind = "missing"
    gathered.counts[kind] += 1
    if kind == "verdict":
        scores.append(score)
        shown.append(score)


def _refuse_other_scale(gathered: _Gathered, source: str) -> None:
    """A scale that most scores leave is not theirs."""
    n_out, n_in = len(gathered.out_of_scale), gathered.counts["verdict"]
    if gathered.scale is not None and n_out > n_in:
        low, high = gathered.scale
        raise InvalidInput(
            f"{source}: {count(n_out)} of {plural(n_out + n_in, 'score')} of {gathered.name!r} lie outside "
            f"{low:g} to {high:g}, such "
            f"as {gathered.out_of_scale[0].value:g} ({gathered.out_of_scale[0].where}); the scores seem to have "
            "a scale of their own: state it with --score-scale LO:HI"
        )


def _refuse_doubles(found: Mapping[str, _Gathered], source: str) -> None:
    """Several scores of one item without a rerun column may be reruns or a mistake: ask."""
    for gathered in found.values():
        doubled = next((item for item, scores in gathered.scores.items() if len(scores) > 1), None)
        if doubled is not None:
            raise InvalidInput(
                f"{source}: item {doubled!r} has more than one score by {gathered.name!r}; name the column that tells "
                "reruns apart with --rerun, or judges with --judge"
            )


def _name(names: "object", at: int) -> str | None:
    """The name of a cell; None where it has none."""
    code = int(names.codes[at])  # type: ignore[attr-defined]
    return None if code < 0 else str(names.names[code])  # type: ignore[attr-defined]
