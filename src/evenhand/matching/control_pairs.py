"""Pairs whose answer is known, for every kind: what each matcher is checked with before it is trusted.

Each is (candidate, gold) or (candidate, gold, fields of the rule beside `kind`). They are ours; the hard ones are
those that well-known comparers get wrong.
"""

from collections.abc import Mapping
from typing import Any

from evenhand.matching.rules import AnswerKind

__all__ = ["EQUAL", "NO_ANSWER", "UNEQUAL"]

Pair = tuple[str, str] | tuple[str, str, Mapping[str, Any]]

_PLACES = {"tolerance": {"significant": 3}}
_MILLIONTH = {"tolerance": 1e-6}
_ABCD = {"choices": "ABCD"}
_TOWNS = {"choices": {"A": "Paris", "B": "Rome", "C": "Oslo"}}

EQUAL: Mapping[AnswerKind, tuple[Pair, ...]] = {
    "number": (
        ("18", "18"), ("18.0", "18"), ("+18", "18"), ("\u221218", "-18"), ("1,200", "1200"), ("$34.00", "34"),
        ("1.5 x 10^3", "1500"), ("1e3", "1000"), ("1/2", "0.5"), ("3 1/2", "3.5"), ("\\frac{3}{4}", "0.75"),
        ("50%", "0.5"), ("50%", "50", {"percent": "points"}), ("150 cm", "1.5 m"),
        ("90 minutes", "1 hour and 30 minutes"), ("\\boxed{42}", "42"), ("Final answer: **58**", "58"),
        ("#### 72", "72"), ("So 54 tiles are left.", "54"), ("2.5 million", "2500000"), ("14.3", "100/7", _PLACES),
        ("0.333", "1/3", _PLACES), ("0.0666666666666667", "1/15"), ("1,5", "1.5", {"decimal_comma": True}),
        ("\uff11\uff12", "12"),
    ),
    "expression": (
        ("x+1", "1+x"), ("2(x+1)", "2x+2"), ("\\frac{x+3}{8}", "\\frac{x}{8}+\\frac{3}{8}"),
        ("\\sqrt{12}", "2\\sqrt{3}"), ("\\frac{1}{\\sqrt{2}}", "\\frac{\\sqrt{2}}{2}"), ("7\\sqrt(3)", "7\\sqrt{3}"),
        ("x^{2}", "x^2"), ("x**2", "x^2"), ("(x-1)(x+1)", "x^2-1"), ("\\cot^2(t)+1", "\\csc^2(t)"),
        ("10x-4y+18=0", "5x-2y+9=0"), ("x=5", "5"), ("x>3", "3<x"), ("[1,2)", "1 \\le x < 2"),
        ("\\boxed{\\frac12}", "0.5"), ("\\fbox{42}", "$42$"), ("\\pi/2", "\\frac{\\pi}{2}"), ("\u221a2", "\\sqrt{2}"),
        ("0.5x", "\\frac{x}{2}"), ("\\dfrac{3}{4}", "\\frac{3}{4}"), ("3\\pi", "\\pi\\cdot 3"),
        ("\\sqrt{k^2}", "k", {"positive": True}), ("\\text{no solution}", "No solution"), ("e^{i\\pi}", "-1"),
    ),
    "choice": (
        ("C", "C"), ("c", "C"), ("(C)", "C"), ("C.", "C"), ("\\text{(C)}", "C"), ("\\boxed{C}", "C"), ("**C**", "C"),
        ("option c", "C"), ("Answer: C", "C"), ("The answer is (C).", "C"), ("ANSWER IS C. A fails.", "C"),
        ("C) Oslo", "C"), ("I choose C: a bold guess.", "C"), ("Antwort:\n\nAntwort: D", "D", _ABCD),
        ("\u7b54\u3048\uff1a\uff24", "D", _ABCD), ("Oslo", "C", _TOWNS), ("the answer is Rome", "B", _TOWNS),
        ("The answer is F, since I checked.", "F"), ("My answer is B. Many fall for A.", "B", _ABCD),
        ("[B]", "B", _ABCD), ("\\textbf{B}", "(B)", _ABCD),
    ),
    "short_text": (
        ("Paris", "paris"), ("Paris.", "Paris"), ("the Eiffel Tower", "Eiffel Tower"), ('"Hamlet"', "Hamlet"),
        ("U.S.A.", "USA"), ("Answer: Paris", "Paris"), ("\\boxed{Paris}", "Paris"), ("\\text{Paris}", "Paris"),
        ("New  York", "New York"), ("Big  Ben", "big ben"), ("O\u2019Brien", "O'Brien"),
        ("**Marie Curie**", "Marie Curie"), ("\uff30\uff41\uff52\uff49\uff53", "Paris"), ("C++", "c++"),
        ("18", "18.0"), ("1,200", "1200"), ("Paris!", "Paris"), ("Paris\u200b", "Paris"), ("A cat", "the cat"),
        ("Answer: Paris, since it is the capital", "Paris"), ("Trinidad or Tobago", "trinidad or tobago"),
    ),
    "set": (
        ("{8,3}", "{3,8}"), ("\\{3,8\\}", "3, 8"), ("3 and 8", "8, 3"), ("3; 8", "3, 8"), ("x=3 or x=8", "3, 8"),
        ("3, 3, 8", "3, 8"), ("(3,8)", "(3, 8)"), ("[3,8]", "(3,8)"), ("\\pm 12", "{-12, 12}"),
        ("0.5, 1/4", "1/2, 0.25"), ("\\boxed{3} and \\boxed{8}", "{3,8}"), ("n=2,5,9", "9,5,2"),
        ("14, 27, \\text{ and } 63", "63, 27 and 14"), ("{1,200}", "{1, 200}"), ("red, green", "Green, Red"),
        ("{(1,2),(3,4)}", "{(3,4),(1,2)}"), ("\\emptyset", "{}"), ("{1/3, 2}", "{2, 0.333}", _PLACES),
        ("{x+1, 2}", "{2, 1+x}"), ("{3, 3, 8}", "{3, 8, 3}", {"repeats": True}),
        ("2,4,\\ldots,2n", "2, 4, \\dots, 2n"),
    ),
    "code_output": (
        ("1\n2", "1\n2\n"), ("1\r\n2\r\n", "1\n2"), ("hello", "hello"), ("", ""), ("[1, 2]", "[1, 2]"),
        ("  x", "  x\n"), ("a\rb", "a\nb"), ("nan", "nan"), ("unknown", "unknown"), ("9" * 5000, "9" * 5000),
        ("\\boxed{5}", "\\boxed{5}"), ("0.333333", "0.333333333333", _MILLIONTH),
        ("[1.0000004, 2.5]", "[1.0, 2.5]", _MILLIONTH), ("1.0", "1", _MILLIONTH), ("3.0000000001", "3", _MILLIONTH),
        ("1e3", "1000.0", _MILLIONTH), ("x = 0.1", "x = 0.10", _MILLIONTH), ("-0.0", "0.0", _MILLIONTH),
        ("1.0  2.0", "1.0 2.0", _MILLIONTH), ("{'a': 1.5}", "{'a': 1.50}", _MILLIONTH),
    ),
}  # fmt: skip

UNEQUAL: Mapping[AnswerKind, tuple[Pair, ...]] = {
    "number": (
        ("19", "18"), ("-18", "18"), ("180", "18"), ("1.8", "18"), ("50%", "50"), ("34%", "34"),
        ("34 thousand", "34"), ("1,5", "1.5"), ("1/3", "0.333"), ("14.3", "100/7"), ("1.5 m", "1.5 cm"),
        ("$5", "5 km"), ("\u20ac5", "$5"), ("3:45", "3.45"), ("1:45", "3:45"), ("1e3", "100"), ("1.200", "1200"),
        ("\u221e", "\u221e"), ("nan", "nan"), ("\\boxed{86} (a friend said 84)", "84"),
        ("58 + 1 = 59. Final answer: 59", "58"), ("14.4", "100/7", _PLACES), ("10^{-3}", "1000"), ("2 1/2", "1"),
        ("9" * 5000, "9" * 4999 + "8"),
    ),
    "expression": (
        ("x+1", "x-1"), ("x", "y"), ("5x", "5"), ("7\\sqrt{3}", "7"), ("7\\sqrt(3)", "7"), ("5\\pi", "5"),
        ("5\\foo{2}", "5"), ("5x+7y+8=0", "5x-2y+9=0"), ("y^2+x^2=16", "4x^2+y^2=16"), ("g(x)=0", "f(x)=0"),
        ("2x+3=0", "0"), ("\\forall x>0, f(x)=0", "f(x)=0"), ("(1,2)", "[1,2]"), ("x<3", "x>3"), ("x\\le 3", "x<3"),
        ("14.3", "\\frac{100}{7}"), ("1.414214", "\\sqrt{2}"),
        ("\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}"),
        ("\\frac{2}{3}", "\\frac{3}{2}"), ("\\sqrt{k^2}", "k"), ("2\\pi", "\\pi^2"), ("18!", "18"), ("x^2=4", "x=2"),
        ("50\\%", "50"), ("3 m", "3"),
    ),
    "choice": (
        ("A", "C"), ("(A)", "C"), ("option a", "C"), ("Answer: B", "C"), ("\\boxed{D}", "C"), ("D.", "C"),
        ("**B**", "C"), ("Antwort:\n\nAntwort: D", "A", _ABCD), ("My answer is B. Many fall for C.", "C", _ABCD),
        ("E", "C", _ABCD), ("Rome", "C", _TOWNS), ("the answer is Paris", "B", _TOWNS), ("I choose A.", "B"),
        ("ANSWER IS A. C fails.", "C"), ("\\text{(B)}", "C"), ("[D]", "B", _ABCD), ("d", "A"),
        ("Jawaban: B. Alasan: C.", "C", _ABCD), ("A) Oslo", "C"), ("The final answer is (D)", "A"),
    ),
    "short_text": (
        ("18", "19"), ("-5", "5"), ("5%", "5"), ("1.5", "15"), ("Rome", "Paris"), ("not Paris", "Paris"),
        ("C", "C++"), ("M\xfcller", "Muller"), ("Paris, Texas", "Paris"), ("Marie Curie", "Pierre Curie"),
        ("1914", "1918"), ("May", "March"), ("The cat sat", "The dog sat"), ("yes", "no"), ("true", "false"),
        ("oxygen", "hydrogen"), ("north", "south"), ("$5", "\u20ac5"), ("1/2", "2"), ("everyone but Paris", "Paris"),
    ),
    "set": (
        ("{3,9}", "{3,8}"), ("{3}", "{3,8}"), ("{3,8,9}", "{3,8}"), ("(8,3)", "(3,8)"), ("(3,8)", "{3,8}"),
        ("12", "\\pm 12"), ("n=1,2,9", "n=2,5,9"), ("1:45", "3:45"), ("14, 26 and 63", "14, 27, \\text{ and } 63"),
        ("2,5,\\ldots,3n-1", "2,4,\\ldots,2n"), ("{1,2}", "{-1,2}"), ("red, blue", "red, green"),
        ("{(2,1)}", "{(1,2)}"), ("{}", "{0}"), ("{x}", "{y}"), ("8,3", "(3,8)"),
        ("{3,3,8}", "{3,8}", {"repeats": True}), ("(3,3,8)", "(3,8)"), ("{1/3, 2}", "{0.333, 2}"), ("{50%}", "{50}"),
        ("{12}", "{1,2}"),
    ),
    "code_output": (
        ("1\n3", "1\n2"), ("1 2", "1  2"), ("1", "1.0"), ("Hello", "hello"), (" x", "x"), ("x ", "x"),
        ("1\n\n2", "1\n2"), ("[1,2]", "[1, 2]"), ("2 1", "1 2"), ("1 2", "1 2 3"), ("Answer: 5", "5"),
        ("\\boxed{5}", "5"), ("9" * 5000, "9" * 4999 + "8"), ("1000001", "1000000", _MILLIONTH),
        ("1 2", "1 2 3", _MILLIONTH), ("1.1", "1.0", _MILLIONTH), ("a 1.0", "b 1.0", _MILLIONTH),
        ("[1.0, 2.0]", "[2.0, 1.0]", _MILLIONTH), ("nan", "0.0", _MILLIONTH), ("1.0\n2.0", "1.0", _MILLIONTH),
    ),
}  # fmt: skip

NO_ANSWER: Mapping[AnswerKind, tuple[Pair, ...]] = {
    "number": (
        ("", "5"), ("the answer is 5 or 6", "5"), ("either 5, or 6", "5"), ("I cannot answer that.", "5"),
        ("no answer", "no answer"), ("5, 6", "5"), ("unknown", "unknown"),
        ("It might be 84, or 86; I am not sure.", "84"), ("between 5 and 6", "5"), ("\\boxed{5} \\boxed{6}", "5"),
        ("\\boxed{5", "5"), ("not 5", "5"), ("banana", "5"), ("5 to 6", "5"), ("84", "84", {"read": "boxed"}),
    ),
    "expression": (
        ("", "x"), ("x or y", "x"), ("\\boxed{x} or \\boxed{y}", "x"), ("\\boxed{42", "42"), ("I don't know", "x"),
        ("$x$ and $y$", "x"),
    ),
    "choice": (
        ("", "A"), ("A or B", "A"), ("(A) and (B)", "A"), ("A, B", "A"),
        ("A clean solution does not exist here.", "A"), ("I think that it depends.", "I"), ("no answer", "A"),
        ("either A or B", "A"), ("\\boxed{A} \\boxed{B}", "A"),
    ),
    "short_text": (
        ("", "Paris"), ("I cannot say.", "Paris"), ("unknown", "unknown"), ("Paris or London", "Paris"),
        ("...", "Paris"), ("either Paris or Rome", "Paris"), ("\\boxed{Paris} \\boxed{Rome}", "Paris"),
    ),
    "set": (
        ("", "{1}"), ("no answer", "{1}"), ("I cannot say", "{1}"), ("\\boxed{1,2", "{1,2}"),
    ),
    "code_output": (
        ("", "5"), ("\n", "5"),
    ),
}  # fmt: skip
