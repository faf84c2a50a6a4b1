"""From survivors to what is said of them: intervals, clauses, missing cells, the verdict and its reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand.composite.recovery.clauses import without_clauses
from evenhand.composite.recovery.forms import Problem, misfits
from evenhand.composite.recovery.levels import Found, parameters_of
from evenhand.composite.recovery.missing import misses, policies
from evenhand.composite.recovery.results import Clause, RecoveredRule, Recovery, Suspect, Untested, Verdict
from evenhand.composite.recovery.rules import rule_of
from evenhand.composite.recovery.suspects import near_rules
from evenhand.composite.recovery.untested import separating_rows, untested_of
from evenhand.composite.recovery.verdict import contradiction, shuffles_accepted
from evenhand.composite.rule.boxes import image
from evenhand.composite.rule.evaluate import policy_of
from evenhand.composite.rule.syntax import Missing, Rule, columns_of
from evenhand.composite.table import Table
from evenhand.composite.trial import trial_of
from evenhand.composite.verify_clauses import differing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RecoverSettings", "Scene", "refused", "rule_found", "survived", "too_few"]

_REPORTED = 20
_SHARE = 5  # rows that a fitted number needs


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverSettings:
    """How to search.

    Args:
        seed: of the shuffles.
        shuffles: how many shuffles of the scores the verdict `unique` rests on.
        missing: what missing cells do, where it is known; None tries the policies.
        most_suspects: share of rows that a rule may leave out as suspects when none holds on all.
    """

    seed: int = 0
    shuffles: int = 200
    missing: Missing | None = None
    most_suspects: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scene:
    """The table that was searched.

    Attributes:
        problem: its rows with a score and every component.
        usable: (n,) places of the rows with a score, missing components or not.
    """

    table: Table
    score: str
    problem: Problem
    usable: "NDArray[np.int64]"
    eras: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def incomplete(self) -> "NDArray[np.int64]":
        """Places of the rows that lack a component."""
        import numpy as np

        return np.setdiff1d(self.usable, self.problem.index)

    def lacking(self, rule: Rule) -> "NDArray[np.int64]":
        """Of them, those that lack one which a rule uses."""
        import numpy as np

        used = [self.table.columns[name].values for name in columns_of(rule)]
        return np.array([row for row in self.incomplete if any(np.isnan(v[row]) for v in used)], dtype=np.int64)

    def numbers(self, places: "Sequence[int] | NDArray[np.int64]") -> tuple[int, ...]:
        """The rows' numbers in the file."""
        return tuple(self.table.rows[int(place)] for place in places)


def rule_found(found: Found) -> Rule:
    """A survivor as a rule of the language."""
    if found.form is not None:
        return rule_of(found.form, found.problem)
    assert found.rule is not None
    return found.rule if found.problem.missing is None else replace(found.rule, missing=found.problem.missing)


def too_few(table: Table, problem: Problem, notes: tuple[str, ...]) -> Recovery:
    """A table in which nothing can be searched."""
    return Recovery(
        verdict="ambiguous", n_rows=table.n_rows, n_searched=problem.n, notes=notes,
        reason=f"too few rows: {problem.n} with a score and every component; any rule could be made to fit",
    )  # fmt: skip


def survived(scene: Scene, level: str, found: list[Found], settings: RecoverSettings) -> Recovery:
    """What is said where rules hold on every row with all components."""
    import numpy as np

    rules = [_recovered(scene, one, settings) for one in found[:_REPORTED]]
    verdict, reason, shuffles = _verdict(scene, found, rules, settings)
    forms = [one for one in found if one.form is not None]
    rows = scene.problem.index
    untested: list[Untested] = []
    if forms and forms[0] is found[0]:
        assert found[0].form is not None
        untested = untested_of(found[0].problem, found[0].form, scene.table.names)
    left = scene.lacking(rules[0].rule)
    whole = np.setdiff1d(scene.incomplete, left)
    off = whole[misses(rules[0].rule, scene.table, scene.score)[whole] != 0] if len(whole) else whole
    unexplained = scene.numbers(np.union1d(off, left if not rules[0].missing else off))
    notes = list(scene.notes)
    if unexplained:
        notes.append(
            f"{len(unexplained)} rows lack a component, and no policy (left out, 0, 1, 100) reproduces them all; the "
            f"rule is held against the {len(rows)} complete rows"
        )
    if level == "eras":
        notes.append("no single rule of these families holds for all rows: it changed between the values named")
    separating: list[Found] = [one for one in forms if one.problem is forms[0].problem] if forms else []
    return Recovery(
        verdict=verdict, reason=reason, level=level, rules=tuple(rules), n_survivors=len(found),
        n_rows=len(scene.usable), n_searched=scene.problem.n, untested=tuple(untested), unexplained=unexplained,
        separating=tuple(separating_rows(
            forms[0].problem, [one.form for one in separating if one.form is not None][:_REPORTED],
            scene.table.names, scene.table.rows,
        )) if forms else (),
        notes=tuple(notes), shuffles=shuffles,
    )  # fmt: skip


def _recovered(scene: Scene, found: Found, settings: RecoverSettings) -> RecoveredRule:
    """A survivor with the intervals of its numbers, the rows of its clauses, and what missing cells do."""
    rule = rule_found(found)
    parameters = dict(found.parameters)
    if found.form is not None:
        parameters |= {name: one for name, one in parameters_of(found) if name not in parameters}
    rule, words, carriers = _missing(scene, rule, settings)
    proof = bool(image(rule, scene.table.where(scene.problem.index)).is_exact.all()) if found.form is None else True
    return RecoveredRule(
        rule=rule, parameters=parameters, clauses=tuple(_clauses(scene, found, rule)), n_free=found.complexity[0],
        is_proof=proof, missing=words, missing_rows=carriers, unused=_unused(scene, rule),
    )  # fmt: skip


def _missing(scene: Scene, rule: Rule, settings: RecoverSettings) -> tuple[Rule, str, tuple[int, ...]]:
    """(rule with its policy, the policy in words, rows that carry it); rows that lack a column it uses count only."""
    left = scene.lacking(rule)
    if not len(left) or settings.missing == "drop":
        return rule, "", ()
    told = policies(rule, scene.table, scene.score, left)
    if settings.missing is not None:
        told = [pair for pair in told if pair[0].missing == settings.missing]
    if not told:
        return rule, "", ()
    words = told[0][1]
    if len(told) > 1:
        words += f" (or {', or '.join(other for _, other in told[1:])}: not to be told here)"
    return told[0][0], words, scene.numbers(left)


def _unused(scene: Scene, rule: Rule) -> tuple[str, ...]:
    """Components that the rule does not name: decoys."""
    used = set(columns_of(rule))
    return tuple(part for axis in scene.problem.axes for part in axis.parts if part not in used)


def _clauses(scene: Scene, found: Found, rule: Rule) -> Iterator[Clause]:
    """Each clause, with the rows that it changes and those that carry it, counted as a test of the rule counts them."""
    import numpy as np

    if found.form is None or not (found.form.gates or found.form.floors or found.form.caps):
        return
    trial = trial_of(rule, scene.table, scene.score)
    for key, form in without_clauses(found.form):
        without = replace(rule_of(form, found.problem), missing=rule.missing)
        changed = differing(without, rule, scene.table, policy_of(rule, None)) & trial.tested
        carried = changed & trial.broken_by(without) & ~trial.violated
        kind, _, axis = key.partition(" ")
        name = f"{kind} on {found.problem.axes[int(axis)].name}" if axis else f"{kind} on every axis"
        rows, carriers = (scene.numbers(np.flatnonzero(side)) for side in (changed, carried))
        yield Clause(clause=name, rows=rows, carried_by=carriers)


def _verdict(
    scene: Scene, found: list[Found], rules: list[RecoveredRule], settings: RecoverSettings
) -> tuple[Verdict, str, tuple[int, int]]:
    """(verdict, reason, shuffles)."""
    import numpy as np

    n, best = scene.problem.n, found[0]
    equals = [one for one in found if one.complexity == best.complexity]
    if scene.problem.m > n:
        return "ambiguous", f"not identifiable: {scene.problem.m} components and {n} rows", (0, 0)
    if len(equals) > 1:
        return "ambiguous", f"{len(equals)} rules of the same complexity hold on all {n} rows", (0, 0)
    if best.complexity[0] * _SHARE > n:
        return (
            "ambiguous",
            (
                f"too few rows: {best.complexity[0]} fitted numbers on {n} rows; "
                f"at least {best.complexity[0] * _SHARE} are needed"
            ),
            (0, 0),
        )
    stop = int(np.ceil(0.01 * settings.shuffles))
    rising = best.form is not None and all(w >= 0 for w in best.form.weights or ()) and best.form.scale > 0
    accepted, tried = shuffles_accepted(
        best.problem,
        best.refit,
        np.random.default_rng(settings.seed),
        count=settings.shuffles,
        rising=rising,
        stop=max(stop, 1),
    )
    if tried and accepted >= max(stop, 1):
        return (
            "ambiguous",
            (f"too few rows to tell: the same structure also fits {accepted} of {tried} shuffles of the scores"),
            (accepted, tried),
        )
    del rules
    return (
        "unique",
        (f"one structure holds on all {n} rows; of {tried} shuffles of the scores it fits {accepted}"),
        (accepted, tried),
    )


# --- no rule -------------------------------------------------------------------------------------------------------


def refused(scene: Scene, settings: RecoverSettings) -> Recovery:
    """What is said where no rule holds on every row: rules for all rows but a few, or a proof that there is none."""
    import numpy as np

    problem, table = scene.problem, scene.table
    rng = np.random.default_rng(settings.seed)
    found, wrong, where = near_rules(problem, table, scene.eras, settings.most_suspects, rng)
    notes = [*scene.notes, *_outside(problem)]
    falling = np.array([table.column(axis.parts[0]).lower for axis in problem.axes])
    exact = np.array([table.column(axis.parts[0]).exact for axis in problem.axes])
    proof = contradiction(problem, falling, exact)
    suspects = tuple(_suspects(scene, found[0], wrong)) if found else ()
    rules = tuple(_near(scene, one) for one in found)
    verdict: Verdict = "ambiguous" if found else "none"
    reason = _near_reason(problem, suspects, where) if found else "no rule of the family holds on every row"
    if proof is not None:
        verdict, reason = "undetermined", _proof_reason(scene, proof) + (f"; {reason}" if found else "")
    return Recovery(
        verdict=verdict, reason=reason, level="all rows but the suspects" if found else "", rules=rules,
        n_survivors=0, n_rows=len(scene.usable), n_searched=problem.n, suspects=suspects, notes=tuple(notes),
    )  # fmt: skip


def _suspects(scene: Scene, found: Found, wrong: "NDArray[np.int64]") -> Iterator[Suspect]:
    """The rows that a rule misses, with by how much."""
    assert found.form is not None
    missed = misfits(found.form, scene.problem)
    for row in wrong:
        place = int(scene.problem.index[row])
        yield Suspect(row=scene.table.rows[place], name=scene.table.names[place], excess=-float(missed[row]))


def _near(scene: Scene, found: Found) -> RecoveredRule:
    rule, parameters = rule_found(found), dict(found.parameters)
    return RecoveredRule(
        rule=rule, parameters=parameters, clauses=tuple(_clauses(scene, found, rule)), n_free=found.complexity[0]
    )


def _near_reason(problem: Problem, suspects: tuple[Suspect, ...], where: str) -> str:
    """How many rows hold, and what those that do not have in common."""
    count = len(suspects)
    said = f"no rule of the family holds on every row; this one holds on all but {count} of {problem.n}"
    if where:
        return f"{said}, which are those of {where}"
    if count > 2 and all(one.excess > 0 for one in suspects):
        return f"{said}, which are all printed above it: a component is not shown"
    if count > 2 and all(one.excess < 0 for one in suspects):
        return f"{said}, which are all printed below it: a deduction, a gate or a component that is not shown"
    if count == 1:
        one = suspects[0]
        way = "above" if one.excess > 0 else "below"
        return f"{said}: {one.name} is printed {abs(one.excess):.4g} {way} what it allows"
    return said


def _proof_reason(scene: Scene, proof: tuple[int, int, str]) -> str:
    """Two rows which show that the components do not determine the score."""
    first, second, kind = proof
    names = [scene.table.names[int(scene.problem.index[row])] for row in (first, second)]
    if kind == "equal":
        return (
            f"the components do not determine the score: {names[0]} and {names[1]} have equal ones and unequal scores"
        )
    return (
        f"no rule that rises in every component can hold: {names[0]} is at least as good as {names[1]} in each of them "
        "and yet scores less"
    )


def _outside(problem: Problem) -> list[str]:
    """Rows whose score lies outside all components, which no mean of them can give."""
    below = int((problem.score_high < problem.low.min(axis=1)).sum())
    above = int((problem.score_low > problem.high.max(axis=1)).sum())
    if not 0 < below + above < problem.n:
        return []
    said = [f"{count} below all" for count in (below,) if count] + [f"{count} above all" for count in (above,) if count]
    return [f"of {problem.n} rows, {' and '.join(said)} of their components: no mean of the components can be the rule"]
