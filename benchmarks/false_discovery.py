"""How often `rank recover` finds a rule where there is none, and whether it finds the rule where there is one.

    python benchmarks/false_discovery.py [--tables 200] [--seed 0]

Null tables: 20-60 rows, 3-8 components, scores to one decimal that come from no rule of the components: shuffled, with
noise, or with a hidden column, both worth at least five half-widths of the rounding. True tables: integer components, a
random rule of the family. Prints how many null tables are called unique, and in how many true tables the true rule is a
survivor, or a survivor plus clauses that are reported as untested.
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from evenhand.composite.recover import recover
from evenhand.composite.recovery.forms import Form, Gate, combined
from evenhand.composite.recovery.results import RecoveredRule, Recovery
from evenhand.composite.rule.syntax import Binary, Call, ColumnRef, Expression, walk
from evenhand.composite.table import Table

__all__ = ["TrueTable", "holds_truth", "null_table", "true_table"]

_NAMES = {1.0: "mean", 0.0: "geomean", -1.0: "hmean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueTable:
    """A table and the rule that made its scores."""

    table: Table
    form: Form
    columns: tuple[str, ...]


def components(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """(n, m) numbers from 1 to 100, of systems that are better or worse as a whole as well."""
    skill = rng.normal(0, 1, (n, 1)) * rng.uniform(0, 1)
    spread = skill + rng.normal(0, 1, (n, m))
    spread = (spread - spread.min()) / np.ptp(spread)
    return np.asarray(np.clip(1 + 99 * spread, 1, 100))


def random_form(rng: np.random.Generator, m: int, *, clauses: bool = True) -> Form:
    """A rule of the family: a mean with equal or unequal weights, or an extreme, often with a clause."""
    kind = str(rng.choice(["power", "power", "power", "power", "min", "max"]))
    power = float(rng.choice([1.0, 0.0, -1.0])) if kind == "power" else 1.0
    weights = None
    if kind == "power" and rng.random() < 0.5:
        parts = rng.multinomial(20 - m, np.ones(m) / m) + 1
        weights = tuple((parts / 20).tolist())
    form = Form(kind=kind, power=power, axes=tuple(range(m)), weights=weights)  # type: ignore[arg-type]
    if not clauses:
        return form
    draw = rng.random()
    if draw < 0.4:
        gate = Gate(int(rng.integers(m)), float(rng.choice([30, 40, 50, 60])), float(rng.choice([1, 2])))
        return Form(kind=form.kind, power=power, axes=form.axes, weights=weights, gates=(gate,))
    if draw < 0.55 and weights is None:
        limit = float(rng.choice([5, 10, 20]))
        return Form(kind=form.kind, power=power, axes=form.axes, floors=tuple((a, limit) for a in form.axes))
    if draw < 0.7 and weights is None:
        limit = float(rng.choice([80, 90]))
        return Form(kind=form.kind, power=power, axes=form.axes, caps=tuple((a, limit) for a in form.axes))
    return form


def printed_table(values: np.ndarray, scores: np.ndarray, decimals: int) -> Table:
    """The table as it would be printed."""
    cells = {f"c{axis + 1}": [f"{v:.{decimals}f}" for v in values[:, axis]] for axis in range(values.shape[1])}
    return Table.of_texts({**cells, "score": [f"{score:.1f}" for score in scores]})


def true_table(rng: np.random.Generator) -> TrueTable:
    """Integer components, scores to one decimal, by a random rule of the unrounded components."""
    n, m = int(rng.integers(20, 61)), int(rng.integers(3, 9))
    values = components(rng, n, m)
    form = random_form(rng, m)
    table = printed_table(values, combined(form, values), 0)
    return TrueTable(table=table, form=form, columns=tuple(f"c{axis + 1}" for axis in range(m)))


def null_table(rng: np.random.Generator) -> tuple[Table, str]:
    """Scores to one decimal that no rule of the components gives, and which kind."""
    n, m = int(rng.integers(20, 61)), int(rng.integers(3, 9))
    decimals = int(rng.integers(0, 2))
    half = 0.05 + 0.5 * 10.0**-decimals
    values = components(rng, n, m + 1)
    scores = combined(random_form(rng, m), values[:, :m])
    kind = str(rng.choice(["shuffled", "noise", "hidden"]))
    if kind == "shuffled":
        scores = rng.permutation(scores)
    elif kind == "noise":
        scores = scores + rng.normal(0, 5 * half, n)
    else:
        hidden = values[:, m] - values[:, m].mean()
        scores = scores + hidden / hidden.std() * 5 * half
    return printed_table(values[:, :m], scores, decimals), kind


def holds_truth(truth: TrueTable, found: Recovery) -> str:
    """How the true rule is among what was found: `survivor`, `untested`, or "" if it is not."""
    for rule in found.rules:
        how = _matches(truth, rule, found)
        if how:
            return how
    return ""


def _matches(truth: TrueTable, rule: RecoveredRule, found: Recovery) -> str:
    form, expression = truth.form, rule.rule.expression
    wanted = form.kind if form.kind != "power" else _NAMES[form.power]
    calls = [node.name for node in walk(expression) if isinstance(node, Call)]
    if wanted not in calls:
        return ""
    used = {node.name for node in walk(_core(expression)) if isinstance(node, ColumnRef)}
    if form.kind == "power":
        weights = form.weights or (1 / len(form.axes),) * len(form.axes)
        for name, weight in zip(truth.columns, weights, strict=True):
            told = rule.parameters.get(f"weight of {name}")
            if told is None or not _within(weight, told.low, told.high):
                return ""
    elif used != set(truth.columns):
        return ""
    missing = [clause for clause in _clauses(truth) if not _stated(rule, *clause)]
    if not missing:
        return "survivor"
    return "untested" if all(_untested(found, *clause) for clause in missing) else ""


def _core(expression: Expression) -> Expression:
    """The combination without its gates."""
    while isinstance(expression, Binary) and expression.operator == "*":
        expression = expression.left
    return expression


def _clauses(truth: TrueTable) -> list[tuple[str, str, float]]:
    form = truth.form
    found = [("gate", truth.columns[gate.axis], gate.knee) for gate in form.gates]
    found += [("floor", "", form.floors[0][1])] if form.floors else []
    return found + ([("cap", "", form.caps[0][1])] if form.caps else [])


def _stated(rule: RecoveredRule, kind: str, column: str, value: float) -> bool:
    """Whether a rule has the clause, with the true number in its interval; a clause on one axis may stand for all."""
    if kind == "gate":
        told = rule.parameters.get(f"knee of {column}")
        return told is not None and _within(value, told.low, told.high)
    some = [told for name, told in rule.parameters.items() if name == kind or name.startswith(f"{kind} of ")]
    return any(_within(value, told.low, told.high) for told in some)


def _untested(found: Recovery, kind: str, column: str, value: float) -> bool:
    return any(
        one.kind == kind and one.column == column and _within(value, one.low, one.high) for one in found.untested
    )


def _within(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or low - 1e-6 <= value) and (high is None or value <= high + 1e-6)


def main() -> None:
    """Run both and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("null", "true"), default=None)
    wanted = parser.parse_args()
    if wanted.only != "true":
        start = time.process_time()
        verdicts: Counter[tuple[str, str]] = Counter()
        for number in range(wanted.tables):
            table, kind = null_table(np.random.default_rng([wanted.seed, 1, number]))
            found = recover(table, "score")
            verdicts[kind, found.verdict] += 1
            if found.rules:
                print(
                    "null", number, kind, table.n_rows, len(table.columns) - 1, found.verdict, found.level, found.reason
                )
        print("null tables", dict(sorted(verdicts.items())), f"{time.process_time() - start:.0f} s")
    if wanted.only != "null":
        start = time.process_time()
        how: Counter[tuple[str, str]] = Counter()
        for number in range(wanted.tables):
            truth = true_table(np.random.default_rng([wanted.seed, 2, number]))
            found = recover(truth.table, "score")
            told = holds_truth(truth, found) or "NOT FOUND"
            how[told, found.verdict] += 1
            if told == "NOT FOUND":
                print(
                    "true",
                    number,
                    truth.form,
                    found.verdict,
                    found.level,
                    [r.document()["rule"] for r in found.rules[:3]],
                )
        print("true tables", dict(sorted(how.items())), f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
