"""What a run came to: the three counts, the distribution of scores, fabricated quotes, tokens and cost.

Built record by record, so that a run of any length is summed up without being held.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Record, Usage

__all__ = ["MemberSummary", "Summary", "quotes_of"]


@dataclass(slots=True)
class MemberSummary:
    """The sums of one member, or of all; None where no record reported the figure."""

    verdict: int = 0
    abstained: int = 0
    failed: int = 0
    scores: Counter[float] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    quotes_offered: int = 0
    quotes_absent: int = 0
    quotes_empty: int = 0
    quote_statuses: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    cached_tokens: int | None = None
    output_tokens: int = 0
    reasoning_tokens: int | None = None
    usage_unknown: int = 0
    cost_usd: float | None = None
    cost_unknown: int = 0
    flags: Counter[str] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """Records: verdicts, abstentions and failures."""
        return self.verdict + self.abstained + self.failed

    def add(self, record: Record) -> None:
        """Count one record."""
        if record.status == "verdict":
            self.verdict += 1
            if record.score is not None:
                self.scores[record.score] += 1
        elif record.status == "abstained":
            self.abstained += 1
        else:
            self.failed += 1
            cause = record.cause or {}
            self.causes[str(cause.get("code"))] += 1
            self.messages.setdefault(str(cause.get("code")), f"{record.item}: {cause.get('message')}")
        for quote, status in quotes_of(record):
            self._add_quote(quote, status)
        self._add_usage(record.usage)
        if record.cost_usd is None:
            self.cost_unknown += bool(record.keys)  # without a reply there was nothing to price
        else:
            self.cost_usd = (self.cost_usd or 0.0) + record.cost_usd
        self.flags.update(record.flags)

    def merge(self, other: "MemberSummary") -> None:
        """Add another member's sums."""
        self.messages = other.messages | self.messages
        for name in self.__dataclass_fields__.keys() - {"messages"}:
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, theirs if mine is None else mine if theirs is None else mine + theirs)

    def document(self) -> dict[str, Any]:
        """The sums as `--json` prints them; a figure that is not defined is null, and its n says why."""
        mode, mode_n = max(self.scores.items(), key=lambda pair: (pair[1], -pair[0]), default=(None, 0))
        n_scores = self.scores.total()
        return {
            "n": self.n,
            "verdict": self.verdict,
            "abstained": self.abstained,
            "failed": self.failed,
            "causes": dict(sorted(self.causes.items())),
            "cause_examples": dict(sorted(self.messages.items())),
            "scores": {_label(score): count for score, count in sorted(self.scores.items())},
            "n_scores": n_scores,
            "mode": mode,
            "mode_share": _share(mode_n, n_scores),
            "mode_share_interval": _interval(mode_n, n_scores),
            "fabricated_quotes": self.quotes_absent,
            "quotes_offered": self.quotes_offered,
            "quotes_empty": self.quotes_empty,
            "quote_statuses": dict(sorted(self.quote_statuses.items())),
            "fabricated_quote_rate": _share(self.quotes_absent, self.quotes_offered),
            "fabricated_quote_interval": _interval(self.quotes_absent, self.quotes_offered),
            "cost_usd": None if self.cost_unknown or self.cost_usd is None else round(self.cost_usd, 10),
            "cost_unknown": self.cost_unknown,
            "usage": {
                "input_tokens": self.input_tokens,
                "cached_tokens": self.cached_tokens,
                "output_tokens": self.output_tokens,
                "reasoning_tokens": self.reasoning_tokens,
                "unknown": self.usage_unknown,
            },
            "flags": dict(sorted(self.flags.items())),
        }

    def _add_quote(self, quote: str, status: str) -> None:
        if not quote.strip():
            self.quotes_empty += 1
            return
        self.quotes_offered += 1
        self.quotes_absent += status == "absent"
        self.quote_statuses[status] += 1

    def _add_usage(self, usage: Usage) -> None:
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        if usage.cached_tokens is not None:
            self.cached_tokens = (self.cached_tokens or 0) + usage.cached_tokens
        if usage.reasoning_tokens is not None:
            self.reasoning_tokens = (self.reasoning_tokens or 0) + usage.reasoning_tokens
        self.usage_unknown += usage.input_tokens is None or usage.output_tokens is None


class Summary:
    """Sums for each member apart, since pooling hides which judge does what, and over all of them."""

    def __init__(self) -> None:
        self.members: dict[str | None, MemberSummary] = {}

    def add(self, record: Record) -> None:
        """Count one record."""
        member = self.members.get(record.member)
        if member is None:
            member = self.members[record.member] = MemberSummary()
        member.add(record)

    @property
    def all(self) -> MemberSummary:
        """The sums over all members."""
        if len(self.members) == 1:
            return next(iter(self.members.values()))
        total = MemberSummary()
        for member in self.members.values():
            total.merge(member)
        return total

    def document(self) -> dict[str, Any]:
        """The sums over all, with `members` beside them where there are several."""
        document = self.all.document()
        if len(self.members) > 1:
            document["members"] = [{"member": name, **member.document()} for name, member in self.members.items()]
        return document


def quotes_of(record: Record) -> Iterator[tuple[str, str]]:
    """Each quote that a record's judge offered, empty ones too, with its status."""
    for criterion in record.criteria:
        yield from _quotes_in(criterion)


def _quotes_in(criterion: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part in (*criterion.get("checks", ()), *criterion.get("items", ())):
        yield part["quote"], part["quote_status"]
    if criterion.get("quote") is not None:
        yield criterion["quote"], criterion["quote_status"]


def _share(count: int, n: int) -> float | None:
    return count / n if n else None


def _interval(count: int, n: int) -> tuple[float, float] | None:
    return wilson_interval(count, n) if n else None


def _label(score: float) -> str:
    return str(int(score)) if float(score).is_integer() else str(score)
