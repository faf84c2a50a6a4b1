"""The functions of the rule language: names, how many arguments, which options, and what the table of rows does.

elementwise   abs exp log log2 log10 sqrt floor ceil round trunc clamp default
aggregates    mean geomean hmean power median min max sum prod sd      (over the arguments, on one row)
row-coupled   rank percentile zscore minmax winrate colmin colmax colmean colsd    (over the rows)
sugar         gate cap atleast goalposts rescale    (written out when parsed)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evenhand.composite.rule.syntax import Call, ColumnRef, Node, walk

__all__ = ["ALIASES", "COUPLED", "FUNCTIONS", "MEANS", "SUGAR", "Function", "is_constant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function.

    Attributes:
        kind: over what it computes.
        least: arguments at least.
        most: arguments at most; None for any number.
        weighted: whether arguments may carry weights (`mean(a: 0.3, b: 0.7)`).
        constants: positions of arguments that must be constants.
        options: option to its values, the default first.
    """

    kind: Literal["elementwise", "aggregate", "coupled"]
    least: int = 1
    most: int | None = 1
    weighted: bool = False
    constants: tuple[int, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_DIRECTION = {"direction": ("", "higher", "lower")}

FUNCTIONS: Mapping[str, Function] = {
    **{name: Function(kind="elementwise") for name in ("abs", "exp", "log", "log2", "log10", "sqrt", "floor", "ceil")},
    "round": Function(kind="elementwise", most=2, constants=(1,)),
    "trunc": Function(kind="elementwise", most=2, constants=(1,)),
    "clamp": Function(kind="elementwise", least=3, most=3),
    "default": Function(kind="elementwise", least=2, most=2),
    **{
        name: Function(kind="aggregate", most=None, weighted=True)
        for name in ("mean", "geomean", "hmean", "sum")
    },
    "power": Function(kind="aggregate", least=2, most=None, weighted=True, constants=(0,)),
    **{name: Function(kind="aggregate", most=None) for name in ("median", "min", "max", "prod", "sd")},
    "rank": Function(kind="coupled", options={**_DIRECTION, "ties": ("min", "max", "mean")}),
    "percentile": Function(kind="coupled", options=_DIRECTION),
    "zscore": Function(kind="coupled", options=_DIRECTION),
    "minmax": Function(kind="coupled", options=_DIRECTION),
    "winrate": Function(
        kind="coupled", most=None, weighted=True, options={**_DIRECTION, "ties": ("half", "lose", "win")}
    ),
    **{name: Function(kind="coupled") for name in ("colmin", "colmax", "colmean", "colsd")},
}  # fmt: skip
"""By canonical name."""

SUGAR: Mapping[str, tuple[int, int]] = {
    "gate": (2, 3), "cap": (2, 2), "atleast": (2, 2), "goalposts": (3, 3), "rescale": (2, 2),
}  # fmt: skip
"""Name to least and most arguments; `parse` writes them out."""

ALIASES: Mapping[str, str] = {
    "gmean": "geomean", "geometric_mean": "geomean", "geometric": "geomean",
    "harmonic_mean": "hmean", "harmmean": "hmean", "harmonic": "hmean",
    "avg": "mean", "average": "mean", "amean": "mean", "arithmetic_mean": "mean", "arithmetic": "mean",
    "power_mean": "power", "pmean": "power",
    "ln": "log", "total": "sum", "product": "prod", "minimum": "min", "maximum": "max", "clip": "clamp",
    "win_rate": "winrate", "z": "zscore", "min_max": "minmax", "std": "sd", "coalesce": "default",
}  # fmt: skip
"""Other names for the same functions; names are read in any case (`MEAN`, `GeoMean`)."""

MEANS = ("mean", "geomean", "hmean", "power", "median", "min", "max")
"""Aggregates whose value never leaves the range of their arguments."""

COUPLED = tuple(name for name, function in FUNCTIONS.items() if function.kind == "coupled")
"""Functions whose value on a row depends on the other rows."""


def is_constant(node: Node) -> bool:
    """Whether an expression is one number whatever the table: no column, and nothing that counts rows."""
    return not any(
        isinstance(part, ColumnRef) or (isinstance(part, Call) and part.name in COUPLED) for part in walk(node)
    )
