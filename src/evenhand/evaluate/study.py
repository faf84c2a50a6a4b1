"""Several judges on one graded set, each run as `evenhand judge` would run it, and held against the same truth.

    run_study(specs, items, ...)    every variant in turn; what the store holds is not asked again
    truth_of(items, column)         grades from a column of the items, where each has a known answer

A killed study is resumed by running it again: each variant is a session with the one store.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.evaluate.evaluation import Settings
from evenhand.evaluate.session import Judged, Session
from evenhand.store.grades import Grades, OutOfScale
from evenhand.store.number_cells import number_cell
from evenhand.terms import Item, JudgeSpec, Record

__all__ = ["Variant", "refuse_unequal_names", "run_study", "truth_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """How one judge's run ended, and its records."""

    spec: JudgeSpec
    judged: Judged
    records: tuple[Record, ...]


def refuse_unequal_names(specs: Sequence[JudgeSpec]) -> None:
    """Refuse a study whose variants could not be told apart.

    Raises:
        InvalidInput: fewer than one judge, or two of one name.
    """
    names = [spec.name for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(f"study: two judges are called {twice!r}; give each variant a `name` of its own")
    if not specs:
        raise InvalidInput("study: no judge; name one judge file or more before the items")


def run_study(
    sessions: Sequence[Session],
    settings: Settings | None,
    *,
    sink: Callable[[Record], None],
    watch: Any = None,
    began: Callable[[JudgeSpec, int, int], None] | None = None,
) -> tuple[Variant, ...]:
    """Run every variant; stops after the first that ends early.

    Args:
        sessions: one a variant, on the same items and store.
        sink: takes every record as it is done.
        watch: looks on while a variant runs.
        began: told of each variant as it begins: which, of how many.
    """
    found = []
    for number, session in enumerate(sessions, start=1):
        if began is not None:
            began(session.spec, number, len(sessions))
        records: list[Record] = []

        def keep(record: Record, records: list[Record] = records) -> None:
            records.append(record)
            sink(record)

        judged = session.run(settings, sink=keep, watch=watch)
        found.append(Variant(spec=session.spec, judged=judged, records=tuple(records)))
        if judged.stop is not None:
            break
    return tuple(found)


def truth_of(items: Iterable[Item], column: str, *, name: str, scale: tuple[float, float] | None = None) -> Grades:
    """Grades from a column of the items: one rater, who knows.

    Args:
        column: of the metadata, or `reference`.
        name: of the items file, for messages.
        scale: what a grade can be; None takes every number.
    Raises:
        InvalidInput: no item has the column, or text stands in it.
    """
    values: dict[str, dict[str, float]] = {}
    out: list[OutOfScale] = []
    n = missing = 0
    for item in items:
        n += 1
        came = item.metadata.get(column, item.reference if column == "reference" else None)
        where = f"{name}, item {item.id!r}"
        grade = number_cell(came, where, column)
        values[item.id] = {}
        if grade is None:
            missing += 1
        elif scale is not None and not scale[0] <= grade <= scale[1]:
            out.append(OutOfScale(where=where, item=item.id, who="truth", value=grade))
        else:
            values[item.id]["truth"] = grade
    if missing == n:
        raise InvalidInput(
            f"{name}: --truth {column!r}: no item has a number in it; name the column of the known answer"
        )
    return Grades(
        name=name,
        reading=f"the items' column {column!r}: {n} items, 1 rater",
        items=tuple(values),
        raters=("truth",),
        values=values,
        scale=scale,
        n_cells=n,
        n_missing=missing,
        out_of_scale=tuple(out),
    )
