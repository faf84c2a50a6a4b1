"""What Landlock holds where bubblewrap cannot work, and that it says what it does not hold."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from evenhand.errors import InvalidInput, SandboxError
from evenhand.sandbox import CheckCall, Limits, Sandbox, available, bubblewrap, landlock, place
from evenhand.sandbox.ground import Ground
from evenhand.sandbox.seccomp import seccomp_filter

ATTEMPT = """
import os
def attempt(what, *arguments):
    try:
        return what(*arguments)
    except OSError as error:
        return error.__class__.__name__
"""


def value(box: Sandbox, code: str, argument: object = 0) -> object:
    """What `f` returned."""
    run = box.run_suite(code, "f", [CheckCall(id="0", args=[argument])], Limits(check_s=20))
    assert run.load == "loaded", run.load_detail
    assert run.results[0].status == "value", run.results[0]
    return run.results[0].value


def test_it_says_what_it_holds_and_what_not_as_measured_inside(confined: Sandbox) -> None:
    told = confined.describe(Limits(memory_bytes=256 << 20, processes=8, check_s=20))
    assert told.kind == "landlock"
    assert told.version.startswith("ABI ")
    weaker = ("names of this machine's files", "ids of processes", "size of the writable folder")
    assert told.not_held == (*weaker, "memory of a whole tree")


def test_files_can_be_neither_read_nor_changed_though_their_names_are_seen(confined: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "expected.json"
    secret.write_text("49")
    for path in (secret, *secret.parents):
        if (found := path.stat()).st_uid == os.geteuid() and path != Path("/tmp"):
            path.chmod(found.st_mode | (0o007 if path in (secret, tmp_path) else 0o001))
    code = ATTEMPT + (
        "def f(secret):\n"
        "    os.symlink(secret, 'link')\n"
        "    folder = os.path.dirname(secret)\n"
        "    return os.path.exists(secret), [\n"
        "        attempt(open, secret), attempt(open, 'link'), attempt(open, secret, 'w'),\n"
        "        attempt(os.remove, secret),\n"
        "        attempt(os.truncate, secret, 0), attempt(os.rename, secret, 'own'), attempt(os.link, secret, 'own'),\n"
        "        attempt(os.listdir, folder), attempt(os.mkdir, folder + '/new'), attempt(os.chmod, secret, 0),\n"
        "        attempt(open, '/proc/self/root' + secret), attempt(open, '/dev/shm/x', 'w')]"
    )
    linking = 6  # is as between two file systems
    refused = ["OSError" if number == linking else "PermissionError" for number in range(12)]
    assert value(confined, code, str(secret)) == (True, refused)
    assert secret.read_text() == "49"


def test_no_server_is_reached_by_any_road(confined: Sandbox, tmp_path: Path) -> None:
    code = ATTEMPT + (
        "import socket\n"
        "def reach(family, kind, address):\n"
        "    with socket.socket(family, kind) as client:\n"
        "        client.connect(address)\n"
        "def turned(address):\n"
        "    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', address)\n"
        "def again(address):\n"
        "    socket.socketpair()[0].connect(address)\n"
        "def f(to):\n"
        "    port, name, path = to\n"
        "    return [attempt(reach, socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', port)),\n"
        "            attempt(reach, socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', port)),\n"
        "            attempt(reach, socket.AF_INET6, socket.SOCK_STREAM, ('::1', port)),\n"
        "            attempt(reach, socket.AF_UNIX, socket.SOCK_STREAM, '\\0' + name),\n"
        "            attempt(reach, socket.AF_UNIX, socket.SOCK_STREAM, path),\n"
        "            attempt(reach, 40, socket.SOCK_STREAM, (2, 1)), attempt(reach, 16, socket.SOCK_RAW, (0, 0)),\n"
        "            attempt(turned, path), attempt(again, path), attempt(socket.getaddrinfo, 'example.org', 80)]"
    )
    name, path = f"evenhand-{secrets.token_hex(8)}", str(tmp_path / "s")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind("\0" + name)
        named.bind(path)
        for local in (abstract, named):
            local.listen()
        found = value(confined, code, (server.getsockname()[1], name, path))
    assert found == ["OSError"] * 8 + ["PermissionError", "gaierror"]


def test_what_can_be_read_cannot_be_given_other_modes_or_flags(confined: Sandbox) -> None:
    code = ATTEMPT + (
        "import fcntl, struct, sys\n"
        "def f(x):\n"
        "    with open(sys.argv[0], 'rb') as file, open('own', 'w') as own:\n"
        "        number = file.fileno()\n"
        "        own.isatty()\n"
        "        return [attempt(os.fchmod, number, 0o400), attempt(os.utime, number),\n"
        "                attempt(os.setxattr, number, 'user.x', b'1'),\n"
        "                attempt(fcntl.ioctl, number, 0x40086602, struct.pack('l', 0))]"
    )
    assert value(confined, code) == ["PermissionError"] * 3 + ["OSError"]


def test_a_loop_of_events_still_has_its_pair_of_sockets(confined: Sandbox) -> None:
    code = (
        "import asyncio\nasync def g(x):\n    await asyncio.sleep(0)\n    return x\ndef f(x): return asyncio.run(g(x))"
    )
    assert value(confined, code, 7) == 7


def test_neither_the_supervisor_nor_any_other_process_is_signalled_or_told_limits(confined: Sandbox) -> None:
    code = ATTEMPT + (
        "import resource, signal\n"
        "def f(parent):\n"
        "    others = [(process, number) for process in (parent, os.getppid()) for number in (0, 9, 15)]\n"
        "    tried = [attempt(os.kill, *other) for other in others]\n"
        "    tried.append(attempt(os.killpg, os.getpgid(os.getppid()), 9))\n"
        "    tried.append(attempt(signal.pidfd_send_signal, os.pidfd_open(os.getppid()), 9))\n"
        "    tried.append(attempt(resource.prlimit, os.getppid(), resource.RLIMIT_CPU, (0, 0)))\n"
        "    attempt(os.kill, -1, 9)\n"
        "    return tried"
    )
    assert value(confined, code, os.getpid()) == ["PermissionError"] * 9


def test_no_privilege_is_held_or_can_be_had(confined: Sandbox) -> None:
    code = (
        "import ctypes, os\n"
        "def f(x):\n"
        "    libc = ctypes.CDLL(None, use_errno=True)\n"
        "    told = libc.prctl(39, 0, 0, 0, 0), libc.prctl(21, 0, 0, 0, 0)\n"
        "    words = b'x' * 32\n"
        "    tried = [libc.unshare(0x10000000), libc.unshare(0x20000), libc.setuid(0),\n"
        "             libc.ptrace(16, os.getppid(), 0, 0), libc.shmat(0, 0, 0),\n"
        "             libc.process_vm_readv(os.getppid(), words, 1, words, 1, 0),\n"
        "             libc.mount(b'none', b'.', b'tmpfs', 0, 0), libc.syscall(425, 1, words)]\n"
        "    return told, tried, os.getuid() == 0"
    )
    assert value(confined, code) == ((1, 2), [-1] * 8, False)


def test_what_a_command_daemonises_is_gone_with_it(confined: Sandbox, running: Callable[[str], list[str]]) -> None:
    token = f"evenhand-{secrets.token_hex(8)}"
    script = f"(setsid sh -c 'sleep 300; true' {token} &) ; sleep 0.2; echo done"
    run = confined.run_command(["sh", "-c", script])
    assert (run.stdout, run.exit_code) == (b"done\n", 0)
    assert running(token) == []


def test_where_evenhand_is_killed_the_tree_is_gone(
    confined: Sandbox, root: Path, running: Callable[[str], list[str]], gone: Callable[[str, float], bool]
) -> None:
    token = f"evenhand-{secrets.token_hex(8)}"
    program = (
        "import sys\nfrom evenhand.sandbox import Sandbox\n"
        "with Sandbox(kind='landlock') as box:\n"
        "    print(box._place._stage, flush=True)\n"
        "    box.run_command(['sh', '-c', '(setsid sh -c \"sleep 300; true\" TOKEN &); sleep 300'])\n"
    ).replace("TOKEN", token)
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while len(running(token)) < 4 and time.monotonic() < until:
            time.sleep(0.05)
        assert len(running(token)) >= 4  # evenhand, supervisor, command, what it daemonised
        process.send_signal(signal.SIGKILL)
        assert gone(token, 10)
        assert process.stdout is not None
        shutil.rmtree(process.stdout.readline().strip())


def test_a_command_has_a_folder_of_its_own_and_what_it_leaves_there_is_removed(confined: Sandbox) -> None:
    run = confined.run_command(
        ["sh", "-c", "cat a/b.txt -; pwd; mkdir d; exit 3"], {"a/b.txt": "file\n"}, stdin=b"in\n"
    )
    file, given, folder = run.stdout.decode().splitlines()
    assert (file, given, run.exit_code) == ("file", "in", 3)
    assert not Path(folder).exists()


def test_a_tree_of_folders_deeper_than_python_goes_is_removed(confined: Sandbox) -> None:
    code = (
        "import os\n"
        "def f(x):\n"
        "    folder = os.getcwd()\n"
        "    for _ in range(1500):\n"
        "        os.mkdir('d')\n"
        "        os.chdir('d')\n"
        "    return folder"
    )
    folder = value(confined, code)
    assert isinstance(folder, str)
    assert not Path(folder).exists()


def test_nothing_can_be_mounted_and_that_is_said(confined: Sandbox) -> None:
    with pytest.raises(InvalidInput, match=r"mounting needs bubblewrap or a container engine, and this .* is landlock"):
        confined.run_command(["true"], mounts={"/given": "/usr/lib"})


@pytest.fixture
def without_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a container engine nor a Python of WebAssembly."""
    monkeypatch.setitem(place.FINDERS, "container", refusing("no container engine is installed"))
    monkeypatch.setitem(place.FINDERS, "wasi", refusing("wasmtime is not installed"))


def refusing(reason: str) -> Callable[[Ground], NoReturn]:
    """What finds a kind where it cannot work."""

    def find(_: Ground) -> NoReturn:
        raise SandboxError(reason)

    return find


@pytest.mark.usefixtures("without_others")
def test_it_comes_last_and_its_reason_stands_beside_the_others(
    confined: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda _: (None, "bubblewrap is not installed"))
    assert available() == (confined.kind, "")
    monkeypatch.setattr(landlock, "_OLDEST", 1000)
    with pytest.raises(
        SandboxError, match=r"bubblewrap is not installed; .*; the kernel's Landlock is version \d+; the scop"
    ):
        Sandbox()
    with pytest.raises(SandboxError, match=r"landlock alone was asked for; the kernel's Landlock is version"):
        Sandbox(kind="landlock")


@pytest.mark.usefixtures("without_others")
def test_a_bubblewrap_that_does_not_start_gives_way_to_it(confined: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.sandbox.bubblewrap import Bubblewrap

    found = Bubblewrap(path="/bin/false", version="0.11.0")
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda _: (found, ""))
    with Sandbox() as box:
        assert box.kind == confined.kind
        assert value(box, "def f(x): return x + 1", 3) == 4


def test_without_a_filter_of_calls_it_is_not_offered() -> None:
    assert landlock.find_landlock(filtered=False)[0] is None


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_each_filter_is_longer_than_the_one_that_refuses_less(machine: str) -> None:
    programs = [seccomp_filter(machine), seccomp_filter(machine, alone=True)]
    programs.append(seccomp_filter(machine, alone=True, as_caller=True))
    lengths = [len(program or b"") for program in programs]
    assert lengths == sorted(set(lengths))
    assert lengths[-1] < 4096 * 8
