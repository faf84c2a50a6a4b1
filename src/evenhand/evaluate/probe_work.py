"""Many things asked at once for a probe: watched, stopped, and counted in tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from evenhand.analysis.probes import Tokens
from evenhand.engine.answer import Answers, Stopped
from evenhand.engine.drive import drive
from evenhand.engine.run import run_all
from evenhand.evaluate.evaluation import Interruption, Settings
from evenhand.judges.asking import total_usage
from evenhand.judges.probe import Asking, RatingShares
from evenhand.judges.probe_reading import RunFailure
from evenhand.terms import Failure, Reply, Usage

__all__ = ["Outcome", "ProbeWork", "Used"]

Outcome = tuple[int, ...] | RatingShares | RunFailure
"""What one thing asked comes to."""


@dataclass(slots=True)
class _All:
    """Tasks done, for progress."""

    n: int = 0
    failed: int = 0


@dataclass(slots=True)
class _Summary:
    all: _All = field(default_factory=_All)


class ProbeWork:
    """Asks many things at once, and can be watched and stopped."""

    def __init__(self, answers: Answers, settings: Settings) -> None:
        self.answers = answers
        self.summary = _Summary()
        self.interruption = Interruption(answers, settings.grace_s)
        self.stop: BaseException | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or SIGTERM came."""
        return self.interruption.happened

    async def all(self, asked: Sequence[Asking], used: "Used") -> list[Outcome]:
        """The outcome of each, in order.

        Raises:
            Stopped: the run was stopped before all were reached; `stop` says why where it was no interruption.
        """
        outcomes: dict[int, Outcome] = {}

        async def work(task: tuple[int, Asking]) -> None:
            number, asking = task
            try:
                found, cost = await drive(self.answers, used.counting(asking))
            except Stopped:
                return
            if isinstance(found, Failure):
                found = RunFailure(cause=found.code, message=found.message)
            used.costs.append(cost)
            outcomes[number] = found
            self.summary.all.n += 1
            self.summary.all.failed += isinstance(found, RunFailure)

        stop = await run_all(
            iter(list(enumerate(asked))),
            work,
            width=2 * sum(int(endpoint.limit.largest) for endpoint in self.answers.endpoints.values()),
            stop=self.answers.stop,
            stopping=lambda: self.answers.stopping,
        )
        self.stop = self.stop or stop
        if len(outcomes) < len(asked):
            raise Stopped("the run is stopping")
        return [outcomes[number] for number in range(len(asked))]


class Used:
    """Tokens of the replies that some outcomes rest on."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.costs: list[float | None] = []

    def counting(self, asking: Asking) -> Asking:
        """The same generator, with its replies counted."""
        calls = next(asking)
        while True:
            replies = yield calls
            self.replies.extend(replies)
            try:
                calls = asking.send(replies)
            except StopIteration as done:
                return cast("Outcome", done.value)

    def tokens(self, before: Tokens | None = None) -> Tokens:
        """The sums, added to an earlier part's."""
        usage = total_usage(self.replies) if self.replies else Usage()
        known = [cost for cost in self.costs if cost is not None]
        cost = sum(known) if known and len(known) == len(self.costs) else None
        made = Tokens(
            calls=len(self.replies),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=cost,
        )
        if before is None:
            return made
        return Tokens(
            calls=before.calls + made.calls,
            input_tokens=_plus(before.input_tokens, made.input_tokens),
            output_tokens=_plus(before.output_tokens, made.output_tokens),
            cost_usd=None if before.cost_usd is None or cost is None else before.cost_usd + cost,
        )


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
