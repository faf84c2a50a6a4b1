import json
import math

import pytest

from evenhand.judges.replies import rating_distribution


def test_variants_of_one_rating_are_added_up_and_other_tokens_left_out():
    alternatives = [("6", -1.0), (" 6", -1.5), ("5", -2.0), ("6", -3.5), ("7", -2.2), ("Well", -2.6)]
    found = rating_distribution(alternatives, range(1, 11))
    six = math.exp(-1.0) + math.exp(-1.5) + math.exp(-3.5)
    mass = six + math.exp(-2.0) + math.exp(-2.2)
    assert found.mass == pytest.approx(mass)
    assert found.probabilities == pytest.approx({5: math.exp(-2.0) / mass, 6: six / mass, 7: math.exp(-2.2) / mass})
    assert found.mean == pytest.approx((5 * math.exp(-2.0) + 6 * six + 7 * math.exp(-2.2)) / mass)


def test_levels_off_the_scale_and_lookalikes_are_no_levels():
    found = rating_distribution([("4", -1.0), ("6", -1.0), ("3.", -1.0), ("03", -1.0), ("three", -1.0)], range(1, 6))
    assert list(found.probabilities) == [4]
    assert found.probabilities[4] == 1.0


def test_without_any_level_the_mean_is_undefined():
    found = rating_distribution([("The", -0.1)], range(1, 11))
    assert math.isnan(found.mean)
    assert (found.mass, found.probabilities) == (0.0, {})


@pytest.mark.shared
def test_a_published_log_gives_the_published_mean(shared):
    lines = (shared / "data" / "cases" / "cases.jsonl").read_text(encoding="utf-8").split("\n")
    case = next(json.loads(line) for line in lines if '"T027"' in line)
    (token,) = case["input"]["replies"][0]["logprobs"]["content"]
    alternatives = [(choice["token"], choice["logprob"]) for choice in token["top_logprobs"]]
    found = rating_distribution(alternatives, range(1, 11))
    assert round(found.mean, 6) == case["expected"]["expected_rating"]
    assert round(found.mass, 6) == case["expected"]["mass_on_ratings"]
