"""Arithmetic of the rule language on arrays, one row an element, and why a row has no value."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.composite.rule.syntax import Binary, Call, ColumnRef, Expression

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["COMPARISONS", "ELEMENTWISE", "OPERATORS", "rounded", "why_undefined"]


def rounded(name: str, values: "Floats", places: int) -> "Floats":
    """Half away from zero (`round`) or towards zero (`trunc`); 0.285 counts as the half it was printed as."""
    import numpy as np

    scale = 10.0**places
    near = np.abs(values) * scale
    whole = np.floor(near + np.minimum(1e-14 * near, 0.01) + (0.5 if name == "round" else 0.0))
    # A float that large has no digits below those that are kept.
    return np.asarray(np.where(near < 2.0**52, np.sign(values) * whole / scale, values))


def why_undefined(node: Expression, index: int, inputs: "Sequence[Floats]") -> str:
    """Why a node has no value on a row."""
    at = [float(value[index]) for value in inputs]
    match node:
        case ColumnRef():
            return "the component is infinite"
        case Binary("/", _, _) if at[1] == 0:
            return "division by zero"
        case Binary("^", _, _) if at[0] == 0:
            return "0 to a negative power"
        case Binary("^", _, _) if at[0] < 0:
            return "a negative number to a broken power"
        case Call(("log" | "log2" | "log10") as name):
            return f"{name} of {'0' if at[0] == 0 else 'a negative number'}"
        case Call("sqrt"):
            return "square root of a negative number"
        case Call(("geomean" | "hmean" | "power") as name):
            return f"{name} of a negative number"
        case Call(("minmax" | "zscore") as name):
            return f"{name} of a column without spread"
        case Call("percentile"):
            return "percentile of a single row"
        case _:
            return "the number is too large"


def _powers(base: "Floats", exponent: "Floats") -> "Floats":
    import numpy as np

    known = ~np.isnan(base) & ~np.isnan(exponent)  # numpy has nan^0 and 1^nan as 1
    return np.where(known, np.power(base, exponent), np.nan)


def _clamped(value: "Floats", low: "Floats", high: "Floats") -> "Floats":
    import numpy as np

    return np.minimum(np.maximum(value, low), high)


def _unary(name: str) -> "Callable[..., Floats]":
    def apply(value: "Floats") -> "Floats":
        import numpy as np

        return np.asarray(getattr(np, name)(value))

    return apply


OPERATORS: "Mapping[str, Callable[[Floats, Floats], Floats]]" = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "^": _powers,
}  # fmt: skip
COMPARISONS: "Mapping[str, Callable[[Floats, Floats], Booleans]]" = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
ELEMENTWISE: "Mapping[str, Callable[..., Floats]]" = {
    **{name: _unary(name) for name in ("abs", "exp", "log", "log2", "log10", "sqrt", "floor", "ceil")},
    "clamp": _clamped,
}
