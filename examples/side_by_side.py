"""Two files of records side by side: `python examples/side_by_side.py NUMBER.jsonl CHECKLIST.jsonl`.

Everything printed is counted from the records; nothing is known about the model beforehand. Records are plain JSON
lines, so this script needs nothing of evenhand but the function that makes a model's words safe for a terminal.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from evenhand.cli.output import shown

Record = dict[str, Any]

FOUND = ("exact", "normalized", "fuzzy")
BAR = 24


def main(number_path: str, checklist_path: str) -> None:
    """Print the comparison."""
    number, checklist = read(number_path), read(checklist_path)
    print("\nHow the scores are spread\n")
    print(beside(distribution(number), distribution(checklist)))
    print("\nEach answer: what its writer meant it to be (1 poor .. 5 excellent), and what it got\n")
    print(table(number, checklist))
    print("\nWhat the quotations were worth\n")
    print(quotations(checklist))
    print("\nWhat to make of it\n")
    print(findings(number, checklist))


def read(path: str) -> list[Record]:
    """The records of one file."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def distribution(records: Sequence[Record]) -> list[str]:
    """Heading, then a bar for each level of the scale, the highest on top, then the counts."""
    scores = Counter(score(record) for record in records if record["status"] == "verdict")
    low, high = next((record["scale"] for record in records if record["scale"]), (1, 1))
    lines = [f"{records[0]['judge']['name']} ({records[0]['judge']['protocol']})"]
    for level in range(round(high), round(low) - 1, -1):
        count = sum(n for value, n in scores.items() if round(value) == level)
        lines.append(f"{level:>4} {'#' * round(BAR * count / max(len(records), 1)):<{BAR}} {count or ''}".rstrip())
    status = Counter(record["status"] for record in records)
    lines.append(f"{status['verdict']} verdicts, {status['abstained']} abstained, {status['failed']} failed")
    return lines


def beside(left: Sequence[str], right: Sequence[str]) -> str:
    """Two columns, the shorter filled up above its last line so that both end together."""
    height = max(len(left), len(right))
    columns = [[side[0], *[""] * (height - len(side)), *side[1:]] for side in (left, right)]
    width = max(map(len, left)) + 3
    return "\n".join(f"  {a:<{width}}{b}".rstrip() for a, b in zip(*columns, strict=True))


def table(number: Sequence[Record], checklist: Sequence[Record]) -> str:
    """A line for each answer."""
    other = {record["item"]: record for record in checklist}
    lines = [f"  {'answer':<12}{'meant':>6}{'number':>9}{'checklist':>12}   checks that counted"]
    for record in number:
        match = other.get(record["item"])
        counted = [check["id"] for check in checks(match) if check["passed"] and check["counted"]] if match else []
        lines.append(
            f"  {shown(record['item'], 11):<12}{meant(record) or '?':>6}{outcome(record):>9}{outcome(match):>12}"
            f"   {', '.join(map(shown, counted)) or '-'}"
        )
    return "\n".join(lines)


def quotations(records: Sequence[Record]) -> str:
    """How many quotations stand in the answer, and examples of such as do not."""
    every = [check for record in records for check in checks(record)]
    offered = [check for check in every if check["quote"].strip()]
    by_status = Counter(check["quote_status"] for check in offered)
    absent = [check for check in offered if check["quote_status"] == "absent"]
    stopped = [check for check in every if check["passed"] and not check["counted"]]
    bare = sum(not check["quote"].strip() for check in stopped)
    found = sum(by_status[status] for status in FOUND)
    lines = [
        f"  {len(offered)} offered: {found} stand in the answer, {len(absent)} do not"
        + (f", {by_status['elided']} leave something out" if by_status["elided"] else "")
        + (f" ({len(absent) / len(offered):.0%} fabricated)" if offered else ""),
        f"  {len(stopped)} times a yes did not count, because its quotation was not in the answer ({bare} gave none)",
    ]
    lines += [
        f'  not in the answer: "{shown(quote, 80)}"'
        for quote in list(dict.fromkeys(check["quote"] for check in absent))[:3]
    ]
    return "\n".join(lines)


def findings(number: Sequence[Record], checklist: Sequence[Record]) -> str:
    """What this run says about this model, in sentences."""
    model = shown(str(checklist[0]["member"] or checklist[0]["judge"]["models"]))
    passed = [check["passed"] for record in checklist for check in checks(record)]
    lines = [f"  The judge was {model}."]
    if "smollm2" in model:
        lines.append("  It has 135 million parameters: it shows that everything runs, and it is a weak judge.")
    for name, records in (("a bare number", number), ("quoted checks", checklist)):
        scores = Counter(score(record) for record in records if record["status"] == "verdict")
        if scores:
            value, count = scores.most_common(1)[0]
            lines.append(f"  Asked for {name}, it gave {count} of {scores.total()} answers the same score, {value:g}.")
        right, tied, wrong = pairs(records)
        lines.append(
            f"  Of {right + tied + wrong} pairs of answers meant to differ it put {right} the right way round,"
            f" {tied} level, {wrong} the wrong way round."
        )
    reasons = [criterion.get("reason") or "" for record in number for criterion in record["criteria"]]
    if reasons:
        lines.append(f"  It gave {len(set(reasons))} different reasons for {len(reasons)} numbers. The first:")
        lines.append(f'    "{shown(reasons[0], 100)}"')
    if passed:
        lines.append(f"  It said yes to {sum(p is True for p in passed)} of {len(passed)} checks.")
    lines.append(
        "  The same commands with a model you trust: --model openai/..., --model anthropic/..., --base-url URL."
    )
    return "\n".join(lines)


def pairs(records: Sequence[Record]) -> tuple[int, int, int]:
    """(right, tied, wrong): pairs meant to differ, by how their scores stand to each other."""
    rated = [(meant(r), score(r)) for r in records if r["status"] == "verdict" and meant(r) is not None]
    orders = [(a - b) * (x - y) for (a, x), (b, y) in combinations(rated, 2) if a != b]
    return sum(o > 0 for o in orders), sum(o == 0 for o in orders), sum(o < 0 for o in orders)


def checks(record: Record) -> Iterator[Record]:
    """The checks of all criteria of a record."""
    for criterion in record["criteria"]:
        yield from criterion.get("checks", ())


def score(record: Record) -> float:
    """The score of a verdict."""
    return float(record["score"])


def meant(record: Record) -> Any:
    """What the writer of the answer meant it to be; kept with the item, never shown to the model."""
    return record["metadata"].get("written_as")


def outcome(record: Record | None) -> str:
    """The score, or what came instead of one."""
    if record is None:
        return "-"
    return f"{score(record):g}" if record["status"] == "verdict" else str(record["status"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
