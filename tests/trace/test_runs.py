"""Harnesses that do not do what is hoped: no calls, other wires, no item texts, bad ends, signals."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return [sys.executable, path]

    return write


ASK = """\
import json, os, urllib.error, urllib.request
def ask(path, body):
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + path, data=json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json", "Cookie": "secret=1",
                                              "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code
"""


def test_a_harness_that_ignores_the_base_url_made_no_calls_that_were_seen(evenhand, items, replies, script):
    done = evenhand("trace", "--items", items, "--replies", replies, "--", *script("print('no model asked')"))
    assert done.code == 3
    assert "no calls were seen" in " ".join(done.out.split())


def test_a_trace_without_any_items_text_cannot_be_placed(evenhand, items, replies, script):
    asks = ASK + "ask('/chat/completions', {'model': 'm', 'messages': [{'role': 'user', 'content': 'My answer?'}]})"
    replies.write_text('"fine"\n')
    done = evenhand("trace", "--items", items, "--replies", replies, "--", *script(asks))
    assert done.code == 3
    assert "the trace cannot be placed" in " ".join(done.out.split())


@pytest.mark.parametrize("path", ["/responses", "/completions", "/embeddings"])
def test_a_wire_that_cannot_be_read_is_reported_as_seen(path, evenhand, items, replies, script):
    done = evenhand("trace", "--items", items, "--replies", replies, "--json", "--",
                    *script(ASK + f"print(ask({path!r}, {{'model': 'm', 'input': 'x'}}))"))  # fmt: skip
    assert done.code == 3
    evidence = done.document["evidence"]
    assert evidence["unreadable_wires"] == {path[1:]: 1}
    assert path in evidence["unplaced"]
    assert "none can be read" in evidence["unplaced"]


def test_the_harness_output_stands_apart_from_the_one_document(evenhand, items, replies, harness, capfd, tmp_path):
    done = evenhand("trace", "--items", items, "--replies", replies, "--json", "--", *harness("anchored"))
    assert done.document["schema"] == "evenhand.traced/1"


@pytest.mark.parametrize(("end", "shown"), [("sys.exit(7)", "exit code 7"), ("os.kill(os.getpid(), 9)", "SIGKILL"),
                                           ("os.kill(os.getpid(), 40)", "signal 40")])  # fmt: skip
def test_a_harness_that_ends_badly_is_shown_so_and_its_trace_is_kept(end, shown, evenhand, items, replies, script,
                                                                       tmp_path):  # fmt: skip
    done = evenhand("trace", "--items", items, "--replies", replies, "--out", "kept", "--",
                    *script(f"import os, sys\n{end}"))  # fmt: skip
    assert done.code == 3
    assert shown in done.out
    assert (tmp_path / "kept" / "trace.json").is_file()


def test_neither_key_nor_cookie_nor_query_is_kept(evenhand, items, replies, script, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-stored-0123456789")
    asks = ASK + "ask('/chat/completions?key=in-the-query', {'model': 'm', 'messages': []})"
    replies.write_text('"fine"\n')
    command = [*script(asks), "--api-key", "sk-never-stored-0123456789"]
    evenhand("trace", "--items", items, "--replies", replies, "--out", "kept", "--", *command)
    kept = "".join(path.read_text() for path in (tmp_path / "kept").iterdir())
    assert '"n_calls": 1' in kept
    for secret in ("sk-never-stored", "secret=1", "in-the-query", "Bearer"):
        assert secret not in kept


def test_a_key_is_made_up_only_where_replies_are_made_here_and_none_is_set():
    from evenhand.trace.launching import harness_environment

    own = harness_environment({"OPENAI_API_KEY": "sk-own"}, "http://x", answered_here=True)
    assert own["OPENAI_API_KEY"] == "sk-own"
    assert "OPENAI_API_KEY" not in harness_environment({}, "http://x", answered_here=False)
    assert harness_environment({}, "http://x", answered_here=True)["OPENAI_API_KEY"]


def test_a_folder_that_holds_something_is_not_written_over(evenhand, items, replies, script, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("mine")
    done = evenhand("trace", "--items", items, "--replies", replies, "--out", "full", "--", *script("print(1)"))
    assert done.code == 2
    assert "is there already" in done.err
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "write the harness's command"),
        (["--", "no-such-program-anywhere"], "no such command"),
        (["--base-url", "http://user:pw@h/v1", "--", "true"], "user or password"),
        (["--model", "openai/gpt-5", "--", "true"], "only a model in this process"),
        (["--base-url", "http://h/v1", "--model", "local/smollm2", "--", "true"], "give one of them"),
        (["--match", "numbers", "--", "true"], "no such answer kind"),
    ],
)
def test_what_is_asked_wrongly_is_said_in_one_sentence(arguments, says, evenhand, items, tmp_path):
    done = evenhand("trace", "--items", items, *arguments)
    assert done.code == 2
    assert says in done.err
    assert not (tmp_path / ".evenhand").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "eggs"}', "has no field 'accepted'"),
        ('{"id": "eggs", "accepted": 0.7}', "a score is no acceptance"),
        ('{"id": "eggs", "accepted": true}\n{"id": "eggs", "accepted": true}', "stands in o.jsonl line 1 already"),
        ('{"accepted": true}', "expected an id in every row"),
        ("", "holds no rows"),
    ],
)
def test_outcomes_that_say_nothing_are_refused(line, says, evenhand, items, replies, script, tmp_path):
    (tmp_path / "o.jsonl").write_text(line)
    done = evenhand("trace", "--items", items, "--replies", replies, "--outcomes", "o.jsonl", "--", *script("print(1)"))
    assert done.code == 2
    assert says in done.err


def test_outcomes_that_this_run_did_not_write_are_pointed_out(evenhand, items, replies, script, tmp_path):
    (tmp_path / "o.jsonl").write_text('{"id": "eggs", "accepted": true}\n')
    done = evenhand("trace", "--items", items, "--replies", replies, "--outcomes", "o.jsonl", "--", *script("print(1)"))
    assert "may be of another run" in " ".join(done.out.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_harness_and_the_trace_is_still_whole(number, items, replies, script, tmp_path):
    waits = ASK + (
        "import signal, sys, time\n"
        "def stop(n, frame):\n    open('told', 'w').write(str(n)); sys.exit(5)\n"
        "signal.signal(signal.SIGINT, stop); signal.signal(signal.SIGTERM, stop)\n"
        "ask('/chat/completions', {'model': 'm', 'messages': []})\n"
        "open('ready', 'w').close()\ntime.sleep(60)\n"
    )
    replies.write_text('"fine"\n')
    command = [sys.executable, "-m", "evenhand", "trace", "--items", items, "--replies", replies, "--out", "kept", "--"]
    process = subprocess.Popen([*map(str, command), *map(str, script(waits))], cwd=tmp_path, env=os.environ.copy(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "ready").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (tmp_path / "told").read_text() == str(int(number))
    assert process.returncode == 3, err
    assert "exit code 5" in out
    assert json.loads((tmp_path / "kept" / "trace.json").read_text())["n_calls"] == 1


def test_a_command_that_is_no_text_is_kept_with_its_bytes_escaped(evenhand, items, replies, script, tmp_path):
    done = evenhand("trace", "--items", items, "--replies", replies, "--out", "kept", "--", *script("pass"), "a\udcff")
    assert done.code == 3  # no calls
    assert json.loads((tmp_path / "kept" / "trace.json").read_text())["command"][-1] == "a\\xff"


@pytest.mark.parametrize(
    "word",
    [
        "Authorization: Bearer SECRETVALUE",
        "--header=X-Api-Key: SECRETVALUE",
        '{"model": "m", "api_key": "SECRETVALUE"}',
        "{'token': 'SECRETVALUE'}",
        "https://user:SECRETVALUE@example.org/v1",
        "sk-proj-SECRETVALUE-0123456789",
        "cookie: s=SECRETVALUE",
    ],
)
def test_a_secret_in_a_command_is_known_by_its_form(word):
    from evenhand.trace.launching import without_secrets

    kept = without_secrets(["curl", "-H", word, "next"], {})
    assert "SECRET" not in " ".join(kept)
    assert "***" in kept[2]
    assert (kept[0], kept[3]) == ("curl", "next")


def test_words_without_a_secret_are_kept_as_they_are():
    from evenhand.trace.launching import without_secrets

    words = [
        "python",
        "task-runner-of-a-long-name.py",
        "http://host/v1",
        "a: b",
        "--limit",
        "5",
        "risk-assessment-2026",
    ]
    assert without_secrets(words, {}) == words


def test_a_harness_that_ignores_interrupts_is_ended_by_the_third_and_its_trace_kept(items, replies, script, tmp_path):
    deaf = ASK + (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: open('told', 'a').write('x'))\n"
        "ask('/chat/completions', {'model': 'm', 'messages': []})\n"
        "open('ready', 'w').close()\nwhile True: time.sleep(1)\n"
    )
    replies.write_text('"fine"\n')
    command = [sys.executable, "-m", "evenhand", "trace", "--items", items, "--replies", replies, "--out", "kept", "--"]
    process = subprocess.Popen([*map(str, command), *map(str, script(deaf))], cwd=tmp_path, env=os.environ.copy(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    told = tmp_path / "told"
    for number in range(3):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (
            told.exists() and len(told.read_text()) == number if number else (tmp_path / "ready").exists()
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "SIGKILL" in out
    assert json.loads((tmp_path / "kept" / "trace.json").read_text())["n_calls"] == 1


def test_what_a_harness_leaves_running_is_not_waited_for_and_asks_nobody_on(evenhand, items, replies, script, tmp_path):
    leaves = ASK + (
        "import subprocess, sys, time\n"
        "if len(sys.argv) > 1:\n"
        "    found = []\n"
        "    while len(found) < 400:\n"
        "        try: found.append(ask('/chat/completions', {'model': 'm', 'messages': []}) is not None)\n"
        "        except OSError: break\n"
        "        open('begun', 'w').close()\n"
        "    open('left', 'w').close()\n"
        "    sys.exit()\n"
        "subprocess.Popen([sys.executable, __file__, 'left'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "while not os.path.exists('begun'): time.sleep(0.02)\n"
    )
    replies.write_text('"fine"\n')
    done = evenhand("trace", "--items", items, "--replies", replies, "--out", "kept", "--json", "--", *script(leaves))
    assert done.document["trace"]["exit_code"] == 0
    assert done.document["evidence"]["n_calls"] == len((tmp_path / "kept" / "calls.jsonl").read_text().splitlines())
    deadline = time.monotonic() + 30
    while not (tmp_path / "left").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (tmp_path / "left").exists()


def test_a_harness_that_prints_without_end_costs_no_memory(items, replies, script, tmp_path):
    prints = "import sys\nfor _ in range(512): sys.stdout.write('x' * (1 << 20))\n"
    command = [sys.executable, "-m", "evenhand", "trace", "--items", items, "--replies", replies, "--json", "--"]
    measured = (
        "import resource, subprocess, sys\n"
        "found = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)\n"
        "print(len(found.stdout), found.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", measured, *map(str, command), *map(str, script(prints))],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120)  # fmt: skip
    length, code, kilobytes = map(int, done.stdout.split())
    assert code == 3  # no calls
    assert length < 10_000
    assert kilobytes < 400_000
