"""`evenhand probe`, run in this process with a scripted model."""

import json
import math
import re

import pytest

from evenhand.evaluate.session import targets_of
from evenhand.providers.open import open_provider
from evenhand.providers.scripted import ScriptedProvider
from evenhand.store.database.sql import open_store
from evenhand.terms import ModelSpec, Reply, TokenChoice, Usage

FOUR = {"name": "prose", "scale_min": 1, "scale_max": 10, "items": ["bad", "poor", "fair", "good"]}
QUALITY = {"bad": 1, "poor": 4, "fair": 6, "good": 9}


def scores(*ratings):
    return json.dumps({"scores": list(ratings)})


def texts_of(call):
    return re.findall(r"TEXT \w+ BEGINS\n(.*?)\n\w+ TEXT", call.messages[1].text, re.DOTALL)


def top_of(call):
    return int(re.search(r"whole number from 1 to (\d+)", call.messages[0].text)[1])


def turned(call):
    return "The lowest number is the best" in call.messages[0].text


def token(*pairs):
    alternatives = tuple((text, math.log(share)) for text, share in pairs)
    return TokenChoice(token=alternatives[0][0], logprob=alternatives[0][1], alternatives=alternatives)


def honest(call):
    """Rates by quality, on whichever scale; one point up or down by rerun."""
    found = []
    for text in texts_of(call):
        rating = max(1, min(top_of(call), QUALITY[text] + (call.rerun % 3 == 1) - (call.rerun % 3 == 2)))
        found.append(top_of(call) + 1 - rating if turned(call) else rating)
    if call.schema is not None:
        return Reply(text=scores(*found), usage=Usage(input_tokens=100, output_tokens=15))
    (rating,) = found
    near = min(top_of(call) if top_of(call) < 10 else 9, rating + 1)
    pairs = ((str(rating), 0.6), (str(near), 0.4)) if near != rating else ((str(rating), 1.0),)
    after = (token(("", 1.0)),) if call.max_tokens == 2 else ()  # nothing follows a 1: this model never means 10
    return Reply(
        text=str(rating), finish="length", logprobs=(token(*pairs), *after), usage=Usage(output_tokens=1 + len(after))
    )


def flattering(call):
    """Gives everything the highest number, whatever it means, as a first digit where the scale is short."""
    rating = 10 if top_of(call) == 10 else 1
    return scores(*[rating] * len(texts_of(call)))


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """desk(answer): the scripted model behind `scripted/any` and `scripted/other`, and items of four qualities."""

    def write(answer, other=None):
        (tmp_path / "items.json").write_text(json.dumps(FOUR), encoding="utf-8")
        made = {
            "any": ScriptedProvider(answer, identity="any"),
            "other": ScriptedProvider(other or answer, identity="other"),
        }
        monkeypatch.setattr("evenhand.evaluate.probing.open_provider", lambda target: made[target.model])
        return made["any"]

    return write


def test_the_published_protocol_asks_thirty_times_and_finds_a_calibrated_model(evenhand, desk):
    provider = desk(honest)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--json")
    assert done.code == 0, done.err
    document = done.document
    assert len(provider.calls) == 30
    assert {call.rerun for call, _ in provider.calls} == set(range(30))
    assert {call.temperature for call, _ in provider.calls} == {0.7}
    assert (document["regime"], document["runs"], document["failed"], document["sure"]) == ("CALIBRATED", 30, 0, True)
    assert set(document["confidence"]) == {
        "JITTERY", "INFLATION_LIKELY", "DEFLATION_LIKELY", "PICKS_A_NUMBER", "CALIBRATED", "AMBIGUOUS",
    }  # fmt: skip
    assert document["figures"]["range"] == 9
    assert {"mean_item_sd", "ceiling_rate", "floor_rate", "range", "range_of_means"} == set(document["figures"])
    assert document["tokens"]["sample"]["output_tokens"] == 450
    assert document["control"] is None


def test_twenty_shipped_items_are_the_default(evenhand, desk):
    provider = desk(lambda call: scores(*range(1, 11), *range(1, 11)))
    done = evenhand("probe", "scripted/any", "--runs", 2, "--json")
    assert done.document["n_items"] == 20
    assert done.document["domain"] == "prose"
    assert len(texts_of(provider.calls[0][0])) == 20


def test_a_constant_ten_is_inflation_by_the_published_order_and_picks_one_number_too(evenhand, desk):
    desk(lambda call: scores(10, 10, 10, 10) if top_of(call) == 10 and not turned(call) else scores(9, 9, 9, 9))
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--no-control", "--json")
    assert done.document["regime"] == "INFLATION_LIKELY"
    assert done.document["labels"] == ["INFLATION_LIKELY", "PICKS_A_NUMBER"]
    assert done.document["figures"]["mean_item_sd"] == 0


def test_a_model_that_piles_up_on_a_digit_is_named_as_such(evenhand, desk):
    provider = desk(flattering)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 10)
    assert "piles up on the first digit" in " ".join(done.out.split())
    assert len(provider.calls) == 10 + 2 * 5, "the control runs by itself where ratings pile up"
    document = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 10, "--json").document
    assert document["control"]["verdict"] == "digit"
    assert document["runs"] == 10
    assert len(provider.calls) == 20, "all of it was in the store"


def test_a_model_that_piles_up_on_a_quality_is_told_apart_from_that(evenhand, desk):
    desk(lambda call: scores(*[1 if turned(call) else top_of(call)] * 4))
    document = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 10, "--json").document
    assert document["control"]["verdict"] == "quality"


def test_the_control_runs_where_it_is_asked_for(evenhand, desk):
    desk(honest)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 3, "--control", "--json")
    assert done.document["control"]["verdict"] == "no_pile_up"


def test_until_sure_stops_at_ten_clear_runs_and_goes_on_with_unclear_ones(evenhand, desk):
    provider = desk(honest)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--until-sure", "--json")
    assert len(provider.calls) == 10
    assert (done.document["ended"], done.document["runs"], done.document["planned"]) == ("sure", 10, 30)
    near = [scores(9, 5, 5, 5), scores(5, 5, 5, 5), scores(9, 9, 5, 5)]  # a ceiling rate of .25, give or take
    desk(lambda call: near[call.rerun % 3])
    done = evenhand("probe", "scripted/other", "--items", "items.json", "--until-sure", "--json", "--no-control")
    assert done.document["ended"] == "calls"
    assert done.document["runs"] == 30


def test_until_sure_counts_parsed_runs_not_calls(evenhand, desk):
    provider = desk(lambda call: "no idea" if call.rerun < 3 else honest(call))
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--until-sure", "--json")
    assert len(provider.calls) == 15
    assert (done.document["runs"], done.document["failed"], done.document["ended"]) == (12, 3, "sure")


def test_failures_are_counted_by_cause_and_never_shifted(evenhand, desk):
    replies = {
        0: scores(1, 2, 3),
        1: scores(1, 2, 3, 4, 5),
        2: scores(1, 2, 3, 11),
        3: "none",
        4: scores(1, 2, 3, None),
    }
    desk(lambda call: replies.get(call.rerun, scores(2, 4, 6, 9)))
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 12)
    assert done.code == 0
    assert "5 of 12 runs" in done.out
    document = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 12, "--json").document
    assert document["causes"] == {"not_a_number": 1, "off_scale": 1, "too_few": 1, "too_many": 1, "unreadable": 1}
    assert (document["failures"][0]["of"], document["failures"][0]["cause"]) == ("1", "too_few")
    assert (document["runs"], document["failed"], document["sure"]) == (7, 5, False)
    assert evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 12, "--max-failed", 4).code == 3


def test_a_model_that_never_gives_a_run_has_no_regime_and_exits_three(evenhand, desk, tmp_path):
    desk(lambda call: "I would rather not say.")
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 4)
    assert done.code == 3
    assert "undefined: no run was parsed" in done.out
    assert "unreadable, such as 1:" in done.out
    with open_store(tmp_path / ".evenhand/evenhand.db") as store:
        assert store.regimes.regime("scripted/any") is None


def test_a_longer_probe_begins_with_the_runs_of_a_shorter_one(evenhand, desk):
    provider = desk(honest)
    evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 4)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 6, "--json")
    assert len(provider.calls) == 6
    assert done.document["runs"] == 6


def test_two_probes_of_the_same_replies_are_equal_byte_for_byte(evenhand, desk):
    desk(honest)
    arguments = ("probe", "scripted/any", "--items", "items.json", "--method", "both", "--json")
    assert evenhand(*arguments).out == evenhand(*arguments).out


def test_log_probabilities_need_one_token_an_item(evenhand, desk):
    provider = desk(honest)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--method", "logprob", "--json")
    assert done.code == 0, done.err
    document = done.document
    assert [call.max_tokens for call, _ in provider.calls].count(1) >= 4
    assert document["tokens"]["logprob"]["calls"] == len(provider.calls) == 5, "four items, and the 1 of one parted"
    assert document["tokens"]["logprob"]["output_tokens"] == 6
    assert (document["runs"], document["simulated_runs"], document["failed_are"]) == (30, True, "items")
    assert document["items"][0]["logprob"]["shares"] == pytest.approx(
        {
            "1": 0.6 ** (1 / 0.7) / (0.6 ** (1 / 0.7) + 0.4 ** (1 / 0.7)),
            "2": 0.4 ** (1 / 0.7) / (0.6 ** (1 / 0.7) + 0.4 ** (1 / 0.7)),
        }
    )
    assert document["logprob"]["exact"]["mean_item_sd"] > 0


def test_both_methods_are_compared_and_the_distributions_tested_by_samples(evenhand, desk):
    desk(honest)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--method", "both", "--runs", 12, "--json")
    agreement = done.document["agreement"]
    assert agreement["methods"]["sample"] == done.document["regime"] == "CALIBRATED"
    assert agreement["methods"]["n_items"] == 4
    assert agreement["samples"]["n"] == 20
    assert 0 < agreement["samples"]["p_value"] <= 1
    out = evenhand("probe", "scripted/any", "--items", "items.json", "--method", "both", "--runs", 12).out
    assert "methods  " in out
    assert "samples  " in out


def test_an_item_without_a_distribution_is_left_out_counted_and_named(evenhand, desk):
    def silent(call):
        return Reply(text="") if "fair" in texts_of(call) else honest(call)

    desk(silent)
    document = evenhand("probe", "scripted/any", "--items", "items.json", "--method", "logprob", "--json").document
    assert (document["failed"], document["causes"]) == (1, {"empty": 1})
    assert [item["n"] for item in document["items"]] == [30, 30, 0, 30]
    assert document["items"][3]["mean"] > 8, "no item took its neighbour's ratings"


def test_the_regime_is_kept_for_the_dial_where_the_model_was_asked(evenhand, desk, tmp_path):
    desk(honest)
    evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 12)
    with open_store(tmp_path / ".evenhand/evenhand.db") as store:
        assert store.regimes.regime("scripted/any", "any") == "CALIBRATED"
        assert store.regimes.regime("scripted/any", "elsewhere") is None


def test_several_models_stand_in_one_table(evenhand, desk):
    desk(honest, lambda call: scores(5, 5, 5, 6))
    done = evenhand("probe", "scripted/any", "scripted:other", "--items", "items.json", "--no-control", "--json")
    assert [(one["model"], one["regime"]) for one in done.document["models"]] == [
        ("scripted/any", "CALIBRATED"), ("scripted/other", "PICKS_A_NUMBER"),
    ]  # fmt: skip
    out = evenhand("probe", "scripted/any", "scripted:other", "--items", "items.json", "--no-control").out
    assert re.search(r"scripted/any +CALIBRATED +1\.00", out)
    assert re.search(r"scripted/other +PICKS_A_NUMBER", out)
    assert max(map(len, out.splitlines())) <= 80


def test_a_dry_run_sends_nothing_and_makes_no_store(evenhand, desk, tmp_path):
    provider = desk(honest)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--method", "both", "--dry-run", "--json")
    assert done.document["calls"] == 30 + 4 + 20
    assert not provider.calls
    assert not (tmp_path / ".evenhand").exists()
    evenhand("probe", "scripted/any", "--items", "items.json", "--runs", 4)
    done = evenhand("probe", "scripted/any", "--items", "items.json", "--dry-run", "--json")
    assert (done.document["calls"], done.document["stored"]) == (26, 4)


def runs(folder, *documents):
    (folder / "runs").mkdir(exist_ok=True)
    for number, document in enumerate(documents, start=1):
        text = document if isinstance(document, str) else json.dumps(document)
        (folder / "runs" / f"run-{number:03}.json").write_text(text, encoding="utf-8")
    return folder / "runs"


def test_runs_made_elsewhere_need_no_model_and_no_store(evenhand, tmp_path):
    folder = runs(tmp_path, *[{"scores": [2, 4, 6, 9]}] * 11, {"scores": [2, 4, 6]}, {"parse_failed": True}, "{")
    done = evenhand("probe", "--runs-dir", folder, "--n-items", 4, "--scale", "1:10", "--json")
    assert done.code == 0, done.err
    assert (done.document["regime"], done.document["runs"], done.document["failed"]) == ("CALIBRATED", 11, 3)
    assert done.document["causes"] == {"parse_failed": 1, "too_few": 1, "unreadable": 1}
    assert done.document["failures"][0] == {
        "of": "run-012.json",
        "cause": "too_few",
        "message": "3 numbers for 4 items",
    }
    assert not (tmp_path / ".evenhand").exists()


@pytest.mark.shared
def test_two_good_runs_of_eight_are_not_sure_and_that_is_said(evenhand, shared):
    folder = shared / "data/cases/files/T089/probe-runs"
    done = evenhand("probe", "--runs-dir", folder)
    assert done.code == 0
    assert "NOT SURE" in done.out
    assert "2 parsed runs, and at least 10 are needed" in done.out
    document = evenhand("probe", "--runs-dir", folder, "--json").document
    assert (document["runs"], document["failed"], document["sure"]) == (2, 6, False)


def test_control_characters_in_a_run_files_name_do_not_reach_the_terminal(evenhand, tmp_path):
    folder = runs(tmp_path, {"scores": [1]})
    (folder / "run-\x1b[31m.json").write_text("{")
    done = evenhand("probe", "--runs-dir", folder)
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no model is named"),
        (("nowhere",), "names no provider"),
        (("scripted/any", "scripted/any"), "given twice"),
        (("scripted/any", "--method", "guess"), "sample, logprob or both"),
        (("scripted/any", "--reading", "both"), "script or text"),
        (("scripted/any", "--domain", "poetry"), "--domain 'poetry'"),
        (("scripted/any", "--scale", "1:5"), "--runs-dir"),
        (("scripted/any", "--until-sure", "--method", "logprob"), "nothing is sampled"),
        (("scripted/any", "--method", "logprob", "--temperature", "0"), "temperature 0"),
        (("--runs-dir", "nowhere"), "cannot be read"),
        (("--runs-dir", ".", "--scale", "5:1"), "expected LO:HI"),
        (("a/b", "c/d", "--runs-dir", "."), "one model"),
        (("scripted/any", "--items", "nowhere.json"), "nowhere.json"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_two(evenhand, desk, arguments, message):
    desk(honest)
    done = evenhand("probe", *arguments)
    assert done.code == 2
    assert message in done.err
    assert not done.out


def test_a_provider_that_is_down_exits_three(evenhand, tmp_path):
    done = evenhand("probe", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--runs", "1", "--deadline", "0.2")
    assert done.code == 3


@pytest.mark.local
@pytest.mark.slow
def test_a_small_local_model_is_probed_by_both_methods(evenhand, embedded_model, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_LOCAL_CONTEXT", "1024")
    (tmp_path / "items.json").write_text(json.dumps({**FOUR, "items": ["bad", "good"]}), encoding="utf-8")
    arguments = ("probe", "local/smollm2", "--items", "items.json", "--method", "both", "--runs", 2, "--samples", 1)
    done = evenhand(*arguments, "--no-control", "--timeout", 600, "--json")
    assert done.code == 0, done.err
    document = done.document
    assert (document["runs"], document["failed"]) == (2, 0), "a grammar holds even this model to two numbers"
    assert document["logprob"]["items_read"] == 2
    assert all(sum(item["logprob"]["shares"].values()) == pytest.approx(1) for item in document["items"])
    assert all("10" in item["logprob"]["shares"] for item in document["items"]), "its tokenizer parts digits"
    assert document["logprob"]["parted"] == 2
    assert document["agreement"]["samples"]["n"] + document["agreement"]["samples"]["failed"] == 2
    assert evenhand(*arguments, "--no-control", "--json").document == document


def test_the_scripted_model_is_the_one_that_a_judge_would_ask(tmp_path):
    (tmp_path / "replies.jsonl").write_text('"x"\n')
    (target,) = targets_of([ModelSpec(model=f"scripted/{tmp_path}/replies.jsonl")]).values()
    assert open_provider(target).identity.startswith("scripted:sha256:")
