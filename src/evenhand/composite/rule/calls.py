"""A function's name and arguments to a node: arguments counted, constants checked, sugar written out."""

from collections.abc import Callable, Sequence
from typing import NoReturn

from evenhand.composite.rule.functions import FUNCTIONS, SUGAR, is_constant
from evenhand.composite.rule.syntax import Binary, Call, Expression, Number
from evenhand.composite.rule.tokens import Token

__all__ = ["build_call", "gate"]

Fail = Callable[[int, str], NoReturn]


def build_call(
    name: str,
    token: Token,
    args: Sequence[Expression],
    weights: Sequence[Expression | None],
    options: Sequence[tuple[str, Token]],
    *,
    fail: Fail,
) -> Expression:
    """The node of a call; `fail` points at a character of the text."""
    _check_number(name, token, len(args), fail)
    if name in SUGAR:
        return _written_out(name, tuple(args), token.at)
    function = FUNCTIONS[name]
    for position in function.constants:
        if position < len(args) and not is_constant(args[position]):
            fail(max(args[position].at, 0), f"argument {position + 1} of {name} is a constant")
    return Call(name, tuple(args), _weights(name, token, weights, fail), _options(name, options, fail), at=token.at)


def gate(column: Expression, knee: float, exponent: float = 1.0, *, at: int = -1) -> Expression:
    """`min(1, (column / knee)^exponent)`."""
    ratio = Binary("/", column, Number(knee), at=at)
    return Call("min", (Number(1.0), ratio if exponent == 1 else Binary("^", ratio, Number(exponent), at=at)), at=at)


def _check_number(name: str, token: Token, n: int, fail: Fail) -> None:
    """As many arguments as the function takes."""
    least, most = SUGAR[name] if name in SUGAR else (FUNCTIONS[name].least, FUNCTIONS[name].most)
    if least <= n and (most is None or n <= most):
        return
    wanted = f"at least {least}" if most is None else str(least) if least == most else f"{least} to {most}"
    fail(token.at, f"{name} takes {wanted} argument{'' if wanted in ('1', 'at least 1') else 's'}; {n} came")


def _weights(
    name: str, token: Token, weights: Sequence[Expression | None], fail: Fail
) -> tuple[Expression, ...] | None:
    """One constant weight per argument, or None where there are none."""
    own = weights[1:] if name == "power" else weights
    if name == "power" and weights[0] is not None:
        fail(token.at, "the exponent of power has no weight")
    given = [weight for weight in own if weight is not None]
    if not given:
        return None
    if not FUNCTIONS[name].weighted:
        fail(token.at, f"arguments of {name} have no weights")
    if len(given) < len(own):
        fail(token.at, f"{len(given)} of {len(own)} arguments have a weight; give one to each or to none")
    for weight in given:
        if not is_constant(weight):
            fail(max(weight.at, 0), "a weight is a constant")
    return tuple(given)


def _options(name: str, options: Sequence[tuple[str, Token]], fail: Fail) -> tuple[tuple[str, str], ...]:
    """Sorted pairs, without those at their default."""
    found: dict[str, str] = {}
    for option, token in options:
        if option in found:
            fail(token.at, f"option {option} came twice")
        found[option] = token.text.lower()
    known = FUNCTIONS[name].options
    return tuple(sorted((option, value) for option, value in found.items() if value != known[option][0]))


def _written_out(name: str, args: tuple[Expression, ...], at: int) -> Expression:
    """Sugar as what it stands for."""
    if name == "gate":
        ratio = Binary("/", args[0], args[1], at=at)
        return Call("min", (Number(1.0), Binary("^", ratio, args[2], at=at) if len(args) > 2 else ratio), at=at)
    if name == "cap":
        return Call("min", args, at=at)
    if name == "atleast":
        return Call("max", args, at=at)
    if name == "goalposts":
        value, low, high = args
        share = Binary("/", Binary("-", value, low, at=at), Binary("-", high, low, at=at), at=at)
        return Call("clamp", (share, Number(0.0), Number(1.0)), at=at)
    value, top = args
    return Binary("*", top, Binary("/", value, Call("colmax", (value,), at=at), at=at), at=at)
