"""Three ways of reading one checklist, side by side: JSON with quotes, JSON with sentence numbers, log probabilities.

    EVENHAND_LOCAL_SLOTS=1 EVENHAND_LOCAL_THREADS=1 python benchmarks/reading.py ITEMS --model local/smollm2 -n 12
    python benchmarks/reading.py ITEMS --model openai/... --judge my-checklist.yaml

Each way judges the same items by the same checks, one call at a time, with nothing remembered. Printed for each: how
many items came to a verdict, abstained or failed; the share of yes over all checks answered; of the yes that need a
passage, how many had one that is in the candidate; fabricated quotes of quotes offered; output tokens, seconds and
processor seconds an item (the first item is left out of both, since weights and rubric are read with it). Then, for
each two ways, the share of checks answered alike where both answered, beside what two ways with these shares of yes
would agree on by chance. On few items these are impressions; docs/reading.md says what was seen.
"""

import argparse
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from evenhand.evaluate.evaluation import Settings
from evenhand.evaluate.session import Session
from evenhand.store.items import read_items
from evenhand.store.judge_files import read_judge
from evenhand.terms import Check, Criterion, Item, JudgeSpec, ModelSpec, Record

WAYS: tuple[tuple[str, Literal["json", "logprob"], Literal["quote", "sentence"]], ...] = (
    ("json/quote", "json", "quote"),
    ("json/sentence", "json", "sentence"),
    ("logprob", "logprob", "quote"),
)
CHECKS = {
    "on_task": "Does the candidate do what the task asks, rather than something else?",
    "whole": "Does the candidate do everything that the task asks for?",
    "specific": "Does the candidate name something specific: a name, a figure or an example?",
    "form": "Does the candidate keep to the form that the task asks for?",
    "refuses": "Does the candidate decline the task, or say that it cannot do it?",
}

Answers = Mapping[tuple[str, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one way came to."""

    name: str
    records: Sequence[Record]
    summary: Mapping[str, Any]
    seconds: float
    cpu_seconds: float
    answers: Answers


def default_judge() -> JudgeSpec:
    """A checklist about following an instruction."""
    checks = tuple(Check(id=name, ask=ask) for name, ask in CHECKS.items())
    levels = (Decimal(0), Decimal(len(checks)))
    return JudgeSpec(
        name="reading", protocol="checklist", models=(), criteria=(Criterion(id="task", levels=levels, checks=checks),)
    )


def judged(name: str, spec: JudgeSpec, items: Sequence[Item]) -> Outcome:
    """One way over all items; seconds an item from the first record to the last."""
    records: list[Record] = []
    times: list[tuple[float, float]] = []

    def sink(record: Record) -> None:
        records.append(record)
        times.append((time.perf_counter(), time.process_time()))

    done = Session(spec, items, store=None).run(Settings(max_concurrency=1), sink=sink)
    if done.stop is not None:
        raise done.stop
    seconds, cpu_seconds = (
        (last - first) / max(1, len(times) - 1) for first, last in zip(times[0], times[-1], strict=True)
    )
    return Outcome(
        name=name,
        records=records,
        summary=done.summary,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        answers=_answers(records),
    )


def _answers(records: Sequence[Record]) -> Answers:
    return {
        (record.item, check["id"]): check["passed"]
        for record in records
        for criterion in record.criteria
        for check in criterion.get("checks", ())
        if check["passed"] is not None
    }


def _checks(records: Sequence[Record]) -> list[Mapping[str, Any]]:
    return [check for record in records for criterion in record.criteria for check in criterion.get("checks", ())]


def line(made: Outcome) -> str:
    """One way as a row."""
    summary, n = made.summary, len(made.records)
    yes = [check for check in _checks(made.records) if check["passed"]]
    shown = "-" if "probability" in (yes or [{}])[0] else f"{sum(check['counted'] for check in yes)}/{len(yes)}"
    fabricated = f"{summary['fabricated_quotes']}/{summary['quotes_offered']}" if summary["quotes_offered"] else "-"
    counts = f"{summary['verdict']}/{summary['abstained']}/{summary['failed']}"
    tokens = summary["usage"]["output_tokens"] / n
    share = f"{sum(made.answers.values())}/{len(made.answers)}"
    costs = f"{tokens:>8.1f} {made.seconds:>8.2f} {made.cpu_seconds:>8.2f}"
    return f"{made.name:14} {counts:>9} {share:>8} {shown:>8} {fabricated:>10} {costs}"


def agreement(a: Outcome, b: Outcome) -> str:
    """How often two ways answer a check alike."""
    both = sorted(a.answers.keys() & b.answers.keys())
    if not both:
        return f"{a.name} and {b.name}: no check answered by both"
    same = sum(a.answers[key] == b.answers[key] for key in both)
    yes_a, yes_b = (sum(made.answers[key] for key in both) / len(both) for made in (a, b))
    chance = yes_a * yes_b + (1 - yes_a) * (1 - yes_b)
    return f"{a.name} and {b.name}: {same}/{len(both)} alike ({same / len(both):.2f}; by chance {chance:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--judge", type=Path, help="a checklist; a built-in one about following instructions if none")
    parser.add_argument("-n", type=int, default=12, help="items, the first so many")
    parser.add_argument("--max-chars", type=int, default=1500, help="pass over items with longer task and candidate")
    parser.add_argument("--max-tokens", type=int, default=1024)
    chosen = parser.parse_args()
    spec = read_judge(chosen.judge) if chosen.judge else default_judge()
    spec = replace(spec, models=(ModelSpec(model=chosen.model),), max_tokens=chosen.max_tokens)
    short = (
        item for item in read_items(chosen.items) if len(item.candidate) + len(item.task or "") <= chosen.max_chars
    )
    items = list(itertools.islice(short, chosen.n))
    print(f"{len(items)} items, {chosen.model}")
    print(f"{'':14} {'v/a/f':>9} {'yes':>8} {'shown':>8} {'fabricated':>10} {'tokens':>8} {'seconds':>8} {'cpu':>8}")
    made = []
    for name, read, cite in WAYS:
        made.append(judged(name, replace(spec, read=read, cite=cite), items))
        print(line(made[-1]), flush=True)
        for record in made[-1].records:
            if record.cause is not None:
                print(f"    {record.item}: {record.cause['message'][:150]}")
    for a, b in itertools.combinations(made, 2):
        print(agreement(a, b))


if __name__ == "__main__":
    main()
