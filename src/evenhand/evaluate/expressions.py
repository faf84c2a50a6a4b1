"""What compares formulas for a judge that answers for itself: a process of its own, which a pure judge cannot start."""

from evenhand.errors import InvalidInput
from evenhand.sandbox.math_worker import MathWorker
from evenhand.terms import JudgeSpec

__all__ = ["formula_worker", "math_worker", "may_need_expressions"]

# A number or an element of a set may be written as a formula: `2^5`, `\sqrt{2}`.
_MAY_HOLD_FORMULAS = ("expression", "number", "set")


def may_need_expressions(spec: JudgeSpec) -> bool:
    """Whether a judge's answers can be formulas."""
    return spec.commit is not None and spec.commit.match.get("kind") in _MAY_HOLD_FORMULAS


def math_worker(spec: JudgeSpec) -> MathWorker | None:
    """A comparer of formulas, which starts with the first pair; to be closed.

    Returns:
        None where the judge needs none, or where numbers alone are matched and math-verify is not installed: a formula
        is then left undecided, and its item abstains.
    Raises:
        InvalidInput: the judge's answers are expressions, and math-verify is not installed.
    """
    kind = None if spec.commit is None else spec.commit.match.get("kind")
    return formula_worker(kind, f"judge {spec.name}")


def formula_worker(kind: str | None, who: str) -> MathWorker | None:
    """A comparer of formulas for answers of a kind, which starts with the first pair; to be closed.

    Args:
        kind: of the answers; None where nothing is matched.
        who: wants it, for the message.
    Returns:
        None where answers of this kind hold no formula, or where numbers alone are matched and math-verify is not
        installed: a formula is then left undecided.
    Raises:
        InvalidInput: the answers are expressions, and math-verify is not installed.
    """
    if kind not in _MAY_HOLD_FORMULAS:
        return None
    try:
        return MathWorker()
    except InvalidInput as error:
        if kind == "expression":
            raise InvalidInput(f"{who}: {error}") from error
        return None
