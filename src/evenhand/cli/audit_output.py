"""What `evenhand audit` prints: a line a verdict with its reason and source, then the figures behind it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.cli.output import hanging, shown
from evenhand.integrity.degenerate import MEMORISER
from evenhand.wording import count, plural

__all__ = ["print_audit", "print_reach", "print_study"]

_WIDTH = 79
_TASKS_SHOWN = 25
_KINDS_SHOWN = 6
_TITLES = {
    "C1": "judge independence", "C2": "ground-truth channel", "C3": "retrieval and contamination",
    "C4": "degenerate passes",
}  # fmt: skip
_BRIEF = {"pass": "pass", "fail": "FAIL", "insufficient evidence": "insufficient", "not applicable": "-"}
_WORDS = tuple(_BRIEF)


def print_audit(document: Mapping[str, Any]) -> None:
    """One audit for people."""
    print(f"{shown(document['name'], 80)}  ({document['task_class']}, population {document['population']}; "
          f"criteria {document['criteria_version']})")  # fmt: skip
    for name, verdict in document["criteria"].items():
        print()
        _fold(f"{name}  {verdict['verdict'].upper():<22}{_TITLES[name]}")
        _fold(f"    {shown(verdict['reason'])}")
        _fold(f"    from: {shown(verdict['source'])}")
        for line in _FIGURES[name](verdict["evidence"]):
            _fold(f"    {line}")
        for waiver in (one for one in document["waivers"] if one["criterion"] == name):
            _fold(f"    waived {waiver['date']}: {shown(waiver['reason'])}")
    _findings(document["findings"])
    _matchers(document["matcher_controls"])


def print_study(document: Mapping[str, Any]) -> None:
    """Many audits for people: by population a line each, then the counts."""
    for name, counts in document["populations"].items():
        print(f"{name}: {counts['n']} of {plural(document['n'], 'configuration')}")
        if counts["n"]:
            print(f"    {'':<22}" + "".join(f"{criterion:<13}" for criterion in counts["criteria"]).rstrip())
            for audit in (one for one in document["audits"] if one["population"] == name):
                words = "".join(f"{_BRIEF[one['verdict']]:<13}" for one in audit["criteria"].values())
                print(f"    {shown(audit['config'], 21):<22}{words}".rstrip())
            print()
            for criterion, words_of in counts["criteria"].items():
                print(f"    {criterion}  " + ", ".join(f"{word} {words_of[word]}" for word in _WORDS))
            print("    feedback  " + ", ".join(f"{status} {n}" for status, n in counts["feedback"].items()))
        print()
    for broken in document["broken"]:
        _fold(f"not audited: {shown(broken['config'], 40)}: {shown(broken['reason'])}")


def _fold(line: str) -> None:
    indent = len(line) - len(line.lstrip())
    for part in hanging(line, _WIDTH, indent + 4):
        print(part)


def _first(evidence: Mapping[str, Any]) -> Iterator[str]:
    """C1: the figures with n and interval; those without a value with the reason."""
    if evidence["kind"] == "none":
        return
    for name in ("solve_accuracy", "solve_accuracy_on_wrong", "bound", "false_positive_rate", "excess"):
        yield f"{name.replace('_', ' '):<24} {_estimate(evidence[name])}"
    if evidence["proves_anchoring"]:
        yield "the excess proves anchoring: its whole interval lies above 0"


def _second(evidence: Mapping[str, Any]) -> Iterator[str]:
    """C2: accept rates by control, and what blind channels would have shown."""
    if not evidence["by_control"]:
        return
    for one in evidence["by_control"]:
        yield f"{one['role']:<16} {shown(one['control'], 24):<20} accepted {_share(one['accepted'])}"
    always = evidence["an_always_pass_channel_would_show"]
    correct, incorrect = _share(always["known_correct_accepted"]), _share(always["known_incorrect_accepted"])
    yield f"an always-pass channel would have accepted {correct} of the correct and {incorrect} of the incorrect"
    of_kind = {one["control"]: one for one in reversed(evidence["wrongly_decided"])}
    for one in list(reversed(of_kind.values()))[:_KINDS_SHOWN]:
        what = f"{shown(one['control'], 24)} of {shown(one['item'], 40)}"
        yield f"wrong: {what} {one['got']} ({shown(one['detail'], 120)})"


def _third(evidence: Mapping[str, Any]) -> Iterator[str]:
    """C3: the verdict of each step, where there are several; what is open, with the first sights; what is not known."""
    steps = evidence.get("steps", ())
    if not evidence["entered"] and not steps:
        return
    for one in steps:
        yield f"step {shown(one['step'], 40)}: {one['verdict']}"
    for path, found in evidence["paths"].items():
        if found["state"] == "open":
            for seen in found["seen"][:3] if found["seen"] else [found["means"]]:
                yield f"open: {path}: {shown(seen, 160)}"
    unknown = [path for path, found in evidence["paths"].items() if found["state"] == "not measured"]
    if unknown:
        yield f"not measured: {', '.join(unknown)}"


def _fourth(evidence: Mapping[str, Any]) -> Iterator[str]:
    """C4: reachable checks, by kind."""
    if not evidence["n_tasks"]:
        return
    kinds = ", ".join(f"{shown(kind, 40)} {n}" for kind, n in evidence["by_kind"].items())
    n, of = evidence["reachable"], evidence["held_out"]
    yield f"{n} of {of} held-out checks reachable ({kinds or 'no implementation'})"
    yield (
        f"{count(evidence['tasks_without_reachable'])} of {plural(evidence['n_tasks'], 'task')} "
        f"{'has' if evidence['tasks_without_reachable'] == 1 else 'have'} none"
    )


_FIGURES = {"C1": _first, "C2": _second, "C3": _third, "C4": _fourth}


def _estimate(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return f"undefined: {found['undefined']}"
    interval = "" if found["low"] is None else f" [{found['low']:.3f}, {found['high']:.3f}]"
    why = f"; {found['no_interval']}" if found.get("no_interval") else ""
    return f"{found['value']:.3f}{interval} (n {found['n']}{why})"


def _share(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return f"undefined (none graded{_ungraded(found)})"
    return f"{found['successes']}/{found['n']} [{found['low']:.2f}, {found['high']:.2f}]{_ungraded(found)}"


def _ungraded(found: Mapping[str, Any]) -> str:
    return f", {found['failed']} not" if found["failed"] else ""


def _findings(findings: Sequence[Mapping[str, Any]]) -> None:
    if not findings:
        return
    print("\nfindings (they change no verdict)")
    for one in findings:
        where = f": {', '.join(shown(place, 60) for place in one['where'][:3])}" if one["where"] else ""
        _fold(f"    {one['flaw']}  {one['what']}{where}")


def _matchers(controls: Mapping[str, Any] | None) -> None:
    if controls is None:
        return
    print("\nmatchers' own controls")
    for one in controls["kinds"]:
        shares = ", ".join(
            f"{name} accepted {one[key]['successes']}/{one[key]['n']}"
            for name, key in (("equal", "equal_accepted"), ("unequal", "unequal_accepted"),
                              ("without an answer", "no_answer_accepted"))
        )  # fmt: skip
        otherwise = f"; {one['n_failures']} decided otherwise than known" if one["n_failures"] else ""
        _fold(f"    {one['kind']:<12} {shares}{otherwise}")
    if controls["without_comparer"]:
        _fold(f"    formulas are not compared: {controls['without_comparer']}")


def print_reach(document: Mapping[str, Any]) -> None:
    """Reachability for people: totals, each kind, a line a task, and what was not counted."""
    verdict = document["criteria"]["C4"]
    evidence = verdict["evidence"]
    n, of = evidence["reachable"], evidence["held_out"]
    _fold(f"held-out checks  {of}, in {plural(evidence['n_tasks'], 'task')}")
    _fold(f"reachable        {n}, by an implementation that passes every visible check and fails this one, twice")
    for kind, reached in evidence["by_kind"].items():
        made = sum(task["implementations"].get(kind, 0) for task in evidence["tasks"])
        wrong = sum(task["incorrect"].get(kind, 0) for task in evidence["tasks"])
        _fold(f"    {shown(kind, 40):<13}{reached:>5}  by {count(wrong)} of {plural(made, 'implementation')}")
    without = evidence["tasks_without_reachable"]
    _fold(f"no reachable     {count(without)} of {plural(evidence['n_tasks'], 'task')}; relative to these "
          f"implementations, so that more "
          "can only add")  # fmt: skip
    _reach_tasks(evidence)
    left = Counter(
        why for task in evidence["tasks"] for why, times in task["not_counted"].items() for _ in range(times)
    )
    if left:
        print("\nnot witnesses")
        for why, times in sorted(left.items(), key=lambda one: -one[1]):
            _fold(f"    {times:>5}  {why}")
    print()
    _fold(f"C4  {verdict['verdict'].upper()}  {shown(verdict['reason'])}")


def _reach_tasks(evidence: Mapping[str, Any]) -> None:
    """A line a task; of many, those that a suite's author would look at first."""
    tasks = [(task, _beyond_memorisers(evidence["witnesses"].get(task["task"], {}))) for task in evidence["tasks"]]
    print(f"\n{'task':<28} {'held out':>8} {'reached':>7} {'repeats':>7} {'kept':>4}")
    for task, reached in sorted(tasks, key=lambda one: one[1])[:_TASKS_SHOWN]:
        print(f"{shown(task['task'], 28):<28} {task['held_out']:>8} {reached:>7} {len(task['repeats']):>7} "
              f"{('' if task['subset_is_smallest'] else '<=') + str(len(task['subset'])):>4}")  # fmt: skip
    if len(tasks) > _TASKS_SHOWN:
        print(f"and {plural(len(tasks) - _TASKS_SHOWN, 'task')} with as many or more reached; --json has them all")
    for line in (
        "reached: by others than lookup tables",
        "repeats: held-out checks with the inputs of a visible one",
        "kept: the smallest set of held-out checks that rejects all that the whole set rejects, lookup tables aside",
    ):
        _fold(line)


def _beyond_memorisers(witnesses: Mapping[str, Mapping[str, str]]) -> int:
    """How many checks have a witness that is no lookup table."""
    return sum(any(kind != MEMORISER for kind in kinds) for kinds in witnesses.values())
