"""Formulas are compared in a process that can be ended."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput
from evenhand.matching.controls import run_controls
from evenhand.matching.matches import match
from evenhand.matching.rules import MatchRule

pytest.importorskip("math_verify", reason="needs math-verify: pip install 'evenhand[math]'")
from evenhand.sandbox.math_worker import MathWorker


@pytest.fixture(scope="module")
def worker() -> Iterator[MathWorker]:
    """One process for the file; its limit is generous, since nothing here may depend on the machine's load."""
    with MathWorker(timeout_s=60.0, start_timeout_s=200.0) as started:
        yield started


def test_known_formulas_and_sets_come_out_as_known(worker: MathWorker) -> None:
    for found in run_controls(["expression", "set"], expressions=worker.same):
        assert found.failures == ()
        assert (found.equal.n_accepted, found.unequal.n_accepted) == (found.equal.n, 0)


@pytest.mark.parametrize(
    ("candidate", "gold", "expected"),
    [
        ("5x+7y+8=0", "5x-2y+9=0", "unequal"),
        ("$10x-4y+18=0$", "$5x-2y+9=0$", "equal"),
        ("2x+3=0", "0", "unequal"),
        ("$7\\sqrt(3)$", "$7\\sqrt3$", "equal"),
        ("$5\\foo{2}$", "$5$", "unequal"),
        ("$x<3$", "$(-\\infty,3)$", "equal"),
        ("$(1,2)$", "$[1,2]$", "unequal"),
        ("\\fbox{\\frac{1}{2}}", "$\\frac{1}{2}$", "equal"),
        ("\\boxed{42", "$42$", "no_answer"),
        ("\\sin 30^\\circ", "\\frac12", "equal"),
        ("1.41421356237310", "\\sqrt{2}", "equal"),
        ("1.414214", "\\sqrt{2}", "unequal"),
        ("10^{-50}\\cdot\\pi", "0", "unequal"),
        ("e^{\\pi\\sqrt{163}}", "262537412640768744", "unequal"),
        ("3m", "3", "unequal"),
        ("x+1 or x-1", "x+1", "no_answer"),
        ("50\\%", "\\frac{1}{2}", "equal"),
        ("50\\%", "50", "unequal"),
    ],
)
def test_formulas_are_read_as_meant_in_both_orders(
    worker: MathWorker, candidate: str, gold: str, expected: str
) -> None:
    rule = MatchRule(kind="expression")
    assert match(candidate, gold, rule, expressions=worker.same).verdict == expected
    if expected != "no_answer":
        assert match(gold, candidate, rule, expressions=worker.same).verdict == expected


@pytest.mark.parametrize(("one", "two"), [("\\sqrt{1/k}", "\\frac{1}{\\sqrt{k}}"), ("\\sqrt{k^2}", "k")])
def test_symbols_are_positive_where_the_rule_says_so(worker: MathWorker, one: str, two: str) -> None:
    assert match(one, two, MatchRule(kind="expression", positive=True), expressions=worker.same).verdict == "equal"
    assert match(one, two, MatchRule(kind="expression"), expressions=worker.same).verdict == "unequal"


def test_a_pair_that_takes_too_long_is_given_up_and_the_next_is_answered() -> None:
    with MathWorker(timeout_s=1.0, start_timeout_s=200.0) as worker:
        heavy = "+".join(f"\\int_0^1 x^{{{n}}} \\sin(x^{n}) \\cos(e^x) dx" for n in range(3, 9))
        assert worker.same(heavy, f"{heavy}+\\sin(y)\\sqrt{{y}}") is None
        assert worker.gave_up
        found = match(heavy, f"{heavy}+y", MatchRule(kind="expression"), expressions=lambda *_, **__: None)
        assert (found.verdict, "it gave up" in found.reason) == ("undecided", True)


def test_a_pair_is_asked_once_in_whichever_order(worker: MathWorker) -> None:
    worker.same("a+b", "b+a")
    asked = worker.asked
    assert worker.same("b+a", "a+b") is True
    assert worker.asked == asked


def test_a_formula_that_cannot_be_read_is_no_answer_and_the_process_lives_on(worker: MathWorker) -> None:
    assert worker.same("1+", "2") is None
    assert "cannot be read" in worker.gave_up[-1]
    assert worker.same("x" * 20_000, "x") is None
    assert worker.same("x", "x+0") is True


def test_limits_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="expected times above 0 and at least 256 MiB"):
        MathWorker(timeout_s=0)
    with pytest.raises(InvalidInput, match="memory_mb 10"):
        MathWorker(memory_mb=10)


ORPHAN = """
from evenhand.sandbox.math_worker import MathWorker
worker = MathWorker(timeout_s=3.0, start_timeout_s=200.0)
worker.same("x", "y")
print(worker._process.pid, flush=True)
worker.same("9^{9^{9^9}}", "2")
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to see whether a process is gone")
def test_a_process_at_a_hopeless_pair_ends_with_whoever_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = Path("/proc", parent.stdout.readline().strip())
        parent.kill()
    gone = threading.Event()
    for _ in range(300):
        if not child.exists() or "\nState:\tZ" in (child / "status").read_text("utf-8"):
            gone.set()
            break
        gone.wait(0.1)
    assert gone.is_set()
