"""What container engines hold, each that is on this machine, and that it says what it does not hold."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox import CheckCall, Limits, Sandbox, available, bubblewrap, container, groups
from evenhand.sandbox.engine import ENGINES
from evenhand.sandbox.seccomp import seccomp_profile

ATTEMPT = """
import os
def attempt(what, *arguments):
    try:
        return what(*arguments)
    except OSError as error:
        return error.__class__.__name__
"""

# What each is known not to hold; a machine whose kernel has no control groups adds the memory of a whole tree.
NOT_HELD = {
    "crun": set(),
    "runc": {"no view of processes"},
    "podman": {"no view of processes", "names of this machine's files"},
    "docker": {"no view of processes", "names of this machine's files"},
    "runsc": {"no view of processes", "names of this machine's files", "memory of a whole tree"},
}


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each engine that works here."""
    try:
        found = Sandbox(engine=request.param)
    except SandboxError as error:
        pytest.skip(f"needs the container engine {request.param}: {error}")
    with found:
        yield found


def value(box: Sandbox, code: str, argument: object = 0, limits: Limits | None = None) -> object:
    """What `f` returned."""
    run = box.run_suite(code, "f", [CheckCall(id="0", args=[argument])], limits or Limits(check_s=20))
    assert run.load == "loaded", run.load_detail
    assert run.results[0].status == "value", run.results[0]
    return run.results[0].value


def test_it_says_what_it_holds_and_what_not_as_measured_inside(engine: Sandbox) -> None:
    told = engine.describe(Limits(memory_bytes=128 << 20, processes=8, check_s=30))
    name, _, version = told.version.partition(" ")
    assert (told.kind, version[:1].isdigit()) == ("container", True)
    allowed = NOT_HELD[name] | (set() if groups.can_group("memory", "pids") else {"memory of a whole tree"})
    assert set(told.not_held) <= allowed, told.holds
    assert len(told.holds) == 17


def test_files_of_the_machine_are_not_there_and_links_do_not_lead_out(engine: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "expected.json"
    secret.write_text("49")
    code = ATTEMPT + (
        "def f(secret):\n"
        "    os.symlink(secret, '/tmp/link')\n"
        "    os.symlink('/root', '/tmp/r')\n"
        "    places = ['/root', '/home', '/etc/shadow', '/opt', secret]\n"
        "    return [p for p in places if os.path.exists(p)], attempt(open, '/tmp/link'), attempt(os.listdir, '/tmp/r')"
    )
    found = value(engine, code, str(secret))
    assert isinstance(found, tuple)
    assert found[0] == []
    assert set(found[1:]) <= {"FileNotFoundError", "PermissionError"}
    assert secret.read_text() == "49"


def test_nothing_but_tmp_can_be_written(engine: Sandbox) -> None:
    code = ATTEMPT + (
        "def f(places):\n    return [p for p in places if not isinstance(attempt(open, p + '/planted', 'w'), str)]"
    )
    places = ["/", "/usr", "/usr/lib", "/usr/lib/python3", "/etc", "/dev", "/dev/shm", "/tmp", "/bin", "/lib"]
    assert value(engine, code, places) == ["/tmp"]


def test_no_server_is_reached_by_any_road(engine: Sandbox) -> None:
    import socket

    code = ATTEMPT + (
        "import socket\n"
        "def reach(family, kind, address):\n"
        "    with socket.socket(family, kind) as client:\n"
        "        client.settimeout(2)\n"
        "        client.connect(address)\n"
        "        return 'reached'\n"
        "def f(to):\n"
        "    port, name = to\n"
        "    return [attempt(reach, socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', port)),\n"
        "            attempt(reach, socket.AF_INET, socket.SOCK_STREAM, ('1.1.1.1', 443)),\n"
        "            attempt(reach, socket.AF_INET, socket.SOCK_DGRAM, ('1.1.1.1', 53)),\n"
        "            attempt(reach, socket.AF_UNIX, socket.SOCK_STREAM, '\\0' + name),\n"
        "            attempt(reach, 40, socket.SOCK_STREAM, (2, 1)),\n"
        "            attempt(socket.getaddrinfo, 'example.org', 80)]"
    )
    name = f"evenhand-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0" + name)
        local.listen()
        found = value(engine, code, (server.getsockname()[1], name))
    assert isinstance(found, list)
    assert all(isinstance(one, str) and one != "reached" for one in found), found


def test_a_fork_bomb_stays_small(engine: Sandbox) -> None:
    code = (
        "import os, time\n"
        "def f(x):\n"
        "    children = 0\n"
        "    try:\n"
        "        while children < 300:\n"
        "            if os.fork() == 0:\n"
        "                time.sleep(60)\n"
        "                os._exit(0)\n"
        "            children += 1\n"
        "    except OSError:\n"
        "        pass\n"
        "    return children"
    )
    children = value(engine, code, limits=Limits(processes=12, check_s=30))
    assert isinstance(children, int)
    assert 0 < children < 12


def test_memory_and_disk_are_bounded(engine: Sandbox) -> None:
    code = (
        "def f(x):\n"
        "    written = 0\n"
        "    try:\n"
        "        for n in range(100):\n"
        "            with open('/tmp/%d' % n, 'wb', buffering=0) as file:\n"
        "                for _ in range(16):\n"
        "                    written += file.write(bytes(1 << 16))\n"
        "    except OSError:\n"
        "        pass\n"
        "    try:\n"
        "        return written, bytearray(1 << 28)[0]\n"
        "    except MemoryError:\n"
        "        return written, 'memory'"
    )
    found = value(engine, code, limits=Limits(memory_bytes=200 << 20, scratch_bytes=4 << 20, check_s=30))
    assert isinstance(found, tuple)
    assert (0 < found[0] <= 4 << 20, found[1]) == (True, "memory")


@pytest.mark.parametrize("call", ["shmget(0, 1 << 30, 0o1600)", "memfd_create(b'x', 0)", "unshare(0x10000000)"])
def test_what_the_filter_refuses_is_not_given(engine: Sandbox, call: str) -> None:
    assert value(engine, f"import ctypes\ndef f(x):\n    return ctypes.CDLL(None).{call}") == -1


def test_no_privilege_is_held_and_the_first_process_is_closed(engine: Sandbox) -> None:
    code = ATTEMPT + (
        "import ctypes, resource\n"
        "def f(x):\n"
        "    libc = ctypes.CDLL(None, use_errno=True)\n"
        "    words = b'x' * 32\n"
        "    tried = [libc.setuid(0), libc.ptrace(16, 1, 0, 0), libc.process_vm_readv(1, words, 1, words, 1, 0),\n"
        "             libc.mount(b'none', b'/tmp', b'proc', 0, 0)]\n"
        "    memory = attempt(open, '/proc/1/mem', 'rb')\n"
        "    for process, number in ((1, 15), (1, 9), (-1, 9)) if x else ():\n"
        "        attempt(os.kill, process, number)\n"
        "    return tried, memory in ('PermissionError', 'FileNotFoundError'), os.getuid() == 0, os.getppid()"
    )
    # Linux keeps them from the first process and from the caller; gVisor ends the container, and the candidate with it.
    spares_the_caller = not engine._kind.version.startswith("runsc")
    assert value(engine, code, spares_the_caller) == ([-1] * 4, True, False, 1)


def test_what_ends_in_any_way_is_named_and_the_next_check_is_run(engine: Sandbox) -> None:
    code = (
        "import os\n"
        "def f(x):\n"
        "    if x == 0: os._exit(0)\n"
        "    if x == 1: os.kill(os.getpid(), 9)\n"
        "    if x == 2:\n"
        "        while True: pass\n"
        "    return x"
    )
    checks = [CheckCall(id=str(n), args=[n]) for n in range(4)]
    *lost, last = engine.run_suite(code, "f", checks, Limits(check_s=1)).results
    assert [(one.status, one.detail) for one in lost] == [
        ("crashed", "ended before returning: exit code 0"),
        ("crashed", "ended before returning: signal 9"),
        ("timeout", lost[2].detail),
    ]
    assert last.value == 3


def test_what_daemonises_itself_is_gone_after_the_run(engine: Sandbox, gone: Callable[[str, float], bool]) -> None:
    token = f"evenhand-{secrets.token_hex(8)}"
    run = engine.run_command(["sh", "-c", f"(setsid sh -c 'sleep 300; true' {token} &) ; sleep 0.2; echo done"])
    assert (run.stdout, run.exit_code) == (b"done\n", 0)
    assert gone(token, 20)


def test_a_command_has_its_files_input_and_folder_and_leaves_with_its_code(engine: Sandbox) -> None:
    run = engine.run_command(
        ["sh", "-c", "cat a/b.txt -; pwd; echo to-err >&2; echo x > a/b.txt; exit 3"],
        {"a/b.txt": "file\n"},
        stdin=b"in\n",
    )
    assert (run.status, run.exit_code) == ("exited", 3)
    assert (run.stdout, run.stderr) == (b"file\nin\n/work\n", b"to-err\n")


def test_a_command_without_end_is_ended_and_a_missing_one_is_127(
    engine: Sandbox, gone: Callable[[str, float], bool]
) -> None:
    token = f"evenhand-{secrets.token_hex(8)}"
    run = engine.run_command(["sh", "-c", f"echo begun; sleep 300; : {token}"], limits=Limits(suite_s=3))
    assert (run.status, run.exit_code, run.stdout) == ("timeout", None, b"begun\n")
    assert gone(token, 20)
    assert engine.run_command(["no-such-program"]).exit_code == 127


def test_a_folder_is_mounted_to_be_read_only(engine: Sandbox) -> None:
    with tempfile.TemporaryDirectory() as given:
        os.chmod(given, 0o755)
        Path(given, "held").write_text("text")
        run = engine.run_command(["sh", "-c", "cat /given/held; touch /given/x"], mounts={"/given": given})
        assert os.listdir(given) == ["held"]
    assert run.stdout == b"text"
    assert b"cannot touch" in run.stderr


def test_where_evenhand_is_killed_the_tree_is_gone(
    engine: Sandbox, root: Path, running: Callable[[str], list[str]], gone: Callable[[str, float], bool]
) -> None:
    token = f"evenhand-{secrets.token_hex(8)}"
    name = engine._kind.version.split()[0]
    program = (
        "from evenhand.sandbox import Sandbox\n"
        f"with Sandbox(engine={name!r}) as box:\n"
        "    print(box._place._stage, flush=True)\n"
        "    box.run_command(['sh', '-c', '(setsid sh -c \"sleep 300; true\" TOKEN &); sleep 300'])\n"
    ).replace("TOKEN", token)
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        # gVisor's processes are not the machine's; of those its own are seen, by the container's name.
        seen, least = (f"evenhand-sandbox-{process.pid}-", 1) if name == "runsc" else (token, 3)
        while len(running(seen)) < least and time.monotonic() < until:
            time.sleep(0.05)
        assert len(running(seen)) >= least
        process.send_signal(signal.SIGKILL)
        assert gone(seen, 20)
        assert process.stdout is not None
        shutil.rmtree(process.stdout.readline().strip(), ignore_errors=True)


def test_modules_of_our_own_are_forked_there_too(engine: Sandbox) -> None:
    with engine.trusted_pool(workers=1) as pool:
        from evenhand.sandbox import SuiteJob

        job = SuiteJob(key=1, code="def f(x): return x", entry_point="f", checks=[CheckCall(id="a", args=[4])])
        assert [pool.run_job(job).results[0].value for _ in range(3)] == [4, 4, 4]


def test_nothing_of_a_run_is_left_behind(engine: Sandbox) -> None:
    before = _groups()  # of another sandbox of this process, which is still open
    value(engine, "def f(x): return x")
    engine.run_command(["true"], {"a": "b"})
    stage = engine._place._stage
    assert [path.name for path in stage.iterdir() if path.name.startswith(("evenhand-", "tmp"))] == []
    assert _groups() <= before


def _groups() -> set[Path]:
    """The control groups that this process has made and not removed."""
    return {path for base in groups.own_groups() for path in base.glob(f"evenhand-sandbox-{os.getpid()}-*")}


def test_an_engine_comes_after_bubblewrap_and_one_that_fails_gives_way_to_the_next(
    monkeypatch: pytest.MonkeyPatch, engine: Sandbox
) -> None:
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda _: (None, "bubblewrap is not installed"))
    assert available() == ("container", "")
    name = engine._kind.version.split()[0]
    monkeypatch.setattr(container, "ENGINES", ("no-such-engine", name))
    with Sandbox() as box:
        assert (box.kind, box._kind.version) == ("container", engine._kind.version)


def test_an_engine_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container.shutil, "which", lambda _: None)
    with pytest.raises(SandboxError, match=r"container alone was asked for; no container engine is installed \(runc\)"):
        Sandbox(engine="runc")
    with pytest.raises(InvalidInput, match="the engine 'lxc' with kind None; known are crun"):
        Sandbox(engine="lxc")
    with pytest.raises(InvalidInput, match="with kind landlock"):
        Sandbox(engine="runc", kind="landlock")


def test_a_group_that_a_killed_engine_left_is_removed_and_a_young_one_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(groups, "own_groups", lambda: [tmp_path])
    gone, ours = "evenhand-sandbox-4194399-1", f"evenhand-sandbox-{os.getpid()}-1"
    for name in (gone, ours, "other"):
        (tmp_path / name).mkdir()
    groups.remove_empty_groups()
    assert (tmp_path / gone).is_dir()
    groups.remove_empty_groups(age_s=-1.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == [ours, "other"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_profile_refuses_every_family_of_sockets_but_three(machine: str) -> None:
    profile = seccomp_profile(machine)
    assert profile is not None
    rules = profile["syscalls"]
    assert isinstance(rules, list)
    sockets = [rule["args"][0] for rule in rules if rule["names"] == ["socket"]]
    equal = {one["value"] for one in sockets if one["op"] == "SCMP_CMP_EQ"}
    above = [one["value"] for one in sockets if one["op"] == "SCMP_CMP_GT"]
    assert (equal, above) == ({0, 3, 4, 5, 6, 7, 8, 9}, [10])
    assert seccomp_profile("sparc64") is None
