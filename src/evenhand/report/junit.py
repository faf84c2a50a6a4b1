"""Records as JUnit XML, for the test tables of build systems.

    failed      an error, by its cause
    abstained   skipped, with the reason
    verdict     passes; below `pass_at` it is a failure, if that is given

Where a judge has a panel its combined records are the test cases, and not its members'. No time is given: records hold
no clock.
"""

import xml.etree.ElementTree as ET  # written only, never read
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evenhand.errors import InvalidInput
from evenhand.report.item_views import reason_of
from evenhand.report.numbers import number
from evenhand.report.visible import plain
from evenhand.terms import Record

__all__ = ["Gate", "deciding", "report_junit"]

_LONGEST = 2_000


@dataclass(slots=True)
class Gate:
    """The three counts that decide, and how many scores lie below the mark."""

    pass_at: float | None = None
    n: int = 0
    below: int = 0
    failed: int = 0
    abstained: int = 0

    def add(self, record: Record) -> bool:
        """Count one deciding record.

        Returns:
            Whether its score lies below the mark.
        Raises:
            InvalidInput: no score of the record's scale can reach the mark, or none can miss it.
        """
        self.n += 1
        self.failed += record.status == "failed"
        self.abstained += record.status == "abstained"
        if self.pass_at is None or record.score is None:
            return False
        if record.scale is not None and not record.scale[0] <= self.pass_at <= record.scale[1]:
            raise InvalidInput(
                f"--pass-at {number(self.pass_at)}: the scale of record {plain(record.item, 60)!r} is "
                f"{number(record.scale[0])} to {number(record.scale[1])}; give a score within it"
            )
        below = record.score < self.pass_at
        self.below += below
        return below


def deciding(records: Iterable[Record]) -> tuple[Record, ...]:
    """The records that decide: a panel's combined ones where a judge has a panel, else those of its members."""
    kept = tuple(records)
    panels = {_judge(record) for record in kept if record.member is None}
    return tuple(record for record in kept if record.member is None or _judge(record) not in panels)


def _judge(record: Record) -> tuple[str, str]:
    return str(record.judge.get("name")), str(record.judge.get("hash"))


@dataclass(slots=True)
class _Suite:
    element: ET.Element = field(default_factory=lambda: ET.Element("testsuite"))
    gate: Gate = field(default_factory=Gate)


def report_junit(records: Iterable[Record], *, title: str, pass_at: float | None, hide_scores: bool) -> str:
    """The XML document; see the module.

    Args:
        records: those that decide (`deciding`).
        pass_at: a score below it is a failure; None lets every verdict pass.
    Raises:
        InvalidInput: a mark outside the scale of a record.
    """
    suites: dict[str, _Suite] = {}
    for record in records:
        name = f"{record.judge.get('name')}: {record.member or 'panel'}"
        suite = suites.setdefault(name, _Suite(gate=Gate(pass_at=pass_at)))
        suite.element.append(_case(record, suite.gate, hide_scores))
    root = ET.Element("testsuites", _counts(title, [suite.gate for suite in suites.values()]))
    for name, suite in suites.items():
        for key, value in _counts(name, [suite.gate]).items():
            suite.element.set(key, value)
        root.append(suite.element)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(name: str, gates: list[Gate]) -> dict[str, str]:
    return {
        "name": plain(name, 200),
        "tests": str(sum(gate.n for gate in gates)),
        "failures": str(sum(gate.below for gate in gates)),
        "errors": str(sum(gate.failed for gate in gates)),
        "skipped": str(sum(gate.abstained for gate in gates)),
    }


def _case(record: Record, gate: Gate, hide_scores: bool) -> ET.Element:
    below = gate.add(record)
    rerun = f" (rerun {record.rerun})" if record.rerun else ""
    case = ET.Element(
        "testcase",
        {"classname": plain(str(record.judge.get("name")), 200), "name": plain(record.item, 200) + rerun},
    )
    for name, attributes, text in _outcome(record, gate.pass_at, below, hide_scores):
        ET.SubElement(case, name, attributes).text = text
    return case


def _outcome(
    record: Record, pass_at: float | None, below: bool, hide_scores: bool
) -> Iterator[tuple[str, dict[str, str], str]]:
    """(element, attributes, text) of what is no plain pass, and the score."""
    if record.status == "failed":
        cause = record.cause or {}
        message = plain(str(cause.get("message")), _LONGEST)
        yield "error", {"type": plain(str(cause.get("code"))), "message": message}, ""
    elif record.status == "abstained":
        yield "skipped", {"message": plain(reason_of(record, hide_scores=hide_scores), _LONGEST)}, ""
    elif below:
        said = "below the mark" if hide_scores else f"{number(record.score)} is below {number(pass_at)}"
        yield "failure", {"type": "score", "message": said}, ""
    if record.score is not None and not hide_scores:
        scale = f" on {number(record.scale[0])} to {number(record.scale[1])}" if record.scale else ""
        yield "system-out", {}, f"score {number(record.score)}{scale}"
