"""Regimes of probed models, in a real database."""

import pytest

from evenhand.errors import InvalidInput
from evenhand.store.database.sql import open_store


def test_a_model_that_was_never_probed_has_no_regime():
    with open_store(None) as store:
        assert store.regimes.regime("openai/x") is None


def test_a_later_probe_replaces_an_earlier_one_at_its_endpoint_alone(tmp_path):
    path = tmp_path / "evenhand.db"
    with open_store(path) as store:
        store.regimes.keep(model="openai/x", endpoint="a", regime="CALIBRATED", document={"n": 30})
        store.regimes.keep(model="openai/x", endpoint="b", regime="JITTERY", document={"n": 30})
        store.regimes.keep(model="openai/x", endpoint="a", regime="INFLATION_LIKELY", document={"n": 60})
    with open_store(path) as store:
        assert store.regimes.regime("openai/x", "a") == "INFLATION_LIKELY"
        assert store.regimes.regime("openai/x", "b") == "JITTERY"
        assert store.regimes.regime("openai/x", "c") is None
        assert store.regimes.regime("openai/x") in ("INFLATION_LIKELY", "JITTERY")


def test_a_document_without_a_json_form_is_refused():
    with open_store(None) as store, pytest.raises(InvalidInput, match="no JSON number"):
        store.regimes.keep(model="m", endpoint="e", regime="CALIBRATED", document={"share": float("nan")})
