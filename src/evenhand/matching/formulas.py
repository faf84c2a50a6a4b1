r"""Reading one formula out of an answer, and refusing what a comparer of formulas would quietly drop.

math-verify passes over what it cannot read: it takes `7\sqrt(3)` for 7, an equation without delimiters for its right
side, and a quantified statement for its body. So a formula is rewritten in plain LaTeX, every command must be a known
one, and statements that are more than a formula are compared by their notation alone.
"""

import re
from dataclasses import dataclass

from evenhand.matching.answers import NoAnswer, Passage, Unreadable, first_sentence
from evenhand.matching.cleaning import shortened
from evenhand.matching.hedging import hedge
from evenhand.matching.rules import Expressions, MatchRule

__all__ = ["Written", "formula", "worth_the_same", "written"]

LONGEST = 2_000  # characters
DEEPEST = 40  # brackets in one another


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A formula in plain LaTeX.

    Args:
        latex: what a comparer may be given, without delimiters.
        notation: the same without blanks and needless braces, for comparing by notation.
        comparable: whether a comparer sees all of it; not so with quantifiers, dots, plus-minus, primes and transposes.
    """

    latex: str
    notation: str
    comparable: bool = True


_COMMANDS = """
frac sqrt cdot times div pm mp pi theta alpha beta gamma delta epsilon varepsilon zeta eta iota kappa lambda mu nu xi
rho sigma tau phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega infty le ge ne sin cos tan
cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp lim sum prod int iint min max gcd lcm binom cup cap in
notin subset subseteq setminus emptyset varnothing mathbb mathbf mathrm text begin end pmatrix bmatrix vmatrix matrix
array cases to circ angle triangle overline vec hat bar sim equiv approx mod bmod pmod forall exists ldots dots cdots
vdots ddots lfloor rfloor lceil rceil land lor lnot implies iff Rightarrow rightarrow mid vert lvert rvert Vert det
deg partial nabla operatorname
"""
_KNOWN = frozenset(_COMMANDS.split())
_STATEMENT = re.compile(
    r"\\(?:forall|exists|[lcvd]?dots|ddots|pm|mp|implies|iff|lor|land|lnot|Rightarrow|approx|sim)(?![A-Za-z])|[:%']|!!|\\circ(?![A-Za-z])"
    r"|[A-Z)\]}]\s*\^\s*(?:T(?![A-Za-z])|\{\s*T\s*\})"
)
_ROUNDED_ROOT = re.compile(r"\\sqrt\s*+\(")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SPELT = {
    "√": "\\sqrt ", "π": "\\pi ", "×": "\\times ", "·": "\\cdot ", "⋅": "\\cdot ", "÷": "\\div ", "≤": "\\le ",
    "≥": "\\ge ", "≠": "\\ne ", "∞": "\\infty ", "±": "\\pm ", "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ",
    "θ": "\\theta ", "α": "\\alpha ", "β": "\\beta ", "∅": "\\emptyset ", "∀": "\\forall ", "∃": "\\exists ",
    "…": "\\ldots ", "...": "\\ldots ", "\u2044": "/", "**": "^", "<=": "\\le ", ">=": "\\ge ", "!=": "\\ne ",
    "°": "^\\circ ",
}  # fmt: skip
# `√12` and `sqrt 12` are the root of twelve; in LaTeX `\\sqrt12` alone would be the root of one, times two
_SPELT_ROOT = re.compile(r"(?:\\sqrt|(?<![\\A-Za-z])sqrt)\s*+([0-9]++(?:\.[0-9]++)?)")
_SPELT_ONE = re.compile("|".join(re.escape(sign) for sign in _SPELT))
_REPLACED = re.compile(
    r"\\(dfrac|tfrac|cfrac|left|right|displaystyle|leq|geq|neq|lt|gt|[,;:! $]|q?quad|[bB]ig[lr]?)(?![A-Za-z])|~"
)
_PLAINER = {
    "dfrac": "\\frac", "tfrac": "\\frac", "cfrac": "\\frac", "leq": "\\le", "geq": "\\ge", "neq": "\\ne",
    "lt": "<", "gt": ">",
}  # fmt: skip
_SPELT_WORD = re.compile(
    r"(?<![\\A-Za-z])(sqrt|pi|sin|cos|tan|cot|sec|csc|log|ln|exp|infinity|theta|alpha|beta)(?![A-Za-z])"
)
_MATHEMATICS = re.compile(r"\$\$([^$]++)\$\$|\$([^$]++)\$|\\\(((?:[^\\]|\\[^)])*+)\\\)|\\\[((?:[^\\]|\\[^\]])*+)\\\]")
_LONG_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_WORDED = re.compile(r"\\(?:text(?:bf|it|rm|tt|normal)?|mathrm|mbox|operatorname)\s*+\{([^{}]*+)\}")
_BRACED_ONE = re.compile(r"\{([A-Za-z0-9])\}")


def formula(passage: Passage) -> Written | NoAnswer | Unreadable:
    """The one formula that a passage gives."""
    text = passage.text.strip()
    if passage.stated and "$" not in text and "\\" not in text:
        sentence = first_sentence(text)
        if sentence is None:
            return NoAnswer(reason="takes its answer back")
        text = sentence
    pieces = {piece.strip(" .") for piece in _pieces(text)}
    if len(pieces) > 1:
        return NoAnswer(reason="gives several formulas")
    outside = _MATHEMATICS.sub(" ", text) if pieces else _WORDED.sub(lambda found: found[1], text)
    if (
        len(_LONG_WORD.findall(outside)) > 2
        and not pieces
        and any(not c.isalpha() and c not in " '.," for c in outside)
    ):
        return NoAnswer(reason="is prose without a marked formula")
    word = hedge(outside)
    if word is not None:
        return NoAnswer(reason=f"leaves open which answer it gives ('{word}')")
    return written(pieces.pop() if pieces else text)


def _pieces(text: str) -> list[str]:
    """What stands between delimiters."""
    return [next(part for part in found.groups() if part is not None) for found in _MATHEMATICS.finditer(text)]


def written(text: str) -> Written | NoAnswer | Unreadable:
    r"""A formula in plain LaTeX, or why it is none.

    >>> written(r"7\sqrt(3)").latex, written("2**3").latex, written(r"5\foo{2}").reason
    ('7\\sqrt{3}', '2^3', 'has the command foo, which is not read')
    """
    if len(text) > LONGEST:
        return Unreadable(reason=f"has {len(text):,} characters; formulas of up to {LONGEST:,} are read")
    latex = _plainer(text)
    if not latex:
        return NoAnswer(reason="has no formula")
    unknown = next((name for name in _COMMAND.findall(latex) if name not in _KNOWN), None)
    if unknown is not None:
        return Unreadable(reason=f"has the command {shortened(unknown)}, which is not read")
    fault = _odd(latex) or _unbalanced(latex)
    if fault is not None:
        return Unreadable(reason=fault)
    rooted = _DEGREES.sub(r"(\1\\cdot\\frac{\\pi}{180})", _roots(latex))
    wordless = not _LONG_WORD.search(_WORDED.sub(" ", rooted))
    comparable = wordless and not _STATEMENT.search(rooted) and "\\text" not in rooted
    return Written(latex=rooted, notation=_notation(rooted if wordless else rooted.casefold()), comparable=comparable)


def worth_the_same(one: Written, two: Written, rule: MatchRule, expressions: Expressions | None) -> bool | None:
    """What a comparer says of two formulas; None without one, or where it gave up.

    Symbols that differ in their case alone are different ones, which the comparer does not see.
    """
    first, second = _letters(one.latex), _letters(two.latex)
    if any(letter.swapcase() in second - first for letter in first - second):
        return False
    if {_enclosing(one.latex), _enclosing(two.latex)} >= {"{"} and _enclosing(one.latex) != _enclosing(two.latex):
        return False  # a set is no pair and no interval, which a comparer may take it for
    if expressions is None:
        return None

    def asked(first: str, second: str) -> bool | None:
        return expressions(first, second, positive=True) if rule.positive else expressions(first, second)

    same = asked(one.latex, two.latex)
    if same and _EQUATION.search(one.latex) and one.notation != two.notation:
        # comparers look at solutions: all equations without any, and all that always hold, are one to them
        never = asked(one.latex, _NEVER)
        return None if never is None else not never
    return same


_EQUATION = re.compile(r"(?<![<>!:])=")
_NEVER = "1=2"


def _enclosing(latex: str) -> str:
    """The kind of bracket around all of a formula: `{`, `(`, or nothing."""
    if latex.startswith("\\{") and latex.endswith("\\}"):
        return "{"
    return "(" if latex[:1] in ("(", "[") and latex[-1:] in (")", "]") else ""


def _letters(latex: str) -> frozenset[str]:
    """The letters of a formula, and its Greek ones by their names with the first letter's case alone."""
    greek = {name for name in _COMMAND.findall(latex) if name.casefold() in _GREEK}
    lone = {char for char in _COMMAND.sub(" ", latex) if char.isalpha()}
    return frozenset(lone | {name[0] + name[1:].upper() if name[0].isupper() else name for name in greek})


_GREEK = frozenset(("gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "phi", "psi", "omega"))


def _plainer(text: str) -> str:
    text = text.strip().strip("$").strip()
    text = text[:-1].rstrip() if text.endswith((".", ",", ";")) and not text.endswith("..") else text
    text = _SPELT_ONE.sub(lambda found: _SPELT[found.group()], text)
    text = _SPELT_ROOT.sub(r"\\sqrt{\1}", text)
    text = _REPLACED.sub(lambda found: _PLAINER.get(found[1] or "", " "), text)
    text = _SPELT_WORD.sub(lambda found: f"\\{'infty' if found[1] == 'infinity' else found[1]} ", text)
    return " ".join(text.split())


_DEGREES = re.compile(r"([0-9]++(?:\.[0-9]++)?+)\s*+\^\s*+(?:\\circ(?![A-Za-z])|\{\s*+\\circ\s*+\})")
_ODD = re.compile(r"[^\w\s+\-*/^=<>()\[\]{}|!,.;:'\\&%]")
_SIDE_BY_SIDE = re.compile(r"(?<![A-Za-z_^\\{0-9])[0-9]++ (?=[0-9])")


def _odd(latex: str) -> str | None:
    """Why the signs of a text are no formula's, or None."""
    odd = _ODD.search(latex)
    if odd is not None:
        return f"has the sign {odd.group()}, which is not read"
    return "puts two numbers side by side" if _SIDE_BY_SIDE.search(latex) else None


def _unbalanced(latex: str) -> str | None:
    """Why the braces of a formula do not fit, or None. Round and square brackets may mix: `[1, 2)`."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(latex):
        sign = found.group()
        depth += 1 if sign == "{" else -1 if sign == "}" else 0
        deepest = max(deepest, depth)
        if depth < 0:
            return "has a brace that was never opened"
    if depth:
        return "has a brace that is never closed"
    rounds = latex.count("(") + latex.count("[")
    return f"nests deeper than {DEEPEST}" if deepest > DEEPEST or rounds > 2 * DEEPEST else None


_BRACKETS = re.compile(r"\\[{}]|[{}]")


def _roots(latex: str) -> str:
    r"""`\sqrt(3)` as `\sqrt{3}`, its own bracket found."""
    while (found := _ROUNDED_ROOT.search(latex)) is not None:
        depth, end = 1, found.end()
        while end < len(latex) and depth:
            depth += {"(": 1, ")": -1}.get(latex[end], 0)
            end += 1
        if depth:
            return latex
        latex = f"{latex[: found.start()]}\\sqrt{{{latex[found.end() : end - 1]}}}{latex[end:]}"
    return latex


def _notation(latex: str) -> str:
    bare = _WORDED.sub(lambda found: "".join(found[1].casefold().split()), latex)
    return "".join(_BRACED_ONE.sub(lambda found: found[1], bare.replace("\\ ", "")).split())
