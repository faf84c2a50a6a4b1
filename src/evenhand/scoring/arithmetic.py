"""The evidence formula worked as a person would by hand: one step a line, with the numbers put in.

Intermediate values are shown to four decimals; the score comes from the unrounded ones.
"""

from collections.abc import Sequence

from evenhand.scoring.criteria import Overall
from evenhand.scoring.impact import Breakdown, Tally
from evenhand.scoring.scales import Exact, plain_number
from evenhand.wording import plural

__all__ = ["lines", "overall_lines"]

_LABEL = 13


def lines(breakdown: Breakdown) -> tuple[str, ...]:
    r"""One pool's arithmetic.

    >>> from evenhand.scoring.impact import score_impacts
    >>> from evenhand.scoring.variants import settings
    >>> print(*lines(score_impacts([3, 3, -1, -1], settings())), sep="\n")
    net impact   2 of +3, 2 of -1
                 6 - 2 = 4, from 4 items
    normalized   4 / sqrt(4) = 2
    raw          50 + 8 * 2 = 66
    density      4 / 20 = 0.2
    multiplier   0.75 + 0.25 * 0.2 = 0.8
    score        50 + (66 - 50) * 0.8 = 62.8, rounded half up: 63
    confidence   0.2
    """
    chosen = breakdown.settings
    if breakdown.raw is None or breakdown.raw_unclamped is None or breakdown.exact is None:
        return (_line("score", "none: there are no items, and no evidence is not the middle of the scale"),)
    centre, scale = _number(chosen.centre), _number(chosen.scale)
    unclamped, raw = _number(breakdown.raw_unclamped), _number(breakdown.raw)
    density, confidence = _number(breakdown.density), _number(breakdown.confidence)
    clamped = f", kept within {_number(chosen.lowest)} and {_number(chosen.highest)}: {raw}" if raw != unclamped else ""
    full = f", counted as {confidence}" if density != confidence else ""
    return (
        *_net_lines(breakdown),
        *_normalized_lines(breakdown),
        _line("raw", f"{centre} + {scale} * {_operand(breakdown.normalized)} = {unclamped}{clamped}"),
        _line("density", f"{breakdown.n} / {_number(chosen.density_denominator)} = {density}{full}"),
        _line(
            "multiplier",
            f"{_number(chosen.multiplier_floor)} + {_number(chosen.multiplier_gain)} * {confidence} "
            f"= {_number(breakdown.multiplier)}",
        ),
        _line(
            "score",
            f"{centre} + ({raw} - {_operand(chosen.centre)}) * {_number(breakdown.multiplier)} "
            f"= {_number(breakdown.exact)}, rounded half up: {breakdown.score}",
        ),
        _line("confidence", confidence),
    )


def overall_lines(overall: Overall) -> tuple[str, ...]:
    """How the criteria's finals make the overall score; one term a line."""
    if overall.score is None or overall.exact is None:
        return (_line("overall", "none: a criterion without items has no score"),)
    terms = [f"{_number(made.weight)} * {made.breakdown.score}" for made in overall.criteria]
    total = sum(made.weight * made.breakdown.score for made in overall.criteria if made.breakdown.score is not None)
    shown = _wrapped("overall", [*(f"{term} +" for term in terms[:-1]), terms[-1]])
    made = [
        *shown,
        _line("", f"= {_number(float(total))}, rounded half up: {overall.score}"),
        _line("", f"from the unrounded finals: {_number(overall.exact)}"),
        _line("confidence", f"{_number(overall.confidence)}, the smallest of the criteria's"),
    ]
    if overall.span is not None and overall.self_check is not None:
        least = _number(overall.criteria[0].breakdown.settings.min_span)
        made.append(
            _line("self-check", f"{overall.self_check}: highest - lowest = {overall.span}, expected at least {least}")
        )
    return tuple(made)


def _net_lines(breakdown: Breakdown) -> tuple[str, ...]:
    """What was found, and the sum of it."""
    if breakdown.tally is None:
        return (_line("net impact", f"{breakdown.net}, from {_items(breakdown.n)} (totals as given)"),)
    counted = [f"{count} of {impact:+d}" for impact, count in breakdown.tally]
    products = [impact * count for impact, count in breakdown.tally]
    signed = [str(products[0]), *(f"{'-' if product < 0 else '+'} {abs(product)}" for product in products[1:])]
    sums = " ".join(signed) + " = " if len(signed) > 1 else ""
    return (
        *_wrapped("net impact", [*(f"{part}," for part in counted[:-1]), counted[-1]]),
        _line("", f"{sums}{breakdown.net}, from {_items(breakdown.n)}"),
    )


def _normalized_lines(breakdown: Breakdown) -> tuple[str, ...]:
    """Net over the normaliser, or the ranked sum by magnitude."""
    net, n, value = breakdown.net, breakdown.n, _number(breakdown.normalized)
    match breakdown.settings.normaliser:
        case "sqrt":
            return (_line("normalized", f"{net} / sqrt({n}) = {value}"),)
        case "mean":
            return (_line("normalized", f"{net} / {n} = {value}"),)
        case "log":
            return (_line("normalized", f"{net} / ln({n}) = {value}"),)
        case "net":
            return (_line("normalized", f"{net}, the net impact itself"),)
        case _:
            terms = _ranked_terms(breakdown.tally or ())
            labels = ["normalized", *[""] * len(terms)]
            return (
                *(_line(label, term) for label, term in zip(labels, terms, strict=False)),
                _line("", f"= {value}"),
            )


def _ranked_terms(tally: Tally) -> list[str]:
    """One term for each magnitude: magnitude * (positive - negative) / items * (sqrt(last) - sqrt(before))."""
    counts = dict(tally)
    terms: list[str] = []
    before = 0
    for magnitude in sorted({abs(impact) for impact in counts}, reverse=True):
        positive, negative = counts.get(magnitude, 0), counts.get(-magnitude, 0)
        last = before + positive + negative
        term = f"{magnitude} * ({positive} - {negative}) / {last - before} * (sqrt({last}) - sqrt({before}))"
        terms.append(f"+ {term}" if terms else term)
        before = last
    return terms


def _wrapped(label: str, parts: Sequence[str], width: int = 78) -> list[str]:
    """Parts on as many lines as they need, the label on the first."""
    made, row = [], ""
    for part in parts:
        if row and _LABEL + len(row) + 1 + len(part) > width:
            made.append(row)
            row = ""
        row = f"{row} {part}".strip()
    made.append(row)
    return [_line(label if place == 0 else "", row) for place, row in enumerate(made)]


def _line(label: str, text: str) -> str:
    """A labelled step."""
    return f"{label:<{_LABEL}}{text}"


def _items(n: int) -> str:
    """The number of items in words."""
    return plural(n, "item")


def _number(value: Exact | float) -> str:
    """At most four decimals, without trailing zeros."""
    exact = plain_number(value)
    text = f"{exact:.4f}".rstrip("0").rstrip(".") if isinstance(exact, float) else str(exact)
    return "0" if text == "-0" else text


def _operand(value: Exact | float) -> str:
    """A number within a product or sum: in brackets if negative."""
    text = _number(value)
    return f"({text})" if text.startswith("-") else text
