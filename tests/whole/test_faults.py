"""What goes wrong between a client and an endpoint, with a real server and the real command."""

import contextlib
import json
import random
import sqlite3
import time

import pytest

FAULTY = {"latency_s": 0.005, "p429": 0.05, "p500": 0.05, "cut": 0.05, "retry_after": "0.2"}


def right_score(record):
    return 0 if int(record["item"][1:]) % 3 == 0 else 1


@pytest.mark.parametrize("endpoint", [FAULTY], indirect=True)
def test_five_percent_each_of_429_500_and_cut_replies_lose_nothing_and_change_nothing(desk, endpoint):
    desk.items(1000)
    done = desk.judge(endpoint, "--json", "--max-failed", "1000")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    summary, stats = document["summary"], endpoint.stats()
    assert summary["verdict"] + summary["failed"] == 1000
    assert summary["verdict"] >= 999
    assert all(r["score"] == right_score(r) for r in document["records"] if r["status"] == "verdict")
    for record in document["records"]:
        if record["status"] == "failed":
            readable = [kind for kind in stats["items"][str(int(record["item"][1:]))] if kind in ("ok", "cut")]
            assert readable == ["cut"] * 3
    assert summary["calls"]["asked"] == stats["calls"]
    assert sum(summary["calls"]["faults"].values()) == stats["kinds"]["429"] + stats["kinds"]["500"]
    replies = stats["kinds"]["ok"] + stats["kinds"]["cut"]
    assert replies == sum(len(record["keys"]) for record in document["records"])


def committed_in(store):
    with contextlib.closing(sqlite3.connect(store)) as database:
        return database.execute("SELECT count(*) FROM replies").fetchone()[0]


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", [{"latency_s": 0.02}], indirect=True)
def test_twenty_kills_lose_nothing_that_was_committed_and_the_records_equal_an_unbroken_runs(desk, endpoint):
    n, in_flight, rng = 1000, 16, random.Random(7)
    desk.items(n)
    how = [
        "judge",
        "judge.yaml",
        "items.jsonl",
        "--base-url",
        endpoint.base_url,
        "-j",
        in_flight,
        "-o",
        "records.jsonl",
    ]
    kills = asked_again = 0
    while kills < 20:
        before = endpoint.n_calls()
        process = desk.start_quickly(*how)
        wanted = before + rng.randrange(1, 35)
        while endpoint.n_calls() < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.random() * 0.03)
        process.kill()
        process.communicate()
        kills += 1
    time.sleep(0.1)  # the endpoint counts what it is still answering
    before, committed = endpoint.stats()["calls"], committed_in(desk.folder / ".evenhand" / "evenhand.db")
    done = desk.run(*how)
    assert done.returncode == 0, done.stderr
    stats = endpoint.stats()
    assert 0 < committed < n
    assert stats["calls"] - before == n - committed
    asked_again = stats["repeat_ok"]
    # In flight, and what 50 ms of replies in an open group and another in one being committed can hold.
    assert asked_again <= kills * (in_flight + 2 * (0.05 / 0.02) * in_flight)
    assert stats["calls"] == n + asked_again
    broken = sorted((desk.folder / "records.jsonl").read_bytes().splitlines())
    unbroken = desk.run(*how[:-1], "unbroken.jsonl", "--store", "unbroken/evenhand.db")
    assert unbroken.returncode == 0, unbroken.stderr
    assert broken == sorted((desk.folder / "unbroken.jsonl").read_bytes().splitlines())
    assert len(broken) == n


@pytest.mark.parametrize(
    ("behaviour", "code", "says"),
    [
        ("silent", "deadline", "1"),
        ("slow", "deadline", "1"),
        ("closes", "provider", ""),
        ("html", "provider", "JSON"),
        ("huge", "unreadable", ""),
        ("endless", "provider", "16"),
        ("bad_utf8", "provider", "UTF-8"),
    ],
)
def test_a_nasty_server_makes_failures_and_never_scores(desk, endpoints, behaviour, code, says):
    endpoint = endpoints(behaviour=behaviour)
    desk.items(1)
    done = desk.judge(endpoint, "--json", "--timeout", "0.6", "--deadline", "1.4")
    assert done.returncode == 3
    (record,) = json.loads(done.stdout)["records"]
    assert record["status"] == "failed"
    assert record["cause"]["code"] == code
    assert says in record["cause"]["message"]
    assert record["score"] is None


@pytest.mark.parametrize(("behaviour", "says"), [("quota", "pay first"), ("unauthorized", "401")])
def test_what_every_item_would_meet_stops_the_run_with_its_own_message(desk, endpoints, behaviour, says):
    endpoint = endpoints(behaviour=behaviour)
    desk.items(300)
    done = desk.judge(endpoint, "-o", "records.jsonl")
    assert done.returncode == 3
    assert says in done.stderr
    assert endpoint.stats()["calls"] <= 64
    assert not (desk.folder / "records.jsonl").exists()


def test_an_endpoint_that_is_not_there_is_said_once(desk):
    desk.items(1)
    done = desk.run(
        "judge", "judge.yaml", "items.jsonl", "--base-url", "http://127.0.0.1:9/v1", "--deadline", "1", "--json"
    )
    assert done.returncode == 3
    (record,) = json.loads(done.stdout)["records"]
    assert record["cause"]["code"] == "provider"
    assert "127.0.0.1:9" in record["cause"]["message"]


@pytest.mark.parametrize("endpoint", [{"reply": "I think it is rather good."}], indirect=True)
def test_a_run_whose_first_fifty_items_fail_alike_stops_and_says_why_once(desk, endpoint):
    desk.items(500)
    done = desk.judge(endpoint, "-j", "8")
    assert done.returncode == 3
    assert done.stderr.count("failed alike") == 1
    assert endpoint.stats()["calls"] < 3 * 150
    assert "run the same command again" in done.stderr


def test_a_stopped_run_is_resumed_by_running_it_again(desk, endpoint):
    desk.items(60)
    first = desk.judge(endpoint, "--budget-tokens", "9000", "-o", "records.jsonl")
    assert first.returncode == 3
    assert "budget" in first.stderr
    answered = endpoint.stats()["calls"]
    assert 0 < answered * 120 <= 9000
    assert not (desk.folder / "records.jsonl").exists()
    second = desk.judge(endpoint, "-o", "records.jsonl")
    assert second.returncode == 0, second.stderr
    assert endpoint.stats()["calls"] == 60
    assert len(desk.records()) == 60


def test_ctrl_c_keeps_what_was_answered(desk, endpoints):
    endpoint = endpoints(latency_s=0.05)
    desk.items(2000)
    process = desk.start(
        "judge", "judge.yaml", "items.jsonl", "--base-url", endpoint.base_url, "-j", 8, "-o", "r.jsonl"
    )
    while endpoint.n_calls() < 30:
        time.sleep(0.02)
    process.send_signal(2)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "run the same command again to go on" in errors
    answered = endpoint.stats()["kinds"]["ok"]
    with sqlite3.connect(desk.folder / ".evenhand" / "evenhand.db") as database:
        (kept,) = database.execute("select count(*) from replies").fetchone()
    database.close()
    assert kept == answered
    assert not (desk.folder / "r.jsonl").exists()


def interrupted(desk, endpoints, n_signals):
    """Seconds from the first Ctrl-C to the end of a run whose endpoint answered 8 calls, then fell silent."""
    endpoint = endpoints()
    desk.items(8)
    assert desk.judge(endpoint).returncode == 0
    endpoint.set(behaviour="silent")
    desk.items(40)
    process = desk.start(
        "judge", "judge.yaml", "items.jsonl", "--base-url", endpoint.base_url, "-j", 8, "-o", "r.jsonl"
    )
    while endpoint.n_calls() < 8:
        time.sleep(0.02)
    began = time.monotonic()
    for _ in range(n_signals):
        process.send_signal(2)
        time.sleep(0.3)  # two at once would be one
    _, errors = process.communicate(timeout=60)
    seconds = time.monotonic() - began
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "run the same command again to go on" in errors
    assert "8 of 40 judged and kept" in errors
    assert not (desk.folder / "r.jsonl").exists()
    endpoint.set(behaviour="")
    assert desk.judge(endpoint).returncode == 0
    assert endpoint.stats()["calls"] == 32
    return seconds, errors


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_what_never_comes(desk, endpoints):
    seconds, errors = interrupted(desk, endpoints, 1)
    assert 9.5 < seconds < 50  # the grace, and what a loaded machine adds; an attempt has 120
    assert "8 calls in flight have 10 s to arrive" in errors


def test_a_second_ctrl_c_ends_at_once(desk, endpoints):
    seconds, _ = interrupted(desk, endpoints, 2)
    assert seconds < 9.5


def test_two_processes_on_one_store_lose_nothing(desk, endpoints):
    endpoint = endpoints(latency_s=0.01)
    desk.items(300)
    how = ["judge", "judge.yaml", "items.jsonl", "--base-url", endpoint.base_url, "-j", 8]
    both = [desk.start_quickly(*how, "-o", f"r{k}.jsonl") for k in range(2)]
    ends = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert desk.records("r0.jsonl") == desk.records("r1.jsonl")
    with sqlite3.connect(desk.folder / ".evenhand" / "evenhand.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        assert database.execute("select count(*) from replies").fetchone() == (300,)
    database.close()


def test_the_key_is_nowhere_on_disk_and_in_no_message(desk, endpoints):
    secret = "sk-very-secret-0123456789"
    for behaviour in ("", "unauthorized", "html"):
        endpoint = endpoints(behaviour=behaviour)
        desk.items(3)
        done = desk.run(
            "judge", "judge.yaml", "items.jsonl", "--json", "--deadline", "2",
            OPENAI_API_KEY=secret, OPENAI_BASE_URL=endpoint.base_url,
        )  # fmt: skip
        if not behaviour:
            assert endpoint.stats()["authorization"] == [f"Bearer {secret}"]
        assert secret not in done.stdout + done.stderr
    for path in desk.folder.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()


def test_a_key_does_not_follow_an_explicit_base_url(desk, endpoint):
    desk.items(2)
    assert desk.judge(endpoint, OPENAI_API_KEY="sk-very-secret").returncode == 0
    assert endpoint.stats()["authorization"] == [""]


def test_retry_failed_asks_the_unreadable_afresh_and_stays_with_what_it_got(desk, endpoints):
    endpoint = endpoints(reply="nothing of use")
    desk.items(4)

    def summary(*arguments):
        document = json.loads(desk.judge(endpoint, "--max-failed", "9", "--json", *arguments).stdout)["summary"]
        return document["verdict"], document["failed"], document["calls"]["asked"]

    assert summary() == (0, 4, 12)
    endpoint.set(reply="")
    assert summary() == (0, 4, 0)
    assert summary("--retry-failed") == (4, 0, 4)
    assert summary() == (4, 0, 0)


def test_replies_outlive_an_address_where_the_endpoint_has_a_name_of_its_own(desk, endpoints):
    text = (desk.folder / "judge.yaml").read_text()
    named = "models: [{model: openai/fake-judge, endpoint_id: our gateway}]"
    (desk.folder / "judge.yaml").write_text(text.replace("models: [openai/fake-judge]", named))
    desk.items(5)
    first, moved = endpoints(), endpoints()
    assert desk.judge(first).returncode == 0
    assert desk.judge(moved).returncode == 0
    assert (first.stats()["calls"], moved.stats()["calls"]) == (5, 0)
