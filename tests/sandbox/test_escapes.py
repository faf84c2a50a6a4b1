"""What hostile code tries, tried for real, and only in the sandbox: a candidate here never runs anywhere else."""

import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.sandbox import CheckCall, CheckResult, Limits, Sandbox
from evenhand.sandbox import inside as inside_module
from evenhand.sandbox.groups import can_group, own_groups


def inside(box: Sandbox, code: str, *arguments: object, limits: Limits | None = None) -> tuple[CheckResult, ...]:
    """The results of `f` over each argument."""
    checks = [CheckCall(id=str(n), args=[argument]) for n, argument in enumerate(arguments or (0,))]
    run = box.run_suite(code, "f", checks, limits or Limits(check_s=20))
    assert run.load == "loaded", run.load_detail
    return run.results


def value(box: Sandbox, code: str, *arguments: object, limits: Limits | None = None) -> object:
    """What `f` returned for the last argument."""
    *_, last = inside(box, code, *arguments, limits=limits)
    assert last.status == "value", (last.status, last.detail)
    return last.value


ATTEMPT = """
import os
def attempt(what, *arguments):
    try:
        return what(*arguments)
    except OSError as error:
        return error.__class__.__name__
"""


def test_files_of_the_machine_are_not_there(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "expected.json"
    secret.write_text("49")
    secret.chmod(0o644)
    places = ["/root", "/home", "/etc/passwd", "/etc/shadow", "/var", "/opt", str(secret), os.getcwd(), __file__]
    code = "import os\ndef f(places):\n    return [place for place in places if os.path.exists(place)]"
    assert value(box, code, places) == []


def test_nothing_but_tmp_can_be_written(box: Sandbox) -> None:
    code = ATTEMPT + (
        "def f(places):\n    return [p for p in places if not isinstance(attempt(open, p + '/planted', 'w'), str)]"
    )
    places = ["/", "/usr", "/usr/lib", "/usr/lib/python3", "/etc", "/dev", "/dev/shm", "/tmp", "/bin", "/lib"]
    assert value(box, code, places) == ["/tmp"]


def test_links_do_not_lead_out(box: Sandbox, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("untouched")
    code = ATTEMPT + (
        "def f(target):\n"
        "    os.symlink(target, '/tmp/link')\n"
        "    os.symlink('/etc/passwd', '/tmp/users')\n"
        "    os.symlink('/root', '/tmp/r')\n"
        "    return [attempt(open, '/tmp/link'), attempt(open, '/tmp/users'), attempt(os.listdir, '/tmp/r')]"
    )
    found = value(box, code, str(target))
    assert isinstance(found, list)
    assert set(found) <= {"FileNotFoundError", "PermissionError"}
    assert target.read_text() == "untouched"


def test_no_server_is_reached_by_any_road(box: Sandbox) -> None:
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
        found = value(box, code, (server.getsockname()[1], name))
    assert found == ["ConnectionRefusedError", "OSError", "OSError", "ConnectionRefusedError", "OSError", "gaierror"]


def test_a_fork_bomb_stays_small(each: Sandbox) -> None:
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
    children = value(each, code, limits=Limits(processes=12, check_s=20))
    assert isinstance(children, int)
    assert 0 < children < 12


def test_a_bomb_that_forks_for_ever_ends_with_its_time_and_the_next_check_is_run(each: Sandbox) -> None:
    code = (
        "import os\n"
        "def f(x):\n"
        "    while x:\n"
        "        try:\n"
        "            os.fork()\n"
        "        except OSError:\n"
        "            pass\n"
        "    return x"
    )
    results = inside(each, code, 1, 0, limits=Limits(check_s=1))
    assert results[0].status in ("timeout", "crashed")
    assert (results[1].status, results[1].value) == ("value", 0)


def test_memory_is_bounded(each: Sandbox) -> None:
    code = "def f(x):\n    hoard = []\n    while True:\n        hoard.append(bytearray(1 << 24))"
    (result,) = inside(each, code, limits=Limits(memory_bytes=256 << 20, check_s=20))
    assert result.status == "memory"


@pytest.mark.parametrize("call", ["shmget(0, 1 << 30, 0o1600)", "memfd_create(b'x', 0)"])
def test_memory_that_no_limit_counts_is_not_given(each: Sandbox, call: str) -> None:
    assert value(each, f"import ctypes\ndef f(x):\n    return ctypes.CDLL(None).{call}") == -1


def test_the_disk_is_bounded(box: Sandbox) -> None:
    code = (
        "def f(x):\n"
        "    written = 0\n"
        "    for n in range(1000):\n"
        "        try:\n"
        "            with open('/tmp/%d' % n, 'wb', buffering=0) as file:\n"
        "                for _ in range(1000):\n"
        "                    written += file.write(bytes(1 << 16))\n"
        "        except OSError as error:\n"
        "            if error.errno == 28:\n"
        "                return written\n"
    )
    written = value(box, code, limits=Limits(scratch_bytes=4 << 20, file_bytes=1 << 20, check_s=20))
    assert isinstance(written, int)
    assert written <= 4 << 20


def test_there_is_no_proc_through_which_another_process_could_be_written_to(box: Sandbox) -> None:
    code = "import os\ndef f(x):\n    return os.path.exists('/proc'), os.path.exists('/sys')"
    assert value(box, code) == (False, False)


def test_the_first_process_has_the_limits_too_though_it_cannot_be_reached(box: Sandbox) -> None:
    code = (
        "import resource\n"
        "def f(x):\n"
        "    names = ('RLIMIT_NPROC', 'RLIMIT_AS', 'RLIMIT_FSIZE', 'RLIMIT_NOFILE', 'RLIMIT_CPU')\n"
        "    return [resource.prlimit(1, getattr(resource, name))[1] for name in names]"
    )
    limits = Limits(processes=11, memory_bytes=1 << 29, file_bytes=1 << 20, open_files=32, suite_s=77, check_s=20)
    assert value(box, code, limits=limits) == [11, 1 << 29, 1 << 20, 32, 78]


def test_the_environment_and_the_descriptors_hold_nothing_of_the_parent(
    each: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    code = (
        "import os, stat\n"
        "def f(x):\n"
        "    kinds = []\n"
        "    for number in range(64):\n"
        "        try:\n"
        "            kinds.append(stat.S_IFMT(os.fstat(number).st_mode))\n"
        "        except OSError:\n"
        "            pass\n"
        "    return sorted(os.environ), kinds == [stat.S_IFCHR] * 3 + [stat.S_IFIFO] * 2"
    )
    assert value(each, code) == (["EVENHAND_SANDBOX", "HOME", "LC_CTYPE", "PWD"], True)


def test_no_privilege_is_held_or_can_be_had(box: Sandbox) -> None:
    code = (
        "import ctypes, os\n"
        "def f(x):\n"
        "    libc = ctypes.CDLL(None, use_errno=True)\n"
        "    bounding = [n for n in range(64) if libc.prctl(23, n, 0, 0, 0) == 1]\n"
        "    told = libc.prctl(39, 0, 0, 0, 0), libc.prctl(21, 0, 0, 0, 0)\n"
        "    words = b'x' * 32\n"
        "    tried = [libc.unshare(0x10000000), libc.unshare(0x20000), libc.setuid(0), libc.ptrace(16, 1, 0, 0),\n"
        "             libc.process_vm_readv(1, words, 1, words, 1, 0), libc.mount(b'none', b'/tmp', b'proc', 0, 0)]\n"
        "    return bounding, told, tried, os.getuid()"
    )
    assert value(box, code) == ([], (1, 2), [-1] * 6, 65534)


def test_a_limit_cannot_be_raised_again(each: Sandbox) -> None:
    code = (
        "import resource\n"
        "def f(x):\n"
        "    raised = []\n"
        "    for name in ('RLIMIT_AS', 'RLIMIT_NPROC', 'RLIMIT_FSIZE', 'RLIMIT_NOFILE', 'RLIMIT_CPU'):\n"
        "        try:\n"
        "            resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "            raised.append(name)\n"
        "        except (ValueError, OSError):\n"
        "            pass\n"
        "    return raised"
    )
    assert value(each, code) == []


def test_signals_do_not_reach_the_parent(box: Sandbox) -> None:
    code = ATTEMPT + (
        "def f(pid):\n"
        "    tried = [attempt(os.kill, pid, 0) if pid > 1000 else 'ProcessLookupError']\n"
        "    os.kill(os.getppid(), 15)\n"
        "    attempt(os.kill, -1, 9)\n"
        "    return tried + [os.getppid()]"
    )
    assert value(box, code, os.getpid()) == ["ProcessLookupError", 1]


def test_what_daemonises_itself_is_gone_after_the_run(each: Sandbox, gone: Callable[[str, float], bool]) -> None:
    token = f"evenhand-{secrets.token_hex(8)}"
    code = (
        "import os, sys\n"
        "def f(token):\n"
        "    reading, writing = os.pipe()\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            os.execv(sys.executable, ['python', '-I', '-S', '-c', 'import time; time.sleep(300)', token])\n"
        "        os._exit(0)\n"
        "    os.close(writing)\n"
        "    os.read(reading, 1)  # ends when the other program has begun\n"
        "    return 'started'"
    )
    assert value(each, code, token) == "started"
    assert gone(token, 10)


def test_what_is_printed_goes_nowhere_and_costs_nothing(each: Sandbox) -> None:
    code = (
        "import os, sys\n"
        "def f(x):\n"
        "    print('49 9 OK passed')\n"
        "    print('1 passed', file=sys.__stderr__)\n"
        "    for _ in range(64):\n"
        "        os.write(1, bytes(1 << 24)); os.write(2, bytes(1 << 24))\n"
        "    return 3"
    )
    assert value(each, code) == 3


# Every descriptor there is gets what the text in FORGED says; one of them is the channel.
FORGER = """
import os
def frame(data):
    return len(data).to_bytes(4, "big") + data
def f(x):
    if x == 0:
        for number in range(3, 64):
            try:
                os.write(number, FORGED)
            except OSError:
                pass
        if LEAVE:
            os._exit(0)
    return x
"""


@pytest.mark.parametrize("leave", [False, True])
@pytest.mark.parametrize(
    "forged",
    [
        "b'ok\\n'",
        "frame(b't3;s5;valuei1;i31;')",
        "frame(b't3;s5;valuei0;i31;') + frame(b't3;s5;valuei1;i31;') + frame(b't3;s5;valuei2;i31;')",
        "frame(b't1;s6;loaded')",
        "frame(b'')",
        "frame(b'N')",
        "frame(b't3;s5;valueTi31;')",
        "frame(b't4;s6;memoryi0;i1;i2;')",
        "b'\\xff\\xff\\xff\\xff' + b'x' * 1000",
        "frame(b'l1;' * 10000)",
        "b'\\0\\0'",
    ],
)
def test_what_is_forged_on_the_channel_answers_no_later_check(box: Sandbox, forged: str, leave: bool) -> None:
    """Forging the answer to the check that was asked is answering it: it is compared like any other."""
    code = FORGER.replace("FORGED", forged).replace("LEAVE", str(leave))
    first, *rest = inside(box, code, 0, 1, 2, limits=Limits(check_s=1))
    assert first.status in ("crashed", "timeout") or first.value in (0, 49)
    assert all(result.value in (result.id, int(result.id), None) for result in rest)
    assert all(result.status == "value" or "tampered" in result.detail or "ended" in result.detail for result in rest)


def test_a_runner_that_was_rewritten_from_inside_gives_data_or_nothing(each: Sandbox) -> None:
    code = "import __main__\ndef f(x):\n    __main__.encode = lambda *_, **__: b'\\x80\\x04csystem'\n    return 1"
    (result, _) = inside(each, code, 1, 2)
    assert (result.status, result.value) == ("crashed", None)


def test_a_fork_that_answers_too_is_tampering(each: Sandbox) -> None:
    code = (
        "import os, time\n"
        "def f(x):\n"
        "    if x == 1 and os.fork() == 0:\n"
        "        return 5\n"
        "    time.sleep(0.3)\n"
        "    return x"
    )
    for result in inside(each, code, 1, 2, 3):
        assert result.value in (5, int(result.id) + 1, None)


def test_other_checks_and_their_inputs_are_not_in_the_process(box: Sandbox) -> None:
    """The search is shown to work: the second check finds its own."""
    code = (
        "import gc, re, sys\n"
        "def f(token):\n"
        "    found, frame, objects = set(), sys._getframe(), gc.get_objects()\n"
        "    while frame:\n"
        "        objects += list(frame.f_locals.values())\n"
        "        frame = frame.f_back\n"
        "    for thing in objects:\n"
        "        for part in gc.get_referents(thing) + [thing]:\n"
        "            if type(part) in (str, bytes):\n"
        "                text = part if type(part) is str else part.decode('latin-1')\n"
        "                found |= set(re.findall(token[:9] + '[0-9a-f]{16}', text))\n"
        "    return sorted(found)"
    )
    prefix, hidden = "evenhand-", secrets.token_hex(8)
    first, second = inside(box, code, prefix, prefix + hidden, limits=Limits(check_s=30))
    assert (first.status, first.value) == ("value", [])
    assert second.value == [f"{prefix}{hidden}"]


def test_what_is_planted_in_the_working_folder_is_not_there_for_the_next_process(each: Sandbox) -> None:
    code = (
        "import os\n"
        "def f(x):\n"
        "    if x == 'plant':\n"
        "        for name in ('sitecustomize.py', 'usercustomize.py', 'os.py', 'json.py', 'conftest.py'):\n"
        "            open(name, 'w').write('raise SystemExit(0)')\n"
        "        os._exit(0)\n"
        "    import json\n"
        "    return os.listdir(os.getcwd())"
    )
    planted, looked = inside(each, code, "plant", "look")
    assert (planted.status, looked.value) == ("crashed", [])


def test_a_planted_customisation_is_not_read_by_the_runner_of_a_command(box: Sandbox) -> None:
    files = dict.fromkeys(("sitecustomize.py", "usercustomize.py", "os.py"), "print('planted')\nraise SystemExit(0)")
    run = box.run_command(["sh", "-c", "echo own"], files)
    assert (run.stdout, run.exit_code) == (b"own\n", 0)


@pytest.mark.parametrize(
    "body",
    [
        "def __str__(self): return 'x' * 10 ** 7",
        "def __str__(self): raise SystemExit",
        "def __str__(self): return type('S', (str,), {'__getitem__': lambda s, i: 5})('m')",
        "def __str__(self): return type('S', (str,), {'__getitem__': lambda s, i: 1 / 0})('m')",
        "def __str__(self): return type('S', (str,), {'__getitem__': lambda s, i: s, '__len__': lambda s: 0})('m')",
    ],
)
def test_an_exception_that_fights_back_is_an_exception(box: Sandbox, body: str) -> None:
    (result,) = inside(box, f"class E(Exception):\n    {body}\ndef f(x): raise E('m')")
    assert (result.status, result.type_name) == ("exception", "E")
    assert len(result.detail) <= 300


def test_the_probe_refuses_to_run_without_its_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_SANDBOX", raising=False)
    for marker in (None, "unsandboxed", ""):
        if marker is not None:
            monkeypatch.setenv("EVENHAND_SANDBOX", marker)
        with pytest.raises(SystemExit, match="inside the sandbox only"):
            inside_module.measure("files", 0)


def test_the_sandbox_says_what_it_holds_as_measured_inside(box: Sandbox) -> None:
    told = box.describe(Limits(memory_bytes=256 << 20, processes=8, check_s=20))
    assert told.kind == "bubblewrap"
    assert told.not_held == ("memory of a whole tree",)
    assert len(told.holds) == 17


@pytest.mark.skipif(not can_group() or os.geteuid() != 0, reason="no control group can be made here")
def test_the_memory_of_a_whole_tree_is_bounded_where_that_was_asked_for(box: Sandbox) -> None:
    limits = Limits(memory_bytes=256 << 20, tree_bytes=200 << 20, processes=8, check_s=20)
    assert box.describe(limits).not_held == ()
    code = (
        "import os\n"
        "def f(x):\n"
        "    for _ in range(4):\n"
        "        if os.fork() == 0:\n"
        "            hoard = [bytearray(b'x' * (1 << 20)) for _ in range(100)]\n"
        "            os.read(0, 1) or os._exit(0)\n"
        "    return sorted(os.wait()[1] & 127 for _ in range(4))"
    )
    (result,) = inside(box, code, limits=limits)
    assert result.status == "crashed" or (isinstance(result.value, list) and 9 in result.value)
    run = box.run_command([box.interpreter.path, "-c", "bytearray(b'x' * (220 << 20))"], limits=limits)
    assert run.signal == 9
    larger = Limits(memory_bytes=512 << 20, tree_bytes=400 << 20)
    assert box.run_command([box.interpreter.path, "-c", "bytearray(b'x' * (180 << 20))"], limits=larger).exit_code == 0


@pytest.mark.skipif(not can_group() or os.geteuid() != 0, reason="no control group can be made here")
def test_no_control_group_is_left_behind() -> None:
    others = own()
    with Sandbox(kind="bubblewrap") as box:
        box.run_suite("def f(x): return x", "f", [CheckCall(id="0", args=[0])], Limits(tree_bytes=1 << 28))
        assert len(own()) == len(others) + 1
    assert own() == others


def own() -> list[Path]:
    """Control groups of this process's sandboxes."""
    return [path for base in own_groups() for path in base.glob(f"evenhand-sandbox-{os.getpid()}-[0-9]*")]
