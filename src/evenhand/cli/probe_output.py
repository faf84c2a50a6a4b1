"""What `evenhand probe` shows: the regime and its sureness, the figures with their thresholds, and a histogram."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.cli.judge_output import histogram
from evenhand.cli.output import shown
from evenhand.report.numbers import percent_text
from evenhand.wording import plural

__all__ = ["comparison_lines", "probe_lines"]

_FIGURES = {
    "mean_item_sd": "mean item SD",
    "ceiling_rate": "ceiling rate",
    "floor_rate": "floor rate",
    "range": "range",
    "range_of_means": "range of means",
}
_MEANING = {
    "JITTERY": "its ratings change from one call to the next: use several models or another one",
    "INFLATION_LIKELY": "it piles its ratings up at the top: lean against it (counter_bias: full)",
    "DEFLATION_LIKELY": "it piles its ratings up at the bottom: no counter-bias",
    "PICKS_A_NUMBER": "its ratings hardly differ between good and bad items: use another model",
    "CALIBRATED": "it uses the scale: no counter-bias",
    "AMBIGUOUS": "none of the regimes fits: not known to be lenient, nor to be sound; audit it",
}
_WIDTH = 78


def probe_lines(document: Mapping[str, Any]) -> list[str]:
    """One model's result."""
    lines = [*textwrap.wrap(_title(document), _WIDTH, subsequent_indent="  "), ""]
    lines += _regime_lines(document)
    lines += _failed_lines(document)
    if document["figures"] is not None:
        lines += ["", *_figure_lines(document), ""]
        if sum(document["histogram"].values()):
            lines += [*histogram(document["histogram"], most=25), ""]
        lines += _reading_lines(document)
    lines += _logprob_lines(document)
    lines += _agreement_lines(document)
    if document["control"] is not None:
        lines += _wrapped("digits", document["control"]["sentence"])
    return [*lines, *_token_lines(document), *_stored_lines(document)]


def comparison_lines(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """A row a model."""
    names = [shown(str(document["model"]), 30) for document in documents]
    width = max(len(name) for name in names)
    heads = "".join(f"{head:>6}" for head in ("share", "SD", "ceil", "floor", "range"))
    lines = [f"{'model':<{width}}  {'regime':<17}{heads}{'runs':>5}{'bad':>4}"]
    for name, document in zip(names, documents, strict=True):
        figures, regime = document["figures"] or {}, document["regime"]
        share = "" if regime is None else f"{document['confidence'][regime]:.2f}"
        cells = [
            _number(figures.get(key), "" if key == "range" else ".2f")
            for key in ("mean_item_sd", "ceiling_rate", "floor_rate", "range")
        ]
        lines.append(
            f"{name:<{width}}  {regime or 'undefined':<17}{share:>6}"
            + "".join(f"{cell:>6}" for cell in cells)
            + f"{document['runs']:>5}{document['failed']:>4}"
        )
    return [*lines, "share: of resamples that get this regime; bad: failed runs (logprob: items)"]


def _title(document: Mapping[str, Any]) -> str:
    low, high = document["scale"]
    name = "runs" if document["model"] is None else shown(str(document["model"]), 60)
    on = f"{name}: {shown(document['domain'], 60)}, {plural(document['n_items'], 'item')} on {low} to {high}"
    how = {
        "sample": "all in one call",
        "logprob": "one token an item",
        "both": "all in one call, and one token an item",
        "runs": "made elsewhere",
    }[document["method"]]
    warm = "" if document["temperature"] is None else f", temperature {document['temperature']:g}"
    return f"{on}, {how}{warm}"


def _regime_lines(document: Mapping[str, Any]) -> list[str]:
    regime = document["regime"]
    if regime is None:
        lines = [f"regime   undefined: {document['undefined']}"]
        causes = dict.fromkeys(one["cause"] for one in document["failures"])
        for cause in causes:
            first = next(one for one in document["failures"] if one["cause"] == cause)
            lines += _wrapped("", f"{cause}, such as {first['of']}: {first['message'][:300]}")
        return lines
    share = document["confidence"][regime]
    sure = "sure" if document["sure"] else "NOT SURE"
    runs = "simulated runs" if document["simulated_runs"] else "runs"
    lines = [
        f"regime   {regime}: {percent_text(share)} of {plural(document['n_resamples'], 'resample')} of "
        f"{document['runs']} {runs}; {sure}"
    ]
    if not document["sure"]:
        lines += _wrapped("", document["why_not_sure"])
    lines += _wrapped("", _MEANING[regime])
    others = [label for label in document["labels"] if label != regime]
    if others:
        lines.append(f"also     {', '.join(others)}: holds too, further down the published order")
    rest = [
        f"{name} {percent_text(share)}" for name, share in document["confidence"].items() if share and name != regime
    ]
    if rest:
        lines.append(f"or       {', '.join(rest)} of the resamples")
    return lines


def _failed_lines(document: Mapping[str, Any]) -> list[str]:
    of = document["runs"] + document["failed"] if document["failed_are"] == "runs" else document["n_items"]
    causes = ", ".join(f"{shown(cause)} {count}" for cause, count in document["causes"].items())
    early = f"; ended early of {document['planned']}, as it was sure" if document["ended"] == "sure" else ""
    return _wrapped(
        "failed", f"{document['failed']} of {of} {document['failed_are']}{f' ({causes})' if causes else ''}{early}"
    )


def _figure_lines(document: Mapping[str, Any]) -> list[str]:
    """Each figure with its interval, and its distance to each threshold."""
    lines = [f"{'figure':<16}{'value':>6}  interval"]
    for key, name in _FIGURES.items():
        estimate = document["estimates"][key]
        value = _number(estimate["value"], ".0f" if key == "range" else ".2f") or "undefined"
        alike = " (all resamples agree)" if str(estimate.get("no_interval")).startswith("degenerate") else ""
        interval = f"none{alike}" if estimate["low"] is None else f"[{estimate['low']:.2f}, {estimate['high']:.2f}]"
        lines.append(f"{name:<16}{value:>6}  {interval}")
    lines.append(f"(95 % bootstrap over {document['runs']} runs, seed {document['seed']}; items are taken as given)")
    if not document["distances"]:
        return lines
    lines += ["", f"{'regime':<18}{'figure':<14}{'needs':<9}{'met':<5}distance"]
    for one in document["distances"]:
        errors = "" if one["standard_errors"] is None else f" ({one['standard_errors']:+.1f} SE)"
        met = "yes" if one["holds"] else "no"
        lines.append(
            f"{one['regime']:<18}{_FIGURES[one['figure']]:<14}{one['needs']:<9}{met:<5}{one['distance']:+.2f}{errors}"
        )
    return lines


def _reading_lines(document: Mapping[str, Any]) -> list[str]:
    """Which points are ceiling and floor, and what the other reading gives."""
    other = "text" if document["reading"] == "script" else "script"
    own, its = document["by_reading"][document["reading"]], document["by_reading"][other]
    labels = ", ".join(its["labels"]) or "undefined"
    lines = _wrapped(
        "reading",
        f"{document['reading']}: ceiling and floor are {_points(own['points'])} at each end; by the {other} "
        f"({_points(its['points'])}): {labels}, ceiling {its['ceiling_rate']:.2f}, floor {its['floor_rate']:.2f}",
    )
    if not document["thresholds_published"]:
        lines += _wrapped(
            "scale", "thresholds are published for ten points, and are taken in proportion to this scale's width"
        )
    return lines


def _logprob_lines(document: Mapping[str, Any]) -> list[str]:
    """What the distributions themselves say, without chance."""
    found = document["logprob"]
    if found is None:
        return []
    lines = []
    if document["method"] == "both":
        sure = None if found["regime"] is None else found["confidence"][found["regime"]]
        share = "" if sure is None else f": {percent_text(sure)} of resamples"
        lines.append(f"logprob  {found['regime'] or 'undefined'}{share} of {found['simulated_runs']} simulated runs")
    if found["exact"]:
        exact = found["exact"]
        lines += _wrapped(
            "exact",
            f"by the distributions of {plural(found['items_read'], 'item')}: SD {exact['mean_item_sd']:.2f}, ceiling "
            f"{exact['ceiling_rate']:.2f}, floor {exact['floor_rate']:.2f}, range of means "
            f"{exact['range_of_means']:.2f}; numbers had at least {found['least_mass']:.2f} of the first token; 1 and "
            f"10 were parted by a second token for {found['parted']}, the reply was begun for {found['begun']}",
        )
    return lines


def _agreement_lines(document: Mapping[str, Any]) -> list[str]:
    found = document["agreement"]
    if found is None:
        return []
    lines: list[str] = []
    methods = found.get("methods")
    if methods is not None:
        same = {True: "the same regime", False: "ANOTHER regime", None: "no regime to compare"}[methods["same_regime"]]
        difference = methods["mean_absolute_difference"]
        apart = "" if difference is None else f"; item means differ by {difference:.2f} points on average"
        signed = "" if difference is None else f" (sampled minus logprob {methods['mean_difference']:+.2f})"
        lines += _wrapped("methods", f"{same}{apart}{signed}, over {plural(methods['n_items'], 'item')}")
    samples = found["samples"]
    if samples is not None:
        if samples["p_value"] is None:
            return [*lines, f"samples  undefined: {samples['undefined']} ({samples['failed']} failed)"]
        verdict = "DISAGREE with" if samples["p_value"] < 0.05 else "do not contradict"
        lines += _wrapped(
            "samples",
            f"{samples['n']} single-item calls ({samples['failed']} failed) {verdict} the distributions: p "
            f"{samples['p_value']:.3f}, distance {samples['variation']:.2f} where chance alone gives "
            f"{samples['variation_by_chance']:.2f}, means differ by {samples['mean_difference']:+.2f}",
        )
    return lines


def _token_lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, used in document["tokens"].items():
        tokens = ", ".join(
            f"{used[key]:,} {word}" for key, word in (("input_tokens", "in"), ("output_tokens", "out"))
            if used[key] is not None
        )  # fmt: skip
        cost = "price unknown" if used["cost_usd"] is None else f"${used['cost_usd']:.4f}"
        lines.append(f"tokens   {name}: {plural(used['calls'], 'reply', 'replies')}, {tokens or 'not told'}; {cost}")
    return lines


def _stored_lines(document: Mapping[str, Any]) -> list[str]:
    if document["method"] == "runs":
        return ["stored   no: runs made elsewhere do not tell which endpoint a judge would ask"]
    if not document["stored"]:
        return ["stored   no: there is no regime"]
    lines = ["stored   for judges with counter_bias: auto"]
    return lines if document["sure"] else [f"{lines[0]}, though it is not sure"]


def _points(n: int) -> str:
    return "the extreme point" if n == 1 else f"the {n} extreme points"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form or 'g'}}"


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(shown(text), _WIDTH, initial_indent=f"{head:<9}", subsequent_indent=" " * 9) or [head]
