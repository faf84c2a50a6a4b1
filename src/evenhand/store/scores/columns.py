"""Which column of a table holds what: by name, or by the names that others give it.

Aliases are compared without case, and with `_` for spaces and hyphens. Several score columns are several criteria;
several item columns together name an item.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from evenhand.errors import InvalidInput
from evenhand.store.text_files import quoted

__all__ = ["ScoreColumns", "listed", "resolve_columns"]

_ALIASES = {
    "score": (
        "score",
        "scores",
        "rating",
        "grade",
        "mark",
        "marks",
        "points",
        "value",
        "judge_score",
        "final_score",
        "overall_score",
        "overall",
    ),
    "item": (
        "item",
        "item_id",
        "id",
        "example_id",
        "sample_id",
        "question_id",
        "prompt_id",
        "task_id",
        "doc_id",
        "example",
        "sample",
    ),
    "judge": (
        "judge",
        "judge_name",
        "judge_id",
        "judge_model",
        "rater",
        "rater_id",
        "grader",
        "evaluator",
        "scorer",
        "annotator",
        "reviewer",
    ),
    "rerun": ("rerun", "run", "repeat", "replicate", "iteration", "trial", "attempt", "epoch"),
    "time": ("time", "timestamp", "created_at", "scored_at", "judged_at", "datetime", "date", "created", "ts"),
    "criterion": ("criterion", "criteria", "metric", "dimension", "aspect"),
    "human": (
        "human",
        "human_score",
        "human_rating",
        "human_grade",
        "human_mean",
        "gold",
        "gold_score",
        "expert_score",
    ),
    "status": ("status", "error", "error_type", "failure"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """Names of columns; empty or None means by alias, and the text "" (or `("",)`) means none at all.

    Attributes:
        score: where the numbers stand; several columns are several criteria.
        item: what was scored; several columns name it together.
        judge: who scored.
        rerun: which of several asks.
        time: when; the order of rows is taken where there is none.
        criterion: what the number is about, in a long table.
        human: the human grade of the same item, on the same row.
        status: whether the row failed: a word, or an error's text.
        beside: further columns whose texts are kept, where the file has them.
        by_chance: as `beside`, and passed over where what stands there is no text: nobody has asked for them by name.
        unused: the file's other columns.
    """

    score: tuple[str, ...] = ()
    item: tuple[str, ...] = ()
    judge: str | None = None
    rerun: str | None = None
    time: str | None = None
    criterion: str | None = None
    human: str | None = None
    status: str | None = None
    beside: tuple[str, ...] = ()
    by_chance: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def named(self) -> tuple[str, ...]:
        """All columns that are used, in the order of the roles."""
        found: list[str] = []
        for field in fields(self):
            if field.name == "unused":
                continue
            value = getattr(self, field.name)
            found += value if isinstance(value, tuple) else [value] if value else []
        return tuple(name for name in dict.fromkeys(found) if name)


def resolve_columns(wanted: ScoreColumns, names: Sequence[str], *, source: str, dotted: bool = False) -> ScoreColumns:
    """The columns of a file that play each role.

    Args:
        names: the file's columns.
        source: how messages name the file.
        dotted: whether `a.b` may name a field inside the field `a` (JSON).
    Raises:
        InvalidInput: a named column is not there, or none can be the score.

    >>> resolve_columns(ScoreColumns(), ["Item ID", "Rating", "notes"], source="s.csv").named()
    ('Rating', 'Item ID')
    """
    score = _several("score", wanted.score, names, source, dotted) or _likely_score(names, source)
    free = [name for name in names if name not in score]
    one = {
        role: _single(role, getattr(wanted, role), free, names, source, dotted)
        for role in ("judge", "rerun", "time", "criterion", "human", "status")
    }
    found = ScoreColumns(
        score=score, item=_several("item", wanted.item, names, source, dotted, free), judge=one["judge"],
        rerun=one["rerun"], time=one["time"], criterion=one["criterion"], human=one["human"], status=one["status"],
        beside=tuple(name for name in wanted.beside if name in names),
        by_chance=tuple(name for name in wanted.by_chance if name in names),
    )  # fmt: skip
    used = {*found.named(), *(name.split(".")[0] for name in found.named())}
    return replace(found, unused=tuple(name for name in names if name not in used))


def _several(
    role: str,
    wanted: tuple[str, ...],
    names: Sequence[str],
    source: str,
    dotted: bool,
    free: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """The named columns, or the first alias."""
    if wanted:
        asked = tuple(dict.fromkeys(name for name in wanted if name))
        return tuple(_present(name, role, names, source, dotted) for name in asked)
    found = _by_alias(role, names if free is None else free)
    return () if found is None else (found,)


def _single(
    role: str, wanted: str | None, free: Sequence[str], names: Sequence[str], source: str, dotted: bool
) -> str | None:
    """The named column, or the first alias among those that are not the score."""
    if wanted is not None:
        return _present(wanted, role, names, source, dotted) if wanted else None
    return _by_alias(role, free)


def _present(name: str, role: str, names: Sequence[str], source: str, dotted: bool) -> str:
    """The column of that name, by its very letters first."""
    if name in names:
        return name
    alike = [other for other in names if _plain(other) == _plain(name)]
    if len(alike) == 1:
        return alike[0]
    if dotted and "." in name and name.split(".")[0] in names:
        return name
    raise InvalidInput(f"{source}: --{role} {quoted(name)}: no such column; it has {listed(names)}")


def _by_alias(role: str, names: Sequence[str]) -> str | None:
    """The first alias that the file has."""
    plain = {_plain(name): name for name in reversed(names)}
    return next((plain[alias] for alias in _ALIASES[role] if alias in plain), None)


def _likely_score(names: Sequence[str], source: str) -> tuple[str, ...]:
    """The only column, or the only one whose name ends in `score`."""
    if len(names) == 1:
        return (names[0],)
    ending = [name for name in names if _plain(name).endswith("_score") and _plain(name) not in _ALIASES["human"]]
    if len(ending) == 1:
        return (ending[0],)
    raise InvalidInput(
        f"{source}: no column can be told to be the score; name it with --score (repeat it for several criteria): "
        f"it has {listed(names)}"
    )


def _plain(name: str) -> str:
    """A name without case, spaces and hyphens."""
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Names for a message, not more than a line or two."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(quoted(name, 40) for name in names[:limit]) + more
