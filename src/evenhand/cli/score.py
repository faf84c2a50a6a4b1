"""`evenhand score EVIDENCE`: the score of evidence someone already has, with its arithmetic. No model is called."""

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.options import AsJson
from evenhand.cli.output import json_text, say, shown, warn, write_text
from evenhand.errors import InvalidInput
from evenhand.wording import plural

if TYPE_CHECKING:
    from evenhand.scoring.criteria import Overall
    from evenhand.scoring.impact import Breakdown
    from evenhand.scoring.variants import Settings
    from evenhand.store.evidence_files import EvidenceFile
    from evenhand.terms import Evidence

__all__ = ["score"]

FLAGS = {
    "against_sign": "an item moves the normalized impact against its own sign, as the square root allows; "
    "`--variant ranked` does not",
    "one_sided": "positive and negative items stand beyond 2 to 1: was the other side looked for?",
    "below_item_floor": "fewer items than the floor: a score from so few is drawn to the centre for want of evidence",
    "impossible_totals": "no items can have these totals: an impact is at most 5",
    "off_scale": "the multiplier amplifies in this variant, so the score is off the scale",
    "self_check_failed": "the criteria hardly differ: a judge that gives all the same may not have looked",
}
"""What each flag says to a person."""

_COLUMNS = ("weight", "net", "items", "normalized", "raw", "exact", "score")
_WIDTHS = (8, 7, 6, 11, 9, 9, 6)


def score(
    evidence: Annotated[
        Path | None, typer.Argument(metavar="EVIDENCE", help="JSON, JSONL or YAML file; - for standard input.")
    ] = None,
    totals: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="NET COUNT", help="Score totals instead: sum of impacts, number of items."),
    ] = None,
    variant: Annotated[
        str, typer.Option(metavar="NAME", help="Form of the formula, such as production or ranked.")
    ] = "production",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a constant; repeatable.")
    ] = None,
    stress: Annotated[
        bool, typer.Option("--stress", help="Also show what padding, repetition and one strong item do to it.")
    ] = False,
    encoding: Annotated[str | None, typer.Option(help="Encoding of the file; UTF-8 unless said.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the JSON document to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Score evidence you already have, with the arithmetic shown. No model is called.

    A file ends in .json, .jsonl, .ndjson, .yaml or .yml. It holds a list of items, {"items": [...], "weights": {...}},
    or the buckets working, not_working, missing and confusing. Impacts are +5, +3, +2, +1, -1, -2, -3 or -5.
    """
    from evenhand.scoring.flags import pool_flags
    from evenhand.scoring.impact import score_totals
    from evenhand.scoring.variants import settings

    chosen = settings(variant, _overrides(set_ or []))
    if (evidence is None) == (totals is None):
        raise InvalidInput("score: name an EVIDENCE file or give --totals NET COUNT, and not both")
    if stress and evidence is None:
        raise InvalidInput("--stress: changes items, and totals are none; give an EVIDENCE file")
    if str(output) == "-":
        raise InvalidInput("--output -: expected a file; --json prints the same document on stdout")
    if output is not None and evidence is not None and _same_file(output, evidence):
        raise InvalidInput(f"--output {shown(str(output))}: is the evidence itself; name another file")
    if evidence is None:
        assert totals is not None
        breakdown = score_totals(_whole(totals[0], "NET"), _whole(totals[1], "COUNT"), chosen)
        _deliver(_pool_document(breakdown), _pool_text("totals", breakdown), output, as_json)
        _warn_flags(pool_flags(breakdown))
        return
    from evenhand.store.evidence_files import read_evidence

    _score_file(read_evidence(evidence, encoding=encoding), chosen, output, as_json, stress=stress)


def _score_file(file: "EvidenceFile", chosen: "Settings", output: Path | None, as_json: bool, *, stress: bool) -> None:
    """Score what a file holds: a pool per criterion where criteria are named, else one pool."""
    from evenhand.scoring.criteria import score_criteria
    from evenhand.scoring.flags import pool_flags
    from evenhand.scoring.impact import score_items

    for note in file.notes:
        say(f"note: {shown(note)}")
    counting = [(item, place) for item, place in zip(file.items, file.places, strict=True) if item.counted]
    if len(counting) < len(file.items):
        say(
            f"note: {plural(len(file.items) - len(counting), 'item says', 'items say')} `counted: false` "
            f"and are left out"
        )
    _refuse_over_cap(file.name, counting, chosen.cap)
    weights = _weights(file)
    _refuse_lone_logarithm(file.name, counting, chosen, by_criterion=weights is not None)
    items = [item for item, _ in counting]
    if weights is None:
        breakdown = score_items(items, chosen)
        text = _pool_text(file.name, breakdown)
        _deliver(*_under_stress(_pool_document(breakdown), text, items, None, chosen, stress), output, as_json)
        if not items:
            warn(f"{file.name}: holds no item that counts, so there is no score")
        _warn_flags(pool_flags(breakdown))
        return
    try:
        overall = score_criteria(items, weights, chosen)
    except InvalidInput as error:
        raise InvalidInput(f"{file.name}: {error}") from error
    equal = file.weights is None
    text = _overall_text(file.name, overall, equal=equal)
    _deliver(*_under_stress(_overall_document(overall), text, items, weights, chosen, stress), output, as_json)
    if equal:
        say(f"note: {file.name} states no weights, so the {len(weights)} criteria have equal ones")
    for name in overall.empty:
        warn(
            f"the criterion {shown(repr(name))} is empty: no item names it, so it has no score and the whole has none; "
            "find evidence for it, or take it out of the weights"
        )
    _warn_flags(_overall_flags(overall))


def _under_stress(
    document: dict[str, Any],
    text: str,
    items: Sequence["Evidence"],
    weights: Mapping[str, Decimal | None] | None,
    chosen: "Settings",
    wanted: bool,
) -> tuple[dict[str, Any], str]:
    """Document and text with what stress does, where it was asked for."""
    if not wanted:
        return document, text
    from evenhand.cli.score_stress import stress_document, stress_lines, stress_of

    stress = stress_of(items, weights, chosen)
    return {**document, "stress": stress_document(stress)}, "\n".join([text, "", *stress_lines(stress)])


def _overrides(given: Sequence[str]) -> dict[str, Decimal]:
    """The constants of `--set NAME=VALUE`, as decimals."""
    made: dict[str, Decimal] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidInput(f"--set {shown(text, 60)}: has no `=`; write NAME=VALUE, such as scale=6")
        if name in made:
            raise InvalidInput(f"--set {shown(name, 60)}: is given twice; keep one")
        try:
            made[name] = Decimal(value.strip())
        except InvalidOperation:
            raise InvalidInput(
                f"--set {shown(name, 60)}: {shown(repr(value), 60)} is no number; write NAME=VALUE, such as scale=6"
            ) from None
    return made


def _whole(text: str, name: str) -> int:
    """NET or COUNT of `--totals`."""
    try:
        if len(text) > 40:
            raise ValueError
        return int(text)
    except ValueError:
        raise InvalidInput(
            f"--totals: {name} is {shown(repr(text), 60)}; expected a whole number, as in --totals 25 20"
        ) from None


def _same_file(output: Path, evidence: Path) -> bool:
    """Whether writing one would overwrite the other."""
    return output.exists() and evidence.exists() and os.path.samefile(output, evidence)


def _refuse_over_cap(name: str, counting: Sequence[tuple["Evidence", str]], cap: int) -> None:
    """Name the first item that its cell has no room for."""
    from evenhand.scoring.impact import over_cap

    over = over_cap([item for item, _ in counting], cap)
    if over:
        item, place = counting[over[0]]
        in_pass = f", pass {item.pass_name!r}" if item.pass_name is not None else ""
        raise InvalidInput(
            f"{name}: {place} is one more than the cap of {cap} for criterion {item.criterion!r}, perspective "
            f"{item.perspective!r}{in_pass}; keep the strongest {cap}, or raise it with --set cap={cap + 1}"
        )


def _weights(file: "EvidenceFile") -> Mapping[str, Decimal | None] | None:
    """Criterion to weight; None where the items are one pool. Without stated weights, criteria weigh the same."""
    import difflib

    if file.weights is not None:
        for item, place in zip(file.items, file.places, strict=True):
            if item.criterion is None:
                raise InvalidInput(
                    f"{file.name}: {place} names no criterion although weights are given; add `criterion`, or take the "
                    "weights out"
                )
            if item.criterion not in file.weights:
                close = difflib.get_close_matches(item.criterion, file.weights, n=1)
                way_out = f"did you mean {close[0]!r}?" if close else f"expected {', '.join(map(repr, file.weights))}"
                raise InvalidInput(
                    f"{file.name}: {place}.criterion is {item.criterion!r}, which has no weight; {way_out}"
                )
        return file.weights
    named = dict.fromkeys(item.criterion for item in file.items)
    if None not in named:
        return {name: None for name in named if name is not None} or None
    if len(named) > 1:
        lacking = next(place for item, place in zip(file.items, file.places, strict=True) if item.criterion is None)
        raise InvalidInput(
            f"{file.name}: {lacking} names no criterion while other items do; name one in every item to score by "
            "criterion, or in none to score one pool"
        )
    return None


def _refuse_lone_logarithm(
    name: str, counting: Sequence[tuple["Evidence", str]], chosen: "Settings", *, by_criterion: bool
) -> None:
    """Name the item that stands alone in its pool where the formula divides by ln(n)."""
    if chosen.normaliser != "log":
        return
    pools: dict[str | None, list[str]] = {}
    for item, place in counting:
        pools.setdefault(item.criterion if by_criterion else None, []).append(place)
    for criterion, places in pools.items():
        if len(places) == 1:
            of = f" of the criterion {criterion!r}" if criterion is not None else ""
            raise InvalidInput(
                f"{name}: {places[0]} is the only item{of}, and the variant {chosen.variant!r} divides by ln(1), which "
                "is 0; give at least two, or use another variant"
            )


def _pool_document(breakdown: "Breakdown") -> dict[str, Any]:
    """The JSON document of one pool."""
    from evenhand.scoring.flags import pool_flags

    return {**_fields(breakdown), "flags": list(pool_flags(breakdown))}


def _fields(breakdown: "Breakdown") -> dict[str, Any]:
    """The fields of one pool, in the documented order."""
    from evenhand.scoring.impact import arithmetic

    steps = arithmetic(breakdown)
    return {"score": breakdown.score, "exact": breakdown.exact, "confidence": steps.pop("confidence"), **steps}


def _overall_document(overall: "Overall") -> dict[str, Any]:
    """The JSON document of scores by criterion; steps that only a pool has are null for the whole."""
    from evenhand.scoring.scales import plain_number

    return {
        "score": overall.score,
        "exact": overall.exact,
        "confidence": overall.confidence,
        "net_impact": sum(made.breakdown.net for made in overall.criteria),
        "total_items": sum(made.breakdown.n for made in overall.criteria),
        **dict.fromkeys(("normalized", "raw", "density", "multiplier")),
        "criteria": [
            {"id": made.id, "weight": plain_number(made.weight), **_fields(made.breakdown)} for made in overall.criteria
        ],
        "span": overall.span,
        "self_check": overall.self_check,
        "flags": list(_overall_flags(overall)),
    }


def _overall_flags(overall: "Overall") -> tuple[str, ...]:
    """Each criterion's flags, as `flag:criterion`, and the self-check's."""
    from evenhand.scoring.flags import pool_flags

    flags = [f"{flag}:{made.id}" for made in overall.criteria for flag in pool_flags(made.breakdown)]
    return (*flags, "self_check_failed") if overall.self_check == "fail" else tuple(flags)


def _pool_text(name: str, breakdown: "Breakdown") -> str:
    """One pool, worked by hand."""
    from evenhand.scoring.arithmetic import lines

    return "\n".join([f"{shown(name, 50)}, {_described(breakdown.settings)}", "", *lines(breakdown)])


def _overall_text(name: str, overall: "Overall", *, equal: bool) -> str:
    """A table of the criteria, each one's arithmetic, and the whole."""
    from evenhand.scoring.arithmetic import lines, overall_lines
    from evenhand.scoring.scales import plain_number

    chosen = overall.criteria[0].breakdown.settings
    made = [f"{shown(name, 50)}, {_described(chosen)}", "", _row("criterion", _COLUMNS)]
    for criterion in overall.criteria:
        steps = criterion.breakdown
        cells = (
            _figure(plain_number(criterion.weight)),
            f"{steps.net:+d}" if steps.n else "",
            str(steps.n),
            _figure(steps.normalized if steps.n else None),
            _figure(steps.raw),
            _figure(steps.exact),
            "empty" if steps.score is None else str(steps.score),
        )
        made.append(_row(shown(criterion.id), cells))
    for criterion in overall.criteria:
        weight = "equal weight" if equal else f"weight {_figure(plain_number(criterion.weight))}"
        made += ["", f"{shown(criterion.id, 60)}, {weight}", *(f"  {line}" for line in lines(criterion.breakdown))]
    return "\n".join([*made, "", *overall_lines(overall)])


def _row(first: str, cells: Sequence[str]) -> str:
    """One row of the table, 78 characters wide."""
    name = first if len(first) <= 21 else f"{first[:20]}…"
    return f"{name:<22}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))


def _figure(value: float | None) -> str:
    """At most three decimals."""
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _described(chosen: "Settings") -> str:
    """The variant, and the constants that differ from it."""
    from evenhand.scoring.variants import SETTING_NAMES, VARIANTS

    base = VARIANTS[chosen.variant]
    changed = [name for name in SETTING_NAMES if getattr(chosen, name) != getattr(base, name)]
    return ", ".join([f"variant {chosen.variant}", *(f"{name} {getattr(chosen, name)}" for name in changed)])


def _deliver(document: dict[str, Any], text: str, output: Path | None, as_json: bool) -> None:
    """The file first, so that nothing is printed as done that could not be written."""
    if output is not None:
        write_text(output, json_text(document))
    print(json_text(document) if as_json else text, end="" if as_json else "\n")


def _warn_flags(flags: Sequence[str]) -> None:
    """Each flag in words, once, with the criteria it holds for."""
    places: dict[str, list[str]] = {}
    for flag in flags:
        name, _, criterion = flag.partition(":")
        places.setdefault(name, []).append(criterion)
    for name, criteria in places.items():
        named = ", ".join(shown(criterion, 60) for criterion in criteria if criterion)
        warn(f"{named}: {FLAGS[name]}" if named else FLAGS[name])
