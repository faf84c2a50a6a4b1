"""A table and its rule as one HTML file in which the weights can be moved: no network, nothing but its own script.

The policy in the page allows its one script and its one stylesheet by their SHA-256, and nothing else. All that comes
from the table stands in a block of JSON that cannot end early, and reaches the page as text only.
"""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from evenhand.composite.reweighting.views import weights_of_names
from evenhand.composite.rule.evaluate import evaluate
from evenhand.composite.rule.printing import printed
from evenhand.composite.rule.syntax import Missing, Rule, columns_of
from evenhand.composite.table import Table
from evenhand.composite.verification import Verification
from evenhand.errors import InvalidInput
from evenhand.report.rank_model import Gate, RankModel, numbers, rank_model
from evenhand.report.rank_shares import LeaderShares
from evenhand.report.templating import digest, environment, template_text
from evenhand.report.visible import plain
from evenhand.wording import count, plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["MOST_ROWS", "island", "rank_page"]

MOST_ROWS = 10_000
"""No page holds more systems; a browser would no longer follow the sliders."""

_SCRIPTS = (
    "rank_order.js", "rank_rule.js", "rank_flip.js", "rank_view.js", "rank_sliders.js", "rank_table.js",
    "rank_shares.js", "rank_map.js", "rank_link.js",
)  # fmt: skip
_NAME = 160
_CELL = 40
_MOST_PRESETS = 30


def rank_page(
    rule: Rule,
    table: Table,
    *,
    score: str | None = None,
    missing: Missing | None = None,
    lower_score: bool = False,
    title: str = "Ranking",
    verification: Verification | None = None,
    shares: LeaderShares | None = None,
    presets: Mapping[str, Mapping[str, float]] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> str:
    """The page.

    Args:
        rule: its weighted mean gets the sliders.
        score: column of the published composite; None ranks by the rule itself.
        lower_score: whether a lower score is better.
        verification: what `verify` says of the rule; anything but `all` is said at the top of the page.
        shares: leader's shares drawn beforehand.
        presets: name to weights by column, beside the published, equal and one-sided ones.
        aliases: further names of columns, in the presets.
    Raises:
        InvalidInput: the rule has nothing to weigh, no row has a score, there are more than 10,000 rows, or a preset
            names an unknown column.

    >>> from evenhand.composite.rule.parse import parse_rule
    >>> table = Table.of_texts({"a": ["1", "4"], "b": ["4", "9"]}, names=["<b>x</b>", "y"])
    >>> page = rank_page(parse_rule("mean(a, b)"), table)
    >>> page.count("<b>x"), "default-src 'none'" in page
    (0, True)
    """
    if table.n_rows > MOST_ROWS:
        raise InvalidInput(
            f"{table.source}: {count(table.n_rows)} rows; a page re-ranks at most {count(MOST_ROWS)} in a browser, "
            "so keep some of them with --where"
        )
    model = rank_model(rule, table, missing=missing)
    document = _document(rule, table, model, score, missing, lower_score)
    document |= {
        "title": plain(title, 200), "presets": _presets(model, presets or {}, aliases or {}), "shares": _shares(shares),
        "broken": [] if verification is None else [violation.index for violation in verification.violations],
    }  # fmt: skip
    style, script = Markup(template_text("rank_page.css")), Markup(_script())  # noqa: S704  # our own files
    policy = (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment().get_template("rank_page.html").render(
        title=escape(plain(title, 200)),
        source=escape(plain(PurePath(table.source).name or table.source, 200)),
        n_systems=plural(table.n_rows, "system"),
        rule=escape(plain(printed(rule))),
        banner=_banner(verification, score),
        policy=policy, style=style, script=script, data=Markup(island(document)),  # noqa: S704  # escaped for scripts
    )  # fmt: skip


def island(document: Any) -> str:
    r"""JSON that can stand in a script element: no `<`, so that nothing in it ends the element or opens a comment.

    >>> print(island({"name": "</script><!--"}))
    {"name":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _document(
    rule: Rule, table: Table, model: RankModel, score: str | None, missing: Missing | None, lower_score: bool
) -> dict[str, Any]:
    """What the script is given of the table and the rule."""
    import numpy as np

    column = None if score is None else table.column(score)
    published = evaluate(rule, table, missing=missing).values if column is None else column.values
    if not np.isfinite(published).any():
        raise InvalidInput(f"{table.source}: no row has a {'value under the rule' if column is None else 'score'}")
    names = [name for name in columns_of(rule) if name != score]
    return {
        "n": table.n_rows, "names": [plain(name, _NAME) for name in table.names], "rows": list(table.rows),
        "labels": [plain(label, _NAME) for label in model.labels], "weights": list(model.weights),
        "aggregator": model.aggregator, "exponent": model.exponent, "renormalise": model.renormalise,
        "lower": lower_score, "components": [numbers(own) for own in model.components],
        "gates": [_gate(gate) for gate in model.gates], "tree": model.tree, "isLinear": model.is_linear,
        "published": numbers(published),
        "scoreTexts": None if column is None else [plain(text, _CELL) for text in column.texts],
        "decimals": _decimals(published) if column is None else max(0, min(6, int(column.decimals.max(initial=0)))),
        "columns": [
            {
                "name": plain(name, _NAME), "texts": [plain(text, _CELL) for text in table.column(name).texts],
                "values": numbers(table.column(name).values), "lower": table.column(name).lower,
            }
            for name in names
        ],
    }  # fmt: skip


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "text": plain(gate.text, _NAME), "of": list(gate.of), "values": numbers(gate.values),
        "touched": gate.n_touched,
    }  # fmt: skip


def _decimals(values: "Floats") -> int:
    """Decimals that tell scores of this size apart."""
    import numpy as np

    largest = float(np.nanmax(np.abs(np.where(np.isfinite(values), values, np.nan))))
    return 1 if largest == 0 else max(0, min(6, 2 - math.floor(math.log10(largest))))


def _presets(
    model: RankModel, presets: Mapping[str, Mapping[str, float]], aliases: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The published weights, equal ones, half on each column in turn, and the user's own."""
    m = len(model.labels)
    found = {"Published": list(model.weights)}
    if m > 1 and any(abs(weight - 1 / m) > 1e-12 for weight in model.weights):
        found["Equal"] = [1 / m] * m
    if 2 < m <= _MOST_PRESETS:
        for at, label in enumerate(model.labels):
            found[f"Half on {label}"] = [0.5 if other == at else 0.5 / (m - 1) for other in range(m)]
    for name, named in presets.items():
        source = f"preset {plain(name, 60)}"
        found[name] = weights_of_names(named, model.labels, aliases, source=source).tolist()
    return [{"name": plain(name, _NAME), "weights": weights} for name, weights in found.items()]


def _shares(shares: LeaderShares | None) -> dict[str, Any] | None:
    if shares is None:
        return None
    leaders = [[one.index, one.share, one.se] for one in shares.leaders]
    return {"draws": shares.n_draws, "seed": shares.seed, "leaders": leaders}


def _banner(found: Verification | None, score: str | None) -> str:
    """What stands at the top where the rule was not reproduced on every row; "" where it was."""
    if found is None:
        what = "no column of published scores was named" if score is None else "the rule was not held against them"
        return f"This rule was not checked: {what}. Ranks and changes below are against the rule itself."
    n = len(found.violations)
    if not n:
        if found.is_exact:
            return "" if found.rounding == "half-up" else _rounded(found)
        return f"The published scores do not refute this rule, and do not prove it either: {found.inexact_because}."
    first = found.violations[0]
    by = "" if first.excess is None else f", by {first.excess:.3g}"
    broken = f"{count(n)} of {plural(found.n_rows, 'row')}"
    what = {
        "all_but": f"The rule reproduces every published score but {count(n)} (of {count(found.n_rows)})",
        "refuted": f"The published scores refute this rule: it is not reproduced on {broken}",
        "undetermined": f"The columns do not determine the published scores: the rule breaks on {broken}",
    }.get(found.verdict, f"The rule is not reproduced on {broken}")
    return plain(
        f"{what}; first row {first.row}, {plain(first.name, 80)}{by}. Marked rows are ranked by the rule all the same."
    )


def _rounded(found: Verification) -> str:
    """What is said where the rule holds under another rounding than the usual one."""
    broken = plural(found.roundings["half-up"], "row")
    return f"The rule reproduces every published score under {found.rounding}; under half-up it fails on {broken}."


@cache
def _script() -> str:
    """The one script: rule and page in a scope of their own."""
    parts = [template_text(name).replace('"use strict";\n', "", 1) for name in _SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
