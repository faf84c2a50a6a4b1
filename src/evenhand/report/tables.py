"""What verdicts come to beyond their scores, as small tables in words: pairs, running buckets, drafts, bare numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.analysis.divergence import READINGS, Comparison
from evenhand.analysis.drafts import DraftChange
from evenhand.errors import InvalidInput
from evenhand.report.model import DraftView, Table
from evenhand.report.numbers import UNDEFINED, alike, cost, interval, number, percent
from evenhand.scoring.evidence_pools import judge_settings
from evenhand.scoring.impact import score_items
from evenhand.scoring.pipeline import BUCKETS
from evenhand.scoring.variants import Settings
from evenhand.stats.intervals import wilson_interval
from evenhand.terms import Evidence, JudgeSpec
from evenhand.wording import count, plural

__all__ = ["bucket_table", "distance", "divergence_table", "draft_view", "escalation_facts", "pair_tables"]

MOST_CLAIMS = 40
"""Of one list of a draft's change; the number left out is stated."""

MOST_ROWS = 100
"""Of one table; the number left out is stated."""

_LONGEST_NAME, _LONGEST_CLAIM = 120, 500

_BUCKETS = {"working": "Working", "not_working": "Not working", "missing": "Missing", "confusing": "Confusing"}
_LISTS = {
    "resolved": "resolved: not reported again",
    "remaining": "remaining",
    "new": "new",
    "lost": "no longer praised",
    "gained": "newly praised",
}


def pair_tables(pairs: Mapping[str, Any], *, hide_scores: bool) -> Iterable[Table]:
    """What `analysis.pairs` found of one rater, each share with its n and interval."""
    if hide_scores:  # an inconsistent swap is a tie
        return
    n, twice = pairs["n"], pairs["first_twice"] + pairs["second_twice"]
    followed = _share_row("followed the place: said the first in both orders", pairs["first_twice"], twice)
    yield Table(
        name="Both orders",
        head=("Pairs", "n", "of", "Share", "95 % interval"),
        rows=(
            _share_row("inconsistent swaps", pairs["inconsistent"], n),
            followed,
            _share_row("a tie in one order only", pairs["one_tie"], n),
        ),
        notes=(
            "An inconsistent swap counts as a tie. Where the place decided, one half for the first is no preference.",
            *_itself(pairs),
        ),
    )
    if "win_rates" not in pairs:
        return
    yield Table(
        name="Win rates",
        head=("System", "Against", "Items", "Win rate", "95 % interval"),
        rows=tuple(_won(row) for row in pairs["win_rates"][:MOST_ROWS]),
        n_texts=2,
        notes=(
            "A tie is half a point; reruns of an item count as its mean. Interval: Wilson.",
            *_left_out(len(pairs["win_rates"])),
            *((f"{count(pairs['never_met'])} further pairs of systems never met.",) if "never_met" in pairs else ()),
        ),
    )
    yield _strengths(pairs["strengths"])


def _share_row(name: str, n: int, of: int) -> tuple[str, ...]:
    share, bounds = (percent(n / of), interval(wilson_interval(n, of))) if of else (UNDEFINED, UNDEFINED)
    return name, count(n), count(of), share, bounds


def _itself(pairs: Mapping[str, Any]) -> tuple[str, ...]:
    n = pairs.get("system_against_itself")
    return (f"{plural(n, 'pair')} by one system: no game.",) if n else ()


def _won(row: Mapping[str, Any]) -> tuple[str, ...]:
    share = percent(row["win_rate"]) if row["items"] else "they never met"
    return _name(row["system"]), _name(row["against"]), count(row["items"]), share, interval(row["interval"])


def _strengths(made: Mapping[str, Any]) -> Table:
    """Bradley-Terry strengths, strongest first, or why there are none."""
    shown = made["systems"][:MOST_ROWS]
    rows = tuple((_name(row["system"]), _signed(row["strength"]), _ends(row["interval"])) for row in shown)
    notes = [f"Undefined: {_cut(made['undefined'], _LONGEST_CLAIM)}"] if made["undefined"] else []
    notes += _left_out(len(made["systems"]))
    if rows:
        undefined = made["resamples_undefined"]
        notes.append(
            f"Log scale, mean 0; {count(made['resamples'])} resamples of {plural(made['n_items'], 'item')}"
            f"{f', undefined in {count(undefined)}' if undefined else ''}, seed {made['seed']}."
        )
        if "note" in made:
            notes.append(f"{made['note'].capitalize()}.")
        elif any(row["interval"] is None for row in made["systems"]):
            notes.append("No interval where more than one resample in forty is undefined.")
    return Table(
        name="Strengths (Bradley-Terry)", head=("System", "Strength", "95 % interval"), rows=rows, notes=tuple(notes)
    )


def _left_out(n: int) -> tuple[str, ...]:
    return (f"The first {count(MOST_ROWS)} of {count(n)} rows are shown.",) if n > MOST_ROWS else ()


def _name(text: str) -> str:
    return _cut(text, _LONGEST_NAME)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _signed(value: float) -> str:
    text = number(value)
    return text if text.startswith("-") or text == "0" else f"+{text}"


def _ends(bounds: Sequence[float] | None) -> str:
    return UNDEFINED if bounds is None else f"{_signed(bounds[0])} to {_signed(bounds[1])}"


def escalation_facts(escalation: Mapping[str, Any] | None) -> Iterable[tuple[str, str]]:
    """How many items a second judge was asked about, and what not asking it of the others saved."""
    if escalation is None:
        return
    share = interval(escalation["escalated_interval"])
    n, saved = escalation["n"], escalation["saved"]
    yield (
        "escalated",
        f"{count(escalation['escalated'])} of {count(n)} ({percent(escalation['escalated_share'])}, 95 % interval "
        f"{share})",
    )
    judgements = plural(saved["judgements"], "judgement")
    if saved["calls"] is None:
        yield "saved", f"{judgements}; no escalated one tells what each would have taken"
        return
    tokens = "tokens unknown"
    if saved["input_tokens"] is not None and saved["output_tokens"] is not None:
        tokens = f"{count(round(saved['input_tokens'] + saved['output_tokens']))} tokens"
    dollars = "dollars unknown" if saved["cost_usd"] is None else cost(saved["cost_usd"])
    yield (
        "saved",
        f"{judgements}: about {plural(round(saved['calls']), 'call')}, {tokens}, {dollars}, at the mean of "
        f"{count(saved['estimated_from'])} escalated ones",
    )


def bucket_table(entry: Mapping[str, Any], spec: JudgeSpec | None, *, hide_scores: bool) -> Table | None:
    """The score after each bucket, reckoned again from the items where the judge is at hand; None without buckets."""
    recorded = (entry.get("arithmetic") or {}).get("buckets")
    if not recorded:
        return None
    items = [
        (item.get("bucket"), Evidence(claim="", impact=item["impact"], counted=bool(item.get("counted", True))))
        for item in entry.get("items") or ()
    ]
    settings = _settings(spec)
    rows, differs = [], False
    for place, bucket in enumerate(BUCKETS, start=1):
        step: Mapping[str, Any] = next((one for one in recorded if one.get("bucket") == bucket), {})
        own = count(sum(one.counted for name, one in items if name == bucket))
        net, n, score = step.get("net_impact"), step.get("total_items"), step.get("score")
        if settings is not None:
            again = score_items([one for name, one in items if name in BUCKETS[:place]], settings)
            differs |= (again.net, again.n, again.score) != (net, n, score)
            net, n, score = again.net, again.n, again.score
        running = () if hide_scores else (number(net, 4), number(score) if n else "none")
        rows.append((_BUCKETS[bucket], own, *running))
    notes = ["DIFFERS: the record has other steps; recompute with `evenhand rescore --check`"] if differs else []
    if settings is None and not hide_scores:
        notes.append("As recorded: the judge is not in the store.")
    return Table(
        name="Bucket by bucket",
        head=("Bucket", "Findings", *(() if hide_scores else ("Net impact so far", "Score so far"))),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _settings(spec: JudgeSpec | None) -> Settings | None:
    """The formula's settings; None where the judge is not at hand, or of a version that scored otherwise."""
    if spec is None or spec.protocol != "evidence":
        return None
    try:
        return judge_settings(spec)
    except InvalidInput:
        return None


def draft_view(change: DraftChange, *, hide_scores: bool) -> DraftView:
    """One pass beside the one before."""
    facts = [("this pass", _name(change.item)), ("after", _name(change.earlier)), ("passes", count(len(change.scores)))]
    if not change.comparable:
        facts.append(("note", "another judge file or model made the pass before"))
    if not hide_scores:
        facts.append(("scores", " → ".join("none" if one is None else number(one) for one in change.scores)))
        facts.append(("delta", UNDEFINED if change.delta is None else _signed(change.delta)))
    lists = {name: getattr(change, field) for field, name in _LISTS.items()}
    return DraftView(
        slug=_name(change.slug),
        facts=tuple(facts),
        lists=tuple(
            (f"{name} ({count(len(claims))})", tuple(_cut(one, _LONGEST_CLAIM) for one in claims[:MOST_CLAIMS]))
            for name, claims in lists.items()
        ),
        not_shown=sum(max(0, len(claims) - MOST_CLAIMS) for claims in lists.values()),
    )


def distance(one: Comparison, *, hide_scores: bool) -> str:
    """A sentence on how far bare numbers and evidence lie apart."""
    found = one.found
    apart = "have no distance"
    if hide_scores:
        return f"The bare numbers of {_name(one.naive)} and the evidence of {_name(one.evidence)}: distance hidden."
    if found.n_items:
        apart = f"lie {number(found.mean, 1)} points of 100 apart on average (95 % interval {_points(one)})"
    unsure = "" if found.sure or not found.n_items else "; not sure, as the interval does not lie on that side wholly"
    models = "" if one.same_models else ". Other models gave the numbers: the distance holds that too"
    return (
        f"The bare numbers of {_name(one.naive)} and the evidence of {_name(one.evidence)} {apart}, n = "
        f"{plural(found.n_items, 'item')}: {READINGS[found.reading]}{unsure}{models}."
    )


def divergence_table(found: Sequence[Comparison], *, hide_scores: bool) -> Table | None:
    """Every pair of a `number` and an `evidence` judge on the same items; None where there is none, or scores hide."""
    if not found or hide_scores:
        return None
    return Table(
        name="Bare numbers against evidence",
        head=("Numbers of", "Evidence of", "Reading", "n", "Left out", "Points apart", "95 % interval"),
        rows=tuple(
            (
                _name(one.naive),
                _name(one.evidence),
                READINGS[one.found.reading],
                count(one.found.n_items),
                count(one.found.left_out),
                number(one.found.mean, 1),
                _points(one),
            )
            for one in found[:MOST_ROWS]
        ),
        n_texts=3,
        notes=(
            "Mean absolute difference on 0 to 100 over the items that both scored; left out are those that one or none "
            "did. Interval: Student's t.",
            *_left_out(len(found)),
        ),
    )


def _points(one: Comparison) -> str:
    low, high = one.found.interval
    return UNDEFINED if low != low else " to ".join(alike((low, high), 1))
