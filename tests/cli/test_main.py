"""The console entry: what comes of streams that are full, closed or not read to their end, whatever the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = ["score --totals 25 25", "score --totals 25 25 --json", "models list", "--help"]
CODE = "from evenhand.cli.main import run; run()"


def shell(tail, command, folder):
    """Run a command through a shell, so that its streams are what `tail` makes of them."""
    line = f"set -o pipefail; {sys.executable} -c '{CODE}' {command} {tail}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, cwd=folder)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this platform has no /dev/full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_behind_standard_output_is_one_sentence(command, tmp_path):
    done = shell("> /dev/full", command, tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output cannot be written (No space left on device)")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_leaves_early_is_no_failed_gate(command, tmp_path):
    done = shell("| true", command, tmp_path)
    assert (done.returncode, done.stderr) in ((141, ""), (0, ""))  # 0: all was written before the reader left


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_standard_output_is_written_nowhere(command, tmp_path):
    done = shell(">&-", command, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_notes_never_reach_standard_output_though_standard_error_is_closed(tmp_path):
    (tmp_path / "none.json").write_text("[]")
    done = shell("2>&-", "score none.json --json", tmp_path)
    assert json.loads(done.stdout)["score"] is None


@pytest.mark.parametrize("command", ["audit reach {0} {0}", "judge {0} {0}", "trace --items {0} -- true"])
def test_a_name_that_no_file_can_have_is_one_sentence(command, tmp_path):
    done = shell("", command.format("a" * 300), tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is no path that can be (File name too long)" in done.stderr
