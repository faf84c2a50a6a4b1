"""The contract of a judge: a generator that yields calls, is sent the replies, and returns an outcome.

    calls = next(judging)          a tuple of calls; independent ones go out together
    calls = judging.send(replies)  the replies in the same order
    StopIteration.value            the Verdict, Abstention or Failure

The protocol neither waits, retries, caches nor limits: the engine does. A provider fault that the engine could not
overcome is thrown in as `ProviderError`; a protocol that does not catch it fails its item. The same generator runs
live, from stored replies, or by hand in a test.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from evenhand.matching.rules import Expressions
from evenhand.terms import Call, Evidence, Item, JudgeSpec, Outcome, Reply

__all__ = ["Given", "Judge", "Judging"]

Judging = Generator[tuple[Call, ...], tuple[Reply, ...], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was found out before judging, since a judge itself opens and runs nothing.

    Args:
        findings: items of the detectors that fired; no prompt depends on them.
        dial: how strongly the prompt leans against the model's leniency, where the judge file leaves it to the model's
            regime; None where nothing was looked up.
        expressions: compares two mathematical expressions in a process of its own; None where none was started.
    """

    findings: tuple[Evidence, ...] = ()
    dial: Literal["off", "soft", "full"] | None = None
    expressions: Expressions | None = None


class Judge(Protocol):
    """A judge protocol bound to its judge file.

    Attributes:
        protocol: its name in judge files.
        version: raised whenever the same replies would give another verdict; stands in each record.
    """

    protocol: str
    version: int

    def __init__(self, spec: JudgeSpec, templates: Mapping[str, str]) -> None:
        """Check what the protocol needs of the spec, and render everything that does not depend on the item.

        Args:
            spec: the judge file.
            templates: file name to text of the prompt templates; judges open no files themselves.
        Raises:
            InvalidInput: the spec does not fit the protocol, said in one sentence with the way out.
        """

    def judge(self, item: Item, *, model: str, rerun: int = 0, first_attempt: int = 0) -> Judging:
        """Judge one item.

        Args:
            item: what is judged.
            model: `provider/model` of the member that judges.
            rerun: asked afresh for each number.
            first_attempt: the attempt number to begin with; above 0 where an unreadable outcome is asked afresh.
        """
        ...
