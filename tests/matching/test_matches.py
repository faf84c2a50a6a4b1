"""What equals what: the traps that well-known comparers fall into, each with its kind."""

import pytest

from evenhand.matching.matches import match, no_answer_in
from evenhand.matching.rule_fields import match_rule

Pair = tuple[str, str, str]  # candidate, gold, verdict


def verdict(candidate: str, gold: str, **fields: object) -> str:
    """The verdict under a rule of these fields."""
    return match(candidate, gold, match_rule(fields, "test")).verdict


NUMBERS: dict[str, list[Pair]] = {
    "hedged": [
        ("the answer is 5 or 6", "5", "no_answer"), ("either 5 or 6", "6", "no_answer"), ("5, 6", "5", "no_answer"),
        ("5 and 6", "5", "no_answer"), ("maybe 5", "5", "no_answer"), ("Answer: 5. Or maybe 6.", "5", "no_answer"),
        ("between 4 and 6", "5", "no_answer"), ("\\boxed{5, 6}", "5", "no_answer"),
    ],
    "two boxes": [
        ("\\boxed{5} and \\boxed{6}", "5", "no_answer"), ("\\boxed{6} and \\boxed{5}", "5", "no_answer"),
        ("\\boxed{5} so \\boxed{5.0}", "5", "equal"), ("\\boxed{5}\nAnswer: 6", "5", "no_answer"),
    ],
    "percent": [
        ("50%", "0.5", "equal"), ("50%", "50", "unequal"), ("50 percent", "1/2", "equal"), ("50\\%", "50%", "equal"),
        ("0.5%", "0.5", "unequal"),
    ],
    "scientific": [
        ("1e3", "1000", "equal"), ("1.5 x 10^3", "1500", "equal"), ("1.5\\times10^{3}", "1500", "equal"),
        ("10\u00b3", "1000", "equal"), ("1.5\u00b710^-3", "0.0015", "equal"), ("103", "10\u00b3", "unequal"),
        ("10^{10^{10}}", "1", "undecided"), ("1e999999999", "1e999999998", "unequal"),
    ],
    "fractions": [
        ("0.333", "1/3", "unequal"), ("0.3333333333333333", "1/3", "equal"), ("3\u00bd", "3.5", "equal"),
        ("31/2", "3\u00bd", "unequal"), ("-\\frac{1}{2}", "-0.5", "equal"), ("1\\frac12", "1.5", "equal"),
        ("1/0", "1/0", "unequal"), ("\\frac{-1}{2}", "-1/2", "equal"),
    ],
    "signs": [
        ("\u22125", "-5", "equal"), ("- 5", "-5", "equal"), ("5", "-5", "unequal"), ("-$5", "$-5", "equal"),
        ("\u200f5\u200e", "5", "equal"), ("5\x00", "5", "equal"), ("\u0665", "5", "equal"),
    ],
    "separators": [
        ("1,200", "1200", "equal"), ("1\u202f200", "1200", "equal"), ("1'200", "1200", "equal"),
        ("1.200.000", "1200000", "equal"),
        ("1.234,5", "1234.5", "equal"), ("12,34,567", "1234567", "equal"), ("1.200", "1200", "unequal"),
        ("1,5", "1.5", "unequal"), ("1,2345", "12345", "unequal"), ("1{,}200", "1200", "equal"),
        ("1 200", "1200", "no_answer"),
    ],
    "money and units": [
        ("$34.00.", "34", "equal"), ("\u20ac 34,-", "34", "equal"), ("$5", "\u20ac5", "unequal"),
        ("50 cents", "$0.50", "equal"),
        ("It is 1,200 in all.", "$1200", "equal"), ("5 in total", "$5", "equal"),
        ("5 laps", "5 km", "unequal"), ("34 thousand", "34", "unequal"), ("34k", "34000", "equal"),
        ("1.5 m", "150 cm", "equal"),
        ("5 km", "5", "equal"),
        ("5 km", "5 kg", "unequal"), ("60 km/h", "60 kilometers per hour", "equal"),
        ("30\u00b0", "30 degrees", "equal"),
        ("5 ft 6 in", "66 inches", "no_answer"), ("5 feet 6 inches", "66 inches", "equal"), ("3x", "3", "undecided"),
        ("3:45", "3:45", "equal"), ("3:45", "1:45", "unequal"), ("2:1", "2", "unequal"),
    ],
    "what stands before a number": [
        ("-(2)", "2", "undecided"), ("-(2)", "-2", "undecided"), ("\u00b12", "2", "no_answer"),
        ("half of 5", "5", "unequal"),
        ("twice 5", "5", "unequal"), ("negative 5", "5", "unequal"), ("minus 5", "5", "unequal"),
        ("log 5", "5", "undecided"), ("sqrt(5)", "5", "undecided"), ("the square root of 5", "5", "unequal"),
        ("\u221b8", "8", "unequal"), ("log_2 5", "5", "undecided"), ("|-5|", "-5", "undecided"),
    ],
    "what stands behind a number": [
        ("5 tenths", "5", "unequal"), ("5 thirds", "5", "unequal"), ("5 and a half", "5", "unequal"),
        ("5\u2030", "5", "unequal"), ("5\u4e07", "5", "unequal"), ("5 Millionen", "5", "unequal"),
        ("5 pct", "5", "unequal"), ("5 basis points", "5", "unequal"), ("5+", "5", "unequal"), ("5 x", "5", "unequal"),
        ("5\u066a", "0.05", "equal"),
    ],
    "bounds": [
        (">2", "2", "no_answer"), ("x \u2265 2", "2", "no_answer"), ("x<=2", "2", "no_answer"),
        ("x != 2", "2", "no_answer"), ("\u22602", "2", "no_answer"), ("more than 2", "2", "no_answer"),
        ("less than 2 cm", "2", "no_answer"), ("at least 2", "2", "no_answer"), ("at most $2", "2", "no_answer"),
        ("<b>2</b>", "2", "equal"), ("so -> 2", "2", "equal"), ("about 2", "2", "equal"),
    ],
    "ranges, lists and dates": [
        ("2-3", "-1", "no_answer"), ("2\u20133", "2", "no_answer"), ("5 - 3", "2", "undecided"),
        ("(5, 6)", "6", "no_answer"), ("{5, 6}", "6", "no_answer"), ("(1,200)", "1200", "equal"),
        ("2024-01-05", "2018", "unequal"), ("2024-01-05", "2024-1-5", "equal"), ("5/1/2024", "5/2024", "unequal"),
        ("January 5, 2024", "2024", "no_answer"),
    ],
    "times": [
        ("12:30 am", "12:30 pm", "unequal"), ("12:30 p.m.", "12:30", "equal"), ("03:05", "3:05", "equal"),
        ("3:05", "3:50", "unequal"), ("3 pm", "3 am", "unequal"), ("3 pm", "3", "equal"),
    ],
    "objects and what is left of them": [
        ('{"answer": "5", "n": 6}', "5", "equal"), ('{"answer": 5, "n": 6}', "5", "equal"),
        ('{"n": 6, "final_answer": 5}', "5", "equal"), ("{'answer': '$1,200'}", "1200", "equal"),
        ('{"answer": "5 or 6"}', "5", "no_answer"), ('}2,"', "2", "no_answer"), ("}2", "2", "no_answer"),
        ("5\x006", "56", "no_answer"),
    ],
    "not a number": [
        ("\\infty", "\\infty", "unequal"), ("nan", "nan", "unequal"), ("inf", "inf", "unequal"),
        ("five", "5", "no_answer"),
        (",", "5", "no_answer"),
    ],
    "refused": [
        ("no answer", "no answer", "no_answer"), ("", "", "no_answer"), ("unknown", "unknown", "no_answer"),
        ("I cannot solve this.", "5", "no_answer"), ("There are 5. I cannot answer.", "5", "no_answer"),
        ("Answer: unknown", "5", "no_answer"),
    ],
    "prose": [
        ("so it is -0.375", "-3/8", "equal"), ("It is -5.", "-5", "equal"), ("it is -5", "5", "unequal"),
        ("So there are 54 tiles left, all told.", "54", "equal"), ("It comes to 1,200, as required,", "1200", "equal"),
        ("In the end, , five hundred is wrong; it is 5,", "5", "equal"), ("3*18 = 54", "54", "equal"),
        ("There are 54 tiles in 6 rows.", "54", "no_answer"), ("The answer is not 5", "5", "no_answer"),
    ],
    "stated": [
        ("205+88=293. The count is **58**.\n\nFinal answer: **58**", "58", "equal"),
        ("Final answer: __58__", "58", "equal"),
        ("**Final answer:** `58`.", "58", "equal"), ("58 + 1 = 59. Final answer: **59**", "58", "unequal"),
        ("She has 3.\n#### 1,018", "1018", "equal"), ("Q: 3?\nA: 18", "18", "equal"), ("Answer:\n\n18", "18", "equal"),
        ("Answer: 17\nAnswer: 18", "18", "equal"), ("\\boxed{86} (a friend said 84)", "84", "unequal"),
    ],
    "crossed out": [
        ("~~5~~", "5", "no_answer"), ("~~5~~ 6", "5", "unequal"), ("~~5~~ 6", "6", "equal"),
        ("<del>5</del> 6", "6", "equal"), ("\\boxed{\\cancel{5} 6}", "6", "equal"), ("5\u0336 6", "6", "equal"),
        ("Answer: ~~5~~", "5", "no_answer"), ("~~~5", "5", "equal"),
    ],
    "asked": [
        ("5?", "5", "no_answer"), ("Answer: 5?", "5", "no_answer"), ("\\boxed{5}?", "5", "no_answer"),
        ("What is 2+3? 5", "5", "equal"), ("How many are left if 5 go?", "5", "no_answer"),
        ("It is 5. Is that right?", "5", "equal"),
    ],
    "taken back behind": [
        ("Answer: 5\nOn second thought, 6", "5", "no_answer"), ("Answer: 5\nNo wait, it's 6.", "5", "no_answer"),
        ("\\boxed{5}. Actually, it is 6.", "5", "no_answer"), ("\\boxed{5} is wrong", "5", "no_answer"),
        ("\\boxed{5} or 6", "5", "no_answer"), ("\\boxed{5}. No other value works.", "5", "equal"),
        ("\\boxed{5}\n\nCheck: 2+3=5.", "5", "equal"), ("Answer: 5. No other value works.", "5", "equal"),
    ],
    "denied before": [
        ("not \\boxed{5}", "5", "no_answer"), ("The answer is not $\\boxed{5}$", "5", "no_answer"),
        ("maybe \\boxed{5}", "5", "no_answer"), ("Not hard: it is \\boxed{5}", "5", "equal"),
        ("The wrong answer is 5", "5", "no_answer"), ("I don't think the answer is 5", "5", "no_answer"),
        ("Correct answer: 6\nStudent's answer: 5", "5", "unequal"), ("Answer: 6\nPrevious answer: 5", "6", "equal"),
    ],
    "bounds and exceptions in words": [
        (f"{words} 5", "5", "unequal") for words in (
            "under", "over", "up to", "exceeds", "other than", "anything but", "rather than", "instead of",
            "up from",
        )
    ] + [
        ("5 at most", "5", "unequal"), ("It is 6, instead of 5", "5", "unequal"),
        ("instead of 6 it is 5", "5", "no_answer"),
    ],
    "several": [
        ("5\n6", "6", "no_answer"), ("5\n5.0", "5", "equal"), ("x=5,y=6", "6", "no_answer"),
        ("x = 5 y = 6", "6", "no_answer"), ("5=6", "6", "no_answer"), ("10/2 = 5", "5", "equal"),
        ("3 apples = 6", "6", "equal"), ("x=/=5", "5", "no_answer"), ("x\\not=5", "5", "no_answer"),
        ("5\u62166", "5", "no_answer"), ("5\u30fb5", "5", "no_answer"), ("\u4e00\u5171\u662f5\u4e2a", "5", "equal"),
    ],
    "signs behind and odd minus signs": [
        ("So it is - 2.1 in all.", "-2.1", "equal"), ("So it is - 2.1 in all.", "2.1", "unequal"),
        ("The total - 5 apples", "5", "equal"),
        ("5-", "5", "unequal"), ("\u20145", "-5", "equal"), ("\u27965", "-5", "equal"), ("\u00ac5", "5", "unequal"),
        ("0,500", "500", "unequal"), ("0.500", "0.5", "equal"),
    ],
    "more money and units": [
        ("A$5", "$5", "unequal"), ("US$5", "C$5", "unequal"), ("US$5", "$5", "equal"), ("A$5", "A$5", "equal"),
        ("\u00a25", "$0.05", "equal"), ("5 mW", "5 MW", "unequal"), ("5 MW", "5000 kW", "equal"),
        ("5 light years", "5 years", "unequal"), ("5 fluid ounces", "5 ounces", "unequal"), ("5 BC", "5 AD", "unequal"),
        ("5 crores", "5", "unequal"), ("5 mn", "5", "unequal"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_read_as_meant_or_not_at_all(kind: str) -> None:
    assert [(c, g, verdict(c, g, kind="number")) for c, g, _ in NUMBERS[kind]] == NUMBERS[kind]


def test_percent_follows_the_declared_policy() -> None:
    assert verdict("50%", "50", kind="number", percent="points") == "equal"
    assert verdict("50%", "0.5", kind="number", percent="points") == "unequal"
    assert verdict("50%", "0.5", kind="number", percent="distinct") == "unequal"
    assert verdict("50%", "50.0%", kind="number", percent="distinct") == "equal"


def test_a_decimal_comma_is_one_where_declared() -> None:
    assert verdict("1,5", "1.5", kind="number", decimal_comma=True) == "equal"
    assert verdict("1.500", "1500", kind="number", decimal_comma=True) == "equal"
    assert verdict("1,500", "1500", kind="number", decimal_comma=True) == "unequal"


@pytest.mark.parametrize(
    ("tolerance", "candidate", "gold", "expected"),
    [
        (0.01, "0.333", "1/3", "equal"),
        ({"decimals": 3}, "0.333", "1/3", "equal"),
        ({"decimals": 4}, "0.333", "1/3", "unequal"),
        ({"significant": 3}, "14.3", "100/7", "equal"),
        ({"significant": 3}, "14.2", "100/7", "unequal"),
        ({"absolute": 1}, "5", "6", "equal"),
        ({"relative": 0.1}, "-5", "5", "unequal"),
        ({"absolute": 0.5}, "50%", "50.4%", "equal"),
    ],
)
def test_a_rounded_number_is_equal_within_the_declared_tolerance_alone(
    tolerance: object, candidate: str, gold: str, expected: str
) -> None:
    assert verdict(candidate, gold, kind="number", tolerance=tolerance) == expected
    assert verdict(candidate, gold, kind="number") == "unequal"


def test_a_required_form_is_required_of_the_candidate_alone() -> None:
    assert verdict("84", "84", kind="number", read="boxed") == "no_answer"
    assert verdict("Answer: 84", "84", kind="number", read="boxed") == "no_answer"
    assert verdict("\\boxed{84}", "84", kind="number", read="boxed") == "equal"
    assert verdict("It is 84.", "84", kind="number", read="stated") == "no_answer"
    assert verdict("Answer: 84", "84", kind="number", read="stated") == "equal"


def test_a_refusal_is_right_only_where_the_rule_and_the_gold_say_so() -> None:
    fields = {"kind": "short_text", "refusal_is_answer": True}
    assert verdict("I don't know", "unknown", **fields) == "equal"
    assert verdict("Paris", "unknown", **fields) == "unequal"
    assert verdict("unknown", "Paris", **fields) == "no_answer"
    assert verdict("unknown", "unknown", kind="short_text") == "no_answer"


CHOICES: list[Pair] = [
    ("\\text{(C)}", "C", "equal"), ("(C)", "C", "equal"), ("C.", "C", "equal"), ("option c", "C", "equal"),
    ("d", "D", "equal"),
    ("My answer is B. Many people fall for A, though.", "B", "equal"),
    ("The answer is F, since I checked.", "F", "equal"),
    ("ANSWER IS G. C fails the second condition.", "G", "equal"), ("I choose H: a bold guess.", "H", "equal"),
    ("A clean solution does not exist here.", "A", "no_answer"), ("I am sure of it.", "I", "no_answer"),
    ("A or B", "A", "no_answer"), ("(A) and (C)", "A", "no_answer"), ("A, C", "C", "no_answer"),
    ("A/B", "A", "no_answer"),
    ("Antwort:\n\nAntwort: D", "D", "equal"), ("Antwort:\n\nAntwort: D", "A", "unequal"),
    ("Jawaban: B. Alasan: arus naik.", "B", "equal"), ("\u7b54\u3048\uff1a\uff24", "D", "equal"),
    ("not B", "B", "no_answer"), ("A. B. C. D.", "A", "no_answer"), ("Answer: A. B.", "A", "no_answer"),
    ("(A) red (B) blue", "A", "no_answer"), ("A) red B) blue", "A", "no_answer"),
    ("I choose A. Wait, B.", "A", "no_answer"), ("(A) since (x) holds", "A", "equal"),
    *((text, "A", "no_answer") for text in (
        "~~A~~", "Answer: A\nActually B", "not \\boxed{A}", "A. is incorrect", "I would not choose A",
        "I don't choose A",
        "option A is wrong", "It is not option A", "The wrong answer is A", "Answer: A - B", "Answer: A-D",
        "Answer: A -> B", "Answer: A as well as B", "Answer: A, no B", "Answer: A?", "Answer: A) x\nB) y",
    )),
    ("A) B)", "A", "no_answer"), ('"B"', "B", "equal"), ("'B'.", "B", "equal"),
    ("Answer: A. No change", "A", "equal"), ("B. Not enough information", "B", "equal"),
    ("Answer: B, not A", "B", "equal"),
    ("Answer: B - I checked it", "B", "equal"), ("Answer: A because B is wrong", "A", "equal"),
    ("\\boxed{A} or \\boxed{B}", "A", "no_answer"), ("Answer: K", "B", "unequal"), ("", "A", "no_answer"),
]  # fmt: skip


def test_an_option_is_read_where_it_is_stated_and_nowhere_else() -> None:
    assert [(c, g, verdict(c, g, kind="choice", choices="ABCDEFGHIJ")) for c, g, _ in CHOICES] == CHOICES


def test_the_text_of_an_option_is_the_option() -> None:
    towns = {"A": "Paris", "B": "Rome"}
    assert verdict("Rome.", "B", kind="choice", choices=towns) == "equal"
    assert verdict("B: Rome", "Rome", kind="choice", choices=towns) == "equal"
    assert verdict("Paris", "B", kind="choice", choices=towns) == "unequal"
    assert verdict("B) Paris", "B", kind="choice", choices=towns) == "no_answer"
    assert verdict("B) Rome", "B", kind="choice", choices=towns) == "equal"


SETS: list[Pair] = [
    ("$\\{8,3\\}$", "$\\{3,8\\}$", "equal"), ("$(8,3)$", "$(3,8)$", "unequal"), ("$12$", "$\\pm 12$", "unequal"),
    ("$\\{-12,12\\}$", "$\\pm 12$", "equal"), ("$n=1,2,9$", "$n=2,5,9$", "unequal"), ("$1:45$", "$3:45$", "unequal"),
    ("$63, 27$ and $14$", "$14, 27, \\text{ and } 63$", "equal"),
    ("$14, 26$ and $63$", "$14, 27, \\text{ and } 63$", "unequal"),
    ("$2,5,\\ldots,3n-1$", "$2,4,\\ldots,2n$", "unequal"), ("(1,2)", "[1,2]", "equal"), ("3, 3, 8", "{3, 8}", "equal"),
    ("\\boxed{5} or \\boxed{6}", "{6,5}", "equal"), ("{5, 6, 7}", "{5, 6}", "unequal"), ("5", "{5}", "equal"),
    ("x=3, y=4", "x=4, y=3", "unequal"), ("y=4, x=3", "x=3, y=4", "equal"), ("x=3 or x=4", "{3, 4}", "equal"),
    ("{1,000}", "{1,0}", "unequal"), ("{1,000}", "{1000}", "equal"), ("{2, 1,200}", "{1200, 2}", "equal"),
    ("100,200,300", "{300, 200, 100}", "equal"), ("{1,5}", "{1.5}", "unequal"), ("(1,000, 2)", "(1000,2)", "equal"),
]  # fmt: skip


def test_a_set_has_no_order_and_a_tuple_has() -> None:
    assert [(c, g, verdict(c, g, kind="set")) for c, g, _ in SETS] == SETS
    assert verdict("{3,3,8}", "{3,8}", kind="set", repeats=True) == "unequal"


OUTPUTS: list[Pair] = [
    ("0.333333", "0.333333333333", "equal"), ("[1.0000004, 2.5]", "[1.0, 2.5]", "equal"),
    ("3.0000000001", "3", "equal"),
    ("1000001", "1000000", "unequal"), ("7" * 4999 + "8", "7" * 5000, "unequal"), ("1 2", "1 2 3", "unequal"),
    ("1.0 a", "1.0 b", "unequal"), ("", "1", "no_answer"),
]  # fmt: skip


def test_outputs_are_compared_number_by_number_where_a_tolerance_is_declared() -> None:
    found = [(c, g, verdict(c, g, kind="code_output", tolerance=1e-6)) for c, g, _ in OUTPUTS]
    assert found == OUTPUTS
    assert verdict("0.333333", "0.333333333333", kind="code_output") == "unequal"


def test_short_texts_that_differ_are_left_to_a_model_and_the_reason_says_so() -> None:
    found = match("the City of Light", "Paris", match_rule({"kind": "short_text"}, "test"))
    assert (found.verdict, "for a model to say" in found.reason) == ("undecided", True)
    assert verdict("PARIS.", "paris", kind="short_text") == "equal"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("a\u2192b", "b\u2190a"), ("a\u2192b", "b\u2192a"), ("a\u2264b", "a\u2265b"), ("\u00acP", "P"), ("!P", "P"),
        ("5!", "5"), ("\u2203x", "\u2200x"), ("a\U0001f600", "a\U0001f622"), ("Paris?", "Paris"), ("a|b", "ab"),
    ],
)  # fmt: skip
def test_signs_that_change_what_is_meant_are_no_punctuation(one: str, two: str) -> None:
    assert verdict(one, two, kind="short_text") == verdict(two, one, kind="short_text") == "undecided"
    assert verdict("Paris!", "Paris", kind="short_text") == verdict(one, one, kind="short_text") == "equal"


def test_a_formula_without_a_comparer_is_undecided_and_the_reason_says_so() -> None:
    found = match("x+1", "1+x", match_rule({"kind": "expression"}, "test"))
    assert (found.verdict, found.reason) == ("undecided", "the formulas need a comparer, and there is none")


def agreeable(first: str, second: str, /, *, positive: bool = False) -> bool | None:
    """What a comparer that drops all that it cannot read would say."""
    return True


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("f'(x)", "f(x)"), ("y''=2x", "y=2x"), ("A^T", "A"), ("A^{T}", "A"), ("(AB)^T", "AB"), ("2X", "2x"),
        ("\\Omega+1", "\\omega+1"), ("\\{1,2\\}", "(1,2)"), ("5!!", "(5!)!"),
        ("N+1", "n+1"), ("x=5", "y=5"), ("x=\\pm 1", "x=1"), ("\\forall x: x>0", "x>0"), ("2:3", "\\frac{2}{3}"),
    ],
)  # fmt: skip
def test_what_a_comparer_would_drop_is_no_formula_for_it(one: str, two: str) -> None:
    rule = match_rule({"kind": "expression"}, "test")
    assert {match(a, b, rule, expressions=agreeable).verdict for a, b in ((one, two), (two, one))} == {"unequal"}
    assert match(one, one, rule).verdict == match(two, two, rule).verdict == "equal"


def test_equations_without_a_solution_are_not_all_one() -> None:
    def by_solutions(first: str, second: str, /, *, positive: bool = False) -> bool | None:
        none = ("x^2=-1", "x^2=-2", "1=2")  # as comparers have it: both have no solution
        return (first in none) == (second in none)

    rule = match_rule({"kind": "expression"}, "test")
    assert match("x^2=-1", "x^2=-2", rule, expressions=by_solutions).verdict == "unequal"
    assert match("x^2=-1", "x^2=-1", rule, expressions=by_solutions).verdict == "equal"
    assert match("10x=20", "5x=10", rule, expressions=by_solutions).verdict == "equal"


def test_the_root_of_twelve_is_not_the_root_of_one_times_two() -> None:
    seen: list[tuple[str, str]] = []

    def shown(first: str, second: str, /, *, positive: bool = False) -> bool | None:
        seen.append((first, second))
        return None

    for root in ("\u221a12", "sqrt 12", "sqrt12", "\\sqrt12"):
        match(root, "2\\sqrt{3}", match_rule({"kind": "expression"}, "test"), expressions=shown)
    assert set(seen) == {("\\sqrt{12}", "2\\sqrt{3}")}


def test_a_comparer_that_keeps_giving_up_is_not_asked_about_every_pair_of_a_set() -> None:
    asked: list[str] = []

    def hopeless(first: str, second: str, /, *, positive: bool = False) -> bool | None:
        asked.append(first)
        return None

    one, two = (f"{{{', '.join(f'{base}^{{{n}}}' for n in range(50))}}}" for base in "xy")
    assert match(one, two, match_rule({"kind": "set"}, "test"), expressions=hopeless).verdict == "undecided"
    assert len(asked) == 3


def test_the_comparer_is_not_asked_about_numbers() -> None:
    def never(first: str, second: str, /, *, positive: bool = False) -> bool | None:
        raise AssertionError((first, second))

    for pairs in (pair for kind in ("separators", "fractions", "percent", "stated", "signs") for pair in NUMBERS[kind]):
        match(pairs[0], pairs[1], match_rule({"kind": "number"}, "test"), expressions=never)


def test_how_says_where_the_answer_was_read() -> None:
    rule = match_rule({"kind": "number"}, "test")
    assert match("\\boxed{5}", "5", rule).how == "exact number, read from the box"
    assert match("Answer: 5", "5", rule).how == "exact number, read from what follows 'Answer'"


def test_a_gold_without_an_answer_is_told_before_it_is_used() -> None:
    rule = match_rule({"kind": "number"}, "test")
    assert no_answer_in("5", rule) is None
    assert no_answer_in("about right", rule) == "has no number"
    assert match("5", "about right", rule).how == "gold"
