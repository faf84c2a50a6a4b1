"""`evenhand probe` as its user runs it: a process of its own, over HTTP."""

import json
import re
import sqlite3

import pytest

GOOD = [8, 7, 9, 6, 5, 7, 8, 7, 6, 9, 4, 7, 8, 5, 6, 7, 3, 8, 7, 2]
JUDGE = """\
name: weighing
protocol: evidence
counter_bias: auto
models: [openai/fake-judge]
criteria:
  - {id: clarity, ask: How clear is it?}
"""


def scores(ratings):
    return json.dumps({"scores": ratings})


def probe(desk, endpoint, *arguments):
    return desk.run("probe", "openai/fake-judge", "--base-url", endpoint.base_url, *arguments)


@pytest.mark.parametrize("endpoint", [{"reply": scores(GOOD), "p429": 0.1, "p500": 0.1}], indirect=True)
def test_thirty_calls_through_faults_are_thirty_runs_and_resume_without_a_call(desk, endpoint):
    done = probe(desk, endpoint, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["runs"], document["failed"], document["regime"]) == (30, 0, "CALIBRATED")
    assert document["tokens"]["sample"]["output_tokens"] == 600
    stats = endpoint.stats()
    assert stats["kinds"]["ok"] == 30
    bodies = [json.loads(body) for body in stats["bodies"]]
    assert {body["temperature"] for body in bodies} == {0.7}
    assert all(body["messages"][1]["content"].count(" BEGINS") == 20 for body in bodies)
    again = probe(desk, endpoint, "--json")
    assert again.stdout == done.stdout
    assert endpoint.stats()["calls"] == stats["calls"]


@pytest.mark.parametrize(
    "endpoint", [{"replies": [scores(GOOD), scores(GOOD[1:]), scores([*GOOD, 7]), "[1, 2"]}], indirect=True
)
def test_runs_of_nineteen_and_twenty_one_numbers_are_failures(desk, endpoint):
    done = probe(desk, endpoint, "--runs", 8, "-j", 1, "--json")
    document = json.loads(done.stdout)
    assert (document["runs"], document["failed"]) == (2, 6)
    assert document["causes"] == {"too_few": 2, "too_many": 2, "unreadable": 2}
    assert not document["sure"]
    assert document["items"][4]["mean"] == GOOD[4]


@pytest.mark.parametrize(
    "endpoint",
    [{"tokens": [[["1", 0.6], ["7", 0.4]], [["0", 0.9], [".", 0.1]]], "reply": scores([10] * 20)}],
    indirect=True,
)
def test_a_split_ten_is_read_over_the_wire_with_a_tenth_of_the_tokens(desk, endpoint):
    done = probe(desk, endpoint, "--method", "both", "--samples", 0, "--no-control", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    one, seven, zero = 0.6 ** (1 / 0.7), 0.4 ** (1 / 0.7), 0.9 ** (1 / 0.7)
    zero /= zero + 0.1 ** (1 / 0.7)
    total = one + seven
    expected = {"1": one * (1 - zero) / total, "7": seven / total, "10": one * zero / total}
    assert document["items"][0]["logprob"]["shares"] == pytest.approx(expected)
    assert document["tokens"]["logprob"]["output_tokens"] == 20 * 1 + 20 * 2
    assert document["tokens"]["sample"]["output_tokens"] >= 10 * document["tokens"]["logprob"]["output_tokens"]
    methods = document["agreement"]["methods"]
    assert methods["mean_difference"] == pytest.approx(10 - (expected["1"] + 7 * expected["7"] + 10 * expected["10"]))


def test_the_dial_of_a_judge_follows_the_probe(desk, endpoint):
    (desk.folder / "weighing.yaml").write_text(JUDGE)
    desk.items(1)
    endpoint.set(replies=[scores([9] * 18 + [6, 6]), scores([9] * 19 + [6])])
    assert probe(desk, endpoint, "--runs", 12, "--no-control").returncode == 0
    endpoint.set(replies=None, reply='{"items": []}')
    done = desk.run("judge", "weighing.yaml", "items.jsonl", "--base-url", endpoint.base_url, "--json")
    assert "counter_bias:full" in done.stdout, done.stderr
    endpoint.set(reply=scores([5] * 20))
    found = probe(desk, endpoint, "--runs", 15, "--no-control", "--domain", "headline")
    assert "PICKS_A_NUMBER" in found.stdout
    done = desk.run("judge", "weighing.yaml", "items.jsonl", "--base-url", endpoint.base_url, "--json")
    assert done.returncode == 2
    assert re.search(r"its last probe found PICKS_A_NUMBER.*--anyway", done.stderr)


@pytest.mark.parametrize("endpoint", [{"behaviour": "unauthorized"}], indirect=True)
def test_a_rejected_key_ends_the_probe_with_its_own_message(desk, endpoint):
    done = probe(desk, endpoint)
    assert done.returncode == 3
    assert "401" in done.stderr or "key" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("endpoint", [{"reply": scores(GOOD)}], indirect=True)
def test_an_endpoint_without_log_probabilities_is_named_and_nothing_is_guessed(desk, endpoint):
    done = probe(desk, endpoint, "--method", "logprob")
    assert done.returncode == 3
    assert "needs log probabilities" in done.stderr
    assert "use --method sample" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("endpoint", [{"reply": scores(GOOD)}], indirect=True)
def test_a_token_budget_stops_the_probe_and_it_goes_on_later(desk, endpoint):
    worst = int(re.search(r"could take up to (\d+) tokens", probe(desk, endpoint, "--budget-tokens", 1).stderr)[1])
    done = probe(desk, endpoint, "--budget-tokens", worst + 10 * 120, "-j", 1)
    assert done.returncode == 3
    assert "budget" in done.stderr
    assert endpoint.stats()["kinds"]["ok"] in (10, 11)
    assert probe(desk, endpoint).returncode == 0
    assert endpoint.stats()["kinds"]["ok"] == 30


@pytest.mark.parametrize("endpoint", [{"reply": scores(GOOD), "latency_s": 0.2}], indirect=True)
def test_an_interrupted_probe_goes_on_where_it_was(desk, endpoint):
    import signal
    import time

    begun = desk.start("probe", "openai/fake-judge", "--base-url", endpoint.base_url, "-j", "2")
    while endpoint.stats()["kinds"].get("ok", 0) < 4:
        time.sleep(0.05)
    begun.send_signal(signal.SIGINT)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert "Traceback" not in said
    assert "run the same command again" in said
    with sqlite3.connect(desk.folder / ".evenhand/evenhand.db") as database:
        (kept,) = database.execute("SELECT count(*) FROM replies").fetchone()
    database.close()
    done = probe(desk, endpoint, "--json")
    assert json.loads(done.stdout)["runs"] == 30
    assert endpoint.stats()["kinds"]["ok"] == 30
    assert kept < 30
