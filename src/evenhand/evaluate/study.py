"""Several judges on one graded set, each run as `evenhand judge` would run it, and held against the same truth.

    run_study(specs, items, ...)    every variant in turn; what the store holds is not asked again
    truth_of(items, column)         grades from a column of the items, where each has a known answer
    truth_by_match(items, specs)    grades from matching each candidate with the item's reference

A killed study is resumed by running it again: each variant is a session with the one store.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from evenhand.analysis.acceptance import Gold
from evenhand.errors import InvalidInput
from evenhand.evaluate.evaluation import Settings
from evenhand.evaluate.expressions import math_worker
from evenhand.evaluate.session import Judged, Session
from evenhand.judges.commit import rule_of
from evenhand.matching.matches import match, no_answer_in
from evenhand.matching.rules import Expressions, MatchRule
from evenhand.store.grades import Grades, OutOfScale
from evenhand.store.number_cells import number_cell
from evenhand.terms import Item, JudgeSpec, Record
from evenhand.wording import plural

__all__ = ["Variant", "golds", "known_truth", "refuse_unequal_names", "run_study", "truth_by_match", "truth_of"]


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


def truth_by_match(items: Iterable[Item], specs: Sequence[JudgeSpec], *, name: str) -> Grades:
    """Whether each candidate is right, by matching it with the item's reference as the commit judges match.

    Raises:
        InvalidInput: no commit judge, two that match otherwise, or no item whose candidate could be matched.
    """
    commits = [spec for spec in specs if spec.commit is not None]
    if not commits:
        raise InvalidInput(
            "--truth-by-match: no variant is `protocol: commit`, which says what counts as the same answer"
        )
    other = next((spec for spec in commits if rule_of(spec) != rule_of(commits[0])), None)
    if other is not None:
        raise InvalidInput(
            f"--truth-by-match: the judges {commits[0].name!r} and {other.name!r} match answers otherwise; name the "
            "known truth by --truth COL"
        )
    items = list(items)
    with golds(items, commits[:1]) as found:
        gold = found[commits[0].name]
        known = {item.id: gold(item.id, item.candidate) for item in items}
    values = {item: {} if right is None else {"truth": float(right)} for item, right in known.items()}
    n_missing = sum(right is None for right in known.values())
    if n_missing == len(known):
        raise InvalidInput(
            f"{name}: --truth-by-match: no item has a reference that its candidate could be matched with"
        )
    return _of_one_who_knows(name, "candidates matched with the items' references", values, n_missing, (0.0, 1.0))


def _of_one_who_knows(
    name: str,
    read_from: str,
    values: Mapping[str, Mapping[str, float]],
    n_missing: int,
    scale: tuple[float, float] | None,
    out_of_scale: Sequence[OutOfScale] = (),
) -> Grades:
    """Grades of a single rater, the truth."""
    return Grades(
        name=name,
        reading=f"{read_from}: {plural(len(values), 'item')}, 1 rater",
        items=tuple(values),
        raters=("truth",),
        values=values,
        scale=scale,
        n_cells=len(values),
        n_missing=n_missing,
        out_of_scale=tuple(out_of_scale),
    )


@contextmanager
def golds(items: Iterable[Item], specs: Sequence[JudgeSpec]) -> Iterator[dict[str, Gold]]:
    """What tells, for each commit judge, whether an answer to an item is right by the item's reference."""
    references = {item.id: item.reference for item in items}
    with ExitStack() as stack:
        found = {}
        for spec in specs:
            if spec.commit is not None:
                worker = math_worker(spec)
                if worker is not None:
                    stack.callback(worker.close)
                found[spec.name] = _gold(references, rule_of(spec), None if worker is None else worker.same)
        yield found


def _gold(references: Mapping[str, str | None], rule: MatchRule, expressions: Expressions | None) -> Gold:
    def right(item: str, answer: str) -> bool | None:
        reference = references.get(item)
        if not reference or no_answer_in(reference, rule) is not None:
            return None
        found = match(answer, reference, rule, expressions=expressions)
        return None if found.verdict == "undecided" else found.verdict == "equal"

    return right


def known_truth(grades: Grades) -> dict[str, bool]:
    """Item to whether its candidate is right, where every grade is 0 or 1; empty where the grades say something else.

    Raters that are evenly divided leave an item unknown.
    """
    means = {item: list(given.values()) for item, given in grades.values.items() if given}
    if not all(grade in (0, 1) for given in means.values() for grade in given):
        return {}
    return {item: 2 * sum(given) > len(given) for item, given in means.items() if 2 * sum(given) != len(given)}


def _number_of(came: Any) -> Any:
    """True and false as 1 and 0, since a known truth is often written so."""
    if isinstance(came, bool):
        return float(came)
    word = came.strip().casefold() if isinstance(came, str) else ""
    return {"true": 1.0, "false": 0.0}.get(word, came)


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
    missing = 0
    for item in items:
        came = item.metadata.get(column, item.reference if column == "reference" else None)
        where = f"{name}, item {item.id!r}"
        grade = number_cell(_number_of(came), where, column)
        values[item.id] = {}
        if grade is None:
            missing += 1
        elif scale is not None and not scale[0] <= grade <= scale[1]:
            out.append(OutOfScale(where=where, item=item.id, who="truth", value=grade))
        else:
            values[item.id]["truth"] = grade
    if missing == len(values):
        raise InvalidInput(
            f"{name}: --truth {column!r}: no item has a number in it; name the column of the known answer"
        )
    return _of_one_who_knows(name, f"the items' column {column!r}", values, missing, scale, out)
