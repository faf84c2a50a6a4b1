"""All detectors of a judge over one item: findings, and the failure of a detector where there is one.

A detector that works says whether it fires, and that is the finding. A detector that does not work (no such command, a
deadline passed, a callable that raises, a report that is not there) says nothing: the item fails with its cause.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.detectors.commands import command_status
from evenhand.detectors.helper import Helper
from evenhand.detectors.reports import in_report
from evenhand.terms import Detector, Evidence, Failure, Item, QuoteStatus

__all__ = ["Detectors", "Fault", "Findings", "Seen"]

_LONGEST_QUOTE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a detector saw: `found` or a success is True; with the place in the text where there is one."""

    holds: bool
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a detector itself did not work."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the detectors found on an item.

    Args:
        items: of those that fired, in the order of the judge.
        flags: `detector_left_out:<id>` for those whose source the item does not have.
    """

    items: tuple[Evidence, ...] = ()
    flags: tuple[str, ...] = ()


class Detectors:
    """A judge's detectors, with the process that helps them; close it at the end.

    Args:
        detectors: in the order of the judge.
    """

    def __init__(self, detectors: Sequence[Detector]) -> None:
        self._detectors = tuple(detectors)
        self._helper = Helper()

    async def findings(self, item: Item) -> Findings | Failure:
        """Run every detector on an item, beside the event loop."""
        return await asyncio.to_thread(self.findings_now, item)

    def findings_now(self, item: Item) -> Findings | Failure:
        """The same, where waiting is no harm."""
        items, flags = [], []
        for detector in self._detectors:
            text = item.text_of(detector.source)
            if text is None:
                flags.append(f"detector_left_out:{detector.id}")
                continue
            seen = self._seen(detector, text, item)
            if isinstance(seen, Fault):
                return Failure(code="detector", message=f"detector {detector.id!r}: {seen.message}")
            if seen.holds == (detector.fires_on in ("found", "success")):
                items.append(_finding(detector, text, seen))
        return Findings(items=tuple(items), flags=tuple(flags))

    def close(self) -> None:
        """End the helping process."""
        self._helper.close()

    def _seen(self, detector: Detector, text: str, item: Item) -> "Seen | Fault":
        match detector.kind:
            case "regex":
                return _read(self._helper.ask({"pattern": detector.what, "text": text}, detector.timeout_s))
            case "python":
                return _read(self._helper.ask({"callable": detector.what, "text": text}, detector.timeout_s))
            case "json":
                found = in_report(detector.what, text, item.id)
                return Fault(message=found) if isinstance(found, str) else Seen(holds=found)
            case _:
                status = command_status(detector.what, text, item.id, detector.timeout_s)
                return Fault(message=status) if isinstance(status, str) else Seen(holds=status == 0)


def _read(answer: dict[str, object] | str) -> Seen | Fault:
    """What the helper answered."""
    if isinstance(answer, str):
        return Fault(message=answer)
    span = answer.get("span")
    place = (int(span[0]), int(span[1])) if isinstance(span, list) else None
    return Seen(holds=answer.get("holds") is True, span=place)


def _finding(detector: Detector, text: str, seen: Seen) -> Evidence:
    """The item that a fired detector contributes; a long match is quoted by its beginning."""
    span = None if seen.span is None or seen.span[0] == seen.span[1] else seen.span
    if span is not None:
        span = (span[0], min(span[1], span[0] + _LONGEST_QUOTE))
    status: QuoteStatus = "absent" if span is None else "exact"
    return Evidence(
        claim=detector.claim,
        impact=detector.impact,
        quote="" if span is None else text[span[0] : span[1]],
        criterion=detector.criterion,
        perspective=detector.perspective,
        quote_status=status,
        span=span,
        source=None if detector.source == "candidate" else detector.source,
        detector=detector.id,
    )
