"""A pile-up on a digit against one on a quality, told by a shorter and a turned scale."""

import pytest

from evenhand.errors import InvalidInput
from evenhand.stats.digit_control import digit_control, pile_up


def flat(rating, n=20, runs=5):
    return [[rating] * n] * runs


def test_a_ten_that_becomes_a_one_on_the_shorter_scale_is_a_first_digit():
    found = digit_control(flat(10), flat(1), flat(5), 1, 10)
    assert found.verdict == "digit"
    assert "first digit" in found.sentence
    assert found.shares["shorter_first_digit"] == 1.0


def test_a_first_digit_is_not_mistaken_for_the_other_end_of_the_turned_scale():
    # Where 1 is best, 1 is both the other end of 10 and the first digit of 10: the shorter scale decides.
    assert digit_control(flat(10), flat(1), flat(1), 1, 10).verdict == "digit"
    assert digit_control(flat(10), flat(9), flat(1), 1, 10).verdict == "quality"


@pytest.mark.parametrize("mode", [1, 3, 7, 8, 10])
def test_a_number_that_stays_where_the_scale_is_turned_is_no_quality(mode):
    found = digit_control(flat(mode), flat(min(mode, 9)), flat(mode), 1, 10)
    assert found.verdict == "digit"
    assert "whatever the number means" in found.sentence


@pytest.mark.parametrize("mode", [1, 3, 7, 8])
def test_a_number_that_moves_to_the_other_end_is_a_quality(mode):
    assert digit_control(flat(mode), flat(mode), flat(11 - mode), 1, 10).verdict == "quality"


def test_ratings_that_do_not_pile_up_need_no_explanation():
    spread = [[1, 3, 5, 7, 9, 10]] * 4
    found = digit_control(spread, spread, spread, 1, 10)
    assert found.verdict == "no_pile_up"


def test_a_pile_up_that_only_another_scale_brings_about_is_told():
    spread = [[1, 3, 5, 7, 9, 10]] * 4
    found = digit_control(spread, flat(9), spread, 1, 10)
    assert found.verdict == "no_pile_up"
    assert "but on 1 to 9 100% are 9: how it rates depends on the scale's numbers" in found.sentence


def test_what_neither_stays_nor_moves_cannot_be_told():
    found = digit_control(flat(7), flat(5), [[1, 5, 9, 3]] * 5, 1, 10)
    assert found.verdict == "cannot_tell"


def test_failed_controls_cannot_tell_and_are_counted():
    found = digit_control(flat(10), [], [], 1, 10, n_failed={"shorter": 5, "turned": 5})
    assert found.verdict == "cannot_tell"
    document = found.document()
    assert (document["shorter"]["n"], document["shorter"]["failed"], document["shorter"]["share"]) == (0, 5, None)
    assert digit_control([], [], [], 1, 10).verdict == "cannot_tell"


def test_the_middle_of_an_uneven_scale_is_its_own_other_end():
    found = digit_control(flat(5), flat(5), flat(5), 1, 9)
    assert found.shares["turned_same_number"] is None
    assert found.verdict == "cannot_tell"


def test_two_points_are_no_scale_for_a_control():
    with pytest.raises(InvalidInput, match="three points"):
        digit_control(flat(1), flat(1), flat(1), 1, 2)


def test_equally_frequent_ratings_give_the_smallest():
    assert pile_up([[8, 7, 7, 8]]).mode == 7
