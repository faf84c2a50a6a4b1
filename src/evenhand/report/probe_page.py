"""A probe to a page, from the document that `--json` prints: regime, how sure it is, histogram, items, thresholds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.report.caveats import Caveat
from evenhand.report.charts import Axis, Scores, axis_of, level_shares, probe_histogram
from evenhand.report.numbers import alike, number, percent, percents
from evenhand.report.trust_pages import Section, Table, TrustContent
from evenhand.wording import count, plural

if TYPE_CHECKING:
    from evenhand.report.chart_kit import Figure

__all__ = ["probe_content"]

FIGURES = {
    "mean_item_sd": "mean item SD",
    "ceiling_rate": "ceiling rate",
    "floor_rate": "floor rate",
    "range": "range",
    "range_of_means": "range of means",
}


def probe_content(documents: Sequence[Mapping[str, Any]], *, draw: bool = True) -> TrustContent:
    """The page of one or several probed models.

    Args:
        documents: as `Probed.document()` gives them.
        draw: with figures, which need the extra `figures`.
    """
    several = len(documents) > 1
    sections = [_overview(documents, draw=draw)] if several else []
    for place, document in enumerate(documents):
        sections += _sections(document, f"-{place + 1}" if several else "", several=several, draw=draw)
    first = documents[0]
    return TrustContent(
        title="How these models rate" if several else f"How {_name(first)} rates",
        source=f"{first['domain']}: {plural(first['n_items'], 'item')} on {first['scale'][0]} to {first['scale'][1]}, "
        f"{plural(first['runs'], 'run')}{_warm(first)}; resamples of runs: {count(first['n_resamples'])}, seed "
        f"{first['seed']}",
        caveats=tuple(sorted((one for document in documents for one in _caveats(document, several=several)),
                             key=lambda one: not one.serious)),
        sentences=tuple(_sentence(document, several=several) for document in documents),
        sections=tuple(sections),
    )  # fmt: skip


def _name(document: Mapping[str, Any]) -> str:
    return "the source of these runs" if document["model"] is None else str(document["model"])


def _warm(document: Mapping[str, Any]) -> str:
    return "" if document["temperature"] is None else f", temperature {number(document['temperature'])}"


def _sentence(document: Mapping[str, Any], *, several: bool) -> str:
    """The regime, and how sure it is."""
    who = f"{_name(document)}: " if several else ""
    regime = document["regime"]
    if regime is None:
        return f"{who}no regime: {document['undefined']}."
    share = percent(document["confidence"][regime])
    sure = "sure" if document["sure"] else f"NOT SURE: {document['why_not_sure']}"
    others = [label for label in document["labels"] if label != regime]
    also = f" {', '.join(others)} holds too." if others else ""
    return f"{who}{regime}, in {share} of {plural(document['n_resamples'], 'resample')}; {sure}.{also}"


def _caveats(document: Mapping[str, Any], *, several: bool) -> Iterator[Caveat]:
    who = f"{_name(document)}: " if several else ""
    if document["failed"]:
        causes = ", ".join(f"{cause} {times}" for cause, times in document["causes"].items())
        of = document["runs"] + document["failed"] if document["failed_are"] == "runs" else document["n_items"]
        text = f"{who}{count(document['failed'])} of {count(of)} {document['failed_are']} failed ({causes})"
        yield Caveat(serious=True, text=f"{text} and are in no figure.")
    if not document["thresholds_published"] and document["figures"] is not None:
        text = "Thresholds are published for ten points, and are taken in proportion to this scale's width."
        yield Caveat(serious=False, text=f"{who}{text}")
    if document["control"] is not None:
        yield Caveat(serious=False, text=f"{who}{document['control']['sentence']}")
    if document["omitted"]:
        yield Caveat(serious=True, text=f"{who}The endpoint does not take {', '.join(document['omitted'])}.")


def _scores(document: Mapping[str, Any], label: str = "") -> Scores:
    counts = {float(level): times for level, times in document["histogram"].items()}
    return _counted(label, counts)


def _counted(label: str, counts: Mapping[float, int]) -> Scores:
    held = sorted((level, times) for level, times in counts.items() if times)
    return Scores(label=label, levels=tuple(level for level, _ in held), counts=tuple(times for _, times in held))


def _axis(document: Mapping[str, Any], *sets: Scores) -> Axis:
    low, high = document["scale"]
    return axis_of(low, high, 1.0, *sets)


def _overview(documents: Sequence[Mapping[str, Any]], *, draw: bool) -> Section:
    rows = []
    for document in documents:
        figures, regime = document["figures"] or {}, document["regime"]
        rows.append(
            (_name(document), regime or "undefined", "" if regime is None else percent(document["confidence"][regime]),
             *(number(figures.get(key)) for key in ("mean_item_sd", "ceiling_rate", "floor_rate", "range")),
             count(document["runs"]), count(document["failed"]))
        )  # fmt: skip
    head = ("model", "regime", "#share", "#item SD", "#ceiling", "#floor", "#range", "#runs", "#failed")
    drawn: list[Figure] = []
    if draw:
        sets = [_scores(document, _name(document)) for document in documents]
        drawn = [
            level_shares("models", "Which ratings each model gives", sets, _axis(documents[0], *sets), what="rating")
        ]
    return Section(heading="Models", figures=tuple(drawn), tables=(Table(head=head, rows=tuple(rows)),))


def _sections(document: Mapping[str, Any], suffix: str, *, several: bool, draw: bool) -> list[Section]:
    who = f"{_name(document)}: " if several else ""
    if document["figures"] is None:
        return [Section(heading=f"{who}no figures", sentences=(f"undefined: {document['undefined']}",))]
    points = document["by_reading"][document["reading"]]["points"]
    histogram: list[Figure] = []
    items: list[Figure] = []
    if draw:
        title = f"Ratings of {_name(document)}"
        what = "simulated runs" if document["simulated_runs"] else "runs"
        notes = [_sentence(document, several=False), f"{count(document['runs'])} {what} of "
                                                     f"{plural(document['n_items'], 'item')}",
                 *_against(document)]  # fmt: skip
        low, high = document["scale"]
        histogram = [probe_histogram(f"histogram{suffix}", title, _scores(document), (low, high), points, notes)]
        sets = _items(document)
        items = [level_shares(f"items{suffix}", "Which ratings each item gets", sets, _axis(document, *sets),
                              ["Highest mean first; items as the model saw them."], what="rating")]  # fmt: skip
    return [
        Section(heading=f"{who}Regime", figures=tuple(histogram), tables=(_figures(document), _distances(document))),
        Section(heading=f"{who}Items", figures=tuple(items), tables=(_item_table(document),)),
    ]


def _against(document: Mapping[str, Any]) -> list[str]:
    """Ceiling and floor with their intervals and thresholds."""
    found = []
    for key in ("ceiling_rate", "floor_rate"):
        estimate = document["estimates"][key]
        within = "" if estimate["low"] is None else f" ({' to '.join(percents((estimate['low'], estimate['high'])))})"
        found.append(f"{FIGURES[key]} {percent(estimate['value'])}{within}")
    return [f"Shaded: {'; '.join(found)}. Thresholds: often from 25 %, seldom below 5 %."]


def _items(document: Mapping[str, Any]) -> list[Scores]:
    """Each item's ratings, highest mean first."""
    rated = [entry for entry in document["items"] if entry["n"]]
    return [
        _counted(entry["text"] or f"item {place}", {float(level): n for level, n in entry["counts"].items()})
        for place, entry in sorted(enumerate(rated, start=1), key=lambda pair: -pair[1]["mean"])
    ]


def _figures(document: Mapping[str, Any]) -> Table:
    rows = []
    for key, name in FIGURES.items():
        one = document["estimates"][key]
        value, within = number(one["value"]), ""
        if one["low"] is not None:
            value, low, high = alike((one["value"], one["low"], one["high"]))
            within = f"{low} to {high}"
        rows.append((name, value, within, one.get("undefined") or one.get("no_interval") or ""))
    rows += [
        (f"resamples with {name}", percent(share), "", "") for name, share in document["confidence"].items() if share
    ]
    other = "text" if document["reading"] == "script" else "script"
    its = document["by_reading"].get(other)
    note = f"95 % bootstrap over {plural(document['runs'], 'run')}; the items are taken as given."
    if its is not None:
        note += f" By the {other}'s reading of ceiling and floor: {', '.join(its['labels']) or 'undefined'}."
    return Table(head=("", "#value", "#95 % interval", ""), rows=tuple(rows), note=note)


def _distances(document: Mapping[str, Any]) -> Table:
    """Each figure's distance to each threshold."""
    rows = tuple(
        (one["regime"], FIGURES[one["figure"]], one["needs"], "yes" if one["holds"] else "no",
         f"{one['distance']:+.2f}",
         "" if one["standard_errors"] is None else f"{one['standard_errors']:+.1f}")
        for one in document["distances"]
    )  # fmt: skip
    head = ("regime", "figure", "#needs", "met", "#distance", "#in SE")
    return Table(head=head, rows=rows, name="How far from each threshold")


def _item_table(document: Mapping[str, Any]) -> Table:
    rows = tuple(
        (str(place), entry["text"], count(entry["n"]), number(entry["mean"]), number(entry["sd"]))
        for place, entry in enumerate(document["items"], start=1)
    )
    return Table(head=("#item", "text", "#n", "#mean", "#SD"), rows=rows)
