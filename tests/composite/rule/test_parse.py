"""The rule language: what it reads, and where it points when it cannot."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.composite.rule.evaluate import values_of
from evenhand.composite.rule.latex import latex
from evenhand.composite.rule.parse import parse_condition, parse_rule
from evenhand.composite.rule.printing import printed, tree
from evenhand.composite.rule.syntax import (
    ColumnRef,
    Comparison,
    Conditional,
    Number,
    Rule,
    Text,
    columns_of,
    depth_of,
    size_of,
)
from evenhand.errors import InvalidInput


def refused(text, **options):
    """The message, and the character below the caret."""
    with pytest.raises(InvalidInput) as caught:
        parse_rule(text, **options)
    what, line, caret = str(caught.value).split("\n")
    return what, line[caret.index("^") :]


@settings(deadline=None, max_examples=300)
@given(st.from_type(Rule))
def test_a_printed_rule_parses_to_the_same_rule(rule):
    assert parse_rule(printed(rule)) == rule


@settings(deadline=None, max_examples=100)
@given(st.from_type(Rule))
def test_the_normal_form_is_its_own_normal_form_and_every_rule_has_latex_and_a_tree(rule):
    assert printed(parse_rule(printed(rule))) == printed(rule)
    text = latex(rule)
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert tree(rule)["kind"] == "rule"


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="ab1.,()+-*/^<>=;:`\"'# \nmeanif", max_size=40))
@example("`")
@example("((((")
@example("a=")
@example("missing=")
@example("if(")
@example("mean(a:")
@example("rank(a,ties=")
@example("not")
@example("\n;\n")
@example("a==b==c")
@example("1_000_")
def test_any_text_is_a_rule_or_an_input_error(text):
    try:
        rule = parse_rule(text)
    except InvalidInput:
        return
    assert parse_rule(printed(rule)) == rule


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("GMEAN(I,C)", "geomean(I, C)"),
        ("avg(a, b)", "mean(a, b)"),
        ("harmonic(a, b)", "hmean(a, b)"),
        ("Geometric(a: 1, b: 2)", "geomean(a: 1, b: 2)"),
        ("arithmetic_mean(a, b)", "mean(a, b)"),
        ("a**2 − b×c÷d", "a^2 - b * c / d"),
        ("-x^2", "-x^2"),
        ("2^3^2", "2^3^2"),
        ("(2^3)^2", "(2^3)^2"),
        ("a - (b - c) - d", "a - (b - c) - d"),
        ("a / b / c", "a / b / c"),
        ("gate(I, 50, 2)", "min(1, (I / 50)^2)"),
        ("gate(I, 50)", "min(1, I / 50)"),
        ("cap(x, 18)", "min(x, 18)"),
        ("atleast(x, 1)", "max(x, 1)"),
        ("goalposts(L, 20, 85)", "clamp((L - 20) / (85 - 20), 0, 1)"),
        ("rescale(x, 100)", "100 * (x / colmax(x))"),
        ("mean(a: 0.7, b: .3)", "mean(a: 0.7, b: 0.3)"),
        ("power(-1, a: 1, b: 2)", "power(-1, a: 1, b: 2)"),
        ("w = 0.3; score = mean(a: w, b: 1 - w)", "mean(a: 0.3, b: 1 - 0.3)"),
        ("rank(errors, LOWER, ties=max)", "rank(errors, lower, ties=max)"),
        ("rank(errors, ties=min)", "rank(errors)"),
        ("mean(a, b); missing = zero", "mean(a, b); missing = 0"),
        ("missing = renormalize\nmean(a, b)", "mean(a, b); missing = renormalise"),
        ("mean(a, b); missing = -999", "mean(a, b); missing = -999"),
        ("if(year <= 2011, a, b)", "if(year <= 2011, a, b)"),
        ("if(not (a < b or missing(c)) and g == 'it', 1, 2)", 'if(not (a < b or missing(c)) and g == "it", 1, 2)'),
        ("a  # the first\n  * b   # goes on\n", "a * b"),
        ("75_000 * a", "75000 * a"),
        ("`SST-2` + `a``b` + `and`", "`SST-2` + `a``b` + `and`"),
        ("+a", "a"),
    ],
)
def test_what_is_written_has_this_normal_form(text, normal):
    assert printed(parse_rule(text)) == normal


@pytest.mark.parametrize(
    ("text", "says", "at"),
    [
        ("mean(a, b", "the rule ends; expected an operator, `,` or `)`", ""),
        ("mean(a b)", "`b` came", "b)"),
        ("mean(a, b))", "`)` came", ")"),
        ("mean(a,)", "expected another argument", ")"),
        ("foo(a)", "no function `foo`; did you mean `floor`?", "foo(a)"),
        ("geomaen(a)", "did you mean `geomean`?", "geomaen(a)"),
        ("weighted_mean(a, b)", "a weight stands behind a colon: mean(a: 2, b: 1)", "weighted_mean(a, b)"),
        ("wavg(a, b)", "behind a colon: mean(a: 2, b: 1)", "wavg(a, b)"),
        ("weighted_power_mean(2, a, b)", "behind a colon: power(2, a: 2, b: 1)", "weighted_power_mean(2, a, b)"),
        ("a $ b", "`$` has no meaning", "$ b"),
        ("a % b", "write 0.3 for 30 %", "% b"),
        ("|a - b|", "abs(x)", "|a - b|"),
        ("a && b", "`and`", "&& b"),
        ("[a]", "round brackets", "[a]"),
        ("`a", "never closed", "`a"),
        ("2 I", "`I` came; expected an operator", "I"),
        ("a < b", "a condition stands here; expected a number", "a < b"),
        ("if(a, b, c)", "a number stands here; expected a condition", "a, b, c)"),
        ("if(a < b < c, 1, 2)", "do not chain", "< c, 1, 2)"),
        ("if(a = b, 1, 2)", "compared by ==", "= b, 1, 2)"),
        ("if(a < 'x', 1, 2)", "by == or !=", "< 'x', 1, 2)"),
        ("if(a < 1, b)", "`,` and what holds elsewhere", ")"),
        ("'x' + 1", "behind a text", "+ 1"),
        ("mean('x', a)", "texts can only be compared", "'x', a)"),
        ("min()", "min takes at least 1 argument; 0 came", "min()"),
        ("clamp(a, 0)", "clamp takes 3 arguments; 2 came", "clamp(a, 0)"),
        ("gate(a)", "gate takes 2 to 3 arguments; 1 came", "gate(a)"),
        ("power(a, b)", "argument 1 of power is a constant", "a, b)"),
        ("mean(a: x, b: 1)", "a weight is a constant", "x, b: 1)"),
        ("mean(a: 1, b)", "1 of 2 arguments have a weight", "mean(a: 1, b)"),
        ("min(a: 1, b: 2)", "arguments of min have no weights", "min(a: 1, b: 2)"),
        ("rank(a, ties=best)", "expected one of min, max, mean", "best)"),
        ("rank(a, order=up)", "an option of rank: direction, ties", "order=up)"),
        ("rank(a, lower, higher)", "option direction came twice", "higher)"),
        ("missing(a) + 1", "behind a condition", "+ 1"),
        ("if(missing(a + b), 1, 2)", "asks about one column", "missing(a + b), 1, 2)"),
        ("a = 1; a = 2; a", "defined twice", "a = 2; a"),
        ("a; b", "only definitions", "b"),
        ("a; missing = zero; missing = drop", "`missing` is set twice", "missing = drop"),
        ("missing = often; a", "expected drop, zero, renormalise or a number", "often; a"),
        ("1e999", "too large", "1e999"),
        ("", "a rule has an expression", ""),
        ("mean = 3;", "never", None),
    ],
)
def test_an_error_points_at_the_character(text, says, at):
    if at is None:
        assert printed(parse_rule(text)) == "3"
        return
    what, rest = refused(text)
    assert says in what
    assert rest == at


def test_an_unknown_column_says_what_was_perhaps_meant():
    what, rest = refused("geomean(I, Inteligence)", columns=["Intelligence", "I"])
    assert what == "rule, character 12: no column `Inteligence`; did you mean `Intelligence`?"
    assert rest == "Inteligence)"
    assert "did you mean `Math easy`?" in refused("mean(easy)", columns=["Math easy", "Math hard"])[0]
    assert "a function needs brackets: mean(...)" in refused("mean + 1", columns=["a"])[0]
    assert "there are `a`, `b`" in refused("zzz", columns=["a", "b"])[0]


def test_an_alias_stands_for_its_column_and_a_definition_may_not_hide_one():
    rule = parse_rule("I + C", columns=["intelligence", "C"], aliases={"I": "intelligence"})
    assert columns_of(rule) == ("intelligence", "C")
    assert "(alias of `gone`)" in refused("I", columns=["a"], aliases={"I": "gone"})[0]
    assert "is a column" in refused("a = 3; a", columns=["a"])[0]
    assert parse_rule("score = a", columns=["a", "score"]).expression == ColumnRef("a")


def test_the_caret_stands_below_the_character_in_long_lines_several_lines_and_wide_characters():
    what, rest = refused("mean(a,\n  b,\n  c d)")
    assert what.startswith("rule, line 3, character 5:")
    assert rest == "d)"
    assert refused("a + " * 60 + "? + " + "b + " * 60)[1].startswith("? + b")
    with pytest.raises(InvalidInput) as caught:
        parse_rule("`漢字` ? b")
    _, line, caret = str(caught.value).split("\n")
    assert caret.index("^") == line.index("?") + 2  # two characters that take two columns each


def test_nothing_that_a_terminal_obeys_gets_into_a_message():
    with pytest.raises(InvalidInput) as caught:
        parse_rule("a + \x1b[31m", columns=["a"])
    assert "\x1b" not in str(caught.value)
    assert "U+001B" in str(caught.value)
    with pytest.raises(InvalidInput) as caught:
        parse_rule("`\x1b[31m`", columns=["\x07bell"])
    assert not {"\x1b", "\x07"} & set(str(caught.value))


def test_deep_and_huge_rules_are_refused_with_a_sentence():
    assert "deep" in refused("(" * 100 + "a" + ")" * 100)[0]
    assert "deep" in refused("-" * 500 + "a")[0]
    assert "levels deep; write long sums as sum(a, b, ...)" in refused("+".join(["a"] * 400))[0]
    doubling = "".join(f"x{n + 1} = x{n} + x{n}; " for n in range(40))
    assert "parts" in refused(f"x0 = a; {doubling} x40")[0]
    with pytest.raises(InvalidInput, match="20,000"):
        parse_rule("a" * 30_000)
    wide = parse_rule("sum(" + ", ".join(f"c{n}" for n in range(2000)) + ")")
    assert (size_of(wide.expression), depth_of(wide.expression)) == (2001, 2)


def test_python_is_never_run():
    for text in ("__import__('os')", "().__class__", "a.b", "lambda: 1", "[x for x in y]", "f'{a}'"):
        with pytest.raises(InvalidInput):
            parse_rule(text, columns=["a"])


def test_a_condition_stands_alone_too():
    assert printed(parse_condition("year >= 2012 and not (g == 'x')")) == 'year >= 2012 and not g == "x"'
    with pytest.raises(InvalidInput, match="expected the end of the condition"):
        parse_condition("a < 1, 2")
    with pytest.raises(InvalidInput, match="a number stands here"):
        parse_condition("a + 1")


def test_precedence_is_that_of_arithmetic():
    def of(text):
        return values_of(parse_rule(text), {}).tolist()

    assert of("2 + 3 * 4") == [14]
    assert of("2^3^2") == [512]
    assert of("-2^2") == [-4]
    assert of("2^-1") == [0.5]
    assert of("8 / 4 / 2 - 1 - 1") == [-1]
    assert of("if(1 < 2 or 3 < 2 and 1 > 2, 5, 6)") == [5]


def test_latex_writes_means_as_fractions_and_escapes_names():
    assert latex(parse_rule("mean(a: 2, `b_%`: 1)")) == r"\frac{2 \cdot \text{a} + 1 \cdot \text{b\_\%}}{2 + 1}"
    assert latex(parse_rule("geomean(a, b, c)")) == r"\sqrt[3]{\text{a} \cdot \text{b} \cdot \text{c}}"
    assert latex(parse_rule("hmean(a, b)")) == r"\frac{2}{\frac{1}{\text{a}} + \frac{1}{\text{b}}}"
    assert latex(parse_rule("if(y < 1, a, b)")) == (
        r"\begin{cases} \text{a} & \text{if } \text{y} < 1 \\ \text{b} & \text{otherwise} \end{cases}"
    )
    assert latex(parse_rule("1e-05 * a")) == r"1 \cdot 10^{-5} \cdot \text{a}"
    assert "\n" not in latex(parse_rule("`a\nb`"))


@pytest.mark.parametrize("text", ["plain", 'a"b', "a'b", "a'b\"c", '""', "'", "two\nlines", "", "`t`", "\u202e\x1b"])
def test_a_text_of_any_characters_prints_back_to_itself(text):
    rule = Rule(Conditional(Comparison("==", ColumnRef("g"), Text(text)), Number(1.0), ColumnRef("a")))
    assert parse_rule(printed(rule)) == rule


def test_a_column_in_another_case_is_found_where_just_one_is_meant():
    columns = ("MMLU", "GSM8K", "acc", "ACC")
    told = parse_rule("mean(mmlu, `gsm8k`)", columns=columns)
    assert printed(told) == "mean(MMLU, GSM8K)"
    assert printed(parse_rule("acc + ACC", columns=columns)) == "acc + ACC"
    with pytest.raises(InvalidInput, match="no column `Acc`; did you mean"):
        parse_rule("Acc", columns=columns)


def test_an_alias_in_another_case_is_found_after_the_columns():
    columns = ("Overall ▼", "i")
    assert printed(parse_rule("overall", columns=columns, aliases={"Overall": "Overall ▼"})) == "`Overall ▼`"
    assert printed(parse_rule("I", columns=columns, aliases={"I": "Overall ▼"})) == "`Overall ▼`"
    assert printed(parse_rule("I", columns=columns)) == "i"


def test_a_definition_goes_before_a_column_of_another_case():
    assert printed(parse_rule("m = 2 * a; m", columns=("a", "M"))) == "2 * a"
