"""What `evenhand judge` shows: a progress line while it runs, a closing table, and what a dry run would send."""

import asyncio
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evenhand.cli.output import console, say, shown
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.engine.answer import Answers

__all__ = [
    "Counted",
    "Tallied",
    "Watched",
    "duration",
    "histogram",
    "print_summary",
    "progress_line",
    "summary_lines",
    "watch",
]

_BAR = 30
_WIDTH = 79
_REASONS_SHOWN = 5
_INDENT = 9  # of what a line says, behind its name


class Tallied(Protocol):
    """How many are done, and how many of them failed."""

    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def failed(self) -> int: ...  # noqa: D102


class Counted(Protocol):
    """What holds the tally of all."""

    @property
    def all(self) -> Tallied: ...  # noqa: D102


class Watched(Protocol):
    """A run that can be looked at: an evaluation, or a probe."""

    @property
    def answers(self) -> "Answers": ...  # noqa: D102
    @property
    def summary(self) -> Counted: ...  # noqa: D102
    @property
    def interrupted(self) -> bool: ...  # noqa: D102


async def watch(evaluation: Watched, n: int) -> None:
    """One line on stderr until cancelled: rewritten in place on a terminal, a new one every ten seconds elsewhere."""
    began = time.monotonic()
    live = sys.stderr.isatty()
    shown_at, told = began, False
    try:
        while True:
            await asyncio.sleep(0.5)
            if evaluation.interrupted and not told:
                told = True
                _say_interrupted(evaluation, live=live)
            if not live and time.monotonic() - shown_at < 10.0:
                continue
            shown_at = time.monotonic()
            line = progress_line(evaluation, n, time.monotonic() - began)
            print(f"\r{line:<79}" if live else line, end="" if live else "\n", file=sys.stderr, flush=True)
    finally:
        if live:
            print(f"\r{'':<79}\r", end="", file=sys.stderr, flush=True)


def _say_interrupted(evaluation: Watched, *, live: bool) -> None:
    """That Ctrl-C was heard, how long it may take, and how not to wait."""
    from evenhand.evaluate.evaluation import GRACE_S

    if live:
        print(f"\r{'':<79}\r", end="", file=sys.stderr)
    n = evaluation.answers.tally.in_flight
    say(
        f"interrupted: {plural(n, 'call')} in flight have {GRACE_S:g} s to arrive and be kept; interrupt "
        f"again to end at once"
    )


def progress_line(evaluation: Watched, n: int, elapsed_s: float) -> str:
    """How far, how fast, what it cost, what failed, how long still; at most 79 characters."""
    everything, tally = evaluation.summary.all, evaluation.answers.tally
    rate = everything.n / max(elapsed_s, 1e-9)
    priced = tally.replies and not tally.unpriced
    cost = f"${tally.cost_usd:.4f}" if priced else f"{tally.input_tokens + tally.output_tokens:,} tokens"
    parts = [f"{everything.n:,}/{n:,}", f"{rate:.1f}/s", cost, f"{everything.failed} failed"]
    if tally.faults.total():
        [(code, _)] = tally.faults.most_common(1)
        parts.append(f"{tally.faults.total()} faults ({code})")
    if everything.n < n:
        parts.append(f"{duration((n - everything.n) / rate)} left" if rate else f"{tally.in_flight} in flight")
    return "  ".join(parts)[:79]


def print_summary(
    title: str, document: Mapping[str, Any], calls: Mapping[str, Any], seconds: float, *, hide_scores: bool = False
) -> None:
    """The closing table, on stdout; with `hide_scores` without anything that tells a score."""
    out = console()
    out.print(shown(title), style="bold", overflow="fold")
    for group in document.get("members", [document]):
        if "member" in group:
            out.print()
            out.print(shown(str(group["member"])), style="bold", overflow="fold")
        for line in summary_lines(group, hide_scores=hide_scores):
            out.print(line, overflow="fold")
    if "panel" in document:
        out.print()
        for line in _panel_lines(document["panel"], hide_scores=hide_scores):
            out.print(line, overflow="fold")
    for line in _calls_lines(calls, seconds):
        out.print(line, overflow="fold")


def summary_lines(group: Mapping[str, Any], *, hide_scores: bool = False, quotes: bool = True) -> list[str]:
    """The counts, the distribution and the figures of one member, each with its n and interval.

    Quotes are the members': a combined record keeps those alone that its decision rests on.
    """
    lines = [
        f"verdicts {group['verdict']}   abstained {group['abstained']}   failed {group['failed']}   of {group['n']}"
    ]
    lines += _abstentions(group["reasons"], group["reason_examples"], hide_scores=hide_scores)
    for code, count in group["causes"].items():
        hidden = hide_scores and code == "unreadable"  # a message about a reply may name a score
        such_as = "" if hidden else f", such as {shown(group['cause_examples'][code], 240)}"
        lines.append(f"failed   {code} {count}{such_as}")
    if group["scores"] and hide_scores:
        lines.append(f"scores   hidden, of {plural(group['n_scores'], 'verdict')}")
    elif group["scores"]:
        lines += ["", *histogram(group["scores"]), ""]
        lines.append(
            f"mode     {_number(group['mode'])}: {_share(group['mode_share'], group['mode_share_interval'])}"
            f" of {plural(group['n_scores'], 'score')}"
        )
    if "pairs" in group:
        from evenhand.cli.pair_output import pair_lines

        lines += pair_lines(group["pairs"], hide_scores=hide_scores)
    if not hide_scores:
        lines.append(_reruns_line(group))
    if quotes:
        lines.append(_quotes_line(group))
    usage = group["usage"]
    unknown = f" ({usage['unknown']} without a count)" if usage["unknown"] else ""
    cached = "" if usage["cached_tokens"] is None else f" ({usage['cached_tokens']:,} cached)"
    lines.append(f"tokens   {usage['input_tokens']:,} in{cached}, {usage['output_tokens']:,} out{unknown}")
    lines.append(_cost_line(group))
    if group["flags"]:
        flags = _without_scores(group["flags"]) if hide_scores else group["flags"]
        lines += _listed("flags", [f"{shown(flag)} {count}" for flag, count in flags.items()]) if flags else []
        lines += _for_a_person(group["flags"])
    return lines


def _abstentions(reasons: Mapping[str, int], examples: Mapping[str, str], *, hide_scores: bool) -> list[str]:
    """The most frequent reasons; those that are sentences may name a level or a number of findings."""
    if hide_scores:
        return [f"abstain  {reason} {count}" for reason, count in reasons.items() if reason.isidentifier()]
    common = sorted(reasons, key=lambda reason: -reasons[reason])
    lines = [
        f"abstain  {shown(reason, 240)} ({reasons[reason]}), such as {shown(examples[reason], 240)}"
        for reason in common[:_REASONS_SHOWN]
    ]
    rest = len(common) - len(lines)
    more = "1 further reason stands" if rest == 1 else f"{rest} further reasons stand"
    return [*lines, f"abstain  {more} in the records"] if rest else lines


def _for_a_person(flags: Mapping[str, int]) -> list[str]:
    """What no model may decide here, in words."""
    left = [(flag.partition(":")[2], count) for flag, count in flags.items() if flag.startswith("person_must_decide:")]
    return [
        f"person   must decide {shown(criterion)} for {count}: without the source that it needs it is not scored"
        for criterion, count in left
    ]


def _without_scores(flags: Mapping[str, int]) -> Mapping[str, int]:
    """Flags and their counts, without those that tell a score or the word of a verdict."""
    from evenhand.report.caveats import tells_score

    counts: Counter[str] = Counter()
    for flag, count in flags.items():
        if not tells_score(flag):
            counts["capped_from" if flag.startswith("capped_from:") else flag] += count
    return counts


def histogram(scores: Mapping[str, int], most: int = 12) -> list[str]:
    """A bar a score; where there are more than `most`, a bar for each of ten equal bins."""
    rows = [(label, count) for label, count in scores.items()]
    if len(rows) > most:
        rows = _bins(scores)
    top = max(count for _, count in rows)
    label_width = max(5, *(len(label) for label, _ in rows))
    head = f"{'score':>{label_width}}      n"
    return [head] + [
        f"{label:>{label_width}}  {count:>5}  {'█' * max(1 if count else 0, round(_BAR * count / top))}"
        for label, count in rows
    ]


def _bins(scores: Mapping[str, int], n_bins: int = 10) -> list[tuple[str, int]]:
    values = [(float(label), count) for label, count in scores.items()]
    low, high = min(value for value, _ in values), max(value for value, _ in values)
    width = (high - low) / n_bins
    counts = [0] * n_bins
    for value, count in values:
        counts[min(int((value - low) / width), n_bins - 1)] += count
    return [(f"{low + i * width:g}-{low + (i + 1) * width:g}", count) for i, count in enumerate(counts)]


def _panel_lines(panel: Mapping[str, Any], *, hide_scores: bool = False) -> list[str]:
    """The panel's own figures, apart from its members'."""
    rules = ", ".join(f"{shown(rule)}" for rule in panel["rules"])
    lines = [
        f"panel    {rules}: dissent in {panel['dissent']} of {panel['n']}",
        *summary_lines(panel, hide_scores=hide_scores, quotes=False),
    ]
    escalation = panel.get("escalation")
    if escalation is None:
        return lines
    share = _share(escalation["escalated_share"], escalation["escalated_interval"])
    saved = escalation["saved"]
    lines.append(f"escalated {escalation['escalated']} of {escalation['n']}: {share}")
    if saved["calls"] is None:
        return [
            *lines,
            f"saved    {plural(saved['judgements'], 'judgement')}; no escalated one tells what each would have taken",
        ]
    tokens = "tokens unknown" if saved["input_tokens"] is None else f"{_tokens(saved):,.0f} tokens"
    dollars = "dollars unknown" if saved["cost_usd"] is None else f"${saved['cost_usd']:.4f}"
    return [
        *lines,
        f"saved    {plural(saved['judgements'], 'judgement')}: about {saved['calls']:.0f} calls, {tokens}, {dollars}, "
        f"at the mean of {saved['estimated_from']} escalated ones",
    ]


def _tokens(saved: Mapping[str, Any]) -> float:
    return float(saved["input_tokens"] + saved["output_tokens"])


def _reruns_line(group: Mapping[str, Any]) -> str:
    """How far reruns agree, or that none tell."""
    n = group["rerun_items"]
    if not n:
        return "reruns   SD undefined: no item has two scored reruns"
    share = _share(group["rerun_agree_share"], group["rerun_agree_interval"])
    mixed = f"; {group['rerun_mixed']} with a verdict in some only" if group["rerun_mixed"] else ""
    return (
        f"reruns   SD {group['rerun_sd']:.2f} over {plural(n, 'item')}; {group['rerun_agree']} agree "
        f"exactly: {share}{mixed}"
    )


def _quotes_line(group: Mapping[str, Any]) -> str:
    if not group["quotes_offered"]:
        return f"quotes   none offered ({group['quotes_empty']} left empty)"
    rate = _share(group["fabricated_quote_rate"], group["fabricated_quote_interval"])
    return (
        f"quotes   {group['fabricated_quotes']} of {group['quotes_offered']} fabricated: {rate}; "
        f"{group['quotes_empty']} left empty"
    )


def _cost_line(group: Mapping[str, Any]) -> str:
    if group["cost_usd"] is not None:
        return f"cost     ${group['cost_usd']:.4f}"
    if not group["cost_unknown"]:
        return "cost     unknown: nothing was answered"
    return (
        f"cost     unknown: {group['cost_unknown']:,} of {plural(group['n'], 'judgement')} "
        f"{'has' if group['cost_unknown'] == 1 else 'have'} no known price"
    )


def _calls_lines(calls: Mapping[str, Any], seconds: float) -> list[str]:
    faults: Mapping[str, int] = calls["faults"]
    parts = [f"{calls['asked']} sent", f"{calls['stored']} answered from the store; {duration(seconds)}"]
    if faults:
        codes = [f"{shown(name)} {count}" for name, count in faults.items()]
        codes[0] = f"of them {sum(faults.values())} faults ({codes[0]}"
        parts[1:1] = [*codes[:-1], f"{codes[-1]})"]
    return _listed("calls", parts)


def _listed(name: str, parts: Sequence[str]) -> list[str]:
    """A named line of parts, wrapped between them where it is too long, so that a name keeps its count."""
    text = ", ".join(part.replace(" ", "\0") for part in parts)
    made = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"{name:<{_INDENT}}",
        subsequent_indent=" " * _INDENT,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in made]


def _share(share: float | None, interval: Sequence[float] | None) -> str:
    if share is None or interval is None:
        return "undefined"
    return f"{share:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
