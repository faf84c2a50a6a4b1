"""What a run came to: the three counts, the distribution of scores, rerun noise, fabricated quotes, tokens and cost.

Built record by record, so that a run of any length is summed up without being held.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.analysis.pairs import Pairs, is_pair
from evenhand.analysis.reruns import Reruns
from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Record, Usage

__all__ = ["MemberSummary", "PanelSummary", "Summary", "quotes_of"]


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
    calls: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    reruns: Reruns | None = None
    pairs: Pairs | None = None

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
            if is_pair(record):
                self.pairs = self.pairs or Pairs()
                self.pairs.add(record)
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
        self.calls += len(record.keys)
        if record.cost_usd is None:
            self.cost_unknown += bool(record.keys)  # without a reply there was nothing to price
        else:
            self.cost_usd = (self.cost_usd or 0.0) + record.cost_usd
        self.flags.update(record.flags)
        if self.reruns is not None:
            self.reruns.add(record)

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
            **(self.reruns or Reruns()).document(),
            **({} if self.pairs is None else {"pairs": self.pairs.document()}),
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


class PanelSummary:
    """The sums of a panel's combined records, its dissent, and what escalation saved."""

    def __init__(self, sums: MemberSummary) -> None:
        self.sums = sums
        self.rules: Counter[str] = Counter()
        self.dissent = 0
        self.escalated = 0
        self.kept = 0
        self.to: dict[str, int] = {}

    def add(self, record: Record) -> None:
        """Count one combined record."""
        self.sums.add(record)
        panel = record.panel or {}
        self.rules[f"{panel.get('rule')} of {panel.get('size')}"] += 1
        self.dissent += bool(panel.get("dissent"))
        escalation = panel.get("escalation")
        if escalation is None:
            return
        self.escalated += escalation["escalated"]
        self.kept += not escalation["escalated"]
        for member in escalation["to"]:
            self.to[member] = self.to.get(member, 0) + (not escalation["escalated"])

    def document(self, members: Mapping[str, MemberSummary]) -> dict[str, Any]:
        """The sums as `--json` prints them.

        Args:
            members: the members' sums, from which the saving is reckoned.
        """
        document = {"rules": dict(sorted(self.rules.items())), "dissent": self.dissent, **self.sums.document()}
        escalation = self.escalation(members)
        return document if escalation is None else {**document, "escalation": escalation}

    def escalation(self, members: Mapping[str, MemberSummary]) -> dict[str, Any] | None:
        """How many items were escalated, and what that saved; None where the judge does not escalate."""
        if not self.to:
            return None
        return {
            "n": self.escalated + self.kept,
            "escalated": self.escalated,
            "escalated_share": _share(self.escalated, self.escalated + self.kept),
            "escalated_interval": _interval(self.escalated, self.escalated + self.kept),
            "saved": self._saved(members),
        }

    def _saved(self, members: Mapping[str, MemberSummary]) -> dict[str, Any]:
        """What asking everybody would have cost on top, at what the escalated items cost on average.

        A figure is None where no item was escalated, or the average is not known: nothing is guessed.
        """
        saved: dict[str, Any] = {"judgements": sum(self.to.values())}
        for name in ("calls", "input_tokens", "output_tokens", "cost_usd"):
            parts = [_unspent(members.get(member), name, n) for member, n in self.to.items()]
            known = [part for part in parts if part is not None]
            saved[name] = sum(known) if len(known) == len(parts) else None
        return {**saved, "estimated_from": sum(members[member].n for member in self.to if member in members)}


class Summary:
    """Sums for each member apart, since pooling hides which judge does what, over all of them, and for the panel.

    The panel's combined records rest on the members' replies, so that adding them to the members' would count every
    token and dollar twice: they stand apart.

    Args:
        n_reruns: how often each item is asked; None where that is not known beforehand.
    """

    def __init__(self, n_reruns: int | None = None) -> None:
        self.members: dict[str, MemberSummary] = {}
        self.panel: PanelSummary | None = None
        self._n_reruns = n_reruns

    def add(self, record: Record) -> None:
        """Count one record."""
        if record.member is None:
            if self.panel is None:
                self.panel = PanelSummary(self._member())
            self.panel.add(record)
            return
        member = self.members.get(record.member)
        if member is None:
            member = self.members[record.member] = self._member()
        member.add(record)

    @property
    def all(self) -> MemberSummary:
        """The sums over all members; those of the panel where there are no members' records."""
        if not self.members and self.panel is not None:
            return self.panel.sums
        if len(self.members) == 1:
            return next(iter(self.members.values()))
        total = MemberSummary()
        for member in self.members.values():
            total.merge(member)
        return total

    def document(self) -> dict[str, Any]:
        """The sums over all members, with `members` beside them if there are several, and `panel` if there is one."""
        document = self.all.document()
        if len(self.members) > 1:
            document["members"] = [{"member": name, **member.document()} for name, member in self.members.items()]
        if self.panel is not None:
            document["panel"] = self.panel.document(self.members)
        return document

    def _member(self) -> MemberSummary:
        return MemberSummary(reruns=None if self._n_reruns == 1 else Reruns(self._n_reruns))


def quotes_of(record: Record) -> Iterator[tuple[str, str]]:
    """Each quote that a record's judge offered, empty ones too, with its status."""
    for criterion in record.criteria:
        yield from _quotes_in(criterion)


def _quotes_in(criterion: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part in (*criterion.get("checks", ()), *criterion.get("items", ())):
        if "probability" not in part:  # read from one token: no quote was asked for
            yield part["quote"], part["quote_status"]
    if criterion.get("quote") is not None:
        yield criterion["quote"], criterion["quote_status"]


def _unspent(member: MemberSummary | None, name: str, n: int) -> float | None:
    """What `n` further judgements by a member would have taken, at the mean of those it made."""
    if n == 0:
        return 0
    if member is None or not member.n:
        return None
    unknown = {"calls": 0, "cost_usd": member.cost_unknown}.get(name, member.usage_unknown)
    return None if unknown else getattr(member, name) / member.n * n


def _share(count: int, n: int) -> float | None:
    return count / n if n else None


def _interval(count: int, n: int) -> tuple[float, float] | None:
    return wilson_interval(count, n) if n else None


def _label(score: float) -> str:
    return str(int(score)) if float(score).is_integer() else str(score)
