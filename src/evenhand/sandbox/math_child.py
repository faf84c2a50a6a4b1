"""The process behind `math_worker.py`: a pair of formulas a line in, an answer a line out. It never imports evenhand.

    {"first": "x+1", "second": "1+x", "positive": false}   {"same": true}
    a formula that cannot be read, or too much memory      {"same": null, "why": "..."}

It is started by its path in Python's isolated mode. Formulas are read by the LaTeX grammar alone: the other readers
that math-verify offers evaluate text as Python, or pass over what they cannot read.
"""

import json
import logging
import os
import re
import signal
import sys
from typing import Any

__all__ = ["main", "same"]

_WARMING = (("\\sqrt{2}", "1"), ("[1,2)", "1\\le x<2"), ("x^2+1=0", "1+\\frac{x}{2}=0"), ("\\sin^2(x)", "\\cos(x)"))
_GRACE_S = 1.0  # it is killed from outside in its time, unless whoever started it is gone
_DIGITS = 50  # to which constants are worked out
_EQUAL_DIGITS = 40  # to which two exact constants must agree
_SMALL = 20  # a magnitude; far above it, or near nought, agreeing to forty digits is no proof


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit(int(sys.argv[1]))
    logging.disable(logging.CRITICAL)
    for first, second in _WARMING:  # much is loaded with the first formula of a sort, which is not that pair's time
        same(first, second, positive=False)
    _say(answers, {"ready": True})
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, whatever it is at
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]) + _GRACE_S)
        answer = _answered(json.loads(line))
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(answers, answer)


def _limit(memory_bytes: int) -> None:
    """Memory is bounded; no file can be written, and no process started."""
    import resource

    for what, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))


def _say(answers: Any, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _answered(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"same": same(request["first"], request["second"], positive=request["positive"])}
    except (MemoryError, RecursionError) as error:
        return {"same": None, "why": type(error).__name__}
    except ImportError:
        raise  # a broken installation is no reason to call a pair too hard
    except Exception as error:  # whatever a grammar and an algebra system of others raise
        return {"same": None, "why": f"{type(error).__name__}: {error}"[:200]}


def same(first: str, second: str, *, positive: bool) -> bool:
    """Whether two formulas in LaTeX are worth the same, in both orders."""
    one, two = _read(first), _read(second)
    if positive:
        one, two = _positive(one), _positive(two)
    full = _printed_fully(first) != _printed_fully(second) and not ("." in first and "." in second)
    constant = _same_constants(one, two, full=full)
    if constant is not None:
        return constant
    return _verified(one, two, positive) and _verified(two, one, positive)


def _read(latex: str) -> Any:
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse

    # Units are left where they are: to drop them makes `3m` a bare 3.
    dress = NormalizationConfig(basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none")
    reader = LatexExtractionConfig(normalization_config=dress)
    found = parse(f"${latex}$", extraction_config=[reader], parsing_timeout=None)
    if not found or isinstance(found[0], str):
        raise ValueError("the formula cannot be read")
    return _with_imaginary(found[0])


def _with_imaginary(formula: Any) -> Any:
    """The formula with `i` as the imaginary unit, which it is in an answer; the reader takes it for a symbol."""
    from sympy import Basic, I

    if not isinstance(formula, Basic):
        return formula
    return formula.xreplace({symbol: I for symbol in formula.free_symbols if str(symbol) == "i"})


def _positive(formula: Any) -> Any:
    """The formula with every symbol standing for a positive number."""
    from sympy import Symbol

    return formula.xreplace({symbol: Symbol(symbol.name, positive=True) for symbol in formula.free_symbols})


def _same_constants(one: Any, two: Any, *, full: bool) -> bool | None:
    """Whether two constants are equal; None if either holds a symbol, or is no number.

    A decimal is the number that it prints, so that a rounded one is not equal to what it was rounded from, unless it
    is printed as fully as a float is (`full`). Where digits prove nothing, the difference has to be nought by
    algebra.
    """
    from sympy import Expr, Float, Rational, simplify

    if any(not isinstance(side, Expr) or side.free_symbols for side in (one, two)):
        return None
    exact = [side.xreplace({number: Rational(str(number)) for number in side.atoms(Float)}) for side in (one, two)]
    left, right = (side.evalf(_DIGITS) for side in exact)
    if not (left.is_number and right.is_number and left.is_finite and right.is_finite):
        return None
    apart, larger = abs(left - right), max(abs(left), abs(right), 1)
    if full and apart <= larger * Rational(10) ** -14:
        return True
    if apart > larger * Rational(10) ** -_EQUAL_DIGITS:
        return False
    plain = min(abs(left), abs(right)) > Rational(10) ** -_SMALL and larger < 10**_SMALL
    return bool(plain) or exact[0] == exact[1] or simplify(exact[0] - exact[1]) == 0


def _printed_fully(latex: str) -> bool:
    """Whether there are decimals in a formula, all with the fifteen significant digits that a float keeps."""
    decimals = re.findall(r"[0-9]*\.[0-9]+", latex)
    return bool(decimals) and all(len(decimal.replace(".", "").lstrip("0")) >= 15 for decimal in decimals)


def _verified(one: Any, two: Any, positive: bool) -> bool:
    from math_verify import verify
    from sympy import Symbol, simplify

    if verify(
        one, two, float_rounding=12, numeric_precision=_DIGITS, allow_set_relation_comp=True, timeout_seconds=None
    ):
        return True
    try:
        bare = isinstance(one, Symbol) or isinstance(two, Symbol)  # which verify compares by name alone
        return (positive or bare) and simplify(one - two) == 0
    except TypeError:  # relations and sets have no difference
        return False


if __name__ == "__main__":
    main()
