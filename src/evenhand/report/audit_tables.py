"""The evidence behind each verdict of an audit as tables, from the document that `--json` prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.numbers import percent
from evenhand.report.trust_pages import Table
from evenhand.wording import count

__all__ = ["evidence_tables", "findings_table", "matcher_table"]

_MOST = 60
_SAID = {True: "yes", False: "no", None: "not known"}

Evidence = Mapping[str, Any]


def evidence_tables(criterion: str, evidence: Evidence) -> tuple[Table, ...]:
    """The tables of one criterion's evidence, the figures first."""
    made = {"C1": _independence, "C2": _channel, "C3": _environment, "C4": _reach}[criterion](evidence)
    return tuple(table for table in made if table.rows)


def findings_table(findings: Sequence[Mapping[str, Any]]) -> Table:
    """All findings, a row each."""
    rows = tuple(
        (one["flaw"], one["title"], one["what"], "; ".join(one["where"][:6]), count(one["n"])) for one in findings
    )
    return Table(head=("class", "which is", "what was seen", "where", "#n"), rows=rows)


def matcher_table(controls: Mapping[str, Any]) -> Table:
    """The matchers' own controls, a row a kind of answer."""
    rows = tuple(
        (one["kind"], *(_of(one[key]) for key in ("equal_accepted", "unequal_accepted", "no_answer_accepted")),
         count(one["undecided"]), count(one["n_failures"]),
         "; ".join(f"{pair['candidate']} beside {pair['gold']}: {pair['got']}" for pair in one["failures"]))
        for one in controls["kinds"]
    )  # fmt: skip
    without = controls["without_comparer"]
    note = f"Declared here: {'; '.join(controls['declared'])}."
    note += f" Formulas are not compared: {without}" if without else ""
    head = ("kind of answer", "#equal accepted", "#unequal accepted", "#without an answer accepted", "#undecided",
            "#decided otherwise", "which")  # fmt: skip
    return Table(head=head, rows=rows, note=note)


def _of(found: Mapping[str, Any]) -> str:
    return f"{found['successes']} of {found['n']}"


def _independence(evidence: Evidence) -> list[Table]:
    names = ("solve_accuracy", "solve_accuracy_on_wrong", "bound", "false_positive_rate", "excess")
    words = {
        "solve_accuracy": "solve accuracy, all items",
        "solve_accuracy_on_wrong": "solve accuracy where the candidate is wrong",
        "bound": "bound: 1 - the latter",
        "false_positive_rate": "false-positive rate",
        "excess": "excess over the bound, paired",
    }
    figures = tuple((words[name], *_estimate(evidence[name], signed=name == "excess")) for name in names)
    note = "The excess proves anchoring." if evidence["proves_anchoring"] else ""
    seen = (
        ("its own answer is required or was seen", _SAID[evidence["commits"]]),
        ("it comes before the comparison", _SAID[evidence["commitment_precedes_comparison"]]),
        ("the candidate is in view", _SAID[evidence["has_candidate"]]),
        ("a reference is in view", _SAID[evidence["has_reference"]]),
        ("a verdict or score is asked for as well", _SAID[evidence["asks_for_verdict_or_score"]]),
        ("declared match relation", evidence["match"] or "none"),
        ("items on which acceptance was held against the match", count(evidence["n_matched"])),
        ("items on which it could not be", count(evidence["n_not_matched"])),
        ("of them decided otherwise", _listed(evidence["disagreements"])),
        ("accepted without an answer of its own", _listed(evidence["accepted_without_commitment"])),
    )
    return [
        Table(name="How the judge comes to accept", head=("", ""), rows=seen),
        Table(
            name="What it solves by itself", head=("", "#value", "#95 % interval", "#n", ""), rows=figures, note=note
        ),
        *_judge_details(evidence.get("details") or {}),
    ]


def _judge_details(details: Evidence) -> list[Table]:
    """What the template, the trace or the records hold beside: the items of a trace a row each."""
    plain = tuple(
        (name.removeprefix("n_").replace("_", " "), _plain(value))
        for name, value in details.items()
        if value not in (None, "", (), []) and not isinstance(value, Mapping) and name not in ("items", "notes")
    )
    items = tuple(
        (one["item"], one["arm"].replace("_", " "), one["reason"], one["commitment"] or "none",
         _SAID[one["accepted"]], (one["matched"] or "not compared").replace("_", " "))
        for one in details.get("items", ())
    )  # fmt: skip
    head = ("item", "arm", "why", "its own answer", "accepted", "match with it")
    return [Table(name="As it was read", head=("", ""), rows=plain), Table(name="Item by item", head=head, rows=items)]


def _plain(value: object) -> str:
    """A detail in words."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return _SAID[value] if isinstance(value, bool) else str(value).replace("_", " ")


def _channel(evidence: Evidence) -> list[Table]:
    rows = [(one["control"], one["role"], *_share(one["accepted"])) for one in evidence["by_control"]]
    blind = []
    for name, key in (("one that always passes", "an_always_pass_channel_would_show"),
                      ("one that always fails", "an_always_fail_channel_would_show")):  # fmt: skip
        both = evidence[key]
        blind.append(
            (name, *(_share(both[role])[0] for role in ("known_correct_accepted", "known_incorrect_accepted")))
        )
    this = tuple(_share(evidence[role])[0] for role in ("known_correct_accepted", "known_incorrect_accepted"))
    wrong = [
        (one["item"], one["control"], one["got"], one["candidate"], one["why"], one["detail"])
        for one in [*evidence["wrongly_decided"], *evidence["not_graded"]]
    ]
    stated = (
        ("kind", evidence["kind"] or "none"),
        ("independent of the judge", f"{_SAID[evidence['independent_of_judge']]}, {evidence['independence']}"),
        ("tolerance", percent(evidence["tolerance"])),
        ("feedback", {"held_out": "held out from optimisation", "exposed": "exposed to optimisation"}.get(
            evidence["feedback"], "unknown")),
        ("could be written by the candidate", _written(evidence)),
    )  # fmt: skip
    tables = [Table(name="The channel", head=("", ""), rows=stated)]
    if not rows:
        return tables
    return [
        Table(name="Controls", head=("control", "role", "#accepted", "#exact 95 % interval", "#n", "#not graded"),
              rows=tuple(rows), note="A probe has no known verdict: it is shown and decides nothing."),
        Table(name="Beside channels that look at nothing",
              head=("channel", "#known correct accepted", "#known incorrect accepted"),
              rows=(("this one", *this), *blind)),
        Table(name="Decided wrongly, or not graded",
              head=("item", "control", "what came", "candidate", "why it is known", "what the channel said"),
              rows=tuple(wrong)),
        *tables,
    ]  # fmt: skip


def _written(evidence: Evidence) -> str:
    """Nothing is said to be safe that nobody looked for."""
    looked = evidence["writable"] or evidence.get("looked_for_evaluator_files")
    return _listed(evidence["writable"]) if looked else "not measured"


def _environment(evidence: Evidence) -> list[Table]:
    specification = evidence.get("specification")
    said = [Table(name="As it is written", head=("",), rows=((specification,),))] if specification else []
    steps = evidence.get("steps", ())
    if not evidence["entered"] and not steps:
        return said
    order = {"open": 0, "not measured": 1, "closed": 2}
    paths = sorted(evidence["paths"].items(), key=lambda pair: order[pair[1]["state"]])
    rows = tuple(
        (name, found["state"], found["means"], "; ".join(found["seen"][:8]) or "nothing") for name, found in paths
    )
    note = evidence["failure"] or ""
    head = ("way", "state", "which means", "seen")
    return [
        Table(name="Step by step", head=("step", "verdict", "reason", "entered by"), rows=tuple(map(_step, steps))),
        Table(name="Ways to look the answer up", head=head, rows=rows, note=note),
        *said,
    ]


def _step(one: Mapping[str, Any]) -> tuple[str, ...]:
    return one["step"], one["verdict"], one["reason"], " ".join(one["enter"])


def _reach(evidence: Evidence) -> list[Table]:
    totals = [
        ("held-out checks", count(evidence["held_out"])),
        ("reachable", count(evidence["reachable"])),
        *((f"reachable by {kind}", count(n)) for kind, n in evidence["by_kind"].items()),
        ("tasks", count(evidence["n_tasks"])),
        ("tasks with no reachable check", count(evidence["tasks_without_reachable"])),
    ]
    if not evidence["n_tasks"]:
        return []
    tasks = tuple(
        (one["task"], one["verdict"], count(one["held_out"]), count(one["reachable"]),
         ", ".join(f"{kind} {n}" for kind, n in one["by_kind"].items()) or "none",
         _listed(evidence["unreachable"].get(one["task"], ())), one["reason"])
        for one in evidence["tasks"]
    )  # fmt: skip
    worth = tuple(
        (one["task"], _listed(one["repeats"]), _listed(one["subset"]) + ("" if one["subset_is_smallest"] else
         " (a smaller set may do)"),
         ", ".join(f"{kind} {one['incorrect'].get(kind, 0)} of {n}" for kind, n in one["implementations"].items())
         or "none",
         ", ".join(f"{why} {n}" for why, n in one["not_counted"].items()) or "none")
        for one in evidence["tasks"]
    )  # fmt: skip
    witnesses = tuple(
        (task, check, ", ".join(f"{kind}: {name}" for kind, name in of.items()))
        for task, checks in evidence["witnesses"].items()
        for check, of in checks.items()
    )
    note = "By kind may overlap. A memoriser is a lookup table of the visible inputs; it reaches almost everything."
    return [
        Table(name="Reachability", head=("", "#n"), rows=tuple(totals), note=note),
        Table(name="Tasks", head=("task", "verdict", "#held out", "#reachable", "by kind", "unreachable", "reason"),
              rows=tasks),
        Table(name="What the checks are worth",
              head=("task", "repeat a visible check", "smallest set that rejects as much",
                    "implementations that pass what is visible and fail the rest", "not counted"), rows=worth,
              note="The smallest set leaves lookup tables aside."),
        Table(name="Witnesses", head=("task", "held-out check", "reached by"), rows=witnesses),
    ]  # fmt: skip


def _estimate(found: Mapping[str, Any], *, signed: bool) -> tuple[str, str, str, str]:
    """Value, interval, n, and what has to be said."""
    if found["value"] is None:
        return "undefined", "", count(found["n"]), str(found["undefined"])
    shown = _signed if signed else percent
    interval = "" if found["low"] is None else f"{shown(found['low'])} to {shown(found['high'])}"
    return shown(found["value"]), interval, count(found["n"]), str(found.get("no_interval") or "")


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _share(found: Mapping[str, Any]) -> tuple[str, str, str, str]:
    if found["value"] is None:
        return "undefined", "", "0", count(found["failed"])
    interval = f"{percent(found['low'])} to {percent(found['high'])}"
    return percent(found["value"]), interval, count(found["n"]), count(found["failed"])


def _listed(values: Sequence[Any]) -> str:
    """A few of many, and how many there are."""
    if not values:
        return "none"
    more = f" and {count(len(values) - _MOST)} more" if len(values) > _MOST else ""
    return f"{count(len(values))}: {', '.join(str(value) for value in values[:_MOST])}{more}"
