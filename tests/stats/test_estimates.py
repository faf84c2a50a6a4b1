"""An estimate is made of Python's own numbers, whoever computed it."""

import json

import numpy as np

from evenhand.stats.estimates import Estimate


def test_an_estimate_of_numpys_numbers_holds_numbers_that_json_takes():
    found = Estimate(value=np.float64(0.5), low=np.float64(0.1), high=np.float32(0.5), n=np.int64(3)).document()
    assert json.loads(json.dumps(found)) == {"value": 0.5, "low": 0.1, "high": 0.5, "n": 3, "undefined": None}
