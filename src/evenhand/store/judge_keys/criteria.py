"""The criteria of a judge file: weights that sum to exactly 1, levels, checks and groups."""

from decimal import Decimal, localcontext
from typing import Literal, cast

from evenhand.identity import decimal_text
from evenhand.store.documents import Value
from evenhand.terms import Check, CheckGroup, Criterion

__all__ = ["criteria_of", "unique"]

_KEYS = ("id", "weight", "ask", "levels", "map", "checks", "needs")
_CHECK_KEYS = ("id", "ask", "weight", "quote", "na")
_GROUP_KEYS = ("id", "any_of", "weight")
# What they ask stands without one.
_WITHOUT_CRITERIA = ("evidence", "reference", "pairwise", "commit", "anchored_verdict", "solve_first")
_USUAL = {
    "name": "id",
    "question": "ask",
    "prompt": "ask",
    "description": "ask",
    "text": "ask",
    "scale": "levels",
    "range": "levels",
    "mapping": "map",
    "questions": "checks",
    "items": "checks",
    "any": "any_of",
    "requires": "needs",
}


def criteria_of(document: Value, value: Value | None, protocol: str) -> tuple[Criterion, ...]:
    """The criteria, in order.

    Args:
        document: the whole file, which is named where there are none.
        value: what stands under `criteria`.
        protocol: decides the default levels, and which keys are read.
    Raises:
        InvalidInput: with line and field.
    """
    elements = value.items() if value is not None else ()
    if not elements:
        if protocol in _WITHOUT_CRITERIA:
            return ()
        document.refuse(f"is missing or empty; the protocol {protocol} needs at least one criterion", "criteria")
    criteria = tuple(_criterion(element, protocol) for element in elements)
    ids: dict[str, Value] = {}
    for element in elements:
        _unique_id(element, "criterion", ids)
    _unique_checks(elements)
    _check_weights(elements, criteria)
    return criteria


def unique(value: Value, word: str) -> tuple[str, ...]:
    """A list of texts, each of which stands once."""
    texts: list[str] = []
    for element in value.items():
        text = element.text()
        if text in texts:
            element.refuse(f"the {word} {text!r} stands here twice; leave one out")
        texts.append(text)
    return tuple(texts)


def _criterion(value: Value, protocol: str) -> Criterion:
    """One criterion."""
    entries = value.entries(_KEYS, _USUAL)
    if "id" not in entries:
        value.refuse("is missing; a criterion needs one", "id")
    for name in ("map", "checks"):
        if name in entries and protocol != "checklist":
            entries[name].refuse(f"is read by the protocol checklist only, and this judge's is {protocol}: take it out")
    if "needs" in entries and protocol != "evidence":
        entries["needs"].refuse(f"is read by the protocol evidence only, and this judge's is {protocol}: take it out")
    if protocol == "checklist" and not ("checks" in entries and entries["checks"].items()):
        value.refuse("is missing or empty; a checklist criterion needs at least one check", "checks")
    if protocol == "evidence" and "levels" in entries:
        entries["levels"].refuse("evidence is scored on the formula's own scale; take levels out, or set it in scoring")
    checks = tuple(_check_or_group(element) for element in entries["checks"].items()) if "checks" in entries else ()
    levels, texts = _levels(entries.get("levels"), protocol, checks)
    weight = entries["weight"].number() if "weight" in entries else None
    if weight is not None and weight < 0:
        entries["weight"].refuse(f"expected 0 or more; came {weight}")
    return Criterion(
        id=entries["id"].text(),
        weight=weight,
        ask=entries["ask"].text() if "ask" in entries else "",
        levels=levels,
        level_texts=texts,
        map=cast("Literal['count', 'share']", entries["map"].choice("count", "share") if "map" in entries else "count"),
        checks=checks,
        needs=entries["needs"].text() if "needs" in entries else None,
    )


def _levels(
    value: Value | None, protocol: str, checks: tuple[Check | CheckGroup, ...]
) -> tuple[tuple[Decimal, Decimal] | None, dict[int, str]]:
    """The scale and its descriptions; where the file is silent, 1 to 10, or 0 to all the checks' weights."""
    if value is None and protocol == "number":
        return (Decimal(1), Decimal(10)), {}
    if value is None and protocol == "checklist":
        reachable = sum((check.weight for check in checks if check.weight > 0), Decimal(0))
        return ((Decimal(0), reachable), {}) if reachable else (None, {})
    if value is None:
        return None, {}
    if value.kind == "mapping":
        return _described(value)
    bounds = [element.number() for element in value.items()]
    if len(bounds) != 2:
        value.refuse(f"expected [lowest, highest], or a mapping from level to text; came a list of {len(bounds)}")
    if not bounds[0] < bounds[1]:
        value.refuse(f"expected [lowest, highest]; came [{bounds[0]}, {bounds[1]}]")
    return (bounds[0], bounds[1]), {}


def _described(value: Value) -> tuple[tuple[Decimal, Decimal], dict[int, str]]:
    """Levels with a description each, in ascending order."""
    texts: dict[int, str] = {}
    for key, text in value.pairs:
        level = Value(file=value.file, path=value.path, line=text.line, kind="scalar", written=key).whole()
        if level in texts:
            text.refuse(f"the level {level} stands here twice; leave one out")
        texts[level] = text.text()
    if len(texts) < 2:
        value.refuse("expected at least two levels with a text each")
    return (Decimal(min(texts)), Decimal(max(texts))), dict(sorted(texts.items()))


def _check_or_group(value: Value) -> Check | CheckGroup:
    """An entry of `checks`."""
    if value.kind == "mapping" and any(key == "any_of" for key, _ in value.pairs):
        return _group(value)
    return _check(value)


def _group(value: Value) -> CheckGroup:
    """Several routes to one point."""
    entries = value.entries(_GROUP_KEYS, {"name": "id"})
    if "any_of" not in entries or not entries["any_of"].items():
        value.refuse("is empty; a group needs at least one check", "any_of")
    return CheckGroup(
        any_of=tuple(_check(element, in_group=True) for element in entries["any_of"].items()),
        id=entries["id"].text() if "id" in entries else None,
        weight=entries["weight"].number() if "weight" in entries else Decimal(1),
    )


def _check(value: Value, *, in_group: bool = False) -> Check:
    """One yes/no question."""
    entries = value.entries(_CHECK_KEYS, _USUAL)
    if "id" not in entries:
        value.refuse("is missing; a check needs one", "id")
    if "ask" not in entries:
        value.refuse(f"is missing; the check {entries['id'].text()!r} needs a question: write ask: ...", "ask")
    if in_group and "weight" in entries and entries["weight"].number() != 1:
        entries["weight"].refuse("a group counts once, with its own weight; write the weight beside any_of")
    return Check(
        id=entries["id"].text(),
        ask=entries["ask"].text(),
        weight=entries["weight"].number() if "weight" in entries else Decimal(1),
        quote=cast(
            "Literal['required', 'none']",
            entries["quote"].choice("required", "none") if "quote" in entries else "required",
        ),
        na=entries["na"].truth() if "na" in entries else False,
    )


def _unique_id(value: Value, word: str, seen: dict[str, Value]) -> None:
    """Refuse an id that stands elsewhere already."""
    for key, inner in value.pairs:
        if key == "id" and inner.kind != "null":
            first = seen.setdefault(inner.text(), inner)
            if first is not inner:
                where = f" in line {first.line}" if first.line is not None else f" at {first.path}"
                inner.refuse(f"the {word} id {inner.text()!r} stands{where} already; ids must differ")


def _unique_checks(elements: tuple[Value, ...]) -> None:
    """Check and group ids differ over the whole judge, since a reply lists checks without their criterion."""
    seen: dict[str, Value] = {}
    for element in elements:
        for entry in dict(element.pairs)["checks"].items() if "checks" in dict(element.pairs) else ():
            _unique_id(entry, "check", seen)
            group = dict(entry.pairs).get("any_of")
            for member in group.items() if group is not None else ():
                _unique_id(member, "check", seen)


def _check_weights(elements: tuple[Value, ...], criteria: tuple[Criterion, ...]) -> None:
    """Weights stand at all criteria or at none, and sum to exactly 1."""
    weights = [criterion.weight for criterion in criteria if criterion.weight is not None]
    if not weights:
        return
    if len(weights) < len(criteria):
        missing = next(n for n, criterion in enumerate(criteria) if criterion.weight is None)
        elements[missing].refuse(
            "is missing, while other criteria have one; give every criterion one, or none", "weight"
        )
    with localcontext(prec=200):  # so that no sum of weights is rounded to 1
        total = sum(weights, Decimal(0))
    if total != 1:
        terms = " + ".join(map(decimal_text, weights))
        came = f"{terms} = {decimal_text(total)}" if len(weights) > 1 else terms
        dict(elements[0].pairs)["weight"].refuse(
            f"{came}; weights over criteria must sum to exactly 1: change them, or leave them all out for equal shares"
        )
