"""Random rules, for laws that hold of every rule."""

from hypothesis import strategies as st

from evenhand.composite.rule.syntax import (
    Binary,
    Call,
    ColumnRef,
    Comparison,
    Conditional,
    Logic,
    Negation,
    Number,
    Rule,
    Text,
)

NAMES = ("a", "b", "c", "SST-2", "x y", "lower", "ça", "a`b", "and")

numbers = st.one_of(
    st.integers(0, 200).map(float), st.floats(0, 1e6, allow_nan=False), st.sampled_from([0.1, 1e-7, 1e22, 0.325])
).map(Number)
columns = st.sampled_from(NAMES).map(ColumnRef)
OPERATORS = ("+", "-", "*", "/", "^")
AGGREGATES = ("mean", "geomean", "hmean", "median", "min", "max", "sum", "prod", "sd")
WEIGHTED = ("mean", "geomean", "hmean", "sum")


def _calls(inner):
    """Calls of every kind."""
    arguments = st.lists(inner, min_size=1, max_size=3).map(tuple)
    weighted = st.lists(st.tuples(inner, st.integers(1, 9).map(lambda n: Number(n / 4))), min_size=1, max_size=3)
    ranks = st.sampled_from([(), (("direction", "lower"),), (("direction", "higher"), ("ties", "max"))])
    return st.one_of(
        st.builds(Call, st.sampled_from(AGGREGATES), arguments),
        st.builds(
            lambda name, pairs: Call(name, tuple(arg for arg, _ in pairs), tuple(weight for _, weight in pairs)),
            st.sampled_from(WEIGHTED), weighted,
        ),
        st.builds(lambda p, args: Call("power", (Number(float(p)), *args)), st.integers(0, 4), arguments),
        st.builds(lambda arg: Call("abs", (arg,)), inner),
        st.builds(lambda arg, low: Call("clamp", (arg, Number(low), Number(low + 1))), inner, st.floats(0, 5)),
        st.builds(lambda arg, places: Call("round", (arg, Number(float(places)))), inner, st.integers(0, 3)),
        st.builds(lambda arg, options: Call("rank", (arg,), None, options), inner, ranks),
    )  # fmt: skip


simple = st.one_of(numbers, columns)
comparisons = st.one_of(
    st.builds(Comparison, st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), simple, simple),
    st.builds(lambda name: Comparison("missing", ColumnRef(name), ColumnRef(name)), st.sampled_from(NAMES)),
    st.builds(
        lambda name, text: Comparison("==", ColumnRef(name), Text(text)),
        st.sampled_from(NAMES), st.sampled_from(["FR", "it's", ""]),
    ),
)  # fmt: skip
conditions = st.recursive(
    comparisons,
    lambda more: st.one_of(
        st.builds(Logic, st.sampled_from(["and", "or"]), st.lists(more, min_size=2, max_size=3).map(tuple)),
        st.builds(lambda one: Logic("not", (one,)), more),
    ),
    max_leaves=4,
)


def _larger(inner):
    return st.one_of(
        st.builds(Negation, inner),
        st.builds(Binary, st.sampled_from(OPERATORS), inner, inner),
        _calls(inner),
        st.builds(Conditional, conditions, inner, inner),
    )


expressions = st.recursive(simple, _larger, max_leaves=8)
rules = st.builds(Rule, expressions, st.sampled_from([None, "drop", "renormalise", 0.0, 1.0, -999.0]))
st.register_type_strategy(Rule, rules)  # `st.from_type(Rule)`: tests cannot import from one another
