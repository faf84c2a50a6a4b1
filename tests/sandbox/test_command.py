import pytest

from evenhand.errors import InvalidInput
from evenhand.sandbox import Limits, Sandbox


def test_a_command_reads_its_files_and_its_input_and_leaves_with_its_code(box: Sandbox) -> None:
    run = box.run_command(
        ["sh", "-c", "cat a/b.txt -; pwd; echo to-err >&2; exit 3"], {"a/b.txt": "file\n"}, stdin=b"in\n"
    )
    assert (run.status, run.exit_code, run.signal) == ("exited", 3, None)
    assert (run.stdout, run.stderr, run.truncated) == (b"file\nin\n/work\n", b"to-err\n", False)


def test_its_folder_can_be_written_and_is_gone_afterwards(each: Sandbox) -> None:
    files = {"report.xml": b"old"}
    wrote = each.run_command(["sh", "-c", "echo new > report.xml; echo x > other; cat report.xml"], files)
    assert wrote.stdout == b"new\n"
    assert each.run_command(["ls"], files).stdout == b"report.xml\n"


def test_a_signal_is_named_and_is_no_exit_code(each: Sandbox) -> None:
    run = each.run_command(["sh", "-c", "echo ok; kill -11 $$"])
    assert (run.status, run.exit_code, run.signal, run.stdout) == ("signalled", None, 11, b"ok\n")


def test_a_command_without_end_is_ended(each: Sandbox) -> None:
    run = each.run_command(["sh", "-c", "echo begun; sleep 300"], limits=Limits(suite_s=1))
    assert (run.status, run.exit_code, run.stdout) == ("timeout", None, b"begun\n")


def test_what_it_leaves_in_the_background_does_not_hold_it_up(each: Sandbox) -> None:
    run = each.run_command(["sh", "-c", "sleep 300 & echo done"], limits=Limits(suite_s=60))
    assert (run.status, run.exit_code, run.stdout) == ("exited", 0, b"done\n")
    assert run.seconds < 50


def test_output_without_end_is_cut_and_said_to_be(each: Sandbox) -> None:
    run = each.run_command(["head", "-c", "100000000", "/dev/zero"], limits=Limits(output_bytes=1000))
    assert (run.status, run.exit_code, len(run.stdout), run.truncated) == ("exited", 0, 1000, True)


def test_input_that_nobody_reads_is_no_error(each: Sandbox) -> None:
    assert each.run_command(["true"], stdin=bytes(5_000_000)).exit_code == 0


def test_a_program_that_is_not_there_is_127(each: Sandbox) -> None:
    run = each.run_command(["no-such-program"])
    assert run.exit_code == 127
    assert run.stderr == b"no-such-program: No such file or directory\n"


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "", ".", "a\0b"])
def test_a_file_name_that_leads_out_is_refused(box: Sandbox, name: str) -> None:
    with pytest.raises(InvalidInput, match="working folder"):
        box.run_command(["true"], {name: ""})


@pytest.mark.parametrize("argv", [[], ["a\0b"]])
def test_a_command_that_cannot_be_is_refused(box: Sandbox, argv: list[str]) -> None:
    with pytest.raises(InvalidInput, match="command"):
        box.run_command(argv)


def test_a_folder_is_mounted_to_be_read_only(box: Sandbox) -> None:
    run = box.run_command(["sh", "-c", "ls /given/python3; touch /given/x"], mounts={"/given": "/usr/lib"})
    assert b"dist-packages" in run.stdout
    assert b"Read-only file system" in run.stderr


@pytest.mark.parametrize("inside", ["given", "/", "/../x", "/a//b"])
def test_a_mount_goes_to_a_plain_absolute_place(box: Sandbox, inside: str) -> None:
    with pytest.raises(InvalidInput, match="cannot mount"):
        box.run_command(["true"], mounts={inside: "/usr/lib"})


def test_a_mount_that_is_not_there_is_refused(box: Sandbox) -> None:
    with pytest.raises(InvalidInput, match="cannot mount"):
        box.run_command(["true"], mounts={"/given": "/no/such/folder"})


def test_limits_hold_for_commands(box: Sandbox) -> None:
    run = box.run_command(["sh", "-c", "ulimit -n; cat /proc/1/limits | grep 'Max open'"], limits=Limits(open_files=33))
    assert run.stdout.split() == [b"33", b"Max", b"open", b"files", b"33", b"33", b"files"]


def test_the_first_process_of_a_command_is_closed_to_it(box: Sandbox) -> None:
    script = (
        "import os\n"
        "for name in ('mem', 'environ', 'exe', 'fd', 'root'):\n"
        "    try:\n"
        "        os.close(os.open('/proc/1/' + name, os.O_RDONLY))\n"
        "        print(name)\n"
        "    except PermissionError:\n"
        "        pass\n"
        "for signal in (15, 9):\n"
        "    os.kill(1, signal)\n"
        "print('still here')\n"
    )
    run = box.run_command([box.interpreter.path, "-c", script])
    assert (run.stdout, run.exit_code) == (b"still here\n", 0), run.stderr


def test_what_a_command_orphans_is_reaped(box: Sandbox) -> None:
    script = "for n in 1 2 3; do (true &); done; (setsid sleep 300 &); sleep 0.2; cat /proc/[0-9]*/stat"
    run = box.run_command(["sh", "-c", script])
    assert b" Z " not in run.stdout
    assert run.exit_code == 0
