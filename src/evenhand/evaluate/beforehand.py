"""What a judge is given that it cannot get itself: findings of detectors, a model's dial, a comparer of formulas.

Judges are pure, so this happens here: detectors run once for each item, whatever the number of members and reruns, and
regimes are looked up once for each model. A judge that answers for itself is given what compares formulas. Findings and
dial end in the record (findings as items with `detector`, the dial as a
flag), so that a record is computed again without running a detector or asking for a regime.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.detectors.findings import Detectors, Findings
from evenhand.errors import InvalidInput
from evenhand.evaluate.expressions import math_worker, may_need_expressions
from evenhand.judges.commit import CommitJudge
from evenhand.judges.counter_bias import DIALS, UNTESTED, Dial, dial_for
from evenhand.judges.evidence_passes import EvidencePipeline
from evenhand.judges.protocol import Given, Judge, Judging
from evenhand.terms import Evidence, Failure, Item, JudgeSpec

__all__ = ["GIVEN_FLAGS", "Beforehand", "Known", "bound", "by_regime", "known_dials", "replayed_given"]

GIVEN_FLAGS = ("counter_bias:", UNTESTED, "detector_left_out:")
"""How flags begin that tell what was given to a judge, and that no reply tells."""

# Items come in order, each with all its members and reruns; so many back nobody asks any more.
_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of one item and member before judging, and the flags that say so."""

    given: Given
    flags: tuple[str, ...] = ()


class Beforehand:
    """Finds out what one judge needs; close it at the end.

    Args:
        spec: the judge.
        regimes: model to its stored regime, None where it was never probed; read only if the dial is `auto`.
        anyway: judge with models whose regime speaks against it.
    Raises:
        InvalidInput: a model's regime speaks against judging with it.
    """

    def __init__(self, spec: JudgeSpec, regimes: Mapping[str, str | None], *, anyway: bool = False) -> None:
        self._detectors = Detectors(spec.detectors) if spec.detectors else None
        self._dials = known_dials(spec, regimes, anyway=anyway)
        self._found: OrderedDict[str, asyncio.Task[Findings | Failure]] = OrderedDict()
        self._worker = math_worker(spec)

    @staticmethod
    def needed(spec: JudgeSpec) -> bool:
        """Whether anything has to be found out for this judge."""
        return bool(spec.detectors) or spec.counter_bias == "auto" or may_need_expressions(spec)

    async def of(self, item: Item, member: str) -> Known | Failure:
        """What is known of an item for a member, or the failure of a detector."""
        found = Findings() if self._detectors is None else await self._findings(item)
        if isinstance(found, Failure):
            return found
        dial, flags = self._dials.get(member, (None, ()))
        same = None if self._worker is None else self._worker.same
        given = Given(findings=found.items, dial=dial, expressions=same)
        return Known(given=given, flags=(*flags, *found.flags))

    def close(self) -> None:
        """End what was started."""
        if self._detectors is not None:
            self._detectors.close()
        if self._worker is not None:
            self._worker.close()

    async def _findings(self, item: Item) -> Findings | Failure:
        """The findings on an item; asked once, however many wait for them."""
        task = self._found.get(item.id)
        if task is None:
            assert self._detectors is not None
            task = self._found[item.id] = asyncio.create_task(self._detectors.findings(item))
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return await asyncio.shield(task)


def bound(judge: Judge, known: Known | None) -> Judge:
    """The judge with what is known; itself where nothing is."""
    return (
        judge.given(known.given) if known is not None and isinstance(judge, EvidencePipeline | CommitJudge) else judge
    )


def by_regime(judge: Judge, spec: JudgeSpec, regimes: Mapping[str, str | None], *, anyway: bool = False) -> Judge:
    """The judge with each model's dial, and without findings, on which no call depends.

    Raises:
        InvalidInput: a model's regime speaks against judging with it.
    """
    dials = known_dials(spec, regimes, anyway=anyway)
    return _ByRegime(judge, {model: dial for model, (dial, _) in dials.items()})


class _ByRegime:
    """A judge whose dial depends on the model."""

    def __init__(self, judge: Judge, dials: Mapping[str, Dial]) -> None:
        self.protocol = judge.protocol
        self.version = judge.version
        self._judge = judge
        self._dials = dials

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """As the judge, with the model's dial."""
        judge = bound(self._judge, Known(given=Given(dial=self._dials.get(model))))
        return judge.judge(item, model=model, rerun=rerun, first_attempt=first_attempt)


def known_dials(
    spec: JudgeSpec, regimes: Mapping[str, str | None], *, anyway: bool = False
) -> dict[str, tuple[Dial, tuple[str, ...]]]:
    """Dial and flags by model; empty unless the judge leaves the dial to the regime.

    Raises:
        InvalidInput: a model's regime speaks against judging with it.
    """
    if spec.counter_bias != "auto":
        return {}
    found = {}
    for model, regime in regimes.items():
        dial = dial_for(model, regime, anyway=anyway)
        found[model] = dial, (f"counter_bias:{dial}", *((UNTESTED,) if regime is None else ()))
    return found


def replayed_given(
    spec: JudgeSpec, flags: Sequence[str], recorded: Iterable[Mapping[str, Any]], span_of: Callable[[Any], Any] = tuple
) -> Given:
    """What was given to a judge, from what a record says; claims and impacts are those the judge declares now.

    Args:
        spec: the judge.
        flags: of the record.
        recorded: the items of the record's criteria, or the findings that a panel's record holds.
        span_of: a recorded span to a pair.
    Raises:
        InvalidInput: the flag names a dial that there is not.
    """
    dial = next((flag.partition(":")[2] for flag in flags if flag.startswith("counter_bias:")), None)
    if dial is not None and dial not in DIALS:
        raise InvalidInput(f"the record's flag counter_bias:{dial} names no dial; expected one of {', '.join(DIALS)}")
    fired = {str(item["detector"]): item for item in recorded if item.get("detector")}
    findings = []
    for detector in spec.detectors:
        item = fired.get(detector.id)
        if item is not None:
            span = item.get("span")
            findings.append(
                Evidence(
                    claim=detector.claim,
                    impact=detector.impact,
                    quote=item.get("quote", ""),
                    criterion=detector.criterion,
                    perspective=detector.perspective,
                    quote_status=item.get("quote_status", "absent"),
                    span=None if span is None else span_of(span),
                    source=None if detector.source == "candidate" else detector.source,
                    detector=detector.id,
                )
            )
    return replace(Given(findings=tuple(findings)), dial=dial)
