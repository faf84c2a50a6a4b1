"""Detectors over hostile and ordinary texts, with real processes."""

import os
import sys
import time

import pytest

from evenhand.detectors.findings import Detectors
from evenhand.terms import Detector, Evidence, Failure, Item

PYTHON = sys.executable
ITEM = Item(id="i1", candidate="The key is AKIA1234 and 3 tests pass.", sources={"report": '{"failed": 0, "ok": true}'})


def detector(kind, what, fires_on, **fields):
    return Detector(id="d", kind=kind, what=what, claim="It holds.", impact=-3, fires_on=fires_on, **fields)


@pytest.fixture
def run():
    made = []

    def findings(*detectors, item=ITEM):
        made.append(Detectors(detectors))
        return made[-1].findings_now(item)

    yield findings
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("pattern", "fires_on", "fires"),
    [
        (r"AKIA\d+", "found", True),
        (r"AKIA\d+", "absent", False),
        ("secret", "found", False),
        ("secret", "absent", True),
    ],
)
def test_a_pattern_fires_where_it_is_found_or_absent(run, pattern, fires_on, fires):
    assert bool(run(detector("regex", pattern, fires_on)).items) is fires


def test_a_finding_quotes_the_place_that_a_pattern_found(run):
    (found,) = run(detector("regex", r"AKIA\d+", "found")).items
    assert found == Evidence(
        claim="It holds.", impact=-3, quote="AKIA1234", quote_status="exact", span=(11, 19), detector="d"
    )


def test_a_pattern_that_backtracks_for_ever_fails_the_item_and_the_next_one_is_answered(run):
    bad = detector("regex", r"(a+)+$", "found", timeout_s=0.3)
    detectors = Detectors([bad])
    try:
        began = time.monotonic()
        detectors.findings_now(Item(id="warm", candidate="a"))
        failed = detectors.findings_now(Item(id="x", candidate="a" * 40 + "b"))
        assert isinstance(failed, Failure)
        assert failed.code == "detector"
        assert "took longer than 0.3 s" in failed.message
        assert detectors.findings_now(Item(id="y", candidate="aaa")).items
        assert time.monotonic() - began < 30
    finally:
        detectors.close()


@pytest.mark.parametrize(
    ("status", "fires_on", "fires"),
    [
        (1, "failure", True),
        (0, "failure", False),
        (0, "success", True),
        (3, "success", False),
    ],
)
def test_a_commands_exit_status_is_the_finding(run, status, fires_on, fires):
    made = run(detector("command", f"{PYTHON} -c 'raise SystemExit({status})'", fires_on))
    assert bool(made.items) is fires


def test_a_command_reads_the_text_on_its_input_and_in_a_file_and_no_shell_is_there(run):
    program = (
        "import sys; a = sys.stdin.read(); b = open(sys.argv[1]).read(); "
        "sys.exit(not (a == b and sys.argv[2] == '$HOME;'))"
    )
    assert run(detector("command", f'{PYTHON} -c "{program}" {{file}} $HOME\\;', "success")).items


def test_a_command_gets_no_secrets(run, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    program = "import os, sys; sys.exit('OPENAI_API_KEY' in os.environ)"
    assert run(detector("command", f'{PYTHON} -c "{program}"', "success")).items


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/no/such/command", "cannot be started"),
        (f"{PYTHON} -c 'import time; time.sleep(60)'", "took longer than"),
        (f"{PYTHON} -c 'import os; os.kill(os.getpid(), 9)'", "ended by signal 9"),
        (f"{PYTHON} -c 'print(\"no such thing\"); raise SystemExit(127)'", "it said: no such thing"),
    ],
)
def test_a_command_that_does_not_work_fails_the_item_with_its_cause(run, command, said):
    failed = run(detector("command", command, "failure", timeout_s=1.0 if "sleep" in command else 20.0))
    assert isinstance(failed, Failure)
    assert failed.code == "detector"
    assert said in failed.message


def test_a_command_that_prints_a_hundred_megabytes_is_read_to_its_end_in_bounded_memory(run):
    program = "import sys; [sys.stdout.write('x' * 1000000) for _ in range(100)]"
    assert run(detector("command", f'{PYTHON} -c "{program}"', "success", timeout_s=60.0)).items


def test_what_a_hanging_command_started_is_ended_with_it(run, tmp_path):
    file = tmp_path / "child"
    program = (
        "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        f"open('{file}', 'w').write(str(p.pid)); time.sleep(60)"
    )
    assert isinstance(run(detector("command", f'{PYTHON} -c "{program}"', "failure", timeout_s=3.0)), Failure)
    child = int(file.read_text())
    for _ in range(100):
        if not _runs(child):
            return
        time.sleep(0.05)
    pytest.fail("the child still runs")


def test_a_child_that_keeps_the_pipe_open_is_not_waited_for(run):
    program = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    began = time.monotonic()
    assert run(detector("command", f'{PYTHON} -c "{program}"', "success", timeout_s=50.0)).items
    assert time.monotonic() - began < 40


def test_a_callable_of_the_user_is_asked_and_its_prints_are_nobodys_answer(run, tmp_path, monkeypatch):
    (tmp_path / "my_checks.py").write_text(
        "import os, time\n"
        "def short(text):\n    print('{\"holds\": false}')\n    return len(text) < 100\n"
        "def broken(text):\n    raise ValueError('no')\n"
        "def vague(text):\n    return 1\n"
        "def hangs(text):\n    time.sleep(60)\n"
        "def leaves(text):\n    os._exit(3)\n"
    )
    (tmp_path / "re.py").write_text("raise SystemExit('a module of the standard library was shadowed')")
    monkeypatch.chdir(tmp_path)
    assert run(detector("python", "my_checks:short", "success")).items
    for name, said in [
        ("broken", "it raised ValueError: no"),
        ("vague", "expected True or False"),
        ("missing", "AttributeError"),
        ("hangs", "took longer than"),
        ("leaves", "its process ended"),
    ]:
        # After one that answers: a process that is asked for the first time has ten seconds more, for its start.
        begun = detector("python", "my_checks:short", "failure")
        failed = run(begun, detector("python", f"my_checks:{name}", "failure", timeout_s=0.5))
        assert isinstance(failed, Failure), name
        assert said in failed.message


@pytest.mark.parametrize(
    ("what", "fires_on", "source", "fires"),
    [
        ("-:/failed=0", "found", "report", True),
        ("-:/failed=false", "found", "report", False),
        ("-:/ok=true", "found", "report", True),
        ("-:/ok=1", "found", "report", False),
        ("-:/nothing=1", "absent", "report", True),
        ("-:/failed=0", "found", "candidate", False),
    ],
)
def test_a_value_in_a_text_is_compared_as_json(run, what, fires_on, source, fires):
    assert bool(run(detector("json", what, fires_on, source=source)).items) is fires


def test_a_report_file_is_read_by_the_items_id(run, tmp_path):
    (tmp_path / "i1.json").write_text('{"a": [{"b~/c": "x"}]}')
    assert run(detector("json", f"{tmp_path}/{{id}}.json:/a/0/b~0~1c=x", "found")).items


def test_a_report_that_is_a_pipe_fails_the_item_at_once(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    failed = run(detector("json", f"{tmp_path}/pipe.json:/a=1", "found"))
    assert isinstance(failed, Failure)
    assert "is no regular file" in failed.message


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("i1", None, "cannot be read"),
        ("i1", "{", "is no JSON"),
        ("../i1", "{}", "cannot be a part of a file's name"),
        ("i1", "[" * 100_000, "is no JSON"),
    ],
)
def test_a_report_that_cannot_be_read_fails_the_item(run, tmp_path, name, text, said):
    if text is not None:
        (tmp_path / "i1.json").write_text(text)
    failed = run(detector("json", f"{tmp_path}/{{id}}.json:/a=1", "found"), item=Item(id=name, candidate="x"))
    assert isinstance(failed, Failure)
    assert said in failed.message


def test_a_detector_whose_source_is_not_there_is_left_out_and_flagged(run):
    made = run(detector("regex", "x", "absent", source="demo"))
    assert (made.items, made.flags) == ((), ("detector_left_out:d",))


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
