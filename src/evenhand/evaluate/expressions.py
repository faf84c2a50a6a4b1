"""What compares formulas for a judge that answers for itself: a process of its own, which a pure judge cannot start."""

from evenhand.errors import InvalidInput
from evenhand.sandbox.math_worker import MathWorker
from evenhand.terms import JudgeSpec

__all__ = ["math_worker", "may_need_expressions"]

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
    if not may_need_expressions(spec):
        return None
    try:
        return MathWorker()
    except InvalidInput as error:
        if spec.commit is not None and spec.commit.match.get("kind") == "expression":
            raise InvalidInput(f"judge {spec.name}: {error}") from error
        return None
