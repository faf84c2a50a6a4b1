"""How long a validation takes after import: 60 items by 5 reruns, and a table of 33 judges on thousands of items.

    python benchmarks/validation.py [LABELS.csv]

LABELS.csv is the table of 4,423 query-passage pairs with a column `human` and 33 columns of judges' labels; without it
a table of the same shape is drawn.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np

from evenhand.analysis.graded import join
from evenhand.analysis.judge_ratings import JudgeRatings
from evenhand.analysis.validation import ValidationSettings, validate
from evenhand.analysis.validation_document import validation_document
from evenhand.store.grades import Grades


def judge(name: str, scores: dict[str, tuple[float, ...]], lengths: dict[str, int]) -> JudgeRatings:
    counts = {"verdict": sum(map(len, scores.values())), "abstained": 0, "failed": 0, "missing": 0}
    return JudgeRatings(name=name, scores=scores, shown=scores, counts=counts, lengths=lengths)


def graded(values: dict[str, dict[str, float]], scale: tuple[float, float]) -> Grades:
    raters = tuple(dict.fromkeys(rater for given in values.values() for rater in given))
    return Grades(name="grades", reading="drawn", items=tuple(values), raters=raters, values=values, scale=scale)


def small(n_resamples: int) -> tuple[float, float]:
    """60 items, 5 reruns, 2 raters, with lengths: every figure of the report."""
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 1, 60)

    def rating(place: int) -> float:
        return float(np.clip(round(quality[place] + 0.7 * rng.normal()), 1, 5))

    grades = graded({f"i{k}": {"anna": rating(k), "ben": rating(k)} for k in range(60)}, (1.0, 5.0))
    scores = {f"i{k}": tuple(rating(k) for _ in range(5)) for k in range(60)}
    one = judge("judge", scores, {f"i{k}": int(rng.integers(50, 900)) for k in range(60)})
    began, used = time.perf_counter(), time.process_time()
    validation_document(validate(join(one, grades), grades, ValidationSettings(n_resamples=n_resamples)))
    return time.perf_counter() - began, time.process_time() - used


def large(path: Path | None, n_resamples: int) -> tuple[float, int, int]:
    """4,423 items by 33 judges, each validated whole."""
    if path is None:
        rng = np.random.default_rng(2)
        human = rng.integers(0, 4, 4423)
        columns = {f"judge-{k}": np.clip(human + rng.integers(-1, 2, 4423), 0, 3) for k in range(33)}
    else:
        with path.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        human = np.array([int(row["human"]) for row in rows])
        names = [name for name in rows[0] if name not in ("qid", "docid", "human")]
        columns = {name: np.array([float(row[name]) for row in rows]) for name in names}
    items = [f"i{k}" for k in range(len(human))]
    grades = graded({item: {"human": float(human[k])} for k, item in enumerate(items)}, (0.0, 3.0))
    began = time.perf_counter()
    for name, column in columns.items():
        one = judge(name, {item: (float(column[k]),) for k, item in enumerate(items)}, {})
        validation_document(validate(join(one, grades), grades, ValidationSettings(n_resamples=n_resamples)))
    return time.perf_counter() - began, len(items), len(columns)


def main() -> None:
    small(99)  # imports scipy and statsmodels
    seconds, used = min(small(9999) for _ in range(3))
    print(f"60 x 5, 9,999 resamples: {seconds:.2f} s after import, {used:.2f} s of processor time (best of 3)")
    seconds, n_items, n_judges = large(Path(sys.argv[1]) if len(sys.argv) > 1 else None, 1999)
    print(f"{n_items:,} x {n_judges}, 1,999 resamples each: {seconds:.1f} s")


if __name__ == "__main__":
    main()
