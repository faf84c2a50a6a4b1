"""The detectors of a judge file: deterministic checks, each with a finding of fixed impact.

    - {id: secret, regex: 'AKIA[0-9A-Z]{16}', claim: A key is left in the text., impact: -5}
    - {id: tests, command: make test, claim: The tests fail., impact: -3}            fires_on: failure
    - {id: sizes, python: my_checks:sizes_add_up, claim: The sizes add up., impact: 2, fires_on: success}
    - {id: lint, json: 'report.json:/summary/errors=0', claim: No lint error., impact: 1}

Nothing is run here; a pattern must compile, and the rest must have its form.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Literal, cast

from evenhand.store.documents import Value
from evenhand.terms import IMPACTS, Detector, JudgeSpec

__all__ = ["detectors_of", "impact_of", "source_of"]

_FORMS = ("regex", "command", "python", "json")
_KEYS = (
    "id",
    "kind",
    "what",
    *_FORMS,
    "claim",
    "impact",
    "fires_on",
    "criterion",
    "perspective",
    "source",
    "timeout_s",
)
_USUAL = {
    "name": "id",
    "type": "kind",
    "pattern": "regex",
    "cmd": "command",
    "shell": "command",
    "run": "command",
    "callable": "python",
    "function": "python",
    "report": "json",
    "text": "claim",
    "value": "impact",
    "when": "fires_on",
    "timeout": "timeout_s",
}
_FIRES_ON = {
    "regex": ("found", "absent"),
    "json": ("found", "absent"),
    "command": ("failure", "success"),
    "python": ("failure", "success"),
}
_CALLABLE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_IN_REPORT = re.compile(r".+?:(?:/[^=]*)?=.+", re.DOTALL)
_LONGEST_S = 3600
_NO_SOURCE = ("id", "task", "reference", "system")


def detectors_of(value: Value, spec: JudgeSpec) -> tuple[Detector, ...]:
    """The detectors, in order.

    Args:
        value: what stands under `detectors`.
        spec: the rest of the judge, whose criteria, perspectives and catalogue a detector may name.
    Raises:
        InvalidInput: with line and field.
    """
    taken = {entry.id: "the catalog" for entry in spec.catalog}
    detectors: list[Detector] = []
    for element in value.items():
        detector = _detector(element, spec)
        if detector.id in taken:
            element.refuse(f"the id {detector.id!r} stands in {taken[detector.id]} already; ids must differ", "id")
        taken[detector.id] = "detectors"
        detectors.append(detector)
    return tuple(detectors)


def impact_of(value: Value) -> int:
    """An impact that an evidence item may have."""
    impact = value.whole()
    if impact not in IMPACTS:
        value.refuse(f"expected one of {', '.join(f'{one:+d}' for one in IMPACTS)}; came {impact}")
    return impact


def _detector(value: Value, spec: JudgeSpec) -> Detector:
    """One detector."""
    entries = value.entries(_KEYS, _USUAL)
    for name in ("id", "claim", "impact"):
        if name not in entries:
            value.refuse(f"is missing; a detector has id, one of {', '.join(_FORMS)}, claim and impact", name)
    kind, what = _form(value, entries)
    _check_form(what, kind)
    default, _ = _FIRES_ON[kind]
    return Detector(
        id=entries["id"].text(),
        kind=cast("Literal['regex', 'command', 'python', 'json']", kind),
        what=_exactly(what),
        claim=entries["claim"].text(),
        impact=impact_of(entries["impact"]),
        fires_on=cast(
            "Literal['found', 'absent', 'failure', 'success']",
            entries["fires_on"].choice(*_FIRES_ON[kind]) if "fires_on" in entries else default,
        ),
        criterion=_criterion(value, entries.get("criterion"), spec),
        perspective=entries["perspective"].known(spec.perspectives, "perspective")
        if "perspective" in entries
        else None,
        source=source_of(entries.get("source")),
        timeout_s=_timeout(entries["timeout_s"]) if "timeout_s" in entries else 10.0,
    )


def source_of(value: Value | None) -> str:
    """The text of an item that is looked at; the candidate where the file is silent."""
    if value is None:
        return "candidate"
    source = value.text()
    if source in _NO_SOURCE:
        value.refuse(f"{source!r} is not under judgement; expected candidate, context, or a name in an item's sources")
    return source


def _form(value: Value, entries: Mapping[str, Value]) -> tuple[str, Value]:
    """(kind, what is looked for), written as `kind` and `what` or under the kind's own name."""
    named = [form for form in _FORMS if form in entries]
    pair = [name for name in ("kind", "what") if name in entries]
    if len(named) == 1 and not pair:
        return named[0], entries[named[0]]
    if named:
        value.refuse(f"looks in one way only; came {' and '.join(named + pair)}: keep one, or write two detectors")
    if not pair:
        value.refuse(f"is missing; write one of {', '.join(f'{form}: ...' for form in _FORMS)}", "kind")
    kind = entries["kind"].choice(*_FORMS) if "kind" in entries else ""
    if len(pair) < 2:
        value.refuse("is missing; kind and what belong together", "what" if kind else "kind")
    return kind, entries["what"]


def _exactly(value: Value) -> str:
    """The text as written, spaces at its ends included; only the line end of a block of text is taken off."""
    value.text()
    return value.written.removesuffix("\n")


def _check_form(value: Value, kind: str) -> None:
    """Refuse what could never be carried out."""
    what = _exactly(value)
    if kind == "regex":
        try:
            re.compile(what)
        except (re.error, OverflowError, RecursionError) as error:
            value.refuse(f"no regular expression of Python's re ({error}); repair it, and keep it in single quotes")
    elif kind == "command":
        try:
            shlex.split(what)
        except ValueError as error:
            value.refuse(f"no command line ({error}); close what was opened")
    elif kind == "python" and not _CALLABLE.fullmatch(what):
        value.refuse(f"expected module:function, such as my_checks:sizes_add_up; came {value.came()}")
    elif kind == "json" and not _IN_REPORT.fullmatch(what):
        value.refuse(f"expected FILE:POINTER=VALUE, such as report.json:/summary/errors=0; came {value.came()}")


def _criterion(detector: Value, value: Value | None, spec: JudgeSpec) -> str | None:
    """The criterion that a finding belongs to; it must be said where there are several."""
    names = [criterion.id for criterion in spec.criteria]
    if value is not None:
        return value.known(names, "criterion")
    if len(names) > 1:
        detector.refuse(f"is missing; say which criterion the finding belongs to: {', '.join(names)}", "criterion")
    return None


def _timeout(value: Value) -> float:
    """Seconds above 0."""
    seconds = value.number()
    if not 0 < seconds <= _LONGEST_S:
        value.refuse(f"expected seconds above 0, at most {_LONGEST_S}; came {seconds}")
    return float(seconds)
