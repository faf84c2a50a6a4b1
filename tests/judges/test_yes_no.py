import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.judges.yes_no import LEAST_MASS, yes_no

SHAPES = ("{}", " {}", "\u0120{}", "\u2581{}", "**{}**", "{}.")


def test_variants_are_added_up_and_the_rest_is_left_out():
    # e^-0.8 + e^-1.9 + e^-4 = .449329 + .149569 + .018316 = .617213 for yes,
    # e^-2.1 + e^-2.6 = .122456 + .074274 = .196730 for no,
    # .617213 / (.617213 + .196730) = .758300, and .813943 of everything
    found = yes_no([("Yes", -0.8), (" yes", -1.9), ("no", -2.1), ("Yes", -4.0), ("No", -2.6), ("The", -3.2)])
    assert round(found.probability, 6) == 0.758300
    assert round(found.mass, 6) == 0.813943
    assert found.strongest == ("The", math.exp(-3.2))


@pytest.mark.parametrize("token", ["Y", "n", "True", "Yesterday", "not", "none", "1", "", " ", "是", "yesno", "yes no"])
def test_what_is_neither_word_says_nothing(token):
    found = yes_no([(token, -0.1)])
    assert math.isnan(found.probability)
    assert found.mass == 0
    assert not found.readable


@pytest.mark.parametrize(
    "token", ["yes", "Yes", "YES", " Yes", "\u0120yes", "\u2581Yes", "**Yes", '"yes"', "Yes.", "Yes,\n"]
)
def test_the_word_counts_however_it_is_written(token):
    assert yes_no([(token, -0.2), ("no", -3.0)]).probability > 0.9


def test_too_little_mass_is_not_readable():
    just, short = math.log(LEAST_MASS), math.log(LEAST_MASS - 0.001)
    assert yes_no([("yes", just), ("The", -0.2)]).readable
    assert not yes_no([("yes", short), ("The", -0.2)]).readable


def test_equal_probabilities_are_exactly_a_half():
    assert yes_no([("yes", -1.3), ("no", -1.3)]).probability == 0.5
    # three thirds of one side in another order than on the other: equal up to the last digit, which is not decided on
    uneven = [("yes", math.log(0.1)), ("Yes", math.log(0.2)), (" yes", math.log(0.3))]
    even = [("no", math.log(0.3)), ("No", math.log(0.1)), (" no", math.log(0.2))]
    assert yes_no([*uneven, *even]).probability == 0.5


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.sampled_from(SHAPES), st.sampled_from(["yes", "no", "the"]), st.floats(-15, 0)), max_size=20)
)
def test_swapping_yes_and_no_swaps_the_probability(drawn):
    other = {"yes": "no", "no": "yes", "the": "the"}
    found = yes_no([(shape.format(word), logprob) for shape, word, logprob in drawn])
    swapped = yes_no([(shape.format(other[word]), logprob) for shape, word, logprob in drawn])
    assert found.mass == pytest.approx(swapped.mass, abs=1e-8)
    assert 0 <= found.mass <= 1
    if any(word != "the" for _, word, _ in drawn):
        assert found.probability == pytest.approx(1 - swapped.probability, abs=1e-8)
    else:
        assert math.isnan(found.probability)


@settings(deadline=None, max_examples=50)
@given(st.permutations([("Yes", -0.8), (" no", -1.9), ("No", -2.1), ("The", -4.0), ("yes", -2.6)]))
def test_the_order_of_alternatives_does_not_matter(alternatives):
    # (.449329 + .074274) / (.449329 + .074274 + .149569 + .122456)
    assert round(yes_no(alternatives).probability, 6) == 0.658100
